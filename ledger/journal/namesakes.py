"""Players of one name under several identities: told when a new one is registered, for they may be one person.

Only the same name counts here, whatever its case; names that look alike are the business of ``answers.alike_players``.
Two identities of one register or server are two people. Nothing is refused or written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ledger.facts.identities import are_apart
from ledger.facts.source_games import Fault
from ledger.journal.people import People

if TYPE_CHECKING:
    from polars import DataFrame


def namesakes(people: People, identity: str, name: str) -> list[str]:
    """The other identities of a name, in the order of their registration.

    Args:
        people: who is registered.
        identity: of the player.
        name: the player's name.
    """
    bearers = _bearers(people, {name.lower()}).get(name.lower(), [])
    return [other for other in bearers if other != identity and not are_apart(identity, other)]


def namesakes_of(people: People, fresh: Sequence[DataFrame]) -> list[Fault]:
    """Of players who are about to be registered (``line``, ``identity``, ``name``), a note for each with a namesake.

    Args:
        people: who is registered so far.
        fresh: the new players of a list, frame by frame.
    """
    found: list[Fault] = []
    bearers = _bearers(people, {name.lower() for rows in fresh for name in rows["name"].to_list()})
    for rows in fresh if bearers else ():
        for line, identity, name in rows.iter_rows():
            others = [other for other in bearers.get(name.lower(), ()) if not are_apart(identity, other)]
            found += [Fault(line, also_known(identity, other)) for other in others[:1]]
    return found


def _bearers(people: People, names: set[str]) -> dict[str, list[str]]:
    """By name, in small letters, the identities of all who bear it; one look at all names."""
    numbers = {player: name.lower() for player, name in people.names() if name.lower() in names} if names else {}
    found: dict[str, list[str]] = {}
    for player, person in sorted(people.by_number(numbers).items()):
        if person.identity is not None:
            found.setdefault(numbers[player], []).append(person.identity)
    return found


def also_known(identity: str, other: str) -> str:
    """The words of a note."""
    return f"{identity} has the name of {other}, and may be the same person: see 'players alike'"
