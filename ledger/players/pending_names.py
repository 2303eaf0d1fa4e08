"""Names that are about to be given: rows of the people file that wait until the journal has sealed them.

A name goes into this table first, then its commitment into the journal, then the name to its player. Whoever is
stopped between two steps leaves a row that says by its salt what it is: the journal sealed it, or it never will. What
the journal holds is not asked here.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple

from ledger.players import shown_names
from ledger.players.name_folds import NameFolds
from ledger.players.name_search import NameSearch
from ledger.players.people_layouts import RENAMINGS_SINCE, SALT_BYTES, layout
from ledger.runtime import sqlite

if TYPE_CHECKING:
    import sqlite3

_PENDING = "SELECT player, number, name, salt FROM renaming ORDER BY player"
_BEGIN = "INSERT OR REPLACE INTO renaming(player, number, name, salt) VALUES (?, ?, ?, ?)"
_GIVE = (
    "UPDATE main.people SET name = ?3, salt = ?4 WHERE player = ?1 AND salt IS NOT NULL "
    "AND EXISTS (SELECT 1 FROM renaming WHERE player = ?1 AND number = ?2 AND salt = ?4)"
)
_DROP = "DELETE FROM renaming WHERE player = ? AND salt = ?"


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


class PendingNames:
    """The names of one people file that are about to be given."""

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

    def rows(self) -> list[Pending]:
        """All of them; none in a file of the first layout."""
        with sqlite.storage_errors(self._path):
            if layout(self._connection) < RENAMINGS_SINCE:
                return []
            return [Pending(*row) for row in self._connection.execute(_PENDING)]

    def begin(self, player: int, number: int, name: str) -> Pending:
        """Keep a name, durably, before the journal seals it; an earlier one of the player goes."""
        pending = Pending(player, number, name, secrets.token_bytes(SALT_BYTES))
        with self._writing():
            self._connection.execute(_BEGIN, pending)
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
            self._connection.execute(_DROP, (pending.player, pending.salt))

    def show(self, sealed: Sequence[Pending]) -> None:
        """Read the people by these names from now on: the journal sealed them."""
        with sqlite.storage_errors(self._path):
            shown_names.show(self._connection, sealed=[pending.salt for pending in sealed])
