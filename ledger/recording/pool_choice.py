"""The pool that an imported game goes to, by its variant and its speed class or FIDE's class."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import attrs

from ledger.imports.reading import FIDE_CLASSES, NO_HINTS, OTHER_CLASS, FileHints
from ledger.schemes.scheme import Scheme

BY_SPEED = "by-speed"
BY_TIME_CONTROL = "by-time-control"
CHOICES_BY_CLASS = (BY_SPEED, BY_TIME_CONTROL)  # the class of a game names its pool


@attrs.frozen(kw_only=True)
class PoolChoice:
    """The rule that assigns a pool to an imported game.

    Attributes:
        pool: the pool of games that are no variant; ``by-speed`` cuts by variant and speed class, as Lichess does;
            ``by-time-control`` by FIDE's limits into ``standard``, ``rapid`` and ``blitz``, for files that were read
            with ``hints_for``.
        variants: pool by variant name; games of other variants are left out and counted.
    """

    pool: str
    variants: Mapping[str, str] = attrs.field(factory=dict)

    def pool_of(self, variant: str, speed: str | None) -> str | None:
        """Return the pool of a game; None if it has none."""
        if variant == "standard":
            if self.pool == BY_TIME_CONTROL:
                return speed if speed in FIDE_CLASSES else None
            return speed if self.pool == BY_SPEED else self.pool
        return self.variants.get(variant, variant if self.pool == BY_SPEED else None)


def hints_for(
    said: FileHints | None, choice: PoolChoice, scheme: Scheme, *, is_named: bool, accepted: Collection[str] = ()
) -> FileHints:
    """Return the hints with which a file is read for a choice of pools: FIDE's classes where FIDE's limits count.

    They count for ``by-time-control``, and in a pool of FIDE's name that is rated by a scheme with FIDE's limits.

    Args:
        said: the user's hints.
        choice: which pool a game goes to.
        scheme: the latest scheme of the pool.
        is_named: True if the user named the pool: a game of another class is a fault there, else a note.
        accepted: the codes of warnings that the user accepts.
    """
    hints = said or NO_HINTS
    if choice.pool == BY_TIME_CONTROL:
        return attrs.evolve(hints, by_fide=True)
    if choice.pool not in FIDE_CLASSES or not scheme.fide_limits:
        return hints
    is_accepted = OTHER_CLASS in accepted
    return attrs.evolve(
        hints, by_fide=True, pool_class=choice.pool, is_pool_named=is_named, accepts_other_class=is_accepted
    )
