"""A projector's class and its step are looked at when it is declared.

A step runs as Python on objects for a few games and compiled on records for many. What only the compiler would refuse
is refused here: a small ledger never compiles, and its owner would learn of it with the sixty thousandth game.
"""

from __future__ import annotations

import builtins
import dis
import inspect
import math
from collections.abc import Iterator, Sequence
from math import isfinite, isnan
from pathlib import Path
from types import FunctionType
from typing import Any

import attrs

from ledger.runtime.kernels import callees
from ledger.runtime.records import is_record, numbers

_WAY = "give it fields by column(...) or part(...)"


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
    for each in numbers(made):
        kind, start, doc = each.more.get("kind"), each.start, each.doc
        if kind not in {"INTEGER", "REAL"}:
            yield f"{each.name}: a column is of INTEGER or REAL, got {kind!r}"
        elif not isnan(start) and (not isfinite(start) or (kind == "INTEGER" and start != int(start))):
            yield f"{each.name}: {start!r} is no start of a column of {kind}"
        if not isinstance(doc, str) or not doc.strip():
            yield f"{each.name}: say what it means, with its unit"


def faults_of_step(made: type, reads: Sequence[str]) -> Iterator[str]:
    """Say what is wrong with a step, by its bytecode: its source may be typed into a console."""
    step = made.__dict__.get("step")
    if not isinstance(step, FunctionType):
        yield f"{made.__name__} has no step(self, game) of its own"
        return
    where = f"step of {made.__name__} ({step.__code__.co_filename}:{step.__code__.co_firstlineno})"
    parameters = list(inspect.signature(step).parameters)
    if len(parameters) != 2:
        yield f"{where} takes (self, game), not {parameters}"
        return
    if step.__code__.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE):
        yield f"{where} is a generator; it is to change its fields and return"
    if step.__closure__:
        yield f"{where} uses {', '.join(step.__code__.co_freevars)} from around it; use names of the module"
    yield from _faults_of_names(where, step, {parameters[0]: _fields(made), parameters[1]: set(reads)})
    yield from _faults_of_code(where, step, set())


# What neither a step nor what it calls may do: Numba compiles none of it without counting references, or it would make
# a replay depend on more than the games.
_BEYOND_NUMBERS = {
    **dict.fromkeys(("FORMAT_VALUE", "FORMAT_SIMPLE", "FORMAT_WITH_SPEC", "BUILD_STRING"), "makes a text"),
    **dict.fromkeys(("BUILD_LIST", "LIST_APPEND"), "makes a list"),
    **dict.fromkeys(("BUILD_MAP", "MAP_ADD", "BUILD_CONST_KEY_MAP"), "makes a dictionary"),
    **dict.fromkeys(("BUILD_SET", "SET_ADD"), "makes a set"),
    **dict.fromkeys(("BEFORE_WITH", "LOAD_SPECIAL"), "has a with"),
    **dict.fromkeys(("DELETE_ATTR", "DELETE_SUBSCR", "DELETE_FAST"), "deletes something"),
    "MAKE_FUNCTION": "makes a function", "LOAD_BUILD_CLASS": "makes a class", "IMPORT_NAME": "has an import",
    "PUSH_EXC_INFO": "catches errors", "STORE_GLOBAL": "sets a name of the module",
}  # fmt: skip
_BUILT_IN = ("abs", "bool", "float", "int", "len", "max", "min", "range", "round")
_MAY = f"a step calculates with numbers, math, {', '.join(_BUILT_IN)} and functions of modules"


def _faults_of_code(where: str, function: FunctionType, seen: set[FunctionType]) -> Iterator[str]:
    """Say what a step, or a function that it calls, does and may not."""
    seen.add(function)
    faults = dict[str, int]()
    instructions = [*_instructions(function)]
    raises = any(instruction.opname == "RAISE_VARARGS" for _, instruction in instructions)  # with a text
    for line, instruction in instructions:
        word = _BEYOND_NUMBERS.get(instruction.opname, "")
        if instruction.opname == "LOAD_CONST" and isinstance(instruction.argval, str | bytes) and not raises:
            word = f"uses the text {instruction.argval!r}"
        elif instruction.opname == "LOAD_GLOBAL":
            word = _fault_of_name(function, str(instruction.argval))
        if word:
            faults.setdefault(word, line)
    if faults:
        file = Path(function.__code__.co_filename).name
        yield f"{where}: {', '.join(f'{file}:{line} {word}' for word, line in faults.items())}; {_MAY}"
    for called in callees(function).values():
        if called not in seen and not called.__module__.startswith("ledger."):
            yield from _faults_of_code(where, called, seen)


def _instructions(function: FunctionType) -> Iterator[tuple[int, dis.Instruction]]:
    """Yield the instructions of a function, each with its line."""
    line = function.__code__.co_firstlineno
    for instruction in dis.get_instructions(function):
        line = (instruction.positions.lineno if instruction.positions else None) or line
        yield line, instruction


def _fault_of_name(function: FunctionType, name: str) -> str:
    if name not in function.__globals__ and not hasattr(builtins, name):
        return f"uses {name}, which is defined nowhere"
    value = function.__globals__.get(name, getattr(builtins, name, None))
    if name in _BUILT_IN or (isinstance(value, type) and issubclass(value, Exception)):  # to be raised
        return ""
    if isinstance(value, int | float | FunctionType) or value is math or getattr(value, "__module__", "") == "math":
        return ""
    if isinstance(value, tuple) and all(isinstance(number, int | float) for number in value):
        return ""
    return f"uses {name}, a {type(value).__name__}"


def _fields(made: type) -> set[str]:
    return {field.name for field in attrs.fields(made)}


def _faults_of_names(where: str, step: FunctionType, names_of: dict[str, set[str]]) -> Iterator[str]:
    this, game = names_of
    loaded = before = None
    faults = set[str]()
    for line, instruction in _instructions(step):
        if loaded in names_of and instruction.opname in {"LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR"}:
            name = str(instruction.argval)
            fault = ""
            if loaded == game and instruction.opname == "STORE_ATTR":
                fault = f"line {line} writes {game}.{name}: a game is only read"
            elif loaded == game and name not in names_of[game]:
                fault = f"line {line} reads {game}.{name}, which reads= does not name"
            elif loaded == this and name not in names_of[this]:
                fault = f"line {line} uses {this}.{name}, which is none of its fields {sorted(names_of[this])}"
            if fault and fault not in faults:
                faults.add(fault)
                yield f"{where}: {fault}"
        if instruction.opname == "RETURN_VALUE" and before is not None and before != ("LOAD_CONST", None):
            yield f"{where}: line {line} returns something; what is kept stands in the fields"
        if instruction.opname == "RETURN_CONST" and instruction.argval is not None:
            yield f"{where}: line {line} returns something; what is kept stands in the fields"
        if instruction.opname.startswith("LOAD_FAST"):  # one name, or two at once
            loaded = instruction.argval[-1] if isinstance(instruction.argval, tuple) else instruction.argval
        elif instruction.opname != "COPY":  # of what is changed in place
            loaded = None
        before = instruction.opname, instruction.argval
