"""A disk whose power is cut: what may be found on it of what was written. No ledger is known here.

The model. *Names* (files made, renamed, removed) are kept by a journal of the file system, as ext4, XFS, Btrfs, APFS
and NTFS do: a power cut leaves those of them that were on the disk and a beginning of the further ones, in order, and
flushing a folder puts all of them on the disk. Flushing a file puts its bytes and its length on the disk and no name;
real file systems promise more.

*Bytes* that were not flushed are kept or lost in sectors of 512 bytes, in any order and over all files: each sector
is found as it was before, or after any number of the writes to it, the earliest first. So a write may be torn at every
border of a sector, and a later write be found where an earlier one is lost. A file that grew may be found as long as
it was or as long as it became; what is lost in the part that grew are zeros, or noise, which stands for what the disk
held before. A file that was cut may be found uncut; then nothing is found that was written behind the cut later.

Memory is lost: files mapped as shared memory are not there any more.
"""

import shutil
from collections.abc import Callable, Iterable
from enum import Enum
from pathlib import Path
from random import Random

import attrs

from tests.attacks.recording import CommandRecording, Record, RecordedAction, RecordingError

SECTOR = 512

Keeps = Callable[[int, int], bool]  # asked with the turn of a write and the number of the sector in it


@attrs.define(eq=False)
class _File:
    """Bytes that are on the disk for sure, and what was done since."""

    safe: bytes
    since: list[tuple[int, Record]] = attrs.Factory(list)  # each with its turn

    def flush(self) -> None:
        self.safe = self.found(lambda *_: True, len(self.since), lambda size: b"\x00" * size)
        self.since = []

    def found(self, keeps: Keeps, cuts: int, filler: Callable[[int], bytes]) -> bytes:
        """Return the bytes after a power cut: kept are these sectors of writes, and so many cuts from the first on.

        *filler* makes bytes for what is lost in the part by which the file grew.
        """
        content, end = bytearray(self.safe), 1 << 62
        lost: set[int] = set()  # sectors that are as they were before a write that was lost
        for turn, done in self.since:
            if done.kind == RecordedAction.CUT:
                cuts -= 1
                if cuts < 0:
                    end = min(end, done.place)
                    continue
                del content[done.place :]
                content += b"\x00" * (done.place - len(content))
                lost = {sector for sector in lost if sector * SECTOR < done.place}
                continue
            for number, (start, piece) in enumerate(_pieces(done)):
                sector = start // SECTOR
                if start >= end or sector in lost or not keeps(turn, number):
                    lost.add(sector)
                    continue
                if start > len(content):
                    content += filler(start - len(content))
                content[start : start + len(piece)] = piece
        return bytes(content)

    @property
    def cuts(self) -> int:
        return sum(done.kind == RecordedAction.CUT for _, done in self.since)

    @property
    def longest(self) -> int:
        return max([0, *(done.place + len(done.data) for _, done in self.since if done.kind == RecordedAction.WRITTEN)])


def _pieces(done: Record) -> Iterable[tuple[int, bytes]]:
    """Cut a write at the borders of sectors."""
    start, end = done.place, done.place + len(done.data)
    while start < end:
        border = min(end, (start // SECTOR + 1) * SECTOR)
        yield start, done.data[start - done.place : border - done.place]
        start = border


class WriteLoss(Enum):
    """Which of the writes that were not flushed are lost."""

    NOTHING = "nothing is lost, as when the process alone is killed"
    EVERYTHING = "everything that was not flushed is lost"
    SECTORS = "sectors are lost, each by chance"
    WRITES = "whole writes are lost, each by chance"
    FILES = "some files are as they were flushed, others have everything"
    END = "the last writes are lost, and the one before them is torn"
    BEGINNING = "the first writes are lost, the later ones are not"


class Disk:
    """A disk with the files of one folder, to which is done what was recorded."""

    def __init__(self, recording: CommandRecording) -> None:
        """Begin with the files as they were before the recording, all of them safely on the disk."""
        self._files: dict[int, _File] = {}
        self._names: dict[str, _File | None] = {}  # on the disk for sure; None is a folder
        self._renamings: list[Record] = []  # what was done to names since, with the files as they then were
        self._made: dict[int, _File] = {}  # by place in ``_renamings``, the file that was made
        self._turn = 0
        for path, held in recording.before.items():
            self._names[path] = None if held is None else self._files.setdefault(held[0], _File(held[1]))

    def do(self, done: Record) -> None:
        """Do what was recorded next."""
        self._turn += 1
        if done.kind in {RecordedAction.WRITTEN, RecordedAction.CUT}:
            self._files[done.file].since.append((self._turn, done))
        elif done.kind == RecordedAction.FLUSHED:
            self._files[done.file].flush()
        elif done.kind == RecordedAction.FOLDER_FLUSHED:
            self._names, self._renamings, self._made = self._named(len(self._renamings)), [], {}
        elif done.kind != RecordedAction.SAID:
            if done.kind == RecordedAction.CREATED:
                self._files[done.file] = self._made[len(self._renamings)] = _File(b"")
            self._renamings.append(done)

    def _named(self, kept: int) -> dict[str, _File | None]:
        """Return the names when so many of the changes since the last flush are kept."""
        names = dict(self._names)
        for number, done in enumerate(self._renamings[:kept]):
            if done.kind == RecordedAction.CREATED:
                names[done.path] = self._made[number]
            elif done.kind == RecordedAction.FOLDER_MADE:
                names[done.path] = None
            elif done.kind == RecordedAction.REMOVED:
                names.pop(done.path, None)
            else:
                _rename(names, done.path, done.new_path)
        return names

    def after_power_cut(self, loss: WriteLoss, random: Random) -> dict[str, bytes | None]:
        """Return what is found when the power is cut now: path -> bytes, None for a folder; *random* chooses."""
        is_whole, is_bare = loss is WriteLoss.NOTHING, loss is WriteLoss.EVERYTHING
        names = self._named(
            len(self._renamings) if is_whole else 0 if is_bare else random.randint(0, len(self._renamings))
        )
        found: dict[str, bytes | None] = {}
        keeps_of = self._keeping(loss, random)
        for path, file in sorted(names.items()):
            if file is None:
                found[path] = None
                continue
            cuts = file.cuts if is_whole else 0 if is_bare else random.randint(0, file.cuts)
            filler = random.randbytes if random.random() < 0.3 else bytes
            content = file.found(keeps_of(), cuts, filler)
            if file.longest > len(content) and not is_bare and cuts == file.cuts and random.random() < 0.3:
                content += filler(file.longest - len(content))
            found[path] = content
        return found

    def _keeping(self, loss: WriteLoss, random: Random) -> Callable[[], Keeps]:
        """Return what says for each file what is kept of it."""
        likely = random.choice((0.05, 0.3, 0.5, 0.7, 0.95))
        turns = sorted(turn for file in self._files.values() for turn, _ in file.since) or [0]
        border, torn_at = random.choice(turns), random.randint(0, 8)
        by_write: dict[int, bool] = {}

        def writes(turn: int, _: int) -> bool:
            return by_write.setdefault(turn, random.random() < likely)

        def of_file() -> Keeps:
            has_all = random.random() < likely
            return lambda *_: has_all

        ways: dict[WriteLoss, Callable[[], Keeps]] = {
            WriteLoss.NOTHING: lambda: lambda *_: True,
            WriteLoss.EVERYTHING: lambda: lambda *_: False,
            WriteLoss.SECTORS: lambda: lambda *_: random.random() < likely,
            WriteLoss.WRITES: lambda: writes,
            WriteLoss.FILES: of_file,
            WriteLoss.END: lambda: lambda turn, sector: turn < border or (turn == border and sector < torn_at),
            WriteLoss.BEGINNING: lambda: lambda turn, _: turn >= border,
        }
        return ways[loss]


def _rename(names: dict[str, _File | None], old: str, new: str) -> None:
    if old not in names:
        raise RecordingError(f"{old} came from elsewhere")
    for path in [path for path in names if path == new or path.startswith(f"{new}/")]:
        del names[path]
    for path in [path for path in names if path == old or path.startswith(f"{old}/")]:
        names[new + path[len(old) :]] = names.pop(path)


def put_down(found: dict[str, bytes | None], folder: Path) -> None:
    """Write what was found into a new *folder*, for nobody else to read: there may be a key among it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path, content in found.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            target.mkdir(exist_ok=True)
        else:
            target.touch(0o600)
            target.write_bytes(content)
