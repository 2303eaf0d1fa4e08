"""Base classes of the journal's stores: the right edge of the Merkle tree, kept up to date with their tables.

A process knows the journal up to its ``Edge``. Before each use the edge catches up with the tables, and the last entry
that it knew must still be there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager

import attrs

from ledger.errors import CorruptError
from ledger.facts.words import TreeHead
from ledger.journal.merkle import TILE_HEIGHT, Frontier, Node, check_hashes, check_subtree, leaf_hashes

TILE = 1 << TILE_HEIGHT
# The keys of a body are sorted: ``recorded_at`` is the last, 24 characters before a quotation mark and a brace.
ENDING = 26  # bytes at the end of a body: when it was recorded, and what closes it


@attrs.define
class Edge:
    """The right edge of a journal's tree as one process knows it.

    Attributes:
        frontier: the roots of the complete subtrees.
        recorded_at: when the last entry was recorded; None if it must be looked up.
        last_leaf: leaf hash of the last entry.
    """

    frontier: Frontier = attrs.field(factory=Frontier)
    recorded_at: str | None = None
    last_leaf: bytes | None = None

    def copy(self) -> Edge:
        """Return an independent copy for a transaction, which may be rolled back."""
        return Edge(self.frontier.copy(), self.recorded_at, self.last_leaf)


def recorded_at_of(ending: bytes) -> str:
    """Return ``recorded_at`` of an entry from its body or the end of it: each body ends with it, at a fixed length."""
    return ending[-ENDING:-2].decode(errors="replace")


class StoredTree(ABC):
    """A base class for journals whose entries and tree are in SQL tables.

    Attributes:
        path: the place, for messages.
        refusal: why nothing may be written, if the process that opened it found a reason.
        recorded: the number of entries that this object committed.
    """

    path: str
    refusal: str | None = None
    recorded: int = 0
    _edge: Edge

    @abstractmethod
    def size(self) -> int:
        """Return the number of committed entries."""

    @abstractmethod
    def _snapshot(self) -> AbstractContextManager[None]:
        """Answer all questions within the block from one read snapshot."""

    @abstractmethod
    def _last(self) -> tuple[int, bytes | None]:
        """Return position and leaf of the last entry; 0 and None in an empty journal."""

    @abstractmethod
    def _leaves(self, first: int, last: int) -> list[bytes]:
        """Return the existing leaves with first < position <= last."""

    @abstractmethod
    def _nodes(self, level: int, first: int, last: int) -> list[bytes]:
        """Return the existing hashes of a level above the leaves with first <= number < last."""

    def head(self) -> TreeHead:
        """Return size and Merkle root of the committed entries.

        Raises:
            CorruptError: tree nodes are missing.
        """
        with self._snapshot():
            self._catch_up(self._find_last(*self._last()))
        return self._edge.frontier.head()

    def root_at(self, size: int) -> bytes:
        """Return the 32-byte Merkle root of the first *size* entries.

        At most 255 hashes of each level are read.

        Raises:
            ValueError: the journal holds fewer.
            CorruptError: tree nodes are missing.
        """
        if size == self._edge.frontier.size:
            return self._edge.frontier.head().root
        full_size = self.size()
        if not 0 <= size <= full_size:
            raise ValueError(f"{size} entries of {full_size}")
        if size > self._edge.frontier.size:
            self._catch_up(size)
            return self._edge.frontier.head().root
        return self.subtree_root(0, size)

    def subtree_root(self, first: int, last: int) -> bytes:
        """Return the root over the leaves with first <= index < last (``Journal.subtree_root``); few rows are read."""
        check_subtree(first, last, self.size())
        subtree = Frontier()
        subtree.restore(self._edge_hashes(last - first, first), last - first)
        return subtree.head().root

    def hashes(self, level: int, first: int, last: int) -> list[bytes]:
        """Return hashes of a level of tiles (``Journal.hashes``); CorruptError if tree nodes are missing."""
        check_hashes(level, first, last, self.size())
        return self._level_hashes(level, first, last)

    def _edge_hashes(self, size: int, first: int = 0) -> list[list[bytes]]:
        """Return, for each level of tiles, at most 255 hashes after the last full tile of the subtree from *first*."""
        levels: list[list[bytes]] = []
        while level_size := size >> (len(levels) * TILE_HEIGHT):
            level, whole = len(levels), level_size >> TILE_HEIGHT << TILE_HEIGHT
            before = first >> (level * TILE_HEIGHT)
            levels.append(self._level_hashes(level, before + whole, before + level_size))
        return levels

    def _level_hashes(self, level: int, first: int, last: int) -> list[bytes]:
        hashes = self._nodes(level, first, last) if level else self._leaves(first, last)
        if len(hashes) != last - first:
            raise CorruptError(self.path, 0, f"the Merkle tree lacks nodes of level {level}; run 'audit'")
        return hashes

    def _find_last(self, size: int, leaf: bytes | None) -> int:
        """Return *size*, the last position in the tables, whose leaf is *leaf*.

        Raises:
            CorruptError: the last entry that this process knows is gone, or another one is in its place.
        """
        known_size = self._edge.frontier.size
        if size > known_size > 0:
            (leaf,) = self._leaves(known_size - 1, known_size) or (None,)
        if size < known_size or (known_size and leaf != self._edge.last_leaf):
            raise CorruptError(
                self.path,
                known_size,
                "was in the journal while it was open and is gone: the journal was cut or replaced by another copy; "
                "prove it with 'audit --since'",
            )
        return size

    def _catch_up(self, size: int) -> None:
        """Move the right edge to *size* entries if another process appended."""
        edge = self._edge
        known_size = edge.frontier.size
        if size == known_size:
            return
        edge.recorded_at = None
        # A few new entries of another writer are read as leaves; for many, the nodes are fewer rows.
        if 0 < size - known_size <= TILE:
            leaves = self._leaves(known_size, size)
            if len(leaves) == size - known_size:
                edge.frontier.extend(leaves)
                edge.last_leaf = leaves[-1]
                return
        edge.frontier.restore(self._edge_hashes(size), size)
        (edge.last_leaf,) = self._leaves(size - 1, size) or (None,)


class StoredWriter(ABC):
    """An open write transaction on a ``StoredTree``.

    Attributes:
        edge: the edge of the tree, the entries of this transaction included.
        added: the number of entries in this transaction.
    """

    def __init__(self, path: str, edge: Edge) -> None:
        self.path = path
        self.edge = edge
        self.added = 0

    @abstractmethod
    def _last_body(self) -> bytes:
        """Return the body of the last entry, or the end of it."""

    @abstractmethod
    def _insert(
        self, kinds: Iterable[str], keys: Sequence[str], bodies: Sequence[bytes], leaves: Sequence[bytes]
    ) -> None:
        """Add rows after the last position: all, or none if a key is taken, which raises KeyTakenError."""

    @abstractmethod
    def _insert_nodes(self, nodes: Sequence[Node]) -> None:
        """Add nodes of the tree."""

    @property
    def size(self) -> int:
        """The number of entries so far, those of this transaction included."""
        return self.edge.frontier.size

    def last_recorded_at(self) -> str | None:
        """Return when the last entry was recorded; None in an empty journal."""
        if self.edge.recorded_at is None and self.size:
            self.edge.recorded_at = recorded_at_of(self._last_body())
        return self.edge.recorded_at

    def append(self, kinds: Iterable[str], keys: Sequence[str], bodies: Sequence[bytes]) -> list[bytes]:
        """Add entries at the next positions; return their leaf hashes (``Writer.append``)."""
        if len(keys) != len(bodies):
            raise ValueError(f"{len(keys)} keys for {len(bodies)} bodies")
        leaves = leaf_hashes(bodies)
        if not leaves:
            return []
        # Before the edge moves: if a key is taken, the transaction goes on from the former edge.
        self._insert(kinds, keys, bodies, leaves)
        edge = self.edge
        edge.recorded_at, edge.last_leaf = recorded_at_of(bodies[-1]), leaves[-1]
        self.added += len(leaves)
        nodes = edge.frontier.extend(leaves)
        if nodes:
            self._insert_nodes(nodes)
        return leaves

    def check_row_count(self, taken: int, expected: int, table: str) -> None:
        """Raise CorruptError about a statement that succeeded but added fewer rows than it was given."""
        if taken != expected:
            raise CorruptError(
                self.path, 0, f"took {taken} of {expected} rows into table {table}: run 'audit'; nothing was recorded"
            )
