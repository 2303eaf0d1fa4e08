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


@attrs.frozen
class NamesVerdict:
    """What the names were found to be.

    Attributes:
        checked: players whose name was compared with its commitment.
        erased: players whose identity, name and salt were erased; when they joined can be compared.
        unregistered: people without an entry, as a crash between the two files leaves them; nothing can be compared.
        falsehoods: the first 20 in order of the entries, then those of the people file's tables and pages.
    """

    checked: int
    erased: int
    unregistered: int
    falsehoods: tuple[Falsehood, ...]


class _Registration(NamedTuple):
    position: int
    commitment: object
    joined_at: object


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
    checked = erased = unregistered = 0
    with opened(people, "people") as file:
        for player, *row in _people(file, found):
            registration = registered.pop(player, None)
            if registration is None:
                unregistered += 1
            elif row[:3] == [None, None, None]:
                erased += 1
            else:
                checked += 1
            position = registration.position if registration else 0
            found += [(position, Falsehood("people", player, fault)) for fault in _row_faults(row, registration)]
        of_the_file = file_falsehoods(file, PEOPLE)
    for player, (position, *_) in registered.items():
        message = f"player {player} of entry {position} is missing here; restore the row (erasing keeps it)"
        found.append((position, Falsehood("people", player, message)))
    found.sort(key=lambda pair: pair[0])
    rows = [falsehood for _, falsehood in found[:FIRST_FALSEHOODS]]
    return NamesVerdict(checked, erased, unregistered, (*rows, *of_the_file))


def _registrations(journal: str | Snapshot, found: list[tuple[int, Falsehood]]) -> dict[int, _Registration]:
    """For each registered player, what the journal sealed; entries that say nothing to compare are *found*."""
    registered: dict[int, _Registration] = {}
    sql = "SELECT position, key, body FROM journal WHERE kind = 'player-registered/1' ORDER BY position"
    with opened(journal, "journal") as file:
        position = 0
        try:
            for position, key, body in file.connection.execute(sql):
                facts = facts_of(body)
                player = facts.get("player")
                fault = ""
                if type(player) is not int:
                    fault = f"registers player {shown(player)}, which is no number: no name can be compared"
                elif player in registered:
                    fault = f"registers player {player} again after entry {registered[player].position}"
                else:
                    registered[player] = _Registration(position, facts.get("commitment"), facts.get("joined_at"))
                    if key != f"player:{player}":
                        fault = f"registers player {player} under the key {shown(key)}"
                if fault:
                    found.append((position, Falsehood("journal", position, f"{fault}; {RESTORE}")))
        except READ_ERRORS as error:
            fault = f"no registration after this entry can be read ({one_line(error)}); {RESTORE}"
            found.append((position, Falsehood("journal", position, fault)))
    return registered


def _people(file: Snapshot, found: list[tuple[int, Falsehood]]) -> Iterator[list[Any]]:
    """The rows of people; ends at the first that cannot be read, and says after which."""
    file.read_any_text()
    player = 0
    try:
        sql = "SELECT player, identity, name, salt, joined_at FROM people ORDER BY player"
        for row in file.connection.execute(sql):
            player = row[0]
            yield list(row)
    except READ_ERRORS as error:
        fault = f"no player after this one can be read ({one_line(error)}); {PEOPLE.remedy}"
        found.append((0, Falsehood("people", player, fault)))


def _row_faults(row: list[Any], registration: _Registration | None) -> Iterator[str]:
    """What is false in a row of people, which is identity, name, salt and joined_at."""
    identity, name, salt, joined_at = row
    if fault := text_fault(joined_at):
        yield f"joined_at {fault}; {REMEDY}"
    elif registration and joined_at != registration.joined_at:
        yield (
            f"joined_at is {shown(joined_at)}, but entry {registration.position} says "
            f"{shown(registration.joined_at)}; set it back to what the entry says"
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
    elif registration and _commitment(identity, name, salt) != registration.commitment:
        yield (
            f"the name is not the one sealed in entry {registration.position}: "
            f"name, identity or salt was changed or is someone else's; {REMEDY}"
        )


def _commitment(identity: str, name: str, salt: bytes) -> str | None:
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
