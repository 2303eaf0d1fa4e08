"""White's advantage in predictions: the expected score of the scheme, moved by points of the 400-point scale.

The odds of White are multiplied by 10^(points/400), whatever formula the scheme has: 30 points make 0.543 of an even
game. Ratings follow each scheme's own rules and do not read it. Sonas and Stephenson take 30 points for predictions
by every system (PlayerRatings 1.1-0, ChessRatings.pdf). An expected score is a number or a NumPy array.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from ledger.runtime.arith import LOG2_10, exp2
from ledger.schemes.scheme import WHITE_ADVANTAGE

BITS = LOG2_10 / 400.0  # 10^(x/400) is 2^(BITS·x)


def advantage_in(settings: Mapping[str, int | bool | str]) -> float:
    """Return White's advantage by the settings of a pool in points; 0 if they do not state it."""
    return float(Decimal(settings.get(WHITE_ADVANTAGE, 0)))


def with_advantage(expected: Any, points: float) -> Any:
    """Return the expected score, 0 to 1, of players with White whose advantage is *points*; -points: with Black."""
    if points == 0.0:  # no change, not even of the last bit
        return expected
    odds = exp2(-BITS * points)
    return expected / (expected + (1.0 - expected) * odds)
