"""A game as a row of the table ``games``, and back: the facts of a row, and what follows from them alone.

Whether it counts, and where it stands in rating order, the judge says. ``row_of`` is for one game, ``with_derived`` for
columns of many.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ledger.facts.instants import instant_ms, instant_ms_column, round_order_column
from ledger.facts.words import HALF_POINTS, LOSER, Termination, round_order, time_loss
from ledger.runtime.lazy import pl

if TYPE_CHECKING:
    from polars import DataFrame

FACTS = (
    "white", "black", "outcome", "termination", "half_moves", "started_at", "ended_at", "tournament", "round", "rated",
    "white_rating", "black_rating",
)  # fmt: skip  # the fields of ``game-recorded/1`` that stand in a row under their own names
DERIVED = ("ended_ms", "round_order", "half_points", "time_loss")
PLACED = ("reason", "rated_ms", "batch", "began_ms")  # what the judge says


def row_of(facts: Mapping[str, Any], pool: int) -> dict[str, Any]:
    """The columns that follow from the facts of a game alone.

    Args:
        facts: the plain fields of ``game-recorded/1``; those that say nothing may be left out.
        pool: number of its pool.
    """
    row: dict[str, Any] = {name: facts.get(name) for name in FACTS}
    row["pool"], row["key"], row["rated"] = pool, facts["game"], int(facts["rated"])
    outcome, termination = row["outcome"], row["termination"]
    row["ended_ms"], row["round_order"] = instant_ms(row["ended_at"]), round_order(row["round"])
    row["half_points"], row["time_loss"] = HALF_POINTS[outcome], time_loss(outcome, termination)
    return row


def with_derived(frame: DataFrame) -> DataFrame:
    """The facts of many games with the columns ``DERIVED``, as ``row_of`` gives them for one."""
    loser = frame["outcome"].replace_strict(dict(LOSER), return_dtype=pl.Int64)
    return frame.with_columns(
        ended_ms=instant_ms_column(frame["ended_at"]),
        round_order=round_order_column(frame["round"]),
        half_points=frame["outcome"].replace_strict(dict(HALF_POINTS), return_dtype=pl.Int64),
        time_loss=pl.when(pl.col("termination") == Termination.TIME.value).then(loser).otherwise(0),
    )


def facts_of(row: Mapping[str, Any], pool: str) -> dict[str, Any]:
    """The plain facts of a row, in the fields of ``game-recorded/1``; the movetext stands in no row.

    Args:
        row: its columns by name.
        pool: name of its pool.
    """
    facts = {name: row[name] for name in FACTS if row[name] is not None}
    return {**facts, "rated": bool(row["rated"]), "game": row["key"], "pool": pool}
