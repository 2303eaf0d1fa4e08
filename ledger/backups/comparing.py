"""What a restore would take away: the present ledger held against the proven copy of a backup. Nothing is changed.

The connections to the present files are those of ``replacing.held``; either file may be damaged.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from ledger.backups.making import places
from ledger.backups.replacing import Present
from ledger.errors import LedgerError
from ledger.journal.merkle import leaf_hashes
from ledger.players.people_layouts import REASONS_SINCE, layout
from ledger.runtime import sqlite

if TYPE_CHECKING:
    import sqlite3

BLOCK = 10_000
_BODIES = "SELECT body FROM journal ORDER BY position"
_LEAVES = "SELECT leaf FROM journal ORDER BY position"
_SIZE = "SELECT coalesce(max(position), 0) FROM journal"
_KINDS = "SELECT kind, count(*) FROM journal WHERE position > ? GROUP BY kind ORDER BY kind"
_REGISTERED = "SELECT body FROM journal WHERE key = ?"
_ERASED = "SELECT player, joined_at FROM people WHERE identity IS NULL AND name IS NULL AND salt IS NULL"
_KNOWN = "SELECT player, joined_at, salt FROM people WHERE salt IS NOT NULL"
_ERASURES = "SELECT key FROM journal WHERE key >= 'erased:' AND key < 'erased;'"
_KNOWN_REASONS = "SELECT commitment FROM reasons WHERE text IS NOT NULL"
_ERASED_REASONS = "SELECT commitment FROM reasons WHERE text IS NULL AND salt IS NULL"


@attrs.frozen
class Loss:
    """What the ledger that stands there has and the backup has not.

    Attributes:
        entries: entries of the journal that stands there; None where it cannot be read, or there is none.
        backup: entries of the backup's journal.
        common: how many entries, from the first on, are the same in both.
        beyond: by kind, the entries after those in the journal that stands there.
        alarm: why the backup is not the ledger of the last checkpoint that is kept; None where it is, or none is kept.
    """

    entries: int | None
    backup: int
    common: int = 0
    beyond: Mapping[str, int] = attrs.field(factory=dict)
    alarm: str | None = None

    @property
    def is_earlier_state(self) -> bool:
        """True when the backup is an earlier state of the ledger that stands there, or the same state."""
        return self.common == self.backup


@attrs.frozen
class Erased:
    """Players who were erased in the ledger that stands there, but not yet in the backup.

    Attributes:
        players: their numbers.
        unknown: True where the people who stand there cannot be read, so that nobody can tell.
        reasons: commitments to reasons of corrections that were erased likewise.
    """

    players: tuple[int, ...] = ()
    unknown: bool = False
    reasons: tuple[str, ...] = ()


def loss(present: Present, copy: Path) -> Loss:
    """Hold the journal that stands there against the proven *copy*, entry by entry."""
    with closing(sqlite.connect(copy, read_only=True)) as proven:
        backup = int(proven.execute(_SIZE).fetchone()[0])
        journal = present["journal"]
        if journal is None:
            return Loss(None, backup)
        try:
            with sqlite.storage_errors(copy):
                common = _common(journal, proven)
                entries = int(journal.execute(_SIZE).fetchone()[0])
                return Loss(entries, backup, common, dict(journal.execute(_KINDS, (common,)).fetchall()))
        except (LedgerError, TypeError, ValueError):
            return Loss(None, backup)


def _common(present: sqlite3.Connection, proven: sqlite3.Connection) -> int:
    """How many entries from the first on are the same: bodies that hash to the proven leaves."""
    common, bodies, leaves = 0, present.execute(_BODIES), proven.execute(_LEAVES)
    while rows := bodies.fetchmany(BLOCK):
        found = leaf_hashes([body for (body,) in rows])
        true = [leaf for (leaf,) in leaves.fetchmany(BLOCK)]
        if found != true:
            return common + next(
                (i for i, (here, there) in enumerate(zip(found, true, strict=False)) if here != there),
                min(len(found), len(true)),
            )
        common += len(found)
    return common


def erased(present: Present, copy: Path) -> Erased:
    """Who, and which reason, was erased in the ledger that stands there, and is known in the *copy* of the backup.

    Both tell of persons: the people file by a blank row, the journal by an entry (since there are such entries).

    Args:
        present: the files that stand there.
        copy: the journal of the copy; its people stand beside it.
    """
    with (
        closing(sqlite.connect(copy, read_only=True)) as journal,
        closing(sqlite.connect(places(copy)["people"], read_only=True)) as known,
    ):
        copied = {player: (joined_at, salt) for player, joined_at, salt in known.execute(_KNOWN)}
        blank, related, reasons = dict[int, str](), False, set[str]()
        unknown = (people := present["people"]) is None
        if people is not None:
            try:
                with sqlite.storage_errors(copy):
                    blank = dict(people.execute(_ERASED).fetchall())
                    related = _share_a_salt(people, copied)
                    reasons = _reasons(known, _KNOWN_REASONS) & _reasons(people, _ERASED_REASONS)
            except (LedgerError, TypeError, ValueError):
                blank, unknown = {}, True
        players = [
            player
            for player in sorted(copied.keys() & {*blank, *_recorded(present["journal"])})
            if _is_the_same(
                player, present["journal"], journal, by_people=related and blank.get(player) == copied[player][0]
            )
        ]
    return Erased(tuple(players), unknown, tuple(sorted(reasons)))


def _recorded(journal: sqlite3.Connection | None) -> set[int]:
    """Players of whom the journal that stands there says that they were erased; nobody where it cannot be read."""
    try:
        with sqlite.storage_errors(""):
            keys = [] if journal is None else journal.execute(_ERASURES).fetchall()
        return {int(key.partition(":")[2]) for (key,) in keys}
    except (LedgerError, TypeError, ValueError):
        return set()


def _reasons(people: sqlite3.Connection, query: str) -> set[str]:
    """Commitments to reasons; they are drawn once, so one in both files is the same reason."""
    return {reason for (reason,) in people.execute(query)} if layout(people) >= REASONS_SINCE else set()


def _share_a_salt(people: sqlite3.Connection, copied: Mapping[int, tuple[str, Any]]) -> bool:
    """True when somebody has the same number and salt in both: salts are drawn once, so the files have one origin."""
    rows = people.execute(_KNOWN)
    return any(player in copied and copied[player][1] == salt for player, _, salt in rows)


def _is_the_same(player: int, present: sqlite3.Connection | None, copy: sqlite3.Connection, *, by_people: bool) -> bool:
    """True when a number means one person in both ledgers: both registered it in the same entry.

    Where one of the journals does not say, the people's files decide.
    """
    copy_row = copy.execute(_REGISTERED, (f"player:{player}",)).fetchone()
    try:
        with sqlite.storage_errors(""):
            present_row = None if present is None else present.execute(_REGISTERED, (f"player:{player}",)).fetchone()
    except LedgerError:
        present_row = None
    return present_row == copy_row if present_row and copy_row else by_people
