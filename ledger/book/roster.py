"""The roster: what is known of players beside their games, from the facts of their registration and its changes.

Standings, declared ratings and birth years by instant; who a player is stands in the people file alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ledger.facts.periods import DAY_MS
from ledger.facts.words import Standing
from ledger.schemes.scheme import STANDING_FULL, Newcomer

if TYPE_CHECKING:
    import sqlite3

STANDING_CODE: Mapping[str, int] = {word: code for code, word in enumerate(Standing)}


class Roster:
    """What is known of players beside their games; of nearly everybody, nothing."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.standing: dict[int, int] = {}
        self.declared: dict[int, int] = {}
        self.birth_year: dict[int, int] = {}
        self.changes: dict[int, list[tuple[int, str, int, int | None]]] = {}
        query = (
            "SELECT player, standing, declared_rating, birth_year FROM players "
            "WHERE standing <> 'full' OR declared_rating IS NOT NULL OR birth_year IS NOT NULL"
        )
        for player, standing, declared, birth_year in connection.execute(query):
            self.register(player, standing, declared, birth_year)
        for player, ms, at, standing, declared in connection.execute("SELECT * FROM changes"):
            self.change(player, ms, at, standing, declared)

    def register(self, player: int, standing: str, declared: int | None, birth_year: int | None) -> None:
        """Note what a player joined with."""
        if standing != Standing.FULL:
            self.standing[player] = STANDING_CODE[standing]
        if declared is not None:
            self.declared[player] = declared
        if birth_year is not None:
            self.birth_year[player] = birth_year

    def change(self, player: int, ms: int, at: str, standing: str, declared: int | None) -> None:
        """Note a change from *ms* on; of two that begin together (``2020``, ``2020-01-01``) the more precise holds."""
        self.changes[player] = sorted([*self.changes.get(player, []), (ms, at, STANDING_CODE[standing], declared)])

    def standing_at(self, player: int, ms: int) -> int:
        """Code of the standing at an instant."""
        code = self.standing.get(player, STANDING_FULL)
        for since, _, later, _ in self.changes.get(player, ()):
            if since <= ms:
                code = later
        return code

    def declared_at(self, player: int, ms: int) -> int | None:
        """The declared rating in force at an instant."""
        rating = self.declared.get(player)
        for since, _, _, later in self.changes.get(player, ()):
            if since <= ms and later is not None:
                rating = later
        return rating

    def with_declared(self) -> Iterator[int]:
        """Players who have declared a rating at some time."""
        yield from self.declared
        for player, changes in self.changes.items():
            if any(declared is not None for _, _, _, declared in changes):
                yield player

    def newcomer(self, player: int, first_ms: int) -> Newcomer:
        """What a scheme may know of a player whose first rated game ended at *first_ms*."""
        declared = self.declared_at(player, first_ms) if self.declared or self.changes else None
        return Newcomer(
            None if declared is None else float(declared), self.birth_year.get(player), first_ms / DAY_MS
        )

    def special(self) -> set[int]:
        """Players who are or were anything but full members."""
        return {*self.standing, *self.changes}
