"""Files and folders on the disk: copied with their hash, flushed, moved. No SQLite and no ledger here."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from io import BufferedWriter
from pathlib import Path

from ledger.errors import StorageError
from ledger.runtime.lazy import filelock

BLOCK = 1 << 20
NOT_FOR_FOLDERS = {errno.EINVAL, errno.ENOTSUP}  # what some network file systems say of flushing a folder
PRIVATE, USUAL = 0o600, 0o666  # permissions of a new file, before the process takes its own part away


@contextmanager
def errors_named(path: Path) -> Iterator[None]:
    """Turn what the operating system refuses about *path* into an error of ours."""
    try:
        yield
    except OSError as error:
        where = error.filename or path
        words = error.strerror or str(error)
        raise StorageError(str(where), f"{words}; see to the disk and the permissions, then run it again") from error


@contextmanager
def workshop(place: Path, unfinished: str | None = None) -> Iterator[None]:
    """Have the folder *place* to oneself while something is made in it; it is gone when the block ends.

    What a killed process left in it is still there when the block begins. It stays where a file called *unfinished*
    lies in it at the end.

    Raises:
        StorageError: another process works there, or it cannot be made.
    """
    lock = filelock.FileLock(str(place / "lock"), timeout=0)
    with errors_named(place):
        place.mkdir(mode=0o700, exist_ok=True)
        try:
            lock.acquire()
        except filelock.Timeout:
            raise StorageError(str(place), "another process is at the same work there; wait for it to end") from None
    try:
        yield
    finally:
        if unfinished is None or not (place / unfinished).exists():
            shutil.rmtree(place, ignore_errors=True)
        lock.release()


def make_empty(folder: Path) -> None:
    """Make *folder* anew, with nothing in it."""
    with errors_named(folder):
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir()


def new_file(path: Path, permissions: int) -> BufferedWriter:
    """Open a file that must not be there yet, with these permissions from its first byte on."""
    with errors_named(path):
        return os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, permissions), "wb")


def copy(source: Path, target: Path, permissions: int, advance: Callable[[int, int], None]) -> str:
    """Copy a file to a new one; returns the SHA-256 of the bytes that were copied, in hexadecimal.

    Args:
        source: the file.
        target: the new one, which must not be there.
        permissions: of the new one.
        advance: called with the bytes copied so far and the size of the file.
    """
    done, digest = 0, sha256()
    with errors_named(source), source.open("rb") as old, new_file(target, permissions) as new:
        size = os.fstat(old.fileno()).st_size
        while block := old.read(BLOCK):
            digest.update(block)
            done += len(block)
            with errors_named(target):
                new.write(block)
                new.flush()
            advance(done, size)
    return digest.hexdigest()


def digest_of(path: Path) -> tuple[int, str]:
    """Size of a file in bytes and its SHA-256 in hexadecimal."""
    done, digest = 0, sha256()
    with errors_named(path), path.open("rb") as file:
        while block := file.read(BLOCK):
            done += len(block)
            digest.update(block)
    return done, digest.hexdigest()


def flush(path: Path) -> None:
    """Have the disk keep a file, or the names in a folder, through a power cut."""
    folder = path.is_dir()
    if folder and os.name != "posix":
        return
    with errors_named(path):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        except OSError as error:
            if not folder or error.errno not in NOT_FOR_FOLDERS:
                raise
        finally:
            os.close(descriptor)


def flush_set(folder: Path) -> None:
    """Have the disk keep all files of a folder, and their names."""
    for file in sorted(folder.iterdir()):
        flush(file)
    flush(folder)


def move(source: Path, target: Path) -> None:
    """Give a file or a folder another name on the same file system."""
    with errors_named(source):
        source.rename(target)


def make_alike(path: Path, example: Path) -> None:
    """Give a file the permissions of another one, and its owner where this process may do that."""
    with errors_named(path):
        about = example.stat()
        path.chmod(about.st_mode & 0o777)
        with suppress(PermissionError):
            os.chown(path, about.st_uid, about.st_gid)
