"""The process that keeps the views level while others answer from them: what commands record is seen soon after.

It folds, and records nothing. What stops it is told once, and it tries again: the readers answer as far as it came.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Event

from ledger.errors import LedgerError
from ledger.ledger import Ledger

from .. import output

GLANCE = 0.2  # seconds between two looks at the journal
LATER = 5.0  # seconds until it tries again what failed


def keep(path: str | Path, stopped: Event) -> None:
    """Bring the views of a ledger level, again and again, until it is stopped."""
    failure = ""
    while not stopped.is_set():
        try:
            with Ledger.open(path) as ledger:
                inode = Path(path).stat().st_ino
                # another file may be put in the place of this one
                while not stopped.is_set() and Path(path).stat().st_ino == inode:
                    ledger.level()
                    failure = ""
                    stopped.wait(GLANCE)
        except (LedgerError, OSError) as error:
            if str(error) != failure:
                failure = str(error)
                output.error(f"the views are not brought level: {failure}")
            stopped.wait(LATER)


def main(arguments: Sequence[str]) -> int:
    """Keep the views of the ledger at a path level until SIGTERM."""
    stopped = Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started this process ends it
    keep(arguments[0], stopped)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
