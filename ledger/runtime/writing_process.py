"""A process of its own that does nothing but write rows into one SQLite file: ``python -m`` this module, see ``main``.

It takes Arrow columns from its standard input and hands them to SQLite by the ADBC driver, which costs about half as
much as Python's rows, and on another core. The driver brings an SQLite library of its own, and two libraries in one
process that have one file open drop each other's locks: so nothing else here opens the file, and the process that
feeds this one leaves the file alone while rows are under way (see ``table_writer``).
"""

from __future__ import annotations

import signal
import struct
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, BinaryIO

from ledger.runtime.lazy import adbc_manager, adbc_sqlite, filelock, pl

if TYPE_CHECKING:
    from adbc_driver_manager import AdbcConnection

HEADER = struct.Struct(">cIQ")  # of each message: what, bytes of the statement, bytes of the rows
ROWS, STATEMENT, COMMIT = b"R", b"S", b"C"
READY, DONE, REFUSED = b"ready\n", b"done\n", b"refused "
WAITING_MS = 60_000  # for somebody else who holds a lock on the file
_PRAGMAS = ("synchronous=NORMAL", "cache_size=-65536", f"busy_timeout={WAITING_MS}", "trusted_schema=OFF")


class _Writer:
    """The one connection, with transactions that begin with their first rows."""

    def __init__(self, path: str) -> None:
        self._database = adbc_sqlite.connect(path)
        self._connection: AdbcConnection = adbc_manager.AdbcConnection(self._database)
        self._in_transaction = False
        for pragma in _PRAGMAS:
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
            with suppress(adbc_manager.Error):  # SQLite undid it already where the disk refused
                self._connection.rollback()
        self._connection.close()
        self._database.close()


def serve(path: str, messages: BinaryIO, answers: BinaryIO) -> None:
    """Write what *messages* say until they end; what is not committed then is undone.

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
                return  # whoever feeds this process is gone
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


def main(arguments: Sequence[str]) -> int:
    """Serve the file named first; the lock file named second is held for as long as this process lives."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who feeds this process ends it
    path, lock = arguments
    try:
        with filelock.FileLock(lock, timeout=0):
            serve(path, sys.stdin.buffer, sys.stdout.buffer)
    except (adbc_manager.Error, OSError, filelock.Timeout, ValueError) as error:
        _say(sys.stdout.buffer, REFUSED + " ".join(str(error).split()).encode() + b"\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
