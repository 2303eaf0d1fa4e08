"""Work in processes of their own, and the peak memory of each: of the process, its children, and theirs.

Linux tells a process's own peak as ``VmHWM`` in ``/proc/PID/status``. ``ru_maxrss`` is no substitute there: a process
inherits it from whoever started it, so that a small child of a large benchmark would look large. Pages that processes
share count for each of them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from time import sleep
from typing import NamedTuple

import orjson

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

PROC = Path("/proc")
LISTS_CHILDREN = (PROC / "thread-self" / "children").exists()
TICK = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100  # of the processor's clock, a second
GLANCE = 0.02  # seconds between two looks at the family; a descendant's very last growth may fall between them


class Ended(NamedTuple):
    """What a process printed, its number, and the peaks of it and its descendants by number, bytes, as far as seen."""

    printed: bytes
    pid: int
    peaks: dict[int, int]


def peak_of(pid: int | str = "self") -> int | None:
    """A living process's peak resident memory so far, bytes; None where ``/proc`` does not tell."""
    with suppress(OSError):
        for field in (PROC / str(pid) / "status").read_bytes().splitlines():
            if field.startswith(b"VmHWM:"):
                return int(field.split()[1]) * 1024
    return None


def cpu_of(pid: int) -> float:
    """Seconds of the processor of a process: of its threads to the nanosecond, or where that is not kept, in ticks."""
    with suppress(OSError):
        if threads := list((PROC / str(pid) / "task").glob("*/schedstat")):
            return sum(int(thread.read_bytes().split()[0]) for thread in threads) / 1e9
        fields = (PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICK
    return 0.0


def own_peak() -> int:
    """This process's peak resident memory, bytes; 0 where nothing tells.

    Without ``/proc`` by ``ru_maxrss``, of this process and the largest of its children that have ended.
    """
    peak = peak_of()
    if peak is not None or resource is None:
        return peak or 0
    most = sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return most if sys.platform == "darwin" else most * 1024


def descendants(pid: int) -> list[int]:
    """Every living process that descends from *pid*, without *pid*; none where there is no ``/proc``."""
    parents = {} if LISTS_CHILDREN else _everybody()
    found = [pid]
    for process in found:  # grows as it is walked
        found += _children(process) if LISTS_CHILDREN else parents.get(process, ())
    return found[1:]


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):  # it, or a thread of it, may have ended
        for thread in _listed(PROC / str(pid) / "task"):
            found += map(int, (thread / "children").read_bytes().split())
    return found


def _everybody() -> dict[int, list[int]]:
    """The children of every process, by what each says of its parent: slow, for kernels that list no children."""
    children: dict[int, list[int]] = {}
    for process in _listed(PROC):
        if process.name.isdigit():
            with suppress(OSError):
                # after the name in brackets, which may hold anything: state, parent
                parent = int((process / "stat").read_bytes().rpartition(b")")[2].split()[1])
                children.setdefault(parent, []).append(int(process.name))
    return children


def _listed(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.exists() else []


def watched(command: Sequence[str], *, glance: float = GLANCE) -> Ended:
    """Run a command to its end, looking at the peaks of its whole family meanwhile.

    Raises:
        CalledProcessError: it failed; what it said stands on standard error.
    """
    peaks: dict[int, int] = {}
    with TemporaryFile() as printed:
        process = subprocess.Popen(command, stdout=printed)  # noqa: S603  # our own commands
        try:
            while process.poll() is None:
                for pid in (process.pid, *descendants(process.pid), *peaks):
                    peaks[pid] = max(peaks.get(pid, 0), peak_of(pid) or 0)
                sleep(glance)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        printed.seek(0)
        said = printed.read()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, said)
    return Ended(said, process.pid, peaks)


def in_a_process(work: str, *arguments: str | Path | int) -> dict[str, float]:
    """Do a work of ``working`` in a process of its own.

    Returns:
        What it measured, and as ``peak`` the bytes of all its processes together; 0 where nothing tells.
    """
    module = f"{__name__.rpartition('.')[0]}.working"
    ended = watched([sys.executable, "-m", module, work, *map(str, arguments)])
    measured: dict[str, float] = orjson.loads(ended.printed)
    # What it said of itself at its end is exact; of its descendants there is what was seen last.
    seen_of_itself = ended.peaks.pop(ended.pid, 0)
    measured["peak"] = max(measured["peak"], seen_of_itself) + sum(ended.peaks.values())
    return measured
