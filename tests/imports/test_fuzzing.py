"""Spoiled files against every importer: the short form of ``python -m tools.attack.fuzzing``.

Each profile has as many files, which are always the same.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

from ledger.facts.source_games import SourceGame
from ledger.imports import lichess
from ledger.imports.reading import Reading
from tests.tiers import few_quick, times
from tools.attack import findings, fuzzing, importers, mutation

FILES = times(quick=200, ci=2_000, nightly=40_000)
# One reading of a CSV file, or an import, takes as long as many of the others.
AS_LONG_AS = {"pgn": 2, "csv": 60, "csv-rows": 3, "import": 12}
SEED = 20


@pytest.mark.parametrize("name", importers.ATTACKS)
def test_no_spoiled_file_breaks_an_importer(name: str) -> None:
    mutator, random = mutation.Mutator(name, mutation.built_in(name)), Random(SEED)
    for run in range(max(4, FILES // AS_LONG_AS.get(name, 1))):
        data = mutator.bundle(random, 20, 2_000) if name == "csv" and run % 4 else mutator.spoiled(random, limit=4_000)
        assert importers.wrong_with(name, data) is None, data


@pytest.mark.parametrize("name", few_quick(importers.ATTACKS, "pgn"))
def test_no_word_repeated_ten_thousand_times_takes_long(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importers, "MAX_YARDSTICKS", 200.0)  # what grows with the square would take minutes
    random, files = Random(SEED), mutation.built_in(name)
    for word in mutation.words(name):
        file, flood = random.choice(files), word * (40_000 // max(1, len(word)))
        place = random.randrange(len(file))
        data = file[:place] + flood + file[place:]
        assert importers.wrong_with(name, data) is None, (word, place)


@pytest.mark.parametrize("name", importers.ATTACKS)
def test_what_the_attacks_begin_with_is_read(name: str) -> None:
    files = mutation.built_in(name)
    assert files
    assert [importers.wrong_with(name, data) for data in files] == [None] * len(files)


LINE = mutation.built_in("lichess-ndjson")[0]
(GAME,) = lichess.games([LINE], Reading("test"))
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
    read, sort = BROKEN[name]
    monkeypatch.setitem(importers.ATTACKS, "broken", importers.line_importer(read))
    found = importers.wrong_with("broken", LINE)
    assert found is not None
    assert found[0].startswith(sort)


def test_what_is_slow_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importers, "MAX_YARDSTICKS", 0.5)
    monkeypatch.setitem(importers.ATTACKS, "slow", lambda _: [None for _ in range(5_000_000)].clear())
    found = importers.wrong_with("slow", b"x")
    assert found is not None
    assert found[0] == "slow"


def test_what_was_found_is_kept_a_few_of_each_sort(tmp_path: Path) -> None:
    kept = findings.Findings(tmp_path, "pgn")
    for n in range(9):
        kept.take(b"%d" % n, ("odd", "line one\n\ud800") if n != 4 else None)
    files = sorted(path for path in tmp_path.glob("pgn-odd-*") if path.suffix != ".txt")
    assert [path.read_bytes() for path in files] != []
    assert len(files) == findings.KEPT_OF_A_SORT
    assert kept.sorts == {"odd": 8}
    assert files[0].with_name(f"{files[0].name}.txt").read_text().startswith("line one")


def test_the_command_tells_runs_and_findings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["csv-values", "--runs", "60", "--blind", "--keep", str(tmp_path)]
    done = CliRunner().invoke(fuzzing.main, words)
    assert (done.exit_code, done.output.startswith("csv-values: 60 runs in ")) == (0, True)
    assert done.output.endswith("0 sorts of findings\n")
    monkeypatch.setitem(importers.ATTACKS, "csv-values", lambda data: int(data) and None)
    done = CliRunner().invoke(fuzzing.main, words)
    assert done.exit_code == 1
    assert "ValueError" in done.output
    assert list(tmp_path.glob("csv-values-ValueError-*"))


@pytest.mark.skipif(find_spec("atheris") is None, reason="atheris is not installed (dependency group attack)")
def test_the_command_is_led_by_what_is_reached(tmp_path: Path) -> None:
    done = CliRunner().invoke(fuzzing.main, ["trf", "--runs", "300", "--keep", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "branches and" in done.output
