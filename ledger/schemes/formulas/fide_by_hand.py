"""A player's games of one tournament or period under the FIDE Rating Regulations (B.02 8.3): exact sums.

One player worked by hand, in decimals, as FIDE prints it; ``ledger.schemes.fide`` rates whole lists with the same
rules, which are in ``formulas.fide_rules``.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple

from ledger.schemes.formulas.fide_rules import LATEST, greatest, is_rated, lowest, upgrade, within
from ledger.schemes.formulas.fide_tables import expected_hundredths

FULL_FROM = 2650.0  # 8.3.1, 1 October 2025


class Result(NamedTuple):
    """One player's tournament.

    Attributes:
        games: games that count.
        difference: score less expected score, exact.
        change: K times it, points, exact.
    """

    games: int
    difference: Decimal
    change: Decimal


class Period(NamedTuple):
    """One player's tournaments of one period.

    Attributes:
        total: sum of the changes, points, exact.
        rounded_once: the change of the rating.
        rounded_each: what rounding each tournament would give; FIDE does not.
    """

    total: Decimal
    rounded_once: int
    rounded_each: int


def tournament(
    own: float,
    games: Sequence[tuple[float | None, float]],
    k: int | str | Decimal,
    day: float = LATEST,
    *,
    rapid: bool = False,
) -> Result:
    """One player's tournament.

    Args:
        own: rating at its start, points.
        games: opponent's rating (0 or None: unrated, does not count) and own score of each game.
        k: K-factor.
        day: when it started, days since 1970.
        rapid: the chapter for rapid and blitz.
    """
    low, high = lowest(own, day, rapid, FULL_FROM), greatest(own, day, rapid, FULL_FROM)
    counted = [(own - (rating or 0.0), score) for rating, score in games if is_rated(own, rating or 0.0, day, rapid)]
    widest = max((difference for difference, _ in counted), default=0.0)
    hundredths = upgrade(min(widest, high), day, rapid)
    for difference, score in counted:
        hundredths += int(100 * score) - expected_hundredths(within(difference, low, high))
    exact = Decimal(hundredths) / 100
    return Result(len(counted), exact, Decimal(str(k)) * exact)


def game(
    own: float,
    opponent: float | None,
    score: float,
    k: int | str | Decimal,
    day: float = LATEST,
    *,
    rapid: bool = False,
) -> Decimal:
    """The change of *own* by one game, points, exact; arguments as in ``tournament``."""
    return tournament(own, [(opponent, score)], k, day, rapid=rapid).change


def game_rounded(
    own: float,
    opponent: float | None,
    score: float,
    k: int | str | Decimal,
    day: float = LATEST,
    *,
    rapid: bool = False,
) -> int:
    """The change of *own* by a period of that one game, points."""
    return round_change(game(own, opponent, score, k, day, rapid=rapid))


def period(results: Sequence[Result]) -> Period:
    """The tournaments of one period put together: rounded once per period (8.3.4)."""
    total = sum((result.change for result in results), Decimal(0))
    return Period(total, round_change(total), sum(round_change(result.change) for result in results))


def round_change(change: str | int | Decimal) -> int:
    """A change to the nearest whole point, "0.5 away from zero" (8.3.4)."""
    return int(Decimal(change).to_integral_value(ROUND_HALF_UP))
