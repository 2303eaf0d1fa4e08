"""Performance ratings of a tournament by name: each worked out by hand, and what each does not give."""

from pathlib import Path

import pytest

from ledger.answers.crosstables.crosstable import TableOptions, crosstable
from ledger.answers.crosstables.performances import (
    VARIANTS,
    PerformanceGame,
    calculate_performance,
    default_variant,
    er_offset,
    variant_named,
)
from ledger.errors import UnknownNameError
from ledger.facts.words import Outcome
from ledger.ledger import Ledger
from tests.kit.games import game_recorded, seeded

# Two and a half points of four against 1500, 1600, 1700 and 1850; own ratings after each.
GAMES = [
    PerformanceGame(2, 1500.0, 1612.0),
    PerformanceGame(2, 1600.0, 1630.0),
    PerformanceGame(1, 1700.0, 1634.0),
    PerformanceGame(0, 1850.0, 1624.0),
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
    found = calculate_performance(name, GAMES)
    assert (found.rating, found.why_not, found.games, found.opponents_mean) == (BY_HAND[name], None, 4, 1662.5)


def test_the_expected_score_of_a_true_and_of_a_perfect_performance_is_the_score() -> None:
    true, perfect = calculate_performance("true", GAMES).rating, calculate_performance("fide_ptp", GAMES).rating
    assert true is not None
    assert perfect is not None
    assert sum(1 / (1 + 10 ** ((rating - true) / 400)) for rating in (1500, 1600, 1700, 1850)) == pytest.approx(2.5)
    assert abs(perfect - true) < 12


def test_opponents_without_a_rating_are_left_out_and_fractions_are_rounded_for_tables() -> None:
    found = calculate_performance("fide_tpr", [PerformanceGame(2, None, None), PerformanceGame(1, 1500.5, None)])
    assert (found.rating, found.games, found.opponents_mean) == (1501, 1, 1500.5)


def test_what_a_variant_does_not_give_is_said() -> None:
    assert calculate_performance("true", [PerformanceGame(2, 1500.0, None)]).why_not == "undefined for 1 of 1"
    assert (
        calculate_performance("linear", [PerformanceGame(2, None, 1700.0)]).why_not
        == "no game against a rated opponent"
    )
    assert calculate_performance("chessworld", [PerformanceGame(2, 1500.0, None)]).why_not == "no rated game"


def test_the_offset_is_per_cent_of_the_enrolment_rating() -> None:
    assert er_offset(2350.0, 2100.0) == pytest.approx(11.9047619)
    assert er_offset(1900.0, 2000.0) == pytest.approx(-5.0)
    assert [er_offset(None, 2000.0), er_offset(1900.0, None), er_offset(1900.0, 0.0)] == [None] * 3


def test_a_scheme_has_the_performance_that_its_people_know() -> None:
    assert [default_variant(scheme) for scheme in ("chessworld", "harkness", "fide", "elo")] == [
        "chessworld",
        "harkness",
        "fide_tpr",
        "fide_tpr",
    ]
    assert all(variant.title and variant.source for variant in VARIANTS.values())
    with pytest.raises(UnknownNameError, match="fide_tpr"):
        variant_named("fide")


def test_the_enrolment_rating_is_that_of_the_start_and_an_offset_has_the_sign_of_the_change(tmp_path: Path) -> None:
    """A game elsewhere ends between the start and the end of those of the tournament."""
    cup = {"tournament": "Cup", "started_at": "2024-03-01T10:00:00Z"}
    with Ledger.create(tmp_path / "club.db", scheme="elo") as ledger:
        for number in (1, 2, 3):
            ledger.register(f"id:{number}", f"Player {number}")
        ledger.append_many(
            [
                *(seeded(player, str(rating)) for player, rating in ((1, 1500), (2, 1600), (3, 1700))),
                game_recorded("elsewhere", white=1, black=3, outcome=Outcome.WHITE, ended_at="2024-03-05T10:00:00Z"),
                game_recorded("lost", white=1, black=2, outcome=Outcome.BLACK, ended_at="2024-03-09T10:00:00Z", **cup),
                game_recorded("won", white=1, black=3, outcome=Outcome.WHITE, ended_at="2024-03-10T10:00:00Z", **cup),
            ]
        )
        ledger.catch_up()
        table = crosstable(ledger, "Cup", choice=TableOptions(performance="chessworld"))
        rows = {row.player: row for row in table.standings}
        assert [rows[player].enrolment_rating for player in (1, 2, 3)] == [1500.0, 1600.0, 1700.0]
        offsets = {meeting.opponent_player: meeting.er_offset or 0.0 for meeting in rows[1].meetings}
        assert offsets[2] < 0.0 < offsets[3]
        (lost,) = (result for result in rows[1].results if result.opponent_player == 2)
        assert lost.closing_rating is not None
        assert lost.rating_before is not None
        assert offsets[2] == pytest.approx(100.0 * (lost.closing_rating / lost.rating_before - 1.0))
