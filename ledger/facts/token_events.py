"""The events of tokens: who was given one, with which roles, and that one holds no longer. The token stands nowhere.

A token is 256 random bits, so that its salted digest lets nobody find it by trying. The names of its person and of who
issues it stand here as actors do, and are never erased: whoever does not want that is given a token under another name.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import ClassVar

import attrs

from ledger.facts.correction_events import Decision
from ledger.facts.event_fields import (
    MAX_WHOLE,
    SHA256_PATTERN,
    flag_field,
    instant_field,
    integer_field,
    pattern_field,
    text_field,
)

KEYS, AFTER_KEYS = "token:", "token;"  # all keys of these events are from the first on and before the other


class Role(StrEnum):
    """What a token lets its person do."""

    RECORDER = "recorder"  # record facts; asked for where somebody holds it
    CORRECTOR = "corrector"  # propose corrections, and take one's own back
    APPROVER = "approver"  # approve and reject proposals, set policies, publish lists, issue and revoke tokens
    AUDITOR = "auditor"  # nothing but being named: whoever may read the files may audit


ROLES_OF: Mapping[Decision, Role] = {
    Decision.APPROVED: Role.APPROVER,
    Decision.REJECTED: Role.APPROVER,
    Decision.WITHDRAWN: Role.CORRECTOR,
}
_ROLE = f"(?:{'|'.join(Role)})"
_WHO = "position of the entry that issued the token of who does this"


@attrs.frozen(kw_only=True)
class TokenIssued:
    """A person gets a token. Once somebody is an approver, an approver's token issues it; a lost one is reset."""

    KIND: ClassVar[str] = "token-issued/1"
    KEY_FIELD: ClassVar[str | None] = None

    number: int = integer_field("number of the token in this ledger, from 1", 1, MAX_WHOLE)
    person: str = text_field("whom it names: the actor of what is done by it", 128)
    roles: str = pattern_field("what the person may do by it, words divided by blanks", f"{_ROLE}(?: {_ROLE}){{0,3}}")
    salt: str = pattern_field("salt of the digest, 32 random bytes in hexadecimal", SHA256_PATTERN)
    digest: str = pattern_field("HMAC-SHA256 of the token under its salt", SHA256_PATTERN)
    expires_at: str | None = instant_field(
        "the last instant at which it is taken; no replay looks at it", optional=True, absent="it does not expire"
    )
    by_token: int | None = integer_field(_WHO, 1, MAX_WHOLE, optional=True, absent="no token was shown")
    reset: bool = flag_field("whether it takes the place of the person's tokens, lost, without an approver's token")

    @property
    def key(self) -> str:
        """``token:NUMBER``."""
        return f"{KEYS}{self.number}"


@attrs.frozen(kw_only=True)
class TokenRevoked:
    """A token proves nothing from this entry on."""

    KIND: ClassVar[str] = "token-revoked/1"
    KEY_FIELD: ClassVar[str | None] = None

    number: int = integer_field("number of the token", 1, MAX_WHOLE)
    by_token: int | None = integer_field(_WHO, 1, MAX_WHOLE, optional=True, absent="no token was shown")

    @property
    def key(self) -> str:
        """``token:NUMBER/revoked``."""
        return f"{KEYS}{self.number}/revoked"
