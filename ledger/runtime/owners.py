"""Owners of connections: the process and the thread that opened each. A forked child must not use inherited ones.

SQLite's locks belong to a process. A child that goes on with its parent's connection holds none of them, so the
parent deletes the log when it closes the file, and the child's commits in that log are lost. It is no better if the
child opens the file once more while it has the inherited connection: SQLite takes the locks of that one for its own
(sqlite.org/howtocorrupt.html, 2.6). So the child gives up every inherited connection at once, before its own code
runs; it must not open a file of which it cannot give up all.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from threading import get_ident
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

if TYPE_CHECKING:
    import sqlite3
else:
    try:
        from pysqlite3 import dbapi2 as sqlite3
    except ImportError:
        import sqlite3

from ledger.errors import StorageError
from ledger.runtime.lazy import ctypes

OTHER_THREAD = (
    "was opened in another thread, and stays with it: open the ledger in each thread that works with it, by "
    "Ledger.open; several may record and read at the same time, as several processes may"
)
OTHER_PROCESS = (
    "was opened in the process that this one was forked from, and stays with it: open the ledger in each "
    "process that works with it, by Ledger.open, after the fork"
)
LEFT_OPEN = (
    "is still open from the process that this one was forked from, which forked within a transaction, an answer that "
    "was being read, or another thread: fork outside of these, or start the process by 'spawn'"
)


class Owner:
    """The process and the thread that opened a connection."""

    __slots__ = ("_process", "_thread")

    def __init__(self) -> None:
        self._process, self._thread = os.getpid(), get_ident()

    @property
    def is_other_process(self) -> bool:
        """True in a process that was forked since."""
        return os.getpid() != self._process

    def refuse_others(self, path: str) -> None:
        """Raise StorageError about *path* in another process or thread; SQLite's own message gives only numbers."""
        if get_ident() != self._thread:
            raise StorageError(path, OTHER_PROCESS if self.is_other_process else OTHER_THREAD)
        if self.is_other_process:
            raise StorageError(path, OTHER_PROCESS)


class OwnedConnection(sqlite3.Connection):
    """A connection to SQLite that knows the process and the thread that opened it."""

    def __init__(self, database: str, *arguments: Any, path: str | Path = "", **words: Any) -> None:
        super().__init__(database, *arguments, **words)
        self.path, self.thread, self.process = str(path), get_ident(), os.getpid()
        self.file = _identity(path) if path else None
        _open.add(self)


class _Inherited(sqlite3.Connection):
    """A connection that a forked child inherited: it answers nothing, and closing it does nothing."""

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("__"):
            return object.__getattribute__(self, name)
        if name == "close":
            return lambda: None
        raise StorageError(object.__getattribute__(self, "path"), OTHER_PROCESS)


_open: WeakSet[OwnedConnection] = WeakSet()
_left: set[tuple[int, int]] = set()  # files that a connection of the parent process still has open in this one


def refuse_inherited(path: str | Path) -> None:
    """Raise StorageError if this process was forked and an inherited connection still has the file open."""
    if _left and _identity(path) in _left:
        raise StorageError(str(path), LEFT_OPEN)


def _identity(path: str | Path) -> tuple[int, int] | None:
    try:
        status = os.stat(path)  # noqa: PTH116  # a Path takes longer
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _give_up_inherited() -> None:
    """Disable the connections that a forked child inherited, in the child, before anything else runs there."""
    inherited = [*_open]
    _open.clear()
    if not inherited:
        return
    _left.update(connection.file for connection in inherited if connection.file is not None)
    for connection in inherited:
        if _may_be_closed(connection):
            # The parent holds its lock, so that SQLite finds that it is not the last one and leaves the log alone.
            with suppress(sqlite3.Error):
                sqlite3.Connection.close(connection)
        else:
            # for ever, since the collector would close it
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
            with suppress(sqlite3.Error):  # it is closed already
                connection.interrupt()
        connection.__class__ = _Inherited  # type: ignore[assignment]
    # An answer that is still being read keeps its connection: the system alone knows what is closed.
    with suppress(OSError):
        _left.intersection_update(_files_open())


def _may_be_closed(connection: OwnedConnection) -> bool:
    """Return whether a child may close an inherited connection."""
    # A rollback would write into the memory that all processes share, and what another thread uses may be locked for
    # ever.
    try:
        return connection.thread == get_ident() and not connection.in_transaction
    except sqlite3.Error:  # it is closed already
        return True


def _files_open() -> set[tuple[int, int]]:
    files = set()
    for descriptor in os.listdir("/dev/fd"):  # noqa: PTH208  # names alone
        with suppress(OSError):
            status = os.fstat(int(descriptor))
            files.add((status.st_dev, status.st_ino))
    return files


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_give_up_inherited)
