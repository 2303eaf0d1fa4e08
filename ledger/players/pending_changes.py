"""Pending renamings and erasures: changes of names that wait until the journal records them.

A name waits first, then its commitment goes into the journal, then the name to its player. If the process is stopped
between two steps, the waiting row says by its salt what it is: the journal committed to it, or it never will.

An erased player becomes a blank row and waits, in one transaction; then the journal says so; then the file is written
again without the old bytes; then the waiting row goes. If the process is stopped, the row says what is still to do. The
journal is not asked here.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Sequence
from itertools import starmap
from typing import NamedTuple

from ledger.players.names_database import NamesDatabase
from ledger.players.reasons import SALT_BYTES


class PendingName(NamedTuple):
    """A new name of a player that waits for its journal entry.

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
    """The pending renamings of one store."""

    def __init__(self, database: NamesDatabase, out_of_indexes: Callable[[Sequence[int]], None]) -> None:
        """Take the database, and what takes former names out of its indexes."""
        self._database = database
        self._out_of_indexes = out_of_indexes

    def rows(self) -> list[PendingName]:
        """Return all pending names, in order of the players."""
        if not self._database.is_upgraded():
            return []
        rows = self._database.rows("SELECT player, number, name, salt FROM {s}.renaming ORDER BY player")
        return list(starmap(PendingName, rows))

    def begin(self, player: int, number: int, name: str) -> PendingName:
        """Store a new name, durably, before the journal commits to it; it replaces an earlier pending one."""
        pending = PendingName(player, number, name, secrets.token_bytes(SALT_BYTES))
        with self._database.writing():
            self._database.run(
                "INSERT INTO {s}.renaming(player, number, name, salt) "
                "VALUES (:player, CAST(:number AS bigint), :name, :salt) ON CONFLICT (player) "
                "DO UPDATE SET number = excluded.number, name = excluded.name, salt = excluded.salt",
                **pending._asdict(),
            )
        return pending

    def apply(self, pending: PendingName) -> None:
        """Give the pending name to its player, unless the player was erased; the pending row stays."""
        with self._database.writing():
            self._database.run(
                "UPDATE {s}.people SET name = :name, salt = :salt WHERE player = :player AND salt IS NOT NULL "
                "AND EXISTS (SELECT 1 FROM {s}.renaming r WHERE r.player = :player "
                "AND r.number = CAST(:number AS bigint) AND r.salt = :salt)",
                **pending._asdict(),
            )
            self._out_of_indexes([pending.player])

    def drop(self, pending: PendingName) -> None:
        """Delete the pending row, unless another one has replaced it."""
        delete = "DELETE FROM {s}.renaming WHERE player = :player AND salt = :salt"
        with self._database.writing():
            self._database.run(delete, player=pending.player, salt=pending.salt)

    def show(self, sealed: Sequence[PendingName]) -> None:
        """Show these pending names as the players' names: the journal committed to them."""
        self._database.sealed.update(pending.salt for pending in sealed)


_KNOWN = "(identity IS NOT NULL OR name IS NOT NULL OR salt IS NOT NULL)"


class PendingErasures:
    """The incomplete erasures of one store."""

    def __init__(self, database: NamesDatabase, out_of_indexes: Callable[[Sequence[int]], None]) -> None:
        """Take the database, and what takes former names out of its indexes."""
        self._database = database
        self._out_of_indexes = out_of_indexes

    def rows(self) -> dict[int, str]:
        """Return the incomplete erasures: player -> who requested it."""
        if not self._database.is_upgraded():
            return {}
        return dict(self._database.rows("SELECT player, actor FROM {s}.erasing ORDER BY player"))

    def stored_players(self, players: Iterable[int]) -> list[int]:
        """Return those of these players whose identity, name or salt is still stored, in order."""
        query = f"SELECT player FROM {{s}}.people WHERE player IN :players AND {_KNOWN} ORDER BY player"
        return [player for (player,) in self._database.rows(query, players=list(players))]

    def begin(self, players: Iterable[int], actor: str) -> int:
        """Blank identity, name and salt of players, and drop their pending names; old bytes may stay until ``purge``.

        Args:
            players: their numbers; the rows stay.
            actor: who has them forgotten.

        Returns:
            Of how many anything was known.
        """
        numbers = list(players)
        with self._database.writing():
            blanked = self._database.run(
                "UPDATE {s}.people SET identity = NULL, name = NULL, salt = NULL "
                f"WHERE player IN :players AND {_KNOWN}",
                players=numbers,
            )
            self._database.run("DELETE FROM {s}.renaming WHERE player IN :players", players=numbers)
            self._forget_details(numbers)
            self._out_of_indexes(numbers)
            begun = self.rows()
            fresh = [(player, actor) for player in dict.fromkeys(numbers) if player not in begun]
            self._database.add("erasing", {"player": "int8", "actor": "text"}, fresh)
        return blanked

    def _forget_details(self, players: Sequence[int]) -> None:
        """Erase the data of players besides their names: texts to which entries with these keys commit."""
        for player in players:
            self._database.run(
                "UPDATE {s}.reasons SET salt = NULL, text = NULL WHERE strpos(entry, :entry) = 1 AND text IS NOT NULL",
                entry=f"details:{player}@",
            )

    def drop(self, players: Iterable[int]) -> None:
        """Delete the pending rows of these players, whose erasure is complete."""
        with self._database.writing():
            self._database.run("DELETE FROM {s}.erasing WHERE player IN :players", players=list(players))
