"""Compiling kernels: a plain function and all that it calls become machine code by Numba, cached on disk.

The name of the cached code has a digest of the sources, so that no stale code is ever used; a sidecar file holds the
types of its arguments in words (``_cache_in_words``). The functions that a kernel calls become part of it, without
counting references to arrays: a kernel makes none and its caller holds them all. This module knows no scheme's
rules, no event and no table.
"""

from __future__ import annotations

import dis
import inspect
import math
import sys
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import FunctionType
from typing import Any

from ledger.errors import ProjectionError
from ledger.runtime.lazy import nb, np

# Names that ``_by_bits`` gives to the functions below: NumPy's types, as which a number's bits can be viewed.
float64: Any
int64: Any

TO_512 = 2.0**512
OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True, "_nrt": False}
INSIDE: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # only compiled code calls it
SIGN_AND_FRACTION, HALF = -0x7FF0000000000001, 0x3FE0000000000000  # of the 64 bits of a float


def with_globals(loop: Callable[..., Any], name: str, **names: object) -> Callable[..., Any]:
    """Return a copy of a function in which some global names have other values.

    Args:
        loop: the function.
        name: the name of the copy.
        names: the values by global name.
    """
    copy = FunctionType(loop.__code__, {**loop.__globals__, **names}, name)
    copy.__qualname__ = name
    return copy


def called_functions(function: Callable[..., Any]) -> dict[str, FunctionType]:
    """Return the plain functions that *function* calls by a global name; a setting may have the name of one of them."""
    names = function.__globals__
    read = {step.argval for step in dis.get_instructions(function.__code__) if step.opname == "LOAD_GLOBAL"}
    return {
        name: names[name]
        for name in function.__code__.co_names
        if name in read and isinstance(names.get(name), FunctionType) and names[name].__module__ != "math"
    }


def kernel_sources(function: Callable[..., Any], seen: dict[str, str]) -> dict[str, str]:
    """Add the source texts of a function and of all that it calls to *seen*, by name, and return *seen*.

    Without a source it is the bytecode.
    """
    # with the file, whose name distinguishes the code that ``records`` writes out for each class under one name
    key = f"{function.__module__}.{function.__qualname__} {Path(function.__code__.co_filename).name}"
    # Numba takes global numbers for constants and writes them into the code: with another value it is another kernel.
    if key not in seen:
        constants = {
            name: repr(function.__globals__[name])
            for name in sorted(function.__code__.co_names)
            if isinstance(function.__globals__.get(name), int | float | tuple)
        }
        try:
            source = inspect.getsource(function.__code__)
        except OSError:  # typed into a console
            source = function.__code__.co_code.hex() + repr(function.__code__.co_consts)
        seen[key] = source + repr(constants)
        for callee in called_functions(function).values():
            kernel_sources(callee, seen)
    return seen


def _ldexp(x: float, exponent: int) -> float:
    """Return ``math.ldexp`` without a call, the same bits; for 0.5 <= |x| < 2 and exponents from -1500 to 1500."""
    # In two steps, so that neither factor leaves the normal range; the first product is exact, the second one rounds.
    # Without a branch: with one the compiler does not see that two powers of the same number are one.
    half = exponent >> 1
    first = int64((half + 1023) << 52).view(float64)  # noqa: F821
    second = int64((exponent - half + 1023) << 52).view(float64)  # noqa: F821
    return x * first * second  # type: ignore[no-any-return]


def _frexp(x: float) -> tuple[float, int]:
    """Return ``math.frexp`` without a call, the same bits; for finite x other than 0."""
    bits = float64(x).view(int64)  # noqa: F821
    exponent = ((bits >> 52) & 0x7FF) - 1022
    if exponent == -1022:  # below the normal range
        bits = float64(x * TO_512).view(int64)  # noqa: F821
        exponent = ((bits >> 52) & 0x7FF) - 1534
    return int64((bits & SIGN_AND_FRACTION) | HALF).view(float64), exponent  # noqa: F821


# What compiled code calls instead of functions of ``math`` for which it would have to call the C library.
_BY_BITS = ((math.ldexp, _ldexp), (math.frexp, _frexp))


@cache
def _by_bits(function: Callable[..., Any]) -> Any:
    named = with_globals(function, function.__qualname__, float64=np.float64, int64=np.int64)
    return nb.njit(named, forceinline=True, **INSIDE, **OPTIONS)


def _inlined(function: Callable[..., Any], compiled: dict[Callable[..., Any], Any]) -> dict[str, Any]:
    """Return the functions that *function* calls, by name, ready to become part of it."""
    names, inside = function.__globals__, {}
    for name in function.__code__.co_names:
        for replaced, instead in _BY_BITS:
            if names.get(name) is replaced:
                inside[name] = _by_bits(instead)
    for name, callee in called_functions(function).items():
        if callee not in compiled:
            ready = _ready(callee, callee.__qualname__, compiled)
            compiled[callee] = nb.njit(ready, forceinline=True, **INSIDE, **OPTIONS)
        inside[name] = compiled[callee]
    return inside


def _ready(function: Callable[..., Any], name: str, compiled: dict[Callable[..., Any], Any]) -> Callable[..., Any]:
    """Return a copy of *function* that calls compiled ones."""
    if function.__closure__:
        raise ProjectionError(
            function.__qualname__, "a kernel must be a plain function at module level, without values from around it"
        )
    return with_globals(function, name, **_inlined(function, compiled))


def _in_words(kind: Any) -> str:
    """Return a type of compiled code as words; of a named tuple with its class's module and its fields in order."""
    parts = ", ".join(map(_in_words, getattr(kind, "types", ())))
    made_by = getattr(kind, "instance_class", None)
    if made_by is None:
        return f"{kind} ({parts})" if parts else str(kind)
    return f"{made_by.__module__}.{made_by.__qualname__} {made_by._fields} ({parts})"


@cache
def _cache_in_words() -> Any:
    """Return Numba's cache on disk, whose index names types by words."""
    # Numba writes the types themselves into the index of a kernel. Several schemes share kernels: when the plug-in of
    # one of them was gone, the whole index could not be read any more, for everybody.

    class CacheInWords(nb.core.caching.FunctionCache):
        def _index_key(self, sig: Any, codegen: Any) -> Any:
            _, *others = super()._index_key(sig, codegen)  # type: ignore[no-untyped-call]
            return (tuple(map(_in_words, getattr(sig, "args", sig))), *others)

    return CacheInWords


def digest_of_sources(sources: dict[str, str]) -> str:
    """Return a digest of source texts, 16 hexadecimal digits."""
    return sha256(repr(sorted(sources.items())).encode()).hexdigest()[:16]


@cache
def compile_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function and all that it calls, cached on disk; the result takes NumPy arrays instead of lists."""
    # with this module, which puts functions of its own into every kernel
    sources = kernel_sources(function, {__name__: inspect.getsource(sys.modules[__name__])})
    ready = _ready(function, f"{function.__qualname__}_{digest_of_sources(sources)}", {})
    try:
        kept = _cache_in_words()(ready)
    except RuntimeError:  # nowhere to keep it: a read-only installation and no home; compiled each time then
        return nb.njit(ready, **OPTIONS)  # type: ignore[no-any-return]
    result = nb.njit(ready, cache=True, **OPTIONS)
    result._cache = kept  # where Numba looks for it
    return result  # type: ignore[no-any-return]
