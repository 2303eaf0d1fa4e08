"""The rows of a pool as an approval would write them, collected in memory: for previews. The views are only read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from ledger.book.timeline import Pool
from ledger.ratings.history import HISTORY
from ledger.ratings.listing import is_listed
from ledger.ratings.player_rows import PlayerRows
from ledger.ratings.side_tables import SideTable
from ledger.runtime import overlay

if TYPE_CHECKING:
    import sqlite3

# What is written over a game is looked up first: a join with the view would read all rows of the player.
_RATED_BEFORE = f"""
SELECT n FROM {HISTORY.name} AS h WHERE pool = ? AND player = ? AND coalesce(
  (SELECT rated_ms FROM temp.{overlay.WRITTEN}games AS w WHERE w.position = h.game),
  (SELECT rated_ms FROM main.games AS g WHERE g.position = h.game)) < ?
ORDER BY n DESC LIMIT 1
"""
_LAST_PLACES = (
    "SELECT c.player, c.n, c.rated_ms FROM json_each(?2) AS asked "
    "CROSS JOIN current AS c ON c.pool = ?1 AND c.player = asked.value"
)
_GAME_OF_ROW = "SELECT game FROM history WHERE pool = ? AND player = ? AND n = ?"


class LastRow(NamedTuple):
    """Of a player's last row: the figures, but the game of the highest rating by its position."""

    rating: float
    games: int
    listed: bool
    time_losses: int
    hera: float | None
    hera_game: int | None


class CollectedRows(PlayerRows):
    """The rows of one pool, read from the views and written nowhere: of each player the last one is kept."""

    def __init__(self, connection: sqlite3.Connection, pool: Pool, tables: Sequence[SideTable]) -> None:
        super().__init__(connection, pool, tables)
        names = [name for name, _ in tables[0].columns]
        self._place = {name: place for place, name in enumerate(names)}
        quoted = ", ".join(f'"{name}"' for name in names)
        self._whole = f"SELECT {quoted} FROM {HISTORY.name} WHERE pool = ? AND player = ? AND n = ?"
        self._rows: dict[int, Sequence[Any] | None] = {}
        self._reached: dict[int, Sequence[Any]] = {}  # in which the highest rating was reached, of those rated again
        self._listed: dict[int, bool] = {}
        self._as_before: set[int] = set()  # who was rated again and stands as the views say
        self._steps: list[Callable[[], None]] | None = None  # what an approval would do to the tables

    def counted(self, players: Sequence[int], ms: int) -> dict[int, tuple[int, int]]:
        """By player, how many rated games there are, and how many would have their place before *ms*."""
        if self._pool.by_game:
            return super().counted(players, ms)
        rows = self._connection.execute(_LAST_PLACES, (self._number, orjson.dumps(players).decode()))
        return {player: (n, n if place < ms else self._before(player, ms)) for player, n, place in rows.fetchall()}

    def rated_before(self, players: Sequence[int], ms: int) -> dict[int, int]:
        """By player, how many rated games have their place in rating order before *ms*, as the game would stand."""
        return super().rated_before(players, ms) if self._pool.by_game else {
            player: self._before(player, ms) for player in players
        }

    def _before(self, player: int, ms: int) -> int:
        row = self._connection.execute(_RATED_BEFORE, (self._number, player, ms)).fetchone()
        return 0 if row is None else int(row[0])

    def write(self, table: SideTable, rows: Iterable[Sequence[Any]], *, replacing: bool = False) -> None:  # noqa: ARG002
        """Keep the last row of each player, and that of the highest rating."""
        assert table.fold is HISTORY  # a preview has no projectors
        if self._steps is not None:
            rows = list(rows)
            self._steps.append(partial(super().write, table, rows, replacing=True))
        hera_n, last, reached = self._place["hera_n"], self._rows, self._reached
        for row in rows:
            player = row[1]
            last[player] = row
            if row[hera_n] == row[2]:
                reached[player] = row

    def drop_after(self, bases: Sequence[tuple[int, int]]) -> None:
        """Nothing is deleted: what was written since stands beside the views."""
        if self._steps is not None:
            self._steps.append(partial(super().drop_after, list(bases)))

    def stand_again(self, players: Iterable[int]) -> None:
        """The last rows of these players are those that the views have."""
        for player in players:
            self._rows.pop(player, None)
            self._as_before.add(player)

    def write_current(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Keep who is listed."""
        if self._steps is not None:
            rows = list(rows)
            self._steps.append(partial(super().write_current, rows))
        self._listed.update((row[1], bool(row[-1])) for row in rows)

    def restore_current(self, bases: Sequence[tuple[int, int]]) -> None:
        """Make the given row of each player the last one; number 0 leaves none."""
        if self._steps is not None:
            self._steps.append(partial(super().restore_current, bases))
        for player, base in bases:
            self._reached.pop(player, None)
            held = self.carried(player, base).held
            if held is None:
                self._rows[player] = None
            else:
                self._rows[player] = self._row(HISTORY.name, self._whole, player, base)
                self._listed[player] = is_listed(self._pool.eras[held.era], held.state)

    def keep_all(self) -> None:
        """Keep every row from now on, not only the last ones: ``lay`` will ask for them."""
        self._steps = []

    def lay(self) -> None:
        """Write what was kept into tables of the connection's own, which hold the rows as they stand."""
        for step in self._steps or ():
            step()

    @property
    def players(self) -> list[int]:
        """Who was rated again, or has no rated game any longer from there on."""
        return sorted(self._rows.keys() | self._as_before)

    def stands_as_before(self, player: int) -> bool:
        """Whether the last row of a player is the one that the views have."""
        return player not in self._rows

    def last(self, player: int) -> LastRow | None:
        """What the last row of a player would say; None for who would have none."""
        row = self._rows[player]
        if row is None:
            return None
        value = {name: row[self._place[name]] for name in ("rating", "n", "time_losses", "hera", "hera_n")}
        n = int(value["hera_n"])
        game = None
        if n:
            reached = self._reached.get(player)
            if reached is None or reached[2] != n:
                game = self._connection.execute(_GAME_OF_ROW, (self._number, player, n)).fetchone()[0]
            else:
                game = int(reached[self._place["game"]])
        return LastRow(
            value["rating"], value["n"], self._listed[player], int(value["time_losses"]), _known(value["hera"]), game
        )


def _known(value: float | None) -> float | None:
    return None if value is None or isnan(value) else value
