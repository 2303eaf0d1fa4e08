"""The lines of a FIDE tournament report (TRF16, TRF26): players' lines, and the tournament's other records.

Which of the games count is not known here. What is wrong with a field of a player's line (``001``) on which no game
depends is a doubt, not a fault: the games of a player are not lost for a date of birth. The other lines say of the
whole tournament its name, its days, those of its rounds, its arbiters, its time control; lines of teams are read
together (``trf.teams``); lines of federations and of later versions are counted and passed over.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import NamedTuple

import attrs

from ledger.facts.player_details import OLD_TITLES
from ledger.facts.source_games import SourceNational
from ledger.facts.words import USUALLY_BRINGS, Brings, Colour
from ledger.imports.csv.rows import decode_text
from ledger.imports.csv.values import parse_time_control
from ledger.imports.lichess import one_line
from ledger.imports.reading import MAX_EVENT, MAX_UNTIDY, SPEEDS
from ledger.imports.times import CENTURY, ambiguous_day_fault, possible_days

FIRST_ROUND = 92  # column of the first round, counted from 1 as in FIDE's table
ROUND_WIDTH = 10
RESULT = 7  # columns from the start of a round to its result
NO_OPPONENT = 0
PLAYED = "1=0"  # results of games at the board; every other letter is a bye, a forfeit or a game under one move
RESULTS = f"{PLAYED}+-WDLHFUZ"
MAX_LENGTH = 10_000  # characters of a line: nearly a thousand rounds
MAX_RATING = 5000
_NAMED_PROBLEMS = 10  # problems of a line

_BIRTH = r"\d{4}(([/.-])(0\d|1[0-2])(\2([0-2]\d|3[01]))?)?"
_RESULT_WORDS = "one of 1 = 0 + - W D L H F U Z, or blank"
# Columns that divide two fields; a letter in one of them says that the line is out of step.
_GAPS = (4, 9, 14, 48, 53, 57, 69, 80, 85, 90, 91)
# Columns of which no game depends: sex and title, federation, date of birth, points and place.
_BESIDE_GAMES = (range(10, 14), range(54, 57), range(70, 90))


class RoundCell(NamedTuple):
    """The cell of one round in a player's line: opponent, colour, result.

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
    """A player's line (``001``). A text that the line leaves blank is empty, a number is None.

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
        adjustments: the ways in which the line differs from TRF16, as older programs write it.
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
    rounds: tuple[RoundCell, ...]
    doubts: tuple[str, ...] = ()
    adjustments: tuple[str, ...] = ()

    @property
    def birth_date(self) -> str | None:
        """The date of birth as ``YYYY``, ``YYYY-MM`` or ``YYYY-MM-DD``, as far as it is known."""
        parts = [part for part in re.split(r"[/.-]", self.birth) if part]
        length = next((at for at, part in enumerate(parts) if not int(part)), len(parts))
        return "-".join(parts[:length]) or None


class _Fields:
    """The fields of a line by their columns, and their faults."""

    def __init__(self, line: str) -> None:
        self.line = line
        self.problems: list[str] = []
        self.doubts: list[str] = []
        self.adjustments: list[str] = []

    def blame(self, first: int, last: int, expected: str) -> None:
        where = f"columns {first}-{last}" if last > first else f"column {first}"
        is_unrelated = any(first in columns for columns in _BESIDE_GAMES)
        kind = self.doubts if is_unrelated else self.problems
        kind.append(f"{where}: expected {expected}, got {self.line[first - 1 : last]!r}")

    def text(self, first: int, last: int, pattern: str, expected: str) -> str:
        """Return a field without its blanks; empty if it is blank or wrong."""
        value = self.line[first - 1 : last].strip(" ")
        if value and not re.fullmatch(pattern, value, re.ASCII):
            self.blame(first, last, f"{expected} or blank")
            return ""
        return value

    def adjust(self, words: str) -> None:
        """Note once that the line is written otherwise than TRF16 says."""
        if words not in self.adjustments:
            self.adjustments.append(words)

    def sex(self) -> str:
        """Return m or w; many programs write f for a woman, as federations' lists do."""
        value = self.text(10, 10, "[mwfMWF]", "m or w").lower()
        if value == "f":
            self.adjust("women marked f instead of w")
        return value.replace("f", "w")

    def title(self) -> str:
        """Return a title in the letters of TRF16; TRF06 has g, m, f and c, after a w for women."""
        value = self.text(11, 13, "[A-Za-z]+", "a title such as GM or WGM").upper()
        if value in OLD_TITLES:
            self.adjust("titles as letters (g, m, f)")
        return OLD_TITLES.get(value, value)

    def birth(self) -> str:
        value = self.text(70, 79, _BIRTH, "a date of birth YYYY/MM/DD")
        if value and not re.fullmatch(r"\d{4}/\d\d/\d\d", value, re.ASCII):
            self.adjust("dates of birth not written YYYY/MM/DD")
        return value

    def whole(self, first: int, last: int, expected: str) -> int | None:
        value = self.text(first, last, r"\d+", expected)
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

    def rounds(self, rank: int) -> Iterator[RoundCell]:
        start = FIRST_ROUND
        # Programs leave the blanks of the last rounds away, or write blanks up to a width of their own.
        while len(self.line) >= start + RESULT or self.line[start - 1 :].strip(" "):
            yield self._round(start, rank)
            start += ROUND_WIDTH

    def _round(self, start: int, rank: int) -> RoundCell:
        for column in (start + 4, start + 6, start + 8, start + 9):
            self.gap(column)
        colour = self.text(start + 5, start + 5, "[wb-]|W|B", "the colour w, b or -").lower()
        # TRF takes the letters of results in either case.
        result = self.line[start + RESULT - 1 : start + RESULT].strip(" ").upper()
        if result not in RESULTS:
            self.blame(start + RESULT, start + RESULT, _RESULT_WORDS)
        opponent = self.whole(start, start + 3, "an opponent's starting rank, 0000") or NO_OPPONENT
        if result and not self.line[start - 1 : start + 3].strip(" "):
            self.adjust("byes without the opponent 0000")
        # A rank of 0 could not be read, and was blamed already.
        if rank and opponent == rank:
            self.blame(start, start + 3, "another player than the line's own")
        # A blank result means Z in TRF, but it may also be of a round that is still to come: so the blank is recorded.
        return RoundCell(opponent, colour or "-", result or "Z", not result)


def parse_player_line(line: str) -> PlayerLine:
    """Return the fields of a ``001`` line of TRF16 or TRF26.

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
    # The columns themselves are asked: a FIDE number that is wrong was blamed already, and is empty in ``fide_id``.
    if not name and not fields.line[57:68].strip(" "):
        fields.blame(15, 47, "the player's name, or a FIDE number in columns 58-68")
    points = fields.text(81, 84, r"\d+(\.\d?)?|\.\d", "points such as 3.5")
    read = PlayerLine(
        rank=rank,
        sex=fields.sex(),
        title=fields.title(),
        name=name,
        rating=fields.rating(),
        federation=fields.text(54, 56, "[A-Za-z]{3}", "a federation of three letters").upper(),
        fide_id=fide_id,
        birth=fields.birth(),
        points=float(points) if points else None,
        place=fields.whole(86, 89, "a place"),
        rounds=tuple(fields.rounds(rank)),
        doubts=tuple(fields.doubts[:_NAMED_PROBLEMS]),
        adjustments=tuple(fields.adjustments),
    )
    if fields.problems:
        raise ValueError("; ".join(fields.problems[:_NAMED_PROBLEMS]))
    return read


def decode_player_line(line: bytes) -> PlayerLine:
    """Return the fields of a ``001`` line in bytes: in UTF-8, or else in Windows-1252.

    FIDE counts columns in characters; some programs count the bytes of UTF-8. A line that is out of step by characters
    is read by bytes.

    Raises:
        ValueError: as ``parse_player_line``, of the line by characters.
    """
    text = decode_text(line)
    try:
        return parse_player_line(text)
    except ValueError:
        if len(text) != len(line):
            with suppress(ValueError):
                by_bytes = parse_player_line(line.decode("latin-1"))
                # A name cut to its columns by bytes may end within a letter, whose first bytes are dropped.
                return attrs.evolve(by_bytes, name=by_bytes.name.encode("latin-1").decode(errors="ignore").strip())
        raise


PLAYER = b"001"
# Records of which a tournament has one each: met again after the players, they begin the next tournament.
UNIQUE = ("012", "022", "032", "042", "052", "062", "072", "082", "092", "132")
# The records that are facts of a tournament in words, by the field of ``tournament-described/1`` and its length.
_DESCRIBED = {
    "022": ("city", 128), "032": ("federation", 32), "092": ("system", 128), "122": ("time_control", 256),
    "222": ("time_code", 128), "162": ("scoring", 128), "172": ("start_order", 128), "182": ("program", 128),
    "192": ("system_code", 128), "202": ("tie_breaks", 256), "212": ("standings_order", 256),
}  # fmt: skip
# These say of a report of teams how matches are paired and scored; its games are those of individuals.
_OF_MATCHES = frozenset({"092", "162", "192", "202", "212"})
_DEPUTY = "112"
_MAX_ARBITER = 128  # characters
_MAX_DEPUTIES = 200
_READ = frozenset(
    {*_DESCRIBED, "012", "042", "052", "062", "072", "082", "102", "132", "142", "152", "362", "BBU", "XXR", "XXS"}
)
_OF_TEAMS = frozenset({"240", "299", "300", "310", "320", "330"})  # all lines of them are read together
MAX_TEAM_LINES = 20_000
_KNOWN = _READ | _OF_TEAMS | {*UNIQUE, _DEPUTY, "352"}
_NAMED_KINDS = 8  # kinds of lines that are named
_FORMATS = (
    (re.compile(r"swiss", re.IGNORECASE), "swiss"),
    (re.compile(r"round[ -]?robin|all[ -]play[ -]all|berger", re.IGNORECASE), "all-play-all"),
    (re.compile(r"knock[ -]?out", re.IGNORECASE), "knockout"),
)
# What an allotted bye brings, in points: TRF26's 162, JaVaFo's XXS, bbpPairings' BBU.
_ALLOTTED = (
    ("162", re.compile(r"\bP\s+(\d\.\d)\b")),
    ("XXS", re.compile(r"\bPAB\s*=\s*(\d\.\d)\b")),
    ("BBU", re.compile(r"^\s*(\d\.\d)\b")),
)
_OTHER_WINS = re.compile(r"\bW\s+(?!1\.0)\d")
# Starting rank, name and number of a player at a federation, in the columns of 001; programs' own records begin with
# XX or BB.
_NATIONAL = re.compile(r"(?!XX|BB)[A-Z]{3} ([ \d]{3}\d)[ ].{4} (.{33}).{10}([ \w/.-]{10}\w)(?: .*)?", re.ASCII)
_MAX_NATIONAL = 10_000
_SHORT_YEAR = re.compile(r"(\d\d)([/.-])(\d\d)\2(\d\d)", re.ASCII)
_HANDICAP = re.compile(r"W([^-]+)-B(.+)", re.ASCII | re.IGNORECASE)


@attrs.define
class TournamentHeader:
    """The records of one tournament that are not players: name, days, time control, scoring.

    Attributes:
        line: where it begins.
        records: line and text of each record that is read, without its three characters; of several, the first.
        met: those of ``UNIQUE`` that were there.
        teams: by kind the lines of teams and of byes, each with its number.
        deputies: the deputy arbiters, each on a line of its own.
        passed_over: how many lines of each other kind.
        first_passed_over: the first of these lines, 0 where there is none.
        national: the numbers of players at their federations, from the lines of TRF26 that begin with its code.
    """

    line: int
    records: dict[str, tuple[int, str]] = attrs.Factory(dict)
    met: set[str] = attrs.Factory(set)
    teams: dict[str, list[tuple[int, str]]] = attrs.Factory(dict)
    deputies: list[str] = attrs.Factory(list)
    passed_over: Counter[str] = attrs.Factory(Counter)
    first_passed_over: int = 0
    national: list[SourceNational] = attrs.Factory(list)

    def add_line(self, number: int, raw: bytes) -> None:
        """Add one line that is not a player's."""
        text = decode_text(raw).rstrip("\r\n\x1a")
        kind = text[:3]
        if kind in _READ:
            self.records.setdefault(kind, (number, text[3:]))
        if kind in _OF_TEAMS and sum(map(len, self.teams.values())) < MAX_TEAM_LINES:
            self.teams.setdefault(kind, []).append((number, text[:MAX_LENGTH]))
        if kind == _DEPUTY and len(self.deputies) < _MAX_DEPUTIES:
            name = one_line(text[3:][:MAX_UNTIDY])[:_MAX_ARBITER].strip()
            self.deputies += [name] if name else []
        if kind in UNIQUE:
            self.met.add(kind)
        national = _NATIONAL.fullmatch(text)
        if national is not None and kind not in _KNOWN and len(self.national) < _MAX_NATIONAL:
            rank, name, register_number = (part.strip() for part in national.groups())
            self.national.append(SourceNational(number, int(rank), one_line(name), register_number))
            return
        # lines of ### are remarks, such as the ruler of columns that programs write above the players
        if kind not in _KNOWN and kind != "###":
            self.first_passed_over = self.first_passed_over or number
            name = kind if re.fullmatch(r"[0-9A-Z]{3}", kind, re.ASCII) else "other lines"
            # any three characters may be there: a file of noise has 46,656 kinds
            self.passed_over[name if len(self.passed_over) < 100 else "other lines"] += 1

    def text(self, kind: str) -> str:
        """Return the text of a record, as one line; empty if it is missing."""
        _, words = self.records.get(kind, (0, ""))
        return one_line(words[:MAX_UNTIDY])

    def name(self) -> str | None:
        """Return the tournament's name (012), cut to the length that a game may carry; None if there is none."""
        return self.text("012")[:MAX_EVENT].strip() or None

    def format(self) -> str | None:
        """Return the pairing system that record 092 names; None if it names none."""
        return next((kind for pattern, kind in _FORMATS if pattern.search(self.text("092"))), None)

    def chief(self) -> str | None:
        """Return the chief arbiter (102); None if there is none."""
        return self.text("102")[:_MAX_ARBITER].strip() or None

    @property
    def is_of_teams(self) -> bool:
        """True for a report of teams, whose 162 may say what a bye brings to a whole team."""
        return bool(self.passed_over["013"] or {"310", "320", "330"} & self.teams.keys())

    def described(self) -> dict[str, str]:
        """Return what the records state, by field of ``tournament-described/1``; of teams what concerns the games."""
        kinds = [kind for kind in _DESCRIBED if not (self.is_of_teams and kind in _OF_MATCHES)]
        words = {name: self.text(kind)[:most].strip() for kind in kinds for name, most in (_DESCRIBED[kind],)}
        colour = {"W": Colour.WHITE, "B": Colour.BLACK}.get(self.text("152").upper())
        stated = {name: text for name, text in words.items() if text}
        return {**stated, "first_colour": colour.value} if colour is not None else stated

    def rounds(self) -> int | None:
        """Return the number of rounds (142, or JaVaFo's XXR); None if there is none."""
        words = self.text("142") or self.text("XXR")
        return int(words) if re.fullmatch(r"\d{1,3}", words, re.ASCII) and int(words) else None

    def counts(self) -> dict[str, int]:
        """Return the numbers of players (062), of rated ones (072) and of teams (082), but zeros."""
        words = {kind: self.text(kind).partition(" ")[0] for kind in ("062", "072", "082")}
        return {kind: int(word) for kind, word in words.items() if re.fullmatch(r"0*[1-9]\d{0,3}", word, re.ASCII)}

    def allotted_half_points(self) -> int:
        """Return the half points of a bye for want of an opponent: by the report, else 2.

        Where a win brings another number than 1 its scoring is not ours, and what it says of byes is not used.
        """
        usual = USUALLY_BRINGS[Brings.ALLOTTED]
        if _OTHER_WINS.search(self.text("162")) or self.is_of_teams:
            return usual
        for kind, pattern in _ALLOTTED:
            if match := pattern.search(self.text(kind)):
                points = 2 * float(match[1])
                return int(points) if points == int(points) else usual
        return usual

    def speed(self) -> str | None:
        """Return the speed class of the coded time control (222); None if there is none.

        Raises:
            ValueError: it is not in TRF26's code.
        """
        code = self.text("222")
        handicap = _HANDICAP.fullmatch(code)
        speeds = [parse_time_control(part) for part in (handicap.groups() if handicap else (code,))]
        return max((speed for speed in speeds if speed), key=SPEEDS.index, default=None)  # the slower side's

    def describe_skipped_lines(self) -> str:
        """Return the kinds of skipped lines in words, and the number of each."""
        kinds = [f"{kind} ({count:,})" for kind, count in sorted(self.passed_over.items())]
        more = f" and {len(kinds) - _NAMED_KINDS} more kinds" if len(kinds) > _NAMED_KINDS else ""
        return f"{', '.join(kinds[:_NAMED_KINDS])}{more}"


@attrs.frozen
class TournamentDays:
    """The days on which a tournament and its rounds were played.

    Attributes:
        first, last: its days (042, 052), as precise as they are written; None where they are not.
        rounds: by number of the round, its day (132).
        unread: by number of the round, what 132 has in the place of a day.
    """

    first: str | None
    last: str | None
    rounds: Mapping[int, str]
    unread: Mapping[int, str] = MappingProxyType({})


def read_days(
    header: TournamentHeader, order: str | None, labels: Mapping[str, str] = MappingProxyType({})
) -> tuple[TournamentDays | None, list[tuple[int, str]], list[tuple[int, str]]]:
    """Return the days of a tournament, their faults, and notes on them, each with its line.

    Args:
        header: the records.
        order: one of ``times.ORDERS`` if the user gave the order of ``04/05/2024``.
        labels: what messages call the two records of days, if not by their numbers.
    """
    records = {kind: header.records[kind] for kind in ("042", "052") if header.text(kind)}
    pairs: set[tuple[str | None, str | None]]
    if {"042", "052"} <= records.keys() and order is None:
        pairs = {
            (first, last)
            for form in ("dmy", "mdy")
            for first in possible_days(records["042"][1], form)
            for last in possible_days(records["052"][1], form)
            # A month or year alone sorts before the days that lie in it.
            if first <= last or last.startswith(first) or first.startswith(last)
        }
    else:
        firsts: tuple[str | None, ...] = possible_days(records["042"][1], order) if "042" in records else (None,)
        lasts: tuple[str | None, ...] = possible_days(records["052"][1], order) if "052" in records else (None,)
        pairs = {(first, last) for first in firsts for last in lasts if not (first and last and first > last)}
    if len(pairs) != 1:
        return None, [_wrong_days(records, order, pairs, labels)], []
    ((first, last),) = pairs
    days, doubts = _round_days(header, first, last)
    return days, [], doubts


def _wrong_days(
    records: dict[str, tuple[int, str]],
    order: str | None,
    pairs: set[tuple[str | None, str | None]],
    labels: Mapping[str, str],
) -> tuple[int, str]:
    """Return why the two days cannot be read."""
    line, _ = next(iter(records.values()))
    words = " and ".join(f"{labels.get(kind, kind)} {text.strip()[:40]!r}" for kind, (_, text) in records.items())
    for kind, (at, text) in records.items():
        if not possible_days(text, order):
            return at, f"day-unreadable: {labels.get(kind, kind)} {text.strip()[:40]!r} is no day: write YYYY/MM/DD"
    if pairs:
        spans = sorted({day for pair in pairs for day in pair if day})
        return line, f"day-unreadable: {words}: {ambiguous_day_fault(tuple(spans[:1] + spans[-1:]))}"
    return line, f"end-before-start: {words}: the tournament ended before it began; correct one of the two"


def _round_days(
    header: TournamentHeader, first: str | None, last: str | None
) -> tuple[TournamentDays, list[tuple[int, str]]]:
    line, text = header.records.get("132", (0, ""))
    whole = f"132{text}"
    by_round: dict[int, str] = {}
    unread: dict[int, str] = {}
    doubts: list[tuple[int, str]] = []
    for number, start in enumerate(range(FIRST_ROUND - 1, len(whole), ROUND_WIDTH), 1):
        cell = whole[start : start + ROUND_WIDTH].strip()
        if not cell:
            continue
        day = _round_day(cell, first or last)
        if day is None:
            doubts.append((line, f"132: round {number} has {cell!r}, which is no day YY/MM/DD: not used"))
            unread[number] = cell
            continue
        by_round[number] = day
        if (first and day < first) or (last and day > last and not day.startswith(last)):
            doubts.append((line, f"132: round {number} was played on {day}, outside {first or '?'} to {last or '?'}"))
    return TournamentDays(first, last, by_round, unread), doubts


def _round_day(cell: str, near: str | None) -> str | None:
    """Return a day of 132, written YY/MM/DD or YYYY/MM/DD; of two digits, the year that is next to the tournament's."""
    match = _SHORT_YEAR.fullmatch(cell)
    if match:
        usual = f"{19 if int(match[1]) >= CENTURY else 20}{match[1]}"
        # of all centuries: Nuremberg was played in 1896
        years = [f"{century:02}{match[1]}" for century in range(100)]
        year = min(years, key=lambda year: abs(int(year) - int(near[:4]))) if near else usual
        cell = f"{year}/{match[3]}/{match[4]}"
    days = possible_days(cell)
    return days[0] if len(days) == 1 and len(days[0]) == 10 else None
