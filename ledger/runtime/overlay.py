"""Rows that are written over the tables of a database and never reach its file: for asking what would be.

A table of the connection's own temporary database hides the one of the same name in the file: SQLite looks there
first. What is written stays in the memory of this connection. No table is named here, and nothing of chess.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ledger.runtime import sqlite

if TYPE_CHECKING:
    import sqlite3

WRITTEN, HIDDEN = "written_", "hidden_"  # before a table's name: its rows as written, and the keys of those replaced
_STATEMENTS = "SELECT type, name, tbl_name, sql FROM main.sqlite_master WHERE sql IS NOT NULL"


class _Column(NamedTuple):
    """A column: its name, and whether it is of the primary key."""

    name: str
    is_key: bool


def lay_over(connection: sqlite3.Connection, copied: Iterable[str], large: Iterable[str]) -> None:
    """Make the tables over those of a file, outside a transaction; ``fill`` comes next, within one.

    Large tables get writable views: reading finds rows as they were written, the others as they stand. SQLite allows
    no upsert on a view, and counts no rows that its triggers write: write by ``INSERT OR REPLACE``.

    Args:
        connection: opened for reading.
        copied: names of small tables, of which a copy is read and written.
        large: names of the others; each has a primary key.
    """
    made, indexes = _statements(connection, "table"), _statements(connection, "index")
    script = ["PRAGMA temp_store=MEMORY"]
    script += [made[table].replace(f"CREATE TABLE {table}(", f"CREATE TEMP TABLE {table}(") for table in copied]
    for table in large:
        columns = [_Column(row[1], bool(row[5])) for row in connection.execute(f"PRAGMA main.table_info({table})")]
        script.append(made[table].replace(f"CREATE TABLE {table}(", f"CREATE TEMP TABLE {WRITTEN}{table}("))
        for name, statement in indexes.items():
            beside = f"CREATE INDEX temp.{WRITTEN}{name} ON {WRITTEN}{table}("
            if f" ON {table}(" in statement:
                script.append(statement.replace(f"CREATE INDEX {name} ON {table}(", beside))
        script += _laid(table, columns)
    connection.executescript(";\n".join([*script, ""]))  # statements by themselves would fill the driver's cache


def fill(connection: sqlite3.Connection, copied: Iterable[str]) -> None:
    """Copy the rows of the small tables."""
    for table in copied:
        connection.execute(f"INSERT INTO temp.{table} SELECT * FROM main.{table}")


def is_laid_over(connection: sqlite3.Connection, table: str) -> bool:
    """Whether what is written to a table of this connection stays in memory."""
    query = "SELECT 1 FROM sqlite_temp_master WHERE name = ?"
    return connection.execute(query, (table,)).fetchone() is not None


def _statements(connection: sqlite3.Connection, kind: str) -> Mapping[str, str]:
    """By name of a table or index of the file, the statement that made it."""
    with sqlite.storage_errors("the views"):
        return {name: sql for found, name, _, sql in connection.execute(_STATEMENTS) if found == kind}


def _laid(table: str, columns: list[_Column]) -> Iterator[str]:
    """The statements that make the view and the triggers that write beside it."""
    written, hidden = f"{WRITTEN}{table}", f"{HIDDEN}{table}"
    keys = [column.name for column in columns if column.is_key]
    key, old = ", ".join(keys), ", ".join(f"OLD.{name}" for name in keys)
    new = ", ".join(f"NEW.{column.name}" for column in columns)
    if len(keys) == 1:  # of a whole number SQLite looks up the row at once
        yield f"CREATE TEMP TABLE {hidden}({key} INTEGER PRIMARY KEY)"
        stands = f"{key} NOT IN (SELECT {key} FROM temp.{hidden})"
    else:
        yield f"CREATE TEMP TABLE {hidden}({key}, PRIMARY KEY({key})) WITHOUT ROWID"
        alike = " AND ".join(f"h.{name} = {table}.{name}" for name in keys)
        stands = f"NOT EXISTS (SELECT 1 FROM temp.{hidden} AS h WHERE {alike})"
    yield (
        f"CREATE TEMP VIEW {table} AS SELECT * FROM main.{table} WHERE {stands} "
        f"UNION ALL SELECT * FROM temp.{written}"
    )
    hide = f"INSERT OR IGNORE INTO {hidden} VALUES ({old});"
    write = f"INSERT OR REPLACE INTO {written} VALUES ({new});"
    drop = f"DELETE FROM {written} WHERE ({key}) = ({old});"
    upon = f"ON {table} BEGIN"
    yield f"CREATE TEMP TRIGGER {table}_inserted INSTEAD OF INSERT {upon} {write} END"
    yield f"CREATE TEMP TRIGGER {table}_updated INSTEAD OF UPDATE {upon} {hide} {drop} {write} END"
    yield f"CREATE TEMP TRIGGER {table}_deleted INSTEAD OF DELETE {upon} {hide} {drop} END"
