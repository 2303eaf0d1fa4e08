"""Dates, time controls and clocks as PGN writes them. Nothing here knows of games or tags."""

from __future__ import annotations

import re
from functools import lru_cache

from ledger.facts.instants import instant_ms
from ledger.imports.reading import speed_class

_DATE = re.compile(r"(\d{4})(?:[./-](\d\d?|\?+)(?:[./-](\d\d?|\?+))?)?", re.ASCII)
_CONTROL = re.compile(r"(?:\d+/)?(\d+(?:\.\d+)?)(?:\+(\d+(?:\.\d+)?))?(?::.*)?", re.ASCII)
_CORRESPONDENCE = re.compile(r"1/\d{5,}", re.ASCII)  # one move in a day or more
_SIMPLE_CONTROL = re.compile(r"(\d+)(?:\+(\d+))?", re.ASCII)


@lru_cache(maxsize=4096)
def clock_of(control: str, site: str) -> tuple[int | None, int, str | None]:
    """Base and increment in seconds where the whole game has one period, else (None, 0); and the speed."""
    if _CORRESPONDENCE.fullmatch(control) or (control == "-" and site == "lichess"):
        return None, 0, "correspondence"
    simple, first = _SIMPLE_CONTROL.fullmatch(control[:32]), _CONTROL.fullmatch(control[:128])
    speed = speed_class(float(first[1]), float(first[2] or 0)) if first else None
    return (int(simple[1]), int(simple[2] or 0), speed) if simple else (None, 0, speed)


@lru_cache(maxsize=16384)
def seconds_of(clock: str) -> float:
    """``0:03:00`` is 180; whatever closes the comment may follow."""
    total = 0.0
    for part in clock.removesuffix("]}").split(":"):
        total = total * 60 + float(part)
    return total


@lru_cache(maxsize=8192)
def day_of(date: str) -> str | None:
    """A PGN date with what is known of it: ``2013.??.??`` is 2013; None where not even the year is.

    Raises:
        ValueError: it is no date, or there is no such day.
    """
    if date.startswith("?") or not date:
        return None
    match = _DATE.fullmatch(date)
    if match is None:
        raise ValueError(f"{date!r} is not YYYY.MM.DD")
    known = [match[1]]
    for part in match.groups()[1:]:
        if part is None or part[0] == "?" or not int(part):
            break
        known.append(f"{int(part):02}")
    if known == ["0000"]:
        return None
    day = "-".join(known)
    try:
        instant_ms(day)
    except ValueError:
        raise ValueError(f"there is no day {date!r}") from None
    return day
