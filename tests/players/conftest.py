"""A ledger whose people file is exchanged for an older or a foreign one."""

import shutil
from pathlib import Path

import pytest

from ledger.imports.reading import batch_games
from ledger.ledger import Ledger
from ledger.runtime.ledger_files import sidecar
from tests.kit.clubs import copied, open_ledger
from tests.kit.people import THREE_NAMES, import_wins, put_people_file, won_by_the_first


@pytest.fixture(scope="module")
def folder_of_four(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a ledger of four, its people file as it was in between, and another ledger."""
    folder = tmp_path_factory.mktemp("names")
    path = folder / "club.db"
    Ledger.create(path).close()
    import_wins(path, ("Ann", "Bob"))
    shutil.copy(sidecar(path, "people"), folder / "older")
    import_wins(path, ("Carl", "Dora"))
    shutil.copy(sidecar(path, "people"), folder / "newest")
    other = folder / "other.db"
    Ledger.create(other).close()
    import_wins(other, ("Zoe", "Yan"), ("Xia", "Wim"), ("Vic", "Uma"))
    return folder


@pytest.fixture(name="club_of_four")
def _club_of_four(folder_of_four: Path, tmp_path: Path) -> Path:
    """Ann has beaten Bob, then Carl has beaten Dora; beside it the people file before and after that."""
    return copied(folder_of_four, tmp_path)


@pytest.fixture(name="club_with_older_names")
def _club_with_older_names(club_of_four: Path) -> Path:
    """The same ledger with the older copy of its people file."""
    put_people_file(club_of_four.with_name("older"), club_of_four)
    return club_of_four


@pytest.fixture(name="club_with_foreign_names")
def _club_with_foreign_names(club_of_four: Path) -> Path:
    """The same ledger with the people file of another one, which knows more players."""
    put_people_file(club_of_four.with_name("other.people.db"), club_of_four)
    return club_of_four


@pytest.fixture(scope="module")
def folder_of_one_game(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("two")
    with open_ledger(folder / "club.db") as ledger:
        for number, name in enumerate((THREE_NAMES[0], "Bob"), 1):
            assert ledger.register(f"id:{number}", name) == number
        (game,) = won_by_the_first(("Ann", "Bob"))
        ledger.import_games(batch_games([game._replace(white_id="id:1", black_id="id:2")]))
        ledger.catch_up()
    return folder


@pytest.fixture(name="pair_club")
def _pair_club(folder_of_one_game: Path, tmp_path: Path) -> Path:
    """Two players, who are known by identities that say nothing of their names, and a game, rated."""
    return copied(folder_of_one_game, tmp_path / "one game")
