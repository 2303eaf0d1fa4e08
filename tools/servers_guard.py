"""Ends the servers of a folder when those who use them are gone, however that happened: a process of its own.

``python servers_guard.py FOLDER`` waits until its standard input ends: until every process has ended that holds the
other end. Then it kills every process of a server in that folder and deletes the folder. A process that is killed
outright cannot do so itself, and PostgreSQL and etcd would run on.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

ROUNDS = 50  # a process that ends may leave children for a moment


def members(folder: Path) -> list[int]:
    """Return the servers' processes: those of PostgreSQL work in the folder; others were started in / and name it.

    Whoever else looks into it, such as a reader of a log, is left alone.
    """
    numbers, name = [], f"{folder}/".encode()
    for place in Path("/proc").iterdir():
        if place.name.isdigit() and int(place.name) != os.getpid():
            with suppress(OSError):
                words = (place / "cmdline").read_bytes().split(b"\0")
                where, is_server = (place / "cwd").readlink(), b"postgres" in words[0]
                if (is_server and where.is_relative_to(folder)) or (
                    where == Path("/") and any(name in word for word in words)
                ):
                    numbers.append(int(place.name))
    return numbers


def main(folder: Path) -> None:
    """Wait until the other end of standard input is closed, then end everything."""
    for stop in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(stop, signal.SIG_IGN)
    sys.stdin.buffer.read()
    for _ in range(ROUNDS):
        if not (numbers := members(folder)):
            break
        for number in numbers:
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        time.sleep(0.1)
    for line in Path("/proc/self/mounts").read_text("utf-8", "replace").splitlines():
        if (place := line.split()[1]).startswith(f"{folder}/"):  # a small disk of a node
            subprocess.run(["umount", "-l", place], check=False)  # noqa: S603, S607
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
