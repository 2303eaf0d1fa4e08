"""What is kept of tokens of a ledger on a server is one for all its nodes: log, sessions, what was sent."""

import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from ledger import backups
from ledger.auth.sessions import IDLE_MS, NOTED_EVERY_MS
from ledger.auth.tokens import SIGNED_IN, SIGNED_OUT, Actor
from ledger.auth.tokens_file import TokensFile
from ledger.correcting.corrections import IdempotencyKey
from ledger.errors import RejectedError, StorageError
from ledger.facts.events import Decision, Role
from ledger.journal.postgres_store import PostgresJournal
from ledger.journal.settings_file import ServerPlace
from ledger.ledger import Ledger
from ledger.runtime.ledger_files import sidecar
from ledger.runtime.postgres_session import ServerSession
from tests.kit.clubs import NAME, Clock
from tests.kit.commands import Run
from tests.kit.games import game_recorded
from tests.kit.postgres import Server
from tests.kit.server_ledgers import new_place, run_sql_on, settings_of
from tests.kit.tokens import team

HERE = "10.0.0.7"
SENDING = IdempotencyKey("letter 7", b"verb,game,to\nvoid,g1,\nresult,g2,0-1\n")


@pytest.fixture(name="club_place")
def _club_place(oldest_server: Server) -> ServerPlace:
    return new_place(oldest_server)


@pytest.fixture(name="two_nodes")
def _two_nodes(club_place: ServerPlace, tmp_path: Path) -> Iterator[tuple[Ledger, Ledger]]:
    """Two nodes of one club on a server, with three games."""
    clock = Clock()
    with Ledger.create(tmp_path / NAME, on_server=club_place, clock=clock) as one:
        for name in ("Ann", "Bob"):
            one.register(f"name:{name.lower()}", name)
        for number in (1, 2, 3):
            one.append(game_recorded(f"g{number}"))
        with Ledger.open(settings_of(tmp_path / "node", club_place), clock=clock) as two:
            yield one, two


def test_a_session_begins_on_one_node_is_used_on_another_and_ends_on_all(two_nodes: tuple[Ledger, Ledger]) -> None:
    one, two = two_nodes
    eve = team(one)["eve"]
    word, session = one.tokens.sign_in(eve, HERE)
    assert two.tokens.session(word) == session
    assert two.tokens.authenticate(word, None, Role.CORRECTOR, "try").name == "eve"
    clock = one.clock
    assert isinstance(clock, Clock)
    clock.now += timedelta(milliseconds=IDLE_MS)
    two.tokens.note_use(word)
    used = one.tokens.session(word)
    assert used is not None
    assert used.used_ms - session.used_ms == IDLE_MS > NOTED_EVERY_MS
    two.tokens.sign_out(word, HERE)
    assert one.tokens.session(word) is None
    with pytest.raises(RejectedError, match="session-over"):
        one.tokens.authenticate(word, None, Role.CORRECTOR, "try")
    assert [(row.rule, row.claimed) for row in one.tokens.log()] == [(SIGNED_IN, "eve"), (SIGNED_OUT, "eve")]
    assert not any(sidecar(node.path, "tokens").exists() for node in two_nodes)


def test_what_is_refused_on_one_node_is_seen_on_every_node(two_nodes: tuple[Ledger, Ledger]) -> None:
    one, two = two_nodes
    eve = team(one)["eve"]
    for node, token in ((one, None), (two, eve), (one, "rlt_wrong")):
        with pytest.raises(RejectedError):
            node.tokens.authenticate(token, None, Role.APPROVER, "try")
    rules = ["needs-a-token", "not-this-role", "unknown-token"]
    assert [row.rule for row in one.tokens.log()] == [row.rule for row in two.tokens.log()] == rules
    assert [(row.number, row.rule) for row in two.tokens.log(1)] == [(3, "unknown-token")]


def test_what_was_sent_to_one_node_is_known_to_another(two_nodes: tuple[Ledger, Ledger]) -> None:
    one, two = two_nodes
    first = one.corrections.propose_batch(
        SENDING.content, reason="typed twice", each=True, by="eve", idempotency_key=SENDING
    )
    again = two.corrections.find_previous(SENDING, reason="typed twice", by="eve")
    assert [(each.proposal, each.duplicate) for each in again] == [(each.proposal, True) for each in first]
    two.decide(1, Decision.APPROVED, by="otto")
    assert [each.proposal for each in one.corrections.find_previous(SENDING, reason="typed twice", by="eve")] == [1, 2]
    with pytest.raises(RejectedError, match="sent-already"):
        two.corrections.find_previous(
            IdempotencyKey(SENDING.word, b"verb,game\nvoid,g3\n"), reason="typed twice", by="eve"
        )


DEAF = "CREATE RULE deaf AS ON INSERT TO club_tokens.{} DO INSTEAD NOTHING"


def test_a_log_that_swallows_what_was_refused_is_told(
    two_nodes: tuple[Ledger, Ledger], oldest_server: Server, club_place: ServerPlace
) -> None:
    eve = team(two_nodes[0])["eve"]
    run_sql_on(oldest_server, club_place, DEAF.format("refusals"))
    with pytest.raises(
        RejectedError, match=r"not-this-role: .*\(this could not be written into the log: .* did not keep"
    ):
        two_nodes[1].tokens.authenticate(eve, None, Role.APPROVER, "try")
    with pytest.raises(StorageError, match="did not keep what was written"):
        two_nodes[1].tokens.sign_in(eve, HERE)


def test_nothing_is_proposed_where_what_was_sent_is_not_kept(
    two_nodes: tuple[Ledger, Ledger], oldest_server: Server, club_place: ServerPlace
) -> None:
    one, two = two_nodes
    run_sql_on(oldest_server, club_place, DEAF.format("sendings"))
    head = one.head()
    with pytest.raises(StorageError, match="did not keep what was written: run 'audit'"):
        two.corrections.propose_batch(
            SENDING.content, reason="typed twice", each=True, by="eve", idempotency_key=SENDING
        )
    assert one.head() == head
    assert list(one.corrections.proposals()) == []


def test_the_same_sent_to_two_nodes_at_once_is_recorded_once(
    two_nodes: tuple[Ledger, Ledger], club_place: ServerPlace, tmp_path: Path
) -> None:
    """Each has looked whether it was sent before, and found nothing, when both begin to record it."""
    size = two_nodes[0].journal.size()
    ready = threading.Barrier(3)
    numbers: list[list[int]] = []
    faults: list[BaseException] = []

    def send(node: int) -> None:
        try:
            with Ledger.open(settings_of(tmp_path / f"sends{node}", club_place)) as ledger:
                ledger.ensure_up_to_date()
                assert ledger.corrections.find_previous(SENDING, reason="twice", by="eve") == []
                ready.wait()
                done = ledger.corrections.propose_batch(
                    SENDING.content, reason="twice", each=True, by="eve", idempotency_key=SENDING
                )
                numbers.append([each.proposal for each in done])
        except BaseException as error:  # noqa: BLE001  # told by the test, not by the thread
            faults.append(error)
            ready.abort()

    threads = [threading.Thread(target=send, args=(node,)) for node in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert numbers == [[1, 2]] * 3
    assert two_nodes[1].journal.size() == size + 2


def test_what_was_not_recorded_was_not_sent(two_nodes: tuple[Ledger, Ledger], monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = two_nodes

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("ledger.journal.postgres_store.PostgresWriter.commit", stopped)
        with pytest.raises(KeyboardInterrupt):
            one.corrections.propose_batch(SENDING.content, reason="twice", by="eve", idempotency_key=SENDING)
    assert one.token_store.find_request("eve\nletter 7", SENDING.content) is None
    done = two.corrections.propose_batch(SENDING.content, reason="twice", by="eve", idempotency_key=SENDING)
    assert [(each.proposal, each.duplicate) for each in done] == [(1, False)]


def test_a_session_is_looked_up_in_one_round_trip_and_recording_asks_nothing_of_tokens(
    two_nodes: tuple[Ledger, Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = two_nodes[0]
    trips: list[tuple[str, ...]] = []
    asked = ServerSession.ask_once

    def counted(self: ServerSession, *questions: object, patience: float | None = None) -> object:
        trips.append(tuple(question.sql for question in questions))  # type: ignore[attr-defined]
        return asked(self, *questions, patience=patience)  # type: ignore[arg-type]

    one.append(game_recorded("g4"))
    monkeypatch.setattr(ServerSession, "ask_once", counted)
    one.append(game_recorded("g5"))
    assert not any("club_tokens" in sql for trip in trips for sql in trip)
    word, _ = one.tokens.sign_in(team(one)["eve"], HERE)
    trips.clear()
    one.token_store.session(word)
    assert len(trips) == 1
    trips.clear()
    assert one.tokens.session(word) is not None
    # whether the token holds is asked of the journal
    assert sum("club_tokens" in sql for trip in trips for sql in trip) == 1
    trips.clear()
    one.token_store.log_refusal("2026-11-21T12:00:00Z", "try", None, None, "unknown-token", "none")
    assert len(trips) == 1


def test_only_who_records_may_read_or_write_it(
    two_nodes: tuple[Ledger, Ledger], club_place: ServerPlace, oldest_server: Server
) -> None:
    one = two_nodes[0]
    word, _ = one.tokens.sign_in(team(one)["eve"], HERE)
    with pytest.raises(RejectedError):
        one.tokens.authenticate(None, None, Role.APPROVER, "try")
    database = club_place.address.rpartition("/")[2]
    reader = f"reads_{database}"
    run_sql_on(oldest_server, club_place, f"CREATE USER {reader} IN ROLE club_reader, club_names_reader")
    with closing(psycopg.connect(oldest_server.url(database, reader), autocommit=True)) as connection:
        for table in ("file", "refusals", "sessions", "sendings"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"SELECT * FROM club_tokens.{table}".encode())
    with closing(psycopg.connect(club_place.address, autocommit=True)) as connection:
        assert connection.execute("SELECT count(*) FROM club_tokens.refusals").fetchone() == (2,)
        for statement in (
            "UPDATE club_tokens.refusals SET reason = ''",
            "DELETE FROM club_tokens.refusals",
            "TRUNCATE club_tokens.refusals",
            "UPDATE club_tokens.file SET hash_key = sha256('')",
            "UPDATE club_tokens.sessions SET ends_ms = 9e15::bigint",
            "UPDATE club_tokens.sendings SET entry = ''",
            "CREATE TABLE club_tokens.more()",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement.encode())
        hashes = connection.execute("SELECT hash FROM club_tokens.sessions").fetchall()
        assert len(hashes) == 1
        assert word.encode() not in bytes(hashes[0][0])
    assert one.tokens.session(word) is not None


def test_the_server_makes_no_statistics_of_it(
    two_nodes: tuple[Ledger, Ledger], club_place: ServerPlace, oldest_server: Server
) -> None:
    for number in range(20):
        two_nodes[0].token_store.log_refusal("2026", "try", f"Eve {number % 3}", None, "unknown-token", "none")
    run_sql_on(oldest_server, club_place, "ANALYZE")
    with closing(psycopg.connect(oldest_server.url(club_place.address.rpartition("/")[2]))) as connection:
        query = "SELECT count(*) FROM pg_stats WHERE schemaname = 'club_tokens'"
        assert connection.execute(query).fetchone() == (0,)


def test_a_server_that_is_lost_is_told_in_one_line_and_asked_again_when_it_is_back(
    two_nodes: tuple[Ledger, Ledger], club_place: ServerPlace, oldest_server: Server
) -> None:
    one = two_nodes[0]
    word, session = one.tokens.sign_in(team(one)["eve"], HERE)
    ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> "
    run_sql_on(oldest_server, club_place, f"{ended} pg_backend_pid()")
    assert one.tokens.session(word) == session
    run_sql_on(oldest_server, club_place, f"{ended} pg_backend_pid()")
    with pytest.raises(RejectedError, match="needs-a-token"):
        one.tokens.authenticate(None, None, Role.APPROVER, "try")
    assert one.tokens.log()[-1].rule == "needs-a-token"


def test_whoever_is_refused_is_refused_though_the_server_is_away_when_it_is_noted(
    two_nodes: tuple[Ledger, Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = two_nodes[0]
    tokens = team(one)
    one.policies.set("four-eyes", {"on": True, "tokens": True}, token=tokens["adam"])

    def away(*_: object) -> None:
        raise StorageError("postgresql://db1/chess", "the server cannot be reached")

    monkeypatch.setattr(PostgresJournal, "run", away)
    with pytest.raises(RejectedError, match=r"needs-a-token: .*could not be written into the log: postgresql"):
        one.tokens.authenticate(None, None, Role.APPROVER, "try")
    with (
        pytest.raises(RejectedError, match="four-eyes"),
        one.tokens.logging_refusals(Actor("eve", proven=True), "approve it"),
    ):
        raise RejectedError("four-eyes", "", "who proposed cannot approve")


def test_it_goes_along_with_a_ledger_that_moves_to_a_server_and_back(
    each_server: Server, tmp_path: Path, run: Run
) -> None:
    place, clock = new_place(each_server), Clock()
    club = tmp_path / NAME
    with Ledger.create(club, clock=clock) as ledger:
        eve = ledger.tokens.add("eve", [Role.CORRECTOR])
        ledger.token_store.log_refusal("2026", "try\0", None, None, "unknown-token", "none")
        ledger.token_store.remember_key("eve\nletter", b"rows", "proposal:1@1", "0" * 64, 1)
        word, session = ledger.tokens.sign_in(eve, HERE)
        log = ledger.tokens.log()
    moved = backups.move_to_server(club, place)
    assert moved.faults == ()
    assert {path.name for path in moved.folder.iterdir()} >= {"club.db", "club.people.db", "club.tokens.db"}
    assert not sidecar(club, "tokens").exists()
    with Ledger.open(settings_of(tmp_path / "node", place), clock=clock) as node:
        assert node.tokens.session(word) == session
        assert node.tokens.authenticate(eve, None, Role.CORRECTOR, "try").proven
        with pytest.raises(RejectedError, match="needs-a-token"):
            node.tokens.authenticate(None, None, Role.CORRECTOR, "try")
        assert node.tokens.log()[1:-1] == log[1:]
        assert node.tokens.log()[0].tried == "try\\x00"
        assert node.token_store.find_request("eve\nletter", b"rows") is not None
        log = node.tokens.log()
    assert run("backup", club, tmp_path / "copy").code == 0
    assert not (tmp_path / "copy" / "club.tokens.db").exists()
    backups.move_to_files(club)
    with Ledger.open(club, clock=clock) as back:
        assert back.tokens.log() == log
        assert back.tokens.session(word) == session
        assert back.tokens.authenticate(eve, None, Role.CORRECTOR, "try").name == "eve"
        assert back.token_store.find_request("eve\nletter", b"rows") is not None
        assert sidecar(club, "tokens").stat().st_mode & 0o777 == 0o600


def test_a_file_of_other_tokens_is_not_written_over_by_a_move(two_nodes: tuple[Ledger, Ledger], tmp_path: Path) -> None:
    one = two_nodes[0]
    one.token_store.log_refusal("2026", "try", None, None, "unknown-token", "none")
    file = sidecar(one.path, "tokens")
    TokensFile(file, lambda: one.journal.root_at(1)).log_refusal("2025", "try", None, None, "unknown-token", "none")
    content = file.read_bytes()
    with pytest.raises(StorageError, match=r"club\.tokens\.db: is not a copy of the token store on the server"):
        backups.move_to_files(tmp_path / NAME)
    assert file.read_bytes() == content
    file.unlink()
    backups.move_to_files(tmp_path / NAME)
    with Ledger.open(tmp_path / NAME) as back:
        assert [row.at for row in back.tokens.log()] == ["2026"]


def test_whoever_was_stopped_while_it_was_copied_moves_it_again(
    oldest_server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = new_place(oldest_server)
    club = tmp_path / NAME
    with Ledger.create(club) as ledger:
        ledger.token_store.log_refusal("2026", "try", None, None, "unknown-token", "none")

    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    for name in ("server_digest", "tokens_to_server"):
        with monkeypatch.context() as patch:
            patch.setattr(f"ledger.backups.{'token_copies' if name == 'server_digest' else 'moving'}.{name}", stopped)
            with pytest.raises(KeyboardInterrupt):
                backups.move_to_server(club, place)
        with Ledger.open(club) as ledger:
            assert len(ledger.tokens.log()) == 1
    backups.move_to_server(club, place)
    with Ledger.open(club) as ledger:
        assert [row.at for row in ledger.tokens.log()] == ["2026"]
