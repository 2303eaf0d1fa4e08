"""Instants and rounds for whole columns, with the same meaning as in ``facts.instants``; a test compares them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.runtime.lazy import pl

if TYPE_CHECKING:
    from polars import Series

# What completes a text of this many characters to its first millisecond.
_REST = {4: "-01-01T00:00:00.000", 7: "-01T00:00:00.000", 10: "T00:00:00.000"}


def instant_ms_column(texts: Series) -> Series:
    """Milliseconds since 1970 of each well-formed instant (Int64); null for null and for days that do not exist."""
    if texts.null_count() == len(texts):
        return pl.Series("text", [None], pl.Int64).new_from_index(0, len(texts))
    text = pl.col("text")
    length = text.str.len_bytes()
    whole = pl.when(length == 20).then(text.str.slice(0, 19) + ".000").otherwise(text.str.slice(0, 23))
    for characters, rest in _REST.items():
        whole = pl.when(length == characters).then(text + rest).otherwise(whole)
    moment = whole.str.to_datetime("%Y-%m-%dT%H:%M:%S%.3f", time_unit="ms", strict=False)
    # The parser takes second 60 and the year 0; the calendar of ``facts.instants`` has neither.
    exists = (text.str.slice(17, 2) != "60") & (moment.dt.year() > 0)
    return texts.to_frame("text").select(pl.when(exists).then(moment.dt.epoch("ms")))["text"]


def round_order_column(rounds: Series) -> Series:
    """``model.round_order`` of each round (Int64)."""
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
