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


@cache
def folding_loop(name: str, step_kernel: Callable[..., None], fields: int) -> Callable[..., None]:
    """``fold`` for one projector."""
    return bound(fold, f"fold_{name}", step=step_kernel, FIELDS=fields)
