"""Opponent statistics: batches of 50 from the newest game, colours, strengths, results against one opponent."""

import json
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import pytest

from ledger.answers import opponents, player_games
from ledger.answers.graphs import page_reader
from ledger.answers.rows import as_row, as_rows
from ledger.errors import UnknownNameError
from ledger.ledger import Ledger
from ledger.players.persons import Person
from tests.kit.clubs import NAME, open_ledger
from tests.kit.commands import Run
from tools.commands import REFUSED, USAGE

Row = dict[str, Any]


@pytest.fixture(name="read_club", scope="module")
def _read_club(sample_folder: Path) -> Iterator[Ledger]:
    with open_ledger(sample_folder / NAME) as ledger:
        yield ledger


@pytest.fixture(name="emma")
def _emma(read_club: Ledger) -> Person:
    return read_club.player("emma")


@pytest.fixture(name="emma_played")
def _emma_played(read_club: Ledger, emma: Person) -> list[Row]:
    """Her games, newest first, as another answer tells them."""
    return as_rows(player_games.games(read_club, emma, last=1_000))


def expected(games: list[Row]) -> Row:
    """The numbers of some games, by the statistics of the standard library."""
    results = [row["result"] for row in games]
    points = results.count("win") + results.count("draw") / 2
    numbers: Row = {
        "played": len(games),
        "wins": results.count("win"),
        "draws": results.count("draw"),
        "losses": results.count("loss"),
        "points": points,
        "percent": 100 * points / len(games),
    }
    for prefix, column in (("", "rating"), ("opponent_", "opponent_rating")):
        ratings = [row[column] for row in games]
        numbers |= {
            f"{prefix}max": max(ratings),
            f"{prefix}min": min(ratings),
            f"{prefix}mean": pytest.approx(fmean(ratings)),
            f"{prefix}sd": pytest.approx(pstdev(ratings)),
        }
    return numbers


def test_batches_of_50_are_counted_from_the_newest_game_and_are_the_pages_of_the_graph(
    read_club: Ledger, emma: Person, emma_played: list[Row]
) -> None:
    rows = as_rows(opponents.statistics_by_batch(read_club, emma))
    assert [(row["page"], row["first_n"], row["last_n"]) for row in rows] == [(1, 57, 106), (2, 7, 56), (3, 1, 6)]
    for row in rows:
        bars = page_reader.read_page(read_club, emma, number=row["page"]).player.bars
        assert (bars[-1].n, bars[0].n) == (row["first_n"], row["last_n"])
        games = [game for game in emma_played if row["first_n"] <= game["n"] <= row["last_n"]]
        assert row.items() >= expected(games).items()


def test_at_an_instant_only_the_games_until_then_count_and_no_page_is_named(
    read_club: Ledger, emma: Person, emma_played: list[Row]
) -> None:
    rows = as_rows(opponents.statistics_by_batch(read_club, emma, at="2005"))
    until = [game for game in emma_played if game["ended_at"] < "2006"]
    assert [(row["page"], row["played"]) for row in rows] == [(None, 50), (None, len(until) - 50)]
    assert rows[0].items() >= expected(until[:50]).items()
    assert as_rows(opponents.statistics_by_batch(read_club, emma, at="2001")) == []


def test_by_colour_each_game_stands_once_and_in_the_sum(
    read_club: Ledger, emma: Person, emma_played: list[Row]
) -> None:
    white, black, both = as_rows(opponents.statistics_by_colour(read_club, emma))
    assert white.items() >= expected([game for game in emma_played if game["colour"] == "white"]).items()
    assert black.items() >= expected([game for game in emma_played if game["colour"] == "black"]).items()
    assert both.items() >= expected(emma_played).items()


def test_by_strength_each_game_stands_in_one_band_and_in_one_class(
    read_club: Ledger, emma: Person, emma_played: list[Row]
) -> None:
    rows = as_rows(opponents.statistics_by_strength(read_club, emma))
    for group in ("difference", "class"):
        assert sum(row["played"] for row in rows if row["group"] == group) == len(emma_played)
    found = {row["opponents"]: row for row in rows}
    assert list(found) == [
        "200 or more above", "100 to 199 above", "0 to 99 above", "1 to 100 below", "101 to 200 below",
        "more than 200 below", "class A", "class B", "class C",
    ]  # fmt: skip
    stronger = [game for game in emma_played if game["opponent_rating"] - game["rating"] >= 199.5]
    assert found["200 or more above"].items() >= expected(stronger).items()
    weak = [game for game in emma_played if game["opponent_rating"] < 1399.5]  # ChessWorld's class A: less than 1400
    assert found["class A"].items() >= expected(weak).items()


def test_results_against_one_opponent_add_up(read_club: Ledger, emma: Person, emma_played: list[Row]) -> None:
    answer = as_row(opponents.results_against(read_club, emma, read_club.player("ann")))
    met = [game for game in emma_played if game["opponent"] == "ann"]
    assert [game["game"] for game in answer["games"]] == [game["game"] for game in met]
    assert (answer["wins"], answer["draws"], answer["losses"], answer["points"]) == (0, 1, 10, 0.5)
    for name in ("played", "wins", "draws", "losses", "points"):
        assert answer[name] == answer["with_white"][name] + answer["with_black"][name]


def test_the_command_names_what_does_not_go_together_and_who_was_never_met(run: Run, sample_folder: Path) -> None:
    club = sample_folder / NAME
    assert run("opponents", club, "emma", "--against", "ann", "--by", "colour").code == USAGE
    done = run("opponents", club, "emma", "--against", "emma")
    assert done.code == REFUSED
    assert "no opponent 'emma' among the rated games of emma; 'games' shows whom emma has met" in done.err
    assert [row["colour"] for row in json.loads(run("opponents", club, "emma", "--by", "colour").out)] == [
        "white",
        "black",
        "both",
    ]
    assert "0 won, 1 drawn, 10 lost: 0.5 of 11" in run("opponents", club, "emma", "--against", "ann", "-t").err


def test_a_player_without_a_rated_game_is_refused_by_name(read_club: Ledger, emma: Person) -> None:
    with pytest.raises(UnknownNameError):
        as_rows(opponents.statistics_by_batch(read_club, emma._replace(player=999)))
