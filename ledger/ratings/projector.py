"""What a projector is: a fold over one player's rated games, in rating order, that keeps its state after each.

Its table has a row for each side of each rated game, keyed ``(pool, player, n)``: n is the player's n-th rated game in
the pool. The rows are the snapshots: any earlier state is a row, and after a correction the engine drops the later
rows of the players concerned, takes up the state of the last row before, and folds on. A projector knows nothing of
that. No built-in projector lives here (see ``ledger.ratings.projectors``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import attrs
import orjson

# What can be known of one side of a rated game: name -> (SQL type, meaning). Ratings are those after the game.
SIDE_COLUMNS: Mapping[str, tuple[str, str]] = {
    "n": ("INTEGER", "how-manieth rated game of the player in the pool, from 1"),
    "game": ("INTEGER", "position of the game in the journal"),
    "ended_ms": (
        "INTEGER",
        "when it ended, milliseconds since 1970 UTC; the first moment of the day, month or year if only that is known",
    ),
    "opponent": ("INTEGER", "player number of the opponent"),
    "opponent_n": ("INTEGER", "how-manieth rated game it was for the opponent"),
    "colour": ("INTEGER", "0 White, 1 Black"),
    "half_points": ("INTEGER", "2 win, 1 draw, 0 loss"),
    "lost_on_time": ("INTEGER", "1 when this side overstepped the time and lost"),
    "rating": ("REAL", "rating after the game, points, unrounded"),
    "opponent_rating": ("REAL", "the opponent's rating after the game, points, unrounded"),
}


class Kept(NamedTuple):
    """A column of the running state: its name, SQL type, start value (NaN is stored as NULL) and meaning."""

    name: str
    type: str
    start: float
    doc: str


@attrs.frozen(kw_only=True)
class Projector:
    """A read model by player and game number.

    Attributes:
        name: also the name of its table.
        version: to be raised with every change that alters a row.
        settings: constants that its rows depend on; part of its identity.
        takes: the columns of a side that ``step`` reads, in order, out of ``SIDE_COLUMNS``.
        stores: the columns of a side that its table repeats.
        state: the running state, kept after every side.
        step: kernel ``(state, p, columns, side)``: fold the side at index *side* of each column of *columns* into the
            fields ``state[p]``, ``state[p + 1]``, ...; as for schemes, plain arithmetic that Numba compiles.
        keeps_scheme_state: whether the table also carries the scheme's state (the first projector does).
    """

    name: str
    version: int
    state: tuple[Kept, ...]
    takes: tuple[str, ...]
    step: Callable[..., None]
    settings: Mapping[str, float] = attrs.field(factory=dict, hash=False)
    stores: tuple[str, ...] = ()
    keeps_scheme_state: bool = False

    @property
    def identity(self) -> str:
        """Name, version and settings: when this changes, the table is built anew."""
        return orjson.dumps(
            [self.name, self.version, dict(self.settings)], option=orjson.OPT_SORT_KEYS
        ).decode()
