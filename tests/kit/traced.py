"""Which test runs which line: a plug-in of pytest for a run under coverage (``python -m tests.mutants --trace``)."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

TELLS = "LEDGER_TRACED"  # the environment's name for the file to which seconds by test are written
_seconds: dict[str, float] = {}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Lines that run from here on are those of this test, with what prepares it."""
    traced = import_module("coverage").Coverage.current()
    traced.switch_context(item.nodeid)
    begun = time.perf_counter()
    try:
        return (yield)
    finally:
        _seconds[item.nodeid] = time.perf_counter() - begun
        traced.switch_context("")


def pytest_sessionfinish() -> None:
    """Keep how long each took."""
    Path(os.environ[TELLS]).write_text(json.dumps(_seconds), "utf-8")
