"""The page of a tournament from a ledger: points, ratings, performances, upsets, editions, what is missing."""

from itertools import product

import pytest

from ledger.answers.asking import ERASED
from ledger.answers.crosstables import listing
from ledger.answers.crosstables.crosstable import TableOptions, crosstable
from ledger.answers.crosstables.crosstable_data import Crosstable, CrossTableRow, EventResult
from ledger.answers.crosstables.listing import TournamentSearch, player_tournaments, tournaments
from ledger.answers.exports.columns import ExportFilter
from ledger.answers.exports.datasets import read_crosstables
from ledger.answers.rows import as_rows
from ledger.answers.upsets import upsets
from ledger.errors import UnknownNameError
from ledger.ledger import Ledger
from tests.kit.clubs import ClubOfTwo
from tests.kit.games import game_recorded

from .conftest import CUP, EVIL


def row(page: Crosstable, name: str) -> CrossTableRow:
    return next(standing for standing in page.standings if standing.name == name)


def result(page: Crosstable, name: str, opponent: str) -> EventResult:
    return next(game for game in row(page, name).results if game.opponent == opponent)


@pytest.fixture(name="first", scope="module")
def _first(cups: Ledger) -> Crosstable:
    return crosstable(cups, CUP, choice=TableOptions(edition="2023", performance="linear"))


def test_the_first_edition_is_a_complete_all_play_all(first: Crosstable) -> None:
    assert (first.format, first.format_is, first.meetings, first.complete) == ("all-play-all", "seen", 1, True)
    assert (first.edition.first_day, first.edition.last_day, first.edition.number, first.edition.of) == (
        "2023-04-01",
        "2023-04-06",
        1,
        2,
    )
    assert (first.players, first.games, first.average_rating) == (4, 6, (1500 + 1600 + 1850 + 1700) / 4)


def test_places_are_shared_and_tie_breaks_order_the_rows(first: Crosstable) -> None:
    # Ann 1 0 ½, Bob 0 1 ½, Cleo 1 0 1, Eve ½ ½ 0
    assert [(standing.name, standing.place, standing.points) for standing in first.standings] == [
        ("Cleo", "1", 2),
        ("Ann", "2-3", 1.5),
        ("Bob", "2-3", 1.5),
        (EVIL, "4", 1),
    ]
    assert row(first, "Ann").tie_breaks == {"direct-encounter": 1, "wins": 1, "sonneborn-berger": 1.5 + 0.5, "koya": 1}


def test_enrolment_is_before_the_first_game_and_closing_ratings_are_after_each(first: Crosstable) -> None:
    game = result(first, "Ann", "Bob")
    expected = 1 / (1 + 10 ** ((1600 - 1500) / 400))
    assert row(first, "Ann").enrolment_rating == game.rating_before == 1500
    assert game.closing_rating == pytest.approx(1500 + 20 * (1 - expected))
    assert game.opponent_closing_rating == pytest.approx(1600 - 20 * (1 - expected))
    last = row(first, "Ann").results[-1]
    assert row(first, "Ann").closing_rating == last.closing_rating != game.closing_rating


def test_a_performance_goes_by_the_opponents_enrolment_ratings(first: Crosstable) -> None:
    ann = row(first, "Ann")
    assert (ann.performance, ann.performance_games) == ((1600 + 1850 + 1700) / 3, 3), "half of the points: the mean"
    assert ann.opponents_mean == ann.performance
    assert ann.er_offset == pytest.approx(100 * ((1600 + 1850 + 1700) / 3 / 1500 - 1))
    assert (first.performance.variant, first.performance.source) == ("linear", "Elo's formula for provisional ratings")


def test_from_a_players_view_each_opponent_has_both_ratings_and_a_performance(first: Crosstable) -> None:
    bob = next(meeting for meeting in row(first, "Ann").meetings if meeting.opponent == "Bob")
    assert (bob.marks, bob.points, bob.opponent_enrolment_rating, bob.performance) == ("1", 1, 1600, 2000)
    assert bob.er_offset == pytest.approx(100 * (2000 / 1500 - 1))
    assert bob.opponent_closing_rating == result(first, "Ann", "Bob").opponent_closing_rating


def test_the_reading_of_chessworld_is_the_mean_of_the_own_closing_ratings(cups: Ledger) -> None:
    ann = row(crosstable(cups, CUP, choice=TableOptions(edition="2023", performance="chessworld")), "Ann")
    closings = [game.closing_rating or 0.0 for game in ann.results]
    assert ann.performance == pytest.approx(sum(closings) / 3)


def test_an_upset_goes_by_the_margin_of_its_day(cups: Ledger, first: Crosstable) -> None:
    bob = result(first, "Bob", "Cleo")
    assert (bob.mark, bob.upset, bob.margin) == ("1", True, 200)
    assert bob.surplus == pytest.approx((bob.opponent_rating_before or 0) - (bob.rating_before or 0))
    second = crosstable(cups, CUP)
    assert (result(second, "Ann", "Cleo").upset, result(second, "Ann", "Cleo").margin) == (True, 300)
    assert not any(game.upset for game in row(second, "Cleo").results)


def test_a_forfeit_counts_for_the_points_and_for_nothing_else(cups: Ledger) -> None:
    second = crosstable(cups, CUP)
    bob = row(second, "Bob")
    forfeit = result(second, "Bob", "Ann")
    assert (forfeit.mark, forfeit.points, forfeit.counts, forfeit.reason) == ("+", 1, False, "unplayed")
    assert (bob.points, bob.performance_games, bob.wins) == (1.5, 1, 1)


def test_what_is_missing_is_said(cups: Ledger) -> None:
    second = crosstable(cups, CUP)
    assert (second.complete, second.missing) == (False, ["1 game to play between 1 pair", "1 game without a result"])
    assert [pair.names for pair in second.missing_games] == [["Bob", "Cleo"]]
    assert result(second, "Ann", EVIL).mark == "*"


def test_a_swiss_tournament_that_was_announced(cups: Ledger) -> None:
    page = crosstable(cups, "Summer open")
    assert (page.format, page.format_is, page.rounds) == ("swiss", "told", 4)
    assert page.missing[:2] == ["1 of 8 entrants has no game", "no game of the last round"]
    assert [(standing.name, standing.points) for standing in page.standings[:2]] == [("Dan", 2), ("Ann", 2)]
    assert [column.name for column in page.tie_breaks] == ["buchholz-cut-1", "buchholz", "sonneborn-berger", "wins"]


def test_a_knock_out_has_its_rounds(cups: Ledger) -> None:
    page = crosstable(cups, "Knock-out", choice=TableOptions(kind="knockout"))
    assert (page.format, page.format_is) == ("knockout", "chosen")
    assert [(match.round, match.names, match.points) for match in page.matches] == [
        (1, ["Ann", "Bob"], [1, 0]),
        (1, ["Cleo", EVIL], [1.5, 0.5]),
        (2, ["Cleo", "Ann"], [1, 0]),
    ]
    assert [(standing.name, standing.place) for standing in page.standings] == [
        ("Cleo", "1"),
        ("Ann", "2"),
        (EVIL, "3-4"),
        ("Bob", "3-4"),
    ]


def test_tie_breaks_that_decide_make_places(cups: Ledger) -> None:
    page = crosstable(cups, CUP, choice=TableOptions(edition="2023", tie_breaks=("direct-encounter",)))
    assert [(standing.name, standing.place) for standing in page.standings[1:3]] == [("Ann", "2"), ("Bob", "3")]
    assert [(column.name, column.decides) for column in page.tie_breaks][:2] == [
        ("direct-encounter", True),
        ("wins", False),
    ]


def test_quiet_days_part_editions_or_do_not(cups: Ledger) -> None:
    assert crosstable(cups, CUP, choice=TableOptions(quiet_days=400)).edition.of == 1
    with pytest.raises(UnknownNameError, match=r"none lies in it; there are: 2023-04-01 to 2023-04-06, 2024-04-01"):
        crosstable(cups, CUP, choice=TableOptions(edition="2020"))


@pytest.mark.parametrize(
    ("choice", "hint"),
    [
        (TableOptions(performance="fide"), "fide_tpr"),
        (TableOptions(tie_breaks=("sb",)), "sonneborn-berger"),
        (TableOptions(ratings="mine"), "shown"),
        (TableOptions(kind="league"), "swiss"),
    ],
)
def test_names_of_nothing_are_refused_with_those_that_there_are(cups: Ledger, choice: TableOptions, hint: str) -> None:
    with pytest.raises(UnknownNameError, match=hint):
        crosstable(cups, CUP, choice=choice)


def test_a_name_that_no_game_carries_is_refused_with_the_nearest(cups: Ledger) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'Spring cup'"):
        crosstable(cups, "Sprng cup")
    with pytest.raises(UnknownNameError, match="did you mean 'Summer open'"):
        crosstable(cups, "summer")


def test_of_several_editions_in_a_year_the_one_is_meant_of_which_that_year_is_told(club_of_two: ClubOfTwo) -> None:
    ledger = club_of_two.ledger
    for key, day in (("c1", "1994"), ("c2", "1994-02-01"), ("c3", "1994-09-01")):
        ledger.append(game_recorded(key, ended_at=day, tournament=CUP))
    ledger.ensure_up_to_date()
    rows = tournaments(ledger)
    assert [(row.first_day, row.edition) for row in rows] == [("1994-09-01", "2 of 2"), ("1994", "1 of 2")]
    for row in rows:
        of_day = crosstable(ledger, CUP, choice=TableOptions(edition=row.first_day))
        assert f"{of_day.edition.number} of {of_day.edition.of}" == row.edition
        assert crosstable(ledger, CUP, choice=TableOptions(number=of_day.edition.number)) == of_day
    assert [frame["edition"].to_list() for frame in read_crosstables(ledger, ExportFilter(tournament=CUP))] == [
        ["1994-09-01"] * 2,
        ["1994"] * 2,
    ]
    for key, day in (("d1", "1995-02-01"), ("d2", "1995-09-01")):
        ledger.append(game_recorded(key, ended_at=day, tournament=EVIL))
    ledger.ensure_up_to_date()
    with pytest.raises(UnknownNameError, match="2 editions lie in it"):
        crosstable(ledger, EVIL, choice=TableOptions(edition="1995"))
    for number in (0, 3):
        with pytest.raises(UnknownNameError, match="there are 2"):
            crosstable(ledger, CUP, choice=TableOptions(number=number))


def test_tournaments_are_listed_an_edition_a_row_the_latest_first(cups: Ledger) -> None:
    rows = as_rows(tournaments(cups))
    assert [(row["tournament"], row["edition"], row["first_day"], row["format"]) for row in rows] == [
        ("Knock-out", "1 of 1", "2024-09-01", "knockout"),
        ("Summer open", "1 of 1", "2024-06-01", "swiss"),
        (CUP, "2 of 2", "2024-04-01", "all-play-all"),
        (CUP, "1 of 2", "2023-04-01", "all-play-all"),
    ]
    assert [row["winners"] for row in rows] == [["Cleo"], ["Dan", "Ann"], ["Bob"], ["Cleo"]]
    assert [row["missing"] is None for row in rows] == [True, False, False, True]
    assert rows[3]["average_rating"] == (1500 + 1600 + 1850 + 1700) / 4


def test_tournaments_are_found_by_a_part_of_the_name_and_by_days(cups: Ledger) -> None:
    def found(**sought: str | int) -> list[str]:
        return [row["first_day"] for row in as_rows(tournaments(cups, search=TournamentSearch(**sought)))]  # type: ignore[arg-type]

    assert found(text="SPRING") == ["2024-04-01", "2023-04-01"]
    assert found(since="2024-04-05") == ["2024-09-01", "2024-06-01", "2024-04-01"]
    assert found(until="2023") == ["2023-04-01"]
    assert found(limit=1) == ["2024-09-01"]


@pytest.mark.parametrize(("late", "at_most"), [(1, 8), (3, 24), (8, 64)])
def test_the_latest_tournaments_are_those_of_the_whole_list(
    cups: Ledger, monkeypatch: pytest.MonkeyPatch, late: int, at_most: int
) -> None:
    whole = as_rows(tournaments(cups))
    monkeypatch.setattr(listing, "FIRST_GAMES_READ", late)
    monkeypatch.setattr(listing, "MOST_GAMES_READ", at_most)
    for limit in range(1, 5):
        assert as_rows(tournaments(cups, search=TournamentSearch(limit=limit))) == whole[:limit]
    monkeypatch.setattr(listing, "MOST_NAMES_READ_SINGLY", 0)
    days = ("2023-04-05", "2024-04-02", "2024-04-05", "2024-06-03", "2024-06-08", "2024-09-01")
    for since, until, text, limit in product((None, *days), (None, *days), (None, "CUP", "n"), (0, 1, 2)):
        sought = TournamentSearch(since=since, until=until, text=text, limit=limit)
        late_ones = as_rows(tournaments(cups, search=sought))
        with monkeypatch.context() as patch:
            patch.setattr(listing, "_latest_editions", lambda *_: None)
            assert late_ones == as_rows(tournaments(cups, search=sought)), sought


def test_an_edition_that_rests_between_two_days_is_found_by_them(
    club_of_two: ClubOfTwo, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = club_of_two.ledger
    for key, day in (("l1", "2024-01-05"), ("l2", "2024-02-20"), ("y1", "1994"), ("y2", "1994-09-01")):
        ledger.append(game_recorded(key, ended_at=day, tournament=CUP if key < "y" else EVIL))
    ledger.ensure_up_to_date()
    monkeypatch.setattr(listing, "FIRST_GAMES_READ", 1)
    for since, until, name in (("2024-01-20", "2024-01-25", CUP), ("1994-03", "1994-05", EVIL)):
        rows = tournaments(ledger, search=TournamentSearch(since=since, until=until))
        assert [row.tournament for row in rows] == [name]


def test_the_tournaments_of_a_player_have_the_lines_of_their_tables(cups: Ledger) -> None:
    rows = as_rows(player_tournaments(cups, cups.player("Ann"), tpr="linear"))
    assert [row["tournament"] for row in rows] == ["Knock-out", "Summer open", CUP, CUP]
    page = crosstable(cups, CUP, choice=TableOptions(edition="2023", performance="linear"))
    ann, line = row(page, "Ann"), rows[3]
    assert (line["place"], line["players"], line["points"], line["rating"]) == ("2-3", 4, 1.5, 1500)
    assert (line["performance"], line["er_offset"], line["variant"]) == (ann.performance, ann.er_offset, "linear")
    assert as_rows(player_tournaments(cups, cups.player("Hal"), search=TournamentSearch(text="cup"))) == []


def test_ratings_that_the_source_shows_count_where_they_are_asked_for(cups: Ledger) -> None:
    page = crosstable(cups, CUP, choice=TableOptions(ratings="shown"))
    assert (page.ratings, page.average_rating, row(page, "Ann").performance) == ("shown", None, None)
    assert row(page, "Ann").performance_missing == "no game against a rated opponent"
    assert ERASED not in row(page, "Ann").name


def test_the_upsets_of_tables_are_those_of_the_ledger(cups: Ledger) -> None:
    by_game = {row["game"]: (row["surplus"], row["margin"]) for row in as_rows(upsets(cups))}
    found = {
        result.game: (result.surplus, result.margin)
        for name, edition in ((CUP, "2023"), (CUP, "2024"), ("Summer open", None), ("Knock-out", None))
        for standing in crosstable(cups, name, choice=TableOptions(edition=edition)).standings
        for result in standing.results
        if result.upset
    }
    assert found == by_game != {}
