"""The ICCF scheme: its phases, its table, its quarters, and which of two ratings counts."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from fractions import Fraction
from itertools import pairwise
from math import floor
from typing import Any, ClassVar

import pytest

from ledger.facts.periods import closing, number
from ledger.ratings import engine
from ledger.ratings.engine import RateableGames
from ledger.schemes.iccf import (
    DEFAULT,
    DP,
    FIRST_DAY_OF_2012_2,
    SCHEME,
    Player,
    Settings,
    at,
    carry,
    dp,
    enter,
    listed,
    opponent_rating,
    own_rating,
    performance,
    provisional,
)
from ledger.schemes.scheme import Newcomer, Scheme
from ledger.schemes.settings import replace_settings
from ledger.testing import SchemeContract

EXACT = 1e-9
EPOCH = date(1970, 1, 1)
AFTER, BEFORE = FIRST_DAY_OF_2012_2, FIRST_DAY_OF_2012_2 - 0.001


class TestIccf(SchemeContract):
    settings: ClassVar[Sequence[Mapping[str, int | bool | str]]] = (
        {},
        {"corrected": False, "higher_rating": False, "entry_lists": 4},
        {"fixed_games": 0, "entry_lists": 8, "period_days": 91},
    )

    def make(self) -> Scheme:
        return SCHEME


def rated(rating: float, games: float = 100.0, entry: float | None = None) -> Player:
    player = carry(rating, games, Newcomer(), DEFAULT)
    if entry is not None:
        player.entry_rating = entry
    return player


def run(own: Player, games: Sequence[tuple[Player, float]], numbers: Settings = DEFAULT, day: float = AFTER) -> Player:
    """The first player after a period with the given opponents and scores."""
    places = range(len(games))
    batch = RateableGames(
        [0 for _ in places],
        [place + 1 for place in places],
        [score for _, score in games],
        [day for _ in places],
        [0, len(games)],
        [8_000.0],
        [day],
    )
    first, *_ = engine.rate_one_batch(SCHEME, numbers, batch, [own, *(opponent for opponent, _ in games)])
    after: Player = first.after
    return after


def numbers(**given: Any) -> Settings:
    return replace_settings(DEFAULT, **given)


def test_the_table_stands_as_printed_and_rises() -> None:
    printed = {1.0: 677, 0.99: 677, 0.83: 273, 0.82: 262, 0.66: 117, 0.65: 110}
    printed |= {0.49: -7, 0.48: -14, 0.32: -133, 0.31: -141, 0.15: -296, 0.14: -309}
    assert {p: dp(p, 1.0) for p in printed} == printed
    assert len(DP) == 51
    assert all(low <= high for low, high in pairwise(DP))


@pytest.mark.parametrize(("p", "points"), [(0.5, 0), (0.504, 0), (0.505, 7), (7 / 12, 57), (5 / 12, -57), (0.0, -677)])
def test_percentages_are_rounded_and_mirrored(p: float, points: float) -> None:
    assert dp(p, 1.0) == points
    assert dp(1.0 - p, 1.0) == -points


@pytest.mark.parametrize("games", range(1, 61))
def test_half_a_per_cent_goes_outwards_whatever_float_is_next_to_it(games: int) -> None:
    for half_points in range(2 * games + 1):
        share = Fraction(half_points, 2 * games)
        high = floor(100 * max(share, 1 - share) + Fraction(1, 2))
        points = DP[high - 50] if share >= Fraction(1, 2) else -DP[high - 50]
        assert dp(half_points / 2, float(games)) == points


def test_half_a_per_cent_of_twenty_games() -> None:
    own = Player(1800.0, 19.0, 10.5, 19 * 1800.0, 1800.0, 0.0)
    assert run(own, [(rated(1800.0), 1.0)], numbers(corrected=False)).rating == 1857.0, "11½ of 20 are 57½ %"
    own = Player(1800.0, 19.0, 8.5, 19 * 1800.0, 1800.0, 0.0)
    assert run(own, [(rated(1800.0), 0.0)], numbers(corrected=False)).rating == 1743.0


def test_a_newcomer_is_rated_by_performance() -> None:
    start = enter(Newcomer(), DEFAULT)
    after = run(start, [(rated(2000.0), 1.0), (rated(1600.0), 0.0)])
    assert (after.rating, after.games, after.score_sum, after.opponent_sum) == (1800.0, 2.0, 1.0, 3600.0)
    assert run(start, [(rated(2000.0), 1.0)]).rating == 2000.0 + 677.0 / 2.0
    assert run(start, [(rated(2000.0), 1.0)], numbers(corrected=False)).rating == 2677.0


def test_all_games_so_far_count_until_thirty() -> None:
    games = [(rated(1800.0), 1.0), (rated(1800.0), 0.5)]
    assert run(rated(1800.0, 28.0), games).rating == performance(30 * 1800.0, 15.5, 30.0, True)  # noqa: FBT003
    assert run(rated(1800.0, 30.0), games).rating == 1800.0 + 20 * 1.25 * 0.5


def test_the_list_shows_who_has_twelve_games() -> None:
    assert not listed(rated(1800.0, 11.0), DEFAULT)
    assert listed(rated(1800.0, 12.0), DEFAULT)
    assert provisional(rated(1800.0, 29.0), DEFAULT)
    assert not provisional(rated(1800.0, 30.0), DEFAULT)


def test_k_falls_from_25_to_10() -> None:
    equal = rated(1900.0, 30.0)
    assert run(equal, [(equal, 1.0)]).rating == 1900.0 + 25.0 / 2
    equal = rated(2500.0, 500.0)
    assert run(equal, [(equal, 1.0)]).rating == 2500.0 + 10.0 / 2


def test_a_difference_counts_up_to_350_points() -> None:
    own = rated(1900.0)
    assert run(own, [(rated(2250.0), 0.0)]) == run(own, [(rated(2900.0), 0.0)])
    assert run(own, [(rated(2249.0), 0.0)]) != run(own, [(rated(2900.0), 0.0)])


def test_list_2012_2_rates_the_games_from_december_2011() -> None:
    assert date.fromordinal(EPOCH.toordinal() + int(FIRST_DAY_OF_2012_2)) == date(2011, 12, 1)


def test_without_entry_ratings_the_list_in_force_stands_for_them() -> None:
    for day in (BEFORE, AFTER):
        assert opponent_rating(rated(1900.0, entry=2100.0), day, DEFAULT) == 1900.0
        assert own_rating(rated(1900.0, entry=2100.0), day, DEFAULT) == 1900.0


def test_from_list_2012_2_the_opponents_higher_and_the_own_current_rating_count() -> None:
    kept = numbers(entry_lists=8.0)
    fallen, risen = rated(1900.0, entry=2100.0), rated(2100.0, entry=1900.0)
    assert [opponent_rating(one, AFTER, kept) for one in (fallen, risen)] == [2100.0, 2100.0]
    assert [own_rating(one, AFTER, kept) for one in (fallen, risen)] == [1900.0, 2100.0]


def test_before_and_with_the_switch_off_both_entry_ratings_count() -> None:
    kept = numbers(entry_lists=8.0)
    fallen, risen = rated(1900.0, entry=2100.0), rated(2100.0, entry=1900.0)
    for day, given in ((BEFORE, kept), (AFTER, replace_settings(kept, higher_rating=False))):
        for rating in (own_rating, opponent_rating):
            assert [rating(one, day, given) for one in (fallen, risen)] == [2100.0, 1900.0]


def test_the_change_is_added_to_the_list_rating_whichever_rating_is_expected_from() -> None:
    own, kept = rated(1900.0, entry=2000.0), numbers(entry_lists=8.0)
    assert run(own, [(rated(1500.0, entry=2000.0), 1.0)], kept, BEFORE).rating == 1900.0 + 20.0 / 2


def test_an_entry_rating_is_kept_for_its_stretch_of_lists() -> None:
    kept = numbers(entry_lists=4.0)
    player = enter(Newcomer(1700.0), kept)
    at(player, 8_001.0, 0.0, kept)
    player.rating = 1750.0
    at(player, 8_003.0, 0.0, kept)
    assert player.entry_rating == 1700.0
    at(player, 8_004.0, 0.0, kept)
    assert (player.entry_rating, player.period) == (1750.0, 8_004.0)
    player.rating = 1800.0
    at(player, 8_007.0, 0.0, kept)
    assert player.entry_rating == 1750.0
    at(player, 8_100.0, 0.0, kept)
    assert player.entry_rating == 1800.0


def test_an_entry_rating_is_kept_anew_after_the_last_list_before_1970_too() -> None:
    kept = numbers(entry_lists=1.0, period_days=90.0)
    player = enter(Newcomer(1700.0), kept)
    at(player, -1.0, 0.0, kept)
    player.rating = 1750.0
    at(player, 0.0, 0.0, kept)
    assert (player.entry_rating, player.period) == (1750.0, 0.0)


def test_a_period_lasts_from_march_to_may() -> None:
    calendar = SCHEME.calendar(DEFAULT)
    days = ((3, 1), (5, 31), (6, 1))
    instants = [int(datetime(2015, month, day, tzinfo=UTC).timestamp() * 1000) for month, day in days]
    first, last, after = (number(one, calendar) for one in instants)
    assert first == last == after - 1
    assert closing(first, calendar) == instants[2] - 1
