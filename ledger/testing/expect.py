"""Two helpers that every contract needs: an error that must come, and floats compared by their bits."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


@contextmanager
def refused(*errors: type[BaseException]) -> Iterator[None]:
    """The block must end in one of *errors*.

    Raises:
        AssertionError: it did not.
    """
    try:
        yield
    except errors:
        return
    raise AssertionError(f"expected {' or '.join(error.__name__ for error in errors)}, but nothing was refused")


def bits(values: Iterable[float]) -> bytes:
    """The bit patterns of floats: 0.0 differs from -0.0, and NaN equals itself."""
    flat = [float(value) for value in values]
    return struct.pack(f"<{len(flat)}d", *flat)
