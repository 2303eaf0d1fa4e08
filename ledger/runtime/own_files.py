"""Which files an answer may not be written over: those of a ledger. Nothing is written here."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from ledger.errors import StorageError
from ledger.runtime import sqlite
from ledger.runtime.ledger_files import beside, kept_with

_HEADER = 72  # bytes of an SQLite file up to its application id, which is the last four
_SQLITE, _KEY = b"SQLite format 3", b"PRIVATE+KEY+"


def refuse_own_files(path: Path, of: str | Path | None = None) -> None:
    """Raise StorageError where *path* is a file of a ledger, so that no slip writes an answer over it.

    Args:
        path: where somebody wants an answer, a picture or a copy.
        of: the ledger that answers, whose files are known by their names; those of others by how they begin.
    """
    if "\0" in str(path):
        raise StorageError(str(path), "is no name of a file: it holds a NUL character")
    if of is not None:
        own = [Path(of), *(beside(of, word) for word in ("people", "views", "tokens"))]
        own += [kept_with(of, word) for word in ("checkpoints", "key", "toml")]
        if path.resolve() in {file.resolve() for file in own}:
            raise StorageError(str(path), "is a file of this ledger: give another name")
    with suppress(OSError):
        head = _beginning(path)
        if head.startswith(_KEY) or (head.startswith(_SQLITE) and sqlite.is_ours(int.from_bytes(head[-4:], "big"))):
            raise StorageError(str(path), "is a file of a ledger: give another name")


def _beginning(path: Path) -> bytes:
    """The first bytes of a file; none of a device or a pipe, which would wait."""
    if not path.is_file():
        return b""
    with path.open("rb") as file:
        return file.read(_HEADER)
