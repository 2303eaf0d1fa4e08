"""One stretch of a pool's timeline: the scheme that was adopted with its settings, and what players bring into it.

Which games lie in it, and when they are rated, is the business of ``timeline``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from ledger.facts.events import ConversionRange
from ledger.facts.words import Carry
from ledger.schemes.scheme import FROM_SHOWN, STANDING_GUEST, STANDING_WELCOMER, Rhythm, Scheme

BEGINNING = -(2**62)  # before any game, milliseconds


@attrs.frozen(eq=False)
class Era:
    """One stretch of a pool's timeline.

    Attributes:
        since_ms: first millisecond that belongs to it; ``BEGINNING`` for the first era.
        since: the same as the event wrote it; empty for the first era.
        scheme: what rates its games.
        numbers: the settings as kernels take them.
        settings: the settings as the event gave them.
        carry: what a player brings along.
        conversion: for ``convert``: the linear maps by rating.
        position: of the event in the journal.
    """

    since_ms: int
    since: str
    scheme: Scheme
    numbers: Any
    settings: Mapping[str, int | bool | str]
    carry: Carry
    conversion: tuple[ConversionRange, ...]
    position: int

    @property
    def from_shown(self) -> bool:
        """Whether newcomers begin with the rating that the source shows beside their first rated game."""
        return bool(self.settings.get(FROM_SHOWN))

    def standings(self, white: int, black: int, tournament: str | None) -> tuple[int, int]:
        """The standings of both sides as the scheme's ``refuse`` sees them in a game of a tournament."""
        if STANDING_GUEST in {white, black} and tournament and self.scheme.welcomes(tournament, self.numbers):
            return STANDING_WELCOMER, STANDING_WELCOMER
        return white, black

    def converted(self, rating: float) -> float:
        """*rating* by the map whose range it lies in; the last range that begins at or below it."""
        chosen = self.conversion[0]
        for conversion in self.conversion:
            if conversion.from_rating is None or float(conversion.from_rating) <= rating:
                chosen = conversion
        return float(chosen.factor) * rating + float(chosen.offset)


def same_terms(old: Era, new: Era) -> bool:
    """True when a state means the same in both eras: one scheme, and periods that are counted alike.

    A state that knows which rating was in force when counts in days: it stays whole where tournaments are rated whole.
    """
    if old.scheme.name != new.scheme.name:
        return False
    if old.scheme.rhythm is not Rhythm.PERIOD:
        return True
    before, after = old.scheme.calendar(old.numbers), new.scheme.calendar(new.numbers)
    return before == after or (old.scheme.in_force is not None and (before.by_event or after.by_event))
