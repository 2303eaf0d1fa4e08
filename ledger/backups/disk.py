"""The files of a backup and its manifest: files are copied with their hash, flushed to the disk and moved.

The manifest, ``backup.json``, says which files belong to a backup, their hashes, and the head that they prove. Its
member ``sha256`` is the hash of all others, so that a manifest that was changed by accident is found. An attacker can
compute that too: only a head stored elsewhere reveals it.
"""

from __future__ import annotations

import errno
import glob
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import file_digest, sha256
from io import BufferedWriter
from pathlib import Path
from typing import Any

import attrs
import orjson

from ledger.errors import StorageError
from ledger.facts.words import TreeHead
from ledger.runtime.lazy import filelock

BLOCK = 1 << 20
_LOCK = "held"  # the file of a temporary folder that its process keeps locked
SET = "set"  # the folder in a locked folder where the files are made
NOT_FOR_FOLDERS = {errno.EINVAL, errno.ENOTSUP}  # what some network file systems say of flushing a folder
PRIVATE, USUAL = 0o600, 0o666  # permissions of a new file, before the process takes its own part away


@contextmanager
def translate_os_errors(path: Path) -> Iterator[None]:
    """Turn the operating system's errors about *path* into StorageErrors."""
    try:
        yield
    except OSError as error:
        where = error.filename or path
        words = error.strerror or str(error)
        raise StorageError(str(where), f"{words}; see to the disk and the permissions, then run it again") from error


@contextmanager
def locked_folder(place: Path, unfinished: str | None = None) -> Iterator[None]:
    """Make and lock the folder *place* for work in it, and delete it when the block ends.

    Files of a killed process are still there when the block begins. The folder stays if a file called *unfinished* is
    in it at the end.

    Raises:
        StorageError: another process has the folder, or it cannot be made.
    """
    lock = filelock.FileLock(str(place / "lock"), timeout=0)
    with translate_os_errors(place):
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


@contextmanager
def temporary_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """Make a folder that other users may not enter, and delete it when the block ends.

    Folders of this prefix whose processes were killed are deleted first: they hold names, which no erasure would reach.
    """
    for lock in parent.glob(f"{glob.escape(prefix)}*/{_LOCK}"):
        # another process is at work on it, or it is another user's
        with suppress(OSError, filelock.Timeout):
            with filelock.FileLock(lock, timeout=0):
                shutil.rmtree(lock.parent, ignore_errors=True)
            lock.parent.rmdir()  # on Windows it still held the lock, which is open until here
    with tempfile.TemporaryDirectory(prefix=prefix, dir=parent) as folder, filelock.FileLock(Path(folder) / _LOCK):
        yield Path(folder)


def permissions_of(path: Path) -> int:
    """Return the permission bits of a file or folder, which a copy of it may not exceed."""
    with translate_os_errors(path):
        return path.stat().st_mode & 0o777


def make_empty_folder(folder: Path, permissions: int = 0o777) -> None:
    """Make an empty folder, and delete an older one at its path; its owner has all rights, others those given."""
    with translate_os_errors(folder):
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir(mode=permissions | 0o700)


def new_file(path: Path, permissions: int) -> BufferedWriter:
    """Open a new file for writing, with the permissions given from its first byte on."""
    with translate_os_errors(path):
        return os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, permissions), "wb")


def copy_and_hash(source: Path, target: Path, permissions: int, advance: Callable[[int, int], None]) -> str:
    """Copy a file to a new one, and return the SHA-256 of the copied bytes in hexadecimal.

    *advance* is called with the bytes copied so far and the size of the file.
    """
    done, digest = 0, sha256()
    with translate_os_errors(source), source.open("rb") as old, new_file(target, permissions) as new:
        size = os.fstat(old.fileno()).st_size
        while block := old.read(BLOCK):
            digest.update(block)
            done += len(block)
            with translate_os_errors(target):
                new.write(block)
                # Written out here, so that the refusal of a full disk is reported for the new file and not for the old
                # one.
                new.flush()
            advance(done, size)
    return digest.hexdigest()


def size_and_sha256(path: Path) -> tuple[int, str]:
    """Return the size of a file in bytes and its SHA-256 in hexadecimal."""
    with translate_os_errors(path), path.open("rb") as file:
        digest = file_digest(file, sha256).hexdigest()
        return file.tell(), digest


def flush(path: Path) -> None:
    """Flush a file, or the names in a folder, to the disk, so that they survive a power cut."""
    folder = path.is_dir()
    if folder and os.name != "posix":
        return
    with translate_os_errors(path):
        # for reading is enough, but on Windows: the file is flushed, regardless of its writer
        descriptor = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
        try:
            os.fsync(descriptor)
        except OSError as error:
            if not folder or error.errno not in NOT_FOR_FOLDERS:
                raise
        finally:
            os.close(descriptor)


def flush_folder(folder: Path) -> None:
    """Flush all files of a folder, and their names, to the disk."""
    for file in sorted(folder.iterdir()):
        flush(file)
    flush(folder)


def move(source: Path, target: Path) -> None:
    """Move a file or a folder within a file system."""
    with translate_os_errors(source):
        source.rename(target)


def copy_permissions(path: Path, example: Path) -> None:
    """Give a file the permissions of another one, and its owner if this process may do that."""
    with translate_os_errors(path):
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
    """The entry of one file in a backup's manifest."""

    name: str  # in the folder
    bytes: int
    sha256: str  # in hexadecimal
    layout: int  # the version of its tables


@attrs.frozen
class Manifest:
    """The description of a backup, with its files by role: ``journal``, ``people`` and perhaps ``views``."""

    made_at: str  # an instant in UTC
    program: str  # its version
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
    members["sha256"] = checksum(members)
    with new_file(folder / NAME, USUAL) as file, translate_os_errors(folder / NAME):
        file.write(orjson.dumps(members, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of the backup in *folder*.

    Raises:
        StorageError: there is none, or it is not what ``write_manifest`` wrote.
    """
    path = folder / NAME
    if not path.is_file():
        raise StorageError(str(folder), f"is no backup: it has no {NAME}; give a folder that 'backup' made")
    with translate_os_errors(path), path.open("rb") as file:
        # one byte more than may be: of a larger file it is no JSON then, and is not read whole for that
        text = file.read(MAX_BYTES + 1)
    try:
        members = orjson.loads(text)
        if members["format"] != FORMAT:
            raise StorageError(str(path), f"is of format {members['format']!r:.60}, this program reads {FORMAT!r}")
        if members.pop("sha256") != checksum(members):
            raise StorageError(str(path), "was changed since the backup was made; use another backup")
        return _manifest(members)
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise StorageError(str(path), "is damaged: not the manifest of a backup; use another backup") from error


def checksum(members: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the members of a file in JSON, in hexadecimal."""
    return sha256(orjson.dumps(members, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _manifest(members: Mapping[str, Any]) -> Manifest:
    """Return the manifest with these members; any error means that ``write_manifest`` did not write them."""
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
