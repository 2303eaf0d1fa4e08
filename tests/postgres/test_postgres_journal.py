"""The journal on PostgreSQL: what holds when several write, when the server dies, and who may what."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path

import psycopg
import pytest

from ledger.errors import CorruptError, StorageError
from ledger.journal import postgres_store
from ledger.journal.postgres_store import PostgresJournal, promises_too_little
from ledger.journal.postgres_tables import Roles, creation_sql
from ledger.journal.scratch import ScratchJournal
from ledger.journal.sqlite_store import SqliteJournal
from ledger.journal.stored_texts import compressed_texts
from ledger.testing.journal_contract import (
    EncodedEntry,
    append_entries,
    encode_entry,
    fill_journal,
    merkle_root,
    stored_bodies,
)
from tests.kit import postgres
from tests.kit.places import ROOT
from tests.kit.poolers import pooling
from tests.kit.postgres import Server
from tests.kit.processes import REFUSED, in_child
from tests.kit.server_ledgers import SCHEMA, as_reader, as_superuser, new_journal, run_as_superuser


@pytest.fixture
def writers_address(oldest_server: Server) -> str:
    """The writer's address of a new journal."""
    return new_journal(oldest_server)


def opened(address: str, patience: float = 30.0) -> closing[PostgresJournal]:
    return closing(PostgresJournal(address, SCHEMA, patience=patience))


def appending(address: str, word: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.postgres.entry_writer", address, word, str(count)]
    return subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def add(journal: PostgresJournal, *entries: EncodedEntry) -> None:
    """As the recorder does: the keys are asked for first."""
    keys = [entry.key for entry in entries]
    with journal.writing(keys=keys) as writer:
        assert writer.find(keys) == {}
        append_entries(writer, *entries)


def waiting_processes(server: Server, event: str) -> list[int]:
    with closing(psycopg.connect(server.url(), autocommit=True)) as connection:
        question = "SELECT pid FROM pg_stat_activity WHERE wait_event = %s"
        return [process for (process,) in connection.execute(question, (event,))]


def test_root_and_bytes_are_those_of_the_same_entries_in_a_file(each_server: Server, tmp_path: Path) -> None:
    with opened(new_journal(each_server)) as journal, closing(SqliteJournal.create(tmp_path / "club.db")) as file:
        assert fill_journal(journal) == fill_journal(file)
        assert journal.head() == file.head()
        assert stored_bodies(journal) == stored_bodies(file)
        assert [journal.root_at(size) for size in range(600)] == [file.root_at(size) for size in range(600)]
        keys = [f"entry:{position}" for position in range(300)]
        assert journal.find(keys) == file.find(keys)


def test_two_processes_append_at_once_without_a_gap_or_a_double(writers_address: str) -> None:
    drivers = [appending(writers_address, word, 150) for word in ("ann", "bob")]
    told: dict[int, str] = {}
    for driver in drivers:
        out, errors = driver.communicate()
        assert (driver.returncode, errors) == (0, "")
        for line in out.splitlines():
            position, leaf = line.split()
            assert told.setdefault(int(position), leaf) == leaf
    assert sorted(told) == list(range(1, 301))
    with opened(writers_address) as journal:
        assert [leaf.hex() for leaf in journal.hashes(0, 0, 300)] == [told[position] for position in range(1, 301)]
        assert journal.head().root == merkle_root(stored_bodies(journal))


def test_bodies_are_read_byte_for_byte_whatever_stands_in_them(
    each_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many are read as one value; a body that somebody changed may have in it what stands between two of them."""
    monkeypatch.setattr(postgres_store, "STEP", 7)
    address = new_journal(each_server)
    with opened(address) as journal:
        bodies = [entry.body for entry in fill_journal(journal, (35,))]
        strange = {1: b"", 3: b"\0", 7: b"", 8: b"a\0\0b", 20: b"\0" * 3, 35: b""}
        for position, body in strange.items():
            bodies[position - 1] = body
            run_as_superuser(
                each_server,
                address,
                "SET session_replication_role = replica",
                f"UPDATE {SCHEMA}.journal SET body = '\\x{body.hex()}' WHERE position = {position}",
            )
        for after, last in ((0, 35), (2, 8), (7, 7), (19, 20), (34, 35), (35, 40)):
            assert [body for block in journal.read(after, last) for body in block] == bodies[after:last]


def test_no_transaction_stays_open_between_two_questions(
    oldest_server: Server, writers_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_store, "BLOCK", 10)
    with opened(writers_address) as journal:
        bodies = [entry.body for entry in fill_journal(journal, (35,))]
        reading = journal.read()
        seen = next(reading)
        name = writers_address.rpartition("/")[2]
        with closing(psycopg.connect(oldest_server.url(), autocommit=True)) as connection:
            question = "SELECT state, application_name FROM pg_stat_activity WHERE datname = %s"
            assert connection.execute(question, (name,)).fetchall() == [("idle", "rating-ledger")]
        assert journal.find(["entry:35"])["entry:35"].position == 35
        other = journal.read(30)
        assert [body for block in other for body in block] == bodies[30:]
        assert seen + [body for block in reading for body in block] == bodies


@contextmanager
def lone_server() -> Iterator[Server]:
    with postgres.running(postgres.needed(newest=True)) as server:
        yield server


def started_again(server: Server) -> None:
    """Its old processes notice that the first of them is gone, one after the other."""
    for _ in range(100):
        try:
            server.start(unix_socket_directories=str(server.folder), listen_addresses="127.0.0.1")
        except RuntimeError:
            time.sleep(0.1)
        else:
            return


def test_a_killed_server_loses_no_acknowledged_entry_and_the_next_use_reconnects() -> None:
    with lone_server() as server:
        address = new_journal(server)
        with opened(address) as journal:
            fill_journal(journal, (3,))
            driver = appending(address, "ann", 100_000)
            assert driver.stdout is not None
            told = [driver.stdout.readline().split() for _ in range(40)]
            server.kill()
            rest, errors = driver.communicate()
            assert driver.returncode == 1
            # in the middle of a transaction, or between two
            assert "nothing is known to be recorded: run the" in errors or "the server cannot be reached" in errors
            told += [line.split() for line in rest.splitlines() if line.count(" ") == 1 and len(line) > 64]
            started_again(server)
            leaves = journal.hashes(0, 0, journal.size())
            assert all(leaves[int(position) - 1].hex() == leaf for position, leaf in told)
            assert len(leaves) - len(told) in (3, 4)  # one may be committed whose word was lost
            with journal.writing() as writer:
                append_entries(writer, encode_entry(writer.size + 1))
            assert journal.head().root == merkle_root(stored_bodies(journal))


def test_a_transaction_whose_server_was_lost_goes_on_nowhere(oldest_server: Server, writers_address: str) -> None:
    name = writers_address.rpartition("/")[2]
    others = f"FROM pg_stat_activity WHERE datname = '{name}' AND pid <> pg_backend_pid()"
    with opened(writers_address) as journal:

        def go_on() -> None:
            with journal.writing() as writer:
                append_entries(writer, encode_entry(1))
                run_as_superuser(oldest_server, writers_address, f"SELECT pg_terminate_backend(pid) {others}")
                with pytest.raises(StorageError, match="the connection to the server was lost"):
                    writer.find(["entry:1", "other"])
                append_entries(writer, encode_entry(2))

        with pytest.raises(StorageError, match="the transaction ended when the server was lost: nothing is known"):
            go_on()
        assert journal.size() == 0
        fill_journal(journal, (2,))


def test_a_cancelled_wait_for_standbys_is_a_failure_that_says_so() -> None:
    with lone_server() as server:
        address = new_journal(server)
        with opened(address) as journal, closing(psycopg.connect(server.url(), autocommit=True)) as operator:
            operator.execute("ALTER SYSTEM SET synchronous_standby_names = 'absent'")
            operator.execute("SELECT pg_reload_conf()")
            until(lambda: operator.execute("SHOW synchronous_standby_names").fetchone() == ("absent",))

            def cancel() -> None:
                until(lambda: bool(waiting_processes(server, "SyncRep")))
                for process in waiting_processes(server, "SyncRep"):
                    operator.execute("SELECT pg_cancel_backend(%s)", (process,))

            for attempt in range(2):
                thread = threading.Thread(target=cancel)
                thread.start()
                with pytest.raises(StorageError, match="not known to be replicated: run the command again"):
                    add(journal, encode_entry(attempt + 1))
                thread.join()
            operator.execute("ALTER SYSTEM RESET synchronous_standby_names")
            operator.execute("SELECT pg_reload_conf()")
            with journal.writing() as writer:  # they are there all the same, and told again they are found
                assert set(writer.find(["entry:1", "entry:2"])) == {"entry:1", "entry:2"}
                append_entries(writer, encode_entry(3))
            assert journal.head().root == merkle_root([encode_entry(position).body for position in (1, 2, 3)])


def test_nothing_is_recorded_while_the_server_waits_for_whichever_other_one_comes() -> None:
    """A copy that is being made would count, and with it an entry be acknowledged that goes with the server."""
    with lone_server() as server, closing(psycopg.connect(server.url(), autocommit=True)) as operator:

        def wait_for_servers(names: str) -> None:
            operator.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{names}'")
            operator.execute("SELECT pg_reload_conf()")
            until(lambda: operator.execute("SHOW synchronous_standby_names").fetchone() == (names,))

        address = new_journal(server)
        wait_for_servers("ANY 1 (db2,db3)")
        with closing(PostgresJournal(address, SCHEMA, needs_quorum=True)) as journal:
            assert journal.size() == 0  # a connection that stays, as that of a server does
            wait_for_servers("")
            with opened(address) as on_one_server:
                add(on_one_server, encode_entry(1))
            wait_for_servers("ANY 1 (*)")
            anybody = r"whichever server comes \(synchronous_standby_names is 'ANY 1 \(\*\)'\)"
            with pytest.raises(StorageError, match=f"{anybody}.*; nothing was recorded"):
                add(journal, encode_entry(2))
        with (
            closing(PostgresJournal(address, SCHEMA, needs_quorum=True)) as opened_later,
            pytest.raises(StorageError, match=anybody),
        ):
            add(opened_later, encode_entry(2))
        wait_for_servers("")
        with opened(address) as journal:
            assert journal.size() == 1


@pytest.mark.parametrize("names", ["*", '"*"', "ANY 1 (*)", "FIRST 1 (db2, *)", "db2,*"])
def test_whichever_server_comes_is_no_quorum(names: str) -> None:
    assert "whichever server comes" in (promises_too_little(names, "on") or "")
    assert promises_too_little(names.replace("*", "db3*"), "on") is None


def as_on_a_server_that_never_had_them(server: Server, address: str, after: int) -> None:
    """Take the last entries away, as they are gone where a server leads that was not told of them."""
    run_as_superuser(
        server, address,
        "ALTER TABLE club.journal DISABLE TRIGGER USER",
        f"DELETE FROM club.journal WHERE position > {after}",
        "ALTER TABLE club.journal ENABLE TRIGGER USER",
    )  # fmt: skip


def test_what_was_read_and_is_gone_with_a_server_is_not_taken_for_settled(
    oldest_server: Server, writers_address: str
) -> None:
    with opened(writers_address) as reader, opened(writers_address) as writer:
        fill_journal(writer, (3,))
        reader.ensure_durable()
        add(writer, encode_entry(4))
        assert reader.head().size == 4
        as_on_a_server_that_never_had_them(oldest_server, writers_address, 3)
        with pytest.raises(StorageError, match="gone with a server that was lost before another one had them"):
            reader.ensure_durable()
        reader.ensure_durable()
        assert reader.head().root == merkle_root([encode_entry(position).body for position in (1, 2, 3)])
        with closing(PostgresJournal(writers_address, SCHEMA)) as another:
            add(another, encode_entry(4, "another"), encode_entry(5, "another"))
        reader.ensure_durable()
        assert reader.head().size == 5


def test_what_is_tried_out_over_entries_that_are_gone_with_a_server_is_not_settled_either(
    oldest_server: Server, writers_address: str
) -> None:
    with opened(writers_address) as reader, opened(writers_address) as writer:
        fill_journal(writer, (3,))
        reader.ensure_durable()
        add(writer, encode_entry(4))
        tried = ScratchJournal(reader, reader.size())
        as_on_a_server_that_never_had_them(oldest_server, writers_address, 3)
        with pytest.raises(StorageError, match="gone with a server that was lost before another one had them"):
            tried.ensure_durable()


def test_another_entry_in_the_place_of_one_that_is_gone_is_not_taken_for_it(
    oldest_server: Server, writers_address: str
) -> None:
    with opened(writers_address) as reader, opened(writers_address) as writer:
        fill_journal(writer, (3,))
        add(writer, encode_entry(4))
        lost = reader.head()
        as_on_a_server_that_never_had_them(oldest_server, writers_address, 3)
        with closing(PostgresJournal(writers_address, SCHEMA)) as another:
            add(another, encode_entry(4, "another"))
        with pytest.raises(StorageError, match="gone with a server that was lost before another one had them"):
            reader.ensure_durable()
        assert reader.head().size == lost.size
        assert reader.head() != lost
        add(reader, encode_entry(5))
        assert reader.size() == 5


def test_an_entry_that_was_settled_and_is_gone_stays_an_alarm(oldest_server: Server, writers_address: str) -> None:
    with opened(writers_address) as reader, opened(writers_address) as writer:
        fill_journal(writer, (3,))
        reader.head()
        reader.ensure_durable()
        as_on_a_server_that_never_had_them(oldest_server, writers_address, 2)
        for ask in (reader.head, lambda: add(reader, encode_entry(3)), lambda: add(writer, encode_entry(3))):
            with pytest.raises(CorruptError, match="entry 3: was in the journal while it was open and is gone"):
                ask()
        with closing(PostgresJournal(writers_address, SCHEMA)) as another:
            add(another, encode_entry(3, "another"), encode_entry(4, "another"))
        with pytest.raises(CorruptError, match="entry 3: was in the journal while it was open and is gone"):
            reader.ensure_durable()


def test_a_forked_child_asks_nothing_by_its_parents_session_and_does_not_end_it(writers_address: str) -> None:
    journal = PostgresJournal(writers_address, SCHEMA)
    try:
        assert REFUSED in in_child(journal.size)
        assert REFUSED in in_child(lambda: journal.writing().__enter__())
        assert in_child(journal.close) == "None"
        assert in_child(lambda: _size_by_own(writers_address)) == "0"
        assert journal.size() == 0
    finally:
        journal.close()


def _size_by_own(address: str) -> int:
    with closing(PostgresJournal(address, SCHEMA)) as own:
        return own.size()


def test_a_frozen_server_is_given_up_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_store, "GRACE", 0.0)
    with lone_server() as server, opened(new_journal(server), patience=0.4) as journal:
        fill_journal(journal, (2,))
        with closing(psycopg.connect(server.url(), autocommit=True)) as connection:
            question = "SELECT pid FROM pg_stat_activity WHERE application_name = 'rating-ledger'"
            ((process,),) = connection.execute(question).fetchall()
        os.kill(process, signal.SIGSTOP)
        try:
            with pytest.raises(StorageError, match=r"the server said nothing for 0\.4 s, and the connection was cut"):
                journal.size()
            assert journal.size() == 2  # by another connection
            filled_again = journal.find(["entry:2"])["entry:2"]
            assert filled_again.position == 2
        finally:
            os.kill(process, signal.SIGCONT)


def test_who_waits_a_second_for_another_writer_is_told_so_by_the_server(writers_address: str) -> None:
    """The client gives the server longer than that, so that the connection is not cut meanwhile."""
    with opened(writers_address) as first, opened(writers_address) as second, first.writing():
        with pytest.raises(StorageError, match=r"another process is writing to it"), second.writing(patience=1.0):
            pass
        assert second.size() == 0


def test_a_pooler_that_hands_out_connections_by_sessions_is_no_obstacle(
    oldest_server: Server, writers_address: str
) -> None:
    with (
        pooling(oldest_server, by_transaction=False) as port,
        opened(writers_address.replace(str(oldest_server.port), str(port))) as journal,
    ):
        fill_journal(journal, (1, 1))
        assert journal.head().size == 2


NEVER = (
    "UPDATE club.journal SET body = body", "DELETE FROM club.journal", "TRUNCATE club.journal",
    "UPDATE club.nodes SET hash = hash", "DELETE FROM club.texts", "UPDATE club.about SET value = ''",
    "INSERT INTO club.about VALUES ('x', 'y')", "ALTER TABLE club.journal DISABLE TRIGGER USER",
    "DROP TABLE club.journal", "CREATE TABLE club.other(x integer)", "SELECT club.never()",
    "SET session_replication_role = replica", "SELECT club.next_position()",
    "INSERT INTO club.nodes VALUES (1, 0, sha256(''))", "INSERT INTO club.texts VALUES (sha256(''), '\\x28b52ffd')",
)  # fmt: skip
ENTRY = "INSERT INTO club.journal VALUES ({}, 'test/1', '{}', '\\x00', sha256('\\x0000'))"


def test_a_writer_adds_and_changes_nothing_and_a_reader_only_reads(each_server: Server) -> None:
    address = new_journal(each_server)
    with opened(address) as journal, opened(as_reader(address)) as reader:
        fill_journal(journal, (2,))
        assert stored_bodies(reader) == stored_bodies(journal)
        assert reader.head() == journal.head()
        with pytest.raises(StorageError, match="may only read"), reader.writing():
            pass
    for user, more in ((address, ()), (as_reader(address), (ENTRY.format(3, "entry:3"),))):
        with closing(psycopg.connect(user, autocommit=True)) as connection:
            for statement in (*NEVER, *more):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(statement)
    with closing(psycopg.connect(address, autocommit=True)) as connection:
        for position, key in ((4, "entry:4"), (0, "entry:0"), (2, "entry:9"), (3, "entry:1"), (-1, "entry:8")):
            with pytest.raises(psycopg.errors.IntegrityError):
                connection.execute(ENTRY.format(position, key))
        with pytest.raises(psycopg.errors.RestrictViolation):
            connection.execute(ENTRY.format(3, "entry:3") + ", (5, 'test/1', 'entry:5', '', sha256(''))")
        connection.execute(ENTRY.format(3, "entry:3"))


def test_whoever_records_blocks_nobody_by_false_rows(each_server: Server, tmp_path: Path) -> None:
    address = new_journal(each_server)
    with opened(address) as journal, closing(psycopg.connect(address, autocommit=True)) as attacker:
        fill_journal(journal, (255,))
        for false in (
            "INSERT INTO club.journal VALUES (256, 'test/1', 'a', '\\x01', sha256('\\x01'))",
            "SELECT club.keep_texts(ARRAY[sha256('x')], ARRAY['garbage'::bytea])",
            "SELECT club.keep_texts(ARRAY[sha256('x'), sha256('y')], ARRAY['\\x28b52ffd2000010000'::bytea])",
        ):
            with pytest.raises(psycopg.errors.RestrictViolation):
                attacker.execute(false)
        for places in (range(256, 700), range(700, 66_000)):
            with journal.writing() as writer:
                append_entries(writer, *map(encode_entry, places))
                writer.store_texts(compressed_texts(["e4 e5"]))
        with closing(SqliteJournal.create(tmp_path / "same.db")) as file:
            with file.writing() as writer:
                append_entries(writer, *map(encode_entry, range(1, 66_000)))
            assert journal.head() == file.head()
        # whoever opens it anew reads the nodes
        with opened(address) as again, closing(SqliteJournal(tmp_path / "same.db")) as file:
            assert again.head() == file.head()
            for level, last in ((1, 257), (2, 1)):
                assert again.hashes(level, 0, last) == file.hashes(level, 0, last)
            with again.writing() as writer:
                append_entries(writer, encode_entry(66_000))


ODD_SETTINGS = (
    "quote_all_identifiers = on", "standard_conforming_strings = off", "backslash_quote = on", "bytea_output = escape",
    "transform_null_equals = on", "array_nulls = off", "datestyle = 'SQL, DMY'", "intervalstyle = sql_standard",
    "timezone = 'Asia/Kolkata'", "extra_float_digits = -10", "gin_fuzzy_search_limit = 1", "row_security = off",
    "client_min_messages = error", "client_encoding = LATIN1", "search_path = public",
    "default_transaction_isolation = serializable", "default_transaction_deferrable = on", "xmlbinary = hex",
    "synchronize_seqscans = on", "plpgsql.extra_errors = 'all'", "plpgsql.check_asserts = off",
    "check_function_bodies = off", "escape_string_warning = off", "jit = on", "enable_seqscan = off",
    "plan_cache_mode = force_generic_plan",
)  # fmt: skip


def test_no_setting_of_a_database_changes_how_it_is_read(each_server: Server) -> None:
    address = new_journal(each_server)
    superuser = as_superuser(each_server, address)
    with opened(address) as journal:
        fill_journal(journal, (300,))
        expected = stored_bodies(journal)
    name = address.rpartition("/")[2]
    run_as_superuser(each_server, address, *(f'ALTER DATABASE "{name}" SET {setting}' for setting in ODD_SETTINGS))
    with closing(psycopg.connect(superuser)) as plain:
        shown = [plain.execute(f"SHOW {setting.partition(' ')[0]}".encode()).fetchone() for setting in ODD_SETTINGS]
        assert shown[0] == ("on",)
    with opened(address) as journal:
        assert journal.faults() == []
        assert stored_bodies(journal) == expected
        with journal.writing() as writer:
            append_entries(writer, *map(encode_entry, range(301, 303)))
            writer.store_texts(compressed_texts(["e4"]))
        assert journal.text(sha256(b"e4").digest()) == compressed_texts(["e4"])[0][1]
        assert journal.size() == 302


def test_the_guard_stands_before_the_owner_and_the_superuser_too(oldest_server: Server, writers_address: str) -> None:
    with opened(writers_address) as journal:
        fill_journal(journal, (2,))
    with closing(psycopg.connect(as_superuser(oldest_server, writers_address), autocommit=True)) as connection:
        for statement in NEVER[:6]:
            with pytest.raises(psycopg.errors.RestrictViolation, match="append-only"):
                connection.execute(statement)


@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("RETURN NULL", "took 0 of 1 rows|has a trigger"),
        ("NEW.body = ''; RETURN NEW", "changes what is recorded|has a trigger"),
    ],
)
def test_a_trigger_that_is_put_there_meanwhile_lets_nothing_be_recorded_wrongly(
    oldest_server: Server, writers_address: str, number: int, body: str, words: str
) -> None:
    with opened(writers_address) as journal:
        fill_journal(journal, (2,))
        run_as_superuser(
            oldest_server, writers_address,
            f"CREATE FUNCTION public.odd() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN {body}; END$$",
            "CREATE TRIGGER odd BEFORE INSERT ON club.journal FOR EACH ROW EXECUTE FUNCTION public.odd()",
        )  # fmt: skip
        with pytest.raises((StorageError, CorruptError), match=words):
            add(journal, *(encode_entry(3 + place) for place in range(number)))
        assert journal.size() == 2
        run_as_superuser(oldest_server, writers_address, "DROP TRIGGER odd ON club.journal")
        with journal.writing() as writer:
            append_entries(writer, encode_entry(3))
        assert journal.head().root == merkle_root([encode_entry(position).body for position in (1, 2, 3)])


def test_one_who_may_make_roles_makes_a_journal_by_the_printed_sql_and_is_left_no_rights(each_server: Server) -> None:
    owner = each_server.new_database()
    name = owner.rpartition("/")[2]
    odd = 'the "club\'s" {journal}'
    roles = Roles(f"{name} owner", f"{name}{{writer}}", f"{name}'s reader")
    with closing(psycopg.connect(owner, autocommit=True)) as connection:
        connection.execute(f"CREATE USER maker_{name} CREATEROLE")
        connection.execute(f"GRANT CREATE ON DATABASE {name} TO maker_{name}")
    maker = each_server.url(name, f"maker_{name}")
    with closing(psycopg.connect(maker, autocommit=True)) as connection:
        connection.execute(f"BEGIN; {creation_sql(odd, roles, 'ab' * 16)}; COMMIT")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute('SELECT FROM "the ""club\'s"" {journal}".journal')
        connection.execute(f'CREATE USER "w_{name}" IN ROLE "{roles.writer}"')
    with closing(PostgresJournal(each_server.url(name, f"w_{name}"), odd, identity="ab" * 16)) as journal:
        fill_journal(journal, (2, 1))
        assert journal.size() == 3
