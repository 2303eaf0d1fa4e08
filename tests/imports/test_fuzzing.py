"""Spoiled files against every importer: the short form of ``python -m tests.imports IMPORTER``."""

import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings

from ledger.facts.source_games import SourceGame
from ledger.imports import lichess
from ledger.imports.reading import Reading
from tests.imports import __main__ as command
from tests.imports import demands
from tests.imports.spoiled_files import built_in, spoiled_files, words
from tests.kit import yardsticks
from tests.kit.places import ROOT
from tests.tiers import few_quick, times

FILES = times(quick=60, ci=600, nightly=20_000)
# One reading of a CSV file, or an import, takes as long as many of the others.
AS_LONG_AS = {"pgn": 2, "csv": 10, "csv-rows": 3, "import": 12}


@pytest.mark.parametrize("name", demands.DEMANDS)
def test_no_spoiled_file_breaks_an_importer(name: str) -> None:
    @settings(max_examples=FILES // AS_LONG_AS.get(name, 1))
    @given(spoiled_files(name))
    def holds(data: bytes) -> None:
        demands.demand(name, data)

    holds()


@pytest.mark.parametrize("name", few_quick(demands.DEMANDS, "pgn"))
def test_no_word_repeated_ten_thousand_times_takes_long(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demands, "MAX_YARDSTICKS", 200.0)  # what grows with the square would take minutes
    random, files = Random(20), built_in(name)
    for word in words(name):
        file, flood = random.choice(files), word * (40_000 // max(1, len(word)))
        place = random.randrange(len(file))
        demands.demand(name, file[:place] + flood + file[place:])


@pytest.mark.parametrize("name", demands.DEMANDS)
def test_what_the_attacks_begin_with_is_read(name: str) -> None:
    assert built_in(name)
    for data in built_in(name):
        demands.demand(name, data)


LINE = built_in("lichess-ndjson")[0]
(GAME,) = lichess.read_games([LINE], Reading("test"))
Read = Callable[[Iterator[bytes], Reading], Iterable[SourceGame]]


def changed(**fields: Any) -> Read:
    return lambda lines, _: [GAME._replace(**fields) for _ in lines]


def faulty(line: int, words: str) -> Read:
    def read(lines: Iterator[bytes], reading: Reading) -> Iterable[SourceGame]:
        for _ in lines:
            reading.fault(line, words)
        return []

    return read


BROKEN: dict[str, tuple[Read, str]] = {
    "raises": (lambda lines, _: [GAME._replace(line=int(line)) for line in lines], "ValueError"),
    "variant": (changed(variant="we ird"), "AssertionError"),
    "no such day": (changed(ended_at="2013-02-30"), "MalformedError"),
    "unfinished": (changed(outcome="none"), "AssertionError"),
    "controls": (changed(white_name="Ann\x1b[2J"), "AssertionError"),
    "surrogates": (changed(text="\ud800"), "UnicodeEncodeError"),
    "line 0": (faulty(0, "bad"), "AssertionError"),
    "two lines": (faulty(1, "bad\nworse"), "AssertionError"),
    "dies": (lambda _lines, _: sys.exit(3), "SystemExit"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_an_importer_that_breaks_a_demand_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read, error = BROKEN[name]
    monkeypatch.setitem(demands.DEMANDS, "broken", demands.line_importer(read))
    with pytest.raises(demands.BrokenDemandError, match=error):
        demands.demand("broken", LINE)


def test_what_is_slow_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demands, "MAX_YARDSTICKS", 0.5)
    monkeypatch.setitem(demands.DEMANDS, "slow", lambda _: [None for _ in range(5_000_000)].clear())
    with pytest.raises(demands.BrokenDemandError, match="slow"):
        demands.demand("slow", b"x")


def test_drawn_files_find_an_importer_that_breaks_on_few_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the command shows a small one."""
    assert [*command.IMPORTERS] == [*demands.DEMANDS]
    words = ["csv-values", "--runs", "300", "--blind"]
    done = CliRunner().invoke(command.main, words)
    assert (done.exit_code, done.output) == (0, "csv-values: 300 files broke no demand\n")
    monkeypatch.setitem(demands.DEMANDS, "csv-values", lambda data: None if b"white" in data else int(data))
    done = CliRunner().invoke(command.main, words)
    assert done.exit_code == 1
    assert done.output == "error: ValueError: invalid literal for int() with base 10: b'' for [b'']\n"


@pytest.mark.outside
@pytest.mark.skipif(find_spec("atheris") is None, reason="atheris is not installed (dependency group attack)")
def test_the_command_is_led_by_what_is_reached(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "tests.imports", "trf", "--runs", "300", "--keep", str(tmp_path)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert " cov: " in done.stderr


def test_work_is_told_beside_a_loop_of_the_same_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has become slower since is no fault of what is measured."""
    monkeypatch.setattr(yardsticks, "_usual", lambda: 0.05)
    monkeypatch.setattr(yardsticks, "_loop", lambda: 0.5)
    assert yardsticks.yardsticks(0.5) == 10
    assert yardsticks.yardsticks(5.0) == 10, "the loop takes ten times as long now"
    monkeypatch.setattr(yardsticks, "_loop", lambda: 0.01)
    assert yardsticks.yardsticks(5.0) == 100, "it was slower before"
    with pytest.raises(AssertionError, match="at most 0"), yardsticks.within(0):
        sum(range(100_000))
