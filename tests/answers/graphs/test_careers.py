"""A career as one line: thinned without losing a peak, by game or by list, with its years, schemes and HERA."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import attrs
import pytest

from ledger.answers.graphs.career import (
    MOST_PUBLISHED,
    MOST_TOURNAMENTS,
    POINTS,
    Career,
    CareerLine,
    CareerPoint,
    CareerPublished,
    CareerScheme,
    CareerTournament,
    CareerYear,
    career,
    thinned,
)
from ledger.answers.graphs.career_documents import FORMATS, document
from ledger.answers.graphs.career_svg import NARROW, WIDE, CareerLinks, drawn, picture
from ledger.errors import MalformedError, UnknownNameError
from ledger.facts.events import Decision, RatingSeeded, SchemeAdopted
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


def test_a_player_without_a_game_has_an_empty_line_and_a_stranger_none(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "new.db", clock=lambda: NOW) as ledger:
        ledger.register("name:ann", "Ann")
        with pytest.raises(UnknownNameError):
            career(ledger, ledger.player("Ann"))


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_ten_thousand_games_are_small_in_every_text_format(width: int) -> None:
    line = made_up(10_000)
    links = CareerLinks(
        page=lambda page: f"/players/1?page={page}",
        tournament=lambda mark: f"/tournaments/{mark.tournament}",
        published=lambda name: f"/lists/{name}",
    )
    svg = drawn(line, links=links, shown=(9_951, 10_000), width=width, height=330)
    assert len(svg) <= ENOUGH
    assert len(gzip.compress(svg.encode())) <= ENOUGH // 4
    ET.fromstring(svg)
    pages = [int(page) for page in re.findall(r"page=(\d+)", svg)]
    assert pages == sorted(pages, reverse=True)
    assert pages[-1] <= 20, "the newest games are reached, too"
    texts = {kind: document(line, kind) for kind in FORMATS - {"png"}}
    assert {kind for kind, text in texts.items() if len(text) > ENOUGH} == set()


def test_the_data_of_ten_thousand_games_in_four_pools_are_small_for_the_line_is_shared() -> None:
    line = made_up(10_000, count=POINTS // 4)
    beside = [
        CareerLine(pool=pool, games=10_000, is_by_list=False, points=line.points) for pool in ("rapid", "blitz", "960")
    ]
    line = attrs.evolve(line, other_pools=beside)
    assert len(document(line, "json")) <= ENOUGH
    svg = document(line, "svg").decode()
    looks = re.findall(
        r'class="career-line" fill="none" stroke="(#\w+)" stroke-width="2"( stroke-dasharray="[^"]+")?', svg
    )
    assert len(set(looks)) == len(looks) == 4
    assert len({dash for _, dash in looks}) == 4, "without colours they differ, too"


def test_twenty_points_are_no_landslide_in_a_drawing() -> None:
    svg = drawn(made_up(50, low=1_500.0, high=1_520.0), height=330)
    (line,) = re.findall(r'class="career-line"[^>]* d="([^"]+)"', svg)
    heights = [float(y) for y in re.findall(r" ([\d.]+)", line)]
    assert max(heights) - min(heights) < 0.3 * 330


@pytest.mark.parametrize(
    ("has_classes", "word", "other"), [(True, "HERA 1", "highest 1"), (False, "highest 1", "HERA")]
)
def test_the_highest_rating_is_called_hera_only_where_there_are_classes(
    has_classes: bool, word: str, other: str
) -> None:
    svg = drawn(attrs.evolve(made_up(100), has_classes=has_classes), height=330)
    (mark,) = re.findall(r'<path class="mark"[^>]*><title>([^<]*)</title>', svg)
    assert (word in mark, other in mark) == (True, False)


def made_up(games: int, low: float = 1_200.0, high: float = 1_900.0, count: int = POINTS) -> Career:
    """A career of many points and marks, without a ledger."""
    count = min(count, games)
    numbers = [1 + round(place * (games - 1) / (count - 1)) for place in range(count)]
    points = [
        CareerPoint(
            n=n,
            ended_at="2024-05-01",
            in_force="2024-05-01",
            rating=low + (high - low) * ((n * 7919) % 997) / 997 + 0.12345678901,
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
        since=None,
        until=None,
        points=points,
        years=[CareerYear(year=2004 + place, n=1 + place * games // 20) for place in range(20)],
        schemes=[CareerScheme(scheme="elo", n=1)],
        has_classes=False,
        hera=points[-1],
        highest=max(points, key=lambda point: point.rating),
        tournaments=[
            CareerTournament(
                tournament=f"Tournament {n}",
                n=n,
                ended_at="2024-05-01",
                in_force="2024-05-01",
                games=9,
                score=4.5,
                change=-12.34567890123,
                together=1,
            )
            for n in range(1, games, max(1, games // MOST_TOURNAMENTS))
        ][:MOST_TOURNAMENTS],
        published=[
            CareerPublished(
                list="standard@2024-05-01/1", as_of="2024-05-01", published_rating=1_500.0, revised_rating=1_400.0
            )
        ]
        * MOST_PUBLISHED,
        other_pools=[],
    )


# -- lists -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", name="list_club")
def _list_club(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    """Ann and Bob in three pools of FIDE's schemes, with a published list that a correction has overtaken."""
    folder = tmp_path_factory.mktemp("lists")
    with Ledger.create(folder / "club.db", scheme="fide", clock=lambda: NOON) as ledger:
        ann, bob = ledger.register("name:ann", "Ann"), ledger.register("name:bob", "Bob")
        for pool in ("rapid", "blitz"):
            ledger.append(SchemeAdopted(pool=pool, scheme="fide", settings={"rapid": True}))
        for pool, rating in (("standard", "1800"), ("rapid", "1750"), ("blitz", "1700")):
            for player in (ann, bob):
                ledger.append(
                    RatingSeeded(player=player, pool=pool, effective_at="2023-12-01", rating=rating, games=50)
                )
            for month in range(1, 10):
                for day in (3, 4, 25):
                    ledger.append(
                        game_recorded(
                            f"{pool}-{month}-{day}",
                            pool=pool,
                            white=ann,
                            black=bob,
                            ended_at=f"2024-{month:02}-{day:02}",
                            half_moves=60,
                            tournament=f"Open {month}" if day < 25 else f"Cup {month}",
                        )
                    )
        ledger.ensure_up_to_date()
        ledger.publications.publish("2024-03-31", "standard", actor="eve", despite_complaints=True)
        number = ledger.propose([ledger.corrections.drafts.annul("game:standard-2-3")], reason="twice", by="eve")
        ledger.decide(number.proposal, Decision.APPROVED, by="adam")
        ledger.ensure_up_to_date()
        yield ledger


def test_a_scheme_by_list_shows_the_ratings_in_force_from_the_first_list_on(list_club: Ledger) -> None:
    line = career(list_club, list_club.player("Ann"))
    assert line.is_by_list
    assert (line.points[0].n, line.points[0].in_force, line.points[0].rating) == (0, "2023-12-01", 1800.0)
    assert [point.in_force for point in line.points[1:3]] == ["2024-01-31", "2024-02-29"]
    assert line.has_classes is False
    svg = picture(line)
    ET.fromstring(svg)
    assert "HERA" not in svg
    assert ">Jan</text>" in svg
    assert ">2024</text>" in svg, "months are below the line"


def test_a_scheme_that_shows_no_rating_yet_has_an_empty_line_and_no_zeros(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "new.db", scheme="fide", clock=lambda: NOON) as ledger:
        ann, bob = ledger.register("name:ann", "Ann"), ledger.register("name:bob", "Bob")
        ledger.append(game_recorded("1", white=ann, black=bob, ended_at="2024-01-03", half_moves=60))
        ledger.ensure_up_to_date()
        line = career(ledger, ledger.player("Ann"))
    assert (line.games, line.points, line.hera, line.highest) == (1, [], None, None)
    for kind in FORMATS:
        assert document(line, kind)
    assert "no rating to show" in picture(line)


def test_each_tournament_is_a_mark_with_its_change_or_with_the_one_that_it_shares(list_club: Ledger) -> None:
    line = career(list_club, list_club.player("Ann"))
    marks = {mark.tournament: mark for mark in line.tournaments}
    steps = {after.in_force: after.rating - before.rating for before, after in pairwise(line.points)}
    assert marks["Open 1"].change == marks["Cup 1"].change == steps["2024-01-31"]
    assert {mark.together for mark in marks.values()} == {2}
    assert (marks["Open 2"].games, marks["Open 2"].score, marks["Cup 2"].ended_at) == (1, 1.0, "2024-02-25")
    svg = picture(line)
    assert "with 1 other tournament, counts from 2024-01-31" in svg
    bare = career(list_club, list_club.player("Ann"), marks=False)
    assert (bare.tournaments, bare.published) == ([], [])


def test_a_published_number_that_would_be_another_one_now_is_marked(list_club: Ledger) -> None:
    line = career(list_club, list_club.player("Ann"))
    (published,) = line.published
    assert (published.list, published.as_of) == ("standard@2024-03-31/1", "2024-03-31")
    (now,) = [point.rating for point in line.points if point.in_force == "2024-03-31"]
    assert published.revised_rating == now != published.published_rating
    assert f"List standard@2024-03-31/1 said {published.published_rating:.0f}, now it would say {now:.0f}" in picture(
        line
    )
    assert career(list_club, list_club.player("Ann"), since="2024-05").published == []


def test_standard_rapid_and_blitz_are_drawn_together_with_a_legend(list_club: Ledger) -> None:
    line = career(list_club, list_club.player("Ann"), every_pool=True)
    assert [other.pool for other in line.other_pools] == ["rapid", "blitz"]
    alone = career(list_club, list_club.player("Ann"), "rapid")
    assert line.other_pools[0].points == alone.points
    svg = picture(line)
    for pool in ("standard", "rapid", "blitz"):
        assert f">{pool} " in svg
    assert career(list_club, list_club.player("Ann")).other_pools == []


def test_a_range_begins_with_the_list_in_force_then(list_club: Ledger) -> None:
    line = career(list_club, list_club.player("Ann"), since="2024-03", until="2024-04")
    assert [point.in_force for point in line.points] == ["2024-02-29", "2024-03-31", "2024-04-30"]
    assert (line.since, line.until) == ("2024-03-01", "2024-04-30")
    assert {mark.tournament for mark in line.tournaments} == {"Open 3", "Cup 3", "Open 4", "Cup 4"}
    ET.fromstring(drawn(line, height=330))
    with pytest.raises(MalformedError, match="a range begins before it ends"):
        career(list_club, list_club.player("Ann"), since="2024-05", until="2024-04")


def test_a_range_of_games_has_more_points_than_the_whole_career_has_there(career_club: Ledger) -> None:
    person = career_club.player("made:p1")
    whole, part = career(career_club, person, points=20), career(career_club, person, points=20, since="2015")
    assert len([point for point in whole.points if point.in_force >= "2015"]) < len(part.points)
    assert part.points[0].in_force >= "2015"
    assert part.points[-1] == whole.points[-1]
    assert career(career_club, person, since="1990", until="1991").points == []


def test_many_lists_are_thinned_without_losing_a_peak() -> None:
    points = [
        CareerPoint(n=n, ended_at="2024-01-01", in_force="2024-01-01", rating=1_000.0 + n * 7919 % 997)
        for n in range(1, 2_000)
    ]
    few = thinned(points, POINTS)
    assert len(few) <= POINTS + 2
    ratings = [point.rating for point in few]
    assert (max(ratings), min(ratings)) == (
        max(point.rating for point in points),
        min(point.rating for point in points),
    )
    assert (few[0], few[-1]) == (points[0], points[-1])


def test_a_tournament_of_games_has_the_sum_of_its_changes(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "elo.db", scheme="elo", clock=lambda: NOON) as ledger:
        ann, bob = ledger.register("name:ann", "Ann"), ledger.register("name:bob", "Bob")
        for day, tournament in ((1, "Cup"), (2, None), (3, "Cup")):
            ended = f"2024-05-0{day}"
            facts = {"white": ann, "black": bob, "ended_at": ended, "half_moves": 60, "tournament": tournament}
            ledger.append(game_recorded(f"{day}", **facts))
        facts = {"white": ann, "black": bob, "ended_at": "2025-05-01", "half_moves": 60, "tournament": "Cup"}
        ledger.append(game_recorded("4", **facts))
        ledger.ensure_up_to_date()
        first, second = career(ledger, ledger.player("Ann")).tournaments
        rows = {row["n"]: row["rating"] - row["rating_before"] for row in ledger.rows("history", "player = 1")}
    assert (first.games, second.games, second.ended_at) == (2, 1, "2025-05-01")
    assert [first.change, second.change] == pytest.approx([rows[1] + rows[3], rows[4]])


def test_a_player_of_the_library_saves_a_career_by_the_name_of_the_file(list_club: Ledger, tmp_path: Path) -> None:
    graph = list_club.player("Ann").career("rapid", since="2024-03", every_pool=True)
    assert (graph.data().pool, graph.data().since) == ("rapid", "2024-03-01")
    for ending, begins in ((".svg", b"<svg "), (".png", b"\x89PNG"), (".html", b"<!doctype"), (".json", b'{"pool"')):
        graph.save(tmp_path / f"ann{ending}")
        assert (tmp_path / f"ann{ending}").read_bytes().startswith(begins)
    with pytest.raises(MalformedError, match=r"must end in \.json, \.svg"):
        graph.save(tmp_path / "ann.gif")
