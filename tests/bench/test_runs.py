"""Runs of the benchmark: a section on a few games, all of them nightly, and failures that lose no figure."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kit.places import OTB
from tools import running
from tools.bench import __main__ as bench
from tools.bench import table as figures
from tools.bench.datasets import Run
from tools.bench.measuring import TELLS, installed
from tools.bench.sections_postgres import ON_NODES, why_no_nodes
from tools.bench.table import BOUNDS, SECTIONS, Line, line
from tools.postgres_servers import installed as versions


def _run(*words: str | Path) -> int:
    return running.run(bench.main, list(map(str, words)), "python -m tools.bench")


@pytest.mark.slow
def test_a_section_runs_on_a_few_games_and_ends_with_its_seconds(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert _run("--only", "corrections", "--quick", "--folder", tmp_path) == 0
    told = capfd.readouterr().out.splitlines()
    assert told[0].startswith("ours / rival: our figure divided by the rival's")
    assert any("the preview of a correction 1,000 games back" in row for row in told)
    assert [row.split()[0] for row in told[-2:]] == ["corrections", "all"]
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(name="whole", scope="module")
def _whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The sections of a whole quick run."""
    folder, kept = tmp_path_factory.mktemp("folder"), tmp_path_factory.mktemp("kept") / "figures.json"
    assert _run("--quick", "--folder", folder, "--write", kept) == 0
    assert list(folder.iterdir()) == []
    return figures.read(kept)


def _absent() -> set[str]:
    """The bounds that cannot be measured here: without their rival or the real games, or if nothing tells peaks."""
    absent = {bound.name for bound in BOUNDS if bound.needs and not installed(bound.needs)}
    if not TELLS:
        absent |= {bound.name for bound in BOUNDS if bound.unit == "GiB"}
    if not OTB.exists():
        absent |= {bound.name for bound in BOUNDS if bound.section == "accuracy"}
    if not versions():
        absent |= {bound.name for bound in BOUNDS if bound.section == "postgres"}
    return absent | (ON_NODES if why_no_nodes() else set())


@pytest.mark.nightly
@pytest.mark.parametrize("section", SECTIONS)
def test_a_quick_run_has_a_line_for_every_bound(whole: dict[str, Any], section: str) -> None:
    measured = {row["bound"] for row in whole[section]["lines"]}
    assert all(row["ratio"] > 0 for row in whole[section]["lines"])
    assert {bound.name for bound in BOUNDS if bound.section == section} - measured <= _absent()


class TestFailures:
    @pytest.fixture(autouse=True)
    def _sections(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def failing(_: Run) -> Iterator[Line]:
            yield line("graph-json", "made up", 2.0, 1.0)
            raise RuntimeError("a rival gave up\nbecause of the weather")

        def whole(_: Run) -> Iterator[Line]:
            yield line("show", "", 0.6, 1.0)

        monkeypatch.setattr(bench, "MEASURED", {"graph": failing, "start": whole})
        monkeypatch.setattr(bench, "PACKAGES", [])

    def test_a_section_that_fails_is_named_and_the_figures_of_all_are_told(
        self, capfd: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        assert _run("--only", "graph", "--only", "start", "--write", tmp_path / "figures.json") == 1
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
