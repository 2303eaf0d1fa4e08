"""Who bears a name, whatever the case of its letters: an index of the names that stands beside the people.

It follows from the names and is whole or not there: the first who asks in a file of many people makes it, each later
one adds who came since, so that recording players costs nothing more. Renaming and erasing take the old name out of it
in their own transaction. Where it cannot be written, or lacks players, the names themselves are read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING

from ledger.errors import LedgerError
from ledger.journal.people_layouts import FOLDS, FOLDS_SINCE, layout
from ledger.runtime import sqlite

if TYPE_CHECKING:
    import sqlite3

_PATIENCE = 1.0  # seconds to wait for another writer
_CHUNK = 100_000  # names that enter the index in one transaction
_FEW = 2_000  # names that are read each time rather than brought into the index
_THERE = f"SELECT 1 FROM main.sqlite_master WHERE name = '{FOLDS}'"
_CREATE = (
    f"CREATE TABLE main.{FOLDS}(player INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT",
    f"CREATE INDEX main.{FOLDS}_by_name ON {FOLDS}(name)",
)
_REACHED = f"SELECT coalesce(max(player), 0) FROM main.{FOLDS}"
_LATER = "SELECT player, name FROM main.people WHERE player > ? AND name IS NOT NULL ORDER BY player LIMIT ?"
_INSERT = f"INSERT INTO main.{FOLDS}(player, name) VALUES (?, ?)"
_DELETE = f"DELETE FROM main.{FOLDS} WHERE player = ?"
_NAME = "SELECT name FROM main.people WHERE player = ?"
_ALL = "SELECT player, name FROM people NOT INDEXED WHERE name IS NOT NULL AND player > ? ORDER BY player"
_INDEXED = f"SELECT player FROM main.{FOLDS} WHERE name IN (SELECT value FROM json_each(?))"
_SOME = (
    "SELECT player, name FROM people "
    "WHERE name IS NOT NULL AND player IN (SELECT value FROM json_each(?)) AND player <= ?"
)


def fold(name: str) -> str:
    """A name as it is compared: in small letters, with single blanks."""
    return " ".join(name.lower().split())


def take_out(connection: sqlite3.Connection, players: Iterable[int]) -> None:
    """Take the names of players out of the index, within the caller's transaction; who is named still enters anew.

    Args:
        connection: to the people file, whose rows of these players are changed already.
        players: their numbers.
    """
    if not connection.execute(_THERE).fetchone():
        return
    (reached,) = connection.execute(_REACHED).fetchone()
    for player in players:
        connection.execute(_DELETE, (player,))
        row = connection.execute(_NAME, (player,)).fetchone()
        if row is not None and row[0] is not None and player <= reached:
            connection.execute(_INSERT, (player, fold(row[0])))


class NameFolds:
    """Who bears which name in one people file."""

    def __init__(
        self, path: str, connection: sqlite3.Connection, writing: Callable[[float], AbstractContextManager[None]],
        pending: Callable[[], Iterable[int]],
    ) -> None:  # fmt: skip
        """Take the people file.

        Args:
            path: as it is named in messages.
            connection: to it.
            writing: a write transaction on it that waits so many seconds for others.
            pending: the players for whom names wait: these may be shown as theirs already (see ``shown_names``).
        """
        self._path = path
        self._connection = connection
        self._writing = writing
        self._pending = pending

    def everybody(self) -> dict[str, list[int]]:
        """By folded name, the numbers of all who bear it, ascending; all names are read."""
        with sqlite.storage_errors(self._path):
            return _by_name(self._connection.execute(_ALL, (0,)))

    def bearers(self, names: Iterable[str]) -> dict[str, list[int]]:
        """The same of some names, folded; names that nobody bears are left out."""
        asked = list(names)
        with sqlite.storage_errors(self._path):
            reached = self._reached()
            rows = self._connection.execute(_ALL, (reached,)).fetchall()
            if reached:
                indexed = self._connection.execute(_INDEXED, (json.dumps(asked),)).fetchall()
                numbers = {player for (player,) in indexed}.union(self._pending())
                rows += self._connection.execute(_SOME, (json.dumps(list(numbers)), reached)).fetchall()
        found = _by_name(sorted(rows))
        return {name: found[name] for name in asked if name in found}

    def bring_up(self) -> None:
        """Take who came since into the index, if they are many; where the file cannot be written they are read."""
        with suppress(LedgerError):
            while self.lacks_many():
                with self._writing(_PATIENCE):
                    self._take_in()

    def _reached(self) -> int:
        """The highest number in the index; 0 where there is none."""
        if layout(self._connection) < FOLDS_SINCE or self._connection.execute(_THERE).fetchone() is None:
            return 0
        return int(self._connection.execute(_REACHED).fetchone()[0])

    def lacks_many(self) -> bool:
        """Whether so many names are not in the index that ``bearers`` reads many."""
        with sqlite.storage_errors(self._path):
            return len(self._connection.execute(_LATER, (self._reached(), _FEW + 1)).fetchall()) > _FEW

    def _take_in(self) -> None:
        if not self._connection.execute(_THERE).fetchone():
            for statement in _CREATE:
                self._connection.execute(statement)
        rows = self._connection.execute(_LATER, (self._reached(), _CHUNK)).fetchall()
        self._connection.executemany(_INSERT, ((player, fold(name)) for player, name in rows))


def _by_name(rows: Iterable[tuple[int, str]]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for player, name in rows:
        found.setdefault(fold(name), []).append(player)
    return found
