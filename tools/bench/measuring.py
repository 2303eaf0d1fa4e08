"""What a piece of work costs, in turns with others. Nothing heavy."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from time import perf_counter, process_time
from typing import Any, NamedTuple, TypeVar

from .table import BY_NAME, CPU, Line, line

T = TypeVar("T")


class Figure(NamedTuple):
    """Seconds, or how many a second: by the clock, and by the processor of this process and its ended children."""

    clock: float
    cpu: float

    def plus(self, other: Figure) -> Figure:
        """Return the seconds of both works together."""
        return Figure(self.clock + other.clock, self.cpu + other.cpu)

    def rates(self, count: int) -> Figure:
        """Return how many a second, if *count* took these seconds."""
        return Figure(count / self.clock, count / self.cpu)


FREE = Figure(0.0, 0.0)


def _cpu_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return process_time() + children.ru_utime + children.ru_stime


def cost_of(work: Callable[[], object]) -> Figure:
    """Do the work once and return its seconds."""
    cpu, begun = _cpu_seconds(), perf_counter()
    work()
    return Figure(perf_counter() - begun, _cpu_seconds() - cpu)


def in_turns(works: Mapping[Any, Callable[[], T]], rounds: int, *, warm: bool = True) -> dict[Any, list[T]]:
    """Do several works in turns, so that the machine's other load meets them all; return the results by round.

    A round before the first one, which is not counted, loads what is loaded once; a process of its own needs none.
    """
    results: dict[Any, list[T]] = {name: [] for name in works}
    for number in range(-1 if warm else 0, rounds):
        for name, work in works.items():
            result = work()
            if number >= 0:
                results[name].append(result)
    return results


def timed(works: Mapping[str, Callable[[], object]], rounds: int, *, warm: bool = True) -> dict[str, list[Figure]]:
    """Return what each work cost by round, in turns."""
    return in_turns({name: partial(cost_of, work) for name, work in works.items()}, rounds, warm=warm)


def both_lines(name: str, where: str, ours: Sequence[Figure], theirs: Sequence[Figure], **more: Any) -> Iterator[Line]:
    """Yield the line of a bound by the clock or the processor, as its unit says, and the other one to inform."""
    unit, informing = BY_NAME[name].unit, {**more, "at_least": None, "aim": None}
    clock, cpu = ([[figure[kind] for figure in figures] for figures in (ours, theirs)] for kind in (0, 1))
    if unit.endswith(CPU):
        yield line(name, where, *cpu, **more)
        yield line(name, where, *clock, **informing, unit=unit.removesuffix(CPU))
    else:
        yield line(name, where, *clock, **more)
        yield line(name, where, *cpu, **informing, unit=f"{unit}{CPU}")


def compared(
    name: str,
    where: str,
    ours: Callable[[], Figure],
    theirs: Callable[[], Figure],
    rounds: int,
    *,
    warm: bool = True,
    **more: Any,
) -> Iterator[Line]:
    """Measure ours and the rival's in turns and yield the two lines."""
    figures = in_turns({"ours": ours, "theirs": theirs}, rounds, warm=warm)
    yield from both_lines(name, where, figures["ours"], figures["theirs"], **more)


def installed(package: str) -> bool:
    """Return whether a rival is there; its lines are left out if not."""
    return find_spec(package) is not None
