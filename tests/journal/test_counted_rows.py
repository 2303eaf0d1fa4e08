"""A writer counts what its files took: rows that vanish are no success."""

import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ledger.errors import CorruptError, StorageError
from ledger.imports.reading import batch_games
from ledger.journal.sqlite_store import SqliteWriter
from ledger.players.sqlite_people import SqlitePeople
from ledger.recording.pool_choice import PoolChoice
from ledger.runtime.ledger_files import sidecar
from tests.kit.clubs import open_ledger
from tests.kit.games import game_of_2020, source_games
from tests.kit.people import heads
from tests.kit.tampering import execute


class Swallowing:
    """A connection on which rows vanish as a trigger would have it, but which no schema shows."""

    def __init__(self, connection: Any, table: str) -> None:
        self._connection = connection
        self._table = table

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, statement: str, *arguments: Any) -> Any:
        if re.match(rf"INSERT INTO (main\.)?{self._table}\b", statement):
            return self._connection.execute("DELETE FROM texts WHERE 0")
        return self._connection.execute(statement, *arguments)

    def executemany(self, statement: str, rows: Any) -> Any:
        rows = list(rows)
        swallows = re.search(rf"INTO (main\.)?{self._table}\b", statement)
        return self._connection.executemany(statement, rows[:-1] if swallows else rows)


@pytest.fixture(name="swallowed", params=["journal", "nodes"])
def _swallowed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    begin = SqliteWriter.__init__

    def swallowing(self: SqliteWriter, journal: Any, connection: Any, *more: Any) -> None:
        swallowing_connection: Any = Swallowing(connection, request.param)
        begin(self, journal, swallowing_connection, *more)

    monkeypatch.setattr(SqliteWriter, "__init__", swallowing)
    return str(request.param)


@pytest.mark.parametrize("count", [1, 2, 300, 1_500])
def test_rows_that_the_journal_did_not_take_are_no_success(count: int, swallowed: str, club_of_three: Path) -> None:
    if swallowed == "nodes" and count < 256:
        return
    before = heads(club_of_three)
    with (
        open_ledger(club_of_three) as ledger,
        pytest.raises(CorruptError, match=rf"rows into table {swallowed}: run 'audit'"),
    ):
        ledger.append_many([game_of_2020(f"n{i}") for i in range(count)])
    assert heads(club_of_three) == before


def test_rows_that_the_people_file_did_not_take_are_no_success(club_of_three: Path) -> None:
    before = heads(club_of_three)
    with closing(SqlitePeople(sidecar(club_of_three, "people"))) as people:
        swallowing: Any = Swallowing(people._connection, "people")
        people._connection = swallowing
        with pytest.raises(StorageError, match="took 1 of 2 new rows"):
            people.assign_numbers({"name:x": "X", "name:y": "Y"}, "2020")
    assert heads(club_of_three) == before


def test_an_erase_that_changed_nothing_is_no_success(club_of_three: Path) -> None:
    """Whatever undid it: the row is read back."""
    with open_ledger(club_of_three) as ledger:
        file = ledger.names.file
        clean = file.purge_or_refuse

        def clean_and_undo() -> None:
            clean()
            execute(sidecar(club_of_three, "people"), "UPDATE people SET name = 'Back' WHERE player = 2")

        file.purge_or_refuse = clean_and_undo  # type: ignore[method-assign]
        with pytest.raises(StorageError, match="still tells who player 2 is"):
            ledger.erase(2)


def test_an_import_counts_what_was_committed(club_of_three: Path) -> None:
    """Nothing is told of a transaction that was undone, neither games nor players nor pools."""
    games = [*source_games(30), next(source_games(1, seed=5))._replace(line=99, ended_at="2999-01-01")]
    with open_ledger(club_of_three) as ledger:
        undone = ledger.import_games(batch_games(games), choice=PoolChoice(pool="rapid"), strict=True)
        assert (undone.recorded, undone.repeated, undone.players, undone.new_pools) == (0, 0, 0, [])
        assert [fault.line for fault in undone.faults] == [99]
        size = ledger.journal.size()
        done = ledger.import_games(batch_games(games, 7), choice=PoolChoice(pool="rapid"))
        assert (done.recorded, done.new_pools) == (30, ["rapid"])
        assert ledger.journal.size() == size + 30 + done.players + 1
        again = ledger.import_games(batch_games(games[:30], 7), choice=PoolChoice(pool="rapid"), strict=True)
        assert (again.recorded, again.repeated, again.players, again.new_pools) == (0, 30, 0, [])


def test_a_text_that_cannot_be_kept_is_an_error(club_of_three: Path) -> None:
    with open_ledger(club_of_three) as ledger, pytest.raises(StorageError), ledger.journal.writing() as writer:
        writer.store_texts([(b"short", b"frame")])
