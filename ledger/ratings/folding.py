"""Folds: a projector's step over the sides of players' runs, interpreted for a few, compiled for many."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from ledger.runtime.kernels import bound

# Names that ``bound`` gives to the loop below, each time to something else.
FIELDS = 0
step: Callable[..., None]


def fold(run: Any, columns: Any, state: Any, history: Any) -> None:
    """Fold sides into a running state by player, keeping the state after each side.

    Args:
        run: by side, the index of its player's run; the sides of one run follow each other in rating order.
        columns: tuple of the columns that the step takes, each by side.
        state: flat, FIELDS numbers a run; changed in place.
        history: flat, FIELDS numbers a side; filled.
    """
    for side in range(len(run)):
        p = run[side] * FIELDS
        step(state, p, columns, side)  # noqa: F821
        for field in range(FIELDS):
            history[side * FIELDS + field] = state[p + field]


def fold_changes(run: Any, columns: Any, state: Any, history: Any, changed: Any) -> None:
    """``fold`` that also tells which sides changed the state.

    Args:
        run: as for ``fold``; the sides of one run may have those of others in between, in either.
        columns: as for ``fold``.
        state: as for ``fold``.
        history: as for ``fold``.
        changed: by side; filled with 1 where a field is another than before the side, else 0. NaN is as itself.
    """
    for side in range(len(run)):
        p = run[side] * FIELDS
        for field in range(FIELDS):
            history[side * FIELDS + field] = state[p + field]
        step(state, p, columns, side)  # noqa: F821
        differs = 0
        for field in range(FIELDS):
            before = history[side * FIELDS + field]
            after = state[p + field]
            if after != before and (after == after or before == before):  # noqa: PLR0124  # NaN
                differs = 1
            history[side * FIELDS + field] = after
        changed[side] = differs


@cache
def folding_loop(
    name: str, step_kernel: Callable[..., None], fields: int, *, changes: bool = False
) -> Callable[..., None]:
    """``fold`` for one projector, or ``fold_changes``."""
    if changes:
        return bound(fold_changes, f"fold_changes_{name}", step=step_kernel, FIELDS=fields)
    return bound(fold, f"fold_{name}", step=step_kernel, FIELDS=fields)
