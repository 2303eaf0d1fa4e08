"""The pools, players and states that were read from one version of the views, for the answers that ask them again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ledger.book.roster import Roster
from ledger.book.stored_pools import stored_pools
from ledger.book.timeline import Pool
from ledger.ratings import views_file
from ledger.ratings.player_states import PlayerStates

if TYPE_CHECKING:
    import sqlite3

    from ledger.ratings.views_connection import Version


class ReadCache:
    """The pools and players' states read from one *version* of the views; valid until the next write."""

    def __init__(self, version: Version | None) -> None:
        self.version = version
        self._pools: list[Pool] | None = None
        self._roster: Roster | None = None
        self._states: dict[int, PlayerStates] = {}  # by pool

    def pools(self, connection: sqlite3.Connection, path: Path) -> list[Pool]:
        """Return the pools with their timelines."""
        if self._pools is None:
            self._pools = read_pools(connection, path)
        return self._pools

    def states(self, connection: sqlite3.Connection, pool: Pool) -> PlayerStates:
        """Return the states of a pool's players, which share one roster and keep the rows that they have read."""

        def roster() -> Roster:
            if self._roster is None:
                self._roster = Roster(connection)
            return self._roster

        states = self._states.get(pool.pool)
        if states is None or states.pool is not pool:
            states = self._states[pool.pool] = PlayerStates(connection, pool, roster)
        return states


def read_pools(connection: sqlite3.Connection, path: Path) -> list[Pool]:
    """Read the pools with their timelines.

    Raises:
        CorruptError: a row is not what this program wrote.
    """
    with views_file.reporting_damage(path):
        return stored_pools(connection)
