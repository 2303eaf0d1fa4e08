"""The words of the field as types: outcomes, terminations, standings, receipts, tree heads. No I/O, no JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

import attrs


class Outcome(StrEnum):
    """Who won, always named by colour. ``NONE``: the game ended without a result (``*``)."""

    WHITE = "white"
    DRAW = "draw"
    BLACK = "black"
    NONE = "none"


HALF_POINTS: Mapping[str, int | None] = {Outcome.WHITE: 2, Outcome.DRAW: 1, Outcome.BLACK: 0, Outcome.NONE: None}
"""White's half points by outcome."""

LOSER: Mapping[str, int] = {Outcome.WHITE: 2, Outcome.DRAW: 0, Outcome.BLACK: 1, Outcome.NONE: 0}
"""Who lost by outcome: 0 nobody, 1 White, 2 Black."""


class Termination(StrEnum):
    """How a game ended (PGN standard 9.8.1 and the status words of Lichess and chess.com, made one list)."""

    CHECKMATE = "checkmate"
    RESIGNATION = "resignation"
    AGREEMENT = "agreement"
    STALEMATE = "stalemate"
    REPETITION = "repetition"
    FIFTY_MOVE = "fifty-move"
    INSUFFICIENT_MATERIAL = "insufficient-material"
    TIME = "time"
    ABANDONMENT = "abandonment"
    ADJUDICATION = "adjudication"
    RULES_INFRACTION = "rules-infraction"
    UNPLAYED = "unplayed"
    UNKNOWN = "unknown"


OUTCOME_CODE: Mapping[str, int] = {word: code for code, word in enumerate(Outcome)}
TERMINATION_CODE: Mapping[str, int] = {word: code for code, word in enumerate(Termination)}


def time_loss(outcome: str, termination: str) -> int:
    """Who lost by overstepping the time: 0 nobody, 1 White, 2 Black."""
    return LOSER[outcome] if termination == Termination.TIME else 0


def moves_number(text: str) -> int:
    """A number that stands for a movetext: the first 8 bytes of its SHA-256, which is given in hexadecimal, signed."""
    return int.from_bytes(bytes.fromhex(text[:16]), signed=True)


class Standing(StrEnum):
    """A player's standing with the site (ChessWorld FAQ: guests play unrated, except against Welcomers)."""

    FULL = "full"
    GUEST = "guest"
    WELCOMER = "welcomer"
    CLOSED = "closed"  # an account off the lists; the games count as those of a full member


class Brings(StrEnum):
    """What a round without a game brings a player: the letters H F U Z of FIDE's reports, or a blank."""

    HALF = "half"  # a bye that was asked for, half a point
    FULL = "full"  # a point that is not for want of an opponent
    ALLOTTED = "allotted"  # for want of an opponent: the pairing-allocated bye
    ZERO = "zero"  # a bye that was asked for, no point
    ABSENT = "absent"  # not there, withdrawn, not yet or no longer paired


USUALLY_BRINGS: Mapping[str, int] = {
    Brings.HALF: 1,
    Brings.FULL: 2,
    Brings.ALLOTTED: 2,
    Brings.ZERO: 0,
    Brings.ABSENT: 0,
}
"""Half points of a round without a game; the rules of an event may give another number for ``ALLOTTED`` alone."""


class Carry(StrEnum):
    """What players bring along where a pool's scheme changes."""

    KEEP = "keep"  # the rating and the number of games
    RESTART = "restart"  # nothing: everybody begins anew
    CONVERT = "convert"  # the rating by a stated linear map, and the number of games


class Format(StrEnum):
    """How a tournament is paired."""

    ALL_PLAY_ALL = "all-play-all"
    SWISS = "swiss"
    KNOCKOUT = "knockout"
    MATCH = "match"
    ARENA = "arena"


_ROUND = re.compile(r"(\d{1,6})(?:\.(\d{1,6}))?(?:\.(\d{1,6}))?", re.ASCII)


def round_order(text: str | None) -> int:
    """A number that sorts rounds as people do: ``2`` before ``10``, ``3.1`` before ``3.2``; unknown rounds first.

    Up to three numbers divided by full stops count; anything else ("Final", missing) gives 0.
    """
    match = _ROUND.fullmatch(text) if text else None
    if match is None:
        return 0
    major, minor, third = (int(part or 0) for part in match.groups())
    return major * 10**12 + minor * 10**6 + third


@lru_cache(maxsize=4096)  # most games share their tournament with the one before
def tournament_code(name: str | None) -> int:
    """A number that stands for the name of a tournament where only numbers can: 0 for none, else 53 bits of SHA-256.

    It follows from the name alone. Of ten million names, two share a number in one ledger of two hundred.
    """
    return 1 + int.from_bytes(sha256(name.encode()).digest()[:8], "big") % (2**53 - 1) if name else 0


class Receipt(NamedTuple):
    """What the journal answers to an accepted entry.

    Attributes:
        position: place in the journal, from 1; of the first recording where this was a repeat.
        key: the entry's own identity.
        leaf: SHA-256 leaf hash of the entry, 32 bytes.
        duplicate: True when the same fact stood there already; nothing was written then.
        note: what whoever recorded it should look at, such as a game that takes the rating of a list away; mostly None.
    """

    position: int
    key: str
    leaf: bytes
    duplicate: bool
    note: str | None = None


@attrs.frozen
class TreeHead:
    """Size and root of the journal's Merkle tree: one line that fixes every entry before it.

    The line is ``SIZE ROOT`` with the root in lower-case hexadecimal.
    """

    size: int
    root: bytes

    def __str__(self) -> str:
        return f"{self.size} {self.root.hex()}"

    @classmethod
    def parse(cls, line: str) -> TreeHead:
        """Read a line as ``str(head)`` writes it.

        Raises:
            ValueError: it is not a size and 64 hexadecimal digits.
        """
        match = re.fullmatch(r"(0|[1-9]\d{0,17}) ([0-9a-f]{64})", line.strip(), re.ASCII)
        if match is None:
            raise ValueError(f"expected 'SIZE ROOT' with 64 hexadecimal digits, got {line.strip()!r}")
        return cls(int(match[1]), bytes.fromhex(match[2]))
