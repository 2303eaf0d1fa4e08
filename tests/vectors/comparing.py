"""Published examples against what the schemes compute: one verdict for each. No files, no printing."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from enum import StrEnum
from typing import Any, NamedTuple

from tests.vectors.reading import Example, Tolerance

Inputs = Mapping[str, Any]  # of one example, by name
Functions = Mapping[tuple[str, str], Callable[[Inputs], Any]]  # by scheme and function


class ExampleVerdict(StrEnum):
    """What came of an example."""

    AGREES = "agrees"
    DIFFERS = "differs"
    KNOWN_BAD = "known bad"  # the published result is wrong, and was not reproduced


class ExampleOutcome(NamedTuple):
    """An example with what came of it: the result, or the words of the error in its place."""

    example: Example
    verdict: ExampleVerdict
    got: Any = None
    error: str = ""


def agree(expected: Any, got: Any, tolerance: Tolerance) -> bool:
    """True if *got* is the published result.

    Numbers may be off by *tolerance*, lists are compared element by element, of an object only the published keys;
    everything else must be equal, and of the same kind: 1 is not true. Nothing equals a NaN.
    """
    if isinstance(expected, dict):
        return isinstance(got, Mapping) and all(
            name in got and agree(value, got[name], _of(tolerance, name)) for name, value in expected.items()
        )
    if isinstance(expected, list):
        return (
            isinstance(got, list | tuple)
            and len(got) == len(expected)
            and all(agree(wanted, given, tolerance) for wanted, given in zip(expected, got, strict=True))
        )
    if _is_number(expected):
        allowed = 0 if isinstance(tolerance, dict) else tolerance
        return _is_number(got) and (got == expected or abs(got - expected) <= allowed)
    if isinstance(expected, str):
        return isinstance(got, str) and got == expected
    return got is expected  # true, false, null


def _of(tolerance: Tolerance, name: str) -> Tolerance:
    return tolerance.get(name, 0) if isinstance(tolerance, dict) else tolerance


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def judged(example: Example, functions: Functions) -> ExampleOutcome:
    """Compute one example. An unknown function and a raised error are differences, whatever is expected."""
    function = functions.get((example.scheme, example.function))
    if function is None:
        known = any(scheme == example.scheme for scheme, _ in functions)
        missing = f"function {example.function!r} of scheme" if known else "scheme"
        return ExampleOutcome(example, ExampleVerdict.DIFFERS, error=f"no {missing} {example.scheme!r}")
    try:
        got = function(deepcopy(example.inputs))
        same = agree(example.expected, got, example.tolerance)
    except Exception as error:  # noqa: BLE001  # whatever it is, it is the answer to this example
        return ExampleOutcome(example, ExampleVerdict.DIFFERS, error=f"{type(error).__name__}: {error}")
    if example.known_bad:
        return ExampleOutcome(example, ExampleVerdict.DIFFERS if same else ExampleVerdict.KNOWN_BAD, got)
    return ExampleOutcome(example, ExampleVerdict.AGREES if same else ExampleVerdict.DIFFERS, got)


class FunctionTally(NamedTuple):
    """How the examples of one function came out; *ran* is the sum of the other three."""

    scheme: str
    function: str
    ran: int
    agree: int
    differ: int
    known_bad: int


def tally(scheme: str, function: str, verdicts: Sequence[ExampleVerdict]) -> FunctionTally:
    """One line from its verdicts."""
    return FunctionTally(scheme, function, len(verdicts), *(verdicts.count(verdict) for verdict in ExampleVerdict))


def tallies(outcomes: Iterable[ExampleOutcome]) -> Iterator[FunctionTally]:
    """A line for each scheme and function, in order of appearance."""
    counts: dict[tuple[str, str], list[ExampleVerdict]] = {}
    for outcome in outcomes:
        counts.setdefault((outcome.example.scheme, outcome.example.function), []).append(outcome.verdict)
    for key, verdicts in counts.items():
        yield tally(*key, verdicts)
