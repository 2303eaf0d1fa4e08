"""The disk space of an import, estimated from its files and refused before the first game if it is missing."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from ledger.journal import Journal
from ledger.journal.sqlite_store import SqliteJournal
from ledger.ratings import disk_space
from ledger.ratings.views import Views
from ledger.runtime.lazy import Lazy

if TYPE_CHECKING:
    from ledger.imports import game_counts
else:
    game_counts = Lazy("ledger.imports.game_counts")  # the readers of files take 0.15 s to load

# A stored byte of the smallest files: a row of 17 bytes takes 2,000, and a packed file has 30 times its size.
_MOST_OF_A_BYTE = 4_000
_REMEDY = "free some space there, or give --despite-disk if the ledger has most of these games already"


def require_import_space(
    journal: Journal,
    views: Views,
    paths: Iterable[str | Path],
    *,
    fmt: str | None = None,
    encoding: str | None = None,
    strict: bool = False,
    without_moves: bool = False,
) -> None:
    """Refuse to import files, before anything is recorded, if their games find no space on the disk.

    The number of games is estimated from the beginning of each file; pipes have no size and are left out.

    Args:
        journal: takes the games; on a server it takes no space here.
        views: whose folder has the ledger's files.
        paths: the files.
        fmt: their format; None: detected.
        encoding: of their text; None: UTF-8, or as they say.
        strict: the log takes each file whole, for it is one transaction.
        without_moves: their moves are left out.

    Raises:
        StorageError: naming what is needed and what is free; or a file cannot be read.
    """
    sizes = {str(path): Path(path).stat().st_size for path in paths if Path(path).is_file()}
    if sum(sizes.values()) * _MOST_OF_A_BYTE < disk_space.disk_of(views.path.parent).free:
        return
    counts = [game_counts.estimate_games(path, fmt, encoding) for path in sizes]
    games = round(sum(count.games for count in counts))
    needs = []
    if isinstance(journal, SqliteJournal):
        with_moves = 0.0 if without_moves else sum(count.bytes_with_moves for count in counts)
        recorded = disk_space.JOURNAL_BYTES * games + disk_space.TEXTS_PART * with_moves
        log = recorded if strict else min(recorded, disk_space.LOG_BYTES)
        needs.append(disk_space.SpaceNeed(Path(journal.path), recorded + log, _REMEDY))
    needs.append(attrs.evolve(views.space_for(games), remedy=_REMEDY))
    disk_space.require_space(f"the import of about {games:,} games", needs)
