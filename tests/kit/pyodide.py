"""Python for browsers, which the page that checks lists needs; ``sh tools/run test --all`` fetches it by npm."""

import shutil
import sys
from pathlib import Path

import pytest

from tools.checker.building import PYODIDE

FOLDER = Path(sys.prefix) / "pyodide" / "node_modules" / "pyodide"
NEEDS_PYODIDE = pytest.mark.skipif(
    not FOLDER.is_dir(), reason=f"Pyodide is not installed: npm install --prefix {FOLDER.parents[1]} pyodide@{PYODIDE}"
)
NEEDS_NODE = pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed: apt-get install nodejs")
