"""US Chess: the contract, the boundaries of its rules, sections worked by hand, floors, peaks and newcomers."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from random import Random
from typing import Any, ClassVar

import pytest

from ledger.ratings import engine
from ledger.runtime.columns import FEW
from ledger.runtime.records import flat_of
from ledger.schemes import uschess
from ledger.schemes.formulas import uschess as formulas
from ledger.schemes.scheme import Newcomer, OpponentGame, Scheme, Seed, When
from ledger.schemes.settings import replace_settings
from ledger.schemes.uschess import DEFAULT, SCHEME, Player
from ledger.testing import SchemeContract
from ledger.testing.scheme_contract import evaluate_rule
from tests.schemes.uschess_sections import DAY, STRANGER, against, day_of, player, section, worked
from tests.vectors.published import effective_2004, floor_absolute


class TestUSChess(SchemeContract):
    settings: ClassVar[Sequence[Mapping[str, int | bool | str]]] = (
        {},
        {"dual_rated": True, "online": True, "declared_fide": True},
        {"old_starts": True, "special_games": 0, "bonus_b": 2, "match_limit": 0, "declared_games": 30},
        {"assume_adult": True, "declared_games": 0, "match_range": 4000, "match_limit": 5},
    )

    def make(self) -> Scheme:
        return SCHEME


def special(rating: float, record: float, counted: float, score: float, opponents: Sequence[float]) -> float:
    return formulas.special(rating, record, counted, score, against(opponents), step=4)


def objective(
    at: float, rating: float, record: float, counted: float, score: float, opponents: Sequence[float]
) -> float:
    centre = formulas.special_centre(rating, record)
    points = formulas.special_points(score, counted, record)
    return formulas.special_objective(at, centre, counted, points, against(opponents), step=4)


def test_a_rating_above_2355_is_worth_50_games() -> None:
    assert formulas.effective(2355.0001) == 50.0
    assert formulas.effective(2355.0) == pytest.approx(50.0, abs=0.02)
    assert formulas.effective(100.0) < 10.0


def test_effective_games_never_exceed_the_games_played() -> None:
    assert formulas.effective_games(3.0, 2400.0) == 3.0
    assert formulas.effective_games(60.0, 2400.0) == 50.0


def test_dual_rated_k_falls_from_2200_to_2500() -> None:
    assert formulas.k_factor(40.0, 10.0, 2200.0, dual=True) == 16.0
    assert formulas.k_factor(40.0, 10.0, 2300.0, dual=True) == pytest.approx(12.0)
    assert formulas.k_factor(40.0, 10.0, 2500.0, dual=True) == 4.0
    assert formulas.k_factor(40.0, 10.0, 2500.0, dual=False) == 16.0


def test_k_of_2004_for_a_rating_from_2200_counts_50_games() -> None:
    assert effective_2004(2200.0) == 50.0
    assert effective_2004(2199.0) < 50.0


def test_the_expectancy_is_0_and_1_from_400_points_on() -> None:
    assert [formulas.pwe(1500.0 + d, 1500.0) for d in (-400, -399.2, 0, 399.2, 400)] == [
        0.0,
        pytest.approx(0.001),
        0.5,
        pytest.approx(0.999),
        1.0,
    ]


@pytest.mark.slow
def test_the_special_formula_is_solved_wherever_the_opponents_stand() -> None:
    random = Random(7)
    for _ in range(2000):
        opponents = [random.uniform(100, 2800) for _ in range(random.randint(1, 30))]
        score = random.randint(0, 2 * len(opponents)) / 2
        rating, counted = random.uniform(100, 2700), random.choice((0.0, 1.0, 7.3, 20.0))
        for record in (formulas.ALL_WON, formulas.ALL_LOST, formulas.MIXED):
            found = special(rating, record, counted, score, opponents)
            assert abs(objective(found, rating, record, counted, score, opponents)) <= 2e-7


def test_a_step_off_the_special_formula_s_answer_misses_or_goes_away_from_the_rating() -> None:
    random = Random(8)
    for _ in range(2000):
        opponents = [float(random.randrange(100, 2800, 100)) for _ in range(random.randint(1, 5))]
        score, rating = random.randint(0, 2 * len(opponents)) / 2, random.uniform(100, 2700)
        found = special(rating, formulas.MIXED, 0.0, score, opponents)
        if found != rating:
            nearer = found + (1.0 if rating > found else -1.0)
            assert abs(objective(nearer, rating, formulas.MIXED, 0.0, score, opponents)) > 1e-6


def test_on_a_flat_stretch_the_start_rating_or_the_nearer_end_is_taken() -> None:
    assert special(1000.0, formulas.NO_GAMES, 0.0, 2.0, [400.0, 400.0]) == 1000.0
    assert special(750.0, formulas.NO_GAMES, 0.0, 2.0, [400.0, 400.0]) == 800.0
    assert special(750.0, formulas.NO_GAMES, 0.0, 0.0, [400.0, 400.0]) == 0.0
    # between 800 and 1600 nobody is within 400 points, and one of two is scored
    assert special(1300.0, formulas.NO_GAMES, 0.0, 1.0, [400.0, 2000.0]) == 1300.0
    assert special(1700.0, formulas.NO_GAMES, 0.0, 1.0, [400.0, 2000.0]) == 1600.0
    assert special(500.0, formulas.NO_GAMES, 0.0, 1.0, [400.0, 2000.0]) == 800.0


def test_who_has_won_every_game_keeps_the_rating_and_gains_by_the_strongest_beaten() -> None:
    assert special(1500.0, formulas.ALL_WON, 4.0, 1.0, [1000.0]) == 1500.0
    assert special(1500.0, formulas.ALL_WON, 4.0, 2.0, [1000.0, 1300.0]) == 1700.0
    assert special(1500.0, formulas.ALL_LOST, 4.0, 0.0, [1800.0, 1700.0]) == 1300.0


def test_the_special_formula_holds_with_hundreds_of_games() -> None:
    random = Random(9)
    opponents = [random.uniform(100, 2800) for _ in range(600)]
    found = special(1500.0, formulas.MIXED, 8.0, 211.5, opponents)
    assert abs(objective(found, 1500.0, formulas.MIXED, 8.0, 211.5, opponents)) <= 2e-7


@pytest.mark.parametrize(
    ("games", "record", "expected"),
    [
        (0.0, formulas.NO_GAMES, True),
        (8.0, formulas.MIXED, True),
        (9.0, formulas.MIXED, False),
        (9.0, formulas.ALL_WON, True),
        (40.0, formulas.ALL_LOST, True),
    ],
)
def test_the_special_formula_rates_up_to_8_games_and_who_won_or_lost_them_all(
    games: float, record: float, expected: bool
) -> None:
    assert uschess.is_special(games, record, DEFAULT) is expected


def test_games_won_and_lost_are_remembered_as_a_record() -> None:
    field = [player(None), player(None), player(None)]
    once = section(field, [(0, 1, 1.0), (0, 2, 1.0), (1, 2, 1.0)])
    assert [one.record for one in once] == [formulas.ALL_WON, formulas.MIXED, formulas.ALL_LOST]
    twice = section(once, [(0, 2, 0.5)])
    assert [twice[0].record, twice[2].record] == [formulas.MIXED, formulas.MIXED]
    again = section(once, [(0, 2, 1.0)])
    assert [again[0].record, again[2].record] == [formulas.ALL_WON, formulas.ALL_LOST]


def test_two_established_players_are_rated_against_each_other_s_step_4_rating() -> None:
    won, lost, _ = section([player(1500.0), player(1500.0), player(1500.0)], [(0, 1, 1.0), (0, 2, 0.5), (1, 2, 0.5)])
    k = 800.0 / (formulas.effective(1500.0) + 2.0)
    step_4 = 1500.0 - k * 0.5
    expected = 1.0 / (1.0 + 10.0 ** ((step_4 - 1500.0) / 400.0)) + 0.5
    assert won.rating == pytest.approx(1500.0 + k * (1.5 - expected), abs=1e-9)
    assert lost.rating == pytest.approx(3000.0 - won.rating, abs=1e-9)
    assert won.games == 1002.0


def test_two_newcomers_of_unknown_age_part_by_400_points() -> None:
    won, lost = section([player(None), player(None)], [(0, 1, 1.0)])
    # first estimates 950 and 550, by one effective draw with 750; step 4 moves no further than 400 from them
    assert (won.rating, lost.rating) == (950.0, 550.0)
    assert (won.floor, lost.floor) == (104.0, 100.0)


def test_a_newcomer_s_first_estimate_is_the_opponent_s_yardstick_only() -> None:
    newcomer, met, _ = worked([player(None), player(1500.0), player(1300.0)], [(0, 1, 0.5), (0, 2, 0.5)])
    # PWe(R, 750) + PWe(R, 1500) + PWe(R, 1300) = 1.5 at 1200: 1 + .125 + .375; then without 750 at the mean
    assert newcomer.work.first == pytest.approx(1200.0)
    assert newcomer.work.step_4 == pytest.approx(1400.0)
    assert newcomer.after.rating != newcomer.work.step_4
    assert met.work.first == 1500.0


def test_the_order_of_the_games_of_a_section_changes_nothing_but_rounding() -> None:
    field = [player(1500.0), player(1700.0, 5.0), player(None), player(900.0, 20.0)]
    games = [(0, 1, 0.5), (2, 3, 1.0), (0, 2, 0.0), (1, 3, 1.0), (0, 3, 1.0), (1, 2, 0.5)]
    turned = [(b, w, 1.0 - score) for w, b, score in reversed(games)]
    for one, other in zip(section(field, games), section(field, turned), strict=True):
        assert flat_of(one) == pytest.approx(flat_of(other), abs=1e-9)


def test_dual_rating_slows_a_master() -> None:
    field = [player(2400.0), player(2400.0), player(2400.0)]
    games = [(0, 1, 1.0), (0, 2, 1.0), (1, 2, 0.5)]
    full, dual = (section(field, games, dual_rated=dual)[0].rating - 2400.0 for dual in (False, True))
    assert 0.4 < dual / full < 0.6


@pytest.mark.parametrize(
    ("day", "b"),
    [
        ((2017, 4, 30), 12.0),
        ((2017, 5, 1), 14.0),
        ((2023, 1, 31), 14.0),
        ((2023, 2, 1), 12.0),
        ((2024, 12, 31), 12.0),
        ((2025, 1, 1), 10.0),
    ],
)
def test_the_bonus_threshold_goes_by_the_day_on_which_the_event_ended(day: tuple[int, int, int], b: float) -> None:
    assert formulas.bonus_b(day_of(*day)) == b
    assert formulas.bonus_b(day_of(*day) + 0.99) == b


@pytest.mark.parametrize(
    ("met", "eligible"),
    [
        ([1, 2], False),
        ([1, 2, 3], True),
        ([1, 2, 1], False),
        ([1, 1, 2, 3], True),
        ([1, 1, 2, 2], True),
        ([1, 2, 1, 1], False),
        ([1] * 10, False),
    ],
)
def test_a_bonus_needs_three_games_and_changing_opponents(met: list[int], eligible: bool) -> None:
    assert formulas.bonus_eligible(met, 0, len(met)) is eligible


def test_the_threshold_counts_four_games_at_least() -> None:
    assert formulas.bonus(30.0, 3.0, 10.0) == formulas.bonus(30.0, 4.0, 10.0) == 10.0
    assert formulas.bonus(20.0, 4.0, 10.0) == 0.0
    assert formulas.bonus(40.0, 9.0, 10.0) == 10.0


def test_a_bonus_is_paid_once_the_gain_passes_the_threshold() -> None:
    field = [player(1300.0), player(1500.0), player(1500.0), player(1500.0)]
    games = [(0, 1, 1.0), (0, 2, 1.0), (0, 3, 1.0)]
    paid, none = (section(field, games, bonus_b=b)[0].rating for b in (10.0, 1000.0))
    gain = none - 1300.0
    assert paid == pytest.approx(1300.0 + gain + (gain - 20.0), abs=1e-9)
    old = section(field, games, day=day_of(2020, 1, 1))[0].rating
    assert none < old < paid


def test_a_match_of_established_players_changes_50_points_at_most() -> None:
    games = [(0, 1, 1.0)] * 8
    won, lost = section([player(1500.0), player(1600.0)], games)
    assert (won.rating, lost.rating) == (1550.0, 1550.0)
    free = section([player(1500.0), player(1600.0)], games, match_limit=0.0)
    assert free[0].rating > 1550.0


def test_a_match_outside_the_rule_is_not_limited() -> None:
    far = section([player(1500.0), player(1900.5)], [(0, 1, 1.0)] * 8)
    assert far[0].rating > 1550.0
    provisional = section([player(1500.0), player(1600.0, 25.0)], [(0, 1, 1.0)] * 8)
    assert provisional[0].rating > 1550.0
    third = section([player(1500.0), player(1600.0), player(1500.0)], [(0, 1, 1.0)] * 8 + [(1, 2, 0.5)])
    assert third[0].rating > 1550.0


def told(players: Sequence[Player], games: Sequence[tuple[int, int, float]]) -> Any:
    """The explanation for player 0."""
    sides = worked(players, games)
    meetings = [
        OpponentGame(
            sides[b if w == 0 else w].before, s if w == 0 else 1.0 - s, int(w != 0), sides[b if w == 0 else w].work
        )
        for w, b, s in games
        if 0 in (w, b)
    ]
    return SCHEME.explain(sides[0], meetings, When(0.0, DAY), DEFAULT)


def test_every_bound_is_told() -> None:
    four = [player(2690.0)] * 4
    won = [(0, i, 1.0) for i in range(1, 5)]
    capped = told([player(2650.0, 4.0), *four], won)
    assert "100 to 2700" in capped.rounding
    assert capped.result == 2700.0 < capped.unrounded == pytest.approx(evaluate_rule(capped))
    match = told([player(1500.0), player(1600.0)], [(0, 1, 1.0)] * 8)
    assert "a match changes" in match.rounding
    floored = told([player(1610.0, peak=1835.0), player(1500.0)], [(0, 1, 0.0)])
    assert "floor 1600" in floored.rounding
    plain = told([player(1610.0), player(1500.0)], [(0, 1, 0.0)])
    assert plain.rounding == "none; shown to the nearest point"


def test_a_rating_on_a_flat_stretch_is_told_as_such() -> None:
    flat = told([player(None), player(1500.0), player(100.0)], [(0, 1, 0.0), (0, 2, 1.0)])
    assert flat.rule.startswith("R0,")
    assert flat.result == flat.unrounded == evaluate_rule(flat) == 750.0


def test_each_win_more_lifts_the_rating() -> None:
    field = [player(1500.0, 5.0), *[player(1400.0 + 100.0 * i) for i in range(6)]]
    ratings = [section(field, [(0, i + 1, 1.0 if i < wins else 0.0) for i in range(6)])[0].rating for wins in range(7)]
    assert all(low < high for low, high in pairwise(ratings))


@pytest.mark.parametrize("games", [0.0, 5.0, 100.0])
@pytest.mark.parametrize("other_games", [0.0, 100.0])
def test_numbers_of_something_else_in_the_column_of_ratings_end_in_a_rating(games: float, other_games: float) -> None:
    numbers = SCHEME.numbers_from({})
    for rating in (999_999_999_999.0, 4_915_112_345.0):
        pasts = [Seed(rating, games), Seed(999_999_999_999.0, other_games)]
        state = engine.initial_states(SCHEME, numbers, [Newcomer(seed=past) for past in pasts])
        section = engine.RateableGames([0], [1], [0.0], [20_000.0], [0, 1], [0.0], [20_000.0])
        engine.rate(FEW, SCHEME, numbers, section, state, [0, 0])
        assert all(99_000.0 < one < 101_000.0 for one in (state[0], state[len(SCHEME.state)]))


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
    assert section(field, games)[0].rating == 103.0
    assert section(field, games, online=True)[0].rating == 100.0


def test_an_established_player_never_falls_through_the_peak_floor() -> None:
    field = [player(1610.0, peak=1835.0), player(1500.0), player(1500.0), player(1500.0)]
    fallen = section(field, [(0, 1, 0.0), (0, 2, 0.0), (0, 3, 0.0)])[0]
    assert (fallen.rating, fallen.peak) == (1600.0, 1835.0)


def test_a_peak_is_kept_from_the_26th_game_on() -> None:
    field = [player(1700.0, 24.0), player(1500.0), player(1500.0)]
    before = section(field, [(0, 1, 1.0)])[0]
    assert (before.games, before.peak) == (25.0, 0.0)
    after = section([before, *field[1:]], [(0, 2, 1.0)])[0]
    assert (after.games, after.peak) == (26.0, after.rating)


def test_established_means_more_than_25_games() -> None:
    assert SCHEME.provisional(player(1500.0, 25.0), DEFAULT)
    assert not SCHEME.provisional(player(1500.0, 26.0), DEFAULT)


def test_the_start_rating_is_50_a_year_of_age() -> None:
    assert [formulas.start_by_age(age) for age in (1.0, 2.0, 10.0, 26.0, 40.0)] == [100.0, 100.0, 500.0, 1300.0, 1300.0]
    assert [formulas.start_by_age_before_2008(age) for age in (3.9, 4.0, 20.0, 20.1)] == [1300.0, 500.0, 1300.0, 1300.0]


def test_a_newcomer_is_unrated_and_not_listed_and_grows_older() -> None:
    newcomer = SCHEME.enter(Newcomer(None, 2016, day_of(2026, 7, 2)), DEFAULT)
    assert newcomer.rating == 0.0
    assert not SCHEME.listed(newcomer, DEFAULT)
    assert newcomer.start == pytest.approx(500.0, abs=0.5)
    SCHEME.at(newcomer, 0.0, day_of(2028, 7, 2), DEFAULT)
    assert newcomer.start == pytest.approx(600.0, abs=0.5)


def test_without_a_birth_year_a_newcomer_starts_at_750_or_as_an_adult() -> None:
    assert SCHEME.enter(STRANGER, DEFAULT).start == 750.0
    for switch in ("assume_adult", "old_starts"):
        assert SCHEME.enter(STRANGER, replace_settings(DEFAULT, **{switch: True})).start == 1300.0


def test_a_fide_rating_is_converted_by_the_formula_of_the_day() -> None:
    numbers = replace_settings(DEFAULT, declared_fide=True)
    early, late = (SCHEME.enter(Newcomer(1500.0, None, day_of(2024, *day)), numbers) for day in ((2, 29), (3, 1)))
    assert (early.rating, early.games) == (180.0 + 0.94 * 1500.0, 5.0)
    assert (late.rating, late.games) == (-1073.0 + 1.5667 * 1500.0, 5.0)
    high = SCHEME.enter(Newcomer(2200.0, None, DAY), numbers)
    assert (high.rating, high.games) == (20.0 + 1.02 * 2200.0, 10.0)


def test_both_conversions_agree_at_fide_2000() -> None:
    assert formulas.from_fide(2000.0) == pytest.approx(2060.4)
    assert formulas.from_fide_2020(2000.0) == pytest.approx(2060.0)
    assert formulas.from_fide(2000.1) == formulas.from_fide_2020(2000.1) == pytest.approx(2060.102)
