"""How good predictions were, and how alike two orders are: figures of NumPy arrays. No game, no scheme, no file here.

A prediction is the score expected of White, 0 to 1; the score is 0, 0.5 or 1. Draws count as half a win.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import attrs

from ledger.facts.json_schemas import documented
from ledger.runtime.lazy import np

CLIP = 1e-6  # a prediction of 0 or 1 counts as this far from it: else one upset would cost infinitely much
BINS = 10


@attrs.frozen(slots=False)
class Bin:
    """The games whose predictions lie in one tenth of the scale."""

    low: float = documented("least prediction in it, 0 to 0.9")
    high: float = documented("where the next one begins; the last one ends with 1 itself")
    games: int = documented("how many", minimum=0)
    predicted: float | None = documented("mean prediction; null: there is no game")
    scored: float | None = documented("mean score; null: there is no game")


def log_loss(expected: Any, score: Any) -> float:
    """Mean of -(s ln p + (1 - s) ln(1 - p)) with p at least ``CLIP`` away from 0 and 1; 0.693 for who knows nothing."""
    p = np.clip(expected, CLIP, 1.0 - CLIP)
    # ``log1p`` keeps the digits that 1 - p loses where p is small.
    return float(-(score * np.log(p) + (1.0 - score) * np.log1p(-p)).mean())


def brier(expected: Any, score: Any) -> float:
    """Mean of (p - s)², Brier's score for one number."""
    error = expected - score
    return float((error * error).mean())


def bias(expected: Any, score: Any) -> float:
    """Mean of p - s: by how much too well White was expected to score."""
    return float((expected - score).mean())


def calibration(expected: Any, score: Any) -> tuple[Bin, ...]:
    """Predictions in ten bins of equal width, each with what was predicted and what came of it."""
    place = np.minimum((expected * BINS).astype(np.int64), BINS - 1)
    games = np.bincount(place, minlength=BINS).tolist()
    predicted = np.bincount(place, weights=expected, minlength=BINS).tolist()
    scored = np.bincount(place, weights=score, minlength=BINS).tolist()
    return tuple(
        Bin(i / BINS, (i + 1) / BINS, n, predicted[i] / n if n else None, scored[i] / n if n else None)
        for i, n in enumerate(games)
    )


def average_ranks(values: Any) -> Any:
    """Rank of each number from 1, the smallest first; equal ones share the mean of their ranks."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return (last - (count - 1) / 2.0)[place]


def spearman(first: Any, second: Any) -> float | None:
    """Rank correlation of two arrays, -1 to 1: Pearson's of the average ranks; None where one has no order."""
    a, b = average_ranks(first), average_ranks(second)
    if not len(a):
        return None
    a, b = a - a.mean(), b - b.mean()
    spread = sqrt(float((a * a).sum()) * float((b * b).sum()))
    return float((a * b).sum()) / spread if spread else None


def places(values: Any) -> Any:
    """Place of each number, the largest first, from 1: one more than there are larger ones."""
    ordered = np.sort(values)
    return len(values) - np.searchsorted(ordered, values, side="right") + 1
