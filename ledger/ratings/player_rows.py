"""The rows of one pool in the views: reading a player's state at a cut, writing and dropping rows. SQL only.

The statements are put together once, for a live game runs each of them. Which rows, and what is in them, is decided
in ``projection`` and ``live_games``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs

from ledger.errors import ProjectionError
from ledger.ratings import views_file
from ledger.ratings.projector import Projector

if TYPE_CHECKING:
    import sqlite3

NEVER = -(2**62)  # before any game, milliseconds

_LATER = "SELECT 1 FROM games WHERE pool = ? AND reason IS NULL AND rated_ms >= ? AND position <> ?"
_LAST_PLACE = "SELECT n, rated_ms FROM current WHERE pool = ? AND player = ?"
_DROP_CURRENT = "DELETE FROM current WHERE pool = ? AND player = ?"
WRITE_CURRENT = (
    "INSERT INTO current VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
    "n = excluded.n, rating = excluded.rating, game = excluded.game, ended_ms = excluded.ended_ms, "
    "rated_ms = excluded.rated_ms"
)


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


@attrs.frozen
class _Statements:
    """The statements of one projector's table."""

    state: str
    insert: str
    delete: str

    @classmethod
    def of(cls, projector: Projector, scheme_state: Sequence[str]) -> _Statements:
        own = [kept.name for kept in projector.state]
        wanted = ["ended_ms", *scheme_state, *own] if projector.keeps_scheme_state else own
        names = ["pool", "player", "n", *(name for name, _ in views_file.table_columns(projector, scheme_state))]
        table = f'"{projector.name}"'
        return cls(
            f"SELECT {_quoted(wanted)} FROM {table} WHERE pool = ? AND player = ? AND n = ?",
            f"INSERT INTO {table}({_quoted(names)}) VALUES ({', '.join('?' * len(names))})",
            f"DELETE FROM {table} WHERE pool = ? AND player = ? AND n > ?",
        )


class Snapshot(NamedTuple):
    """A player after a rated game.

    Attributes:
        ended_ms: when it ended.
        scheme_state: every state field of the pool, None where its scheme does not know it.
        kept: the running state of each projector.
    """

    ended_ms: int
    scheme_state: dict[str, Any]
    kept: list[list[float]]


class PoolRows:
    """The rows of one pool in one views database."""

    def __init__(
        self, connection: sqlite3.Connection, pool: int, projectors: Sequence[Projector], scheme_state: Sequence[str]
    ) -> None:
        """Prepare the statements.

        Args:
            connection: the views.
            pool: number of the pool.
            projectors: the read models; exactly one keeps the scheme's state.
            scheme_state: names of the scheme's state fields.
        """
        self._connection = connection
        self._pool = pool
        self._projectors = tuple(projectors)
        self._fields = tuple(scheme_state)
        self._statements = {p.name: _Statements.of(p, scheme_state) for p in projectors}
        history = next(projector.name for projector in projectors if projector.keeps_scheme_state)
        self._before = (
            f'SELECT n FROM "{history}" AS h JOIN games ON games.position = h.game '
            "WHERE h.pool = ? AND h.player = ? AND games.rated_ms < ? ORDER BY n DESC LIMIT 1"
        )
        self._restore_current = (
            "INSERT INTO current SELECT h.pool, player, n, rating, game, h.ended_ms, games.rated_ms "
            f'FROM "{history}" AS h JOIN games ON games.position = h.game WHERE h.pool = ? AND player = ? AND n = ?'
        )

    def last_place(self, player: int) -> tuple[int, int]:
        """How many rated games the player has, and when the last one took its place in rating order, milliseconds."""
        row = self._connection.execute(_LAST_PLACE, (self._pool, player)).fetchone()
        return (0, NEVER) if row is None else row

    def rated_before(self, player: int, ms: int) -> int:
        """How many of the player's rated games have their place in rating order before *ms*."""
        row = self._connection.execute(self._before, (self._pool, player, ms)).fetchone()
        return 0 if row is None else int(row[0])

    def is_last(self, position: int, rated_ms: int) -> bool:
        """True when the rated game at this position and place has no other beside or after it in rating order."""
        return self._connection.execute(_LATER, (self._pool, rated_ms, position)).fetchone() is None

    def snapshot(self, player: int, n: int) -> Snapshot:
        """What the player's *n*-th rows keep.

        Raises:
            ProjectionError: there is no such row.
        """
        ended_ms, state, kept = 0, [], []
        for projector in self._projectors:
            row = self._state(projector, player, n)
            if projector.keeps_scheme_state:
                ended_ms, state, row = row[0], row[1 : len(self._fields) + 1], row[len(self._fields) + 1 :]
            kept.append([one.start if v is None else v for one, v in zip(projector.state, row, strict=True)])
        return Snapshot(ended_ms, dict(zip(self._fields, state, strict=True)), kept)

    def _state(self, projector: Projector, player: int, n: int) -> list[Any]:
        row = self._connection.execute(self._statements[projector.name].state, (self._pool, player, n)).fetchone()
        if row is None:
            raise ProjectionError(projector.name, f"has no row for player {player}, game {n}; run 'rebuild'")
        return list(row)

    def insert_statement(self, projector: Projector) -> str:
        """The statement that inserts a row, its columns in the order of the table's."""
        return self._statements[projector.name].insert

    def write(self, projector: Projector, rows: Iterable[Sequence[Any]]) -> None:
        """Insert rows in the order of the table's columns."""
        self._connection.executemany(self._statements[projector.name].insert, rows)

    def drop_after(self, projector: Projector, bases: Sequence[tuple[int, int]]) -> None:
        """Delete the rows of each player with a number above the one given."""
        if bases:
            rows = [(self._pool, player, int(base)) for player, base in bases]
            self._connection.executemany(self._statements[projector.name].delete, rows)

    def write_current(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Set the last row of players: ``(pool, player, n, rating, game, ended_ms, rated_ms)`` each."""
        self._connection.executemany(WRITE_CURRENT, rows)

    def restore_current(self, bases: Sequence[tuple[int, int]]) -> None:
        """Make the given row of each player the last one; number 0 leaves none."""
        for player, base in bases:
            self._connection.execute(_DROP_CURRENT, (self._pool, player))
            self._connection.execute(self._restore_current, (self._pool, player, base))
