"""Decorators that compare the arguments of public calls with their annotations before anything is done.

A wrong call (a name where a player is expected) gets an error of ours that names the argument, what it must be, and
the value. The word of an enumeration is taken for its member. What cannot be compared, such as a protocol, is let pass.
"""

from __future__ import annotations

import builtins
import inspect
import re
import types
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from functools import cache, wraps
from pathlib import Path
from typing import Any, Literal, NamedTuple, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from ledger.errors import MalformedError

P = ParamSpec("P")
T = TypeVar("T")
C = TypeVar("C", bound=type)
Test = Callable[[Any], bool]
_ONE_TEXT = (str, bytes, bytearray)
_MOST_MEMBERS = 6
_LONGEST = 80  # characters of a value that an error shows
ADVICE = {
    "Person": "ledger.player(...) gives one",
    "Ledger": "Ledger.open(...) gives one",
    "TreeHead": "TreeHead.parse(...) gives one",
}


class _Parameter(NamedTuple):
    """The values that an argument may have: a test, words for the error, and the enumeration of its words."""

    name: str
    test: Test
    words: str
    enumeration: type[StrEnum] | None = None
    words_of: type[StrEnum] | None = None


def checked(call: Callable[P, T]) -> Callable[P, T]:
    """Decorate a function to raise MalformedError for arguments that do not fit its annotations.

    All such arguments are named.
    """

    @wraps(call)
    def compared(*arguments: P.args, **named: P.kwargs) -> T:
        values, by_name = check_arguments(call, arguments, named)
        return call(*values, **by_name)

    return compared


def checked_methods(cls: C) -> C:
    """Decorate a class to compare the arguments of its public methods with their annotations, as ``checked`` does."""
    for name, member in list(vars(cls).items()):
        if name.startswith("_"):
            continue
        if isinstance(member, (classmethod, staticmethod)):
            setattr(cls, name, type(member)(checked(member.__func__)))
        elif inspect.isfunction(member):
            code = inspect.unwrap(member).__code__  # a tenth of the time of ``inspect.signature``, at each start
            if code.co_argcount + code.co_kwonlyargcount > 1:
                setattr(cls, name, checked(member))
    return cls


def check_arguments(call: Callable[..., Any], arguments: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[Any, Any]:
    """Check the arguments of a call, and return them with a member of the enumeration for each word of it.

    Raises:
        MalformedError: some are not what the annotations say; each is named.
    """
    in_order, by_name = _parameters(call)
    # A result is appended in less than a millisecond: a right call costs one test an argument and nothing else.
    for parameter, value in zip(in_order, arguments, strict=False):
        if not parameter.test(value):
            break
    else:
        if all(name not in by_name or by_name[name].test(value) for name, value in named.items()):
            return arguments, named
    faults = list[str]()
    values = [_compared(parameter, value, faults) for parameter, value in zip(in_order, arguments, strict=False)]
    words = {
        name: _compared(by_name[name], value, faults) if name in by_name else value for name, value in named.items()
    }
    if faults:
        raise MalformedError([f"{call.__name__}: {fault}" for fault in faults])
    return (*values, *arguments[len(values) :]), words  # too many are refused by the call


def _compared(parameter: _Parameter, value: Any, faults: list[str]) -> Any:
    if parameter.test(value):
        return value
    if parameter.enumeration is not None and value in set(parameter.enumeration):
        return parameter.enumeration(value)
    if parameter.words_of is not None and isinstance(value, list | tuple) and set(value) <= set(parameter.words_of):
        return [parameter.words_of(word) for word in value]
    text = repr(value)
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    faults.append(f"{parameter.name} must be {parameter.words}, got {text}")
    return value


@cache
def _parameters(call: Callable[..., Any]) -> tuple[list[_Parameter], dict[str, _Parameter]]:
    function = inspect.unwrap(call)
    hints = get_type_hints(function, function.__globals__, _KnownNames(function))
    kinds = inspect.signature(function).parameters
    parameters = {
        name: _parameter(name, hints.get(name, Any))
        for name, parameter in kinds.items()
        if parameter.kind not in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}
    }
    in_order = [value for name, value in parameters.items() if kinds[name].kind != inspect.Parameter.KEYWORD_ONLY]
    return in_order, parameters


class _KnownNames(dict[str, Any]):
    """The names that an annotation may hold; any other one means ``Any``."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__({**vars(builtins), **getattr(function, "__globals__", {})})

    def __missing__(self, _: str) -> Any:
        return Any


def _parameter(name: str, annotation: Any) -> _Parameter:
    members = get_args(annotation) if get_origin(annotation) in {Union, types.UnionType} else (annotation,)
    if len(members) > _MOST_MEMBERS:  # any event: the journal says better what is none
        members = (Any,)
    inside = [each for member in members for each in get_args(member)]
    tests, classes = [_test(each) for each in members], tuple(_class(each) for each in members)
    test: Test = lambda value: any(test(value) for test in tests)  # noqa: E731
    if len(tests) == 1:
        (test,) = tests
    elif None not in classes:
        test = lambda value: isinstance(value, classes)  # type: ignore[arg-type]  # noqa: E731
    words = " or ".join(_words(each) for each in members)
    is_path = Path in members  # of a NUL the system says "embedded null byte", in a ValueError that names no path
    advice = next((ADVICE[each.__name__] for each in members if getattr(each, "__name__", "") in ADVICE), None)
    return _Parameter(
        name,
        (lambda value: test(value) and "\0" not in str(value)) if is_path else test,
        f"{words} ({advice})" if advice else f"{words} without a NUL" if is_path else words,
        _enumeration(members),
        _enumeration(inside),
    )


def _enumeration(members: Iterable[Any]) -> type[StrEnum] | None:
    return next((each for each in members if isinstance(each, type) and issubclass(each, StrEnum)), None)


def _class(annotation: Any) -> type | None:
    """Return the class to which a value must belong; None if the test of the annotation asks for more."""
    if annotation is None:
        return type(None)
    # since Python 3.11 ``Any`` is a class, which takes part in no test
    is_plain = isinstance(annotation, type) and annotation not in {int, float, Any} and not get_args(annotation)
    return annotation if is_plain and not getattr(annotation, "_is_protocol", False) else None


def _test(annotation: Any) -> Test:
    origin = get_origin(annotation) or annotation
    if annotation is None or annotation is type(None):
        return lambda value: value is None
    if annotation is int:
        return lambda value: isinstance(value, int) and not isinstance(value, bool)
    if annotation is float:
        return lambda value: isinstance(value, int | float) and not isinstance(value, bool)
    if origin is Literal:
        return lambda value: value in get_args(annotation)
    if origin is Callable:
        return callable
    if origin is Any or not isinstance(origin, type) or getattr(origin, "_is_protocol", False):
        return lambda _: True
    if not issubclass(origin, Iterable) or issubclass(origin, _ONE_TEXT) or not get_args(annotation):
        return lambda value: isinstance(value, origin)
    # A text is a sequence of texts to Python; its letters are never meant.
    if issubclass(origin, Mapping) or not hasattr(origin, "__len__") or origin is tuple:
        return lambda value: isinstance(value, origin) and not isinstance(value, _ONE_TEXT)
    each = _parameter("", get_args(annotation)[0]).test
    return lambda value: isinstance(value, origin) and not isinstance(value, _ONE_TEXT) and all(map(each, value))


def _words(annotation: Any) -> str:
    if annotation is None or annotation is type(None):
        return "None"
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return f"one of {', '.join(repr(member.value) for member in annotation)}"
    if get_origin(annotation) is None and isinstance(annotation, type):
        return {"str": "text", "int": "a whole number", "float": "a number", "bool": "True or False"}.get(
            annotation.__name__, annotation.__name__
        )
    return re.sub(r"\w+\.", "", str(annotation))
