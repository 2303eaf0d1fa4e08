"""A ledger on a server answers and is served as one in files is, is made by whoever may, and refuses what cannot be."""

import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import attrs
import httpx
import psycopg
import pytest

from ledger.answers.exports import trf_report
from ledger.answers.exports.columns import ExportFilter
from ledger.answers.imports import imports
from ledger.answers.journal_status import journal_status
from ledger.answers.player_details import PlayerGroup, details_at
from ledger.answers.sent_reports import sent_reports
from ledger.audit.server_objects import server_faults
from ledger.backups.local_copies import ledger_as_files
from ledger.errors import StorageError
from ledger.facts.events import Decision, Role
from ledger.facts.instants import instant_ms
from ledger.facts.player_details import PlayerDetails
from ledger.journal.postgres_store import PostgresJournal
from ledger.journal.settings_file import ServerPlace
from ledger.ledger import Ledger
from ledger.players.pending_changes import PendingName, PendingNames
from ledger.players.server_stores import make_on_server, open_on_server, setup_sql
from tests.kit.clubs import NAME, Clock
from tests.kit.commands import Run
from tests.kit.desks import Officer, words
from tests.kit.games import game_recorded
from tests.kit.places import SAMPLE
from tests.kit.postgres import Server
from tests.kit.programs import GAME, Api
from tests.kit.served_processes import PATIENCE, position, serving, until
from tests.kit.server_ledgers import empty_database, new_place, run_sql_on, settings_of
from tests.kit.source_files import player, report, written
from tools.serve.readers import Answer, Reader
from tools.serve.routes import ROUTES


@pytest.fixture(name="pair_of_clubs")
def _pair_of_clubs(each_server: Server, tmp_path: Path) -> Iterator[tuple[Ledger, Ledger]]:
    """The same new club in files and on a server, under one secret and one clock."""
    place, clock = new_place(each_server), Clock()
    (tmp_path / "files").mkdir()
    (tmp_path / "server").mkdir()
    with (
        Ledger.create(tmp_path / "files" / NAME, clock=clock) as in_files,
        Ledger.create(tmp_path / "server" / NAME, clock=clock, secret_of=in_files.path, on_server=place) as there,
    ):
        yield in_files, there


def test_the_same_facts_give_the_same_journal_names_and_ratings(pair_of_clubs: tuple[Ledger, Ledger]) -> None:
    ranked, log = [], []
    for ledger in pair_of_clubs:
        for name in ("Ann", "Bob", "Zoë"):
            ledger.register(f"name:{name.lower()}", name)
        for number in range(1, 30):
            ledger.append(game_recorded(f"g{number}"))
        assert ledger.append(game_recorded("g3")).duplicate
        change = ledger.corrections.verbs.change("result", {"game": "g7", "to": "0-1"})
        number = ledger.propose([change], reason="typed wrong", by="eve").proposal
        ledger.decide(number, Decision.APPROVED, by="otto", reason="seen the sheet")
        ledger.erase(3, actor="otto")
        ranked.append([(row.player, row.name, row.rating) for row in ledger.ranking()])
        log.append([(entry.kind, entry.key) for entry in ledger.entries()])
    in_files, there = pair_of_clubs
    assert ranked[0] == ranked[1]
    assert log[0] == log[1]
    assert there.head().size == in_files.head().size
    # Salts are drawn, so that bodies differ where names and reasons are sealed, and nowhere else.
    seal = re.compile(rb'"(commitment|reason)":"[0-9a-f]{64}"')
    bodies = [[seal.sub(b"", body) for block in ledger.journal.read() for body in block] for ledger in pair_of_clubs]
    assert bodies[0] == bodies[1]
    (shown,) = there.corrections.proposals()
    assert (shown.reason, shown.decision_reason) == ("typed wrong", "seen the sheet")


def test_reports_and_data_about_players_are_the_same_on_a_server(
    pair_of_clubs: tuple[Ledger, Ledger], tmp_path: Path
) -> None:
    rows = (
        player(1, "Ann, Ada", "2 w 1", "3 w -", rating="2310", fide="101", federation="NOR", points="1.0"),
        player(2, "Bob", "1 b 0", "0000 - H", rating="2200", fide="102", federation="SWE", points="0.5"),
        player(3, "Cy", "0000 - Z", "1 b -", federation="SWE", points="0.0"),
    )
    rows = (rows[0].replace("001    1      Ann", "001    1 wWGM Ann"), *rows[1:])
    file = written(tmp_path, "open.trf", report(rows, "102 Arbiter, Anna", "112 Deputy, Dan").encode())
    reports = []
    for ledger in pair_of_clubs:
        assert ledger.import_file(file).ok
        assert ledger.import_file(file).recorded == 0
        ledger.registry.describe(1, PlayerDetails(club="Ek SK"), since="2024-04-01", actor="registry")
        selection = ExportFilter(tournament="Club open", names=True)
        ledger.ensure_up_to_date()
        reports.append(b"".join(trf_report.trf26_report(ledger, selection)))
        assert [row.name for row in ledger.ranking(group=PlayerGroup(club="Ek SK"))] == ["Ann, Ada"]
        ledger.sent_reports.record(
            **trf_report.facts_to_send(ledger, selection)._asdict(), tournament="Club open", form="trf26",
            file=reports[-1], sent_on="2024-05-10", actor="export",
        )  # fmt: skip
        ledger.erase(1, actor="otto")
        ledger.ensure_up_to_date()
        assert details_at(ledger, [1], instant_ms("2024-06-01")) == {}
        assert [sent.again for sent in sent_reports(ledger)] == [False]
    assert reports[0] == reports[1]
    assert b"102 Arbiter, Anna\r\n112 Deputy, Dan\r\n" in reports[0]
    assert b"wWGM Ann, Ada" in reports[0]


def test_a_report_is_taken_back_on_a_server_and_recorded_anew_as_in_files(
    pair_of_clubs: tuple[Ledger, Ledger], tmp_path: Path
) -> None:
    answers = []
    for ledger in pair_of_clubs:
        for result, other, points in (("1", "0", ("1.5", "0.0")), ("0", "1", ("0.5", "1.0"))):
            rows = (
                player(1, "Ann, Ada", f"2 w {result}", "0000 - H", rating="2310", fide="101", points=points[0]),
                player(2, "Bob", f"1 b {other}", "0000 - Z", rating="2200", fide="102", points=points[1]),
            )
            imported = ledger.import_file(written(tmp_path, f"{result}.trf", report(rows).encode()))
            assert imported.ok, imported.faults
            if imported.number == 1:
                change = ledger.corrections.drafts.take_back("1")
                ledger.decide(ledger.propose([change], reason="x", by="eve").proposal, Decision.APPROVED, by="otto")
                assert not list(ledger.rows("entrants"))
                assert not list(ledger.rows("games", "voided_by IS NULL"))
        selection = ExportFilter(tournament="Club open", names=True)
        ledger.ensure_up_to_date()
        standings = [(row.name, row.rating) for row in ledger.ranking()]
        answers.append(
            (standings, [row.state for row in imports(ledger)], [*trf_report.trf26_report(ledger, selection)])
        )
        assert ledger.audit().ok
    assert answers[0] == answers[1]
    assert answers[0][1] == ["taken back", "recorded"]


def test_another_node_sees_what_is_recorded_and_records_itself(each_server: Server, tmp_path: Path) -> None:
    place = new_place(each_server)
    with Ledger.create(tmp_path / NAME, on_server=place) as first:
        first.register("name:ann", "Ann")
        first.register("name:bob", "Bob")
        first.append(game_recorded("g1"))
        with Ledger.open(settings_of(tmp_path / "another", place)) as second:
            assert [row.name for row in second.ranking()] == ["Ann", "Bob"]
            second.append(game_recorded("g2"))
            assert second.register("name:cleo", "Cleo") == 3
        assert first.head().size == 6
        assert first.player("Cleo").player == 3
        assert first.ranking()[0].games == 2


def test_two_nodes_that_register_at_once_give_no_number_twice(oldest_server: Server, tmp_path: Path) -> None:
    place = new_place(oldest_server)
    Ledger.create(tmp_path / NAME, on_server=place).close()
    faults: list[BaseException] = []

    def register(node: int) -> None:
        try:
            with Ledger.open(settings_of(tmp_path / f"node{node}", place)) as ledger:
                for number in range(15):
                    ledger.register(f"name:{node}-{number}", f"Player {node}-{number}")
                    ledger.register(f"name:both-{number}", f"Both {number}")
        except BaseException as error:  # noqa: BLE001  # told by the test, not by the thread
            faults.append(error)

    threads = [threading.Thread(target=register, args=(node,)) for node in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    with Ledger.open(tmp_path / NAME) as ledger:
        rows = ledger.names.file.by_number(range(1, 100))
        assert sorted(rows) == list(range(1, 46))
        assert len({row.identity for row in rows.values()}) == 45
        assert sum(entry.kind == "player-registered/1" for entry in ledger.entries()) == 45


def test_init_is_for_whoever_may_or_prints_what_somebody_else_runs(
    oldest_server: Server, tmp_path: Path, run: Run
) -> None:
    address = empty_database(oldest_server)
    club = tmp_path / NAME
    refused = run("init", club, "--journal", address)
    assert (refused.code, "'init --sql' prints what somebody who may must run first" in refused.err) == (1, True)
    printed = run("init", club, "--journal", address, "--schema", "odd name", "--sql")
    assert (printed.code, list(tmp_path.iterdir())) == (0, [])
    place = ServerPlace(address, "odd name")
    run_sql_on(oldest_server, place, printed.out)
    made = run("init", club, "--journal", address, "--schema", "odd name")
    assert made.code == 0, made.err
    assert (tmp_path / "club.toml").read_text() == (
        f'journal = "{address}"\nschema = "odd name"\ndurability = "server"\n'
    )
    assert run("import", club, SAMPLE).code == 0
    again = run("init", tmp_path / "again.db", "--journal", address, "--schema", "odd name")
    assert again.code == 1
    assert "holds a ledger already, up to entry 917, and a journal is never overwritten" in again.err
    assert not (tmp_path / "again.toml").exists()
    superuser = run("init", tmp_path / "again.db", "--journal", oldest_server.url(address.rpartition("/")[2]))
    assert (superuser.code, "is the address of a superuser" in superuser.err) == (1, True)


@pytest.mark.parametrize("schema", ["s" * 50, 'Odd "name", {club}', "ä" * 25])
def test_schemas_of_any_name_that_is_taken_are_as_they_should_be(
    schema: str, oldest_server: Server, tmp_path: Path
) -> None:
    place = ServerPlace(empty_database(oldest_server), schema)
    run_sql_on(oldest_server, place, setup_sql(place))
    with Ledger.create(tmp_path / NAME, on_server=place) as ledger:
        ledger.register("name:ann", "Ann")
        eve = ledger.tokens.add("eve", [Role.APPROVER])
        assert ledger.player("Ann").player == 1
        assert ledger.erase(1, token=eve)
    assert server_faults(place.address, schema) == []


@pytest.mark.parametrize("schema", ["s" * 51, "ä" * 26, "a;b", "a'b", "50%", "x$$y", "pg_club", "a\nb", ""])
def test_a_name_by_which_roles_or_statements_would_be_others_makes_nothing(
    schema: str, oldest_server: Server, tmp_path: Path
) -> None:
    place = ServerPlace(empty_database(oldest_server), schema)
    for make in (lambda: setup_sql(place), lambda: Ledger.create(tmp_path / NAME, on_server=place)):
        with pytest.raises(StorageError, match=r"no ledger is made in a schema called .*: a name has 1 to 50 bytes"):
            make()


def test_a_user_who_may_make_roles_needs_nobody_else(each_server: Server, tmp_path: Path) -> None:
    address = empty_database(each_server)
    name = address.rpartition("/")[2]
    run_sql_on(
        each_server, ServerPlace(address, "x"),
        f'ALTER USER "ledger_of_{name}" CREATEROLE', f'GRANT CREATE ON DATABASE {name} TO "ledger_of_{name}"',
    )  # fmt: skip
    with Ledger.create(tmp_path / NAME, on_server=ServerPlace(address, f"club_{name}")) as ledger:
        ledger.register("name:ann", "Ann")
        journal = ledger.journal
        assert isinstance(journal, PostgresJournal)
        assert journal.size() == 2
        for table in ("club_{}.journal", "club_{}_names.people", "club_{}_tokens.refusals"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                journal.session().connection().execute(f"DELETE FROM {table.format(name)}".encode())
    assert server_faults(address, f"club_{name}") == []


def test_what_a_server_does_not_promise_is_refused_where_it_is_asked_for(oldest_server: Server, tmp_path: Path) -> None:
    place = new_place(oldest_server)
    Ledger.create(tmp_path / NAME, on_server=place).close()
    path = settings_of(tmp_path / "another", place)
    with (path.parent / "club.toml").open("a") as settings:
        settings.write('durability = "quorum"\n')
    with Ledger.open(path) as ledger:
        assert journal_status(ledger).promise == "one-server"
        with pytest.raises(StorageError, match="synchronous_standby_names is empty, so that what it acknowledges may"):
            ledger.register("name:ann", "Ann")
        assert ledger.journal.size() == 1


def test_a_ledger_that_is_read_only_reads(oldest_server: Server, tmp_path: Path) -> None:
    place = new_place(oldest_server)
    with Ledger.create(tmp_path / NAME, on_server=place) as ledger:
        ledger.register("name:ann", "Ann")
    with Ledger.open(tmp_path / NAME, read_only=True) as ledger:
        assert ledger.player("Ann").player == 1
        with pytest.raises(StorageError, match="it was opened for reading only"):
            ledger.register("name:bob", "Bob")


def test_files_beside_a_journal_line_and_lines_without_one_are_refused(oldest_server: Server, tmp_path: Path) -> None:
    place = new_place(oldest_server)
    Ledger.create(tmp_path / NAME, on_server=place).close()
    settings = tmp_path / "club.toml"
    (tmp_path / NAME).touch()
    with pytest.raises(StorageError, match=r"stands there, and club.toml says that the journal is on a server"):
        Ledger.open(tmp_path / NAME)
    with pytest.raises(StorageError, match=r"stands there, and club\.toml says"), ledger_as_files(tmp_path / NAME):
        pass  # an audit, a backup or a query would take the file for the ledger
    (tmp_path / NAME).unlink()
    for settings_text, message in (
        ('schema = "club"\n', "has schema and no journal"),
        ('journal = "club.db"\n', "journal must be the address of a database"),
        (f'journal = "{place.address}"\npatience = 0\n', "patience must be seconds"),
        (f'journal = "{place.address}"\ndurability = "much"\n', "durability must be one of server, quorum"),
        ('journal = "postgresql://ann:secret@host/db"\n', "has a password in it"),
    ):
        settings.write_text(settings_text)
        with pytest.raises(StorageError, match=message) as caught:
            Ledger.open(tmp_path / NAME)
        assert "secret" not in str(caught.value)


def test_the_copy_of_a_killed_process_goes_with_the_next_and_that_of_a_living_one_stays(
    oldest_server: Server, tmp_path: Path
) -> None:
    with Ledger.create(tmp_path / NAME, on_server=new_place(oldest_server)) as ledger:
        ledger.register("name:ann", "Ann")
    killed = f"""
import os
from ledger.backups.local_copies import ledger_as_files
with ledger_as_files({str(tmp_path / NAME)!r}):
    os.kill(os.getpid(), 9)
"""
    assert subprocess.run([sys.executable, "-c", killed], check=False).returncode == -signal.SIGKILL
    (left,) = tmp_path.glob("club.copy-*")
    with ledger_as_files(tmp_path / NAME) as copy, ledger_as_files(tmp_path / NAME) as another:
        assert not left.exists()
        assert copy.exists()
        assert another.exists()
    assert list(tmp_path.glob("club.copy-*")) == []


def test_what_was_made_is_empty_and_taken_once(oldest_server: Server) -> None:
    place = new_place(oldest_server)
    secret = bytes(range(32))
    journal, people = make_on_server(place, secret)
    with closing(journal), closing(people):
        assert (journal.size(), people.secret()) == (0, secret)
    journal, people = open_on_server(attrs.evolve(place, patience=5.0))
    with closing(journal), closing(people):
        assert people.secret() == secret


def test_a_node_follows_what_others_record(oldest_server: Server, tmp_path: Path, run: Run) -> None:
    place = new_place(oldest_server)
    with Ledger.create(tmp_path / NAME, on_server=place) as ledger:
        ledger.register("name:ann", "Ann")
        ledger.register("name:bob", "Bob")
        ledger.append(game_recorded("g1"))
        node = settings_of(tmp_path / "another", place)
        followed = run("follow", node, "--until", 4)
        assert (followed.code, "club.db: level with entry 4" in followed.err) == (0, True), followed.err
        told = run("journal", node)
        assert '"folded": 4' in told.out
        assert run("journal", settings_of(tmp_path / "new", place)).code == 0


def test_what_reads_files_reads_a_copy(each_server: Server, tmp_path: Path, run: Run) -> None:
    place = new_place(each_server)
    club = tmp_path / NAME
    Ledger.create(club, on_server=place).close()
    assert run("import", club, SAMPLE).code == 0
    head = run("head", club).out.strip()
    audited = run("audit", club)
    assert (audited.code, f"head {head}" in audited.out) == (0, True), audited.out + audited.err
    counted = run("query", club, "SELECT kind, count(*) AS number FROM journal WHERE kind LIKE 'game%' GROUP BY kind")
    assert counted.out.strip() == '[{"kind": "game-recorded/1", "number": 900}]', counted.err
    assert run("query", club, "SELECT count(*) AS number FROM games").out.strip() == '[{"number": 900}]'
    assert "verified: recomputed from 917 entries" in run("ratings", club, "--verify").err
    made = run("backup", club, tmp_path / "copy")
    assert (made.code, made.out.strip()) == (0, head), made.err
    onto = run("restore", tmp_path / "copy", club)
    assert (onto.code, "is a ledger on a server, as its settings say" in onto.err) == (1, True), onto.err
    assert run("restore", tmp_path / "copy", tmp_path / "back.db").code == 0
    assert run("ratings", tmp_path / "back.db").out == run("ratings", club).out
    assert sorted(path.name for path in tmp_path.iterdir() if "copy-" in path.name or "query-" in path.name) == []


def test_an_edit_on_the_server_is_found_by_its_position(oldest_server: Server, tmp_path: Path, run: Run) -> None:
    place = new_place(oldest_server)
    club = tmp_path / NAME
    Ledger.create(club, on_server=place).close()
    assert run("import", club, SAMPLE).code == 0
    black = """convert_to(replace(convert_from(body, 'UTF8'), '"white"', '"black"'), 'UTF8')"""
    edit = f"UPDATE club.journal SET body = {black} WHERE position = 500"
    switch = "ALTER TABLE club.journal {} TRIGGER USER"
    run_sql_on(oldest_server, place, switch.format("DISABLE"), edit, switch.format("ENABLE"))
    audited = run("audit", club, "--journal-only")
    assert (audited.code, "entry 500" in audited.out) == (3, True), audited.out + audited.err


def test_what_stands_around_the_journal_and_is_not_ours_is_named(
    oldest_server: Server, tmp_path: Path, run: Run
) -> None:
    place = new_place(oldest_server)
    club = tmp_path / NAME
    Ledger.create(club, on_server=place).close()
    run_sql_on(oldest_server, place, "GRANT DELETE ON club.journal TO club_writer")
    audited = run("audit", club)
    assert (audited.code, "FOREIGN" in audited.out, "DELETE" in audited.out) == (3, True, True), audited.out
    with Ledger.open(club) as ledger:
        verdict = ledger.audit()
    assert (verdict.ok, ["DELETE" in str(falsehood) for falsehood in verdict.falsehoods]) == (False, [True])
    run_sql_on(oldest_server, place, "REVOKE DELETE ON club.journal FROM club_writer")
    assert run("audit", club).code == 0
    with Ledger.open(club) as ledger:
        assert ledger.audit().ok


def test_names_that_are_lost_are_gone_on_without(oldest_server: Server, tmp_path: Path, run: Run) -> None:
    place = new_place(oldest_server)
    club = tmp_path / NAME
    with Ledger.create(club, on_server=place) as ledger:
        for name in ("Ann", "Bob"):
            ledger.register(f"name:{name.lower()}", name)
    assert "no name is lost" in run("accept-lost-names", club, "--yes").err
    run_sql_on(oldest_server, place, "DELETE FROM club_names.people WHERE player = 2")
    told = run("player", "add", club, "name:cid", "Cid").err
    assert "have the database restored from its newest copy; where there is none, 'rating-ledger accept-lost" in told
    done = run("accept-lost-names", club, "--yes")
    assert (done.code, "1 player goes on as numbers without a name" in done.err) == (0, True), done.err
    with Ledger.open(club) as ledger:
        assert ledger.names.file.by_number([1, 2])[2].is_erased
        assert ledger.player("Ann").player == 1


(PLAYER,) = [route for route in ROUTES if route.path == "/players/{player}"]


def test_what_any_node_records_is_answered(oldest_server: Server, tmp_path: Path) -> None:
    place = new_place(oldest_server)
    with Ledger.create(tmp_path / NAME, on_server=place) as ledger:
        for name in ("Ann", "Bob"):
            ledger.register(f"name:{name.lower()}", name)
        adam = ledger.tokens.add("adam", [Role.APPROVER])
        tokens = {"rita": ledger.tokens.add("rita", [Role.RECORDER], token=adam)}
        ledger.ensure_up_to_date()
    with serving(tmp_path / NAME, "--listen", "127.0.0.1:0") as (_, address):
        until(lambda: position(address) > 0)
        api = Api(address, tokens)
        done = api.post("/games?rated=1", GAME)
        assert (done.status_code, done.json()["rated"]["game"]) == (201, "club:1"), done.text
        assert api.post("/games", GAME).json()["duplicate"] is True
        with Ledger.open(settings_of(tmp_path / "another", place)) as another:
            recorded = another.append(game_recorded("r1-b1"), token=tokens["rita"])
        listed = httpx.get(f"{address}/api/v1/ranking?after={recorded.position}", timeout=PATIENCE).json()
        assert [row["games"] for row in listed["rows"]] == [2, 2]
        assert httpx.get(f"{address}/players/1", timeout=PATIENCE).status_code == 200


def test_two_servers_of_one_ledger_know_the_same_sessions_sendings_and_refusals(
    oldest_server: Server, tmp_path: Path
) -> None:
    """As where the server that an officer works with is lost, and a name leads to another one."""
    place = new_place(oldest_server)
    with Ledger.create(tmp_path / NAME, on_server=place) as ledger:
        for name in ("Ann", "Bob"):
            ledger.register(f"name:{name.lower()}", name)
        ledger.append(game_recorded("r1-b1", half_moves=60))
        adam = ledger.tokens.add("adam", [Role.APPROVER])
        tokens = {"eve": ledger.tokens.add("eve", [Role.CORRECTOR], token=adam)}
        ledger.ensure_up_to_date()
    node = settings_of(tmp_path / "another", place)
    words_of_both = ("--listen", "127.0.0.1:0")
    with serving(tmp_path / NAME, *words_of_both) as (_, first), serving(node, *words_of_both) as (_, second):
        until(lambda: position(first) > 0 and position(second) > 0)
        eve, elsewhere = Officer(first), Officer(second)
        eve.sign_in(tokens["eve"])
        elsewhere.client.cookies = eve.client.cookies
        assert "eve" in words(elsewhere.look("/desk").text)
        body = {"changes": [{"verb": "void", "game": "r1-b1"}], "reason": "played twice"}
        header = {"headers": {"Idempotency-Key": "letter 7"}}
        sent = [Api(address, tokens).post("/corrections", body, "eve", **header) for address in (first, second)]
        assert [answer.status_code for answer in sent] == [201, 200], [answer.text for answer in sent]
        assert [answer.json()["proposal"] for answer in sent] == [1, 1]
        decision = {"decision": "approved", "reason": "seen"}
        refused = Api(first, tokens).post("/corrections/1/decision", decision, "eve")
        assert refused.status_code == 403, refused.text
        assert "not-this-role" in words(elsewhere.look("/desk/health").text)
        elsewhere.do("/desk", "/desk/sign-out")
        eve.look("/desk", 303)
        for officer in (eve, elsewhere):
            officer.client.close()


def test_a_name_that_is_sealed_on_a_server_and_not_given_yet_is_not_kept_as_it_was(
    oldest_server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = new_place(oldest_server)
    with Ledger.create(tmp_path / NAME, on_server=place) as ledger:
        ledger.register("name:ann", "Ann")
        ledger.ensure_up_to_date()
    reader, tags, asked = Reader(tmp_path / NAME), list[str](), list[int]()

    def answer(*had: str) -> Answer:
        return reader.answer(PLAYER, {"player": "1", "pool": None, "at": None}, "/players/1", had)

    def folded_in_meanwhile(names: PendingNames, pending: PendingName) -> None:
        folding.ensure_up_to_date()
        between = answer()
        assert b'"name":"Ann"' in (between.body or b"")
        assert answer(between.tag).body is None
        tags.append(between.tag)
        give(names, pending)

    def rows(names: PendingNames) -> list[PendingName]:
        asked.append(1)
        return every(names)

    give, every = PendingNames.apply, PendingNames.rows
    answer()
    with Ledger.open(tmp_path / NAME) as folding, Ledger.open(settings_of(tmp_path / "another", place)) as renaming:
        monkeypatch.setattr(PendingNames, "apply", folded_in_meanwhile)
        renaming.registry.rename(1, "Spelt Right", actor="test")
    after = answer(*tags)
    assert b'"name":"Spelt Right"' in (after.body or b"")
    monkeypatch.setattr(PendingNames, "rows", rows)
    assert answer(after.tag).body is None
    assert asked == [], "once nothing is being given, nobody asks again before something is recorded"
    reader.open().ledger.close()
    reader.close()
