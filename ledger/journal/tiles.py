"""The Merkle tree as the SQLite journal stores it: leaves beside the entries, and nodes for each full tile of 256.

Reading only; the journal's store writes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.errors import CorruptError
from ledger.journal.merkle import TILE_HEIGHT

if TYPE_CHECKING:
    import sqlite3

_LEAVES = "SELECT leaf FROM journal WHERE position > ? AND position <= ? ORDER BY position"
_NODES = "SELECT hash FROM nodes WHERE level = ? AND number >= ? AND number < ? ORDER BY number"


def edge_hashes(connection: sqlite3.Connection, path: str, size: int, first: int = 0) -> list[list[bytes]]:
    """For each level of tiles, the hashes after the last full tile of a subtree: at most 255 of each level.

    Args:
        connection: to the journal.
        path: of the journal, for what is said of it.
        size: leaves of the subtree.
        first: index of its first leaf; not 0 for a proper subtree, whose nodes are not at the left edge.

    Raises:
        CorruptError: nodes are missing.
    """
    levels: list[list[bytes]] = []
    while level_size := size >> (len(levels) * TILE_HEIGHT):
        level, whole = len(levels), level_size >> TILE_HEIGHT << TILE_HEIGHT
        before = first >> (level * TILE_HEIGHT)
        place = (before + whole, before + level_size)
        rows = connection.execute(_NODES, (level, *place)) if level else connection.execute(_LEAVES, place)
        hashes = [value for (value,) in rows]
        if len(hashes) != level_size - whole:
            raise CorruptError(path, 0, f"the Merkle tree lacks nodes of level {level}; run 'audit'")
        levels.append(hashes)
    return levels
