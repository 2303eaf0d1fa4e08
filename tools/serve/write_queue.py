"""What waits to be recorded: bounded in facts and in bytes, taken by one thread in the order in which it came."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from typing import Any

import attrs

from . import problems
from .problems import Problem
from .verbs import GAME, Asking, verb_of

MOST_FACTS = 4_096  # that wait
MOST_BYTES = 16 << 20  # of them
MOST_LONG = 16  # files that wait
A_BATCH = 256  # games that are recorded in one transaction
FULL = "more waits to be recorded than can be at once; nothing of this was recorded: send it again later"


@attrs.define(eq=False)
class Waiting:
    """Something to be recorded, and who is to be answered.

    Attributes:
        verb: what is to be done.
        asking: who asks.
        args: with what.
        size: bytes of the message.
        sender: the client, as the socket knows it.
    """

    verb: str
    asking: Asking
    args: Mapping[str, Any]
    size: int
    sender: Any


Outcome = Mapping[str, Any] | Problem  # what came of it: what is sent, or a problem


class Queue:
    """The queues of single facts and of long work."""

    def __init__(self) -> None:
        self._single: deque[Waiting] = deque()
        self._long: deque[Waiting] = deque()
        self._bytes = 0
        self._changed = threading.Condition()
        self.is_ending = False

    def put(self, waiting: Waiting) -> bool:
        """Let it wait; False where there is no room.

        Raises:
            MalformedError: there is no such verb.
        """
        is_long = verb_of(waiting.verb).is_long
        with self._changed:
            is_full = len(self._single) >= MOST_FACTS or self._bytes + waiting.size > MOST_BYTES
            if self.is_ending or (len(self._long) >= MOST_LONG if is_long else is_full):
                return False
            (self._long if is_long else self._single).append(waiting)
            self._bytes += 0 if is_long else waiting.size
            self._changed.notify()
        return True

    def end(self) -> None:
        """Take nothing new; the consumer gets an empty list when the queue is empty."""
        with self._changed:
            self.is_ending = True
            self._changed.notify()

    def next(self) -> list[Waiting]:
        """Wait for the next work: games that follow each other, or one other thing. Empty at the end."""
        with self._changed:
            while not (self._single or self._long or self.is_ending):
                self._changed.wait()
            return self._singles() or ([self._long.popleft()] if self._long else [])

    def singles(self) -> list[Waiting]:
        """Return waiting single facts; empty if none waits."""
        with self._changed:
            return self._singles()

    def _singles(self) -> list[Waiting]:
        taken: list[Waiting] = []
        while self._single and len(taken) < A_BATCH and (not taken or self._single[0].verb == taken[0].verb == GAME):
            taken.append(self._single.popleft())
            self._bytes -= taken[-1].size
        return taken


def full(queue: Queue) -> Problem:
    """Return the answer to a client for whom there is no room in the queue."""
    if queue.is_ending:
        return problems.problem(503, "the server is ending; nothing of this was recorded: send it again later")
    return problems.problem(503, FULL)
