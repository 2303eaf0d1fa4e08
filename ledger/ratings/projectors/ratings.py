"""The ratings by the pool's scheme: before and after each rated game, what was expected of it, and the scheme's state.

Their projector is the scheme: ``rate_game`` or the passes of a file in ``ledger.schemes`` fold a game into its players,
and ``ledger.ratings.engine`` calls them in rating order. The history stores what they give, a row for each side of a
game, so that a row is all that is needed to go on from there.
"""

from __future__ import annotations

from collections.abc import Sequence

STORED = ("rating", "rating_before", "expected_score")  # of each side, under any scheme
OF_STATE = "state of the pool's scheme after the game: 'scheme show' tells of it; NULL under a scheme without it"


def further_columns(state: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the columns, of type REAL, that hold the numbers of a state beside the rating."""
    return tuple(name for name in state if name != "rating")
