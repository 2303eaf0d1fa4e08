"""The files of a ledger: their paths, files that must not be overwritten, and writing files atomically.

This module opens no database.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

from ledger.errors import StorageError
from ledger.runtime import sqlite
from ledger.runtime.lazy import filelock

COMPANIONS = ("checkpoints", "imports", "key", "toml")  # files next to the journal that are no databases
RESTORE_PLAN = "plan.json"  # in the folder ``restore_folder`` while files change places


def journal_file(path: str | Path) -> Path:
    """Return the journal's own file: the target of a symbolic link *path*, because the other files are next to that.

    Raises:
        StorageError: *path* is a folder (an empty path is the working folder), or a link that leads nowhere.
    """
    journal = Path(path)
    if journal.is_dir():
        raise StorageError(str(path) or "''", "is a folder; give the name of the journal's file")
    return _resolved(journal) if journal.is_symlink() else journal


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle, before Python 3.13
        raise StorageError(str(path), f"is a symbolic link that leads nowhere ({error}); check the link") from error


def sidecar(path: str | Path, word: str) -> Path:
    """Return the path of another database of the ledger at *path*: ``club.db`` and ``people`` -> ``club.people.db``."""
    journal = journal_file(path)
    # a journal called ``club`` has its people in ``club.people.db``, so that no word is taken for its ending
    return journal.with_name(f"{journal.stem}.{word}{journal.suffix or '.db'}")


def companion_file(path: str | Path, word: str) -> Path:
    """Return the path of a ledger's file that is no database: ``club.db`` and ``key`` -> ``club.key``."""
    journal = journal_file(path)
    return journal.with_name(f"{journal.stem}.{word}{journal.suffix.removesuffix('.db')}")


def restore_folder(path: str | Path) -> Path:
    """Return the folder in which a restore of the ledger at *path* is prepared."""
    journal = Path(path).resolve()
    return journal.with_name(f"{journal.name}.restoring")


def refuse_half_restored(path: str | Path) -> None:
    """Raise StorageError if a restore of the ledger at *path* was stopped half-way."""
    journal = Path(path)
    # SQLite makes an empty file for a process that opens a journal that was just moved away
    has_journal = journal.exists() and journal.stat().st_size > 0
    if not has_journal and (restore_folder(path) / RESTORE_PLAN).exists():
        raise StorageError(
            str(path), "a restore was stopped half-way; run it again: it first restores the files that were here before"
        )


def refuse_leftovers(path: str | Path) -> None:
    """Raise StorageError if files of an earlier ledger are where a new journal is to be made."""
    for leftover in (sidecar(path, "views"), *(companion_file(path, word) for word in COMPANIONS)):
        if leftover.exists():
            raise StorageError(str(leftover), "exists already, though the journal does not")


_SQLITE_SIDECARS = ("-wal", "-journal", "-shm")  # endings of SQLite's own files: the first holds the latest writes
_HEADER = 72  # bytes of an SQLite file up to its application id, which is the last four
_SQLITE, _KEY = b"SQLite format 3", b"PRIVATE+KEY+"


def refuse_own_files(path: Path, of: str | Path | None = None) -> None:
    """Raise StorageError if *path* is a file of a ledger, so that no answer or copy is written over it.

    The files of the ledger *of* are known by their names, those of other ledgers by their first bytes.
    """
    if "\0" in str(path):
        raise StorageError(str(path), "is no name of a file: it holds a NUL character")
    if of is not None:
        own = [journal_file(of), *(sidecar(of, word) for word in ("people", "views", "tokens"))]
        own += [file.with_name(f"{file.name}{end}") for file in own for end in _SQLITE_SIDECARS]
        own += [companion_file(of, word) for word in COMPANIONS]
        if _resolved(path) in {file.resolve() for file in own}:
            raise StorageError(str(path), "is a file of this ledger: give another name")
    # a device or a pipe would wait for a writer
    if not path.is_file():
        return
    with suppress(OSError), path.open("rb") as file:
        head = file.read(_HEADER)
        if head.startswith(_KEY) or (head.startswith(_SQLITE) and sqlite.is_ours(int.from_bytes(head[-4:], "big"))):
            raise StorageError(str(path), "is a file of a ledger: give another name")


@contextmanager
def atomic_file(path: str | Path, *, replace: bool = False) -> Iterator[Path]:
    """Yield a temporary path for a new file; when the block ends without an error it is renamed to *path*.

    Args:
        path: where the complete file appears.
        replace: whether it replaces an existing file, and deletes that file's sidecar files of SQLite.

    Raises:
        StorageError: the folder cannot be written, another process makes the same file, or the file exists by now.
    """
    target = Path(path)
    making = target.with_name(target.name + ".making")
    # A lock of the system, which a killed process lets go of: two that made one file under one name would take each
    # other's for a leftover, and one of them put the other's half of it in place.
    lock = filelock.FileLock(target.with_name(f"{target.name}.being-made"), timeout=0)
    if not target.absolute().parent.is_dir():  # which the lock would make
        raise StorageError(str(path), f"cannot be made: there is no folder {target.parent}")
    try:
        try:
            lock.acquire()
        except filelock.Timeout:
            raise StorageError(str(path), "another process is making it; wait for it to end, and look again") from None
        try:
            _refuse_made(target, replace=replace)
            # of a process that was killed; its -wal too
            for leftover in target.parent.glob(f"{glob.escape(making.name)}*"):
                leftover.unlink()
            yield making
            _refuse_made(target, replace=replace)
            # of the older one: SQLite would take it for the new one's
            for end in _SQLITE_SIDECARS if replace else ():
                target.with_name(f"{target.name}{end}").unlink(missing_ok=True)
            making.replace(target)  # on Windows a rename takes no file's place
            sqlite.sync_folder(target.absolute().parent)
        finally:
            with suppress(OSError):  # while it is held: the next process to take it makes a new file
                Path(lock.lock_file).unlink()
            lock.release()
    except OSError as error:
        raise StorageError(str(path), f"cannot be made: {error.strerror or error}") from error


def _refuse_made(target: Path, *, replace: bool) -> None:
    # A rename would take its place without a word.
    if not replace and os.path.lexists(target):
        raise StorageError(str(target), "was made by another process meanwhile, and stays as it is")


def replace_file(path: Path, content: bytes) -> None:
    """Replace the content of a file durably, or make the file; an existing one keeps its permissions.

    A reader sees all of the new content or the old one, also after a power cut.

    Raises:
        OSError: it cannot be written; the old content remains.
    """
    target = path.resolve()
    making = target.with_name(f"{target.name}.making")
    # A rename asks for the rights of the folder alone: it would take the place of a file that may not be written.
    with target.open("ab") if target.exists() else nullcontext():
        pass
    try:
        with making.open("wb") as file:
            if target.exists():
                making.chmod(target.stat().st_mode & 0o777)
            file.write(content)
            file.flush()
            # before the rename: after a power cut the new name could lead to an empty file
            os.fsync(file.fileno())
        making.replace(target)
    except OSError:
        making.unlink(missing_ok=True)
        raise
    sqlite.sync_folder(target.parent)


def save_document(path: Path, content: bytes, of: str | Path | None = None) -> None:
    """Write a file that a user asked for; an earlier file of that name is replaced when the new one is complete.

    Raises:
        StorageError: it is a file of the ledger *of*, or of another ledger.
        OSError: it cannot be written; ``filename`` says which, also where a device is full.
    """
    refuse_own_files(path, of)
    try:
        replace_file(path, content) if path.is_file() else path.write_bytes(content)
    except OSError as reason:
        raise OSError(reason.errno, reason.strerror, str(path)) from None
