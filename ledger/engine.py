"""Kernels to numbers: one source run in two ways, as ordinary Python for a few games and compiled by Numba for many.

``compiled`` takes a plain function, finds the plain functions of this project that it calls, and compiles the lot;
the compiled code is cached on disk under a name that carries a digest of their sources, so that no stale code is
ever used. Nothing here knows a scheme's rules, an event or a table.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256
from types import FunctionType
from typing import Any

from ledger.errors import ProjectionError
from ledger.heavy import nb, np
from ledger.schemes.base import Scheme

# Names that ``bound`` gives to the loops below, each time to something else.
FIELDS = 0
rate_game: Callable[..., None]
refuse: Callable[..., int]
step: Callable[..., None]

COMPILE_FROM = 20_000  # games from which loading the compiled kernel (about 0.3 s) pays


def replay(white: Any, black: Any, score: Any, state: Any, counts: Any, history: Any, n: Any, numbers: Any) -> None:
    """Rate games in order, keeping both players' state after each.

    Args:
        white: dense player index of White, by game.
        black: dense player index of Black, by game.
        score: White's score 0, 0.5 or 1, by game.
        state: flat, FIELDS numbers a player; changed in place.
        counts: rated games so far, by player; changed in place.
        history: flat, FIELDS numbers a side, White's then Black's of each game; filled.
        n: by side, the how-manieth rated game it was; filled.
        numbers: the scheme's settings.
    """
    for game in range(len(white)):
        w = white[game] * FIELDS
        b = black[game] * FIELDS
        rate_game(state, w, b, score[game], numbers)  # noqa: F821
        row = 2 * game * FIELDS
        for field in range(FIELDS):
            history[row + field] = state[w + field]
            history[row + FIELDS + field] = state[b + field]
        counts[white[game]] += 1
        n[2 * game] = counts[white[game]]
        counts[black[game]] += 1
        n[2 * game + 1] = counts[black[game]]


def refuse_all(
    outcome: Any, termination: Any, half_moves: Any, rated: Any, white: Any, black: Any, reasons: Any, numbers: Any
) -> None:
    """Ask a scheme's ``refuse`` for each game; fills *reasons* with codes."""
    for game in range(len(outcome)):
        reasons[game] = refuse(  # noqa: F821
            outcome[game], termination[game], half_moves[game], rated[game], white[game], black[game], numbers
        )


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


def bound(loop: Callable[..., None], name: str, **names: object) -> Callable[..., None]:
    """A copy of *loop* in which the given global names mean the given things."""
    copy = FunctionType(loop.__code__, {**loop.__globals__, **names}, name)
    copy.__qualname__ = name
    return copy


def _callees(function: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """The plain functions that *function* calls by a global name."""
    names = function.__globals__
    return {
        name: names[name]
        for name in function.__code__.co_names
        if isinstance(names.get(name), FunctionType) and names[name].__module__ != "math"
    }


def _sources(function: Callable[..., Any], seen: dict[str, str]) -> dict[str, str]:
    key = f"{function.__module__}.{function.__qualname__}"
    if key not in seen:
        constants = {
            name: repr(function.__globals__[name])
            for name in sorted(function.__code__.co_names)
            if isinstance(function.__globals__.get(name), int | float)
        }
        seen[key] = inspect.getsource(function.__code__) + repr(constants)
        for callee in _callees(function).values():
            _sources(callee, seen)
    return seen


def _jit(function: Callable[..., Any], suffix: str, known: dict[int, Any]) -> Any:
    """Compile *function* and, first, what it calls. The suffix makes the name on disk change with the source."""
    if function.__closure__:
        raise ProjectionError(
            function.__qualname__, "a kernel must be a plain function at module level, without values from around it"
        )
    if id(function) not in known:
        callees = {name: _jit(callee, suffix, known) for name, callee in _callees(function).items()}
        ready = bound(function, f"{function.__qualname__}_{suffix}", **callees)
        try:
            known[id(function)] = nb.njit(ready, cache=True, error_model="numpy")
        except RuntimeError:  # nowhere to keep it: a read-only installation and no home; compiled each time then
            known[id(function)] = nb.njit(ready, error_model="numpy")
    return known[id(function)]


@cache
def compiled(function: Callable[..., None]) -> Callable[..., None]:
    """*function* and all that it calls, compiled and cached on disk; same arguments, NumPy arrays for lists."""
    sources = _sources(function, {})
    digest = sha256(repr(sorted(sources.items())).encode()).hexdigest()[:16]
    result: Callable[..., None] = _jit(function, digest, {})
    return result


@cache
def rating_loop(scheme: Scheme) -> Callable[..., None]:
    """``replay`` for one scheme."""
    return bound(replay, f"replay_{scheme.name}", rate_game=scheme.rate_game, FIELDS=len(scheme.state))


@cache
def refusal_loop(scheme: Scheme) -> Callable[..., None]:
    """``refuse_all`` for one scheme."""
    return bound(refuse_all, f"refuse_{scheme.name}", refuse=scheme.refuse)


@cache
def folding_loop(name: str, step_kernel: Callable[..., None], fields: int) -> Callable[..., None]:
    """``fold`` for one projector."""
    return bound(fold, f"fold_{name}", step=step_kernel, FIELDS=fields)


def newcomers(scheme: Scheme, numbers: Any, declared: Sequence[int | None]) -> list[float]:
    """The flat state of players who have not played, in the given order."""
    return [value for one in declared for value in scheme.enter(one, numbers)]


def rate_many(
    scheme: Scheme, numbers: Any, white: Any, black: Any, score: Any, state: Any, counts: Any
) -> tuple[Any, Any]:
    """Rate many games by the compiled kernel.

    Args:
        scheme: the scheme.
        numbers: its settings.
        white: (games,) int32, dense player index.
        black: (games,) int32, dense player index.
        score: (games,) float64, White's score.
        state: (players * fields,) float64; changed in place.
        counts: (players,) int32; changed in place.

    Returns:
        (2 * games * fields,) float64 states after each side, and (2 * games,) int32 game numbers.
    """
    history = np.empty(2 * len(white) * len(scheme.state), np.float64)
    n = np.empty(2 * len(white), np.int32)
    compiled(rating_loop(scheme))(white, black, score, state, counts, history, n, numbers)
    return history, n


def rate_few(
    scheme: Scheme, numbers: Any, white: list[int], black: list[int], score: list[float],
    state: list[float], counts: list[int],
) -> tuple[list[float], list[int]]:  # fmt: skip
    """``rate_many`` as ordinary Python on lists, without NumPy or Numba; the same bits."""
    history = [0.0] * (2 * len(white) * len(scheme.state))
    n = [0] * (2 * len(white))
    rating_loop(scheme)(white, black, score, state, counts, history, n, numbers)
    return history, n


def predict(
    scheme: Scheme, numbers: Any, own: Sequence[float], opponent: Sequence[float]
) -> dict[str, tuple[float, ...]]:
    """The state after a win, a draw and a loss of the first player against the second."""
    after: dict[str, tuple[float, ...]] = {}
    for word, score in (("win", 1.0), ("draw", 0.5), ("loss", 0.0)):
        state = [*own, *opponent]
        scheme.rate_game(state, 0, len(own), score, numbers)
        after[word] = tuple(state[: len(own)])
    return after
