"""Players of one name count as one person where games are recognised, whatever the case of its letters.

Each is called by the lowest number of those who bear the name. Everybody is looked at once for many games; for a few
those alone who bear one of their names, which an index tells (see ``name_folds``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ledger.players.name_folds import fold
from ledger.players.people import People, Person
from ledger.runtime.lazy import np, pl

if TYPE_CHECKING:
    from polars import Series

NOBODY = -1


class SameNames:
    """Players by the lowest number of those of one name."""

    def __init__(self, bearers: Mapping[str, Sequence[int]]) -> None:
        """Take who bears which name.

        Args:
            bearers: by folded name, all numbers that bear it, ascending.
        """
        self._bearers = bearers
        self._lowest = {number: numbers[0] for numbers in bearers.values() for number in numbers}
        self._known = np.array(sorted(self._lowest), np.int64)
        self._alike = np.array([self._lowest[number] for number in self._known.tolist()], np.int64)

    @classmethod
    def of_everybody(cls, people: People) -> SameNames:
        """All names are read."""
        return cls(people.folds.everybody())

    @classmethod
    def of_some(cls, people: People, persons: Mapping[str, Person], called: Mapping[str, str]) -> SameNames:
        """Those who bear the names of the players of some games.

        Args:
            people: who is registered.
            persons: by identity, those of the players who are registered: their names there count.
            called: by identity, the names of all as the games tell them.
        """
        names = {
            fold(persons[identity].name or "" if identity in persons else name) for identity, name in called.items()
        }
        return cls(people.folds.bearers(names - {""}))

    def lowest(self, number: int) -> int:
        """The lowest number of those of the same name."""
        return self._lowest.get(number, number)

    def of_person(self, person: Person | None, name: str) -> tuple[int, int]:
        """The number of a player and the lowest of those alike; ``NOBODY`` where there is none.

        Args:
            person: who it is; None for somebody who is not registered.
            name: as it is told.
        """
        if person is not None:
            return person.player, self.lowest(person.player)
        bearers = self._bearers.get(fold(name))
        return NOBODY, NOBODY if bearers is None else bearers[0]

    def numbers(self, person: Person | None, name: str) -> Sequence[int]:
        """The numbers of all who count as one with a player, as of ``of_person``."""
        called = name if person is None else person.name or ""
        bearers = self._bearers.get(fold(called), [])
        return bearers if person is None or person.player in bearers else [person.player]

    def column(self, players: Series) -> Series:
        """The same of a column of numbers; null stays null."""
        numbers = players.fill_null(0).to_numpy()
        alike: Any = numbers
        if len(self._known):
            place = np.minimum(np.searchsorted(self._known, numbers), len(self._known) - 1)
            alike = np.where(self._known[place] == numbers, self._alike[place], numbers)
        return pl.select(pl.when(players.is_not_null()).then(pl.Series(alike))).to_series()
