"""Chessmetrics: its published formulas, and hand-worked lists."""

from collections.abc import Sequence
from datetime import date

import pytest

from ledger.ratings import engine
from ledger.runtime.columns import FEW
from ledger.runtime.records import flat_of
from ledger.schemes.chessmetrics import DEFAULT, SCHEME, Player, expected_score, performance, weight
from ledger.schemes.scheme import Newcomer, Scheme, When
from ledger.testing import SchemeContract

Game = tuple[int, float]  # opponent's rating, own score


class TestChessmetrics(SchemeContract):
    settings = ({}, {"pad_draws": 3, "window": 6}, {"window": 1, "period_days": 7})

    def make(self) -> Scheme:
        return SCHEME


def closing(month: int) -> float:
    """The last day of a month, counted from January 2000."""
    after = month + 1
    return float((date(2000 + after // 12, after % 12 + 1, 1) - date(1970, 1, 1)).days) - 0.001


def played(months: dict[int, Sequence[Game]], **settings: int) -> Player:
    """Player 0 after the games of some months, against ever new opponents."""
    numbers = SCHEME.numbers_from(settings)
    opponents = [opponent for games in months.values() for opponent, _score in games]
    state = engine.initial_states(SCHEME, numbers, [Newcomer(), *map(Newcomer, opponents)])
    met = 0
    for month, games in months.items():
        n = len(games)
        others = list(range(met + 1, met + n + 1))
        met += n
        part = engine.RateableGames(
            [0] * n, others, [score for _other, score in games], [0.0] * n, [0, n], [float(month)], [closing(month)]
        )
        engine.rate(FEW, SCHEME, numbers, part, state, [0] * (len(opponents) + 1))
    player: Player = SCHEME.player_of(state)
    return player


def later(player: Player, month: int, **settings: int) -> Player:
    """The player as it stands on the first day after a month has closed."""
    when = When(float(month + 1), closing(month) + 1.0)
    brought: Player = SCHEME.player_at(flat_of(player), when, SCHEME.numbers_from(settings))
    return brought


def test_ten_per_cent_are_85_points() -> None:
    assert performance(2500.0, 0.6, DEFAULT) == 2585.0
    assert performance(2500.0, 0.5, DEFAULT) == 2500.0
    assert performance(2500.0, 0.0, DEFAULT) == 2075.0


@pytest.mark.parametrize(("age", "share"), [(0, 1.0), (6, 0.75), (12, 0.5), (23, 1 / 24), (24, 0.0), (100, 0.0)])
def test_weight_falls_linearly_to_nothing_in_24_months(age: int, share: float) -> None:
    assert weight(age, DEFAULT) == share


def test_the_first_list_is_the_performance() -> None:
    assert played({0: [(2500, 1.0)] * 3 + [(2600, 0.5), (2400, 0.0)]}).rating == performance(2500.0, 0.7, DEFAULT)


def test_older_months_weigh_less() -> None:
    # a draw with 2000 twelve months ago and one with 2300 now: (0.5·2000 + 2300) / 1.5
    assert played({0: [(2000, 0.5)], 12: [(2300, 0.5)]}).rating == pytest.approx(2200.0)


def test_a_rating_moves_without_games_as_months_weigh_less() -> None:
    state = played({0: [(2000, 0.5)] * 2, 10: [(2300, 0.5)]})
    assert state.rating == pytest.approx((2 * 14 * 2000 + 24 * 2300) / 52)
    assert later(state, 10) == state, "the list of a month is in force until the next closes"
    assert later(state, 11).rating == pytest.approx((2 * 13 * 2000 + 23 * 2300) / 49)
    assert later(state, 23).rating == pytest.approx((2 * 1 * 2000 + 11 * 2300) / 13)
    assert later(state, 24).rating == pytest.approx(2300)


def test_who_has_not_played_for_24_months_is_not_listed_and_keeps_the_last_rating() -> None:
    state = played({0: [(2000, 0.5)], 10: [(2300, 0.5)]})
    assert SCHEME.listed(later(state, 33), DEFAULT)
    gone = later(state, 34)
    assert not SCHEME.listed(gone, DEFAULT)
    assert gone.rating == 2300.0
    assert played({0: [(2000, 0.5)], 24: [(2300, 0.5)]}).rating == 2300.0


@pytest.mark.parametrize("settings", [{}, {"pad_draws": 2}, {"window": 6}, {"window": 6, "pad_draws": 1}])
@pytest.mark.parametrize("months", [1, 3, 5, 6, 7, 13, 14, 15, 23, 24, 25, 60])
def test_months_passed_in_steps_are_months_passed_at_once(months: int, settings: dict[str, int]) -> None:
    state = played({0: [(2000, 0.5)], 9: [(2300, 1.0)], 12: [(1900, 0.5)]}, **settings)
    in_steps = state
    for month in range(12, 13 + months):
        in_steps = later(in_steps, month, **settings)
    assert in_steps == later(state, 12 + months, **settings)


def test_opponents_count_with_the_list_before() -> None:
    state = engine.initial_states(SCHEME, DEFAULT, [Newcomer(2000), Newcomer(2200), Newcomer(2400)])
    games = engine.RateableGames([0, 1], [1, 2], [0.5, 0.5], [0.0] * 2, [0, 2], [5.0], [closing(5)])
    engine.rate(FEW, SCHEME, DEFAULT, games, state, [0] * 3)
    assert state[:: len(SCHEME.state)] == [2200.0, 2200.0, 2200.0]


def test_two_lists_of_one_month_have_the_same_age() -> None:
    state = played({0: [(2000, 0.5)]})
    both = [*flat_of(state), *SCHEME.begin(Newcomer(2300), DEFAULT)]
    games = engine.RateableGames([0], [1], [0.5], [0.0], [0, 1], [1.0], [closing(0)])
    engine.rate(FEW, SCHEME, DEFAULT, games, both, [1, 0])
    assert both[0] == 2150.0


def test_added_draws_pull_towards_their_opponent() -> None:
    assert played({0: [(2000, 0.5)]}, pad_draws=3).rating == (2000 + 3 * 2300) / 4


def test_a_newcomer_begins_with_the_set_or_declared_rating() -> None:
    assert SCHEME.enter(Newcomer(), DEFAULT).rating == 1500.0
    assert SCHEME.enter(Newcomer(0), DEFAULT).rating == 0.0


def test_the_expected_score_is_linear_and_bounded() -> None:
    def expected(own: float, opponent: float) -> float:
        return expected_score(Player(own), Player(opponent), DEFAULT)

    assert expected(2085, 2000) == pytest.approx(0.6)
    assert expected(2425, 2000) == 1.0
    assert expected(2000, 2426) == 0.0
