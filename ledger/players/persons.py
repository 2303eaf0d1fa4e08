"""Persons as the people file knows them, and the commitments to their names."""

from __future__ import annotations

import hmac
import secrets
from typing import NamedTuple

SECRET_BYTES = 32


def missing(player: int) -> str:
    """Return the label of a registered player whose row the people file lacks."""
    return f"(not in the people file) {player}"


class Person(NamedTuple):
    """A row of the people file; identity, name and salt are None once erased."""

    def __repr__(self) -> str:
        # Without the salt, by which names can be tried against a commitment: a text of an error goes into logs.
        salt = "None" if self.salt is None else "..."
        fields = f"player={self.player!r}, identity={self.identity!r}, name={self.name!r}, salt={salt}"
        return f"{type(self).__name__}({fields}, joined_at={self.joined_at!r})"

    player: int
    identity: str | None
    name: str | None
    salt: bytes | None
    joined_at: str

    @property
    def is_erased(self) -> bool:
        """True if identity, name and salt were erased or lost."""
        return self.identity is None and self.name is None and self.salt is None


def commitment(salt: bytes, identity: str, name: str) -> str:
    """Return HMAC-SHA256, in hexadecimal, of ``identity ‖ 0x00 ‖ name`` (UTF-8) under the player's salt."""
    # no name holds 0x00: no two pairs of identity and name run together into the same bytes
    return hmac.digest(salt, f"{identity}\x00{name}".encode(), "sha256").hex()


def new_secret() -> bytes:
    """Return a new random secret of a ledger."""
    return secrets.token_bytes(SECRET_BYTES)
