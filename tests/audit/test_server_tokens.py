"""Rows that are kept of tokens on a server: what no program writes, or the journal denies, is told by an audit."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ledger.audit.server_tokens import verify_tokens
from ledger.auth import token_store
from ledger.correcting.corrections import IdempotencyKey
from ledger.errors import RejectedError
from ledger.facts.events import Role
from ledger.journal.settings_file import ServerPlace
from ledger.ledger import Ledger
from tests.kit.clubs import NAME, Clock
from tests.kit.commands import Run
from tests.kit.games import game_recorded
from tests.kit.postgres import Server
from tests.kit.server_ledgers import new_place, run_sql_on

pytestmark = pytest.mark.outside  # PostgreSQL

SIGNED_IN = 3  # lines of the log that the club has
UNWRITTEN = "holds what this program does not write"
ROWS = {
    "a line of the log that is gone": (
        "DELETE FROM club_tokens.refusals WHERE number = 2",
        "after line of the log 1 follows 3: nothing there is ever taken away, or gets another number",
    ),
    "a line of the log of no day": (
        "UPDATE club_tokens.refusals SET at = '2026-13-01T12:00:00Z' WHERE number = 1",
        f"line of the log 1 {UNWRITTEN}",
    ),
    "a session that was lengthened": (
        "UPDATE club_tokens.sessions SET ends_ms = ends_ms + 1 WHERE token = 2",
        f"a session of token 2 {UNWRITTEN}: none lasts for more than twelve hours",
    ),
    "a session that was given to another token": (
        "UPDATE club_tokens.sessions SET token = 9 WHERE token = 1",
        "a session of token 9 is of another one than was issued by entry",
    ),
    "a session of a token that nobody issued": (
        "INSERT INTO club_tokens.sessions VALUES (sha256('a'), 10, 1, 'x', 1, 1, 1)",
        "a session of token 10 is of another one than was issued by entry 1: nobody is taken for its person by that",
    ),
    "what was sent, of no proposal": (
        "UPDATE club_tokens.sendings SET entry = 'game:g1'",
        f"row of what was sent 1 {UNWRITTEN}",
    ),
}


@contextmanager
def club_with_officers(place: ServerPlace, folder: Path) -> Iterator[Ledger]:
    """A club on a server; no token was issued yet."""
    with Ledger.create(folder / NAME, on_server=place, clock=Clock()) as ledger:
        for name in ("Ann", "Bob"):
            ledger.register(f"name:{name.lower()}", name)
        ledger.append(game_recorded("g1"))
        yield ledger


def use(ledger: Ledger) -> None:
    """A token is issued, and all that can be kept of it is."""
    eve = ledger.tokens.add("eve", [Role.CORRECTOR])
    with pytest.raises(RejectedError):
        ledger.tokens.authenticate(None, "mallory", Role.CORRECTOR, "propose a correction")
    ledger.tokens.sign_in(eve, "the bar")
    adam = of_an_entry(ledger)
    ledger.tokens.sign_in(adam, "the bar")
    idempotency_key = IdempotencyKey("letter 1", b"void,g1")
    void = ledger.corrections.drafts.annul("game:g1")
    ledger.corrections.propose_each([[void]], reason="typed twice", token=eve, idempotency_key=idempotency_key)


def of_an_entry(ledger: Ledger) -> str:
    """A token of somebody else, by an entry."""
    return ledger.tokens.add("adam", [Role.CORRECTOR])


@pytest.fixture(name="place_of_officers")
def _place_of_officers(each_server: Server, tmp_path: Path) -> ServerPlace:
    place = new_place(each_server)
    with club_with_officers(place, tmp_path) as ledger:
        use(ledger)
    return place


def faults_of(place: ServerPlace) -> tuple[str, ...]:
    verdict = verify_tokens(place.address, place.schema)
    assert verdict.not_compared == ()
    return verdict.faults


def test_nothing_is_told_of_tokens_that_were_used(place_of_officers: ServerPlace) -> None:
    assert verify_tokens(place_of_officers.address, place_of_officers.schema) == ((), ())


def test_rows_of_tokens_that_were_changed_are_told_each_once(
    each_server: Server, place_of_officers: ServerPlace
) -> None:
    for statement, _ in ROWS.values():
        run_sql_on(each_server, place_of_officers, statement)
    faults = faults_of(place_of_officers)
    for case, (_, words) in ROWS.items():
        told = [fault for fault in faults if fault.startswith(f"schema club_tokens: {words}")]
        assert len(told) == 1, (case, faults)
    assert len(faults) == len(ROWS), faults


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE club_tokens.file SET ledger = sha256('other')", "its key is of another ledger, whose journal begins"),
        ("DELETE FROM club_tokens.file", "the key is gone: no session and no idempotency key can be found"),
        ("UPDATE club_tokens.about SET layout = 9", "the table 'about' says [(1, 'tokens of a rating ledger', 9)]"),
        ("DELETE FROM club_tokens.about", "the table 'about' says [] of it, in place of"),
    ],
)
def test_tokens_that_say_something_else_of_themselves_are_told(
    oldest_server: Server, tmp_path: Path, statement: str, words: str
) -> None:
    place = new_place(oldest_server)
    with club_with_officers(place, tmp_path) as ledger:
        use(ledger)
    run_sql_on(oldest_server, place, statement)
    told = faults_of(place)[0]
    assert told.startswith(f"schema club_tokens: {words}")


@pytest.mark.parametrize(
    "facts", ['{"number":[],"salt":[]}', '{"number":"7","salt":{}}', '{"number":1e999}', "[]", "x"]
)
def test_an_entry_that_no_program_writes_keeps_the_audit_from_nothing(
    facts: str, oldest_server: Server, tmp_path: Path
) -> None:
    place = new_place(oldest_server)
    with club_with_officers(place, tmp_path) as ledger:
        use(ledger)
        size = ledger.journal.size()
    body = f"'{{\"facts\":{facts}}}'::bytea"
    run_sql_on(
        oldest_server,
        place,
        f"INSERT INTO club.journal VALUES ({size + 1}, 'token-issued/1', 'token:mallory', {body}, "
        f"sha256('\\x00'::bytea || {body}))",
    )
    assert verify_tokens(place.address, place.schema) == ((), ())


def test_a_million_lines_of_the_log_of_which_some_are_gone(oldest_server: Server, tmp_path: Path) -> None:
    place = new_place(oldest_server)
    with club_with_officers(place, tmp_path) as ledger:
        use(ledger)
    run_sql_on(
        oldest_server,
        place,
        "INSERT INTO club_tokens.refusals SELECT n, '2026-11-20T12:00:00Z', 'propose', NULL, NULL, 'needs-a-token', '' "
        f"FROM generate_series({SIGNED_IN + 1}, 1000000) AS n",
    )
    assert faults_of(place) == ()
    run_sql_on(oldest_server, place, "DELETE FROM club_tokens.refusals WHERE number % 1000 = 0")
    faults = faults_of(place)
    assert len(faults) == 20
    assert "after line of the log 999 follows 1001" in faults[0]


def test_rows_of_what_was_sent_that_are_forgotten_are_none_that_are_missing(
    oldest_server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token_store, "MOST_KEYS", 2)
    place = new_place(oldest_server)
    with club_with_officers(place, tmp_path) as ledger:
        for number in (1, 2, 3, 3, 4):
            ledger.tokens.store.remember_key(f"eve\n{number}", b"rows", f"proposal:{number}@1", "0" * 64, 1)
        of_an_entry(ledger)
    assert verify_tokens(place.address, place.schema) == ((), ())


def test_an_audit_by_who_may_not_read_tokens_says_that_they_are_not_compared(
    oldest_server: Server, tmp_path: Path
) -> None:
    place = new_place(oldest_server)
    with club_with_officers(place, tmp_path) as ledger:
        use(ledger)
    user = f"audits_{place.address.rpartition('/')[2]}"
    run_sql_on(oldest_server, place, f"CREATE USER {user} IN ROLE club_reader, club_names_reader")
    reader = oldest_server.url(place.address.rpartition("/")[2], user)
    faults, (told,) = verify_tokens(reader, place.schema)
    assert (faults, told) == (
        (), "what is kept of tokens: it cannot be read (permission denied for schema club_tokens)",
    )  # fmt: skip


def test_an_audit_names_a_changed_row_of_tokens_as_foreign(oldest_server: Server, tmp_path: Path, run: Run) -> None:
    place = new_place(oldest_server)
    with club_with_officers(place, tmp_path) as ledger:
        use(ledger)
        ledger.catch_up()
    assert run("audit", tmp_path / NAME).code == 0
    run_sql_on(oldest_server, place, "UPDATE club_tokens.sessions SET ends_ms = ends_ms + 60000")
    done = run("audit", tmp_path / NAME)
    assert done.code == 3
    assert "schema club_tokens: a session of token 1 holds what this program does not write" in done.out + done.err
