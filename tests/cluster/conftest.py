"""Three nodes of PostgreSQL: the quick tests install none."""

from __future__ import annotations

import pytest

from tests.tiers import mark


def pytest_itemcollected(item: pytest.Item) -> None:
    """These tests need PostgreSQL, etcd and Patroni."""
    mark(item, "outside")
