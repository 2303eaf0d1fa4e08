"""Every section of the benchmark runs on a few games, a failure loses no figure, the texts tell what a run said."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest

from tests.kit.places import SAMPLE
from tools import running
from tools.bench import __main__ as bench
from tools.bench import cluster_lines, datasets, figures, measuring, other_lines, processes, rivals, scheme_lines
from tools.bench.bounds import BOUNDS, BY_NAME, SECTIONS
from tools.bench.table import Line, line

PLAYERS = 13
NEEDS_PEAKS = {bound.name for bound in BOUNDS if bound.unit == "GiB"}


def _real_games(folder: Path) -> Path:
    """A folder with games in the form of the real ones: tournaments in which each plays each, and a PGN."""
    rows = ["game_no,date,event,round,white_fide_id,black_fide_id,result,white_elo,black_elo,plies,time_class_hint"]
    results = ("1-0", "1/2-1/2", "0-1")
    for event in range(20):
        pairs = [(w, b) for w in range(PLAYERS) for b in range(w)]
        rows += [
            f"{len(rows) + place},{2000 + event}-03-{1 + place % 28:02},Open {event},1,{100 + w},{100 + b},"
            f"{results[(w * b + event) % 3]},{1500 + 10 * w},{1500 + 10 * b if b % 2 else ''},{20 + place},"
            for place, (w, b) in enumerate(sorted(pairs, key=sum))
        ]
    dated = sorted(rows[1:], key=lambda row: row.split(",")[1])
    (folder / datasets.OTB).write_bytes(gzip.compress("\n".join([rows[0], *dated, ""]).encode()))
    (folder / other_lines.PGN).write_bytes(SAMPLE.read_bytes())
    return folder


def _run(*words: str) -> int:
    return running.run(bench.main, list(words), "python -m tools.bench")


def _once() -> Callable[..., dict[str, list[Any]]]:
    """``in_turns`` in one round: a warm-up and further rounds would run the same lines of code again."""
    in_turns, rounds = measuring.in_turns, dict[int, tuple[Any, dict[str, list[Any]]]]()

    def once(works: Mapping[str, Callable[[], Any]], _: int) -> dict[str, list[Any]]:
        if id(works) not in rounds:
            rounds[id(works)] = (works, in_turns(works, 1))  # *works* is kept: another one may not get its number
        return rounds[id(works)][1]

    return once


@pytest.fixture(name="whole", scope="module")
def _whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The sections of a whole run at the smallest size, as the file of figures has them."""
    data, folder, kept = (tmp_path_factory.mktemp(name) for name in ("data", "folder", "kept"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scheme_lines, "PYTHON_GAMES", 300)
        patch.setattr(scheme_lines, "AGREEING_GAMES", 300)
        once = _once()
        for name, module in list(sys.modules.items()):
            if name.startswith("tools.bench.") and hasattr(module, "in_turns"):
                patch.setattr(module, "in_turns", once)
        code = _run(
            "--size",
            "tiny",
            "--rounds",
            "1",
            "--data",
            str(_real_games(data)),
            "--folder",
            str(folder),
            "--write",
            str(kept / "figures.json"),
        )
    sections = figures.read(kept / "figures.json")
    assert {name: section["failed"] for name, section in sections.items() if section["failed"]} == {}
    assert code == 0
    assert list(folder.iterdir()) == []
    return sections


def test_every_section_runs_on_a_few_games(whole: dict[str, Any]) -> None:
    assert set(whole) == set(SECTIONS)


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_has_lines_for_all_its_bounds(whole: dict[str, Any], section: str) -> None:
    """Where a rival is not installed, its lines are left out; nothing tells peaks but Linux."""
    measured = {row["bound"] for row in whole[section]["lines"]}
    lacking = {bound.name for bound in BOUNDS if bound.section == section} - measured
    if not processes.PROC.exists():
        lacking -= NEEDS_PEAKS
    assert all(row["ratio"] > 0 for row in whole[section]["lines"])
    absent = {name for package, names in NEED.items() if not rivals.installed(package) for name in names}
    absent |= cluster_lines.SILENCES if cluster_lines.why_not() is None else cluster_lines.NAMES
    assert lacking <= absent


def test_only_the_smallest_size_leaves_failovers_out() -> None:
    """Each takes as long as Patroni waits, and what they tell does not depend on the number of games."""
    assert [name for name, size in bench.SIZES.items() if not size.failovers] == ["tiny"]


NEED = {
    "evalica": {"elo-evalica"}, "riix": {"elo-riix", "scheme-agreement", "scheme-python"}, "chess": {"pgn"},
    "eventsourcing": {
        "stored", "append-many", "append-made", "append-put", "project", "project-each", "project-normal",
        "correction-replay", "postgres-many",
    },
    "psycopg_pool": {"postgres-many"},
}  # fmt: skip


def test_the_table_has_a_row_for_every_bound_that_is_judged(whole: dict[str, Any]) -> None:
    rows = figures.table(whole).splitlines()
    for bound in BOUNDS:
        row = f"| {bound.what} ({bound.unit}) | {bound.rival} | "
        assert sum(made.startswith(row) for made in rows) == (bound.at_least is not None or bound.aim is not None)


class TestFailures:
    @pytest.fixture(autouse=True)
    def _sections(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def failing(_: bench.Run) -> Iterator[Line]:
            yield line("graph-json", "made up", 2.0, 1.0)
            raise RuntimeError("a rival gave up\nbecause of the weather")

        def whole(_: bench.Run) -> Iterator[Line]:
            yield line("show", "", 0.6, 1.0)

        monkeypatch.setattr(bench, "MEASURED", {"graph": failing, "start": whole})
        monkeypatch.setattr(bench, "PACKAGES", [])

    def test_a_section_that_fails_is_named_and_the_figures_of_all_are_told(
        self, capfd: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        assert _run("--only", "graph", "--only", "start", "--write", str(tmp_path / "figures.json")) == 1
        told = capfd.readouterr()
        assert "made up: a page of 100 games as JSON" in told.out
        assert "show, from the shell" in told.out
        assert "graph: RuntimeError: a rival gave up" in told.err
        sections = figures.read(tmp_path / "figures.json")
        assert [row["bound"] for row in sections["graph"]["lines"]] == ["graph-json"]
        assert sections["graph"]["failed"] == "RuntimeError: a rival gave up"
        assert sections["start"]["failed"] is None

    def test_lines_of_json_go_on_after_a_failure(self, capfd: pytest.CaptureFixture[str]) -> None:
        assert _run("--only", "graph", "--only", "start", "--json") == 1
        assert [json.loads(row)["bound"] for row in capfd.readouterr().out.splitlines()] == ["graph-json", "show"]

    def test_a_run_of_a_part_replaces_the_file_or_leaves_the_other_sections(self, tmp_path: Path) -> None:
        file = tmp_path / "figures.json"
        _run("--only", "graph", "--write", str(file))
        _run("--only", "start", "--write", str(file), "--beside")
        assert list(figures.read(file)) == ["graph", "start"]
        _run("--only", "start", "--write", str(file))
        assert list(figures.read(file)) == ["start"]


RUN = {"began": "2026-01-01 10:00 UTC", "size": "usual", "games": [10], "rounds": 3, "cores": 2, "python": "3"}


class TestTable:
    def _table(self, tmp_path: Path, *lines: Line, failure: str | None = None) -> dict[str, str]:
        """What the table says of each bound, by what is measured."""
        section = figures.Section()
        section.lines, section.seconds, section.failure = list(lines), 90.0, failure
        name = lines[0].bound.section if lines else "start"
        figures.keep(tmp_path / "figures.json", RUN, {name: section}, beside=False)
        cells = [row.split(" | ") for row in figures.table(figures.read(tmp_path / "figures.json")).splitlines()]
        return {row[0].removeprefix("| "): row[-1].removesuffix(" |") for row in cells if len(row) == 4}

    def test_a_line_that_no_run_printed_is_said_not_to_be_measured(self, tmp_path: Path) -> None:
        told = self._table(tmp_path, line("show", "", 0.6, 1.0))
        assert told["show, from the shell (s)"] == "0.6"
        assert {figure for what, figure in told.items() if what not in ("show, from the shell (s)", "what (unit)")} == {
            figures.NOT_MEASURED
        }
        assert set(self._table(tmp_path).values()) == {"quotient", figures.NOT_MEASURED}

    def test_a_bound_that_is_missed_is_said_to_be(self, tmp_path: Path) -> None:
        told = self._table(tmp_path, line("show", "", 0.8, 1.0))
        assert told["show, from the shell (s)"] == "0.8, missed"

    def test_of_many_lines_the_lowest_and_the_highest_are_told(self, tmp_path: Path) -> None:
        told = self._table(tmp_path, *(line("show", f"{n} M", n * 0.2, 1.0) for n in range(1, 7)))
        assert told["show, from the shell (s)"] == "0.2 to 1.20 (6 lines, 3 missed)"
        told = self._table(tmp_path, *(line("show", f"{n} M", n * 0.4, 1.0) for n in (1, 2)))
        assert told["show, from the shell (s)"] == "1 M: 0.4; 2 M: 0.8, missed"

    def test_a_bound_of_many_games_is_not_told_of_few(self, tmp_path: Path) -> None:
        told = self._table(tmp_path, line("audit", "0.1 M", 0.2, 1.0, games=100_000))
        assert told["audit of the journal alone (entries/s CPU)"] == "not measured on so many games"

    def test_a_section_that_failed_says_why_its_lines_are_missing(self, tmp_path: Path) -> None:
        told = self._table(tmp_path, line("graph-json", "", 2.0, 1.0), failure="OSError: no room")
        assert told["a page of 100 games as JSON (s)"] == "2.00"
        assert told["the same page as SVG (s)"] == "not measured; the section failed: OSError: no room"

    def test_what_schemes_expected_of_games_is_told_where_it_was_measured(self, tmp_path: Path) -> None:
        section = figures.Section()
        section.lines = [
            line(
                "scheme-accuracy",
                "otb",
                0.63125,
                0.693,
                unit="log-loss",
                rival=figures.EVEN,
                what="elo by game, error of what it expects",
            )
        ]
        figures.keep(tmp_path / "figures.json", RUN, {"schemes": section}, beside=False)
        text = figures.table(figures.read(tmp_path / "figures.json"))
        assert "`elo by game` 0.631." in text
        assert figures.table({}).endswith("both): not measured.")


def test_figures_that_are_kept_are_of_bounds_as_they_stand() -> None:
    """A bound that was changed after the run that is told would be told with an old judgement."""
    for name, section in figures.read().items():
        for row in section["lines"]:
            bound = BY_NAME[row["bound"]]
            assert bound.section == name
            assert (row["at_least"], row["aim"]) in {(bound.at_least, bound.aim), (None, None)}, row["divided"]
            assert attrs.evolve(bound, unit=row["unit"]).small_is_good is row["small_is_good"]
