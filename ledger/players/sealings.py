"""Which entries of the journal sealed the name of a player: the registration, then each renaming in order.

The newest commitment is the one that a name is compared with, whoever compares it. Nothing is written here.
"""

from __future__ import annotations

from collections.abc import Iterable

from ledger.journal import Find, Journal, Stored
from ledger.players.pending_changes import Pending
from ledger.players.people import Person, commitment

_FIRST_REGISTRATION, _LAST_REGISTRATION = "player:", "player;"  # all keys that begin with "player:" lie between them
_FIRST_ERASURE, _LAST_ERASURE = "erased:", "erased;"
_FIRST_RENAMING, _LAST_RENAMING = "renamed:", "renamed;"
DECISIONS = ("decision:", "decision;")  # the keys of all decisions of corrections lie between these


def sealings(find: Find, players: Iterable[int]) -> dict[int, list[Stored]]:
    """By registered player, the entries that sealed the player's name, the oldest first: the last one holds.

    Args:
        find: what looks up keys in the journal, within its transaction where there is one.
        players: numbers; those that nobody registered are left out.
    """
    by_key = {registration_key(player): player for player in players}
    entries = {by_key[key]: [entry] for key, entry in find(list(by_key)).items()}
    renamed, number = list(entries), 1
    # the renamings of a player are counted without gaps
    while renamed:
        stored = find([f"renamed:{player}@{number}" for player in renamed])
        renamed = [player for player in renamed if f"renamed:{player}@{number}" in stored]
        for player in renamed:
            entries[player].append(stored[f"renamed:{player}@{number}"])
        number += 1
    return entries


def latest_commitments(journal: Journal, find: Find, players: Iterable[int]) -> dict[int, Stored]:
    """By registered player, the entry whose commitment the player's name is compared with.

    Args:
        journal: the journal.
        find: as of ``sealings``.
        players: numbers; those that nobody registered are left out.
    """
    by_key = {registration_key(player): player for player in players}
    if by_key and has_renamings(journal):
        return {player: entries[-1] for player, entries in sealings(find, by_key.values()).items()}
    return {by_key[key]: entry for key, entry in find(list(by_key)).items()}


def has_renamings(journal: Journal) -> bool:
    """Whether anybody was ever renamed: one look-up."""
    return next(iter(journal.keys(_FIRST_RENAMING, _LAST_RENAMING)), None) is not None


def renamed_players(journal: Journal) -> set[int]:
    """The numbers of all who were ever renamed."""
    keys = journal.keys(_FIRST_RENAMING, _LAST_RENAMING)
    return {int(key[len(_FIRST_RENAMING) :].partition("@")[0]) for key in keys}


def erased_players(journal: Journal) -> list[int]:
    """The numbers of all of whom the journal says that they were erased."""
    return [int(key[len(_FIRST_ERASURE) :]) for key in journal.keys(_FIRST_ERASURE, _LAST_ERASURE)]


def erasure_key(player: int) -> str:
    """The key of the entry that says that a player was erased."""
    return f"{_FIRST_ERASURE}{player}"


def registrations(journal: Journal) -> list[str]:
    """The keys of all registrations; those of changes have an instant behind the number."""
    keys = journal.keys(_FIRST_REGISTRATION, _LAST_REGISTRATION)
    return [key for key in keys if key[len(_FIRST_REGISTRATION) :].isdecimal()]


def registration_key(player: int) -> str:
    """The key of a player's registration."""
    return f"{_FIRST_REGISTRATION}{player}"


def number_of(key: str) -> int:
    """The player whom the entry of this key registers."""
    return int(key[len(_FIRST_REGISTRATION) :])


def is_renaming(entry: Stored) -> bool:
    """True for an entry that renamed a player; the body is canonical, so bytes are enough."""
    return b',"kind":"player-renamed/1","position":' in entry.body


def under(person: Person, pending: Pending) -> Person:
    """A person under the name that is about to be given, whoever was not erased."""
    return person if person.salt is None else person._replace(name=pending.name, salt=pending.salt)


def is_sealed(person: Person, entry: Stored) -> bool:
    """True when an entry commits to just this identity and name; the body is canonical, so bytes are enough."""
    return b'"commitment":"%b"' % commitment_to(person).encode() in entry.body


def commitment_to(person: Person) -> str:
    """The commitment to a person's identity and name as they stand."""
    return commitment(person.salt or b"", person.identity or "", person.name or "")
