"""A journal in memory: the second implementation of the protocol, for tests and for trying things out.

It keeps the contract in the plainest way there is; nothing outlives the object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock

import orjson

from ledger.facts.words import TreeHead
from ledger.journal import KeyTakenError, Stored
from ledger.journal.merkle import EMPTY_ROOT, TILE_HEIGHT, check_hashes, check_subtree, leaf_hash, node_hash

BLOCK = 100  # bodies a read hands out at once; small, so that whoever reads meets several blocks


class MemoryJournal:
    """Entries in a list. Threads may share it: one writes at a time, readers see what is committed."""

    def __init__(self) -> None:
        self._entries: list[Stored] = []
        self._by_key: dict[str, Stored] = {}
        self._texts: dict[bytes, bytes] = {}
        self._lock = Lock()

    @contextmanager
    def writing(self) -> Iterator[MemoryWriter]:
        """Begin a write transaction, committed when the block ends without an error."""
        with self._lock:
            writer = MemoryWriter(self._entries, self._by_key)
            yield writer
            self._by_key = {**self._by_key, **writer.by_key}
            self._texts = {**writer.texts, **self._texts}
            self._entries = self._entries + writer.entries

    def size(self) -> int:
        """Number of committed entries."""
        return len(self._entries)

    def head(self) -> TreeHead:
        """Size and Merkle root of the committed entries."""
        entries = self._entries
        return TreeHead(len(entries), _root([entry.leaf for entry in entries]))

    def root_at(self, size: int) -> bytes:
        """Merkle root of the first *size* entries; ValueError where there are fewer."""
        if not 0 <= size <= len(self._entries):
            raise ValueError(f"{size} entries of {len(self._entries)}")
        return _root([entry.leaf for entry in self._entries[:size]])

    def subtree_root(self, first: int, last: int) -> bytes:
        """Merkle root over the entries with first < position <= last; ValueError where that is no subtree."""
        check_subtree(first, last, len(self._entries))
        return _root([entry.leaf for entry in self._entries[first:last]])

    def hashes(self, level: int, first: int, last: int) -> list[bytes]:
        """Hashes of a level of tiles; ValueError where it has not so many."""
        check_hashes(level, first, last, len(self._entries))
        width = 1 << (level * TILE_HEIGHT)
        leaves = [entry.leaf for entry in self._entries]
        return [_root(leaves[number * width : (number + 1) * width]) for number in range(first, last)]

    def read(self, after: int = 0, until: int | None = None) -> Iterator[list[bytes]]:
        """Bodies of the entries with position > *after* (and <= *until*), in order, in blocks of 100."""
        entries = self._entries[max(after, 0) : until]
        for start in range(0, len(entries), BLOCK):
            yield [entry.body for entry in entries[start : start + BLOCK]]

    def find(self, keys: Sequence[str]) -> dict[str, Stored]:
        """The committed entries that bear these keys."""
        by_key = self._by_key
        return {key: by_key[key] for key in keys if key in by_key}

    def keys(self, first: str, last: str) -> Iterator[str]:
        """The committed keys from *first* on and before *last*, in order of their UTF-8 bytes."""
        low, high = first.encode(), last.encode()
        yield from sorted(key for key in self._by_key if low <= key.encode() < high)

    def text(self, sha256: bytes) -> bytes | None:
        """The zstd frame of a movetext, or None."""
        return self._texts.get(sha256)

    def close(self) -> None:
        """Nothing is held that must be released."""


class MemoryWriter:
    """One write transaction on a ``MemoryJournal``."""

    def __init__(self, committed: Sequence[Stored], committed_by_key: dict[str, Stored]) -> None:
        self._committed = committed
        self._committed_by_key = committed_by_key
        self.entries: list[Stored] = []
        self.by_key: dict[str, Stored] = {}
        self.texts: dict[bytes, bytes] = {}

    @property
    def size(self) -> int:
        """Entries so far, those of this transaction included."""
        return len(self._committed) + len(self.entries)

    def last_recorded_at(self) -> str | None:
        """``recorded_at`` of the last entry, or None in an empty journal."""
        if not self.size:
            return None
        last = (self.entries or self._committed)[-1]
        return str(orjson.loads(last.body)["recorded_at"])

    def find(self, keys: Sequence[str]) -> dict[str, Stored]:
        """The entries that bear these keys, those of this transaction included."""
        by_key = {**self._committed_by_key, **self.by_key}
        return {key: by_key[key] for key in keys if key in by_key}

    def append(self, kinds: Iterable[str], keys: Sequence[str], bodies: Sequence[bytes]) -> list[bytes]:
        """Add entries at the next positions; returns their leaf hashes.

        Raises:
            KeyTakenError: one of the keys is known; none of the entries was added.
            ValueError: not as many keys as bodies; none was added.
        """
        if len(keys) != len(bodies):
            raise ValueError(f"{len(keys)} keys for {len(bodies)} bodies")
        if len(set(keys)) < len(keys) or self.find(keys):
            raise KeyTakenError
        leaves = []
        for _, key, body in zip(kinds, keys, bodies, strict=False):
            stored = Stored(self.size + 1, bytes(body), leaf_hash(body))
            self.entries.append(stored)
            self.by_key[key] = stored
            leaves.append(stored.leaf)
        return leaves

    def keep_texts(self, texts: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep (SHA-256, zstd frame) pairs of movetext; one that is there already stays."""
        for sha256, frame in texts:
            self.texts.setdefault(sha256, frame)


def _root(leaves: Sequence[bytes]) -> bytes:
    """The root over leaf hashes, level by level: an odd one out waits for its sibling on a higher level."""
    level = list(leaves)
    while len(level) > 1:
        pairs = [node_hash(left, right) for left, right in zip(level[::2], level[1::2], strict=False)]
        level = pairs + level[2 * len(pairs) :]
    return level[0] if level else EMPTY_ROOT
