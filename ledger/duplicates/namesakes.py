"""Namesakes: registered players with the name of a new one, who may be one person, and groups of players by name.

When games are matched, players of one name count as one, in upper or lower case. When players are registered, names
count as one that differ only in case, accents, the order of their words or blanks; ``answers.searching`` handles
initials. Two identities of one register or server are two people. Nothing is refused or written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.errors import MalformedError
from ledger.facts.person_names import PLAIN_LETTERS, are_different_people, folded, spelt
from ledger.players.misspelt_names import find_similar_names
from ledger.players.name_indexes import plain_lower_case
from ledger.players.people import People
from ledger.players.persons import Person
from ledger.runtime.lazy import np, pl

if TYPE_CHECKING:
    from polars import Expr, Series


_FEW = 20  # new players who are looked up by the index of names; for more of them all names are read once
_LETTERS = {"ß": "ss", **PLAIN_LETTERS}


class Namesakes(NamedTuple):
    """A new player, by index among the new ones, and the identities of other players with that name."""

    place: int
    identity: str
    others: list[str]
    is_misspelt: bool = False  # their names differ in one letter

    def __str__(self) -> str:
        """Return the text of a note, with the first of the others."""
        if self.is_misspelt:
            way = "'correct DB merge' makes two numbers one person"
            return (
                f"the name of {self.identity} is that of {self.others[0]} with one letter changed; if misspelt, {way}"
            )
        return f"{self.identity} has the name of {self.others[0]}, and may be the same person: see 'players alike'"


def namesakes(people: People, new_players: Sequence[tuple[str, str]]) -> list[Namesakes]:
    """Return the new players who have the name of an earlier player, in their order.

    Behind them come new players whose name is another's with one letter changed.

    Args:
        people: the registered players; the new ones may be among them.
        new_players: identity and name, in the order of registration.
    """
    places = {spelt(identity): place for place, (identity, _) in enumerate(new_players)}
    same_name: list[Namesakes] = []
    for place, persons in _of_like_letters(people, new_players) if new_players else ():
        identity, name = new_players[place]
        keys = folded(name).keys
        others = [
            other
            for other, other_name in persons.items()
            if places.get(spelt(other), -1) < place  # of two new players the later one has the other's name
            and not are_different_people(identity, other)
            and (other_name.casefold() == name.casefold() or keys & folded(other_name).keys)
        ]
        if others:
            same_name.append(Namesakes(place, identity, others))
    return same_name + _misspelt(people, new_players, {note.place for note in same_name}, places)


def _misspelt(
    people: People, new_players: Sequence[tuple[str, str]], noted: set[int], places: Mapping[str, int]
) -> list[Namesakes]:
    lookup = [(place, player) for place, player in enumerate(new_players) if place not in noted]
    if not lookup:
        return []
    if len(lookup) <= _FEW:
        candidates = [player for _, (_, name) in lookup for player in _sharing_words(people, name)]
    else:
        candidates = [(identity, name) for _, identity, name in sorted(people.identities_and_names())]
    others: dict[int, list[str]] = {}
    for number, other, _ in find_similar_names([player for _, player in lookup], [*candidates, *new_players]):
        place = lookup[number][0]
        if places.get(spelt(other), -1) < place:  # of two new players the later one is the misspelt one
            others.setdefault(place, []).append(other)
    return [Namesakes(place, new_players[place][0], names, is_misspelt=True) for place, names in others.items()]


def _sharing_words(people: People, name: str) -> list[tuple[str, str]]:
    """Return the players who have all words of a name but one; for a name of one word, those with similar ones."""
    words = folded(name).words
    candidates: list[tuple[str, str]] = []
    for at in range(len(words)):
        rest = " ".join(words[:at] + words[at + 1 :])
        with suppress(MalformedError):  # no word of the rest has three letters
            candidates += [(match.identity, match.name) for match in people.search.find(rest)]
    if len(words) == 1:
        candidates += [
            (person.identity or "", person.name or "") for word in people.suggest(name) for person in people.find(word)
        ]
    return candidates


def _of_like_letters(people: People, new_players: Sequence[tuple[str, str]]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield by place of a new player the identities and names of the few whose words are to be compared."""
    if len(new_players) <= _FEW:
        for place, (_, name) in enumerate(new_players):
            try:
                looked_up = {match.identity: match.name for match in sorted(people.search.find(name))}
            except MalformedError:  # no word of it has three letters
                looked_up = {person.identity or "": person.name or "" for person in people.find(name)}
            yield place, {**looked_up, **dict(new_players[:place])}
        return
    words = {"identity": pl.String, "name": pl.String}  # explicit, for a dry run may have no registered players
    lookup = pl.DataFrame(new_players, words, orient="row").with_row_index("place").with_columns(_letters())
    # Sorted: a note names the first of those with the name, who was registered first.
    rows = pl.DataFrame(people.identities_and_names(), {"player": pl.Int64, **words}, orient="row").sort("player")
    every = pl.concat([rows.with_columns(_letters()).drop("player"), lookup.drop("place")])
    every = every.unique("identity", keep="first", maintain_order=True)
    every = every.filter(pl.col("letters").is_duplicated())
    persons: dict[str, dict[str, str]] = {}
    for identity, name, letters in every.iter_rows():
        persons.setdefault(letters, {})[identity] = name
    for place, letters in lookup.select("place", "letters").iter_rows():
        if letters in persons:
            yield place, persons[letters]


def _letters() -> Expr:
    """Return the letters of a name in alphabetical order, without case and accents."""
    # Coarser than the comparison, and never finer: names that may be equal have the same letters, in any order.
    text = pl.col("name").str.to_lowercase().str.normalize("NFKD").str.replace_many(_LETTERS)
    return text.str.replace_all(r"[^\p{L}\p{N}]", "").str.split("").list.sort().list.join("").alias("letters")


UNREGISTERED = -1


class NameGroups:
    """Groups of players by name, each known by its lowest number.

    For many games all players are read once; for a few, an index names the players of their names.
    """

    def __init__(self, bearers: Mapping[str, Sequence[int]]) -> None:
        """Take the numbers of the players of each folded name, ascending."""
        self._bearers = bearers
        self._lowest = {number: numbers[0] for numbers in bearers.values() for number in numbers}

    @classmethod
    def of_all(cls, people: People) -> NameGroups:
        """Return the groups of all registered players."""
        return cls(people.whole_names.all_players())

    @classmethod
    def of_some(cls, people: People, persons: Mapping[str, Person], reported_names: Mapping[str, str]) -> NameGroups:
        """Return the groups of the players of some games.

        Args:
            people: the registered players.
            persons: by identity, the registered ones among the players of the games: their registered names count.
            reported_names: by identity, the reported names of all players of the games.
        """
        names = {
            plain_lower_case(persons[identity].name or "" if identity in persons else name)
            for identity, name in reported_names.items()
        }
        return cls(people.whole_names.players_named(names - {""}))

    def lowest(self, number: int) -> int:
        """Return the lowest number of a player's name."""
        return self._lowest.get(number, number)

    def of_person(self, person: Person | None, name: str) -> tuple[int, int]:
        """Return the number of a player and the lowest number of the name.

        ``UNREGISTERED`` stands for a missing number.

        Args:
            person: the player; None if not registered.
            name: the reported name.
        """
        if person is not None:
            return person.player, self.lowest(person.player)
        bearers = self._bearers.get(plain_lower_case(name))
        return UNREGISTERED, UNREGISTERED if bearers is None else bearers[0]

    def numbers(self, person: Person | None, name: str) -> Sequence[int]:
        """Return the numbers of all players of a player's name, as of ``of_person``."""
        own_name = name if person is None else person.name or ""
        bearers = self._bearers.get(plain_lower_case(own_name), [])
        return bearers if person is None or person.player in bearers else [person.player]

    @cached_property
    def _columns(self) -> tuple[Any, Any]:
        numbers = sorted(self._lowest)
        return np.array(numbers, np.int64), np.array([self._lowest[number] for number in numbers], np.int64)

    def column(self, players: Series) -> Series:
        """Return ``lowest`` of a column of numbers; null stays null."""
        numbers = players.fill_null(0).to_numpy()
        lowest_numbers: Any = numbers
        named, lowest = self._columns
        if len(named):
            place = np.minimum(np.searchsorted(named, numbers), len(named) - 1)
            lowest_numbers = np.where(named[place] == numbers, lowest[place], numbers)
        return pl.select(pl.when(players.is_not_null()).then(pl.Series(lowest_numbers))).to_series()
