"""The game book as it would be: a snapshot of the views, over which further entries are folded in memory alone.

The fold is that of every other book. Nothing is written to a file, and no lock is taken: other processes go on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from ledger.book import tables
from ledger.book.decided import Decided
from ledger.book.game_book import BATCH, PACKED, PACKED_COLUMNS, GameBook
from ledger.book.timeline import Pool
from ledger.facts.changes import Change, Verb
from ledger.runtime import overlay

if TYPE_CHECKING:
    import sqlite3

# Few rows in any ledger, or ones of which SQLite must count what it writes; the other tables are laid over.
COPIED = ("pools", "eras", "runs", "policies", "proposals", "merges")
UNASKED = "movetexts"  # by whoever asks what would be
LAID_OVER = tuple(name for name in tables.NAMES if name not in {*COPIED, UNASKED})
# What corrections of games write; to make a table and its triggers takes as long as to rate a hundred games.
OF_GAMES = frozenset({"games", "originals", "given_sides", "proposals", "corrections"})
_OF_GAMES = {Verb.ANNUL_GAMES, Verb.ANNUL_TOURNAMENT, Verb.RESTORE_TOURNAMENT}


def concern_games_alone(connection: sqlite3.Connection, changes: Iterable[Change]) -> bool:
    """Whether some changes, and those that they undo, are of games and of nothing else.

    Args:
        connection: the views.
        changes: what is proposed.
    """
    decided, waiting, seen = Decided(connection), list(changes), set[int]()
    while waiting:
        change = waiting.pop()
        if change.do is Verb.UNDO and change.proposal is not None:
            if change.proposal not in seen:
                seen.add(change.proposal)
                waiting += [numbered.change for numbered in decided.changes([change.proposal])]
        elif change.do not in _OF_GAMES and not (change.fact or "").startswith("game:"):
            return False
    return True


def lay_over(connection: sqlite3.Connection, only: Collection[str] = tables.NAMES) -> None:
    """Begin a transaction, in which the tables of the book stay as they are and take what is written in memory.

    Args:
        connection: the views, opened for reading: writing to another table fails.
        only: the tables that will be written to.
    """
    copied = [name for name in COPIED if name in only]
    overlay.lay_over(connection, copied, [name for name in LAID_OVER if name in only])
    connection.execute("BEGIN")
    overlay.fill(connection, copied)


class HypotheticalBook(GameBook):
    """The games of a connection that ``lay_over`` has prepared, to which entries are added that nobody has recorded."""

    notes_moves = False  # which games have the same moves is asked by those who record

    def _rated_games(self, pool: Pool, facts: Sequence[str]) -> str:
        """The same question, put so that both parts are read in order, each by its index."""
        columns = ", ".join([*PACKED, *(() if pool.by_game else BATCH), *facts])
        order = [*dict.fromkeys((*PACKED_COLUMNS, *facts, *tables.RATING_ORDER))]
        where = "pool = ?1 AND reason IS NULL AND rated_ms >= ?2"
        inner = f"SELECT {', '.join(order)} FROM games WHERE {where} ORDER BY {tables.IN_RATING_ORDER} LIMIT -1"
        return f"SELECT {columns} FROM ({inner})"
