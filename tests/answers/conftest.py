"""The ledger that several tests of answers ask."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger.facts.words import Termination
from ledger.ledger import Ledger
from tests.kit.clubs import NOON
from tests.kit.games import game_recorded


@pytest.fixture
def three_games(tmp_path: Path) -> Iterator[Ledger]:
    """Ann, Bob, Cleo and Dan; Ann has beaten Bob in g1 and Cleo in g2, Cleo has beaten Ann in g3 in a tournament."""
    with Ledger.create(tmp_path / "club.db", clock=lambda: NOON) as ledger:
        for name in ("Ann", "Bob", "Cleo", "Dan"):
            ledger.register(f"name:{name.lower()}", name)
        plain = {"half_moves": 40, "termination": Termination.UNKNOWN}
        ledger.append(game_recorded("g1", ended_at="2026-11-02", **plain))
        ledger.append(game_recorded("g2", black=3, ended_at="2026-11-10", **plain))
        ledger.append(game_recorded("g3", white=3, black=1, ended_at="2026-11-15", tournament="Cup", **plain))
        yield ledger
