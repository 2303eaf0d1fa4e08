"""Derived rows as they are compared."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from ledger.ledger import Ledger
from ledger.ratings.queries import tables
from ledger.ratings.views_file import BOUNDS
from ledger.testing import in_terms_of_facts, table_rows

_LOW_BOUNDS = f"""
SELECT * FROM (SELECT pool, player, max(rating) AS highest FROM history GROUP BY pool, player)
LEFT JOIN {BOUNDS} USING (pool, player) WHERE rating IS NULL OR rating < highest
"""


def low_bounds(connection: sqlite3.Connection) -> list[Any]:
    """Players with a rating above the bound that none of theirs was ever above; a ledger that is true has none."""
    return connection.execute(_LOW_BOUNDS).fetchall()


def all_rows(ledger: Ledger) -> dict[str, Any]:
    """By table, every row of the views; but that no rating is above its bound, bounds may differ."""
    connection = ledger.views.connection
    assert low_bounds(connection) == []
    return {table: table_rows(connection, table) for table in tables(connection) if table != BOUNDS}


def rows_by_identity(ledger: Ledger) -> dict[str, Any]:
    """The rows in terms of facts, with identities for the numbers that depend on the order of arrival."""
    people = ledger.people.by_number(sorted(ledger.people.numbers()))
    return in_terms_of_facts(
        ledger.views.connection, {number: person.identity or "" for number, person in people.items()}
    )


def tables_that_differ(connection: sqlite3.Connection, other: Path) -> list[str]:
    """The tables that hold other rows than those of another file of views; millions of rows are compared by SQL."""
    connection.execute("ATTACH ? AS other", (str(other),))
    try:
        return [table for table in tables(connection) if table != BOUNDS and _differs(connection, table)]
    finally:
        connection.execute("DETACH other")


def _differs(connection: sqlite3.Connection, table: str) -> bool:
    columns = connection.execute("SELECT name, pk FROM pragma_table_info(?, 'main')", (table,)).fetchall()
    key = " AND ".join(f'here."{name}" IS there."{name}"' for name, pk in columns if pk) or "here.rowid = there.rowid"
    alike = " AND ".join(f'here."{name}" IS there."{name}"' for name, _ in columns)
    pairs = f'SELECT count(*) FROM main."{table}" AS here CROSS JOIN other."{table}" AS there ON {key} AND {alike}'
    everything = (f'SELECT count(*) FROM {place}."{table}"' for place in ("main", "other"))
    return len({connection.execute(query).fetchone()[0] for query in (*everything, pairs)}) != 1
