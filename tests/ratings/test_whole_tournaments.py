"""FIDE rates a tournament whole, in the period in which it ended, from the ratings in force on its first day.

The examples are worked by hand: everybody begins with a declared 2000 and the K of a new player, 40; the table of
expected scores (8.1.2) has .50 for differences up to 3 points, .51 to 10, .52 to 17, .53 to 25.
"""

from datetime import date, timedelta
from itertools import permutations

import pytest

from ledger.answers.explanations import explain
from ledger.answers.rows import as_row
from ledger.facts.events import Event, TournamentClosed, TournamentOpened
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.ledger import Ledger
from ledger.testing import rows_by_facts
from tests.kit.clubs import recorded_of_old
from tests.ratings.whole_tournaments import (
    ANN,
    BOB,
    CARL,
    DAN,
    EVE,
    EVERYBODY,
    NOW,
    club,
    lists,
    nobody,
    places,
    played,
    ratings,
    told,
)

AUGUST = [played("2025-08-10", ANN, "1", CARL, "August open")]
OVER_A_MONTH_END = [
    played("2025-08-28", ANN, "1", BOB, "Autumn open"),
    played("2025-09-02", CARL, "=", DAN, "Autumn open"),
    played("2025-09-06", BOB, "=", ANN, "Autumn open"),
]


def test_a_tournament_over_a_month_end_is_rated_whole_from_the_ratings_of_its_first_day(new_club: Ledger) -> None:
    """August: Ann 2000 + 40·(1 - .50) = 2020, Carl 1980: the list of 1 September.

    The open, from the list of 1 August, on which all have 2000: Ann 1½ of 2 against .50 + .50, so 40·½ = 20 more than
    her 2020 of September; Carl and Dan draw as equals, though Carl has 1980 when they meet.
    """
    told(new_club, EVERYBODY, AUGUST, OVER_A_MONTH_END)
    assert ratings(new_club) == {ANN: 2040, BOB: 1980, CARL: 1980, DAN: 2000}
    assert places(new_club, "Autumn open") == {
        (instant_end_ms("2025-09"), began) for began in (None, instant_ms("2025-08-28"))
    }
    assert lists(new_club, ANN) == [("2025-08-31", 2020), ("2025-09-30", 2040)]


def test_a_game_of_the_first_day_that_can_be_written_is_rated_where_lists_come_into_force_later(
    new_club: Ledger,
) -> None:
    """Programs that know no date write 0001-01-01: on that day a list of the year before would be in force.

    Before July 2011 a new player's K was 25: 25·(1 - .50) = 12.5, and 13 rounded.
    """
    told(new_club, club(2000, 2000, in_force_after=14), [played("0001-01-01", ANN, "1", BOB, "Open")])
    assert ratings(new_club) == {ANN: 2013, BOB: 1987}
    assert {row["rated_ms"] for row in new_club.rows("games")} == {instant_end_ms("0001-02-14")}


def test_its_explanation_shows_the_starting_ratings_and_works_out(new_club: Ledger) -> None:
    told(new_club, EVERYBODY, AUGUST, OVER_A_MONTH_END)
    answer = as_row(explain(new_club, nobody(ANN), "2025-09-06-2-1"))
    values = {term["symbol"]: term["value"] for term in answer["terms"]}
    assert values == {"Ro": 2020, "R1": 2000, "n": 2, "W": 1.5, "We": 1.0, "K": 40}
    assert (answer["before"], answer["after"], answer["change"]) == (2020, 2040, 20)
    assert answer["unrounded"] == values["Ro"] + values["K"] * (values["W"] - values["We"])
    assert [(met["rating"], met["own_rating"], met["tournament_began"]) for met in answer["meetings"]] == [
        (2000, 2000, "2025-08-28")
    ] * 2


OVER_TWO_MONTH_ENDS = [
    played(day, ANN, result, BOB, "Winter match")
    for day, result in (
        ("2025-01-31", "="),
        ("2025-02-07", "="),
        ("2025-02-14", "1"),
        ("2025-02-21", "="),
        ("2025-02-28", "="),
        ("2025-03-01", "="),
    )
]
MEANWHILE = [played("2025-01-10", ANN, "1", CARL, "January open"), played("2025-02-03", ANN, "1", DAN, "February open")]


def test_a_tournament_over_two_month_ends_has_the_ratings_of_two_lists_before(new_club: Ledger) -> None:
    """January: 2020 on 1 February. February, 2020 against 2000: 40·(1 - .53) = 18.8, so 2039 on 1 March.

    The match of 31 January to 1 March, 30 days, from the 2000 of 1 January: 3½ of 6 against 3, 20 more on 1 April.
    """
    told(new_club, EVERYBODY, MEANWHILE, OVER_TWO_MONTH_ENDS)
    assert lists(new_club, ANN) == [("2025-01-31", 2020), ("2025-02-28", 2039), ("2025-03-31", 2059)]
    assert ratings(new_club)[BOB] == 1980


def test_two_tournaments_of_one_period_are_rounded_once_each_from_its_own_list(new_club: Ledger) -> None:
    """The open that began in August: +.50 from 2000. The cup in September, 2020 against Dan's 2000: +.47.

    40·.97 = 38.8, so 39; rounded each by itself it would be 20 and 19, which is the same, for Dan 40·-.47 = -18.8.
    """
    cup = [played("2025-09-12", ANN, "1", DAN, "Cup")]
    told(new_club, EVERYBODY, AUGUST, OVER_A_MONTH_END, cup)
    assert ratings(new_club) == {ANN: 2059, BOB: 1980, CARL: 1980, DAN: 1981}
    both = as_row(explain(new_club, nobody(ANN), "2025-09-12-1-4"))
    values = {term["symbol"]: term["value"] for term in both["terms"]}
    assert values == {"Ro": 2020, "R1": 2000, "R2": 2020, "n": 3, "W": 2.5, "We": 1.53, "K": 40}
    assert [met["rating"] for met in both["meetings"]] == [2000, 2000, 2000]


LEAGUE = [
    played(f"2025-{month:02}-{day:02}", ANN, "1", opponent, "League")
    for month, day, opponent in ((7, 20, BOB), (7, 27, CARL), (8, 3, DAN), (8, 10, EVE), (8, 17, BOB), (8, 24, CARL))
]


def test_a_league_of_more_than_thirty_days_is_rated_month_by_month(new_club: Ledger) -> None:
    """July from 2000: two wins, 40·1 = 40, so 2040; August from 2040 against 2000, 2000, 1980, 1980.

    .56 against 40 points less, .58 against 60 less: 4 - 2.28 = 1.72, times 40 is 68.8, so 2109.
    """
    told(new_club, EVERYBODY, LEAGUE)
    assert lists(new_club, ANN) == [("2025-07-31", 2040), ("2025-08-31", 2109)]
    assert {began for _, began in places(new_club, "League")} == {instant_ms("2025-07-01"), instant_ms("2025-08-01")}


def test_a_long_tournament_in_one_list_may_have_the_ratings_of_each_period(new_club: Ledger) -> None:
    """July open, 2020 on 1 August. The league counts in August: two wins in July from 2000, 40 more.

    In August 2020 against 2000, 2000, 1980, 2000: 4 - 3·.53 - .56 = 1.85, times 40 is 74, so 2134.
    """
    july = [played("2025-07-10", ANN, "1", BOB, "July open")]
    told(new_club, club(2000, 2000, 2000, 2000, 2000, event_days=60, first_day_ratings=30), july, LEAGUE)
    august = instant_end_ms("2025-08")
    begins = (None, instant_ms("2025-07-20"), instant_ms("2025-08-01"))  # None: that day itself
    assert places(new_club, "League") == {(august, began) for began in begins}
    assert lists(new_club, ANN) == [("2025-07-31", 2020), ("2025-08-31", 2134)]


def test_a_league_that_counts_month_by_month_may_have_the_ratings_of_its_first_day(new_club: Ledger) -> None:
    """July from 2000: 40·1; August from 2000 against 2000, too: 40·2."""
    told(new_club, club(2000, 2000, 2000, 2000, 2000, event_days=30, first_day_ratings=60), LEAGUE)
    assert lists(new_club, ANN) == [("2025-07-31", 2040), ("2025-08-31", 2120)]
    assert {began for _, began in places(new_club, "League")} == {instant_ms("2025-07-20"), None}


def test_the_explanation_of_a_league_names_its_first_day_and_the_ratings_of_each_period(new_club: Ledger) -> None:
    """Five months, which is more than any tournament that is rated whole may reach, beside a game of its own."""
    days = [str(date(2025, 8, 31) + timedelta(weeks=n)) for n in range(12)]
    later = [played(day, ANN, "=", BOB, "League") for day in days]
    told(new_club, EVERYBODY, LEAGUE, later, [played("2025-11-05", ANN, "=", BOB, None)])
    for key, own in (("2025-07-27-1-3", 2000), ("2025-08-03-1-4", 2040)):
        met = as_row(explain(new_club, nobody(ANN), key))["meetings"]
        assert {(game["own_rating"], game["tournament_began"]) for game in met} == {(own, "2025-07-20")}
    last = as_row(explain(new_club, nobody(ANN), "2025-11-16-1-2"))["meetings"]
    assert [game["tournament_began"] for game in last] == ["2025-07-20", "2025-11-05", *["2025-07-20"] * 2]


def test_the_game_that_makes_a_tournament_too_long_moves_all_others(new_club: Ledger) -> None:
    told(new_club, EVERYBODY, LEAGUE[:5])  # 20 July to 17 August: 29 days
    assert {rated for rated, _ in places(new_club, "League")} == {instant_end_ms("2025-08")}
    told(new_club, LEAGUE[5:])
    assert lists(new_club, ANN) == [("2025-07-31", 2040), ("2025-08-31", 2109)]


@pytest.mark.parametrize(
    ("day", "period"), [("2025-08-29", "2025-08"), ("2025-08-30", "2025-09"), ("2025-08-31", "2025-09")]
)
def test_a_tournament_must_be_over_three_days_before_the_list(new_club: Ledger, day: str, period: str) -> None:
    told(new_club, EVERYBODY, played("2025-08-25", ANN, "1", BOB, "Cup"), played(day, ANN, "1", BOB, "Cup"))
    assert {rated for rated, _ in places(new_club, "Cup")} == {instant_end_ms(period)}


def test_a_gap_ends_an_edition(new_club: Ledger) -> None:
    told(new_club, EVERYBODY, [played(f"2025-08-{day}", ANN, "1", BOB, "Cup") for day in ("08", "15", "23")])
    assert places(new_club, "Cup") == {
        (instant_end_ms("2025-08"), None),
        (instant_end_ms("2025-08"), instant_ms("2025-08-08")),
    }
    (last,) = new_club.rows("games", "ended_at = '2025-08-23'")
    assert last["began_ms"] is None, "eight days after the one before: it begins an edition of its own"


def test_a_closing_says_when_a_tournament_was_over(new_club: Ledger) -> None:
    told(new_club, EVERYBODY, played("2025-09-25", ANN, "1", BOB, "Cup"), played("2025-09-28", ANN, "1", BOB, "Cup"))
    assert lists(new_club, ANN) == [("2025-09-30", 2040)]
    told(new_club, TournamentClosed(pool="club", tournament="Cup", ended_at="2025-09-29"))
    assert lists(new_club, ANN) == [("2025-10-31", 2040)]
    recorded_of_old(new_club, TournamentClosed(pool="club", tournament="Cup", ended_at="2025-09-26"))
    assert lists(new_club, ANN) == [("2025-09-30", 2020), ("2025-10-31", 2040)], "as journals of old have it"


def test_an_opening_says_when_it_begins_and_ends_before_its_games_do(new_club: Ledger) -> None:
    opening = TournamentOpened(
        pool="club", tournament="Autumn open", starts_at="2025-08-01", ends_at="2025-08-30", rounds=9
    )
    first = played("2025-08-06", ANN, "1", BOB, "Autumn open")
    last = played("2025-08-30", BOB, "=", ANN, "Autumn open")
    facts: list[Event] = [opening, first, last]
    for order in permutations(facts):
        name = f"{order.index(opening)}{order.index(first)}.db"
        fresh = Ledger.create(new_club.path.with_name(name), clock=lambda: NOW)
        told(fresh, EVERYBODY, *order)
        assert places(fresh, "Autumn open") == {(instant_end_ms("2025-09"), instant_ms("2025-08-01"))}
        fresh.close()


def test_who_was_rated_meanwhile_counts_as_unrated_for_opponents(new_club: Ledger) -> None:
    """8.2.4. Eve, unrated, scores 3 of 5 in July: (10000 + 3600)/7 = 1942.86, p = 4/7 = 57 %, dp 50: 1993 in August.

    The open began on 30 July: Ann's game against her does not count, Eve's counts from 1993: 2000 - 1993 = 7, .49.
    """
    july = [
        played(f"2025-07-{day}", EVE, result, opponent, "July open")
        for day, result, opponent in (
            ("01", "1", ANN),
            ("02", "1", BOB),
            ("03", "1", CARL),
            ("04", "0", DAN),
            ("05", "0", ANN),
        )
    ]
    later = [played("2025-07-30", EVE, "1", ANN, "Open"), played("2025-08-05", BOB, "1", ANN, "Open")]
    told(new_club, club(2000, 2000, 2000, 2000, None), july, later)
    assert lists(new_club, EVE) == [("2025-07-31", 1993), ("2025-08-31", 2013)]
    assert ratings(new_club)[ANN] == 1980
    assert ratings(new_club)[BOB] == 2020


@pytest.mark.parametrize("late", range(3))
def test_a_late_game_moves_the_tournament_and_the_rows_are_those_of_one_rebuild(new_club: Ledger, late: int) -> None:
    others = [game for place, game in enumerate(OVER_A_MONTH_END) if place != late]
    told(new_club, EVERYBODY, AUGUST, others, OVER_A_MONTH_END[late : late + 1])
    stood = rows_by_facts(new_club.views.connection)
    new_club.rebuild()
    assert rows_by_facts(new_club.views.connection) == stood
    assert ratings(new_club)[ANN] == 2040


def test_two_tournaments_that_began_on_one_day_have_one_upgrade_each(new_club: Ledger) -> None:
    """2023: of the games of a tournament the one with the greatest difference counts as 400 points, .92 and not .96.

    Ann, 2600 and so K 10, beats a 2100 in each of two: 10·(2 - 1.84) = 1.6.
    """
    told(
        new_club,
        club(2600, 2100, 2100),
        played("2023-05-10", ANN, "1", BOB, "Morning open"),
        played("2023-05-10", ANN, "1", CARL, "Evening open"),
    )
    assert ratings(new_club)[ANN] == 2602
    values = {
        term["symbol"]: term["value"] for term in as_row(explain(new_club, nobody(ANN), "2023-05-10-1-2"))["terms"]
    }
    assert (values["We"], values["R1"], values["R2"]) == (1.84, 2600, 2600)


def test_a_newcomers_first_tournament_without_a_point_is_left_out_beside_another_of_that_day(new_club: Ledger) -> None:
    """Eve loses twice in one and scores 2½ of 5 in the other: (10000 + 3600)/7 = 1942.86, p = 50 %, so 1943."""
    morning = [played(f"2025-07-0{day}", EVE, "0", opponent, "Morning open") for day, opponent in ((1, ANN), (2, BOB))]
    evening = [
        played(f"2025-07-0{day}", EVE, result, opponent, "Evening open")
        for day, result, opponent in ((1, "1", CARL), (2, "=", DAN), (3, "1", ANN), (4, "0", BOB), (5, "0", CARL))
    ]
    told(new_club, club(2000, 2000, 2000, 2000, None), morning, evening)
    assert ratings(new_club)[EVE] == 1943


def test_a_tournament_from_before_the_lists_that_are_kept_is_rated_period_by_period(new_club: Ledger) -> None:
    """With weeks for periods. 8 to 24 September: two lists between its first day and its own, from that of the 8th.

    Ann wins a cup in each week from the 1st on. From the 1st there would be three lists, so each week by itself.
    """
    told(new_club, club(2000, 2000, 2000, 2000, period_days=7, event_gap=30))
    told(new_club, [played(f"2025-09-{day}", ANN, "1", CARL, f"Cup {day}") for day in ("02", "09", "16")])
    told(new_club, played("2025-09-08", BOB, "1", DAN, "Open"), played("2025-09-24", ANN, "=", DAN, "Open"))
    sunday = instant_end_ms("2025-09-28")
    assert places(new_club, "Open") == {(sunday, None), (sunday, instant_ms("2025-09-08"))}
    starting = {met["own_rating"] for met in as_row(explain(new_club, nobody(ANN), "2025-09-24-1-4"))["meetings"]}
    assert starting == {2020}, "the list of 8 September, two lists before the present one"
    told(new_club, played("2025-09-01", BOB, "=", DAN, "Open"))
    assert {rated for rated, _ in places(new_club, "Open")} == {
        instant_end_ms(f"2025-09-{sunday}") for sunday in ("07", "14", "28")
    }
