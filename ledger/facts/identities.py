"""How identities of players are spelt, and who gave them: one rule for every source, so that nobody becomes two.

What stands before the colon says who gave the identity. Names and the user names of servers are without regard to the
case of letters; of all others, which may be any code, each spelling is another player. No I/O.
"""

from __future__ import annotations

import unicodedata

WITHOUT_CASE = frozenset({"chesscom", "fics", "lichess", "name"})


def spelt(identity: str) -> str:
    """The identity as it is recorded: of a name, Unicode NFC with single blanks, case folded."""
    if identity.isascii() and identity.islower() and "  " not in identity:  # nearly all are
        return identity
    namespace, colon, own = identity.partition(":")
    if namespace.lower() not in WITHOUT_CASE or not colon:
        return identity
    return f"{namespace.lower()}:{' '.join(unicodedata.normalize('NFC', own).split()).casefold()}"


def register_of(identity: str) -> str:
    """Who gave an identity: a register or a server; empty for a bare name, which nobody gave."""
    namespace = identity.partition(":")[0]
    return "" if namespace == "name" else namespace


def are_apart(identity: str, other: str) -> bool:
    """Whether one register or server gave both identities: it gives each person one, so that they are two people."""
    register = register_of(identity)
    return bool(register) and register == register_of(other)


def number_fault(identity: str) -> str | None:
    """What is wrong with an identity of digits alone, which would be taken for a player's number; None otherwise."""
    if not identity.isdecimal():
        return None
    return f"may not be digits alone, for players have numbers here, got {identity!r}; write 'id:{identity}'"
