"""A projector's class and its step are looked at when it is declared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite, isnan
from types import FunctionType
from typing import Any

import attrs

from ledger.runtime.plugin_code import KernelArgument, faults_of_kernel, returning_lines, source_place
from ledger.runtime.records import is_record, numbers

_NO_FLOATS = (int, bool, str, "int", "bool", "str")
_WAY = "give it fields by column(...) or part(...)"


def has_columns(made: Any) -> bool:
    """Say whether the fields of a class are columns, so that its step can be looked at."""
    return isinstance(made, type) and is_record(made)


def faults_of_class(made: Any, base: type) -> Iterator[str]:
    """Say what is wrong with the fields of a projector's class."""
    if not (isinstance(made, type) and issubclass(made, base) and made is not base):
        yield f"its class is to be a class of {base.__name__}, got {made!r}"
        return
    if made.__setattr__.__name__ == "_frozen_setattrs":
        yield f"{made.__name__} is frozen, and a step changes its fields; put @attrs.define above it"
        return
    if not attrs.has(made) or "__attrs_attrs__" not in vars(made):
        yield f"{made.__name__} is no class of attrs; put @attrs.define above it"
        return
    if not is_record(made):
        yield f"{made.__name__} has other fields than columns; {_WAY}"
        return
    for field in attrs.fields(made):
        if field.type in _NO_FLOATS:
            yield f"{field.name}: annotate it as float: both engines hold floats, and the SQL type is the column's"
    for each in numbers(made):
        kind, start, doc = each.more.get("kind"), each.start, each.doc
        if kind not in {"INTEGER", "REAL"}:
            yield f"{each.name}: a column is of INTEGER or REAL, got {kind!r}"
        elif not isnan(start) and (not isfinite(start) or (kind == "INTEGER" and start != int(start))):
            yield f"{each.name}: {start!r} is no start of a column of {kind}"
        if not isinstance(doc, str) or not doc.strip():
            yield f"{each.name}: say what it means, with its unit"


def faults_of_step(made: type, reads: Sequence[str]) -> Iterator[str]:
    """Say what is wrong with a step."""
    step = made.__dict__.get("step")
    if not isinstance(step, FunctionType):
        yield f"{made.__name__} has no step(self, game) of its own"
        return
    what = f"step of {made.__name__}"
    fields = [field.name for field in attrs.fields(made)]
    arguments = {"self": KernelArgument(fields, written=True), "game": KernelArgument(reads, "reads= does not name")}
    yield from faults_of_kernel(what, step, arguments)
    for line in returning_lines(step):
        yield f"{what} ({source_place(step)}): line {line} returns something; what is kept stands in the fields"
