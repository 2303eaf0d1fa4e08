"""Instants as text, which say how much of a time is known: a date in an old score may be only a year. No I/O.

The forms: ``2013``, ``2013-06``, ``2013-06-04``, ``2013-06-04T19:30:00Z`` or ``2013-06-04T19:30:00.250Z``, always
UTC, one spelling for each. Whole columns of instants and rounds have the same meaning; a test compares them.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from ledger.errors import MalformedError
from ledger.runtime.lazy import pl

if TYPE_CHECKING:
    from polars import Series


class Precision(StrEnum):
    """The precision of an instant: the parts of it that are known."""

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
# A fraction of zeros is refused, so that an instant has one spelling.
_INSTANT = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d):(\d\d):(\d\d)(?:\.(?!000)(\d\d\d))?Z)?)?)?", re.ASCII)
# Whole milliseconds are counted from here: ``timestamp()`` would be a float.
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


@lru_cache(maxsize=4096)  # an instant is asked for when an event is built, judged and folded in
def instant_ms(text: str) -> int:
    """Return the first millisecond since 1970-01-01T00:00:00Z that an instant may mean (negative before 1970).

    Raises:
        MalformedError: *text* is not one of the five forms, or no such day or time exists.
    """
    match = _INSTANT.fullmatch(text)
    if match is None:
        raise MalformedError([f"expected {INSTANT_FORMS} in UTC, got {text!r}"])
    year, month, day, hour, minute, second, milli = match.groups()
    try:
        moment = datetime(
            int(year),
            int(month or 1),
            int(day or 1),
            int(hour or 0),
            int(minute or 0),
            int(second or 0),
            int(milli or 0) * 1000,
            tzinfo=UTC,
        )
    except ValueError:
        raise MalformedError([f"no such day or time: {text!r}; correct it, or leave out what is not known"]) from None
    return (moment - _EPOCH) // _MILLISECOND


def without_zero_fraction(text: str) -> str:
    """Return an instant without a fraction of zeros, which many programs write: ``…00.000Z``; else as it is."""
    return text[:19] + "Z" if text[19:] == ".000Z" else text


def instant_end_ms(text: str) -> int:
    """Return the last millisecond since 1970 that an instant may mean: the end of its year, month, day or second."""
    start = instant_ms(text)
    how = precision(text)
    if how is Precision.YEAR:
        # Nothing after the year 9999 can be written: the first instant of the last year represents its end.
        return instant_ms(f"{int(text) + 1:04}") - 1 if text < "9999" else start
    if how is Precision.MONTH:
        year, month = int(text[:4]), int(text[5:7])
        return instant_ms(f"{year + month // 12:04}-{month % 12 + 1:02}") - 1 if text < "9999-12" else start
    return start + {Precision.DAY: 86_400_000, Precision.SECOND: 1_000, Precision.MILLISECOND: 1}[how] - 1


def precision(text: str) -> Precision:
    """Return the precision of a well-formed instant."""
    return PRECISION_BY_LENGTH[len(text)]


def instant_text(ms: int, precision: Precision = Precision.MILLISECOND) -> str:
    """Return the instant *ms* milliseconds after 1970 at the given precision; a zero fraction is not written."""
    moment = _EPOCH + timedelta(milliseconds=ms)
    if precision is Precision.YEAR:
        return f"{moment.year:04}"
    day = f"{moment.year:04}-{moment.month:02}"
    if precision is Precision.MONTH:
        return day
    day = f"{day}-{moment.day:02}"
    if precision is Precision.DAY:
        return day
    fraction = f".{moment.microsecond // 1000:03}" if ms % 1000 and precision is Precision.MILLISECOND else ""
    return f"{day}T{moment.hour:02}:{moment.minute:02}:{moment.second:02}{fraction}Z"


def is_before(ended: str, started: str) -> bool:
    """Return whether one instant lies before another for certain, as far as both are known."""
    # Texts compare as instants do, for each form begins the finer ones: but
    # within one second, 00Z sorts behind 00.001Z
    if len(ended) >= 20 and ended[:19] == started[:19]:
        return instant_ms(ended) < instant_ms(started)
    shared = min(len(ended), len(started), 19)
    return ended[:shared] < started[:shared]


# What completes a text of this many characters to its first millisecond.
_REST = {4: "-01-01T00:00:00.000", 7: "-01T00:00:00.000", 10: "T00:00:00.000"}


def instant_ms_column(texts: Series) -> Series:
    """Return the milliseconds since 1970 of each well-formed instant (Int64); null for null and impossible days."""
    # a column that a source leaves blank: spared as a whole
    if texts.null_count() == len(texts):
        return pl.Series("text", [None], pl.Int64).new_from_index(0, len(texts))
    text = pl.col("text")
    length = text.str.len_bytes()
    # One format for all rows: with several the parser would be asked once for each, and each time for all rows.
    whole = pl.when(length == 20).then(text.str.slice(0, 19) + ".000").otherwise(text.str.slice(0, 23))
    for characters, rest in _REST.items():
        whole = pl.when(length == characters).then(text + rest).otherwise(whole)
    moment = whole.str.to_datetime("%Y-%m-%dT%H:%M:%S%.3f", time_unit="ms", strict=False)
    # The parser takes second 60 and the year 0; the calendar of ``facts.instants`` has neither.
    exists = (text.str.slice(17, 2) != "60") & (moment.dt.year() > 0)
    return texts.to_frame("text").select(pl.when(exists).then(moment.dt.epoch("ms")))["text"]


def round_order_column(rounds: Series) -> Series:
    """Return ``words.round_order`` of each round (Int64)."""
    # Games share their rounds: each is read once.
    parts = pl.col("round").str.extract_groups(r"^([0-9]{1,6})(?:\.([0-9]{1,6}))?(?:\.([0-9]{1,6}))?$")
    numbers = [parts.struct.field(str(i)).cast(pl.Int64).fill_null(0) for i in (1, 2, 3)]
    order = numbers[0] * 10**12 + numbers[1] * 10**6 + numbers[2]
    distinct = rounds.to_frame("round").unique()
    orders = distinct.with_columns(order=order)
    return (
        rounds.to_frame("round")
        .join(orders, on="round", how="left", nulls_equal=True, maintain_order="left")["order"]
        .fill_null(0)
    )
