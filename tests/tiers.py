"""The tiers of the tests: the ``conftest.py`` of a folder gives its tests one, and a test's own mark wins.

======== ===================================================== ============================
tier     what belongs there                                    command
======== ===================================================== ============================
quick    everything that names no other tier                   ``sh tools/run test``
slow     takes seconds: kills, floods, large products          ``sh tools/run test --all``
outside  needs other programs: PostgreSQL, browsers, proxies   ``sh tools/run test --all``
nightly  takes minutes: long properties, failovers, memory     ``sh tools/run test --nightly``
======== ===================================================== ============================
"""

from __future__ import annotations

import pytest

TIERS = ("quick", "slow", "outside", "nightly")


def mark(item: pytest.Item, tier: str) -> None:
    """Give a test its tier, unless it has one by its own mark, its module's or a nearer folder's.

    A folder's ``conftest.py`` calls this from ``pytest_itemcollected``: pytest calls that hook for the tests below the
    folder alone, the nearest ``conftest.py`` first.
    """
    if tier_of(item) is None:
        item.add_marker(tier)


def tier_of(item: pytest.Item) -> str | None:
    """Return the tier that the nearest mark names, or None if there is no mark yet."""
    return next((mark.name for mark in item.iter_markers() if mark.name in TIERS), None)
