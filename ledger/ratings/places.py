"""Places in the ranking of those whom a pool lists, counted by the distribution of ratings, not by reading the ranking.

How many have more points is a sum over ``distribution``; only those of the same points are counted one by one.
Who asks for a place asks ``standings``, which knows whose rating is another one by now. Nothing is written.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence, Set
from itertools import groupby
from typing import TYPE_CHECKING

import orjson

from ledger.ratings import views_file
from ledger.ratings.distribution import band, highest
from ledger.runtime import sqlite

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


def of_closed(connection: sqlite3.Connection, pool: int, closed: Set[int]) -> list[Point]:
    """The points of closed accounts among all whom the views list, in order."""
    return sorted(connection.execute(OF_CLOSED, (pool, orjson.dumps(sorted(closed)).decode())).fetchall())
