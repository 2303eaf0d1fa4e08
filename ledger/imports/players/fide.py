"""What FIDE's lists have in common: which of three ratings is taken, and what a row gives to ``rows.Converter``.

A list tells rating, K, year of birth; its games are those of the last period, not those behind the rating, and are not
taken. Who has no rating comes in without one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ledger.runtime.lazy import pl

if TYPE_CHECKING:
    from polars import DataFrame

KINDS = ("standard", "rapid", "blitz")
LABELS: Mapping[str, str] = {
    "fide_id": "the FIDE number",
    "name": "the name",
    "rating": "the rating",
    "k_factor": "K",
    "birth_year": "the year of birth",
}
_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")


def month_of(word: str) -> str | None:
    """The first day of a month as lists write it: ``SEP26`` is ``2026-09-01``; None where it is none."""
    name, year = word[:3].upper(), word[3:]
    if name not in _MONTHS or len(year) != 2 or not year.isdecimal():
        return None
    century = 2000 if int(year) < 70 else 1900  # the first list is of 1971
    return f"{century + int(year)}-{_MONTHS.index(name) + 1:02}-01"


def without_strangers(cells: DataFrame) -> DataFrame:
    """K without a rating tells nothing: lists give one to players of other lists."""
    unrated = pl.col("rating").fill_null("").str.strip_chars().is_in(["", "0"])
    return cells.with_columns(k_factor=pl.when(unrated).then(None).otherwise(pl.col("k_factor")))
