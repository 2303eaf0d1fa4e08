"""The tiers of the tests: the ``conftest.py`` of a folder gives its tests one, and a test's own mark wins.

======== ===================================================== ============================
tier     what belongs there                                    command
======== ===================================================== ============================
quick    everything that names no other tier                   ``sh tools/run test``
slow     takes seconds: kills, floods, large products          ``sh tools/run test --all``
outside  needs other programs: PostgreSQL, browsers, proxies   ``sh tools/run test --all``
nightly  takes minutes: long properties, failovers, memory     ``sh tools/run test --nightly``
======== ===================================================== ============================

Each of the three commands has a profile of its own, which says how much a test tries. ``LEDGER_PROFILE`` names it:
``quick`` (the default), ``ci`` for ``--all``, or ``nightly``. The first two always draw the same examples, the third
draws new ones.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

TIERS = ("quick", "slow", "outside", "nightly")
PROFILE = os.environ.get("LEDGER_PROFILE", "quick")


def times(*, quick: int, ci: int, nightly: int) -> int:
    """Return how often a test repeats something under this run's profile."""
    return {"quick": quick, "ci": ci, "nightly": nightly}[PROFILE]


def examples(*, quick: int = 5, ci: int = 15, nightly: int = 300) -> settings:
    """Return the settings of a property that tries so many examples; other properties try the numbers given here."""
    return settings(max_examples=times(quick=quick, ci=ci, nightly=nightly))


def load_profile() -> None:
    """Load this run's profile for all properties: an example has no time limit, for a slow machine is not a fault."""
    settings.register_profile(
        PROFILE,
        examples(),
        deadline=None,
        derandomize=PROFILE != "nightly",
        print_blob=PROFILE == "nightly",
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    settings.load_profile(PROFILE)


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
