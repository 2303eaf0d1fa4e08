"""A player's winning, unbeaten and losing streaks: where the current one began, and the longest one that has ended.

A streak is rated games in a row that were won, not lost, or lost. A row stands where one begins or ends; the current
streak after game n has ``n - FROM + 1`` games, and is the longest where it has more than the longest that has ended.
"""

from __future__ import annotations

from typing import Any

from ledger.ratings.projector import CHANGES, Kept, Projector

WINNING, UNBEATEN, LOSING = 0, 3, 6
FROM, LONGEST_FROM, LONGEST_TO = range(3)  # of each of them
KINDS = ("winning", "unbeaten", "losing")


def step(state: Any, p: int, columns: Any, side: int) -> None:
    """Begin or end the streaks that the result begins or ends.

    Args:
        state: where the player's fields stand, from *p* on.
        p: see *state*.
        columns: ``PROJECTOR.takes``.
        side: which side of a game.
    """
    n, half_points = columns
    begin_or_end(state, p + WINNING, n[side], half_points[side] == 2)
    begin_or_end(state, p + UNBEATEN, n[side], half_points[side] > 0)
    begin_or_end(state, p + LOSING, n[side], half_points[side] == 0)


def begin_or_end(state: Any, p: int, n: int, belongs: bool) -> None:
    """Begin a streak with game *n* where none runs and the game belongs to one, or end it; of equals the first holds.

    Args:
        state: where the three fields of the streak stand, from *p* on.
        p: see *state*.
        n: number of the game.
        belongs: whether the game's result is that of the streak.
    """
    begun = state[p + FROM]
    if belongs:
        if begun == 0.0:
            state[p + FROM] = n
    elif begun > 0.0:
        if state[p + LONGEST_FROM] == 0.0 or n - begun > state[p + LONGEST_TO] - state[p + LONGEST_FROM] + 1.0:
            state[p + LONGEST_FROM] = begun
            state[p + LONGEST_TO] = n - 1.0
        state[p + FROM] = 0.0


PROJECTOR = Projector(
    name="streaks",
    version=1,
    rows=CHANGES,
    takes=("n", "half_points"),
    state=tuple(
        kept
        for kind in KINDS
        for kept in (
            Kept(f"{kind}_from", "INTEGER", 0.0, f"first game of the current {kind} streak; 0 for none"),
            Kept(f"longest_{kind}_from", "INTEGER", 0.0, f"first game of the longest ended {kind} streak; 0 for none"),
            Kept(f"longest_{kind}_to", "INTEGER", 0.0, "its last game; 0 for none"),
        )
    ),
    step=step,
)
