"""The benchmark's own arithmetic is tested quickly; a run of a section is slow, whole runs and rivals are nightly."""

from __future__ import annotations

import pytest

from tests.tiers import mark


def pytest_itemcollected(item: pytest.Item) -> None:
    """These tests are quick, unless they say otherwise."""
    mark(item, "quick")
