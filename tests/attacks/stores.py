"""The parts of a ledger, each in a file or in a schema of a server: copied, read raw, and written past every guard.

Nothing is judged here. Opening a database may write to it (a log is folded in, a hot journal rolled back), so what is
to stay as it is must be read from a copy. An attack that changes rows is written once; the stores say it their way.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import cache
from hashlib import sha256
from pathlib import Path
from sqlite3 import Connection
from tempfile import TemporaryDirectory

import attrs

from ledger.errors import one_line
from ledger.journal.settings_file import ServerPlace, server_of
from ledger.journal.sqlite_store import SqliteJournal
from ledger.players.sqlite_people import SqlitePeople
from ledger.runtime.lazy import psycopg
from ledger.runtime.ledger_files import sidecar
from ledger.runtime.sqlite import sqlite3
from tests.attacks import servers
from tests.attacks.servers import Row
from tests.kit.tampering import Statement, edit

ROLES = ("journal", "people", "views")
LOGS = ("-wal", "-shm", "-journal")
READ_ERRORS = (sqlite3.Error, UnicodeDecodeError, OverflowError)
NOTHING_THERE: Mapping[str, object] = {  # what comes in the place of NULL, by the type of the column
    "INTEGER": 7, "REAL": 7.5, "TEXT": "x", "BLOB": b"x",
    "bigint": 7, "integer": 7, "text": "x", "bytea": b"x", "bigint[]": [7],
}  # fmt: skip

Act = Callable[[Path], object]  # spoils the ledger at that path


def ledger_in(folder: Path) -> Path:
    """Return the journal's path in a folder that holds one ledger, and refuse any other folder by a ``ValueError``."""
    found = [path for path in sorted(folder.glob("*.db")) if sidecar(path, "people").exists()]
    if len(found) != 1:
        raise ValueError(f"{folder}: holds {len(found)} ledgers, expected one; give the folder of one ledger")
    return found[0]


def file_of(db: Path, role: str, log: str = "") -> Path:
    """Return the file of a ledger that plays *role*, or one of its logs."""
    path = db if role == "journal" else sidecar(db, role)
    return path.with_name(path.name + log)


def copied(db: Path, folder: Path, *, with_database: bool = True) -> Path:
    """Copy all files of a ledger, logs and half-made ones too, into a new *folder*, and its database on a server."""
    if folder.exists():
        folder.chmod(0o755)  # an attack may have taken the right to write away
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    for path in db.parent.iterdir():
        if path.name.startswith(f"{db.stem}.") and path.is_file():
            shutil.copyfile(path, folder / path.name)
    if with_database:
        servers.give_own_database(folder / db.name)
    return folder / db.name


def put(source: Path, target: Path) -> None:
    """Put a file with its logs in the place of another."""
    for log in ("", *LOGS):
        old, new = source.with_name(source.name + log), target.with_name(target.name + log)
        new.unlink(missing_ok=True)
        if old.exists():
            shutil.copyfile(old, new)


@attrs.frozen
class Contents:
    """What a database file says, whatever its bytes are."""

    schema: frozenset[Row]  # type, name, table and statement of every object
    header: Row  # application id, layout, encoding
    tables: dict[str, str]  # by table, SHA-256 over its rows in the order in which they are stored
    sound: str  # what SQLite says of pages and indexes, ``ok`` where nothing is wrong


def raw(path: Path) -> Connection:
    """Open a copy of a file; text comes as it is stored, damaged or not."""
    connection: Connection = sqlite3.connect(str(path), isolation_level=None)
    connection.text_factory = lambda stored: stored.decode("utf-8", "surrogateescape")
    return connection


def contents(path: Path) -> Contents | str:
    """Return what a copy of a file says, or why it cannot be read."""
    try:
        with closing(raw(path)) as connection:
            schema = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
            header = tuple(
                connection.execute(f"PRAGMA {word}").fetchone()[0]
                for word in ("application_id", "user_version", "encoding")
            )
            (sound,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
            rows = {name: connection.execute(f'SELECT * FROM "{name}"') for kind, name, *_ in schema if kind == "table"}
            tables = {name: sha256(repr(found.fetchall()).encode()).hexdigest() for name, found in rows.items()}
            return Contents(frozenset(schema), header, tables, one_line(sound))
    except READ_ERRORS as error:
        return f"{type(error).__name__}: {error}"


def objects_of(path: Path) -> list[tuple[str, str, str, str]]:
    """Return type, name, table and statement of every object of a copy of a file; SQLite's own have no statement."""
    with closing(raw(path)) as connection:
        return connection.execute("SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master").fetchall()


class Store:
    """A part of a ledger that is a file."""

    mark = "?"  # stands for a value in a statement
    within = ""  # stands before the name of a table
    lenient = "OR IGNORE "  # the word by which a statement passes over what a rule of the table forbids

    def __init__(self, path: Path) -> None:
        self._path = path

    @cache  # noqa: B019  # there are a few for each history
    def columns(self) -> dict[str, dict[str, str]]:
        """Return, by table, its columns with their types."""
        with closing(raw(self._path)) as connection:
            query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
            return {
                table: {row[1]: row[2] for row in connection.execute(f'PRAGMA table_info("{table}")')}
                for (table,) in connection.execute(query).fetchall()
            }

    def rows(self, table: str) -> list[Row]:
        with closing(raw(self._path)) as connection:
            return connection.execute(f'SELECT * FROM "{table}"').fetchall()

    def edited(self, *statements: Statement) -> None:
        """Run statements past the guards that stand there."""
        edit(self._path, *statements)

    def take(self, other: Path, role: str) -> None:
        """Hold what another ledger's part holds; a file with its logs."""
        put(file_of(other, role), self._path)

    def same(self, column: str, kind: str) -> str:  # noqa: ARG002  # SQLite compares values as they are
        """Return the condition that a column has a value, be it NULL."""
        return f'"{column}" IS ?'

    def changed(self, table: str, row: Row, column: str, value: object) -> Statement:
        """Return what gives a column of a row another value."""
        sql = f'UPDATE {self.lenient}{self.within}"{table}" SET "{column}" = {self.mark} WHERE {self._exactly(table)}'
        return sql, (value, *row)

    def gone(self, table: str, row: Row) -> Statement:
        """Return what takes a row away."""
        return f'DELETE FROM {self.within}"{table}" WHERE {self._exactly(table)}', row

    def more(self, table: str, row: Row) -> Statement:
        """Return what adds a row."""
        marks = ", ".join(self.mark for _ in row)
        return f'INSERT {self.lenient}INTO {self.within}"{table}" VALUES ({marks})', row

    def _exactly(self, table: str) -> str:
        return " AND ".join(self.same(column, kind) for column, kind in self.columns()[table].items())


class ServerStore(Store):
    """A part of a ledger that is a schema of a server."""

    mark, lenient = "%s", ""

    def __init__(self, place: ServerPlace, role: str) -> None:
        self._place = place
        self._role = role
        self.within = f"{servers.SCHEMAS[role]}."

    @cache  # noqa: B019
    def columns(self) -> dict[str, dict[str, str]]:
        with servers.as_superuser(self._place) as connection:
            return servers.columns_of(connection, self._role)

    def rows(self, table: str) -> list[Row]:
        with servers.as_superuser(self._place) as connection:
            return servers.rows_of(connection, self._role, table, list(self.columns()[table]))

    def edited(self, *statements: Statement) -> None:
        servers.edited(self._place, *statements)

    def take(self, other: Path, role: str) -> None:
        source = server_of(other)
        assert source is not None
        servers.put(source, self._place, role)

    def same(self, column: str, kind: str) -> str:
        return f'"{column}" IS NOT DISTINCT FROM %s::{kind}'


def store_of(db: Path, role: str) -> Store:
    """Return where a part of a ledger is; the views are a file wherever the journal is."""
    place = None if role == "views" else server_of(db)
    return Store(file_of(db, role)) if place is None else ServerStore(place, role)


def roles_in_files(db: Path) -> tuple[str, ...]:
    """Return the parts of a ledger that are files."""
    return ROLES if server_of(db) is None else ("views",)


def roles_on_server(db: Path) -> tuple[str, ...]:
    """Return the parts of a ledger that are schemas of a server, what is kept of tokens there among them."""
    return () if server_of(db) is None else tuple(servers.SCHEMAS)


def readable(db: Path, folder: Path) -> Path:
    """Make a copy in a new *folder* that any SQLite tool can read: a server's journal and names go into files.

    Where a schema cannot be read, or holds a row that no file can, its file is not there.
    """
    copy = copied(db, folder, with_database=False)
    place = server_of(db)
    if place is None:
        return copy
    (folder / f"{db.stem}.toml").unlink()
    with servers.as_superuser(place) as connection:
        for role, empty in zip(("journal", "people"), _empty_files(), strict=True):
            file = file_of(copy, role)
            file.write_bytes(empty)
            try:
                Store(file).edited(*_filling(Store(file), connection, role))
            except (psycopg.Error, sqlite3.Error):
                file.unlink()
    return copy


@cache
def _empty_files() -> tuple[bytes, bytes]:
    with TemporaryDirectory() as folder:
        journal, people = Path(folder) / "journal.db", Path(folder) / "people.db"
        SqliteJournal.create(journal).close()
        SqlitePeople.create(people).close()
        return journal.read_bytes(), people.read_bytes()


def _filling(file: Store, connection: psycopg.Connection[Row], role: str) -> Iterator[Statement]:
    """Yield what puts the rows of a schema into an empty file; indexes that only names have in a file stay empty."""
    yield "PRAGMA ignore_check_constraints = ON"
    there = servers.columns_of(connection, role)
    for table, columns in file.columns().items():
        if table in there:
            yield f'DELETE FROM "{table}"'  # the secret that the file was made with
            insert = f'INSERT INTO "{table}" VALUES ({", ".join("?" for _ in columns)})'
            yield from ((insert, row) for row in servers.rows_of(connection, role, table, list(columns)))
    if role == "journal":  # a server has an index over the column
        yield "INSERT INTO keys_0 SELECT 0, key, position FROM journal"
