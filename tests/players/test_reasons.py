"""Reasons beside the journal: sealed by a salted commitment, erased for good, gone where no entry sealed them."""

import hashlib
import hmac
from contextlib import closing
from pathlib import Path

import pytest

from ledger.audit.audit import audit
from ledger.errors import MalformedError, StorageError, UnknownNameError
from ledger.facts.events import Decision
from ledger.ledger import Ledger
from ledger.players.reasons import MAX_REASON, reason_faults
from ledger.players.sqlite_layout import LAYOUT
from ledger.players.sqlite_people import SqlitePeople
from ledger.runtime import sqlite
from ledger.runtime.ledger_files import sidecar
from tests.kit.backups import bytes_of
from tests.kit.people import connection_of, erase_reasons, kept_reasons, left_behind, make_released, propose, size_of
from tests.kit.tampering import execute

SCORESHEET = "Bob Unforgettable brought the scoresheet"
WHISTLE = "Größe: naïve – das sagt Ann 日本"


@pytest.fixture(name="club_of_one_reason")
def _club_of_one_reason(pair_club: Path) -> Path:
    """Two players, a game, and a people file of the newest layout with a reason."""
    with Ledger.open(pair_club) as ledger:
        propose(ledger, SCORESHEET)
    return pair_club


def test_the_journal_holds_a_commitment_that_anybody_can_recompute(club_of_one_reason: Path) -> None:
    with Ledger.open(club_of_one_reason, read_only=True) as ledger:
        (entry,) = ledger.entries("correction-proposed")
        assert ledger.people.reasons.text(entry.facts["reason"]) == SCORESHEET
        assert not any(SCORESHEET in str(entry) for entry in ledger.entries())
    with closing(sqlite.connect(sidecar(club_of_one_reason, "people"), read_only=True)) as people:
        ((salt,),) = people.execute("SELECT salt FROM reasons").fetchall()
    assert hmac.new(salt, SCORESHEET.encode(), hashlib.sha256).hexdigest() == entry.facts["reason"]
    assert SCORESHEET.encode() not in club_of_one_reason.read_bytes()


def test_the_same_reason_twice_is_sealed_under_two_salts(club_of_one_reason: Path) -> None:
    with Ledger.open(club_of_one_reason) as ledger:
        first, second = propose(ledger, WHISTLE, WHISTLE)
        assert first != second
        assert ledger.people.reasons.texts([second, first, "0" * 64]) == {first: WHISTLE, second: WHISTLE}
    assert [row[0] for row in kept_reasons(club_of_one_reason)] == [1, 2, 3]


@pytest.mark.parametrize(
    "text", ["", " ", "x ", "a\nb", "a\tb", "\x00", "a\u0301", "x" * (MAX_REASON + 1), "\ud800", None, 7, b"why"]
)
def test_what_is_no_plain_text_is_refused_and_nothing_is_kept(text: str, club_of_one_reason: Path) -> None:
    size = size_of(club_of_one_reason)
    with Ledger.open(club_of_one_reason) as ledger, pytest.raises(MalformedError, match=r"@ \$\.reason"):
        propose(ledger, "good", text)
    assert (len(kept_reasons(club_of_one_reason)), size_of(club_of_one_reason)) == (1, size)


def test_a_reason_may_be_a_thousand_characters_of_any_script(club_of_one_reason: Path) -> None:
    assert reason_faults("é" * MAX_REASON) == []
    with Ledger.open(club_of_one_reason) as ledger:
        (sealed,) = propose(ledger, "日" * MAX_REASON)
        assert ledger.people.reasons.text(sealed) == "日" * MAX_REASON
    assert audit(club_of_one_reason).falsehoods == ()


def test_one_that_was_stopped_before_its_entry_goes_when_the_next_reason_is_kept(club_of_one_reason: Path) -> None:
    for key in ("proposal:2@1", "decision:1"):
        left_behind(club_of_one_reason, key, WHISTLE)
    assert [row[1] for row in kept_reasons(club_of_one_reason)] == ["proposal:1@1", "decision:1"]
    verdict = audit(club_of_one_reason)
    assert verdict.falsehoods == ()
    assert "1 reasons that were to be given" in [omission.part for omission in verdict.not_compared]
    Ledger.open(club_of_one_reason).close()  # whoever opens an older copy of the journal takes nothing away
    assert len(kept_reasons(club_of_one_reason)) == 2
    with Ledger.open(club_of_one_reason) as ledger:
        propose(ledger, "the second one")
    assert kept_reasons(club_of_one_reason) == [(1, "proposal:1@1", SCORESHEET), (2, "proposal:2@1", "the second one")]


def test_one_that_was_never_sealed_goes_when_a_reason_is_erased(club_of_one_reason: Path) -> None:
    sealed = left_behind(club_of_one_reason, "proposal:2@1", WHISTLE)
    assert erase_reasons(club_of_one_reason) == 0
    assert WHISTLE.encode() not in bytes_of(club_of_one_reason.parent)
    with Ledger.open(club_of_one_reason) as ledger:
        assert ledger.people.reasons.texts([sealed]) == {}
    assert kept_reasons(club_of_one_reason) == [(1, "proposal:1@1", SCORESHEET)]


def test_a_refused_entry_leaves_a_reason_that_goes_with_the_next(club_of_one_reason: Path) -> None:
    with Ledger.open(club_of_one_reason) as ledger:

        def refusing(writer: object, _: int) -> list[object]:
            ledger.people.reasons.store(writer, {"proposal:2@1": WHISTLE})  # type: ignore[arg-type]
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            ledger._record_judged(refusing, "eve")  # type: ignore[arg-type]
        propose(ledger, "another", "and one more")
    assert [row[1:] for row in kept_reasons(club_of_one_reason)] == [
        ("proposal:1@1", SCORESHEET),
        ("proposal:2@1", "another"),
        ("proposal:3@1", "and one more"),
    ]


def test_an_erased_reason_is_in_no_byte_and_its_commitment_stays(club_of_one_reason: Path) -> None:
    with Ledger.open(club_of_one_reason) as ledger:
        (second,) = propose(ledger, WHISTLE)
        (entry, _) = ledger.entries("correction-proposed")
    first, size = entry.facts["reason"], size_of(club_of_one_reason)
    assert SCORESHEET.encode() in bytes_of(club_of_one_reason.parent)
    assert erase_reasons(club_of_one_reason, first, "f" * 64) == 1
    assert SCORESHEET.encode() not in bytes_of(club_of_one_reason.parent)
    with Ledger.open(club_of_one_reason, read_only=True) as ledger:
        assert ledger.people.reasons.texts([first, second]) == {first: None, second: WHISTLE}
        assert ledger.people.reasons.text(first) is None
    assert erase_reasons(club_of_one_reason, first) == 0
    verdict = audit(club_of_one_reason)
    assert (verdict.falsehoods, verdict.reasons_checked, verdict.reasons_erased) == ((), 1, 1)
    assert size_of(club_of_one_reason) == size
    with Ledger.open(club_of_one_reason) as ledger:
        propose(ledger, "the next one")
    assert [row[0] for row in kept_reasons(club_of_one_reason)] == [1, 2, 3]


def test_the_reasons_of_a_proposal_are_erased_whatever_became_of_them(club_of_one_reason: Path) -> None:
    """A false one, too: that is the way out where no copy is left."""
    with Ledger.open(club_of_one_reason) as ledger:
        ledger.decide(1, Decision.REJECTED, by="adam", reason=WHISTLE)
        assert ledger.corrections.proposal(1).decision_reason == WHISTLE
    execute(sidecar(club_of_one_reason, "people"), "UPDATE reasons SET text = 'Mallory' WHERE number = 1")
    with Ledger.open(club_of_one_reason) as ledger:
        with pytest.raises(StorageError, match="is not the one that was sealed"):
            ledger.corrections.proposal(1)
        assert ledger.corrections.erase_reasons(1) == 2
        assert ledger.corrections.erase_reasons(1) == 0
        shown = ledger.corrections.proposal(1)
        assert (shown.reason, shown.decision_reason, shown.state) == (None, None, "rejected")
        with pytest.raises(UnknownNameError):
            ledger.corrections.erase_reasons(2)
    held = bytes_of(club_of_one_reason.parent)
    assert not any(text.encode() in held for text in (SCORESHEET, WHISTLE, "Mallory"))
    assert audit(club_of_one_reason).falsehoods == ()


def test_a_reader_who_keeps_the_old_bytes_is_told_of(club_of_one_reason: Path) -> None:
    people = sidecar(club_of_one_reason, "people")
    with closing(sqlite.connect(people)) as reader, Ledger.open(club_of_one_reason) as ledger:
        (sealed,) = propose(ledger, WHISTLE)
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM people").fetchall()
        connection_of(ledger.people).execute("PRAGMA busy_timeout=0")
        with pytest.raises(StorageError, match="another process is reading it"):
            ledger.people.reasons.erase(ledger.journal.writing(), [sealed])
    assert erase_reasons(club_of_one_reason, sealed) == 0
    assert WHISTLE.encode() not in bytes_of(club_of_one_reason.parent)


@pytest.mark.parametrize("change", ["text = 'Mallory'", "salt = zeroblob(16)", "text = NULL", "salt = NULL"])
def test_a_reason_that_was_changed_is_not_read(change: str, club_of_one_reason: Path) -> None:
    with Ledger.open(club_of_one_reason) as ledger:
        (second,) = propose(ledger, WHISTLE)
        (entry, _) = ledger.entries("correction-proposed")
    execute(sidecar(club_of_one_reason, "people"), f"UPDATE reasons SET {change} WHERE number = 1")
    with Ledger.open(club_of_one_reason) as ledger:
        assert ledger.people.reasons.text(second) == WHISTLE
        with pytest.raises(StorageError, match="the reason of proposal:1@1 is not the one that was sealed"):
            ledger.people.reasons.texts([second, entry.facts["reason"]])
    assert erase_reasons(club_of_one_reason, entry.facts["reason"]) == 1
    assert audit(club_of_one_reason).falsehoods == ()


def test_a_file_of_an_earlier_release_has_no_reasons_and_is_upgraded_by_the_first(pair_club: Path) -> None:
    people = sidecar(pair_club, "people")
    make_released(people)
    before = people.read_bytes()
    with Ledger.open(pair_club) as ledger:
        assert ledger.people.reasons.texts(["0" * 64]) == {}
        assert ledger.player("2").name == "Bob"
    assert audit(pair_club).falsehoods == ()
    assert people.read_bytes() == before
    with Ledger.open(pair_club) as ledger:
        propose(ledger, WHISTLE)
        assert ledger.rename(2, "Robert")
    with closing(SqlitePeople(people, read_only=True)) as file:
        assert file._connection.execute("PRAGMA user_version").fetchone() == (LAYOUT,)
    assert kept_reasons(pair_club) == [(1, "proposal:1@1", WHISTLE)]
    assert audit(pair_club).falsehoods == ()
