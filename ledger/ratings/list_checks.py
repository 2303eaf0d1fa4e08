"""What looks wrong in a rating list before it is published: jumps, vanished players, names that stand twice.

Nothing is refused or looked up here: who asks decides, and brings the names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from ledger.facts.identities import are_apart
from ledger.journal.kept_lists import ListRow
from ledger.journal.people import Person

JUMP, VANISHED, NAME_TWICE, OPEN_PROPOSAL = "jump", "vanished", "name-twice", "open-proposal"


class Complaint(NamedTuple):
    """Something that looks wrong.

    Attributes:
        what: ``jump``, ``vanished``, ``name-twice`` or ``open-proposal``.
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
    """Listed players of one name, whatever its case, unless one register or server gave all of them a number.

    Args:
        rows: the list, by player.
        people: who bears these numbers.
    """
    bearers: dict[str, list[Person]] = {}
    for person in people(sorted(rows)).values():
        if person.name is not None:
            bearers.setdefault(" ".join(person.name.split()).casefold(), []).append(person)
    for same in bearers.values():
        first, *others = sorted(same)
        if any(not are_apart(first.identity or "", other.identity or "") for other in others):
            numbers = tuple(person.player for person in (first, *others))
            yield Complaint(NAME_TWICE, numbers, f"has the name of player {', '.join(map(str, numbers[1:]))}, too")
