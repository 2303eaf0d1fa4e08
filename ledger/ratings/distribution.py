"""The distribution of ratings: how many players a pool lists with each whole number of points, and how that is kept.

The table follows from ``current`` alone. It is counted once, when a build has written ``current``; from then on it is
kept by triggers, so that no writer of ``current`` can forget it. What is asked of it is in ``places``; nothing is rated
here.

The points of a rating are cut towards zero: 1400 is 1400.0 to 1400.9, 0 is -0.9 to 0.9, -25 is -25.0 to -25.9. They
never descend where ratings ascend. Wider bands would spare a live game a page or two; but among half a million players
a place within a band would then be found among thousands.
"""

from __future__ import annotations

from math import inf, nextafter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

_MOST = 2**63 - 1  # of SQLite's whole numbers
TABLE = """CREATE TABLE distribution(
      pool INTEGER NOT NULL, points INTEGER NOT NULL, players INTEGER NOT NULL CHECK(players > 0),
      PRIMARY KEY(pool, points)) STRICT, WITHOUT ROWID"""


def _band(rating: str) -> str:
    return f"CAST({rating} AS INTEGER)"


_OLD, _NEW = _band("old.rating"), _band("new.rating")
_COME = f"INSERT INTO distribution VALUES (new.pool, {_NEW}, 1) ON CONFLICT DO UPDATE SET players = players + 1;"
_GO = (  # there is no row of nobody
    f"DELETE FROM distribution WHERE pool = old.pool AND points = {_OLD} AND players = 1; "
    f"UPDATE distribution SET players = players - 1 WHERE pool = old.pool AND points = {_OLD};"
)
_CHANGED = "AFTER UPDATE OF rating, listed ON current"
_STAYS = f"(old.listed AND new.listed AND {_OLD} = {_NEW})"
TRIGGERS = (
    f"CREATE TRIGGER current_comes AFTER INSERT ON current WHEN new.listed BEGIN {_COME} END",
    f"CREATE TRIGGER current_goes AFTER DELETE ON current WHEN old.listed BEGIN {_GO} END",
    f"CREATE TRIGGER current_leaves {_CHANGED} WHEN old.listed AND NOT {_STAYS} BEGIN {_GO} END",
    f"CREATE TRIGGER current_joins {_CHANGED} WHEN new.listed AND NOT {_STAYS} BEGIN {_COME} END",
)
_COUNT = f"""
INSERT INTO distribution
SELECT pool, {_band("rating")}, count(*) FROM current WHERE listed = 1 GROUP BY 1, 2
"""


def begin(connection: sqlite3.Connection) -> None:
    """Count who is listed, and have the counts kept from now on; in the caller's transaction.

    Args:
        connection: new views, whose ``current`` is written and whose ``distribution`` is empty.
    """
    connection.execute(_COUNT)
    for statement in TRIGGERS:
        connection.execute(statement)


def band(rating: float) -> int:
    """The points of a rating, as SQLite cuts them, which takes 2**63 - 1 for what is above."""
    return -_MOST - 1 if rating < -_MOST else _MOST if rating >= _MOST else int(rating)


def highest(points: int) -> float:
    """The highest rating of these points."""
    if points == _MOST:
        return inf
    if points < 0:
        return float(points)
    above = float(points + 1)
    return above if above < points + 1 else nextafter(above, 0.0)
