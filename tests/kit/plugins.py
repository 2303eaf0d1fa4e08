"""A projector as a plug-in author would write it: winning streaks, and the best rating beaten by one."""

from __future__ import annotations

from math import nan
from typing import Any

from ledger.ratings.projector import Kept, Projector

STREAK, LONGEST, BEST_BEATEN, DAYS_SINCE = range(4)
DAY_MS = 86_400_000.0


def step(state: Any, p: int, columns: Any, side: int) -> None:
    """Count wins in a row; keep the longest run and the strongest opponent beaten."""
    half_points, opponent_rating, ended_ms = columns
    if half_points[side] == 2:
        state[p + STREAK] += 1.0
        state[p + LONGEST] = max(state[p + LONGEST], state[p + STREAK])
        if not state[p + BEST_BEATEN] >= opponent_rating[side]:
            state[p + BEST_BEATEN] = opponent_rating[side]
    else:
        state[p + STREAK] = 0.0
    state[p + DAYS_SINCE] = ended_ms[side] / DAY_MS


WIN_STREAKS = Projector(
    name="win_streaks",
    version=1,
    stores=("game", "rating"),
    takes=("half_points", "opponent_rating", "ended_ms"),
    state=(
        Kept("streak", "INTEGER", 0.0, "wins in a row up to this game"),
        Kept("longest", "INTEGER", 0.0, "the longest such run so far"),
        Kept("best_beaten", "REAL", nan, "highest rating of a beaten opponent, points; NULL before"),
        Kept("day", "REAL", nan, "when the last game ended, days since 1970"),
    ),
    step=step,
)
