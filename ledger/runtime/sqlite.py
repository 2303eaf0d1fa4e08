"""Connections to SQLite files: one driver, our pragmas, and translation of the driver's errors.

Python 3.11 on Debian 12 links SQLite 3.40.1, which carries the WAL-reset corruption bug (3.7.0 to 3.51.2, fixed in
3.51.3); ``pysqlite3`` brings a later library and sqlite-utils picks it up by itself, so the two are one library.
Two SQLite libraries must never have one file open in one process: closing the second drops the first one's locks.
"""

from __future__ import annotations

import os
import random  # noqa: TID251  # spreads waiting writers
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import quote

from ledger.errors import CorruptError, StorageError, one_line
from ledger.runtime.owners import OTHER_PROCESS, OTHER_THREAD, OwnedConnection, refuse_inherited

if TYPE_CHECKING:
    import sqlite3
else:
    from ledger.runtime.owners import sqlite3


__all__ = [
    "BUSY_SECONDS",
    "PRAGMAS",
    "FileConnection",
    "FileCursor",
    "breaks_constraint",
    "busy_timeout",
    "check_identity",
    "connect",
    "has_wal_reset_bug",
    "is_ours",
    "raise_translated",
    "sqlite3",
    "sqlite_uri",
    "sync_folder",
    "translated_error",
    "write_transaction",
]  # fmt: skip


def _refuses_arrows() -> bool:
    """Return whether SQLite takes its own ``->>``, which our indexes need, for a function that a file may not call.

    SQLite 3.39 of Pyodide and 3.40.1 of Debian 12 do.
    """
    connection = sqlite3.connect(":memory:")
    connection.execute("PRAGMA trusted_schema=OFF")
    try:
        connection.execute("CREATE TABLE facts(json)")
        connection.execute("CREATE INDEX by_white ON facts(json ->> 'white')")
    except sqlite3.OperationalError:
        return True
    finally:
        connection.close()
    return False


# https://sqlite.org/wal.html#walresetbug: 3.7.0 to 3.51.2, but for two branches to which the fix was carried back.
WAL_RESET_FIXED = ((3, 44, 6), (3, 50, 7), (3, 51, 3))
PRAGMAS = (
    # a file comes from anywhere: its schema shall call no function that does more than compute
    f"PRAGMA trusted_schema={'ON' if _refuses_arrows() else 'OFF'}",
    # a damaged page is reported when it is read, not when its contents are in an answer already
    "PRAGMA cell_size_check=ON",
    # without it INSERT OR REPLACE deletes a row past the triggers that refuse to delete
    "PRAGMA recursive_triggers=ON",
    # off in every new connection, regardless of the file
    "PRAGMA foreign_keys=ON",
    # fsync of macOS leaves what was written in the disk's cache; elsewhere these two do nothing
    "PRAGMA fullfsync=ON",
    "PRAGMA checkpoint_fullfsync=ON",
)
BUSY_SECONDS = 60.0  # how long a writer waits for another before it says so

_REMEDIES = (
    ("database or disk is full", "the disk is full; free some space and run the command again: nothing was lost"),
    ("closed database", "open the ledger again by Ledger.open"),
    ("readonly database", "the file or its folder is read-only; change its permissions or copy it first"),
    ("unable to open", "the file cannot be opened; check that it exists and that you may read and write its folder"),
    ("locked", "another process is writing to it; wait for it to end and run the command again"),
    ("disk i/o error", "the disk refused to read or write (full, over quota, or failing); nothing was lost"),
)
RESTORE = "restore the file from a copy, then prove it with 'audit --since'"
_OTHER_THREAD = "created in a thread"
_NO_DATABASE = "not a database"
_CORRUPT = ("malformed", "file is encrypted")


# For a parameter that is not exactly an int, float, str or bytearray the driver asks two attributes of it and swallows
# the two exceptions, a microsecond each time. These adapters change no value and say so at once.
sqlite3.register_adapter(type(None), lambda nothing: nothing)
sqlite3.register_adapter(bool, int)
sqlite3.register_adapter(bytes, bytearray)


def has_wal_reset_bug() -> bool:
    """Return whether the SQLite in use may corrupt a file when a WAL is reset under a concurrent reader."""
    version = sqlite3.sqlite_version_info
    is_fixed = any(version[:2] == fixed[:2] and version >= fixed for fixed in WAL_RESET_FIXED)
    return version < WAL_RESET_FIXED[-1] and not is_fixed


def translated_error(path: str | Path, text: str, remedy: str = RESTORE) -> CorruptError | StorageError | None:
    """Return our error, with a remedy, for SQLite's message about *path*; None if the message is unknown."""
    if _OTHER_THREAD in text:
        return StorageError(str(path), OTHER_THREAD)
    if _NO_DATABASE in text.lower():
        return CorruptError(str(path), 0, f"is not a database, so no ledger; if it was one, it is damaged: {remedy}")
    if any(word in text.lower() for word in _CORRUPT):
        return CorruptError(str(path), 0, f"{text}; {remedy}")
    for words, way_out in _REMEDIES:
        if words in text.lower():
            return StorageError(str(path), f"{text.rstrip('.')}: {way_out}")
    return None


_DRIVER_ERRORS = (sqlite3.DatabaseError, UnicodeDecodeError)  # of text in the file, or in a message about it
_fetch_one, _run, _run_many = sqlite3.Cursor.fetchone, sqlite3.Cursor.execute, sqlite3.Cursor.executemany


class FileCursor(sqlite3.Cursor):
    """A cursor of a ``FileConnection``: fetching, in which SQLite reads most rows, raises our errors."""

    connection: FileConnection

    def fetchone(self) -> Any:
        """Return the next row, or None."""
        try:
            return _fetch_one(self)
        except _DRIVER_ERRORS as error:
            self.connection.refuse(error)

    def fetchmany(self, size: int | None = 1) -> list[Any]:
        """Return the next rows."""
        try:
            return super().fetchmany(size)
        except _DRIVER_ERRORS as error:
            self.connection.refuse(error)

    def fetchall(self) -> list[Any]:
        """Return the rows that are left."""
        try:
            return super().fetchall()
        except _DRIVER_ERRORS as error:
            self.connection.refuse(error)

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        # not by ``__next__`` below, which would cost as much again for each row
        try:
            yield from iter(partial(_fetch_one, self), None)
        except _DRIVER_ERRORS as error:
            self.connection.refuse(error)

    def __next__(self) -> Any:
        try:
            return super().__next__()
        except _DRIVER_ERRORS as error:
            self.connection.refuse(error)


class FileConnection(OwnedConnection):
    """A connection that raises our errors: each names the file and has a remedy; ``attempt`` raises the driver's."""

    attempt = OwnedConnection.execute

    def __init__(self, *arguments: Any, remedy: str | None = RESTORE, **words: Any) -> None:
        super().__init__(*arguments, **words)
        self._remedy = remedy

    def execute(self, sql: str, parameters: Any = ()) -> FileCursor:
        """Run a statement.

        Raises:
            CorruptError: the file is damaged or is no database.
            StorageError: it cannot be read or written.
        """
        try:
            return _run(FileCursor(self), sql, parameters)
        except _DRIVER_ERRORS as error:
            self.refuse(error)

    def executemany(self, sql: str, parameters: Iterable[Any]) -> FileCursor:
        """Run a statement for each row of parameters; raises as ``execute``."""
        try:
            return _run_many(FileCursor(self), sql, parameters)
        except _DRIVER_ERRORS as error:
            self.refuse(error)

    def copy_to(self, target: FileConnection, **words: Any) -> None:
        """Copy the file to *target* by ``backup``; errors name the file of *target*, which alone is written."""
        try:
            self.backup(target, **words)
        except _DRIVER_ERRORS as error:
            target.refuse(error)

    def refuse(self, error: Exception) -> NoReturn:
        """Raise our error for one of the driver's, as ``raise_translated`` does."""
        try:
            if self._remedy is None:
                raise error
            raise_translated(self.path, error, self._remedy)
        finally:
            del error  # as in ``raise_translated``


def raise_translated(path: str | Path, error: Exception, remedy: str = RESTORE) -> NoReturn:
    """Raise our error for one of the driver's about *path*; or the driver's own if it is not about the file."""
    if isinstance(error, UnicodeDecodeError):
        raise CorruptError(str(path), 0, f"{error}; {remedy}") from error
    # SQLite quotes the whole statement of a damaged schema
    text = one_line(error)
    refusal = translated_error(path, text, remedy)
    if refusal is None and isinstance(error, sqlite3.OperationalError | sqlite3.IntegrityError):
        refusal = StorageError(str(path), f"{text}: the file is not as this program left it; {remedy}")
    try:
        if refusal is None:
            raise error
        raise refusal from error
    finally:
        # An error that is a variable of its own frame stays until the next garbage collection, and with it the callers'
        # cursors: their unfinished reads would keep the file in a transaction.
        del error, refusal


def breaks_constraint(error: StorageError) -> bool:
    """Return whether a statement failed because a row breaks a constraint or a trigger refused it."""
    return isinstance(error.__cause__, sqlite3.IntegrityError)


def _cannot_have_a_log(path: Path) -> bool:
    """Return whether a file is alone in a folder that cannot be written; StorageError if its log has entries."""
    if not path.exists() or os.access(path.parent, os.W_OK) or Path(f"{path}-shm").exists():
        return False
    log = Path(f"{path}-wal")
    if log.exists() and log.stat().st_size:
        raise StorageError(
            str(path),
            f"its folder cannot be written, and {log.name} holds what is not in the file yet: "
            "copy the ledger's files, this one too, to a folder that you may write, and ask there",
        )
    return True


def sqlite_uri(path: str | Path, *, read_only: bool = False) -> str:
    """Return the URI by which SQLite opens *path*.

    Raises:
        StorageError: the file is in a folder that cannot be written, and its log has entries.
    """
    # Even a reader makes sidecar files of a database in WAL mode (-shm), unless SQLite knows that there is no writer.
    way = "?immutable=1" if _cannot_have_a_log(Path(path)) else "?mode=ro" if read_only else ""
    return f"file:{quote(str(Path(path).absolute()))}{way}"


def connect(path: str | Path, *, read_only: bool = False, remedy: str | None = RESTORE) -> FileConnection:
    """Open an SQLite file with our pragmas; the caller begins and ends transactions.

    In a folder that cannot be written a file without a log is opened as one that never changes.

    Args:
        path: the file, as messages name it.
        read_only: whether nothing may be written.
        remedy: what to do if the file is damaged, for messages; None to raise the driver's errors.

    Raises:
        StorageError: it cannot be opened.
    """
    uri = sqlite_uri(path, read_only=read_only)
    refuse_inherited(path)
    # isolation_level=None: the driver would begin transactions by itself, and deferred ones (see ``write_transaction``)
    words: dict[str, Any] = {"uri": True, "isolation_level": None, "timeout": BUSY_SECONDS}
    try:
        connection = FileConnection(uri, path=path, remedy=remedy, **words)
    except sqlite3.DatabaseError as error:
        raise_translated(path, error, remedy or RESTORE)
    for pragma in PRAGMAS:
        connection.execute(pragma)
    return connection


# What each of our files is, by the number in its header that SQLite keeps for programs.
JOURNAL_ID, PEOPLE_ID, VIEWS_ID = 0x43524C4A, 0x43524C50, 0x43524C56  # "CRLJ", "CRLP", "CRLV"
TOKENS_ID = 0x43524C54  # "CRLT"
_OURS = {
    JOURNAL_ID: "a ledger",
    PEOPLE_ID: "the people file of a ledger",
    VIEWS_ID: "the views of a ledger",
    TOKENS_ID: "the file of tokens of a ledger",
}


def is_ours(application_id: int) -> bool:
    """Return whether an SQLite file with that application id is one of a ledger's."""
    return application_id in _OURS


def check_identity(
    connection: sqlite3.Connection, path: str | Path, application_id: int, version: int, *earlier: int
) -> None:
    """Refuse a file that is not ours, or was written by a later version.

    Args:
        connection: to the file.
        path: the file, for messages.
        application_id: the id of its kind.
        version: the layout that this program writes.
        earlier: further layouts that it reads.

    Raises:
        StorageError: it has another application id or another layout.
    """
    mark = connection.execute("PRAGMA application_id").fetchone()[0]
    layout = connection.execute("PRAGMA user_version").fetchone()[0]
    if mark != application_id:
        there = _OURS.get(mark, "a database of another program")
        raise StorageError(str(path), f"is not {_OURS[application_id]}, but {there}: check the name")
    if layout not in {version, *earlier}:
        newer = "; it was written by a later version of this program: install that one" if layout > version else ""
        raise StorageError(str(path), f"has layout {layout}, this program reads layout {version}{newer}")


def sync_folder(path: Path) -> None:
    """Write a folder's entries to the disk, so that new and renamed files survive a power cut, where the system can."""
    if os.name == "posix":
        folder = os.open(path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


class write_transaction:  # noqa: N801  # used as a with-statement's word; a generator would cost 2 µs more each time
    """A with-block that is one write transaction, and holds the write lock from its start.

    A deferred ``BEGIN`` reads first and then fails when another process wrote in between.

    Args:
        connection: to the file.
        patience: seconds to wait for other writers, by default ``BUSY_SECONDS``.

    Raises:
        StorageError: another process held the lock for too long, or the disk refused.
    """

    def __init__(self, connection: FileConnection, patience: float | None = None) -> None:
        self._connection, self._patience = connection, patience

    def __enter__(self) -> None:
        # A server that forks without Python's knowledge gives nothing up in the child.
        if self._connection.process != os.getpid():
            raise StorageError(self._connection.path, OTHER_PROCESS)
        if self._patience is None:
            _begin(self._connection, BUSY_SECONDS)
        else:
            with busy_timeout(self._connection, self._patience):
                _begin(self._connection, self._patience)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        try:
            if error is None:
                self._connection.execute("COMMIT")
        finally:
            # after an error of the block, or a full disk, which may show in the commit alone
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")


@contextmanager
def busy_timeout(connection: FileConnection, seconds: float) -> Iterator[None]:
    """Limit the time that SQLite waits for other processes' locks within the block."""
    connection.execute(f"PRAGMA busy_timeout={int(1000 * seconds)}")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA busy_timeout={int(1000 * BUSY_SECONDS)}")


def _begin(connection: FileConnection, patience: float) -> None:
    deadline = time.monotonic() + patience
    while True:
        try:
            connection.attempt("BEGIN IMMEDIATE")
        except sqlite3.DatabaseError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                connection.refuse(error)
            # SQLite's own waiting backs off in fixed steps, so that writers who wait together try together
            time.sleep(random.uniform(0.001, 0.02))  # noqa: S311  # spreads waiting writers, secures nothing
        else:
            return
