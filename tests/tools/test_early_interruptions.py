"""Ctrl-C at any moment of a command: from its first line to its last it prints no traceback.

Moments are counted, not measured: the interpreter tells of each module that it looks for and runs, each file that it
opens, each connection, and the interruption comes with the one of a given number.
"""

import signal
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.kit.places import ROOT
from tests.kit.processes import HANGS
from tests.tiers import few_quick

# Runs a script or a module as the interpreter would, and interrupts itself at one of its own events.
DRIVER = """
import os, runpy, signal, sys

way, first, at, *sys.argv = sys.argv[1:]
count = None


def hook(event, arguments):
    global count
    if count is None:
        if event == "exec" and getattr(arguments[0], "co_filename", "").endswith(first):
            count = 0
        return
    count += 1
    if count == int(at):
        os.kill(os.getpid(), signal.SIGINT)


sys.addaudithook(hook)
try:
    if way == "module":
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    if at == "0":
        os.write(1, f"events {count}".encode())
"""
STOPPED = "stopped; nothing half done is kept, run the command again"
MOMENTS = (0.0, 0.02, 0.2, 0.4, 0.6, 0.8, 0.92, 0.98)


def interrupted(
    way: str, at: int, folder: Path, *words: object, under: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """A command that is interrupted with its event of that number; with none for 0."""
    if way == "module":
        started, first = "tools.cli", "tools/cli.py"
    else:
        started, first = str(folder / "rating-ledger"), "tools/start.py"
        entry = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]["rating-ledger"]
        module, _, function = entry.partition(":")
        Path(started).write_text(f"import sys\nfrom {module} import {function}\nsys.exit({function}())\n")
    return subprocess.run(
        [*under, sys.executable, "-c", DRIVER, way, first, str(at), started, *map(str, words)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )


@pytest.fixture(scope="module")
def event_counts(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """How many events each way of starting has."""
    counts = {}
    for way in ("module", "script"):
        done = interrupted(way, 0, tmp_path_factory.mktemp(way), "show", sample_folder / "club.db", "ann")
        assert (done.returncode, done.stderr) == (0, "")
        counts[way] = int(done.stdout.rpartition("events ")[2])
        assert counts[way] > 1_000
    return counts


@pytest.mark.parametrize("moment", few_quick(MOMENTS, "0.4"))
@pytest.mark.parametrize("way", ["module", "script"])
def test_an_interruption_is_silent_or_told_in_one_line(
    way: str, moment: float, event_counts: dict[str, int], sample_club: Path, tmp_path: Path
) -> None:
    at = 1 + int(moment * event_counts[way])
    done = interrupted(way, at, tmp_path, "show", sample_club, "ann")
    assert done.returncode in {-signal.SIGINT, 1}
    told = {-signal.SIGINT: [], 1: [STOPPED]}[done.returncode]
    assert done.stderr.split("\n") == [*told, ""] or done.stderr.split("\n") == ["", *told, ""]
    if moment < 0.5:  # nothing is open yet: the shell says 130, as of any program
        assert (done.returncode, done.stdout) == (-signal.SIGINT, "")


def test_an_interruption_that_is_ignored_stays_so(sample_club: Path, tmp_path: Path) -> None:
    deaf = ("/bin/sh", "-c", "trap '' INT; exec \"$@\"", "sh")  # as nohup, and as what a script starts beside itself
    for way in ("module", "script"):
        done = interrupted(way, 300, tmp_path, "show", sample_club, "ann", under=deaf)
        assert (done.returncode, done.stderr) == (0, "")
        assert '"name": "ann"' in done.stdout
