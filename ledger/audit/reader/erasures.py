"""Who was erased, by the journal, against the people file: nobody of them may be known there by name again."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import attrs

from ledger.audit.reader.commitments import facts_of
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
from ledger.errors import one_line

_ERASURES = "SELECT position, key, body FROM journal WHERE key >= 'erased:' AND key < 'erased;' ORDER BY position"
_REGISTRATION = "SELECT position FROM journal WHERE key = ?"
_KNOWN = "SELECT 1 FROM people WHERE player = ? AND (identity IS NOT NULL OR name IS NOT NULL OR salt IS NOT NULL)"
# Names in the index of the search whose player has none.
_IN_THE_INDEX = (
    "SELECT id FROM people_search_content "
    f"WHERE id NOT IN (SELECT player FROM people WHERE name IS NOT NULL) ORDER BY id LIMIT {FIRST_FALSEHOODS}"
)
SECRET_BYTES = 32
_SECRETS = "SELECT number, typeof(secret), length(secret) FROM secret LIMIT 2"
_HAS_INDEX = "SELECT 1 FROM sqlite_master WHERE name = ?"
# Each name of the index of whole names with that of its player, and players whom it should have and does not.
_WHOLE_NAMES = """
SELECT f.player, f.name, p.name FROM people_folds AS f LEFT JOIN people AS p ON p.player = f.player
UNION ALL SELECT player, NULL, name FROM people
WHERE name IS NOT NULL AND player <= (SELECT max(player) FROM people_folds)
  AND player NOT IN (SELECT player FROM people_folds)
ORDER BY 1
"""


@attrs.frozen
class ErasuresVerdict:
    """What the erasures were found to be.

    Attributes:
        recorded: players of whom the journal says that they were erased.
        waiting: registered players who are forgotten and of whom the journal does not say it yet, as an erasure that
            was stopped leaves them.
        falsehoods: the first 20, the journal's first.
    """

    recorded: int
    waiting: int
    falsehoods: tuple[Falsehood, ...]


def verify_erasures(journal: str | Snapshot, people: str | Snapshot) -> ErasuresVerdict:
    """Hold the erasures that the journal recorded against who is known by name.

    Args:
        journal: the journal, or a snapshot of it.
        people: the people file, or a snapshot of it that is not older than the journal's: a row becomes blank first.

    Raises:
        StorageError: a file is missing, locked, or may not be read.
        CorruptError: one is no database or lacks its table.
    """
    found: list[Falsehood] = []
    with opened(journal, "journal") as file:
        erased = _erased(file, found)
        with opened(people, "people") as names:
            pending = _pending(names, found)
            known = _known(names, sorted({*erased, *pending}))
            found += _in_the_index(names)
        registered = {player for player in pending if _registered(file, player)}
    for player, actor in pending.items():
        fault = text_fault(actor)
        if player in known:
            fault = "waits to be brought to its end, but the player is known by name"
        if fault:
            remedy = f"'rating-ledger erase DB {player}' erases the player again"
            found.append(Falsehood("erasing", player, f"{fault}; {remedy}"))
    found += [
        Falsehood(
            "people",
            player,
            f"is known by name, but entry {erased[player]} says that this person was erased: the file is an older copy "
            f"or was changed; 'rating-ledger erase DB {player}' erases the player again, as does any command that may "
            "write",
        )
        for player in known
        if player in erased
    ]
    return ErasuresVerdict(len(erased), len(registered - erased.keys()), tuple(found[:FIRST_FALSEHOODS]))


def _erased(file: Snapshot, found: list[Falsehood]) -> dict[int, int]:
    """By player who was erased, the entry that says so; entries that say nothing of the kind are *found*."""
    erased: dict[int, int] = {}
    position = 0
    try:
        for position, key, body in file.connection.execute(_ERASURES):
            player = facts_of(body).get("player")
            if type(player) is not int or key != f"erased:{player}":
                fault = f"erases player {shown(player)} under the key {shown(key)}; {RESTORE}"
            elif not 0 < _registered(file, player) < position:
                fault = f"erases player {player}, whom no entry before it registered; {RESTORE}"
            else:
                erased[player] = position
                continue
            found.append(Falsehood("journal", position, fault))
    except READ_ERRORS as error:
        fault = f"no erasure after this entry can be read ({one_line(error)}); {RESTORE}"
        found.append(Falsehood("journal", position, fault))
    return erased


def _registered(file: Snapshot, player: int) -> int:
    """The entry that registered a player; 0 where none did, or it cannot be read."""
    try:
        row = file.connection.execute(_REGISTRATION, (f"player:{player}",)).fetchone()
    except READ_ERRORS:  # told where the entries are compared
        return 0
    return int(row[0]) if row else 0


def _pending(file: Snapshot, found: list[Falsehood]) -> dict[int, object]:
    """By player who waits, who had the player erased; nobody in a file of an earlier layout."""
    file.read_any_text()
    if not file.connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'erasing'").fetchone():
        return {}
    try:
        return dict(file.connection.execute("SELECT player, actor FROM erasing ORDER BY player").fetchall())
    except READ_ERRORS as error:
        found.append(Falsehood("erasing", 0, f"cannot be read ({one_line(error)}); restore the file from a copy"))
        return {}


def _known(file: Snapshot, players: Iterable[int]) -> list[int]:
    """Those of these players who are known by more than a number; what cannot be read is told with the names."""
    known = []
    for player in players:
        with suppress(*READ_ERRORS):
            if file.connection.execute(_KNOWN, (player,)).fetchone():
                known.append(player)
    return known


def _in_the_index(file: Snapshot) -> list[Falsehood]:
    """Names that an index still holds though nobody bears them, or lacks; a damaged one is told with the pages."""
    found: list[Falsehood] = []
    with suppress(*READ_ERRORS):
        if file.connection.execute(_HAS_INDEX, ("people_search_content",)).fetchone():
            remedy = "'DROP TABLE people_search' and VACUUM take it away, and the next search makes it anew"
            found += [
                Falsehood("people_search", player, f"holds a name of a player who has none; {remedy}")
                for (player,) in file.connection.execute(_IN_THE_INDEX)
            ]
    with suppress(*READ_ERRORS):
        if file.connection.execute(_HAS_INDEX, ("secret",)).fetchone():
            # another secret of the same form cannot be told from the right one: nothing in the journal says which it is
            sound = file.connection.execute(_SECRETS).fetchall()
            if sound != [(1, "blob", SECRET_BYTES)]:
                words = f"is not one secret of {SECRET_BYTES} bytes under number 1; restore the file from a copy"
                found.append(Falsehood("secret", 0, words))
    with suppress(*READ_ERRORS):
        if file.connection.execute(_HAS_INDEX, ("people_folds",)).fetchone():
            remedy = "'DROP TABLE people_folds' and VACUUM take it away, and the next import makes it anew"
            for player, indexed, name in file.connection.execute(_WHOLE_NAMES):
                if indexed != (None if name is None else " ".join(name.lower().split())):
                    fault = "lacks the name" if indexed is None else "holds another name than that"
                    found.append(Falsehood("people_folds", player, f"{fault} of this player; {remedy}"))
                    if len(found) == FIRST_FALSEHOODS:
                        break
    return found
