"""A career as one line: thinned without losing a peak, by game or by list, with its years, schemes and HERA."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from ledger.answers.graphs import json_form
from ledger.answers.graphs.career import Career, CareerPoint, CareerScheme, CareerYear, career
from ledger.answers.graphs.career_svg import drawn, picture
from ledger.errors import UnknownNameError
from ledger.imports.reading import batch_games
from ledger.ledger import Ledger
from tests.kit.clubs import NOON, NOW
from tests.kit.games import game_recorded, source_games

DAY = "2024-05-01"
ENOUGH = 30 * 1024  # bytes of a drawing or a document of 10,000 games


@pytest.fixture(scope="module", name="career_club")
def _career_club(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    with Ledger.create(tmp_path_factory.mktemp("careers") / "club.db", clock=lambda: NOW) as ledger:
        ledger.import_games(batch_games(source_games(1_500)))
        ledger.ensure_up_to_date()
        yield ledger


@pytest.mark.parametrize("points", [2, 10, 50, 5_000])
def test_however_few_points_a_line_has_the_first_the_last_the_highest_and_the_lowest_are_among_them(
    career_club: Ledger, points: int
) -> None:
    person = career_club.player("made:p1")
    line = career(career_club, person, points=points)
    ratings = {
        row["n"]: row["rating"] for row in career_club.rows("history", "player = ? AND pool = 1", (person.player,))
    }
    assert line.games == len(ratings)
    assert [point.n for point in line.points] == sorted({point.n for point in line.points})
    assert all(point.rating == ratings[point.n] for point in line.points)
    shown = [point.rating for point in line.points]
    assert (line.points[0].n, line.points[-1].n) == (1, line.games)
    assert (min(shown), max(shown)) == (min(ratings.values()), max(ratings.values()))
    assert len(line.points) <= points + 2 or points >= line.games


def test_every_game_is_a_point_where_there_is_room(career_club: Ledger) -> None:
    line = career(career_club, career_club.player("made:p2"), points=5_000)
    assert [point.n for point in line.points] == list(range(1, line.games + 1))


def test_years_schemes_and_the_highest_rating_are_where_they_were(career_club: Ledger) -> None:
    person = career_club.player("made:p1")
    line = career(career_club, person)
    days = {
        row["n"]: row["ended_ms"] for row in career_club.rows("history", "player = ? AND pool = 1", (person.player,))
    }
    assert line.years[0].n == 1
    assert [year.n for year in line.years] == sorted(year.n for year in line.years)
    assert all(days[year.n - 1] < days[year.n] for year in line.years[1:])
    assert [(scheme.scheme, scheme.n) for scheme in line.schemes] == [("chessworld", 1)]
    summary = career_club.player("made:p1").summary()
    assert line.hera is not None
    assert (line.hera.rating, line.hera.in_force) == (summary.results.hera.hera, summary.results.hera.hera_date)


def test_a_scheme_by_period_gives_a_rating_a_list(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "lists.db", scheme="fide", clock=lambda: NOON) as ledger:
        ann, bob = ledger.register("name:ann", "Ann"), ledger.register("name:bob", "Bob")
        for month in range(1, 10):
            for day in (3, 4, 5):
                key = f"{month}-{day}"
                ended = f"2024-{month:02}-{day:02}"
                ledger.append(game_recorded(key, white=ann, black=bob, ended_at=ended, half_moves=60))
        ledger.ensure_up_to_date()
        line = career(ledger, ledger.player("Ann"))
    assert line.is_by_list
    assert len({point.in_force for point in line.points}) == len(line.points)
    ET.fromstring(picture(line))


def test_a_player_without_a_game_has_an_empty_line_and_a_stranger_none(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "new.db", clock=lambda: NOW) as ledger:
        ledger.register("name:ann", "Ann")
        with pytest.raises(UnknownNameError):
            career(ledger, ledger.player("Ann"))


def test_ten_thousand_games_are_a_small_drawing_and_a_small_document() -> None:
    line = made_up(10_000)
    svg = drawn(line, link=lambda page: f"/players/1?page={page}", shown=(9_951, 10_000))
    assert len(svg) <= ENOUGH
    assert len(json_form.dump_json(line)) <= ENOUGH
    assert len(gzip.compress(svg.encode())) <= ENOUGH // 4
    ET.fromstring(svg)
    pages = [int(page) for page in re.findall(r"page=(\d+)", svg)]
    assert pages == sorted(pages, reverse=True)
    assert pages[-1] <= 4, "the newest games are reached, too"


def test_twenty_points_are_no_landslide_in_a_drawing() -> None:
    svg = drawn(made_up(50, low=1_500.0, high=1_520.0), height=330)
    (line,) = re.findall(r'class="line"[^>]* d="([^"]+)"', svg)
    heights = [float(y) for y in re.findall(r" ([\d.]+)", line)]
    assert max(heights) - min(heights) < 0.3 * 330


def made_up(games: int, low: float = 1_200.0, high: float = 1_900.0) -> Career:
    """A career of 300 points, without a ledger."""

    count = min(300, games)
    numbers = [1 + round(place * (games - 1) / (count - 1)) for place in range(count)]
    points = [
        CareerPoint(
            n=n, ended_at="2024-05-01", in_force="2024-05-01", rating=low + (high - low) * ((n * 7919) % 997) / 997
        )
        for n in numbers
    ]
    return Career(
        pool="standard",
        position=1,
        player=1,
        name="Ann",
        games=games,
        is_by_list=False,
        points=points,
        years=[CareerYear(year=2004 + place, n=1 + place * games // 20) for place in range(20)],
        schemes=[CareerScheme(scheme="elo", n=1)],
        hera=points[-1],
    )
