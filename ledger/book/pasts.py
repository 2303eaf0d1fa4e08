"""Pasts of players in the game book: seeds, and years of birth that were learnt later. What is rated again for them.

A past counts from a player's first game on, so that all of the player's games are rated again. Who begins with which
past is asked of the ``roster``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ledger.book.roster import INSERT_SEED, seed_row
from ledger.facts.events import BirthYearLearnt, RatingSeeded

if TYPE_CHECKING:
    import sqlite3

Note = Callable[[int, int, tuple[int, ...]], None]  # pool, place in rating order in milliseconds, players

UPDATE_BIRTH_YEAR = "UPDATE players SET birth_year = ? WHERE player = ?"
FIRST_PLACES = (
    "SELECT pool, min(rated_ms) FROM games WHERE reason IS NULL AND white = ?1 GROUP BY pool "
    "UNION ALL SELECT pool, min(rated_ms) FROM games WHERE reason IS NULL AND black = ?1 GROUP BY pool"
)


def learn(connection: sqlite3.Connection, event: BirthYearLearnt, note: Note) -> None:
    """Take in a year of birth."""
    connection.execute(UPDATE_BIRTH_YEAR, (event.birth_year, event.player))
    begin_anew(connection, event.player, None, note)


def seed(connection: sqlite3.Connection, pool: int, event: RatingSeeded, note: Note) -> None:
    """Take in the rating of a list."""
    connection.execute(INSERT_SEED, seed_row(pool, event))
    begin_anew(connection, event.player, pool, note)


def begin_anew(connection: sqlite3.Connection, player: int, pool: int | None, note: Note) -> None:
    """All games of a player are rated again, in one pool or in all."""
    for number, first_ms in connection.execute(FIRST_PLACES, (player,)):
        if pool in {None, number}:
            note(number, first_ms, (player,))
