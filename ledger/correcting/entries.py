"""The entries that a proposal and its approval are made of. Whether they may be recorded, the gate says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import orjson

from ledger.book.decided import Decided
from ledger.errors import MalformedError
from ledger.facts import codec
from ledger.facts.changes import MOST_CHANGES, Change, Verb
from ledger.facts.events import CorrectionProposed, Event

MOST_BYTES = 40_000  # of the changes in one part, far from what a body may hold


def parts(
    number: int, changes: Sequence[Change], reason: str, *, proven: bool, by_token: int | None = None
) -> list[CorrectionProposed]:
    """A proposal in as many entries as its changes need.

    Raises:
        MalformedError: one change alone is too long.
    """
    parts: list[list[Change]] = [[]]
    room = MOST_BYTES
    for place, change in enumerate(changes, 1):
        size = len(orjson.dumps(change.plain()))
        if size > MOST_BYTES:
            raise MalformedError([f"change {place} has {size} bytes, more than {MOST_BYTES} @ $.changes"])
        if size > room or len(parts[-1]) == MOST_CHANGES:
            parts.append([])
            room = MOST_BYTES
        parts[-1].append(change)
        room -= size
    return [
        CorrectionProposed(
            proposal=number,
            part=part,
            parts=len(parts),
            changes=tuple(held),
            reason=reason,
            proven=proven,
            by_token=by_token,
        )
        for part, held in enumerate(parts, 1)
    ]


def added(decided: Decided, proposal: int) -> list[Event]:
    """The facts that the approval of a proposal records."""
    return added_by(numbered.change for numbered in decided.changes([proposal]))


def added_by(changes: Iterable[Change]) -> list[Event]:
    """The facts that the approval of changes records."""
    return [codec.structure_event(change.kind, dict(change.facts or {})) for change in changes if change.do is Verb.ADD]
