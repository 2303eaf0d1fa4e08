"""Wins against opponents with a higher rating before the game: a row for each, with how much higher it was.

Who is unrated has no rating that another one could be higher than.

Which of them is called an upset is the policy ``upsets``, whose margin has dates: it is applied when somebody asks
(``answers.upsets``), so that another margin costs nothing.
"""

from __future__ import annotations

from math import nan

import attrs

from ledger.ratings.projector import CHANGES, Largest, Projector, RatedSide, column, declare
from ledger.schemes.scheme import UNRATED

LARGE = Largest("surplus", 200)  # where nobody has set another margin, no smaller one is an upset


@attrs.define
class Upsets(Projector):
    """A player's wins against a higher rating: their number, and by how much it was higher in the last one."""

    wins_against_higher: float = column(0.0, "INTEGER", "rated games won against a higher rating so far", unit="games")
    surplus: float = column(
        nan, "REAL", "by how much the opponent's rating before the game was higher, points", unit="points"
    )

    def step(self, game: RatedSide) -> None:
        """Count a win against a higher rating, and note the difference."""
        own, opponent = game.rating_before, game.opponent_rating_before
        if game.half_points == 2 and opponent > own and UNRATED not in (own, opponent):
            self.wins_against_higher += 1.0
            self.surplus = opponent - own


PROJECTOR = declare(
    Upsets,
    name="upsets",
    version=2,
    reads=("half_points", "rating_before", "opponent_rating_before"),
    stores=("ended_ms",),
    rows=CHANGES,
    largest=LARGE,
)
