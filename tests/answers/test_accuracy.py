"""Measures of predictions, worked by hand."""

from __future__ import annotations

from collections.abc import Sequence
from math import log, log10, nan, sqrt
from typing import Any

import pytest

from ledger.answers.comparing import forecasts, replaying
from ledger.runtime.lazy import np
from ledger.schemes.formulas.white_advantage import with_advantage


def array(*values: float) -> Any:
    return np.asarray(values, np.float64)


def test_log_loss_of_a_win_a_draw_and_a_certainty_that_failed() -> None:
    assert forecasts.log_loss(array(0.5), array(1.0)) == pytest.approx(log(2))
    assert forecasts.log_loss(array(0.8), array(0.5)) == pytest.approx(-(0.5 * log(0.8) + 0.5 * log(0.2)))
    assert forecasts.log_loss(array(1.0), array(0.0)) == pytest.approx(-log(1e-6))
    assert forecasts.log_loss(array(1.0), array(1.0)) == pytest.approx(0.0, abs=2e-6)
    both = forecasts.log_loss(array(0.75, 0.25), array(1.0, 1.0))
    assert both == pytest.approx((log(4 / 3) + log(4)) / 2)


def test_brier_and_bias() -> None:
    expected, score = array(0.75, 0.5, 0.0), array(1.0, 0.5, 1.0)
    assert forecasts.brier(expected, score) == pytest.approx((0.0625 + 0.0 + 1.0) / 3)
    assert forecasts.bias(expected, score) == pytest.approx((-0.25 + 0.0 - 1.0) / 3)


def test_the_advantage_of_white_that_fits_is_the_one_by_which_the_scores_were_drawn() -> None:
    even = array(*[0.5] * 100)
    score = array(*[1.0] * 54, *[0.0] * 46)
    points = forecasts.fit_white_advantage(even, score)
    assert points == pytest.approx(400 * log10(54 / 46), abs=0.05)
    least = forecasts.log_loss(with_advantage(even, points), score)
    for other in (points - 5, points + 5):
        assert forecasts.log_loss(with_advantage(even, other), score) > least
    assert forecasts.fit_white_advantage(even, 1.0 - score) == -points
    assert forecasts.fit_white_advantage(even, array(*[1.0] * 100)) == 400.0


def test_calibration_puts_an_edge_into_the_upper_bin_and_one_into_the_last() -> None:
    bins = forecasts.calibration(array(0.0, 0.05, 0.1, 0.45, 0.5, 1.0, 0.95), array(0.0, 1.0, 0.5, 1.0, 0.5, 1.0, 0.5))
    assert [one.games for one in bins] == [2, 1, 0, 0, 1, 1, 0, 0, 0, 2]
    assert (bins[0].low, bins[0].high, bins[9].high) == (0.0, 0.1, 1.0)
    assert [bins[0].predicted, bins[0].scored] == pytest.approx([0.025, 0.5])
    assert [bins[9].predicted, bins[9].scored] == pytest.approx([0.975, 0.75])
    assert (bins[2].predicted, bins[2].scored) == (None, None)


def test_equal_numbers_share_the_mean_of_their_ranks() -> None:
    assert forecasts.average_ranks(array(7, 3, 7, 9, 3, 7)).tolist() == [4.0, 1.5, 4.0, 6.0, 1.5, 4.0]


@pytest.mark.parametrize(
    ("one", "other", "correlation"),
    [
        ((1, 2, 3, 4), (10, 20, 40, 30), 0.8),  # 1 - 6·2/(4·15)
        ((1, 2, 3), (30, 20, 10), -1.0),
        ((1, 1, 2), (1, 2, 3), 1.5 / sqrt(1.5 * 2.0)),
        ((1, 1, 1), (1, 2, 3), None),
        ((), (), None),
        ((5,), (6,), None),
    ],
)
def test_rank_correlation(one: Sequence[float], other: Sequence[float], correlation: float | None) -> None:
    found = forecasts.spearman(array(*one), array(*other))
    assert found == (None if correlation is None else pytest.approx(correlation))


def test_places_count_from_the_best_and_equals_share_one() -> None:
    assert forecasts.rank_places(array(2400, 2500, 2300, 2400)).tolist() == [2, 1, 4, 2]


def test_mean_and_spread_leave_out_who_is_not_listed() -> None:
    assert replaying.describe_ratings(array(1500, nan, 1700)) == (2, 1600.0, 100.0)
    assert replaying.describe_ratings(array(nan)) == (0, None, None)
