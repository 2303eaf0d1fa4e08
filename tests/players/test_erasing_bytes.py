"""Erased means erased: identity, name and salt are in no byte of any file of the ledger, however they came there.

The names carry marks that are looked for in the raw bytes of every file: databases, logs, indexes of logs, locks.
"""

import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
import pytest

from ledger.facts.source_games import SourceGame
from ledger.imports.reading import frames
from ledger.ledger import Ledger
from ledger.players import sqlite_people
from ledger.players.people import Person
from ledger.runtime import sqlite
from ledger.runtime.ledger_files import beside
from tests.kit.games import source_game
from tests.kit.people import connection_of, everybody, marked
from tests.kit.places import ROOT
from tests.kit.processes import HANGS
from tests.tiers import times

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
            outcome = ledger.import_games(frames(games_of(names[start : start + 5_000], seed=start), frame))
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
        with sqlite.immediate(connection_of(file), file.path):
            connection_of(file).executemany(sqlite_people._ERASE, [(player,) for player in players[:-3]])
            for index in (file.search, file.folds):  # as ``PendingErasures`` does in the same transaction
                index.take_out(players[:-3])
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
    everyone = everybody(beside(path, "people"))
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
    left = everybody(beside(path, "people"))
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
    everyone = everybody(beside(path, "people"))
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
            assert len(everybody(beside(path, "people"))) == 300  # whole at any moment
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
    everyone = everybody(beside(path, "people"))
    with Ledger.open(path) as other:
        other.register("name:new", "New")
        with Ledger.open(path) as ledger:
            with monkeypatch.context() as patch:
                patch.setattr(sqlite_people.SqlitePeople, "clean_whole", lambda _: None)
                assert ledger.erase(1)
            assert still_told(tmp_path, everyone[:1]) != NOTHING
            assert not ledger.erase(1)
        assert still_told(tmp_path, everyone[:1]) == NOTHING
