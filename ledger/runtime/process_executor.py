"""An executor whose work is done by worker processes of this program.

The standard library's ``ProcessPoolExecutor`` imports the main module of the program again in each process, so that a
user's script needs a guard, and its processes outlive a program that is killed. Those of ``workers`` do neither.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock, local
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

from ledger.runtime import call_process
from ledger.runtime.long_work import IN_THIS_PROCESS, PartMap
from ledger.runtime.worker_messages import FAILED
from ledger.runtime.workers import Worker

P = ParamSpec("P")
Result = TypeVar("Result")
MAX_PROCESSES = 256
_QUOTA = Path("/sys/fs/cgroup/cpu.max")  # microseconds in a period, or "max", and the period


def usable_cores() -> int:
    """Return how many cores this process may use: those assigned to it, within the quota of its container."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with suppress(OSError, ValueError):
        quota, period = map(int, _QUOTA.read_text("ascii").split())
        count = min(count, max(1, quota // period))
    return count


@contextmanager
def part_map(processes: int | None = None) -> Iterator[PartMap]:
    """Give a map over parts on so many worker processes, by default one for each core; one core needs none."""
    count = min(usable_cores(), MAX_PROCESSES) if processes is None else processes
    if count == 1:
        yield IN_THIS_PROCESS
    else:
        with ProcessExecutor(count) as executor:
            yield PartMap(executor, count + 2)


class ProcessExecutor(Executor):
    """An executor of worker processes: each starts with the first work for it.

    If a worker dies, the result of its work is ``BrokenExecutor``, and another worker does the next work. If the block
    of the executor ends by an exception, such as Ctrl-C, the workers are killed and the work that waits is cancelled.
    """

    def __init__(self, processes: int) -> None:
        """Prepare so many processes; none is started."""
        self._threads = ThreadPoolExecutor(processes)  # each waits for one process
        self._of_thread = local()
        self._workers: list[Worker] = []
        self._lock = Lock()
        self._is_ended = False

    def submit(self, fn: Callable[P, Result], /, *args: P.args, **kwargs: P.kwargs) -> Future[Result]:
        """Run a function of a module on plain values, arrays or frames in one of the processes."""
        return self._threads.submit(self._run, pickle.dumps((fn, args, kwargs)))

    def _run(self, call: bytes) -> Any:
        worker = self._worker()
        try:
            worker.send("call", content=call)
            message = worker.receive()
        except (OSError, EOFError):
            del self._of_thread.worker
            if (code := worker.close()) == -signal.SIGINT:
                raise KeyboardInterrupt from None  # which all processes of a terminal get at once
            raise BrokenExecutor(f"a worker process ended (exit code {code})") from None
        value = pickle.loads(message.content)  # noqa: S301  # from our own process, by a pipe of these two
        if message.kind == FAILED:
            raise value
        return value

    def _worker(self) -> Worker:
        """Return the worker of this thread."""
        worker: Worker | None = getattr(self._of_thread, "worker", None)
        if worker is None:
            with self._lock:  # none starts behind the kill
                if self._is_ended:
                    raise BrokenExecutor("the work was stopped")
                worker = Worker(call_process.__name__, path=sys.executable, work="computes for")
                self._workers.append(worker)
            self._of_thread.worker = worker
        return worker

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # as inherited
        """End the processes when their work is done; the work that waits is cancelled if that is asked for."""
        self._threads.shutdown(wait, cancel_futures=cancel_futures)
        if wait:
            for worker in self._workers:
                worker.close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            with self._lock:
                self._is_ended = True
            for worker in self._workers:
                worker.kill()
        self.shutdown(cancel_futures=kind is not None)
