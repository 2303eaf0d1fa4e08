"""``tools/run``, the way in from a fresh clone, against an environment of a few stubs. Not what it installs."""

import os
import subprocess
from pathlib import Path

from tests.kit.places import ROOT


def test_the_command_runs_in_the_folder_of_who_calls_it(tmp_path: Path) -> None:
    """A relative path of a ledger is one of the caller, not one in the checkout."""
    (bin_folder := tmp_path / "venv" / "bin").mkdir(parents=True)
    for name, body in (("python", "exit 0"), ("rating-ledger", 'echo "$PWD: $*"')):
        (bin_folder / name).write_text(f"#!/bin/sh\n{body}\n")
        (bin_folder / name).chmod(0o755)
    (tmp_path / "venv" / ".installed-base").touch()
    (caller := tmp_path / "my club").mkdir()
    done = subprocess.run(
        ["sh", str(ROOT / "tools" / "run"), "ledger", "init", "club.db"],
        cwd=caller,
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "LEDGER_VENV": str(tmp_path / "venv")},
    )
    assert done.stdout == f"{caller}: init club.db\n"
