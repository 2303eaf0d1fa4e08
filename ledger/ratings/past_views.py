"""Past views: the views of a journal with fewer entries, built in a file of their own and stored for the next question.

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
from ledger.ratings.build_files import BuildFiles
from ledger.ratings.fact_projector import ReadModel
from ledger.ratings.views import Views
from ledger.runtime.lazy import filelock
from ledger.runtime.ledger_files import sidecar
from ledger.runtime.long_work import Progress, no_progress

_WORD = "known-"  # the file of what was known at entry 917: club.known-917.db


@contextmanager
def open_views_known_at(
    path: Path,
    projectors: Sequence[ReadModel],
    journal: Journal,
    position: int,
    progress: Progress = no_progress,
    *,
    keep: bool = True,
) -> Iterator[Views]:
    """Open the views of an earlier entry, for the length of the block.

    They are stored next to the journal's file *path*, those of one entry at a time, if its folder can be written;
    without *keep* they are built in a temporary folder.
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
        builds = BuildFiles(self.path)
        with builds.exclusive():
            try:
                is_built = self.is_up_to_date()
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
        with suppress(OSError, filelock.Timeout), BuildFiles(self.path).lock.acquire(timeout=0):
            for word in ("", "-wal", "-shm", ".lock"):
                self.path.with_name(self.path.name + word).unlink(missing_ok=True)


@contextmanager
def _temporary(projectors: Sequence[ReadModel], journal: Journal, position: int) -> Iterator[Views]:
    with TemporaryDirectory(prefix="ledger-known-") as folder:
        views = Views(Path(folder) / "views.db", projectors, ScratchJournal(journal, position))
        with closing(views):
            yield views


@contextmanager
def open_advancing_views(journal: Journal, begun: Views | None = None) -> Iterator[AdvancingViews]:
    """Open views in a temporary folder that go from entry to entry, for the length of the block.

    *begun* are up-to-date views of an entry, to go on from a copy of them; by default they begin with no entry.
    """
    with _temporary(() if begun is None else begun.installed.offered, journal, 0) as views:
        if begun is not None:
            begun.copy_to(views.path)
        yield AdvancingViews(views)


class AdvancingViews:
    """Views that go forward through a journal, from entry to entry."""

    def __init__(self, views: Views) -> None:
        """Take views of a ``ScratchJournal``; their game book keeps it, too, so that it goes on."""
        assert isinstance(views.journal, ScratchJournal)
        self.views = views
        self._until = views.journal

    def advance_to(self, position: int, progress: Progress = no_progress) -> Views:
        """Return the views of an entry, which must not lie before the last one asked for."""
        self._until.set_recorded(position)
        self.views.catch_up(progress)
        return self.views
