"""A worker process that only reads or writes rows of one SQLite file as Arrow columns.

``table_reader`` and ``table_writer`` start them. The ADBC driver reads columns at a third of the cost of Python's rows
and writes them at half of it, on another core; it brings an SQLite library of its own, and two libraries in one process
that have one file open drop each other's locks: so each works where nothing else opens the file. connectorx 0.4 and
DuckDB 1.5's scanner take as long for the same rows, and two reading processes longer, for SQLite gives cell by cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from io import BytesIO
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

from ledger.runtime.lazy import adbc_manager, adbc_sqlite, filelock, pl
from ledger.runtime.worker_messages import FAILED, receive, send, standard_streams

if TYPE_CHECKING:
    from adbc_driver_manager import AdbcConnection
    from polars import DataFrame

WAITING_MS = 60_000  # for another process that holds a lock on the file

_BATCH_ROWS = 65_536


def serve_reading(uri: str, queries: BinaryIO, answers: BinaryIO) -> NoReturn:
    """Answer each query with its rows as an Arrow IPC stream, until EOFError: there are no more queries.

    The first row of a query only states the type of each column, which the driver takes from the first rows: the
    answer does not contain it.
    """
    database = adbc_sqlite.connect(uri)
    connection = adbc_manager.AdbcConnection(database)
    try:
        for pragma in (f"busy_timeout={WAITING_MS}", "query_only=ON", "trusted_schema=OFF", "cache_size=-65536"):
            _selected(connection, f"PRAGMA {pragma}")
        # one transaction for all queries: every block is of the moment of the first
        connection.set_autocommit(enabled=False)
        while True:
            rows = _selected(connection, receive(queries).value)
            content = BytesIO()
            rows[1:].write_ipc_stream(content, compat_level=pl.CompatLevel.oldest())
            send(answers, "rows", content=content.getbuffer())
    finally:
        connection.close()
        database.close()


def _selected(connection: adbc_manager.AdbcConnection, query: str) -> DataFrame:
    with adbc_manager.AdbcStatement(connection) as statement:
        # by default 1,024 rows: each batch is an Arrow array of its own, which Polars puts together again
        statement.set_options(**{adbc_sqlite.StatementOptions.BATCH_ROWS.value: _BATCH_ROWS})
        statement.set_sql_query(query)
        stream, _ = statement.execute_query()
        return pl.DataFrame(stream)


# NORMAL: after a power cut the last transactions may be gone, never the file's consistency (sqlite.org/pragma.html).
# What is written so follows from the journal, and is written again.
_WRITERS_PRAGMAS = ("synchronous=NORMAL", "cache_size=-65536", f"busy_timeout={WAITING_MS}", "trusted_schema=OFF")


class _Writer:
    """The worker's one connection; a transaction begins with its first rows."""

    def __init__(self, path: str) -> None:
        self._database = adbc_sqlite.connect(path)
        self._connection: AdbcConnection = adbc_manager.AdbcConnection(self._database)
        self._in_transaction = False
        for pragma in _WRITERS_PRAGMAS:
            with adbc_manager.AdbcStatement(self._connection) as statement:
                statement.set_sql_query(f"PRAGMA {pragma}")
                statement.execute_query()[0].release()

    def insert(self, query: str, rows: Any) -> None:
        if not self._in_transaction:
            self._connection.set_autocommit(enabled=False)
            self._in_transaction = True
        with adbc_manager.AdbcStatement(self._connection) as statement:
            statement.set_sql_query(query)
            statement.prepare()
            statement.bind_stream(rows)
            statement.execute_update()

    def run(self, query: str) -> None:
        with adbc_manager.AdbcStatement(self._connection) as statement:
            statement.set_sql_query(query)
            statement.execute_update()

    def commit(self) -> None:
        if self._in_transaction:
            self._connection.commit()
            self._connection.set_autocommit(enabled=True)
            self._in_transaction = False

    def close(self) -> None:
        if self._in_transaction:
            # SQLite undid it already where the disk refused
            with suppress(adbc_manager.Error):
                self._connection.rollback()
        self._connection.close()
        self._database.close()


def serve_writing(path: str, messages: BinaryIO, answers: BinaryIO) -> NoReturn:
    """Write the rows of *messages*, until EOFError; rows without a commit are then rolled back.

    A message is a statement with question marks and rows for it as an Arrow IPC stream; a statement alone, which is a
    transaction of its own; or a commit, which is answered when it is on the disk.
    """
    writer = _Writer(path)
    try:
        send(answers, "ready")
        while True:
            kind, query, content = receive(messages)
            if kind == "rows":
                writer.insert(query, pl.read_ipc_stream(content))
            elif kind == "statement":
                writer.run(query)
            else:
                writer.commit()
                send(answers, "done")
    finally:
        writer.close()


def main(arguments: Sequence[str]) -> int:
    """Run the worker on the standard streams.

    The arguments are ``reads`` and a file's URI, or ``writes``, a file and its lock.
    """
    work, place, *lock = arguments
    messages, answers = standard_streams()
    try:
        if work == "reads":
            serve_reading(place, messages, answers)
        else:
            with filelock.FileLock(lock[0], timeout=0):  # held for as long as this process lives
                serve_writing(place, messages, answers)
    except EOFError:  # there are no more messages, or the process that sends them is gone
        return 0
    except BrokenPipeError:
        return 1
    except (adbc_manager.Error, OSError, filelock.Timeout, ValueError, RuntimeError) as error:
        send(answers, FAILED, " ".join(str(error).split()))
    return 1
