"""The places of players in a ranking, now and as an approval would leave them: for previews.

Where the last rows say by themselves who stands where, places are counted by the distribution of ratings. Elsewhere (a
scheme whose ratings change by time alone, a pool of several schemes) the ranking of now is read whole, as for any rank
there; of the one that would come only those are asked who are rated again, unless everybody may move. Nothing is
written but tables of the connection's own.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence, Set
from typing import TYPE_CHECKING, NamedTuple

import attrs
import orjson

from ledger.book.timeline import Pool
from ledger.journal.kept_lists import shared_places
from ledger.ratings import places
from ledger.ratings.collected_rows import CollectedRows, LastRow
from ledger.ratings.list_previews import lay_rows
from ledger.ratings.places import Point
from ledger.ratings.player_states import PlayerStates
from ledger.schemes.scheme import as_it_stands, from_the_beginning

if TYPE_CHECKING:
    import sqlite3

_OF_CLOSED = """
SELECT -rating, player FROM main.current
WHERE pool = ? AND +listed = 1 AND player IN (SELECT value FROM json_each(?))
"""
_EVERYBODY = "SELECT player, n FROM main.current WHERE pool = ?"

Ranks = Mapping[int, int]  # by player


def is_ranked_by_rows(pool: Pool) -> bool:
    """Whether the last rows say by themselves who stands where, whatever else is played."""
    scheme = pool.eras[0].scheme
    return len(pool.eras) == 1 and (scheme.at is as_it_stands or scheme.stands_from is from_the_beginning)


class Standing(NamedTuple):
    """At what a pool's ranking of now is taken: the end of its last game and the place of its era; None without."""

    latest_ms: int | None
    era: int

    @classmethod
    def of(cls, states: PlayerStates) -> Standing:
        """The one of a pool."""
        return cls(states.latest_ms, states.latest_era)


@attrs.frozen
class Then:
    """A pool as an approval would leave it, as far as places are concerned.

    Attributes:
        pool: the pool, with its schemes.
        closed: whose accounts are closed.
        order: the ranking; empty where the last rows say it.
        only: whose places *order* tells; None for everybody's.
    """

    pool: Pool
    closed: Set[int]
    order: Sequence[Point] = ()
    only: Set[int] | None = None


def ranking_then(
    connection: sqlite3.Connection, pool: Pool, rows: CollectedRows, start_ms: int, only: Set[int] | None
) -> list[Point]:
    """The ranking as an approval would leave it.

    Args:
        connection: the snapshot, within what is asked about.
        pool: the pool as it would be.
        rows: what was rated again, every row of it.
        start_ms: the first place in rating order of a game that was rated again, milliseconds.
        only: of whom; None for everybody, whose last rows are then copied.
    """
    counts = dict(connection.execute(_EVERYBODY, (pool.pool,))) if only is None else {}
    counts.update(rows.rated_before(rows.players, start_ms))
    connection.execute("SAVEPOINT of_ranking")
    lay_rows(connection, pool, counts)
    rows.lay()
    order = PlayerStates(connection, pool).in_order()
    connection.execute("ROLLBACK TO of_ranking")
    connection.execute("RELEASE of_ranking")
    return order


def ranks_now_and_then(
    connection: sqlite3.Connection, pool: Pool | None, last: tuple[Mapping[int, LastRow], Mapping[int, LastRow]],
    closed: Set[int], then: Then,
) -> tuple[Ranks, Ranks]:  # fmt: skip
    """The ranks of players now and then; who is not listed, or whose account is closed, has none.

    Args:
        connection: the snapshot, with nothing of what is asked about.
        pool: the pool as it is; None for one that does not exist yet.
        last: the last rows of those who are rated again, now and then.
        closed: whose accounts are closed now.
        then: the pool as it would be.
    """
    left, come = map(_points, last)
    asked = last[0].keys() | last[1].keys()
    counts_now, counts_then = pool is not None and is_ranked_by_rows(pool), is_ranked_by_rows(then.pool)
    counted = sorted({_best(point) for point in (*(left if counts_now else ()), *(come if counts_then else ()))})
    above = places.before(connection, then.pool.pool, counted)
    order: Sequence[Point] = ()
    if counts_now:
        now = _counted_now(connection, then.pool.pool, (left, above), closed)
    else:
        order = () if pool is None else PlayerStates(connection, pool).in_order()
        now = _numbered(order, closed, asked)
    if counts_then:
        return now, _counted_then(connection, then, (left, come, above), last[0].keys())
    if then.only is None:
        return now, _numbered(then.order, then.closed, asked)
    others = (point for point in order if point[1] not in then.only)
    return now, _numbered(sorted([*others, *then.order]), then.closed, asked)


def _numbered(order: Sequence[Point], closed: Set[int], asked: Set[int]) -> Ranks:
    shown = [point for point in order if point[1] not in closed]
    ranks = shared_places([rating for rating, _ in shown])
    return {player: rank for rank, (_, player) in zip(ranks, shown, strict=True) if player in asked}


def _counted_now(
    connection: sqlite3.Connection, number: int, points: tuple[Sequence[Point], Mapping[Point, int]], closed: Set[int]
) -> Ranks:
    left, above = points
    shut = _closed_points(connection, number, closed)
    return {
        point[1]: above[_best(point)] - bisect_left(shut, _best(point)) + 1 for point in left if point[1] not in closed
    }


def _counted_then(
    connection: sqlite3.Connection, then: Then,
    points: tuple[Sequence[Point], Sequence[Point], Mapping[Point, int]], was_there: Set[int],
) -> Ranks:  # fmt: skip
    """The same as an approval would leave it: of those who are rated again the points now and then are known."""
    left, come, above = points
    shut = _closed_points(connection, then.pool.pool, then.closed - was_there)
    shown = [point for point in come if point[1] not in then.closed]
    return {
        point[1]: above[_best(point)] + 1
        - bisect_left(left, _best(point)) - bisect_left(shut, _best(point)) + bisect_left(shown, _best(point))
        for point in shown
    }  # fmt: skip


def _best(point: Point) -> Point:
    """The first point of those of its rating, which share a place."""
    return point[0], 0


def _closed_points(connection: sqlite3.Connection, number: int, closed: Set[int]) -> list[Point]:
    """The places of closed accounts among all whom the views list."""
    if not closed:
        return []
    return sorted(connection.execute(_OF_CLOSED, (number, orjson.dumps(sorted(closed)).decode())).fetchall())


def _points(figures: Mapping[int, LastRow]) -> list[Point]:
    """The places of those who are listed in the order of a ranking."""
    return sorted((-last.rating, player) for player, last in figures.items() if last.listed)
