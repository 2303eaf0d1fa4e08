"""Working ahead in other threads: while one block is written, the next is read and decoded.

SQLite, Polars and zlib let go of the interpreter while they work, so two of them can run at once. The order of the
results is that of the input, and an error surfaces where its result would have.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from ledger.runtime.lazy import futures

Item = TypeVar("Item")
Result = TypeVar("Result")
_END = object()
STEPS = 2  # ahead: enough for two cores, little enough for memory


def ahead(items: Iterable[Item]) -> Iterator[Item]:
    """The same items; the next is being fetched while the caller works on one."""
    source = iter(items)
    with futures.ThreadPoolExecutor(1) as worker:
        coming = worker.submit(next, source, _END)
        while (item := coming.result()) is not _END:
            coming = worker.submit(next, source, _END)
            yield item  # type: ignore[misc]


def mapped_ahead(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[tuple[Item, Result]]:
    """Each item with ``function(item)``; items are fetched here, the function runs two steps ahead."""
    waiting: deque[tuple[Item, futures.Future[Result]]] = deque()
    with futures.ThreadPoolExecutor(STEPS) as workers:
        for item in items:
            waiting.append((item, workers.submit(function, item)))
            if len(waiting) > STEPS:
                done, coming = waiting.popleft()
                yield done, coming.result()
        for done, coming in waiting:
            yield done, coming.result()
