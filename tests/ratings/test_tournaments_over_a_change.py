"""A tournament over a change of scheme is rated whole where both schemes rate tournaments whole: by the new one.

Worked by hand as in ``test_whole_tournaments``: everybody begins with 2000. Up to February the K of a new player is 40;
the settings adopted from 1 March make it 20.
"""

from collections.abc import Sequence
from itertools import permutations

import pytest

from ledger.answers import publications
from ledger.answers.explanations import explain
from ledger.answers.predictions import predict
from ledger.answers.rows import as_row, as_rows
from ledger.facts.events import Event, SchemeAdopted, TournamentClosed, TournamentOpened
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.words import Carry
from ledger.ledger import Ledger
from ledger.testing import rows_by_facts
from tests.kit.clubs import recorded_of_old
from tests.ratings.whole_tournaments import (
    ANN,
    BOB,
    CARL,
    EVERYBODY,
    NOW,
    WHOLE,
    lists,
    nobody,
    places,
    played,
    ratings,
    told,
)

CHANGE = "2025-03-01"
FEBRUARY = [played("2025-02-10", ANN, "1", CARL, "February cup")]
OPEN = [
    played("2025-02-24", ANN, "1", BOB, "Open"),
    played("2025-02-27", BOB, "=", CARL, "Open"),
    played("2025-03-06", BOB, "=", ANN, "Open"),
]
MARCH, OPENING_DAY = instant_end_ms("2025-03"), instant_ms("2025-02-24")


def adopted(**settings: int | bool) -> SchemeAdopted:
    given = {**WHOLE, **settings}
    return SchemeAdopted(pool="club", scheme="fide", settings=given, effective_from=CHANGE, carry=Carry.KEEP)


def elo_adopted(day: str) -> SchemeAdopted:
    return SchemeAdopted(pool="club", scheme="elo", settings={}, effective_from=day, carry=Carry.KEEP)


HALF_K = adopted(k_games=0)


@pytest.mark.parametrize("further", [{}, {"included_until": 3}, {"event_gap": 9}])
def test_it_is_rated_in_the_new_period_by_the_new_settings_from_the_list_of_its_first_day(
    new_club: Ledger, further: dict[str, int]
) -> None:
    """February by the old settings: 40·½, so Ann 2020 and Carl 1980 on 1 March. The open from the list of 1 February.

    On that all have 2000. Ann 1½ of 2: 20·½ = 10 more than her 2020; Bob ½ and ½ of 3 against 1½: 20·-½ = -10; Carl
    ½ of 1: nothing.
    """
    told(new_club, EVERYBODY, adopted(k_games=0, **further), FEBRUARY, OPEN)
    assert lists(new_club, ANN) == [("2025-02-28", 2020), ("2025-03-31", 2030)]
    assert ratings(new_club) == {ANN: 2030, BOB: 1990, CARL: 1980}
    assert places(new_club, "Open") == {(MARCH, None), (MARCH, OPENING_DAY)}


@pytest.mark.parametrize("place", range(4))
def test_whenever_it_is_adopted_the_rows_are_the_same(new_club: Ledger, place: int) -> None:
    facts: list[Event | Sequence[Event]] = [*FEBRUARY, OPEN[:2], OPEN[2]]
    facts.insert(place, HALF_K)
    told(new_club, EVERYBODY, *facts)
    assert ratings(new_club) == {ANN: 2030, BOB: 1990, CARL: 1980}
    assert_as_rebuilt(new_club)


def assert_as_rebuilt(ledger: Ledger) -> None:
    stood = rows_by_facts(ledger.views.connection)
    ledger.rebuild()
    assert rows_by_facts(ledger.views.connection) == stood


@pytest.mark.slow
def test_late_games_take_the_others_over_the_change_whichever_is_late(new_club: Ledger) -> None:
    found: list[dict[int, float]] = []
    for order in permutations(OPEN):
        number = len(found)
        with Ledger.create(new_club.path.with_name(f"{number}.db"), clock=lambda: NOW) as fresh:
            told(fresh, EVERYBODY, HALF_K, FEBRUARY, *order)
            found.append(ratings(fresh))
            assert_as_rebuilt(fresh)
    assert found == [{ANN: 2030, BOB: 1990, CARL: 1980}] * 6


def test_a_closing_moves_its_end_over_the_change_and_back(new_club: Ledger) -> None:
    """Without the game of March it was over on 24 February: Ann 2 of 2 by the old settings, 40 more on 1 March.

    A closing on 6 March takes it into March: 20 for the cup, then 10 by the new settings.
    """
    first = played("2025-02-24", ANN, "1", BOB, "Open")
    told(new_club, EVERYBODY, HALF_K, FEBRUARY, first)
    assert lists(new_club, ANN) == [("2025-02-28", 2040)]
    told(new_club, TournamentClosed(pool="club", tournament="Open", ended_at="2025-03-06"))
    assert lists(new_club, ANN) == [("2025-02-28", 2020), ("2025-03-31", 2030)]
    assert_as_rebuilt(new_club)
    recorded_of_old(new_club, TournamentClosed(pool="club", tournament="Open", ended_at="2025-02-25"))
    assert lists(new_club, ANN) == [("2025-02-28", 2040)]
    assert_as_rebuilt(new_club)


def test_an_opening_says_that_it_goes_over_the_change_before_its_games_do(new_club: Ledger) -> None:
    told(new_club, EVERYBODY, HALF_K, FEBRUARY, OPEN[:1])
    told(new_club, TournamentOpened(pool="club", tournament="Open", starts_at="2025-02-24", ends_at="2025-03-06"))
    assert lists(new_club, ANN) == [("2025-02-28", 2020), ("2025-03-31", 2030)]
    foretold = as_row(predict(new_club, nobody(CARL), nobody(ANN), "club", at="2025-02-24"))
    assert (foretold["rating"], foretold["win"]["change"]) == (2000, 20)  # on 24 February, by the older K
    assert [row["rating"] for row in as_rows(new_club.ranking("club"))] == [2030, 1990, 1980]
    assert [run["games"] for run in as_rows(publications.rating_runs(new_club, "club"))] == [1, 1]


def test_its_explanation_is_by_the_new_settings(new_club: Ledger) -> None:
    told(new_club, EVERYBODY, HALF_K, FEBRUARY, OPEN)
    answer = as_row(explain(new_club, nobody(ANN), "2025-02-24-1-2"))
    values = {term["symbol"]: term["value"] for term in answer["terms"]}
    assert values == {"Ro": 2020, "R1": 2000, "n": 2, "W": 1.5, "We": 1.0, "K": 20}
    assert (answer["before"], answer["after"]) == (2020, 2030)


def test_one_that_is_over_too_late_for_the_last_old_list_goes_into_the_first_new_one(new_club: Ledger) -> None:
    """Over on 27 February, one day too late for the list of 1 March."""
    told(new_club, EVERYBODY, HALF_K, played("2025-02-27", ANN, "1", BOB, "Open"))
    assert lists(new_club, ANN) == [("2025-03-31", 2010)]


def test_one_that_is_too_long_for_the_new_settings_is_rated_period_by_period(new_club: Ledger) -> None:
    """11 days, of which the new settings allow 5: February from 2000, 40·½; March from 2020 against 1980, .56."""
    told(new_club, EVERYBODY, adopted(k_games=0, event_days=5), OPEN[0], OPEN[2])
    assert lists(new_club, ANN) == [("2025-02-28", 2020), ("2025-03-31", 2019)]


def test_games_that_an_older_scheme_rated_one_by_one_stay_there(new_club: Ledger) -> None:
    told(new_club, EVERYBODY, adopted(), elo_adopted("2025-02-20"), OPEN)
    assert places(new_club, "Open") == {
        (instant_ms("2025-02-24"), None),
        (instant_ms("2025-02-27"), None),
        (MARCH, None),
    }


def test_a_scheme_by_game_that_follows_parts_it_at_the_change(new_club: Ledger) -> None:
    told(new_club, EVERYBODY, elo_adopted(CHANGE), OPEN)
    last = instant_ms(CHANGE) - 1
    assert places(new_club, "Open") == {(last, None), (last, OPENING_DAY), (instant_ms("2025-03-06"), None)}
