"""The rating history: a row for each side of each rated game, with the rating by the pool's scheme before and after it.

Which rating that is, the scheme says (``ledger.schemes``); the row has its whole state. Beside it stand the counts that
a summary or a graph needs: results, sums of the ratings, HERA. Every ledger has this table.
"""

from __future__ import annotations

import attrs

from ledger.ratings.projector import Projector, RatedSide, declare
from ledger.ratings.projectors.hera import HERA_FROM, HighestSoFar, note_highest
from ledger.ratings.projectors.rating_graph import RatingSums, add_rating
from ledger.ratings.projectors.ratings import STORED
from ledger.ratings.projectors.results import Results, count_result
from ledger.runtime.records import flat_of, part
from ledger.schemes.scheme import Seed


@attrs.define
class History(Projector):
    """The sums of a player's rating history: results, ratings after each game, and the highest rating."""

    results: Results = part(Results)
    ratings: RatingSums = part(RatingSums)
    highest: HighestSoFar = part(HighestSoFar)

    def step(self, game: RatedSide) -> None:
        """Count one side of a game: result, loss on time, sums of the rating, highest rating from game 50 on."""
        count_result(self.results, game)
        add_rating(self.ratings, game)
        note_highest(self.highest, game)


HISTORY = declare(
    History,
    name="history",
    version=4,
    settings={"hera_from": HERA_FROM},
    reads=("n", "half_points", "lost_on_time", "rating", "restart"),
    stores=("game", "ended_ms", "opponent", "opponent_n", "colour", "half_points", *STORED),
)
GAMES_BEFORE = [kept.name for kept in HISTORY.state].index("games_before")


def begun_with(seed: Seed) -> list[float]:
    """Return the sums of the history before the first game of a player who has a past."""
    begun = History()
    begun.highest.games_before = seed.games or 0.0
    highest = highest_of(seed)
    if highest is not None:
        begun.highest.hera = highest
    return flat_of(begun)


def highest_of(seed: Seed) -> float | None:
    """Return the HERA that a player brings along: the list's highest, or its rating if enough games are behind it."""
    return seed.highest_known if seed.highest is not None or (seed.games or 0.0) >= HERA_FROM else None
