"""Starting a process of our own that works on a file alone, and talks through its standard input and output.

What it is asked and what it answers is the business of ``table_reader`` and ``table_writer``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from ledger.errors import StorageError

_ROOT = Path(__file__).parent.parent.parent  # where this package is imported from


def started(module: str, *words: str, path: str | Path, work: str) -> subprocess.Popen[bytes]:
    """Start a module of this package as a process, with one thread of Polars, wherever the package is imported from.

    Args:
        module: its full name.
        words: its arguments.
        path: the file on which it works.
        work: what it does to the file, for the message: ``reads`` or ``writes``.

    Raises:
        StorageError: it does not start.
    """
    found = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": found, "POLARS_MAX_THREADS": "1"}
    try:
        return subprocess.Popen(  # noqa: S603  # our own code
            [sys.executable, "-P", "-m", module, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
    except OSError as error:
        raise StorageError(str(path), f"the process that {work} it does not start: {error}") from error
