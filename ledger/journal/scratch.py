"""A journal that ends at an earlier entry, with further entries after it that nobody has recorded, or none. Read only.

What was known then, and what would be: one class, for whatever is derived or answered reads a journal in one way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from heapq import merge
from itertools import islice

from ledger.errors import StorageError
from ledger.facts.codec import Entry, body_of
from ledger.facts.words import TreeHead
from ledger.journal import Journal, Stored, Writer
from ledger.journal.merkle import leaf_hash

BLOCK = 500  # keys that are looked up at one time


class ScratchJournal:
    """The first entries of a journal, which stays open for whoever opened it, and further ones after them."""

    def __init__(self, journal: Journal, known: int, further: Sequence[Entry] = ()) -> None:
        """Take the journal and what is to be seen of it.

        Args:
            journal: what is recorded.
            known: how many of its entries are known.
            further: those that follow them, from position *known* + 1 on.
        """
        self._journal = journal
        self._known = known
        self._bodies = [body_of(entry.position, entry.recorded_at, entry.actor, entry.event) for entry in further]
        self._further: Mapping[str, Stored] = {
            entry.event.key: Stored(entry.position, body, leaf_hash(body))
            for entry, body in zip(further, self._bodies, strict=True)
        }

    def go_on(self, known: int) -> None:
        """Know so many entries from now on, for all who read through this object; nothing may follow them."""
        self._known = known

    def writing(self) -> AbstractContextManager[Writer]:
        """Refuse.

        Raises:
            StorageError: always.
        """
        when = "while something is tried out" if self._bodies else f"as it stood at entry {self._known}"
        raise StorageError("the journal", f"takes no entries {when}")

    def size(self) -> int:
        """Number of entries, the further ones included."""
        return self._known + len(self._bodies)

    def head(self) -> TreeHead:
        """Size and Merkle root of what is known of the journal: nothing else has any."""
        return TreeHead(self._known, self.root_at(self._known))

    def root_at(self, size: int) -> bytes:
        """Merkle root of the first *size* of the known entries, 32 bytes.

        Raises:
            ValueError: there are fewer.
        """
        if size > self._known:
            raise ValueError(f"{size} entries of {self._known}")
        return self._journal.root_at(size)

    def subtree_root(self, first: int, last: int) -> bytes:
        """Merkle root over the known entries with first < position <= last, a subtree of the tree; 32 bytes.

        Raises:
            ValueError: the tree has no such subtree.
        """
        if last > self._known:
            raise ValueError(f"entry {last} of {self._known}")
        return self._journal.subtree_root(first, last)

    def read(self, after: int = 0, until: int | None = None) -> Iterator[list[bytes]]:
        """Bodies of the entries with position > *after* (and <= *until*), in order, in blocks."""
        last = self.size() if until is None else min(until, self.size())
        if after < self._known:
            yield from self._journal.read(after, min(last, self._known))
        if last > self._known:
            yield self._bodies[max(after - self._known, 0) : last - self._known]

    def find(self, keys: Sequence[str]) -> dict[str, Stored]:
        """The entries that bear these keys."""
        found = {key: stored for key, stored in self._journal.find(keys).items() if stored.position <= self._known}
        return found | {key: self._further[key] for key in keys if key in self._further and key not in found}

    def keys(self, first: str, last: str) -> Iterator[str]:
        """The keys from *first* on and before *last*, in order of their bytes."""
        further = {key for key in self._further if first.encode() <= key.encode() < last.encode()}
        recorded = self._keys(first, last)
        return merge(recorded, sorted(further, key=str.encode), key=str.encode) if further else recorded

    def _keys(self, first: str, last: str) -> Iterator[str]:
        keys = self._journal.keys(first, last)
        while block := list(islice(keys, BLOCK)):
            known = {key for key, stored in self._journal.find(block).items() if stored.position <= self._known}
            yield from (key for key in block if key in known)

    def text(self, sha256: bytes) -> bytes | None:
        """What is kept under that hash; texts know no time."""
        return self._journal.text(sha256)

    def close(self) -> None:
        """Nothing to release."""
