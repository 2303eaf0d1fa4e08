"""Names on a server: who may what, erased in every file of leader and standby, one transaction with the journal."""

import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from itertools import count
from pathlib import Path

import psycopg
import pytest

from ledger.errors import StorageError
from ledger.players import postgres_people
from ledger.players.persons import Person
from ledger.players.postgres_layout import WITH_NAMES
from ledger.players.postgres_people import PostgresPeople
from ledger.runtime.postgres_session import ServerSession
from ledger.testing.kit import MemoryJournal
from tests.contracts.people_contract import DAY, everybody, named
from tests.kit import postgres
from tools import postgres_servers

pytestmark = pytest.mark.outside  # PostgreSQL

_numbers = count(1)


@pytest.fixture(name="leader", scope="module", params=["the oldest", "the newest"])
def _leader(request: pytest.FixtureRequest) -> Iterator[postgres.Server]:
    programs = postgres.needed(newest=request.param == "the newest")
    with postgres.running(programs, max_wal_size="64MB", min_wal_size="32MB") as server:
        yield server


@pytest.fixture(name="place")
def _place(leader: postgres.Server) -> tuple[str, str]:
    """The address and the schema of new, empty names."""
    schema = f"club{next(_numbers)}"
    PostgresPeople.create(leader.url(), schema).close()
    return leader.url(), schema


def run(server: postgres.Server, *queries: str) -> None:
    with psycopg.connect(server.url(), autocommit=True) as connection:
        for query in queries:
            connection.execute(query.encode())


def of_user(server: postgres.Server, schema: str, role: str) -> str:
    """The address of a user who was granted a role of these names."""
    user = f"{schema}_{role}_user"
    run(server, f"CREATE USER {user}", f"GRANT {schema}_names_{role} TO {user}")
    return server.url(user=user)


def test_a_writer_keeps_renames_and_erases_and_takes_no_row_away(
    leader: postgres.Server, place: tuple[str, str]
) -> None:
    address, schema = place
    with closing(PostgresPeople(of_user(leader, schema, "writer"), schema)) as people:
        people.assign_numbers(named("Ann", "Bob"), DAY)
        people.pending.apply(people.pending.begin(1, 1, "Anna"))
        people.erasures.begin([2], "officer")
        assert people.purge()
        people.erasures.drop([2])
        for statement in (
            "DELETE FROM {s}.people", "TRUNCATE {s}.people", "UPDATE {s}.people SET player = 9",
            "DROP TABLE {s}.people",
            "ALTER TABLE {s}.people DISABLE TRIGGER ALL", "UPDATE {s}.about SET layout = 2", "DELETE FROM {s}.secret",
        ):  # fmt: skip
            with pytest.raises(StorageError, match="this role may not do that"):
                people.rows(statement)
    with closing(PostgresPeople(address, schema)) as people:
        assert [(person.player, person.name) for person in everybody(people)] == [(1, "Anna"), (2, None)]


def test_a_reader_reads_and_writes_nothing(leader: postgres.Server, place: tuple[str, str]) -> None:
    address, schema = place
    with closing(PostgresPeople(address, schema)) as people:
        people.assign_numbers({f"id:{i}": f"Name{i} Ek" for i in range(2_500)}, DAY)
    with closing(PostgresPeople(of_user(leader, schema, "reader"), schema)) as reader:
        assert [match.player for match in reader.search.find("name2499")] == [2_500]
        assert [person.player for person in reader.find("Name7 Ek")] == [8]
        assert len(reader.secret()) == 32
        with pytest.raises(StorageError, match="this role may not do that: have it granted the ledger's role"):
            reader.assign_numbers(named("Zoe"), DAY)
        with pytest.raises(StorageError, match="this role may not do that"):
            reader.purge()
        assert reader.search.highest_indexed() == 0


def test_who_has_no_role_reads_nothing(leader: postgres.Server, place: tuple[str, str]) -> None:
    run(leader, f"CREATE USER stranger_to_{place[1]}")
    with pytest.raises(StorageError, match="this role may not do that"):
        PostgresPeople(leader.url(user=f"stranger_to_{place[1]}"), place[1])


def test_whoever_may_make_roles_and_schemas_makes_the_names_and_may_only_write_there_afterwards(
    leader: postgres.Server,
) -> None:
    database = leader.new_database().rpartition("/")[2]
    run(leader, f"CREATE USER maker_{database} CREATEROLE", f"GRANT CREATE ON DATABASE {database} TO maker_{database}")
    address = leader.url(database, f"maker_{database}")
    with closing(PostgresPeople.create(address, f"made_{database}", b"s" * 32)) as people:
        assert people.assign_numbers(named("Ann"), DAY)["id:ann"].player == 1
        assert people.secret() == b"s" * 32
    with closing(psycopg.connect(address, autocommit=True)) as connection:
        for statement in (
            "DELETE FROM {s}.people",
            "TRUNCATE {s}.reasons",
            "ALTER TABLE {s}.people DISABLE TRIGGER ALL",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement.format(s=f"made_{database}_names").encode())


def holding(folder: Path, *marks: bytes) -> set[str]:
    """The files that hold one of these, by the name of the folder in which they are, or their own."""
    holders = set()
    for path in folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes().lower()
            if any(mark.lower() in data for mark in marks):
                holders.add(path.relative_to(folder).parts[0])
    return holders


def fill(people: PostgresPeople, players: int = 2_500) -> tuple[list[Person], list[bytes]]:
    """Many people, indexed; the first few of them, and what tells of those: names, identities, salts."""
    names = {f"id:qz{i}x{secrets.token_hex(6)}": f"Qy{secrets.token_hex(6)}, Ann" for i in range(players)}
    persons = list(people.assign_numbers(names, DAY).values())
    people.search.catch_up()
    people.whole_names.catch_up()
    first = persons[:5]
    marks = [part.partition(":")[2].encode() for person in first for part in [person.identity or ""]]
    marks += [(person.name or "")[:14].encode() for person in first]
    marks += [bytes(person.salt or b"") for person in first]
    return first, marks


def forget(people: PostgresPeople, persons: list[Person]) -> None:
    numbers = [person.player for person in persons]
    assert people.erasures.begin(numbers, "officer") == len(numbers)
    people.purge_or_refuse()
    people.erasures.drop(numbers)


def settled(server: postgres.Server) -> None:
    """What is written is in the files, and the log goes on in another one."""
    run(server, "CHECKPOINT", "SELECT pg_switch_wal()", "CHECKPOINT")


def test_after_an_erasure_the_log_alone_holds_the_name_until_its_files_are_written_over(
    leader: postgres.Server, place: tuple[str, str]
) -> None:
    data = leader.folder / "data"
    with closing(PostgresPeople(*place)) as people:
        persons, marks = fill(people)
        long = "Wv" + secrets.token_hex(500)[:998]  # in the table's own place for what is long, TOAST
        with MemoryJournal().writing() as writer:
            (sealed,) = people.reasons.store(writer, {"a": long}).values()
        marks.append(long[:40].encode())
        run(leader, "ANALYZE")
        settled(leader)
        assert holding(data, *marks[-1:]) == holding(data, *marks[:1]) == {"base", "pg_wal"}
        forget(people, persons)
        assert people.reasons.forget([sealed]) == 1
        settled(leader)
        assert holding(leader.folder, *marks) == {"data"}
        assert holding(data, *marks) == {"pg_wal"}
        assert "write-ahead log may still tell until its files are written over" in people.remaining_copies()
        assert [len(people.search.find(name)) for name in ("qy", "ann")[1:]] == [2_495]
    run(leader, "ALTER SYSTEM SET wal_recycle = off", "SELECT pg_reload_conf()")
    for _ in range(4):
        run(leader, "CREATE TABLE filler AS SELECT generate_series(1, 1000)", "DROP TABLE filler")
        settled(leader)
    assert holding(data, *marks) == set()
    run(leader, "ALTER SYSTEM RESET wal_recycle", "SELECT pg_reload_conf()")


def test_an_erasure_says_that_a_transaction_of_before_may_still_read_the_name(
    leader: postgres.Server, place: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_people, "READER_SECONDS", 0.3)
    with closing(PostgresPeople(*place)) as people:
        persons, marks = fill(people, 50)
        with psycopg.connect(leader.url()) as reader:
            reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            reader.execute("SELECT 1")
            people.erasures.begin([person.player for person in persons], "officer")
            assert not people.purge_within(0.1)
            with pytest.raises(StorageError, match="a transaction that began before is still open on the server"):
                people.purge_or_refuse()
            # the reader, who could be asked only now, sees what stood when it began
            rows = reader.execute(f"SELECT count(name) FROM {place[1]}_names.people".encode()).fetchone()
            assert rows == (50,)
            assert not people.purge_within(0.1)  # the table is being read
        people.purge_or_refuse()
        settled(leader)
        assert holding(leader.folder / "data", *marks) <= {"pg_wal"}


def test_statistics_that_somebody_had_made_of_names_are_taken_away_and_told(
    leader: postgres.Server, place: tuple[str, str]
) -> None:
    names = f"{place[1]}_names"
    told = f"SELECT count(*) FROM pg_stats WHERE schemaname = '{names}'"
    with closing(PostgresPeople(*place)) as people:
        persons, marks = fill(people, 200)
        run(leader, "ANALYZE")
        assert people.rows(told) == [(0,)]
        run(leader, f"ALTER TABLE {names}.people ALTER COLUMN name SET STATISTICS 1000", f"ANALYZE {names}.people")
        assert people.rows(told) == [(1,)]
        people.erasures.begin([person.player for person in persons], "officer")
        with pytest.raises(
            StorageError, match=r"made statistics of people\.name.*VACUUM FULL pg_catalog\.pg_statistic"
        ):
            people.purge_or_refuse()
        assert people.rows(told) == [(0,)]
        run(leader, "ANALYZE", "VACUUM FULL pg_catalog.pg_statistic")
        people.purge_or_refuse()
        settled(leader)
        assert holding(leader.folder / "data", *marks) <= {"pg_wal"}


def test_objects_of_others_on_the_tables_of_names_are_named_before_anything_is_written_anew(
    leader: postgres.Server, place: tuple[str, str]
) -> None:
    names = f"{place[1]}_names"
    for make, drop, words in (
        (f"CREATE INDEX other ON {names}.people (upper(name))", f"DROP INDEX {names}.other", "index 'other' on table"),
        (f"CREATE STATISTICS {names}.both ON name, identity FROM {names}.people", f"DROP STATISTICS {names}.both",
         "statistics 'both'"),
        (f"CREATE RULE r AS ON DELETE TO {names}.people DO INSTEAD NOTHING", f"DROP RULE r ON {names}.people",
         "rule 'r'"),
    ):  # fmt: skip
        run(leader, make)
        with closing(PostgresPeople(*place)) as people:
            with pytest.raises(StorageError, match=words):
                people.purge()
            run(leader, drop)
            assert people.purge()


@contextmanager
def following(leader: postgres.Server) -> Iterator[postgres.Server]:
    """A standby that streams from a leader, who keeps the log until the standby has asked for it."""
    if not (leader.programs.folder / "pg_basebackup").exists():
        pytest.skip(f"PostgreSQL {leader.version} came without pg_basebackup")
    folder = Path(tempfile.mkdtemp(prefix="ledger-standby-"))
    run(leader, "ALTER SYSTEM SET wal_keep_size = '512MB'", "SELECT pg_reload_conf()")
    try:
        user = postgres_servers.as_other_user()
        if "user" in user:
            shutil.chown(folder, user["user"])
        subprocess.run(
            [leader.programs.folder / "pg_basebackup", "-D", folder / "data", "-R", "-X", "stream", "-c", "fast",
             "-d", leader.url(), "--no-sync"],
            check=True, capture_output=True, **user,
        )  # fmt: skip
        standby = postgres.Server(leader.programs, folder, *postgres_servers.free_ports(1))
        standby.start(unix_socket_directories=str(folder), listen_addresses="127.0.0.1")
        try:
            yield standby
        finally:
            standby.stop()
    finally:
        run(leader, "ALTER SYSTEM RESET wal_keep_size", "SELECT pg_reload_conf()")
        shutil.rmtree(folder, ignore_errors=True)


def wait_until_level(leader: postgres.Server, standby: postgres.Server) -> None:
    with (
        psycopg.connect(leader.url(), autocommit=True) as asked,
        psycopg.connect(standby.url(), autocommit=True) as told,
    ):
        # what is inserted is sent only when it is flushed, and the place of the next insertion may lie behind a header
        asked.execute("SELECT pg_logical_emit_message(true, 'level', '')")
        (until,) = asked.execute("SELECT pg_current_wal_flush_lsn()").fetchone() or (None,)
        for _ in range(1_500):
            if told.execute("SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", [until]).fetchone() == (True,):
                return
            time.sleep(0.02)
    raise AssertionError("the standby does not follow")


def test_a_standby_forgets_what_its_leader_forgets(leader: postgres.Server, place: tuple[str, str]) -> None:
    with ExitStack() as stack:
        people = stack.enter_context(closing(PostgresPeople(*place)))
        standby = stack.enter_context(following(leader))
        persons, marks = fill(people)
        settled(leader)
        wait_until_level(leader, standby)
        run(standby, "CHECKPOINT")
        assert "base" in holding(standby.folder / "data", *marks)
        forget(people, persons)
        settled(leader)
        wait_until_level(leader, standby)
        run(standby, "CHECKPOINT")
        assert holding(standby.folder / "data", *marks) == {"pg_wal"}
        assert holding(leader.folder / "data", *marks) <= {"pg_wal"}
        assert "that of its standbys too" in people.remaining_copies()


def test_names_are_kept_with_the_open_transaction_of_their_connection_or_not_at_all(place: tuple[str, str]) -> None:
    address, schema = place
    with closing(ServerSession(address)) as session, closing(PostgresPeople(address, schema)) as other:
        connection, people = session.connection(), PostgresPeople(address, schema, session=lambda: session)
        version = other.version()
        connection.execute("BEGIN")
        assert people.assign_numbers(named("Ann"), DAY)["id:ann"].player == 1
        assert people.find("Ann")[0].player == 1
        assert (other.counts(), other.version()) == ((0, 0), version)
        connection.execute("ROLLBACK")
        assert (people.counts(), other.version()) == ((0, 0), version)

        connection.execute("BEGIN")

        def refuse(_: object) -> None:
            raise StorageError("journal", "no")

        with pytest.raises(StorageError, match="no"):
            people.assign_numbers(named("Bob"), DAY, refuse)
        with pytest.raises(StorageError):
            people.rows("SELECT nothing")
        connection.execute("ROLLBACK")

        connection.execute("BEGIN")
        with pytest.raises(StorageError, match="no"):
            people.assign_numbers(named("Bob"), DAY, refuse)
        people.assign_numbers(named("Ann"), DAY)  # the transaction goes on without what was undone
        people.pending.begin(1, 1, "Anna")
        people.erasures.begin([1], "officer")
        assert other.counts() == (0, 0)
        connection.execute("COMMIT")
        assert everybody(other) == [Person(1, None, None, None, DAY)]
        assert (other.erasures.rows(), other.version()) != ({}, version)
        assert people.assign_numbers(named("Zoe"), DAY)["id:zoe"].player == 2
        people.close()  # the connection is the journal's
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_every_table_that_holds_names_is_written_anew(leader: postgres.Server, place: tuple[str, str]) -> None:
    query = (
        "SELECT DISTINCT c.relname::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid "
        f"WHERE c.relnamespace = '{place[1]}_names'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 "
        "AND a.atttypid IN ('text'::regtype, 'bytea'::regtype, 'bigint[]'::regtype) ORDER BY 1"
    )
    with closing(PostgresPeople(*place)) as people:
        tables = {table for (table,) in people.rows(query)}
    assert tables == {*WITH_NAMES, "about", "secret", "erasing"}  # no names, no names, and those of officers
