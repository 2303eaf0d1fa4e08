"""The Merkle tree of RFC 6962 as a verifier computes it, and proofs about a head; shares no code with the writer's.

The tree is computed tile by tile. A proof takes some twenty hashes (RFC 9162, December 2021). Inclusion (2.1.3)
shows that one entry is in its tree, consistency (2.1.4) that its tree grew out of that of an earlier head.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from ledger.audit.reader.files import last_position, opened
from ledger.errors import CorruptError, UnknownNameError
from ledger.facts.words import TreeHead

TILE = 256  # leaves under one stored node of level 1; 256 of those under one of level 2, and so on
EMPTY_ROOT = hashlib.sha256().digest()


def leaves_of(bodies: Sequence[bytes]) -> list[bytes]:
    """Return the leaf hashes of bodies."""
    sha256 = hashlib.sha256
    return [sha256(b"\x00" + body).digest() for body in bodies]


def leaf_of_anything(body: object) -> bytes:
    """Return a leaf hash even of a body that is no bytes, so that the scan can go on."""
    return leaves_of([body if isinstance(body, bytes) else repr(body).encode()])[0]


def parents(hashes: list[bytes]) -> list[bytes]:
    """Return the next level; a last node without a partner is carried up, which gives RFC 6962's tree."""
    sha256 = hashlib.sha256
    # One iterator, taken from twice at a time, gives neighbours as pairs.
    each = iter(hashes)
    # the prefixes 0x00 and 0x01 keep leaves and nodes apart: no node can be shown as an entry (RFC 6962, 2.1)
    above = [sha256(b"\x01" + left + right).digest() for left, right in zip(each, each, strict=False)]
    return above + hashes[-1:] if len(hashes) % 2 else above


def tile_roots(hashes: list[bytes]) -> list[bytes]:
    """Return the root above each 256 of *hashes*, whose number is a multiple of 256."""
    for _ in range(8):
        hashes = parents(hashes)
    return hashes


def fold(hashes: list[bytes]) -> bytes:
    """Return the root over hashes of one level."""
    while len(hashes) > 1:
        hashes = parents(hashes)
    return hashes[0] if hashes else EMPTY_ROOT


def root_of(tiles: list[bytes], rest: list[bytes]) -> bytes:
    """Return the root over whole tiles and the leaves behind them."""
    return fold([*tiles, fold(rest)] if rest else tiles)


def inclusion_proof(path: str, position: int, size: int | None = None) -> list[bytes]:
    """Return the hashes that lead from an entry's leaf to the root, lowest first (RFC 9162, 2.1.3.1).

    It reads what is stored and few rows of it; whether that is true is for ``verify_inclusion`` to say.

    Args:
        path: the journal.
        position: the entry, from 1.
        size: of the head that the proof is for; all entries where not given.

    Raises:
        UnknownNameError: no such entry, or fewer entries than *size*.
        StorageError: the file is missing, locked, or may not be read.
        CorruptError: it is no journal, or a row that the proof needs is missing or cannot be read.
    """
    with opened(path, "journal", "nodes") as file:
        connection = file.connection
        last = last_position(connection)
        size = last if size is None else size
        if not 1 <= position <= size <= last:
            raise UnknownNameError("entry", str(position), f"it holds {last}, the head asked for {size}")

        def subtree(low: int, high: int) -> bytes:
            # A stored node of level 1 covers 256 leaves, one of level 2 65,536: eight levels of hashes each.
            level, remainder = divmod((high - low).bit_length() - 1, 8)
            if remainder or high - low != TILE**level:
                middle = low + _split(high - low)
                return parents([subtree(low, middle), subtree(middle, high)])[0]
            if level:
                sql = "SELECT hash FROM nodes WHERE level = ? AND number = ?"
                row = connection.execute(sql, (level, low // TILE**level)).fetchone()
            else:
                row = connection.execute("SELECT leaf FROM journal WHERE position = ?", (high,)).fetchone()
            if row is None or not isinstance(row[0], bytes):
                raise CorruptError(path, high, f"no hash of entries {low + 1} to {high} is stored; audit it")
            return row[0]

        proof, low, high = [], 0, size
        while high - low > 1:
            middle = low + _split(high - low)
            if position <= middle:
                proof.append(subtree(middle, high))
                high = middle
            else:
                proof.append(subtree(low, middle))
                low = middle
        return proof[::-1]


def _split(size: int) -> int:
    """Return the largest power of two below *size*."""
    return 1 << ((size - 1).bit_length() - 1)


def verify_inclusion(leaf: bytes, position: int, head: TreeHead, proof: Sequence[bytes]) -> bool:
    """Return whether *proof* shows *leaf* at *position* under *head* (RFC 9162, 2.1.3.2)."""
    index, last = position - 1, head.size - 1
    if not 0 <= index <= last:
        return False
    for sibling in proof:
        if last == 0:
            return False
        if index % 2 or index == last:
            leaf = parents([sibling, leaf])[0]
            # a last node without a partner was carried up: these levels have no hash in the proof
            while index and index % 2 == 0:
                index, last = index // 2, last // 2
        else:
            leaf = parents([leaf, sibling])[0]
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
            then, now = parents([sibling, then])[0], parents([sibling, now])[0]
            # a last node without a partner was carried up: these levels have no hash in the proof
            while index and index % 2 == 0:
                index, last = index // 2, last // 2
        else:
            now = parents([now, sibling])[0]
        index, last = index // 2, last // 2
    return last == 0 and then == older.root and now == newer.root
