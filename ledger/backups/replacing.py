"""The replacement of a ledger by a verified set of files: at no instant is there a mixture of two ledgers.

The journal makes a ledger: it is moved away first and put in place last, so people and views are never next to a
journal that is not theirs. A plan is written before any file moves; after an interruption ``undo_interrupted`` restores
the former files. This module decides nothing and proves nothing.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from ledger.backups import disk
from ledger.backups.making import ledger_files
from ledger.errors import CorruptError, StorageError
from ledger.runtime import sqlite
from ledger.runtime.lazy import filelock
from ledger.runtime.ledger_files import RESTORE_PLAN as PLAN
from ledger.runtime.table_writer import wait_for_writer

if TYPE_CHECKING:
    import sqlite3

WAIT_SECONDS = 5.0  # for a process that has the ledger open to release it
_BESIDE = ("", "-wal", "-shm", "-journal")

OpenFiles = Mapping[str, "sqlite3.Connection | None"]  # by role; None if there is no file that can be read


def existing_files(path: Path) -> list[Path]:
    """Return the existing files of the ledger at *path*: journal, people, views, and their sidecar files.

    An interrupted build of views is among them: it would go on with another journal.
    """
    belong = [file.with_name(file.name + word) for word in _BESIDE for file in ledger_files(path).values()]
    views = ledger_files(path)["views"]
    return [file for file in belong if file.exists()] + sorted(
        views.parent.glob(f"{glob.escape(views.name)}.building*")
    )


# --- having the present ledger to oneself --------------------------------------------------------------------


@contextmanager
def lock_ledger(path: Path) -> Iterator[OpenFiles]:
    """Lock the files of the ledger at *path* against every other process, readers too, and yield connections to them.

    A process that has it open would go on with the files that are moved away, and its entries would be lost
    unnoticed.

    Raises:
        StorageError: another process has one of the files open.
    """
    with ExitStack() as stack:
        # First the lock of a process that updates the views: a build works in another file, which is not locked below.
        lock = filelock.FileLock(f"{ledger_files(path)['views']}.lock", timeout=WAIT_SECONDS)
        with disk.translate_os_errors(path):
            try:
                stack.enter_context(lock)
            except filelock.Timeout:
                raise _in_use(ledger_files(path)["views"]) from None
        views = ledger_files(path)["views"]
        wait_for_writer(views.with_name(f"{views.name}.building"))  # of a build that was killed
        present = {role: _opened_alone(file) for role, file in ledger_files(path).items()}
        try:
            yield present
        finally:
            _release(present)


def _opened_alone(file: Path) -> sqlite3.Connection | None:
    """Open a file for this connection alone; None if it is not there or too damaged for anybody to open."""
    if not file.is_file():
        return None
    connection = sqlite.connect(file)
    try:
        connection.execute(f"PRAGMA busy_timeout={WAIT_SECONDS * 1000:.0f}")
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        # the locking mode alone takes no lock: it holds the one that the next transaction takes
        connection.execute("BEGIN EXCLUSIVE")
        # the lock stays until the connection is closed
        connection.execute("COMMIT")
    except CorruptError:
        connection.close()
        return None
    except StorageError as error:
        connection.close()
        # "database is locked" is SQLite's word for another connection that has it; anything else is no other process.
        raise (_in_use(file) if "locked" in str(error) else error) from error
    return connection


def _in_use(file: Path) -> StorageError:
    return StorageError(
        str(file),
        "another process has it open; stop whatever uses the ledger (server, import, reader), then run it again",
    )


def _release(present: OpenFiles) -> None:
    for connection in present.values():
        if connection is not None:
            connection.close()


# --- moving -------------------------------------------------------------------------------------------------


def install(place: Path, path: Path) -> None:
    """Move the set of files in the working folder *place* to *path*, where there is no ledger.

    Raises:
        StorageError: a file is there by now, or one cannot be moved; everything is as it was.
    """
    _write_plan(place, None)
    try:
        _put(place, path)
    except BaseException:
        undo_interrupted(place, path)
        raise
    (place / PLAN).unlink()


def replace_ledger(place: Path, path: Path, present: OpenFiles) -> Path:
    """Move the present files of a ledger into a folder next to it, which is returned, and a new set into their place.

    The new set is in the working folder *place*; the connections of ``lock_ledger`` are closed.

    Raises:
        StorageError: a file cannot be moved; everything is as it was.
    """
    # of the first folder that is not there, or is empty
    number = 1
    while (old_folder := path.with_name(f"{path.stem}.replaced-{number}")).exists():
        if old_folder.is_dir() and not any(old_folder.iterdir()):
            break
        number += 1
    _write_plan(place, old_folder)
    try:
        with disk.translate_os_errors(old_folder):
            old_folder.mkdir(mode=0o700, exist_ok=True)
        # Without a write-ahead log SQLite refuses to write to a file that was moved after it was opened: a process that
        # was about to open the old file can then write neither into it nor into the log of the new one.
        for connection in present.values():
            if connection is not None:
                with suppress(CorruptError):
                    connection.execute("PRAGMA journal_mode=DELETE")
        for file in ledger_files(path).values():
            if file.exists():
                if (new := place / disk.SET / file.name).exists():
                    # Users who could read the ledger, such as a server's, can read the restored one.
                    disk.copy_permissions(new, file)
                if os.name != "posix":  # Windows moves no open file: who opens it before it moves stops the restore
                    _release(present)
                # Each move is flushed before the next: a disk may keep new names in another order, and after a power
                # cut the journal could be here without its people.
                disk.move(file, old_folder / file.name)
                disk.flush(old_folder)
                disk.flush(path.parent)
        _release(present)
        # SQLite's sidecar files of a damaged file
        for file in existing_files(path):
            disk.move(file, old_folder / file.name)
        disk.flush(old_folder)
        _put(place, path)
    except BaseException:
        _release(present)
        undo_interrupted(place, path)
        raise
    (place / PLAN).unlink()
    return old_folder


def _put(place: Path, path: Path) -> None:
    _clear_empty(path)
    if there := existing_files(path):
        raise StorageError(str(there[0]), "was made by another process meanwhile; nothing was restored")
    # the journal last, which makes a ledger of them: people are not opened without it
    for role in ("people", "views", "journal"):
        file = ledger_files(path)[role]
        if (place / disk.SET / file.name).exists():
            disk.move(place / disk.SET / file.name, file)
            disk.flush(path.parent)


# --- a plan that was not finished -----------------------------------------------------------------------------


def _write_plan(place: Path, old_folder: Path | None) -> None:
    new = sorted(file.name for file in (place / disk.SET).iterdir())
    words = orjson.dumps({"aside": None if old_folder is None else old_folder.name, "new": new})
    making = place / f"{PLAN}.making"
    with disk.translate_os_errors(making):
        making.unlink(missing_ok=True)  # of a process that was killed here
        # The plan is written under another name first: one that bears its own is whole.
        with disk.new_file(making, disk.USUAL) as file:
            file.write(words)
    disk.flush(making)
    disk.move(making, place / PLAN)
    disk.flush(place)
    disk.flush(place.parent)


def _read_plan(place: Path, path: Path) -> tuple[Path | None, list[str]]:
    """Return the folder for the replaced files, if there are any, and the names of the new ones."""
    try:
        with disk.translate_os_errors(place / PLAN):
            plan = orjson.loads((place / PLAN).read_bytes())
        return (None if plan["aside"] is None else path.with_name(plan["aside"])), list(plan["new"])
    except (ValueError, TypeError, LookupError) as error:
        raise StorageError(
            str(place / PLAN),
            f"is damaged; move the files in the newest {path.stem}.replaced-N back manually, {path.name} last, and "
            f"remove {place.name}",
        ) from error


def undo_interrupted(place: Path, path: Path) -> bool:
    """Bring back the files at *path* from before an interrupted restore; return whether any had been moved."""
    if not (place / PLAN).exists():
        return False
    old_folder, new = _read_plan(place, path)
    # The journal is moved away first and comes last: if it is there, all files of one set are. One without a byte is
    # none: SQLite makes it for a program that opens a file just moved away.
    moved = not path.exists() or not path.stat().st_size
    if moved:
        _clear_empty(path)
        for name in new:
            in_place = path.with_name(name)
            if not (place / disk.SET / name).exists() and in_place.exists():
                disk.move(in_place, place / disk.SET / name)
                for word in _BESIDE[1:]:  # sidecar files of a program that read it there
                    with disk.translate_os_errors(in_place):
                        in_place.with_name(in_place.name + word).unlink(missing_ok=True)
    if old_folder is not None:
        if moved and old_folder.exists():
            _bring_back(old_folder, path)
        if old_folder.exists() and not any(old_folder.iterdir()):
            old_folder.rmdir()
        for file in ledger_files(path).values():
            if file.is_file():
                with suppress(CorruptError), closing(sqlite.connect(file)) as connection:
                    connection.execute("PRAGMA journal_mode=WAL")  # which ``replace_ledger`` had taken away
    disk.flush(path.parent)
    (place / PLAN).unlink()
    return moved


def _bring_back(old_folder: Path, path: Path) -> None:
    """Move the replaced files to where they were, the journal last."""
    _clear_empty(path)
    # Until the journal is back no program takes the other files for a ledger.
    for file in sorted(old_folder.iterdir(), key=lambda file: (file.name == path.name, file.name)):
        if path.with_name(file.name).exists():
            raise StorageError(str(path.with_name(file.name)), f"is in the way; the file of before is {file}")
        disk.move(file, path.with_name(file.name))


def _clear_empty(path: Path) -> None:
    """Remove a file without a byte, as SQLite makes one for a program that opens a file just moved away."""
    for file in existing_files(path):
        if not file.stat().st_size:
            with disk.translate_os_errors(file):
                file.unlink()
