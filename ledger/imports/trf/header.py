"""What the lines of a report say of the whole tournament: its name, its days, those of its rounds, its time control.

Only what games need is read. Lines of players are in ``player_lines``; all other lines are counted and passed over,
those of federations, of teams and of later versions among them.
"""

from __future__ import annotations

import re
from collections import Counter

import attrs

from ledger.facts.words import USUALLY_BRINGS, Brings
from ledger.imports.csv.values import time_control
from ledger.imports.days import CENTURY, either, possible_days
from ledger.imports.lichess import MAX_EVENT, MAX_UNTIDY, one_line
from ledger.imports.trf.player_lines import FIRST_ROUND, ROUND_WIDTH, decoded
from ledger.imports.trf.time_controls import speed_in_words

PLAYER = b"001"
# Records of which a tournament has one each: met again after the players, they begin the next tournament.
UNIQUE = ("012", "022", "032", "042", "052", "062", "072", "082", "092", "132")
_READ = frozenset({"012", "042", "052", "092", "132", "122", "162", "222", "BBU", "XXS"})
_KNOWN = _READ | {*UNIQUE, "102", "112", "142", "152", "172", "182", "192", "202", "212"}
_SAID = 8  # kinds of lines that are named
_FORMATS = (
    (re.compile(r"swiss", re.IGNORECASE), "swiss"),
    (re.compile(r"round[ -]?robin|all[ -]play[ -]all|berger", re.IGNORECASE), "all-play-all"),
    (re.compile(r"knock[ -]?out", re.IGNORECASE), "knockout"),
)
_TEAMS = ("013", "310", "320", "330")  # in a report of teams 162 scores matches, not games
# What an allotted bye brings, in points: TRF26's 162, JaVaFo's XXS, bbpPairings' BBU.
_ALLOTTED = (
    ("162", re.compile(r"\bP\s+(\d\.\d)\b")),
    ("XXS", re.compile(r"\bPAB\s*=\s*(\d\.\d)\b")),
    ("BBU", re.compile(r"^\s*(\d\.\d)\b")),
)
_OTHER_WINS = re.compile(r"\bW\s+(?!1\.0)\d")
_SHORT_YEAR = re.compile(r"(\d\d)([/.-])(\d\d)\2(\d\d)", re.ASCII)
_HANDICAP = re.compile(r"W([^-]+)-B(.+)", re.ASCII | re.IGNORECASE)
_SPEEDS = ("ultraBullet", "bullet", "blitz", "rapid", "classical", "correspondence")


@attrs.define
class Header:
    """The records of one tournament that are not players, as far as they were met.

    Attributes:
        line: where it begins.
        records: line and text of each record that is read, without its three characters; of several, the first.
        met: which of ``UNIQUE`` stood there.
        passed_over: how many lines of each other kind.
        first_passed_over: the first of these lines, 0 where there is none.
    """

    line: int
    records: dict[str, tuple[int, str]] = attrs.Factory(dict)
    met: set[str] = attrs.Factory(set)
    passed_over: Counter[str] = attrs.Factory(Counter)
    first_passed_over: int = 0

    def take(self, number: int, raw: bytes) -> None:
        """Take one line that is no player's."""
        text = decoded(raw).rstrip("\r\n\x1a")
        kind = text[:3]
        if kind in _READ:
            self.records.setdefault(kind, (number, text[3:]))
        if kind in UNIQUE:
            self.met.add(kind)
        if kind not in _KNOWN and kind != "###":
            self.first_passed_over = self.first_passed_over or number
            name = kind if re.fullmatch(r"[0-9A-Z]{3}", kind, re.ASCII) else "other lines"
            self.passed_over[name if len(self.passed_over) < 100 else "other lines"] += 1

    def text(self, kind: str) -> str:
        """What a record says, as one line; empty where it is missing."""
        _, given = self.records.get(kind, (0, ""))
        return one_line(given[:MAX_UNTIDY])

    def name(self) -> str | None:
        """The tournament's name (012), cut to what a game may carry; None where there is none."""
        return self.text("012")[:MAX_EVENT].strip() or None

    def format(self) -> str | None:
        """How it is paired, by the words of 092."""
        return next((kind for pattern, kind in _FORMATS if pattern.search(self.text("092"))), None)

    def allotted(self) -> int:
        """What a bye for want of an opponent brings, half points: what the report says of it, else 2.

        Where a win brings another number than 1 its scoring is not ours, and what it says of byes is not used.
        """
        usual = USUALLY_BRINGS[Brings.ALLOTTED]
        if _OTHER_WINS.search(self.text("162")) or any(self.passed_over[kind] for kind in _TEAMS):
            return usual
        for kind, pattern in _ALLOTTED:
            if match := pattern.search(self.text(kind)):
                points = 2 * float(match[1])
                return int(points) if points == int(points) else usual
        return usual

    def speed(self) -> str | None:
        """The speed class of the coded time control (222); None where there is none.

        Raises:
            ValueError: it is not in TRF26's code.
        """
        given = self.text("222")
        handicap = _HANDICAP.fullmatch(given)
        speeds = [time_control(part) for part in (handicap.groups() if handicap else (given,))]
        return max((speed for speed in speeds if speed), key=_SPEEDS.index, default=None)

    def speed_in_words(self) -> str | None:
        """The speed class of the time control in words (122); None where there is none.

        Raises:
            ValueError: it has no meaning that is plain.
        """
        return speed_in_words(self.text("122"))

    def words_passed_over(self) -> str:
        """Which lines were passed over, and how many of each."""
        kinds = [f"{kind} ({count:,})" for kind, count in sorted(self.passed_over.items())]
        more = f" and {len(kinds) - _SAID} more kinds" if len(kinds) > _SAID else ""
        return f"{', '.join(kinds[:_SAID])}{more}"


@attrs.frozen
class Days:
    """When a tournament was played.

    Attributes:
        first, last: its days (042, 052), as precise as they are written; None where they are not.
        rounds: by number of the round, its day (132).
    """

    first: str | None
    last: str | None
    rounds: dict[int, str]


def days_of(header: Header, order: str | None) -> tuple[Days | None, list[tuple[int, str]], list[tuple[int, str]]]:
    """The days of a tournament, what is wrong with them, and what should be looked at, each with its line.

    Args:
        header: the records.
        order: one of ``days.ORDERS`` where somebody said which number of ``04/05/2024`` comes first.
    """
    given = {kind: header.records[kind] for kind in ("042", "052") if header.text(kind)}
    pairs: set[tuple[str | None, str | None]]
    if {"042", "052"} <= given.keys() and order is None:
        pairs = {
            (first, last)
            for form in ("dmy", "mdy")
            for first in possible_days(given["042"][1], form)
            for last in possible_days(given["052"][1], form)
            if first <= last or last.startswith(first) or first.startswith(last)
        }
    else:
        firsts: tuple[str | None, ...] = possible_days(given["042"][1], order) if "042" in given else (None,)
        lasts: tuple[str | None, ...] = possible_days(given["052"][1], order) if "052" in given else (None,)
        pairs = {(first, last) for first in firsts for last in lasts if not (first and last and first > last)}
    if len(pairs) != 1:
        return None, [_wrong_days(given, order, pairs)], []
    ((first, last),) = pairs
    rounds, doubts = _round_days(header, first, last)
    return Days(first, last, rounds), [], doubts


def _wrong_days(
    given: dict[str, tuple[int, str]], order: str | None, pairs: set[tuple[str | None, str | None]]
) -> tuple[int, str]:
    """Why the two days cannot be read."""
    line, _ = next(iter(given.values()))
    words = " and ".join(f"{kind} {text.strip()[:40]!r}" for kind, (_, text) in given.items())
    for kind, (at, text) in given.items():
        if not possible_days(text, order):
            return at, f"{kind} {text.strip()[:40]!r} is no day: write YYYY/MM/DD"
    if pairs:
        spans = sorted({day for pair in pairs for day in pair if day})
        return line, f"{words}: {either(tuple(spans[:1] + spans[-1:]))}"
    return line, f"{words}: the tournament ended before it began; correct one of the two"


def _round_days(header: Header, first: str | None, last: str | None) -> tuple[dict[int, str], list[tuple[int, str]]]:
    line, text = header.records.get("132", (0, ""))
    whole = f"132{text}"
    found: dict[int, str] = {}
    doubts: list[tuple[int, str]] = []
    for number, start in enumerate(range(FIRST_ROUND - 1, len(whole), ROUND_WIDTH), 1):
        cell = whole[start : start + ROUND_WIDTH].strip()
        if not cell:
            continue
        day = _round_day(cell, first or last)
        if day is None:
            doubts.append((line, f"132: round {number} has {cell!r}, which is no day YY/MM/DD: not used"))
            continue
        found[number] = day
        if (first and day < first) or (last and day > last and not day.startswith(last)):
            doubts.append((line, f"132: round {number} was played on {day}, outside {first or '?'} to {last or '?'}"))
    return found, doubts


def _round_day(cell: str, near: str | None) -> str | None:
    """A day of 132, written YY/MM/DD or YYYY/MM/DD; of two digits, the year that is next to the tournament's."""
    match = _SHORT_YEAR.fullmatch(cell)
    if match:
        years = [f"{century}{match[1]}" for century in ("19", "20", "21")]
        usual = years[0] if int(match[1]) >= CENTURY else years[1]
        year = min(years, key=lambda year: abs(int(year) - int(near[:4]))) if near else usual
        cell = f"{year}/{match[3]}/{match[4]}"
    days = possible_days(cell)
    return days[0] if len(days) == 1 and len(days[0]) == 10 else None
