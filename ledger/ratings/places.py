"""Places in the ranking of those whom a pool lists, counted by the distribution of ratings, not by reading the ranking.

How many stand above a band of ratings is a sum over ``distribution``; only within the band they are counted one by one.
Whoever asks for a place asks here. Both tables are those of the file: rows that a preview lays over them are not
counted. Nothing is written.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import groupby
from math import inf
from operator import itemgetter
from typing import TYPE_CHECKING

from ledger.ratings import views_file
from ledger.ratings.distribution import band, highest
from ledger.runtime import sqlite

if TYPE_CHECKING:
    import sqlite3

Point = tuple[float, int]  # a place in a ranking: the rating below zero, points, and the player's number

LISTED = "SELECT coalesce(sum(players), 0) FROM main.distribution WHERE pool = ?"
IN_BANDS = "SELECT coalesce(sum(players), 0) FROM main.distribution WHERE pool = ? AND points > ? AND points <= ?"
_AMONG = "SELECT count(*) FROM main.current WHERE pool = ? AND listed = 1"
HIGHER = f"{_AMONG} AND rating > ? AND rating <= ?"
BESIDE = f"{_AMONG} AND rating = ? AND player >= ? AND player < ?"
ORDER = """
SELECT -rating, player FROM main.current WHERE pool = ? AND listed = 1 AND rating >= ? AND rating <= ?
ORDER BY rating DESC, player
"""

FEW_POINTS = 100  # places within a band up to which each is counted by SQLite
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
    above, passed = 0, band(inf)
    with sqlite.storage_errors("the views", views_file.REBUILD):
        for this_band, group in groupby(points, lambda point: band(-point[0])):
            within = list(group)
            above += int(connection.execute(IN_BANDS, (pool, this_band, passed)).fetchone()[0])
            passed = this_band
            among = _counted if len(within) <= FEW_POINTS else _read
            numbers = among(connection, pool, highest(this_band), within)
            found.update((point, above + number) for point, number in zip(within, numbers, strict=True))
    return found


def _counted(connection: sqlite3.Connection, pool: int, since: float, points: Sequence[Point]) -> Iterator[int]:
    """How many from the rating *since* down stand before each point; counted from each to the next one."""
    higher = 0
    for negative, same_rating in groupby(points, itemgetter(0)):
        higher += connection.execute(HIGHER, (pool, -negative, since)).fetchone()[0]
        since = -negative
        beside = first = 0
        for _, player in same_rating:
            beside += connection.execute(BESIDE, (pool, since, first, player)).fetchone()[0]
            first = player
            yield higher + beside


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
