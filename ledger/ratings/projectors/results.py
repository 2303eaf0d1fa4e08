"""A player's results: rated games won, drawn and lost so far, and those of them that were lost on time."""

from __future__ import annotations

import attrs

from ledger.ratings.projector import RatedSide, column


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
