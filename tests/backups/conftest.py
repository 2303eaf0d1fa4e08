"""A ledger of 120 games, backups of it, and copies to work with or to spoil."""

import shutil
from pathlib import Path

import pytest

from ledger.backups import backup
from tests.kit.backups import record
from tests.kit.clubs import copied, take_made_up_games


@pytest.fixture(scope="module", name="folder_of_120_games")
def _folder_of_120_games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a ledger of 120 games with its views, to be copied."""
    return take_made_up_games(tmp_path_factory.mktemp("sound"), 120, 60)


@pytest.fixture(scope="module", name="kept_backup")
def _kept_backup(folder_of_120_games: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of it, never to be changed."""
    folder = tmp_path_factory.mktemp("kept")
    shutil.copytree(folder_of_120_games, folder / "ledger")
    return backup(folder / "ledger" / "club.db", folder / "backup").folder


@pytest.fixture(name="club_of_120_games")
def _club_of_120_games(folder_of_120_games: Path, tmp_path: Path) -> Path:
    """A copy of the ledger, to be worked with."""
    return copied(folder_of_120_games, tmp_path)


@pytest.fixture(name="spoilt_backup")
def _spoilt_backup(kept_backup: Path, tmp_path: Path) -> Path:
    """A copy of the backup, to be spoilt."""
    return Path(shutil.copytree(kept_backup, tmp_path / "spoilt"))


@pytest.fixture(scope="module", name="later_backup")
def _later_backup(folder_of_120_games: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A later backup of the same ledger."""
    folder = tmp_path_factory.mktemp("later")
    shutil.copytree(folder_of_120_games, folder / "ledger")
    record(folder / "ledger" / "club.db", 120, 150)
    return backup(folder / "ledger" / "club.db", folder / "backup").folder
