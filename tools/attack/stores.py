"""The three parts of a ledger, each in a file or in a schema of a server: read raw and written past every guard.

An attack that changes rows is written once; what differs is how each place says it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Protocol

from ledger.journal.settings_file import ServerPlace, server_of
from ledger.journal.sqlite_store import SqliteJournal
from ledger.players.sqlite_people import SqlitePeople
from ledger.runtime.lazy import psycopg
from ledger.runtime.sqlite import sqlite3

from . import files, servers
from .files import ROLES, copied, file_of, objects_of, raw
from .servers import Row, Statement

if TYPE_CHECKING:
    from psycopg import Connection

NOTHING_THERE: Mapping[str, object] = {  # what comes in the place of NULL, by the type of the column
    "INTEGER": 7, "REAL": 7.5, "TEXT": "x", "BLOB": b"x",
    "bigint": 7, "integer": 7, "text": "x", "bytea": b"x", "bigint[]": [7],
}  # fmt: skip


class Store(Protocol):
    """Where one part of a ledger is."""

    def columns(self) -> dict[str, dict[str, str]]:
        """By table, its columns with their types."""

    def rows(self, table: str) -> list[Row]:
        """All rows of a table."""

    def edited(self, *statements: Statement) -> None:
        """Run statements past the guards that stand there."""

    def take(self, other: Path, role: str, *, logs: bool) -> None:
        """Hold what another ledger's part holds; of files with their logs, or beside those that stand there."""

    def changed(self, table: str, row: Row, column: str, value: object) -> Statement:
        """What gives a column of a row another value."""

    def gone(self, table: str, row: Row) -> Statement:
        """What takes a row away."""

    def more(self, table: str, row: Row) -> Statement:
        """What adds a row."""


class FileStore:
    """A part of a ledger that is a file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @cache  # noqa: B019  # there are a few for each history
    def columns(self) -> dict[str, dict[str, str]]:
        """As of a ``Store``."""
        return files.columns_of(self._path)

    def rows(self, table: str) -> list[Row]:
        """As of a ``Store``."""
        with closing(raw(self._path)) as connection:
            return connection.execute(f'SELECT * FROM "{table}"').fetchall()

    def edited(self, *statements: Statement) -> None:
        """As of a ``Store``; the guards are back afterwards."""
        guards = [(name, sql) for kind, name, _, sql in objects_of(self._path) if kind == "trigger"]
        off = [f'DROP TRIGGER "{name}"' for name, _ in guards]
        files.edited(self._path, *off, *statements, *[sql for _, sql in guards])

    def take(self, other: Path, role: str, *, logs: bool) -> None:
        """As of a ``Store``."""
        files.put(file_of(other, role), self._path, logs=logs)

    def _exactly(self, table: str, row: Row) -> tuple[str, list[object]]:
        return " AND ".join(f'"{column}" IS ?' for column in self.columns()[table]), list(row)

    def changed(self, table: str, row: Row, column: str, value: object) -> Statement:
        """As of a ``Store``."""
        where, values = self._exactly(table, row)
        return f'UPDATE OR IGNORE "{table}" SET "{column}" = ? WHERE {where}', [value, *values]

    def gone(self, table: str, row: Row) -> Statement:
        """As of a ``Store``."""
        where, values = self._exactly(table, row)
        return f'DELETE FROM "{table}" WHERE {where}', values

    def more(self, table: str, row: Row) -> Statement:
        """As of a ``Store``."""
        return f'INSERT OR IGNORE INTO "{table}" VALUES ({", ".join("?" for _ in row)})', row


class ServerStore:
    """A part of a ledger that is a schema of a server."""

    def __init__(self, place: ServerPlace, role: str) -> None:
        self._place = place
        self._role = role
        self._schema = servers.SCHEMAS[role]

    @cache  # noqa: B019
    def columns(self) -> dict[str, dict[str, str]]:
        """As of a ``Store``."""
        with servers.as_superuser(self._place) as connection:
            return servers.columns_of(connection, self._role)

    def rows(self, table: str) -> list[Row]:
        """As of a ``Store``."""
        with servers.as_superuser(self._place) as connection:
            return servers.rows_of(connection, self._role, table, list(self.columns()[table]))

    def edited(self, *statements: Statement) -> None:
        """As of a ``Store``; a superuser may switch guards off for his own session."""
        servers.edited(self._place, *statements)

    def take(self, other: Path, role: str, *, logs: bool) -> None:  # noqa: ARG002  # a server has its own
        """As of a ``Store``."""
        source = server_of(other)
        assert source is not None
        servers.put(source, self._place, role)

    def _exactly(self, table: str, row: Row) -> tuple[str, list[object]]:
        columns = self.columns()[table]
        return " AND ".join(f'"{name}" IS NOT DISTINCT FROM %s::{kind}' for name, kind in columns.items()), list(row)

    def changed(self, table: str, row: Row, column: str, value: object) -> Statement:
        """As of a ``Store``."""
        where, values = self._exactly(table, row)
        return f'UPDATE {self._schema}."{table}" SET "{column}" = %s WHERE {where}', [value, *values]

    def gone(self, table: str, row: Row) -> Statement:
        """As of a ``Store``."""
        where, values = self._exactly(table, row)
        return f'DELETE FROM {self._schema}."{table}" WHERE {where}', values

    def more(self, table: str, row: Row) -> Statement:
        """As of a ``Store``."""
        return f'INSERT INTO {self._schema}."{table}" VALUES ({", ".join("%s" for _ in row)})', row


def store_of(db: Path, role: str) -> Store:
    """Where a part of a ledger is; the views are a file wherever the journal is."""
    place = None if role == "views" else server_of(db)
    return FileStore(file_of(db, role)) if place is None else ServerStore(place, role)


def roles_in_files(db: Path) -> tuple[str, ...]:
    """The parts of a ledger that are files."""
    return ROLES if server_of(db) is None else ("views",)


def roles_on_server(db: Path) -> tuple[str, ...]:
    """The parts of a ledger that are schemas of a server."""
    return tuple(role for role in ROLES if role not in roles_in_files(db))


def readable(db: Path, folder: Path) -> Path:
    """A copy in a new *folder* that any SQLite tool can read: journal and names of a server go into files, row by row.

    Where a schema cannot be read, or holds a row that no file can, its file is not there.
    """
    copy = copied(db, folder, with_database=False)
    place = server_of(db)
    if place is None:
        return copy
    (folder / f"{db.stem}.toml").unlink()
    with servers.as_superuser(place) as connection:
        for role, empty in zip(roles_on_server(db), _empty_files(), strict=True):
            file = file_of(copy, role)
            file.write_bytes(empty)
            try:
                FileStore(file).edited(*_filling(FileStore(file), connection, role))
            except (psycopg.Error, sqlite3.Error):
                file.unlink()
    return copy


@cache
def _empty_files() -> tuple[bytes, bytes]:
    """A journal and a people file without rows."""
    with TemporaryDirectory() as folder:
        journal, people = Path(folder) / "journal.db", Path(folder) / "people.db"
        SqliteJournal.create(journal).close()
        SqlitePeople.create(people).close()
        return journal.read_bytes(), people.read_bytes()


def _filling(file: FileStore, connection: Connection[Row], role: str) -> Iterator[Statement]:
    """What puts the rows of a schema into an empty file; indexes that the names have in a file stay empty."""
    yield "PRAGMA ignore_check_constraints = ON"
    there = servers.columns_of(connection, role)
    for table, columns in file.columns().items():
        if table in there:
            yield f'DELETE FROM "{table}"'  # the secret that the file was made with
            insert = f'INSERT INTO "{table}" VALUES ({", ".join("?" for _ in columns)})'
            yield from ((insert, row) for row in servers.rows_of(connection, role, table, list(columns)))
