"""Published formulas that no scheme rates by: by hand, of earlier editions, on another scale, for people to read.

The examples of ``rules/vectors.json`` and the tests work them out; what a ledger rates by is in ``ledger.schemes``.
"""

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from math import sqrt
from typing import NamedTuple

from ledger.schemes import ecf_grade, elo, glicko, glicko2, savard
from ledger.schemes.formulas import performance, uschess
from ledger.schemes.formulas.fide_rules import LATEST, expected_hundredths, greatest, is_rated, lowest, upgrade, within

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


def initial_rating(
    opponents: Sequence[float | None], scores: Sequence[float], numbers: savard.Settings = savard.DEFAULT
) -> float:
    """The initial rating, points, by the opponents' ratings (None: unrated) and the scores of the first games."""
    worths = [
        savard.game_worth(numbers.unrated if opponent is None else opponent, score, numbers)
        for opponent, score in zip(opponents, scores, strict=True)
    ]
    return sum(worths) / len(worths)


def rate_internal(
    mu: float,
    phi: float,
    sigma: float,
    games: Sequence[tuple[float, float, float]],
    numbers: glicko2.Settings = glicko2.DEFAULT,
) -> tuple[float, float, float]:
    """``after_period`` on the paper's scale: mu, phi and sigma; of each game the opponent's mu, phi and the score."""
    results = [
        (glicko2.CENTRE + glicko2.SCALE * other, glicko2.SCALE * other_phi, score) for other, other_phi, score in games
    ]
    rating, rd, volatility = glicko2.after_period(
        glicko2.CENTRE + glicko2.SCALE * mu, glicko2.SCALE * phi, sigma, results, numbers
    )
    return (rating - glicko2.CENTRE) / glicko2.SCALE, rd / glicko2.SCALE, volatility


def new_rating_of_many(own: float, opponents: Sequence[float], scores: Sequence[float], k: float) -> float:
    """The rating after several games rated together, points: all from the rating before the first."""
    return own + k * sum(score - elo.expected(own, opponent) for opponent, score in zip(opponents, scores, strict=True))


def time_control_class(base: float, increment: float, highest: float = 0.0) -> str:
    """Which list a game of 60 moves counts for: "standard", "rapid", "blitz" or "unrated".

    Args:
        base: seconds for all moves.
        increment: seconds added with each move.
        highest: rating of the higher-rated player, points; 0 if unrated.
    """
    total = base + 60.0 * increment
    # Standard 1.1: 120 min if a player is rated 2400 or more, 90 min from 1800, else 60
    if total >= (7200.0 if highest >= 2400.0 else 5400.0 if highest >= 1800.0 else 3600.0):
        return "standard"
    if 600.0 < total < 3600.0:  # above 10 and below 60 min
        return "rapid"
    if 180.0 < total <= 600.0:  # above 3 and up to 10 min: 3 + 0 is not blitz
        return "blitz"
    return "unrated"


def interval(rating: float, rd: float) -> tuple[float, float]:
    """The 95 % interval, points: r ± 1.96 RD."""
    return rating - glicko.NORMAL_95 * rd, rating + glicko.NORMAL_95 * rd


def rating_class(rating: int) -> str:
    """Class tournament letter: "A) less than 1400, B) 1400 - 1879, C) 1880 - 2199, D) 2200 and above"."""
    return "A" if rating < 1400 else "B" if rating < 1880 else "C" if rating < 2200 else "D"


def elo_2020(grade: float) -> float:
    """Elo points of a grade as of 2020: "new = 7.5*old + 700" (The calculation of ECF grades on a monthly basis)."""
    return 7.5 * grade + 700.0


def season_grade(own: float, opponents: Sequence[float], scores: Sequence[float], numbers: ecf_grade.Settings) -> float:
    """A grade by one season's games alone, ECF points, unrounded: "the total number of points [...] by the games"."""
    return sum(map(ecf_grade.game_points, [own] * len(scores), opponents, scores, [numbers] * len(scores))) / len(
        scores
    )


def season_grade_by_percentage(
    own: float, opponents: Sequence[float], scores: Sequence[float], numbers: ecf_grade.Settings
) -> float:
    """The same by the other way of reckoning: average of the opponents as they count, plus percentage, less 50."""
    strength = sum(ecf_grade.counted(own, opponent, numbers) for opponent in opponents) / len(scores)
    return strength + (sum(scores) / len(scores) - 0.5) * 2.0 * numbers.bonus


def effective_2004(rating: float) -> float:
    """N* of the edition of 2004, games: "50/sqrt(1 + (2200-R)^2/100000) for R < 2200", else 50."""
    if rating >= 2200.0:
        return 50.0
    short = 2200.0 - rating
    return 50.0 / sqrt(1.0 + short * short / 100_000.0)


def half_k_2004(effective_n: float, m: float) -> float:
    """Half-K = 400/(N'+m/2), points: the K of quick events in the edition of 2004."""
    return 400.0 / (effective_n + m / 2.0)


def approximate_provisional(
    rating: float, games: float, wins: float, losses: float, opponents: Sequence[float]
) -> float:
    """Approximating formula (2015, 2017) up to 8 earlier games, points: (N·R + Σ Ri + (W-L)·400) / (N+m)."""
    total = games * rating + (wins - losses) * 400.0
    for opponent in opponents:
        total += opponent
    return total / (games + len(opponents))


def floor_absolute(wins: float, draws: float, events: float) -> float:
    """Absolute floor over the board, points: min(150, 100 + 4·wins + 2·draws + events with 3 games or more)."""
    return uschess.floor_raised(100.0, wins, draws, events)


def appo(performances: Sequence[float]) -> int:
    """Average of the opponents' perfect tournament performances, one half rounded up.

    Source: FIDE Tie-Break Regulations C.07 10.5.

    Args:
        performances: ``performance.fide_ptp`` of each opponent met, points.

    Returns:
        A rating in whole points.

    Raises:
        ValueError: as for ``performance.apro``.
    """
    return performance.apro(performances)
