"""The events of corrections: what somebody proposes, and what somebody decides. Nothing is edited by either.

What a change may be is said in ``changes``. Reasons are free text that may name people: it stands beside the journal,
and its salted digest here.
"""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

import attrs

from ledger.facts.changes import Change, changes_field
from ledger.facts.event_fields import (
    MAX_WHOLE,
    SHA256_PATTERN,
    flag_field,
    integer_field,
    one_of_field,
    pattern_field,
)


class Decision(StrEnum):
    """What becomes of a proposal."""

    APPROVED = "approved"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"  # by who proposed


@attrs.frozen(kw_only=True)
class CorrectionProposed:
    """Somebody proposes to correct what the journal says; it takes effect if it is approved, and from there on.

    A proposal of many changes is recorded in parts that follow each other in one transaction.
    """

    KIND: ClassVar[str] = "correction-proposed/2"
    KEY_FIELD: ClassVar[str | None] = None

    proposal: int = integer_field("number of the proposal, from 1", 1, MAX_WHOLE)
    part: int = integer_field("which part of it this is, from 1", 1, MAX_WHOLE)
    parts: int = integer_field("how many parts it has", 1, MAX_WHOLE)
    changes: tuple[Change, ...] = changes_field("what is to be changed, in this order")
    reason: str = pattern_field("HMAC-SHA256 of the reason under a salt of its own", SHA256_PATTERN)
    proven: bool = flag_field("whether a token named the person who proposes; else the name is a word")
    by_token: int | None = integer_field(
        "position of the entry that issued the token of who proposes",
        1,
        MAX_WHOLE,
        optional=True,
        absent="no token was shown, or none had an entry yet",
    )

    @property
    def key(self) -> str:
        """``proposal:NUMBER@PART``."""
        return f"proposal:{self.proposal}@{self.part}"


@attrs.frozen(kw_only=True)
class CorrectionDecided:
    """Somebody approves a proposal, rejects it, or takes it back."""

    KIND: ClassVar[str] = "correction-decided/2"
    KEY_FIELD: ClassVar[str | None] = None

    proposal: int = integer_field("number of the proposal", 1, MAX_WHOLE)
    decision: Decision = one_of_field("what becomes of it", Decision)
    reason: str | None = pattern_field(
        "HMAC-SHA256 of the reason under a salt of its own", SHA256_PATTERN, optional=True
    )
    proven: bool = flag_field("whether a token named the person who decides; else the name is a word")
    by_token: int | None = integer_field(
        "position of the entry that issued the token of who decides",
        1,
        MAX_WHOLE,
        optional=True,
        absent="no token was shown, or none had an entry yet",
    )

    @property
    def key(self) -> str:
        """``decision:NUMBER``."""
        return f"decision:{self.proposal}"
