"""Two tables as columns, and what is to be written to make the one the other. No chess, no SQL."""

from __future__ import annotations

from collections.abc import Sequence

from ledger.runtime.columns import FEW, Column, Columns, alike_values, is_same
from ledger.runtime.lazy import np

_BITS = 31  # of the second number of two that are one key


def keyed(cols: Columns, first: Column, second: Column) -> Column:
    """One number for each two, which sorts by the first, then the second; each is below 2 ** 31."""
    if cols is FEW:
        return [(a << _BITS) | b for a, b in zip(first, second, strict=True)]
    return (np.asarray(first, np.int64) << _BITS) | np.asarray(second, np.int64)


def changes(cols: Columns, old: Sequence[Column], new: Sequence[Column]) -> tuple[Column, Column]:
    """The places of old rows that are gone, and of new rows that are new, or others than they were.

    Args:
        cols: how the columns are held.
        old: the columns of the old rows; the first one tells them apart and ascends.
        new: those of the new rows.
    """
    return _few_changes(old, new) if cols is FEW else _many_changes(old, new)


def _few_changes(old: Sequence[Column], new: Sequence[Column]) -> tuple[Column, Column]:
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
    at = np.minimum(np.searchsorted(old[0], new[0]), len(old[0]) - 1)
    same = old[0][at] == new[0]
    gone = np.ones(len(old[0]), np.bool_)
    gone[at[same]] = False
    for before, after in zip(old[1:], new[1:], strict=True):
        same &= alike_values(before[at], after)
    return np.flatnonzero(gone), np.flatnonzero(~same)
