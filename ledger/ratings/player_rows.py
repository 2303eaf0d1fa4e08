"""The rows of one pool in the views: it reads players' states, writes and deletes rows, and says who is listed.

The statements are put together once, for a live game runs each of them. Which rows, and what is in them, is decided
in ``projection`` and ``side_rows``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from math import inf
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from ledger.book.guests import other_federations_at
from ledger.book.roster import standing_sql
from ledger.book.timeline import Era, EraState, Pool
from ledger.errors import ProjectionError
from ledger.ratings import engine, later_lists
from ledger.ratings.projector import DeclaredProjector
from ledger.ratings.projectors.history import HISTORY
from ledger.ratings.view_tables import SideTable, columns_wanted, facts_wanted, initial_state
from ledger.ratings.views_file import RATING_BOUNDS
from ledger.runtime.columns import FEW, Column, Columns
from ledger.runtime.kernels import compile_kernel
from ledger.runtime.lazy import np
from ledger.schemes.scheme import Scheme, Seed, always_listed

if TYPE_CHECKING:
    import sqlite3

# The players that a rating list shows: those whom the scheme lists, for one state or for many, with an open account.
#
# No other place decides it. The scheme's answer for each player's last state is stored with the current ratings, so
# that a ranking is one look at an index. Closed accounts depend on the instant of the list; they are few, and are read
# for it. ``player_states`` says what time or a later scheme makes of a state.

# Instead of the scheme's answer if a later list gives the rating, at once or from its day on: such a row alone does not
# say ``now``, and the index of listed players does not have it.
BY_LATER_LIST = 2

# Names that ``scheme_loop`` gives to the loop below, each time to something else.
listed: Callable[..., bool]

# Those whose standing at an instant, ?1, is closed. That it is not 'full', too, lets SQLite use the index of the few.
CLOSED_AT = f"""
SELECT player FROM players WHERE player IN (
  SELECT player FROM players WHERE standing <> 'full' AND standing = 'closed'
  UNION SELECT player FROM changes WHERE standing = 'closed')
  AND {standing_sql("players", "?1")} = 'closed'
"""


def closed_at(connection: sqlite3.Connection, ms: int) -> frozenset[int]:
    """Return the players whose accounts are closed at an instant in milliseconds since 1970.

    No list shows them; their games count.
    """
    return frozenset(player for (player,) in connection.execute(CLOSED_AT, (ms,)))


def unlisted_at(connection: sqlite3.Connection, pool: Pool, ms: int) -> frozenset[int]:
    """Return whom no list of a pool shows at an instant: closed accounts, and players of other federations."""
    return closed_at(connection, ms) | other_federations_at(connection, pool, ms)


def is_listed(era: Era, state: Sequence[float]) -> bool:
    """Return whether the scheme of an era lists a player with this state; an unlisted one has no rating to show."""
    return era.scheme.is_listed(state, era.numbers)


def flag_listed_players(players: Any, flags: Any, numbers: Any) -> None:
    """Fill *flags* with 1 for each player whom a scheme lists, else 0; *players* are records."""
    for player in range(len(flags)):
        # ``with_globals`` puts the scheme's own kernel in under this name.
        if listed(players[player], numbers):  # noqa: F821
            flags[player] = 1
        else:
            flags[player] = 0


@cache
def _marking_loop(scheme: Scheme) -> Callable[..., None]:
    return engine.scheme_loop(flag_listed_players, scheme)


def listed_flags(cols: Columns, pool: Pool, rated_ms: Column, fields: Mapping[str, Column]) -> Column:
    """Return 1 for each state that its scheme lists, else 0.

    *rated_ms* is the place of each state's last game, which says by which scheme it was rated; *fields* are the columns
    of ``pool.state_fields``.
    """
    if pool.lists_everybody:
        return cols.int32_column([1] * len(rated_ms))
    if cols is FEW:
        few_flags = []
        for i, ms in enumerate(rated_ms):
            era = pool.eras[pool.era_at(ms)]
            few_flags.append(int(is_listed(era, [fields[name][i] for name in era.scheme.state])))
        return few_flags
    flags, eras = np.ones(len(rated_ms), np.int32), pool.eras_at(rated_ms)
    for number, era in enumerate(pool.eras):
        players = np.flatnonzero(eras == number)
        if len(players) and era.scheme.listed is not always_listed:
            state = np.stack([fields[name][players] for name in era.scheme.state], axis=1).reshape(-1)
            flags[players] = _marked(cols, era, state, len(players))
    return flags


def _marked(cols: Columns, era: Era, state: Any, players: int) -> Any:
    """Return the flags of players of one era; interpreted where compiling would not pay."""
    loop = _marking_loop(era.scheme)
    if players < engine.COMPILE_FROM:
        marks = [0] * players
        loop(engine.records(FEW, era.scheme.player, state.tolist()), marks, era.numbers)
        return marks
    flags = cols.zeros(players)
    compile_kernel(loop)(engine.records(cols, era.scheme.player, state), flags, era.numbers)
    return flags


BEFORE_ALL_GAMES = -(2**62)  # before any game, milliseconds
# A player's number and that of a game have 31 bits each: both together are one whole number of SQLite's, of 63.
N_BITS = 31  # of a whole number that holds a player and, in its lower bits, which of the player's games

_LATER = "SELECT 1 FROM games WHERE pool = ? AND reason IS NULL AND rated_ms >= ? AND position <> ?"
_LAST_PLACE = "SELECT n, rated_ms FROM current WHERE pool = ? AND player = ?"
_PLACES = "SELECT position, rated_ms FROM games WHERE position IN (SELECT value FROM json_each(?))"
_LAST_LIST = "SELECT 1 FROM seeds WHERE pool = ? AND player = ? AND effective_ms > ? LIMIT 1"
_DROP_CURRENT = "DELETE FROM current WHERE pool = ? AND player = ?"
CURRENT_COLUMNS = (
    "n",
    "rating",
    "game",
    "ended_ms",
    "rated_ms",
    "latest_ms",
)  # of the last side, after pool and player; then ``listed``
# An update, not a replacement: that would be counted out of the distribution and into it though the points stay.
WRITE_CURRENT = (
    "INSERT INTO current VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
    "n = excluded.n, rating = excluded.rating, game = excluded.game, ended_ms = excluded.ended_ms, "
    "rated_ms = excluded.rated_ms, latest_ms = excluded.latest_ms, listed = excluded.listed"
)
_RATING = [name for name, _ in SideTable(HISTORY).columns].index("rating")  # its place in a row of the history
RAISE_BOUND = (
    f"INSERT INTO {RATING_BOUNDS} VALUES (?, ?, ?) "
    "ON CONFLICT DO UPDATE SET rating = excluded.rating WHERE excluded.rating > rating"
)
_COUNTS = (
    "SELECT c.player, c.n, CASE WHEN c.rated_ms < ?3 THEN c.n ELSE coalesce((SELECT n FROM {rows} "
    "WHERE h.pool = ?1 AND h.player = c.player AND {place} < ?3 ORDER BY n DESC LIMIT 1), 0) END "
    "FROM json_each(?2) AS asked CROSS JOIN current AS c ON c.pool = ?1 AND c.player = asked.value"
)
_BEFORE = _COUNTS.format(rows=f"{HISTORY.name} AS h JOIN games ON games.position = h.game", place="games.rated_ms")
# Where games are rated by themselves that is where they ended, which the rows say: what moves does so after that place.
_ENDED_BEFORE = _COUNTS.format(rows=f"{HISTORY.name} AS h", place="h.ended_ms")
_SHOWN = (
    f"SELECT h.player, h.game, h.rating FROM json_each(?2) AS asked CROSS JOIN {HISTORY.name} AS h "
    f"ON h.pool = ?1 AND h.player = asked.value >> {N_BITS} AND h.n = asked.value & {(1 << N_BITS) - 1}"
)
_RESTORE_CURRENT = (
    "INSERT INTO current SELECT h.pool, player, n, rating, game, h.ended_ms, games.rated_ms, latest_ms, ? "
    f"FROM {HISTORY.name} AS h JOIN games ON games.position = h.game WHERE h.pool = ? AND player = ? AND n = ?"
)


class PlayerEntryStates(NamedTuple):
    """The states with which a player enters the next rated game.

    Attributes:
        held: the scheme's state, its era, and how many games were rated; None for a new player.
        kept: the running state of each table's fold; empty for a fold by tournament, whose rows are read when needed.
    """

    held: EraState | None
    kept: list[list[float]]

    @property
    def n(self) -> int:
        """Rated games so far."""
        return 0 if self.held is None else self.held.games


def from_stored(fold: DeclaredProjector, values: Sequence[float | None]) -> list[float]:
    """Return the running state stored in a table's row; NULL, which stands for NaN, becomes the start value."""
    # Not strict: of a fold that keeps nothing the question gives one NULL (``_quoted``).
    return [
        kept.start if value is None or value != value else value  # noqa: PLR0124  # NaN; a call would take twice as long
        for kept, value in zip(fold.state, values, strict=False)
    ]


class PlayerRows:
    """The rows of one pool in one views database, and the statements that read and write them."""

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
        self.side_columns = columns_wanted(tables)
        self.state_fields = pool.state_fields
        # CROSS JOIN in all of these: from those asked about, never from all rows of the pool.
        self._many = [  # of one by tournament never asked
            f"SELECT {', '.join(['h.player', *self._kept_names(table, 'h')])} "
            f"FROM json_each(?2) AS asked CROSS JOIN {_asked_row(table, 'h')}"
            for table in tables
        ]
        self.tables_of_states = [
            number for number, table in enumerate(tables) if not table.by_tournament and table.fold.follows_ratings
        ]
        # One way through the players asked about for all of these tables; one with rows of changes may have none yet.
        names, joins = ["r0.player"], ["json_each(?2) AS asked"]
        for place, number in enumerate(self.tables_of_states):
            table, name = self.tables[number], f"r{place}"
            names += self._kept_names(table, name)
            joins.append(f"{'LEFT' if table.is_sparse else 'CROSS'} JOIN {_asked_row(table, name)}")
        self._states = f"SELECT {', '.join(names)} FROM {' '.join(joins)}"
        last_there = "pool = ? AND tournament = ? AND player = ? AND n < ? ORDER BY n DESC LIMIT 1"
        self._in_tournament = {
            table.name: f'SELECT {_quoted(kept.name for kept in table.fold.state)} FROM "{table.name}" '
            f"WHERE {last_there}"
            for table in tables
            if table.by_tournament
        }
        self._insert = {table.name: table.insert for table in tables}
        self._replace = {name: f"INSERT OR REPLACE{made.removeprefix('INSERT')}" for name, made in self._insert.items()}

    def last_game_place(self, player: int) -> tuple[int, int]:
        """Return the player's number of rated games, and the rating time (``rated_ms``) of the last one."""
        row = self._connection.execute(_LAST_PLACE, (self._number, player)).fetchone()
        return (0, BEFORE_ALL_GAMES) if row is None else row

    def count_games(self, players: Sequence[int], ms: int) -> dict[int, tuple[int, int]]:
        """Return, by player, the number of rated games, and of those with a rating time before *ms*.

        A player without a rated game is left out.
        """
        query = _ENDED_BEFORE if self._pool.by_game else _BEFORE
        rows = self._connection.execute(query, (self._number, _json(players), ms))
        return {player: (n, before) for player, n, before in rows}

    def count_games_before(self, players: Sequence[int], ms: int) -> dict[int, int]:
        """Return, by player, the number of rated games with a rating time before *ms*."""
        counted = self.count_games(players, ms)
        return {player: counted[player][1] if player in counted else 0 for player in players}

    def lists_taken_in_until(self, player: int, n: int) -> int:
        """Return the instant up to which the state after a player's *n*-th game includes rating lists."""
        return later_lists.lists_taken_in_until(self._connection, self._pool, player, n)

    def is_last_game(self, position: int, rated_ms: int) -> bool:
        """Return whether the rated game with this position and rating time is the last in rating order."""
        return self._connection.execute(_LATER, (self._number, rated_ms, position)).fetchone() is None

    def entry_states(self, player: int, n: int) -> PlayerEntryStates:
        """Return the states with which the player enters the game after the *n*-th.

        Raises:
            ProjectionError: there is no such row.
        """
        if n == 0:
            return self.new_player_states(None)
        game, *stored = self.table_states_at(0, {player: n})[player]
        (era,) = self.eras_of([game])
        fields = dict(zip(self._pool.state_fields, stored, strict=False))
        state = tuple(fields[name] for name in self._pool.eras[era].scheme.state)
        kept = [from_stored(HISTORY, stored[len(fields) :])]
        for number, table in enumerate(self.tables[1:], 1):
            row = None if table.by_tournament else self.table_states_at(number, {player: n}).get(player)
            kept.append(_initial_kept(table, None) if row is None else from_stored(table.fold, row))
        return PlayerEntryStates(EraState(era, state, n), kept)

    def tournament_states(self, table: SideTable, runs: Sequence[tuple[int, str, int]]) -> list[list[float]]:
        """Return the running states with which players go on in tournaments, in a table by tournament.

        *runs* are player, name of a tournament, and a number of the player's games: rows from there on do not count.
        """
        start, rows = initial_state(table.fold, None), self._in_tournament[table.name]
        states = []
        for player, tournament, before in runs:
            row = self._connection.execute(rows, (self._number, tournament, player, int(before))).fetchone()
            states.append(start if row is None else from_stored(table.fold, row))
        return states

    def table_states_at(self, number: int, counts: Mapping[int, int]) -> dict[int, tuple[Any, ...]]:
        """Return, by player, the running state that a table stores for the game of a number.

        *number* is the index of the table.

        In the history the game and the scheme's state come first. Of a table with rows of changes it is the last row up
        to that game; a player without one is left out. Not for a table by tournament.

        Raises:
            ProjectionError: there is no such row.
        """
        table = self.tables[number]
        rows = self._connection.execute(self._many[number], (self._number, _json(_keys(counts))))
        by_player = {row[0]: row[1:] for row in rows}
        if len(by_player) < len(counts) and not table.is_sparse:
            missing = min(counts.keys() - by_player.keys())
            raise _without_row(table.name, missing, counts[missing])
        return by_player

    def states_at(self, counts: Mapping[int, int]) -> dict[int, tuple[Any, ...]]:
        """Return, by player, the states after the game of a number: game, scheme's state, running states of tables.

        Those of ``tables_of_states``; NULLs for a table that has no row up to that game.

        Raises:
            ProjectionError: a row is missing.
        """
        rows = self._connection.execute(self._states, (self._number, _json(_keys(counts))))
        by_player = {row[0]: row[1:] for row in rows}
        if len(by_player) < len(counts):
            missing = {player: counts[player] for player in counts if player not in by_player}
            for number in self.tables_of_states:
                self.table_states_at(number, missing)
        return by_player

    def ratings_at(self, counts: Mapping[int, int]) -> dict[int, tuple[int, float]]:
        """Return, by player, the game of the given number and the rating after it, as the history has them."""
        rows = self._connection.execute(_SHOWN, (self._number, _json(_keys(counts))))
        return {player: (game, rating) for player, game, rating in rows}

    def eras_of(self, games: Sequence[int]) -> list[int]:
        """Return the indexes of the eras that rated the games at these journal positions."""
        if len(self._pool.eras) == 1:
            return [0] * len(games)
        places = dict(self._connection.execute(_PLACES, (_json(games),)))
        return [self._pool.era_at(places[game]) for game in games]

    def _kept_names(self, table: SideTable, of: str) -> list[str]:
        """Return the columns that a row stores for the next game; more in the history."""
        first = ["game", *self._pool.state_fields] if table.fold is HISTORY else []
        return [f'{of}."{name}"' for name in (*first, *(kept.name for kept in table.fold.state))]

    def new_player_states(self, seed: Seed | None) -> PlayerEntryStates:
        """Return the states with which a player enters the first rated game, without the scheme's."""
        return PlayerEntryStates(None, [_initial_kept(table, seed) for table in self.tables])

    def write(self, table: SideTable, rows: Iterable[Sequence[Any]], *, replacing: bool = False) -> None:
        """Insert rows in the order of the table's columns, or replace those of the same players and numbers.

        A row that is replaced by the same one costs SQLite no page.
        """
        if table.fold is HISTORY:
            rows = list(rows)
            # The best at an instant are looked up among the highest bounds: none may be lower than a rating was.
            highest: dict[int, float] = {}
            for row in rows:
                if row[_RATING] > highest.get(row[1], -inf):
                    highest[row[1]] = row[_RATING]
            self._connection.executemany(RAISE_BOUND, [(self._number, *bound) for bound in highest.items()])
        self._connection.executemany((self._replace if replacing else self._insert)[table.name], rows)

    def has_rows(self, table: SideTable) -> bool:
        """Return whether a table has rows of the pool."""
        query = f'SELECT EXISTS(SELECT 1 FROM "{table.name}" WHERE pool = ?)'
        return bool(self._connection.execute(query, (self._number,)).fetchone()[0])

    def delete(self, table: SideTable, keys: Iterable[tuple[int, int]]) -> None:
        """Delete the rows of players' games, each given by player and number of the game."""
        query = f'DELETE FROM "{table.name}" WHERE pool = ? AND player = ? AND n = ?'
        self._connection.executemany(query, [(self._number, *key) for key in keys])

    def rows_in_spans(self, table: SideTable, spans: Sequence[tuple[int, int, int]]) -> list[tuple[Any, ...]]:
        """Return the rows of ascending players between two numbers each, in their order: all columns but the pool."""
        names = ", ".join(f'h."{name}"' for name, _ in table.columns[1:])
        between = f"asked.value >> {N_BITS} AND asked.value & {(1 << N_BITS) - 1}"
        query = (
            f'SELECT {names} FROM json_each(?2) AS asked CROSS JOIN "{table.name}" AS h '
            f"ON h.pool = ?1 AND h.player = asked.key + 0 AND h.n BETWEEN {between}"
        )
        requested = orjson.dumps({str(player): first << N_BITS | last for player, first, last in spans}).decode()
        rows = self._connection.execute(query, (self._number, requested)).fetchall()
        rows.sort(key=itemgetter(0, 1))  # as SQLite gives them; no promise of SQL's
        return rows

    def delete_rows_after(self, bases: Sequence[tuple[int, int]]) -> None:
        """Delete each player's rows above a number of games."""
        if bases:
            # a NumPy number as it is would reach SQLite as bytes, which no number equals
            rows = [(self._number, player, int(base)) for player, base in bases]
            for table in self.tables:
                query = f'DELETE FROM "{table.name}" WHERE pool = ? AND player = ? AND n > ?'
                self._connection.executemany(query, rows)

    def write_current(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Set the last row of players: ``(pool, player, *CURRENT_COLUMNS, listed)`` each."""
        self._connection.executemany(WRITE_CURRENT, rows)

    def note_converged(self, players: Iterable[int]) -> None:
        """Do nothing; a dry run notes the players who were rerated and whose later rows stay as they are."""

    def restore_current(self, bases: Sequence[tuple[int, int]]) -> None:
        """Make each player's row of a number the last one; number 0 leaves none."""
        for player, base in bases:
            self._connection.execute(_DROP_CURRENT, (self._number, player))
            last_state = self.entry_states(player, base).held
            if last_state is not None:
                listed_flag = int(is_listed(self._pool.eras[last_state.era], last_state.state))
                if self._connection.execute(
                    _LAST_LIST, (self._number, player, self.lists_taken_in_until(player, base))
                ).fetchone():
                    listed_flag = BY_LATER_LIST
                self._connection.execute(_RESTORE_CURRENT, (listed_flag, self._number, player, base))


def _initial_kept(table: SideTable, seed: Seed | None) -> list[float]:
    return [] if table.by_tournament else initial_state(table.fold, seed)


def _without_row(table: str, player: int, n: int) -> ProjectionError:
    return ProjectionError(table, f"has no row for player {player}, game {n}; run 'rebuild'")


def _keys(counts: Mapping[int, int]) -> list[int]:
    """Players, each with the number of a game in the lower bits."""
    return [int(player) << N_BITS | int(n) for player, n in counts.items()]


def _json(values: Sequence[Any]) -> str:
    return orjson.dumps(values).decode()


def _quoted(columns: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in columns) or "NULL"  # a fold may keep nothing


def _asked_row(table: SideTable, of: str) -> str:
    """Return the join with a table's row after the game that ``json_each`` gives as ``_keys`` does."""
    player, n = f"asked.value >> {N_BITS}", f"(asked.value & {(1 << N_BITS) - 1})"
    if table.is_sparse:
        n = (
            f'(SELECT n FROM "{table.name}" AS r WHERE r.pool = ?1 AND r.player = {player} '
            f"AND r.n <= {n} ORDER BY r.n DESC LIMIT 1)"
        )
    return f'"{table.name}" AS {of} ON {of}.pool = ?1 AND {of}.player = {player} AND {of}.n = {n}'
