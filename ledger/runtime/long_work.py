"""Tools for work over many rows: run ahead in other threads, pause the collector, report progress.

SQLite, Polars and zlib let go of the interpreter while they work, so two of them can run at once: while one block is
written, the next is read and decoded.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from ledger.runtime.lazy import futures

Item = TypeVar("Item")
Result = TypeVar("Result")
_END = object()
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
    waiting: deque[tuple[Item, futures.Future[Result]]] = deque()
    with futures.ThreadPoolExecutor(STEPS) as workers:
        for item in items:
            waiting.append((item, workers.submit(function, item)))
            if len(waiting) > STEPS:
                done, coming = waiting.popleft()
                yield done, coming.result()
        for done, coming in waiting:
            yield done, coming.result()


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
