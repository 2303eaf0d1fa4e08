"""Who bears a name, whatever the case of its letters: an index of whole names (see ``name_index``)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from ledger.players.name_index import NameIndex
from ledger.players.people_layouts import FOLDS, FOLDS_SINCE
from ledger.runtime import sqlite

if TYPE_CHECKING:
    import sqlite3

_ALL = "SELECT player, name FROM people NOT INDEXED WHERE name IS NOT NULL AND player > ? ORDER BY player"
_INDEXED = f"SELECT player FROM main.{FOLDS} WHERE name IN (SELECT value FROM json_each(?))"
_SOME = (
    "SELECT player, name FROM people "
    "WHERE name IS NOT NULL AND player IN (SELECT value FROM json_each(?)) AND player <= ?"
)


def fold(name: str) -> str:
    """A name as it is compared: in small letters, with single blanks."""
    return " ".join(name.lower().split())


class NameFolds(NameIndex):
    """Who bears which name in one people file."""

    TABLE, NUMBER, HELD, SINCE = FOLDS, "player", "name", FOLDS_SINCE
    REACHED = f"SELECT coalesce(max(player), 0) FROM main.{FOLDS}"

    def __init__(
        self,
        path: str,
        connection: sqlite3.Connection,
        writing: Callable[[float], AbstractContextManager[None]],
        pending: Callable[[], Iterable[int]],
    ) -> None:
        """Take the people file as ``NameIndex`` does.

        For the players of *pending* names wait, which may be shown as theirs already (see ``shown_names``).
        """
        super().__init__(path, connection, writing)
        self._pending = pending

    @staticmethod
    def form(name: str) -> str:
        """The folded name."""
        return fold(name)

    @staticmethod
    def statements() -> tuple[str, ...]:
        """A table and its index."""
        return (
            f"CREATE TABLE main.{FOLDS}(player INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT",
            f"CREATE INDEX main.{FOLDS}_by_name ON {FOLDS}(name)",
        )

    def everybody(self) -> dict[str, list[int]]:
        """By folded name, the numbers of all who bear it, ascending; all names are read."""
        with sqlite.storage_errors(self._path):
            return _by_name(self._connection.execute(_ALL, (0,)))

    def bearers(self, names: Iterable[str]) -> dict[str, list[int]]:
        """The same of some names, folded; names that nobody bears are left out."""
        asked = list(names)
        with sqlite.storage_errors(self._path):
            reached = self.reached()
            rows = self._connection.execute(_ALL, (reached,)).fetchall()
            if reached:
                indexed = self._connection.execute(_INDEXED, (json.dumps(asked),)).fetchall()
                numbers = {player for (player,) in indexed}.union(self._pending())
                rows += self._connection.execute(_SOME, (json.dumps(list(numbers)), reached)).fetchall()
        found = _by_name(sorted(rows))
        return {name: found[name] for name in asked if name in found}


def _by_name(rows: Iterable[tuple[int, str]]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for player, name in rows:
        found.setdefault(fold(name), []).append(player)
    return found
