from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.facts.events import RatingSeeded, TournamentOpened
from ledger.facts.periods import months_of, year_of
from ledger.ledger import Ledger
from ledger.ratings import engine
from ledger.ratings.engine import RateableGames
from ledger.runtime.columns import FEW
from ledger.runtime.records import flat_of
from ledger.schemes.fide import DEFAULT, SCHEME
from ledger.schemes.formulas.fide_rules import (
    EDGES,
    ROWS,
    cap,
    dp,
    expected_hundredths,
    is_rated,
    k_capped,
    k_factor,
    pd,
    percentage,
    published_from,
    round_hundredths,
)
from ledger.schemes.scheme import Scheme
from ledger.schemes.settings import replace_settings
from ledger.testing.scheme_contract import SchemeContract
from tests.kit.games import game_recorded
from tests.schemes.fide_periods import day, play, player, whole
from tests.vectors.published import game, game_rounded, period, round_change, tournament


class TestFide(SchemeContract):
    settings: ClassVar[Sequence[Any]] = (
        {},
        {"rapid": True},
        {"by_event": True, "included_until": 2},
        {"by_event": True, "rules_day": 19_500},
        {"rules_day": 20_400, "floor": 1, "initial_games": 1},
        {"rules_day": 14_000, "compress": False},
        {"compress": False, "k_product": 100, "k_games": 0, "period_months": 3, "high_from": 2000},
    )

    def make(self) -> Scheme:
        return SCHEME


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
    assert (after.rating, after.games) == (2000, 40)


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
def test_k_by_date_and_precedence(highest: float, games: float, junior: bool, on: str, rapid: bool, k: float) -> None:
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
        assert after.rating == 1800 + k / 2
    assert play(player(1800, 100), [opponent], "2025-12-31").rating == 1810, "year of birth unknown"


def test_k_10_is_for_good_and_only_published_ratings_bring_it() -> None:
    strong, even = player(2390, 100), (player(2390, 100), 1.0)
    first = play(strong, [even])
    assert (first.rating, first.highest) == (2400, 2400)
    second = play(first, [(player(2400, 100), 0.0)])
    assert (second.rating, second.highest) == (2395, 2400)
    third = play(second, [(player(2395, 100), 0.0)])
    assert third.rating == 2390


def test_k_counts_the_games_completed_before_the_period() -> None:
    opponents = [(player(1500, 100), 1.0), (player(1500, 100), 0.0), (player(1500, 100), 1.0)]
    assert play(player(1500, 29), opponents).rating == 1520
    assert play(player(1500, 30), opponents).rating == 1510
    assert play(player(1500, 29), opponents).games == 32


def test_the_change_is_rounded_once_a_period() -> None:
    games = [(1651, 0.0), (1525, 1.0), (2017, 0.0), (1451, 1.0), (1854, 0.0), (1800, 0.5), (1935, 0.0)]
    results = [tournament(1617, games[:2], 20), tournament(1617, games[2:], 20)]
    assert period(results) == (Decimal("0.60"), 1, 0)
    assert play(player(1617, 50), [(player(r, 50), s) for r, s in games]).rating == 1618


def test_a_tie_goes_away_from_zero() -> None:
    # a draw with K 10 against a player 4 points stronger is worth 0.1, five of them 0.5
    weaker, stronger = player(1996, 100), player(2004, 100)
    ten = player(2000, 100)
    ten.highest = 2400.0
    assert play(ten, [(stronger, 0.5)] * 5).rating == 2001
    assert play(ten, [(weaker, 0.5)] * 5).rating == 1999
    assert play(ten, [(weaker, 0.5)] * 4).rating == 2000


@given(
    st.integers(1801, 2800),
    st.lists(st.tuples(st.integers(1801, 2900), st.sampled_from((0.0, 0.5, 1.0))), min_size=1, max_size=50),
    st.sampled_from(("2008-12-31", "2010-08-31", "2016-01-31", "2023-02-28", "2024-05-31", "2025-01-31", "2025-11-30")),
    st.booleans(),
)
def test_the_kernel_gives_what_decimals_give(own: int, games: list[tuple[int, float]], on: str, rapid: bool) -> None:
    numbers = replace_settings(DEFAULT, rapid=rapid)
    sides = [(player(rating, 50, on=on), score) for rating, score in games]
    side, _ = whole(player(own, 50, on=on), sides, on, numbers)
    exact = tournament(own, games, int(side.work.k), day(on), rapid=rapid)
    assert side.work.counted == exact.games
    rating = own + round_change(exact.change)
    assert side.after.rating == (rating if rating >= published_from(day(on)) else 0)


def test_all_ratings_of_a_period_are_those_before_it() -> None:
    newcomer, rated = player(), player(1800, 100)
    n = 6
    state = [*flat_of(newcomer), *(flat_of(rated) * 6)]
    games = RateableGames([0] * 5 + [0], [1, 2, 3, 4, 5, 6], [1.0] * n, [0.0] * n, [0, n], [9.0], [day("2025-11-30")])
    engine.rate(FEW, SCHEME, DEFAULT, games, state, [0] * 7)
    assert state[0] > 1400.0, "five wins make a rating"
    assert state[len(SCHEME.state)] == 1800.0, "but for the others they were games against an unrated player"


@pytest.mark.parametrize(
    ("starts_at", "rating"),
    [
        (None, 2700.0),  # seen from its game, of 3 October: E .96 at 500 points, and 10 x .04 is no point
        ("2025-10-01", 2700.0),
        ("2025-09-28", 2701.0),  # it began before the cap was lifted for 2650 and more: E .92 at 400, 10 x .08
    ],
)
def test_the_cap_of_400_points_goes_by_the_start_that_was_announced(
    tmp_path: Path, starts_at: str | None, rating: float
) -> None:
    clock = datetime(2026, 1, 1, tzinfo=UTC)
    with Ledger.create(tmp_path / "club.db", scheme="fide", clock=lambda: clock) as ledger:
        for player, points in enumerate((2700, 2200), 1):
            ledger.register(f"fide:{player}", f"P{player}")
            ledger.append(
                RatingSeeded(
                    player=player,
                    pool="standard",
                    effective_at="2025-01-01",
                    rating=str(points),
                    games=100,
                    highest=str(points),
                )
            )
        if starts_at is not None:
            ledger.append(
                TournamentOpened(pool="standard", tournament="Open", starts_at=starts_at, ends_at="2025-10-06")
            )
        ledger.append(game_recorded("g1", half_moves=60, ended_at="2025-10-03", tournament="Open"))
        ledger.ensure_up_to_date()
        (row,) = ledger.rows("history", "player = 1")
        assert row["rating"] == rating
