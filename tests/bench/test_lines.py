"""The table of lines, quotients and their judgement, and the texts that are made of figures."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import attrs
import pytest

from tools.bench import table as figures
from tools.bench.__main__ import MEASURED
from tools.bench.measuring import Figure, both_lines
from tools.bench.table import (
    AIM,
    AT_LEAST,
    BOUNDS,
    BY_NAME,
    MISSED,
    NOTHING_WANTED,
    SECTIONS,
    Bound,
    Line,
    as_json,
    line,
    render,
)  # fmt: skip
from tools.docs.figures import NOT_MEASURED, readme

LARGE = 10_000_000


def _bound(unit: str = "s", at_least: float | None = None, aim: float | None = None) -> Bound:
    return Bound(name="x", section="s", what="ours", rival="theirs", unit=unit, at_least=at_least, aim=aim)


class TestBounds:
    @pytest.mark.parametrize(
        ("name", "unit", "rival", "at_least", "aim"),
        [
            ("csv-to-history", "s", "dict loop with executemany, no journal", "<= 2", "<= 1.2"),
            ("import-alone", "s CPU", "dict loop with executemany, no journal", "<= 1", "<= 0.6"),
            ("import-growth", "times", "the same of the dict loop", "<= 1", ""),
            ("audit", "entries/s CPU", "SHA-256 of the same bytes", ">= 0.15", ">= 0.3"),
            ("append-one", "games/s", "bare durable one-row commits", ">= 0.1", ">= 0.3"),
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
        assert (bound.unit, bound.rival, *bound.written()) == (unit, rival, at_least, aim)

    def test_every_section_is_measured(self) -> None:
        assert set(SECTIONS) == set(MEASURED)

    @pytest.mark.parametrize(("unit", "aim"), [("s", 2.5), ("games/s", 1.5)])
    def test_an_aim_that_is_easier_than_the_bound_is_refused(self, unit: str, aim: float) -> None:
        with pytest.raises(ValueError, match="easier than the bound"):
            _bound(unit, 2.0, aim)

    def test_a_bound_of_zero_is_refused(self) -> None:
        with pytest.raises(ValueError, match="'at_least' must be > 0"):
            _bound("s", 0.0)


class TestLines:
    @pytest.mark.parametrize(
        ("unit", "figure", "reached"),
        [
            ("s", 10.0, AIM), ("s", 12.0, AT_LEAST), ("s", 20.0, AT_LEAST), ("s", 20.1, MISSED),
            ("games/s", 30.0, AIM), ("games/s", 20.0, AT_LEAST), ("games/s", 19.9, MISSED),
        ],
    )  # fmt: skip
    def test_the_quotient_is_ours_divided_by_theirs_and_is_judged(self, unit: str, figure: float, reached: str) -> None:
        made = Line(_bound(unit, 2.0, 1.0 if unit == "s" else 3.0), "", (figure,), (10.0,))
        assert (made.ratio, made.reached) == (figure / 10.0, reached)

    def test_without_a_bound_nothing_is_judged_and_with_an_aim_alone_only_the_aim(self) -> None:
        assert Line(_bound(), "", (1.0,), (1.0,)).reached == NOTHING_WANTED
        assert Line(_bound(aim=1.1), "", (1.0,), (1.0,)).reached == AIM
        assert Line(_bound(aim=1.1), "", (1.2,), (1.0,)).reached == MISSED

    def test_medians_are_divided_and_rounds_show_the_noise(self) -> None:
        made = Line(_bound("s", 2.0), "", (10.0, 30.0, 14.0), (10.0, 10.0, 5.0))
        assert (made.ratio, made.rounds, made.reached) == (1.4, [1.0, 3.0, 2.8], AT_LEAST)
        assert not made.rounds_agree

    def test_a_single_figure_of_the_rival_counts_for_every_round(self) -> None:
        made = Line(_bound("s", 1.0), "", (0.6, 0.9), (1.5,))
        assert made.rounds == pytest.approx([0.4, 0.6])
        assert made.rounds_agree

    @pytest.mark.parametrize(
        ("ours", "theirs"), [((), ()), ((0.0,), (1.0,)), ((1.0,), (-1.0,)), ((1.0, 1.0, 1.0), (1.0, 2.0))]
    )
    def test_figures_that_cannot_be_divided_round_by_round_are_refused(
        self, ours: tuple[float, ...], theirs: tuple[float, ...]
    ) -> None:
        with pytest.raises(ValueError, match=r"must be > 0|must be >= 1|rounds of ours"):
            Line(_bound("s", 1.0), "", ours, theirs)

    def test_bounds_of_large_sets_are_not_judged_on_small_ones(self) -> None:
        assert line("first-build-peak", "", 2.0, 1.5, games=LARGE).reached == MISSED
        assert line("first-build-peak", "", 2.0, 1.5, games=LARGE - 1).reached == NOTHING_WANTED

    @pytest.mark.parametrize(
        ("name", "judged", "informing"),
        [
            ("csv-to-history", ("s", 1.5, AT_LEAST), ("s CPU", 4.0, NOTHING_WANTED)),
            ("import-alone", ("s CPU", 4.0, MISSED), ("s", 1.5, NOTHING_WANTED)),
        ],
    )
    def test_seconds_of_the_other_kind_inform_beside_those_that_are_judged(
        self, name: str, judged: tuple[str, float, str], informing: tuple[str, float, str]
    ) -> None:
        lines = both_lines(name, "1 M", [Figure(3.0, 8.0)], [Figure(2.0, 2.0)], games=1_000_000)
        assert [(made.bound.unit, made.ratio, made.reached) for made in lines] == [judged, informing]

    def test_the_table_is_aligned_and_says_what_was_reached(self) -> None:
        lines = [line("show", "", [0.3, 0.2, 0.4], [0.5, 0.5, 0.5]), line("append-put", "", 14e6, 7e6)]
        show, put = render(lines).splitlines()[2:]
        assert show.split("  ")[0] == "show, from the shell"
        assert show.split("  ")[-1].strip() == "at least (rounds differ)"
        assert show.split()[-9:-4] == ["0.4..0.8", "<=", "0.7", "<=", "0.4"]
        assert put.split()[-3:] == ["7,000,000", "2.00", "2.00..2.00"]

    def test_json_has_the_quotient_its_words_and_every_round(self) -> None:
        row = as_json(line("show", "", [0.3, 0.2], [0.5, 0.5]))
        assert json.loads(json.dumps(row)) == row
        assert (row["ours"], row["rival"], row["ratio"]) == (0.25, 0.5, 0.5)
        assert (row["lowest"], row["highest"], row["reached"], row["rounds_agree"]) == (0.4, 0.6, "at least", False)
        assert (row["our_rounds"], row["rival_rounds"]) == ([0.3, 0.2], [0.5, 0.5])


RUN = {"began": "2026-01-01 10:00 UTC", "size": "usual", "games": [10], "rounds": 3, "cores": 2, "python": "3"}


class TestReadme:
    def _table(self, tmp_path: Path, *lines: Line, failure: str | None = None) -> dict[str, str]:
        """The quotients of the table, by what is measured."""
        name = lines[0].bound.section if lines else "start"
        section = figures.Section(list(lines), seconds=90.0, failure=failure)
        figures.keep(tmp_path / "figures.json", RUN, {name: section}, beside=False)
        cells = [row.split(" | ") for row in readme(figures.read(tmp_path / "figures.json")).splitlines()]
        return {row[0].removeprefix("| "): row[-1].removesuffix(" |") for row in cells if len(row) == 4}

    def test_every_bound_that_is_judged_has_its_row_and_no_run_means_not_measured(self, tmp_path: Path) -> None:
        rows = readme({}).splitlines()
        for bound in BOUNDS:
            row = f"| {bound.what} ({bound.unit}) | {bound.rival} | "
            assert sum(made.startswith(row) for made in rows) == bound.is_judged
        assert set(self._table(tmp_path).values()) == {"quotient", NOT_MEASURED}

    def test_a_measured_line_has_its_quotient_and_the_others_are_not_measured(self, tmp_path: Path) -> None:
        told = self._table(tmp_path, line("show", "", 0.6, 1.0))
        assert told.pop("show, from the shell (s)") == "0.6"
        assert set(told.values()) == {"quotient", NOT_MEASURED}

    @pytest.mark.parametrize(
        ("ratios", "told"),
        [
            ([0.8], "1 M: 0.8, missed"),
            ([0.4, 0.8], "1 M: 0.4; 2 M: 0.8, missed"),
            ([0.2, 0.4, 0.6, 0.8, 1.0, 1.2], "0.2 to 1.20, 3 of 6 missed"),
        ],
    )
    def test_missed_bounds_are_named_and_of_many_lines_the_lowest_and_the_highest(
        self, tmp_path: Path, ratios: list[float], told: str
    ) -> None:
        lines = (line("show", f"{n} M", ratio, 1.0) for n, ratio in enumerate(ratios, 1))
        assert self._table(tmp_path, *lines)["show, from the shell (s)"] == told

    def test_a_bound_of_many_games_is_not_told_of_few(self, tmp_path: Path) -> None:
        told = self._table(tmp_path, line("audit", "0.1 M", 0.2, 1.0, games=100_000))
        assert told["audit of the journal alone (entries/s CPU)"] == "not measured at this size"

    def test_a_section_that_failed_says_why_its_lines_are_missing(self, tmp_path: Path) -> None:
        told = self._table(tmp_path, line("graph-json", "", 2.0, 1.0), failure="OSError: no room")
        assert told["a page of 100 games as JSON (s)"] == "2.00"
        assert told["the same page as SVG (s)"] == "not measured; the section failed: OSError: no room"

    def test_the_errors_of_predictions_are_told_if_they_were_measured(self, tmp_path: Path) -> None:
        words: dict[str, Any] = {
            "unit": "log-loss",
            "rival": figures.EVEN,
            "what": "elo by game, error of what it expects",
        }
        section = figures.Section([line("scheme-accuracy", "otb", 0.63125, 0.693, **words)])
        figures.keep(tmp_path / "figures.json", RUN, {"schemes": section}, beside=False)
        assert "`elo by game` 0.631." in readme(figures.read(tmp_path / "figures.json"))
        assert readme({}).endswith("both): not measured.")

    def test_a_run_of_a_part_replaces_the_file_or_leaves_the_other_sections(self, tmp_path: Path) -> None:
        file = tmp_path / "figures.json"
        for name, beside in (("graph", False), ("start", True)):
            figures.keep(file, RUN, {name: figures.Section()}, beside=beside)
        assert list(figures.read(file)) == ["graph", "start"]
        figures.keep(file, RUN, {"start": figures.Section()}, beside=False)
        assert list(figures.read(file)) == ["start"]

    def test_figures_that_are_kept_are_of_bounds_in_force(self) -> None:
        """A bound that was changed after the run would be told with an old judgement."""
        for name, section in figures.read().items():
            for row in section["lines"]:
                bound = BY_NAME[row["bound"]]
                assert bound.section == name
                assert (row["at_least"], row["aim"]) in {(bound.at_least, bound.aim), (None, None)}, row["divided"]
                assert attrs.evolve(bound, unit=row["unit"]).small_is_good is row["small_is_good"]


def _loaded(code: str) -> Any:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.slow
def test_the_table_and_the_games_load_no_rival() -> None:
    rivals = "{'evalica', 'riix', 'eventsourcing', 'chess', 'numba', 'numpy'}"
    modules = "tools.bench.table, tools.bench.datasets"
    assert _loaded(f"import sys, {modules}; print(*sorted({rivals} & set(sys.modules)))") == ""
