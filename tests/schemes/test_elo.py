"""Plain Elo by game: the calculator page's numbers, and the table of K row by row."""

from datetime import UTC, date, datetime
from itertools import product
from typing import Any, ClassVar

import pytest

from ledger.facts.periods import year_of
from ledger.runtime.records import flat_of
from ledger.schemes.elo import (
    AGE_UNKNOWN,
    DEFAULT,
    FIRST,
    PLAIN,
    SCHEME,
    SECOND,
    THIRD,
    Player,
    age,
    expected,
    k_factor,
    k_row,
    new_rating,
    rate_game,
)
from ledger.schemes.scheme import Newcomer, Scheme
from ledger.testing.scheme_contract import SchemeContract
from tests.vectors.published import new_rating_of_many

EXACT = 1e-9
LIKE_FIDE: dict[str, Any] = {
    "k": 20,
    "first_rating_from": 2400,
    "first_ever": True,
    "second_age_to": 18,
    "second_rating_below": 2300,
    "second_ever": True,
    "third_games_below": 30,
}


def day(year: int, month: int = 1, of_month: int = 1, hour: int = 0) -> float:
    return datetime(year, month, of_month, hour, tzinfo=UTC).timestamp() / 86_400


class TestElo(SchemeContract):
    settings: ClassVar = (
        {},
        LIKE_FIDE,
        {
            "initial": 1200,
            "first_games_below": 5,
            "first_rating_below": 1300,
            "third_rating_from": "1450.5",
            "third_rating_below": 1600,
            "third_ever": True,
            "third_k": 0,
            "second_age_to": 18,
        },
    )

    def make(self) -> Scheme:
        return SCHEME


@pytest.mark.parametrize(("score", "shown"), [(1.0, 1520), (0.5, 1504), (0.0, 1488)])
def test_the_example_of_the_page(score: float, shown: int) -> None:
    assert expected(1500.0, 1600.0) == pytest.approx(0.359935, abs=1e-6)
    assert round(new_rating(1500.0, 1600.0, score, DEFAULT.k)) == shown


def test_several_games_move_from_the_rating_before_the_first() -> None:
    after = new_rating_of_many(1613.0, [1609, 1477, 1388, 1586, 1720], [0, 0.5, 1, 1, 0], 32.0)
    assert round(after) == 1601


def test_no_limit_on_the_difference() -> None:
    assert new_rating(1802.0, 1186.0, 1.0, 32.0) == pytest.approx(1802.8970, abs=1e-4)


def test_a_game_counts_and_the_highest_rating_is_kept() -> None:
    white, black = Player(1500.0, 3.0, 0.0, 1510.0), Player(1600.0, 7.0, 0.0, 1600.0)
    rate_game(white, black, 1.0, day(2020), DEFAULT)
    surplus = 32.0 * (1.0 - expected(1500.0, 1600.0))
    assert flat_of(white) == pytest.approx([1500 + surplus, 4, 0, 1500 + surplus], abs=EXACT)
    assert flat_of(black) == pytest.approx([1600 - surplus, 8, 0, 1600], abs=EXACT)


def test_a_newcomer_begins_with_the_setting_or_a_declared_rating() -> None:
    assert SCHEME.enter(Newcomer(None, 1999), DEFAULT) == Player(1500.0, 0.0, 1999.0, 1500.0)
    assert SCHEME.enter(Newcomer(1850), DEFAULT) == Player(1850.0, 0.0, 0.0, 1850.0)
    assert SCHEME.carried(2410.5, 80.0, Newcomer(), DEFAULT) == (2410.5, 80.0, 0.0, 2410.5)


def test_the_year_of_every_turn_of_the_year() -> None:
    for year in range(1890, 2410):
        first = float(date(year, 1, 1).toordinal() - date(1970, 1, 1).toordinal())
        assert (year_of(first), year_of(first - 0.001), year_of(first + 31 + 28)) == (year, year - 1, year)


def test_age_is_the_year_of_the_game_less_the_year_of_birth() -> None:
    assert age(2005.0, day(2023, 12, 31, 23)) == 18.0
    assert age(2005.0, day(2024)) == 19.0
    assert age(0.0, day(2024)) == AGE_UNKNOWN


@pytest.mark.parametrize(
    ("rating", "peak", "games", "years", "k"),
    [
        (2400, 2400, 100, 40, 10),
        (2399, 2399, 100, 40, 20),
        (2350, 2400, 100, 40, 10),  # K 10 stays
        (2450, 2450, 5, 40, 10),
        (2450, 2450, 5, 12, 10),  # before 40 for few games and for juniors
        (1500, 1500, 29, 40, 40),
        (1500, 1500, 30, 40, 20),
        (1500, 1500, 300, 18, 40),
        (1500, 1500, 300, 19, 20),
        (2299, 2299, 300, 15, 40),
        (2300, 2300, 300, 15, 20),
        (2250, 2300, 300, 15, 20),
        (2300, 2300, 29, 15, 40),  # by the number of games
        (1500, 1500, 300, AGE_UNKNOWN, 20),
    ],
)
def test_k_like_fide(rating: float, peak: float, games: float, years: float, k: float) -> None:
    numbers = SCHEME.numbers_from(LIKE_FIDE)
    assert k_factor(float(rating), float(peak), float(games), float(years), numbers) == k


def test_without_limits_the_plain_k_holds_for_everybody() -> None:
    for rating, games, years in product((0.0, 1500.0, 3000.0), (0.0, 1000.0), (AGE_UNKNOWN, 10.0)):
        assert k_row(rating, rating, games, years, DEFAULT) == PLAIN


@pytest.mark.parametrize("row", ["first", "second", "third"])
def test_every_limit_of_a_row_must_hold(row: str) -> None:
    given = {"games_below": 10, "rating_from": 1000, "rating_below": 2000, "age_to": 20}
    numbers = SCHEME.numbers_from({f"{row}_{name}": value for name, value in given.items()} | {f"{row}_k": 7})
    place = {"first": FIRST, "second": SECOND, "third": THIRD}[row]
    assert k_row(1500.0, 9000.0, 9.0, 20.0, numbers) == place
    assert k_factor(1000.0, 9000.0, 9.0, 20.0, numbers) == 7.0
    for rating, games, years in ((999.0, 9.0, 20.0), (2000.0, 9.0, 20.0), (1500.0, 10.0, 20.0), (1500.0, 9.0, 21.0)):
        assert k_row(rating, 1500.0, games, years, numbers) == PLAIN


def test_the_first_row_that_holds_decides() -> None:
    numbers = SCHEME.numbers_from({f"{row}_games_below": n for row, n in (("first", 5), ("second", 9), ("third", 20))})
    assert [k_row(1500.0, 1500.0, games, 30.0, numbers) for games in (4.0, 8.0, 19.0, 20.0)] == [1, 2, 3, 0]
