"""A file of published examples, read strictly: every fault is named with its JSON path. Nothing is computed here."""

import json
from collections.abc import Iterator
from math import isfinite
from typing import Any, NamedTuple, NoReturn

Tolerance = float | dict[str, float]
_KINDS = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}


class MalformedFileError(ValueError):
    """What was given is no list of examples; the message has a line for each fault."""


class Example(NamedTuple):
    """One published example.

    Attributes:
        id: its name, for people.
        scheme: the family of the function.
        function: what is computed.
        inputs: of the function, by name.
        expected: the published result.
        tolerance: how far a number may be off; by key where results have keys, and a key not named must be exact.
        known_bad: the published result is wrong and must not be reproduced.
        source: who published it.
    """

    id: str
    scheme: str
    function: str
    inputs: dict[str, Any]
    expected: Any
    tolerance: Tolerance = 0
    known_bad: bool = False
    source: str = ""


def examples(text: str | bytes) -> list[Example]:
    """Read a JSON list of examples.

    Args:
        text: objects with the fields of ``Example``; the last three may be absent, further fields are left alone.

    Raises:
        MalformedFileError: a line for each fault, ending in its JSON path.
    """
    try:
        given = json.loads(text, parse_constant=_no_number, parse_float=_float)
    except RecursionError:
        raise MalformedFileError("no JSON that can be read: nested too deeply @ $") from None
    except ValueError as error:
        raise MalformedFileError(f"no JSON: {error} @ $") from None
    if not isinstance(given, list):
        raise MalformedFileError(f"expected a list of examples, got {_kind(given)} @ $")
    problems = [problem for i, example in enumerate(given) for problem in _problems(example, f"$[{i}]")]
    if problems:
        raise MalformedFileError("\n".join(problems))
    return [Example(**{name: example[name] for name in Example._fields if name in example}) for example in given]


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")


def _float(word: str) -> float:
    value = float(word)
    if not isfinite(value):
        raise ValueError(f"{word} is beyond all numbers")
    return value


def _kind(value: object) -> str:
    """What a JSON value is, for people."""
    return _KINDS.get(type(value)) or str(value)


def _problems(example: object, path: str) -> Iterator[str]:
    if not isinstance(example, dict):
        yield f"expected an example, an object, got {_kind(example)} @ {path}"
        return
    for name in ("id", "scheme", "function", "inputs", "expected"):
        if name not in example:
            yield f"the example lacks {name!r} @ {path}"
    for name in ("id", "scheme", "function", "source"):
        if name in example and not isinstance(example[name], str):
            yield f"expected text, got {_kind(example[name])} @ {path}.{name}"
    if not isinstance(example.get("inputs", {}), dict):
        yield f"expected an object, got {_kind(example['inputs'])} @ {path}.inputs"
    if not isinstance(example.get("known_bad", False), bool):
        yield f"expected true or false, got {_kind(example['known_bad'])} @ {path}.known_bad"
    yield from _tolerance_problems(example, f"{path}.tolerance")


def _tolerance_problems(example: dict[str, Any], path: str) -> Iterator[str]:
    tolerance = example.get("tolerance", 0)
    if not isinstance(tolerance, dict):
        if not _is_tolerance(tolerance):
            yield f"expected a number from 0, or an object of such, got {_kind(tolerance)} @ {path}"
        return
    if not _has_keys(example.get("expected", {})):
        yield f"tolerances by key need an expected result with keys @ {path}"
    for name, value in tolerance.items():
        if not _is_tolerance(value):
            yield f"expected a number from 0, got {_kind(value)} @ {path}.{name}"


def _is_tolerance(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


def _has_keys(expected: object) -> bool:
    parts = expected if isinstance(expected, list) else [expected]
    return all(isinstance(part, dict) for part in parts)
