"""Snapshots: what a test makes is compared with a file under ``tests/golden`` or beside the test.

``pytest --write-snapshots TESTS`` writes the files anew after a change that is meant; ``git diff`` shows what changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ledger.ratings import queries
from ledger.ratings.views_file import RATING_BOUNDS
from ledger.runtime import sqlite

if TYPE_CHECKING:
    import sqlite3

OPTION = "--write-snapshots"
_OTHERWISE = f"if this change is meant, run these tests again with {OPTION}"
HOW_MADE = {
    "progress",
    "projections",
    "left_behind",
    RATING_BOUNDS,
}  # tables that tell how far and by whom views were made
SALTED = {
    ("proposals", "reason"), ("proposals", "decision_reason"), ("player_details", "details"),
    ("descriptions", "arbiters"),
}  # fmt: skip
SHOWN = 12  # hexadecimal digits of a digest that are kept

writes = False  # True in a run with the option


def check(path: Path, content: str) -> None:
    """Compare a text with a file, or write it there."""
    if writes:
        path.write_text(content, "utf-8")
    assert path.read_text("utf-8") == content, f"{path.name}: {_OTHERWISE}"


def items(path: Path) -> dict[str, Any]:
    """Return the values by name in a file of JSON."""
    return dict(json.loads(path.read_text("utf-8"))) if path.exists() else {}


def check_item(path: Path, name: str, value: Any) -> None:
    """Compare a value with that of this name in a file of JSON, or write it there."""
    if writes:
        _write(path, {**items(path), name: value})
    assert items(path).get(name) == value, f"{name}: {_OTHERWISE}"


def check_names(path: Path, names: list[str]) -> None:
    """Compare the names in a file of JSON with these, or remove all others."""
    if writes:
        _write(path, {name: value for name, value in items(path).items() if name in names})
    assert sorted(items(path)) == sorted(names), _OTHERWISE


def _write(path: Path, values: dict[str, Any]) -> None:
    lines = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in sorted(values.items()))
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def rows_of_views(connection: sqlite3.Connection) -> Iterator[tuple[str, list[str]]]:
    """Yield each table and its rows, but for those that depend on how the views were made."""
    for table in sorted(set(queries.table_names(connection)) - HOW_MADE):
        yield table, sorted(map(repr, connection.execute(f'SELECT {_columns(connection, table)} FROM "{table}"')))


def digests_of_views(views: Path) -> dict[str, str]:
    """Return a digest of the rows of each table that has any."""
    with closing(sqlite.connect(views, read_only=True)) as connection:
        tables = {table: "\n".join(rows) for table, rows in rows_of_views(connection) if rows}
    return {table: sha256(rows.encode()).hexdigest()[:SHOWN] for table, rows in tables.items()}


def _columns(connection: sqlite3.Connection, table: str) -> str:
    """Return the columns in order of their names, without commitments under a salt that was drawn."""
    names = [name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))]
    return ", ".join(sorted(f'"{name}"' for name in names if (table, name) not in SALTED))
