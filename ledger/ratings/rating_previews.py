"""The preview of a change: whose ratings and which published lists it would change, found by a dry run.

The answers equal what will come by construction: the games are rated and their rows written as ever. For lists that
were published it says how many rows would differ as revised, and the largest of them.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence, Set
from typing import TYPE_CHECKING, NamedTuple

import attrs
import orjson

from ledger.book.stored_pools import stored_pools
from ledger.book.timeline import Pool
from ledger.facts.codec import Entry
from ledger.journal import Journal
from ledger.ratings.player_rows import unlisted_at
from ledger.ratings.player_states import PlayerStates
from ledger.ratings.projectors.history import highest_of
from ledger.ratings.row_changes import RowChange, row_changes
from ledger.ratings.standings import ListedPlayer, Standings, list_standings
from ledger.ratings.views import Views

if TYPE_CHECKING:
    import sqlite3
from ledger.ratings.dry_runs import DryRunResult, MovedResult, apply_entries, rolled_back

Rows = Mapping[int, ListedPlayer]  # of a list, by player


class PublishedListKey(NamedTuple):
    """A published list: its name, the name of its pool, and its instant in milliseconds since 1970."""

    name: str
    pool: str
    at_ms: int


class ListEffect(NamedTuple):
    """The effect of entries on a published list, as revised.

    Attributes:
        name: of the list.
        players: how many rows would differ, come or go; a player who only changes places is not counted.
        largest: the player whose rating would change most, the lower number first; None where only others change.
        before: that player's rating, as revised now.
        after: as it would be.
    """

    name: str
    players: int
    largest: int | None
    before: float | None
    after: float | None


def _list_move(name: str, before: Rows, after: Rows) -> ListEffect | None:
    """Return how two answers about a list differ; None if they say the same."""
    differing = row_changes(before, after, lambda row: row.said)
    moved = [change for change in differing if change.difference]
    largest = max(moved, key=lambda change: (abs(change.difference or 0.0), -change.player), default=None)
    if largest is None:
        return ListEffect(name, len(differing), None, None, None) if differing else None
    return ListEffect(name, len(differing), largest.player, *largest.ratings)


# CROSS JOIN holds SQLite to the order as written: the players who are asked about are few, the tables hold everybody.
CURRENT_ROWS = """
SELECT c.player, c.rating, c.n, c.listed, c.rated_ms, h.time_losses, h.hera, games.key
FROM json_each(?2) AS asked
CROSS JOIN current AS c ON c.pool = ?1 AND c.player = asked.value
CROSS JOIN history AS h ON h.pool = c.pool AND h.player = c.player AND h.n = c.n
LEFT JOIN history AS reached ON reached.pool = c.pool AND reached.player = c.player AND reached.n = h.hera_n
LEFT JOIN games ON games.position = reached.game
"""
# Of some players, those whose first rated game has its place in rating order at a time or later.
FIRST_GAME_SINCE = """
SELECT h.player FROM json_each(?2) AS asked
CROSS JOIN history AS h ON h.pool = ?1 AND h.player = asked.value AND h.n = 1
CROSS JOIN games ON games.position = h.game AND games.rated_ms >= ?3
"""
# Who last played before an instant, and who has the rating of a list and no rated game.
LAST_GAME_BEFORE = """
SELECT player FROM current WHERE pool = ?1 AND rated_ms < ?2
UNION SELECT player FROM seeds WHERE pool = ?1 AND player NOT IN (SELECT player FROM current WHERE pool = ?1)
"""
MERGED = "SELECT player FROM merges WHERE player IN (SELECT value FROM json_each(?))"


class PlayerFigures(NamedTuple):
    """A player's rank, rating and games in a pool after all rated games; without one, those of a list rating.

    Attributes:
        rating: as ``PlayerStates.now`` says it: a period that is not over counts as if it closed now; points.
        games: rated games so far.
        listed: whether the scheme lists a player with that state; else there is no rating to show.
        closed: whether the account is closed today, so that no list shows it.
        rank: place among players with games who are listed now and not closed; None for others.
        time_losses: games lost by overstepping the time.
        hera: highest rating from game 50 on, points; None before.
        hera_game: key of the game in which it was reached; None without, and where the player came with it.
    """

    rating: float
    games: int
    listed: bool
    closed: bool
    rank: int | None
    time_losses: int
    hera: float | None
    hera_game: str | None

    @property
    def is_ranked(self) -> bool:
        """True if a ranking of players with games shows the player."""
        return self.listed and not self.closed


class RatingPreview(NamedTuple):
    """The effects of entries on pools with rerated games, and on the lists that would differ.

    Attributes:
        games: games rated again.
        players: players whose games are rated again, once for each pool.
        changes: by name of a pool, the players whose rows would change, by games or without.
        lists: the lists that would differ.
        results: the results of tournaments that would change, if a report was sent.
        seconds: time of rating again, without the figures and lists that are computed to be compared.
    """

    games: int
    players: int
    changes: dict[str, list[RowChange[PlayerFigures]]]
    lists: list[ListEffect]
    results: tuple[MovedResult, ...]
    seconds: float


def preview_ratings(
    views: Views,
    journal: Journal,
    entries: Sequence[Entry],
    requested: Sequence[PublishedListKey] = (),
    *,
    everybody: bool,
    now_ms: int,
) -> RatingPreview:
    """Return the pools, and some lists, as they would be if these entries came next.

    All changes are rolled back.

    Args:
        views: of a dry run.
        journal: the entries that they know, and those that are added.
        entries: with the next positions.
        requested: published lists.
        everybody: whether players may change, or a list differ in them, whose games are not rated again.
        now_ms: today, milliseconds since 1970: an account that is closed then has no place in a ranking.

    Raises:
        CorruptError: the entries do not follow from what is there.
    """
    connection = views.connection
    today = _Today.of(connection, now_ms)
    terms_before = {pool.pool: _Terms.of(connection, pool) for pool in stored_pools(connection)} if everybody else {}
    with rolled_back(connection):
        began = time.perf_counter()
        folded = apply_entries(views, journal, entries)
        seconds = time.perf_counter() - began
        # Players who may change: rerated ones, and those whose account is closed or opened without any game.
        players_reached = {number: set(again.players) for number, again in folded.again.items()}
        for pool in stored_pools(connection):
            number = pool.pool
            if changed := unlisted_at(connection, pool, today.ms(number)) ^ today.closed.get(number, frozenset()):
                players_reached.setdefault(number, set()).update(changed)
        for pool in folded.book.pools.values() if everybody else ():
            if unrated := _without_a_game(connection, pool, folded, terms_before.get(pool.pool)):
                players_reached.setdefault(pool.pool, set()).update(unrated)
        reached = {number: sorted(players) for number, players in players_reached.items()}
        after = _figures(connection, {pool.pool: pool for pool in folded.book.pools.values()}, today, reached)
        lists = _requested(connection, requested, folded, everybody=everybody)
        lists_after = _lists(connection, folded.book.pools, lists)
    # The present state is read second: only the dry run says which players and lists to read.
    pools = {pool.pool: pool for pool in stored_pools(connection)}
    before = _figures(connection, pools, today, reached)
    lists_before = _lists(connection, {pool.name: pool for pool in pools.values()}, lists)
    again = folded.again.values()
    return RatingPreview(
        sum(pool.games for pool in again),
        sum(len(pool.players) for pool in again),
        {
            pool.name: row_changes(before[pool.pool], after[pool.pool])
            for pool in sorted(folded.book.pools.values(), key=lambda pool: pool.pool)
            if pool.pool in reached
        },
        [
            move
            for asked_list, now, then in zip(lists, lists_before, lists_after, strict=True)
            if (move := _list_move(asked_list.name, now, then)) is not None
        ],
        folded.results,
        seconds,
    )


class _Terms(NamedTuple):
    """By which schemes a pool is rated, and from which place in rating order on a last row says what ``now`` says."""

    eras: tuple[tuple[object, ...], ...]
    rows_current_since_ms: int

    @classmethod
    def of(cls, connection: sqlite3.Connection, pool: Pool) -> _Terms:
        eras = tuple((era.since_ms, era.scheme.name, era.numbers, era.carry, era.conversion) for era in pool.eras)
        return cls(eras, PlayerStates(connection, pool).rows_current_since_ms)


def _without_a_game(
    connection: sqlite3.Connection, pool: Pool, folded: DryRunResult, before: _Terms | None
) -> set[int]:
    """Return players of a pool who may change without a rerated game: by a list, a merge, or another scheme."""
    players = {player for name, player in folded.seeded if name == pool.name} | folded.merged
    now = _Terms.of(connection, pool)
    if before is not None and before.eras != now.eras:
        since_ms = max(before.rows_current_since_ms, now.rows_current_since_ms)
        players |= {player for (player,) in connection.execute(LAST_GAME_BEFORE, (pool.pool, since_ms))}
    return players


@attrs.frozen
class _Today:
    """The instants of the present rankings and the accounts closed then, by pool number; *now_ms* for a new pool."""

    by_pool: Mapping[int, int]
    closed: Mapping[int, Set[int]]
    now_ms: int

    @classmethod
    def of(cls, connection: sqlite3.Connection, now_ms: int) -> _Today:
        states = {pool.pool: PlayerStates(connection, pool) for pool in stored_pools(connection)}
        by_pool = {number: pool_states.today_ms(now_ms) for number, pool_states in states.items()}
        closed = {number: unlisted_at(connection, states[number].pool, ms) for number, ms in by_pool.items()}
        return cls(by_pool, closed, now_ms)

    def ms(self, pool: int) -> int:
        """Return the instant of the ranking of a pool."""
        return self.by_pool.get(pool, self.now_ms)


def _figures(
    connection: sqlite3.Connection, pools: Mapping[int, Pool], today: _Today, reached: Mapping[int, Sequence[int]]
) -> dict[int, dict[int, PlayerFigures]]:
    """Return, by number of a pool and player, the figures of those who have some."""
    return {
        number: _figures_in(connection, pools[number], today.ms(number), players) if number in pools else {}
        for number, players in reached.items()
    }


def _figures_in(
    connection: sqlite3.Connection, pool: Pool, today_ms: int, players: Sequence[int]
) -> dict[int, PlayerFigures]:
    standings = Standings(connection, pool, now_ms=today_ms, closed=unlisted_at(connection, pool, today_ms))
    states, closed = standings.states, standings.closed
    figures: dict[int, PlayerFigures] = {}
    for player, rating, n, listed, rated_ms, *counts in connection.execute(CURRENT_ROWS, (pool.pool, _json(players))):
        now, is_listed = rating, bool(listed)
        if not states.says_now(listed, rated_ms):  # time, a list or a later scheme has changed what the last game left
            state = states.now(player, today_ms)
            now, is_listed = state.state[0], state.in_force is not None
        figures[player] = PlayerFigures(now, n, is_listed, player in closed, None, *counts)
    points = [(-player_now.rating, player) for player, player_now in figures.items() if player_now.is_ranked]
    ranks = standings.ranks(sorted(points))
    figures = {player: player_now._replace(rank=ranks.get(player)) for player, player_now in figures.items()}
    return figures | _seeded(connection, pool, [p for p in players if p not in figures], today_ms, closed)


def _seeded(
    connection: sqlite3.Connection, pool: Pool, unplayed: Sequence[int], today_ms: int, closed: Set[int]
) -> dict[int, PlayerFigures]:
    """Return the figures of players without a rated game who came with the rating of a list."""
    merged = {player for (player,) in connection.execute(MERGED, (_json(unplayed),)).fetchall()}
    states, figures = PlayerStates(connection, pool), dict[int, PlayerFigures]()
    for player in unplayed:
        state, listed = (None, None) if player in merged else states.seeded_now(player, today_ms)
        if state is not None and listed is not None:
            is_listed, hera = state.rating is not None, highest_of(listed.seed)
            figures[player] = PlayerFigures(state.state[0], 0, is_listed, player in closed, None, 0, hera, None)
    return figures


# -- lists -----------------------------------------------------------------------------------------------------------

Lists = Mapping[PublishedListKey, Collection[int] | None]  # of whom each may say something else; None: of everybody


def _requested(
    connection: sqlite3.Connection, requested: Sequence[PublishedListKey], folded: DryRunResult, *, everybody: bool
) -> dict[PublishedListKey, Collection[int] | None]:
    """Return the lists that may differ: one before the first rerated game only by players who come or go."""
    players_by_list: dict[PublishedListKey, Collection[int] | None] = {}
    newcomers: dict[int, list[int]] = {}
    for asked_list in requested:
        pool = folded.book.pools[asked_list.pool]
        again = folded.again.get(pool.pool)
        if everybody:
            players_by_list[asked_list] = None
        elif again is not None:
            if asked_list.at_ms < again.start_ms and pool.pool not in newcomers:
                # Those rated again who have no game before them: whether they had one, and have one now, is not asked.
                players = _json(sorted(again.players))
                come = {row[0] for row in connection.execute(FIRST_GAME_SINCE, (pool.pool, players, again.start_ms))}
                stay = {row[0] for row in connection.execute(CURRENT_ROWS, (pool.pool, players))}
                newcomers[pool.pool] = sorted(come | (again.players - stay))
            players_by_list[asked_list] = again.players if asked_list.at_ms >= again.start_ms else newcomers[pool.pool]
    return players_by_list


def _lists(connection: sqlite3.Connection, pools: Mapping[str, Pool], lists: Lists) -> list[Rows]:
    rows: list[Rows] = []
    for asked_list, players in lists.items():
        standings = list_standings(connection, pools[asked_list.pool], asked_list.at_ms)
        listed = standings.best() if players is None else standings.of(players).values()
        rows.append({player.player: player for player in listed})
    return rows


def _json(values: Sequence[int]) -> str:
    return orjson.dumps(values).decode()
