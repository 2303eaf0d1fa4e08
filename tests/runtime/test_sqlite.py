"""The way to SQLite changes no value."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledger.errors import CorruptError, StorageError
from ledger.runtime import sqlite

VALUES = {
    None: "null",
    True: "integer",
    7: "integer",
    2.5: "real",
    "é": "text",
    b"": "blob",
    b"\x00\xff": "blob",
}


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


def test_one_alone_makes_a_file_at_a_time_and_nobodys_takes_the_place_of_anothers(tmp_path: Path) -> None:
    place = tmp_path / "club.db"
    with sqlite.whole(place) as making:
        making.write_text("first")
        with pytest.raises(StorageError, match=r"club\.db: another process is making it"), sqlite.whole(place):
            raise AssertionError("two make it")
    assert [path.name for path in tmp_path.iterdir()] == ["club.db"]
    with pytest.raises(StorageError, match="was made by another process meanwhile"), sqlite.whole(place):
        raise AssertionError("it stands there")
    other = tmp_path / "other.db"
    with pytest.raises(StorageError, match="was made by another process meanwhile"), sqlite.whole(other) as making:  # noqa: PT012
        making.write_text("mine")
        other.write_text("theirs")
    assert (place.read_text(), other.read_text()) == ("first", "theirs")
    with sqlite.whole(other, replace=True) as making:
        making.write_text("mine")
    assert other.read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["club.db", "other.db"]


def test_no_folder_is_made_for_a_file(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be made: there is no folder"), sqlite.whole(tmp_path / "a" / "b.db"):
        raise AssertionError("there is no folder")
    assert not list(tmp_path.iterdir())
