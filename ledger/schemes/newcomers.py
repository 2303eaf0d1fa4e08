"""What is known of a player before the first rated game, and of the past of who comes from a list. No rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

# Settings that every pool takes beside those of its scheme: switches, which are off where an adoption does not say.
FROM_SHOWN = "from_shown"
POOL_SETTINGS: Mapping[str, str] = {
    FROM_SHOWN: (
        "who has no seed and declares no rating begins with the one that the source shows beside the first rated game"
    ),
}
SHOWN_SCALE = "Elo points"  # what sources show beside games


class Seed(NamedTuple):
    """The past that a player brings along from a list; None where the list does not tell.

    Attributes:
        rating: rating, in what the scheme counts in.
        games: rated games behind it.
        deviation: RD, points.
        volatility: Glicko-2 volatility, 1/173.7178 points.
        highest: highest rating so far, points.
        k_factor: K on that list.
        day: from when it holds, days since 1970; None: from the first rated game.
    """

    rating: float
    games: float | None = None
    deviation: float | None = None
    volatility: float | None = None
    highest: float | None = None
    k_factor: float | None = None
    day: float | None = None

    @property
    def peak(self) -> float:
        """The highest rating that is known, points."""
        return self.rating if self.highest is None else max(self.rating, self.highest)


class Newcomer(NamedTuple):
    """What is known of a player before the first rated game.

    Attributes:
        declared: rating to begin with, points; None where none was declared.
        birth_year: year of birth; None if unknown.
        day: when the first rated game ended, days since 1970.
        seed: the player's past, which goes before a declared rating.
    """

    declared: float | None = None
    birth_year: int | None = None
    day: float = 0.0
    seed: Seed | None = None

    @property
    def has_rating(self) -> bool:
        """Whether a rating is known, of a list or a declared one."""
        return self.declared is not None or self.seed is not None


def pool_problems(given: Mapping[str, object], scale: str) -> list[str]:
    """What is wrong with the settings of a pool among those given; *scale* is what its scheme counts in."""
    problems = [
        f"setting {name!r}: expected true or false, got {given[name]!r}"
        for name in POOL_SETTINGS
        if name in given and type(given[name]) is not bool
    ]
    if given.get(FROM_SHOWN) is True and scale != SHOWN_SCALE:
        problems.append(f"setting {FROM_SHOWN!r}: sources show {SHOWN_SCALE}, and the scheme counts in {scale}")
    return problems
