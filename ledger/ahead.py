"""Working one step ahead in a second thread: while one block is written, the next is read and decoded.

SQLite, Polars and zlib let go of the interpreter while they work, so two of them can run at once. The order of the
results is that of the input, and an error surfaces where its result would have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
_END = object()


def ahead(items: Iterable[Item]) -> Iterator[Item]:
    """The same items; the next is being fetched while the caller works on one."""
    source = iter(items)
    with ThreadPoolExecutor(1) as worker:
        coming = worker.submit(next, source, _END)
        while (item := coming.result()) is not _END:
            coming = worker.submit(next, source, _END)
            yield item  # type: ignore[misc]


def mapped_ahead(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[tuple[Item, Result]]:
    """Each item with ``function(item)``; items are fetched here, the function runs one step ahead."""
    with ThreadPoolExecutor(1) as worker:
        waiting = None
        for item in items:
            coming = (item, worker.submit(function, item))
            if waiting is not None:
                yield waiting[0], waiting[1].result()
            waiting = coming
        if waiting is not None:
            yield waiting[0], waiting[1].result()
