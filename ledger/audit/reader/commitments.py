"""Names, and when players joined, against what the journal sealed of them."""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import attrs

from ledger.audit.reader.files import (
    FIRST_FALSEHOODS,
    READ_ERRORS,
    RESTORE,
    Falsehood,
    Snapshot,
    opened,
    shown,
    text_fault,
)
from ledger.audit.reader.published import PEOPLE, file_falsehoods
from ledger.errors import one_line

SALT_BYTES = 16
REMEDY = "restore that row from a copy"
RENAMED = "player-renamed/1"


@attrs.frozen
class NamesVerdict:
    """What the names were found to be.

    Attributes:
        checked: players whose name was compared with its commitment.
        erased: players whose identity, name and salt were erased; when they joined can be compared.
        unregistered: people without an entry, as a crash between the two files leaves them; nothing can be compared.
        waiting: names that are to be given and that no entry sealed, as a renaming that was stopped leaves them.
        renamed_since: players whose name was sealed while the names were read, after the last entry that is looked at.
        falsehoods: the first 20 in order of the entries, then those of the people file's tables and pages.
    """

    checked: int
    erased: int
    unregistered: int
    waiting: int
    renamed_since: int
    falsehoods: tuple[Falsehood, ...]


class _Sealed(NamedTuple):
    """What the journal sealed of a player: the registration, then each renaming."""

    position: int
    joined_at: object
    commitments: list[tuple[int, object]]  # with the entries, the oldest first


class _Pending(NamedTuple):
    """A name that is to be given: place among the renamings of the player, name, salt."""

    number: object
    name: object
    salt: object


def verify_names(journal: str | Snapshot, people: str | Snapshot) -> NamesVerdict:
    """Compare every registered player's row with what the journal sealed.

    Args:
        journal: the journal, or a snapshot of it.
        people: the people file, or a snapshot of it that is not older than the journal's: people are written first.

    Raises:
        StorageError: a file is missing, locked, or may not be read.
        CorruptError: one is no database or lacks its table.
    """
    found: list[tuple[int, Falsehood]] = []
    registered = _registrations(journal, found)
    checked = erased = unregistered = waiting = since = 0
    later = _Later(journal)
    with opened(people, "people") as file:
        pending = _pending(file)
        for player, row_of_name in pending.items():
            if fault := _pending_fault(row_of_name, registered.get(player)):
                remedy = f"remove it with 'DELETE FROM renaming WHERE player = {player}'"
                found.append((0, Falsehood("renaming", player, f"{fault}; {remedy}")))
        for player, *row in _people(file, found):
            sealed = registered.pop(player, None)
            if sealed is None:
                unregistered += 1
            elif row[:3] == [None, None, None]:
                erased += 1
            else:
                checked += 1
            faults = list(_row_faults(row, sealed, pending.get(player)))
            if faults and sealed and later.seals(player, sealed, row):
                checked, since, faults = checked - 1, since + 1, []
            waiting += player in pending and not _is_sealed(row, pending[player], sealed)
            position = sealed.position if sealed else 0
            found += [(position, Falsehood("people", player, fault)) for fault in faults]
        of_the_file = file_falsehoods(file, PEOPLE)
    for player, (position, *_) in registered.items():
        message = f"player {player} of entry {position} is missing here; restore the row (erasing keeps it)"
        found.append((position, Falsehood("people", player, message)))
    found.sort(key=lambda pair: pair[0])
    rows = [falsehood for _, falsehood in found[:FIRST_FALSEHOODS]]
    return NamesVerdict(checked, erased, unregistered, waiting, since, (*rows, *of_the_file))


def _registrations(journal: str | Snapshot, found: list[tuple[int, Falsehood]]) -> dict[int, _Sealed]:
    """For each registered player, what the journal sealed; entries that say nothing to compare are *found*."""
    registered: dict[int, _Sealed] = {}
    sql = (
        "SELECT position, kind, key, body FROM journal "
        f"WHERE kind IN ('player-registered/1', '{RENAMED}') ORDER BY position"
    )
    with opened(journal, "journal") as file:
        position = 0
        try:
            for position, kind, key, body in file.connection.execute(sql):
                take = _rename if kind == RENAMED else _register
                if fault := take(registered, position, key, facts_of(body)):
                    found.append((position, Falsehood("journal", position, f"{fault}; {RESTORE}")))
        except READ_ERRORS as error:
            fault = f"no registration after this entry can be read ({one_line(error)}); {RESTORE}"
            found.append((position, Falsehood("journal", position, fault)))
    return registered


def _register(registered: dict[int, _Sealed], position: int, key: object, facts: dict[str, Any]) -> str:
    """Take a registration; what is wrong with it, if anything."""
    player = facts.get("player")
    if type(player) is not int:
        return f"registers player {shown(player)}, which is no number: no name can be compared"
    if player in registered:
        return f"registers player {player} again after entry {registered[player].position}"
    registered[player] = _Sealed(position, facts.get("joined_at"), [(position, facts.get("commitment"))])
    return "" if key == f"player:{player}" else f"registers player {player} under the key {shown(key)}"


def _rename(registered: dict[int, _Sealed], position: int, key: object, facts: dict[str, Any]) -> str:
    """Take a renaming; what is wrong with it, if anything."""
    player = facts.get("player")
    if type(player) is not int or player not in registered:
        return f"renames player {shown(player)}, whom no entry before it registered"
    commitments = registered[player].commitments
    commitments.append((position, facts.get("commitment")))
    number = len(commitments) - 1
    given = facts.get("number")
    if type(given) is not int or given != number:
        return f"is renaming {shown(given)} of player {player}, but after the entries before it this is number {number}"
    return "" if key == f"renamed:{player}@{number}" else f"renames player {player} under the key {shown(key)}"


class _Later:
    """What a journal seals after the snapshot that is looked at: somebody may be renaming right now.

    Who is renamed meanwhile has the new name in a people file that is read later. It is read once, if ever.
    """

    def __init__(self, journal: str | Snapshot) -> None:
        self._journal = journal
        self._registered: dict[int, _Sealed] | None = None

    def seals(self, player: int, sealed: _Sealed, row: list[Any]) -> bool:
        """Whether a later entry renamed the player to the name of a row, which is false by the earlier ones."""
        if isinstance(self._journal, str):
            return False
        if self._registered is None:
            self._registered = _registrations(self._journal.path, [])
        now = self._registered.get(player)
        if now is None or len(now.commitments) <= len(sealed.commitments):
            return False
        is_longer = now.commitments[: len(sealed.commitments)] == sealed.commitments
        return is_longer and not list(_row_faults(row, now, None))


def _pending(file: Snapshot) -> dict[int, _Pending]:
    """The names that are to be given, by player; none in a file of the first layout, or where they cannot be read."""
    file.read_any_text()
    try:
        rows = file.connection.execute("SELECT player, number, name, salt FROM renaming ORDER BY player").fetchall()
    except READ_ERRORS:  # what its tables should be is compared elsewhere
        return {}
    return {player: _Pending(*row) for player, *row in rows}


def _pending_fault(pending: _Pending, sealed: _Sealed | None) -> str:
    """What is false in a row of names that are to be given, which no renaming leaves so; nothing otherwise."""
    if sealed is None:
        return "waits for a player whom no entry registered"
    if fault := text_fault(pending.name):
        return f"name {fault}"
    if not isinstance(pending.salt, bytes) or len(pending.salt) != SALT_BYTES:
        return f"the salt is not {SALT_BYTES} bytes"
    if not isinstance(pending.number, int) or pending.number < max(len(sealed.commitments) - 1, 1):
        return f"is renaming {shown(pending.number)}, after which entry {sealed.commitments[-1][0]} gave another name"
    return ""


def _is_sealed(row: list[Any], pending: _Pending, sealed: _Sealed | None) -> bool:
    """Whether the name that is to be given to the player of a row is the one that the journal sealed last."""
    _, name, salt = pending
    identity = row[0]
    if sealed is None or not (isinstance(identity, str) and isinstance(name, str) and isinstance(salt, bytes)):
        return False
    return (
        not text_fault(identity)
        and not text_fault(name)
        and (commitment_of(identity, name, salt) == sealed.commitments[-1][1])
    )


def _people(file: Snapshot, found: list[tuple[int, Falsehood]]) -> Iterator[list[Any]]:
    """The rows of people; ends at the first that cannot be read, and says after which."""
    player = 0
    try:
        sql = "SELECT player, identity, name, salt, joined_at FROM people ORDER BY player"
        for row in file.connection.execute(sql):
            player = row[0]
            yield list(row)
    except READ_ERRORS as error:
        fault = f"no player after this one can be read ({one_line(error)}); {PEOPLE.remedy}"
        found.append((0, Falsehood("people", player, fault)))


def _row_faults(row: list[Any], sealed: _Sealed | None, pending: _Pending | None) -> Iterator[str]:
    """What is false in a row of people, which is identity, name, salt and joined_at.

    Args:
        row: the row.
        sealed: what the journal sealed of the player; None where that is nothing.
        pending: the name that is to be given to the player, and its salt.
    """
    identity, name, salt, joined_at = row
    if fault := text_fault(joined_at):
        yield f"joined_at {fault}; {REMEDY}"
    elif sealed and joined_at != sealed.joined_at:
        yield (
            f"joined_at is {shown(joined_at)}, but entry {sealed.position} says {shown(sealed.joined_at)}; set it back "
            "to what the entry says"
        )
    if identity is name is salt is None:
        return
    if None in (identity, name, salt):
        without = [word for word, value in zip(("identity", "name", "salt"), row, strict=False) if value is None]
        yield f"is half erased: without {' and '.join(without)}; {REMEDY}, or erase the player"
        return
    for word, value in (("identity", identity), ("name", name)):
        if fault := text_fault(value):
            yield f"{word} {fault}; {REMEDY}"
            return
    if not isinstance(salt, bytes) or len(salt) != SALT_BYTES:
        yield f"the salt is not {SALT_BYTES} bytes; {REMEDY}"
    elif sealed:
        found = commitment_of(identity, name, salt)
        position, newest = sealed.commitments[-1]
        if found == newest or (pending is not None and _is_sealed(row, pending, sealed)):
            return
        if any(found == earlier for _, earlier in sealed.commitments):
            yield f"the name is from before entry {position}, which gave another one: an older copy; {REMEDY}"
            return
        yield (
            f"the name is not the one sealed in entry {position}: name, identity or salt was changed or is someone "
            f"else's; {REMEDY}"
        )


def commitment_of(identity: str, name: str, salt: bytes) -> str | None:
    """As published; None for a pair that could be cut at another place, which no importer makes."""
    if "\x00" in identity:
        return None
    return hmac.digest(salt, identity.encode() + b"\x00" + name.encode(), "sha256").hex()


def facts_of(body: Any) -> dict[str, Any]:
    """The facts of a body; empty where it is not JSON with facts."""
    try:
        facts = json.loads(body)["facts"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return {}
    return facts if isinstance(facts, dict) else {}
