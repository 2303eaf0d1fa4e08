"""Sessions at the desk: a user types a token once, and a random word replaces it until the session ends.

The browser has the word, the file of tokens its keyed hash. It is taken wherever a token is, and proves no more than
its token does at that moment: who it is and what that person may do is asked of the journal each time.
"""

from __future__ import annotations

import hmac
import secrets
from typing import NamedTuple

PREFIX = "rls_"  # so that one that was pasted somewhere is known for one
SECRET_BYTES = 32
_MINUTE = 60_000
IDLE_MS = 30 * _MINUTE
LONGEST_MS = 12 * 60 * _MINUTE
NOTED_EVERY_MS = _MINUTE  # that a session is used is written down no oftener
SLACK_MS = 5 * _MINUTE  # a clock that was set back farther ends what began after it
MOST = 8  # of one token; the oldest go


class SessionRow(NamedTuple):
    """A session as the token store has it; its word cannot be computed from the row.

    Attributes:
        token: number of the token that was typed.
        entry: position of the entry that issued it.
        digest: of that token, as the journal has it: another history may have another token there.
        begun_ms: when it began, milliseconds since 1970.
        used_ms: when it was used last, to a minute.
        ends_ms: the last moment at which it holds, however much it is used.
    """

    token: int
    entry: int
    digest: str
    begun_ms: int
    used_ms: int
    ends_ms: int

    def holds_at(self, now_ms: int) -> bool:
        """Return whether the session has not expired at an instant."""
        return self.begun_ms - SLACK_MS <= now_ms <= min(self.ends_ms, self.used_ms + IDLE_MS)


class Session(NamedTuple):
    """A valid session at the desk.

    Attributes:
        person: whom its token names.
        roles: what that person may do, words of ``Role``.
        token: number of the token.
        begun_ms: when it began, milliseconds since 1970.
        used_ms: when it was used last, to a minute.
        ends_ms: the last moment at which it holds, however much it is used.
    """

    person: str
    roles: frozenset[str]
    token: int
    begun_ms: int
    used_ms: int
    ends_ms: int

    def is_use_due(self, now_ms: int) -> bool:
        """Return whether the last stored use is so old that a new one must be stored."""
        return now_ms - self.used_ms >= NOTED_EVERY_MS


def new_session_word() -> str:
    """Return a random word for a new session: 32 bytes, as text."""
    return PREFIX + secrets.token_urlsafe(SECRET_BYTES)


def is_session_word(text: str) -> bool:
    """Return whether a text has the form of a session's word, rather than of a token."""
    return text.startswith(PREFIX)


def form_token(word: str, form: str) -> str:
    """Return the CSRF token of a form, without which a request from another site is refused.

    Args:
        word: of the session; who does not have it cannot make the token.
        form: what it is for, such as its address: a token is taken for that alone.
    """
    return hmac.digest(word.encode("utf-8", "surrogatepass"), f"form {form}".encode(), "sha256").hex()


def is_form_token(word: str, form: str, token: str) -> bool:
    """Return whether a text is the CSRF token of a form.

    The comparison takes constant time.
    """
    # ``compare_digest`` raises on a text beyond ASCII, and a form may send any.
    return hmac.compare_digest(form_token(word, form), token.encode("ascii", "replace").decode())
