"""Days as people write them: which days a text may mean, and what to do where the day and the month may change places.

No file is read here. A day that may be two is never guessed: who imports says the order of the file.
"""

from __future__ import annotations

import re

from ledger.facts.instants import instant_ms

ORDERS = ("dmy", "mdy")  # the day before the month, or the month before the day
OPTION = "--dates"
# Ends what is said of such a day; who cannot be told the order leaves it out.
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


def year_last(text: str) -> tuple[int, int, str] | None:
    """The two numbers and the year of ``04/05/2024``, ``4.5.2024`` or ``4-5-2024``; None for any other text."""
    match = _YEAR_LAST.fullmatch(text)
    return (int(match[1]), int(match[3]), match[4]) if match else None


def with_whole_year(text: str, order: str | None) -> str:
    """``13.05.24`` and ``13-May-24`` as ``13.05.2024`` and ``13-May-2024``; any other text as it is.

    Years of two digits are those of 1970 to 2069: a wrong one lies ahead, and no game of the future is recorded.

    Args:
        text: a day as a spreadsheet shows it.
        order: one of ``ORDERS``, which somebody has said.

    Raises:
        ValueError: nobody has: then 05.04.03 may begin with anything.
    """
    match = _SHORT_YEAR.fullmatch(text)
    if match is None:
        return text
    if order is None:
        raise ValueError(f"has a year of two digits: write YYYY-MM-DD{SAY_ORDER}")
    century = "19" if int(match[3]) >= CENTURY else "20"
    return f"{text[: match.start(3)]}{century}{match[3]}"


def possible_days(text: str, order: str | None = None) -> tuple[str, ...]:
    """The days that a text may mean, ``YYYY-MM-DD``, each once; of a year or a month alone, that.

    Read are ``2024/05/04``, ``2024-05``, ``2024``, ``4.5.2024``, ``May 4, 2024`` and ``4 May 2024``; a month or day of
    ``00`` is not known.

    Args:
        text: a day as a file has it.
        order: one of ``ORDERS`` where it is known which number comes first; that of the only day otherwise.
    """
    tidy = " ".join(text[: MAX_LENGTH + 1].split())
    if len(tidy) > MAX_LENGTH:
        return ()
    if match := _YEAR_FIRST.fullmatch(tidy):
        parts = [match[1]]
        for part in (match[3], match[4]):
            if part is None or not int(part):
                break
            parts.append(f"{int(part):02}")
        return _existing(["-".join(parts)])
    if numbers := year_last(tidy):
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
    return tuple(day for day in days if _exists(day))


def _exists(day: str) -> bool:
    try:
        instant_ms(day)
    except ValueError:
        return False
    return True


def either(days: tuple[str, ...]) -> str:
    """What to say of a text that may mean two days."""
    return f"may be {' or '.join(days)}: write YYYY-MM-DD{SAY_ORDER}"
