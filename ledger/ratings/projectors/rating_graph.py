"""The rows of a player's rating graph: the history has one for each rated game, and of all up to it these sums.

The mean of the ratings is ``rating_sum / n``; how far they spread follows from the sum of their squares. ``graph`` in
``answers.player_games`` reads the rows.
"""

from __future__ import annotations

import attrs

from ledger.ratings.projector import RatedSide, column


@attrs.define
class RatingSums:
    """Sums over the ratings after each game."""

    rating_sum: float = column(0.0, "REAL", "sum of the ratings after each game, points", unit="points")
    rating_squares: float = column(0.0, "REAL", "sum of their squares", unit="points²")


def add_rating(sums: RatingSums, game: RatedSide) -> None:
    """Add the rating after a game."""
    sums.rating_sum += game.rating
    sums.rating_squares += game.rating * game.rating
