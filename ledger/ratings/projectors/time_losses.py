"""The games that a player lost by overstepping the time: a row for each, with their number so far and the run it ends.

Shares over a window of games or days are differences of two rows; runs in it follow from the numbers of the games.
"""

from __future__ import annotations

from typing import Any

from ledger.ratings.projector import CHANGES, Kept, Projector

COUNT, RUN_FROM, RUN_TO = range(3)


def step(state: Any, p: int, columns: Any, side: int) -> None:
    """Count a loss on time, and go on with the run of those before it where no game lies in between.

    Args:
        state: where the player's fields stand, from *p* on.
        p: see *state*.
        columns: ``PROJECTOR.takes``.
        side: which side of a game.
    """
    n, lost_on_time = columns
    if lost_on_time[side] == 1:
        state[p + COUNT] += 1.0
        if state[p + RUN_FROM] == 0.0 or state[p + RUN_TO] != n[side] - 1.0:
            state[p + RUN_FROM] = n[side]
        state[p + RUN_TO] = n[side]


PROJECTOR = Projector(
    name="time_losses",
    version=1,
    rows=CHANGES,
    stores=("ended_ms",),
    takes=("n", "lost_on_time"),
    state=(
        Kept("time_losses", "INTEGER", 0.0, "rated games lost by overstepping the time so far"),
        Kept("run_from", "INTEGER", 0.0, "first game of the run of them that this one ends"),
        Kept("run_to", "INTEGER", 0.0, "its last game"),
    ),
    step=step,
)
