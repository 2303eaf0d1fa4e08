"""Names against the salted commitments that the journal sealed."""

from __future__ import annotations

import hmac
import json
from typing import Any

import attrs

from ledger.errors import CorruptError
from ledger.verify.files import FIRST_FALSEHOODS, RESTORE, Falsehood, opened, shown


@attrs.frozen
class NamesVerdict:
    """What the names were found to be.

    Attributes:
        checked: players whose name was compared with its commitment.
        erased: players whose identity, name and salt were erased; nothing can be compared.
        unregistered: people without an entry, as a crash between the two files leaves them.
        falsehoods: the first 20, in order of the entries.
    """

    checked: int
    erased: int
    unregistered: int
    falsehoods: tuple[Falsehood, ...]


def verify_names(journal_path: str, people_path: str) -> NamesVerdict:
    """Compare every registered player's name with the commitment sealed in the journal.

    Raises:
        StorageError: a file is missing, not SQLite, or without its table.
        CorruptError: one cannot be read, or an entry says nothing that can be compared.
    """
    registered = _commitments(journal_path)  # before the people, who are written first
    found: list[tuple[int, Falsehood]] = []
    checked = erased = unregistered = 0
    with opened(people_path, "people") as connection:
        for player, *secrets in connection.execute("SELECT player, identity, name, salt FROM people"):
            position, commitment = registered.pop(player, (0, ""))
            if not position:
                unregistered += 1
            elif secrets == [None, None, None]:
                erased += 1
            else:
                checked += 1
                if _commitment(*secrets) != commitment:
                    message = (
                        f"the name of player {player} is not the one sealed in entry {position}: "
                        "name, identity or salt was changed or is someone else's; restore that row"
                    )
                    found.append((position, Falsehood("people", player, message)))
    for player, (position, _) in registered.items():
        message = f"player {player} of entry {position} is missing here; restore the row (erasing keeps it)"
        found.append((position, Falsehood("people", player, message)))
    found.sort(key=lambda pair: pair[0])
    return NamesVerdict(checked, erased, unregistered, tuple(f for _, f in found[:FIRST_FALSEHOODS]))


def _commitments(path: str) -> dict[int, tuple[int, str]]:
    """For each registered player, the entry and the commitment in it."""
    registered: dict[int, tuple[int, str]] = {}
    sql = "SELECT position, key, body FROM journal WHERE kind = 'player-registered/1' ORDER BY position"
    with opened(path, "journal") as connection:
        for position, key, body in connection.execute(sql):
            facts = facts_of(path, position, body)
            player, commitment = facts.get("player"), facts.get("commitment")
            if type(player) is not int or key != f"player:{player}" or not isinstance(commitment, str):
                raise CorruptError(
                    path, position, f"key {shown(key)} and its facts disagree; audit the journal"
                )
            if player in registered:
                first, _ = registered[player]
                raise CorruptError(
                    path, position, f"registers player {player} again after {first}; {RESTORE}"
                )
            registered[player] = (position, commitment)
    return registered


def facts_of(path: str, position: int, body: Any) -> dict[str, Any]:
    """The facts of a body; CorruptError where it is not JSON with facts."""
    try:
        facts = json.loads(body)["facts"]
    except (ValueError, TypeError, KeyError, RecursionError):
        facts = None
    if not isinstance(facts, dict):
        raise CorruptError(path, position, "the body is not a JSON object with facts; audit the journal")
    return facts


def _commitment(identity: object, name: object, salt: object) -> str:
    if isinstance(identity, str) and isinstance(name, str) and isinstance(salt, bytes):
        return hmac.digest(salt, identity.encode() + b"\x00" + name.encode(), "sha256").hex()
    return ""
