"""Writers of many rows, held as columns, into the tables of one SQLite file: in this process, or in a worker.

The worker (``table_process``) takes Arrow columns at about half the cost of Python's rows, while this process goes on.
Both writers write the same rows; the rows between two commits are one transaction. Between two transactions, when
everything that was handed over is committed, the file is free for this process's own connection. No table is known
here.
"""

from __future__ import annotations

from contextlib import suppress
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import TYPE_CHECKING

from ledger.errors import CorruptError, StorageError, one_line
from ledger.runtime import table_process
from ledger.runtime.lazy import filelock, pl
from ledger.runtime.table_process import WAITING_MS
from ledger.runtime.workers import Worker

if TYPE_CHECKING:
    import sqlite3

    from polars import DataFrame

MESSAGE = 50_000  # rows that are handed over at one time
AHEAD = 8  # messages that wait to be written: enough to work on, little enough for memory
_PACKAGES = ("adbc_driver_manager", "adbc_driver_sqlite")


def insert_rows(connection: sqlite3.Connection, query: str, rows: DataFrame) -> None:
    """Run a statement with question marks for each row; the columns are in the order of the question marks."""
    for begin in range(0, len(rows), MESSAGE):
        part = rows[begin : begin + MESSAGE]
        connection.executemany(query, zip(*(part[name].to_list() for name in part.columns), strict=True))


class WritingConnection:
    """A writer that uses the caller's connection, with Python's rows; its methods raise StorageError."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def begin(self) -> None:
        """Begin a transaction where none is open: what the caller itself writes meanwhile belongs to it, too."""
        if not self._connection.in_transaction:
            self._connection.execute("BEGIN IMMEDIATE")

    def insert(self, query: str, rows: DataFrame) -> None:
        """Run a statement with question marks for each row, in the transaction that ends with the next commit."""
        self.begin()
        insert_rows(self._connection, query, rows)

    def run(self, query: str) -> None:
        """Run a statement without rows between two transactions."""
        self._connection.execute(query)

    def commit(self) -> None:
        """End the transaction."""
        if self._connection.in_transaction:
            self._connection.execute("COMMIT")

    def settle(self) -> None:
        """Do nothing: no work is pending."""

    def close(self) -> None:
        """Roll back rows without a commit; the connection stays the caller's."""
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")


class WritingProcess:
    """A writer that uses a process of its own, while the caller goes on; an error is raised by a later call.

    Raises:
        StorageError: the process does not start, or cannot open or write the file.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._waiting: Queue[tuple[str, str, DataFrame | None] | None] = Queue(AHEAD)
        self._failure: StorageError | CorruptError | None = None
        self._process = Worker(
            table_process.__name__, "writes", str(path), str(_lock_of(path)),
            path=path, work="writes", advice="run the command again: what it had finished stands",
        )  # fmt: skip
        # a thread that is no daemon would keep a program with an unclosed writer from ending
        self._feeder = Thread(target=self._feed, daemon=True)
        self._feeder.start()
        try:
            self._process.expect("ready")
        except BaseException:
            self.close()
            raise

    def insert(self, query: str, rows: DataFrame) -> None:
        """Hand rows to the process; wait while too many are pending."""
        for begin in range(0, len(rows), MESSAGE):
            self._hand_over(("rows", query, rows[begin : begin + MESSAGE]))

    def run(self, query: str) -> None:
        """Hand a statement without rows to the process, which runs it between two transactions."""
        self._hand_over(("statement", query, None))

    def commit(self) -> None:
        """Tell the process to end the transaction once all rows handed over before are written."""
        self._hand_over(("commit", "", None))

    def settle(self) -> None:
        """Wait until the last commit is on the disk: then the file is free for the caller's connection."""
        self._waiting.join()
        if self._failure is not None:
            raise self._failure

    def close(self) -> None:
        """End the process; rows without a commit are rolled back."""
        # the caller failed: what waits shall not be written
        if self._waiting.unfinished_tasks:
            # the next process to open the file finds it as the last commit left it
            self._process.kill()
        self._waiting.put(None)
        self._feeder.join()
        self._process.close()
        _lock_of(self._path).unlink(missing_ok=True)

    def _hand_over(self, message: tuple[str, str, DataFrame | None]) -> None:
        if self._failure is not None:
            raise self._failure
        self._waiting.put(message)

    def _feed(self) -> None:
        while (message := self._waiting.get()) is not None:
            try:
                # after a failure the rest is taken and dropped: a thread that waits for the queue would wait for ever
                if self._failure is None:
                    self._send(*message)
            except (StorageError, CorruptError) as error:
                self._failure = error
            except BaseException as error:  # noqa: BLE001  # too little memory, or what Polars cannot send
                # A thread that ended would leave those that wait for the queue waiting for ever.
                self._failure = StorageError(str(self._path), f"rows cannot be handed over: {one_line(error)}")
            finally:
                self._waiting.task_done()

    def _send(self, kind: str, query: str, rows: DataFrame | None) -> None:
        content = BytesIO()
        if rows is not None:
            rows.write_ipc_stream(content, compat_level=pl.CompatLevel.oldest())  # the newest takes twice as long
        with suppress(OSError):  # it went away; it may have said why
            self._process.send(kind, query, content.getbuffer())
            if kind != "commit":
                return
        self._process.expect("done")


TableWriter = WritingConnection | WritingProcess


def table_writer(path: str | Path, connection: sqlite3.Connection) -> TableWriter:
    """Return a writer in a process of its own if possible, else on the caller's *connection* to the same file."""
    if all(map(find_spec, _PACKAGES)):
        try:
            return WritingProcess(path)
        except StorageError:  # no processes may be started here, or the packages do not fit this system
            pass
    return WritingConnection(connection)


def wait_for_writer(path: str | Path) -> None:
    """Wait until a worker that a killed program left behind no longer writes to the file.

    Raises:
        StorageError: one still does after a minute.
    """
    lock = _lock_of(path)
    if not lock.exists():
        return
    try:
        with filelock.FileLock(lock, timeout=WAITING_MS / 1000):
            pass
    except filelock.Timeout as error:
        raise StorageError(str(path), "another process still writes to it; wait for it to end") from error
    lock.unlink(missing_ok=True)


def _lock_of(path: str | Path) -> Path:
    return Path(f"{path}.lock")
