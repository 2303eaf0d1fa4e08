"""The commands ``explain`` and ``opponents``: readable tables, ratings that a formula took, everything for programs."""

import csv
import io
import json
from pathlib import Path

import pytest

from ledger.ledger import Ledger
from tests.kit.clubs import NAME, NOW
from tests.kit.commands import Run
from tests.kit.games import game_recorded, seeded
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


NEW = 3


def explained(run: Run, path: Path, player: int, game: str) -> dict[str, object]:
    done = run("explain", path, str(player), game)
    assert done.code == 0, done.err
    answer: dict[str, object] = json.loads(done.out)
    return answer


def club(path: Path, scheme: str, *ratings: str) -> Ledger:
    ledger = Ledger.create(path / NAME, scheme=scheme, clock=lambda: NOW)
    for number in (1, 2, NEW):
        ledger.register(f"id:{number}", f"P{number}")
    for number, rating in enumerate(ratings, 1):
        ledger.append(seeded(number, rating, games=200, effective_at="2021-01-01"))
    return ledger


def test_ecf_shows_the_estimate_of_an_opponent_who_had_no_rating(tmp_path: Path, run: Run) -> None:
    with club(tmp_path, "ecf-monthly", "1900", "1800") as ledger:
        for day, (white, black) in enumerate(((1, NEW), (2, NEW), (1, 2)), 1):
            ledger.append(game_recorded(f"g{day}", white=white, black=black, ended_at=f"2021-05-0{day}", half_moves=60))
        ledger.ensure_up_to_date()
    answer = explained(run, tmp_path / NAME, 1, "g1")
    by_name = {met["opponent"]: met["rating"] for met in answer["meetings"]}  # type: ignore[attr-defined]
    assert by_name["P2"] == 1800.0
    assert by_name["P3"] > 1000.0  # of pass 2; before the list there was none
    terms = {term["symbol"]: term["value"] for term in answer["terms"]}  # type: ignore[attr-defined]
    assert terms["W"] == 1.0 + 0.5  # P3 is rated partially: half of the game counts
    newcomer = explained(run, tmp_path / NAME, NEW, "g1")
    assert [met["rating"] for met in newcomer["meetings"]] == [1900.0, 1800.0]  # type: ignore[attr-defined]


@pytest.mark.parametrize("declared", [True, False])
def test_us_chess_names_the_rule_by_which_2801_stays(declared: bool, tmp_path: Path, run: Run) -> None:
    with club(tmp_path, "uschess", *(() if declared else ("2801",))) as ledger:
        if declared:
            ledger.registry.learn(1, declared_rating=2801, since="2021-01-01", actor="eve")
        ledger.append(seeded(2, "2700", games=20, effective_at="2021-01-01"))
        for day in range(1, 4):
            ledger.append(
                game_recorded(f"g{day}", black=2, ended_at=f"2021-05-0{day}", half_moves=60, tournament="Open")
            )
        ledger.ensure_up_to_date()
    answer = explained(run, tmp_path / NAME, 1, "g1")
    if declared:
        assert answer["after"] == 2801.0
        words = "the special formula gives 2700 at most, and who was rated higher before keeps that rating, 2801"
        assert str(answer["rounding"]).startswith(words)
    assert all(met["rating"] > 0 for met in answer["meetings"])  # type: ignore[attr-defined]


def test_a_mean_of_ratings_is_shown_one_half_up(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "club.db"
    run("init", path, "--pool", "standard", "--scheme", "elo")
    for name in ("ann", "bob"):
        run("player", "add", path, f"name:{name}", name, "--rating", "1500.5", "--list", "January")
    words = ("--white", "ann", "--black", "bob", "--result", "1/2-1/2", "--ended", "2024-01-01", "--half-moves", "40")
    assert run("record", path, *words).code == 0
    head, _, row = run("opponents", path, "ann", "-t").out.splitlines()
    columns = [(part.strip(), column.strip()) for part, column in zip(*map(str.split, (head, row)), strict=True)]
    shown = dict(columns)
    assert (shown["mean"], shown["opponent_mean"]) == ("1501", "1501")
    assert (shown["sd"], shown["percent"]) == ("0.0", "50.0")
