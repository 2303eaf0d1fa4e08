"""Changes of the people file that wait until the journal has them: names to be given, and players to be forgotten.

A name goes into its table first, then its commitment into the journal, then the name to its player. Whoever is stopped
between two steps leaves a row that says by its salt what it is: the journal sealed it, or it never will.

Who is erased becomes a blank row and stands in the other table in one transaction; then the journal says so; then the
file is written anew without the old bytes; then the row goes that waited. Whoever is stopped leaves a row that says
what is still to do. What the journal holds is not asked here.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple

from ledger.players import people_layouts
from ledger.players.name_indexes import NameFolds, NameSearch
from ledger.players.people_layouts import ERASURES_SINCE, RENAMINGS_SINCE, SALT_BYTES, layout
from ledger.runtime import sqlite

if TYPE_CHECKING:
    import sqlite3


_NAMES_PENDING = "SELECT player, number, name, salt FROM renaming ORDER BY player"
_BEGIN_NAME = "INSERT OR REPLACE INTO renaming(player, number, name, salt) VALUES (?, ?, ?, ?)"
_GIVE = (
    "UPDATE main.people SET name = ?3, salt = ?4 WHERE player = ?1 AND salt IS NOT NULL "
    "AND EXISTS (SELECT 1 FROM renaming WHERE player = ?1 AND number = ?2 AND salt = ?4)"
)
_DROP_NAME = "DELETE FROM renaming WHERE player = ? AND salt = ?"


class Pending(NamedTuple):
    """A name that is about to be given.

    Attributes:
        player: to whom.
        number: place among the renamings of the player, from 1.
        name: the name.
        salt: that of its commitment, drawn for it alone.
    """

    player: int
    number: int
    name: str
    salt: bytes


class _Waiting:
    """What waits in one people file."""

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


class PendingNames(_Waiting):
    """The names of one people file that are about to be given."""

    def rows(self) -> list[Pending]:
        """All of them; none in a file of the first layout."""
        with sqlite.storage_errors(self._path):
            if layout(self._connection) < RENAMINGS_SINCE:
                return []
            return [Pending(*row) for row in self._connection.execute(_NAMES_PENDING)]

    def begin(self, player: int, number: int, name: str) -> Pending:
        """Keep a name, durably, before the journal seals it; an earlier one of the player goes."""
        pending = Pending(player, number, name, secrets.token_bytes(SALT_BYTES))
        with self._writing():
            self._connection.execute(_BEGIN_NAME, pending)
        return pending

    def give(self, pending: Pending) -> None:
        """Give the name to its player, unless somebody did so already or the player was erased; the row stays."""
        with self._writing():
            self._connection.execute(_GIVE, pending)
            NameSearch.take_out(self._connection, [pending.player])
            NameFolds.take_out(self._connection, [pending.player])

    def drop(self, pending: Pending) -> None:
        """Take the row away, unless another one stands there by now."""
        with self._writing():
            self._connection.execute(_DROP_NAME, (pending.player, pending.salt))

    def show(self, sealed: Sequence[Pending]) -> None:
        """Read the people by these names from now on: the journal sealed them."""
        with sqlite.storage_errors(self._path):
            people_layouts.show(self._connection, sealed=[pending.salt for pending in sealed])


_KNOWN = "(identity IS NOT NULL OR name IS NOT NULL OR salt IS NOT NULL)"
_ERASE = f"UPDATE main.people SET identity = NULL, name = NULL, salt = NULL WHERE player = ? AND {_KNOWN}"
_NOT_RENAMED = "DELETE FROM main.renaming WHERE player = ?"
_BEGIN_ERASURE = "INSERT OR IGNORE INTO main.erasing(player, actor) VALUES (?, ?)"
_ERASURES_PENDING = "SELECT player, actor FROM main.erasing ORDER BY player"
_DROP_ERASURE = "DELETE FROM main.erasing WHERE player = ?"
_STANDING = f"SELECT player FROM main.people WHERE player IN (SELECT value FROM json_each(?)) AND {_KNOWN}"


class PendingErasures(_Waiting):
    """The erasures of one people file that are not brought to their end yet."""

    def rows(self) -> dict[int, str]:
        """By player, who had the player forgotten; nobody in a file of an earlier layout."""
        with sqlite.storage_errors(self._path):
            if layout(self._connection) < ERASURES_SINCE:
                return {}
            return dict(self._connection.execute(_ERASURES_PENDING).fetchall())

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
            blanked = self._connection.executemany(_ERASE, numbers).rowcount
            self._connection.executemany(_NOT_RENAMED, numbers)
            NameSearch.take_out(self._connection, [player for (player,) in numbers])
            NameFolds.take_out(self._connection, [player for (player,) in numbers])
            self._connection.executemany(_BEGIN_ERASURE, [(player, actor) for (player,) in numbers])
        return blanked

    def drop(self, players: Iterable[int]) -> None:
        """Nothing is left to be done for these players."""
        with self._writing():
            self._connection.executemany(_DROP_ERASURE, [(player,) for player in players])
