"""What a piece of work costs: seconds of the clock, of the processor, and in turns with others. Nothing heavy."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter, process_time
from typing import Any, NamedTuple, TypeVar

from .bounds import BY_NAME, CPU
from .table import Line, line

try:
    import resource
except ImportError:  # Windows: processor time of children is not known there
    resource = None  # type: ignore[assignment]

T = TypeVar("T")


class SecondsTaken(NamedTuple):
    """Seconds of the clock, and of the processor by this process and by those that it started and that have ended."""

    clock: float
    cpu: float

    def plus(self, other: SecondsTaken) -> SecondsTaken:
        """Both together, one after the other."""
        return SecondsTaken(self.clock + other.clock, self.cpu + other.cpu)

    def rates(self, count: int) -> Rates:
        """How many a second, when *count* cost this."""
        return Rates(count / self.clock, count / self.cpu)


class Rates(NamedTuple):
    """How many a second: of the clock, and of the processor."""

    clock: float
    cpu: float


FREE = SecondsTaken(0.0, 0.0)


def cpu_seconds() -> float:
    """Seconds of the processor so far, of this process and of its children that have ended."""
    if resource is None:
        times = os.times()
        return process_time() + times.children_user + times.children_system
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return process_time() + children.ru_utime + children.ru_stime


def cost_of(work: Callable[[], object]) -> SecondsTaken:
    """Do the work once."""
    cpu, begun = cpu_seconds(), perf_counter()
    work()
    return SecondsTaken(perf_counter() - begun, cpu_seconds() - cpu)


def in_turns(works: Mapping[str, Callable[[], T]], rounds: int) -> dict[str, list[T]]:
    """Do several works in turns, so that what else the machine does meets them all; what each gave, by round."""
    given: dict[str, list[T]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            given[name].append(work())
    return given


def both_lines(
    name: str,
    where: str,
    our_figures: Sequence[SecondsTaken | Rates],
    their_figures: Sequence[SecondsTaken | Rates],
    **more: Any,
) -> tuple[Line, Line]:
    """The line of a bound by the clock or by the processor, as it says, and the other one, which only informs.

    *more* goes to ``line``.
    """
    clock = [figures.clock for figures in our_figures], [figures.clock for figures in their_figures]
    cpu = [figures.cpu for figures in our_figures], [figures.cpu for figures in their_figures]
    informing = {**more, "at_least": None, "aim": None}
    unit = BY_NAME[name].unit
    if unit.endswith(CPU):
        return line(name, where, *cpu, **more), line(name, where, *clock, **informing, unit=unit.removesuffix(CPU))
    return line(name, where, *clock, **more), line(name, where, *cpu, **informing, unit=f"{unit}{CPU}")
