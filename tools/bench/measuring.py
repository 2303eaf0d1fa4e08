"""What works cost: seconds of the clock and the processor, in turns with others, and the peak memory of processes.

Linux reports a process's own peak as ``VmHWM`` in ``/proc/PID/status``. ``ru_maxrss`` is no substitute: a process
inherits it from the one that started it, so that a small child of a large benchmark would look large. Pages that
processes share count for each of them. Without these files the lines of memory are left out.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple, TypeVar

import orjson

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
    return time.process_time() + children.ru_utime + children.ru_stime


def cost_of(work: Callable[[], object]) -> Figure:
    """Do the work once and return its seconds."""
    cpu, begun = _cpu_seconds(), time.perf_counter()
    work()
    return Figure(time.perf_counter() - begun, _cpu_seconds() - cpu)


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


def both_lines(name: str, where: str, own: Sequence[Figure], other: Sequence[Figure], **more: Any) -> Iterator[Line]:
    """Yield the line of a bound by the clock or the processor, as its unit says, and the other one to inform."""
    unit, informing = BY_NAME[name].unit, {**more, "at_least": None, "aim": None}
    clock, cpu = ([[figure[kind] for figure in figures] for figures in (own, other)] for kind in (0, 1))
    by_cpu = unit.endswith(CPU)
    yield line(name, where, *(cpu if by_cpu else clock), **more)
    informing["unit"] = unit.removesuffix(CPU) if by_cpu else f"{unit}{CPU}"
    yield line(name, where, *(clock if by_cpu else cpu), **informing)


def compared(
    name: str, where: str, own: Callable[[], Figure], other: Callable[[], Figure], rounds: int, *, warm: bool = True,
    **more: Any,
) -> Iterator[Line]:  # fmt: skip
    """Measure our work and the rival's in turns and yield the two lines."""
    figures = in_turns({"own": own, "other": other}, rounds, warm=warm)
    yield from both_lines(name, where, figures["own"], figures["other"], **more)


def installed(package: str) -> bool:
    """Return whether a rival is there; its lines are left out if not."""
    return find_spec(package) is not None


# Processes: works, commands and servers.

ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-P", "-m", "tools.cli")
GIB = 1024.0**3
PROC = Path("/proc")
TELLS = (PROC / "thread-self" / "children").exists()  # of memory and of children
TICK = os.sysconf("SC_CLK_TCK")  # of the processor's clock, a second
GLANCE = 0.02  # seconds between two looks at the family; a descendant's very last growth may fall between them
SAYS_WITHIN = 60.0  # seconds


class Worked(NamedTuple):
    """Work in a process of its own.

    Attributes:
        costs: what it cost, by part or by round.
        peak: the peak memory of all its processes in GiB; 0 if unknown.
        written: the bytes that it sent to a disk; 0 if unknown, or if the disk is in memory.
    """

    costs: list[Figure]
    peak: float = 0.0
    written: int = 0


def memory_of(pid: int | str = "self", field: str = "VmHWM") -> int:
    """Return a living process's peak resident memory so far (or ``VmRSS``: its memory now), bytes; 0 if unknown."""
    with suppress(OSError):
        rows = (PROC / str(pid) / "status").read_text("utf-8").splitlines()
        return next((int(row.split()[1]) * 1024 for row in rows if row.startswith(f"{field}:")), 0)
    return 0


def bytes_written() -> int:
    """Return the bytes that this process has sent to a disk so far; 0 if unknown."""
    with suppress(OSError):
        rows = (PROC / "self" / "io").read_text("utf-8").splitlines()
        return next((int(row.split()[1]) for row in rows if row.startswith("write_bytes:")), 0)
    return 0


def cpu_of(pid: int) -> float:
    """Return the processor seconds of a process and its living descendants, to the nanosecond or in ticks."""
    seconds = 0.0
    for process in (pid, *descendants(pid)):
        with suppress(OSError):
            if threads := list((PROC / str(process) / "task").glob("*/schedstat")):
                seconds += sum(int(thread.read_bytes().split()[0]) for thread in threads) / 1e9
            else:
                fields = (PROC / str(process) / "stat").read_bytes().rpartition(b")")[2].split()
                seconds += (int(fields[11]) + int(fields[12])) / TICK
    return seconds


def descendants(pid: int) -> list[int]:
    """Return every living process that descends from *pid*, without *pid*."""
    family = [pid]
    for process in family:  # grows as it is walked
        with suppress(OSError):  # it, or a thread of it, may have ended
            for thread in list((PROC / str(process) / "task").iterdir()):
                family += map(int, (thread / "children").read_bytes().split())
    return family[1:]


def watched(command: Sequence[str]) -> tuple[bytes, list[int]]:
    """Run a command to its end; returns what it printed, and the peaks of it and its descendants, as far as seen.

    Its own peak comes first; bytes. A failure is raised.
    """
    peaks: dict[int, int] = {}
    with TemporaryFile() as printed, subprocess.Popen(command, stdout=printed) as process:  # noqa: S603  # our own
        try:
            while process.poll() is None:
                for pid in (process.pid, *descendants(process.pid), *peaks):
                    peaks[pid] = max(peaks.get(pid, 0), memory_of(pid))
                time.sleep(GLANCE)
        finally:
            process.kill()  # does nothing to one that has ended
        printed.seek(0)
        output = printed.read()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, output)
    return output, list(peaks.values())


def in_a_process(work: str, *arguments: str | Path | int) -> Worked:
    """Do a work of ``ours`` in a process of its own."""
    printed, peaks = watched([sys.executable, "-m", f"{__package__}.ours", work, *map(str, arguments)])
    worked = orjson.loads(printed)
    own, *others = peaks or [0]  # its own word at its end is exact; of its descendants there is the last look
    peak = (max(worked["peak"], own) + sum(others)) / GIB if TELLS else 0.0
    return Worked([Figure(*cost) for cost in worked["costs"]], peak, worked["written"])


class Started(NamedTuple):
    """A process that runs: its number, what its log said first, and a function that waits until the log says more."""

    process: int
    said: str
    wait_for: Callable[[str], str]


@contextmanager
def server(command: Sequence[str], log: Path, *, says: str = r"http://[\w.:\[\]]+:\d+") -> Iterator[Started]:
    """Start a server, wait until its log matches *says*, and stop it afterwards."""
    with log.open("wb") as said, subprocess.Popen(command, cwd=ROOT, stdout=said, stderr=said) as process:  # noqa: S603

        def wait_for(words: str) -> str:
            until = time.monotonic() + SAYS_WITHIN
            while not (match := re.search(words, text := log.read_text("utf-8", "replace"))):
                if process.poll() is not None or time.monotonic() > until:
                    raise RuntimeError(f"{list(command[:5])} did not say {words!r}: {text[-500:]}")
                time.sleep(GLANCE / 2)
            return match[0]

        try:
            yield Started(process.pid, wait_for(says), wait_for)
        finally:
            process.terminate()
