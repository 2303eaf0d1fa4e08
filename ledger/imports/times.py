"""Parsers of days, clocks and time controls as people and files write them.

No file is read here. A day of which day and month may change places is never guessed: who imports says the order of
the file. Time controls are read in PGN's code.
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import datetime, timedelta
from functools import lru_cache

from ledger.facts.instants import instant_ms
from ledger.imports.reading import speed_class

_FARTHEST_ZONE = 14  # hours from UTC

ORDERS = ("dmy", "mdy")  # the day before the month, or the month before the day
OPTION = "--dates"
# Ends the message about such a day; left out if the order cannot be given.
SAY_ORDER = f", or say by {OPTION} dmy or {OPTION} mdy whether the day or the month comes first"
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_SEP = r"\s*([/.-])\s*"
_YEAR_FIRST = re.compile(rf"(\d{{4}})(?:{_SEP}(\d\d?)(?:\s*\2\s*(\d\d?))?)?", re.ASCII)
_YEAR_LAST = re.compile(rf"(\d\d?){_SEP}(\d\d?)\s*\2\s*(\d{{4}})", re.ASCII)
_MONTH_NAMED = re.compile(r"([A-Za-z]{3,9})\.? (\d\d?)(?:st|nd|rd|th)?,? (\d{4})", re.ASCII)
_DAY_FIRST_NAMED = re.compile(r"(\d\d?)(?:st|nd|rd|th|\.)?[ -]([A-Za-z]{3,9})\.?,?[ -](\d{4})", re.ASCII)
_SHORT_YEAR = re.compile(rf"(\d\d?)(?:{_SEP}(?:\d\d?)\s*\2\s*|[ -][A-Za-z]{{3,9}}[ -])(\d\d)", re.ASCII)
MAX_LENGTH = 40  # characters of a day
CENTURY = 70  # a year of two digits from here on is one of 1900


def split_numeric_day(text: str) -> tuple[int, int, str] | None:
    """Return the two numbers and the year of ``04/05/2024``, ``4.5.2024`` or ``4-5-2024``; None for other texts."""
    match = _YEAR_LAST.fullmatch(text)
    return (int(match[1]), int(match[3]), match[4]) if match else None


def with_century(text: str, order: str | None) -> str:
    """Return ``13.05.24`` as ``13.05.2024`` and ``13-May-24`` as ``13-May-2024``; any other text as it is.

    Years of two digits are those of 1970 to 2069: a wrong one lies ahead, and no game of the future is recorded.

    Args:
        text: a day as a spreadsheet shows it.
        order: one of ``ORDERS``, from the user.

    Raises:
        ValueError: there is no order: then 05.04.03 may begin with any of the three.
    """
    match = _SHORT_YEAR.fullmatch(text)
    if match is None:
        return text
    if order is None:
        raise ValueError(f"has a year of two digits: write YYYY-MM-DD{SAY_ORDER}")
    century = "19" if int(match[3]) >= CENTURY else "20"  # as POSIX reads %y, but for one year
    return f"{text[: match.start(3)]}{century}{match[3]}"


def possible_days(text: str, order: str | None = None) -> tuple[str, ...]:
    """Return the days that a text may mean, as ``YYYY-MM-DD``; of a year or a month alone, that.

    Read are ``2024/05/04``, ``2024-05``, ``2024``, ``4.5.2024``, ``May 4, 2024`` and ``4 May 2024``; a month or day of
    ``00`` is not known.

    Args:
        text: a day as a file has it.
        order: one of ``ORDERS`` if it is known which number comes first; that of the only day otherwise.
    """
    tidy = " ".join(text[: MAX_LENGTH + 1].split())  # cut first: a cell may be as long as a row
    if len(tidy) > MAX_LENGTH:
        return ()
    if match := _YEAR_FIRST.fullmatch(tidy):
        parts = [match[1]]
        for part in (match[3], match[4]):
            # A month or a day of zeros says that it is not known.
            if part is None or not int(part):
                break
            parts.append(f"{int(part):02}")
        return _existing(["-".join(parts)])
    if numbers := split_numeric_day(tidy):
        first, second, year = numbers
        days = {"dmy": f"{year}-{second:02}-{first:02}", "mdy": f"{year}-{first:02}-{second:02}"}
        return _existing(dict.fromkeys([days[order]] if order else days.values()))
    for pattern, day, month in ((_MONTH_NAMED, 2, 1), (_DAY_FIRST_NAMED, 1, 2)):
        match = pattern.fullmatch(tidy)
        if match and match[month][:3].casefold() in _MONTHS:
            number = _MONTHS.index(match[month][:3].casefold()) + 1
            return _existing([f"{match[3]}-{number:02}-{int(match[day]):02}"])
    return ()


def _existing(days: list[str] | dict[str, None]) -> tuple[str, ...]:
    existing = []
    for day in days:
        with suppress(ValueError):
            instant_ms(day)
            existing.append(day)
    return tuple(existing)


def ambiguous_day_fault(days: tuple[str, ...]) -> str:
    """Return the message about a text that may mean two days."""
    return f"may be {' or '.join(days)}: write YYYY-MM-DD{SAY_ORDER}"


_DATE = re.compile(r"(\d{4})(?:[./-](\d\d?|\?+)(?:[./-](\d\d?|\?+))?)?", re.ASCII)
_CONTROL = re.compile(r"(?:\d+/)?(\d+(?:\.\d+)?)(?:\+(\d+(?:\.\d+)?))?(?::.*)?", re.ASCII)
_CORRESPONDENCE = re.compile(r"1/\d{5,}", re.ASCII)  # one move in a day or more
_SIMPLE_CONTROL = re.compile(r"(\d+)(?:\+(\d+))?", re.ASCII)


@lru_cache(maxsize=4096)
def parse_time_control(control: str, site: str) -> tuple[int | None, int, str | None]:
    """Return the seconds and increment of a PGN time control, (None, 0) for several periods; and the speed class."""
    # Elsewhere than on Lichess "-" says that no time control was in use (PGN 9.6.1): a game at leisure, of no speed.
    if _CORRESPONDENCE.fullmatch(control) or (control == "-" and site == "lichess"):
        return None, 0, "correspondence"
    simple, first = _SIMPLE_CONTROL.fullmatch(control[:32]), _CONTROL.fullmatch(control[:128])
    speed = speed_class(float(first[1]), float(first[2] or 0)) if first else None
    return (int(simple[1]), int(simple[2] or 0), speed) if simple else (None, 0, speed)


@lru_cache(maxsize=16384)  # clocks of blitz games are the same few thousand texts
def clock_seconds(clock: str) -> float:
    """Return the seconds of a clock: ``0:03:00`` is 180; the end of the comment may follow."""
    total = 0.0
    for part in clock.removesuffix("]}").split(":"):
        total = total * 60 + float(part)
    return total


@lru_cache(maxsize=8192)
def parse_pgn_date(date: str) -> str | None:
    """Return the known part of a PGN date: ``2013.??.??`` is 2013; None if not even the year is known.

    Raises:
        ValueError: it is no date, or there is no such day.
    """
    if date.startswith("?") or not date:
        return None
    match = _DATE.fullmatch(date)
    if match is None:
        raise ValueError(f"{date!r} is not YYYY.MM.DD")
    parts = [match[1]]
    for part in match.groups()[1:]:
        if part is None or part[0] == "?" or not int(part):
            break
        parts.append(f"{int(part):02}")
    # A year of zeros says that not even the year is known.
    if parts == ["0000"]:
        return None
    day = "-".join(parts)
    try:
        instant_ms(day)
    except ValueError:
        raise ValueError(f"there is no day {date!r}") from None
    return day


def to_utc(day: str, time: str, offset: str) -> str:
    """Return the UTC instant of a day, a time of the day and an offset such as ``+02:00``, ``-0530`` or ``+2``.

    Raises:
        ValueError: there is no such time or offset, or no such year.
    """
    digits = offset[1:].replace(":", "").rjust(2, "0").ljust(4, "0")
    shift = timedelta(hours=int(digits[:2]), minutes=int(digits[2:4]))
    if shift > timedelta(hours=_FARTHEST_ZONE) or int(digits[2:4]) > 59:
        raise ValueError(f"there is no offset {offset}")
    try:
        moment = datetime.fromisoformat(f"{day}T{time}") + (-shift if offset[0] == "+" else shift)
    except OverflowError:
        raise ValueError("there is no such year") from None
    return f"{moment.isoformat(timespec='seconds')}Z"
