"""What the tests of ratings share: a ledger whose clubs a test tells itself."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger.ledger import Ledger
from tests.ratings.whole_tournaments import NOW


@pytest.fixture(name="new_club")
def _new_club(tmp_path: Path) -> Iterator[Ledger]:
    Ledger.create(tmp_path / "club.db", pool="unused", clock=lambda: NOW).close()
    with Ledger.open(tmp_path / "club.db", clock=lambda: NOW) as opened:
        yield opened
