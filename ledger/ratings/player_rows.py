"""The rows of one pool in the views: reading a player's state at a cut, writing and dropping rows. SQL only.

The statements are put together once, for a live game runs each of them. Which rows, and what is in them, is decided
in ``projection``, ``live_games`` and ``side_rows``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.book.timeline import Held, Pool
from ledger.errors import ProjectionError
from ledger.ratings.history import HISTORY, begun
from ledger.ratings.listing import is_listed
from ledger.ratings.projector import Projector
from ledger.ratings.side_tables import SideTable, columns_wanted, facts_wanted
from ledger.schemes.scheme import Seed

if TYPE_CHECKING:
    import sqlite3

NEVER = -(2**62)  # before any game, milliseconds

_LATER = "SELECT 1 FROM games WHERE pool = ? AND reason IS NULL AND rated_ms >= ? AND position <> ?"
_LAST_PLACE = "SELECT n, rated_ms FROM current WHERE pool = ? AND player = ?"
_PLACE = "SELECT rated_ms FROM games WHERE position = ?"
_DROP_CURRENT = "DELETE FROM current WHERE pool = ? AND player = ?"
CURRENT = ("n", "rating", "game", "ended_ms", "rated_ms")  # of the last side, after pool and player; then ``listed``
WRITE_CURRENT = (
    "INSERT INTO current VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
    "n = excluded.n, rating = excluded.rating, game = excluded.game, ended_ms = excluded.ended_ms, "
    "rated_ms = excluded.rated_ms, listed = excluded.listed"
)
_BEFORE = (
    f"SELECT n FROM {HISTORY.name} AS h JOIN games ON games.position = h.game "
    "WHERE h.pool = ? AND h.player = ? AND games.rated_ms < ? ORDER BY n DESC LIMIT 1"
)
_RESTORE_CURRENT = (
    "INSERT INTO current SELECT h.pool, player, n, rating, game, h.ended_ms, games.rated_ms, ? "
    f"FROM {HISTORY.name} AS h JOIN games ON games.position = h.game WHERE h.pool = ? AND player = ? AND n = ?"
)


class Carried(NamedTuple):
    """What a player brings to the next rated game.

    Attributes:
        held: the scheme's state, its era, and how many games were rated; None for a newcomer.
        kept: the running state of each table's fold.
    """

    held: Held | None
    kept: list[list[float]]

    @property
    def n(self) -> int:
        """Rated games so far."""
        return 0 if self.held is None else self.held.games


def as_read(fold: Projector, values: Sequence[float | None]) -> list[float]:
    """A running state as it comes back from the table, where NaN stands as NULL: as it starts."""
    return [
        kept.start if value is None or isnan(value) else value
        for kept, value in zip(fold.state, values, strict=False)
    ]


class PlayerRows:
    """The rows of one pool in one views database."""

    def __init__(self, connection: sqlite3.Connection, pool: Pool, tables: Sequence[SideTable]) -> None:
        """Prepare the statements.

        Args:
            connection: the views.
            pool: the pool.
            tables: the history and those of the projectors.
        """
        self._connection = connection
        self._pool = pool
        self._number = pool.pool
        self.tables = tuple(tables)
        self.facts = facts_wanted(tables)
        self.wanted = columns_wanted(tables)
        self._state = _select(HISTORY.name, ["game", *pool.state_fields])
        self._kept = [(table, _select(table.name, [kept.name for kept in table.fold.state])) for table in tables]
        self._insert = {table.name: table.insert for table in tables}

    def last_place(self, player: int) -> tuple[int, int]:
        """How many rated games the player has, and when the last one took its place in rating order, milliseconds."""
        row = self._connection.execute(_LAST_PLACE, (self._number, player)).fetchone()
        return (0, NEVER) if row is None else row

    def rated_before(self, player: int, ms: int) -> int:
        """How many of the player's rated games have their place in rating order before *ms*."""
        row = self._connection.execute(_BEFORE, (self._number, player, ms)).fetchone()
        return 0 if row is None else int(row[0])

    def is_last(self, position: int, rated_ms: int) -> bool:
        """True when the rated game at this position and place has no other beside or after it in rating order."""
        return self._connection.execute(_LATER, (self._number, rated_ms, position)).fetchone() is None

    def carried(self, player: int, n: int) -> Carried:
        """What the player brings to the game after the *n*-th.

        Raises:
            ProjectionError: there is no such row.
        """
        if n == 0:
            return self.begun(None)
        game, *fields = self._row(HISTORY.name, self._state, player, n)
        era = self._era(game)
        known = dict(zip(self._pool.state_fields, fields, strict=True))
        held = Held(era, tuple(known[name] for name in self._pool.eras[era].scheme.state), n)
        kept = [as_read(table.fold, self._row(table.name, query, player, n)) for table, query in self._kept]
        return Carried(held, kept)

    def _era(self, game: int) -> int:
        """Place of the era that rated the game at a position."""
        if len(self._pool.eras) == 1:
            return 0
        return self._pool.era_at(self._connection.execute(_PLACE, (game,)).fetchone()[0])

    def begun(self, seed: Seed | None) -> Carried:
        """What a player with this past brings to the first rated game, but for the scheme's state."""
        return Carried(None, [begun(table.fold, seed) for table in self.tables])

    def _row(self, table: str, query: str, player: int, n: int) -> Any:
        row = self._connection.execute(query, (self._number, player, n)).fetchone()
        if row is None:
            raise ProjectionError(table, f"has no row for player {player}, game {n}; run 'rebuild'")
        return row

    def write(self, table: SideTable, rows: Iterable[Sequence[Any]]) -> None:
        """Insert rows in the order of the table's columns."""
        self._connection.executemany(self._insert[table.name], rows)

    def drop_after(self, bases: Sequence[tuple[int, int]]) -> None:
        """Delete the rows of each player with a number above the one given."""
        if bases:
            rows = [(self._number, player, int(base)) for player, base in bases]
            for table in self.tables:
                query = f'DELETE FROM "{table.name}" WHERE pool = ? AND player = ? AND n > ?'
                self._connection.executemany(query, rows)

    def write_current(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Set the last row of players: ``(pool, player, n, rating, game, ended_ms, rated_ms, listed)`` each."""
        self._connection.executemany(WRITE_CURRENT, rows)

    def restore_current(self, bases: Sequence[tuple[int, int]]) -> None:
        """Make the given row of each player the last one; number 0 leaves none."""
        for player, base in bases:
            self._connection.execute(_DROP_CURRENT, (self._number, player))
            held = self.carried(player, base).held
            if held is not None:
                shown = int(is_listed(self._pool.eras[held.era], held.state))
                self._connection.execute(_RESTORE_CURRENT, (shown, self._number, player, base))


def _select(table: str, columns: Sequence[str]) -> str:
    names = ", ".join(f'"{name}"' for name in columns) or "NULL"  # a fold may keep nothing
    return f'SELECT {names} FROM "{table}" WHERE pool = ? AND player = ? AND n = ?'
