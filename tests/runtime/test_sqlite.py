"""The connection to SQLite changes no value, and its errors are ours."""

import gc
import re
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ledger.errors import CorruptError, StorageError
from ledger.runtime import sqlite

ROWS = 2_000

VALUES = {None: "null", True: "integer", 7: "integer", 2.5: "real", "é": "text", b"": "blob", b"\x00\xff": "blob"}


@pytest.mark.parametrize(("value", "kind"), VALUES.items())
def test_a_value_comes_back_as_it_went_in(value: object, kind: str, tmp_path: Path) -> None:
    connection = sqlite.connect(tmp_path / "any.db")
    assert connection.execute("SELECT ?1, typeof(?1)", (value,)).fetchone() == (value, kind)
    connection.execute("CREATE TABLE one(value)")
    connection.executemany("INSERT INTO one VALUES (?)", [(value,)] * 2)
    assert connection.execute("SELECT value, typeof(value) FROM one").fetchall() == [(value, kind)] * 2
    connection.close()


def test_what_the_driver_says_of_a_damaged_schema_becomes_one_line() -> None:
    words = "malformed database schema (games) - near\n  'key': syntax error" + " x" * 500
    with pytest.raises(CorruptError) as told:
        sqlite.raise_translated("club.views.db", sqlite.sqlite3.DatabaseError(words))
    assert str(told.value).startswith("club.views.db: malformed database schema (games) - near 'key': syntax error")
    assert "\n" not in str(told.value)
    assert len(str(told.value)) < 400


READS: Mapping[str, Callable[[Any], object]] = {
    "fetchone": lambda cursor: [cursor.fetchone() for _ in range(ROWS)],
    "fetchmany": lambda cursor: [cursor.fetchmany(500) for _ in range(ROWS)],
    "fetchall": lambda cursor: cursor.fetchall(),
    "for": list,
    "next": lambda cursor: [next(cursor) for _ in range(ROWS)],
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_a_damaged_page_is_told_however_it_is_reached(read: Callable[[Any], object], tmp_path: Path) -> None:
    """The statement succeeds: the first pages are whole."""
    path = tmp_path / "any.db"
    with closing(sqlite.connect(path)) as connection:
        connection.execute("CREATE TABLE one(value)")
        connection.executemany("INSERT INTO one VALUES (?)", [("x" * 100,)] * ROWS)
    content = bytearray(path.read_bytes())
    content[-4096:] = b"\xff" * 4096
    path.write_bytes(content)
    with closing(sqlite.connect(path, remedy="make another")) as connection:
        cursor = connection.execute("SELECT value FROM one")
        with pytest.raises(CorruptError, match=f"^{re.escape(str(path))}: database disk image is malformed; make anot"):
            read(cursor)


def test_rows_are_read_as_they_are_asked_for(tmp_path: Path) -> None:
    with closing(sqlite.connect(tmp_path / "any.db")) as connection:
        connection.execute("CREATE TABLE one(value)")
        connection.executemany("INSERT INTO one VALUES (?)", [(n,) for n in range(5)])
        cursor = connection.execute("SELECT value FROM one ORDER BY value")
        assert next(iter(cursor)) == (0,)
        assert next(cursor) == (1,)
        assert cursor.fetchmany(2) == [(2,), (3,)]
        assert list(cursor) == [(4,)]
        assert cursor.fetchone() is None


def test_an_error_of_each_kind_names_the_file_and_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "any.db"
    connection = sqlite.connect(path)
    connection.execute("CREATE TABLE one(value UNIQUE)")
    with pytest.raises(StorageError, match=r"UNIQUE constraint failed.*not as this program left it") as refused:
        connection.executemany("INSERT INTO one VALUES (?)", [(1,), (1,)])
    assert sqlite.breaks_constraint(refused.value)
    with pytest.raises(StorageError, match="no such table: two: the file is not as this program left it") as refused:
        connection.execute("SELECT * FROM two")
    assert not sqlite.breaks_constraint(refused.value)
    with pytest.raises(sqlite.sqlite3.OperationalError, match="no such table"):
        connection.attempt("SELECT * FROM two")
    connection.close()
    with pytest.raises(StorageError, match="open the ledger again"):
        connection.execute("SELECT 1")
    with closing(sqlite.connect(path, remedy=None)) as raw, pytest.raises(sqlite.sqlite3.OperationalError):
        raw.execute("SELECT * FROM two")


@pytest.mark.parametrize(("remedy", "kind"), [(sqlite.RESTORE, StorageError), (None, sqlite.sqlite3.OperationalError)])
def test_an_error_that_was_caught_leaves_no_read_of_its_callers_unfinished(
    remedy: str | None, kind: type[Exception], tmp_path: Path
) -> None:
    """A read that nobody finishes keeps the file in a transaction; without the garbage collector, too."""

    def ask(connection: sqlite.FileConnection) -> None:
        rows = connection.execute("SELECT value FROM one")
        assert next(rows) == (1,)
        with pytest.raises(kind, match="no such table"):
            other.execute("SELECT * FROM nowhere")

    with (
        closing(sqlite.connect(tmp_path / "any.db")) as connection,
        closing(sqlite.connect(tmp_path / "b.db", remedy=remedy)) as other,
    ):
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE one(value)")
        connection.executemany("INSERT INTO one VALUES (?)", [(1,), (2,)])
        gc.disable()
        try:
            ask(connection)
            assert connection.execute("PRAGMA journal_mode=DELETE").fetchone() == ("delete",)
        finally:
            gc.enable()
