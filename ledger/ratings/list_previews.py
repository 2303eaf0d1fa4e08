"""What changes would make of lists that were shown to the world, as revised: how many rows differ, and the largest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

Said = tuple[float, int, str | None]  # what a list says of a player: rating, games, day of the last one


class AskedList(NamedTuple):
    """A published list: its name, the name of its pool, and its instant, milliseconds since 1970."""

    name: str
    pool: str
    at_ms: int


class ListMove(NamedTuple):
    """What would become of a published list, as revised.

    Attributes:
        name: of the list.
        pool: name of its pool.
        players: how many rows would say something else, come or go; who only changes places is not counted.
        largest: the player whose rating would change most, the lower number first; None where only others change.
        before: that player's rating, as revised now.
        after: as it would be.
    """

    name: str
    pool: str
    players: int
    largest: int | None
    before: float | None
    after: float | None


def compared(asked: AskedList, before: Mapping[int, Said], after: Mapping[int, Said]) -> ListMove:
    """How the two answers differ."""
    differing = sorted(player for player in before.keys() | after.keys() if before.get(player) != after.get(player))
    sizes = {
        player: abs(after[player][0] - before[player][0])
        for player in differing
        if player in before and player in after
    }
    largest = max(sizes, key=lambda player: (sizes[player], -player), default=None)
    if largest is None or not sizes[largest]:
        return ListMove(asked.name, asked.pool, len(differing), None, None, None)
    return ListMove(asked.name, asked.pool, len(differing), largest, before[largest][0], after[largest][0])
