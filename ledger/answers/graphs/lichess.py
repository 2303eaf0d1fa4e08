"""A player's rating history as Lichess gives it (``GET /api/user/{username}/rating-history``, lichess-org/api).

A list of pools, each with ``points``: ``[year, month from 0 to 11, day, rating]``, oldest first, one a day: the last
rating that came into force on it, to the nearest point.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import Any

from ledger.answers.graphs.bars import Page


def history(pages: Iterable[Page]) -> list[dict[str, Any]]:
    """The history of one player.

    Args:
        pages: for each pool one page with all games.

    Returns:
        A rating whose period has not closed is in force on no day, and left out.
    """
    return [{"name": page.pool, "points": _points(page)} for page in pages]


def _points(page: Page) -> list[list[int]]:
    by_day: dict[str, int] = {}
    for bar in reversed(page.player.bars):
        if bar.in_force is not None and bar.rating is not None and isfinite(bar.rating):
            by_day[bar.in_force] = round(bar.rating)
    return [[int(day[:4]), int(day[5:7]) - 1, int(day[8:]), rating] for day, rating in sorted(by_day.items())]
