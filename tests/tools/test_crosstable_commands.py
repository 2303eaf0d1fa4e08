"""The commands ``tournaments`` and ``crosstable``: formats, files, and what they refuse."""

import csv
import io
import json
from pathlib import Path

import pytest

from tests.kit.commands import Run
from tools import cli
from tools.commands import REFUSED, USAGE

GAMES = """key,white,black,result,date,tournament,half_moves
1,Ann,Bob,1-0,2024-05-01,=Cup,60
2,Bob,Cleo,1/2-1/2,2024-05-02,=Cup,60
3,Cleo,Ann,0-1,2024-05-03,=Cup,60
4,Ann,Bob,1-0,2023-05-01,=Cup,60
"""


@pytest.fixture(name="cup", scope="module")
def _cup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cup")
    (folder / "games.csv").write_text(GAMES)
    assert cli.main(["init", str(folder / "club.db")]) == 0
    assert cli.main(["import", str(folder / "club.db"), str(folder / "games.csv")]) == 0
    return folder / "club.db"


def test_tournaments_are_listed(cup: Path, run: Run) -> None:
    rows = json.loads(run("tournaments", cup).out)
    assert [(row["edition"], row["first_day"], row["format"]) for row in rows] == [
        ("2 of 2", "2024-05-01", "all-play-all"),
        ("1 of 2", "2023-05-01", "match"),
    ]
    done = run("tournaments", cup, "--limit", "1", "-t")
    assert ("all-play-all?" in done.out, "--limit 0 shows all" in done.err) == (True, True)
    assert json.loads(run("tournaments", cup, "--search", "open").out) == []


def test_the_tournaments_of_a_player(cup: Path, run: Run) -> None:
    (row,) = json.loads(run("tournaments", cup, "--player", "Cleo").out)
    assert (row["place"], row["points"], row["variant"], row["format"]) == ("2-3", 0.5, "chessworld", "all-play-all")
    assert "2-3 of 3" in run("tournaments", cup, "--player", "Cleo", "-t").out


def test_a_table_is_text_unless_something_else_is_asked_for(cup: Path, run: Run) -> None:
    done = run("crosstable", cup, "=Cup")
    assert run("crosstable", cup, "=Cup", "-t").out == done.out
    assert done.out.startswith("=Cup, 2024-05-01 to 2024-05-03\n")
    assert "the last of 2 editions" in done.err
    assert json.loads(run("crosstable", cup, "=Cup", "--format", "json").out)["players"] == 3
    assert run("crosstable", cup, "=Cup", "--format", "svg").out.startswith("<svg ")
    assert run("crosstable", cup, "=Cup", "--format", "html").out.startswith("<!DOCTYPE html>")
    rows = list(csv.DictReader(io.StringIO(run("crosstable", cup, "=Cup", "--format", "csv").out)))
    assert [row["name"] for row in rows] == ["Ann", "Bob", "Cleo"]


def test_a_picture_is_drawn_light_or_dark(cup: Path, run: Run, tmp_path: Path) -> None:
    light, dark = tmp_path / "light.png", tmp_path / "dark.png"
    assert run("crosstable", cup, "=Cup", "-o", light).code == 0
    assert run("crosstable", cup, "=Cup", "--theme", "dark", "-o", dark).code == 0
    assert light.read_bytes()[:4] == dark.read_bytes()[:4] == b"\x89PNG"
    assert light.read_bytes() != dark.read_bytes()


def test_cells_that_a_spreadsheet_would_run_are_raw_where_asked_for(tmp_path: Path, run: Run) -> None:
    (tmp_path / "games.csv").write_text("white,black,result,date,tournament\n=1+1,Bob,1-0,2024-05-01,Cup\n")
    assert run("init", tmp_path / "club.db").code == 0
    assert run("import", tmp_path / "club.db", tmp_path / "games.csv").code == 0
    words = ("crosstable", tmp_path / "club.db", "Cup", "--format", "csv")
    assert ("'=1+1" in run(*words).out, "'=1+1" in run(*words, "--raw").out) == (True, False)


@pytest.mark.parametrize("suffix", ["txt", "html", "svg", "json", "csv"])
def test_a_file_is_written_as_it_is_named(cup: Path, run: Run, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"cup.{suffix}"
    done = run("crosstable", cup, "=Cup", "--edition", "2024", "-o", path)
    assert (done.code, done.out, done.err) == (0, "", "")
    assert path.read_text() == run("crosstable", cup, "=Cup", "--edition", "2024", "--format", suffix).out


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("=Kup",), REFUSED, "did you mean '=Cup'"),
        (("=Cup", "--edition", "2019"), REFUSED, "2023-05-01 to 2023-05-01"),
        (("=Cup", "--edition", "spring"), REFUSED, "an edition is named by a year or a day"),
        (("=Cup", "-o", "cup.doc"), USAGE, "give --format"),
        (("=Cup", "--tpr", "fide"), USAGE, "fide_tpr"),
        (("=Cup", "--theme", "dark", "--raw"), USAGE, "--theme goes with png and svg, not with txt; --raw goes with"),
        (("=Cup", "--tie-break", "sb"), USAGE, "sonneborn-berger"),
    ],
)
def test_what_is_not_there_is_refused(cup: Path, run: Run, words: tuple[str, ...], code: int, says: str) -> None:
    done = run("crosstable", cup, *words)
    assert (done.code, done.out) == (code, "")
    assert says in done.err


def test_days_that_are_none_and_options_that_do_not_go_together_are_refused(cup: Path, run: Run) -> None:
    assert run("tournaments", cup, "--from", "may").code == USAGE
    assert "--tpr goes with --player" in run("tournaments", cup, "--tpr", "linear").err
