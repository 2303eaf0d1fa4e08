"""The ECF monthly rating: hand-worked lists. FIDE's tables have tests of their own."""

from collections.abc import Sequence
from datetime import date

import pytest

from ledger.ratings import engine
from ledger.runtime.columns import FEW
from ledger.runtime.records import flat_of
from ledger.schemes.ecf_monthly import (
    DEFAULT,
    FULL,
    PARTIAL,
    SCHEME,
    UNRATED,
    Player,
    category,
    k_factor,
    performance,
)
from ledger.schemes.scheme import Newcomer, Scheme, When
from ledger.testing import SchemeContract

Result = tuple[int, int, float]  # White, Black, White's score
YEAR_2022 = 2022
FIELDS = len(SCHEME.state)


class TestEcfMonthly(SchemeContract):
    settings = (
        {},
        {"rounded": False, "cap": 400, "lapse_months": 2},
        {"full_games": 30, "k": 30, "partial_weight": "0.25"},
    )

    def make(self) -> Scheme:
        return SCHEME


def day(month: int, of_month: int = 1) -> float:
    """A day of a month, counted from January 2022."""
    return float((date(YEAR_2022 + month // 12, month % 12 + 1, of_month) - date(1970, 1, 1)).days)


def players(*declared: int | None) -> list[float]:
    return engine.initial_states(SCHEME, DEFAULT, [Newcomer(rating, None, day(0)) for rating in declared])


def rate(state: list[float], month: int, *games: Result, **settings: int | bool) -> None:
    """One month's list, in place."""
    numbers, n = SCHEME.numbers_from(settings), len(games)
    white, black, score = zip(*games, strict=True)
    part = engine.RateableGames(white, black, score, [0.0] * n, [0, n], [float(month)], [day(month + 1) - 0.001])
    engine.rate(FEW, SCHEME, numbers, part, state, [0] * (len(state) // FIELDS))


def ratings(state: Sequence[float]) -> list[float]:
    return list(state[::FIELDS])


def player_of(state: Sequence[float], place: int = 0) -> Player:
    player: Player = SCHEME.player_of(state[place * FIELDS : (place + 1) * FIELDS])
    return player


def statuses(state: Sequence[float]) -> list[float]:
    return [player_of(state, place).status for place in range(len(state) // FIELDS)]


def later(state: Sequence[float], month: int) -> Player:
    """The first player as it stands on the first of a month."""
    player: Player = SCHEME.player_at(state[:FIELDS], When(float(month), day(month)), DEFAULT)
    return player


def test_the_change_is_k_times_score_less_expected_score() -> None:
    state = players(1800, 1700, 1900)
    rate(state, 0, (0, 1, 1.0), (2, 0, 0.5))
    # table: 100 points are .64; We = .64 + .36
    assert ratings(state) == [1810.0, 1693.0, 1897.0]  # + 20·.5, - 20·.36 = 7.2, - 20·.14 = 2.8


def test_a_month_is_rounded_once() -> None:
    state = players(1800, 1700)
    rate(state, 0, (0, 1, 0.5), (1, 0, 0.5), (0, 1, 1.0))
    assert ratings(state) == [1802.0, 1698.0]  # 20·(2 - 1.92) = 1.6
    state = players(1800, 1700)
    rate(state, 0, (0, 1, 0.5), (1, 0, 0.5), (0, 1, 1.0), rounded=False)
    assert ratings(state) == pytest.approx([1801.6, 1698.4])


def test_the_table_goes_to_its_end_unless_differences_are_capped() -> None:
    state = players(2400, 1600)
    rate(state, 0, (0, 1, 1.0))
    assert ratings(state) == [2400.0, 1600.0]
    state = players(2400, 1600)
    rate(state, 0, (0, 1, 1.0), cap=400, rounded=False)
    assert ratings(state) == pytest.approx([2401.6, 1598.4])


@pytest.mark.parametrize(("born", "k"), [(0, 20.0), (2003, 20.0), (2004, 40.0), (2015, 40.0), (1960, 20.0)])
def test_juniors_have_twice_the_k_to_the_end_of_the_year_of_their_18th_birthday(born: int, k: float) -> None:
    assert k_factor(float(born), day(11, 31) + 0.9, DEFAULT) == k


def test_a_junior_moves_twice_as_far() -> None:
    state = engine.initial_states(SCHEME, DEFAULT, [Newcomer(1500, 2010, day(0)), Newcomer(1500, 1980, day(0))])
    rate(state, 0, (0, 1, 1.0))
    assert ratings(state) == [1520.0, 1490.0]


def test_a_performance_counts_a_fictional_draw() -> None:
    # one win against 1800: mean of 1800 and 1450, 75 % of two games
    assert performance(1800.0, 1.0, 1.0, 1450.0) == 1625.0 + 193.0
    assert performance(0.0, 0.0, 0.0, 1450.0) == 1450.0


def test_a_rating_is_partial_up_to_nine_games_and_full_from_ten() -> None:
    state = players(None, 1600)
    rate(state, 0, *[(0, 1, 0.5)] * 9)
    assert statuses(state) == [PARTIAL, FULL]
    assert ratings(state)[0] == 1585.0  # (9·1600 + 1450) / 10
    assert SCHEME.provisional(player_of(state), DEFAULT)
    rate(state, 1, (0, 1, 0.5))
    assert statuses(state) == [FULL, FULL]
    assert player_of(state).pool_games == 0.0
    assert ratings(state)[0] == 1586.0  # (9·1600 + 1598 + 1450) / 11
    # the opponent drew with a partial 1585, 9·20·(.5 - .52)·½ = -1.8; then with the full 1586, 20·(.5 - .52) = -.4
    assert ratings(state)[1] == 1598.0


def test_a_partial_rating_goes_on_with_the_games_before() -> None:
    state = players(None, 1600, 1800)
    rate(state, 0, (0, 1, 1.0))
    assert ratings(state)[0] == 1718.0  # (1600 + 1450) / 2 + 193
    rate(state, 1, (0, 2, 0.0))
    assert ratings(state)[0] == 1617.0  # (1600 + 1800 + 1450) / 3 + 0, half a point up


def test_a_partially_rated_opponent_halves_the_change() -> None:
    state = players(None, 1450)
    rate(state, 0, (0, 1, 0.5))
    assert ratings(state) == [1450.0, 1450.0]
    rate(state, 1, (1, 0, 1.0))
    # the new one: 1450 at 1 of 3 games, 33 % -> 1325; the other 125 points above, .67: 20·.33·½ = 3.3
    assert ratings(state) == [1325.0, 1453.0]


def test_the_new_are_estimated_among_themselves_in_two_passes() -> None:
    state = players(None, None, 1800)
    rate(state, 0, (0, 1, 1.0), (1, 2, 0.5))
    # pass 1: player 0 met nobody rated: 1450; player 1 drew with 1800: 1625.
    # pass 2: player 0 beat 1625: (1625 + 1450) / 2 + 193; player 1: (1450 + 1800 + 1450) / 3, 1 of 3 games, 33 %
    assert ratings(state)[:2] == [1731.0, 1442.0]
    # pass 3: 1800 drew with a partial 1442: 358 are .90, 20·(-.4)·½
    assert ratings(state)[2] == 1796.0


def test_ten_games_in_the_first_month_make_a_full_rating_at_once_and_count_in_full() -> None:
    state = players(None, 1450)
    rate(state, 0, *[(0, 1, 0.5)] * 10)
    assert statuses(state) == [FULL, FULL]
    assert ratings(state) == [1450.0, 1450.0]
    rate(state, 1, (0, 1, 1.0))
    assert ratings(state) == [1460.0, 1440.0]


def test_a_rating_lapses_after_36_months_without_a_result() -> None:
    state = players(1800, 1700)
    rate(state, 0, (0, 1, 0.5))
    assert later(state, 36).rating == 1797.0
    assert SCHEME.listed(later(state, 36), DEFAULT)
    lapsed = later(state, 37)
    assert not SCHEME.listed(lapsed, DEFAULT)
    assert (lapsed.rating, lapsed.status, lapsed.nominal) == (0.0, UNRATED, 1797.0)


def test_who_returns_begins_anew_with_a_draw_against_the_last_full_rating() -> None:
    state = players(1800, 1700, 1600)
    rate(state, 0, (0, 1, 0.5))
    rate(state, 40, (0, 2, 0.5))
    # 1797 and the inherited 1600 have both lapsed, and are their players' own fictional opponents
    assert statuses(state) == [PARTIAL, FULL, PARTIAL]
    assert ratings(state) == [1699.0, 1703.0, 1699.0]  # (1797 + 1600) / 2, half a point up


def test_time_passed_in_steps_is_time_passed_at_once() -> None:
    state = players(1800, 1700)
    rate(state, 0, (0, 1, 0.5))
    in_steps = state[:FIELDS]
    for month in range(1, 60):
        in_steps = flat_of(later(in_steps, month))
    assert in_steps == flat_of(later(state, 59))


@pytest.mark.parametrize(
    ("status", "results", "of_year", "letter"),
    [(UNRATED, 5, 5, ""), (PARTIAL, 9, 9, "P"), (FULL, 0, 0, "H"), (FULL, 1, 1, "K"), (FULL, 100, 29, "K"),
     (FULL, 30, 30, "A"), (FULL, 100, 0, "K")],
)  # fmt: skip
def test_categories(status: float, results: int, of_year: int, letter: str) -> None:
    assert category(status, results, of_year) == letter


def test_a_year_of_results_is_12_calendar_months() -> None:
    state = players(1800, 1700)
    for month in range(13):
        rate(state, month, (0, 1, 0.5), (1, 0, 0.5))
    player = player_of(state)
    assert (player.results, sum(player.month_games)) == (26.0, 24.0)
    assert sum(later(state, 13).month_games) == 24.0
    assert sum(later(state, 14).month_games) == 22.0
    assert sum(later(state, 25).month_games) == 0.0


def test_a_declared_rating_is_an_inherited_one() -> None:
    state = players(1800, None)
    assert statuses(state) == [FULL, UNRATED]
    assert [SCHEME.listed(player_of(state, place), DEFAULT) for place in (0, 1)] == [True, False]
