"""The highest and the lowest rating of a player under each scheme of the pool, and the games in which it was reached.

They count from game 50 on, as the HERA of the history does, and begin anew where another scheme takes over: "ChessWorld
made significant improvements to the Rating system as from January 2006 and there is no direct comparison with the
previous system" (ChessWorld FAQ). A rating with which the scheme does not list a player is none. What a player brought
along stands in the history alone.
"""

from __future__ import annotations

from math import nan
from typing import Any

from ledger.ratings.projector import CHANGES, Kept, Projector
from ledger.ratings.view_tables import HERA_FROM, counts_for_hera

ERA, HIGHEST, HIGHEST_N, LOWEST, LOWEST_N = range(5)


def step(state: Any, p: int, columns: Any, side: int) -> None:
    """Note a rating above the highest or below the lowest under the scheme of the game; of equals the first holds.

    Args:
        state: where the player's fields stand, from *p* on.
        p: see *state*.
        columns: ``PROJECTOR.takes``.
        side: which side of a game.
    """
    n, games_before, ratings, listed, era = columns
    rating = ratings[side]
    if era[side] != state[p + ERA]:
        state[p + ERA] = era[side]
        state[p + HIGHEST] = nan
        state[p + HIGHEST_N] = 0.0
        state[p + LOWEST] = nan
        state[p + LOWEST_N] = 0.0
    if listed[side] == 1 and counts_for_hera(n[side], games_before[side]):
        if state[p + HIGHEST_N] == 0.0 or rating > state[p + HIGHEST]:
            state[p + HIGHEST] = rating
            state[p + HIGHEST_N] = n[side]
        if state[p + LOWEST_N] == 0.0 or rating < state[p + LOWEST]:
            state[p + LOWEST] = rating
            state[p + LOWEST_N] = n[side]


PROJECTOR = Projector(
    name="highest_lowest",
    version=2,
    settings={"hera_from": HERA_FROM},
    rows=CHANGES,
    takes=("n", "games_before", "rating", "listed", "era"),
    state=(
        Kept("era", "INTEGER", 0.0, "place in the pool's timeline of the scheme that holds, from 0"),
        Kept("highest", "REAL", nan, "highest rating under that scheme from game 50 on, points; NULL before"),
        Kept("highest_n", "INTEGER", 0.0, "the game it was first reached in; 0 for none"),
        Kept("lowest", "REAL", nan, "lowest rating under that scheme from game 50 on, points; NULL before"),
        Kept("lowest_n", "INTEGER", 0.0, "the game it was first reached in; 0 for none"),
    ),
    step=step,
)
