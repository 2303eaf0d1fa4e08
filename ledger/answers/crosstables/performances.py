"""Tournament performance ratings by the name of their formula, and the enrolment rating offset. Pure.

The formulas are in ``schemes.formulas.performance``; this module decides which games count, and with which ratings.
It adds ``chessworld``, our reading of the ChessWorld rating FAQ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor, fsum
from typing import NamedTuple

from ledger.runtime.nearest import find_by_name
from ledger.schemes.formulas import performance as formulas

CHESSWORLD = "chessworld"
DEFAULT_VARIANT = "fide_tpr"


class Variant(NamedTuple):
    """A variant of the tournament performance rating: its formula, the formula's source, and the form of its input.

    Whole ratings (``is_whole``) are rounded first, one half up.
    """

    title: str
    source: str
    is_whole: bool = False


VARIANTS: Mapping[str, Variant] = {
    "linear": Variant("opponents' mean + 400 (wins - losses) / games", "Elo's formula for provisional ratings"),
    "fide_tpr": Variant("opponents' mean + FIDE's table for the percentage", "FIDE C.07 10.2", is_whole=True),
    "fide_ptp": Variant("perfect tournament performance by FIDE's table", "FIDE C.07 10.3", is_whole=True),
    "true": Variant("the rating at which the Elo formula expects the score", "the Elo formula, solved"),
    "harkness": Variant("opponents' mean + 10 points a per cent above 50", "Harkness 1956"),
    "chessmetrics": Variant("opponents' mean + 8.5 points a per cent above 50", "Sonas, Chessmetrics"),
    CHESSWORLD: Variant(
        "mean of the player's own closing ratings", "our reading of the ChessWorld rating FAQ, which has no formula"
    ),
}
OFFSET_TITLE = "ER offset: 100 (performance / enrolment rating - 1), our reading of the ChessWorld rating FAQ"


class PerformanceGame(NamedTuple):
    """One game as the input of a performance rating: score, opponent's enrolment rating, own closing rating.

    A game without the rating of the opponent (None) is left out; ``closing`` is None if the scheme shows none.
    """

    half_points: int
    opponent: float | None
    closing: float | None


class Performance(NamedTuple):
    """The performance rating of a player's games, with its basis.

    Attributes:
        rating: points, rounded as the variant prescribes; None if there is none.
        why_not: why there is none; else None.
        games: how many games it is based on.
        opponents_mean: mean enrolment rating of the opponents in these games (FIDE's Rc before rounding), points.
    """

    rating: float | None
    why_not: str | None
    games: int
    opponents_mean: float | None


def variant_named(name: str) -> Variant:
    """Return the variant of that name.

    Raises:
        UnknownNameError: there is none of that name.
    """
    return find_by_name("performance rating", name, VARIANTS)


def default_variant(scheme: str) -> str:
    """Return the name of the default performance rating of a rating scheme."""
    return scheme if scheme in VARIANTS else DEFAULT_VARIANT


def calculate_performance(name: str, games: Sequence[PerformanceGame]) -> Performance:
    """Return the performance rating, of the variant *name*, of played games of a player.

    Raises:
        UnknownNameError: no such variant.
    """
    variant = variant_named(name)
    met = [(game.opponent, game.half_points) for game in games if game.opponent is not None]
    mean = fsum(rating for rating, _ in met) / len(met) if met else None
    if name == CHESSWORLD:
        closings = [game.closing for game in games if game.closing is not None]
        why_not = None if closings else "no rated game"
        return Performance(fsum(closings) / len(closings) if closings else None, why_not, len(closings), mean)
    if not met:
        return Performance(None, "no game against a rated opponent", 0, None)
    ratings = [float(round_rating(rating)) if variant.is_whole else rating for rating, _ in met]
    score = sum(half_points for _, half_points in met) / 2
    # For no point or all points the Elo formula has no finite solution.
    if name == "true" and score in {0, len(met)}:
        return Performance(None, f"undefined for {score:g} of {len(met)}", len(met), mean)
    return Performance(float(formulas.performance(name, ratings, score)), None, len(met), mean)


def round_rating(rating: float) -> int:
    """Round a rating to the nearest whole number, one half up, as lists show it."""
    return floor(rating + 0.5)


def er_offset(rating: float | None, enrolment: float | None) -> float | None:
    """Return by how many per cent a rating is above the enrolment rating (ER); None if one of them is missing."""
    # a share of a rating below 0 would have the wrong sign
    if rating is None or not enrolment or enrolment < 0:
        return None
    return 100.0 * (rating / enrolment - 1.0)
