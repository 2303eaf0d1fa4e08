"""The files of a backup on the disk: copied with their hash, flushed, moved, listed in a manifest. No SQLite here.

The manifest, ``backup.json``, says which files belong to a backup, their hashes, and the head that they prove. Its
member ``sha256`` is the hash of all others, so that a manifest that was changed by accident is found. Whoever means to
deceive can compute that too: only a head kept elsewhere finds it.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from io import BufferedWriter
from pathlib import Path
from typing import Any

import attrs
import orjson

from ledger.errors import StorageError
from ledger.facts.words import TreeHead
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
        # The folder goes while the lock is held, so that no other process's work in it is swept away.
        if unfinished is None or not (place / unfinished).exists():
            shutil.rmtree(place, ignore_errors=True)
        lock.release()
        with suppress(OSError):  # on Windows it still held the lock, which is open until here
            place.rmdir()


def permissions_of(path: Path) -> int:
    """Return what may be done with a file or folder, which a copy of it may not exceed."""
    with errors_named(path):
        return path.stat().st_mode & 0o777


def make_empty(folder: Path, permissions: int = 0o777) -> None:
    """Make *folder* again, empty and with at most these permissions; its owner has all."""
    with errors_named(folder):
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir(mode=permissions | 0o700)


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
                # Written out here, so that the refusal of a full disk is reported for the new file and not for the old
                # one.
                new.flush()
            advance(done, size)
    return digest.hexdigest()


def digest_of(path: Path) -> tuple[int, str]:
    """Return the size of a file in bytes and its SHA-256 in hexadecimal."""
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
        # for reading is enough, but on Windows: the file is flushed, regardless of its writer
        descriptor = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
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


def copy_permissions(path: Path, example: Path) -> None:
    """Give a file the permissions of another one, and its owner where this process may do that."""
    with errors_named(path):
        about = example.stat()
        path.chmod(about.st_mode & 0o777)
        # Only root may give a file to another owner: of a restore by anybody else the file keeps the permissions alone.
        if sys.platform != "win32":  # files have no such owner there
            with suppress(PermissionError):
                os.chown(path, about.st_uid, about.st_gid)


NAME = "backup.json"
FORMAT = "rating-ledger backup/1"
ROLES = ("journal", "people", "views")  # the views may be missing
MAX_BYTES = 1 << 16  # a manifest has about a thousand
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)


@attrs.frozen
class CopiedFile:
    """One file of a backup.

    Attributes:
        name: its name in the folder.
        bytes: its size.
        sha256: of its bytes, in hexadecimal.
        layout: the version of its tables.
    """

    name: str
    bytes: int
    sha256: str
    layout: int


@attrs.frozen
class Manifest:
    """A backup's description of itself.

    Attributes:
        made_at: when it was made, an instant in UTC.
        program: the version of the program that made it.
        head: size and root of its journal.
        files: its files by role: ``journal``, ``people`` and, where there were any, ``views``.
    """

    made_at: str
    program: str
    head: TreeHead
    files: Mapping[str, CopiedFile]


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest into the folder of a backup."""
    members: dict[str, Any] = {
        "format": FORMAT,
        "made_at": manifest.made_at,
        "program": manifest.program,
        "head": str(manifest.head),
        "files": {role: attrs.asdict(file) for role, file in manifest.files.items()},
    }
    # over the members and not over the file: the layout of JSON is not guaranteed
    members["sha256"] = _seal(members)
    with new_file(folder / NAME, USUAL) as file, errors_named(folder / NAME):
        file.write(orjson.dumps(members, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of the backup in *folder*.

    Raises:
        StorageError: there is none, or it is not what ``write_manifest`` wrote.
    """
    path = folder / NAME
    if not path.is_file():
        raise StorageError(str(folder), f"is no backup: it has no {NAME}; give a folder that 'backup' made")
    with errors_named(path), path.open("rb") as file:
        # one byte more than may be: of a larger file it is no JSON then, and is not read whole for that
        text = file.read(MAX_BYTES + 1)
    try:
        members = orjson.loads(text)
        if members["format"] != FORMAT:
            raise StorageError(str(path), f"is of format {members['format']!r:.60}, this program reads {FORMAT!r}")
        if members.pop("sha256") != _seal(members):
            raise StorageError(str(path), "was changed since the backup was made; use another backup")
        return _manifest(members)
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise StorageError(str(path), "is damaged: not the manifest of a backup; use another backup") from error


def _seal(members: Mapping[str, Any]) -> str:
    return sha256(orjson.dumps(members, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _manifest(members: Mapping[str, Any]) -> Manifest:
    """Return the typed form; any error means that ``write_manifest`` did not write it."""
    files = {role: CopiedFile(**members["files"][role]) for role in ROLES if role in members["files"]}
    for file in files.values():
        # a name of a file in the same folder, never a way to another one
        is_plain = Path(file.name).name == file.name not in {"", "..", NAME} and "\0" not in file.name
        if not is_plain or not _SHA256.fullmatch(file.sha256):
            raise ValueError(file)
        if type(file.bytes) is not int or type(file.layout) is not int:
            raise TypeError(file)
    if not {"journal", "people"} <= set(files) or len({file.name for file in files.values()}) < len(files):
        raise ValueError(files)
    texts = [members["made_at"], members["program"]]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError(texts)
    return Manifest(members["made_at"], members["program"], TreeHead.parse(members["head"]), files)
