"""The SQL statements with which answers read the views, each with a pinned query plan.

Rows in, plain rows out; names of people are put in by the caller. Nothing is written, nothing is rated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ledger.book import tables as book_tables
from ledger.errors import MalformedError, UnknownNameError
from ledger.ratings import views_file
from ledger.ratings.projectors import tournament_performance
from ledger.runtime import sqlite
from ledger.runtime.nearest import expected_names

if TYPE_CHECKING:
    import sqlite3


def _rows(which: str, columns: str = "h.*, rated_ms, batch") -> str:
    """Return the query for rows of the history in one pool, ?1, each with its place in rating order."""
    return f"SELECT {columns} FROM history AS h JOIN games ON games.position = h.game WHERE h.pool = ?1 AND {which}"


# The plus keeps SQLite off the index by last game: the ranking is read in its order, and nothing is sorted.
RANKING = """
SELECT player, rating, n, latest_ms FROM current
WHERE pool = ?1 AND n >= ?2 AND listed = 1 AND +latest_ms > ?4 AND rated_ms >= ?5
ORDER BY rating DESC, player LIMIT ?3
"""
# Where few have played of late, they are looked up and sorted; else the ranking is read until enough of them were met.
RANKING_OF_FEW_ACTIVE = RANKING.replace("current\n", "current INDEXED BY current_by_last_game\n").replace(
    "+latest", "latest"
)
MANY_ACTIVE = (
    "SELECT 1 AS found FROM current INDEXED BY current_by_last_game "
    "WHERE pool = ?1 AND listed = 1 AND latest_ms > ?2 LIMIT 1 OFFSET 5000"
)
EXTREMES = """
SELECT (SELECT min(rating) FROM current WHERE pool = ?1 AND listed = 1),
  (SELECT max(rating) FROM current WHERE pool = ?1 AND listed = 1)
"""
ORDER_SINCE = """
SELECT -rating, player FROM current WHERE pool = ?1 AND listed = 1 AND rated_ms >= ?2 ORDER BY rating DESC, player
"""
# How many there are, and how many of them have a rating of ?5 or more; without some players, ?6 as JSON.
COUNTED_NOW = """
SELECT count(*) AS players, coalesce(sum(rating >= ?5), 0) AS not_below FROM current
WHERE pool = ?1 AND listed = 1 AND rated_ms >= ?2 AND n >= ?3 AND +latest_ms > ?4
  AND player NOT IN (SELECT value FROM json_each(?6))
"""
COUNTED_OF_FEW_ACTIVE = COUNTED_NOW.replace("current\n", "current INDEXED BY current_by_last_game\n").replace(
    "+latest", "latest"
)
# The last row of each player at an instant, where every game is rated when it ends.
RATINGS_AT = """
SELECT h.player, h.rating, h.n, h.latest_ms FROM current CROSS JOIN history AS h
ON h.pool = current.pool AND h.player = current.player AND h.n = (
  SELECT n FROM history AS mine
  WHERE mine.pool = current.pool AND mine.player = current.player AND mine.ended_ms <= ?2 ORDER BY n DESC LIMIT 1)
WHERE current.pool = ?1
"""


def _of_bounded(query: str, players: str, after: str) -> str:
    """Return a query for some players, after the first ones, in the order of what their ratings never exceed."""
    bounded = (
        f"(SELECT pool, player FROM {views_file.RATING_BOUNDS} WHERE pool = ?1 "
        f"ORDER BY rating DESC, player LIMIT {players} OFFSET {after})"
    )
    return query.replace("FROM current", f"FROM {bounded} AS current")


BEST_AT = _of_bounded(RATINGS_AT, "?5", "?6") + " AND h.n >= ?3 AND h.latest_ms > ?4"
BOUND = f"SELECT rating FROM {views_file.RATING_BOUNDS} WHERE pool = ?1 ORDER BY rating DESC, player LIMIT 1 OFFSET ?2"
# The same counts of an instant.
COUNTED_AT = f"""
SELECT count(*) AS players, coalesce(sum(rating >= ?5), 0) AS not_below FROM ({RATINGS_AT})
WHERE n >= ?3 AND latest_ms > ?4 AND player NOT IN (SELECT value FROM json_each(?6))
"""
# The same if few games were rated since: players without one have the present rating, in its order.
BEST_SINCE_FEW = """
WITH later AS (
  SELECT white AS player FROM games WHERE pool = ?1 AND reason IS NULL AND rated_ms > ?2
  UNION SELECT black FROM games WHERE pool = ?1 AND reason IS NULL AND rated_ms > ?2)
SELECT * FROM (
  SELECT player, rating, n, latest_ms FROM current
  WHERE pool = ?1 AND listed = 1 AND +ended_ms <= ?2 AND n >= ?3 AND +latest_ms > ?4
  ORDER BY rating DESC, player LIMIT ?5)
UNION ALL SELECT * FROM (
  SELECT h.player, h.rating, h.n, h.latest_ms FROM later CROSS JOIN history AS h
  ON h.pool = ?1 AND h.player = later.player AND h.n = (
    SELECT n FROM history AS mine
    WHERE mine.pool = ?1 AND mine.player = later.player AND mine.ended_ms <= ?2 ORDER BY n DESC LIMIT 1)
  WHERE h.n >= ?3 AND h.latest_ms > ?4 ORDER BY h.rating DESC, h.player LIMIT ?5)
"""
MANY_SINCE = (  # measured: up to here to look each player up takes less than to look at everybody in 0.1 million games
    "SELECT 1 AS found FROM games WHERE pool = ?1 AND reason IS NULL AND rated_ms > ?2 LIMIT 1 OFFSET 5000"
)
# The current games of some players, ?1 as JSON; voided and unrated ones too.
# UNION, not UNION ALL: a game between two of these players comes once.
EVERY_GAME_OF = """
WITH these(player) AS (SELECT value FROM json_each(?1)), theirs(position) AS (
  SELECT position FROM these CROSS JOIN games ON games.white = these.player
  UNION SELECT position FROM these CROSS JOIN games ON games.black = these.player)
SELECT position, key, white, black, outcome, half_moves, started_at, ended_at, tournament, round
FROM theirs CROSS JOIN games USING (position) ORDER BY position
"""
# The keys of those games, and of games that were reported for these players before a correction.
EVERY_KEY_OF = """
WITH these(player) AS (SELECT value FROM json_each(?1)), theirs(position) AS (
  SELECT position FROM these CROSS JOIN games ON games.white = these.player
  UNION SELECT position FROM these CROSS JOIN games ON games.black = these.player
  UNION SELECT position FROM originals WHERE facts ->> 'white' IN these OR facts ->> 'black' IN these)
SELECT key FROM theirs CROSS JOIN games USING (position)
"""
PLAYERS = "SELECT player FROM current WHERE pool = ?1"
LAST_ROW = _rows("player = ?2 ORDER BY n DESC LIMIT 1")
ROW = _rows("player = ?2 AND n = ?3")


def binary_search(name: str, condition: str, apart: int = 0) -> str:
    """Return a table expression that finds a player's (?2) last row whose game holds a condition.

    It lies from *low* to *high*, which are so far *apart* at most.
    """
    # A player's games are numbered in rating order: where the last one does not hold it, the others are halved again
    # and again, for a walk back from the last one takes as long as there are games since. CROSS JOIN: the planner
    # would turn it round.
    return f"""
{name}(low, high) AS (
  SELECT iif({condition}, n, 0), n FROM ({_rows("player = ?2 ORDER BY n DESC LIMIT 1", "n, rated_ms, batch")})
  UNION ALL
  SELECT iif({condition}, h.n, low), iif({condition}, high, h.n - 1)
  FROM {name} CROSS JOIN history AS h CROSS JOIN games
  WHERE high - low > {apart} AND h.pool = ?1 AND h.player = ?2 AND h.n = (low + high + 1) / 2
    AND games.position = h.game
)"""


def found_row(name: str, bound: str = "low", apart: int = 0) -> str:
    """Return the expression for the number of the row that ``binary_search`` finds, or a bound of it."""
    return f"(SELECT {bound} FROM {name} WHERE high - low <= {apart})"


NEAR = 256  # rows of a player take as long to walk through as to halve


def _last_row(condition: str) -> str:
    rows = f"player = ?2 AND n = {found_row('halved')}"
    return f"WITH RECURSIVE {binary_search('halved', condition)} {_rows(rows)}"


ROW_AT = _last_row("rated_ms <= ?3")
ROW_BEFORE = _last_row("(rated_ms, batch) < (?3, ?4)")
WAITING = (
    "SELECT max(rated_ms) AS ms FROM history AS h JOIN games ON games.position = h.game "
    "WHERE h.pool = ?1 AND player = ?2 AND n > ?3 AND h.ended_ms <= ?4"
)
GRAPH = _rows("player = ?2 AND n > ?3 ORDER BY n LIMIT ?4", "h.*, rated_ms, ended_at")
GAMES_OF = """
SELECT mine.*, games.position, games.key, games.ended_at, games.termination, games.tournament, games.round,
  games.rated_ms, games.batch, games.round_order, games.sequence_order
FROM history AS mine JOIN games ON games.position = mine.game
WHERE mine.pool = ?1 AND player = ?2 ORDER BY n DESC LIMIT ?3
"""
# The rows of a player after the ?3-th up to the ?4-th, in rating order, each with its game.
SIDES_BETWEEN = """
SELECT mine.*, games.position, games.key, games.ended_at, games.tournament, games.round, games.rated_ms, games.batch
FROM history AS mine JOIN games ON games.position = mine.game
WHERE mine.pool = ?1 AND mine.player = ?2 AND mine.n > ?3 AND mine.n <= ?4 ORDER BY mine.n
"""


def _opposite(which: str) -> str:
    """Return the query for the opponents' rows of a player's games; that of a guest is blank, but for the rating."""
    return f"""
SELECT theirs.*, iif(mine.colour = 0, games.black_guest, games.white_guest) ->> 'rating' AS guest_rating
FROM history AS mine JOIN games ON games.position = mine.game
LEFT JOIN history AS theirs ON theirs.pool = mine.pool AND theirs.player = mine.opponent AND theirs.n = mine.opponent_n
WHERE mine.pool = ?1 AND mine.player = ?2 {which}
"""


OPPOSITE_SIDES = _opposite("ORDER BY mine.n DESC LIMIT ?3")


def graph_page(state_fields: Iterable[str]) -> str:
    """Return the query for the ?3-th to ?4-th games of a player's graph, with what the opponents' rows say of them.

    It reads no other *state_fields* of the pool than these: each column costs some 3 % of a page.
    """
    return f"""
SELECT {", ".join(f"mine.{name}" for name in state_fields)}, mine.player, mine.n, mine.colour, mine.half_points,
  mine.ended_ms, mine.opponent, mine.opponent_n, games.key, games.ended_at, games.termination, games.time_loss,
  games.tournament, games.rated_ms, {book_tables.opponent_rating_sql("rating", "mine", "theirs")} AS opponent_rating,
  {book_tables.opponent_rating_sql("rating_before", "mine", "theirs")} AS opponent_before,
  now.rating AS now_rating, now.rated_ms AS now_rated_ms, now.listed AS now_listed
FROM history AS mine JOIN games ON games.position = mine.game
LEFT JOIN history AS theirs ON theirs.pool = mine.pool AND theirs.player = mine.opponent AND theirs.n = mine.opponent_n
LEFT JOIN current AS now ON now.pool = mine.pool AND now.player = mine.opponent
WHERE mine.pool = ?1 AND mine.player = ?2 AND mine.n BETWEEN ?3 AND ?4 ORDER BY mine.n DESC
"""


PAGE_OPPONENTS = _opposite("AND mine.n BETWEEN ?3 AND ?4 ORDER BY mine.n DESC")
# What opponent statistics need of the games up to the ?3-th: place in the journal, result, and both ratings after it.
NUMBERS_OF = f"""
SELECT mine.n, mine.game, mine.colour, mine.half_points, mine.opponent, mine.rating,
  {book_tables.opponent_rating_sql("rating", "mine", "theirs")} AS opponent_rating
FROM history AS mine JOIN games ON games.position = mine.game
LEFT JOIN history AS theirs ON theirs.pool = mine.pool AND theirs.player = mine.opponent AND theirs.n = mine.opponent_n
WHERE mine.pool = ?1 AND mine.player = ?2 AND mine.n <= ?3 ORDER BY mine.n DESC
"""
GAMES_BETWEEN = "SELECT n FROM history WHERE pool = ?1 AND player = ?2 AND ended_ms BETWEEN ?3 AND ?4 ORDER BY n DESC"
# By the player, never (hence the plus) by all games of the pool that do not count.
# A game of a guest counts for the opponent alone.
# If a player was merged into an opponent, both sides may be one person: such a game comes once, as White's.
NOT_COUNTED = f"""
SELECT * FROM (
  SELECT * FROM games WHERE white = ?1 AND +pool = ?2 AND (reason IS NOT NULL OR white_guest IS NOT NULL)
  UNION ALL SELECT * FROM games
  WHERE black = ?1 AND white <> ?1 AND +pool = ?2 AND (reason IS NOT NULL OR black_guest IS NOT NULL))
ORDER BY {", ".join(f"{name} DESC" for name in book_tables.RATING_ORDER)} LIMIT ?3
"""
ANY_PROPOSAL = "SELECT 1 AS found FROM proposals LIMIT 1"
PLACED_SIDES = """
SELECT position, key, opponent, colour, history.half_points, history.ended_ms, rating, rating_before, rated_ms, batch
FROM history JOIN games ON games.position = history.game WHERE history.pool = ?1 AND player = ?2 ORDER BY n
"""
# The later entries alone are looked through for the earliest place among them (the plus keeps it to their positions).
ANY_LATE = """
SELECT position FROM games WHERE pool = ?1 AND reason IS NULL AND position <= ?2 AND rated_ms >= (
  SELECT min(rated_ms) FROM games WHERE +pool = ?1 AND reason IS NULL AND position > ?2) LIMIT 1
"""
CORRECTED_GAMES = """
SELECT DISTINCT subject, proposal FROM corrections JOIN proposals USING (proposal)
WHERE subject IN (SELECT value FROM json_each(?1)) AND effective ORDER BY proposal
"""
# CROSS JOIN fixes the order: from the games of one player, never from all corrections.
CORRECTED_SIDES = """
SELECT DISTINCT mine.n, corrections.proposal FROM history AS mine
CROSS JOIN games ON games.position = mine.game CROSS JOIN corrections ON corrections.subject = 'game:' || games.key
CROSS JOIN proposals ON proposals.proposal = corrections.proposal
WHERE mine.pool = ?1 AND mine.player = ?2 AND proposals.effective ORDER BY corrections.proposal
"""
OPEN_PROPOSALS = "SELECT proposal FROM proposals WHERE decision IS NULL ORDER BY proposal"


def game_side(near: int) -> str:
    """Return the query for a player's row of a game.

    The game is found by halves until *near* rows of the player are left.
    """
    return f"""
WITH RECURSIVE {binary_search("halved", "rated_ms <= (SELECT rated_ms FROM games WHERE position = ?3)", near)}
SELECT * FROM history
WHERE pool = ?1 AND player = ?2 AND n <= {found_row("halved", "high", near)} AND game = ?3 ORDER BY n DESC LIMIT 1
"""


SIDE_OF_GAME = game_side(NEAR)
GAME = "SELECT * FROM games WHERE position = ?1"
CURRENT = "SELECT rating, n FROM current WHERE pool = ?1 AND player = ?2"
# Each rated game is counted by both of its players, but for guests.
POOLS = """
SELECT pools.pool AS number, name AS pool, count(current.player) AS players,
  (coalesce(sum(current.n), 0)
    + (SELECT count(*) FROM games WHERE games.pool = pools.pool AND white_guest IS NOT NULL)
    + (SELECT count(*) FROM games WHERE games.pool = pools.pool AND black_guest IS NOT NULL)) / 2 AS rated_games
FROM pools LEFT JOIN current ON current.pool = pools.pool GROUP BY pools.pool ORDER BY pools.pool
"""
BATCH = f"""
SELECT position, white, black, half_points / 2.0 AS score, ended_ms, began_ms, tournament, white_guest, black_guest
FROM games WHERE pool = ?1 AND reason IS NULL AND rated_ms = ?2 AND batch = ?3 ORDER BY {book_tables.IN_ORDER_OF_ENDS}
"""
# The place of the ?2-th last batch, from place to place; NULL where there are no more.
# One search of the index for each batch: a DISTINCT would read every game of the pool.
LAST_BATCHES = """
WITH RECURSIVE places(ms) AS (
  SELECT max(rated_ms) FROM games WHERE pool = ?1 AND reason IS NULL
  UNION ALL SELECT (
    SELECT max(rated_ms) FROM games WHERE pool = ?1 AND reason IS NULL AND rated_ms < places.ms)
  FROM places WHERE ms IS NOT NULL)
SELECT ms FROM places LIMIT 1 OFFSET ?2 - 1
"""
# Each game is there with both of its sides, so that players are counted by either colour; games are halved.
RUNS = """
SELECT rated_ms, batch, count(*) / 2 AS games, count(DISTINCT player) AS players, min(ended_ms) AS first_ms,
  max(ended_ms) AS last_ms
FROM (
  SELECT rated_ms, batch, ended_ms, white AS player FROM games WHERE pool = ?1 AND reason IS NULL AND rated_ms >= ?2
  UNION ALL SELECT rated_ms, batch, ended_ms, black FROM games WHERE pool = ?1 AND reason IS NULL AND rated_ms >= ?2)
GROUP BY rated_ms, batch ORDER BY rated_ms, batch
"""
ROWS_AT = """
SELECT h.*, placed.rated_ms FROM current CROSS JOIN history AS h
ON h.pool = current.pool AND h.player = current.player AND h.n = (
  SELECT n FROM history AS mine JOIN games ON games.position = mine.game
  WHERE mine.pool = current.pool AND mine.player = current.player AND games.rated_ms <= ?2 ORDER BY n DESC LIMIT 1)
CROSS JOIN games AS placed ON placed.position = h.game
WHERE current.pool = ?1
"""
BEST_ROWS_AT = _of_bounded(ROWS_AT, "?3", "?4")
# Both questions together give each player once.
ROWS_BEFORE = """
SELECT history.*, rated_ms FROM current JOIN history USING (pool, player, n)
WHERE current.pool = ?1 AND rated_ms < ?2 AND +listed <> 2
"""
ROWS_BY_LATER_LIST = """
SELECT history.*, rated_ms FROM current INDEXED BY current_by_rating CROSS JOIN history USING (pool, player, n)
WHERE current.pool = ?1 AND current.listed = 2
"""
ANY_LIST = "SELECT 1 AS found FROM seeds WHERE pool = ?1 LIMIT 1"
# No game is rated before it ends, so the last one to end is rated no earlier than the last end of the last batch.
LATEST_END = """
SELECT max(ended_ms) AS ms FROM games WHERE pool = ?1 AND reason IS NULL AND rated_ms >= (
  SELECT max(ended_ms) FROM games WHERE pool = ?1 AND reason IS NULL AND rated_ms = (
    SELECT rated_ms FROM games WHERE pool = ?1 AND reason IS NULL ORDER BY rated_ms DESC LIMIT 1))
"""
LAST_PLACE = "SELECT rated_ms AS ms FROM games WHERE pool = ?1 AND reason IS NULL ORDER BY rated_ms DESC LIMIT 1"
LAST_CLOSING = """
SELECT rated_ms AS ms FROM games WHERE pool = ?1 AND reason IS NULL AND rated_ms <= ?2 ORDER BY rated_ms DESC LIMIT 1
"""
NEXT_PLACE = "SELECT min(rated_ms) AS ms FROM games WHERE pool = ?1 AND reason IS NULL AND rated_ms > ?2"


def table_names(connection: sqlite3.Connection) -> list[str]:
    """Return the names of the tables of the views."""
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
    return [name for (name,) in connection.execute(query)]


def fetch_tuples(connection: sqlite3.Connection, query: str, arguments: Sequence[object] = ()) -> list[tuple[Any, ...]]:
    """Return the rows of a query as tuples: for many.

    Raises:
        CorruptError: the views are damaged.
    """
    return connection.execute(query, arguments).fetchall()


def fetch_dicts(
    connection: sqlite3.Connection, query: str, arguments: Sequence[object] = ()
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a query as dictionaries by column name.

    Raises:
        CorruptError: the views are damaged.
    """
    cursor = connection.execute(query, arguments)
    names = [column[0] for column in cursor.description]
    for row in cursor:
        yield dict(zip(names, row, strict=True))


def select_where(
    connection: sqlite.FileConnection, table: str, where: str, arguments: Sequence[object]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table that an SQL condition of the caller chooses, as dictionaries.

    Raises:
        UnknownNameError: there is no such table.
        MalformedError: SQLite does not understand the condition, or it has another number of arguments.
        CorruptError: the views are damaged.
    """
    names = sorted([*table_names(connection), tournament_performance.NAME])
    if table not in names:
        raise UnknownNameError("table", table, expected_names(table, names))
    query = f'SELECT * FROM "{table}" WHERE {where}'
    try:
        connection.attempt(f"EXPLAIN {query}", arguments)
    except (sqlite.sqlite3.Error, sqlite.sqlite3.Warning) as error:
        columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
        message = f"condition {where!r} on table {table!r}: {error}; its columns are {columns}"
        raise MalformedError([message]) from error
    return fetch_dicts(connection, query, arguments)


def fetch_first(connection: sqlite3.Connection, query: str, arguments: Sequence[object]) -> dict[str, Any] | None:
    """Return the first row of a query as a dictionary, or None."""
    return next(fetch_dicts(connection, query, arguments), None)
