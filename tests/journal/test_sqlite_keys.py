"""The index of a journal's keys: runs that merge, journals of an earlier layout, and the upgrade of these."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from itertools import repeat
from pathlib import Path
from random import Random

import pytest

from ledger.audit.reader import verify_journal
from ledger.errors import StorageError
from ledger.imports.reading import batch_games
from ledger.journal import KeyTakenError, sqlite_keys, sqlite_store
from ledger.journal.sqlite_store import LAYOUT, RELEASED, SqliteJournal
from ledger.testing.journal_contract import encode_entry
from tests.audit.raw_journals import game_fact, write_journal
from tests.audit.sqlite_library import sqlite3
from tests.kit.checkpoints import released_club
from tests.kit.clubs import ClubOfTwo, open_ledger
from tests.kit.commands import Run
from tests.kit.games import game_of_2020, source_games
from tests.kit.tampering import execute


def append(journal: SqliteJournal, keys: list[str]) -> None:
    with journal.writing() as writer:
        first = writer.size + 1
        writer.append(repeat("test/1"), keys, [encode_entry(first + place).body for place in range(len(keys))])


def no_matter(_done: int, _total: int) -> None:
    pass


def runs(path: Path) -> list[tuple[int, int]]:
    with closing(sqlite3.connect(path)) as connection:
        tables = range(sqlite_keys.TABLES)
        return [
            (table, run)
            for table in tables
            for (run,) in connection.execute(f"SELECT DISTINCT run FROM keys_{table} ORDER BY run")
        ]


@pytest.fixture(name="journal_of_runs")
def _journal_of_runs(tmp_path: Path) -> Iterator[SqliteJournal]:
    with closing(SqliteJournal.create(tmp_path / "club.db")) as journal:
        yield journal


def test_runs_merge_as_they_grow_and_every_key_is_found(
    journal_of_runs: SqliteJournal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_store, "MANY", 2)
    draw = Random(7)
    numbers = draw.sample(range(10**9), 20_000)
    keys = [f"game:{number}" for number in numbers]
    seen: set[tuple[int, int]] = set()
    position = 0
    # by twos, each a run: after 4,681 of them all tables but the last are full, and merge into that
    while position < 9_600:
        append(journal_of_runs, keys[position : position + 2])
        position += 2
        seen |= set(runs(tmp_path / "club.db")) if position % 600 == 0 else set()
    assert {table for table, _ in seen} == {1, 2, 3, 4, 5}
    expected = {key: place for place, key in enumerate(keys[:position], 1)}
    entries = journal_of_runs.find(keys)
    assert {key: entry.position for key, entry in entries.items()} == expected
    assert list(entries) == keys[:position]
    for key in draw.sample(keys, 50):  # one by one
        entry = journal_of_runs.find([key]).get(key)
        assert (entry.position if entry else None) == expected.get(key)
    assert list(journal_of_runs.keys("game:", "game;")) == sorted(expected)
    assert list(journal_of_runs.keys("game:5", "game:6")) == sorted(key for key in expected if key[5] == "5")


@pytest.mark.parametrize("together", [2, 3, 1_500])
def test_a_key_of_any_run_is_refused_whether_it_was_looked_for_or_not(
    together: int, journal_of_runs: SqliteJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_store, "MANY", 3)
    for start in range(0, 120, 3):
        append(journal_of_runs, [f"a:{start + place}" for place in range(3)])
    append(journal_of_runs, ["single"])
    batch = [f"b:{place}" for place in range(together - 1)]
    for taken in ("a:0", "a:119", "single", "b:0"):
        for is_looked_for in (False, True):
            with journal_of_runs.writing() as writer:
                if is_looked_for:
                    writer.find([*batch, taken])
                bodies = [encode_entry(122 + place).body for place in range(together)]
                with pytest.raises(KeyTakenError):
                    writer.append(repeat("test/1"), [*batch, taken], bodies)
    assert journal_of_runs.size() == 121
    append(journal_of_runs, batch)


def test_a_key_that_was_looked_for_and_then_recorded_is_taken(
    journal_of_runs: SqliteJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_store, "MANY", 2)
    with journal_of_runs.writing() as writer:
        assert writer.find(["a", "b", "c"]) == {}
        writer.append(repeat("test/1"), ["a", "b"], [encode_entry(1).body, encode_entry(2).body])
        with pytest.raises(KeyTakenError):
            writer.append(repeat("test/1"), ["a", "c"], [encode_entry(3).body, encode_entry(4).body])
    assert journal_of_runs.size() == 2


def test_an_import_writes_a_run_and_single_games_a_run_of_their_own(club_of_two: ClubOfTwo) -> None:
    club_of_two.ledger.import_games(batch_games(source_games(2_400), 1_200))
    club_of_two.ledger.append(game_of_2020("r2"))
    # the names of the file come first, and are few
    assert runs(club_of_two.path) == [(0, 0), (1, 0), (1, 1)]
    assert verify_journal(str(club_of_two.path)).ok


@pytest.fixture(name="journal_of_before")
def _journal_of_before(tmp_path: Path) -> Path:
    """A journal of 600 entries as release 0.1.0 made it."""
    path = tmp_path / "before.db"
    write_journal(path, map(game_fact, range(1, 601)))
    return path


def layout_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def test_a_journal_of_before_is_read_and_written_as_it_is(journal_of_before: Path) -> None:
    with closing(SqliteJournal(journal_of_before)) as journal:
        assert journal.find(["game:g7", "game:x"])["game:g7"].position == 7
        assert list(journal.keys("game:g59", "game:g5:"))[:2] == ["game:g59", "game:g590"]
        append(journal, ["one"])
        append(journal, [f"many:{place}" for place in range(1_200)])
        with journal.writing() as writer, pytest.raises(KeyTakenError):
            writer.append(repeat("test/1"), ["game:g7"], [encode_entry(1802).body])
    assert layout_of(journal_of_before) == RELEASED


def test_an_upgrade_keeps_entries_and_head_and_other_processes_go_on(journal_of_before: Path) -> None:
    with closing(SqliteJournal(journal_of_before)) as journal, closing(SqliteJournal(journal_of_before)) as other:
        before = (other.head(), list(other.read()), list(other.keys("", "z")), other.find(["game:g7"]))
        steps: list[tuple[int, int]] = []
        assert journal.upgrade(lambda done, total: steps.append((done, total)))
        assert not journal.upgrade(lambda done, total: steps.append((done, total)))
        assert steps == [(600, 600)]
        assert (other.head(), list(other.read()), list(other.keys("", "z")), other.find(["game:g7"])) == before
        append(other, ["other"])
        append(journal, ["mine"])
        assert journal.size() == 602
    assert layout_of(journal_of_before) == LAYOUT


def test_an_upgraded_journal_is_that_of_today(journal_of_before: Path) -> None:
    with closing(SqliteJournal(journal_of_before)) as journal:
        journal.upgrade(no_matter)
    assert verify_journal(str(journal_of_before)).ok


def test_an_interrupted_upgrade_leaves_the_journal_as_it_was(journal_of_before: Path) -> None:
    def stop(_done: int, _total: int) -> None:
        raise KeyboardInterrupt

    with closing(SqliteJournal(journal_of_before)) as journal:
        with pytest.raises(KeyboardInterrupt):
            journal.upgrade(stop)
        append(journal, ["one"])
    assert layout_of(journal_of_before) == RELEASED
    with closing(SqliteJournal(journal_of_before)) as journal:
        assert journal.upgrade(no_matter)
        assert journal.find(["one"])["one"].position == 601


def test_a_journal_with_foreign_triggers_is_not_upgraded(journal_of_before: Path) -> None:
    execute(journal_of_before, "CREATE TRIGGER t AFTER INSERT ON journal BEGIN SELECT 1; END")
    with closing(SqliteJournal(journal_of_before)) as journal, pytest.raises(StorageError, match="trigger 't'"):
        journal.upgrade(no_matter)


def test_the_command_says_what_it_did(tmp_path: Path, run: Run) -> None:
    path = released_club(tmp_path)
    with open_ledger(path) as ledger:
        head = ledger.head()
    assert run("upgrade", path).err == f"{path}: upgraded; head {head}\n"
    assert run("upgrade", path).err == f"{path}: has the present layout already; head {head}\n"
    assert run("audit", path).code == 0
