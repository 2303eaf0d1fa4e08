"""The way to SQLite: one driver, one set of pragmas, one translation of its errors. No tables are defined here.

Python 3.11 on Debian 12 links SQLite 3.40.1, which carries the WAL-reset corruption bug (3.7.0 to 3.51.2, fixed in
3.51.3); ``pysqlite3`` brings a later library and sqlite-utils picks it up by itself, so the two are one library.
Two SQLite libraries must never have one file open in one process: closing the second drops the first one's locks.
"""

from __future__ import annotations

import os
import random  # noqa: TID251  # spreads waiting writers
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
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
    "address",
    "check_identity",
    "connect",
    "explained",
    "has_wal_reset_bug",
    "immediate",
    "is_ours",
    "sqlite3",
    "storage_errors",
    "sync_folder",
    "waiting",
]  # fmt: skip

# https://sqlite.org/wal.html#walresetbug: 3.7.0 to 3.51.2, but for two branches to which the mending was carried back.
WAL_RESET_FIXED = ((3, 44, 6), (3, 50, 7), (3, 51, 3))
PRAGMAS = (
    # a file comes from anywhere: its schema shall call no function that does more than compute
    "PRAGMA trusted_schema=OFF",
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
    is_mended = any(version[:2] == fixed[:2] and version >= fixed for fixed in WAL_RESET_FIXED)
    return version < WAL_RESET_FIXED[-1] and not is_mended


class storage_errors:  # noqa: N801  # used as a with-statement's word; a generator would cost 2 µs more each time
    """Turn the driver's errors about *path* into ours, each with what to do.

    Raises:
        CorruptError: the file is damaged or is no database.
        StorageError: it cannot be read or written.
    """

    def __init__(self, path: str | Path, remedy: str = RESTORE) -> None:
        """Say which file, and what to do where it is damaged."""
        self._path = path
        self._remedy = remedy

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        """Translate an error of the driver; any other passes."""
        # text in the file, or the driver's message about it
        if isinstance(error, UnicodeDecodeError):
            raise CorruptError(str(self._path), 0, f"{error}; {self._remedy}") from error
        if not isinstance(error, sqlite3.DatabaseError):
            return
        # SQLite quotes the whole statement of a damaged schema
        text = one_line(error)
        translated = explained(self._path, text, self._remedy)
        if translated is not None:
            raise translated from error
        if isinstance(error, sqlite3.OperationalError | sqlite3.IntegrityError):
            raise StorageError(
                str(self._path), f"{text}: the file is not as this program left it; {self._remedy}"
            ) from error


def explained(path: str | Path, text: str, remedy: str = RESTORE) -> CorruptError | StorageError | None:
    """Return the error to raise for SQLite's message about *path*, with a remedy; None if the message is unknown."""
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


def _cannot_have_a_log(path: Path) -> bool:
    """Return whether a file is alone in a folder that cannot be written, so that SQLite cannot make its log there.

    Raises:
        StorageError: there is a log with entries that are not in the file yet.
    """
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


def address(path: str | Path, *, read_only: bool = False) -> str:
    """Return the URI by which SQLite opens *path*, as ``connect`` does.

    Raises:
        StorageError: it is in a folder that cannot be written, and its log has entries.
    """
    # Even a reader makes sidecar files of a database in WAL mode (-shm), unless SQLite knows that there is no writer.
    way = "?immutable=1" if _cannot_have_a_log(Path(path)) else "?mode=ro" if read_only else ""
    return f"file:{quote(str(Path(path).absolute()))}{way}"


def connect(path: str | Path, *, read_only: bool = False) -> sqlite3.Connection:
    """Open *path* with our pragmas; transactions are begun and ended manually.

    In a folder that cannot be written a file without a log is opened as one that never changes.

    Raises:
        StorageError: it cannot be opened.
    """
    uri = address(path, read_only=read_only)
    refuse_inherited(path)
    with storage_errors(path):
        # isolation_level=None: the driver would begin transactions by itself, and deferred ones (see ``immediate``)
        connection = OwnedConnection(uri, uri=True, isolation_level=None, timeout=BUSY_SECONDS, path=path)
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
    """Return whether a file with that mark in its header is one of a ledger."""
    return application_id in _OURS


def check_identity(
    connection: sqlite3.Connection, path: str | Path, application_id: int, version: int, *earlier: int
) -> None:
    """Refuse a file that is not ours, or was written by a later version.

    Args:
        connection: to the file.
        path: as it is named in messages.
        application_id: the mark of its kind.
        version: the layout that is written now.
        earlier: layouts that can be read, too.

    Raises:
        StorageError: another program's file, or a later layout.
    """
    with storage_errors(path):
        mark = connection.execute("PRAGMA application_id").fetchone()[0]
        layout = connection.execute("PRAGMA user_version").fetchone()[0]
    if mark != application_id:
        there = _OURS.get(mark, "a database of another program")
        raise StorageError(str(path), f"is not {_OURS[application_id]}, but {there}: check the name")
    if layout not in {version, *earlier}:
        newer = "; it was written by a later version of this program: install that one" if layout > version else ""
        raise StorageError(str(path), f"has layout {layout}, this program reads layout {version}{newer}")


def sync_folder(path: Path) -> None:
    """Make sure that the names in a folder survive a power cut, where the system can."""
    if os.name == "posix":
        folder = os.open(path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


class immediate:  # noqa: N801  # a with-statement's word, and a class for speed, as above
    """One write transaction that holds the write lock from its start, waiting for other writers with jitter.

    A deferred ``BEGIN`` reads first and then fails when another process wrote in between.

    Raises:
        StorageError: the lock was not to be had in time, or the disk refused.
    """

    def __init__(
        self, connection: sqlite3.Connection, path: str | Path, remedy: str = RESTORE, patience: float | None = None
    ) -> None:
        """Say on which file, what to do where it is damaged, and how many seconds to wait if not as long as ever."""
        self._connection, self._path = connection, path
        self._errors = storage_errors(path, remedy)
        self._patience = patience

    def __enter__(self) -> None:
        """Begin."""
        # A server that forks without Python's knowledge gives nothing up in the child.
        if getattr(self._connection, "process", None) not in (None, os.getpid()):
            raise StorageError(str(self._path), OTHER_PROCESS)
        with self._errors:
            if self._patience is None:
                _begin(self._connection, BUSY_SECONDS)
            else:
                with waiting(self._connection, self._patience):
                    _begin(self._connection, self._patience)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        """Commit, or roll back after an error."""
        if error is None:
            try:
                self._connection.execute("COMMIT")
            except (
                sqlite3.DatabaseError
            ) as refused:  # a full disk may show here alone; the transaction is still open then
                kind, error = type(refused), refused
        if error is not None:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            self._errors.__exit__(kind, error, trace)
            if isinstance(error, sqlite3.DatabaseError):
                raise error


@contextmanager
def waiting(connection: sqlite3.Connection, seconds: float) -> Iterator[None]:
    """Wait for other processes no longer than that, within the block."""
    connection.execute(f"PRAGMA busy_timeout={int(1000 * seconds)}")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA busy_timeout={int(1000 * BUSY_SECONDS)}")


def _begin(connection: sqlite3.Connection, patience: float) -> None:
    deadline = time.monotonic() + patience
    while True:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            # SQLite's own waiting backs off in fixed steps, so that writers who wait together try together
            time.sleep(random.uniform(0.001, 0.02))  # noqa: S311  # spreads waiting writers, secures nothing
        else:
            return
