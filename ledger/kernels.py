"""Kernels to machine code: a plain function and all that it calls, compiled by Numba and cached on disk.

The cached code lies under a name that carries a digest of the sources, so that no stale code is ever used. Nothing
here knows a scheme's rules, an event or a table.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from types import FunctionType
from typing import Any

from ledger.errors import ProjectionError
from ledger.heavy import nb


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
            if isinstance(function.__globals__.get(name), int | float | tuple)
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
            known[id(function)] = nb.njit(ready, cache=True, error_model="numpy", nogil=True)
        except RuntimeError:  # nowhere to keep it: a read-only installation and no home; compiled each time then
            known[id(function)] = nb.njit(ready, error_model="numpy", nogil=True)
    return known[id(function)]


@cache
def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """*function* and all that it calls, compiled and cached on disk; same arguments, NumPy arrays for lists."""
    sources = _sources(function, {})
    digest = sha256(repr(sorted(sources.items())).encode()).hexdigest()[:16]
    result: Callable[..., Any] = _jit(function, digest, {})
    return result
