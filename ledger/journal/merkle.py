"""The Merkle tree over the journal's entries (RFC 6962, section 2.1; C2SP tlog-tiles). Hashes only, no storage.

A leaf is SHA-256(0x00 ‖ body), a node SHA-256(0x01 ‖ left ‖ right); the leaf's index is its position minus 1.
``Frontier`` holds what an append needs: the roots of the complete subtrees, one for each bit of the size. The roots
of subtrees of 256, 65,536, ... leaves are handed out as they become whole; 256 of them in a row are a full tile.
Proofs are paths of such roots; the auditor's reader has its own code to follow them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256

from ledger.facts.words import TreeHead

TILE_HEIGHT = 8
EMPTY_ROOT = sha256(b"").digest()

Node = tuple[int, int, bytes]  # level (1: over 256 leaves), number, hash
RootOf = Callable[[int, int], bytes]  # the root over the leaves with first <= index < last, a subtree of the tree


def leaf_hash(body: bytes) -> bytes:
    """Return the 32-byte SHA-256 leaf hash of an entry's body."""
    # The byte in front separates leaves from nodes: without it the two hashes of a node could be shown as an entry (RFC
    # 6962, section 2.1).
    return sha256(b"\x00" + body).digest()


def leaf_hashes(bodies: Sequence[bytes]) -> list[bytes]:
    """Return the SHA-256 leaf hashes of entries' bodies."""
    return [sha256(b"\x00" + body).digest() for body in bodies]


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the 32-byte SHA-256 hash of two children."""
    return sha256(b"\x01" + left + right).digest()


class Frontier:
    """The right edge of a growing tree: enough to append leaves and to compute the root."""

    def __init__(self) -> None:
        self.size = 0
        self._edge: list[bytes | None] = []  # by height: root of the complete subtree that waits for its sibling

    def copy(self) -> Frontier:
        """Return an independent copy."""
        twin = Frontier()
        twin.size, twin._edge = self.size, list(self._edge)
        return twin

    def extend(self, leaves: Sequence[bytes]) -> list[Node]:
        """Append leaf hashes; return the tile nodes that became complete, lowest level first."""
        return self._carry(list(leaves), 0)

    def restore(self, hashes_by_level: Sequence[Sequence[bytes]], size: int) -> None:
        """Set the frontier to that of a tree of *size* leaves.

        Args:
            hashes_by_level: for each tile level from 0 (leaves), the hashes after the last full tile, in order.
            size: number of leaves.
        """
        # From the highest level down, for lower levels are carried into the ones above. Each begins at 0: the numbers
        # of the nodes that become complete this way are not needed, they are stored already.
        self._edge = []
        for level in range(len(hashes_by_level) - 1, -1, -1):
            self.size = 0
            self._carry(list(hashes_by_level[level]), level * TILE_HEIGHT)
        self.size = size

    def head(self) -> TreeHead:
        """Return size and root of the tree so far."""
        root: bytes | None = None
        for edge in self._edge:
            if edge is not None:
                root = edge if root is None else node_hash(edge, root)
        return TreeHead(self.size, EMPTY_ROOT if root is None else root)

    def _carry(self, row: list[bytes], height: int) -> list[Node]:
        added = len(row) << height
        first = self.size >> height
        nodes: list[Node] = []
        while row:
            if len(self._edge) <= height:
                self._edge.extend([None] * (height + 1 - len(self._edge)))
            waiting = self._edge[height]
            if waiting is not None:
                row.insert(0, waiting)
                first -= 1
            self._edge[height] = row.pop() if len(row) % 2 else None
            row = [sha256(b"\x01" + left + right).digest() for left, right in zip(row[::2], row[1::2], strict=True)]
            height += 1
            first >>= 1
            if height % TILE_HEIGHT == 0:
                nodes.extend((height // TILE_HEIGHT, first + i, digest) for i, digest in enumerate(row))
        self.size += added
        return nodes


# -- proofs --------------------------------------------------------------------------------------------------------


def check_subtree(first: int, last: int, size: int) -> None:
    """Raise ValueError if a range of leaves is no subtree of a tree of *size* leaves (RFC 6962, section 2.1)."""
    if not 0 <= first <= last <= size:
        raise ValueError(f"leaves {first} to {last} of {size}")
    # At the left edge any number of leaves is one: the whole tree of an earlier size.
    if first and (first == last or first % (1 << (last - first - 1).bit_length())):
        raise ValueError(f"no subtree has the leaves {first} to {last}")


def check_hashes(level: int, first: int, last: int, size: int) -> None:
    """Raise ValueError if a level of tiles of a tree of *size* leaves does not have a range of hashes."""
    if level < 0 or not 0 <= first <= last <= size >> (level * TILE_HEIGHT):
        raise ValueError(f"hashes {first} to {last} of level {level} of {size} leaves")


def inclusion_path(index: int, size: int, root_of: RootOf) -> list[bytes]:
    """Return the hashes from a leaf to the root, the leaf's sibling first (RFC 6962, section 2.1.1, PATH).

    Args:
        index: the index of the leaf, from 0.
        size: the number of leaves of the tree.
        root_of: a function that returns the root of a subtree.

    Raises:
        ValueError: the tree has no such leaf.
    """
    if not 0 <= index < size:
        raise ValueError(f"leaf {index} of {size}")
    path: list[bytes] = []
    first, last = 0, size
    while last - first > 1:
        middle = first + _split(last - first)
        if index < middle:
            path.append(root_of(middle, last))
            last = middle
        else:
            path.append(root_of(first, middle))
            first = middle
    return path[::-1]


def consistency_path(older: int, size: int, root_of: RootOf) -> list[bytes]:
    """Return the hashes that prove that a tree extends an older one (RFC 6962, section 2.1.2, PROOF).

    Args:
        older: the number of leaves of the older tree.
        size: the number of leaves of the tree.
        root_of: a function that returns the root of a subtree.

    Raises:
        ValueError: the older tree is empty or has more leaves.
    """
    if not 0 < older <= size:
        raise ValueError(f"from {older} leaves to {size}")
    path: list[bytes] = []
    first, last = 0, size
    while older < last:
        middle = first + _split(last - first)
        if older <= middle:
            path.append(root_of(middle, last))
            last = middle
        else:
            path.append(root_of(first, middle))
            first = middle
    # the verifier does not know the root of this part, as it would of the whole older tree
    if first:
        path.append(root_of(first, last))
    return path[::-1]


def _split(size: int) -> int:
    """Return the largest power of two below *size*."""
    return 1 << ((size - 1).bit_length() - 1)
