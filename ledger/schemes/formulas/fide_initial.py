"""Initial ratings of the FIDE Rating Regulations (B.02 8.2), before and after 1 March 2024.

All reckon with sums of whole ratings and half points, so that rounding is exact. Which games are pooled, and the
floor below which nothing is published, are the business of ``ledger.schemes.fide``.
"""

from __future__ import annotations

from ledger.schemes.formulas.fide_rules import JULY_2011, JULY_2014, MARCH_2024
from ledger.schemes.formulas.fide_tables import dp, percentage


def nearest(total: float, games: float) -> float:
    """The mean ``total / games`` to the nearest whole number, half up."""
    return float((2.0 * total + games) // (2.0 * games))


def games_needed(day: float) -> float:
    """Games against rated opponents that make a rating: "a minimum of 9 games", five from 1 July 2014."""
    return 5.0 if day >= JULY_2014 else 9.0


def half_point(day: float) -> float:
    """What half a point over 50 % is worth to a newcomer before March 2024, points: half of the highest K."""
    return 20.0 if day >= JULY_2014 else 15.0 if day >= JULY_2011 else 12.5


def initial_2024(opponents: float, score: float, games: float, hypothetical: float, most: float) -> float:
    """Initial rating from 1 March 2024, points: as if two more opponents rated 1800 had been drawn with.

    Args:
        opponents: sum of the rated opponents' ratings, points.
        score: points scored against them.
        games: games against them.
        hypothetical: rating of the two, points (1800).
        most: the highest initial rating, points (2200).
    """
    played = games + 2.0
    rating = nearest(opponents + 2.0 * hypothetical, played) + dp(percentage(score + 1.0, played))
    return rating if rating < most else most


def initial_before_2024(opponents: float, score: float, games: float, half: float) -> float:
    """Initial rating before 1 March 2024, points: over 50 % *half* points per half point, below 50 % by the table."""
    over = 2.0 * score - games
    if over >= 0.0:
        return nearest(opponents + half * over * games, games)
    return nearest(opponents, games) + dp(percentage(score, games))


def initial(opponents: float, score: float, games: float, day: float, hypothetical: float, most: float) -> float:
    """Initial rating by the rules of *day*, points; may lie below the floor."""
    if day >= MARCH_2024:
        return initial_2024(opponents, score, games, hypothetical, most)
    return initial_before_2024(opponents, score, games, half_point(day))
