"""Ed25519 by the browser: WebCrypto answers later, and Python asks at once.

So a check runs twice. The first time every signature counts as false, and is noted in ``ASKED``; the page has these
verified by ``crypto.subtle.verify`` and puts the true ones into ``TRUE``; the second time counts.
"""

from __future__ import annotations

from cryptography.exceptions import InvalidSignature  # noqa: TID253  # the one beside it

Asked = tuple[bytes, bytes, bytes]  # public key, signature, text

ASKED: list[Asked] = []
TRUE: set[Asked] = set()


class Ed25519PublicKey:
    """A public key whose signatures the browser verified."""

    def __init__(self, public: bytes) -> None:
        self._public = public

    @classmethod
    def from_public_bytes(cls, public: bytes) -> Ed25519PublicKey:
        """Return the key of 32 bytes."""
        return cls(public)

    def verify(self, signature: bytes, text: bytes) -> None:
        """Raise InvalidSignature unless the browser verified this signature of the text."""
        asked = self._public, signature, text
        ASKED.append(asked)
        if asked not in TRUE:
            raise InvalidSignature
