"""What changes would make of lists that were shown to the world, as revised: how many rows differ, and the largest.

The rows of those whom the changes reach are put into tables of the connection's own, over those of the views, as the
approval would write them; then both answers are asked as every list is. No row of the views is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, NamedTuple

import orjson

from ledger.book.timeline import Pool
from ledger.facts.instants import Precision, instant_text
from ledger.ratings.collected_rows import CollectedRows
from ledger.ratings.history import HISTORY
from ledger.ratings.player_states import PlayerState, PlayerStates

if TYPE_CHECKING:
    import sqlite3

Standing = tuple[float, int, str | None]  # what a list says of a player: rating, games, day of the last one
_CURRENT = "current"
_MADE = "SELECT sql FROM main.sqlite_master WHERE type = 'table' AND name = ?"
_PLAYERS = "SELECT player FROM main.current WHERE pool = ?"
_COPY_HISTORY = (
    f"INSERT INTO temp.{HISTORY.name}({{names}}) SELECT {{names}} FROM main.{HISTORY.name} "
    "WHERE pool = ? AND player = ? AND n >= ?"
)
_COPY_CURRENT = (
    f"INSERT INTO temp.{_CURRENT} SELECT c.* FROM json_each(?2) AS asked "
    f"CROSS JOIN main.{_CURRENT} AS c ON c.pool = ?1 AND c.player = asked.value"
)


class AskedList(NamedTuple):
    """A published list: its name, the name of its pool, and its instant, milliseconds since 1970."""

    name: str
    pool: str
    at_ms: int


class ListMove(NamedTuple):
    """What would become of a published list, as revised.

    Attributes:
        name: of the list.
        pool: name of its pool.
        players: how many rows would say something else, come or go; who only changes places is not counted.
        largest: the player whose rating would change most, the lower number first; None where only others change.
        before: that player's rating, as revised now.
        after: as it would be.
    """

    name: str
    pool: str
    players: int
    largest: int | None
    before: float | None
    after: float | None


def standings(
    connection: sqlite3.Connection, pool: Pool, ms: int, players: Iterable[int] | None
) -> dict[int, Standing]:
    """What the list of an instant says of some players, or of everybody on it.

    Args:
        connection: the views, or with what would be laid over them.
        pool: the pool.
        ms: the instant, milliseconds since 1970.
        players: of whom; None: of all.
    """
    states = PlayerStates(connection, pool)
    if players is None:
        return {state.player: _said(state) for state in states.all_at(ms)}
    closed = states.closed_at(ms)
    asked = (states.at(player, ms) for player in sorted(players) if player not in closed)
    return {state.player: _said(state) for state in asked if state.in_force is not None}


def _said(state: PlayerState) -> Standing:
    last = None if state.row is None else instant_text(state.row["ended_ms"], Precision.DAY)
    return state.in_force or 0.0, state.games, last


def compared(asked: AskedList, before: Mapping[int, Standing], after: Mapping[int, Standing]) -> ListMove:
    """How the two answers differ."""
    differing = sorted(player for player in before.keys() | after.keys() if before.get(player) != after.get(player))
    sizes = {
        player: abs(after[player][0] - before[player][0])
        for player in differing
        if player in before and player in after
    }
    largest = max(sizes, key=lambda player: (sizes[player], -player), default=None)
    if largest is None or not sizes[largest]:
        return ListMove(asked.name, asked.pool, len(differing), None, None, None)
    return ListMove(asked.name, asked.pool, len(differing), largest, before[largest][0], after[largest][0])


class PreviewedPool(NamedTuple):
    """What a preview found out of a pool.

    Attributes:
        start_ms: the first place in rating order of a game that is rated again, milliseconds.
        players: who was rated again.
        come_or_go: those of them who have a rated game now or would have one, and not both.
        rows: what lays their rows over those of the views.
    """

    start_ms: int
    players: Set[int]
    come_or_go: Set[int]
    rows: CollectedRows


class ListPreview:
    """The lists of one preview: what they would say is asked first, within a savepoint, then what they say."""

    def __init__(
        self, connection: sqlite3.Connection, asked: Sequence[AskedList], previewed: Mapping[str, PreviewedPool], *,
        everybody: bool,
    ) -> None:  # fmt: skip
        """Take what is asked.

        Args:
            connection: the snapshot.
            asked: the lists.
            previewed: by name, the pools in which games are rated again.
            everybody: all who are on the lists may move, not only who was rated again.
        """
        self._connection = connection
        self._asked = [known for known in asked if everybody or known.pool in previewed]
        self._previewed = previewed
        self._everybody = everybody

    def after(self, pools: Mapping[str, Pool]) -> list[dict[int, Standing]]:
        """What each list would say, by the pools as they would be; within a savepoint."""
        found = {}
        for name in dict.fromkeys(known.pool for known in self._asked):
            lists = [known for known in self._asked if known.pool == name]
            self._connection.execute("SAVEPOINT of_pool")
            if name in self._previewed:
                self._lay(pools[name], min(known.at_ms for known in lists))
            for known in lists:
                found[known] = standings(self._connection, pools[name], known.at_ms, self._players(known))
            self._connection.execute("ROLLBACK TO of_pool")
            self._connection.execute("RELEASE of_pool")
        return [found[known] for known in self._asked]

    def moves(self, pools: Mapping[str, Pool], after: Sequence[Mapping[int, Standing]]) -> list[ListMove]:
        """The lists that would differ, once everything is as it stands again."""
        found = []
        for known, then in zip(self._asked, after, strict=True):
            now = standings(self._connection, pools[known.pool], known.at_ms, self._players(known))
            if now != then:
                found.append(compared(known, now, then))
        return found

    def _players(self, known: AskedList) -> Set[int] | None:
        """Whose rows may differ; before the first game that is rated again only who comes or goes."""
        if self._everybody:
            return None
        pool = self._previewed[known.pool]
        return pool.players if known.at_ms >= pool.start_ms else pool.come_or_go

    def _lay(self, pool: Pool, first_ms: int) -> None:
        previewed = self._previewed[pool.name]
        players = set(previewed.players)
        if self._everybody:
            players |= {player for (player,) in self._connection.execute(_PLAYERS, (pool.pool,))}
        counts = previewed.rows.rated_before(sorted(players), min(first_ms, previewed.start_ms))
        lay_rows(self._connection, pool, counts)
        previewed.rows.lay()


def lay_rows(connection: sqlite3.Connection, pool: Pool, counts: Mapping[int, int]) -> None:
    """Make own tables of the history and the last rows, filled with the rows of some players as they stand.

    Args:
        connection: the snapshot; within a savepoint that is rolled back afterwards.
        pool: the pool, with state fields that the views may not know yet.
        counts: by player, the number of the first row that may be asked for.
    """
    connection.execute(f"DROP VIEW IF EXISTS temp.{HISTORY.name}")
    for table in (HISTORY.name, _CURRENT):
        made = connection.execute(_MADE, (table,)).fetchone()[0]
        connection.execute(made.replace("CREATE TABLE", "CREATE TEMP TABLE", 1))
    names = [row[1] for row in connection.execute(f"PRAGMA main.table_info({HISTORY.name})")]
    for field in pool.state_fields:
        if field not in names:
            connection.execute(f'ALTER TABLE temp.{HISTORY.name} ADD COLUMN "{field}" REAL')
    quoted = ", ".join(f'"{name}"' for name in names)
    rows = [(pool.pool, player, n) for player, n in counts.items()]
    connection.executemany(_COPY_HISTORY.format(names=quoted), rows)
    connection.execute(_COPY_CURRENT, (pool.pool, orjson.dumps(sorted(counts)).decode()))
