"""Reading many rows of one SQLite file as columns, block by block: by a process of its own, or here.

The process of its own (``table_process``) reads Arrow columns at a third of the cost of Python's rows, and reads the
next block while this one works on the last. Both ways give the same rows, all of one transaction. No table is known
here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import attrs

from ledger.errors import StorageError
from ledger.runtime import sqlite, table_process
from ledger.runtime.lazy import pl
from ledger.runtime.workers import Worker

if TYPE_CHECKING:
    import sqlite3

    from polars import DataFrame

BLOCK = 200_000  # rows that are read at one time
_PACKAGES = ("adbc_driver_manager", "adbc_driver_sqlite")
# A value of each type: the driver takes the type of a column from its first rows, and null says none.
_EXAMPLES = {"INTEGER": "0", "REAL": "0.5", "TEXT": "''"}


@attrs.frozen(kw_only=True)
class TableScan:
    """The columns and rows to read from a file, in order of a key.

    Attributes:
        columns: by name, the SQL expression and its type: INTEGER, REAL or TEXT.
        source: the tables, as after FROM.
        key: the names of columns that order and identify the rows; their expressions are plain columns.
        where: conditions, all of which hold; with values as ``sql_literal`` writes them.
    """

    columns: Mapping[str, tuple[str, str]]
    source: str
    key: Sequence[str]
    where: Sequence[str] = ()

    def block(self, after: Sequence[object] | None, rows: int) -> str:
        """Return the query for the next rows behind a key; for the first ones if it is None."""
        order = ", ".join(self.columns[name][0] for name in self.key)
        conditions = list(self.where)
        # a row value is looked up in the index; OFFSET would walk over all rows before
        if after is not None:
            conditions.append(f"({order}) > ({', '.join(map(sql_literal, after))})")
        selected = ", ".join(f'{expression} AS "{name}"' for name, (expression, _) in self.columns.items())
        where = " AND ".join(conditions) or "1"
        return f"SELECT {selected} FROM {self.source} WHERE {where} ORDER BY {order} LIMIT {rows}"

    def typed_block(self, after: Sequence[object] | None, rows: int) -> str:
        """Return the same query behind a row that states the type of each column."""
        examples = ", ".join(f'{_EXAMPLES[kind]} AS "{name}"' for name, (_, kind) in self.columns.items())
        return f"SELECT {examples} UNION ALL SELECT * FROM ({self.block(after, rows)})"


def sql_literal(value: object) -> str:
    """Return a whole number or a text as SQL writes it."""
    if isinstance(value, int):
        return str(int(value))
    assert isinstance(value, str)
    # A statement ends at a character of number 0: it is called by its number.
    return "('" + value.replace("'", "''").replace("\0", "' || char(0) || '") + "')"


class TableReader(Protocol):
    """A source of rows."""

    def frames(self, scan: TableScan, rows: int | None = None) -> Iterator[DataFrame]:
        """Yield the rows in blocks of so many, by default of ``BLOCK``, the last one smaller; none is empty.

        Raises:
            StorageError: the file cannot be read.
            CorruptError: it is damaged.
        """

    def close(self) -> None:
        """Let go of the file."""


class ReadingConnection:
    """Rows read by the caller's connection, as Python's rows."""

    def __init__(self, path: str | Path, connection: sqlite3.Connection) -> None:
        """Say which connection, to which file; a transaction is the caller's business."""
        self._path, self._connection = path, connection

    def frames(self, scan: TableScan, rows: int | None = None) -> Iterator[DataFrame]:
        """Yield the rows, block by block."""
        types = {"INTEGER": pl.Int64, "REAL": pl.Float64, "TEXT": pl.String}
        schema = {name: types[kind] for name, (_, kind) in scan.columns.items()}
        after: Sequence[object] | None = None
        rows = rows or BLOCK
        while True:
            block = self._connection.execute(scan.block(after, rows)).fetchall()
            if block:
                frame = pl.DataFrame(block, schema=schema, orient="row")
                after = _last_key(frame, scan)
                yield frame
            if len(block) < rows:
                return

    def close(self) -> None:
        """Do nothing: the connection stays the caller's."""


class ReadingProcess:
    """Rows read by a process of its own, which is one block ahead."""

    def __init__(self, path: str | Path) -> None:
        """Start it; its transaction begins with what it reads first.

        Raises:
            StorageError: it does not start.
        """
        address = sqlite.sqlite_uri(path, read_only=True)
        self._process = Worker(
            table_process.__name__, "reads", address, path=path, work="reads", advice="run the command again"
        )

    def frames(self, scan: TableScan, rows: int | None = None) -> Iterator[DataFrame]:
        """Yield the rows, block by block; the next is requested before a block is given."""
        rows = rows or BLOCK
        self._ask(scan.typed_block(None, rows))
        while True:
            frame = self._answer()
            is_last = len(frame) < rows
            if not is_last:
                self._ask(scan.typed_block(_last_key(frame, scan), rows))
            if len(frame):
                yield frame
            if is_last:
                return

    def close(self) -> None:
        """End the process."""
        # it only reads, so that nothing is lost, and it may be in the middle of a block that is not needed any more
        self._process.kill()
        self._process.close()

    def _ask(self, query: str) -> None:
        with suppress(BrokenPipeError):  # the answer says why
            self._process.send("query", query)

    def _answer(self) -> DataFrame:
        return pl.read_ipc_stream(self._process.expect("rows").content)


def table_reader(path: str | Path, connection: sqlite3.Connection) -> TableReader:
    """Return a reader in a process of its own if possible, else on the caller's *connection* to the same file."""
    if all(map(find_spec, _PACKAGES)):
        try:
            return ReadingProcess(path)
        except StorageError:  # no processes may be started here
            pass
    return ReadingConnection(path, connection)


def _last_key(frame: DataFrame, scan: TableScan) -> Sequence[object]:
    return [frame[name][-1] for name in scan.key]
