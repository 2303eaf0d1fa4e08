"""Players of one name: told when a new one is registered, for they may be one person, and alike in games of one fact.

Where games are recognised, players of one name count as one, whatever the case of its letters. Where players are
registered, names count as one that differ in case, accents, the order of their words or blanks alone; initials are the
business of ``answers.searching``. Two identities of one register or server are two people. Nothing is refused or
written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.errors import MalformedError
from ledger.facts.person_names import PLAIN_LETTERS, are_apart, folded, spelt
from ledger.players.misspelt import resembling
from ledger.players.name_indexes import fold
from ledger.players.people import People
from ledger.players.persons import Person
from ledger.runtime.lazy import np, pl

if TYPE_CHECKING:
    from polars import Expr, Series


_FEW = 20  # newcomers who are looked up by the index of names; for more of them all names are read once
_LETTERS = {"ß": "ss", **PLAIN_LETTERS}


class Namesakes(NamedTuple):
    """A new player, by place among those who were asked about, and the identities of others with that name."""

    place: int
    identity: str
    others: list[str]
    is_misspelt: bool = False  # their names differ in one letter

    def __str__(self) -> str:
        """The words of a note, with the first of the others."""
        if self.is_misspelt:
            way = "'correct DB merge' makes two numbers one person"
            return (
                f"the name of {self.identity} is that of {self.others[0]} with one letter changed; if misspelt, {way}"
            )
        return f"{self.identity} has the name of {self.others[0]}, and may be the same person: see 'players alike'"


def namesakes(people: People, newcomers: Sequence[tuple[str, str]]) -> list[Namesakes]:
    """Of new players those who have the name of others that came before them, in their order.

    Behind them stand those whose name is another's with one letter changed.

    Args:
        people: who is registered; the newcomers may be among them.
        newcomers: identity and name, in the order of registration.
    """
    places = {spelt(identity): place for place, (identity, _) in enumerate(newcomers)}
    alike: list[Namesakes] = []
    for place, persons in _of_like_letters(people, newcomers) if newcomers else ():
        identity, name = newcomers[place]
        keys = folded(name).keys
        others = [
            other
            for other, called in persons.items()
            if places.get(spelt(other), -1) < place  # of two newcomers the later one has the other's name
            and not are_apart(identity, other)
            and (called.casefold() == name.casefold() or keys & folded(called).keys)
        ]
        if others:
            alike.append(Namesakes(place, identity, others))
    return alike + _misspelt(people, newcomers, {note.place for note in alike}, places)


def _misspelt(
    people: People, newcomers: Sequence[tuple[str, str]], noted: set[int], places: Mapping[str, int]
) -> list[Namesakes]:
    asked = [(place, player) for place, player in enumerate(newcomers) if place not in noted]
    if not asked:
        return []
    if len(asked) <= _FEW:
        candidates = [player for _, (_, name) in asked for player in _sharing_words(people, name)]
    else:
        candidates = [(identity, name) for _, identity, name in sorted(people.identities_and_names())]
    others: dict[int, list[str]] = {}
    for number, other, _ in resembling([player for _, player in asked], [*candidates, *newcomers]):
        place = asked[number][0]
        if places.get(spelt(other), -1) < place:  # of two newcomers the later one is the misspelt one
            others.setdefault(place, []).append(other)
    return [Namesakes(place, newcomers[place][0], names, is_misspelt=True) for place, names in others.items()]


def _sharing_words(people: People, name: str) -> list[tuple[str, str]]:
    """Identities and names of the players who have all words of a name but one; of a name of one word, like ones."""
    words = folded(name).words
    candidates: list[tuple[str, str]] = []
    for at in range(len(words)):
        rest = " ".join(words[:at] + words[at + 1 :])
        with suppress(MalformedError):  # no word of the rest has three letters
            candidates += [(match.identity, match.name) for match in people.search.find(rest)]
    if len(words) == 1:
        candidates += [
            (person.identity or "", person.name or "") for word in people.like(name) for person in people.named(word)
        ]
    return candidates


def _of_like_letters(people: People, newcomers: Sequence[tuple[str, str]]) -> Iterator[tuple[int, dict[str, str]]]:
    """By place of a newcomer, identities and names of the few who may have the name: their words are to be compared."""
    if len(newcomers) <= _FEW:
        for place, (_, name) in enumerate(newcomers):
            try:
                looked_up = {match.identity: match.name for match in sorted(people.search.find(name))}
            except MalformedError:  # no word of it has three letters
                looked_up = {person.identity or "": person.name or "" for person in people.named(name)}
            yield place, {**looked_up, **dict(newcomers[:place])}
        return
    words = {"identity": pl.String, "name": pl.String}  # told, for a dry run asks where nobody is registered yet
    asked = pl.DataFrame(newcomers, words, orient="row").with_row_index("place").with_columns(_letters())
    # Sorted: a note names the first of those alike, who was registered first.
    rows = pl.DataFrame(people.identities_and_names(), {"player": pl.Int64, **words}, orient="row").sort("player")
    every = pl.concat([rows.with_columns(_letters()).drop("player"), asked.drop("place")])
    every = every.unique("identity", keep="first", maintain_order=True)
    every = every.filter(pl.col("letters").is_duplicated())
    persons: dict[str, dict[str, str]] = {}
    for identity, name, letters in every.iter_rows():
        persons.setdefault(letters, {})[identity] = name
    for place, letters in asked.select("place", "letters").iter_rows():
        if letters in persons:
            yield place, persons[letters]


def _letters() -> Expr:
    """The letters of a name in alphabetical order, without case and accents."""
    # Coarser than the comparison, and never finer: whoever may be alike has the same letters, in whatever order.
    text = pl.col("name").str.to_lowercase().str.normalize("NFKD").str.replace_many(_LETTERS)
    return text.str.replace_all(r"[^\p{L}\p{N}]", "").str.split("").list.sort().list.join("").alias("letters")


NOBODY = -1


class SameNames:
    """Players by the lowest number of those of one name.

    Everybody is looked at once for many games; for a few those alone who bear one of their names, which an index tells.
    """

    def __init__(self, bearers: Mapping[str, Sequence[int]]) -> None:
        """Take who bears which name.

        Args:
            bearers: by folded name, all numbers that bear it, ascending.
        """
        self._bearers = bearers
        self._lowest = {number: numbers[0] for numbers in bearers.values() for number in numbers}

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

    @cached_property
    def _columns(self) -> tuple[Any, Any]:
        numbers = sorted(self._lowest)
        return np.array(numbers, np.int64), np.array([self._lowest[number] for number in numbers], np.int64)

    def column(self, players: Series) -> Series:
        """The same of a column of numbers; null stays null."""
        numbers = players.fill_null(0).to_numpy()
        alike: Any = numbers
        named, lowest = self._columns
        if len(named):
            place = np.minimum(np.searchsorted(named, numbers), len(named) - 1)
            alike = np.where(named[place] == numbers, lowest[place], numbers)
        return pl.select(pl.when(players.is_not_null()).then(pl.Series(alike))).to_series()
