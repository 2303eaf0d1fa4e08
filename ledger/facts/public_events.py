"""The events of what a ledger tells the world and of the rules it gives itself: policies, published lists, erasures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import attrs

from ledger.facts.event_fields import (
    MAX_PLAYER,
    MAX_WHOLE,
    NAME_PATTERN,
    SHA256_PATTERN,
    instant_field,
    integer_field,
    pattern_field,
    settings_field,
)

FOUR_EYES = "four-eyes"  # the policy that corrections, and what reaches into the past, need two people


@attrs.frozen(kw_only=True)
class PolicySet:
    """A rule of the house from an instant on: four eyes, limits before a list is published, margins of marks."""

    KIND: ClassVar[str] = "policy-set/1"
    KEY_FIELD: ClassVar[str | None] = None

    policy: str = pattern_field("name of the policy", NAME_PATTERN)
    number: int = integer_field("place among the settings of this policy, from 1", 1, MAX_WHOLE)
    settings: Mapping[str, int | bool | str] = settings_field("what the policy says, by name; decimals as text")
    effective_from: str | None = instant_field(
        "first instant at which it holds; four eyes hold from the entry on", optional=True, absent="from the beginning"
    )

    @property
    def key(self) -> str:
        """``policy:NAME@NUMBER``."""
        return f"policy:{self.policy}@{self.number}"


@attrs.frozen(kw_only=True)
class ListPublished:
    """A rating list was shown to the world: its numbers are kept beside the journal, by their digest."""

    KIND: ClassVar[str] = "list-published/1"
    KEY_FIELD: ClassVar[str | None] = None

    pool: str = pattern_field("rating pool", NAME_PATTERN)
    as_of: str = instant_field("the ratings in force at the end of this instant")
    edition: int = integer_field("place among the lists of this pool and instant, from 1", 1, MAX_WHOLE)
    head: int = integer_field("how many entries of the journal it follows from", 1, MAX_WHOLE)
    root: str = pattern_field("Merkle root of these entries, in hexadecimal", SHA256_PATTERN)
    digest: str = pattern_field("SHA-256 of the rows as they are kept", SHA256_PATTERN)
    players: int = integer_field("how many players are listed", 0, MAX_PLAYER)
    scheme: str = pattern_field("name of the scheme that rated them", NAME_PATTERN)
    scheme_version: int = integer_field("version of that scheme", 1, MAX_WHOLE)
    arithmetic: int = integer_field("version of the arithmetic", 1, MAX_WHOLE)

    @property
    def key(self) -> str:
        """``list:POOL@INSTANT/EDITION``."""
        return f"list:{self.pool}@{self.as_of}/{self.edition}"


@attrs.frozen(kw_only=True)
class PersonErased:
    """Somebody was forgotten: identity, name and salt are gone. Games and ratings stay under the number."""

    KIND: ClassVar[str] = "person-erased/1"
    KEY_FIELD: ClassVar[str | None] = None

    player: int = integer_field("number of the player", 1, MAX_PLAYER)

    @property
    def key(self) -> str:
        """``erased:NUMBER``."""
        return f"erased:{self.player}"
