"""``player-registered/1`` and ``rating-seeded/1`` for whole columns: canonical bytes of many rows.

The bytes are exactly those of ``codec.facts`` and ``codec.assemble``; a test compares them row by row. The values must
be what the event classes take.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs

from ledger.facts.codec import seal_actor
from ledger.facts.events import BirthYearLearnt, Event, PlayerRegistered, RatingSeeded
from ledger.runtime.lazy import pl

if TYPE_CHECKING:
    from polars import DataFrame, Expr, Series

_NUMBERS = {"birth_year", "games", "player"}
_KEYS: Mapping[type[Event], str] = {
    PlayerRegistered: "player:{player}",
    BirthYearLearnt: "born:{player}",
    RatingSeeded: "seed:{pool}:{player}@{since}",
}


def keys(frame: DataFrame, kind: type[Event]) -> Series:
    """The key of each row's event."""
    since = pl.col("effective_at").fill_null("start") if kind is RatingSeeded else pl.lit("")
    parts = _KEYS[kind].replace("{pool}", "{}").replace("{player}", "{}").replace("{since}", "{}")
    columns = [pl.col("pool"), pl.col("player"), since] if kind is RatingSeeded else [pl.col("player")]
    return frame.select(pl.format(parts, *columns).alias("key"))["key"]


def facts(frame: DataFrame, kind: type[Event]) -> Series:
    """The canonical bytes of each row's facts, as text; columns that the frame lacks are absent."""
    return frame.select(pl.concat_str(pl.lit("{"), *_members(frame, kind), pl.lit("}")).alias("facts"))["facts"]


def _members(frame: DataFrame, kind: type[Event]) -> list[Expr]:
    names = sorted(field.name for field in attrs.fields(kind))
    present = [name for name in names if name in frame.columns and frame[name].null_count() < len(frame)]
    always = [name for name in present if not frame[name].null_count()]
    first = next(name for name in present if name in always)
    members: list[Expr] = []
    for name in present:
        quote = "" if name in _NUMBERS else '"'
        # before the first field that every row has stands a comma behind each value, after it one before each
        before, after = ("", ",") if name < first else ("", "") if name == first else (",", "")
        value = pl.col(name).cast(pl.String)
        if name == "source":
            value = value.str.replace_all("\\", "\\\\", literal=True).str.replace_all('"', '\\"', literal=True)
        member = pl.concat_str(pl.lit(f'{before}"{name}":{quote}'), value, pl.lit(quote + after))
        members.append(member if name in always else member.fill_null(""))
    return members


def bodies(frame: DataFrame, kind: type[Event], first: int, recorded_at: str, actor: str) -> list[bytes]:
    """Whole entries of one kind, at positions from *first* on, in order."""
    body = pl.concat_str(
        pl.lit(f'{{"actor":{seal_actor(actor)},"facts":{{'),
        *_members(frame, kind),
        pl.lit('},"key":"'),
        keys(frame, kind),
        pl.lit(f'","kind":"{kind.KIND}","position":'),
        pl.int_range(first, first + len(frame), dtype=pl.Int64).cast(pl.String),
        pl.lit(f',"recorded_at":"{recorded_at}"}}'),
    )
    return frame.select(body.cast(pl.Binary).alias("body"))["body"].to_list()
