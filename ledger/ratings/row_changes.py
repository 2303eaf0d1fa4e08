"""The change of a player's row between two states: for compared lists, dry runs and corrections."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, Protocol, TypeVar

import attrs


class RowWithRating(Protocol):
    """The interface of a row that has a rating, such as a player's row of a rating list."""

    @property
    def rating(self) -> float:
        """The rating, in rating points."""


Row = TypeVar("Row", bound=RowWithRating)


@attrs.frozen(kw_only=True)
class RowChange(Generic[Row]):
    """A player's row before and after; None if there is none."""

    player: int
    before: Row | None
    after: Row | None

    @property
    def ratings(self) -> tuple[float | None, float | None]:
        """The ratings before and after, in rating points; None where there is none to show."""
        before, after = self.before, self.after
        return None if before is None else before.rating, None if after is None else after.rating

    @property
    def difference(self) -> float | None:
        """The rating after minus the one before, in rating points; None without one of them."""
        before, after = self.ratings
        return None if before is None or after is None else after - before

    def fields(self, *names: str) -> dict[str, Any]:
        """Return fields of both rows as ``rank_before``, ``rank_after`` and so on; null for a missing row."""
        sides = (("before", self.before), ("after", self.after))
        return {f"{name}_{when}": None if row is None else getattr(row, name) for when, row in sides for name in names}


def row_changes(
    before: Mapping[int, Row], after: Mapping[int, Row], said: Callable[[Row], object] = lambda row: row
) -> list[RowChange[Row]]:
    """Return the players whose rows differ, by number; *said* gives what counts of a row."""
    return [
        RowChange(player=player, before=was, after=now)
        for player in sorted(before.keys() | after.keys())
        # Most rows are equal, which costs less to see than what they say.
        if (was := before.get(player)) != (now := after.get(player))
        and (was is None or now is None or said(was) != said(now))
    ]
