"""What entries that nobody has recorded would make of the ratings: before and after, player by player.

The games are rated as ever, by the projection; only the rows are not written: of each player the last one is kept.
Memory is bounded by the players who are rated again and by the games whose own facts change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import attrs
import orjson

from ledger.book.fresh import Fresh
from ledger.book.hypothetical_book import OF_GAMES, HypotheticalBook, concern_games_alone, lay_over
from ledger.book.stored_pools import stored_pools
from ledger.book.timeline import Pool
from ledger.facts.changes import Change
from ledger.facts.codec import Entry
from ledger.facts.periods import OPEN
from ledger.journal import Journal
from ledger.ratings import views_file
from ledger.ratings.collected_rows import CollectedRows, LastRow
from ledger.ratings.history import HISTORY, highest_of
from ledger.ratings.list_previews import AskedList, ListMove, ListPreview, PreviewedPool
from ledger.ratings.listing import closed_at
from ledger.ratings.player_rows import PlayerRows
from ledger.ratings.player_states import PlayerStates
from ledger.ratings.projection import PoolProjections
from ledger.ratings.rank_previews import (
    Standing,
    Then,
    is_ranked_by_rows,
    ranking_then,
    ranks_now_and_then,
)
from ledger.ratings.side_tables import SideTable
from ledger.runtime import overlay

if TYPE_CHECKING:
    import sqlite3

_BEFORE = """
SELECT c.player, c.rating, c.n, c.listed, h.time_losses, h.hera, h.hera_n, reached.game
FROM main.current AS c JOIN main.history AS h USING (pool, player, n)
LEFT JOIN main.history AS reached ON reached.pool = c.pool AND reached.player = c.player AND reached.n = h.hera_n
WHERE c.pool = ?1 AND c.player IN (SELECT value FROM json_each(?2))
"""
_MERGED = "SELECT player FROM merges WHERE player IN (SELECT value FROM json_each(?))"
_KEYS = "SELECT position, key FROM games WHERE position IN (SELECT value FROM json_each(?))"


class Figures(NamedTuple):
    """What a player's last rated game of a pool leaves; without one, what the rating of a list gives.

    Attributes:
        rating: after it or, where the scheme rates by period or event, after those that it was rated with; points.
        games: rated games so far.
        listed: whether the scheme lists a player with that state; else there is no rating to show.
        closed: whether the account is closed today, so that no list shows it.
        rank: place among those who have played and are listed now and not closed; None for who is not. Where time or a
            later scheme has changed ratings since the last game, it is by what the ratings are now.
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


class Moved(NamedTuple):
    """A player who would stand otherwise in a pool; None where there is neither a rated game nor a seed."""

    player: int
    before: Figures | None
    after: Figures | None


class PoolPreview(NamedTuple):
    """What would become of a pool.

    Attributes:
        pool: its name.
        start_ms: the first place in rating order of a game that is rated again, milliseconds.
        games: games rated again.
        players: players whose games are rated again.
        moved: those of them who would stand otherwise, by number.
    """

    pool: str
    start_ms: int
    games: int
    players: int
    moved: tuple[Moved, ...]


@contextmanager
def snapshot(
    path: str | Path, changes: Callable[[sqlite3.Connection], Iterable[Change]]
) -> Iterator[sqlite3.Connection]:
    """The views as they stand at this moment, for reading; what changes write over them stays in memory.

    Args:
        path: the file of the views.
        changes: what will be asked about; given the views, as they stood at this moment or before.

    Raises:
        StorageError: the file cannot be opened.
        CorruptError: it is damaged.
    """
    with closing(views_file.open_views(path, read_only=True)) as connection, views_file.reading(path):
        if concern_games_alone(connection, changes(connection)):
            lay_over(connection, OF_GAMES)
        else:
            lay_over(connection)
        yield connection


class Preview(NamedTuple):
    """What would become of the pools in which games are rated again, and of the lists that would differ."""

    pools: list[PoolPreview]
    lists: list[ListMove]


def preview(
    connection: sqlite3.Connection, journal: Journal, entries: Sequence[Entry], asked: Sequence[AskedList] = (), *,
    now_ms: int,
) -> Preview:  # fmt: skip
    """What the pools, and some lists, would be if these entries came next.

    Args:
        connection: what ``snapshot`` gives; its tables are afterwards as they were.
        journal: the entries that the snapshot knows; those that are added among them.
        entries: with the next positions.
        asked: published lists; where there are any, and where a pool's last rows do not say who stands where, every row
            that is rated again is held in memory.
        now_ms: today, milliseconds since 1970: whose account is closed then has no place in a ranking.

    Raises:
        CorruptError: the entries do not follow from what is there.
    """
    everybody = _may_move_everybody(connection)
    checkpoint = views_file.position(connection)
    now = _Now.of(connection, now_ms)
    connection.execute("SAVEPOINT as_it_stands")
    book = HypotheticalBook(connection, journal)
    fresh = Fresh()
    book.take(entries, fresh)
    _give_columns(connection, [name for scheme in fresh.adopted for name in scheme.state])
    collected: dict[int, CollectedRows] = {}
    projections = PoolProjections(book, (), partial(_collecting, collected, {known.pool for known in asked}))
    reached: list[_Reached] = []
    previewed: dict[str, PreviewedPool] = {}
    for number, start_ms in sorted(fresh.start_ms.items()):
        only = Fresh({number: start_ms}, {number: fresh.touched[number]}, {number: fresh.only[number]})
        games = projections.update(only, checkpoint)
        pool = next(pool for pool in book.pools.values() if pool.pool == number)
        rows = collected[number]
        closed = now.closed_then(connection, number)
        then = Then(pool, closed)
        if not is_ranked_by_rows(pool):
            stands = not everybody and now.standing.get(number) == Standing.of(PlayerStates(connection, pool))
            only_of = frozenset(rows.players) if stands else None
            then = Then(pool, closed, ranking_then(connection, pool, rows, start_ms, only_of), only_of)
        players = sorted({*rows.players, *(closed ^ now.closed_in(number))})
        last = _last_rows(connection, number, rows, players)
        seeded = _seeded(connection, pool, players, last[1], now.today_in(number))
        keys = _keys(connection, last)
        reached.append(_Reached(start_ms, games, len(rows.players), players, last, seeded, keys, then))
        previewed[pool.name] = PreviewedPool(start_ms, set(rows.players), set(last[0].keys() ^ last[1].keys()), rows)
    reached += _of_accounts_alone(connection, now, collected.keys())
    lists = ListPreview(connection, asked, previewed, everybody=everybody)
    after = lists.after(book.pools)
    connection.execute("ROLLBACK TO as_it_stands")
    found = [_previewed(connection, now, part) for part in sorted(reached, key=lambda part: part.then.pool.pool)]
    return Preview(found, lists.moves({pool.name: pool for pool in stored_pools(connection)}, after))


def _may_move_everybody(connection: sqlite3.Connection) -> bool:
    """Whether what is previewed changes more than games, so that more tables than theirs were laid over."""
    return overlay.is_laid_over(connection, "eras")


def _collecting(
    collected: dict[int, CollectedRows], kept: Set[str], connection: sqlite3.Connection, pool: Pool,
    tables: Sequence[SideTable],
) -> PlayerRows:  # fmt: skip
    rows = CollectedRows(connection, pool, tables)
    if pool.name in kept or not is_ranked_by_rows(pool):
        rows.keep_all()
    collected[pool.pool] = rows
    return rows


def _give_columns(connection: sqlite3.Connection, wanted: Iterable[str]) -> None:
    """Give the history a blank column for each field of a scheme that it does not know yet."""
    present = {row[1] for row in connection.execute(f"PRAGMA main.table_info({HISTORY.name})")}
    missing = [name for name in dict.fromkeys(wanted) if name not in present]
    if missing:
        blanks = ", ".join(f'NULL AS "{name}"' for name in missing)
        connection.execute(f"CREATE TEMP VIEW {HISTORY.name} AS SELECT *, {blanks} FROM main.{HISTORY.name}")


# By player who is rated again, or whose account is closed or opened, now and then.
Last = tuple[Mapping[int, LastRow], Mapping[int, LastRow]]


@attrs.frozen
class _Now:
    """The pools as they stand, by number.

    Attributes:
        pools: the pools.
        standing: at what their rankings are taken.
        today: the instants of their rankings, milliseconds since 1970.
        closed: whose accounts are closed then.
        now_ms: the instant of the ranking of a pool that does not exist yet.
    """

    pools: Mapping[int, Pool]
    standing: Mapping[int, Standing]
    today: Mapping[int, int]
    closed: Mapping[int, Set[int]]
    now_ms: int

    @classmethod
    def of(cls, connection: sqlite3.Connection, now_ms: int) -> _Now:
        """Before anything is laid over the views."""
        pools = {pool.pool: pool for pool in stored_pools(connection)}
        states = {number: PlayerStates(connection, pool) for number, pool in pools.items()}
        standing = {number: Standing.of(known) for number, known in states.items()}
        today = {number: known.today_ms(now_ms) for number, known in states.items()}
        closed = {number: closed_at(connection, ms) for number, ms in today.items()}
        return cls(pools, standing, today, closed, now_ms)

    def today_in(self, pool: int) -> int:
        """The instant of the ranking of a pool, milliseconds since 1970."""
        return self.today.get(pool, self.now_ms)

    def closed_in(self, pool: int) -> Set[int]:
        """Whose accounts are closed for the rankings of a pool; nobody's for those of one that does not exist yet."""
        return self.closed.get(pool, frozenset())

    def closed_then(self, connection: sqlite3.Connection, pool: int) -> Set[int]:
        """The same with what is laid over the views."""
        return closed_at(connection, self.today_in(pool))


class _Reached(NamedTuple):
    """What was rated again in a pool, and what is known of it while that is laid over the views."""

    start_ms: int
    games: int
    players: int
    asked: Sequence[int]  # who may stand otherwise: those players, and whose accounts are closed or opened
    last: Last
    seeded: Mapping[int, LastRow]  # then, of those without a rated game
    keys: Mapping[int, str]  # by position, of the games in which somebody reached the highest rating
    then: Then


def _last_rows(connection: sqlite3.Connection, number: int, rows: CollectedRows | None, players: Sequence[int]) -> Last:
    """The last rows of players now and then; who has none is left out.

    Args:
        connection: the snapshot.
        number: of the pool.
        rows: what was collected; None where nothing was rated again.
        players: whose; in ascending order.
    """
    found = connection.execute(_BEFORE, (number, orjson.dumps(players).decode())).fetchall()
    before = {
        player: LastRow(rating, n, bool(listed), time_losses, hera, game)
        for player, rating, n, listed, time_losses, hera, _, game in found
    }
    after = {}
    for player in players:
        last = before.get(player) if rows is None or rows.stands_as_before(player) else rows.last(player)
        if last is not None:
            after[player] = last
    return before, after


def _keys(connection: sqlite3.Connection, last: Last) -> dict[int, str]:
    positions = {row.hera_game for rows in last for row in rows.values() if row.hera_game is not None}
    return dict(connection.execute(_KEYS, (orjson.dumps(sorted(positions)).decode(),)).fetchall())


def _of_accounts_alone(connection: sqlite3.Connection, now: _Now, others: Set[int]) -> Iterator[_Reached]:
    """The pools, but for *others*, in which no game is rated again, and accounts are closed or opened."""
    for number in now.pools.keys() - others:
        closed = now.closed_then(connection, number)
        if changed := closed ^ now.closed_in(number):
            pool, players = now.pools[number], sorted(changed)
            last = _last_rows(connection, number, None, players)
            seeded = _seeded(connection, pool, players, last[1], now.today_in(number))
            then = Then(pool, closed, only=frozenset())
            yield _Reached(OPEN, 0, 0, players, last, seeded, _keys(connection, last), then)


def _seeded(
    connection: sqlite3.Connection, pool: Pool, players: Sequence[int], last: Mapping[int, LastRow], today_ms: int
) -> dict[int, LastRow]:
    """The figures of players without a last row who came into a pool with the rating of a list.

    Of merged players the number alone that stays has a seed.
    """
    unplayed = [player for player in players if player not in last]
    merged = {player for (player,) in connection.execute(_MERGED, (orjson.dumps(unplayed).decode(),)).fetchall()}
    states, figures = PlayerStates(connection, pool), dict[int, LastRow]()
    for player in unplayed:
        state, listed = (None, None) if player in merged else states.seeded_now(player, today_ms)
        if state is not None and listed is not None:
            hera = highest_of(listed.seed)
            figures[player] = LastRow(state.state[0], 0, state.rating is not None, 0, hera, None)
    return figures


def _previewed(connection: sqlite3.Connection, now: _Now, reached: _Reached) -> PoolPreview:
    """What would become of a pool; asked with nothing laid over the views."""
    then, number = reached.then, reached.then.pool.pool
    pool, closed = now.pools.get(number), now.closed_in(number)
    ranks = ranks_now_and_then(connection, pool, reached.last, closed, then)
    before = {} if pool is None else _seeded(connection, pool, reached.asked, reached.last[0], now.today_in(number))
    moved = []
    for player in reached.asked:
        stood, stands = (
            _figures(rows.get(player) or seeded.get(player), places.get(player), reached.keys, is_closed=player in shut)
            for rows, seeded, places, shut in zip(
                reached.last, (before, reached.seeded), ranks, (closed, then.closed), strict=True
            )
        )
        if stood != stands:
            moved.append(Moved(player, stood, stands))
    return PoolPreview(then.pool.name, reached.start_ms, reached.games, reached.players, tuple(moved))


def _figures(last: LastRow | None, rank: int | None, keys: Mapping[int, str], *, is_closed: bool) -> Figures | None:
    if last is None:
        return None
    game = None if last.hera_game is None else keys[last.hera_game]
    return Figures(last.rating, last.games, last.listed, is_closed, rank, last.time_losses, last.hera, game)
