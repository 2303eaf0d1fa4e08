"""Checks of a plug-in's functions when it is declared, by their bytecode, for a console keeps no source.

A kernel runs as Python on objects for a few games and compiled on records for many. What only the compiler would refuse
is refused here: a small ledger never compiles, and its owner would learn of it with the sixty thousandth game. When a
function fails in the end, its error is put into words here, too.
"""

from __future__ import annotations

import builtins
import dis
import inspect
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

from ledger.errors import one_line
from ledger.runtime.kernels import called_functions
from ledger.runtime.nearest import expected_names


class KernelArgument(NamedTuple):
    """An argument that a kernel must take.

    Attributes:
        fields: the names of its fields; None for a plain number.
        lack: what a message says of a name that it has not.
        written: whether the kernel may write the fields.
    """

    fields: Sequence[str] | None = None
    lack: str = "is none of its fields"
    written: bool = False


def faults_of_kernel(what: str, kernel: Any, arguments: Mapping[str, KernelArgument]) -> Iterator[str]:
    """Yield a message for each thing that a kernel does and must not do.

    Args:
        what: the kernel's name in messages.
        kernel: the function.
        arguments: the arguments that it must take, in order, by their usual names.
    """
    if not isinstance(kernel, FunctionType):
        yield f"{what} is to be a plain function of a module, got {kernel!r}"
        return
    where = f"{what} ({source_place(kernel)})"
    parameters = list(inspect.signature(kernel).parameters)
    if len(parameters) != len(arguments):
        yield f"{where} takes ({', '.join(arguments)}), not {parameters}"
        return
    if kernel.__code__.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE):
        yield f"{where} is a generator; it is to calculate and return"
    if kernel.__closure__:
        yield f"{where} uses {', '.join(kernel.__code__.co_freevars)} from around it; use names of the module"
    by_name = zip(parameters, arguments.values(), strict=True)
    yield from _faults_of_fields(where, kernel, {name: each for name, each in by_name if each.fields is not None})
    yield from _faults_of_code(where, kernel, set())


def faults_of_names(what: str, function: Any) -> Iterator[str]:
    """Yield a message for each undefined name in a function that is never compiled."""
    if not isinstance(function, FunctionType):
        return
    for line, instruction in iter_instructions(function):
        name = str(instruction.argval)
        if instruction.opname == "LOAD_GLOBAL" and _is_undefined(function, name):
            file = Path(function.__code__.co_filename).name
            yield f"{what} ({source_place(function)}): {file}:{line} uses {name}, which is defined nowhere"


def source_place(function: Any) -> str:
    """Return the file and the line where a function begins, as ``FILE:LINE``."""
    return f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}"


def describe_failure(what: str, function: Any, error: BaseException) -> str:
    """Return a message about an error that a plug-in's function, called *what*, raised, with its line."""
    if type(error).__module__.startswith("numba"):
        # Numba reports all that led to the faulty line; for files other than the function's no more is known.
        source = function.__code__.co_filename
        places = [line for path, line in re.findall(r'File "([^"]+)", line (\d+)', str(error)) if source.endswith(path)]
        lines = [line.strip(" -") for line in str(error).splitlines()]
        why = next((line for line in lines if line and "nopython" not in line), type(error).__name__)
        where = f"{source}:{places[0]}" if places else source_place(function)
        return f"{what} cannot be compiled, as it is for many games ({one_line(why)}, {where})"
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    is_source = trace is not None and trace.tb_frame.f_code.co_filename.endswith(".py")
    where = f", {trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace is not None and is_source else ""
    return f"{what} fails ({type(error).__name__}: {one_line(error)}{where})"


# What neither a kernel nor what it calls may do: Numba compiles none of it without counting references, or a replay
# would depend on more than the games.
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
_MAY = f"it may use numbers, math, {', '.join(_BUILT_IN)} and functions of modules"


def _faults_of_code(where: str, function: FunctionType, seen: set[FunctionType]) -> Iterator[str]:
    seen.add(function)
    faults = dict[str, int]()
    instructions = [*iter_instructions(function)]
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
    for called in called_functions(function).values():
        if called not in seen and not called.__module__.startswith("ledger."):
            yield from _faults_of_code(where, called, seen)


def iter_instructions(function: FunctionType) -> Iterator[tuple[int, dis.Instruction]]:
    """Yield the bytecode instructions of a function, each with its line."""
    line = function.__code__.co_firstlineno
    for instruction in dis.get_instructions(function):
        line = (instruction.positions.lineno if instruction.positions else None) or line
        yield line, instruction


def _fault_of_name(function: FunctionType, name: str) -> str:
    if _is_undefined(function, name):
        return f"uses {name}, which is defined nowhere"
    value = function.__globals__.get(name, getattr(builtins, name, None))
    if name in _BUILT_IN or (isinstance(value, type) and issubclass(value, Exception)):  # to be raised
        return ""
    if isinstance(value, int | float | FunctionType) or value is math or getattr(value, "__module__", "") == "math":
        return ""
    if isinstance(value, tuple) and all(isinstance(number, int | float) for number in value):
        return ""
    if isinstance(value, type) and issubclass(value, tuple):  # named
        return ""
    return f"uses {name}, a {type(value).__name__}"


def _is_undefined(function: FunctionType, name: str) -> bool:
    return name not in function.__globals__ and not hasattr(builtins, name)


def _faults_of_fields(where: str, kernel: FunctionType, arguments: Mapping[str, KernelArgument]) -> Iterator[str]:
    loaded = None
    faults = set[str]()
    for line, instruction in iter_instructions(kernel):
        argument = arguments.get(str(loaded))
        if argument is not None and instruction.opname in {"LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR"}:
            name, fields, fault = str(instruction.argval), argument.fields or (), ""
            if instruction.opname == "STORE_ATTR" and not argument.written:
                fault = f"line {line} writes {loaded}.{name}, which is only read"
            elif name not in fields:
                verb = "writes" if instruction.opname == "STORE_ATTR" else "reads"
                fault = f"line {line} {verb} {loaded}.{name}, which {argument.lack}; {expected_names(name, fields)}"
            if fault and fault not in faults:
                faults.add(fault)
                yield f"{where}: {fault}"
        if instruction.opname.startswith("LOAD_FAST"):  # one name, or two at once
            loaded = instruction.argval[-1] if isinstance(instruction.argval, tuple) else instruction.argval
        elif instruction.opname != "COPY":  # of what is changed in place
            loaded = None


def returning_lines(kernel: FunctionType) -> Iterator[int]:
    """Yield the lines in which a function returns a value other than None."""
    before = None
    for line, instruction in iter_instructions(kernel):
        if instruction.opname == "RETURN_VALUE" and before is not None and before != ("LOAD_CONST", None):
            yield line
        if instruction.opname == "RETURN_CONST" and instruction.argval is not None:
            yield line
        before = instruction.opname, instruction.argval
