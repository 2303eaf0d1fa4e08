"""FIDE: initial ratings, who is on the list and in force, explanations, time controls."""

from typing import Any

import pytest

from ledger.schemes.fide import DEFAULT, SCHEME, enter, expected_score, listed, provisional
from ledger.schemes.formulas.fide_rules import compressed, initial, initial_2024, initial_before_2024, nearest
from ledger.schemes.scheme import COUNTS, TOO_SHORT, Newcomer
from ledger.schemes.settings import replace_settings
from tests.schemes.fide_periods import at_day, day, explained, play, player
from tests.vectors.published import time_control_class


def test_initial_ratings_round_half_up_and_stop_at_2200() -> None:
    assert nearest(3.0, 2.0) == 2.0
    assert nearest(7.0, 5.0) == 1.0
    assert initial_2024(9000.0, 5.0, 5.0, 1800.0, 2200.0) == 2109
    assert initial_2024(12_500.0, 5.0, 5.0, 1800.0, 2200.0) == 2200
    assert initial_2024(9000.0, 2.5, 5.0, 1800.0, 2200.0) == 1800


def test_initial_ratings_before_2024_add_half_the_highest_k_for_each_half_point_over_half() -> None:
    for on, expected in (("2010-01-01", 2013), ("2012-01-01", 2015), ("2015-01-01", 2020), ("2023-01-01", 2020)):
        assert initial(10_000.0, 3.0, 5.0, day(on), 1800.0, 2200.0) == expected
    assert initial_before_2024(8000.0, 1.0, 5.0, 20.0) == 1360
    assert initial_before_2024(12_000.0, 3.0, 5.0, 20.0) == 2420, "no maximum"


def test_five_games_pooled_over_two_periods_make_a_rating() -> None:
    rated = player(1800, 100)
    first = play(player(), [(rated, 1.0), (rated, 0.5)], "2025-10-31")
    assert (first.rating, first.pool_games, first.pool_score, first.pool_opponents) == (0, 2, 1.5, 3600)
    assert first.pool_since == day("2025-10-31")
    second = play(first, [(rated, 0.0), (rated, 0.5), (player(), 1.0), (rated, 1.0)], "2025-11-30")
    assert second.rating == initial_2024(9000.0, 3.0, 5.0, 1800.0, 2200.0)
    assert (second.games, second.pool_games, second.pool_since) == (5, 0, 0)
    assert second.highest == second.rating


def test_nine_games_were_needed_until_june_2014() -> None:
    rated = player(2000, 100, on="2014-05-01")
    assert play(player(on="2014-05-01"), [(rated, 0.5)] * 8, "2014-06-30").rating == 0
    assert play(player(on="2014-05-01"), [(rated, 0.5)] * 9, "2014-06-30").rating == 2000
    assert play(player(on="2014-05-01"), [(rated, 0.5)] * 5, "2014-07-31").rating == 2000


def test_a_first_event_without_a_point_is_disregarded_and_a_later_one_is_not() -> None:
    rated = player(1800, 100)
    first = play(player(), [(rated, 0.0)] * 6)
    assert (first.rating, first.pool_games) == (0, 0)
    second = play(first, [(rated, 0.5)])
    assert second.pool_games == 1
    assert play(second, [(rated, 0.0)]).pool_games == 2


def test_a_pool_lapses_after_26_months() -> None:
    rated = player(1800, 100)
    first = play(player(), [(rated, 1.0)], "2024-03-31")
    assert at_day(first, "2026-05-31").pool_games == 1
    assert at_day(first, "2026-06-01").pool_games == 0


def test_an_initial_rating_below_the_floor_is_not_published_and_the_pool_goes_on() -> None:
    weak = player(1400, 100)
    first = play(player(), [(weak, 1.0)] + [(weak, 0.0)] * 5)
    assert (first.rating, first.pool_games) == (0, 6)
    second = play(first, [(weak, 1.0)] * 6)
    assert (second.rating, second.games) == (initial_2024(16_800.0, 7.0, 12.0, 1800.0, 2200.0), 12)


def test_who_falls_below_the_floor_is_a_newcomer_again() -> None:
    own, opponent = player(1404, 100), player(1404, 100)
    after = play(own, [(opponent, 0.0)])
    assert after.rating == 0
    assert (after.games, after.highest, after.pool_games) == (101, 1404, 0)
    assert not listed(after, DEFAULT)
    assert provisional(after, DEFAULT)
    exactly = play(player(1410, 100), [(player(1410, 100), 0.0)])
    assert exactly.rating == 1400


def test_the_rise_of_march_2024_comes_once() -> None:
    own = player(1600, 100, on="2023-01-01")
    assert at_day(own, "2024-02-29").rating == 1600
    risen = at_day(own, "2024-03-01")
    assert risen.rating == 1760
    assert at_day(risen, "2024-04-01").rating == 1760
    assert at_day(at_day(own, "2024-02-29"), "2030-01-01").rating == 1760
    assert at_day(player(1600, 100, on="2024-03-01"), "2024-04-01").rating == 1600
    assert [compressed(r) for r in (1000.0, 1001.0, 1999.0, 2000.0, 2500.0)] == [1400, 1401, 1999, 2000, 2500]


def test_games_of_march_2024_are_rated_from_the_risen_ratings() -> None:
    old = player(1500, 100, on="2024-01-01")
    assert play(old, [(old, 1.0)], "2024-02-29").rating == 1510
    assert play(old, [(old, 1.0)], "2024-03-31").rating == 1710


def test_without_the_rise_the_new_floor_takes_the_rating() -> None:
    numbers = replace_settings(DEFAULT, compress=False)
    assert at_day(player(1399, 100, on="2023-01-01"), "2024-03-01", numbers).rating == 0
    assert at_day(player(1400, 100, on="2023-01-01"), "2024-03-01", numbers).rating == 1400


def test_ratings_do_not_decay() -> None:
    assert at_day(player(2000, 100), "2060-01-01").rating == 2000


def test_declared_ratings_are_in_force_from_the_floor_on() -> None:
    for declared, rating in ((None, 0), (0, 0), (1399, 0), (1400, 1400), (2500, 2500)):
        newcomer = enter(Newcomer(declared, 1990, day("2025-01-01")), DEFAULT)
        assert (newcomer.rating, newcomer.birth_year) == (rating, 1990)
    assert enter(Newcomer(1000, None, day("2024-02-29")), DEFAULT).rating == 1000
    carried = player(1849.5, 12.0, on="2025-01-01")
    assert (carried.rating, carried.games, carried.highest) == (1850, 12, 1850)


def test_the_rules_of_one_day_can_hold_for_all_games() -> None:
    numbers = SCHEME.numbers_from({"rules_day": int(day("2025-10-01"))})
    old = player(1500, 100, on="2010-01-01", numbers=numbers)
    assert play(old, [(old, 1.0)], "2010-01-31", numbers).rating == 1510
    assert at_day(old, "2026-01-01", numbers).rating == 1500, "and nobody's rating rises in March 2024"


def test_expected_scores_cap_the_difference_and_take_the_unrated_as_1800() -> None:
    assert expected_score(player(2200, 50), player(), DEFAULT) == 0.92
    assert expected_score(player(2800, 50), player(1500, 50), DEFAULT) == 0.92
    assert expected_score(player(), player(), DEFAULT) == 0.5


def test_a_game_of_one_move_is_too_short_and_one_of_unknown_length_is_not() -> None:
    for moves, reason in ((0, TOO_SHORT), (1, TOO_SHORT), (2, COUNTS), (-1, COUNTS)):
        assert SCHEME.refuse(0, 0, moves, 1, 0, 0, DEFAULT) == reason


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"floor": -1}, "floor"),
        ({"rules_day": "0.5"}, "rules_day"),
        ({"k_product": 0}, "k_product"),
        ({"period_months": 0}, "period_months"),
        ({"hypothetical": 0}, "hypothetical"),
    ],
)
def test_settings_without_sense_are_refused(settings: dict[str, Any], name: str) -> None:
    with pytest.raises(Exception, match=name):
        SCHEME.numbers_from(settings)


def test_a_change_is_explained_with_its_sums() -> None:
    told = explained(player(1617, 50), [(player(1651, 50), 0.0), (player(1525, 50), 1.0), (player(), 1.0)])
    values = {term.symbol: term.value for term in told.terms}
    assert values == {"Ro": 1617, "n": 2, "W": 1, "We": 1.08, "K": 20}
    assert (told.unrounded, told.result) == (pytest.approx(1615.4), 1615)


@pytest.mark.parametrize(
    ("on", "rating", "expected", "rule"),
    [
        ("2009-06-30", 2000, 0.11, "the 350-point rule"),
        ("2009-07-31", 2000, 0.08, "the 400-point rule"),
        ("2023-01-31", 2000, 0.08, "the 400-point rule, against lower ratings in one game of a tournament"),
        ("2024-03-31", 2000, 0.08, "the 400-point rule"),
        ("2025-10-31", 2650, 0.06, "differences in full"),
    ],
)
def test_an_expected_score_is_explained_by_the_rule_of_its_day(
    on: str, rating: float, expected: float, rule: str
) -> None:
    told = explained(player(rating, 50, on=on), [(player(rating + 450, 50, on=on), 1.0)], on)
    term = next(term for term in told.terms if term.symbol == "We")
    assert (term.value, term.meaning) == (expected, f"expected score by table 8.1.2 and {rule}")


def test_a_fall_below_the_floor_is_explained() -> None:
    told = explained(player(1400, 50), [(player(1400, 50), 0.0)])
    assert (told.unrounded, told.result) == (1390, 0)
    assert "below 1400, so unrated" in told.rounding


@pytest.mark.parametrize(
    ("on", "score", "unrounded", "result"),
    [
        ("2025-11-30", 1.0, 2109, 2109),
        ("2025-11-30", 0.5, 1800, 1800),
        ("2023-11-30", 1.0, 1900, 1900),
        ("2023-11-30", 0.5, 1800, 1800),
    ],
)
def test_an_initial_rating_is_explained(on: str, score: float, unrounded: float, result: float) -> None:
    told = explained(player(on=on), [(player(1800, 50, on=on), score)] * 5, on)
    assert (told.unrounded, told.result) == (unrounded, result)


def test_an_initial_rating_below_half_or_below_the_floor_is_explained() -> None:
    games = [(player(1400, 50), 0.0)] * 5 + [(player(1400, 50), 0.5)]
    told = explained(player(), games)
    assert told.result == 0.0
    assert told.unrounded < 1400.0
    assert "not published" in told.rounding
    older = [(player(1900, 50, on="2023-01-01"), score) for score in (1.0, 0.0, 0.0, 0.0, 0.0)]
    assert explained(player(on="2023-01-01"), older, "2023-01-31").result == 1900 - 240
    assert explained(player(), games[:2]).rule.startswith("0, unrated until 5 games")


@pytest.mark.parametrize(
    ("base", "increment", "highest", "expected"),
    [
        (3600, 0, 0, "standard"), (3599, 0, 0, "rapid"), (5400, 30, 2399, "standard"), (3600, 0, 1799, "standard"),
        (3600, 0, 1800, "unrated"), (5400, 0, 2399, "standard"), (5400, 0, 2400, "unrated"),
        (7200, 0, 2400, "standard"), (601, 0, 0, "rapid"), (600, 0, 0, "blitz"), (0, 10, 0, "blitz"),
        (180, 0, 0, "unrated"), (181, 0, 0, "blitz"), (120, 1, 0, "unrated"), (3000, 10, 0, "standard"),
    ],
)  # fmt: skip
def test_time_controls_by_the_time_for_60_moves(base: float, increment: float, highest: float, expected: str) -> None:
    assert time_control_class(base, increment, highest) == expected


def test_a_pool_may_begin_with_everybody_rated() -> None:
    numbers = SCHEME.numbers_from({"start": 1800})
    day = 20_500.0
    assert enter(Newcomer(None, None, day), numbers).rating == 1800.0
    assert enter(Newcomer(2100.0, None, day), numbers).rating == 2100.0
    assert enter(Newcomer(None, None, day), SCHEME.numbers_from({})).rating == 0.0
