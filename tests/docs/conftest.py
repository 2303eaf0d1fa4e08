"""Transcripts of READMEs run dozens of commands; those of the first README, and the texts themselves, are quick."""

from __future__ import annotations

import pytest

from tests.tiers import mark


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark what follows whole READMEs as slow."""
    mark(item, "slow")
