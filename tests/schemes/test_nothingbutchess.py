"""The nothingbutchess.com scheme against the page's example, table and words."""

from typing import Any, ClassVar

import pytest

from ledger.schemes.nothingbutchess import (
    DEFAULT,
    SCHEME,
    THRESHOLDS,
    Player,
    expectancy,
    expectancy_percent,
    k_factor,
    new_rating,
    rate_game,
    rounded_rating,
)
from ledger.schemes.scheme import Scheme
from ledger.testing.scheme_contract import SchemeContract


class TestNothingbutchess(SchemeContract):
    settings: ClassVar = ({}, {"rounded": False}, {"initial": "1500.5", "k": 30, "k_high": "7.25", "k_falls_at": 1600})

    def make(self) -> Scheme:
        return SCHEME


def played(white: float, black: float, score: float, numbers: Any = DEFAULT) -> tuple[float, float]:
    first, second = Player(white), Player(black)
    rate_game(first, second, score, 0.0, numbers)
    return first.rating, second.rating


def test_the_example_of_the_page() -> None:
    assert (expectancy(300.0), expectancy(-300.0)) == (0.85, 0.15)
    assert new_rating(1650.0, 1350.0, 0.0, DEFAULT) == pytest.approx(1629.6)
    assert new_rating(1350.0, 1650.0, 1.0, DEFAULT) == pytest.approx(1370.4)
    assert played(1650.0, 1350.0, 0.0) == (1630.0, 1370.0)


def test_the_table_has_a_row_for_every_hundredth() -> None:
    assert len(THRESHOLDS) == 50
    assert list(THRESHOLDS) == sorted(set(THRESHOLDS))
    for row, threshold in enumerate(THRESHOLDS):
        assert expectancy_percent(float(threshold)) == 50 + row
        assert expectancy_percent(float(-threshold)) == 50 - row


def test_a_row_holds_up_to_the_next() -> None:
    for row, threshold in enumerate(THRESHOLDS[1:], start=1):
        assert expectancy_percent(threshold - 0.5) == 50 + row - 1
        assert expectancy_percent(0.5 - threshold) == 50 - row + 1


@pytest.mark.parametrize(
    ("difference", "expected"),
    [
        (335, 0.88), (-335, 0.12), (334, 0.87), (677, 0.99), (676, 0.98), (5000, 0.99), (-5000, 0.01), (6, 0.5),
        (-6, 0.5),
    ],
)  # fmt: skip
def test_the_look_up(difference: float, expected: float) -> None:
    assert expectancy(float(difference)) == expected


@pytest.mark.parametrize(("rating", "k"), [(2199, 24), (2199.99, 24), (2200, 16), (2201, 16), (0, 24)])
def test_k_falls_at_2200(rating: float, k: float) -> None:
    assert k_factor(rating, DEFAULT) == k


def test_each_side_has_its_own_k() -> None:
    assert played(2200.0, 2199.0, 1.0) == (2208.0, 2187.0)


def test_a_half_point_rounds_up() -> None:
    assert [rounded_rating(rating, DEFAULT) for rating in (1200.5, 1200.49, -0.5, -0.51)] == [1201.0, 1200.0, 0.0, -1.0]


def test_rounding_can_be_switched_off() -> None:
    exact = SCHEME.numbers_from({"rounded": False})
    assert played(1650.0, 1350.0, 0.0, exact) == pytest.approx((1629.6, 1370.4))
    assert played(1650.0, 1350.0, 0.0, exact)[0] != 1630.0
