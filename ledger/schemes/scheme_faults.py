"""Checks of a plug-in's scheme when it is loaded: its settings, its player's state and its functions.

Ours are looked at by their contract, as those of plug-ins are once more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from ledger.runtime.plugin_code import KernelArgument, faults_of_kernel, faults_of_names
from ledger.runtime.records import is_record, numbers
from ledger.schemes.scheme import BatchGames, PastGames, Scheme, When

_PLAIN = KernelArgument()
# They run as Python alone, and are given and return objects.
_FOR_PEOPLE = ("enter", "explain", "carry", "seeded", "relist", "accepted_ratings", "unchanged_since", "welcomes")


def faults_of_scheme(scheme: Scheme) -> Iterator[str]:
    """Yield a message for each fault of a scheme: in its settings, its player's state or its functions."""
    made = scheme.player
    if not (isinstance(made, type) and attrs.has(made) and is_record(made)):
        yield f"its player is to be a class of attrs whose fields are state(...), got {made!r}"
        return
    if made.__setattr__.__name__ == "_frozen_setattrs":
        yield f"{made.__name__} is frozen, and games change a player; put @attrs.define above it"
    if not (state := numbers(made)) or state[0].name != "rating":
        yield f"the first field of {made.__name__} is to be 'rating', got {[each.name for each in state]}"
    yield from _faults_of_settings(scheme)
    yield from _faults_of_kernels(scheme)
    for name in _FOR_PEOPLE:
        yield from faults_of_names(name, getattr(scheme, name))


def _faults_of_settings(scheme: Scheme) -> Iterator[str]:
    if not (isinstance(scheme.settings, type) and attrs.has(scheme.settings)):
        yield f"its settings are to be a class of attrs, got {scheme.settings!r}"
        return
    for field in attrs.fields(scheme.settings):
        if field.metadata.keys() < {"doc", "unit", "source"}:
            yield f"setting {field.name!r}: give it by setting(default, meaning, unit, source)"
        elif not isinstance(field.default, int | float):
            yield f"setting {field.name!r}: its default is a number, True or False, got {field.default!r}"


def _faults_of_kernels(scheme: Scheme) -> Iterator[str]:
    fields = [field.name for field in attrs.fields(scheme.player)]
    read, written = KernelArgument(fields), KernelArgument(fields, written=True)
    settings: Any = attrs.fields(scheme.settings) if attrs.has(scheme.settings) else ()
    setting = KernelArgument([field.name for field in settings], "is none of the settings")
    when, games = KernelArgument(When._fields), KernelArgument(BatchGames._fields)
    shapes = {
        "rate_game": {"white": written, "black": written, "score": _PLAIN, "day": _PLAIN, "numbers": setting},
        "at": {"player": written, "period": _PLAIN, "day": _PLAIN, "numbers": setting},
        "expected_score": {"player": read, "opponent": read, "numbers": setting},
        "provisional": {"player": read, "numbers": setting},
        "listed": {"player": read, "numbers": setting},
        "in_force": {"player": read, "day": _PLAIN},
    }
    past = KernelArgument(PastGames._fields)
    shapes["fit"] = {
        "past": past, "fresh": _PLAIN, "own": _PLAIN, "after": _PLAIN, "when": when, "numbers": setting
    }  # fmt: skip
    a_pass = {"player": read, "after": written, "games": games, "when": when, "numbers": setting}
    for name, arguments in shapes.items():
        if getattr(scheme, name) is not None:
            yield from faults_of_kernel(name, getattr(scheme, name), arguments)
    for kernel in scheme.passes:
        yield from faults_of_kernel(f"pass {getattr(kernel, '__name__', kernel)!r}", kernel, a_pass)
