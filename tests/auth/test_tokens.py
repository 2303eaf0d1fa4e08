"""Tokens: who acts, what is refused and noted, and a file that nobody else may write."""

import hmac
import os
import shutil
import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from inspect import getmembers, isfunction, signature
from pathlib import Path

import pytest

from ledger.audit.audit import audit
from ledger.auth import tokens_file
from ledger.auth.tokens import RULES, UNNAMED, Actor, Tokens
from ledger.correcting.corrections import Corrections
from ledger.errors import (
    CorruptError,
    LedgerError,
    MalformedError,
    ProposalError,
    RejectedError,
    StorageError,
    UnknownNameError,
)
from ledger.facts.events import Decision, Role
from ledger.ledger import Ledger
from ledger.policies.house_policies import HousePolicies
from ledger.publishing.publications import Publications
from ledger.registering.registry import Registry
from ledger.runtime import sqlite
from ledger.runtime.ledger_files import sidecar
from tests.kit.clubs import ClubOfTwo
from tests.kit.tampering import run_sql
from tests.kit.tokens import path_of


def tokens_of(club: ClubOfTwo) -> Tokens:
    return club.ledger.tokens


def refused(tokens: Tokens, token: str | None, claimed: str | None = None, role: Role = Role.APPROVER) -> str:
    """The rule by which an attempt is refused; it is the last in the log."""
    before = len(tokens.log())
    with pytest.raises(RejectedError) as caught:
        tokens.authenticate(token, claimed, role, "try")
    assert caught.value.rule in RULES
    noted = tokens.log()[before:]
    assert [(row.tried, row.claimed, row.rule) for row in noted] == [("try", claimed, caught.value.rule)]
    assert noted[0].reason in str(caught.value)
    return caught.value.rule


def test_without_tokens_a_name_is_a_word_and_no_file_is_made(club_of_two: ClubOfTwo) -> None:
    tokens = tokens_of(club_of_two)
    for role in Role:
        assert tokens.authenticate(None, "eve", role, "try") == Actor("eve", proven=False)
        assert tokens.authenticate(None, None, role, "try") == Actor(UNNAMED, proven=False)
    with pytest.raises(RejectedError, match=r"no tokens are set up beside 'club\.tokens\.db'"):
        tokens.authenticate("rlt_x", None, Role.APPROVER, "try")
    assert (tokens.list(), tokens.log(), tokens.are_set_up()) == ((), (), False)
    assert not path_of(tokens).exists()


def test_a_token_names_the_person(club_of_two: ClubOfTwo) -> None:
    tokens = tokens_of(club_of_two)
    eve, adam = tokens.add("eve", [Role.CORRECTOR]), tokens.add("adam", [Role.APPROVER, Role.CORRECTOR])
    assert tokens.authenticate(eve, None, Role.CORRECTOR, "try") == Actor("eve", proven=True, entry=5)
    assert tokens.authenticate(adam, "ADAM", Role.APPROVER, "try") == Actor("adam", proven=True, entry=6)
    assert tokens.authenticate(adam, None, Role.CORRECTOR, "try") == Actor("adam", proven=True, entry=6)
    assert tokens.log() == ()
    assert [(row.name, row.roles, row.revoked_at) for row in tokens.list()] == [
        ("eve", "corrector", None),
        ("adam", "corrector approver", None),
    ]


def test_a_token_is_shown_before_it_is_recorded_and_not_recorded_where_it_cannot_be(club_of_two: ClubOfTwo) -> None:
    tokens, size = tokens_of(club_of_two), club_of_two.ledger.head().size

    def show(_: str) -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        tokens.add("eve", [Role.APPROVER], show=show)
    assert (club_of_two.ledger.head().size, tokens.list()) == (size, ())
    shown: list[str] = []
    assert [tokens.add("eve", [Role.APPROVER], show=shown.append)] == shown


def test_the_log_forgets_an_erased_person_whatever_name_was_given(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    player = ledger.register("name:odd quill", "Quill, Odd")
    tokens = tokens_of(club_of_two)
    eve = tokens.add("eve", [Role.APPROVER])
    for claimed in ("Quill, Odd", "odd  QUILL", "name:odd quill", "eve"):
        with pytest.raises(RejectedError):
            tokens.authenticate(None, claimed, Role.APPROVER, "try")
    with pytest.raises(RejectedError):
        tokens.authenticate(eve, "Odd Quill", Role.APPROVER, "try")
    with pytest.raises(RejectedError):
        tokens.add("Odd Quill", [Role.APPROVER])
    assert "quill" in str(tokens.log()).lower()
    ledger.erase(player, token=eve)
    assert [row.claimed for row in tokens.log()] == [None, None, None, "eve", None, None]
    assert b"quill" not in path_of(tokens).read_bytes().lower()


def test_whoever_shows_none_or_a_wrong_one_is_refused_and_noted(club_of_two: ClubOfTwo) -> None:
    tokens = tokens_of(club_of_two)
    eve = tokens.add("eve", [Role.CORRECTOR])
    assert refused(tokens, None, "eve") == "needs-a-token"
    assert refused(tokens, None) == "needs-a-token"
    assert refused(tokens, eve[:-1] + ("a" if eve[-1] != "a" else "b")) == "unknown-token"
    assert refused(tokens, eve + " ") == "unknown-token"
    assert refused(tokens, "") == "unknown-token"
    assert refused(tokens, eve) == "not-this-role"
    assert refused(tokens, eve, "adam", Role.CORRECTOR) == "not-this-name"
    tokens.revoke("eve")
    assert refused(tokens, eve, role=Role.CORRECTOR) == "revoked-token"
    assert [row.token for row in tokens.log()] == [None, None, None, None, None, 1, 1, 1]


def test_bytes_that_are_no_text_are_refused_and_noted_as_escapes(club_of_two: ClubOfTwo) -> None:
    tokens = tokens_of(club_of_two)
    tokens.add("eve", [Role.CORRECTOR])
    with pytest.raises(RejectedError, match="unknown-token"):
        tokens.authenticate("\udcff" * 3, "\udcff", Role.CORRECTOR, "try")
    assert [row.claimed for row in tokens.log()] == ["\\udcff"]


def test_recording_asks_for_a_token_where_somebody_holds_the_role(club_of_two: ClubOfTwo) -> None:
    tokens = tokens_of(club_of_two)
    eve = tokens.add("eve", [Role.CORRECTOR])
    assert tokens.authenticate(None, "desk", Role.RECORDER, "try") == Actor("desk", proven=False)
    assert refused(tokens, eve, role=Role.RECORDER) == "not-this-role"
    desk = tokens.add("desk", [Role.RECORDER])
    assert refused(tokens, None, "desk", Role.RECORDER) == "needs-a-token"
    assert tokens.authenticate(desk, None, Role.RECORDER, "try") == Actor("desk", proven=True, entry=6)


# ``reset`` is for whoever lost all tokens; ``restore_rows`` takes no other rows than those that were published.
NEED_NO_TOKEN = {"Tokens.reset", "Tokens.logging_refusals", "Publications.restore_rows"}


def test_whatever_records_for_somebody_takes_a_token() -> None:
    parts = (Ledger, Registry, Corrections, Publications, HousePolicies, Tokens)
    methods = [(f"{part.__name__}.{name}", method) for part in parts for name, method in getmembers(part, isfunction)]
    public = {name: set(signature(method).parameters) for name, method in methods if "._" not in name}
    recording = {name for name, words in public.items() if words & {"actor", "by"}} - NEED_NO_TOKEN
    assert len(recording) > 15
    assert {name for name in recording if "token" not in public[name]} == set()
    assert not [name for name, words in public.items() if words & {"gate", "batch", "writer"}]


def test_a_token_of_another_ledger_is_none_here(club_of_two: ClubOfTwo) -> None:
    tokens = tokens_of(club_of_two)
    tokens.add("eve", [Role.APPROVER])
    with Ledger.create(club_of_two.folder / "other.db", clock=club_of_two.clock) as other:
        foreign = other.tokens.add("eve", [Role.APPROVER])
    assert refused(tokens, foreign) == "unknown-token"


@pytest.mark.parametrize("shown", [0, 1, 2])
def test_whoever_gives_up_all_tokens_by_one_of_them_has_none_left(club_of_two: ClubOfTwo, shown: int) -> None:
    tokens = tokens_of(club_of_two)
    own = [tokens.add("bea", [Role.APPROVER])]
    own += [tokens.add("bea", [Role.CORRECTOR, Role.APPROVER], token=own[0]) for _ in range(2)]
    assert len(tokens.revoke("bea", token=own[shown])) == 3
    assert [tokens.is_valid(token) for token in own] == [False, False, False]
    assert all(row.revoked_at for row in tokens.list())
    assert audit(club_of_two.path).falsehoods == ()


def test_where_all_are_revoked_nobody_acts(club_of_two: ClubOfTwo) -> None:
    tokens = tokens_of(club_of_two)
    eve = tokens.add("eve", [Role.APPROVER])
    again = tokens.add("eve", [Role.APPROVER], token=eve)
    club_of_two.clock.now += timedelta(hours=1)
    with pytest.raises(UnknownNameError, match="no token 'adam' in this ledger"):
        tokens.revoke("adam", token=eve)
    assert [row.number for row in tokens.revoke("2", token=eve)] == [2]
    assert tokens.revoke("2", token=eve) == ()
    assert tokens.authenticate(eve, None, Role.APPROVER, "try").proven
    assert [row.number for row in tokens.revoke("eve", token=eve)] == [1]
    assert {row.revoked_at for row in tokens.list()} == {"2026-11-21T13:00:00Z"}
    assert refused(tokens, None, "eve") == "needs-a-token"
    assert refused(tokens, again) == "revoked-token"
    for shown in (None, eve, again):
        with pytest.raises(RejectedError):
            tokens.revoke("eve", token=shown)
        with pytest.raises(RejectedError):
            tokens.add("eve", [Role.APPROVER], token=shown)


@pytest.mark.parametrize("name", ["", " eve", "e\nve", "x" * 129])
def test_a_name_is_one_that_the_journal_takes(club_of_two: ClubOfTwo, name: str) -> None:
    with pytest.raises(MalformedError):
        tokens_of(club_of_two).add(name, [Role.APPROVER])
    with pytest.raises(MalformedError, match="at least one role"):
        tokens_of(club_of_two).add("eve", [])
    assert not path_of(tokens_of(club_of_two)).exists()


def test_corrections_are_proposed_and_decided_by_who_is_proven(club_of_two: ClubOfTwo) -> None:
    ledger, tokens = club_of_two.ledger, tokens_of(club_of_two)
    ledger.policies.set("four-eyes", {"on": True, "tokens": True}, actor="admin")
    eve = tokens.add("eve", [Role.CORRECTOR, Role.APPROVER])
    adam = tokens.add("adam", [Role.APPROVER], token=eve)
    change = ledger.corrections.drafts.annul("game:r1-b1")
    head = ledger.head()
    for shown, by in ((None, "eve"), (adam, None)):
        with pytest.raises(RejectedError):
            ledger.propose([change], reason="doubled", by=by, token=shown)
    assert ledger.head() == head
    number = ledger.propose([change], reason="doubled", token=eve).proposal
    head = ledger.head()
    with pytest.raises(ProposalError, match="who proposed cannot approve"):
        ledger.decide(number, Decision.APPROVED, token=eve)
    with pytest.raises(RejectedError, match="needs-a-token"):
        ledger.decide(number, Decision.APPROVED, by="adam")
    with pytest.raises(RejectedError, match="not-this-role"):
        ledger.decide(number, Decision.WITHDRAWN, token=adam)
    assert ledger.head() == head
    ledger.decide(number, Decision.APPROVED, token=adam)
    stands = ledger.corrections.proposal(number).proposal
    assert (stands.proposed_by, stands.proposed_proven) == ("eve", 1)
    assert (stands.decided_by, stands.decided_proven, stands.effective) == ("adam", 1, 1)
    assert [row.rule for row in tokens.log()] == [
        "needs-a-token",
        "not-this-role",
        "four-eyes",
        "needs-a-token",
        "not-this-role",
    ]


def test_what_is_refused_for_another_cause_is_no_attempt_without_a_right(club_of_two: ClubOfTwo) -> None:
    adam = tokens_of(club_of_two).add("adam", [Role.APPROVER])
    with pytest.raises(ProposalError, match="there is no proposal 9"):
        club_of_two.ledger.decide(9, Decision.APPROVED, token=adam)
    assert tokens_of(club_of_two).log() == ()


def test_the_journal_keeps_a_salted_digest_and_the_token_stands_nowhere(club_of_two: ClubOfTwo) -> None:
    tokens = tokens_of(club_of_two)
    token = tokens.add("eve", [Role.APPROVER])
    assert len(token) == 47
    (entry,) = club_of_two.ledger.entries("token-issued")
    facts = entry.facts
    assert facts["digest"] == hmac.digest(bytes.fromhex(facts["salt"]), token.encode(), "sha256").hex()
    assert len({tokens.add("eve", [Role.APPROVER], token=token) for _ in range(5)}) == 5
    assert len({entry.facts["salt"] for entry in club_of_two.ledger.entries("token-issued")}) == 6
    assert not path_of(tokens).exists(), "the file is made by the first refusal"
    assert refused(tokens, None, "eve") == "needs-a-token"
    assert stat.S_IMODE(path_of(tokens).stat().st_mode) == 0o600
    assert tokens.store.warning() is None
    for path in club_of_two.folder.iterdir():
        assert token.encode() not in path.read_bytes()
    assert list(club_of_two.folder.glob("club.tokens.db?*")) == []


def test_a_umask_that_lets_others_read_changes_nothing(club_of_two: ClubOfTwo) -> None:
    before = os.umask(0)
    try:
        tokens_of(club_of_two).add("eve", [Role.APPROVER])
        assert refused(tokens_of(club_of_two), None) == "needs-a-token"
    finally:
        os.umask(before)
    assert stat.S_IMODE(path_of(tokens_of(club_of_two)).stat().st_mode) == 0o600


@pytest.mark.parametrize("mode", [0o640, 0o604])
def test_a_file_that_others_may_read_is_said(club_of_two: ClubOfTwo, mode: int) -> None:
    tokens = tokens_of(club_of_two)
    token = tokens.add("eve", [Role.APPROVER])
    assert refused(tokens, None) == "needs-a-token"
    path_of(tokens).chmod(mode)
    assert "others may read who holds tokens" in (tokens.store.warning() or "")
    assert tokens.authenticate(token, None, Role.APPROVER, "try").proven


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_proves_nothing(club_of_two: ClubOfTwo, mode: int) -> None:
    tokens = tokens_of(club_of_two)
    token = tokens.add("eve", [Role.APPROVER])
    word, _ = tokens.sign_in(token, "the bar")
    path_of(tokens).chmod(mode)
    for door in (
        lambda: tokens.authenticate(word, None, Role.APPROVER, "try"),
        lambda: tokens.sign_in(token, ""),
        tokens.log,
    ):
        with pytest.raises(StorageError, match="others may write it, so that it proves nothing"):
            door()


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_what_the_journal_issued_asks_no_file(club_of_two: ClubOfTwo, mode: int) -> None:
    tokens = tokens_of(club_of_two)
    token = tokens.add("eve", [Role.APPROVER])
    assert refused(tokens, None) == "needs-a-token"
    path_of(tokens).chmod(mode)
    assert tokens.authenticate(token, None, Role.APPROVER, "try").proven
    with pytest.raises(RejectedError, match=r"needs-a-token: .*could not be written into the log"):
        tokens.authenticate(None, None, Role.APPROVER, "try")
    path_of(tokens).unlink()
    assert tokens.authenticate(token, None, Role.APPROVER, "try").proven
    assert refused(tokens, None) == "needs-a-token"


def test_the_file_of_another_ledger_proves_nothing(club_of_two: ClubOfTwo) -> None:
    with Ledger.create(club_of_two.folder / "other.db", pool="rapid") as other:
        foreign, _ = other.tokens.sign_in(other.tokens.add("eve", [Role.APPROVER]), "the bar")
    tokens_of(club_of_two).add("eve", [Role.APPROVER])
    (club_of_two.folder / "other.tokens.db").rename(path_of(tokens_of(club_of_two)))
    with pytest.raises(StorageError, match="holds the tokens of another ledger; move the file aside"):
        tokens_of(club_of_two).authenticate(foreign, None, Role.APPROVER, "try")


@pytest.mark.parametrize(
    "statements",
    [
        ("CREATE TRIGGER quiet BEFORE INSERT ON refusals BEGIN SELECT raise(IGNORE); END",),
        ("DROP TABLE refusals",),
        ("DELETE FROM file",),
        ("PRAGMA user_version=9",),
        ("PRAGMA user_version=3",),  # before the first release
        ("PRAGMA application_id=7",),
    ],
)
def test_a_file_that_is_not_as_it_was_made_proves_nothing(club_of_two: ClubOfTwo, statements: tuple[str, ...]) -> None:
    tokens = tokens_of(club_of_two)
    word, _ = tokens.sign_in(tokens.add("eve", [Role.APPROVER]), "the bar")
    run_sql(path_of(tokens), *statements)
    with pytest.raises(LedgerError):
        tokens.authenticate(word, None, Role.APPROVER, "try")


def test_a_damaged_file_is_said_to_be(club_of_two: ClubOfTwo) -> None:
    tokens = tokens_of(club_of_two)
    word, _ = tokens.sign_in(tokens.add("eve", [Role.APPROVER]), "the bar")
    path_of(tokens).write_bytes(b"rlt_" * 4096)
    with pytest.raises(CorruptError, match=r"club\.tokens\.db: is not a database"):
        tokens.authenticate(word, None, Role.APPROVER, "try")


def test_a_file_that_was_never_filled_is_none_and_is_filled_by_the_first_token(club_of_two: ClubOfTwo) -> None:
    tokens = tokens_of(club_of_two)
    path_of(tokens).touch(0o600)
    assert tokens.authenticate(None, "eve", Role.APPROVER, "try") == Actor("eve", proven=False)
    assert tokens.authenticate(tokens.add("eve", [Role.APPROVER]), None, Role.APPROVER, "try").proven


def test_an_attempt_is_refused_though_it_cannot_be_noted(
    club_of_two: ClubOfTwo, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = tokens_of(club_of_two)
    tokens.add("eve", [Role.APPROVER])

    def full(*_: object) -> None:
        raise StorageError("club.tokens.db", "the disk is full")

    monkeypatch.setattr(tokens_file.TokensFile, "log_refusal", full)
    with pytest.raises(RejectedError, match=r"needs-a-token: .*could not be written into the log: club.tokens.db: the"):
        tokens.authenticate(None, "eve", Role.APPROVER, "try")


def test_many_at_once_each_get_a_token_and_each_refusal_is_noted(club_of_two: ClubOfTwo) -> None:
    tokens = tokens_of(club_of_two)

    def work(number: int) -> str:
        with Ledger.open(club_of_two.path, clock=club_of_two.clock) as ledger:
            own = ledger.tokens
            token = own.add(f"p{number}", [Role.CORRECTOR])
            assert own.authenticate(token, None, Role.CORRECTOR, "try").name == f"p{number}"
            with pytest.raises(RejectedError):
                own.authenticate(None, f"p{number}", Role.APPROVER, "try")
            return token

    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(work, range(12)))
    assert len(set(made)) == 12
    assert {row.name for row in tokens.list()} == {row.claimed for row in tokens.log()}
    assert len(tokens.log()) == 12


def test_a_later_name_for_the_journal_is_followed(club_of_two: ClubOfTwo, tmp_path: Path) -> None:
    """The file stands beside the journal's own file where that is reached by a link."""
    token = tokens_of(club_of_two).add("eve", [Role.APPROVER])
    (tmp_path / "link.db").symlink_to(club_of_two.path)
    with Ledger.open(tmp_path / "link.db", clock=club_of_two.clock) as linked:
        assert linked.tokens.authenticate(token, None, Role.APPROVER, "try").proven


def test_a_file_whose_making_was_stopped_is_none_yet(club_of_two: ClubOfTwo) -> None:
    """What a process leaves that is killed while the pages of its first transaction are being written."""
    place = sidecar(club_of_two.path, "tokens")
    making = club_of_two.folder / "making"
    with closing(sqlite.connect(making)) as connection:
        connection.execute("PRAGMA cache_size=1")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("CREATE TABLE file(content BLOB)")
        connection.execute("INSERT INTO file VALUES (zeroblob(100000))")  # more than the cache holds
        for word in ("", "-journal"):
            shutil.copyfile(f"{making}{word}", f"{place}{word}")
    place.chmod(0o600)
    assert place.stat().st_size
    assert not club_of_two.ledger.tokens.are_set_up()
    club_of_two.ledger.tokens.add("eve", [Role.CORRECTOR])
    assert [row.name for row in club_of_two.ledger.tokens.list()] == ["eve"]
