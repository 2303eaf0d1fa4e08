"""The highest and the lowest rating of a player under each scheme of the pool, and the games in which it was reached.

They count from game 50 on, as the HERA of the history does, and begin again with each new scheme: "ChessWorld
made significant improvements to the Rating system as from January 2006 and there is no direct comparison with the
previous system" (ChessWorld FAQ). A rating with which the scheme does not list a player is none. What a player brought
along stands in the history alone.
"""

from __future__ import annotations

from math import nan

import attrs

from ledger.ratings.projector import CHANGES, Projector, RatedSide, column, declare
from ledger.ratings.projectors.hera import HERA_FROM, counts_for_hera


@attrs.define
class HighestLowest(Projector):
    """The highest and the lowest rating under the scheme in force."""

    era: float = column(0.0, "INTEGER", "place in the pool's timeline of the scheme that holds, from 0")
    highest: float = column(
        nan, "REAL", "highest rating under that scheme from game 50 on, points; NULL before", unit="points"
    )
    highest_n: float = column(0.0, "INTEGER", "the game it was first reached in; 0 for none", unit="games")
    lowest: float = column(
        nan, "REAL", "lowest rating under that scheme from game 50 on, points; NULL before", unit="points"
    )
    lowest_n: float = column(0.0, "INTEGER", "the game it was first reached in; 0 for none", unit="games")

    def step(self, game: RatedSide) -> None:
        """Note a rating above the highest or below the lowest under the scheme of the game; of equals the first."""
        if game.era != self.era:
            self.era = game.era
            self.highest = nan
            self.highest_n = 0.0
            self.lowest = nan
            self.lowest_n = 0.0
        if game.listed == 1 and counts_for_hera(game.n, game.games_before):
            if self.highest_n == 0.0 or game.rating > self.highest:
                self.highest = game.rating
                self.highest_n = game.n
            if self.lowest_n == 0.0 or game.rating < self.lowest:
                self.lowest = game.rating
                self.lowest_n = game.n


PROJECTOR = declare(
    HighestLowest,
    name="highest_lowest",
    version=2,
    settings={"hera_from": HERA_FROM},
    reads=("n", "games_before", "rating", "listed", "era"),
    rows=CHANGES,
)
