"""Players who are forgotten: their rows become blank, and wait in the people file until nothing is left to be done.

Who is erased becomes a blank row and stands in this table in one transaction; then the journal says so; then the file
is written anew without the old bytes; then the row goes that waited. Whoever is stopped between two steps leaves a row
that says what is still to do. What the journal holds is not asked here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from ledger.players.name_folds import NameFolds
from ledger.players.name_search import NameSearch
from ledger.players.people_layouts import ERASURES_SINCE, layout
from ledger.runtime import sqlite

if TYPE_CHECKING:
    import sqlite3

_KNOWN = "(identity IS NOT NULL OR name IS NOT NULL OR salt IS NOT NULL)"
_ERASE = f"UPDATE main.people SET identity = NULL, name = NULL, salt = NULL WHERE player = ? AND {_KNOWN}"
_NOT_RENAMED = "DELETE FROM main.renaming WHERE player = ?"
_BEGIN = "INSERT OR IGNORE INTO main.erasing(player, actor) VALUES (?, ?)"
_PENDING = "SELECT player, actor FROM main.erasing ORDER BY player"
_DROP = "DELETE FROM main.erasing WHERE player = ?"
_STANDING = f"SELECT player FROM main.people WHERE player IN (SELECT value FROM json_each(?)) AND {_KNOWN}"


class PendingErasures:
    """The erasures of one people file that are not brought to their end yet."""

    def __init__(
        self, path: str, connection: sqlite3.Connection, writing: Callable[[], AbstractContextManager[None]]
    ) -> None:
        """Take the people file.

        Args:
            path: as it is named in messages.
            connection: to it.
            writing: a write transaction on it, after which the file has the newest layout.
        """
        self._path = path
        self._connection = connection
        self._writing = writing

    def rows(self) -> dict[int, str]:
        """By player, who had the player forgotten; nobody in a file of an earlier layout."""
        with sqlite.storage_errors(self._path):
            if layout(self._connection) < ERASURES_SINCE:
                return {}
            return dict(self._connection.execute(_PENDING).fetchall())

    def standing(self, players: Iterable[int]) -> list[int]:
        """Those of these players of whom the file knows more than the number."""
        with sqlite.storage_errors(self._path):
            rows = self._connection.execute(_STANDING, (json.dumps(list(players)),))
            return [player for (player,) in rows]

    def begin(self, players: Iterable[int], actor: str) -> int:
        """Forget identity, name and salt of players, and a name that was to be given; their old bytes may stay.

        Args:
            players: their numbers; the rows stay.
            actor: who has them forgotten.

        Returns:
            Of how many anything was known.
        """
        numbers = [(player,) for player in players]
        with sqlite.storage_errors(self._path), self._writing():
            found = self._connection.executemany(_ERASE, numbers).rowcount
            self._connection.executemany(_NOT_RENAMED, numbers)
            NameSearch.take_out(self._connection, [player for (player,) in numbers])
            NameFolds.take_out(self._connection, [player for (player,) in numbers])
            self._connection.executemany(_BEGIN, [(player, actor) for (player,) in numbers])
        return found

    def drop(self, players: Iterable[int]) -> None:
        """Nothing is left to be done for these players."""
        with self._writing():
            self._connection.executemany(_DROP, [(player,) for player in players])
