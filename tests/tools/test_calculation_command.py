"""The command ``calculation``: tables, files by their names, and what it refuses."""

import csv
import io
import json
from pathlib import Path

import pytest

from tests.kit.clubs import NAME
from tests.kit.commands import Run
from tests.kit.source_files import imported_club


@pytest.fixture(name="glicko_club", scope="module")
def _glicko_club(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A club rated by Glicko, with one game each month of 2020 and one that was not played."""
    lines = [f"g{month},Ann,Bob,1-0,2020-{month:02}-10,60" for month in range(1, 5)]
    lines += ["f,Ann,Cleo,1-0,2020-02-11,0"]
    return imported_club(tmp_path_factory.mktemp("calculated"), "glicko", lines)


def test_a_table_has_each_opponent_the_sums_and_the_terms(glicko_club: Path, run: Run) -> None:
    done = run("calculation", glicko_club, "Ann", "--list", "2020-02")
    assert done.code == 0
    assert done.out.startswith("Ann: calculation of the list in force on 2020-02-29\n")
    for part in ("the games add up", "Bob", "RD", "Σ g(s - E)", "deviation after the period"):
        assert part in done.out
    assert run("calculation", glicko_club, "Ann", "--list", "2020-02", "-t").out == done.out


def test_the_name_of_a_file_chooses_the_format(glicko_club: Path, run: Run, tmp_path: Path) -> None:
    table = run("calculation", glicko_club, "Ann", "--list", "2020-02").out
    for ending in ("txt", "html", "json", "csv"):
        assert run("calculation", glicko_club, "Ann", "--list", "2020-02", "-o", tmp_path / f"ann.{ending}").code == 0
    assert (tmp_path / "ann.txt").read_text("utf-8") == table
    answer = json.loads((tmp_path / "ann.json").read_text("utf-8"))
    lines = [line for batch in answer["batches"] for each in batch["tournaments"] for line in each["lines"]]
    rows = list(csv.DictReader(io.StringIO((tmp_path / "ann.csv").read_text("utf-8"))))
    assert [row["game"] for row in rows if row["part"] == "game"] == [line["game"] for line in lines]
    assert (tmp_path / "ann.html").read_text("utf-8").count("<tr>") > len(lines)
    assert run("calculation", glicko_club, "Ann", "--list", "2020-02", "--format", "json").out == (
        tmp_path / "ann.json"
    ).read_text("utf-8")


def test_a_published_list_is_shown_as_it_was_known_then(glicko_club: Path, run: Run, tmp_path: Path) -> None:
    copy = imported_club(tmp_path, "glicko", ["g1,Ann,Bob,1-0,2020-01-10,60"])
    assert run("publish", copy, "--at", "2020-01-31").code == 0
    game = json.loads(run("games", copy, "Ann").out)[0]["game"]
    assert run("correct", copy, "result", game, "--to", "0-1", "--reason", "scoresheet", "--by", "eve").code == 0
    assert run("correct", copy, "approve", "1", "--by", "adam").code == 0
    name = "standard@2020-01-31"
    now = run("calculation", copy, "Ann", "--list", name).out
    assert "corrected since the list was published: the list has" in now
    assert f"--known-at {name}/1" in now
    then = run("calculation", copy, "Ann", "--list", name, "--known-at", f"{name}/1").out
    assert "the games add up to the stored rating" in then


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("Ann",), 2, "Missing option '--list'"),
        (("Ann", "--list", "x"), 1, "give a published list as 'lists' names it, or a day, month or year"),
        (("Nobody", "--list", "2020"), 1, "no player"),
        (("Ann", "--list", "2020", "-o", "ann.pdf"), 2, "a name that ends in .txt, .html, .json, .csv"),
        (("Ann", "--list", "2020", "--raw"), 2, "--raw goes with csv, not with table"),
    ],
)
def test_what_it_cannot_show_is_refused(
    words: tuple[str, ...], code: int, said: str, glicko_club: Path, run: Run
) -> None:
    done = run("calculation", glicko_club, *words)
    assert (done.code, done.out) == (code, "")
    assert said in done.err
    assert NAME in str(glicko_club)
