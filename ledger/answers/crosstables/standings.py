"""Who stands where: players by points, parted by tie-breaks, with shared places. Pure; no names, no ratings.

Which tie-breaks decide is the organiser's to say, and no journal has it. Where nobody says, points alone make the
places, players who are level share them, and the usual tie-breaks only put the rows of a table in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from ledger.answers.crosstables.tie_breaks import RoundResults, named, points


class SharedPlace(NamedTuple):
    """Where a player stands.

    Attributes:
        player: player number.
        first: the place, from 1; shared with all others that have the same one.
        last: the last of the places that they share.
    """

    player: int
    first: int
    last: int

    @property
    def shown(self) -> str:
        """The place for people: ``1`` or ``2-4``."""
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


def places(results: RoundResults, deciding: Sequence[str], ordering: Sequence[str]) -> list[SharedPlace]:
    """Every player of *results* with a place, the best first.

    Args:
        results: by player.
        deciding: names of the tie-breaks that part who is level on points.
        ordering: names of those that only put the rows of who shares a place in order; the last word has the number.

    Raises:
        UnknownNameError: a tie-break of no such name.
    """
    found: list[SharedPlace] = []
    for level in parted(results, deciding):
        first, last = len(found) + 1, len(found) + len(level)
        for group in _parted_by(results, [level], ordering):
            found += [SharedPlace(player, first, last) for player in sorted(group)]
    return found


def parted(results: RoundResults, deciding: Sequence[str] = ()) -> list[list[int]]:
    """The players in groups of who is level on points and by the tie-breaks, the best group first."""
    by_points = sorted(results, key=lambda player: (-points(results, player), player))
    level = [list(group) for _, group in groupby(by_points, key=lambda player: points(results, player))]
    return _parted_by(results, level, deciding)


def _parted_by(results: RoundResults, groups: list[list[int]], names: Sequence[str]) -> list[list[int]]:
    """Each group parted by tie-breaks in their order; each counts among those only who are still level."""
    for name in names:
        while True:  # direct encounter parts a group, and is applied anew to those who are still level (C.07 6)
            finer = [part for group in groups for part in _part(results, group, name)]
            if len(finer) == len(groups):
                break
            groups = finer
    return groups


def _part(results: RoundResults, group: list[int], name: str) -> list[list[int]]:
    """A group of who is level in groups of who still is, the best first; itself where the tie-break says nothing."""
    if len(group) == 1:
        return [group]
    value = named(name).value
    values = {player: value(results, player, group) for player in group}
    if None in values.values():
        return [group]
    order = sorted(group, key=lambda player: (-(values[player] or 0.0), player))
    return [list(level) for _, level in groupby(order, key=values.__getitem__)]
