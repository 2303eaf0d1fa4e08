"""The player line ``001`` of a FIDE tournament report (TRF16, TRF26): fixed columns to a record, or all its faults.

One line, no file: what the other lines say, and which of the games count, is not known here. What is wrong with a
field on which no game depends is a doubt, not a fault: the games of a player are not lost for a date of birth.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import attrs

FIRST_ROUND = 92  # column of the first round, counted from 1 as in FIDE's table
ROUND_WIDTH = 10
RESULT = 7  # columns from the start of a round to its result
NO_OPPONENT = 0
PLAYED = "1=0"  # results of games at the board; every other letter is a bye, a forfeit or a game under one move
RESULTS = f"{PLAYED}+-WDLHFUZ"
MAX_LENGTH = 10_000  # characters of a line: nearly a thousand rounds
MAX_RATING = 5000
_SAID = 10  # problems of a line

_BIRTH = r"\d{4}(([/.-])(0\d|1[0-2])(\2([0-2]\d|3[01]))?)?"
_RESULT_WORDS = "one of 1 = 0 + - W D L H F U Z, or blank"
# Columns that part two fields; a letter in one of them says that the line is out of step.
_GAPS = (4, 9, 14, 48, 53, 57, 69, 80, 85, 90, 91)
# Columns of which no game depends: sex and title, federation, date of birth, points and place.
_BESIDE_GAMES = (range(10, 14), range(54, 57), range(70, 90))


class Round(NamedTuple):
    """One round of a player.

    Attributes:
        opponent: starting rank of the opponent, 0 for none.
        colour: ``w``, ``b``, or ``-`` for none.
        result: one of ``RESULTS``, in upper case; ``Z`` where the line has a blank.
        is_blank: whether it has one.
    """

    opponent: int
    colour: str
    result: str
    is_blank: bool = False


@attrs.frozen(kw_only=True)
class PlayerLine:
    """One player of a tournament. A text that the line leaves blank is empty, a number is None.

    Attributes:
        rank: starting rank, from 1: the number by which others refer to the player.
        sex: ``m``, ``w`` or empty.
        title: up to three capital letters such as ``GM`` or ``WGM``.
        name: family name, given name.
        rating: points at the start of the tournament; most programs write 0 for an unrated player.
        federation: three capital letters.
        fide_id: digits.
        birth: YYYY/MM/DD; month and day may be 00 or absent. Some programs write dots or hyphens.
        points: by the tournament's own scoring, which may be 3-1-0: rate from results, never from these.
        place: final place, from 1.
        rounds: one for each round that the line reaches.
        doubts: what is wrong with fields that no game needs; such a field is empty or None.
    """

    rank: int
    sex: str
    title: str
    name: str
    rating: int | None
    federation: str
    fide_id: str
    birth: str
    points: float | None
    place: int | None
    rounds: tuple[Round, ...]
    doubts: tuple[str, ...] = ()


class _Fields:
    """The fields of a line by their columns, and what is wrong with them."""

    def __init__(self, line: str) -> None:
        self.line = line
        self.problems: list[str] = []
        self.doubts: list[str] = []

    def blame(self, first: int, last: int, wanted: str) -> None:
        where = f"columns {first}-{last}" if last > first else f"column {first}"
        beside = any(first in columns for columns in _BESIDE_GAMES)
        kind = self.doubts if beside else self.problems
        kind.append(f"{where}: expected {wanted}, got {self.line[first - 1 : last]!r}")

    def text(self, first: int, last: int, pattern: str, wanted: str) -> str:
        """A field without its blanks; empty where it is blank or wrong."""
        value = self.line[first - 1 : last].strip(" ")
        if value and not re.fullmatch(pattern, value, re.ASCII):
            self.blame(first, last, f"{wanted} or blank")
            return ""
        return value

    def whole(self, first: int, last: int, wanted: str) -> int | None:
        value = self.text(first, last, r"\d+", wanted)
        return int(value) if value else None

    def rating(self) -> int | None:
        value = self.whole(49, 52, "a rating")
        if value is not None and value > MAX_RATING:
            self.blame(49, 52, f"a rating of at most {MAX_RATING}")
        return value

    def rank(self) -> int:
        value = self.line[4:8].strip(" ")
        if re.fullmatch(r"\d+", value, re.ASCII) and int(value):
            return int(value)
        self.blame(5, 8, "the starting rank, from 1")
        return 0

    def gap(self, column: int) -> None:
        if self.line[column - 1 : column].strip(" "):
            self.blame(column, column, "a blank between two fields")

    def rounds(self, rank: int) -> Iterator[Round]:
        start = FIRST_ROUND
        while len(self.line) >= start + RESULT or self.line[start - 1 :].strip(" "):
            yield self._round(start, rank)
            start += ROUND_WIDTH

    def _round(self, start: int, rank: int) -> Round:
        for column in (start + 4, start + 6, start + 8, start + 9):
            self.gap(column)
        colour = self.text(start + 5, start + 5, "[wb-]|W|B", "the colour w, b or -").lower()
        result = self.line[start + RESULT - 1 : start + RESULT].strip(" ").upper()
        if result not in RESULTS:
            self.blame(start + RESULT, start + RESULT, _RESULT_WORDS)
        opponent = self.whole(start, start + 3, "an opponent's starting rank, 0000") or NO_OPPONENT
        if rank and opponent == rank:
            self.blame(start, start + 3, "another player than the line's own")
        return Round(opponent, colour or "-", result or "Z", not result)


def player_line(line: str) -> PlayerLine:
    """Read a ``001`` line of TRF16 or TRF26.

    Source: FIDE Tournament Report Files, TRF16 and TRF26, record 001.

    Args:
        line: the line as text, with or without its end.

    Raises:
        ValueError: the line is not such a record; names the wrong fields by their columns, counted from 1.
    """
    if len(line) > MAX_LENGTH:
        raise ValueError(f"a line of {len(line)} characters, more than {MAX_LENGTH}, the limit of a line")
    fields = _Fields(line.rstrip("\r\n"))
    if not re.match(r"001( |$)", fields.line):
        raise ValueError(f"columns 1-3: expected '001', the record of a player, got {fields.line[:4]!r}")
    for column in _GAPS:
        fields.gap(column)
    rank = fields.rank()
    name, fide_id = fields.line[14:47].strip(" "), fields.text(58, 68, r"\d+", "a FIDE number")
    if not name and not fields.line[57:68].strip(" "):
        fields.blame(15, 47, "the player's name, or a FIDE number in columns 58-68")
    points = fields.text(81, 84, r"\d+(\.\d?)?|\.\d", "points such as 3.5")
    read = PlayerLine(
        rank=rank,
        sex=fields.text(10, 10, "[mwMW]", "m or w").lower(),
        title=fields.text(11, 13, "[A-Za-z]+", "a title such as GM or WGM").upper(),
        name=name,
        rating=fields.rating(),
        federation=fields.text(54, 56, "[A-Za-z]{3}", "a federation of three letters").upper(),
        fide_id=fide_id,
        birth=fields.text(70, 79, _BIRTH, "a date of birth YYYY/MM/DD"),
        points=float(points) if points else None,
        place=fields.whole(86, 89, "a place"),
        rounds=tuple(fields.rounds(rank)),
        doubts=tuple(fields.doubts[:_SAID]),
    )
    if fields.problems:
        raise ValueError("; ".join(fields.problems[:_SAID]))
    return read


def player_line_of(line: bytes) -> PlayerLine:
    """Read a ``001`` line as it stands in a file: in UTF-8, or else in Windows-1252.

    FIDE counts columns in characters; some programs count the bytes of UTF-8. A line that is out of step by characters
    is read by bytes.

    Raises:
        ValueError: as ``player_line``, of the line by characters.
    """
    text = decoded(line)
    try:
        return player_line(text)
    except ValueError:
        by_bytes = None if len(text) == len(line) else _read_or_none(line.decode("latin-1"))
        if by_bytes is None:
            raise
    return attrs.evolve(by_bytes, name=by_bytes.name.encode("latin-1").decode(errors="ignore").strip())


def _read_or_none(line: str) -> PlayerLine | None:
    try:
        return player_line(line)
    except ValueError:
        return None


def decoded(line: bytes) -> str:
    """A line of a report as text: UTF-8, or else Windows-1252, in which older programs write."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("cp1252", "replace")
