"""A player's five best wins and five worst losses, by the opponent's rating before the game.

Each row is a game that came among them, so that the games are those of the rows: of the wins up to a game the five with
the highest ``opponent_rating_before``, of the losses the five with the lowest, of equal ones the earlier.

A game against an unrated player is neither; a newcomer with whose beginning rating the formula reckoned is not unrated.
"""

from __future__ import annotations

from math import nan
from typing import Any

from ledger.ratings.projector import CHANGES, Kept, Projector
from ledger.schemes.scheme import UNRATED

PLACES = 5
WINS, LOSSES = 0, PLACES


def step(state: Any, p: int, columns: Any, side: int) -> None:
    """Put the opponent's rating in its place among the five of the wins or of the losses, where it belongs there.

    Args:
        state: where the player's fields stand, from *p* on.
        p: see *state*.
        columns: ``PROJECTOR.takes``.
        side: which side of a game.
    """
    half_points, ratings = columns
    if ratings[side] == UNRATED:
        return
    if half_points[side] == 2:
        enter(state, p + WINS, ratings[side], 1.0)
    elif half_points[side] == 0:
        enter(state, p + LOSSES, ratings[side], -1.0)


def enter(state: Any, first: int, rating: float, sign: float) -> None:
    """Put a rating among the five from *first* on, largest times *sign* first, of equals the earlier one."""
    entering = rating
    for place in range(first, first + PLACES):
        best = state[place]
        if best != best or entering * sign > best * sign:  # noqa: PLR0124  # NaN: nobody stands there
            state[place] = entering
            entering = best
        if entering != entering:  # noqa: PLR0124
            break


PROJECTOR = Projector(
    name="bests",
    version=2,
    rows=CHANGES,
    stores=("half_points", "opponent_rating_before"),
    takes=("half_points", "opponent_rating_before"),
    state=(
        *(
            Kept(f"win_{place}", "REAL", nan, f"rating of the opponent of the win in place {place}, points")
            for place in range(1, PLACES + 1)
        ),
        *(
            Kept(f"loss_{place}", "REAL", nan, f"rating of the opponent of the worst loss in place {place}, points")
            for place in range(1, PLACES + 1)
        ),
    ),
    step=step,
)
