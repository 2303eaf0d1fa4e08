"""Processes of their own that do nothing but read or write rows of one SQLite file as Arrow columns.

``table_reader`` and ``table_writer`` start them as ``python -m`` this module, and talk to them through their standard
input and output. The ADBC driver reads columns at a third of the cost of Python's rows and writes them at half of it,
on another core; it brings an SQLite library of its own, and two libraries in one process that have one file open drop
each other's locks: so each works where nothing else opens the file. connectorx 0.4 and DuckDB 1.5's scanner take as
long for the same rows, and two reading processes longer, for SQLite gives cell by cell.
"""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from ledger.errors import StorageError
from ledger.runtime.lazy import adbc_manager, adbc_sqlite, filelock, pl

if TYPE_CHECKING:
    from adbc_driver_manager import AdbcConnection
    from polars import DataFrame

WAITING_MS = 60_000  # for another process that holds a lock on the file

# What a reading process says and hears: before each query, and before the rows of each answer, its length.
LENGTH = struct.Struct(">q")
_BATCH_ROWS = 65_536

# What a writing process says and hears.
HEADER = struct.Struct(">cIQ")  # of each message: what, bytes of the statement, bytes of the rows
ROWS, STATEMENT, COMMIT = b"R", b"S", b"C"
READY, DONE, REFUSED = b"ready\n", b"done\n", b"refused "

_ROOT = Path(__file__).parent.parent.parent  # where this package is imported from
_MODULE = "ledger.runtime.table_process"  # not ``__name__``, which is ``__main__`` in the process itself


def started(work: str, *words: str, path: str | Path) -> subprocess.Popen[bytes]:
    """Start a process that reads or writes, with one thread of Polars, wherever this package is imported from.

    Args:
        work: ``reads`` or ``writes``.
        words: its arguments.
        path: the file on which it works, for the message.

    Raises:
        StorageError: it does not start.
    """
    paths = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": paths, "POLARS_MAX_THREADS": "1"}
    try:
        return subprocess.Popen(  # noqa: S603  # our own code
            [sys.executable, "-P", "-m", _MODULE, work, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
    except OSError as error:
        raise StorageError(str(path), f"the process that {work} it does not start: {error}") from error


def serve_reading(uri: str, queries: BinaryIO, answers: BinaryIO) -> None:
    """Answer each query with its rows as an Arrow IPC stream, until there are no more queries.

    Each query is its length and its words; so is each answer. The first row of a query only says of which type each
    column is, for the driver takes that from the first rows: it is left out of the answer.
    """
    database = adbc_sqlite.connect(uri)
    connection = adbc_manager.AdbcConnection(database)
    try:
        for pragma in (f"busy_timeout={WAITING_MS}", "query_only=ON", "trusted_schema=OFF", "cache_size=-65536"):
            _selected(connection, f"PRAGMA {pragma}")
        # one transaction for all queries: every block is of the moment of the first
        connection.set_autocommit(enabled=False)
        while len(header := queries.read(LENGTH.size)) == LENGTH.size:
            (size,) = LENGTH.unpack(header)
            rows = _selected(connection, queries.read(size).decode())
            content = BytesIO()
            # The first row only states the type of each column.
            rows[1:].write_ipc_stream(content, compat_level=pl.CompatLevel.oldest())
            answers.write(LENGTH.pack(content.tell()))
            answers.write(content.getbuffer())
            answers.flush()
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


def _read(uri: str) -> int:
    """Serve the file; what fails is the last answer, with a negative length."""
    answers = sys.stdout.buffer
    try:
        serve_reading(uri, sys.stdin.buffer, answers)
    except BrokenPipeError:
        return 1
    except (adbc_manager.Error, OSError, ValueError, RuntimeError) as error:
        words = " ".join(str(error).split()).encode()
        answers.write(LENGTH.pack(-len(words)) + words)
        answers.flush()
        return 1
    return 0


# NORMAL: after a power cut the last transactions may be gone, never the file's consistency (sqlite.org/pragma.html).
# What is written so follows from the journal, and is written again.
_WRITERS_PRAGMAS = ("synchronous=NORMAL", "cache_size=-65536", f"busy_timeout={WAITING_MS}", "trusted_schema=OFF")


class _Writer:
    """The one connection, with transactions that begin with their first rows."""

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


def serve_writing(path: str, messages: BinaryIO, answers: BinaryIO) -> None:
    """Write the rows of *messages* until they end; rows without a commit are then undone.

    Each message is a ``HEADER``, a statement with question marks, and rows for it as an Arrow IPC stream; or a
    statement alone, a transaction of its own. A commit is answered when it is on the disk.
    """
    writer = _Writer(path)
    try:
        _say(answers, READY)
        while len(header := messages.read(HEADER.size)) == HEADER.size:
            what, words, size = HEADER.unpack(header)
            query, content = messages.read(words), messages.read(size)
            if len(query) < words or len(content) < size:
                return  # the process that feeds this one is gone
            if what == ROWS:
                writer.insert(query.decode(), pl.read_ipc_stream(content))
            elif what == STATEMENT:
                writer.run(query.decode())
            else:
                writer.commit()
                _say(answers, DONE)
    finally:
        writer.close()


def _say(answers: BinaryIO, answer: bytes) -> None:
    answers.write(answer)
    answers.flush()


def _write(path: str, lock: str) -> int:
    """Serve the file; the lock file is held for as long as this process lives."""
    try:
        with filelock.FileLock(lock, timeout=0):
            serve_writing(path, sys.stdin.buffer, sys.stdout.buffer)
    except (adbc_manager.Error, OSError, filelock.Timeout, ValueError) as error:
        _say(sys.stdout.buffer, REFUSED + " ".join(str(error).split()).encode() + b"\n")
        return 1
    return 0


def main(arguments: Sequence[str]) -> int:
    """Serve the standard streams: ``reads`` and the address of a file, or ``writes``, a file and its lock."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started this process ends it
    work, *words = arguments
    return _read(*words) if work == "reads" else _write(*words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
