"""Events as whole columns: which rows the event class must look at, and canonical bytes of many rows.

Of games (``game-recorded/1``), and of players with their seeds and years of birth, whose values must be what the event
classes take. The bytes are exactly those of ``codec.facts`` and ``codec.assemble``; a test compares them row by row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from ledger.facts.codec import actor_json
from ledger.facts.event_fields import MAX_HALF_MOVES, is_plain_text
from ledger.facts.events import BirthYearLearnt, Event, GameRecorded, PlayerRegistered, RatingSeeded
from ledger.facts.instants import instant_ms_column
from ledger.facts.words import Outcome, Termination
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


def suspects(frame: DataFrame) -> Series:
    """Mark the rows that may not make a ``game-recorded/1`` (Boolean): all that make none, and perhaps others.

    Whole columns are compared with the JSON Schema of each field; ``build_events`` says what is wrong with single rows.

    Args:
        frame: columns named as the fields of ``GameRecorded``.
    """
    doubts = [_doubt(frame, name, field) for name, field in _FIELDS.items()]
    missing = [pl.col(name).is_null() for name, field in _FIELDS.items() if field.default is attrs.NOTHING]
    return frame.select(pl.any_horizontal(*doubts, *missing).fill_null(value=False).alias("suspect"))["suspect"]


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
    if name in _FREE_TEXT:
        limit = _FREE_TEXT[name]
        return column.is_in([value for value in frame[name].unique().drop_nulls() if not is_plain_text(value, limit)])
    return ~column.str.contains(schema["pattern"]) if "pattern" in schema else pl.lit(value=False)


def facts(frame: DataFrame) -> Series:
    """Return the canonical bytes of each row's facts, as text. The rows must make events."""
    return frame.select(pl.concat_str(_parts(frame, "{", "}")).alias("facts"))["facts"]


def _parts(frame: DataFrame, head: str, tail: str) -> list[Expr]:
    """Return the parts that make the facts when joined, with *head* and *tail* around the members."""
    parts: list[Expr] = []
    # separator between the values so far and the next
    written = head
    # The key of the entry carries the key of the game, so that the facts do not repeat it.
    for name in sorted(set(_FIELDS) - {"game"}):
        missing = frame[name].null_count()
        if missing == len(frame) and missing:
            continue
        comma = "," if parts else ""  # the first field of all is never missing
        quote = '"' if name in _QUOTED else ""
        value = pl.col(name).cast(pl.String)
        # of what an event may hold, JSON escapes these two characters alone
        if name in _FREE_TEXT:
            value = value.str.replace_all("\\", "\\\\", literal=True).str.replace_all('"', '\\"', literal=True)
        if missing:
            member = pl.concat_str(pl.lit(f'{comma}"{name}":{quote}'), value, pl.lit(quote)).fill_null("")
            parts += [pl.lit(written), member]
            written = ""
        else:
            parts += [pl.lit(f'{written}{comma}"{name}":{quote}'), value]
            written = quote
    return [*parts, pl.lit(written + tail)]


def bodies(frame: DataFrame, first: int, recorded_at: str, actor: str) -> list[bytes]:
    """Return whole entries, at positions from *first* on, in order. The rows must make events."""
    body = pl.concat_str(
        *_parts(frame, f'{{"actor":{actor_json(actor)},"facts":{{', '},"key":"game:'),
        pl.col("game"),
        pl.lit(f'","kind":"{GameRecorded.KIND}","position":'),
        pl.int_range(first, first + len(frame), dtype=pl.Int64).cast(pl.String),
        pl.lit(f',"recorded_at":"{recorded_at}"}}'),
    )
    return frame.select(body.cast(pl.Binary).alias("body"))["body"].to_list()


# Importers hand half-moves on in columns of 32 bits (``source_games.frame_schema``).
assert MAX_HALF_MOVES < 2**31

_NUMBERS = {"birth_year", "games", "player"}
_KEYS: Mapping[type[Event], str] = {
    PlayerRegistered: "player:{player}",
    BirthYearLearnt: "born:{player}",
    RatingSeeded: "seed:{pool}:{player}@{since}",
}


def player_suspects(frame: DataFrame, kind: type[Event]) -> Series:
    """Mark the rows with a value that the event class may refuse (Boolean); only the class's own fields are checked."""
    fields = {field.name: field for field in attrs.fields(kind) if field.name in frame.columns}
    doubts = [_doubt(frame, name, field) for name, field in fields.items()]
    return frame.select(pl.any_horizontal(*doubts).fill_null(value=False).alias("suspect"))["suspect"]


def player_keys(frame: DataFrame, kind: type[Event]) -> Series:
    """Return the key of each row's event."""
    since = pl.col("effective_at").fill_null("start") if kind is RatingSeeded else pl.lit("")
    parts = _KEYS[kind].replace("{pool}", "{}").replace("{player}", "{}").replace("{since}", "{}")
    columns = [pl.col("pool"), pl.col("player"), since] if kind is RatingSeeded else [pl.col("player")]
    return frame.select(pl.format(parts, *columns).alias("key"))["key"]


def player_facts(frame: DataFrame, kind: type[Event]) -> Series:
    """Return the canonical bytes of each row's facts, as text; columns that the frame lacks are absent."""
    return frame.select(pl.concat_str(pl.lit("{"), *_members(frame, kind), pl.lit("}")).alias("facts"))["facts"]


def _members(frame: DataFrame, kind: type[Event]) -> list[Expr]:
    names = sorted(field.name for field in attrs.fields(kind))
    present = [name for name in names if name in frame.columns and frame[name].null_count() < len(frame)]
    always = [name for name in present if not frame[name].null_count()]
    first = next(name for name in present if name in always)
    members: list[Expr] = []
    for name in present:
        quote = "" if name in _NUMBERS else '"'
        # up to the first field that every row has, a comma follows each value; after it a comma precedes each
        before, after = ("", ",") if name < first else ("", "") if name == first else (",", "")
        value = pl.col(name).cast(pl.String)
        if name == "source":
            value = value.str.replace_all("\\", "\\\\", literal=True).str.replace_all('"', '\\"', literal=True)
        member = pl.concat_str(pl.lit(f'{before}"{name}":{quote}'), value, pl.lit(quote + after))
        members.append(member if name in always else member.fill_null(""))
    return members


def player_bodies(frame: DataFrame, kind: type[Event], first: int, recorded_at: str, actor: str) -> list[bytes]:
    """Return whole entries of one kind, at positions from *first* on, in order."""
    body = pl.concat_str(
        pl.lit(f'{{"actor":{actor_json(actor)},"facts":{{'),
        *_members(frame, kind),
        pl.lit('},"key":"'),
        player_keys(frame, kind),
        pl.lit(f'","kind":"{kind.KIND}","position":'),
        pl.int_range(first, first + len(frame), dtype=pl.Int64).cast(pl.String),
        pl.lit(f',"recorded_at":"{recorded_at}"}}'),
    )
    return frame.select(body.cast(pl.Binary).alias("body"))["body"].to_list()
