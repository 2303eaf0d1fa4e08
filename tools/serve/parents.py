"""End with the process that started this one, however that ended.

The parent keeps one end of a pipe and never writes; its children have the other end and read that it is closed. A
number of a process is no proof: a child that is still being started when its parent dies sees another one from the
beginning. On Linux the system sends a signal as well, which reaches a process whose threads are all busy.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time

from ledger.runtime.lazy import ctypes

PARENT = "RATING_LEDGER_PARENT"  # the variable in which a job finds the number of the process that began it
_PR_SET_PDEATHSIG = 1  # <linux/prctl.h>


def end_with(descriptor: int, within: float) -> None:
    """End this process when its parent is gone: by SIGTERM, or at once if that takes too long.

    Args:
        descriptor: the end of the pipe that children read.
        within: seconds that SIGTERM may take.
    """

    def wait() -> None:
        os.read(descriptor, 1)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(within)
        os._exit(1)

    signal_when_orphaned(signal.SIGTERM)
    threading.Thread(target=wait, name="parent", daemon=True).start()


def signal_when_orphaned(number: signal.Signals) -> None:
    """Have the system send a signal when the parent ends, if it can; a parent that is gone already sends none."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number)


def is_gone(descriptor: int) -> bool:
    """Return whether the parent has ended."""
    return bool(select.select([descriptor], [], [], 0)[0])
