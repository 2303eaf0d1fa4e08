"""The rating and history that a list states for a player, and checks of identities and names."""

from __future__ import annotations

import attrs

from ledger.facts.event_fields import text_faults
from ledger.facts.events import RatingSeeded
from ledger.facts.person_names import number_fault

MAX_NAME = 128  # characters of a name
MAX_IDENTITY = 256  # characters of an identity


@attrs.frozen(kw_only=True)
class PriorRating:
    """A player's rating and history before the ledger, as a list states them, in the fields of ``rating-seeded/1``.

    Attributes:
        pool: the pool that it belongs to; None for the ledger's first one.
        since: from when it holds, an instant; None: from the beginning.
    """

    # Text: an entry holds no floats, whose digits another program might write otherwise.
    rating: str
    games: int | None = None
    deviation: str | None = None
    volatility: str | None = None
    highest: str | None = None
    k_factor: str | None = None
    source: str | None = None
    pool: str | None = None
    since: str | None = None

    def seed(self, player: int, first_pool: str) -> RatingSeeded:
        """Return the ``RatingSeeded`` event for a player's number.

        Raises:
            ValueError: a field is not what an event may hold; it is named.
        """
        return RatingSeeded(
            player=player,
            pool=first_pool if self.pool is None else self.pool,
            effective_at=self.since,
            rating=self.rating,
            games=self.games,
            deviation=self.deviation,
            volatility=self.volatility,
            highest=self.highest,
            k_factor=self.k_factor,
            source=self.source,
        )


def person_faults(identity: str, name: str, *, is_new: bool = True) -> list[str]:
    """Return the faults of a person's identity and name; each ends in its field.

    Who *is_new* may not have an identity of digits alone; earlier versions registered some.
    """
    site, _, rest = identity.partition(":")
    faults = []
    if is_new and (fault := number_fault(identity)):
        faults.append(f"{fault} @ $.identity")
    if ":" in identity and not rest.strip():
        faults.append(f"has nothing behind its colon, got {identity!r}; correct it @ $.identity")
    if site == "fide" and not rest.isdecimal():
        faults.append(f"after 'fide:' stands a FIDE number, got {identity!r}; correct it @ $.identity")
    return faults + text_faults("identity", identity, MAX_IDENTITY) + name_faults(name)


def name_faults(name: str) -> list[str]:
    """Return the fault of a person's name in a list, or an empty list."""
    return text_faults("name", name, MAX_NAME)
