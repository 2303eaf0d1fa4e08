"""Makes and repairs tables of read models from the rows of the history, without rating anything again.

``read_models`` decides which tables are missing or stale; no other table is touched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from math import nan
from typing import TYPE_CHECKING, Any

import orjson

from ledger.book.book_state import BookState
from ledger.book.tables import opponent_rating_sql
from ledger.book.timeline import Pool
from ledger.ratings import engine, read_models, side_rows, views_file
from ledger.ratings.fact_folds import project_all_facts
from ledger.ratings.fact_projector import fact_projectors_among
from ledger.ratings.player_rows import listed_flags
from ledger.ratings.projector import SIDE_COLUMNS, DeclaredProjector
from ledger.ratings.projectors.history import HISTORY
from ledger.ratings.rated_games import code_columns, last_restart_eras
from ledger.ratings.read_models import TablePlan
from ledger.ratings.side_rows import apply_projector
from ledger.ratings.view_tables import SideTable, facts_wanted
from ledger.runtime.columns import FEW, MANY, Column, Columns
from ledger.runtime.long_work import Progress, collector_paused, no_progress

if TYPE_CHECKING:
    import sqlite3

from ledger.ratings.view_builds import STATE_PREFIX

BLOCK = 100_000  # rows that are Python objects at one time

# The columns of a side in the stored rows: *own* is its row, *other* the opponent's, *games* the game's.
_KEPT_IN: Mapping[str, str] = {
    **{name: f"own.{name}" for name in ("n", *HISTORY.stores)},
    "opponent_rating": "other.rating",
    "opponent_rating_before": "other.rating_before",
    "rated_ms": "games.rated_ms",
    "games_before": "own.games_before",
    "lost_on_time": "games.time_loss = own.colour + 1",
    **{column.fact: f"games.{column.fact}" for column in SIDE_COLUMNS.values() if column.fact},
}
# A guest has no row: the game has the rating that counts.
_OF_GUESTS = {f"opponent_{name}": opponent_rating_sql(name, "own", "other") for name in ("rating", "rating_before")}
_SMALL = frozenset({"n", "opponent", "opponent_n", "colour", "half_points", "lost_on_time"})  # as ``sides_of`` has them


@collector_paused()  # a fold of 200,000 rows made 2.7 seconds of 1.1
def apply_plan(book: BookState, plan: TablePlan, until: int, progress: Progress = no_progress) -> None:
    """Drop, make and repair tables as planned, in the caller's transaction.

    Args:
        book: the game book of the views, which are rated as this program rates.
        plan: what is to be done.
        until: the last entry that is folded into them.
        progress: receives how many rows of the history, or entries, are folded into each table.
    """
    connection, pools = book.connection, list(book.pools.values())
    stored = views_file.stored_projectors(connection)
    for name in plan.drop:
        if name in stored:
            views_file.drop_table(connection, name)
        read_models.mark_up_to_date(connection, name)
    refolded = fact_projectors_among((*plan.make, *plan.mend))
    # a stale one, too: its facts are passed again in little time
    for made in refolded:
        if made.name in stored:
            views_file.drop_table(connection, made.name)
        views_file.add_table(connection, made, made.create)
        read_models.mark_up_to_date(connection, made.name)
    if refolded:
        project_all_facts(book, refolded, until, progress)
    for projector in plan.make:
        if isinstance(projector, DeclaredProjector):
            if projector.name in stored:
                views_file.drop_table(connection, projector.name)
            _make(connection, projector, pools, progress)
            read_models.mark_up_to_date(connection, projector.name)
    for projector in plan.mend:
        if isinstance(projector, DeclaredProjector):
            _mend(connection, SideTable(projector), pools, progress)
            read_models.mark_up_to_date(connection, projector.name)


# Players with a game from a place on, and players with rows of games that are gone; whole players are folded again,
# for a fold goes on from its own rows, and a player's games are few next to those of a pool.
_FROM_THERE = """
SELECT white FROM games WHERE pool = ?1 AND reason IS NULL AND rated_ms >= ?2
UNION SELECT black FROM games WHERE pool = ?1 AND reason IS NULL AND rated_ms >= ?2
"""
# The second one goes from player to player by the key: a DISTINCT would read every row of the pool.
_SURPLUS = """
WITH RECURSIVE known(player) AS (
  SELECT min(player) FROM "{0}" WHERE pool = ?1
  UNION ALL SELECT (SELECT min(player) FROM "{0}" WHERE pool = ?1 AND player > known.player)
  FROM known WHERE known.player IS NOT NULL)
SELECT player FROM known WHERE player IS NOT NULL AND EXISTS (
  SELECT 1 FROM "{0}" AS kept WHERE kept.pool = ?1 AND kept.player = known.player AND kept.n > coalesce(
    (SELECT n FROM current WHERE current.pool = ?1 AND current.player = known.player), 0))
"""


def _mend(connection: sqlite3.Connection, table: SideTable, pools: Sequence[Pool], progress: Progress) -> None:
    """Fold the players with stale rows again."""
    count = _RowCount(f"table {table.name}", connection, progress)
    since = read_models.stale_since(connection, table.name)
    for pool in pools:
        if pool.pool not in since:
            continue
        start_ms, players = since[pool.pool], None
        if start_ms is None:
            connection.execute(f'DELETE FROM "{table.name}" WHERE pool = ?', (pool.pool,))
        else:
            numbers = {player for (player,) in connection.execute(_FROM_THERE, (pool.pool, start_ms))}
            numbers |= {player for (player,) in connection.execute(_SURPLUS.format(table.name), (pool.pool,))}
            players = orjson.dumps(sorted(numbers)).decode()
            gone = f'DELETE FROM "{table.name}" WHERE pool = ? AND player IN (SELECT value FROM json_each(?))'
            connection.execute(gone, (pool.pool, players))
        _fold_pool(connection, pool, table, count, players)
    count.finish()


def _make(
    connection: sqlite3.Connection, projector: DeclaredProjector, pools: Sequence[Pool], progress: Progress
) -> None:
    """Fold all stored rows into a new table."""
    table = SideTable(projector)
    views_file.add_table(connection, projector, table.create)
    count = _RowCount(f"table {projector.name}", connection, progress)
    for pool in pools:
        _fold_pool(connection, pool, table, count)
    count.finish()
    for statement in table.indexes:
        connection.execute(statement)


class _RowCount:
    """The progress of folding one table, in rows of the history; in a table by tournament not all of them count."""

    def __init__(self, what: str, connection: sqlite3.Connection, progress: Progress) -> None:
        self._what, self._progress, self._done = what, progress, 0
        (self._total,) = connection.execute("SELECT coalesce(sum(n), 0) FROM current").fetchone()

    def add(self, rows: int) -> None:
        self._done += rows
        self._progress(self._what, self._done, max(self._done, self._total))

    def finish(self) -> None:
        self._progress(self._what, self._total, self._total)


def _fold_pool(
    connection: sqlite3.Connection, pool: Pool, table: SideTable, count: _RowCount, players_asked: str | None = None
) -> None:
    """Fold the rows of one pool, in the order of players and their games; of some players, a JSON list, or of all."""
    start = [kept.start for kept in table.fold.state]
    width = len(start)
    # the states of the last player, in each tournament or in all
    carried: dict[tuple[Any, ...], list[float]] = {}
    for names, rows in _blocks(connection, pool, table, players_asked):
        cols = FEW if len(rows) < engine.COMPILE_FROM else MANY
        players, *columns = zip(*rows, strict=True)
        by_name = dict(zip(names, columns, strict=True))
        sides = _sides(cols, pool, by_name, table)
        owners = list(zip(players, by_name["tournament"], strict=True)) if table.by_tournament else list(zip(players))
        runs: dict[tuple[Any, ...], int] = {}
        run = [runs.setdefault(owner, len(runs)) for owner in owners]
        running = [value for owner in runs for value in carried.get(owner, start)]
        whose = side_rows.side_locator({"player": players, "n": by_name["n"]})
        folded = apply_projector(cols, table.fold, cols.int32_column(run), sides, cols.float64_column(running), whose)
        stored = (folded.of_rows(cols, sides[name]) for name in (*table.fold.key[2:], *table.fold.stores))
        players_column = folded.of_rows(cols, cols.int32_column(players))
        lists = cols.to_lists([players_column, *stored, *folded.columns])
        connection.executemany(table.insert, zip(repeat(pool.pool, len(lists[0])), *lists, strict=True))
        flat, last = cols.to_lists([folded.reached])[0], players[-1]
        carried |= {owner: flat[place * width : (place + 1) * width] for owner, place in runs.items()}
        # Rows come by player: only those of the last one can go on in the next block.
        carried = {owner: kept for owner, kept in carried.items() if owner[0] == last}
        count.add(len(rows))


def _blocks(
    connection: sqlite3.Connection, pool: Pool, table: SideTable, players: str | None
) -> Iterator[tuple[list[str], list[tuple[Any, ...]]]]:
    """Yield the rows of a pool by player and game number, the player first, and the names of their further columns."""
    wants = table.fold.wants
    of_eras = {"rated_ms"} if wants & {"era", "scheme", "restart", "listed"} else set()
    names = [name for name in _KEPT_IN if name in {"n", *of_eras, *wants, *facts_wanted([table])}]
    fields = pool.state_fields if "listed" in wants else ()
    kept_in = {**_KEPT_IN, **_OF_GUESTS} if pool.has_guests else _KEPT_IN
    columns = [*(kept_in[name] for name in names), *(f'own."{name}"' for name in fields)]
    names += [STATE_PREFIX + name for name in fields]
    # CROSS JOIN keeps the history outermost: in the order of its key, so that nothing is sorted. What no column needs
    # is not joined: of a million games each join costs seconds.
    join = "LEFT" if pool.has_guests else "CROSS"
    joins = {
        "games.": "CROSS JOIN games ON games.position = own.game ",
        "other.": f"{join} JOIN {HISTORY.name} AS other ON other.pool = own.pool AND other.player = own.opponent "
        "AND other.n = own.opponent_n ",
    }
    requested = " ".join([*columns, "games." if table.by_tournament else ""])
    query = (
        f"SELECT own.player, {', '.join(columns)} FROM {HISTORY.name} AS own "
        + "".join(join for place, join in joins.items() if place in requested)
        + ("WHERE games.tournament IS NOT NULL AND " if table.by_tournament else "WHERE ")
        + ("own.player IN (SELECT value FROM json_each(?2)) AND " if players is not None else "")
        + "own.pool = ?1 ORDER BY own.player, own.n"
    )
    cursor = connection.execute(query, (pool.pool,) if players is None else (pool.pool, players))
    while rows := cursor.fetchmany(BLOCK):
        yield names, rows


def _sides(cols: Columns, pool: Pool, by_name: Mapping[str, Sequence[Any]], table: SideTable) -> dict[str, Column]:
    """Return the columns of ``SIDE_COLUMNS`` that the table wants, of the types that rating gives them."""
    sides: dict[str, Column] = {}
    for name, column in by_name.items():
        # they say which era rated the side, and who is listed
        if name == "rated_ms" or name.startswith(STATE_PREFIX):
            continue
        kind = SIDE_COLUMNS[name].type
        if kind == "REAL":
            sides[name] = cols.float64_column(_numbers(column))
        elif kind == "TEXT":
            sides[name] = cols.text_column(column)
        else:
            sides[name] = (cols.int32_column if name in _SMALL else cols.int64_column)(column)
    if table.fold.wants & {"era", "scheme", "restart"}:
        sides["era"] = cols.int32_column([pool.era_at(ms) for ms in by_name["rated_ms"]])
    if "restart" in table.fold.wants:
        sides["restart"] = last_restart_eras(cols, pool, sides["era"])
    if "listed" in table.fold.wants:
        fields = {name: cols.float64_column(_numbers(by_name[STATE_PREFIX + name])) for name in pool.state_fields}
        sides["listed"] = listed_flags(cols, pool, cols.int64_column(by_name["rated_ms"]), fields)
    return {**sides, **code_columns(cols, pool, sides, table.fold.wants)}


def _numbers(column: Sequence[float | None]) -> list[float]:
    return [nan if value is None else value for value in column]
