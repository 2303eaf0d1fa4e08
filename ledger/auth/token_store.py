"""The store of the log of refusals, of sessions and of idempotency keys: a file, or tables on a server.

The journal itself issues tokens. An idempotency key names the proposals that were recorded under it, so that a repeat
records none. ``tokens`` decides what a token may do.
"""

from __future__ import annotations

import hmac
from collections.abc import Collection
from typing import NamedTuple, Protocol

from ledger.auth.sessions import SessionRow

KEY_BYTES = 32
NOT_KEPT = "did not keep what was written: run 'audit', and have its operator look"
MOST_SENDINGS = 10_000  # that are remembered: a sender repeats within minutes or days


class TokenRow(NamedTuple):
    """A token as it is listed; the token itself cannot be derived from it.

    Attributes:
        number: from 1, in the order in which they were made.
        name: of the person.
        roles: words, in the order of ``Role``, divided by blanks.
        added_at: when it was made.
        revoked_at: when it was revoked; None while it holds.
        expires_at: the last instant at which it is taken; None where it does not expire.
        issued_by: who issued it.
        entry: position of the entry that issued it.
    """

    number: int
    name: str
    roles: str
    added_at: str
    revoked_at: str | None
    expires_at: str | None
    issued_by: str
    entry: int


class RefusalRow(NamedTuple):
    """A refused attempt; or a sign-in or sign-out at the desk, as its rule says.

    Attributes:
        number: from 1, in the order of time.
        at: when.
        tried: what.
        claimed: the name that was given; None without.
        token: number of the token that was shown, where it is one of this ledger.
        rule: the name of the refusal.
        reason: in words.
    """

    number: int
    at: str
    tried: str
    claimed: str | None
    token: int | None
    rule: str
    reason: str


class SendingRow(NamedTuple):
    """The recorded or intended entries of a request under a word.

    Attributes:
        is_same: whether the same is sent now.
        entry: key of the first entry.
        reason: the commitment to its reason, which distinguishes it from another entry with its key.
        proposals: how many proposals were recorded together; their numbers follow each other.
    """

    is_same: bool
    entry: str
    reason: str
    proposals: int


class TokenStore(Protocol):
    """The token store of one ledger. If nothing was written yet, every question has an empty answer.

    Words and tokens are stored as hashes under a key of the store, so that they cannot be computed from it.

    Attributes:
        keeps_claims: whether the log has names of people without a token, which ``forget`` takes out again.
    """

    keeps_claims: bool = True

    @property
    def place(self) -> str:
        """The store as messages name it, without a password."""

    @property
    def where(self) -> str:
        """Its ledger, as a message goes on after "no tokens are set up"."""

    def warning(self) -> str | None:
        """Return a warning about other readers; None if there is none."""

    # -- the log ---------------------------------------------------------------------------------------------------

    def note(self, at: str, tried: str, claimed: str | None, token: int | None, rule: str, reason: str) -> None:
        """Write an attempt that was refused into the log.

        Raises:
            StorageError: the store refuses, or did not keep it.
        """

    def refusals(self, last: int | None = None) -> list[RefusalRow]:
        """The log in order of time; only the *last* ones where a number is given."""

    def forget(self, names: Collection[str]) -> None:
        """Take the names of a person who is being erased out of the log."""

    # -- sessions --------------------------------------------------------------------------------------------------

    def session(self, word: str) -> SessionRow | None:
        """The session of a word, over or not; None where there is none."""

    def begin_session(self, word: str, session: SessionRow) -> None:
        """Keep a session; those that are over go, and the oldest of the same token where there are too many."""

    def note_use(self, word: str, now_ms: int) -> None:
        """A session is used, which is written down where it was not a moment ago."""

    def end_session(self, word: str) -> None:
        """A session is over."""

    # -- what was sent ---------------------------------------------------------------------------------------------

    def sending(self, word: str, content: bytes) -> SendingRow | None:
        """Return the intended entry of a request under a word; None: there was none.

        The journal says whether it was recorded: a process that was stopped before may leave the row behind.

        Args:
            word: the mark of a repeat, with its sender.
            content: what is sent now.
        """

    def remember_key(self, word: str, content: bytes, entry: str, reason: str, proposals: int) -> None:
        """Remember, durably, what is about to be recorded of what was sent under a word, as ``SendingRow`` has it."""


def keyed_hash(key: bytes, word: str) -> bytes:
    """Return an HMAC-SHA256 under the key of a store: without the key, the hash of a known token cannot be made."""
    # Bytes of the environment that are no UTF-8 come as lone surrogates: a word of them is unknown, and no error.
    return hmac.digest(key, word.encode("utf-8", "surrogatepass"), "sha256")
