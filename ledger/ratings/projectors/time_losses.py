"""The games that a player lost by overstepping the time: a row for each, with their number so far and the run it ends.

Shares over a window of games or days are differences of two rows; runs in it follow from the numbers of the games.
Which players are called sandbaggers says a policy with dates: it is applied when somebody asks (``answers.marks``).
"""

from __future__ import annotations

import attrs

from ledger.ratings.projector import CHANGES, Projector, RatedSide, column, declare


@attrs.define
class TimeLosses(Projector):
    """The losses on time so far, and the latest run of them without another game in between."""

    time_losses: float = column(0.0, "INTEGER", "rated games lost by overstepping the time so far", unit="games")
    run_from: float = column(0.0, "INTEGER", "first game of the run of them that this one ends", unit="games")
    run_to: float = column(0.0, "INTEGER", "its last game", unit="games")

    def step(self, game: RatedSide) -> None:
        """Count a loss on time, and go on with the run of those before it if no game lies in between."""
        if game.lost_on_time == 1:
            self.time_losses += 1.0
            if self.run_from == 0.0 or self.run_to != game.n - 1.0:
                self.run_from = game.n
            self.run_to = game.n


PROJECTOR = declare(
    TimeLosses, name="time_losses", version=1, reads=("n", "lost_on_time"), stores=("ended_ms",), rows=CHANGES
)
