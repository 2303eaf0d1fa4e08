"""Erased means erased: identity, name and salt are in no byte of any file; games and ratings stay under the number.

The names carry marks that are looked for in the raw bytes of every file: databases, logs, indexes of logs, locks.
"""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest

from ledger.errors import StorageError
from ledger.facts.source_games import SourceGame
from ledger.imports.reading import batch_games
from ledger.ledger import Ledger
from ledger.players import sqlite_people
from ledger.players.persons import Person
from ledger.runtime import sqlite
from ledger.runtime.ledger_files import sidecar
from tests.kit.commands import Run
from tests.kit.games import source_game
from tests.kit.people import BLANK, connection_of, everybody, marked
from tests.kit.places import ROOT
from tests.kit.processes import HANGS
from tests.tiers import times
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
    reader = sqlite.connect(sidecar(league, "people"))
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
                    real.refuse(sqlite.sqlite3.OperationalError("database or disk is full"))
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


MARK = re.compile(rb"(?i)qz[0-9a-f]{10}")


def games_of(names: Sequence[str], seed: int) -> Iterator[SourceGame]:
    """Everybody plays once, in an order that is not that of the names."""
    order = list(names)
    Random(seed).shuffle(order)
    for i, (white, black) in enumerate(zip(order[::2], [*order[1::2], order[0]], strict=False)):
        yield source_game(f"made:{seed}-{i}", white, black, line=i + 1, text=f"e4 e5 {i}")


def imported(path: Path, names: Sequence[str], frame: int = 2_000) -> None:
    with Ledger.open(path) if path.exists() else Ledger.create(path) as ledger:
        for start in range(0, len(names), 5_000):
            outcome = ledger.import_games(batch_games(games_of(names[start : start + 5_000], seed=start), frame))
            assert not [fault for fault in outcome.faults if "same-player" not in fault.message]
        ledger.catch_up()


class Found(NamedTuple):
    """What the files of a ledger still tell."""

    marks: set[bytes]
    salts: int


def files_of(folder: Path) -> Iterator[bytes]:
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            yield file.read_bytes()


def marks_of(persons: Iterable[Person]) -> set[bytes]:
    return {mark.lower() for person in persons for mark in MARK.findall((person.name or "").encode())}


def marks_in(folder: Path) -> set[bytes]:
    return {mark.lower() for data in files_of(folder) for mark in MARK.findall(data)}


def still_told(folder: Path, erased: Iterable[Person]) -> Found:
    """The erased people's marks and salts (raw, either half; in hexadecimal, whole) in any file."""
    erased = list(erased)
    salts = [bytes(person.salt or b"") for person in erased]
    halves = np.frombuffer(b"".join(salts), np.uint64)
    seldom = np.zeros(2**22, bool)
    seldom[halves >> np.uint64(42)] = True
    raw = 0
    for data in files_of(folder):
        for shift in range(8):
            words = np.frombuffer(data[shift : shift + (len(data) - shift) // 8 * 8], np.uint64)
            raw += int(np.isin(words[seldom[words >> np.uint64(42)]], halves).sum())
        written = data.lower()
        raw += sum(salt.hex().encode() in written for salt in salts[:: max(1, len(salts) // 20)])
    assert len(marks_of(erased)) == len(salts)
    return Found(marks_in(folder) & marks_of(erased), raw)


def erase_all(path: Path, players: Sequence[int]) -> None:
    """Erase them, the last three one by one; the others as if stopped before the file was cleaned."""
    with Ledger.open(path) as ledger:
        file = ledger.people
        with sqlite.write_transaction(connection_of(file)):
            connection_of(file).executemany(BLANK, [(player,) for player in players[:-3]])
            for index in (file.search, file.whole_names):  # as ``PendingErasures`` does in the same transaction
                index.update_names(players[:-3])
        for player in players[-3:]:
            assert ledger.erase(player)


NOTHING = Found(set(), 0)
SIZES = {"one": 1, "one page": 40, "some pages": 700, "many pages": 7_000}


def test_the_search_finds_what_is_there(tmp_path: Path) -> None:
    imported(tmp_path / "club.db", marked(40))
    everyone = everybody(tmp_path / "club.people.db")
    found = still_told(tmp_path, everyone)
    assert (len(found.marks), found.salts) == (40, 80)
    (tmp_path / "note").write_text(everyone[0].salt.hex() if everyone[0].salt else "")
    assert still_told(tmp_path, everyone[:1]).salts == 3


@pytest.mark.slow
@pytest.mark.parametrize("written", ["as today", "by a program that left copies behind"])
@pytest.mark.parametrize(
    ("count", "tail"),
    [
        *(
            pytest.param(size, "", id=name, marks=pytest.mark.slow if size > 1_000 else ())
            for name, size in SIZES.items()
        ),
        pytest.param(700, " \u2654" + "\U0001f600" * 200, id="long names"),
    ],
)
def test_some_then_many_then_all_are_forgotten_in_every_byte(
    count: int, tail: str, written: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, names = tmp_path / "club.db", marked(count, tail)
    with monkeypatch.context() as patch:
        if written != "as today":  # an earlier release did not set secure_delete when it imported
            patch.setattr(sqlite_people, "_connect", sqlite.connect)
        imported(path, names, frame=97 if count < 7_000 else 2_000)
    everyone = everybody(sidecar(path, "people"))
    assert {person.name for person in everyone} == set(names)
    before = {person.player for person in everyone}
    order = Random(count).sample(everyone, len(everyone))
    first = 0
    for upto in (min(3, count), count // 2, count):  # some, many, all
        if first < upto:
            erase_all(path, [person.player for person in order[first:upto]])
            assert still_told(tmp_path, order[:upto]) == NOTHING
            assert marks_in(tmp_path) == marks_of(order[upto:])
        first = max(first, upto)
    left = everybody(sidecar(path, "people"))
    assert {person.player for person in left} == before
    assert all(person[1:4] == (None, None, None) for person in left)


ERASE_AND_DIE = """
import os, signal, sys
from pathlib import Path
from tests.kit.crash_driver import die_at
left = die_at(int(sys.argv[3]))
from ledger import Ledger
with Ledger.open(Path(sys.argv[1])) as ledger:
    ledger.people_row(1)
    steps = int(sys.argv[4])
    if steps:
        ledger.names.file._connection.set_progress_handler(lambda: os.kill(os.getpid(), signal.SIGKILL), steps)
    ledger.erase(int(sys.argv[2]))
print(int(sys.argv[3]) - left[0])
"""


def erased_by_another_process(path: Path, player: int, statement: int = 2**40, steps: int = 0) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-c", ERASE_AND_DIE, str(path), str(player), str(statement), str(steps)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )
    assert done.returncode in {0, -signal.SIGKILL}, done.stderr
    return done.returncode, done.stdout.strip()


@pytest.mark.slow
def test_killed_at_any_step_the_next_erase_leaves_nothing(tmp_path: Path) -> None:
    """Killed when a statement begins, or in the middle of writing the file anew; then the same or another is erased."""
    path = tmp_path / "club.db"
    imported(path, marked(300))
    everyone = everybody(sidecar(path, "people"))
    code, statements = erased_by_another_process(path, 1)
    assert code == 0
    assert int(statements) > 8
    gone = [1]
    moments = [(statement, 0) for statement in range(5, int(statements) + 1, times(quick=12, ci=4, nightly=1))]
    moments += [(2**40, steps) for steps in (2_000, 100, 1_000, 5_000, 9_000)[: times(quick=1, ci=1, nightly=5)]]
    killed = 0
    for number, moment in enumerate(moments):
        victim = gone[-1] + 1
        code, _ = erased_by_another_process(path, victim, *moment)
        killed += code != 0
        with Ledger.open(path) as ledger:
            assert len(everybody(sidecar(path, "people"))) == 300  # whole at any moment
            begun = ledger.people_row(victim) != everyone[victim - 1]
            next_one = victim + 1 if begun and number % 2 else victim  # somebody else, or the same command again
            ledger.erase(next_one)
        gone += range(victim, next_one + 1)
        assert still_told(tmp_path, [everyone[player - 1] for player in gone]) == NOTHING, moment
    assert killed >= len(moments) - 1


def test_the_same_erase_again_cleans_what_a_stopped_one_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is known of the person any more, but another process keeps the log, with the old bytes in it."""
    path = tmp_path / "club.db"
    imported(path, marked(40))
    everyone = everybody(sidecar(path, "people"))
    with Ledger.open(path) as other:
        other.register("name:new", "New")
        with Ledger.open(path) as ledger:
            with monkeypatch.context() as patch:
                patch.setattr(sqlite_people.SqlitePeople, "purge_or_refuse", lambda _: None)
                assert ledger.erase(1)
            assert still_told(tmp_path, everyone[:1]) != NOTHING
            assert not ledger.erase(1)
        assert still_told(tmp_path, everyone[:1]) == NOTHING
