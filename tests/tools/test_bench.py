"""The benchmark's own logic: bounds, quotients, peak memory of processes, and a small run from end to end."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ledger.ledger import Ledger
from tests.kit.places import TESTS
from tools.bench import datasets, processes, rival_stores
from tools.bench.__main__ import MEASURED
from tools.bench.bounds import BOUNDS, BY_NAME, LARGE, SECTIONS, Bound
from tools.bench.measuring import Rates, SecondsTaken, both_lines, cost_of, in_turns
from tools.bench.table import Line, Reached, as_json, line, render, render_bounds

MIB = 1024 * 1024
ROOT = TESTS.parent
linux = pytest.mark.skipif(not processes.PROC.exists(), reason="peaks are read from /proc")


def _bench(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tools.bench", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def _bound(sign: str, at_least: float | None, aim: float | None) -> Bound:
    return Bound(
        name="x",
        section="s",
        what="ours",
        rival="theirs",
        unit="s",
        small_is_good=sign == "<=",
        at_least=at_least,
        aim=aim,
    )


class TestBounds:
    @pytest.mark.parametrize(
        ("name", "unit", "rival", "at_least", "aim"),
        [
            ("csv-to-history", "s", "dict loop with executemany, no journal", "<= 2", "<= 1.2"),
            ("import-alone", "s CPU", "dict loop with executemany, no journal", "<= 1", "<= 0.6"),
            ("import-growth", "times", "the same of the dict loop", "<= 1", ""),
            ("audit", "entries/s CPU", "SHA-256 of the same bytes", ">= 0.15", ">= 0.3"),
            ("append-one", "games/s", "bare durable one-row commits", ">= 0.15", ">= 0.3"),
            ("append-many", "events/s", "eventsourcing, Application.save", ">= 1.5", ">= 3"),
            ("stored", "events/s", "eventsourcing, repository.get", ">= 8", ">= 15"),
            ("late", "s", "the same in the journal that took least", "<= 1.5", ""),
            ("correction", "s", "the same in the journal that took least", "<= 1.5", ""),
            ("preview", "s", "the correction itself", "<= 1.2", ""),
            ("void-many", "s", "bare delete and executemany of the same rows", "<= 2", ""),
            ("show", "s", "sqlite-utils rows", "<= 0.7", "<= 0.4"),
            ("graph-json", "s", "the bare statement and the JSON encoder", "<= 3", ""),
            ("graph-svg", "s", "the page as JSON", "<= 4", ""),
            ("first-build", "s", "executemany of the same rows", "<= 1.2", "<= 0.8"),
            ("first-build-peak", "GiB", "1.5 GiB", "<= 1", ""),
        ],
    )
    def test_the_bounds_are_those_that_were_set(
        self, name: str, unit: str, rival: str, at_least: str, aim: str
    ) -> None:
        bound = BY_NAME[name]
        assert (bound.unit, bound.rival) == (unit, rival)
        assert (bound.written(bound.at_least), bound.written(bound.aim)) == (at_least, aim)

    def test_names_are_used_once_and_every_section_is_measured(self) -> None:
        assert len(BY_NAME) == len(BOUNDS)
        assert set(SECTIONS) == set(MEASURED)

    def test_times_and_memory_should_be_small_and_rates_large(self) -> None:
        for bound in BOUNDS:
            assert bound.small_is_good is ("/s" not in bound.unit), bound

    @pytest.mark.parametrize(("sign", "aim"), [("<=", 2.5), (">=", 1.5)])
    def test_an_aim_that_is_easier_than_the_bound_is_refused(self, sign: str, aim: float) -> None:
        with pytest.raises(ValueError, match="easier than the bound"):
            _bound(sign, 2.0, aim)

    def test_bounds_above_zero_only(self) -> None:
        with pytest.raises(ValueError, match="at_least must be above zero"):
            _bound("<=", 0.0, None)

    def test_it_says_in_words_what_is_divided_by_what(self) -> None:
        assert BY_NAME["show"].divided == "(s) show, from the shell / sqlite-utils rows"


class TestLines:
    @pytest.mark.parametrize(
        ("sign", "figure", "reached"),
        [
            ("<=", 10.0, Reached.AIM),
            ("<=", 12.0, Reached.AT_LEAST),
            ("<=", 20.0, Reached.AT_LEAST),
            ("<=", 20.1, Reached.MISSED),
            (">=", 30.0, Reached.AIM),
            (">=", 20.0, Reached.AT_LEAST),
            (">=", 19.9, Reached.MISSED),
        ],
    )
    def test_the_quotient_is_ours_divided_by_theirs_and_is_judged(
        self, sign: str, figure: float, reached: Reached
    ) -> None:
        bound = _bound(sign, 2.0, 1.0 if sign == "<=" else 3.0)
        made = Line(bound, "", (figure,), (10.0,))
        assert made.ratio == figure / 10.0
        assert made.reached is reached

    def test_without_a_bound_nothing_is_judged_and_with_an_aim_alone_only_that(self) -> None:
        assert Line(_bound("<=", None, None), "", (1.0,), (1.0,)).reached is Reached.NOTHING_WANTED
        assert Line(_bound("<=", None, 1.1), "", (1.0,), (1.0,)).reached is Reached.AIM
        assert Line(_bound("<=", None, 1.1), "", (1.2,), (1.0,)).reached is Reached.MISSED

    def test_medians_are_divided_and_rounds_show_the_noise(self) -> None:
        made = Line(_bound("<=", 2.0, None), "", (10.0, 30.0, 14.0), (10.0, 10.0, 5.0))
        assert made.ratio == 1.4
        assert made.rounds == [1.0, 3.0, 2.8]
        assert min(made.rounds) <= made.ratio <= max(made.rounds)
        assert made.reached is Reached.AT_LEAST
        assert not made.rounds_agree

    def test_a_single_figure_of_the_rival_stands_beside_every_round(self) -> None:
        made = Line(_bound("<=", 1.0, None), "", (0.6, 0.9), (1.5,))
        assert made.rounds == pytest.approx([0.4, 0.6])
        assert made.rounds_agree

    @pytest.mark.parametrize(
        ("ours", "theirs"), [((), ()), ((0.0,), (1.0,)), ((1.0,), (-1.0,)), ((1.0, 1.0, 1.0), (1.0, 2.0))]
    )
    def test_figures_that_cannot_be_divided_round_by_round_are_refused(
        self, ours: tuple[float, ...], theirs: tuple[float, ...]
    ) -> None:
        with pytest.raises(ValueError, match=r"above zero|rounds of ours"):
            Line(_bound("<=", 1.0, None), "", ours, theirs)

    def test_bounds_of_large_sets_are_not_judged_on_small_ones(self) -> None:
        assert line("first-build-peak", "", 2.0, 1.5, games=LARGE).reached is Reached.MISSED
        assert line("first-build-peak", "", 2.0, 1.5, games=LARGE - 1).reached is Reached.NOTHING_WANTED

    def test_seconds_of_the_other_kind_inform_beside_those_that_are_judged(self) -> None:
        ours, theirs = [SecondsTaken(3.0, 8.0)], [SecondsTaken(2.0, 2.0)]
        clock, cpu = both_lines("csv-to-history", "1 M", ours, theirs, games=1_000_000)
        assert (clock.bound.unit, clock.ratio, clock.reached) == ("s", 1.5, Reached.AT_LEAST)
        assert (cpu.bound.unit, cpu.ratio, cpu.reached) == ("s CPU", 4.0, Reached.NOTHING_WANTED)
        cpu, clock = both_lines("import-alone", "1 M", ours, theirs, games=1_000_000)
        assert (cpu.bound.unit, cpu.ratio, cpu.reached) == ("s CPU", 4.0, Reached.MISSED)
        assert (clock.bound.unit, clock.ratio, clock.reached) == ("s", 1.5, Reached.NOTHING_WANTED)

    def test_the_table_is_aligned_and_says_what_was_reached(self) -> None:
        lines = [line("show", "", [0.3, 0.2, 0.4], [0.5, 0.5, 0.5]), line("append-put", "", 14e6, 7e6)]
        show, put = render(lines).splitlines()[2:]
        assert show.split("  ")[0] == "show, from the shell"
        assert show.endswith("0.6   0.4..0.8    <= 0.7  <= 0.4  at least (rounds differ)")
        assert put.endswith("7,000,000          2.00")

    def test_json_has_the_quotient_its_words_and_every_round(self) -> None:
        (row,) = as_json([line("show", "", [0.3, 0.2], [0.5, 0.5])])
        assert json.loads(json.dumps(row)) == row
        assert row["divided"] == "(s) show, from the shell / sqlite-utils rows"
        assert (row["ours"], row["rival"], row["ratio"]) == (0.25, 0.5, 0.5)
        assert (row["lowest"], row["highest"], row["reached"], row["rounds_agree"]) == (0.4, 0.6, "at least", False)
        assert (row["our_rounds"], row["rival_rounds"]) == ([0.3, 0.2], [0.5, 0.5])

    def test_the_table_of_bounds_has_a_line_for_each(self) -> None:
        assert len(render_bounds(BOUNDS).splitlines()) == len(BOUNDS) + 2


class TestMeasuring:
    def test_works_are_done_in_turns(self) -> None:
        done: list[str] = []
        works = {name: (lambda name=name: done.append(name)) for name in ("a", "b")}
        assert in_turns(works, 2) == {"a": [None, None], "b": [None, None]}
        assert done == ["a", "b", "a", "b"]

    def test_the_processor_time_of_children_counts(self) -> None:
        busy = "import time\nwhile time.process_time() < 0.3: pass"
        cost = cost_of(lambda: subprocess.run([sys.executable, "-c", busy], check=True))
        assert cost.cpu >= 0.25
        assert SecondsTaken(2.0, 4.0).rates(8) == Rates(4.0, 2.0)
        assert cost.plus(SecondsTaken(1.0, 2.0)) == SecondsTaken(cost.clock + 1.0, cost.cpu + 2.0)


# A child that takes so many megabytes and gives them back, then waits until it was seen.
TAKING = "import time\ntaken = bytearray({0} * 1024 * 1024)\ndel taken\ntime.sleep(0.3)\n"


@linux
class TestPeaks:
    def test_a_child_of_a_larger_parent_has_its_own_peak(self) -> None:
        """``ru_maxrss`` of this child would tell 300 MB and more, as the parent's."""
        held = bytearray(b"x") * (300 * MIB)
        command = [sys.executable, "-c", TAKING.format(100)]
        ended = processes.watched(command)
        assert len(held) == 300 * MIB
        assert (processes.peak_of() or 0) > 300 * MIB
        assert list(ended.peaks) == [ended.pid]
        assert 100 * MIB < ended.peaks[ended.pid] < 160 * MIB

    def test_children_of_the_child_are_added_though_they_end_before_it(self) -> None:
        grandchild = TAKING.format(80)
        code = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {grandchild!r}])\n" + TAKING.format(60)
        ended = processes.watched([sys.executable, "-c", code])
        assert len(ended.peaks) == 2
        own = ended.peaks.pop(ended.pid)
        (other,) = ended.peaks.values()
        assert 60 * MIB < own < 120 * MIB
        assert 80 * MIB < other < 140 * MIB

    @pytest.mark.parametrize("listed", [True, False])
    def test_children_are_found_with_and_without_lists_of_the_kernel(
        self, monkeypatch: pytest.MonkeyPatch, *, listed: bool
    ) -> None:
        if listed and not processes.LISTS_CHILDREN:
            pytest.skip("this kernel lists no children")
        monkeypatch.setattr(processes, "LISTS_CHILDREN", listed)
        inner = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'input()'])"
        with subprocess.Popen([sys.executable, "-c", inner], stdin=subprocess.PIPE) as child:
            found: list[int] = []
            while not found and child.poll() is None:
                found = processes.descendants(child.pid)
            assert len(found) == 1
            assert child.stdin is not None
            child.stdin.write(b"\n")
            child.stdin.close()
        assert processes.descendants(child.pid) == []

    def test_a_process_that_has_ended_has_no_peak(self) -> None:
        with subprocess.Popen([sys.executable, "-c", ""]) as child:
            child.wait()
        assert processes.peak_of(child.pid) is None

    def test_without_proc_the_largest_that_the_system_tells_stands(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setattr(processes, "PROC", tmp_path / "none")
        assert processes.peak_of() is None
        assert processes.own_peak() > 10 * MIB
        assert processes.descendants(1) == []

    def test_what_a_process_printed_is_given_and_a_failure_is_not_hidden(self) -> None:
        assert processes.watched([sys.executable, "-c", "print('x')"]).printed == b"x\n"
        with pytest.raises(subprocess.CalledProcessError):
            processes.watched([sys.executable, "-c", "raise SystemExit(3)"])


class TestSets:
    def test_sets_of_different_lengths_end_with_the_same_games(self, tmp_path: Path) -> None:
        small, large = datasets.with_the_same_end((200, 1_000), tmp_path)
        length = datasets.tail_length([small, large])
        assert (small.games, large.games, length) == (200, 1_000, 100)
        short, long = small.columns(), large.columns()
        assert (len(short["white"]), len(long["white"])) == (200, 1_000)
        for name, column in short.items():
            assert np.array_equal(column[-length:], long[name][-length:]), name
        assert short["ended_at"][-length] == datasets.tail_ms(0)
        assert (np.diff(long["ended_at"]) >= 0).all()
        assert set(short["white"][-length:]) <= set(short["white"][:-length]) | set(short["black"][:-length])

    def test_a_ledger_is_made_once_by_a_process_that_tells_what_it_took(self, tmp_path: Path) -> None:
        (data,) = datasets.made_up((60,), tmp_path)
        figures = data.imported_again()
        assert figures["games"] == 60
        assert 0 < figures["clock"] < figures["history_clock"]
        assert figures["peak"] > 10 * MIB or not processes.PROC.exists()
        made = data.ledger_path.stat().st_mtime_ns
        assert data.ledger().stat().st_mtime_ns == made
        with Ledger.open(data.ledger(), read_only=True) as ledger:
            assert ledger.journal.size() > 60


def _measured(folder: Path, sections: tuple[str, ...], *games: int) -> list[dict[str, Any]]:
    """The JSON lines of a run of one round, which must have a line for every bound of the sections."""
    words = [*(w for s in sections for w in ("--only", s)), *(w for n in games for w in ("--games", str(n)))]
    done = _bench(*words, "--size", "small", "--rounds", "1", "--json", "--folder", str(folder))
    assert done.returncode == 0, done.stderr
    assert list(folder.iterdir()) == []
    return [json.loads(row) for row in done.stdout.splitlines()]


class TestPlayerIndexes:
    def test_a_build_without_them_lacks_nothing_else(self, tmp_path: Path) -> None:
        (data,) = datasets.made_up((60,), tmp_path)
        views = data.ledger().with_name("games.views.db")
        assert processes.in_a_process("build", data.ledger())["clock"] > 0
        whole = _indexes(views)
        assert processes.in_a_process("build-without-player-indexes", data.ledger())["clock"] > 0
        assert whole - _indexes(views) == {"games_of_white", "games_of_black"}
        assert processes.in_a_process("build-history", data.ledger())["clock"] > 0
        assert whole - _indexes(views) == {"upsets_by_surplus"}  # of a read model


def _indexes(views: Path) -> set[str]:
    with closing(rival_stores.driver().connect(str(views))) as connection:
        rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'index' AND sql NOT NULL").fetchall()
    return {name for (name,) in rows}


class TestRuns:
    def test_the_table_is_headed_by_what_its_quotients_are(self) -> None:
        done = _bench("--only", "start", "--size", "tiny", "--rounds", "1")
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("ours / rival: our figure divided by the rival's")
        assert "show, from the shell" in done.stdout

    def test_the_bounds_alone_are_printed_without_measuring(self) -> None:
        done = _bench("--bounds", "--only", "audit")
        assert done.returncode == 0
        assert [row.split("  ")[0] for row in done.stdout.splitlines()] == ["section", "-------", "audit"]
