"""Journals and ledgers that the tests of the audit begin with."""

import shutil
from pathlib import Path

import pytest

from ledger.facts.events import (
    GameRecorded,
    PlayerChanged,
    RatingRunClosed,
    RatingSeeded,
    TournamentClosed,
    TournamentOpened,
)
from ledger.ledger import Ledger
from ledger.runtime.ledger_files import sidecar
from ledger.testing import kit
from tests.audit.findings import GAMES, PLAYERS
from tests.audit.raw_journals import game_fact, write_journal
from tests.kit.clubs import copied, takes_misfits
from tests.kit.every_table import make_club_with_every_table, rows, tables


@pytest.fixture
def ten_games(tmp_path: Path) -> Path:
    """Ten games: no complete tile, so no stored node."""
    path = tmp_path / "club.db"
    write_journal(path, map(game_fact, range(1, 11)))
    return path


@pytest.fixture
def six_hundred_games(tmp_path: Path) -> Path:
    """600 games: two complete tiles and 88 leaves."""
    path = tmp_path / "club.db"
    write_journal(path, map(game_fact, range(1, 601)))
    return path


@pytest.fixture(scope="module")
def folder_of_300_games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of 300 games, so that one Merkle node is stored; changes of standing; views folded in by pieces.

    A run and a tournament are closed, it was opened, and a player has a past that came too late: that touches no rating
    of a scheme by game.
    """
    folder = tmp_path_factory.mktemp("audit")
    with takes_misfits(Ledger.create(folder / "club.db")) as ledger:
        for number in range(1, PLAYERS + 1):
            ledger.register(f"name:p{number}", f"Player {number}", declared_rating=1500 if number == 4 else None)
        facts = [e for e in kit.club(GAMES, PLAYERS) if isinstance(e, GameRecorded | PlayerChanged)]
        for start in range(0, len(facts), 70):
            ledger.append_many(facts[start : start + 70])
            ledger.catch_up()
        closed = TournamentClosed(pool="standard", tournament="Café Kök", ended_at="2021-12-31")
        opened = TournamentOpened(pool="standard", tournament="Café Kök", starts_at="2021-12", ends_at="2021-12-30")
        seed = RatingSeeded(pool="standard", player=6, rating="1700", effective_at="2099")  # too late to count
        ledger.append_many([RatingRunClosed(pool="standard", as_of="2021-06"), opened, closed, seed])
        ledger.policies.set("upsets", {"margin": 250}, effective_from="2021-06", actor="admin")
        ledger.catch_up()
    return folder


@pytest.fixture
def club_of_300_games(folder_of_300_games: Path, tmp_path: Path) -> Path:
    """A copy of it, to be worked with."""
    return copied(folder_of_300_games, tmp_path)


@pytest.fixture(scope="session")
def club_with_every_table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with a row in every table, movetext, an erased player, two schemes, corrections, and a stored node."""
    path = make_club_with_every_table(tmp_path_factory.mktemp("attacked"), GAMES)
    for file in (path, sidecar(path, "views")):
        # what a process without a plug-in left behind is a row of its own, and not for an audit to compare; larger runs
        # of keys come from imports of thousands of games
        larger_runs = {f"keys_{table}" for table in range(1, 6)}
        assert {table for table in tables(file) if not rows(file, table)} <= {"left_behind", *larger_runs}
    return path


@pytest.fixture
def copy_with_every_table(club_with_every_table: Path, tmp_path: Path) -> Path:
    """A copy of its three files, to be attacked."""
    for path in club_with_every_table.parent.glob("club*.db*"):
        shutil.copy(path, tmp_path)
    return tmp_path / "club.db"
