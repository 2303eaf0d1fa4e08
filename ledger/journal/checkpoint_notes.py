"""Reading and writing the file of checkpoints: one signed note after another, the newest last, divided by empty lines.

A checkpoint is origin, size and root of the tree, signed: C2SP tlog-checkpoint (https://c2sp.org/tlog-checkpoint,
"Note text") within C2SP signed-note, as both were in 2026. The last one is read without verifying its signature:
an attacker who can change the file can remove its last checkpoint as well.

While a checkpoint is added, a sidecar file (``club.checkpoints.adding``) says how long the file was before: if it still
exists, everything behind that length was being written when the machine failed, and counts for nothing.
"""

from __future__ import annotations

import base64
import os
import re
from io import FileIO
from pathlib import Path

import attrs

from ledger.errors import StorageError
from ledger.facts.words import TreeHead
from ledger.runtime import sqlite
from ledger.runtime.ledger_files import replace_file

TAIL_BYTES = 65_536  # read to find the last checkpoint, which other people's signatures may make long
_NOTE = re.compile(
    r"(?:\A|\n)(?P<note>(?P<origin>[^\n]+)\n(?P<size>0|[1-9][0-9]{0,17})\n(?P<root>[A-Za-z0-9+/]{43}=)\n"
    r"\n(?:— [^\s]+ [A-Za-z0-9+/]+={0,2}\n)+)\Z"
)


@attrs.frozen
class Checkpoint:
    """A signed tree head: the log's name, size and root, and the complete signed note."""

    origin: str
    head: TreeHead
    note: str


def note_text(origin: str, head: TreeHead) -> str:
    """Return the text of a checkpoint that is signed: origin, size and root on three lines."""
    return f"{origin}\n{head.size}\n{base64.b64encode(head.root).decode()}\n"


def last_checkpoint(path: Path) -> Checkpoint | None:
    """Return the newest checkpoint of a file; None if there is no file.

    Raises:
        StorageError: it cannot be read, or does not end in a complete checkpoint.
    """
    # A link whose target is away, as on a medium that is not mounted, is no missing file: opening it says so.
    if not os.path.lexists(path):
        return None
    try:
        with path.open("rb") as file:
            end = _whole_until(path, file.seek(0, os.SEEK_END))
            begin = file.seek(max(0, end - TAIL_BYTES))
            tail = file.read(end - begin)
    except OSError as error:
        raise StorageError(str(path), f"the checkpoints cannot be read: {error.strerror or error}") from error
    match = _NOTE.search(tail.decode("utf-8", "replace"))  # at its beginning a character may be cut
    if match is None or "\ufffd" in match["note"]:
        raise StorageError(
            str(path),
            "does not end in a whole checkpoint (three lines, an empty one, signatures): it was cut off or changed; "
            "bring it back from a copy or, where the machine failed while it was written, take the last lines away, "
            "down to the checkpoint before",
        )
    # 32 bytes leave two bits of the last character unused: another character there would be the same root.
    root = base64.b64decode(match["root"])
    if base64.b64encode(root).decode() != match["root"]:
        raise StorageError(str(path), f"its last root, {match['root']}, is not as base64 is written: it was changed")
    return Checkpoint(match["origin"], TreeHead(int(match["size"]), root), match["note"])


def add_checkpoint(path: Path, checkpoint: Checkpoint, *, is_first: bool) -> None:
    """Append a checkpoint to a file, durably: after a power cut the file has all of it or nothing of it.

    The file is not read, however long it has become. No other process may add meanwhile. The first checkpoint makes
    the file.

    Raises:
        StorageError: the file cannot be written.
    """
    try:
        if is_first:
            replace_file(path, checkpoint.note.encode())
            return
        with path.open("r+b", buffering=0) as file:  # a buffer would write again what failed, when it is closed
            end = _whole_until(path, file.seek(0, os.SEEK_END))
            _cut_off(file, end)
            # Before the first byte behind it, for otherwise an incomplete checkpoint could pass for a complete one.
            replace_file(_adding(path), f"{end}\n".encode())
            try:
                rest = memoryview(b"\n" + checkpoint.note.encode())
                while rest:
                    rest = rest[file.write(rest) :]
                # On the disk before the sidecar goes: after a power cut half a checkpoint would count as complete.
                os.fsync(file.fileno())
            except OSError:
                _cut_off(file, end)  # if that fails too, the bytes behind count for nothing: the sidecar stays
                _adding(path).unlink()
                raise
            _adding(path).unlink()
        # Else a power cut restores the sidecar, and with it the acknowledged checkpoint counts for nothing.
        sqlite.sync_folder(_adding(path).parent)
    except OSError as error:
        raise StorageError(str(path), f"takes no checkpoint: {error.strerror or error}") from error


def _cut_off(file: FileIO, end: int) -> None:
    """Cut off the bytes behind a place, durably, and go there."""
    if file.seek(0, os.SEEK_END) > end:
        file.truncate(end)
        os.fsync(file.fileno())
    file.seek(end)


def _adding(path: Path) -> Path:
    # Next to the file itself, through whichever link it is opened: every later reader must find it.
    target = path.resolve()
    return target.with_name(f"{target.name}.adding")


def _whole_until(path: Path, size: int) -> int:
    """Return how many bytes of a file of a given size hold complete checkpoints."""
    try:
        word = _adding(path).read_bytes()
    except FileNotFoundError:
        return size
    if not re.fullmatch(rb"[0-9]{1,15}\n", word) or int(word) > size:
        raise StorageError(
            str(_adding(path)),
            f"should say how long {path.name} was before its last checkpoint, and does not: it was changed, or is of "
            "another file; take it away if the last checkpoint is whole",
        )
    return int(word)
