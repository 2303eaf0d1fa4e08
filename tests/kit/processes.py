"""Running a module in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from tests.kit.places import ROOT


def run_module(module: str, *words: object, **popen: Any) -> subprocess.CompletedProcess[str]:
    """Run ``python -m module`` in the checkout to its end, for two minutes at most; its output as text."""
    return subprocess.run(
        [sys.executable, "-m", module, *map(str, words)],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False, **popen,
    )  # fmt: skip
