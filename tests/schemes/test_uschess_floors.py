"""US Chess: floors, peaks, and how newcomers begin."""

import pytest

from ledger.schemes import uschess
from ledger.schemes.formulas import uschess as formulas
from ledger.schemes.scheme import Newcomer
from ledger.schemes.settings import with_settings
from ledger.schemes.uschess import DEFAULT, GAMES, PEAK, SCHEME
from tests.schemes.uschess_sections import DAY, STRANGER, day_of, player, section
from tests.vectors.published import floor_absolute


def test_the_absolute_floor_grows_with_wins_draws_and_long_events_up_to_150() -> None:
    assert floor_absolute(0.0, 0.0, 0.0) == 100.0
    assert floor_absolute(3.0, 2.0, 1.0) == 117.0
    assert floor_absolute(12.0, 1.0, 0.0) == 150.0


@pytest.mark.parametrize(
    ("peak", "floor"),
    [
        (1399.49, 0.0),
        (1399.5, 1200.0),
        (1499.4, 1200.0),
        (1941.0, 1700.0),
        (2299.5, 2100.0),
        (2600.0, 2100.0),
        (0.0, 0.0),
    ],
)
def test_the_peak_floor_lies_200_points_below_down_to_a_full_hundred(peak: float, floor: float) -> None:
    assert formulas.floor_peak(peak) == floor


def test_this_event_counts_for_the_floor_and_online_play_has_none() -> None:
    field = [player(100.0, 9.0), player(300.0), player(300.0), player(300.0)]
    games = [(0, 1, 0.5), (0, 2, 0.0), (0, 3, 0.0), (0, 1, 0.0), (0, 2, 0.0), (0, 3, 0.0)]
    assert section(field, games)[0][0] == 103.0
    assert section(field, games, online=True)[0][0] == 100.0


def test_an_established_player_never_falls_through_the_peak_floor() -> None:
    field = [player(1610.0, peak=1835.0), player(1500.0), player(1500.0), player(1500.0)]
    fallen = section(field, [(0, 1, 0.0), (0, 2, 0.0), (0, 3, 0.0)])[0]
    assert (fallen[0], fallen[PEAK]) == (1600.0, 1835.0)


def test_a_peak_is_kept_from_the_26th_game_on() -> None:
    field = [player(1700.0, 24.0), player(1500.0), player(1500.0)]
    before = section(field, [(0, 1, 1.0)])[0]
    assert (before[GAMES], before[PEAK]) == (25.0, 0.0)
    after = section([before, *field[1:]], [(0, 2, 1.0)])[0]
    assert (after[GAMES], after[PEAK]) == (26.0, after[0])


def test_established_means_more_than_25_games() -> None:
    assert SCHEME.provisional(player(1500.0, 25.0), 0, DEFAULT)
    assert not SCHEME.provisional(player(1500.0, 26.0), 0, DEFAULT)


def test_the_start_rating_is_50_a_year_of_age() -> None:
    assert [formulas.start_by_age(age) for age in (1.0, 2.0, 10.0, 26.0, 40.0)] == [100.0, 100.0, 500.0, 1300.0, 1300.0]
    assert [formulas.start_by_age_before_2008(age) for age in (3.9, 4.0, 20.0, 20.1)] == [1300.0, 500.0, 1300.0, 1300.0]


def test_a_newcomer_is_unrated_and_not_listed_and_grows_older() -> None:
    state = list(SCHEME.enter(Newcomer(None, 2016, day_of(2026, 7, 2)), DEFAULT))
    assert state[0] == 0.0
    assert not SCHEME.listed(state, 0, DEFAULT)
    assert state[uschess.START] == pytest.approx(500.0, abs=0.5)
    SCHEME.at(state, 0, 0.0, day_of(2028, 7, 2), DEFAULT)
    assert state[uschess.START] == pytest.approx(600.0, abs=0.5)


def test_without_a_birth_year_a_newcomer_starts_at_750_or_as_an_adult() -> None:
    state = list(SCHEME.enter(STRANGER, DEFAULT))
    assert state[uschess.START] == 750.0
    for switch in ("assume_adult", "old_starts"):
        assert SCHEME.enter(STRANGER, with_settings(DEFAULT, **{switch: True}))[uschess.START] == 1300.0


def test_a_fide_rating_is_converted_by_the_formula_of_the_day() -> None:
    numbers = with_settings(DEFAULT, declared_fide=True)
    early, late = (SCHEME.enter(Newcomer(1500.0, None, day_of(2024, *day)), numbers) for day in ((2, 29), (3, 1)))
    assert early[:2] == (180.0 + 0.94 * 1500.0, 5.0)
    assert late[:2] == (-1073.0 + 1.5667 * 1500.0, 5.0)
    assert SCHEME.enter(Newcomer(2200.0, None, DAY), numbers)[:2] == (20.0 + 1.02 * 2200.0, 10.0)


def test_both_conversions_agree_at_fide_2000() -> None:
    assert formulas.from_fide(2000.0) == pytest.approx(2060.4)
    assert formulas.from_fide_2020(2000.0) == pytest.approx(2060.0)
    assert formulas.from_fide(2000.1) == formulas.from_fide_2020(2000.1) == pytest.approx(2060.102)
