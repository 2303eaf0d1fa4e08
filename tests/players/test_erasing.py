"""Forgetting a person: the name is gone from every byte, games and ratings stay under the number."""

import json
from pathlib import Path
from typing import Any

import pytest

from ledger.errors import StorageError
from ledger.ledger import Ledger
from ledger.players import sqlite_people
from ledger.runtime import sqlite
from ledger.runtime.ledger_files import beside
from tests.kit.commands import Run
from tests.kit.people import connection_of
from tools.commands import USAGE

NAME = "Wilhelmina Unforgettable"


@pytest.fixture(name="league")
def _league(tmp_path: Path, run: Run) -> Path:
    """Two players and a game, rated."""
    path, games = tmp_path / "league.db", tmp_path / "games.csv"
    games.write_text(f"key,white,black,result,half_moves,ended_at\n1,{NAME},Bob,1-0,40,2021-03-01\n")
    assert run("init", path).code == 0
    assert run("import", path, games).code == 0
    games.unlink()
    return path


def bytes_of(league: Path) -> bytes:
    """All that stands on the disk."""
    return b"".join(path.read_bytes() for path in league.parent.iterdir())


def test_the_name_is_in_no_byte_any_more_and_the_rest_stays(league: Path, run: Run) -> None:
    assert NAME.encode() in bytes_of(league)
    before = json.loads(run("ratings", league).out)
    done = run("erase", league, NAME, "--yes")
    assert (done.code, done.out) == (0, "")
    assert "who player 1 was is forgotten" in done.err
    assert NAME.encode() not in bytes_of(league)
    assert NAME.casefold().encode() not in bytes_of(league)  # her identity
    after = json.loads(run("ratings", league).out)
    assert [row["rating"] for row in after] == [row["rating"] for row in before]
    assert after[0]["name"] == "(erased) 1"
    assert "1 erased" in run("audit", league).out


def test_every_command_about_a_player_takes_the_number_afterwards(league: Path, run: Run) -> None:
    run("erase", league, "1", "--yes")
    for command in (["show", "1"], ["games", "1"], ["graph", "1"], ["predict", "1", "Bob"], ["explain", "1", "csv:1"]):
        done = run(command[0], league, *command[1:])
        assert done.code == 0
        assert "None" not in done.out
    assert "(erased) 1" in run("predict", league, "1", "Bob").out


def test_who_comes_back_gets_a_new_number(league: Path, run: Run) -> None:
    run("erase", league, NAME, "--yes")
    (again := league.parent / "again.csv").write_text(
        f"key,white,black,result,half_moves,ended_at\n2,{NAME},Bob,1-0,40,2021-03-02\n"
    )
    assert run("import", league, again).code == 0
    with Ledger.open(league) as ledger:
        assert ledger.player(NAME).player == 3


def test_erasing_twice_says_so(league: Path, run: Run) -> None:
    run("erase", league, "1", "--yes")
    done = run("erase", league, "1")
    assert done.code == 0
    assert "was forgotten before" in done.err


def test_nothing_is_erased_unasked(league: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    done = run("erase", league, NAME)
    assert (done.code, "give --yes" in done.err) == (USAGE, True)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _: "n")
    assert run("erase", league, NAME).code == 1
    assert NAME.encode() in bytes_of(league)


def test_a_reader_who_keeps_the_old_bytes_is_told_of(league: Path) -> None:
    reader = sqlite.connect(beside(league, "people"))
    with Ledger.open(league) as ledger:
        ledger.register("id:new", "New")  # something stands in the write-ahead log
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM people").fetchall()
        reader.execute("PRAGMA busy_timeout=0")
        connection_of(ledger.people).execute("PRAGMA busy_timeout=0")
        with pytest.raises(StorageError, match="another process is reading it"):
            ledger.erase(1)
        reader.close()
        assert not ledger.erase(1)
    assert NAME.encode() not in bytes_of(league)


def test_an_erase_whose_cleaning_fails_says_that_bytes_may_be_left(
    league: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full, say: the row is empty already, so that it must be said what is not done yet."""
    connect = sqlite_people._connect

    def on_a_full_disk(path: Path, *, read_only: bool = False) -> Any:
        class Full:
            def __getattr__(self, name: str) -> Any:
                return getattr(real, name)

            def execute(self, statement: str, *arguments: Any) -> Any:
                if statement == "VACUUM":
                    raise sqlite.sqlite3.OperationalError("database or disk is full")
                return real.execute(statement, *arguments)

        real = connect(path, read_only=read_only)
        return Full()

    with monkeypatch.context() as patch:
        patch.setattr(sqlite_people, "_connect", on_a_full_disk)
        done = run("erase", league, NAME, "--yes")
        assert done.code == 1
        assert "its old bytes may still be there: erase again (" in done.err
        assert "the disk is full" in done.err
    assert "was forgotten before" in run("erase", league, "1", "--yes").err
    assert NAME.encode() not in bytes_of(league)
