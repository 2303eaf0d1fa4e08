"""The vocabulary of the ledger as types: outcomes, terminations, membership statuses, receipts, tree heads.

The module also checks which results, terminations and numbers of half-moves go together. It asks this of what is
typed manually: a source's report is recorded as it is, and a correction may not make a game contradict itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from hashlib import sha256
from typing import Any, NamedTuple

import attrs

from ledger.errors import MalformedError


class Outcome(StrEnum):
    """The result of a game, always named by colour. ``NONE``: the game ended without a result (``*``)."""

    WHITE = "white"
    DRAW = "draw"
    BLACK = "black"
    NONE = "none"


HALF_POINTS: Mapping[str, int | None] = {Outcome.WHITE: 2, Outcome.DRAW: 1, Outcome.BLACK: 0, Outcome.NONE: None}
"""White's half points by outcome."""

LOSER: Mapping[str, int] = {Outcome.WHITE: 2, Outcome.DRAW: 0, Outcome.BLACK: 1, Outcome.NONE: 0}
"""The loser by outcome: 0 none, 1 White, 2 Black."""


class Termination(StrEnum):
    """The ways in which games end (PGN standard 9.8.1, the status words of Lichess and chess.com, as one list)."""

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


class Colour(StrEnum):
    """The colour of a player's pieces."""

    WHITE = "white"
    BLACK = "black"


OUTCOME_CODE: Mapping[str, int] = {word: code for code, word in enumerate(Outcome)}
TERMINATION_CODE: Mapping[str, int] = {word: code for code, word in enumerate(Termination)}


def time_loss(outcome: str, termination: str) -> int:
    """Return the player who overstepped the time as a number: 0 neither, 1 White, 2 Black."""
    return LOSER[outcome] if termination == Termination.TIME else 0


def movetext_number(text: str) -> int:
    """Return a 64-bit number for a movetext: the first 8 bytes of its hexadecimal SHA-256, signed."""
    return int.from_bytes(bytes.fromhex(text[:16]), signed=True)  # as SQLite and Arrow hold 64 bits


class Standing(StrEnum):
    """A player's membership status on the site (ChessWorld FAQ: guests play unrated, except against Welcomers)."""

    FULL = "full"
    GUEST = "guest"
    WELCOMER = "welcomer"
    CLOSED = "closed"  # an account off the lists; the games count as those of a full member


class Strength(StrEnum):
    """The playing strengths of ChessWorld, which members choose during their first games."""

    BEGINNER = "beginner"
    INTERMEDIATE = "intermediate"
    ADVANCED = "advanced"


class Brings(StrEnum):
    """The kinds of rounds without a game, by the points they bring: H F U Z in FIDE's reports, or a blank."""

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
    """The state that players keep when a pool's scheme changes."""

    KEEP = "keep"  # the rating and the number of games
    RESTART = "restart"  # no state: all players begin again
    CONVERT = "convert"  # the rating by a stated linear map, and the number of games


class LateReports(StrEnum):
    """The list in which a game counts that is reported after its own list was published."""

    TRUE_PLACE = "true-place"  # in its own list: the list as it would be now differs from the published one
    NEXT_LIST = "next-list"  # in the next list, with the ratings and the rules of its own days


class Format(StrEnum):
    """The pairing system of a tournament."""

    ALL_PLAY_ALL = "all-play-all"
    SWISS = "swiss"
    KNOCKOUT = "knockout"
    MATCH = "match"
    ARENA = "arena"


_ROUND = re.compile(r"(\d{1,6})(?:\.(\d{1,6}))?(?:\.(\d{1,6}))?", re.ASCII)


def round_order(text: str | None) -> int:
    """Return a number by which rounds sort as people do: ``2`` before ``10``, ``3.1`` before ``3.2``; unknown first.

    Up to three numbers divided by full stops count; anything else ("Final", missing) gives 0.
    """
    match = _ROUND.fullmatch(text) if text else None
    if match is None:
        return 0
    major, minor, third = (int(part or 0) for part in match.groups())
    # eighteen digits at most, which 64 bits hold
    return major * 10**12 + minor * 10**6 + third


@lru_cache(maxsize=4096)  # most games share their tournament with the one before
def tournament_code(name: str | None) -> int:
    """Return a number for a tournament's name, for tables of numbers: 0 for none, else 53 bits of SHA-256.

    It follows from the name alone. Of ten million names, two share a number in one ledger of two hundred.
    """
    # 53 bits: a kernel holds all numbers of a state as floats, which are exact up to there
    return 1 + int.from_bytes(sha256(name.encode()).digest()[:8], "big") % (2**53 - 1) if name else 0


class Receipt(NamedTuple):
    """The journal's answer to an accepted entry.

    Attributes:
        position: place in the journal, from 1; of the first recording where this was a repeat.
        key: the entry's own identity.
        leaf: SHA-256 leaf hash of the entry, 32 bytes.
        duplicate: True if the same fact was recorded already; then nothing is written.
        note: a hint for the recorder, such as a game that takes the rating of a list away; mostly None.
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
            MalformedError: it is not a size and 64 hexadecimal digits.
        """
        words = line.strip() if isinstance(line, str) else line
        # no more digits than 64 bits hold
        match = re.fullmatch(r"(0|[1-9]\d{0,17}) ([0-9a-f]{64})", words if isinstance(words, str) else "", re.ASCII)
        if match is None:
            raise MalformedError([f"expected 'SIZE ROOT' with 64 hexadecimal digits, got {words!r}"])
        return cls(int(match[1]), bytes.fromhex(match[2]))


# PGN standard 9.8.1 and FIDE Laws of Chess 5.1, 5.2, 9.1 to 9.7: these end a game with a winner, those without one.
WON = frozenset({Termination.CHECKMATE, Termination.RESIGNATION})
DRAWN = frozenset(
    {
        Termination.AGREEMENT,
        Termination.STALEMATE,
        Termination.REPETITION,
        Termination.FIFTY_MOVE,
        Termination.INSUFFICIENT_MATERIAL,
    }
)
# The fewest half-moves from the first position of chess: the Fool's mate; Sam Loyd's stalemate at White's tenth move;
# the same position for the third time (FIDE Laws 9.2); fifty moves of each side (9.3).
FEWEST: Mapping[str, int] = {
    Termination.CHECKMATE: 4,
    Termination.STALEMATE: 19,
    Termination.REPETITION: 8,
    Termination.FIFTY_MOVE: 100,
    Termination.INSUFFICIENT_MATERIAL: 1,
}
_RESULTS: Mapping[str, str] = {
    Outcome.WHITE: "a win of White",
    Outcome.BLACK: "a win of Black",
    Outcome.DRAW: "a draw",
    Outcome.NONE: "a game without a result",
}


def result_fault(outcome: str, termination: str) -> str | None:
    """Return why a game of this result cannot have ended by this termination; None if it can.

    A draw by time is one: who had the time left could not have mated (FIDE Laws 6.9).
    """
    if outcome == Outcome.NONE:
        impossible = termination in WON or termination in DRAWN or termination == Termination.TIME
    else:
        impossible = termination in (WON if outcome == Outcome.DRAW else DRAWN)
    return f"{_RESULTS[outcome]} does not end by {termination}" if impossible else None


def is_impossible(facts: Mapping[str, Any]) -> bool:
    """Return whether no game can have this ``outcome``, ``termination`` and number of ``half_moves``."""
    ending = facts["termination"]
    return bool(result_fault(facts["outcome"], ending) or length_fault(ending, facts.get("half_moves")))


def becomes_drawn_by_time(before: str | None, outcome: str, termination: str) -> bool:
    """Return whether a game becomes a draw by time by its new result alone, which a person must confirm."""
    return outcome == Outcome.DRAW and termination == Termination.TIME and before != Outcome.DRAW


def length_fault(termination: str, half_moves: int | None) -> str | None:
    """Return why a game of this many half-moves cannot have ended so; None if it can or the length is unknown."""
    if half_moves is None:
        return None
    if termination == Termination.UNPLAYED and half_moves:
        return f"a game that was never played has no {half_moves} half-moves"
    fewest = FEWEST.get(termination, 0)
    return f"{termination} takes {fewest} half-moves or more, not {half_moves}" if half_moves < fewest else None
