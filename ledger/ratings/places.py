"""Places in the ranking of those whom a pool lists, counted by the distribution of ratings, not by reading the ranking.

How many stand above some whole points is a sum over ``distribution``; only those who have just these points are counted
one by one. Whoever asks for a place asks here. Both tables are those of the file: rows that a preview lays over them
are not counted. Nothing is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import inf, nextafter
from typing import TYPE_CHECKING

from ledger.ratings import views_file
from ledger.runtime import sqlite

if TYPE_CHECKING:
    import sqlite3

Point = tuple[float, int]  # a place in a ranking: the rating below zero, points, and the player's number

LISTED = "SELECT coalesce(sum(players), 0) FROM main.distribution WHERE pool = ?"
WITH_POINTS = "SELECT coalesce(sum(players), 0) FROM main.distribution WHERE pool = ? AND points > ? AND points <= ?"
_AMONG = "SELECT count(*) FROM main.current WHERE pool = ? AND listed = 1"
HIGHER = f"{_AMONG} AND rating > ? AND rating <= ?"
BESIDE = f"{_AMONG} AND rating = ? AND player >= ? AND player < ?"

_EVERYBODY = 2**62  # above every player's number
_MOST = 2**63 - 1  # the whole points of every rating from there on


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

    def counted(query: str, *arguments: float) -> int:
        return int(connection.execute(query, (pool, *arguments)).fetchone()[0])

    found: dict[Point, int] = {}
    above, passed = 0, _MOST
    with sqlite.storage_errors("the views", views_file.REBUILD):
        for whole, same_points in groupby(points, lambda point: whole_points(-point[0])):
            above += counted(WITH_POINTS, whole, passed)
            higher, passed, since = above, whole, _highest(whole)
            for negative, same_rating in groupby(same_points, lambda point: point[0]):
                higher += counted(HIGHER, -negative, since)
                since = -negative
                beside = first = 0
                for point in same_rating:
                    beside += counted(BESIDE, since, first, point[1])
                    first = point[1]
                    found[point] = higher + beside
    return found


def not_below(connection: sqlite3.Connection, pool: int, rating: float) -> int:
    """How many listed players of a pool have that rating or a higher one.

    Raises:
        CorruptError: the views are damaged.
    """
    (found,) = before(connection, pool, [(-rating, _EVERYBODY)]).values()
    return found


def whole_points(rating: float) -> int:
    """The whole points of a rating as the table has them; of what no scheme gives the farthest that it can hold."""
    return -_MOST - 1 if rating < -_MOST else _MOST if rating >= _MOST else int(rating)


def _highest(points: int) -> float:
    """The highest rating with so many whole points."""
    if points == _MOST:
        return inf
    return max(float(points), nextafter(points + 1.0, 0.0)) if points >= 0 else float(points)
