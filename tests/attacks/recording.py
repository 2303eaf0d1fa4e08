"""What a command asked of the file system, in order: the command is run with ``recorder.c`` preloaded into it.

Needs Linux and a C compiler. Nothing is judged here, and what a disk makes of it is the business of ``disk``.
"""

import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import NamedTuple

import attrs

from tests.kit.places import ROOT

_SOURCE = Path(__file__).with_name("recorder.c")
_HEAD = struct.Struct("=4I2Q")  # struct head of recorder.c
_COMPILERS = ("cc", "gcc", "clang")
_SECONDS = 120.0  # for one command, with everything that it loads
_LOST = ("-shm", ".lock")  # names of files of which nothing counts after a power cut: shared memory, locks


class RecordedAction(IntEnum):
    """What was done; the numbers of recorder.c."""

    CREATED = 1
    WRITTEN = 2
    CUT = 3
    FLUSHED = 4
    RENAMED = 5
    REMOVED = 6
    SAID = 7
    FOLDER_MADE = 8
    FOLDER_FLUSHED = 9
    UNKNOWN = 10


class Record(NamedTuple):
    """One thing that was done."""

    kind: RecordedAction
    file: int  # its number on its disk; of what was said 1 for standard output and 2 for standard error
    place: int  # where in the file it was written, in bytes, or to how many bytes it was cut
    data: bytes = b""  # written or said
    path: str = ""  # below the recorded folder
    new_path: str = ""  # that it was given


@attrs.frozen
class CommandRecording:
    """A command that was run on a folder."""

    before: dict[str, tuple[int, bytes] | None]  # path below the folder -> number of the file and bytes; None: a folder
    records: tuple[Record, ...]
    code: int
    said: str


_OF_FILES = {RecordedAction.CREATED, RecordedAction.WRITTEN, RecordedAction.CUT, RecordedAction.FLUSHED}


class RecordingError(Exception):
    """A command cannot be recorded here, or did what the recorder does not know."""


def obstacle() -> str:
    """Return why nothing can be recorded on this machine; empty where it can."""
    if not sys.platform.startswith("linux"):
        return "recording what a command writes needs Linux"
    if _compiler() is None:
        return "recording what a command writes needs a C compiler: none of cc, gcc, clang is here"
    return ""


@cache
def _compiler() -> str | None:
    return next((found for name in _COMPILERS if (found := shutil.which(name))), None)


def compiled(folder: Path) -> Path:
    """Return the recorder as a library that can be preloaded, made in *folder* where it is not there yet."""
    library = folder / "recorder.so"
    compiler = _compiler()
    if not library.exists():
        if compiler is None:
            raise RecordingError(obstacle())
        words = [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(_SOURCE), "-ldl", "-lpthread"]
        made = subprocess.run(words, capture_output=True, text=True, check=False)
        if made.returncode != 0:
            raise RecordingError(f"{_SOURCE.name} does not compile: {made.stderr.strip()[:500]}")
    return library


def record(folder: Path, scratch: Path, module: str, words: Sequence[str], code_at: Path) -> CommandRecording:
    """Run ``python -m module words`` and note what it does to the files in *folder*, which is left as it leaves it.

    The recorder is made in *scratch*. The program is imported from the checkout *code_at*, the tests from this one.

    Raises:
        RecordingError: nothing can be recorded here, or it did what the recorder does not know.
    """
    folder, log = folder.resolve(), scratch / "recorded"
    log.unlink(missing_ok=True)
    before = contents(folder)
    environment = {
        **os.environ,
        "LD_PRELOAD": str(compiled(scratch)),
        "LEDGER_RECORD_FOLDER": str(folder),
        "LEDGER_RECORD_LOG": str(log),
        "PYTHONPATH": f"{code_at}{os.pathsep}{ROOT}",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        [sys.executable, "-m", module, *words], cwd=code_at, env=environment, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False, timeout=_SECONDS,
    )  # fmt: skip
    if not log.exists():
        raise RecordingError(f"the recorder was not loaded: {done.stderr.strip()[:500]}")
    records = tuple(_counting(_read(log.read_bytes(), f"{folder}/"), before))
    return CommandRecording(before, records, done.returncode, done.stdout + done.stderr)


def contents(folder: Path) -> dict[str, tuple[int, bytes] | None]:
    """Return by path below *folder* each file's number and bytes, None for each folder; without what never counts."""
    found: dict[str, tuple[int, bytes] | None] = {}
    for path in sorted(folder.rglob("*")):
        if not path.name.endswith(_LOST):
            name = str(path.relative_to(folder))
            found[name] = None if path.is_dir() else (path.stat().st_ino, path.read_bytes())
    return found


def _read(log: bytes, folder: str) -> Iterator[Record]:
    at = 0
    while at < len(log):
        kind, size, more, _, file, place = _HEAD.unpack_from(log, at)
        at += _HEAD.size
        first, second = log[at : at + size], log[at + size : at + size + more]
        at += size + more
        if kind == RecordedAction.UNKNOWN:
            raise RecordingError(f"the recorder does not know what the command did: {first.decode()}")
        if kind in {RecordedAction.WRITTEN, RecordedAction.SAID}:
            yield Record(RecordedAction(kind), file, place, first)
        else:
            path, new_path = (os.fsdecode(name).removeprefix(folder) for name in (first, second))
            yield Record(RecordedAction(kind), file, place, b"", path, new_path)


def _counting(records: Iterator[Record], before: dict[str, tuple[int, bytes] | None]) -> Iterator[Record]:
    """Leave out what was done to files that are lost in any case."""
    known = {held[0] for held in before.values() if held is not None}
    for found in records:
        if found.kind == RecordedAction.CREATED:
            known.discard(found.file)
            if not found.path.endswith(_LOST):
                known.add(found.file)
        if found.file in known if found.kind in _OF_FILES else not found.path.endswith(_LOST):
            yield found
