"""A player's winning, unbeaten and losing streaks: where the current one began, and the longest one that has ended.

A streak is rated games in a row that were won, not lost, or lost. There is a row where one begins or ends; the current
streak after game n has ``n - FROM + 1`` games, and is the longest if it has more than the longest that has ended.
"""

from __future__ import annotations

import attrs

from ledger.ratings.projector import CHANGES, Projector, RatedSide, column, declare
from ledger.runtime.records import part

KINDS = ("winning", "unbeaten", "losing")


@attrs.define
class StreakOfKind:
    """The streak of one kind that runs, and the longest one that has ended."""

    since: float = column(0.0, "INTEGER", "first game of the current {} streak; 0 for none", name="{}_from")
    longest_from: float = column(
        0.0, "INTEGER", "first game of the longest ended {} streak; 0 for none", name="longest_{}_from"
    )
    longest_to: float = column(0.0, "INTEGER", "its last game; 0 for none", name="longest_{}_to")


@attrs.define
class Streaks(Projector):
    """The streaks of each kind."""

    winning: StreakOfKind = part(StreakOfKind, "winning")
    unbeaten: StreakOfKind = part(StreakOfKind, "unbeaten")
    losing: StreakOfKind = part(StreakOfKind, "losing")

    def step(self, game: RatedSide) -> None:
        """Begin or end the streaks that the result begins or ends."""
        begin_or_end(self.winning, game.n, game.half_points == 2)
        begin_or_end(self.unbeaten, game.n, game.half_points > 0)
        begin_or_end(self.losing, game.n, game.half_points == 0)


def begin_or_end(streak: StreakOfKind, n: float, belongs: bool) -> None:
    """Begin a streak with game *n* if none runs and the game belongs to one, or end it; of equals the first holds."""
    since = streak.since
    if belongs:
        if since == 0.0:
            streak.since = n
    elif since > 0.0:
        if streak.longest_from == 0.0 or n - since > streak.longest_to - streak.longest_from + 1.0:
            streak.longest_from = since
            streak.longest_to = n - 1.0
        streak.since = 0.0


PROJECTOR = declare(Streaks, name="streaks", version=1, reads=("n", "half_points"), rows=CHANGES)
