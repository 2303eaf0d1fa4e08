"""The ways in which a ledger brings its views up to date, each forced where chance or size would have chosen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

from ledger.book import judging
from ledger.ratings import engine, views, walks

# The numbers are thresholds.
WAYS: Mapping[str, Mapping[str, int]] = {
    "as it comes": {},
    "columns to fold": {"FEW_ENTRIES": 0},
    "compiled": {"COMPILE_FROM": 0},
    "columns and compiled": {"FEW_ENTRIES": 0, "COMPILE_FROM": 0},
    "built aside": {"BUILD_FROM": 1, "FEW_ENTRIES": 0},
    "in small blocks": {"BLOCK": 3, "FEW_JUDGED": 1},
    "in small blocks and compiled": {"BLOCK": 4, "FEW_JUDGED": 1, "COMPILE_FROM": 0, "FEW_ENTRIES": 0},
    "in short strides": {"STRIDE": 1},
    "in short strides and compiled": {"STRIDE": 2, "COMPILE_FROM": 0},
}
MODULE_OF = {"COMPILE_FROM": engine, "BLOCK": judging, "FEW_JUDGED": judging, "STRIDE": walks}  # else ``views``


@contextmanager
def forced(way: str) -> Iterator[None]:
    """Work in a way of ``WAYS``."""
    with ExitStack() as stack:
        for name, value in WAYS[way].items():
            stack.enter_context(patch.object(MODULE_OF.get(name, views), name, value))
        yield
