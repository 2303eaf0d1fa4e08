"""What is to be written to make one table another, and rows of numbers: the same for lists and for arrays."""

from math import isnan, nan
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ledger.runtime.columns import FEW, MANY, Columns, changed_rows, combined_keys
from tests.tiers import examples

VALUES = st.sampled_from([0.0, 1.5, -2.0, nan])
TEXTS = st.sampled_from([None, "", "open"])
TABLES = st.dictionaries(st.tuples(st.integers(1, 3), st.integers(1, 4)), st.tuples(VALUES, TEXTS), max_size=8)
Rows = dict[tuple[int, int], tuple[float, str | None]]


def columns(cols: Columns, rows: Rows) -> list[Any]:
    keys = sorted(rows)
    return [
        combined_keys(cols, cols.int32_column([player for player, _ in keys]), cols.int32_column([n for _, n in keys])),
        cols.float64_column([rows[key][0] for key in keys]),
        cols.text_column([rows[key][1] for key in keys]),
    ]


def shown(rows: Rows) -> dict[tuple[int, int], tuple[str, str | None]]:
    """Rows in which NaN equals itself."""
    return {key: (repr(value), text) for key, (value, text) in rows.items()}


@given(TABLES, TABLES)
@examples(quick=20, ci=60, nightly=2_000)
def test_what_is_gone_and_what_is_written_make_the_one_table_the_other(old: Rows, new: Rows) -> None:
    found = [cols.to_lists(changed_rows(cols, columns(cols, old), columns(cols, new))) for cols in (FEW, MANY)]
    assert found[0] == found[1]
    gone, written = ([sorted(rows)[at] for at in places] for places, rows in zip(found[0], (old, new), strict=True))
    assert set(gone) == old.keys() - new.keys()
    assert set(written) == {key for key in new if shown(old).get(key) != shown(new)[key]}


@given(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=5), st.data())
@examples(quick=20, ci=60, nightly=2_000)
def test_rows_are_taken_put_filled_and_compared_alike(rows: list[tuple[float, float]], data: st.DataObject) -> None:
    places = data.draw(st.lists(st.integers(0, len(rows) - 1), unique=True))
    flat = [value for row in rows for value in row]
    found = []
    for cols in (FEW, MANY):
        held, at = cols.float64_column(flat), cols.int32_column(places)
        taken = cols.select_rows(held, at, 2)
        firsts, seconds = cols.select_rows(held, at, 2, slice(1)), cols.select_rows(held, None, 2, slice(1, 2))
        known = cols.fill_missing(held, [7.0, 8.0])
        cols.write_rows(held, at, 2, cols.float64_column([3.0] * len(places)), 1)
        alike = cols.equal_rows(cols.float64_column(flat), held, 2)
        columns_found = cols.to_lists([taken, firsts, seconds, known, held, alike])
        found.append([[None if isnan(x) else x for x in column] for column in columns_found])
    assert found[0] == found[1]
    taken, firsts, seconds, known, held, alike = found[0]
    assert taken[::2] == firsts
    assert seconds == [None if isnan(second) else second for _, second in rows]
    assert known == [start if isnan(x) else x for x, start in zip(flat, [7.0, 8.0] * len(rows), strict=True)]
    assert alike == [int(place not in places or rows[place][0] == 3.0) for place in range(len(rows))]


@given(st.lists(st.integers(0, 2**57)), st.integers(1, 31))
@examples(quick=20, ci=60, nightly=2_000)
def test_a_number_is_what_stands_above_some_bits_and_what_stands_in_them(numbers: list[int], bits: int) -> None:
    found = [cols.to_lists(cols.split_bits(cols.int64_column(numbers), bits)) for cols in (FEW, MANY)]
    assert found[0] == found[1]
    assert [(above << bits) + below for above, below in zip(*found[0], strict=True)] == numbers
