"""One backup, restore or row of erasures in a process of its own, to be killed at any moment.

    python -m tests.kit.backup_driver FOLDER --work backup|restore|erase [--die-at N]

In FOLDER stand ``club.db`` and, for ``restore``, the backup ``kept``; a backup goes to ``b``. The process ends as by
kill -9 before the N-th step: a statement of SQLite, or the making, opening, moving or taking away of a file.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from ledger.audit.audit import Verdict
from ledger.backups import backup, disk, restore, restoring
from ledger.errors import StorageError
from tests.kit import crash_driver
from tests.kit.clubs import open_ledger

STEPS = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.chown"}


def die_at(step: int, folder: Path) -> list[int]:
    """End this process before that step, counted from 1; the steps that are left, kept up to date."""
    left = crash_driver.die_at(step)

    def count(event: str, arguments: tuple[Any, ...]) -> None:
        if event in STEPS and str(arguments[0]).startswith(str(folder)):
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    return left


def set_audit_aside(kept: Path) -> None:
    """The audit writes nothing beside the ledger and takes most of the time; here only the moves matter."""
    head = disk.read_manifest(kept).head

    def believe(*_: Any, **__: Any) -> Verdict:
        return Verdict(head, head.size, 0, 0, {}, ())

    restoring.audit = believe  # type: ignore[attr-defined]


def erase(path: Path) -> None:
    """Erase one player after the other, for as long as there are new ones, up to 5 seconds."""
    ends = time.monotonic() + 5
    with open_ledger(path) as ledger:  # by the clock of the imports beside it
        player = 1
        while time.monotonic() < ends and not path.with_name("stop").exists():
            with suppress(StorageError):  # somebody reads the file: again later
                ledger.erase(player)
                player += bool(ledger.people.by_number([player]))
            time.sleep(0.02)


def main() -> int:
    """Do the work; the last line says how many steps it took."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--work", required=True)
    parser.add_argument("--die-at", type=int, default=2**62)
    arguments = parser.parse_args()
    folder = arguments.folder
    if arguments.work == "restore":
        set_audit_aside(folder / "kept")
    left = die_at(arguments.die_at, folder)
    if arguments.work == "backup":
        backup(folder / "club.db", folder / "b")
    elif arguments.work == "restore":
        restore(folder / "kept", folder / "club.db", replace=True)
    else:
        erase(folder / "club.db")
    sys.stdout.write(f"{arguments.die_at - left[0]}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
