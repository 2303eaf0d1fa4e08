"""Rows that are written over the tables of a file and never reach it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ledger.runtime import overlay, sqlite

if TYPE_CHECKING:
    import sqlite3

SCHEMA = (
    "CREATE TABLE small(name TEXT PRIMARY KEY, value INTEGER) STRICT",
    "CREATE TABLE large(number INTEGER PRIMARY KEY, owner TEXT NOT NULL, value INTEGER) STRICT",
    "CREATE TABLE paired(pool INTEGER, player INTEGER, value TEXT, PRIMARY KEY(pool, player)) STRICT, WITHOUT ROWID",
    "CREATE INDEX large_of_owner ON large(owner)",
)


@pytest.fixture
def three_tables(tmp_path: Path) -> Path:
    """A file with three tables of a few rows."""
    path = tmp_path / "three.db"
    with closing(sqlite.connect(path)) as connection:
        for statement in SCHEMA:
            connection.execute(statement)
        connection.execute("INSERT INTO small VALUES ('a', 1)")
        connection.executemany("INSERT INTO large VALUES (?, ?, ?)", [(1, "x", 10), (2, "x", 20), (3, "y", 30)])
        connection.executemany("INSERT INTO paired VALUES (?, ?, ?)", [(1, 1, "p"), (1, 2, "q")])
    return path


@pytest.fixture
def laid(three_tables: Path) -> Iterator[sqlite3.Connection]:
    """A connection for reading that writes over them."""
    with closing(sqlite.connect(three_tables, read_only=True)) as connection:
        overlay.lay_over(connection, ["small"], ["large", "paired"])
        connection.execute("BEGIN")
        overlay.fill(connection, ["small"])
        yield connection


def rows(connection: sqlite3.Connection, table: str) -> list[tuple[object, ...]]:
    return sorted(connection.execute(f"SELECT * FROM {table}"))


def test_what_is_written_is_read_and_the_file_stays(laid: sqlite3.Connection, three_tables: Path) -> None:
    before = three_tables.read_bytes()
    laid.execute("UPDATE small SET value = 2 WHERE name = 'a'")
    laid.execute("UPDATE large SET value = value + 1, owner = 'z' WHERE owner = 'x'")
    laid.execute("INSERT INTO large(number, owner) VALUES (4, 'x')")
    laid.execute("DELETE FROM large WHERE number = 3")
    laid.execute("INSERT OR REPLACE INTO large VALUES (4, 'w', 40)")
    laid.execute("DELETE FROM paired WHERE player = 1")
    laid.execute("INSERT INTO paired VALUES (1, 1, 'again')")
    laid.execute("UPDATE paired SET player = 9 WHERE player = 2")
    assert rows(laid, "small") == [("a", 2)]
    assert rows(laid, "large") == [(1, "z", 11), (2, "z", 21), (4, "w", 40)]
    assert rows(laid, "paired") == [(1, 1, "again"), (1, 9, "q")]
    assert rows(laid, "main.large") == [(1, "x", 10), (2, "x", 20), (3, "y", 30)]
    assert three_tables.read_bytes() == before


def test_rows_of_another_table_may_say_what_is_written(laid: sqlite3.Connection) -> None:
    laid.execute("CREATE TEMP TABLE found(number INTEGER PRIMARY KEY, value INTEGER)")
    laid.execute("INSERT INTO found VALUES (2, 99)")
    laid.execute("UPDATE large SET value = found.value FROM temp.found WHERE large.number = found.number")
    assert rows(laid, "large") == [(1, "x", 10), (2, "x", 99), (3, "y", 30)]


def test_both_parts_are_found_by_their_indexes(laid: sqlite3.Connection) -> None:
    plan = [row[3] for row in laid.execute("EXPLAIN QUERY PLAN SELECT number FROM large WHERE owner = ?", ("x",))]
    assert [step for step in plan if step.startswith("S")] == [
        "SEARCH main.large USING COVERING INDEX large_of_owner (owner=?)",
        "SEARCH temp.written_large USING COVERING INDEX written_large_of_owner (owner=?)",
    ]


def test_it_says_of_which_tables_it_holds(laid: sqlite3.Connection, three_tables: Path) -> None:
    assert overlay.is_laid_over(laid, "large")
    assert not overlay.is_laid_over(laid, "other")
    with closing(sqlite.connect(three_tables)) as connection:
        assert not overlay.is_laid_over(connection, "large")
