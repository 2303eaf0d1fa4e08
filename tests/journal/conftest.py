"""A ledger of three players and a game, whose files are moved and replaced."""

from pathlib import Path

import pytest

from tests.kit.clubs import copied, open_ledger
from tests.kit.games import game_of_2020
from tests.kit.people import THREE_NAMES


@pytest.fixture(scope="module")
def folder_of_three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("guard")
    with open_ledger(folder / "club.db") as ledger:
        for name in THREE_NAMES:
            ledger.register(f"name:{name}", name)
        ledger.append(game_of_2020("r1-b1"))
    return folder


@pytest.fixture(name="club_of_three")
def _club_of_three(folder_of_three: Path, tmp_path: Path) -> Path:
    """Three players and a game."""
    return copied(folder_of_three, tmp_path)
