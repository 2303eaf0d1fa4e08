"""Places in the ranking of those whom a pool lists, counted by the distribution of ratings, not by reading the ranking.

How many have more points is a sum over ``distribution``; only those of the same points are counted one by one.
Whoever asks for a place asks here. Nothing is written.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence, Set
from itertools import groupby
from typing import TYPE_CHECKING

import orjson

from ledger.book.timeline import Pool
from ledger.journal.kept_lists import shared_places
from ledger.ratings import views_file
from ledger.ratings.distribution import band, highest
from ledger.ratings.player_states import PlayerStates
from ledger.runtime import sqlite
from ledger.schemes.scheme import as_it_stands, from_the_beginning

if TYPE_CHECKING:
    import sqlite3

Point = tuple[float, int]  # a place in a ranking: the rating below zero, points, and the player's number

LISTED = "SELECT coalesce(sum(players), 0) FROM distribution WHERE pool = ?"
_AMONG = "SELECT count(*) FROM current WHERE pool = ? AND listed = 1"
WITH_MORE = "SELECT coalesce(sum(players), 0) FROM distribution WHERE pool = ? AND points > ?"
WHOLE = "SELECT points, players FROM distribution WHERE pool = ? ORDER BY points DESC"
HIGHER = f"{_AMONG} AND rating > ? AND rating <= ?"
BESIDE = f"{_AMONG} AND rating = ? AND player < ?"
ORDER = """
SELECT -rating, player FROM current WHERE pool = ? AND listed = 1 AND rating >= ? AND rating <= ?
ORDER BY rating DESC, player
"""

OF_CLOSED = """
SELECT -rating, player FROM current
WHERE pool = ? AND +listed = 1 AND player IN (SELECT value FROM json_each(?))
"""

FEW_POINTS = 100  # places with the same whole points up to which each is counted by SQLite
FEW_BANDS = 8  # numbers of points up to which the distribution is summed up for each
_EVERYBODY = 2**62  # above every player's number


def listed(connection: sqlite3.Connection, pool: int) -> int:
    """How many players a pool lists, those with closed accounts among them.

    Args:
        connection: the views.
        pool: its number.

    Raises:
        CorruptError: the views are damaged.
    """
    with sqlite.storage_errors("the views", views_file.REBUILD):
        return int(connection.execute(LISTED, (pool,)).fetchone()[0])


def before(connection: sqlite3.Connection, pool: int, points: Sequence[Point]) -> dict[Point, int]:
    """How many listed players of a pool stand in the ranking before each of some points, which need be nobody's.

    Args:
        connection: the views.
        pool: its number.
        points: in the order of a ranking, which is theirs.

    Raises:
        CorruptError: the views are damaged.
    """
    found: dict[Point, int] = {}
    with sqlite.storage_errors("the views", views_file.REBUILD):
        groups = {points_of: list(group) for points_of, group in groupby(points, lambda point: band(-point[0]))}
        for (points_of, within), above in zip(groups.items(), _with_more(connection, pool, list(groups)), strict=True):
            among = _counted if len(within) <= FEW_POINTS else _read
            numbers = among(connection, pool, highest(points_of), within)
            found.update((point, above + number) for point, number in zip(within, numbers, strict=True))
    return found


def _with_more(connection: sqlite3.Connection, pool: int, asked: Sequence[int]) -> Iterator[int]:
    """How many players a pool lists with more points than each of those asked about, which descend."""
    if len(asked) < FEW_BANDS:
        for points in asked:
            yield int(connection.execute(WITH_MORE, (pool, points)).fetchone()[0])
        return
    numbers = connection.execute(WHOLE, (pool,)).fetchall()
    above = place = 0
    for points in asked:
        while place < len(numbers) and numbers[place][0] > points:
            above += numbers[place][1]
            place += 1
        yield above


def _counted(connection: sqlite3.Connection, pool: int, since: float, points: Sequence[Point]) -> Iterator[int]:
    """How many from the rating *since* down stand before each point; counted from each to the next one."""
    higher = 0
    for negative, player in points:
        higher += connection.execute(HIGHER, (pool, -negative, since)).fetchone()[0]
        since = -negative
        yield higher + connection.execute(BESIDE, (pool, since, player)).fetchone()[0]


def _read(connection: sqlite3.Connection, pool: int, since: float, points: Sequence[Point]) -> Iterator[int]:
    """The same from the part of the ranking that the points lie in."""
    order = connection.execute(ORDER, (pool, -points[-1][0], since)).fetchall()
    return (bisect_left(order, point) for point in points)


def not_below(connection: sqlite3.Connection, pool: int, rating: float) -> int:
    """How many listed players of a pool have that rating or a higher one.

    Raises:
        CorruptError: the views are damaged.
    """
    (found,) = before(connection, pool, [(-rating, _EVERYBODY)]).values()
    return found


def is_ranked_by_rows(pool: Pool) -> bool:
    """Whether the last rows say by themselves who stands where, whatever else is played."""
    scheme = pool.eras[0].scheme
    return len(pool.eras) == 1 and (scheme.at is as_it_stands or scheme.stands_from is from_the_beginning)


def ranks(connection: sqlite3.Connection, pool: Pool, points: Sequence[Point], closed: Set[int]) -> dict[int, int]:
    """The ranks of some players in the ranking of now, by player; equals share one.

    Where the last rows do not say who stands where (a scheme whose ratings change by time alone, a pool of several
    schemes) the ranking is read whole.

    Args:
        connection: the views.
        pool: the pool.
        points: of those asked about, by their last rows: who is listed and whose account is open, in order.
        closed: whose accounts are closed.
    """
    if is_ranked_by_rows(pool):
        above = before(connection, pool.pool, sorted({(rating, 0) for rating, _ in points}))
        shut = _closed_points(connection, pool.pool, closed)
        return {player: above[rating, 0] - bisect_left(shut, (rating, 0)) + 1 for rating, player in points}
    asked = {player for _, player in points}
    shown = [point for point in PlayerStates(connection, pool).in_order() if point[1] not in closed]
    shared = shared_places([rating for rating, _ in shown])
    return {player: rank for rank, (_, player) in zip(shared, shown, strict=True) if player in asked}


def _closed_points(connection: sqlite3.Connection, pool: int, closed: Set[int]) -> list[Point]:
    """The places of closed accounts among all whom the views list."""
    if not closed:
        return []
    return sorted(connection.execute(OF_CLOSED, (pool, orjson.dumps(sorted(closed)).decode())).fetchall())
