"""The distribution of ratings: how many players a pool lists with so many whole points. The table, and how it is kept.

The table follows from ``current`` alone. It is counted once, when a build has written ``current``; from then on it is
kept by triggers, so that no writer of ``current`` can forget it. What is asked of it is in ``places``; nothing is rated
here.

Whole points are those that SQLite's CAST gives: cut towards zero, so that they never descend where ratings ascend.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

TABLE = """CREATE TABLE distribution(
      pool INTEGER NOT NULL, points INTEGER NOT NULL, players INTEGER NOT NULL CHECK(players > 0),
      PRIMARY KEY(pool, points)) STRICT, WITHOUT ROWID"""

_COME = (
    "INSERT INTO distribution VALUES (new.pool, CAST(new.rating AS INTEGER), 1) "
    "ON CONFLICT DO UPDATE SET players = players + 1;"
)
_OF_OLD = "pool = old.pool AND points = CAST(old.rating AS INTEGER)"
_GO = (  # the last one goes with the row: what nobody has is in no table
    f"DELETE FROM distribution WHERE {_OF_OLD} AND players = 1; "
    f"UPDATE distribution SET players = players - 1 WHERE {_OF_OLD};"
)
_SAME_POINTS = "CAST(old.rating AS INTEGER) = CAST(new.rating AS INTEGER)"
_CHANGED = "AFTER UPDATE OF rating, listed ON current"
TRIGGERS = (
    f"CREATE TRIGGER current_comes AFTER INSERT ON current WHEN new.listed BEGIN {_COME} END",
    f"CREATE TRIGGER current_goes AFTER DELETE ON current WHEN old.listed BEGIN {_GO} END",
    f"CREATE TRIGGER current_leaves_points {_CHANGED} "
    f"WHEN old.listed AND NOT (new.listed AND {_SAME_POINTS}) BEGIN {_GO} END",
    f"CREATE TRIGGER current_reaches_points {_CHANGED} "
    f"WHEN new.listed AND NOT (old.listed AND {_SAME_POINTS}) BEGIN {_COME} END",
)
_COUNT = """
INSERT INTO distribution
SELECT pool, CAST(rating AS INTEGER), count(*) FROM current WHERE listed = 1 GROUP BY 1, 2
"""


def begin(connection: sqlite3.Connection) -> None:
    """Count who is listed, and have the counts kept from now on; in the caller's transaction.

    Args:
        connection: new views, whose ``current`` is written and whose ``distribution`` is empty.
    """
    connection.execute(_COUNT)
    for statement in TRIGGERS:
        connection.execute(statement)
