"""Tools for work over many rows: run ahead in threads or on an executor, pause the collector, report progress.

SQLite, Polars and zlib let go of the interpreter while they work, so two of them can run at once: while one block is
written, the next is read and decoded. Work in Python needs processes (``process_executor``), or other machines.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeVar

import attrs

from ledger.runtime.lazy import futures

if TYPE_CHECKING:
    from concurrent.futures import Executor

Item = TypeVar("Item")
Result = TypeVar("Result")
_END = object()
IN_FLIGHT = 32  # parts on an executor whose number of workers nobody said
STEPS = 2  # ahead: enough for two cores, little enough for memory


def prefetched(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items, fetching the next one in a thread while the caller works on the last."""
    source = iter(items)
    with futures.ThreadPoolExecutor(1) as worker:
        coming = worker.submit(next, source, _END)
        while (item := coming.result()) is not _END:
            coming = worker.submit(next, source, _END)
            # For mypy the mark of the end may be an item; the loop has ended before it is one.
            yield item  # type: ignore[misc]


def mapped_in_threads(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[tuple[Item, Result]]:
    """Yield each item with ``function(item)``, which runs in threads up to two items ahead of the caller."""
    with futures.ThreadPoolExecutor(STEPS) as workers:
        yield from _mapped(workers, function, items, STEPS)


def _mapped(
    executor: Executor, function: Callable[[Item], Result], items: Iterable[Item], ahead: int
) -> Iterator[tuple[Item, Result]]:
    waiting: deque[tuple[Item, futures.Future[Result]]] = deque()
    try:
        for item in items:
            waiting.append((item, executor.submit(function, item)))
            if len(waiting) > ahead:
                done, coming = waiting.popleft()
                yield done, coming.result()
        while waiting:
            done, coming = waiting.popleft()
            yield done, coming.result()
    finally:
        for _, coming in waiting:
            coming.cancel()


@attrs.frozen
class PartMap:
    """A map over the parts of some work, in their order: in this process, or on an executor.

    Attributes:
        executor: runs the parts, whatever the number of its processes or machines; None: this process.
        in_flight: parts that are submitted and not yet taken, at most: they bound the memory.
        few: work of fewer parts stays in this process, for a worker takes 0.3 s of CPU to start.
    """

    executor: Executor | None = None
    in_flight: int = IN_FLIGHT
    few: int = 3

    def results(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Return an iterator over ``function(item)``; a module's function and plain values can go to a process."""
        return (result for _, result in self.pairs(function, items))

    def pairs(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[tuple[Item, Result]]:
        """Return an iterator over each item with ``function(item)``."""
        source = iter(items)
        first = [] if self.executor is None else list(islice(source, self.few))
        parts = chain(first, source)
        if self.executor is None or len(first) < self.few:
            return ((item, function(item)) for item in parts)
        return _mapped(self.executor, function, parts, self.in_flight - 1)

    def begin(self, function: Callable[[Item], Result], item: Item) -> Callable[[], Result]:
        """Begin one work beside others; return what waits for its result. In this process it is done only then."""
        return partial(function, item) if self.executor is None else self.executor.submit(function, item).result


IN_THIS_PROCESS = PartMap()


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause Python's garbage collector inside the block; restore it afterwards."""
    # A block of fifty thousand rows makes hundreds of thousands of tuples, none of which is part of a cycle; the
    # collector would look at them again and again and find nothing, at a tenth of the cost of an import.
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


Progress = Callable[[str, int, int], None]  # (what, done, of how many)


def no_progress(what: str, done: int, total: int) -> None:
    """Ignore a report of progress: the default where a caller wants none."""
