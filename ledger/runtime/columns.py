"""Operations on columns of numbers: on lists for a few rows, on NumPy arrays for many.

Code between the tables and the kernels is written once against ``FEW`` or ``MANY``; both give the same numbers in the
same order. No chess, no SQL.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, cycle, pairwise
from math import nan
from typing import Any

from ledger.runtime.lazy import np

Column = Any  # a list, or a one-dimensional NumPy array
ALL = slice(None)
FAR_APART = 20_000_000  # numbers of players up to here are places in arrays: a few bytes each, there or not


class Columns:
    """Operations on columns held as lists, for a few rows."""

    def int64_column(self, values: Iterable[int]) -> Column:
        """Return a column of whole numbers (64 bit)."""
        return list(values)

    def int32_column(self, values: Iterable[int]) -> Column:
        """Return a column of whole numbers (32 bit)."""
        return list(values)

    def float64_column(self, values: Iterable[float]) -> Column:
        """Return a column of floats (64 bit)."""
        return list(values)

    def text_column(self, values: Iterable[str | None]) -> Column:
        """Return a column of texts, None for missing ones."""
        return list(values)

    def zeros(self, length: int) -> Column:
        """Return a column of zeros (whole numbers, 32 bit)."""
        return [0] * length

    def unfilled_floats(self, length: int) -> Column:
        """Return a column of floats whose values the caller fills in."""
        return [0.0] * length

    def take(self, column: Column, places: Column) -> Column:
        """Return the values of a column at these indexes."""
        return [column[place] for place in places]

    def set_indexes(self, flags: Column) -> Column:
        """Return the indexes at which the flag is set."""
        return [place for place, flag in enumerate(flags) if flag]

    def split_side_indexes(self, places: Column) -> tuple[Column, Column, Column]:
        """Split indexes of players' rows (two a game): the game, the colour (0 or 1), and the opponent's row."""
        return [place >> 1 for place in places], [place & 1 for place in places], [place ^ 1 for place in places]

    def choose(self, flags: Column, at_zero: Column, at_one: Column) -> Column:
        """Return the value of ``at_zero`` where the flag is 0, of ``at_one`` where it is 1."""
        return [b if flag else a for flag, a, b in zip(flags, at_zero, at_one, strict=True)]

    def subtract_from(self, number: int, column: Column) -> Column:
        """Return *number* minus each value."""
        return [number - value for value in column]

    def equal_flags(self, column: Column, number: int) -> Column:
        """Return 1 where a value is *number*, else 0."""
        return [int(value == number) for value in column]

    def at_most_flags(self, column: Column, number: int) -> Column:
        """Return 1 where a value is at most *number*, else 0."""
        return [int(value <= number) for value in column]

    def split_bits(self, column: Column, bits: int) -> tuple[Column, Column]:
        """Split whole numbers into the bits above the lowest *bits*, and those lowest bits."""
        mask = (1 << bits) - 1
        return [value >> bits for value in column], [value & mask for value in column]

    def interleave(self, first: Column, second: Column) -> Column:
        """Return the values of two columns in turn: first[0], second[0], first[1], second[1], ..."""
        return list(chain.from_iterable(zip(first, second, strict=True)))

    def every_nth(self, flat: Column, field: int, fields: int) -> Column:
        """Return every *fields*-th number of *flat*, from *field*."""
        return flat[field::fields]

    def indexes_by_owner(self, owner: Column, rank: Column, owners: int) -> tuple[Column, list[int]]:
        """Return the indexes of the rows sorted by owner, then by rank within the owner.

        Ranks of an owner are 0, 1, 2, ... without gaps.

        Also where each owner's rows begin among them, and one more for the end.
        """
        counts = [0] * owners
        for player in owner:
            counts[player] += 1
        starts = [0, *accumulate(counts)]
        places = [0] * len(owner)
        for row, (player, place) in enumerate(zip(owner, rank, strict=True)):
            places[starts[player] + place] = row
        return places, starts

    def to_lists(self, columns: Sequence[Column]) -> list[list[Any]]:
        """Return each column as a list of plain numbers."""
        return list(columns)

    def dense_indexes(self, first: Column, second: Column) -> tuple[Column, Column, Column]:
        """Return the distinct numbers of two columns, and both columns as indexes into them.

        They ascend, but negative numbers come behind all others.
        """
        numbers = sorted({*first, *second})
        if numbers and numbers[0] < 0:
            negative = bisect_left(numbers, 0)
            numbers = [*numbers[negative:], *numbers[:negative]]
        place = {number: i for i, number in enumerate(numbers)}
        return numbers, [place[number] for number in first], [place[number] for number in second]

    def ranks_by_owner(self, n: Column, owner: Column, base: Column) -> Column:
        """Return ``n - 1 - base[owner]``: how many rows of the owner come before each row, from 0."""
        return [number - 1 - base[p] for number, p in zip(n, owner, strict=True)]

    def divide_by(self, column: Column, number: int) -> Column:
        """Return each number divided by *number*, as floats."""
        return [value / number for value in column]

    def first_index_from(self, column: Column, number: int) -> int:
        """Return the first index in an ascending column whose value is not smaller than *number*."""
        return bisect_left(column, number)

    def concatenate(self, first: Column, second: Column) -> Column:
        """Return the values of two columns, one after the other."""
        return [*first, *second]

    def nan_column(self, length: int) -> Column:
        """Return a column of NaN."""
        return [nan] * length

    def longest_gap(self, starts: Column) -> int:
        """Return the largest distance between neighbours of an ascending column."""
        return max((b - a for a, b in pairwise(starts)), default=0)

    def select_rows(self, flat: Column, places: Column | None, width: int, fields: slice = ALL) -> Column:
        """Return the rows at these indexes, or all, of a flat table with *width* numbers a row, as a flat column.

        Only the *fields* of each row are returned.
        """
        chosen = range(len(flat) // (width or 1)) if places is None else places
        return [value for place in chosen for value in flat[place * width : (place + 1) * width][fields]]

    def write_rows(self, flat: Column, places: Column, width: int, rows: Column, first: int | None = None) -> None:
        """Write rows into a flat table at these indexes.

        With *first*, rows hold only their first so many numbers.
        """
        length = width if first is None else first
        for row, place in enumerate(places):
            flat[place * width : place * width + length] = rows[row * length : (row + 1) * length]

    def fill_missing(self, flat: Column, instead: Sequence[float]) -> Column:
        """Return flat rows as wide as *instead*, with None and NaN replaced by the numbers of *instead*."""
        return [
            start if value is None or value != value else value  # noqa: PLR0124  # NaN; a call would take twice as long
            for value, start in zip(flat, cycle(instead), strict=False)
        ]

    def equal_rows(self, first: Column, second: Column, width: int) -> Column:
        """Return 1 for each row whose numbers are equal in both columns, NaN as itself, else 0."""
        same = list(map(is_same, first, second))
        return [int(all(same[row : row + width])) for row in range(0, len(same), width or 1)]


class ArrayColumns(Columns):
    """Operations on columns held as NumPy arrays, for many rows."""

    def int64_column(self, values: Iterable[int]) -> Column:
        """Return an array of whole numbers (64 bit)."""
        return np.asarray(values, np.int64)

    def int32_column(self, values: Iterable[int]) -> Column:
        """Return an array of whole numbers (32 bit)."""
        return np.asarray(values, np.int32)

    def float64_column(self, values: Iterable[float]) -> Column:
        """Return an array of floats (64 bit)."""
        return np.asarray(values, np.float64)

    def text_column(self, values: Iterable[str | None]) -> Column:
        # A list first: of an iterator ``asarray`` would make one object.
        """Return an array of texts, None for missing ones."""
        return np.asarray(list(values), np.object_)

    def zeros(self, length: int) -> Column:
        """Return an array of zeros (whole numbers, 32 bit)."""
        return np.zeros(length, np.int32)

    def unfilled_floats(self, length: int) -> Column:
        """Return an array of floats whose values the caller fills in."""
        return np.empty(length, np.float64)

    def take(self, column: Column, places: Column) -> Column:
        """Return the values of an array at these indexes."""
        return column[places]

    def set_indexes(self, flags: Column) -> Column:
        """Return the indexes at which the flag is set."""
        return np.flatnonzero(flags)

    def split_side_indexes(self, places: Column) -> tuple[Column, Column, Column]:
        """Split indexes of players' rows (two a game): the game, the colour (0 or 1), and the opponent's row."""
        return places >> 1, places & 1, places ^ 1

    def choose(self, flags: Column, at_zero: Column, at_one: Column) -> Column:
        """Return the value of ``at_zero`` where the flag is 0, of ``at_one`` where it is 1."""
        return np.where(flags, at_one, at_zero)

    def subtract_from(self, number: int, column: Column) -> Column:
        """Return *number* minus each value."""
        return number - column

    def equal_flags(self, column: Column, number: int) -> Column:
        """Return 1 where a value is *number*, else 0."""
        return (column == number).astype(np.int32)

    def at_most_flags(self, column: Column, number: int) -> Column:
        """Return 1 where a value is at most *number*, else 0."""
        return (column <= number).astype(np.int32)

    def split_bits(self, column: Column, bits: int) -> tuple[Column, Column]:
        """Split whole numbers into the bits above the lowest *bits*, and those lowest bits."""
        return column >> bits, column & ((1 << bits) - 1)

    def interleave(self, first: Column, second: Column) -> Column:
        """Return the values of two arrays in turn: first[0], second[0], first[1], second[1], ..."""
        both = np.empty(2 * len(first), first.dtype)
        both[0::2] = first
        both[1::2] = second
        return both

    def indexes_by_owner(self, owner: Column, rank: Column, owners: int) -> tuple[Column, list[int]]:
        """Return the indexes of the rows sorted by owner, then by rank, and where each owner's rows begin."""
        starts = np.zeros(owners + 1, np.int64)
        np.cumsum(np.bincount(owner, minlength=owners), out=starts[1:])
        places = np.empty(len(owner), np.int32)
        places[starts[owner] + rank] = np.arange(len(owner), dtype=np.int32)
        return places, starts.tolist()

    def to_lists(self, columns: Sequence[Column]) -> list[list[Any]]:
        """Return each array as a list of plain numbers."""
        return [column.tolist() for column in columns]

    def dense_indexes(self, first: Column, second: Column) -> tuple[Column, Column, Column]:
        """Return the distinct numbers of two arrays, negative ones last, and both arrays as indexes into them."""
        highest, lowest = int(max(first.max(), second.max())), int(min(first.min(), second.min()))
        if highest >= FAR_APART or lowest < 0:
            numbers, places = np.unique(np.concatenate([first, second]), return_inverse=True)
            negative = int(np.searchsorted(numbers, 0))
            numbers, places = np.roll(numbers, -negative), ((places - negative) % len(numbers)).astype(np.int32)
            return numbers.astype(np.int32), places[: len(first)], places[len(first) :]
        # Marked, not sorted: of two columns of 500,000 numbers below 200,000 it takes 15 ms, ``np.unique`` 146.
        present = np.zeros(highest + 1, np.bool_)
        present[first] = True
        present[second] = True
        place = np.cumsum(present, dtype=np.int32) - np.int32(1)
        return np.flatnonzero(present).astype(np.int32), place[first], place[second]

    def ranks_by_owner(self, n: Column, owner: Column, base: Column) -> Column:
        """Return ``n - 1 - base[owner]``: how many rows of the owner come before each row, from 0."""
        return n - np.int32(1) - base[owner]

    def divide_by(self, column: Column, number: int) -> Column:
        """Return each number divided by *number*, as floats."""
        return column / number

    def first_index_from(self, column: Column, number: int) -> int:
        """Return the first index in an ascending array whose value is not smaller than *number*."""
        return int(np.searchsorted(column, number))

    def concatenate(self, first: Column, second: Column) -> Column:
        """Return the values of two arrays, one after the other."""
        return np.concatenate([first, second])

    def nan_column(self, length: int) -> Column:
        """Return an array of NaN."""
        return np.full(length, nan)

    def longest_gap(self, starts: Column) -> int:
        """Return the largest distance between neighbours of an ascending array."""
        return int(np.diff(starts).max()) if len(starts) > 1 else 0

    def select_rows(self, flat: Column, places: Column | None, width: int, fields: slice = ALL) -> Column:
        # NumPy does not know how many rows of width 0 there are, as a table without such numbers has them.
        """Return the rows at these indexes, or all, of a flat table with *width* numbers a row, as a flat array."""
        return flat.reshape(-1, width or 1)[ALL if places is None else places, fields].reshape(-1)

    def write_rows(self, flat: Column, places: Column, width: int, rows: Column, first: int | None = None) -> None:
        """Write rows into a flat table at these indexes."""
        length = width if first is None else first
        if length:
            flat.reshape(-1, width)[places, :length] = np.asarray(rows).reshape(-1, length)

    def fill_missing(self, flat: Column, instead: Sequence[float]) -> Column:
        """Return flat rows with None and NaN replaced by the numbers of *instead*."""
        rows = np.asarray(flat, np.float64).reshape(-1, len(instead) or 1)
        return np.where(np.isnan(rows), np.asarray(instead or [nan]), rows).reshape(-1)

    def equal_rows(self, first: Column, second: Column, width: int) -> Column:
        """Return 1 for each row whose numbers are equal in both arrays, NaN as itself, else 0."""
        return equal_values(first, second).reshape(-1, width).all(axis=1).astype(np.int32)


def is_same(first: Any, second: Any) -> bool:
    """Return whether two values are equal, NaN as itself."""
    return bool(first == second or (first != first and second != second))  # noqa: PLR0124  # NaN


def equal_values(first: Any, second: Any) -> Any:
    """Return whether the values of two arrays are equal, NaN as itself, value by value."""
    return (first == second) | ((first != first) & (second != second))  # noqa: PLR0124  # NaN


FEW = Columns()
MANY: Columns = ArrayColumns()


_BITS = 31  # of the second number of a combined key


def combined_keys(cols: Columns, first: Column, second: Column) -> Column:
    """Return one sort key for each pair of numbers below 2 ** 31, ordered by the first, then the second number."""
    if cols is FEW:
        return [(a << _BITS) | b for a, b in zip(first, second, strict=True)]
    return (np.asarray(first, np.int64) << _BITS) | np.asarray(second, np.int64)


def changed_rows(cols: Columns, old: Sequence[Column], new: Sequence[Column]) -> tuple[Column, Column]:
    """Return the indexes of old rows that are gone, and of new rows that are new or changed.

    The first column, of both the old and the new rows, is unique and ascends.
    """
    if cols is not FEW:
        return _many_changes(old, new)
    before = {key: place for place, key in enumerate(old[0])}
    changed = []
    for place, key in enumerate(new[0]):
        was = before.pop(key, None)
        if was is None or not all(is_same(a[was], b[place]) for a, b in zip(old[1:], new[1:], strict=True)):
            changed.append(place)
    return list(before.values()), changed


def _many_changes(old: Sequence[Column], new: Sequence[Column]) -> tuple[Column, Column]:
    if not len(old[0]):
        return np.zeros(0, np.int64), np.arange(len(new[0]))
    # A key behind all old ones is held against the last of them, which it is not: a place must lie within the column.
    at = np.minimum(np.searchsorted(old[0], new[0]), len(old[0]) - 1)
    same = old[0][at] == new[0]
    gone = np.ones(len(old[0]), np.bool_)
    gone[at[same]] = False
    for before, after in zip(old[1:], new[1:], strict=True):
        same &= equal_values(before[at], after)
    return np.flatnonzero(gone), np.flatnonzero(~same)
