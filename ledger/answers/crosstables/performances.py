"""Tournament performance ratings by name, and the enrolment rating offset; never a bare "TPR".

The formulas are in ``schemes.formulas.performance``; what they need of a tournament is said here: which games count and
with which ratings. Added to them is ``chessworld``, our reading of the ChessWorld rating FAQ. Pure; no database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor, fsum
from typing import NamedTuple

from ledger.runtime.nearest import find_by_name
from ledger.schemes.formulas import performance as formulas

CHESSWORLD = "chessworld"
USUAL = "fide_tpr"


class Variant(NamedTuple):
    """A performance rating.

    Attributes:
        title: what it is, in a line.
        source: who says so.
        is_whole: whether it takes whole ratings; others are rounded first, one half up.
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


class Performed(NamedTuple):
    """One game as a performance takes it.

    Attributes:
        half_points: 2 for a win, 1 for a draw, 0 for a loss.
        opponent: the opponent's enrolment rating, points; None for who has none: the game is left out.
        closing: the player's own rating after the game, points; None if the scheme shows none.
    """

    half_points: int
    opponent: float | None
    closing: float | None


class Performance(NamedTuple):
    """The worth of a player's games.

    Attributes:
        rating: points, rounded as the variant says; None if the variant gives none.
        why_not: why it gives none; None if it gives one.
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
        UnknownNameError: there is none; those that there are are listed.
    """
    return find_by_name("performance rating", name, VARIANTS)


def usual(scheme: str) -> str:
    """Return the variant that people expect with a scheme by default."""
    return scheme if scheme in VARIANTS else USUAL


def performance(name: str, games: Sequence[Performed]) -> Performance:
    """Return the performance rating of a player's games, or of those against one opponent.

    Args:
        name: one of ``VARIANTS``.
        games: those that were played; byes and forfeits are left out by the caller.

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
    ratings = [float(whole(rating)) if variant.is_whole else rating for rating, _ in met]
    score = sum(half_points for _, half_points in met) / 2
    # For no point or all points the Elo formula has no finite solution.
    if name == "true" and score in {0, len(met)}:
        return Performance(None, f"undefined for {score:g} of {len(met)}", len(met), mean)
    return Performance(float(formulas.performance(name, ratings, score)), None, len(met), mean)


def whole(rating: float) -> int:
    """Return a rating as lists show it: the nearest whole number, one half up."""
    return floor(rating + 0.5)


def offset_percent(rating: float | None, enrolment: float | None) -> float | None:
    """Return the ER offset: how far a rating is above the enrolment rating, per cent of it; None if one is missing."""
    # a share of a rating below 0 would have the wrong sign
    if rating is None or not enrolment or enrolment < 0:
        return None
    return 100.0 * (rating / enrolment - 1.0)
