"""Performance ratings of a tournament by name: each worked out by hand, and what each does not give."""

import pytest

from ledger.answers.crosstables.performances import (
    VARIANTS,
    Performed,
    offset_percent,
    performance,
    usual,
    variant_named,
)
from ledger.errors import UnknownNameError

# Two and a half points of four against 1500, 1600, 1700 and 1850; own ratings after each.
GAMES = [
    Performed(2, 1500.0, 1612.0),
    Performed(2, 1600.0, 1630.0),
    Performed(1, 1700.0, 1634.0),
    Performed(0, 1850.0, 1624.0),
]
BY_HAND = {
    "linear": 1662.5 + 400 * (2 - 1) / 4,
    "fide_tpr": 1663 + 95,  # the mean, .5 up; 62.5 % is 63 %
    "harkness": 1662.5 + 10 * 12.5,
    "chessmetrics": 1662.5 + 8.5 * 12.5,
    "chessworld": (1612 + 1630 + 1634 + 1624) / 4,
}


@pytest.mark.parametrize("name", BY_HAND)
def test_a_performance_is_that_worked_out_by_hand(name: str) -> None:
    found = performance(name, GAMES)
    assert (found.rating, found.why_not, found.games, found.opponents_mean) == (BY_HAND[name], None, 4, 1662.5)


def test_the_expected_score_of_a_true_and_of_a_perfect_performance_is_the_score() -> None:
    true, perfect = performance("true", GAMES).rating, performance("fide_ptp", GAMES).rating
    assert true is not None
    assert perfect is not None
    assert sum(1 / (1 + 10 ** ((rating - true) / 400)) for rating in (1500, 1600, 1700, 1850)) == pytest.approx(2.5)
    assert abs(perfect - true) < 12


def test_opponents_without_a_rating_are_left_out_and_fractions_are_rounded_for_tables() -> None:
    found = performance("fide_tpr", [Performed(2, None, None), Performed(1, 1500.5, None)])
    assert (found.rating, found.games, found.opponents_mean) == (1501, 1, 1500.5)


def test_what_a_variant_does_not_give_is_said() -> None:
    assert performance("true", [Performed(2, 1500.0, None)]).why_not == "undefined for 1 of 1"
    assert performance("linear", [Performed(2, None, 1700.0)]).why_not == "no game against a rated opponent"
    assert performance("chessworld", [Performed(2, 1500.0, None)]).why_not == "no rated game"


def test_the_offset_is_per_cent_of_the_enrolment_rating() -> None:
    assert offset_percent(2350.0, 2100.0) == pytest.approx(11.9047619)
    assert offset_percent(1900.0, 2000.0) == pytest.approx(-5.0)
    assert [offset_percent(None, 2000.0), offset_percent(1900.0, None), offset_percent(1900.0, 0.0)] == [None] * 3


def test_a_scheme_has_the_performance_that_its_people_know() -> None:
    assert [usual(scheme) for scheme in ("chessworld", "harkness", "fide", "elo")] == [
        "chessworld",
        "harkness",
        "fide_tpr",
        "fide_tpr",
    ]
    assert all(variant.title and variant.source for variant in VARIANTS.values())
    with pytest.raises(UnknownNameError, match="fide_tpr"):
        variant_named("fide")
