"""The disk space that an import, a build of the views and an audit need, estimated before they begin.

Measured on file systems of their own, with 200,000 and 1,200,000 games whose keys are in random order, a new player for
every 20, and the built-in read models: the journal took 419 and 421 bytes a game, the views 502 and 504. The estimates
come out up to a tenth below the measured peaks and have no margin: what fits is not refused. Work that needs more than
was estimated, or whose disk fills meanwhile, ends as on any full disk: what was there before stays.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import attrs

from ledger.errors import LedgerError, StorageError
from ledger.journal import Journal
from ledger.players.verified_names import registration_keys
from ledger.ratings import views_file
from ledger.runtime import sqlite

JOURNAL_BYTES = 415  # a game in the journal, with its keys, its hashes and its share of new players
VIEWS_BYTES = 500  # a game in the views
TEXTS_PART = 0.125  # of an unpacked file with moves: games of Lichess with moves alone, 2,100 bytes, took 355
LOG_BYTES = 64 << 20  # the log of a journal that takes many entries
FOLDED_BYTES = 2_000  # a game that is folded into present views, in their log: pages all over the file
_GB, _MB = 1e9, 1e6


@attrs.frozen
class SpaceNeed:
    """The bytes that a work adds to a file or folder before it is done, and what to do if its disk has fewer."""

    path: Path
    size: float
    remedy: str = "free some space there"

    @property
    def folder(self) -> Path:
        """The folder, or that of the file, which need not exist."""
        return self.path if self.path.is_dir() else self.path.parent


class Disk(NamedTuple):
    """The bytes of a disk: all, and those that are free for this user."""

    total: int
    free: int


def disk_of(folder: Path) -> Disk:
    """Return the disk on which a folder is.

    Raises:
        OSError: there is no such folder.
    """
    usage = shutil.disk_usage(folder)
    return Disk(usage.total, usage.free)


def require_space(work: str, needs: Iterable[SpaceNeed]) -> None:
    """Refuse a work before it begins if a disk lacks the space; needs on one disk add up.

    Raises:
        StorageError: naming what is needed and what is free.
    """
    disks: dict[int, list[SpaceNeed]] = {}
    for need in needs:
        with suppress(OSError):  # the work itself reports a folder that cannot be used
            disks.setdefault(need.folder.stat().st_dev, []).append(need)
    for on_disk in disks.values():
        size, first = sum(need.size for need in on_disk), on_disk[0]
        if size > (free := disk_of(first.folder).free):
            raise StorageError(
                str(first.path),
                f"{work} needs about {_written(size)} on this disk, and {_written(free)} are free; it was not begun: "
                f"{first.remedy}",
            )


def _written(size: float) -> str:
    return f"{size / _GB:,.1f} GB" if size >= _GB else f"{size / _MB:,.1f} MB"


def views_bytes(journal: Journal, entries: int, present: sqlite.FileConnection | None) -> float:
    """Return the size of views of the first *entries*, in proportion to *present* ones that have most of them.

    Without such views every entry but two for each player, a registration and a rating, counts as a game.
    """
    if present is not None:
        with suppress(LedgerError):  # damaged, or of an earlier layout
            if (done := views_file.position(present)) > entries / 2:
                size = present.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
                return float(size.fetchone()[0]) * entries / done
    return float(VIEWS_BYTES * max(0, entries - 2 * len(registration_keys(journal))))


def build_bytes(size: float, views: Path) -> float:
    """Return what a build of views of a *size* takes next to the present ones until it has replaced them.

    It is copied into their log, and from there into their file; without present views it is moved.
    """
    return 2 * size + max(0.0, size - views.stat().st_size) if views.exists() else size


def fold_bytes(entries: int, views: Path) -> float:
    """Return what folding entries into present views takes: their rows, and the log of one transaction."""
    rows = VIEWS_BYTES * entries
    return rows + min(FOLDED_BYTES * entries, rows + views.stat().st_size)
