"""The pool that an imported game goes to, by its variant and its speed class."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

BY_SPEED = "by-speed"


@attrs.frozen(kw_only=True)
class PoolChoice:
    """The rule that assigns a pool to an imported game.

    Attributes:
        pool: the pool of standard chess; ``by-speed`` cuts by variant and speed class, as Lichess does.
        variants: pool by variant name; games of other variants are left out and counted.
    """

    pool: str
    variants: Mapping[str, str] = attrs.field(factory=dict)

    def pool_of(self, variant: str, speed: str | None) -> str | None:
        """Return the pool of a game; None if it has none."""
        if variant == "standard":
            return speed if self.pool == BY_SPEED else self.pool
        return self.variants.get(variant, variant if self.pool == BY_SPEED else None)
