"""The way to SQLite changes no value."""

from pathlib import Path

import pytest

from ledger.errors import CorruptError
from ledger.runtime import sqlite

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
    with pytest.raises(CorruptError) as told, sqlite.storage_errors("club.views.db"):
        raise sqlite.sqlite3.DatabaseError(words)
    assert str(told.value).startswith("club.views.db: malformed database schema (games) - near 'key': syntax error")
    assert "\n" not in str(told.value)
    assert len(str(told.value)) < 400
