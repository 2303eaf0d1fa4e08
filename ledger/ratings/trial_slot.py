"""The dry run that a process may have on its views, by a connection of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ledger.errors import StorageError
from ledger.ratings.views_connection import ViewsConnection


class TrialSlot:
    """The place of one dry run at a time, and the second connection to the views, which is kept for the next one."""

    def __init__(self) -> None:
        self._file: ViewsConnection | None = None
        self._is_busy = False

    def file(self, path: Path) -> ViewsConnection:
        """Return the second connection; it is opened again if another file was put in the place of the views."""
        if self._file is None or self._file.path != path:
            self._file = ViewsConnection(path)
        self._file.is_there()
        return self._file

    def refuse_within(self, path: Path) -> None:
        """Raise StorageError during a dry run."""
        if self._is_busy:
            message = "something is tried on the views until the block of 'as_if' ends: bring them level after it"
            raise StorageError(str(path), message)

    @contextmanager
    def taken(self, path: Path) -> Iterator[None]:
        """Reserve the place for a dry run in the block, in which nothing can be folded in.

        Raises:
            StorageError: another one is under way.
        """
        self.refuse_within(path)
        self._is_busy = True
        try:
            yield
        finally:
            self._is_busy = False

    def close(self) -> None:
        """Close the connection, unless a dry run is under way, which would lose what it has written."""
        if self._file is not None and not self._is_busy:
            self._file.close()
