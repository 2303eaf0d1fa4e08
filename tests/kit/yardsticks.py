"""How much work something was, beside a loop that is always the same and runs in the same process.

Seconds say nothing of a program on a busy machine, not even those of the processor. What must not grow with the square
of its input is therefore told in yardsticks: one is what a million steps of the loop take here and now.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from time import process_time

_STEPS = 1_000_000  # some 0.05 s of the processor on an idle machine
_DOUBTFUL = 20.0  # yardsticks from which the loop is run again: the machine may have become slower


def yardsticks(seconds: float) -> float:
    """So many seconds of this process's processor time, as multiples of what the loop takes."""
    multiple = seconds / _usual()
    return multiple if multiple < _DOUBTFUL else seconds / max(_usual(), _loop())


@contextmanager
def within(most: float) -> Iterator[None]:
    """A block that may take so many yardsticks of the processor.

    Raises:
        AssertionError: it took more.
    """
    begun = process_time()
    yield
    took = yardsticks(process_time() - begun)
    assert took < most, f"took {took:.0f} times what a million steps of a loop take, at most {most:.0f}"


@cache
def _usual() -> float:
    return _loop()


def _loop() -> float:
    begun, total = process_time(), 0
    for step in range(_STEPS):
        total += step & 3
    return max(process_time() - begun, 1e-3)  # some clocks have coarse steps
