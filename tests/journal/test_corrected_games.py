"""A game told again with another day, other colours or a misspelt name is named and held back where it looks so."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ledger.facts.source_games import SourceGame
from ledger.imports.csv import games as csv_games
from ledger.imports.files import open_source
from ledger.imports.reading import batch_games
from tests.errors.rule_cases import source
from tests.kit.clubs import ClubOfTwo
from tests.kit.places import DATA

MOVES = "1. e4 e5 2. Nf3 Nc6 3. Bb5"
MADE = "pgn:{:024x}"
KNOWN: dict[str, Any] = {
    "ended_at": "2026-11-15",
    "tournament": "Club",
    "round": "3",
    "half_moves": 40,
    "text": MOVES,
    "outcome": "white",
}
SWAPPED = {"white_id": "name:bob", "white_name": "Bob", "black_id": "name:ann", "black_name": "Ann"}
MISSPELT = {"black_id": "name:bobb", "black_name": "Bobb"}


def game(number: int, **fields: Any) -> SourceGame:
    return source(MADE.format(number), line=number, **{**KNOWN, **fields})


def held(club: ClubOfTwo, known: SourceGame, telling: SourceGame) -> str:
    """How the telling of a second file is told that was held back; empty where it was recorded."""
    assert club.ledger.import_games(batch_games([known])).recorded == 1
    report = club.ledger.import_games(batch_games([telling]))
    assert (report.faults, report.recorded + report.alike_count) == ([], 1)
    return report.alike[0].how if report.alike else ""


@pytest.mark.parametrize(
    ("fields", "how"),
    [
        ({"ended_at": "2026-11-12"}, "with another day"),
        ({"ended_at": "2026-10", "tournament": None, "round": None}, "with another day"),
        ({"ended_at": "2026-11-12", "half_moves": None, "text": None}, ""),
        ({"ended_at": "2026-11-16", "half_moves": None, "text": None}, "with another day"),
        ({"ended_at": "2026-11-14", "text": None}, "with another day"),
        ({"ended_at": "2026-11-14", "half_moves": 41, "text": None}, ""),
        ({"ended_at": "2026-11-14", "round": "4", "text": None}, ""),
        ({"ended_at": "2026-11-14", "round": "?", "text": None}, ""),
        ({"ended_at": "2026-11-14", "outcome": "draw"}, ""),
        ({"ended_at": "2026-11-12", "text": "1. d4"}, ""),
        (SWAPPED, "with the colours swapped"),
        ({**SWAPPED, "outcome": "black"}, "with the colours swapped"),
        ({**SWAPPED, "outcome": "draw"}, ""),
        ({**SWAPPED, "text": None}, ""),
        ({**SWAPPED, "outcome": "black", "half_moves": None, "text": None}, "with the colours swapped"),
        ({**SWAPPED, "outcome": "black", "half_moves": 41, "text": None}, ""),
        ({**SWAPPED, "outcome": "black", "round": "4", "text": None}, ""),
        ({**SWAPPED, "round": None}, "with the colours swapped"),
        ({**SWAPPED, "ended_at": "2026-11-16"}, ""),
        (MISSPELT, "with another name"),
        ({**MISSPELT, "black_name": "Dora"}, ""),
        ({**MISSPELT, "ended_at": "2026-11-16"}, ""),
        ({**MISSPELT, "tournament": "Other"}, ""),
        ({**MISSPELT, "text": None}, ""),
    ],
)
def test_what_looks_like_a_known_game_but_for_one_thing_is_held_back(
    club_of_two: ClubOfTwo, fields: dict[str, Any], how: str
) -> None:
    assert held(club_of_two, game(1), game(2, **fields)) == how


def test_the_same_short_moves_on_another_day_are_another_game(club_of_two: ClubOfTwo) -> None:
    assert held(club_of_two, game(1, half_moves=29), game(2, half_moves=29, ended_at="2026-11-12")) == ""


@pytest.mark.parametrize("year", ["2026", "2026-11"])
@pytest.mark.parametrize("fields", [SWAPPED, MISSPELT])
def test_with_the_same_moves_a_day_that_nobody_knows_is_the_same(
    club_of_two: ClubOfTwo, fields: dict[str, Any], year: str
) -> None:
    assert held(club_of_two, game(1, ended_at=year), game(2, ended_at=year, **fields))
    assert not club_of_two.ledger.import_games(
        batch_games([game(3, ended_at=year, round="4", text=None, outcome="black", **SWAPPED)])
    ).alike


def test_two_keys_of_one_source_stay_two_games(club_of_two: ClubOfTwo) -> None:
    known, telling = game(1)._replace(key="club:1"), game(2, ended_at="2026-11-12")._replace(key="club:2")
    assert held(club_of_two, known, telling) == ""


def test_it_is_named_with_what_is_told_otherwise_and_recorded_on_request(club_of_two: ClubOfTwo) -> None:
    club_of_two.ledger.import_games(batch_games([game(1)]))
    corrected = game(7, ended_at="2026-11-12")
    (alike,) = club_of_two.ledger.import_games(batch_games([corrected])).alike
    assert str(alike) == (
        f"'{MADE.format(7)}' is probably '{MADE.format(1)}' of entry 5, reported with another day: held back"
    )
    assert club_of_two.ledger.import_games(batch_games([corrected]), record_alike=True).recorded == 1


def test_a_file_that_tells_both_games_tells_two(club_of_two: ClubOfTwo) -> None:
    club_of_two.ledger.import_games(batch_games([game(1)]))
    report = club_of_two.ledger.import_games(batch_games([game(1), game(2, ended_at="2026-11-12")]))
    assert (report.repeated, report.recorded, report.alike_count) == (1, 1, 0)


@pytest.mark.slow
@pytest.mark.skipif(not DATA.exists(), reason="the real games are not here")
def test_of_a_real_file_in_two_halves_what_is_told_otherwise_is_there_twice(
    club_of_two: ClubOfTwo, tmp_path: Path
) -> None:
    """A game of the league of the Netherlands stands in it with both colours, one of Europe's teams on two days."""
    games = pl.read_csv(DATA / "otb_replay_strict.csv.gz", infer_schema_length=0)
    years = pl.col("date").str.slice(0, 4).is_in(["1999", "2010"])
    games = games.filter(years & pl.col("event").str.contains("TCh-NED|Europe Team Ch|Blitz")).drop("game_no")
    held_back, told_alike = [], {"with another tournament", "with another round"}
    for half in (0, 1):
        path = tmp_path / f"{half}.csv"
        games.with_row_index("row").filter(pl.col("row") % 2 == half).drop("row").write_csv(path)
        with open_source(str(path)) as opened:
            report = club_of_two.ledger.import_games(csv_games.read_frames(opened.chunks(), opened.reading))
        held_back += [alike.how for alike in report.alike if alike.how not in told_alike]
    assert report.recorded > 800
    assert sorted(held_back) == ["with another day", "with the colours swapped"]
