"""A player's five best wins and five worst losses, by the opponent's rating before the game.

Each row is a game that came among them, so that the games are those of the rows: of the wins up to a game the five with
the highest ``opponent_rating_before``, of the losses the five with the lowest, of equal ones the earlier.

A game against an unrated player is neither; a newcomer with whose beginning rating the formula reckoned is not unrated.
"""

from __future__ import annotations

from math import nan

import attrs

from ledger.ratings.projector import CHANGES, Projector, RatedSide, column, declare
from ledger.schemes.scheme import UNRATED

PLACES = 5


@attrs.define
class BestWins(Projector):
    """The ratings of the five strongest opponents beaten, and of the five weakest who won, each in order."""

    wins: list[float] = column(
        nan, "REAL", "rating of the opponent of the win in place {}, points", unit="points", size=PLACES, name="win"
    )
    losses: list[float] = column(
        nan,
        "REAL",
        "rating of the opponent of the worst loss in place {}, points",
        unit="points",
        size=PLACES,
        name="loss",
    )

    def step(self, game: RatedSide) -> None:
        """Insert the opponent's rating into the five of the wins or of the losses, if it belongs there."""
        if game.opponent_rating_before == UNRATED:
            return
        if game.half_points == 2:
            insert_rating(self.wins, game.opponent_rating_before, 1.0)
        elif game.half_points == 0:
            insert_rating(self.losses, game.opponent_rating_before, -1.0)


def insert_rating(best: list[float], rating: float, sign: float) -> None:
    """Insert a rating into the five best, and drop the last one; of equal ratings the earlier one goes first.

    The order is that of the ratings times *sign*, largest first.
    """
    entering = rating
    for place in range(PLACES):
        there = best[place]
        if there != there or entering * sign > there * sign:  # noqa: PLR0124  # NaN: nobody stands there
            best[place] = entering
            entering = there
        if entering != entering:  # noqa: PLR0124
            break


PROJECTOR = declare(
    BestWins,
    name="bests",
    version=2,
    reads=("half_points", "opponent_rating_before"),
    stores=("half_points", "opponent_rating_before"),
    rows=CHANGES,
)
