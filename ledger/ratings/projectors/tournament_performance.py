"""What a player did in a tournament so far: games, points, the own ratings, and sums of the opponents' ratings.

The last row of a player in a tournament is the line of a cross-table. Each row is one of the games, ``(pool, player,
n)`` of the history, where opponent, result and both ratings stand. The games of a name that returns each year go on in
one fold: those of one edition are the difference of two rows (``book.tournaments`` tells editions apart).
"""

from __future__ import annotations

from math import nan
from typing import Any

from ledger.ratings.projector import TOURNAMENT, Kept, Projector

GAMES, HALF_POINTS, WHITE_GAMES, TIME_LOSSES, ENROLMENT, CLOSING, OPPONENTS_BEFORE, OPPONENTS_AFTER = range(8)


def step(state: Any, p: int, columns: Any, side: int) -> None:
    """Add one game of the tournament.

    Args:
        state: where the fields of the player in the tournament stand, from *p* on.
        p: see *state*.
        columns: ``PROJECTOR.takes``.
        side: which side of a game.
    """
    half_points, colour, lost_on_time, before, after, opponent_before, opponent_after = columns
    if state[p + GAMES] == 0.0:
        state[p + ENROLMENT] = before[side]
    state[p + GAMES] += 1.0
    state[p + HALF_POINTS] += half_points[side]
    state[p + WHITE_GAMES] += 1.0 - colour[side]
    state[p + TIME_LOSSES] += lost_on_time[side]
    state[p + CLOSING] = after[side]
    state[p + OPPONENTS_BEFORE] += opponent_before[side]
    state[p + OPPONENTS_AFTER] += opponent_after[side]


PROJECTOR = Projector(
    name="tournament_performance",
    version=1,
    by=TOURNAMENT,
    takes=(
        "half_points", "colour", "lost_on_time", "rating_before", "rating", "opponent_rating_before", "opponent_rating",
    ),
    state=(
        Kept("games", "INTEGER", 0.0, "rated games in the tournament so far"),
        Kept("half_points", "INTEGER", 0.0, "half points in them"),
        Kept("white_games", "INTEGER", 0.0, "of these games, with White"),
        Kept("time_losses", "INTEGER", 0.0, "of these games, lost by overstepping the time"),
        Kept("enrolment_rating", "REAL", nan, "rating before the first of these games, points"),
        Kept("closing_rating", "REAL", nan, "rating after the last of these games, points"),
        Kept("opponents_enrolment", "REAL", 0.0, "sum of the opponents' ratings before each game, points"),
        Kept("opponents_closing", "REAL", 0.0, "sum of the opponents' ratings after each game, points"),
    ),
    step=step,
)  # fmt: skip
