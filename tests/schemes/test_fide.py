from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.facts.periods import months_of, year_of
from ledger.ratings import engine
from ledger.ratings.engine import Rateable
from ledger.runtime.columns import FEW
from ledger.schemes import scheme
from ledger.schemes.fide import DEFAULT, FIELDS, SCHEME, STATE, time_control_class
from ledger.schemes.formulas.fide_by_hand import game, game_rounded, period, round_change, tournament
from ledger.schemes.formulas.fide_initial import initial, initial_2024, initial_before_2024, nearest
from ledger.schemes.formulas.fide_rules import cap, compressed, is_rated, k_capped, k_factor, published_from
from ledger.schemes.formulas.fide_tables import EDGES, ROWS, dp, expected_hundredths, pd, percentage, round_hundredths
from ledger.schemes.scheme import COUNTS, TOO_SHORT, Meeting, Newcomer, Scheme, Side, When, with_settings
from ledger.testing.formulas import evaluated
from ledger.testing.scheme_contract import SchemeContract


class TestFide(SchemeContract):
    settings: ClassVar[Sequence[Any]] = (
        {},
        {"rapid": True},
        {"rules_day": 20_400, "floor": 1, "initial_games": 1},
        {"rules_day": 14_000, "compress": False},
        {"compress": False, "k_product": 100, "k_games": 0, "period_months": 3, "high_from": 2000},
    )

    def make(self) -> Scheme:
        return SCHEME


def day(text: str) -> float:
    return float((date.fromisoformat(text) - date(1970, 1, 1)).days)


def player(rating: float | None = None, games: float = 0.0, born: int | None = None, on: str = "2025-11-01") -> Any:
    return SCHEME.carried(rating or 0.0, games, Newcomer(None, born, day(on)), DEFAULT)


def play(
    own: Sequence[float], games: Sequence[tuple[Sequence[float], float]], on: str = "2025-11-30", numbers: Any = DEFAULT
) -> dict[str, float]:
    """The player's state after a period with these opponents and own scores."""
    return dict(zip(STATE, whole(own, games, on, numbers)[0].after, strict=True))


def whole(
    own: Sequence[float], games: Sequence[tuple[Sequence[float], float]], on: str, numbers: Any = DEFAULT
) -> tuple[Side, list[Meeting]]:
    n = len(games)
    state = [*own, *(value for opponent, _ in games for value in opponent)]
    black, score = list(range(1, n + 1)), [score for _, score in games]
    batch = Rateable([0] * n, black, score, [day(on)] * n, [0, n], [9.0], [day(on)])
    before, after, work = engine.rate_one_batch(SCHEME, numbers, batch, state)
    sides = [tuple(before[i : i + FIELDS]) for i in range(0, len(before), FIELDS)]
    notes = len(SCHEME.work)
    return (
        Side(sides[0], tuple(after[:FIELDS]), tuple(work[:notes])),
        [Meeting(sides[g + 1], games[g][1]) for g in range(n)],
    )


def brought(state: Sequence[float], on: str, numbers: Any = DEFAULT) -> dict[str, float]:
    return dict(zip(STATE, scheme.brought(SCHEME, numbers, state, When(9.0, day(on))), strict=True))


# --- tables -------------------------------------------------------------------------------------------------


def test_every_row_of_the_table_of_expected_scores_ends_at_its_edge() -> None:
    assert len(EDGES) == 50
    for row, edge in enumerate(EDGES):
        assert expected_hundredths(edge) == 50 + row
        assert expected_hundredths(edge + 1) == 51 + row
        assert expected_hundredths(-edge) == 50 - row
        assert expected_hundredths(float(edge)) == 50 + row
    assert len(ROWS) == 736
    assert (pd(736), pd(-736), pd(10_000), pd(-10_000), pd(0)) == (1.0, 0.0, 1.0, 0.0, 0.5)


@given(st.integers(-3000, 3000))
def test_the_table_is_complementary_and_grows(difference: int) -> None:
    assert expected_hundredths(difference) + expected_hundredths(-difference) == 100
    assert expected_hundredths(difference) <= expected_hundredths(difference + 1)


def test_the_table_of_differences_is_antisymmetric() -> None:
    assert [dp(p) for p in (100, 99, 50, 1, 0)] == [800, 677, 0, -677, -800]
    assert all(dp(p) == -dp(100 - p) for p in range(101))
    assert all(dp(p) < dp(p + 1) for p in range(100))


@given(st.integers(0, 400), st.integers(1, 200))
def test_percentages_round_half_up(halves: int, games: int) -> None:
    halves = min(halves, 2 * games)
    exact = Fraction(100 * halves, 2 * games)
    assert percentage(halves / 2, float(games)) == int(exact + Fraction(1, 2))


@given(st.integers(-(10**6), 10**6))
def test_hundredths_round_as_decimals_half_away_from_zero(hundredths: int) -> None:
    assert round_hundredths(hundredths) == round_change(Decimal(hundredths) / 100)


def test_changes_round_half_away_from_zero() -> None:
    assert [round_change(x) for x in ("2.50", "-2.50", "2.49", "-2.49", "0.5", "-0.5", "0", "-0.0")] == [
        3, -3, 2, -2, 1, -1, 0, 0,
    ]  # fmt: skip


# --- dates --------------------------------------------------------------------------------------------------


@given(st.dates())
def test_months_and_years_are_those_of_the_calendar(one: date) -> None:
    days = (one - date(1970, 1, 1)).days
    assert months_of(days + 0.999) == one.year * 12 + one.month - 1
    assert year_of(float(days)) == one.year


@pytest.mark.parametrize(
    ("first", "floor_before", "floor_since"),
    [("2009-07-01", 1801, 1200), ("2012-07-01", 1200, 1000), ("2024-03-01", 1000, 1400)],
)
def test_floors_change_on_their_day(first: str, floor_before: int, floor_since: int) -> None:
    assert published_from(day(first) - 0.001) == floor_before
    assert published_from(day(first)) == floor_since


def test_the_cap_was_350_until_june_2009() -> None:
    assert (cap(day("2009-06-30")), cap(day("2009-07-01"))) == (350.0, 400.0)


# --- the 400-point rule ---------------------------------------------------------------------------------------


def test_before_2022_and_from_march_2024_every_game_is_capped() -> None:
    games = [(1500, 1), (1400, 1), (2900, 0)]
    for on in ("2021-12-31", "2024-03-01", "2025-09-30"):
        assert tournament(2000, games, 20, day(on)).difference == Decimal("0.08")


def test_with_one_upgrade_only_the_widest_game_of_the_stronger_side_is_capped() -> None:
    games = [(1500, 1), (1400, 1), (1250, 1)]  # 500: .96, 600: .98, 750: 1.00, which counts as .92
    for on in ("2022-01-01", "2024-02-29"):
        assert tournament(2000, games, 20, day(on)).difference == Decimal("0.14")
        assert tournament(2000, [(1250, 1), (1250, 1)], 20, day(on)).difference == Decimal("0.08")
        assert tournament(2000, [(2900, 0), (2800, 0)], 20, day(on)).difference == Decimal("-0.16"), "weaker side"
    assert tournament(2000, games, 20, day("2023-01-01"), rapid=True).difference == Decimal("0.24")


def test_from_october_2025_a_player_of_2650_has_no_cap_but_the_opponent_has() -> None:
    assert game(2650, 2150, 1, 10) == Decimal("0.40")
    assert game(2649, 2149, 1, 10) == Decimal("0.80")
    assert game(2150, 2650, 0, 20) == Decimal("-1.60")
    assert game(2650, 3200, 0, 10) == Decimal("-0.30"), "550 below, in full as well"
    assert game(2650, 2150, 1, 10, day("2025-09-30")) == Decimal("0.80")
    assert game(2650, 2150, 1, 10, rapid=True) == Decimal("0.80")


def test_rapid_games_600_apart_do_not_count_if_one_is_above_2600() -> None:
    since = day("2024-12-01")
    assert not is_rated(2601.0, 2001.0, since, rapid=True)
    assert not is_rated(2001.0, 2601.0, since, rapid=True)
    assert is_rated(2601.0, 2002.0, since, rapid=True)
    assert is_rated(2600.0, 1900.0, since, rapid=True)
    assert is_rated(2601.0, 2001.0, since - 1.0, rapid=True)
    assert is_rated(2601.0, 2001.0, since, rapid=False)
    assert tournament(2700, [(1900, 0), (2600, 1)], 20, rapid=True).games == 1


def test_games_against_unrated_opponents_do_not_count() -> None:
    assert tuple(tournament(2000, [(0, 0), (None, 1)], 20)) == (0, 0, 0)
    assert game_rounded(2000, None, 1, 20) == 0
    after = play(player(2000, 40), [(player(), 0.0)])
    assert (after["rating"], after["games"]) == (2000, 40)


# --- K --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("highest", "games", "junior", "on", "rapid", "k"),
    [
        (2399, 29, False, "2025-01-01", False, 40),
        (2399, 30, False, "2025-01-01", False, 20),
        (2400, 0, True, "2025-01-01", False, 10),
        (2299, 500, True, "2025-01-01", False, 40),
        (2300, 500, True, "2025-01-01", False, 20),
        (2300, 29, True, "2025-01-01", False, 40),
        (1500, 29, True, "2024-02-29", True, 20),
        (1500, 29, True, "2024-03-01", True, 40),
        (1500, 30, True, "2014-06-30", False, 15),
        (1500, 30, False, "2014-07-01", False, 20),
        (1500, 29, False, "2011-06-30", False, 25),
        (1500, 29, False, "2011-07-01", False, 30),
        (2400, 30, False, "2008-01-01", False, 10),
    ],
)
def test_k_by_date_and_precedence(
    highest: float, games: float, junior: bool, on: str, rapid: bool, k: float
) -> None:
    assert k_factor(highest, games, junior, day(on), rapid, DEFAULT) == k


def test_k_times_games_is_at_most_700_since_2014() -> None:
    now = day("2025-01-01")
    assert [k_capped(20.0, n, now, 700.0) for n in (35.0, 36.0, 39.0, 700.0, 701.0)] == [20, 19, 17, 1, 0]
    assert k_capped(40.0, 17.0, now, 700.0) == 40.0
    assert k_capped(30.0, 40.0, day("2013-01-01"), 700.0) == 30.0


def test_a_junior_is_one_to_the_end_of_the_year_of_the_18th_birthday() -> None:
    opponent = (player(1800, 100), 1.0)
    for on, k in (("2025-12-31", 40), ("2026-01-31", 20)):
        after = play(player(1800, 100, born=2007), [opponent], on)
        assert after["rating"] == 1800 + k / 2
    assert play(player(1800, 100), [opponent], "2025-12-31")["rating"] == 1810, "year of birth unknown"


def test_k_10_is_for_good_and_only_published_ratings_bring_it() -> None:
    strong, even = player(2390, 100), (player(2390, 100), 1.0)
    first = play(strong, [even])
    assert (first["rating"], first["highest"]) == (2400, 2400)
    second = play(tuple(first.values()), [(player(2400, 100), 0.0)])
    assert (second["rating"], second["highest"]) == (2395, 2400)
    third = play(tuple(second.values()), [(player(2395, 100), 0.0)])
    assert third["rating"] == 2390


def test_k_counts_the_games_completed_before_the_period() -> None:
    opponents = [(player(1500, 100), 1.0), (player(1500, 100), 0.0), (player(1500, 100), 1.0)]
    assert play(player(1500, 29), opponents)["rating"] == 1520
    assert play(player(1500, 30), opponents)["rating"] == 1510
    assert play(player(1500, 29), opponents)["games"] == 32


# --- a period -------------------------------------------------------------------------------------------------


def test_the_change_is_rounded_once_a_period() -> None:
    games = [(1651, 0.0), (1525, 1.0), (2017, 0.0), (1451, 1.0), (1854, 0.0), (1800, 0.5), (1935, 0.0)]
    results = [tournament(1617, games[:2], 20), tournament(1617, games[2:], 20)]
    assert period(results) == (Decimal("0.60"), 1, 0)
    assert play(player(1617, 50), [(player(r, 50), s) for r, s in games])["rating"] == 1618


def test_a_tie_goes_away_from_zero() -> None:
    # a draw with K 10 against a player 4 points stronger is worth 0.1, five of them 0.5
    weaker, stronger = player(1996, 100), player(2004, 100)
    own = SCHEME.carried(2000.0, 100.0, Newcomer(None, None, day("2025-11-01")), DEFAULT)
    ten = (own[0], own[1], 2400.0, *own[3:])
    assert play(ten, [(stronger, 0.5)] * 5)["rating"] == 2001
    assert play(ten, [(weaker, 0.5)] * 5)["rating"] == 1999
    assert play(ten, [(weaker, 0.5)] * 4)["rating"] == 2000


@given(
    st.integers(1801, 2800),
    st.lists(st.tuples(st.integers(1801, 2900), st.sampled_from((0.0, 0.5, 1.0))), min_size=1, max_size=50),
    st.sampled_from(("2008-12-31", "2010-08-31", "2016-01-31", "2023-02-28", "2024-05-31", "2025-01-31", "2025-11-30")),
    st.booleans(),
)
def test_the_kernel_gives_what_decimals_give(
    own: int, games: list[tuple[int, float]], on: str, rapid: bool
) -> None:
    numbers = with_settings(DEFAULT, rapid=rapid)
    sides = [(player(rating, 50, on=on), score) for rating, score in games]
    side, _ = whole(player(own, 50, on=on), sides, on, numbers)
    work = dict(zip(SCHEME.work, side.work, strict=True))
    exact = tournament(own, games, int(work["k"]), day(on), rapid=rapid)
    assert work["counted"] == exact.games
    rating = own + round_change(exact.change)
    assert side.after[0] == (rating if rating >= published_from(day(on)) else 0)


def test_all_ratings_of_a_period_are_those_before_it() -> None:
    newcomer, rated = player(), player(1800, 100)
    n = 6
    state = [*newcomer, *(rated * 5), *rated]
    games = Rateable([0] * 5 + [0], [1, 2, 3, 4, 5, 6], [1.0] * n, [0.0] * n, [0, n], [9.0], [day("2025-11-30")])
    engine.rate(FEW, SCHEME, DEFAULT, games, state, [0] * 7)
    assert state[0] > 1400.0, "five wins make a rating"
    assert state[FIELDS] == 1800.0, "but for the others they were games against an unrated player"


# --- initial ratings --------------------------------------------------------------------------------------------


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
    assert (first["rating"], first["pool_games"], first["pool_score"], first["pool_opponents"]) == (0, 2, 1.5, 3600)
    assert first["pool_since"] == day("2025-10-31")
    second = play(tuple(first.values()), [(rated, 0.0), (rated, 0.5), (player(), 1.0), (rated, 1.0)], "2025-11-30")
    assert second["rating"] == initial_2024(9000.0, 3.0, 5.0, 1800.0, 2200.0)
    assert (second["games"], second["pool_games"], second["pool_since"]) == (5, 0, 0)
    assert second["highest"] == second["rating"]


def test_nine_games_were_needed_until_june_2014() -> None:
    rated = player(2000, 100, on="2014-05-01")
    assert play(player(on="2014-05-01"), [(rated, 0.5)] * 8, "2014-06-30")["rating"] == 0
    assert play(player(on="2014-05-01"), [(rated, 0.5)] * 9, "2014-06-30")["rating"] == 2000
    assert play(player(on="2014-05-01"), [(rated, 0.5)] * 5, "2014-07-31")["rating"] == 2000


def test_a_first_event_without_a_point_is_disregarded_and_a_later_one_is_not() -> None:
    rated = player(1800, 100)
    first = play(player(), [(rated, 0.0)] * 6)
    assert (first["rating"], first["pool_games"]) == (0, 0)
    second = play(play_state(first), [(rated, 0.5)])
    assert second["pool_games"] == 1
    assert play(play_state(second), [(rated, 0.0)])["pool_games"] == 2


def play_state(after: dict[str, float]) -> tuple[float, ...]:
    return tuple(after.values())


def test_a_pool_lapses_after_26_months() -> None:
    rated = player(1800, 100)
    first = play_state(play(player(), [(rated, 1.0)], "2024-03-31"))
    assert brought(first, "2026-05-31")["pool_games"] == 1
    assert brought(first, "2026-06-01")["pool_games"] == 0


def test_an_initial_rating_below_the_floor_is_not_published_and_the_pool_goes_on() -> None:
    weak = player(1400, 100)
    first = play(player(), [(weak, 1.0)] + [(weak, 0.0)] * 5)
    assert (first["rating"], first["pool_games"]) == (0, 6)
    second = play(play_state(first), [(weak, 1.0)] * 6)
    assert (second["rating"], second["games"]) == (initial_2024(16_800.0, 7.0, 12.0, 1800.0, 2200.0), 12)


# --- the list -----------------------------------------------------------------------------------------------


def test_who_falls_below_the_floor_is_a_newcomer_again() -> None:
    own, opponent = player(1404, 100), player(1404, 100)
    after = play(own, [(opponent, 0.0)])
    assert after["rating"] == 0
    assert (after["games"], after["highest"], after["pool_games"]) == (101, 1404, 0)
    assert not SCHEME.listed(list(after.values()), 0, DEFAULT)
    assert SCHEME.provisional(list(after.values()), 0, DEFAULT)
    exactly = play(player(1410, 100), [(player(1410, 100), 0.0)])
    assert exactly["rating"] == 1400


def test_the_rise_of_march_2024_comes_once() -> None:
    own = player(1600, 100, on="2023-01-01")
    assert brought(own, "2024-02-29")["rating"] == 1600
    risen = brought(own, "2024-03-01")
    assert risen["rating"] == 1760
    assert brought(play_state(risen), "2024-04-01")["rating"] == 1760
    assert brought(play_state(brought(own, "2024-02-29")), "2030-01-01")["rating"] == 1760
    assert brought(player(1600, 100, on="2024-03-01"), "2024-04-01")["rating"] == 1600
    assert [compressed(r) for r in (1000.0, 1001.0, 1999.0, 2000.0, 2500.0)] == [1400, 1401, 1999, 2000, 2500]


def test_games_of_march_2024_are_rated_from_the_risen_ratings() -> None:
    old = player(1500, 100, on="2024-01-01")
    assert play(old, [(old, 1.0)], "2024-02-29")["rating"] == 1510
    assert play(old, [(old, 1.0)], "2024-03-31")["rating"] == 1710


def test_without_the_rise_the_new_floor_takes_the_rating() -> None:
    numbers = with_settings(DEFAULT, compress=False)
    assert brought(player(1399, 100, on="2023-01-01"), "2024-03-01", numbers)["rating"] == 0
    assert brought(player(1400, 100, on="2023-01-01"), "2024-03-01", numbers)["rating"] == 1400


def test_ratings_do_not_decay() -> None:
    assert brought(player(2000, 100), "2060-01-01")["rating"] == 2000


def test_declared_ratings_are_in_force_from_the_floor_on() -> None:
    for declared, rating in ((None, 0), (0, 0), (1399, 0), (1400, 1400), (2500, 2500)):
        state = SCHEME.enter(Newcomer(declared, 1990, day("2025-01-01")), DEFAULT)
        assert (state[0], state[3]) == (rating, 1990)
    assert SCHEME.enter(Newcomer(1000, None, day("2024-02-29")), DEFAULT)[0] == 1000
    assert SCHEME.carried(1849.5, 12.0, Newcomer(None, None, day("2025-01-01")), DEFAULT)[:3] == (1850, 12, 1850)


def test_the_rules_of_one_day_can_hold_for_all_games() -> None:
    numbers = SCHEME.numbers_from({"rules_day": int(day("2025-10-01"))})
    old = SCHEME.carried(1500.0, 100.0, Newcomer(None, None, day("2010-01-01")), numbers)
    assert play(old, [(old, 1.0)], "2010-01-31", numbers)["rating"] == 1510
    assert brought(old, "2026-01-01", numbers)["rating"] == 1500, "and nobody's rating rises in March 2024"


def test_expected_scores_cap_the_difference_and_take_the_unrated_as_1800() -> None:
    both = [*player(2200, 50), *player()]
    assert SCHEME.expected_score(both, 0, FIELDS, DEFAULT) == 0.92
    assert SCHEME.expected_score([*player(2800, 50), *player(1500, 50)], 0, FIELDS, DEFAULT) == 0.92
    assert SCHEME.expected_score([*player(), *player()], 0, FIELDS, DEFAULT) == 0.5


def test_a_game_of_one_move_is_too_short_and_one_of_unknown_length_is_not() -> None:
    for moves, reason in ((0, TOO_SHORT), (1, TOO_SHORT), (2, COUNTS), (-1, COUNTS)):
        assert SCHEME.refuse(0, 0, moves, 1, 0, 0, DEFAULT) == reason


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"floor": -1}, "floor"), ({"rules_day": "0.5"}, "rules_day"), ({"k_product": 0}, "k_product"),
        ({"period_months": 0}, "period_months"), ({"hypothetical": 0}, "hypothetical"),
    ],
)  # fmt: skip
def test_settings_without_sense_are_refused(settings: dict[str, Any], name: str) -> None:
    with pytest.raises(Exception, match=name):
        SCHEME.numbers_from(settings)


# --- explanations -------------------------------------------------------------------------------------------


def explained(own: Sequence[float], games: Sequence[tuple[Sequence[float], float]], on: str = "2025-11-30") -> Any:
    side, meetings = whole(own, games, on)
    told = SCHEME.explain(side, meetings, When(9.0, day(on)), DEFAULT)
    assert evaluated(told) == pytest.approx(told.unrounded)
    return told


def test_a_change_is_explained_with_its_sums() -> None:
    told = explained(player(1617, 50), [(player(1651, 50), 0.0), (player(1525, 50), 1.0), (player(), 1.0)])
    values = {term.symbol: term.value for term in told.terms}
    assert values == {"Ro": 1617, "n": 2, "W": 1, "We": 1.08, "K": 20}
    assert (told.unrounded, told.result) == (pytest.approx(1615.4), 1615)


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


# --- time controls --------------------------------------------------------------------------------------------


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
    assert SCHEME.enter(Newcomer(None, None, day), numbers)[0] == 1800.0
    assert SCHEME.enter(Newcomer(2100.0, None, day), numbers)[0] == 2100.0
    assert SCHEME.enter(Newcomer(None, None, day), SCHEME.numbers_from({}))[0] == 0.0
