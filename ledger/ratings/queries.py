"""The questions that people ask of the views, each one SQL statement with a pinned query plan.

Rows in, plain rows out; names of people are put in by the caller. Nothing is written, nothing is rated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ledger.book import tables as book_tables
from ledger.errors import MalformedError
from ledger.ratings import views_file
from ledger.runtime import sqlite

if TYPE_CHECKING:
    import sqlite3

RANKING = """
SELECT player, rating, n, game, ended_ms FROM current WHERE pool = ?1 AND n >= ?2 AND rating <> 0
ORDER BY rating DESC, player LIMIT ?3
"""
RANKING_SINCE = """
SELECT player, rating, n, game, ended_ms FROM current WHERE pool = ?1 AND n >= ?2 AND rating <> 0 AND ended_ms >= ?4
ORDER BY rating DESC, player LIMIT ?3
"""
RANK = "SELECT count(*) AS n FROM current WHERE pool = ?1 AND rating > ?2"
RATED_PLAYERS = "SELECT count(*) AS n FROM current WHERE pool = ?1"
LAST_ROW = "SELECT * FROM history WHERE pool = ?1 AND player = ?2 ORDER BY n DESC LIMIT 1"
ROW = "SELECT * FROM history WHERE pool = ?1 AND player = ?2 AND n = ?3"
ROW_AT = (
    "SELECT h.* FROM history AS h JOIN games ON games.position = h.game "
    "WHERE h.pool = ?1 AND player = ?2 AND rated_ms <= ?3 ORDER BY n DESC LIMIT 1"
)
GRAPH = "SELECT n, ended_ms, rating, half_points FROM history WHERE pool = ?1 AND player = ?2 ORDER BY n"
GAMES_OF = """
SELECT mine.n, mine.game, games.key, games.ended_at, games.outcome, games.termination, games.tournament,
  mine.colour, mine.half_points, mine.rating, mine.opponent, theirs.rating AS opponent_rating,
  now.rating AS rating_now, theirs_now.rating AS opponent_rating_now
FROM history AS mine
JOIN games ON games.position = mine.game
JOIN history AS theirs ON theirs.pool = mine.pool AND theirs.player = mine.opponent AND theirs.n = mine.opponent_n
JOIN current AS now ON now.pool = mine.pool AND now.player = mine.player
JOIN current AS theirs_now ON theirs_now.pool = mine.pool AND theirs_now.player = mine.opponent
WHERE mine.pool = ?1 AND mine.player = ?2 ORDER BY mine.n DESC LIMIT ?3
"""
SIDE_OF_GAME = "SELECT * FROM history WHERE pool = ?1 AND player = ?2 AND game = ?3"
GAME = "SELECT * FROM games WHERE position = ?1"
CURRENT = "SELECT rating, n FROM current WHERE pool = ?1 AND player = ?2"
POOLS = """
SELECT pools.pool AS number, name AS pool, count(current.player) AS players,
  coalesce(sum(current.n), 0) / 2 AS rated_games
FROM pools LEFT JOIN current ON current.pool = pools.pool GROUP BY pools.pool ORDER BY pools.pool
"""
ROW_BEFORE = (
    "SELECT h.* FROM history AS h JOIN games ON games.position = h.game "
    "WHERE h.pool = ?1 AND player = ?2 AND (rated_ms, batch) < (?3, ?4) ORDER BY n DESC LIMIT 1"
)
BATCH = f"""
SELECT position, white, black, half_points / 2.0 AS score, ended_ms, began_ms
FROM games WHERE pool = ?1 AND reason IS NULL AND rated_ms = ?2 AND batch = ?3 ORDER BY {book_tables.IN_ORDER_OF_ENDS}
"""
RUNS = """
SELECT rated_ms, batch, count(*) / 2 AS games, count(DISTINCT player) AS players, min(ended_ms) AS first_ms,
  max(ended_ms) AS last_ms
FROM (
  SELECT rated_ms, batch, ended_ms, white AS player FROM games WHERE pool = ?1 AND reason IS NULL
  UNION ALL SELECT rated_ms, batch, ended_ms, black FROM games WHERE pool = ?1 AND reason IS NULL)
GROUP BY rated_ms, batch ORDER BY rated_ms, batch
"""
ROWS_AT = """
SELECT h.* FROM current JOIN history AS h ON h.pool = current.pool AND h.player = current.player AND h.n = (
  SELECT n FROM history AS mine JOIN games ON games.position = mine.game
  WHERE mine.pool = current.pool AND mine.player = current.player AND games.rated_ms <= ?2 ORDER BY n DESC LIMIT 1)
WHERE current.pool = ?1
"""
ROWS_BEFORE = """
SELECT history.* FROM current JOIN history USING (pool, player, n) WHERE current.pool = ?1 AND current.ended_ms < ?2
"""
LATEST_END = "SELECT max(ended_ms) AS ms FROM current WHERE pool = ?1"
NEXT_PLACE = "SELECT min(rated_ms) AS ms FROM games WHERE pool = ?1 AND reason IS NULL AND rated_ms > ?2"
HOT = {
    "ranking": RANKING, "rank": RANK, "last row": LAST_ROW, "row": ROW, "row at an instant": ROW_AT, "graph": GRAPH,
    "games of a player": GAMES_OF, "side of a game": SIDE_OF_GAME, "game": GAME, "current": CURRENT,
    "row before a batch": ROW_BEFORE, "batch": BATCH,
}  # fmt: skip


def tables(connection: sqlite3.Connection) -> list[str]:
    """Names of the tables of the views."""
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
    return [name for (name,) in connection.execute(query)]


def dictionaries(
    connection: sqlite3.Connection, query: str, arguments: Sequence[object] = ()
) -> Iterator[dict[str, Any]]:
    """The rows of a query as dictionaries by column name.

    Raises:
        CorruptError: the views are damaged.
    """
    with sqlite.storage_errors("the views", views_file.REBUILD):
        cursor = connection.execute(query, arguments)
        names = [column[0] for column in cursor.description]
        for row in cursor:
            yield dict(zip(names, row, strict=True))


def rows_where(
    connection: sqlite3.Connection, table: str, where: str, arguments: Sequence[object]
) -> Iterator[dict[str, Any]]:
    """The rows of a table that an SQL condition of the caller chooses, as dictionaries.

    Raises:
        MalformedError: SQLite does not understand the condition, or it has another number of arguments.
        CorruptError: the views are damaged.
    """
    query = f'SELECT * FROM "{table}" WHERE {where}'
    try:
        connection.execute(f"EXPLAIN {query}", arguments)
    except (sqlite.sqlite3.Error, sqlite.sqlite3.Warning) as error:
        with sqlite.storage_errors("the views", views_file.REBUILD):
            columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
        message = f"condition {where!r} on table {table!r}: {error}; its columns are {columns}"
        raise MalformedError([message]) from error
    return dictionaries(connection, query, arguments)


def first_row(connection: sqlite3.Connection, query: str, arguments: Sequence[object]) -> dict[str, Any] | None:
    """The first row of a query, or None."""
    return next(dictionaries(connection, query, arguments), None)
