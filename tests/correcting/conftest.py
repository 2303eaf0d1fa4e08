"""The club of four that is corrected."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger.ledger import Ledger
from tests.kit.corrections import made


@pytest.fixture
def four(tmp_path: Path) -> Iterator[Ledger]:
    """Ann, Bob, Cleo and Dan with seven rated games, open."""
    with made(tmp_path / "four.db") as ledger:
        yield ledger
