"""Past views: the views of a journal with fewer entries, built in a file of their own, stored for the next question.

They follow from the entries up to that one alone. Everything that is built here can be deleted at any time.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from ledger.errors import LedgerError
from ledger.journal import Journal
from ledger.journal.scratch import ScratchJournal
from ledger.ratings.fact_projector import ReadModel
from ledger.ratings.views import Views
from ledger.ratings.whole_builds import WholeBuilds
from ledger.runtime import sqlite
from ledger.runtime.lazy import filelock
from ledger.runtime.ledger_files import sidecar
from ledger.runtime.long_work import Progress, no_progress

_WORD = "known-"  # the file of what was known at entry 917: club.known-917.db


@contextmanager
def known_at(
    path: Path,
    projectors: Sequence[ReadModel],
    journal: Journal,
    position: int,
    progress: Progress = no_progress,
    *,
    keep: bool = True,
) -> Iterator[Views]:
    """Open the views of an earlier entry, for the length of the block.

    They are stored next to the journal, those of one entry at a time, if its folder can be written.

    Args:
        path: the journal's file.
        projectors: the read models, apart from the history.
        journal: the journal, with at least so many entries.
        position: how many entries were known.
        progress: receives the progress.
        keep: whether they may be stored, and stored ones used; otherwise they are built in a temporary folder.
    """
    kept = _KnownViews(sidecar(path, f"{_WORD}{position}"), projectors, ScratchJournal(journal, position))
    if keep and kept.can_be_written():
        with closing(kept):
            kept.make(progress)
            # the files that earlier questions left
            stem, _, rest = kept.path.name.rpartition(_WORD)
            for other in list(kept.path.parent.glob(f"{glob.escape(stem)}{_WORD}*{Path(rest).suffix}")):
                if other != kept.path:
                    _KnownViews(other, (), journal).delete()
            yield kept
        return
    with _temporary(projectors, journal, position) as views:
        views.catch_up(progress)
        yield views


class _KnownViews(Views):
    """Views of one entry, which never change once they are built, so that readers can read on."""

    def make(self, progress: Progress) -> None:
        """Build them unless they exist, and open them before another process can delete them."""
        builds = WholeBuilds(self.path)
        with builds.alone():
            try:
                is_built = self.is_level()
            except LedgerError:  # of another journal, or damaged
                is_built = False
            if not is_built:
                self.close()
                builds.discard()
                self._build(builds, progress, self.journal.size())
            # They are opened under the lock: a question about another entry deletes them next, and a process that has
            # them open reads on.
            assert self.connection

    def delete(self) -> None:
        """Delete them, unless another process builds them; one that has them open keeps them until the end."""
        with suppress(OSError, filelock.Timeout), WholeBuilds(self.path).lock.acquire(timeout=0):
            for word in ("", "-wal", "-shm", ".lock"):
                self.path.with_name(self.path.name + word).unlink(missing_ok=True)


@contextmanager
def _temporary(projectors: Sequence[ReadModel], journal: Journal, position: int) -> Iterator[Views]:
    with TemporaryDirectory(prefix="ledger-known-") as folder:
        views = Views(Path(folder) / "views.db", projectors, ScratchJournal(journal, position))
        with closing(views):
            yield views


@contextmanager
def stepping(journal: Journal, begun: Views | None = None) -> Iterator[Steps]:
    """Open views that go from entry to entry, for the length of the block, in a temporary folder.

    Args:
        journal: the journal.
        begun: level views of an entry, to go on from a copy of them; by default from the beginning.
    """
    with _temporary(() if begun is None else begun.at_hand.making, journal, 0) as views:
        if begun is not None:
            with (
                closing(sqlite.connect(begun.path, read_only=True)) as source,
                closing(sqlite.connect(views.path)) as target,
            ):
                source.copy_to(target)
                target.execute("PRAGMA journal_mode=WAL")
        yield Steps(views)


class Steps:
    """Views that go forward through a journal."""

    def __init__(self, views: Views) -> None:
        """Take views of a ``ScratchJournal``; their game book keeps it, too, so that it goes on."""
        assert isinstance(views.journal, ScratchJournal)
        self.views = views
        self._until = views.journal

    def go_to(self, position: int, progress: Progress = no_progress) -> Views:
        """Return the views of an entry, which must not lie before the last one asked for."""
        self._until.set_recorded(position)
        self.views.catch_up(progress)
        return self.views
