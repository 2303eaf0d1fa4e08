"""A ledger copied from files onto a server and back: every row as it stands, proven, resumed, judged by the audit."""

from collections.abc import Callable
from contextlib import closing
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest

from ledger.audit.audit import Verdict, audit
from ledger.backups import server_copies, server_rows
from ledger.backups.server_copies import ServerCopy, copy_to_files, copy_to_server
from ledger.backups.server_rows import JOURNAL_TABLES, PEOPLE_TABLES, file_digest
from ledger.errors import CorruptError, StorageError
from ledger.facts.words import TreeHead
from ledger.imports.reading import batch_games
from ledger.journal.postgres_store import PostgresJournal
from ledger.ledger import Ledger
from ledger.players.postgres_people import PostgresPeople
from ledger.players.sqlite_people import SqlitePeople
from ledger.runtime import sqlite
from ledger.runtime.ledger_files import sidecar
from tests.errors.copy_cases import run_past_guards
from tests.kit.backups import asked
from tests.kit.clubs import copied
from tests.kit.corrections import approve, ask
from tests.kit.games import source_games
from tests.kit.postgres import Server
from tests.kit.server_ledgers import SCHEMA

pytestmark = pytest.mark.outside  # PostgreSQL

_numbers = count(1)


@pytest.fixture(scope="module")
def varied_club(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with movetexts, reasons, erased people and reasons, a name that waits and one that was given."""
    folder = tmp_path_factory.mktemp("varied")
    path = copied(sample_folder, folder)
    with Ledger.open(path) as ledger:
        assert ledger.import_games(batch_games(source_games(600), 200)).faults == []
        ledger.catch_up()
        ledger.rename(3, "Zoë Ångström")
        for reason in ("the scoresheet of Ann", "Bob said so"):
            key = next(row["key"] for row in ledger.rows("games", "reason IS NULL"))
            approve(ledger, ask(ledger, "void", game=key), reason=reason)
            ledger.catch_up()
        ledger.erase(5)
        assert ledger.journal.size() > 600
    with closing(SqlitePeople(path.with_name("club.people.db"))) as people:
        people.pending.begin(7, 99, "A Name That Waits")
    return path


@pytest.fixture
def club_for_a_server(varied_club: Path, tmp_path: Path) -> Path:
    """A copy of it, to be moved or spoilt."""
    return copied(varied_club.parent, tmp_path / "files")


def contents(path: Path) -> dict[str, str]:
    """By table the digest of what stands in files."""
    digests: dict[str, str] = {}
    for file, tables in ((path, JOURNAL_TABLES), (sidecar(path, "people"), PEOPLE_TABLES)):
        with closing(sqlite.connect(file, read_only=True)) as connection:
            digests |= {table.name: file_digest(connection, table, str(file)) for table in tables}
    return digests


def everything(path: Path) -> dict[str, Any]:
    """What a ledger answers."""
    with Ledger.open(path) as ledger:
        ledger.ensure_up_to_date()
        return {
            "head": ledger.head(),
            "games": list(ledger.rows("games")),
            "ratings": list(ledger.rows("current")),
            "names": [ledger.people_row(player) for player in range(1, 30)],
            "reasons": list(ledger.entries()),
            "secret": ledger.people.secret(),
        }


OnAServer = Callable[[Server], tuple[str, ServerCopy]]


@pytest.fixture(name="on_a_server", scope="module")
def _on_a_server(varied_club: Path) -> OnAServer:
    """Makes a new database in which that ledger stands; its address, and what was said when it was copied there."""

    @cache
    def template(server: Server) -> tuple[str, ServerCopy]:
        address = server.new_database()
        return address.rpartition("/")[2], copy_to_server(varied_club, address, SCHEMA)

    def on_a_server(server: Server) -> tuple[str, ServerCopy]:
        name, arrival = template(server)
        return server.new_database(template=name), arrival

    return on_a_server


def judged(address: str, folder: Path, since: TreeHead | None = None) -> Verdict:
    """What the audit says of a copy in files."""
    path = folder / f"copy{next(_numbers)}.db"
    copy_to_files(address, SCHEMA, path)
    return audit(path, since=since)


def test_a_ledger_goes_onto_a_server_and_comes_back_as_it_was(
    each_server: Server, on_a_server: OnAServer, club_for_a_server: Path, tmp_path: Path
) -> None:
    before = contents(club_for_a_server)
    address, arrival = on_a_server(each_server)
    assert dict(arrival.content.digests) == before
    assert arrival.faults == ()
    assert arrival.content.rows["texts"]
    assert arrival.content.rows["reasons"] == 2
    assert arrival.content.rows["renaming"] == 1
    with closing(PostgresJournal(address, SCHEMA)) as journal, closing(PostgresPeople(address, SCHEMA)) as people:
        assert journal.head() == arrival.head
        assert len(people.numbers()) == arrival.content.rows["people"]
        assert people.nameless() == [5]
        with closing(SqlitePeople(sidecar(club_for_a_server, "people"))) as file:
            assert people.secret() == file.secret()
            assert people.names() == file.names()
    told: list[tuple[str, int, int]] = []
    path = tmp_path / "back.db"
    content = copy_to_files(address, SCHEMA, path, lambda *words: told.append(words))
    assert content == arrival.content
    assert sorted(file.name for file in tmp_path.glob("back.*")) == ["back.db", "back.people.db"]
    assert contents(path) == before
    assert ("copy journal", content.rows["journal"], content.rows["journal"]) in told
    assert sidecar(path, "people").stat().st_mode & 0o077 == 0
    old, new = audit(club_for_a_server), audit(path)
    assert new.falsehoods == ()
    assert (new.head, new.names_checked, new.names_erased, new.reasons_checked) == (
        old.head, old.names_checked, old.names_erased, old.reasons_checked,
    )  # fmt: skip
    assert new.reasons_checked == 2
    assert everything(path) == everything(club_for_a_server)


def test_a_ledger_that_came_back_goes_on(oldest_server: Server, on_a_server: OnAServer, tmp_path: Path) -> None:
    address, arrival = on_a_server(oldest_server)
    path = tmp_path / "back.db"
    copy_to_files(address, SCHEMA, path)
    with Ledger.open(path) as ledger:
        ledger.register("name:new", "Somebody New")
        assert ledger.journal.size() == arrival.head.size + 1
        with pytest.raises(StorageError, match="append-only"):
            ledger.journal._connection.execute("DELETE FROM journal WHERE position = 3")  # type: ignore[attr-defined]
    assert audit(path).falsehoods == ()


FALSE_ON_A_SERVER = {
    "body": (
        "UPDATE club.journal SET body = set_byte(body, 50, get_byte(body, 50) # 1) WHERE position = 77",
        "journal entry 77",
    ),
    "leaf": ("UPDATE club.journal SET leaf = decode(repeat('ab', 32), 'hex') WHERE position = 5", "journal entry 5"),
    "short leaf": (
        "ALTER TABLE club.journal DROP CONSTRAINT journal_leaf_check;"
        "UPDATE club.journal SET leaf = '\\x00' WHERE position = 9",
        "journal entry 9",
    ),
    "key": ("UPDATE club.journal SET key = 'somebody:else' WHERE position = 300", "journal entry 300"),
    "entry gone": ("DELETE FROM club.journal WHERE position = 400", "journal entry 400"),
    "node gone": ("DELETE FROM club.nodes WHERE level = 1 AND number = 1", "nodes"),
    "node": ("UPDATE club.nodes SET hash = decode(repeat('cd', 32), 'hex') WHERE level = 1 AND number = 0", "nodes"),
    "name": ("UPDATE club_names.people SET name = 'Mallory' WHERE player = 2", "people 2"),
    "other's name": (
        "UPDATE club_names.people p SET name = b.name FROM club_names.people b WHERE p.player = 2 AND b.player = 4",
        "people 2",
    ),
    "row gone": ("DELETE FROM club_names.people WHERE player = 4", "people 4"),
    "reason": ("UPDATE club_names.reasons SET text = 'nobody said so' WHERE number = 1", "reasons"),
    "texts gone": ("DELETE FROM club.texts", "journal entry 18: names text"),
}


@pytest.mark.parametrize(("change", "falsehood"), FALSE_ON_A_SERVER.values(), ids=FALSE_ON_A_SERVER)
def test_the_audit_of_a_copy_names_what_is_false_on_the_server(
    each_server: Server, on_a_server: OnAServer, tmp_path: Path, change: str, falsehood: str
) -> None:
    address, _ = on_a_server(each_server)
    run_past_guards(address, change)
    verdict = judged(address, tmp_path)
    assert str(verdict.falsehoods[0]).startswith(falsehood), verdict.falsehoods


def test_a_tail_that_was_deleted_is_found_by_a_head_kept_outside(
    oldest_server: Server, on_a_server: OnAServer, tmp_path: Path
) -> None:
    address, arrival = on_a_server(oldest_server)
    last = arrival.head.size - 3
    run_past_guards(address, f"DELETE FROM club.journal WHERE position > {last}")
    verdict = judged(address, tmp_path, since=arrival.head)
    assert any(f"{arrival.head.size}" in str(falsehood) for falsehood in verdict.falsehoods), verdict.falsehoods
    assert verdict.entries == last


def test_a_row_that_no_file_can_hold_is_named_and_nothing_is_made(
    oldest_server: Server, on_a_server: OnAServer, tmp_path: Path
) -> None:
    address, _ = on_a_server(oldest_server)
    run_past_guards(
        address,
        "ALTER TABLE club.journal DROP CONSTRAINT journal_key",
        "UPDATE club.journal SET key = (SELECT key FROM club.journal WHERE position = 30) WHERE position = 31",
    )
    with pytest.raises(CorruptError, match="table journal, row 31: no file can hold it") as refusal:
        copy_to_files(address, SCHEMA, tmp_path / "back.db")
    assert refusal.value.position == 31
    assert list(tmp_path.glob("back*")) == []


def test_a_policy_that_hides_rows_is_no_way_past_a_copy(
    oldest_server: Server, on_a_server: OnAServer, club_for_a_server: Path, tmp_path: Path
) -> None:
    address, _ = on_a_server(oldest_server)
    database = address.rpartition("/")[2]
    run_past_guards(
        address,
        f"CREATE USER reads_{database} IN ROLE club_reader, club_names_reader",
        "CREATE POLICY blind ON club.journal FOR SELECT USING (position <> 50)",
        "ALTER TABLE club.journal ENABLE ROW LEVEL SECURITY",
    )
    with pytest.raises(StorageError, match="row-level security"):
        copy_to_files(oldest_server.url(database, f"reads_{database}"), SCHEMA, tmp_path / "back.db")
    run_past_guards(address, "ALTER TABLE club.journal DISABLE ROW LEVEL SECURITY")
    content = copy_to_files(oldest_server.url(database, f"reads_{database}"), SCHEMA, tmp_path / "back.db")
    assert dict(content.digests) == contents(club_for_a_server)


def test_what_others_write_meanwhile_is_not_in_a_copy(
    oldest_server: Server, on_a_server: OnAServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, arrival = on_a_server(oldest_server)
    original = server_copies.copy_table_to_file

    def with_others(*words: Any) -> int:
        # between journal and names: somebody joins and is renamed
        run_past_guards(
            address,
            "INSERT INTO club_names.people SELECT max(player) + 1, NULL, NULL, NULL, '' FROM club_names.people",
            "DELETE FROM club.texts",
        )
        return original(*words)

    monkeypatch.setattr(server_copies, "copy_table_to_file", with_others)
    assert copy_to_files(address, SCHEMA, tmp_path / "back.db") == arrival.content
    monkeypatch.undo()
    assert audit(tmp_path / "back.db").falsehoods == ()


def test_a_file_that_stands_there_is_never_overwritten(
    oldest_server: Server, on_a_server: OnAServer, club_for_a_server: Path
) -> None:
    address, _ = on_a_server(oldest_server)
    before = club_for_a_server.read_bytes()
    with pytest.raises(StorageError, match="exists already; a ledger is never overwritten"):
        copy_to_files(address, SCHEMA, club_for_a_server)
    assert club_for_a_server.read_bytes() == before


@pytest.fixture
def by_small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit for each hundred rows."""
    monkeypatch.setattr(server_copies, "ROWS_A_COMMIT", 100)
    monkeypatch.setattr(server_rows, "BLOCK", 50)


class Stopped(BaseException):
    """Ctrl-C, at a place that the test chose."""


def stopped_after(steps: int) -> Any:
    """A progress that stops the work when it was told so often that something was copied."""
    told = count(1)

    def progress(what: str, done: int, total: int) -> None:
        if what.startswith("copy") and next(told) == steps:
            raise Stopped

    return progress


@pytest.mark.parametrize("steps", [1, 4, 8, 10, 12])
def test_a_copy_that_was_stopped_goes_on_after_what_stands_there(
    oldest_server: Server, club_for_a_server: Path, by_small_steps: None, steps: int
) -> None:
    address = oldest_server.new_database()
    with pytest.raises(Stopped):
        copy_to_server(club_for_a_server, address, SCHEMA, progress=stopped_after(steps))
    assert asked(address, "SELECT count(*) FROM club.journal")[0][0] >= min(steps, 6) * 100
    oldest = asked(address, "SELECT xmin::text FROM club.journal WHERE position = 1")
    arrival = copy_to_server(club_for_a_server, address, SCHEMA)
    assert dict(arrival.content.digests) == contents(club_for_a_server)
    assert asked(address, "SELECT xmin::text FROM club.journal WHERE position = 1") == oldest
    assert copy_to_server(club_for_a_server, address, SCHEMA) == arrival


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            "UPDATE club.journal SET body = 'x' WHERE position = 42",
            "from row 42 on table journal differs from the files",
        ),
        ("UPDATE club_names.people SET name = 'x' WHERE player = 3", "from row 3 on table people differs"),
        ("UPDATE club_names.secret SET secret = decode(repeat('ab', 32), 'hex')", "the secret differs from the files"),
        (
            "INSERT INTO club_names.erasing VALUES (1, 'eve')",
            "table erasing has more rows there \\(1\\) than in the files \\(0\\)",
        ),
    ],
    ids=["journal", "people", "secret", "more"],
)
def test_a_copy_does_not_go_on_after_rows_of_another_ledger(
    oldest_server: Server, on_a_server: OnAServer, club_for_a_server: Path, change: str, words: str
) -> None:
    address, _ = on_a_server(oldest_server)
    run_past_guards(address, change)
    with pytest.raises(StorageError, match=words):
        copy_to_server(club_for_a_server, address, SCHEMA)


def test_an_empty_ledger_that_was_made_before_takes_the_secret_of_the_files(
    oldest_server: Server, club_for_a_server: Path
) -> None:
    address = oldest_server.new_database()
    PostgresJournal.create(address, SCHEMA).close()
    PostgresPeople.create(address, SCHEMA, b"s" * 32).close()
    database = address.rpartition("/")[2]
    run_past_guards(address, f"CREATE USER writes_{database} IN ROLE club_writer, club_names_writer")
    arrival = copy_to_server(club_for_a_server, oldest_server.url(database, f"writes_{database}"), SCHEMA)
    assert dict(arrival.content.digests) == contents(club_for_a_server)


def test_whoever_may_make_roles_and_schemas_copies_at_once_and_may_only_record_afterwards(
    each_server: Server, club_for_a_server: Path
) -> None:
    address = each_server.new_database()
    database = address.rpartition("/")[2]
    run_past_guards(
        address, f"CREATE USER moves_{database} CREATEROLE", f"GRANT CREATE ON DATABASE {database} TO moves_{database}"
    )
    schema = f"of_{database}"
    maker = each_server.url(database, f"moves_{database}")
    arrival = copy_to_server(club_for_a_server, maker, schema)
    assert dict(arrival.content.digests) == contents(club_for_a_server)
    assert arrival.faults == ()
    with closing(PostgresJournal(maker, schema)) as journal, journal.writing():
        pass
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        asked(maker, f"DELETE FROM {schema}.texts")


def test_whoever_may_not_make_schemas_leaves_none_behind(oldest_server: Server, club_for_a_server: Path) -> None:
    address = oldest_server.new_database()
    database = address.rpartition("/")[2]
    run_past_guards(address, f"CREATE USER half_{database}", f"GRANT CREATE ON DATABASE {database} TO half_{database}")
    with pytest.raises(StorageError, match="may not make the ledger's schemas and roles: 'init --sql' prints"):
        copy_to_server(club_for_a_server, oldest_server.url(database, f"half_{database}"), f"of_{database}")
    query = "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'of%'"
    assert asked(address, query) == [(0,)]


def test_files_that_are_false_go_nowhere(oldest_server: Server, club_for_a_server: Path) -> None:
    with closing(sqlite.connect(sidecar(club_for_a_server, "people"))) as people:
        people.execute("UPDATE people SET name = 'Mallory' WHERE player = 2")
    address = oldest_server.new_database()
    with pytest.raises(CorruptError, match=r"people 2: .*nothing was copied"):
        copy_to_server(club_for_a_server, address, SCHEMA)
    assert asked(address, "SELECT to_regnamespace('club') IS NULL") == [(True,)]


def test_a_server_that_changes_what_it_takes_is_no_place_for_a_ledger(
    oldest_server: Server, club_for_a_server: Path
) -> None:
    address = oldest_server.new_database()
    PostgresJournal.create(address, SCHEMA).close()
    PostgresPeople.create(address, SCHEMA).close()
    run_past_guards(
        address,
        "CREATE FUNCTION public.meddle() RETURNS trigger LANGUAGE plpgsql AS "
        "'BEGIN NEW.zstd = NEW.zstd || ''\\x00''::bytea; RETURN NEW; END'",
        "CREATE TRIGGER meddle BEFORE INSERT ON club.texts FOR EACH ROW EXECUTE FUNCTION public.meddle()",
    )
    with pytest.raises(CorruptError, match="table texts is not as it was sent: something on the server changes"):
        copy_to_server(club_for_a_server, address, SCHEMA)


def test_a_copy_waits_for_nobody_for_ever(
    oldest_server: Server, on_a_server: OnAServer, club_for_a_server: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_copies, "LOCK_SECONDS", 1)
    address, _ = on_a_server(oldest_server)
    with psycopg.connect(address) as other:
        other.execute("SELECT pg_advisory_xact_lock('club.journal'::regclass::oid::bigint)")
        with pytest.raises(StorageError, match="another process is writing to it"):
            copy_to_server(club_for_a_server, address, SCHEMA)
