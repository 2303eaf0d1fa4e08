"""A journal with entries that nobody has recorded: the first so many of its own, then those. It is read only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager

from ledger.errors import StorageError
from ledger.facts.codec import Entry, body_of
from ledger.facts.words import TreeHead
from ledger.journal import Journal, Stored, Writer
from ledger.journal.merkle import leaf_hash


class FurtherEntries:
    """The first entries of a journal, which stays open for whoever opened it, and further ones after them."""

    def __init__(self, journal: Journal, size: int, entries: Sequence[Entry]) -> None:
        """Take the journal, how many of its entries are known, and what follows them.

        Args:
            journal: what is recorded.
            size: how many of its entries are known.
            entries: the further ones, from position *size* + 1 on.
        """
        self._journal = journal
        self._size = size
        self._bodies = [body_of(entry.position, entry.recorded_at, entry.actor, entry.event) for entry in entries]
        self._further: Mapping[str, Stored] = {
            entry.event.key: Stored(entry.position, body, leaf_hash(body))
            for entry, body in zip(entries, self._bodies, strict=True)
        }

    def writing(self) -> AbstractContextManager[Writer]:
        """Refuse.

        Raises:
            StorageError: always.
        """
        raise StorageError("the journal", "takes no entries while something is tried out")

    def size(self) -> int:
        """Number of entries, the further ones included."""
        return self._size + len(self._bodies)

    def head(self) -> TreeHead:
        """Size and Merkle root of what is recorded: nothing else has any."""
        return TreeHead(self._size, self.root_at(self._size))

    def root_at(self, size: int) -> bytes:
        """Merkle root of the first *size* of the recorded entries, 32 bytes.

        Raises:
            ValueError: there are fewer.
        """
        if size > self._size:
            raise ValueError(f"{size} entries of {self._size}")
        return self._journal.root_at(size)

    def subtree_root(self, start: int, end: int) -> bytes:
        """Merkle root of recorded entries, as the journal says it."""
        return self._journal.subtree_root(start, end)

    def read(self, after: int = 0, until: int | None = None) -> Iterator[list[bytes]]:
        """Bodies of the entries with position > *after* (and <= *until*), in order, in blocks."""
        last = self.size() if until is None else min(until, self.size())
        if after < self._size:
            yield from self._journal.read(after, min(last, self._size))
        if last > self._size:
            yield self._bodies[max(after - self._size, 0) : last - self._size]

    def find(self, keys: Sequence[str]) -> dict[str, Stored]:
        """The entries that bear these keys."""
        found = {key: stored for key, stored in self._journal.find(keys).items() if stored.position <= self._size}
        return found | {key: self._further[key] for key in keys if key in self._further and key not in found}

    def keys(self, first: str, last: str) -> Iterator[str]:
        """The keys from *first* on and before *last*, in order of their bytes."""
        known = (key for key in self._journal.keys(first, last) if self.find([key]))
        further = (key for key in self._further if first.encode() <= key.encode() < last.encode())
        yield from sorted({*known, *further}, key=str.encode)

    def text(self, sha256: bytes) -> bytes | None:
        """What is kept under that hash; texts know no time."""
        return self._journal.text(sha256)

    def close(self) -> None:
        """Nothing to release."""
