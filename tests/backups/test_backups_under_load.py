"""Backups while others write, and backups and restores that are killed at any moment."""

import shutil
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from ledger.audit.audit import audit
from ledger.audit.reader import verify_journal
from ledger.backups import Backup, backup, disk, restore
from ledger.errors import StorageError
from ledger.imports.reading import batch_games
from ledger.ledger import Ledger
from tests.kit.clubs import open_ledger, take_made_up_games
from tests.kit.games import source_games
from tests.kit.places import ROOT
from tests.kit.processes import HANGS, run_module
from tests.tiers import times

BACKUPS = 20


@pytest.fixture(scope="module", name="backed_up_folder")
def _backed_up_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of 80 games, and in ``kept`` a backup of it when it had 50."""
    folder = take_made_up_games(tmp_path_factory.mktemp("scene"), 50, 25)
    backup(folder / "club.db", folder / "kept")
    return take_made_up_games(folder, 80, 40)


def driven(folder: Path, work: str, die_at: int) -> subprocess.CompletedProcess[str]:
    return run_module("tests.kit.crash_driver", folder, "--steps", work, "--die-at", die_at)


def steps_of(scene: Path, work: str, folder: Path) -> int:
    """How many steps the work takes when nothing disturbs it."""
    done = driven(Path(shutil.copytree(scene, folder)), work, 2**62)
    assert (done.returncode, done.stderr) == (0, ""), done
    return int(done.stdout.split()[-1])


def moments(steps: int, kills: int, seed: str) -> list[int]:
    """Steps at which to kill: half of them anywhere, half in the last third, where files change places; or all."""
    if kills >= steps:
        return list(range(1, steps + 1))
    random = Random(seed)
    return [random.randint(1 if kill % 2 else steps - steps // 3, steps) for kill in range(kills)]


@pytest.mark.slow
def test_a_killed_backup_leaves_no_folder_or_a_whole_one(backed_up_folder: Path, tmp_path: Path) -> None:
    steps = steps_of(backed_up_folder, "backup", tmp_path / "undisturbed")
    for die_at in moments(steps, times(quick=1, ci=3, nightly=25), "backup"):
        folder = Path(shutil.copytree(backed_up_folder, tmp_path / "killed"))
        assert driven(folder, "backup", die_at).returncode == -9
        if not (folder / "b").exists():
            backup(folder / "club.db", folder / "b")
            assert not (folder / "b.making").exists()
        restored = restore(folder / "b", tmp_path / "killed" / "again.db")
        assert restored.head == disk.read_manifest(folder / "b").head
        assert audit(folder / "club.db", since=restored.head).falsehoods == ()
        shutil.rmtree(folder)


def test_a_killed_restore_leaves_the_old_ledger_or_the_new_one_or_says_what_to_do(
    backed_up_folder: Path, tmp_path: Path
) -> None:
    """Never a mixture; and the same command completes it, with the old files kept."""
    new = disk.read_manifest(backed_up_folder / "kept").head
    with Ledger.open(backed_up_folder / "club.db") as ledger:
        old = ledger.head()
    steps = steps_of(backed_up_folder, "restore", tmp_path / "undisturbed")
    seen = set()
    for die_at in moments(steps, times(quick=2, ci=6, nightly=50), "restore"):
        folder = Path(shutil.copytree(backed_up_folder, tmp_path / "killed"))
        club = folder / "club.db"
        assert driven(folder, "restore", die_at).returncode == -9
        try:
            with Ledger.open(club, read_only=True) as ledger:
                found = ledger.head()
            assert found in {old, new}
            assert audit(club).falsehoods == ()
            seen.add("old" if found == old else "new")
        except StorageError as error:
            assert "a restore was stopped half-way; run it again" in str(error)  # noqa: PT017  # or nothing is raised
            seen.add("half-way")
        if die_at % 2 and "new" not in seen:  # given up: what stood there is brought back
            with pytest.raises(StorageError, match="files of a ledger are there already"):
                restore(folder / "kept", club)
            assert audit(club).head == old
        done = restore(folder / "kept", club, replace=True)
        assert (done.head, audit(club).falsehoods) == (new, ())
        asides = sorted(folder.glob("club.replaced-*"))
        assert audit(asides[0] / "club.db").head == old
        assert not list(folder.glob("*.restoring"))
        shutil.rmtree(folder)
    assert len(seen) > 1


def working(*words: str) -> subprocess.Popen[bytes]:
    """A process that writes beside us."""
    command = [sys.executable, "-m", "tests.kit.crash_driver", *words]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.mark.slow
def test_backups_beside_imports_and_erasures_are_each_a_true_ledger(tmp_path: Path) -> None:
    club = tmp_path / "club.db"
    with open_ledger(club) as ledger:
        ledger.import_games(batch_games(source_games(30, seed=5), 30))
        ledger.catch_up()
    live = ("--steps", "live", "--games", "6000", "--batch", "3")
    with working(str(tmp_path), *live) as importing, working(str(tmp_path), "--steps", "erase-all") as erasing:
        assert importing.stdout is not None
        assert importing.stdout.readline() == b"opened\n"
        made: list[Backup] = []
        while len(made) < BACKUPS or not made[-1].erased or made[-1].head.size == made[0].head.size:
            assert importing.poll() is None  # it is at work all the time
            made.append(backup(club, tmp_path / f"b{len(made)}"))
        importing.terminate()
        (tmp_path / "stop").touch()
        assert (erasing.communicate(timeout=HANGS)[1], erasing.returncode) == (b"", 0)
    sizes = [copied.head.size for copied in made]
    assert sizes == sorted(sizes)
    for number, copied in enumerate(made):
        assert copied.views is not None
        restored = restore(copied.folder, tmp_path / f"restored-{number}.db")
        assert (restored.head, restored.names, restored.views) == (copied.head, copied.names, True)
        assert verify_journal(str(club), copied.head).falsehoods == ()
