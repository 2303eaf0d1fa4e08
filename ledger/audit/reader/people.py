"""The comparison of a people file with the journal: names, erasures, reasons of corrections, data about people."""

from __future__ import annotations

import hmac
from collections.abc import Container, Iterator
from contextlib import suppress
from functools import cached_property
from typing import Any, NamedTuple

import attrs

from ledger.audit.reader.layouts import PEOPLE, layout_falsehoods
from ledger.audit.reader.snapshots import (
    FIRST_FALSEHOODS,
    READ_ERRORS,
    RESTORE,
    Falsehood,
    Finding,
    Snapshot,
    excerpt,
    facts_of,
    open_with_tables,
    readable_rows,
    text_fault,
)

SALT_BYTES = 16
REMEDY = "restore that row from a copy"
RENAMED = "player-renamed/1"


@attrs.frozen
class NamesVerdict(Finding):
    """The findings of an audit about the names, with the numbers of players that they concern.

    Attributes:
        checked: players whose name was compared with its commitment.
        unregistered: people without an entry, as a crash between the two files leaves them; nothing can be compared.
        waiting: new names without a commitment, as an interrupted renaming leaves them.
        renamed_since: players renamed after the last entry of the snapshot.
    """

    checked: int
    erased: int
    unregistered: int
    waiting: int
    renamed_since: int
    falsehoods: tuple[Falsehood, ...]


class _Sealed(NamedTuple):
    """The journal's commitments to a player: the registration, then each renaming."""

    position: int
    joined_at: object
    commitments: list[tuple[int, object]]  # with the entries, the oldest first


class _Pending(NamedTuple):
    """A name that is to be given: place among the renamings of the player, name, salt."""

    number: object
    name: object
    salt: object


def verify_names(journal: str | Snapshot, people: str | Snapshot) -> NamesVerdict:
    """Compare every registered player's row with the journal's commitments; arguments as of ``verify_people``."""
    of_journal: list[Falsehood] = []
    registered = _registrations(journal, of_journal)
    false = [(int(falsehood.position_or_key), falsehood) for falsehood in of_journal]
    checked = erased = unregistered = waiting = since = 0
    later = _Later(journal)
    with open_with_tables(people, "people") as file:
        file.decode_any_text()
        pending: dict[int, _Pending] = {}
        # a file of release 0.1.0 has no such table; what its tables should be is compared elsewhere
        with suppress(*READ_ERRORS):
            rows = file.connection.execute("SELECT player, number, name, salt FROM renaming ORDER BY player").fetchall()
            pending = {player: _Pending(*row) for player, *row in rows}
        for player, row_of_name in pending.items():
            if fault := _pending_fault(row_of_name, registered.get(player)):
                remedy = f"remove it with 'DELETE FROM renaming WHERE player = {player}'"
                false.append((0, Falsehood("renaming", player, f"{fault}; {remedy}")))
        damage: list[Falsehood] = []
        people_rows = "SELECT player, identity, name, salt, joined_at FROM people ORDER BY player"
        for player, *row in readable_rows(file, damage, "people", "player", people_rows):
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
            false += [(position, Falsehood("people", player, fault)) for fault in faults]
        false += [(0, falsehood) for falsehood in damage]
        of_the_file = layout_falsehoods(file, PEOPLE)
    for player, (position, *_) in registered.items():
        message = f"player {player} of entry {position} is missing here; restore the row (erasing keeps it)"
        false.append((position, Falsehood("people", player, message)))
    false.sort(key=lambda pair: pair[0])
    falsehoods = (*(falsehood for _, falsehood in false[:FIRST_FALSEHOODS]), *of_the_file)
    return NamesVerdict(checked, erased, unregistered, waiting, since, falsehoods)


def _registrations(journal: str | Snapshot, false: list[Falsehood]) -> dict[int, _Sealed]:
    """Return, for each registered player, the journal's commitments; entries without any go to *false*."""
    registered: dict[int, _Sealed] = {}
    sql = (
        "SELECT position, kind, key, body FROM journal "
        f"WHERE kind IN ('player-registered/1', '{RENAMED}') ORDER BY position"
    )
    with open_with_tables(journal, "journal") as file:
        for position, kind, key, body in readable_rows(file, false, "journal", "registration", sql):
            add = _add_renaming if kind == RENAMED else _add_registration
            if fault := add(registered, position, key, facts_of(body)):
                false.append(Falsehood("journal", position, f"{fault}; {RESTORE}"))
    return registered


def _add_registration(registered: dict[int, _Sealed], position: int, key: object, facts: dict[str, Any]) -> str:
    """Add a registration; return its fault, empty if it has none."""
    player = facts.get("player")
    if type(player) is not int:
        return f"registers player {excerpt(player)}, which is no number: no name can be compared"
    if player in registered:
        return f"registers player {player} again after entry {registered[player].position}"
    registered[player] = _Sealed(position, facts.get("joined_at"), [(position, facts.get("commitment"))])
    return "" if key == f"player:{player}" else f"registers player {player} under the key {excerpt(key)}"


def _add_renaming(registered: dict[int, _Sealed], position: int, key: object, facts: dict[str, Any]) -> str:
    """Add a renaming; return its fault, empty if it has none."""
    player = facts.get("player")
    if type(player) is not int or player not in registered:
        return f"renames player {excerpt(player)}, whom no entry before it registered"
    commitments = registered[player].commitments
    commitments.append((position, facts.get("commitment")))
    number = len(commitments) - 1
    count = facts.get("number")
    if type(count) is not int or count != number:
        return (
            f"is renaming {excerpt(count)} of player {player}, but after the entries before it this is number {number}"
        )
    return "" if key == f"renamed:{player}@{number}" else f"renames player {player} under the key {excerpt(key)}"


class _Later:
    """The commitments in the journal after the snapshot, read once, if ever: a player may be renamed meanwhile."""

    def __init__(self, journal: str | Snapshot) -> None:
        self._journal = journal

    @cached_property
    def _registered(self) -> dict[int, _Sealed]:
        # By the path, not by the snapshot that is held: that one ends before the renaming.
        return {} if isinstance(self._journal, str) else _registrations(self._journal.path, [])

    def seals(self, player: int, sealed: _Sealed, row: list[Any]) -> bool:
        """Return whether a later entry renamed the player to the name of a row, which is false by the earlier ones."""
        now = self._registered.get(player)
        if now is None or len(now.commitments) <= len(sealed.commitments):
            return False
        is_longer = now.commitments[: len(sealed.commitments)] == sealed.commitments
        return is_longer and not list(_row_faults(row, now, None))


def _pending_fault(pending: _Pending, sealed: _Sealed | None) -> str:
    """Return the fault in a row of pending names, which no renaming leaves so; nothing otherwise."""
    if sealed is None:
        return "waits for a player whom no entry registered"
    if fault := text_fault(pending.name):
        return f"name {fault}"
    if not isinstance(pending.salt, bytes) or len(pending.salt) != SALT_BYTES:
        return f"the salt is not {SALT_BYTES} bytes"
    if not isinstance(pending.number, int) or pending.number < max(len(sealed.commitments) - 1, 1):
        return f"is renaming {excerpt(pending.number)}, after which entry {sealed.commitments[-1][0]} gave another name"
    return ""


def _is_sealed(row: list[Any], pending: _Pending, sealed: _Sealed | None) -> bool:
    """Return whether the pending name of a row's player is the one that the journal committed to last."""
    identity, name, salt = row[0], pending.name, pending.salt
    if sealed is None or text_fault(identity) or text_fault(name) or not isinstance(salt, bytes):
        return False
    return name_commitment(identity, str(name), salt) == sealed.commitments[-1][1]


def _row_faults(row: list[Any], sealed: _Sealed | None, pending: _Pending | None) -> Iterator[str]:
    """Yield the faults of a row of people, which is identity, name, salt and joined_at."""
    identity, name, salt, joined_at = row
    if fault := text_fault(joined_at):
        yield f"joined_at {fault}; {REMEDY}"
    elif sealed and joined_at != sealed.joined_at:
        yield (
            f"joined_at is {excerpt(joined_at)}, but entry {sealed.position} says {excerpt(sealed.joined_at)}; set it "
            "back to what the entry says"
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
        own = name_commitment(identity, name, salt)
        position, newest = sealed.commitments[-1]
        if own == newest or (pending is not None and _is_sealed(row, pending, sealed)):
            return
        if any(own == earlier for _, earlier in sealed.commitments):
            yield f"the name is from before entry {position}, which gave another one: an older copy; {REMEDY}"
            return
        yield (
            f"the name is not the one sealed in entry {position}: name, identity or salt was changed or is someone "
            f"else's; {REMEDY}"
        )


def name_commitment(identity: str, name: str, salt: bytes) -> str | None:
    """Return the commitment to a name as the journal has it; None for an identity with a NUL, which is ambiguous."""
    if "\x00" in identity:
        return None
    # A name alone could be tried by anybody against a bare hash: the salt is 16 random bytes, and goes with the name.
    return hmac.digest(salt, identity.encode() + b"\x00" + name.encode(), "sha256").hex()


# In the order of keys ';' follows ':', so that these two enclose every erasure.
_ERASURES = "key >= 'erased:' AND key < 'erased;'"
_KNOWN = "SELECT 1 FROM people WHERE player = ? AND (identity IS NOT NULL OR name IS NOT NULL OR salt IS NOT NULL)"
# Names in the index of the search without a player. FTS5 keeps the words of an index in a table of its own, by the
# number of the player: a name stays there until it is removed from the index, even if the row is gone.
_INDEXED_WITHOUT_NAME = (
    "SELECT id FROM people_search_content "
    f"WHERE id NOT IN (SELECT player FROM people WHERE name IS NOT NULL) ORDER BY id LIMIT {FIRST_FALSEHOODS}"
)
SECRET_BYTES = 32
# Two at most: a second secret is one too many already.
_SECRETS = "SELECT number, typeof(secret), length(secret) FROM secret LIMIT 2"
_HAS_TABLE = "SELECT 1 FROM sqlite_master WHERE name = ?"
# Each name of the index of whole names with that of its player, and players whom it should have and does not.
# Who came after the last player of the index is missing there by right: only many of them are taken in at once.
_WHOLE_NAMES = """
SELECT f.player, f.name, p.name FROM people_folds AS f LEFT JOIN people AS p ON p.player = f.player
UNION ALL SELECT player, NULL, name FROM people
WHERE name IS NOT NULL AND player <= (SELECT max(player) FROM people_folds)
  AND player NOT IN (SELECT player FROM people_folds)
ORDER BY 1
"""


@attrs.frozen
class ErasuresVerdict(Finding):
    """The findings of an audit about the erasures; *waiting* is the number of those without an entry yet."""

    waiting: int
    falsehoods: tuple[Falsehood, ...]


def verify_erasures(journal: str | Snapshot, people: str | Snapshot) -> ErasuresVerdict:
    """Check that no erased player still has a name or an index entry; arguments as of ``verify_people``."""
    false: list[Falsehood] = []
    with open_with_tables(journal, "journal") as file:
        erased = _erased(file, false)
        with open_with_tables(people, "people") as names:
            pending = _erasing(names, false)
            named = []
            for player in sorted({*erased, *pending}):
                with suppress(*READ_ERRORS):  # reported with the names
                    if names.connection.execute(_KNOWN, (player,)).fetchone():
                        named.append(player)
            false += _index_falsehoods(names)
            false += _data_of(names, erased)
        registered = {player for player in pending if _registered(file, player)}
    for player, actor in pending.items():
        fault = text_fault(actor)
        if player in named:
            fault = "waits to be brought to its end, but the player is known by name"
        if fault:
            remedy = f"'rating-ledger erase DB {player}' erases the player again"
            false.append(Falsehood("erasing", player, f"{fault}; {remedy}"))
    false += [
        Falsehood(
            "people",
            player,
            f"is known by name, but entry {erased[player]} says that this person was erased: the file is an older copy "
            f"or was changed; 'rating-ledger erase DB {player}' erases the player again, as does any command that may "
            "write",
        )
        for player in named
        if player in erased
    ]
    return ErasuresVerdict(len(registered - erased.keys()), tuple(false[:FIRST_FALSEHOODS]))


def _data_of(file: Snapshot, erased: Container[int]) -> list[Falsehood]:
    """Return the data of erased players that a file still has; none in a file of release 0.1.0."""
    if not file.connection.execute(_HAS_TABLE, ("reasons",)).fetchone():
        return []
    false: list[Falsehood] = []
    with suppress(*READ_ERRORS):  # reported with the texts
        for number, entry in file.connection.execute(_DATA_OF_ERASED):
            player = str(entry).removeprefix("details:").partition("@")[0]
            if player.isdecimal() and int(player) in erased:
                words = f"holds data of player {player}, who was erased; 'rating-ledger erase DB {player}' erases them"
                false.append(Falsehood("reasons", number, words))
    return false[:FIRST_FALSEHOODS]


def _erased(file: Snapshot, false: list[Falsehood]) -> dict[int, int]:
    """Return, by erased player, the entry that says so; malformed entries go to *false*."""
    erased: dict[int, int] = {}
    query = f"{file.entries_by_key('position, key, body', _ERASURES)} ORDER BY position"
    for position, key, body in readable_rows(file, false, "journal", "erasure", query):
        player = facts_of(body).get("player")
        if type(player) is not int or key != f"erased:{player}":
            fault = f"erases player {excerpt(player)} under the key {excerpt(key)}; {RESTORE}"
        elif not 0 < _registered(file, player) < position:
            fault = f"erases player {player}, whom no entry before it registered; {RESTORE}"
        else:
            erased[player] = position
            continue
        false.append(Falsehood("journal", position, fault))
    return erased


def _registered(file: Snapshot, player: int) -> int:
    """Return the entry that registered a player; 0 if none did, or it cannot be read."""
    try:
        row = file.connection.execute(file.entries_by_key("position", "key = ?"), (f"player:{player}",)).fetchone()
    except READ_ERRORS:  # reported where the entries are compared
        return 0
    return int(row[0]) if row else 0


def _erasing(file: Snapshot, false: list[Falsehood]) -> dict[int, object]:
    """Return, by waiting player, who requested the erasure; none in a file of release 0.1.0."""
    file.decode_any_text()
    if not file.connection.execute(_HAS_TABLE, ("erasing",)).fetchone():
        return {}
    sql = "SELECT player, actor FROM erasing ORDER BY player"
    return {row[0]: row[1] for row in readable_rows(file, false, "erasing", "erasure", sql)}


def _index_falsehoods(file: Snapshot) -> list[Falsehood]:
    """Return names that an index lacks or still has without a player, and a malformed secret."""
    false: list[Falsehood] = []
    # A table may be missing: the indexes are made when they are needed, and release 0.1.0 had no secret.
    with suppress(*READ_ERRORS):
        remedy = "'DROP TABLE people_search' and VACUUM remove it, and the next search makes it again"
        false += [
            Falsehood("people_search", player, f"holds a name of a player who has none; {remedy}")
            for (player,) in file.connection.execute(_INDEXED_WITHOUT_NAME)
        ]
    with suppress(*READ_ERRORS):
        # another secret of the same form cannot be distinguished from the right one: nothing in the journal
        # identifies it
        if file.connection.execute(_SECRETS).fetchall() != [(1, "blob", SECRET_BYTES)]:
            words = f"is not one secret of {SECRET_BYTES} bytes under number 1; restore the file from a copy"
            false.append(Falsehood("secret", 0, words))
    with suppress(*READ_ERRORS):
        remedy = "'DROP TABLE people_folds' and VACUUM remove it, and the next import makes it again"
        for player, indexed, name in file.connection.execute(_WHOLE_NAMES):
            if indexed != (None if name is None else " ".join(name.lower().split())):
                fault = "lacks the name" if indexed is None else "holds another name than that"
                false.append(Falsehood("people_folds", player, f"{fault} of this player; {remedy}"))
                if len(false) == FIRST_FALSEHOODS:
                    break
    return false


_REASON_REMEDY = "restore that row from a copy, or erase the reason"
# The keys of entries that commit to texts lie between these; and the field with the commitment.
_SEALING = (
    ("proposal:", "proposal;", "reason"),
    ("decision:", "decision;", "reason"),
    ("details:", "details;", "details"),
    ("described:", "described;", "arbiters"),
)
_DATA_OF_ERASED = (
    "SELECT number, entry FROM reasons WHERE text IS NOT NULL AND entry >= 'details:' AND entry < 'details;' "
    "ORDER BY number"
)


@attrs.frozen
class ReasonsVerdict(Finding):
    """The findings of an audit about the reasons of corrections, with the numbers of reasons that they concern.

    Attributes:
        checked: reasons that were compared with their commitments.
        missing: commitments without a row, which no erasure leaves.
        waiting: reasons without a commitment, as an interrupted correction leaves them.
    """

    checked: int
    erased: int
    missing: int
    waiting: int
    falsehoods: tuple[Falsehood, ...]


class _Row(NamedTuple):
    """A row of reasons."""

    number: int
    commitment: Any
    entry: Any
    salt: Any
    text: Any

    @property
    def is_erased(self) -> bool:
        return self.salt is self.text is None


def verify_reasons(journal: str | Snapshot, people: str | Snapshot) -> ReasonsVerdict:
    """Compare every reason with the journal's commitments; arguments as of ``verify_people``."""
    false: list[Falsehood] = []
    sealed = _sealed(journal, false)
    with open_with_tables(people, "people") as file:
        rows = _rows(file, false)
    # Reasons are kept one after another, each before its entry: those without an entry are the newest.
    last_sealed = max((place for place, row in enumerate(rows, 1) if _position(row, sealed)), default=0)
    checked = erased = waiting = position = 0
    for place, row in enumerate(rows, 1):
        fault, sealing = _row_fault(row), _position(row, sealed)
        if row.number != place:
            fault = f"is number {row.number}, but there are {place - 1} before it; {_REASON_REMEDY}"
        elif not fault and not sealing and (place < last_sealed or row.is_erased):
            fault = f"no entry {excerpt(row.entry)} sealed it; {_REASON_REMEDY}"
        elif not fault and 0 < sealing < position:
            fault = f"entry {sealing} sealed it, but entry {position} one before it; {_REASON_REMEDY}"
        if fault:
            false.append(Falsehood("reasons", row.number, fault))
        checked += bool(sealing) and not row.is_erased
        erased += row.is_erased
        waiting += not sealing
        position = max(position, sealing)
    missing = len(sealed.keys() - {row.commitment for row in rows})
    return ReasonsVerdict(checked, erased, missing, waiting, tuple(false[:FIRST_FALSEHOODS]))


def _sealed(journal: str | Snapshot, false: list[Falsehood]) -> dict[str, dict[str, int]]:
    """Return, by commitment to a reason, the keys of the entries that hold it, with their positions."""
    sealed: dict[str, dict[str, int]] = {}
    with open_with_tables(journal, "journal") as file:
        sql = f"{file.entries_by_key('position, key, body', 'key >= ? AND key < ?')} ORDER BY position"
        for first, last, field in _SEALING:
            for position, key, body in readable_rows(file, false, "journal", first[:-1], sql, (first, last)):
                reason = facts_of(body).get(field)
                if isinstance(reason, str):
                    sealed.setdefault(reason, {})[key] = position
    return sealed


def _rows(file: Snapshot, false: list[Falsehood]) -> list[_Row]:
    """Return the rows in their order; none in a file of release 0.1.0."""
    file.decode_any_text()
    sql = "SELECT number, commitment, entry, salt, text FROM reasons ORDER BY number"
    if not file.connection.execute(_HAS_TABLE, ("reasons",)).fetchone():
        return []
    return [_Row(*row) for row in readable_rows(file, false, "reasons", "reason", sql)]


def _position(row: _Row, sealed: dict[str, dict[str, int]]) -> int:
    """Return the position of the entry that committed to a reason; 0 if none did."""
    return sealed.get(row.commitment, {}).get(row.entry, 0)


def _row_fault(row: _Row) -> str:
    """Return the fault of a row by itself."""
    for word, value in (("commitment", row.commitment), ("entry", row.entry)):
        if fault := text_fault(value):
            return f"{word} {fault}; {_REASON_REMEDY}"
    if row.is_erased:
        return ""
    if row.salt is None or row.text is None:
        return f"is half erased: without {'salt' if row.salt is None else 'text'}; {_REASON_REMEDY}"
    if fault := text_fault(row.text):
        return f"text {fault}; {_REASON_REMEDY}"
    if not isinstance(row.salt, bytes) or len(row.salt) != SALT_BYTES:
        return f"the salt is not {SALT_BYTES} bytes; {_REASON_REMEDY}"
    if hmac.digest(row.salt, row.text.encode(), "sha256").hex() != row.commitment:
        return f"the reason of {row.entry} is not the one sealed: text or salt was changed; {_REASON_REMEDY}"
    return ""


@attrs.frozen
class PeopleVerdict(Finding):
    """The findings of an audit about the people file."""

    names: NamesVerdict = NamesVerdict(0, 0, 0, 0, 0, ())
    erasures: ErasuresVerdict = ErasuresVerdict(0, ())
    reasons: ReasonsVerdict = ReasonsVerdict(0, 0, 0, 0, ())
    falsehoods: tuple[Falsehood, ...] = ()

    def not_compared(self) -> list[tuple[str, str]]:
        """Return the parts that could not be compared, each with its reason."""
        names, reasons, stopped = self.names, self.reasons, "that was stopped leaves"
        unsealed = f"no entry sealed them, as a {{}} {stopped} them; the next {{}} drops them"
        no_entry = f"they have no entry in the journal, as an import {stopped} them"
        not_yet = f"the journal does not say so yet, as an erasure {stopped} it; the next command records it"
        parts = (
            (names.unregistered, "names of {:,} people", no_entry),
            (names.waiting, "{:,} names that were to be given", unsealed.format("renaming", "command")),
            (names.renamed_since, "names of {:,} players", "they were renamed during this audit"),
            (self.erasures.waiting, "{:,} players who were erased", not_yet),
            (reasons.missing, "{:,} reasons of corrections", "they are not in the people file"),
            (reasons.waiting, "{:,} reasons that were to be given", unsealed.format("correction", "one")),
        )
        return [(part.format(number), reason) for number, part, reason in parts if number]


def verify_people(journal: str | Snapshot, people: str | Snapshot) -> PeopleVerdict:
    """Compare the people file with the journal's commitments.

    Args:
        journal: the journal, or a snapshot of it.
        people: the people file, or a snapshot of it that is not older than the journal's: people are written first.

    Raises:
        StorageError: a file is missing, locked, or may not be read.
        CorruptError: one is no database or lacks its table.
    """
    names, erasures = verify_names(journal, people), verify_erasures(journal, people)
    reasons = verify_reasons(journal, people)
    return PeopleVerdict(names, erasures, reasons, names.falsehoods + erasures.falsehoods + reasons.falsehoods)
