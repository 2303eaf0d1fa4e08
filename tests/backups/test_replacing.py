"""A restore in the place of a ledger: what is lost is told first, what was there is kept."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from ledger.backups import Loss, disk, replacing, restore
from ledger.errors import StorageError
from ledger.ledger import Ledger
from ledger.ratings.build_files import BuildFiles
from ledger.runtime import sqlite
from ledger.runtime.ledger_files import sidecar
from tests.kit.backups import LEDGER_FILES, assert_true, contents_of, damage, head_of_ledger, record
from tests.kit.clubs import NOW
from tests.kit.tampering import run_sql

LEFT_BEHIND = (
    *LEDGER_FILES, "club.db-wal", "club.db-shm", "club.db-journal", "club.people.db-wal", "club.people.db-shm",
    "club.views.db-wal", "club.views.db.building", "club.views.db.building-wal",
)  # fmt: skip


@pytest.mark.parametrize("name", LEFT_BEHIND)
def test_any_file_of_a_ledger_in_the_place_is_refused_or_moved_aside(
    name: str, kept_backup: Path, tmp_path: Path
) -> None:
    """A log that another journal left would be replayed into the new one, a build would go on with it."""
    (tmp_path / name).write_bytes(b"something else")
    with pytest.raises(StorageError, match=rf"files of a ledger are there already \({name}\)"):
        restore(kept_backup, tmp_path / "club.db")
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [(name, b"something else")]
    restored = restore(kept_backup, tmp_path / "club.db", replace=True)
    assert restored.replaced == tmp_path / "club.replaced-1"
    assert [(file.name, file.read_bytes()) for file in restored.replaced.iterdir()] == [(name, b"something else")]
    assert_true(tmp_path / "club.db")


@pytest.mark.slow
def test_the_replaced_files_are_kept_in_a_folder_of_their_own_each_time(
    kept_backup: Path, club_of_120_games: Path
) -> None:
    old, before = (
        head_of_ledger(club_of_120_games),
        {name: club_of_120_games.with_name(name).stat().st_size for name in LEDGER_FILES},
    )
    (club_of_120_games.parent / "club.replaced-1").mkdir()
    (club_of_120_games.parent / "club.replaced-1" / "note").touch()
    for number in (2, 3):
        aside = restore(kept_backup, club_of_120_games, replace=True).replaced
        assert aside == club_of_120_games.parent / f"club.replaced-{number}"
        assert {name: len(whole or b"") for name, whole in contents_of(aside).items()} == before
        assert aside.stat().st_mode & 0o777 == 0o700
        assert head_of_ledger(aside / "club.db") == old
        assert_true(aside / "club.db")
        assert_true(club_of_120_games)


def losses(kept: Path, club: Path) -> Loss:
    """What a restore is told before it is approved; nothing is changed by it."""
    told: list[Loss] = []

    def refuse(loss: Loss) -> None:
        told.append(loss)
        raise InterruptedError

    before = contents_of(club.parent)
    with pytest.raises(InterruptedError):
        restore(kept, club, replace=True, approve=refuse)
    after = contents_of(club.parent)
    assert [name for name in after if after[name] != before.get(name)] == []
    return told[0]


@pytest.mark.slow
def test_what_would_be_lost_is_told_first(
    kept_backup: Path, later_backup: Path, club_of_120_games: Path, tmp_path: Path
) -> None:
    size = head_of_ledger(club_of_120_games).size
    assert losses(kept_backup, club_of_120_games) == Loss(size, size, size, {})
    assert losses(kept_backup, club_of_120_games).is_earlier_state
    newer = disk.read_manifest(later_backup).head.size
    assert losses(later_backup, club_of_120_games) == Loss(size, newer, size, {})
    assert not losses(later_backup, club_of_120_games).is_earlier_state  # it is a later one: nothing would be lost
    record(club_of_120_games, 120, 130)
    found = losses(kept_backup, club_of_120_games)
    assert (found.entries, found.common, found.is_earlier_state) == (size + 11, size, True)
    assert found.beyond == {"game-recorded/1": 10, "player-registered/1": 1}


def test_a_ledger_that_went_another_way_is_told_with_the_place(
    kept_backup: Path, later_backup: Path, club_of_120_games: Path
) -> None:
    size = head_of_ledger(club_of_120_games).size
    with Ledger.open(club_of_120_games, clock=lambda: NOW) as ledger:
        ledger.register("made:elsewhere", "Elsewhere")
    found = losses(later_backup, club_of_120_games)
    assert (found.entries, found.common, found.is_earlier_state) == (size + 1, size, False)
    assert found.beyond == {"player-registered/1": 1}


def test_another_ledger_is_told_to_be_one(kept_backup: Path, tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "club.db", scheme="elo") as ledger:
        ledger.register("made:p1", "Player 1")
    found = losses(kept_backup, tmp_path / "club.db")
    assert (found.entries, found.common, found.is_earlier_state) == (2, 0, False)


@pytest.mark.slow
@pytest.mark.parametrize("spoil", [damage, lambda path: run_sql(path, "DROP TABLE journal"), Path.unlink])
def test_a_journal_that_cannot_be_read_is_told_to_be_so(
    spoil: Callable[[Path], None], kept_backup: Path, club_of_120_games: Path
) -> None:
    spoil(club_of_120_games)
    found = losses(kept_backup, club_of_120_games)
    assert (found.entries, found.common) == (None, 0)
    restore(kept_backup, club_of_120_games, replace=True)
    assert_true(club_of_120_games)


@pytest.mark.slow
@pytest.mark.parametrize("name", LEDGER_FILES)
def test_a_ledger_that_anybody_has_open_is_not_replaced(
    name: str, kept_backup: Path, club_of_120_games: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader would go on reading the old files for ever, a writer would write where nobody looks."""
    monkeypatch.setattr(replacing, "WAIT_SECONDS", 0.1)
    before = contents_of(club_of_120_games.parent)
    with closing(sqlite.connect(club_of_120_games.with_name(name), read_only=True)) as reader:
        reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
        with pytest.raises(StorageError, match=rf"{name}: another process has it open") as refusal:
            restore(kept_backup, club_of_120_games, replace=True)
        assert "\n" not in str(refusal.value)
        assert contents_of(club_of_120_games.parent) == before
    with closing(sqlite.connect(club_of_120_games.with_name(name))) as writer:
        writer.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError, match=rf"{name}: another process has it open"):
            restore(kept_backup, club_of_120_games, replace=True)
    restore(kept_backup, club_of_120_games, replace=True)
    assert_true(club_of_120_games)


def test_a_ledger_whose_views_are_being_built_is_not_replaced(
    kept_backup: Path, club_of_120_games: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replacing, "WAIT_SECONDS", 0.1)
    builds = BuildFiles(sidecar(club_of_120_games, "views"))
    with builds.exclusive(), pytest.raises(StorageError, match=r"club\.views\.db: another process has it open"):
        restore(kept_backup, club_of_120_games, replace=True)


@pytest.mark.slow
def test_who_was_about_to_open_the_old_file_can_write_neither_there_nor_into_the_new_one(
    kept_backup: Path, club_of_120_games: Path
) -> None:
    opened = {name: sqlite.connect(club_of_120_games.with_name(name)) for name in LEDGER_FILES}  # no byte is read yet
    restored = restore(kept_backup, club_of_120_games, replace=True)
    for name, connection in opened.items():
        with pytest.raises(StorageError, match="readonly"):
            connection.execute("CREATE TABLE stray(x)")
        connection.close()
        assert not club_of_120_games.with_name(f"{name}-wal").exists()
    assert_true(club_of_120_games)
    assert restored.replaced is not None
    assert_true(restored.replaced / "club.db")


def test_the_restored_files_have_the_permissions_of_those_that_they_replace(
    kept_backup: Path, club_of_120_games: Path
) -> None:
    for name, mode in zip(LEDGER_FILES, (0o640, 0o660, 0o604), strict=True):
        club_of_120_games.with_name(name).chmod(mode)
    restore(kept_backup, club_of_120_games, replace=True)
    assert [club_of_120_games.with_name(name).stat().st_mode & 0o777 for name in LEDGER_FILES] == [0o640, 0o660, 0o604]


def test_a_link_to_the_ledger_stays_one(kept_backup: Path, club_of_120_games: Path, tmp_path: Path) -> None:
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "link.db"
    link.symlink_to(club_of_120_games)
    assert restore(kept_backup, link, replace=True).replaced == tmp_path / "club.replaced-1"
    assert link.is_symlink()
    assert [path.name for path in (tmp_path / "links").iterdir()] == ["link.db"]
    assert_true(club_of_120_games)
