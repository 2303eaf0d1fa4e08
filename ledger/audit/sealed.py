"""Journal and people as they stood at one moment, read through a snapshot that is held open and was verified.

What is derived or answered from these is derived from the very bytes that were proven, whatever others write meanwhile.
"""

from __future__ import annotations

from ledger.audit.reader import Snapshot
from ledger.facts.words import TreeHead
from ledger.journal.merkle import Frontier
from ledger.journal.sqlite_store import SqliteJournal
from ledger.players.people import People


class SealedJournal(SqliteJournal):
    """A journal that ends at its proven head; it takes no entries, and who holds the snapshot closes it."""

    def __init__(self, file: Snapshot, head: TreeHead) -> None:
        """Take a snapshot and the head that was recomputed from it."""
        self.path = file.path
        self._connection = file.connection
        self._frontier = Frontier()
        self._recorded_at = None
        self._last_leaf = None
        self._log_pages = 0
        self._head = head

    def head(self) -> TreeHead:
        """The proven head."""
        return self._head

    def close(self) -> None:
        """Nothing to release."""


class SealedPeople(People):
    """The people file in a snapshot; who holds the snapshot closes it."""

    def __init__(self, file: Snapshot) -> None:
        """Take a snapshot."""
        self.path = file.path
        self._connection = file.connection
        self._older = None
        self._take_parts()

    def close(self) -> None:
        """Nothing to release."""
