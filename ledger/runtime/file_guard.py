"""Checks that an open database is still ours, made when a write transaction begins; nothing is repaired here.

A foreign trigger may swallow or change rows while every statement succeeds (``raise(ignore)``), and a file that was
moved away takes the written bytes along. Objects that touch none of our tables, such as those of a replication tool,
are allowed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ledger.errors import StorageError, one_line

if TYPE_CHECKING:
    import sqlite3
else:
    from ledger.runtime.owners import sqlite3
from ledger.runtime.sqlite import RESTORE


class SchemaObject(NamedTuple):
    """A table, index or trigger of a file; *sql* without line breaks, empty for an index that SQLite makes itself."""

    kind: str
    name: str
    table: str
    sql: str


class FileGuard:
    """A check of one open database: that it is still at its path, and has the schema that this program made."""

    def __init__(self, path: str | Path, script: str) -> None:
        """Take an open database, and the statements that made its tables and triggers."""
        self._path = str(path)
        self._place = str(Path(path).absolute())  # the working folder may change
        self._script = script
        self._file = self._present()
        self._version = -1  # the schema's version in which everything was found to be ours

    def check(self, connection: sqlite3.Connection) -> None:
        """Check path and schema at the beginning of a write transaction.

        Raises:
            StorageError: the path leads to another file now, or the schema is not what this program made.
        """
        if self._present() != self._file:
            raise StorageError(
                self._path, "was moved, deleted or replaced while it was open; open it again: nothing was recorded"
            )
        # SQLite counts it up with every change of the schema: only then is everything compared again.
        (version,) = connection.execute("PRAGMA schema_version").fetchone()
        if version != self._version:
            for fault in schema_faults(connection, self._script):
                raise StorageError(self._path, f"{fault}; nothing was recorded")
            self._version = version

    def _present(self) -> tuple[int, int] | None:
        try:
            status = os.stat(self._place)  # noqa: PTH116  # asked before every transaction; a Path takes longer
        except OSError:
            return None
        return status.st_dev, status.st_ino


def schema_faults(connection: sqlite3.Connection, script: str) -> Iterator[str]:
    """Yield a message with a remedy for each difference of a schema from the one that *script* makes."""
    intended = {(thing.kind, thing.name): thing for thing in _made_by(script)}
    # SQLite's names know no cases.
    tables = {thing.table.casefold() for thing in intended.values()}
    objects = {(thing.kind, thing.name): thing for thing in _objects(connection)}
    for place, thing in objects.items():
        if place not in intended and thing.kind in {"trigger", "index"} and thing.table.casefold() in tables:
            yield (
                f"{thing.kind} {thing.name!r} on table {thing.table!r} is not of this program and may change what is "
                f"written: remove it with 'DROP {thing.kind.upper()} {_quoted(thing.name)}', then run 'audit'"
            )
    for place, thing in intended.items():
        if objects.get(place) == thing:
            continue
        missing = place not in objects
        fault = f"{thing.kind} {thing.name!r} is {'missing' if missing else 'not as this program made it'}"
        if thing.kind == "trigger":
            drop = "" if missing else f"DROP TRIGGER {_quoted(thing.name)}; "
            yield f"{fault}: run 'audit', then put it back with '{drop}{thing.sql}'"
        else:
            yield f"{fault}; {RESTORE}"


def _quoted(name: str) -> str:
    return '"' + one_line(name.replace('"', '""')) + '"'


def split_statements(script: str) -> Iterator[str]:
    """Yield the statements of a script; a trigger's body has semicolons of its own."""
    statement = ""
    for piece in script.split(";"):
        statement += piece + ";"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


@lru_cache(maxsize=8)
def _made_by(script: str) -> tuple[SchemaObject, ...]:
    connection = sqlite3.connect(":memory:")
    try:
        for statement in split_statements(script):
            connection.execute(statement)
        return tuple(_objects(connection))
    finally:
        connection.close()


def _objects(connection: sqlite3.Connection) -> Sequence[SchemaObject]:
    rows = connection.execute("SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master")
    # SQLite keeps a statement as it was typed: other spaces make no other schema.
    return [SchemaObject(kind, name, table, " ".join(sql.split())) for kind, name, table, sql in rows]
