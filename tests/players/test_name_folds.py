"""The index of whole names: it says what the names say, through renamings and erasures; the audit holds it to that."""

from contextlib import closing
from pathlib import Path

import pytest

from ledger.audit.audit import audit
from ledger.ledger import Ledger
from ledger.players import name_indexes
from ledger.players.name_indexes import plain_lower_case
from ledger.players.people import People
from ledger.runtime import sqlite
from ledger.runtime.ledger_files import sidecar
from tests.kit.people import make_released

NAMES = ("Ann Ek", "ANN EK", "Иванов Пётр", "иванов пётр", "Ödön", "Bob")


@pytest.fixture(name="club_with_folds")
def _club_with_folds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Six players, whose names the index has."""
    monkeypatch.setattr(name_indexes, "_FEW", 0)
    path = tmp_path / "club.db"
    with Ledger.create(path) as ledger:
        for number, name in enumerate(NAMES, 1):
            ledger.register(f"id:{number}", name)
        ledger.people.whole_names.catch_up()
    return path


def indexed(path: Path) -> list[tuple[int, str]]:
    with closing(sqlite.connect(sidecar(path, "people"))) as connection:
        return connection.execute("SELECT player, name FROM people_folds ORDER BY player").fetchall()


def everybody_is_told_alike(people: People) -> bool:
    every = people.whole_names.all_players()
    return people.whole_names.players_named(every) == every


def test_players_are_found_by_the_name_whatever_its_case(club_with_folds: Path) -> None:
    with Ledger.open(club_with_folds) as ledger:
        asked = ["ann ek", "иванов пётр", "ödön", "nobody"]
        assert ledger.people.whole_names.players_named(asked) == {"ann ek": [1, 2], "иванов пётр": [3, 4], "ödön": [5]}
        assert [person.player for person in ledger.people.find("ann ek")] == [1, 2]
        assert [person.player for person in ledger.people.find("ANN EK")] == [2]
        assert [person.player for person in ledger.people.find("ID:6")] == [6]
        assert ledger.people.find("Иванов пётр") == []  # SQLite knows the case of English letters alone
    assert indexed(club_with_folds) == [(number, plain_lower_case(name)) for number, name in enumerate(NAMES, 1)]


def test_who_was_renamed_is_found_by_the_new_name_alone(club_with_folds: Path) -> None:
    with Ledger.open(club_with_folds) as ledger:
        ledger.rename(2, "Bob")
        assert ledger.people.whole_names.players_named(["ann ek", "bob"]) == {"ann ek": [1], "bob": [2, 6]}
        assert everybody_is_told_alike(ledger.people)
    assert audit(club_with_folds).falsehoods == ()


@pytest.mark.parametrize("player", [1, 6])
def test_who_was_erased_is_found_no_more_and_no_byte_of_the_name_is_left(club_with_folds: Path, player: int) -> None:
    with Ledger.open(club_with_folds) as ledger:
        ledger.erase(player)
        assert (
            plain_lower_case(NAMES[player - 1])
            not in ledger.people.whole_names.players_named([plain_lower_case(NAMES[player - 1])])
            or player == 1
        )
        ledger.register("id:7", "Zoe")
        ledger.people.whole_names.catch_up()
        assert ledger.people.whole_names.players_named(["zoe"]) == {"zoe": [7]}
        assert everybody_is_told_alike(ledger.people)
    assert player not in dict(indexed(club_with_folds))
    assert audit(club_with_folds).falsehoods == ()
    if player == 6:
        assert b"bob" not in sidecar(club_with_folds, "people").read_bytes()


def test_a_file_of_an_earlier_release_and_one_that_is_only_read_need_no_index(club_with_folds: Path) -> None:
    make_released(sidecar(club_with_folds, "people"))
    before = sidecar(club_with_folds, "people").read_bytes()
    with Ledger.open(club_with_folds, read_only=True) as ledger:
        ledger.people.whole_names.catch_up()
        assert ledger.people.whole_names.players_named(["ann ek"]) == {"ann ek": [1, 2]}
    assert sidecar(club_with_folds, "people").read_bytes() == before
    assert audit(club_with_folds).falsehoods == ()


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE people_folds SET name = 'other' WHERE player = 3", "people_folds 3: holds another name"),
        ("DELETE FROM people_folds WHERE player = 3", "people_folds 3: lacks the name"),
        ("INSERT INTO people_folds VALUES (99, 'eve')", "people_folds 99: holds another name"),
    ],
)
def test_the_audit_names_what_the_index_says_otherwise_than_the_names(
    club_with_folds: Path, statement: str, words: str
) -> None:
    with closing(sqlite.connect(sidecar(club_with_folds, "people"))) as connection:
        connection.execute(statement)
    assert words in "\n".join(map(str, audit(club_with_folds).falsehoods))
