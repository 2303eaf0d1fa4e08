"""Wins against opponents with a higher rating before the game: a row for each, with how much higher it was.

Who is unrated has no rating that another one could be higher than.

Which of them is called an upset is the policy ``upsets``, whose margin has dates: it is applied when somebody asks, so
that another margin costs nothing.
"""

from __future__ import annotations

from math import nan
from typing import Any

from ledger.ratings.projector import CHANGES, Kept, Largest, Projector
from ledger.schemes.scheme import UNRATED

COUNT, SURPLUS = range(2)
LARGE = Largest("surplus", 200)  # where nobody has set another margin, no smaller one is an upset


def step(state: Any, p: int, columns: Any, side: int) -> None:
    """Count a win against a higher rating, and note the difference.

    Args:
        state: where the player's fields stand, from *p* on.
        p: see *state*.
        columns: ``PROJECTOR.takes``.
        side: which side of a game.
    """
    half_points, ratings, opponents = columns
    if half_points[side] == 2 and opponents[side] > ratings[side] and UNRATED not in (ratings[side], opponents[side]):
        state[p + COUNT] += 1.0
        state[p + SURPLUS] = opponents[side] - ratings[side]


PROJECTOR = Projector(
    name="upsets",
    version=2,
    rows=CHANGES,
    stores=("ended_ms",),
    takes=("half_points", "rating_before", "opponent_rating_before"),
    state=(
        Kept("wins_against_higher", "INTEGER", 0.0, "rated games won against a higher rating so far"),
        Kept("surplus", "REAL", nan, "by how much the opponent's rating before the game was higher, points"),
    ),
    step=step,
    largest=LARGE,
)
