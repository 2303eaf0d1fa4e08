"""File systems of a test's own: small ones, that can be made full or read-only. Only root can mount them."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

# A process whose files may not grow would leave half of each module that it compiles, for all that come after it.
COMPILES_NOTHING = {"PYTHONDONTWRITEBYTECODE": "1"}


@contextmanager
def mounted(folder: Path, megabytes: int) -> Iterator[Path]:
    """A file system of so many megabytes at *folder*, which is made; the test is skipped where it cannot be mounted."""
    folder.mkdir()
    options = f"size={megabytes}m,mode=777"
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "none", str(folder)], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip("a file system can be mounted by root only")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def remount(folder: Path, options: str) -> None:
    """Give a mounted file system other options."""
    subprocess.run(["mount", "-o", f"remount,{options}", str(folder)], check=True)
