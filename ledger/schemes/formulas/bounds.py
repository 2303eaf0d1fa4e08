"""Bounds that an administrator may set for schemes whose formulas have none; all of them are off by default.

The formulas of Glicko and Glicko-2 are made for some ten games a period. Many upsets in one period bring their players
tens of thousands of points, up or down.
"""

from __future__ import annotations

from typing import Any

from ledger.schemes.scheme import EXACT
from ledger.schemes.settings import require_not_negative, setting

OURS = "our choice; Lichess has 700, 400 and 4000"


def largest_change() -> Any:
    """Return the setting of the largest change of a rating in a period."""
    return setting(0.0, "largest change in a period; 0: no bound", "points", OURS)


def rating_floor() -> Any:
    """Return the setting of the lowest rating."""
    return setting(0.0, "smallest rating; 0: no bound", "points", OURS)


def rating_limit() -> Any:
    """Return the setting of the highest rating."""
    return setting(0.0, "largest rating; 0: no bound", "points", OURS)


def check_bounds(settings: Any) -> None:
    """Refuse bounds that contradict each other or the initial rating.

    Raises:
        ValueError: naming the bound.
    """
    require_not_negative(settings, "largest_change", "rating_floor", "rating_limit")
    if settings.rating_floor > settings.initial:
        raise ValueError(f"rating_floor must not exceed initial, got {settings.rating_floor}")
    if 0.0 < settings.rating_limit < settings.initial:
        raise ValueError(f"rating_limit must be 0 or at least initial, got {settings.rating_limit}")


def bounded(rating: float, before: float, numbers: Any) -> float:
    """Return the rating after a period in rating points, held within the bounds."""
    if numbers.largest_change > 0.0:
        if rating > before + numbers.largest_change:
            rating = before + numbers.largest_change
        elif rating < before - numbers.largest_change:
            rating = before - numbers.largest_change
    if numbers.rating_limit > 0.0 and rating > numbers.rating_limit:
        return numbers.rating_limit  # type: ignore[no-any-return]
    if numbers.rating_floor > 0.0 and rating < numbers.rating_floor:
        return numbers.rating_floor  # type: ignore[no-any-return]
    return rating


def rounding(numbers: Any) -> str:
    """Return what an explanation says of the bounds."""
    bounds = [
        words
        for value, words in (
            (numbers.largest_change, f"a change of at most {numbers.largest_change:g}"),
            (numbers.rating_floor, f"a rating of at least {numbers.rating_floor:g}"),
            (numbers.rating_limit, f"a rating of at most {numbers.rating_limit:g}"),
        )
        if value
    ]
    return f"held to {' and '.join(bounds)}" if bounds else "none"


def limited(result: float, unrounded: float) -> str:
    """Return words for a result that a bound of the pool keeps from what the formula gives; else nothing."""
    return "" if abs(result - unrounded) <= EXACT * max(1.0, abs(result)) else "a bound of the pool's settings"
