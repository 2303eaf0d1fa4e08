"""Running a module in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from tests.kit.places import ROOT

HANGS = 1_800  # seconds after which a process counts as hung, however busy the machine is


def run_module(module: str, *words: object, **popen: Any) -> subprocess.CompletedProcess[str]:
    """Run ``python -m module`` in the checkout to its end; its output as text."""
    return subprocess.run(
        [sys.executable, "-m", module, *map(str, words)],
        cwd=ROOT, capture_output=True, text=True, timeout=HANGS, check=False, **popen,
    )  # fmt: skip
