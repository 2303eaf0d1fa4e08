"""The command ``explain`` where many games were rated together: a readable table, and everything for programs."""

import csv
import io
import json
from pathlib import Path

import pytest

from tests.kit.commands import Run
from tests.kit.source_files import imported_club

GAMES = 60


@pytest.fixture(scope="module")
def long_period(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A club in which Ann plays sixty games in one month, against players of different ratings."""
    lines = [f"a{i},p{i},p{(i + 7) % 20},1-0,2020-01-{i + 1:02},60" for i in range(20)]
    lines += [f"g{i},Ann,p{i % 20},{('1-0', '0-1', '1/2-1/2')[i % 3]},2020-02-{i % 28 + 1:02},60" for i in range(GAMES)]
    return imported_club(tmp_path_factory.mktemp("period"), "glicko", lines)


def test_a_table_shows_the_largest_terms_and_says_how_many_it_leaves_out(long_period: Path, run: Run) -> None:
    told = json.loads(run("explain", long_period, "Ann", "csv:g5").out)
    terms = {term["symbol"]: term["value"] for term in told["terms"]}
    of_games = {symbol: abs(value) for symbol, value in terms.items() if symbol.startswith("x")}
    assert len(of_games) == len(told["meetings"]) == GAMES
    done = run("explain", long_period, "Ann", "csv:g5", "-t")
    head, shown, meetings = done.out.split("\n\n")
    symbols = [line.split()[0] for line in shown.splitlines()[2:]]
    assert [symbol for symbol in terms if symbol in symbols] == symbols
    assert set(terms) - set(of_games) <= set(symbols)
    kept = {symbol: of_games[symbol] for symbol in symbols if symbol in of_games}
    left_out = {symbol: value for symbol, value in of_games.items() if symbol not in kept}
    assert len(kept) == 20
    assert min(kept.values()) >= max(left_out.values())
    assert len(meetings.splitlines()) == 2 + 20
    assert done.err.splitlines() == [
        "40 smaller terms are not shown: --limit 0 shows all",
        "the first 20; there are more: --limit 0 shows all",
    ]
    assert repr(told["after"]) in head


@pytest.mark.parametrize("fmt", ["--csv", "--tsv"])
def test_cells_hold_no_parts_each_term_and_each_game_has_a_row(fmt: str, long_period: Path, run: Run) -> None:
    told = json.loads(run("explain", long_period, "Ann", "csv:g5").out)
    text = run("explain", long_period, "Ann", "csv:g5", fmt).out
    rows = list(csv.DictReader(io.StringIO(text), dialect="excel" if fmt == "--csv" else "excel-tab"))
    assert not [cell for row in rows for cell in row.values() if cell.startswith(("[", "{"))]
    assert {(row["player"], float(row["after"]), row["carried_from_scheme"]) for row in rows} == {
        ("Ann", told["after"], "")
    }
    terms, games = ([row for row in rows if row["part"] == part] for part in ("term", "game"))
    assert terms + games == rows
    assert [(row["symbol"], float(row["value"]), row["meaning"]) for row in terms] == [
        (term["symbol"], term["value"], term["meaning"]) for term in told["terms"]
    ]
    assert [{name.removeprefix("with_"): row[name] for name in row if name.startswith("with_")} for row in games] == [
        {name: str(value) for name, value in meeting.items()} for meeting in told["meetings"]
    ]
    assert len(games) == GAMES


def test_the_rest_is_shown_on_request(long_period: Path, run: Run) -> None:
    done = run("explain", long_period, "Ann", "csv:g5", "-t", "--limit", "0")
    assert done.err == ""
    _, shown, meetings = done.out.split("\n\n")
    assert sum(line.startswith("x") for line in shown.splitlines()) == GAMES
    assert len(meetings.splitlines()) == 2 + GAMES
    few = run("explain", long_period, "Ann", "csv:g5", "-t", "--limit", "3").out.split("\n\n")
    assert sum(line.startswith("x") for line in few[1].splitlines()) == 3


def test_tables_show_no_counting_of_the_scheme_and_no_placeholders(tmp_path: Path, run: Run) -> None:
    """An unrated player of FIDE has the rating 0 in the scheme's state; nobody has that rating."""
    club = imported_club(tmp_path, "fide", ["g1,Ann,Bob,1-0,2024-05-01,60", "g2,Bob,Ann,1-0,2024-05-02,60"])
    shown = run("explain", club, "Ann", "csv:g1", "-t").out
    fields = {line.split()[0] for line in shown.split("\n\n")[0].splitlines()}
    assert not fields & {"games", "unrounded", "rounding", "before", "after"}
    assert "its period, 2 games together" in shown
    assert [line.split()[2] for line in shown.split("\n\n")[2].splitlines()[2:]] == ["-", "-"]
    summary = run("show", club, "Ann", "-t").out
    assert not [line for line in summary.splitlines() if line.startswith("state")]
    assert json.loads(run("show", club, "Ann").out)["state"]["games"] == 0


def test_a_table_of_a_player_shows_the_deviation(long_period: Path, run: Run) -> None:
    summary = dict(line.split(maxsplit=1) for line in run("show", long_period, "Ann", "-t").out.splitlines())
    told = json.loads(run("show", long_period, "Ann").out)["state"]["rd"]
    assert float(summary["rd"]) == pytest.approx(told, rel=1e-5)
