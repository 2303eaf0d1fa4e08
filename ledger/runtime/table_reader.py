"""Readers of many rows of one SQLite file as columns, block by block: in a worker process, or in this one.

The worker (``table_process``) reads Arrow columns at a third of the cost of Python's rows, and reads the next block
while this process works on the last. Both readers give the same rows, all of one transaction. No table is known here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

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

    def block_query(self, after: Sequence[object] | None, rows: int) -> str:
        """Return the query for the next *rows* after a key; for the first ones if it is None."""
        order = ", ".join(self.columns[name][0] for name in self.key)
        conditions = list(self.where)
        # a row value is looked up in the index; OFFSET would walk over all rows before
        if after is not None:
            conditions.append(f"({order}) > ({', '.join(map(sql_literal, after))})")
        selected = ", ".join(f'{expression} AS "{name}"' for name, (expression, _) in self.columns.items())
        where = " AND ".join(conditions) or "1"
        return f"SELECT {selected} FROM {self.source} WHERE {where} ORDER BY {order} LIMIT {rows}"

    def typed_block_query(self, after: Sequence[object] | None, rows: int) -> str:
        """Return ``block_query`` with a first row that states the type of each column."""
        examples = ", ".join(f'{_EXAMPLES[kind]} AS "{name}"' for name, (_, kind) in self.columns.items())
        return f"SELECT {examples} UNION ALL SELECT * FROM ({self.block_query(after, rows)})"


def sql_literal(value: object) -> str:
    """Return a whole number or a text as SQL writes it."""
    if isinstance(value, int):
        return str(int(value))
    assert isinstance(value, str)
    # A statement ends at a character of number 0: it is called by its number.
    return "('" + value.replace("'", "''").replace("\0", "' || char(0) || '") + "')"


class TableReader(ABC):
    """A reader of many rows of one SQLite file as columns."""

    def frames(self, scan: TableScan, rows: int | None = None) -> Iterator[DataFrame]:
        """Yield the rows in blocks of *rows*, by default of ``BLOCK``, the last one smaller; none is empty.

        Raises:
            StorageError: the file cannot be read.
            CorruptError: it is damaged.
        """
        rows = rows or BLOCK
        self._request(scan, None, rows)
        while True:
            frame = self._answer()
            is_last = len(frame) < rows
            if not is_last:  # before the block is given, so that a process reads the next one meanwhile
                self._request(scan, [frame[name][-1] for name in scan.key], rows)
            if len(frame):
                yield frame
            if is_last:
                return

    @abstractmethod
    def _request(self, scan: TableScan, after: Sequence[object] | None, rows: int) -> None:
        """Ask for the next block after a key."""

    @abstractmethod
    def _answer(self) -> DataFrame:
        """Return the requested block."""

    @abstractmethod
    def close(self) -> None:
        """Release the file."""


class ReadingConnection(TableReader):
    """A reader that uses the caller's connection, with Python's rows; a transaction is the caller's business."""

    def __init__(self, _: str | Path, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def _request(self, scan: TableScan, after: Sequence[object] | None, rows: int) -> None:
        self._requested = scan, scan.block_query(after, rows)

    def _answer(self) -> DataFrame:
        scan, query = self._requested
        types = {"INTEGER": pl.Int64, "REAL": pl.Float64, "TEXT": pl.String}
        schema = {name: types[kind] for name, (_, kind) in scan.columns.items()}
        return pl.DataFrame(self._connection.execute(query).fetchall(), schema=schema, orient="row")

    def close(self) -> None:
        """Do nothing: the connection stays the caller's."""


class ReadingProcess(TableReader):
    """A reader that uses a process of its own, which is one block ahead.

    Its transaction begins with the first block.

    Raises:
        StorageError: the process does not start.
    """

    def __init__(self, path: str | Path) -> None:
        address = sqlite.sqlite_uri(path, read_only=True)
        self._process = Worker(
            table_process.__name__, "reads", address, path=path, work="reads", advice="run the command again"
        )

    def close(self) -> None:
        """End the process."""
        # it only reads, so that nothing is lost, and it may be in the middle of a block that is not needed any more
        self._process.kill()
        self._process.close()

    def _request(self, scan: TableScan, after: Sequence[object] | None, rows: int) -> None:
        with suppress(BrokenPipeError):  # the answer says why
            self._process.send("query", scan.typed_block_query(after, rows))

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
