"""The words of the trade as types: outcomes, terminations, instants, receipts, tree heads. No I/O, no JSON.

An *instant* is kept as text, because a date in an old score may be only a year: ``2013``, ``2013-06``,
``2013-06-04``, ``2013-06-04T19:30:00Z`` or ``2013-06-04T19:30:00.250Z``, always UTC, one spelling for each.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

import attrs


class Outcome(StrEnum):
    """Who won, always named by colour. ``NONE``: the game ended without a result (``*``)."""

    WHITE = "white"
    DRAW = "draw"
    BLACK = "black"
    NONE = "none"


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


class Standing(StrEnum):
    """A player's standing with the site (ChessWorld FAQ: guests play unrated, except against Welcomers)."""

    FULL = "full"
    GUEST = "guest"
    WELCOMER = "welcomer"


class Carry(StrEnum):
    """What players bring along where a pool's scheme changes."""

    KEEP = "keep"  # the rating and the number of games
    RESTART = "restart"  # nothing: everybody begins anew
    CONVERT = "convert"  # the rating by a stated linear map, and the number of games


class Precision(StrEnum):
    """How much of an instant is known."""

    YEAR = "year"
    MONTH = "month"
    DAY = "day"
    SECOND = "second"
    MILLISECOND = "millisecond"


PRECISION_BY_LENGTH = {
    4: Precision.YEAR,
    7: Precision.MONTH,
    10: Precision.DAY,
    20: Precision.SECOND,
    24: Precision.MILLISECOND,
}
INSTANT_FORMS = "YYYY, YYYY-MM, YYYY-MM-DD, YYYY-MM-DDThh:mm:ssZ or YYYY-MM-DDThh:mm:ss.mmmZ"
_INSTANT = re.compile(
    r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d):(\d\d):(\d\d)(?:\.(?!000)(\d\d\d))?Z)?)?)?", re.ASCII
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_ROUND = re.compile(r"(\d{1,6})(?:\.(\d{1,6}))?(?:\.(\d{1,6}))?", re.ASCII)


@lru_cache(maxsize=4096)  # an instant is asked for when an event is built, judged and folded in
def instant_ms(text: str) -> int:
    """Milliseconds since 1970-01-01T00:00:00Z of the first moment that *text* may mean (negative before 1970).

    Raises:
        ValueError: *text* is not one of the five forms, or no such day or time exists.
    """
    match = _INSTANT.fullmatch(text)
    if match is None:
        raise ValueError(f"expected {INSTANT_FORMS} in UTC, got {text!r}")
    year, month, day, hour, minute, second, milli = match.groups()
    try:
        moment = datetime(
            int(year), int(month or 1), int(day or 1), int(hour or 0), int(minute or 0), int(second or 0),
            int(milli or 0) * 1000, tzinfo=UTC,
        )  # fmt: skip
    except ValueError:
        raise ValueError(f"no such day or time: {text!r}") from None
    return (moment - _EPOCH) // _MILLISECOND


def instant_end_ms(text: str) -> int:
    """Milliseconds since 1970 of the last moment that *text* may mean: the end of the year, month, day or second."""
    start = instant_ms(text)
    known = precision(text)
    if known is Precision.YEAR:
        return instant_ms(f"{int(text) + 1:04}") - 1 if text < "9999" else start
    if known is Precision.MONTH:
        year, month = int(text[:4]), int(text[5:7])
        return instant_ms(f"{year + month // 12:04}-{month % 12 + 1:02}") - 1 if text < "9999-12" else start
    return start + {Precision.DAY: 86_400_000, Precision.SECOND: 1_000, Precision.MILLISECOND: 1}[known] - 1


def precision(text: str) -> Precision:
    """How much of a well-formed instant is known."""
    return PRECISION_BY_LENGTH[len(text)]


def instant_text(ms: int, known: Precision = Precision.MILLISECOND) -> str:
    """The instant *ms* milliseconds after 1970 at the given precision; a zero fraction is not written."""
    moment = _EPOCH + timedelta(milliseconds=ms)
    if known is Precision.YEAR:
        return f"{moment.year:04}"
    day = f"{moment.year:04}-{moment.month:02}"
    if known is Precision.MONTH:
        return day
    day = f"{day}-{moment.day:02}"
    if known is Precision.DAY:
        return day
    fraction = f".{moment.microsecond // 1000:03}" if ms % 1000 and known is Precision.MILLISECOND else ""
    return f"{day}T{moment.hour:02}:{moment.minute:02}:{moment.second:02}{fraction}Z"


def round_order(text: str | None) -> int:
    """A number that sorts rounds as people do: ``2`` before ``10``, ``3.1`` before ``3.2``; unknown rounds first.

    Up to three numbers divided by full stops count; anything else ("Final", missing) gives 0.
    """
    match = _ROUND.fullmatch(text) if text else None
    if match is None:
        return 0
    major, minor, third = (int(part or 0) for part in match.groups())
    return major * 10**12 + minor * 10**6 + third


class Receipt(NamedTuple):
    """What the journal answers to an accepted entry.

    Attributes:
        position: place in the journal, from 1; of the first recording where this was a repeat.
        key: the entry's own identity.
        leaf: SHA-256 leaf hash of the entry, 32 bytes.
        duplicate: True when the same fact stood there already; nothing was written then.
    """

    position: int
    key: str
    leaf: bytes
    duplicate: bool


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
