"""Encodes frames of events as canonical bytes, and marks the rows that may not be events.

Of games (``game-recorded/1``), and of players with their seeds and years of birth, whose values must be what the event
classes take. The bytes are exactly those of ``codec.facts`` and ``codec.assemble``; a test compares them row by row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from ledger.facts.codec import actor_json
from ledger.facts.event_fields import is_plain_text
from ledger.facts.events import BirthYearLearnt, Event, GameRecorded, PlayerDescribed, PlayerRegistered, RatingSeeded
from ledger.facts.instants import instant_ms_column
from ledger.facts.words import Outcome, Termination
from ledger.runtime.lazy import pl

if TYPE_CHECKING:
    from polars import DataFrame, Expr, Series


_FIELDS = {field.name: field for field in attrs.fields(GameRecorded)}
# By field, the member of each word; any other value is left for the event class to refuse.
_WORDS: Mapping[str, Mapping[Any, Any]] = {
    "outcome": {word.value: word for word in Outcome},
    "termination": {word.value: word for word in Termination},
}
# A game whose columns raise no doubt: for the rules it is an event like any other, built without its checks.
_Unsuspected: type[GameRecorded] = attrs.make_class(
    "_Unsuspected",
    {name: attrs.field(default=field.default) for name, field in _FIELDS.items()},
    bases=(GameRecorded,),
    frozen=True,
    kw_only=True,
    slots=True,
)


def suspects(frame: DataFrame, kind: type[Event] = GameRecorded) -> Series:
    """Return a mask of the rows that may not make an event of the kind: all that make none, and perhaps others.

    Whole columns are compared with the JSON Schema of each field; ``build_events`` says what is wrong with single rows.

    Args:
        frame: columns named as the fields of the class. Of a game all must be there, of another event only those that
            are there are looked at.
        kind: the class.
    """
    fields = {field.name: field for field in attrs.fields(kind) if kind is GameRecorded or field.name in frame.columns}
    doubts = [_doubt(frame, name, field) for name, field in fields.items()]
    if kind is GameRecorded:
        doubts += [pl.col(name).is_null() for name, field in fields.items() if field.default is attrs.NOTHING]
    return frame.select(pl.any_horizontal(*doubts).fill_null(value=False).alias("suspect"))["suspect"]


def build_events(frame: DataFrame, suspected: Series) -> Iterator[GameRecorded | str]:
    """Yield for each row the event that the event class builds, or the fault in words if it builds none.

    The events are for the rules to judge; what writes them is ``bodies``.

    Args:
        frame: columns named as the fields of ``GameRecorded``.
        suspected: ``suspects`` of the frame; the others are built without the checks of the class.
    """
    columns = [frame[name].to_list() for name in _FIELDS]
    for place, name in enumerate(_FIELDS):
        if name in _WORDS:
            columns[place] = [_WORDS[name].get(word, word) for word in columns[place]]
    names = tuple(_FIELDS)
    for suspect, row in zip(suspected.to_list(), zip(*columns, strict=True), strict=True):
        values = dict(zip(names, row))  # noqa: B905 (as many values as names)
        try:
            yield GameRecorded(**values) if suspect else _Unsuspected(**values)
        except ValueError as error:
            yield str(error)


def _doubt(frame: DataFrame, name: str, field: attrs.Attribute[Any]) -> Expr:
    """Mark the values that may be refused; null if there is none."""
    column, schema = pl.col(name), field.metadata["schema"]
    if "enum" in schema:
        return ~column.is_in(schema["enum"])
    if schema["type"] == "integer":
        return ~column.is_between(schema["minimum"], schema["maximum"])
    if name in {"effective_at", "ended_at", "started_at"}:
        no_day = instant_ms_column(frame[name]).is_null() & frame[name].is_not_null()
        return ~column.str.contains(schema["pattern"]) | pl.lit(no_day)
    if limit := schema.get("maxLength"):  # free text
        return column.is_in([value for value in frame[name].unique().drop_nulls() if not is_plain_text(value, limit)])
    return ~column.str.contains(schema["pattern"]) if "pattern" in schema else pl.lit(value=False)


def facts(frame: DataFrame, kind: type[Event] = GameRecorded) -> Series:
    """Return the facts of each row as canonical JSON text; the rows must make events of the kind."""
    return frame.select(pl.concat_str(_parts(frame, kind, "{", "}")).alias("facts"))["facts"]


def _parts(frame: DataFrame, kind: type[Event], head: str, tail: str) -> list[Expr]:
    """Return the parts that make the facts when joined, with *head* and *tail* around the members."""
    # The key of the entry carries the key of a game, so that the facts do not repeat it.
    fields = sorted((field for field in attrs.fields(kind) if field.name != kind.KEY_FIELD), key=lambda f: f.name)
    # Columns without a value are left out, and so are those that the frame lacks.
    nulls = {field.name: frame[field.name].null_count() for field in fields if field.name in frame.columns}
    present = [field for field in fields if field.name in nulls and nulls[field.name] < max(len(frame), 1)]
    first = next(field.name for field in present if not nulls[field.name])
    parts: list[Expr] = []
    literal = head  # to be written before the next value
    for name, schema in ((field.name, field.metadata["schema"]) for field in present):
        quote = "" if schema.get("type") in {"integer", "boolean"} else '"'
        # Up to the first field that every row has, a comma follows each value; after it a comma precedes each.
        before, after = ("", ",") if name < first else ("", "") if name == first else (",", "")
        value = pl.col(name).cast(pl.String)
        # of what an event may hold, JSON escapes these two characters alone
        if "maxLength" in schema:
            value = value.str.replace_all("\\", "\\\\", literal=True).str.replace_all('"', '\\"', literal=True)
        if nulls[name]:
            member = pl.concat_str(pl.lit(f'{before}"{name}":{quote}'), value, pl.lit(quote + after)).fill_null("")
            parts += [pl.lit(literal), member]
            literal = ""
        else:
            parts += [pl.lit(f'{literal}{before}"{name}":{quote}'), value]
            literal = quote + after
    return [*parts, pl.lit(literal + tail)]


_KEYS: Mapping[type[Event], str] = {
    PlayerRegistered: "player:{player}",
    BirthYearLearnt: "born:{player}",
    PlayerDescribed: "details:{player}@{effective_at}/{number}",
    RatingSeeded: "seed:{pool}:{player}@{effective_at}",
    GameRecorded: "game:{game}",
}


def keys(frame: DataFrame, kind: type[Event]) -> Series:
    """Return the key of each row's event."""
    template, names = re.sub(r"\{\w+\}", "{}", _KEYS[kind]), re.findall(r"\{(\w+)\}", _KEYS[kind])
    columns = [pl.col(name).fill_null("start") if name == "effective_at" else pl.col(name) for name in names]
    return frame.select(pl.format(template, *columns).alias("key"))["key"]


def bodies(frame: DataFrame, first: int, recorded_at: str, actor: str, kind: type[Event] = GameRecorded) -> list[bytes]:
    """Return the bytes of a journal entry for each row, at positions from *first* on; the rows must make events."""
    body = pl.concat_str(
        *_parts(frame, kind, f'{{"actor":{actor_json(actor)},"facts":{{', '},"key":"'),
        keys(frame, kind),
        pl.lit(f'","kind":"{kind.KIND}","position":'),
        pl.int_range(first, first + len(frame), dtype=pl.Int64).cast(pl.String),
        pl.lit(f',"recorded_at":"{recorded_at}"}}'),
    )
    return frame.select(body.cast(pl.Binary).alias("body"))["body"].to_list()
