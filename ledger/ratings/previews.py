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
from ledger.journal import Journal
from ledger.ratings import places, views_file
from ledger.ratings.collected_rows import CollectedRows, LastRow
from ledger.ratings.history import HISTORY
from ledger.ratings.list_previews import AskedList, ListMove, ListPreview, PreviewedPool
from ledger.ratings.player_rows import PlayerRows
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
_KEYS = "SELECT position, key FROM games WHERE position IN (SELECT value FROM json_each(?))"


class Figures(NamedTuple):
    """What a player's last rated game of a pool leaves.

    Attributes:
        rating: after it or, where the scheme rates by period or event, after those that it was rated with; points.
        games: rated games so far.
        listed: whether the scheme lists a player with that state.
        rank: place among those who are listed, by their last games; None for who is not, and where time or a later
            scheme has changed ratings since.
        time_losses: games lost by overstepping the time.
        hera: highest rating from game 50 on, points; None before.
        hera_game: key of the game in which it was reached; None without, and where the player came with it.
    """

    rating: float
    games: int
    listed: bool
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
    connection: sqlite3.Connection, journal: Journal, entries: Sequence[Entry], asked: Sequence[AskedList] = ()
) -> Preview:
    """What the pools, and some lists, would be if these entries came next.

    Args:
        connection: what ``snapshot`` gives; its tables are afterwards as they were.
        journal: the entries that the snapshot knows; those that are added among them.
        entries: with the next positions.
        asked: published lists; where there are any, every row that is rated again is held in memory.

    Raises:
        CorruptError: the entries do not follow from what is there.
    """
    everybody = _may_move_everybody(connection)
    checkpoint = views_file.position(connection)
    ranked = {pool.name: _is_ranked_by_rows(pool) for pool in stored_pools(connection)}
    connection.execute("SAVEPOINT as_it_stands")
    book = HypotheticalBook(connection, journal)
    fresh = Fresh()
    book.take(entries, fresh)
    _give_columns(connection, [name for scheme in fresh.adopted for name in scheme.state])
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
        moved = tuple(_moved(connection, number, rows, are_ranked))
        found.append(PoolPreview(pool.name, start_ms, games, len(rows.players), moved))
        come_or_go = {move.player for move in moved if move.before is None or move.after is None}
        previewed[pool.name] = PreviewedPool(start_ms, set(rows.players), come_or_go, rows)
    lists = ListPreview(connection, asked, previewed, everybody=everybody)
    after = lists.after(book.pools)
    connection.execute("ROLLBACK TO as_it_stands")
    return Preview(found, lists.moves({pool.name: pool for pool in stored_pools(connection)}, after))


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
    connection: sqlite3.Connection, number: int, rows: CollectedRows, are_ranked: tuple[bool, bool]
) -> Iterator[Moved]:
    """Who would stand otherwise than now.

    Args:
        connection: the snapshot.
        number: of the pool.
        rows: what was collected.
        are_ranked: whether ranks are told, before and after.
    """
    players = rows.players
    found = connection.execute(_BEFORE, (number, orjson.dumps(players).decode())).fetchall()
    before = {
        player: LastRow(rating, n, bool(listed), time_losses, hera, game)
        for player, rating, n, listed, time_losses, hera, _, game in found
    }
    after = {
        player: last
        for player in players
        if (last := before[player] if rows.stands_as_before(player) else rows.last(player)) is not None
    }
    ranks = _ranks(connection, number, before, after)
    positions = {last.hera_game for last in (*before.values(), *after.values()) if last.hera_game is not None}
    keys = dict(connection.execute(_KEYS, (orjson.dumps(sorted(positions)).decode(),)).fetchall())
    for player in players:
        stood = _figures(before.get(player), ranks[0].get(player) if are_ranked[0] else None, keys)
        stands = _figures(after.get(player), ranks[1].get(player) if are_ranked[1] else None, keys)
        if stood != stands:
            yield Moved(player, stood, stands)


def _figures(last: LastRow | None, rank: int | None, keys: Mapping[int, str]) -> Figures | None:
    if last is None:
        return None
    game = None if last.hera_game is None else keys[last.hera_game]
    return Figures(last.rating, last.games, last.listed, rank, last.time_losses, last.hera, game)


def _ranks(
    connection: sqlite3.Connection, number: int, before: Mapping[int, LastRow], after: Mapping[int, LastRow]
) -> tuple[dict[int, int], dict[int, int]]:
    """The places of players among all who are listed, now and then."""
    left, come = _points(before), _points(after)
    above = places.before(connection, number, sorted({*left, *come}))
    now = {player: above[rating, player] + 1 for rating, player in left}
    then = {
        point[1]: above[point] - bisect_left(left, point) + place + 1
        for place, point in enumerate(come)
    }
    return now, then


def _points(figures: Mapping[int, LastRow]) -> list[tuple[float, int]]:
    """The places of those who are listed in the order of a ranking."""
    return sorted((-last.rating, player) for player, last in figures.items() if last.listed)
