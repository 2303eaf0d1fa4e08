"""Pausing the garbage collector during bulk work.

A block of fifty thousand rows makes hundreds of thousands of tuples, none of which is part of a cycle; the collector
would look at them again and again and find nothing, at a tenth of the cost of an import.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """No collection of cycles inside; as it was afterwards."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
