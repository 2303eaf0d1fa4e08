"""Parts of the tables of views, each compared or written out by itself: in this process, or in several at once.

A part is a range of keys. What goes to another process names files, tables and keys; only the lines of rows come back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from math import copysign
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import orjson

from ledger.audit.reader.snapshots import READ_ERRORS
from ledger.runtime.long_work import collector_paused
from ledger.runtime.sqlite import sqlite3

if TYPE_CHECKING:
    import sqlite3 as _sqlite3

ROWS = 50_000  # of a part
_BLOCK = 500  # rows that are fetched at a time: their values stay in the processor's cache


@attrs.frozen
class KeyedTable:
    """A table: its name, the columns of its primary key in their order, and all columns in alphabetical order."""

    name: str
    key: tuple[str, ...]
    columns: tuple[str, ...]

    @classmethod
    def of(cls, connection: _sqlite3.Connection, name: str) -> KeyedTable:
        """Return the table of that name as a database has it; it has no columns if there is none."""
        info = connection.execute(f'PRAGMA table_info("{name}")').fetchall()
        # Of a row of this pragma, field 5 is the column's place in the key, 0 for one outside, and field 1 its name.
        key = tuple(column for _, column in sorted((row[5], row[1]) for row in info if row[5]))
        return cls(name, key, tuple(sorted(row[1] for row in info)))

    def rows(self, where: str = "1") -> str:
        """Return the query for the rows of *where* in order of the key."""
        columns, key = quoted(self.columns), quoted(self.key)
        return f'SELECT {columns} FROM "{self.name}" WHERE {where} ORDER BY {key}'


def quoted(columns: Sequence[str]) -> str:
    """Return columns as SQL has them: that of a plug-in may be called ``order``."""
    return ", ".join(f'"{name}"' for name in columns)


@attrs.frozen
class TablePart:
    """The rows of a table from the key *first* on and before the key *last*; None: from the first, to the last one.

    Attributes:
        path: the file of the views.
        where: of these rows alone.
    """

    path: str
    table: KeyedTable
    first: tuple[Any, ...] | None = None
    last: tuple[Any, ...] | None = None
    where: str = "1"

    def condition(self) -> tuple[str, tuple[Any, ...]]:
        """Return what its rows meet, as SQL, and its values."""
        key, marks = quoted(self.table.key), ", ".join("?" * len(self.table.key))
        ends = [(">=", self.first), ("<", self.last)]
        limits = [f"({key}) {sign} ({marks})" for sign, end in ends if end is not None]
        return " AND ".join([self.where, *limits]), (*(self.first or ()), *(self.last or ()))


def parts_of(connection: _sqlite3.Connection, name: str, where: str = "1") -> Iterator[TablePart]:
    """Yield the parts of a table in order of its key; it is one part if a column of the key may be NULL."""
    path = str(connection.execute("PRAGMA database_list").fetchone()[2])
    table, key = KeyedTable.of(connection, name), f'pragma_table_info("{name}") WHERE pk'
    part = TablePart(path, table, where=where)
    (may_be_null,) = connection.execute(f'SELECT count(*) > 1 AND min("notnull") = 0 FROM {key}').fetchone()
    while not may_be_null:
        condition, values = part.condition()
        next_one = f'SELECT {quoted(table.key)} FROM "{name}" WHERE {condition} ORDER BY {quoted(table.key)}'
        end = connection.execute(f"{next_one} LIMIT 1 OFFSET {ROWS}", values).fetchone()
        if end is None:
            break
        yield attrs.evolve(part, last=end)
        part = attrs.evolve(part, first=end)
    yield part


def lines_of(part: TablePart, connection: _sqlite3.Connection | None = None) -> bytes:
    """Return the rows of a part, each a JSON array of its columns and a line feed; of its file, or by a connection."""
    if connection is None:
        with closing(sqlite3.connect(f"{Path(part.path).as_uri()}?mode=ro", uri=True)) as own:
            return lines_of(part, own)
    condition, values = part.condition()
    cursor = connection.execute(part.table.rows(condition), values)
    blocks = []
    with collector_paused():
        while rows := cursor.fetchmany(_BLOCK):
            # orjson writes a float in the shortest form that reads back the same
            blocks.append(b"".join([orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows]))
    return b"".join(blocks)


@attrs.frozen
class ComparedPart:
    """A part of rebuilt views, and the file with the rows that it is compared with.

    Attributes:
        progress: the position and root of those views.
    """

    part: TablePart
    current: str
    progress: tuple[Any, ...]


def is_equal(compared: ComparedPart) -> bool:
    """Return whether a file surely has the rows of a part and no others; False: look closely, perhaps it has.

    SQLite compares, without an object of Python for a value. Other processes may have gone on with the views since, or
    nobody may write a log next to them: then they are looked at closely as well.
    """
    part = compared.part
    uri = f"{Path(compared.current).as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as connection:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA cell_size_check = ON")
            connection.execute("ATTACH ? AS rebuilt", (f"{Path(part.path).as_uri()}?mode=ro",))
            connection.execute("BEGIN")
            progress = connection.execute("SELECT position, root FROM main.progress").fetchall()
            is_there = progress == [compared.progress] and _has_same_rows(connection, part)
            return is_there and negative_zero(connection, part) is None
    except READ_ERRORS:
        return False


def _has_same_rows(connection: _sqlite3.Connection, part: TablePart) -> bool:
    table = part.table
    condition, values = part.condition()
    counted = f'SELECT count(*) FROM {{}}."{table.name}" WHERE {condition}'
    count, rebuilt = (connection.execute(counted.format(file), values).fetchone() for file in ("main", "rebuilt"))
    if count != rebuilt:
        return False
    same_key = " AND ".join(f'main."{name}" = rebuilt."{name}"' for name in table.key)
    # whatever collation a column has
    same = " AND ".join(f'main."{name}" IS rebuilt."{name}" COLLATE BINARY' for name in table.columns)
    query = (
        f'SELECT count(*) FROM (SELECT * FROM rebuilt."{table.name}" WHERE {condition}) AS rebuilt '
        f'CROSS JOIN main."{table.name}" AS main ON {same_key} WHERE {same}'
    )
    return bool(connection.execute(query, values).fetchone() == count)


def negative_zero(connection: _sqlite3.Connection, part: TablePart) -> tuple[Any, ...] | None:
    """Return the key of the first row with a negative zero, which equals zero: other programs may write one."""
    info = connection.execute(f'PRAGMA table_info("{part.table.name}")').fetchall()
    reals = [f'"{row[1]}"' for row in info if row[2] == "REAL"]
    if not reals:
        return None
    condition, values = part.condition()
    key, zero = quoted(part.table.key), " OR ".join(f"{name} = 0" for name in reals)
    query = f'SELECT {key}, {", ".join(reals)} FROM "{part.table.name}" WHERE {condition} AND ({zero}) ORDER BY {key}'
    place = len(part.table.key)
    for row in connection.execute(query, values):
        if any(value == 0 and copysign(1, value) < 0 for value in row[place:] if value is not None):
            return tuple(row[:place])
    return None
