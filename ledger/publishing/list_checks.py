"""What looks wrong in a rating list before it is published: jumps, vanished players, names that stand twice.

Nothing is refused or looked up here: who asks decides, and brings the names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from typing import NamedTuple

from ledger.facts.person_names import are_apart, folded
from ledger.journal.kept_lists import ListRow
from ledger.players.people import Person

JUMP, VANISHED, NAME_TWICE, OPEN_PROPOSAL = "jump", "vanished", "name-twice", "open-proposal"
NAME_SHARED = "name-shared"


class Complaint(NamedTuple):
    """Something that looks wrong.

    Attributes:
        what: ``jump``, ``vanished``, ``name-twice``, ``open-proposal``, or ``name-shared``: several people, certainly,
            have one name, which refuses nothing.
        players: whom it concerns, by number.
        text: in words, without names of people; of a player, what follows the name.
    """

    what: str
    players: tuple[int, ...]
    text: str

    def __str__(self) -> str:
        """One line without names."""
        return f"player {self.players[0]} {self.text}" if self.players else self.text


Rows = Mapping[int, ListRow]


def moved(rows: Rows, before: Rows, last: str, largest_jump: float) -> Iterator[Complaint]:
    """Who moved farther than the limit since the list before, and who is gone, in order of the player numbers.

    Args:
        rows: the list, by player.
        before: the list before.
        last: what that list is called.
        largest_jump: the limit, points.
    """
    for player, row in sorted(before.items()):
        now = rows.get(player)
        if now is None:
            yield Complaint(VANISHED, (player,), f"stood on {last} with {row.shown}, and is on this list no more")
        elif abs(now.rating - row.rating) > largest_jump:
            points = f"{abs(now.rating - row.rating):.0f} points from {row.shown} on {last} to {now.shown}"
            yield Complaint(JUMP, (player,), f"jumps {points}, more than the limit of {largest_jump:g}")


def open_proposal(proposal: int) -> Complaint:
    """A correction that nobody has decided yet."""
    return Complaint(OPEN_PROPOSAL, (), f"correction {proposal} is proposed, and nobody has decided it yet")


def names_twice(rows: Rows, people: Callable[[list[int]], Mapping[int, Person]]) -> Iterator[Complaint]:
    """Listed players of one name, whatever its case, accents and the order of its words.

    They are several people where one register or server gave each a number: that is only said, for readers of the list.

    Args:
        rows: the list, by player.
        people: who bears these numbers.
    """
    bearers: dict[str, list[Person]] = {}
    for person in people(sorted(rows)).values():
        if person.name is not None:
            # A name of signs alone folds to no words: it stands for itself.
            name = " ".join(sorted(folded(person.name).words)) or person.name
            bearers.setdefault(name, []).append(person)
    for same in bearers.values():
        first, *others = sorted(same)
        if others:
            numbers = tuple(person.player for person in (first, *others))
            words = f"has the name of player {', '.join(map(str, numbers[1:]))}, too"
            pairs = combinations((person.identity or "" for person in same), 2)
            apart = all(are_apart(identity, other) for identity, other in pairs)
            yield Complaint(NAME_SHARED if apart else NAME_TWICE, numbers, words)
