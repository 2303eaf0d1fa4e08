"""What entries that nobody has recorded would make of the ratings: before and after, player by player.

The games are rated as ever, by the projection; only the rows are not written: of each player the last one is kept.
Memory is bounded by the players who are rated again and by the games whose own facts change.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import orjson

from ledger.book.fresh import Fresh
from ledger.book.hypothetical_book import OF_GAMES, HypotheticalBook, concern_games_alone, lay_over
from ledger.book.stored_pools import stored_pools
from ledger.book.timeline import Pool
from ledger.facts.changes import Change
from ledger.facts.codec import Entry
from ledger.facts.periods import OPEN
from ledger.journal import Journal
from ledger.ratings import places, views_file
from ledger.ratings.collected_rows import CollectedRows, LastRow
from ledger.ratings.history import HISTORY
from ledger.ratings.list_previews import AskedList, ListMove, ListPreview, PreviewedPool
from ledger.ratings.listing import closed_at
from ledger.ratings.player_rows import PlayerRows
from ledger.ratings.player_states import PlayerStates
from ledger.ratings.projection import PoolProjections
from ledger.ratings.side_tables import SideTable
from ledger.runtime import overlay
from ledger.schemes.scheme import as_it_stands, from_the_beginning

if TYPE_CHECKING:
    import sqlite3

_BEFORE = """
SELECT c.player, c.rating, c.n, c.listed, h.time_losses, h.hera, h.hera_n, reached.game
FROM main.current AS c JOIN main.history AS h USING (pool, player, n)
LEFT JOIN main.history AS reached ON reached.pool = c.pool AND reached.player = c.player AND reached.n = h.hera_n
WHERE c.pool = ?1 AND c.player IN (SELECT value FROM json_each(?2))
"""
_OF_CLOSED = """
SELECT -rating, player FROM main.current
WHERE pool = ? AND +listed = 1 AND player IN (SELECT value FROM json_each(?))
"""
_KEYS = "SELECT position, key FROM games WHERE position IN (SELECT value FROM json_each(?))"


Closed = tuple[Set[int], Set[int]]  # players whose accounts are closed, before and after


class Figures(NamedTuple):
    """What a player's last rated game of a pool leaves.

    Attributes:
        rating: after it or, where the scheme rates by period or event, after those that it was rated with; points.
        games: rated games so far.
        listed: whether the scheme lists a player with that state; else there is no rating to show.
        closed: whether the account is closed today, so that no list shows it.
        rank: place among those who are listed and not closed, by their last games; None for who is not, and where time
            or a later scheme has changed ratings since.
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
    """A player who would stand otherwise in a pool; None where there is no rated game."""

    player: int
    before: Figures | None
    after: Figures | None


class PoolPreview(NamedTuple):
    """What would become of a pool.

    Attributes:
        pool: its name.
        start_ms: the first place in rating order of a game that is rated again, milliseconds; OPEN where none is.
        games: games rated again.
        players: players whose games are rated again.
        moved: those of them who would stand otherwise, and whose accounts would be closed or opened, by number.
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
        asked: published lists; where there are any, every row that is rated again is held in memory.
        now_ms: today, milliseconds since 1970: whose account is closed then has no place in a ranking.

    Raises:
        CorruptError: the entries do not follow from what is there.
    """
    everybody = _may_move_everybody(connection)
    checkpoint = views_file.position(connection)
    pools = stored_pools(connection)
    ranked = {pool.name: _is_ranked_by_rows(pool) for pool in pools}
    today = {pool.pool: PlayerStates(connection, pool).today_ms(now_ms) for pool in pools}
    shut = {pool.pool: closed_at(connection, today[pool.pool]) for pool in pools}
    connection.execute("SAVEPOINT as_it_stands")
    book = HypotheticalBook(connection, journal)
    fresh = Fresh()
    book.take(entries, fresh)
    _give_columns(connection, [name for scheme in fresh.adopted for name in scheme.state])
    closed = {
        pool.pool: (shut.get(pool.pool, frozenset()), closed_at(connection, today.get(pool.pool, now_ms)))
        for pool in book.pools.values()
    }
    collected: dict[int, CollectedRows] = {}
    projections = PoolProjections(book, (), partial(_collecting, collected, {known.pool for known in asked}))
    found: list[PoolPreview] = []
    previewed: dict[str, PreviewedPool] = {}
    for number, start_ms in sorted(fresh.start_ms.items()):
        only = Fresh({number: start_ms}, {number: fresh.touched[number]}, {number: fresh.only[number]})
        games = projections.update(only, checkpoint)
        pool = next(pool for pool in book.pools.values() if pool.pool == number)
        rows = collected[number]
        are_ranked = (ranked.get(pool.name, True), _is_ranked_by_rows(pool))
        moved = tuple(_moved(connection, number, rows, are_ranked, closed[number]))
        found.append(PoolPreview(pool.name, start_ms, games, len(rows.players), moved))
        come_or_go = {move.player for move in moved if move.before is None or move.after is None}
        previewed[pool.name] = PreviewedPool(start_ms, set(rows.players), come_or_go, rows)
    found += _of_accounts_alone(connection, [pool for pool in pools if pool.pool not in collected], ranked, closed)
    lists = ListPreview(connection, asked, previewed, everybody=everybody)
    after = lists.after(book.pools)
    connection.execute("ROLLBACK TO as_it_stands")
    return Preview(found, lists.moves({pool.name: pool for pool in stored_pools(connection)}, after))


def _of_accounts_alone(
    connection: sqlite3.Connection, pools: Iterable[Pool], ranked: Mapping[str, bool], closed: Mapping[int, Closed]
) -> Iterator[PoolPreview]:
    """Pools in which no game is rated again, and accounts are closed or opened."""
    for pool in pools:
        are_ranked = (ranked[pool.name], ranked[pool.name])
        moved = tuple(_moved(connection, pool.pool, None, are_ranked, closed[pool.pool]))
        if moved:
            yield PoolPreview(pool.name, OPEN, 0, 0, moved)


def _may_move_everybody(connection: sqlite3.Connection) -> bool:
    """Whether what is previewed changes more than games, so that more tables than theirs were laid over."""
    return overlay.is_laid_over(connection, "eras")


def _collecting(
    collected: dict[int, CollectedRows], kept: Set[str], connection: sqlite3.Connection, pool: Pool,
    tables: Sequence[SideTable],
) -> PlayerRows:  # fmt: skip
    rows = CollectedRows(connection, pool, tables)
    if pool.name in kept:
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


def _is_ranked_by_rows(pool: Pool) -> bool:
    """Whether the last rows say by themselves who stands where, whatever else is played."""
    scheme = pool.eras[0].scheme
    return len(pool.eras) == 1 and (scheme.at is as_it_stands or scheme.stands_from is from_the_beginning)


def _moved(
    connection: sqlite3.Connection, number: int, rows: CollectedRows | None, are_ranked: tuple[bool, bool],
    closed: Closed,
) -> Iterator[Moved]:  # fmt: skip
    """Who would stand otherwise than now.

    Args:
        connection: the snapshot.
        number: of the pool.
        rows: what was collected; None where nothing was rated again.
        are_ranked: whether ranks are told, before and after.
        closed: whose accounts are closed, before and after.
    """
    players = sorted({*(rows.players if rows is not None else ()), *(closed[0] ^ closed[1])})
    found = connection.execute(_BEFORE, (number, orjson.dumps(players).decode())).fetchall()
    before = {
        player: LastRow(rating, n, bool(listed), time_losses, hera, game)
        for player, rating, n, listed, time_losses, hera, _, game in found
    }
    after = {
        player: last
        for player in players
        if (last := _last(rows, before, player)) is not None
    }
    ranks = _ranks(connection, number, before, after, closed)
    positions = {last.hera_game for last in (*before.values(), *after.values()) if last.hera_game is not None}
    keys = dict(connection.execute(_KEYS, (orjson.dumps(sorted(positions)).decode(),)).fetchall())
    for player in players:
        was, will = ranks[0].get(player) if are_ranked[0] else None, ranks[1].get(player) if are_ranked[1] else None
        stood = _figures(before.get(player), was, keys, is_closed=player in closed[0])
        stands = _figures(after.get(player), will, keys, is_closed=player in closed[1])
        if stood != stands:
            yield Moved(player, stood, stands)


def _last(rows: CollectedRows | None, before: Mapping[int, LastRow], player: int) -> LastRow | None:
    """The last row of a player then: the one of now for who was not rated again."""
    if rows is None or rows.stands_as_before(player):
        return before.get(player)
    return rows.last(player)


def _figures(last: LastRow | None, rank: int | None, keys: Mapping[int, str], *, is_closed: bool) -> Figures | None:
    if last is None:
        return None
    game = None if last.hera_game is None else keys[last.hera_game]
    return Figures(last.rating, last.games, last.listed, is_closed, rank, last.time_losses, last.hera, game)


def _ranks(
    connection: sqlite3.Connection, number: int, before: Mapping[int, LastRow], after: Mapping[int, LastRow],
    closed: Closed,
) -> tuple[dict[int, int], dict[int, int]]:  # fmt: skip
    """The places of players among all who are listed and whose accounts are not closed, now and then."""
    left, come = _points(before), _points(after)
    above = places.before(connection, number, sorted({*left, *come}))
    shut = [_closed_points(connection, number, players) for players in (closed[0], closed[1] - before.keys())]
    now = {
        point[1]: above[point] - bisect_left(shut[0], point) + 1
        for point in left if point[1] not in closed[0]
    }  # fmt: skip
    then = {
        point[1]: above[point] - bisect_left(left, point) - bisect_left(shut[1], point) + place + 1
        for place, point in enumerate(point for point in come if point[1] not in closed[1])
    }
    return now, then


def _closed_points(connection: sqlite3.Connection, number: int, closed: Set[int]) -> list[tuple[float, int]]:
    """The places of closed accounts among all whom the views list."""
    if not closed:
        return []
    return sorted(connection.execute(_OF_CLOSED, (number, orjson.dumps(sorted(closed)).decode())).fetchall())


def _points(figures: Mapping[int, LastRow]) -> list[tuple[float, int]]:
    """The places of those who are listed in the order of a ranking."""
    return sorted((-last.rating, player) for player, last in figures.items() if last.listed)
