"""The process of one job: a command that writes its progress into a file, and ends when its parent is gone."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import orjson

from .. import cli, progress, running
from .parents import PARENT, signal_when_orphaned

NICE = 10  # answers come before jobs
ROOM = 512  # bytes of the file: it is overwritten in one call, so that a reader sees all of it
TOLD_EVERY = 0.2  # seconds
_LONGEST = 200  # characters of what is being done


def main(arguments: Sequence[str]) -> int:
    """Run a command; the arguments are the file for its progress, and the command's own. Returns its exit code."""
    place, *words = arguments
    os.nice(NICE)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # the writer ignores it, and ends a job by it
    signal_when_orphaned(signal.SIGINT)
    # Not ``os.getppid()``: the parent may have ended while this process was being started.
    threading.Thread(target=_end_with, args=(int(os.environ[PARENT]),), daemon=True).start()
    with Path(place).open("wb", buffering=0) as file:
        progress.listeners.append(_writing(file.fileno()))
        return cli.main(words)


def _writing(descriptor: int) -> Callable[[str, int, int], None]:
    """Return a function that writes progress into a file, not too often."""
    last = ("", 0.0)

    def write(what: str, done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if what == last[0] and now - last[1] < TOLD_EVERY and done < total:
            return
        last = (what, now)
        content = orjson.dumps({"doing": what[:_LONGEST], "done": done, "total": total})
        os.pwrite(descriptor, content[:ROOM].ljust(ROOM), 0)

    return write


def _end_with(parent: int) -> None:
    """End when the parent process is gone: no client waits for the answer any more."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os.kill(os.getpid(), signal.SIGINT)  # as Ctrl-C: temporary files go


if __name__ == "__main__":
    running.as_process(partial(main, sys.argv[1:]))
