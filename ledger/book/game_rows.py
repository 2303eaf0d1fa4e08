"""A game as a row of the table ``games``, and back: the facts of a row, and what follows from them alone.

Whether it counts, and where it stands in rating order, the judge says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ledger.facts.events import GameRecorded
from ledger.facts.instants import instant_ms
from ledger.facts.words import HALF_POINTS, round_order, time_loss

FACTS = (
    "white", "black", "outcome", "termination", "half_moves", "started_at", "ended_at", "tournament", "round", "rated",
    "white_rating", "black_rating",
)  # fmt: skip  # the fields of ``game-recorded/1`` that stand in a row under their own names
DERIVED = ("ended_ms", "round_order", "half_points", "time_loss")
PLACED = ("reason", "rated_ms", "batch", "began_ms")  # what the judge says


def row_of(event: GameRecorded, pool: int) -> dict[str, Any]:
    """The columns that follow from the facts of a game alone.

    Args:
        event: the game.
        pool: number of its pool.
    """
    row: dict[str, Any] = {name: getattr(event, name) for name in FACTS}
    row["outcome"], row["termination"], row["rated"] = event.outcome.value, event.termination.value, int(event.rated)
    row["pool"], row["key"] = pool, event.game
    row["ended_ms"], row["round_order"] = instant_ms(event.ended_at), round_order(event.round)
    row["half_points"] = HALF_POINTS[event.outcome]
    row["time_loss"] = time_loss(event.outcome, event.termination)
    return row


def facts_of(row: Mapping[str, Any], pool: str) -> dict[str, Any]:
    """The plain facts of a row, in the fields of ``game-recorded/1``; the movetext stands in no row.

    Args:
        row: its columns by name.
        pool: name of its pool.
    """
    facts = {name: row[name] for name in FACTS if row[name] is not None}
    return {**facts, "rated": bool(row["rated"]), "game": row["key"], "pool": pool}
