"""Killed at any call of the system while a checkpoint is made: the ledger opens, and the next checkpoint is made."""

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ledger.journal.checkpoint_notes import last_checkpoint
from ledger.ledger import Ledger
from tests.kit.checkpoints import KEY, give_key
from tests.kit.clubs import new_club_of_two
from tests.kit.games import game_recorded
from tests.kit.places import ROOT

pytestmark = pytest.mark.slow

MAKE_AND_DIE = """
import os, signal, sys
from pathlib import Path
from ledger.ledger import Ledger

folder, left = Path(sys.argv[1]), [int(sys.argv[2])]
with Ledger.open(folder / "club.db", projectors=()) as ledger:
    def dying(name):
        called = getattr(os, name)

        def call(*arguments, **named):
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            return called(*arguments, **named)

        setattr(os, name, call)

    for name in ("open", "write", "fsync", "close", "rename", "replace"):
        dying(name)
    ledger.checkpoints.make(keep_in=folder / "outside" if sys.argv[3] == "outside" else None)
"""


def killed_at(folder: Path, call: int, place: str) -> bool:
    """Whether it was killed before it was done."""
    command = [sys.executable, "-c", MAKE_AND_DIE, str(folder), str(call), place]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode in {0, -signal.SIGKILL}, done.stderr
    return done.returncode != 0


@pytest.mark.parametrize(("place", "has_earlier"), [("outside", False), ("beside", True)])
def test_a_killed_checkpoint_leaves_the_earlier_ones_or_itself(place: str, has_earlier: bool, tmp_path: Path) -> None:
    (tmp_path / "club").mkdir()
    with new_club_of_two(tmp_path / "club") as club:
        give_key(club.path)
        if has_earlier:
            club.ledger.checkpoints.make(keep_in=tmp_path / "club" / "outside" if place == "outside" else None)
            club.ledger.append(game_recorded("r2"))
    call, was_killed = 0, True
    while was_killed:
        call += 1
        folder = Path(shutil.copytree(tmp_path / "club", tmp_path / str(call)))
        if (settings := folder / "club.toml").exists():
            settings.write_text(settings.read_text("utf-8").replace("/club/", f"/{call}/"), "utf-8")
        was_killed = killed_at(folder, call, place)
        with Ledger.open(folder / "club.db", projectors=()) as ledger:  # a warning would be an error here
            files = [file for file in (folder / "club.checkpoints", folder / "outside") if file.exists()]
            assert all(last_checkpoint(file) is not None for file in files)
            ledger.append(game_recorded("r3"))
            made = ledger.checkpoints.make()
            assert (made.head, made.origin) == (ledger.head(), KEY.name)
    assert call > 5
