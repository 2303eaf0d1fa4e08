"""``game-recorded/1`` for whole columns: the checks of the event class and its canonical bytes, many rows at once.

The bytes are exactly those of ``codec.facts`` and ``codec.assemble``; a test compares them row by row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from ledger.facts.codec import seal_actor
from ledger.facts.events import MAX_HALF_MOVES, GameRecorded, is_plain_text
from ledger.facts.instants_columns import instant_ms_column
from ledger.runtime.lazy import pl

if TYPE_CHECKING:
    from polars import DataFrame, Expr, Series

_FIELDS = {field.name: field for field in attrs.fields(GameRecorded)}
_QUOTED = {"ended_at", "outcome", "pool", "round", "started_at", "termination", "text", "tournament"}
# Free text, by field with its limit, may need escapes.
_FREE_TEXT = {
    name: field.metadata["schema"]["maxLength"]
    for name, field in _FIELDS.items()
    if "maxLength" in field.metadata["schema"]
}


def faults(frame: DataFrame) -> Series:
    """What is wrong with each row, in words; null for rows that make a ``game-recorded/1``.

    Args:
        frame: columns named as the fields of ``GameRecorded``.
    """
    wrong = frame.select(pl.any_horizontal(_is_wrong(frame, name) for name in _FIELDS).alias("wrong"))["wrong"]
    if not wrong.any():
        return pl.Series("fault", [None], dtype=pl.String).new_from_index(0, len(frame))
    bad = frame.filter(wrong)
    words = bad.select(_fault_words(bad).alias("fault"))["fault"]
    places = wrong.arg_true()
    return pl.Series("fault", [None] * len(frame), dtype=pl.String).scatter(places, words)


def _is_wrong(frame: DataFrame, name: str) -> Expr:
    wrong, _ = _wrong(frame, name, _FIELDS[name].metadata["schema"])
    wrong = wrong.fill_null(value=False)
    return wrong | pl.col(name).is_null() if _FIELDS[name].default is attrs.NOTHING else wrong


def _fault_words(frame: DataFrame) -> Expr:
    """What is wrong with each row, by its first field that is."""
    words = pl.lit(None, dtype=pl.String)
    for name, field in reversed(_FIELDS.items()):
        _, wanted = _wrong(frame, name, field.metadata["schema"])
        got = pl.col(name).cast(pl.String).fill_null("nothing")
        text = pl.concat_str(pl.lit(f"{name} must be {wanted}, got "), got)
        words = pl.when(_is_wrong(frame, name)).then(text).otherwise(words)
    return words


def _wrong(frame: DataFrame, name: str, schema: dict[str, Any]) -> tuple[Expr, str]:
    column = pl.col(name)
    if "enum" in schema:
        return ~column.is_in(schema["enum"]), f"one of {', '.join(schema['enum'])}"
    if schema["type"] == "integer":
        low, high = schema["minimum"], schema["maximum"]
        return ~column.is_between(low, high), f"a whole number from {low} to {high}"
    if name in {"ended_at", "started_at"}:
        no_day = instant_ms_column(frame[name]).is_null() & frame[name].is_not_null()
        return ~column.str.contains(schema["pattern"]) | pl.lit(no_day), "an instant that exists"
    if name in _FREE_TEXT:
        limit = _FREE_TEXT[name]
        bad = [value for value in frame[name].unique().drop_nulls().to_list() if not is_plain_text(value, limit)]
        return column.is_in(bad), f"1 to {limit} characters of NFC text without controls or outer blanks"
    if "pattern" in schema:
        return ~column.str.contains(schema["pattern"]), f"text matching {schema['pattern'][1:-1]}"
    return pl.lit(value=False), ""


def facts(frame: DataFrame) -> Series:
    """The canonical bytes of each row's facts, as text. The rows must have passed ``faults``."""
    return frame.select(pl.concat_str(_parts(frame, "{", "}")).alias("facts"))["facts"]


def _parts(frame: DataFrame, head: str, tail: str) -> list[Expr]:
    """What makes the facts when joined, with *head* and *tail* around the members."""
    parts: list[Expr] = []
    written = head  # what stands between the values so far and the next
    for name in sorted(set(_FIELDS) - {"game"}):
        missing = frame[name].null_count()
        if missing == len(frame) and missing:
            continue
        comma = "," if parts else ""  # the first field of all is never missing
        quote = '"' if name in _QUOTED else ""
        value = _escaped(name) if name in _FREE_TEXT else pl.col(name).cast(pl.String)
        if missing:
            member = pl.concat_str(pl.lit(f'{comma}"{name}":{quote}'), value, pl.lit(quote)).fill_null("")
            parts += [pl.lit(written), member]
            written = ""
        else:
            parts += [pl.lit(f'{written}{comma}"{name}":{quote}'), value]
            written = quote
    return [*parts, pl.lit(written + tail)]


def _escaped(name: str) -> Expr:
    """Each text as it stands in JSON. Of what ``faults`` lets pass, only these two characters are escaped."""
    return pl.col(name).str.replace_all("\\", "\\\\", literal=True).str.replace_all('"', '\\"', literal=True)


def bodies(frame: DataFrame, first: int, recorded_at: str, actor: str) -> list[bytes]:
    """Whole entries, at positions from *first* on, in order. The rows must have passed ``faults``."""
    body = pl.concat_str(
        *_parts(frame, f'{{"actor":{seal_actor(actor)},"facts":{{', '},"key":"game:'),
        pl.col("game"),
        pl.lit(f'","kind":"{GameRecorded.KIND}","position":'),
        pl.int_range(first, first + len(frame), dtype=pl.Int64).cast(pl.String),
        pl.lit(f',"recorded_at":"{recorded_at}"}}'),
    )
    return frame.select(body.cast(pl.Binary).alias("body"))["body"].to_list()


assert MAX_HALF_MOVES < 2**31
