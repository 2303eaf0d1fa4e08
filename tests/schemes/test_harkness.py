"""The Harkness scheme: an event's performance is the new rating."""

from collections.abc import Sequence
from typing import Any, ClassVar

import pytest

from ledger.ratings import engine
from ledger.schemes.harkness import (
    DEFAULT,
    SCHEME,
    Player,
    carry,
    enter,
    expected_score,
    explain,
    listed,
    performance,
    provisional,
)
from ledger.schemes.scheme import ExplainedPlayer, Newcomer, OpponentGame, Scheme, When
from ledger.testing.scheme_contract import SchemeContract

EXACT = 1e-9
NOT_COUNTED = SCHEME.numbers_from({"unrated": 0})


class TestHarkness(SchemeContract):
    settings: ClassVar = ({}, {"unrated": 0}, {"unrated": "1200.5", "per_percent": "7.1234567", "one_event": False})

    def make(self) -> Scheme:
        return SCHEME


def event(
    ratings: Sequence[float], games: Sequence[tuple[int, int, float]], numbers: Any = DEFAULT
) -> list[tuple[float, float]]:
    """Ratings and events after one event of players with these ratings; 0 for unrated."""
    players = [Player(rating, 1.0 if rating else 0.0) for rating in ratings]
    white, black, score = zip(*games, strict=True)
    batch = engine.RateableGames(white, black, score, [0.0] * len(games), [0, len(games)], [0.0], [0.0])
    rated = engine.rate_one_batch(SCHEME, numbers, batch, players)
    return [(player.after.rating, player.after.events) for player in rated]


def test_the_example_of_the_handbook() -> None:
    # 2.5 of 11 against an average of 1850: 1850 - 10 * 27.3
    assert round(performance(1850.0, 100.0 * 2.5 / 11.0, DEFAULT)) == 1577
    games = [(0, i, score) for i, score in enumerate([1.0, 1.0, 0.5] + [0.0] * 8, start=1)]
    after = event([1600.0] + [1800.0, 1900.0] * 5 + [1850.0], games)
    assert after[0] == pytest.approx((1850.0 - 10.0 * (50.0 - 100.0 * 2.5 / 11.0), 2.0), abs=EXACT)


@pytest.mark.parametrize(("percentage", "rating"), [(50.0, 1500.0), (75.0, 1750.0), (0.0, 1000.0), (100.0, 2000.0)])
def test_ten_points_for_each_percentage_point(percentage: float, rating: float) -> None:
    assert performance(1500.0, percentage, DEFAULT) == rating


def test_all_are_rated_from_the_ratings_before_the_event() -> None:
    after = event([1500.0, 1700.0, 1900.0], [(0, 1, 1.0), (1, 2, 1.0), (2, 0, 0.5)])
    assert after == [(1800.0 + 250.0, 2.0), (1700.0, 2.0), (1600.0 - 250.0, 2.0)]


def test_colours_do_not_matter() -> None:
    assert event([1500.0, 1700.0], [(0, 1, 1.0)]) == event([1700.0, 1500.0], [(0, 1, 0.0)])[::-1]


def test_an_unrated_opponent_counts_as_the_setting_says() -> None:
    games = [(0, 1, 1.0), (0, 2, 0.5)]
    assert event([1500.0, 1400.0, 0.0], games)[0] == (1200.0 + 250.0, 2.0)
    assert event([1500.0, 1400.0, 0.0], games, NOT_COUNTED)[0] == (1400.0 + 500.0, 2.0)


def test_a_newcomer_is_rated_by_the_first_event() -> None:
    assert event([1500.0, 0.0], [(0, 1, 0.5)])[1] == (1500.0, 1.0)


def test_who_met_no_opponent_that_counts_stays_as_before() -> None:
    assert event([1500.0, 0.0, 0.0], [(0, 1, 1.0), (1, 2, 1.0)], NOT_COUNTED) == [
        (1500.0, 1.0),
        (1000.0, 1.0),
        (0.0, 0.0),
    ]
    stays = ExplainedPlayer(Player(1500.0, 1.0), Player(1500.0, 1.0))
    told = explain(stays, [OpponentGame(Player(0.0, 0.0), 1.0)], When(), NOT_COUNTED)
    assert told.unrounded == told.result == 1500.0


def test_the_unrated_are_not_listed_and_one_event_is_provisional() -> None:
    unrated, declared, one, zero = Player(0.0, 0.0), Player(1500.0, 0.0), Player(1500.0, 1.0), Player(0.0, 3.0)
    players = {"unrated": unrated, "declared": declared, "one": one, "zero": zero}
    assert [name for name, player in players.items() if listed(player, DEFAULT)] == ["declared", "one", "zero"]
    assert [name for name, player in players.items() if provisional(player, DEFAULT)] == ["one"]
    assert not provisional(one, SCHEME.numbers_from({"one_event": False}))


def test_a_declared_or_carried_rating_is_a_rating() -> None:
    assert enter(Newcomer(1500), DEFAULT) == Player(1500.0, 0.0)
    assert enter(Newcomer(), DEFAULT) == Player(0.0, 0.0)
    assert listed(carry(1500.0, 3.0, Newcomer(), DEFAULT), DEFAULT)


def test_the_score_expected_is_the_one_that_keeps_the_rating() -> None:
    assert expected_score(Player(1600.0, 3.0), Player(1500.0, 3.0), DEFAULT) == pytest.approx(0.6, abs=EXACT)
    assert expected_score(Player(2600.0, 3.0), Player(1500.0, 3.0), DEFAULT) == 1.0
    assert expected_score(Player(1500.0, 3.0), Player(2600.0, 3.0), DEFAULT) == 0.0
    assert expected_score(Player(1100.0, 3.0), Player(0.0, 0.0), DEFAULT) == pytest.approx(0.6, abs=EXACT)
    assert expected_score(Player(1100.0, 3.0), Player(0.0, 0.0), NOT_COUNTED) == 0.5
