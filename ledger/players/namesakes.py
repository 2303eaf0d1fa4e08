"""Players of one name under several identities: told when a new one is registered, for they may be one person.

Names count as one that differ in case, accents, the order of their words or blanks alone; initials are the business
of ``answers.alike_players``. Two identities of one register or server are two people. Nothing is refused or written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ledger.errors import MalformedError
from ledger.facts.person_names import PLAIN_LETTERS, are_apart, folded, spelt
from ledger.players.people import People
from ledger.runtime.lazy import pl

if TYPE_CHECKING:
    from polars import Expr

_FEW = 20  # newcomers who are looked up by the index of names; for more of them all names are read once
_LETTERS = {"ß": "ss", **PLAIN_LETTERS}


class Namesakes(NamedTuple):
    """A new player, by place among those who were asked about, and the identities of others with that name."""

    place: int
    identity: str
    others: list[str]

    def __str__(self) -> str:
        """The words of a note, with the first of the others."""
        return f"{self.identity} has the name of {self.others[0]}, and may be the same person: see 'players alike'"


def namesakes(people: People, newcomers: Sequence[tuple[str, str]]) -> list[Namesakes]:
    """Of new players those who have the name of others that came before them, in their order.

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
    return alike


def _of_like_letters(people: People, newcomers: Sequence[tuple[str, str]]) -> Iterator[tuple[int, dict[str, str]]]:
    """By place of a newcomer, identities and names of the few who may have the name: their words are to be compared."""
    if len(newcomers) <= _FEW:
        for place, (_, name) in enumerate(newcomers):
            yield place, {**_looked_up(people, name), **dict(newcomers[:place])}
        return
    asked = pl.DataFrame(newcomers, schema=("identity", "name"), orient="row").with_row_index("place")
    asked = asked.with_columns(_letters())
    rows = pl.DataFrame(people.called(), schema=("player", "identity", "name"), orient="row").sort("player")
    every = pl.concat([rows.with_columns(_letters()).drop("player"), asked.drop("place")])
    every = every.unique("identity", keep="first", maintain_order=True)
    every = every.filter(pl.col("letters").is_duplicated())
    persons: dict[str, dict[str, str]] = {}
    for identity, name, letters in every.iter_rows():
        persons.setdefault(letters, {})[identity] = name
    for place, letters in asked.select("place", "letters").iter_rows():
        if letters in persons:
            yield place, persons[letters]


def _looked_up(people: People, name: str) -> dict[str, str]:
    try:
        matches = sorted(people.search.find(name))
    except MalformedError:  # no word of it has three letters
        return {person.identity or "": person.name or "" for person in people.named(name)}
    return {match.identity: match.name for match in matches}


def _letters() -> Expr:
    """The letters of a name in alphabetical order, without case and accents."""
    text = pl.col("name").str.to_lowercase().str.normalize("NFKD").str.replace_many(_LETTERS)
    return text.str.replace_all(r"[^\p{L}\p{N}]", "").str.split("").list.sort().list.join("").alias("letters")
