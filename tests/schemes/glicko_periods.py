"""What the tests of the Glicko family share: made-up periods, and the volatility as the paper computes it."""

import math
from collections.abc import Sequence
from random import Random

from ledger.ratings.engine import RateableGames

PLAYERS = 12
Batch = list[tuple[int, int, float]]
"""Games of one period: White, Black, and White's score."""


def many_periods() -> list[tuple[float, Batch]]:
    """By number, some forty periods of nine games each, the same every time; now and then one is missed."""
    random = Random(7)
    return [
        (
            float(period),
            [
                (white, black, random.choice((1.0, 0.5, 0.0)))
                for white, black in [random.sample(range(PLAYERS), 2) for _ in range(9)]
            ],
        )
        for period in range(40)
        if period % 7 != 3
    ]


def rateable(periods: Sequence[tuple[float, Batch]]) -> RateableGames:
    """The games of these periods as the engine takes them."""
    games = [game for _, batch in periods for game in batch]
    white, black, score = (list(column) for column in zip(*games, strict=True))
    starts = [0]
    for _, batch in periods:
        starts.append(starts[-1] + len(batch))
    numbers = [period for period, _ in periods]
    return RateableGames(white, black, score, [0.0] * len(games), starts, numbers, numbers)


def one_batch(games: Sequence[tuple[int, int, float]], period: float) -> RateableGames:
    """The games of one period as the engine takes them."""
    white, black, score = (list(column) for column in zip(*games, strict=True))
    return RateableGames(white, black, score, [0.0] * len(games), [0, len(games)], [period], [0.0])


def reference_volatility(sigma: float, phi: float, v: float, delta: float, tau: float) -> float:
    """Step 5 of the Glicko-2 paper, line by line, without any of the kernels' short cuts."""
    a = math.log(sigma**2)

    def f(x: float) -> float:
        top = math.exp(x) * (delta**2 - phi**2 - v - math.exp(x))
        return top / (2 * (phi**2 + v + math.exp(x)) ** 2) - (x - a) / tau**2

    low, high = a, a - tau
    if delta**2 > phi**2 + v:
        high = math.log(delta**2 - phi**2 - v)
    else:
        while f(high) < 0:
            high -= tau
    f_low, f_high = f(low), f(high)
    while abs(high - low) > 1e-6:
        middle = low + (low - high) * f_low / (f_high - f_low)
        f_middle = f(middle)
        if f_middle * f_high <= 0:
            low, f_low = high, f_high
        else:
            f_low /= 2
        high, f_high = middle, f_middle
    return math.exp(low / 2)
