"""A journal as it stood when it had so many entries: what was known then. It is read only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import islice

from ledger.errors import StorageError
from ledger.facts.words import TreeHead
from ledger.journal import Journal, Stored, Writer

BLOCK = 500  # keys that are looked up at one time


class JournalUntil:
    """The first entries of a journal, which stays open for whoever opened it."""

    def __init__(self, journal: Journal, until: int) -> None:
        """Take the journal and how many of its entries are known."""
        self._journal = journal
        self._until = until

    def go_on(self, until: int) -> None:
        """Know so many entries from now on, for all who read through this object."""
        self._until = until

    def writing(self) -> AbstractContextManager[Writer]:
        """Refuse.

        Raises:
            StorageError: always.
        """
        raise StorageError("the journal", f"as it stood at entry {self._until}, takes no entries")

    def size(self) -> int:
        """The entries that are known."""
        return self._until

    def head(self) -> TreeHead:
        """Size and Merkle root of these."""
        return TreeHead(self._until, self.root_at(self._until))

    def root_at(self, size: int) -> bytes:
        """Merkle root of the first *size* of them, 32 bytes.

        Raises:
            ValueError: there are fewer.
        """
        if size > self._until:
            raise ValueError(f"{size} entries of {self._until}")
        return self._journal.root_at(size)

    def subtree_root(self, first: int, last: int) -> bytes:
        """Merkle root over these entries with first < position <= last, a subtree of the tree; 32 bytes.

        Raises:
            ValueError: the tree has no such subtree.
        """
        if last > self._until:
            raise ValueError(f"entry {last} of {self._until}")
        return self._journal.subtree_root(first, last)

    def read(self, after: int = 0, until: int | None = None) -> Iterator[list[bytes]]:
        """Bodies of the entries with position > *after* (and <= *until*), in order, in blocks."""
        return self._journal.read(after, self._until if until is None else min(until, self._until))

    def find(self, keys: Sequence[str]) -> dict[str, Stored]:
        """The entries that bear these keys."""
        found = self._journal.find(keys)
        return {key: stored for key, stored in found.items() if stored.position <= self._until}

    def keys(self, first: str, last: str) -> Iterator[str]:
        """The keys from *first* on and before *last*, in order of their bytes."""
        keys = self._journal.keys(first, last)
        while block := list(islice(keys, BLOCK)):
            known = self.find(block)
            yield from (key for key in block if key in known)

    def text(self, sha256: bytes) -> bytes | None:
        """What is kept under that hash; texts know no time."""
        return self._journal.text(sha256)

    def close(self) -> None:
        """Nothing to release."""
