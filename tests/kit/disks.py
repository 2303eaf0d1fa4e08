"""Disks under test: file systems that are full or read-only, which only root can mount, and no waiting for flushes."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ledger.runtime import sqlite

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


class _Unflushed(sqlite.sqlite3.Connection):
    """A connection that never waits for the disk, whatever its owner asks for."""

    _asked = False

    def execute(self, sql: str, *parameters: Any) -> Any:
        if sql.startswith("PRAGMA synchronous"):
            sql = "PRAGMA synchronous=OFF"
        elif not self._asked and not sql.startswith("PRAGMA"):  # not earlier: asking reads the file
            self._asked = True
            with suppress(sqlite.sqlite3.Error):  # the statement itself says what is wrong with the file
                super().execute("PRAGMA synchronous=OFF")
        return super().execute(sql, *parameters)


@contextmanager
def nobody_cuts_the_power() -> Iterator[None]:
    """Let no ledger of this process flush its files: on a disk each flush takes milliseconds, and a test makes many.

    Tests of power cuts start processes, which flush as ever.
    """
    connect = sqlite.sqlite3.connect
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite.sqlite3, "connect", partial(connect, factory=_Unflushed))
        patch.setattr(os, "fsync", lambda _: None)
        yield
