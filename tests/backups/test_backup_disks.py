"""Backups and restores on other disks: full, read-only, limited."""

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger.backups import backup, restore
from ledger.errors import StorageError
from tests.kit.backups import assert_true
from tests.kit.disks import COMPILES_NOTHING, mounted, remount
from tests.kit.places import ROOT
from tests.tiers import few_quick
from tools.commands import REFUSED


@pytest.fixture(name="disk")
def _disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, of two megabytes."""
    with mounted(tmp_path / "disk", megabytes=2) as folder:
        yield folder


def test_a_backup_may_go_to_another_file_system(club_of_120_games: Path, disk: Path) -> None:
    assert_true(backup(club_of_120_games, disk / "b").folder / "club.db")
    with pytest.raises(StorageError, match="give a folder inside it"):
        backup(club_of_120_games, disk)


@pytest.mark.slow
def test_a_full_disk_leaves_no_backup_and_no_ledger(club_of_120_games: Path, kept_backup: Path, disk: Path) -> None:
    for size in ("60k", "100k", "180k"):
        remount(disk, f"size={size}")
        for work in (lambda: backup(club_of_120_games, disk / "b"), lambda: restore(kept_backup, disk / "club.db")):
            with pytest.raises(StorageError, match=r"full|space") as refusal:
                work()
            assert "\n" not in str(refusal.value)
            assert str(disk) in str(refusal.value)
            assert list(disk.iterdir()) == []
    remount(disk, "size=9m")
    assert_true(restore(backup(club_of_120_games, disk / "b").folder, disk / "club.db").path)


def test_a_read_only_disk_is_named(club_of_120_games: Path, kept_backup: Path, disk: Path) -> None:
    remount(disk, "ro")
    try:
        for work in (lambda: backup(club_of_120_games, disk / "b"), lambda: restore(kept_backup, disk / "club.db")):
            with pytest.raises(StorageError, match="Read-only file system"):
                work()
    finally:
        remount(disk, "rw")


def test_a_backup_on_a_read_only_disk_is_restored(kept_backup: Path, disk: Path, tmp_path: Path) -> None:
    shutil.copytree(kept_backup, disk / "b")
    remount(disk, "ro")
    try:
        assert_true(restore(disk / "b", tmp_path / "new.db").path)
    finally:
        remount(disk, "rw")


@pytest.mark.parametrize("limit", few_quick([4_000, 90_000], "4000"))
def test_a_file_that_may_not_grow_leaves_nothing(
    limit: int, club_of_120_games: Path, kept_backup: Path, tmp_path: Path
) -> None:
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    (tmp_path / "b").mkdir()
    for words in (("backup", str(club_of_120_games), "b/b"), ("restore", str(kept_backup), "b/club.db")):
        done = subprocess.run(
            [sys.executable, "-m", "tools.cli", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=limited,
            env={**os.environ, **COMPILES_NOTHING, "PYTHONPATH": str(ROOT)},
        )
        assert (done.returncode, len(done.stderr.splitlines())) == (REFUSED, 1), done
        assert any(word in done.stderr for word in ("too large", "disk", "full")), done
        assert list((tmp_path / "b").iterdir()) == []
