"""Players' scheme states out of the views: as a row keeps them, before a batch, at an instant.

A row keeps the state after its game; what a later instant or a later scheme makes of it, the timeline says.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from ledger.book.roster import Roster
from ledger.book.timeline import Held, Pool
from ledger.facts.words import Carry
from ledger.ratings import queries
from ledger.schemes.scheme import Newcomer

if TYPE_CHECKING:
    import sqlite3


class Players:
    """The states of one pool's players."""

    def __init__(self, connection: sqlite3.Connection, pool: Pool) -> None:
        self._connection = connection
        self._pool = pool

    @cached_property
    def _roster(self) -> Roster:
        """Read when a newcomer or a change of scheme asks for it: most answers do not."""
        return Roster(self._connection)

    def _newcomer(self, player: int, ms: int) -> Newcomer:
        return self._roster.newcomer(self._pool.pool, player, ms)

    def held(self, row: dict[str, Any]) -> Held:
        """The state that a row of the history keeps."""
        era = self._pool.era_at(row["ended_ms"])
        return Held(era, tuple(row[name] for name in self._pool.eras[era].scheme.state), row["n"])

    def before(self, player: int, rated_ms: int, batch: str, era: int, first_ms: int) -> tuple[float, ...]:
        """The state that a player brings to a batch of *era*; *first_ms* is the end of the first game in it."""
        row = queries.first_row(
            self._connection, queries.ROW_BEFORE, (self._pool.pool, player, rated_ms, batch)
        )
        return self._in_era(player, row, era, first_ms)

    def after_game(self, player: int, n: int, era: int, first_ms: int) -> tuple[float, ...]:
        """The state that a player brings to the game after the *n*-th, which lies in *era*."""
        row = queries.first_row(self._connection, queries.ROW, (self._pool.pool, player, n)) if n else None
        return self._in_era(player, row, era, first_ms)

    def _in_era(self, player: int, row: dict[str, Any] | None, era: int, first_ms: int) -> tuple[float, ...]:
        rated_by = self._pool.eras[era]
        if row is None:
            return rated_by.scheme.begin(self._newcomer(player, first_ms), rated_by.numbers)
        return self._pool.carried(self.held(row), era, partial(self._newcomer, player))

    def carried(self, row: dict[str, Any], era: int) -> tuple[float, ...]:
        """What the state that a row keeps has become on the way into *era*."""
        return self._in_era(row["player"], row, era, row["ended_ms"])

    def at(self, player: int, row: dict[str, Any] | None, ms: int) -> tuple[int, tuple[float, ...]]:
        """The era of an instant, and the state that a player's last row before it has become by then."""
        if row is None:
            era = self._pool.era_at(ms)
            return era, self._in_era(player, None, era, ms)
        return self._pool.state_at(self.held(row), ms, partial(self._newcomer, player))


def idle(connection: sqlite3.Connection, pool: Pool, since_ms: int) -> list[dict[str, Any]]:
    """The last rows of listed players without a game in the era since *since_ms*, with the rating carried into it.

    Nobody stands there where the change let everybody begin anew.
    """
    number = pool.era_at(since_ms)
    era, players = pool.eras[number], Players(connection, pool)
    found = []
    for row in queries.dictionaries(connection, queries.ROWS_BEFORE, (pool.pool, since_ms)):
        between = pool.eras[pool.era_at(row["ended_ms"]) + 1 : number + 1]
        if not any(passed.carry is Carry.RESTART for passed in between):
            state = players.carried(row, number)
            if era.scheme.listed(state, 0, era.numbers):
                found.append({**row, "rating": state[0]})
    return found


def at_instant(connection: sqlite3.Connection, pool: Pool, player: int, ms: int) -> tuple[float, ...]:
    """A player's state at an instant from the last rated game on, newcomers' included."""
    row = queries.first_row(connection, queries.LAST_ROW, (pool.pool, player))
    return Players(connection, pool).at(player, row, ms)[1]
