"""A file that is made appears whole, made by one alone, and in nobody else's place."""

from pathlib import Path

import pytest

from ledger.errors import StorageError
from ledger.runtime.ledger_files import atomic_file


def test_one_alone_makes_a_file_at_a_time_and_nobodys_takes_the_place_of_anothers(tmp_path: Path) -> None:
    place = tmp_path / "club.db"
    with atomic_file(place) as making:
        making.write_text("first")
        with pytest.raises(StorageError, match=r"club\.db: another process is making it"), atomic_file(place):
            raise AssertionError("two make it")
    assert [path.name for path in tmp_path.iterdir()] == ["club.db"]
    with pytest.raises(StorageError, match="was made by another process meanwhile"), atomic_file(place):
        raise AssertionError("it stands there")
    other = tmp_path / "other.db"
    with pytest.raises(StorageError, match="was made by another process meanwhile"), atomic_file(other) as making:  # noqa: PT012
        making.write_text("mine")
        other.write_text("theirs")
    assert (place.read_text(), other.read_text()) == ("first", "theirs")
    with atomic_file(other, replace=True) as making:
        making.write_text("mine")
    assert other.read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["club.db", "other.db"]


def test_no_folder_is_made_for_a_file(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be made: there is no folder"), atomic_file(tmp_path / "a" / "b.db"):
        raise AssertionError("there is no folder")
    assert not list(tmp_path.iterdir())
