"""The game book as it would be: a snapshot of the views, over which further entries are folded in memory alone.

The fold is that of every other book. Nothing is written to a file, and no lock is taken: other processes go on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ledger.book import tables
from ledger.book.game_book import RATED_COLUMNS, GameBook
from ledger.runtime import overlay

if TYPE_CHECKING:
    import sqlite3

# Few rows in any ledger, or ones of which SQLite must count what it writes; the other tables are laid over.
COPIED = ("pools", "eras", "runs", "policies", "proposals", "merges")
LAID_OVER = tuple(name for name in tables.NAMES if name not in COPIED)


def lay_over(connection: sqlite3.Connection) -> None:
    """Begin a transaction, in which the tables of the book stay as they are and take what is written in memory.

    Args:
        connection: the views, opened for reading.
    """
    overlay.lay_over(connection, COPIED, LAID_OVER)
    connection.execute("BEGIN")
    overlay.fill(connection, COPIED)


class HypotheticalBook(GameBook):
    """The games of a connection that ``lay_over`` has prepared, to which entries are added that nobody has recorded."""

    def _rated_games(self, facts: Sequence[str]) -> str:
        """The same question, put so that both parts are read in order, each by its index."""
        columns = ", ".join([*RATED_COLUMNS, *facts])
        order = [*dict.fromkeys((*RATED_COLUMNS, *facts, *tables.RATING_ORDER))]
        where = "pool = ?1 AND reason IS NULL AND rated_ms >= ?2"
        inner = f"SELECT {', '.join(order)} FROM games WHERE {where} ORDER BY {tables.IN_RATING_ORDER} LIMIT -1"
        return f"SELECT {columns} FROM ({inner})"
