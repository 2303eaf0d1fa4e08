"""What the tests of attacks share: ledgers to attack, and a try of a family that must leave nothing to tell.

Small in continuous integration; ``LEDGER_ATTACKS=20`` makes twenty times as many attacks, each with all its plays.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.kit.attacks import Holds
from tools.attack import report
from tools.attack.families import FAMILIES, Field, Part, field, folder

TIMES = int(os.environ.get("LEDGER_ATTACKS", "1"))
BY_NAME = {family.name: family for family in FAMILIES}


@pytest.fixture(scope="session", name="attacked")
def _attacked() -> Iterator[Field]:
    """A small ledger with a past, another one like it, and a judge."""
    with folder() as scratch, field(scratch) as on:
        yield on


@pytest.fixture
def holds(attacked: Field) -> Holds:
    """Make so many attacks of a family; nothing false may be recorded, shown or called TRUE."""

    def holds(family: str, count: int) -> None:
        tried = BY_NAME[family].tries(attacked, Part(count * TIMES, shortened=TIMES == 1))
        assert tried.made > 0
        again = f"python -m tools.attack --family {family} --only"
        told = "\n".join(report.lines(tried.findings, lambda name: f"{again} {name!r}"))
        assert not tried.findings, f"{len(tried.findings)} things did not hold:\n{told}"

    return holds
