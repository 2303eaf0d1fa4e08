"""Performance ratings: what rating a result is worth, by the name of the variant; never a bare "TPR".

Pure functions of the opponents' ratings (points, one a game, in any order) and the score in points (a win 1, a draw
1/2). Byes, forfeits and games against unrated opponents are left out by the caller. No database, no tournament and
no rating list is known here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import floor, fsum, isfinite

from ledger.runtime.arith import log10, logistic
from ledger.schemes.formulas.fide_rules import EDGES, dp, expected_hundredths, percentage

OUT_OF_REACH = EDGES[-1] + 1  # the smallest difference that table 8.1.2 gives as 1.00 to .00
ZERO_SCORE = 800  # for no score: so many points below the lowest opponent (Tie-Break Regulations C.07 10.3)


def linear(opponents: Sequence[float], score: float) -> float:
    """Return the opponents' mean, and 400 points for a whole score above or below even: ``Rc + 400 (W - L) / n``.

    Source: Elo's formula for provisional ratings, the "algorithm of 400" (NET.chess, 26 March 1982).

    Args:
        opponents: ratings in points, one a game.
        score: points scored, 0 to n by halves; ``W - L`` is ``2 score - n``.

    Returns:
        A rating in points, not rounded.

    Raises:
        ValueError: no games, a score that they cannot give, a rating that is no number.
    """
    return _along_a_line(opponents, score, 800.0)


def harkness(opponents: Sequence[float], score: float) -> float:
    """Return the opponents' mean, and 10 points for each per cent above or below 50.

    Source: Harkness 1956 (Official Chess Handbook 1967, pages 185 to 188); US Chess Federation, 1950 to 1960.

    Args:
        opponents: ratings in points, one a game.
        score: points scored, 0 to n by halves.

    Returns:
        A rating in points, not rounded.

    Raises:
        ValueError: as for ``linear``.
    """
    return _along_a_line(opponents, score, 1000.0)


def chessmetrics(opponents: Sequence[float], score: float) -> float:
    """Return the opponents' mean, and 8.5 points for each per cent above or below 50: ``mean + (p - 0.5) 850``.

    Source: Sonas, Chessmetrics: "a 10 % increase in performance is equivalent to 85 rating points". The padding with
    draws and the weights by age of his full method are not part of it.

    Args:
        opponents: ratings in points, one a game.
        score: points scored, 0 to n by halves.

    Returns:
        A rating in points, not rounded.

    Raises:
        ValueError: as for ``linear``.
    """
    return _along_a_line(opponents, score, 850.0)


def true(opponents: Sequence[float], score: float) -> float:
    """Return the rating at which the Elo formula expects the score: ``sum 1/(1 + 10^((Ri-R)/400)) = S``.

    Source: the logistic formula of the Elo system, solved for the player's own rating.

    Args:
        opponents: ratings in points, one a game.
        score: points scored, above 0 and below n, by halves.

    Returns:
        A rating in points, within 1e-9 for ratings of people.

    Raises:
        ValueError: as for ``linear``; or all games won or all lost, where no finite rating expects the score.
    """
    games = _checked(opponents, score)
    if score in {0, games}:
        raise ValueError(
            f"the true performance rating is undefined for {score:g} of {games}: no finite rating expects it; "
            "take fide_tpr or fide_ptp"
        )
    ahead = 400.0 * log10(score / (games - score))  # of an opponent as strong as all of them
    low, high = min(opponents) + ahead, max(opponents) + ahead
    middle = low + (high - low) / 2.0
    # halved until no float lies between the two, so that the answer does not depend on a tolerance
    while low < middle < high:
        if fsum(logistic(middle - rating) for rating in opponents) < score:
            low = middle
        else:
            high = middle
        middle = low + (high - low) / 2.0
    return high


def fide_tpr(opponents: Sequence[float], score: float, *, truncate: bool = False) -> int:
    """Return the tournament performance rating: the opponents' rounded mean, and the table's difference.

    Source: FIDE Tie-Break Regulations C.07 10.2 (mean: 10.1); the same as Title Regulations B.01 1.4.8 before a title's
    own adjustments. The mean is rounded to a whole number and the score to a whole per cent, one half up.

    Args:
        opponents: whole ratings in points, one a game.
        score: points scored, 0 to n by halves.
        truncate: drop the fraction of the mean instead of rounding it. No rule of FIDE: it reproduces the
            scalachess library and the sites that use it.

    Returns:
        A rating in whole points.

    Raises:
        ValueError: as for ``linear``; or a rating with a fraction.
    """
    games = _checked(opponents, score)
    total = sum(_whole(opponents))
    # C.07 10.1: the average is rounded to the nearest whole number, .5 up; in whole numbers, so that .5 is .5
    mean = total // games if truncate else (2 * total + games) // (2 * games)
    return mean + dp(percentage(score, games))


def fide_ptp(opponents: Sequence[float], score: float) -> int:
    """Return the perfect performance: the lowest whole rating whose expected score by the table reaches the score.

    Source: FIDE Tie-Break Regulations C.07 10.3, with table 8.1.2 of the Rating Regulations and no cut at 400 points.
    Expected scores are summed in whole hundredths: in single precision 17 of 110 real results were 1 to 3 points off.

    Args:
        opponents: whole ratings in points, one a game.
        score: points scored, 0 to n by halves; 0 gives the lowest opponent minus 800, all the highest plus 736.

    Returns:
        A rating in whole points.

    Raises:
        ValueError: as for ``fide_tpr``.
    """
    _checked(opponents, score)
    whole = _whole(opponents)
    if score == 0:
        return min(whole) - ZERO_SCORE
    # a score is of half points, so that this is exact
    hundredths = int(100 * score)
    low, high = min(whole) - OUT_OF_REACH, max(whole) + OUT_OF_REACH  # expect 0 and everything
    while high - low > 1:
        middle = (low + high) // 2
        if sum(expected_hundredths(middle - rating) for rating in whole) < hundredths:
            low = middle
        else:
            high = middle
    return high


def apro(performances: Sequence[float]) -> int:
    """Return the average of the opponents' tournament performance ratings, one half rounded up.

    Source: FIDE Tie-Break Regulations C.07 10.4.

    Args:
        performances: ``fide_tpr`` of each opponent met, points.

    Returns:
        A rating in whole points.

    Raises:
        ValueError: no opponents, or a rating that is no number.
    """
    _finite(performances)
    return floor(fsum(performances) / len(performances) + 0.5)


VARIANTS: Mapping[str, Callable[[Sequence[float], float], float]] = {
    "linear": linear,
    "fide_tpr": fide_tpr,
    "fide_ptp": fide_ptp,
    "true": true,
    "harkness": harkness,
    "chessmetrics": chessmetrics,
}


def performance(variant: str, opponents: Sequence[float], score: float) -> float:
    """Return the performance rating called *variant*, one of ``VARIANTS``.

    Args:
        variant: its name.
        opponents: ratings in points, one a game; whole ones for ``fide_tpr`` and ``fide_ptp``.
        score: points scored, 0 to n by halves.

    Returns:
        A rating in points; each variant rounds as its source says.

    Raises:
        ValueError: no variant of that name, or what the variant refuses.
    """
    if variant not in VARIANTS:
        raise ValueError(f"no performance rating is called {variant!r}, expected one of {', '.join(VARIANTS)}")
    return VARIANTS[variant](opponents, score)


def _along_a_line(opponents: Sequence[float], score: float, slope: float) -> float:
    """Return the mean, and *slope* points from no score to the whole score; exact if the result is (one division)."""
    games = _checked(opponents, score)
    return fsum((*opponents, slope * score, -slope / 2.0 * games)) / games


def _finite(ratings: Sequence[float]) -> None:
    if not ratings:
        raise ValueError("a performance rating needs at least one game against a rated opponent, got none")
    for rating in ratings:
        if not isfinite(rating):
            raise ValueError(f"a rating must be a number of points, got {rating}")


def _checked(opponents: Sequence[float], score: float) -> int:
    """Return the number of games, after refusing impossible scores."""
    _finite(opponents)
    games = len(opponents)
    if not 0 <= score <= games or (2 * score) % 1:
        raise ValueError(f"the score of {games} games must be a number of half points from 0 to {games}, got {score}")
    return games


def _whole(ratings: Sequence[float]) -> list[int]:
    for rating in ratings:
        if rating % 1:
            raise ValueError(f"FIDE's tables take whole ratings, got {rating}: round it first, or take another variant")
    return [int(rating) for rating in ratings]
