"""The trial that a process may run on its views, by a connection of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ledger.errors import StorageError

if TYPE_CHECKING:
    from ledger.ratings.views import Views


class TrialSlot:
    """The place of one trial at a time.

    Attributes:
        views: the same views by the trial's connection, which is kept for the next trial; None before the first one.
    """

    def __init__(self) -> None:
        self.views: Views | None = None
        self._is_busy = False

    def refuse_within(self, path: Path) -> None:
        """Raise StorageError while a trial is under way."""
        if self._is_busy:
            message = "something is tried on the views until the block of 'as_if' ends: bring them level after it"
            raise StorageError(str(path), message)

    @contextmanager
    def taken(self, path: Path) -> Iterator[None]:
        """Run a trial within the block, in which nothing can be folded in: it would wait for the trial to end.

        Raises:
            StorageError: a trial is under way.
        """
        self.refuse_within(path)
        self._is_busy = True
        try:
            yield
        finally:
            self._is_busy = False

    def close(self) -> None:
        """Close the connection, unless a trial is under way, which would lose what it has tried."""
        if self.views is not None and not self._is_busy:
            self.views.close()
