"""Rating periods: the calendar arithmetic of which period a game belongs to and when a period ends. In UTC, no I/O.

A period is a number of calendar months or of days, or the time between two closed rating runs. Its *closing* is its
last millisecond. The rules are written twice, for one game and for columns of many.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from math import floor
from typing import Any, NamedTuple

from ledger.runtime.lazy import np

DAY_MS = 86_400_000
OPEN = 253_402_300_799_999  # 9999-12-31T23:59:59.999Z: games after the last closed run wait for the next one
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_WEEK_SHIFT = 3  # 1970-01-01 was a Thursday: periods of seven days begin on Mondays


class Calendar(NamedTuple):
    """The division of time into rating periods.

    Attributes:
        days: length in days; 0 for calendar months.
        months: length in calendar months, where days is 0.
        first_month: a month of the year, 1 to 12, in which a period begins.
        by_runs: periods end where rating runs were closed, regardless of the lengths.
        by_event: a tournament lies whole in the period in which it ended.
        gap: with by_event, more days than this without a game end an edition of a tournament.
        longest: with by_event, days that a tournament may last; the games of a longer one lie where they ended.
        included: with by_event, days before the end of a period by which a tournament must be over to lie in it.
        in_force: days after the end of a period until its ratings come into force.
        first_day: with by_event, days that a tournament may last to be rated with the ratings of its first day; the
            games of a longer one with those of the first day of their period; 0: as *longest*.
    """

    days: float = 0.0
    months: float = 1.0
    first_month: float = 1.0
    by_runs: bool = False
    by_event: bool = False
    gap: float = 0.0
    longest: float = 0.0
    included: float = 0.0
    in_force: float = 0.0
    first_day: float = 0.0


MONTHLY = Calendar()


def number(ended_ms: int, calendar: Calendar, runs: Sequence[int] = ()) -> int:
    """Return the number of the rating period that an instant lies in.

    Args:
        ended_ms: milliseconds since 1970.
        calendar: how time is cut.
        runs: the last milliseconds of the closed rating runs, ascending.
    """
    if calendar.by_runs:
        # to the left: a game that ended in the last millisecond of a run is rated by that run
        return bisect_left(runs, ended_ms)
    if calendar.days:
        return (ended_ms // DAY_MS + _WEEK_SHIFT) // int(calendar.days)
    # Not by ``datetime``, which begins with the year 1: of a game of its first days, which programs write that know no
    # date, is asked which list was in force some days before.
    return int(_month_period(months_of(ended_ms // DAY_MS), calendar))


def last_finished_period(day: float, calendar: Calendar) -> float | None:
    """Return the number of the last rating period that is over on *day* (days since 1970); None if runs are closed.

    A list in force from *day* on holds the games up to the end of that period.
    """
    return None if calendar.by_runs else number(floor(day * DAY_MS), calendar) - 1.0


def _month_period(month: Any, calendar: Calendar) -> Any:
    """Return the number of the period of a month, counted from the year 0; for one month or an array of them."""
    # Months are counted from 0, which is January of the year 0; months of a year, as people do, from 1.
    return (month - int(calendar.first_month) + 1) // int(calendar.months)


def closing(period: int, calendar: Calendar, runs: Sequence[int] = ()) -> int:
    """Return the last millisecond of a rating period; ``OPEN`` if no run has closed it yet."""
    if calendar.by_runs:
        return runs[period] if period < len(runs) else OPEN
    if calendar.days:
        return ((period + 1) * int(calendar.days) - _WEEK_SHIFT) * DAY_MS - 1
    month = (period + 1) * int(calendar.months) + int(calendar.first_month) - 1
    # it ends with the last year that can be written, or would after it
    if month >= 10_000 * 12:
        return OPEN
    # Python's calendar begins with the year 1.
    return (datetime(max(month // 12, 1), month % 12 + 1, 1, tzinfo=UTC) - _EPOCH) // timedelta(milliseconds=1) - 1


def beginning(period: int, calendar: Calendar, runs: Sequence[int] = ()) -> int | None:
    """Return the first millisecond of a rating period; None if it lies before the first closed run."""
    if calendar.by_runs:
        return runs[period - 1] + 1 if period else None
    return closing(period - 1, calendar) + 1


def listing(period: int, calendar: Calendar, runs: Sequence[int] = ()) -> int:
    """Return the last millisecond before a period's ratings come into force; ``OPEN`` if no run has closed it yet."""
    last = closing(period, calendar, runs)
    # No instant after 9999 can be written: what would come into force then never does.
    return last if last == OPEN else min(last + int(calendar.in_force) * DAY_MS, OPEN)


def listed(ms: int, calendar: Calendar, runs: Sequence[int] = ()) -> int:
    """Return the number of the rating period whose ratings come into force right after an instant."""
    return number(ms if ms == OPEN else ms - int(calendar.in_force) * DAY_MS, calendar, runs)


def numbers(ended_ms: Any, calendar: Calendar, runs: Sequence[int] = ()) -> Any:
    """Return the number of the rating period of each instant of an int64 array."""
    if calendar.by_runs:
        return np.searchsorted(np.asarray(runs, np.int64), ended_ms, side="left")
    if calendar.days:
        return (ended_ms // DAY_MS + _WEEK_SHIFT) // int(calendar.days)
    # NumPy counts months from January 1970
    months = ended_ms.astype("datetime64[ms]").astype("datetime64[M]").astype(np.int64) + 1970 * 12
    return _month_period(months, calendar)


def closings(ended_ms: Any, calendar: Calendar, runs: Sequence[int] = ()) -> Any:
    """Return the last millisecond of the rating period of each instant of an int64 array."""
    return _of_each(closing, ended_ms, calendar, runs)


def listings(ended_ms: Any, calendar: Calendar, runs: Sequence[int] = ()) -> Any:
    """Return, for each instant of an int64 array, the last millisecond before its period's ratings come into force."""
    return _of_each(listing, ended_ms, calendar, runs)


def _of_each(last: Callable[..., int], ended_ms: Any, calendar: Calendar, runs: Sequence[int]) -> Any:
    # Games share their periods, and a month's end takes Python's calendar: it is asked for once a period.
    periods, places = np.unique(numbers(ended_ms, calendar, runs), return_inverse=True)
    return np.asarray([last(int(period), calendar, runs) for period in periods], np.int64)[places]


def months_of(day: float) -> int:
    """Return the calendar months from the year 0 to the month of *day* (days since 1970). For kernels too."""
    # Days from 1 March of the year 0, so that a leap day is the last of its year; 146097 days are 400 years. It is
    # ``civil_from_days`` of H. Hinnant's "chrono-Compatible Low-Level Date Algorithms": whole numbers alone, for the
    # compiled kernels know no ``datetime``.
    days = floor(day) + 719_468
    cycle = days // 146_097
    days -= cycle * 146_097
    year = (days - days // 1_460 + days // 36_524 - days // 146_096) // 365
    days -= 365 * year + year // 4 - year // 100
    return (cycle * 400 + year) * 12 + (5 * days + 2) // 153 + 2


def year_of(day: float) -> int:
    """Return the calendar year of *day* (days since 1970). For kernels too."""
    return months_of(day) // 12
