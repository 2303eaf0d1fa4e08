"""One column of text to one column of values: fast where the text is plain, by its distinct values elsewhere.

A column's few odd values are handed to the functions of ``csv.values`` once each; what they refuse is
remembered with the reason, and only rows that hold such a value are ever looked at. Nothing here knows what a
game is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from sys import getsizeof
from typing import TYPE_CHECKING, Any

import attrs

from ledger.runtime.lazy import pl

if TYPE_CHECKING:
    from polars import Expr, Series

REMEMBERED = 48 * 2**20  # bytes of distinct values kept from block to block, so that memory stays constant
_OF_EACH = 150  # bytes that a value takes besides its text
# All days of the calendar but 29 February, which is left to the slow way; to the second or to the day.
_PLAIN_INSTANT = (
    r"^[1-9][0-9]{3}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)"
    r"|(?:0[13578]|1[02])-31)(?:T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z)?$"
)


@attrs.frozen
class Column:
    """The values of a column, its text, and which texts are bad and why."""

    label: str
    text: Series
    values: Series
    bad: dict[str, str]

    def faulty(self) -> Series:
        """The rows whose text is bad."""
        return self.text.is_in(list(self.bad))

    def message(self, text: str) -> str:
        """What is wrong with *text*."""
        shown = repr(text if len(text) <= 80 else f"{text[:80]}...")
        return f"{self.label} {self.bad[text]}; got {shown}"


class Meaning:
    """A function from a text to a value, applied to whole columns."""

    def __init__(self, convert: Callable[[str], Any], kind: Any = None) -> None:
        self._one = convert
        self._kind = kind
        self._known: dict[str, Any] = {}
        self._bad: dict[str, str] = {}
        self._words: dict[str, str] = {}  # of what is bad, each once
        self.size = 0  # bytes, about

    def forget(self) -> None:
        """Begin anew, without what was learned."""
        self._known.clear()
        self._bad.clear()
        self.size = 0

    def _learn(self, text: str) -> None:
        self.size += 2 * getsizeof(text) + _OF_EACH
        try:
            self._known[text] = self._one(text)
        except ValueError as error:
            words = str(error)
            self._bad[text] = self._words.setdefault(words, words)

    def _map(self, text: Series) -> tuple[Series, dict[str, str]]:
        distinct = text.unique().drop_nulls().to_list()
        for cell in distinct:
            if cell not in self._known and cell not in self._bad:
                self._learn(cell)
        kind = self._kind or pl.String
        if not distinct:
            return pl.Series(text.name, [None], kind).new_from_index(0, len(text)), {}
        new = [self._known.get(cell) for cell in distinct]
        bad = {cell: self._bad[cell] for cell in distinct if cell in self._bad} if self._bad else {}
        if new == distinct:
            return text, bad
        if len(distinct) * 2 < len(text):
            return text.replace_strict(distinct, new, default=None, return_dtype=kind), bad
        # So many distinct values make the replacement table dearer than asking for each row.
        return pl.Series(text.name, [self._known.get(cell) for cell in text.to_list()], kind), bad

    def column(self, label: str, text: Series, plain: Callable[[Series], Series] | None = None) -> Column:
        """All of *text*; where *plain* gives a value for a row, that is taken unasked."""
        if plain is None:
            return Column(label, text, *self._map(text))
        quick = plain(text)
        odd = text.is_not_null() & quick.is_null()
        if not odd.any():
            return Column(label, text, quick, {})
        rest = text.to_frame("text").select(pl.when(odd).then("text")).to_series()
        slow, bad = self._map(rest)
        return Column(label, text, quick.zip_with(~odd, slow), bad)


def forget_much(meanings: Collection[Meaning]) -> None:
    """Let all of them begin anew when together they remember too much."""
    if sum(meaning.size for meaning in meanings) > REMEMBERED:
        for meaning in meanings:
            meaning.forget()


def _kept(text: Series, good: Expr) -> Series:
    return text.to_frame("text").select(pl.when(good).then("text")).to_series()


def plain_instants(text: Series) -> Series:
    """Instants that are written as the ledger writes them."""
    return _kept(text, pl.col("text").str.contains(_PLAIN_INSTANT))


def plain_numbers(text: Series) -> Series:
    """FIDE ids without leading zeros."""
    return _kept(text, pl.col("text").str.contains(r"^[1-9][0-9]{0,9}$"))


def plain_whole(low: int, high: int) -> Callable[[Series], Series]:
    """Whole numbers within limits."""

    def plain(text: Series) -> Series:
        number = text.cast(pl.Int32, strict=False)
        return number.to_frame("n").select(pl.when(pl.col("n").is_between(low, high)).then("n")).to_series()

    return plain
