"""The rating history: a row for each player of each rated game, with the rating before and after it.

The scheme (``ledger.schemes``) says which rating that is, and ``ledger.ratings.engine`` calls its kernels in rating
order; the row has its whole state, so that a row is all that is needed to go on from there. The row also has the counts
that a summary or a graph needs: results, sums of the ratings (their mean is ``rating_sum / n``, their spread follows
from the squares), HERA. Every ledger has this table.
"""

from __future__ import annotations

import attrs

from ledger.book.tables import MS
from ledger.book.timeline import BEGINNING
from ledger.ratings.projector import Projector, RatedSide, column, declare
from ledger.ratings.projectors.hera import HERA_FROM, HighestSoFar, note_highest
from ledger.runtime.records import flat_of, part
from ledger.schemes.scheme import Seed


@attrs.define
class Results:
    """The counts of a player's results."""

    wins: float = column(0.0, "INTEGER", "rated games won so far", unit="games")
    draws: float = column(0.0, "INTEGER", "rated games drawn so far", unit="games")
    losses: float = column(0.0, "INTEGER", "rated games lost so far", unit="games")
    time_losses: float = column(0.0, "INTEGER", "of these, lost by overstepping the time", unit="games")


def count_result(counts: Results, game: RatedSide) -> None:
    """Count the result of a game."""
    if game.half_points == 2:
        counts.wins += 1.0
    elif game.half_points == 1:
        counts.draws += 1.0
    else:
        counts.losses += 1.0
    counts.time_losses += game.lost_on_time


@attrs.define
class RatingSums:
    """Sums over the ratings after each game."""

    rating_sum: float = column(0.0, "REAL", "sum of the ratings after each game, points", unit="points")
    rating_squares: float = column(0.0, "REAL", "sum of their squares", unit="points²")


def add_rating(sums: RatingSums, game: RatedSide) -> None:
    """Add the rating after a game."""
    sums.rating_sum += game.rating
    sums.rating_squares += game.rating * game.rating


@attrs.define
class History(Projector):
    """The sums of a player's rating history: results, ratings after each game, the highest rating, the latest game."""

    results: Results = part(Results)
    ratings: RatingSums = part(RatingSums)
    highest: HighestSoFar = part(HighestSoFar)
    # Not the end of the last one in rating order: a late event, or one that took long, is rated after later games.
    latest_ms: float = column(
        float(BEGINNING),
        "INTEGER",
        "when the latest of the rated games so far ended",
        unit=MS,
    )

    def step(self, game: RatedSide) -> None:
        """Count one player's half of a game: result, loss on time, sums of ratings, highest from game 50 on, end."""
        count_result(self.results, game)
        add_rating(self.ratings, game)
        note_highest(self.highest, game)
        self.latest_ms = max(self.latest_ms, game.ended_ms)


HISTORY = declare(
    History,
    name="history",
    version=5,
    settings={"hera_from": HERA_FROM},
    reads=("n", "ended_ms", "half_points", "lost_on_time", "rating", "restart"),
    stores=(
        "game",
        "ended_ms",
        "opponent",
        "opponent_n",
        "colour",
        "half_points",
        "rating",
        "rating_before",
        "expected_score",
    ),
)
_STATE = [kept.name for kept in HISTORY.state]
GAMES_BEFORE, LATEST = _STATE.index("games_before"), _STATE.index("latest_ms")


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
