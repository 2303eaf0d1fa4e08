"""The parts of a ledger, each in a file or in a schema of a server: read raw and written past every guard.

An attack that changes rows is written once; what differs is how each place says it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ledger.journal.settings_file import ServerPlace, SettingsFile, server_of
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


class Store(ABC):
    """Where one part of a ledger is.

    Attributes:
        mark: what stands for a value in a statement.
        within: what stands before the name of a table.
        lenient: the word by which a statement passes over what a rule of the table forbids, where there is one.
    """

    mark: str
    within = ""
    lenient = ""

    @abstractmethod
    def columns(self) -> dict[str, dict[str, str]]:
        """By table, its columns with their types."""

    @abstractmethod
    def rows(self, table: str) -> list[Row]:
        """All rows of a table."""

    @abstractmethod
    def edited(self, *statements: Statement) -> None:
        """Run statements past the guards that stand there."""

    @abstractmethod
    def take(self, other: Path, role: str, *, logs: bool) -> None:
        """Hold what another ledger's part holds; of files with their logs, or beside those that stand there."""

    @abstractmethod
    def same(self, column: str, kind: str) -> str:
        """The condition that a column has a value, be it NULL."""

    def changed(self, table: str, row: Row, column: str, value: object) -> Statement:
        """What gives a column of a row another value."""
        sql = f'UPDATE {self.lenient}{self.within}"{table}" SET "{column}" = {self.mark} WHERE {self._exactly(table)}'
        return sql, [value, *row]

    def gone(self, table: str, row: Row) -> Statement:
        """What takes a row away."""
        return f'DELETE FROM {self.within}"{table}" WHERE {self._exactly(table)}', row

    def more(self, table: str, row: Row) -> Statement:
        """What adds a row."""
        marks = ", ".join(self.mark for _ in row)
        return f'INSERT {self.lenient}INTO {self.within}"{table}" VALUES ({marks})', row

    def _exactly(self, table: str) -> str:
        return " AND ".join(self.same(column, kind) for column, kind in self.columns()[table].items())


class FileStore(Store):
    """A part of a ledger that is a file."""

    mark, lenient = "?", "OR IGNORE "

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

    def same(self, column: str, kind: str) -> str:  # noqa: ARG002  # SQLite compares values as they are
        """As of a ``Store``."""
        return f'"{column}" IS ?'


class ServerStore(Store):
    """A part of a ledger that is a schema of a server."""

    mark = "%s"

    def __init__(self, place: ServerPlace, role: str) -> None:
        self._place = place
        self._role = role
        self.within = f"{servers.SCHEMAS[role]}."

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

    def same(self, column: str, kind: str) -> str:
        """As of a ``Store``."""
        return f'"{column}" IS NOT DISTINCT FROM %s::{kind}'


def store_of(db: Path, role: str) -> Store:
    """Where a part of a ledger is; the views are a file wherever the journal is."""
    place = None if role == "views" else server_of(db)
    return FileStore(file_of(db, role)) if place is None else ServerStore(place, role)


def roles_in_files(db: Path) -> tuple[str, ...]:
    """The parts of a ledger that are files."""
    return ROLES if server_of(db) is None else ("views",)


def roles_on_server(db: Path) -> tuple[str, ...]:
    """The parts of a ledger that are schemas of a server, what is kept of tokens there among them."""
    return () if server_of(db) is None else tuple(servers.SCHEMAS)


def roles_of(db: Path) -> tuple[str, ...]:
    """All parts of a ledger: journal, people, and so on."""
    return (*roles_on_server(db), *roles_in_files(db))


def is_in_two_places(db: Path) -> bool:
    """Whether a journal stands in a file although the settings say that it is on a server."""
    return db.exists() and SettingsFile(db).server() is not None


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
        for role, empty in zip(("journal", "people"), _empty_files(), strict=True):
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
