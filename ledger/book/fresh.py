"""What newest entries touch: where re-rating must begin, and whom it concerns. Nothing is read or written here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import attrs

from ledger.facts.events import Event
from ledger.schemes.scheme import Scheme


class Placed(NamedTuple):
    """An event and its position in the journal: what the game book needs of an entry."""

    position: int
    event: Event


class Played(NamedTuple):
    """A rated game as ``GameBook.in_order`` tells it, with all facts that tables may want."""

    position: int
    white: int
    black: int
    half_points: int
    time_loss: int
    ended_ms: int
    rated_ms: int
    facts: dict[str, Any]


@attrs.define
class Fresh:
    """What the newest entries touch, by pool: where re-rating must begin, and whom it concerns.

    Attributes:
        start_ms: by pool, the earliest place in rating order of a game that is new or changed, milliseconds.
        touched: by pool, players whose games from there on are re-rated whatever the new games say.
        only: by pool, the one game that is new; None where there is more to it.
        adopted: the schemes that were adopted.
        stood: by position, the rows of games before they came to stand otherwise; None where nobody asks.
        restood: by position, other facts, as they were recorded, that a decision concerned.
    """

    start_ms: dict[int, int] = attrs.Factory(dict)
    touched: dict[int, set[int]] = attrs.Factory(dict)
    only: dict[int, Played | None] = attrs.Factory(dict)
    adopted: list[Scheme] = attrs.Factory(list)
    stood: dict[int, Mapping[str, Any]] | None = None
    restood: dict[int, Event] = attrs.Factory(dict)

    def note(self, pool: int, rated_ms: int, players: Iterable[int] = (), played: Played | None = None) -> None:
        """Re-rating of *pool* must begin at *rated_ms* or before, for *played* or whatever else changed."""
        self.only[pool] = None if pool in self.only else played
        self.start_ms[pool] = min(rated_ms, self.start_ms.get(pool, rated_ms))
        self.touched.setdefault(pool, set()).update(players)
