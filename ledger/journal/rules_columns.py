"""Which games of a frame ``rules`` may refuse: a quick look at whole columns, without a verdict and without words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.facts.instants import Precision, instant_ms, instant_text
from ledger.journal import rules
from ledger.runtime.lazy import pl

if TYPE_CHECKING:
    from polars import DataFrame, Series

_TO_THE_SECOND = 19  # characters of an instant before its fraction and its Z
_LAST_MS = instant_ms("9999-12-31T23:59:59Z")


def suspects(games: DataFrame, now_ms: int) -> Series:
    """Which games ``rules.check_new`` may refuse (Boolean): all that it refuses, and perhaps others.

    Pools and players that are not known are not looked for: an import makes them known before.

    Args:
        games: columns named as the fields of ``GameRecorded``; rows that make no event get any answer.
        now_ms: the recording machine's clock, milliseconds since 1970.
    """
    ended, started = pl.col("ended_at"), pl.col("started_at")
    # Instants sort as text, as far as both are known; within a second, 00Z sorts behind 00.001Z.
    known = pl.min_horizontal(ended.str.len_bytes(), started.str.len_bytes(), pl.lit(_TO_THE_SECOND))
    ended_known, started_known = ended.str.slice(0, known), started.str.slice(0, known)
    in_one_second = (known == _TO_THE_SECOND) & (ended_known == started_known) & (ended != started)
    latest = instant_text(min(now_ms + rules.FUTURE_SLACK_MS, _LAST_MS), Precision.SECOND)[:_TO_THE_SECOND]
    doubts = [pl.col("white") == pl.col("black"), ended > latest]
    if games["started_at"].null_count() < len(games):
        doubts += [ended_known < started_known, in_one_second]
    return games.select(pl.any_horizontal(doubts).fill_null(value=False).alias("suspect"))["suspect"]
