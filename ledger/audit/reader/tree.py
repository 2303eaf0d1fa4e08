"""The Merkle tree of RFC 6962 as a verifier computes it, and the check of proofs about its root.

The tree is computed tile by tile. A proof takes some twenty hashes (RFC 9162, December 2021). Inclusion (2.1.3)
shows that one entry is in its tree, consistency (2.1.4) that its tree grew out of that of an earlier head.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from ledger.facts.words import TreeHead

TILE = 256  # leaves under one stored node of level 1; 256 of those under one of level 2, and so on
EMPTY_ROOT = hashlib.sha256().digest()


def leaf_hashes(bodies: Sequence[bytes]) -> list[bytes]:
    """Return the leaf hash of each entry's body."""
    sha256 = hashlib.sha256
    return [sha256(b"\x00" + body).digest() for body in bodies]


def leaf_hash_of_any(body: object) -> bytes:
    """Return the leaf hash of a body.

    If the body is not bytes it is that of its ``repr``, so that a scan can go on.
    """
    return leaf_hashes([body if isinstance(body, bytes) else repr(body).encode()])[0]


def parent_hashes(hashes: list[bytes]) -> list[bytes]:
    """Return the next level of the tree.

    A last node without a partner is carried up, as in RFC 6962.
    """
    sha256 = hashlib.sha256
    # One iterator, taken from twice at a time, gives neighbours as pairs.
    each = iter(hashes)
    # the prefixes 0x00 and 0x01 keep leaves and nodes apart: no node can be shown as an entry (RFC 6962, 2.1)
    above = [sha256(b"\x01" + left + right).digest() for left, right in zip(each, each, strict=False)]
    return above + hashes[-1:] if len(hashes) % 2 else above


def tile_roots(hashes: list[bytes]) -> list[bytes]:
    """Return the root above each 256 of *hashes*, whose number is a multiple of 256."""
    for _ in range(8):
        hashes = parent_hashes(hashes)
    return hashes


def level_root(hashes: list[bytes]) -> bytes:
    """Return the root over all hashes of one level of the tree."""
    while len(hashes) > 1:
        hashes = parent_hashes(hashes)
    return hashes[0] if hashes else EMPTY_ROOT


def tree_root(tiles: list[bytes], rest: list[bytes]) -> bytes:
    """Return the root over the roots of complete tiles and the leaves behind them."""
    return level_root([*tiles, level_root(rest)] if rest else tiles)


def verify_inclusion(leaf: bytes, position: int, head: TreeHead, proof: Sequence[bytes]) -> bool:
    """Return whether *proof* shows *leaf* at *position* under *head* (RFC 9162, 2.1.3.2)."""
    index, last = position - 1, head.size - 1
    if not 0 <= index <= last:
        return False
    for sibling in proof:
        if last == 0:
            return False
        if index % 2 or index == last:
            leaf = parent_hashes([sibling, leaf])[0]
            # a last node without a partner was carried up: these levels have no hash in the proof
            while index and index % 2 == 0:
                index, last = index // 2, last // 2
        else:
            leaf = parent_hashes([leaf, sibling])[0]
        index, last = index // 2, last // 2
    return last == 0 and leaf == head.root


def verify_consistency(older: TreeHead, newer: TreeHead, proof: Sequence[bytes]) -> bool:
    """Return whether *proof* shows that the entries under *older* are the first under *newer* (RFC 9162, 2.1.4.2)."""
    if not 0 < older.size <= newer.size:
        return False
    if older.size == newer.size:
        return not proof and older.root == newer.root
    hashes = list(proof)
    # a complete tree, whose root the proof leaves out
    if older.size & (older.size - 1) == 0:
        hashes.insert(0, older.root)
    if not hashes:
        return False
    index, last = older.size - 1, newer.size - 1
    # up to the largest complete subtree that ends with the older tree: the first hash of the proof is its root
    while index % 2:
        index, last = index // 2, last // 2
    then = now = hashes[0]
    for sibling in hashes[1:]:
        if last == 0:
            return False
        if index % 2 or index == last:
            then, now = parent_hashes([sibling, then])[0], parent_hashes([sibling, now])[0]
            # a last node without a partner was carried up: these levels have no hash in the proof
            while index and index % 2 == 0:
                index, last = index // 2, last // 2
        else:
            now = parent_hashes([now, sibling])[0]
        index, last = index // 2, last // 2
    return last == 0 and then == older.root and now == newer.root
