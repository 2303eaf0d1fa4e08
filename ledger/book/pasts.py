"""Pasts of players in the game book: seeds, and years of birth that were learnt later. What is rated again for them.

A past counts from a player's first game on, so that all of the player's games are rated again. Who begins with which
past is asked of the ``roster``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ledger.book.roster import INSERT_SEED, seed_row
from ledger.book.timeline import Pool
from ledger.facts.events import BirthYearLearnt, RatingSeeded

if TYPE_CHECKING:
    import sqlite3

Note = Callable[[int, int, tuple[int, ...]], None]  # pool, place in rating order in milliseconds, players

UPDATE_BIRTH_YEAR = "UPDATE players SET birth_year = ? WHERE player = ?"
FIRST_PLACES = (
    "SELECT pool, min(rated_ms) FROM games WHERE reason IS NULL AND white = ?1 GROUP BY pool "
    "UNION ALL SELECT pool, min(rated_ms) FROM games WHERE reason IS NULL AND black = ?1 GROUP BY pool"
)


def take(
    connection: sqlite3.Connection, position: int, event: BirthYearLearnt | RatingSeeded,
    pool_named: Callable[[str, int], Pool], note: Note,
) -> None:  # fmt: skip
    """Take in a year of birth, or the rating of a list.

    Args:
        connection: the database of the book.
        position: of the entry.
        event: what it tells.
        pool_named: the pool of that name, for the entry at a position.
        note: called with a pool, a place in rating order and the player whose games are rated again from there.
    """
    pool = None
    if isinstance(event, BirthYearLearnt):
        connection.execute(UPDATE_BIRTH_YEAR, (event.birth_year, event.player))
    else:
        pool = pool_named(event.pool, position).pool
        connection.execute(INSERT_SEED, seed_row(pool, event, position))
    begin_anew(connection, event.player, pool, note)


def begin_anew(connection: sqlite3.Connection, player: int, pool: int | None, note: Note) -> None:
    """All games of a player are rated again, in one pool or in all."""
    for number, first_ms in connection.execute(FIRST_PLACES, (player,)):
        if pool in {None, number}:
            note(number, first_ms, (player,))
