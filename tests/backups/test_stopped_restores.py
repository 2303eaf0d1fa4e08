"""A restore that was stopped anywhere is completed by the same command, or given up."""

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from ledger.backups import disk, replacing, restore
from ledger.errors import StorageError
from ledger.facts.words import TreeHead
from ledger.ledger import Ledger
from ledger.runtime import sqlite
from ledger.runtime.ledger_files import restore_folder
from tests.kit.backups import LEDGER_FILES, assert_true, head_of_ledger, record
from tests.kit.commands import Run
from tools.commands import REFUSED


def half_way(kept: Path, club: Path, monkeypatch: pytest.MonkeyPatch, moves: int, *, replace: bool) -> None:
    """Stop a restore after so many moves, as a power cut does: nothing is tidied up."""
    move, left = disk.move, [moves + 1]  # the plan is moved, too

    def counted(source: Path, target: Path) -> None:
        if not left[0]:
            raise SystemExit
        left[0] -= 1
        move(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(disk, "move", counted)
        patched.setattr(replacing, "undo_interrupted", lambda *_: False)
        with pytest.raises(SystemExit):
            restore(kept, club, replace=replace)


def half_way_over_more(kept: Path, club: Path, monkeypatch: pytest.MonkeyPatch, moves: int) -> TreeHead:
    """Stop a restore over a ledger that has ten games more than the backup; the head of what stood there."""
    record(club, 120, 130)
    before = head_of_ledger(club)
    half_way(kept, club, monkeypatch, moves, replace=True)
    return before


@pytest.mark.slow
@pytest.mark.parametrize("moves", range(6))
def test_wherever_a_restore_was_stopped_the_same_command_completes_it(
    moves: int, kept_backup: Path, club_of_120_games: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = disk.read_manifest(kept_backup).head
    old = half_way_over_more(kept_backup, club_of_120_games, monkeypatch, moves)
    if moves:
        for words in (
            ("ratings", club_of_120_games),
            ("head", club_of_120_games),
            ("init", club_of_120_games),
            ("backup", club_of_120_games, club_of_120_games.with_name("b")),
        ):
            done = run(*words)
            assert (done.code, "a restore was stopped half-way; run it again" in done.err) == (REFUSED, True), done
    else:
        assert head_of_ledger(club_of_120_games) == old
    done = run("restore", kept_backup, club_of_120_games, "--replace", "--yes")
    assert (done.code, "it was undone first" in done.err) == (0, moves > 0), done
    assert head_of_ledger(club_of_120_games) == new
    assert_true(club_of_120_games)
    assert not restore_folder(club_of_120_games).exists()
    assert head_of_ledger(club_of_120_games.parent / "club.replaced-1" / "club.db") == old
    assert not (club_of_120_games.parent / "club.replaced-2").exists()


@pytest.mark.parametrize("moves", range(1, 6))
def test_a_stopped_restore_can_be_given_up(
    moves: int, kept_backup: Path, club_of_120_games: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run without --replace, or with a backup that is damaged, it brings back what stood there."""
    before = half_way_over_more(kept_backup, club_of_120_games, monkeypatch, moves)
    done = run("restore", kept_backup if moves % 2 else club_of_120_games.parent, club_of_120_games)
    assert done.code == REFUSED
    assert ("a restore that was stopped is undone" in done.err) == bool(moves % 2)
    assert head_of_ledger(club_of_120_games) == before
    assert_true(club_of_120_games)
    for name in LEDGER_FILES:
        with closing(sqlite.connect(club_of_120_games.with_name(name))) as connection:
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert not list(club_of_120_games.parent.glob("club.re*"))


@pytest.mark.slow
@pytest.mark.parametrize("moves", range(1, 6))
def test_an_empty_file_that_a_reader_left_in_the_journals_place_hides_no_stopped_restore(
    moves: int, kept_backup: Path, club_of_120_games: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = half_way_over_more(kept_backup, club_of_120_games, monkeypatch, moves)
    club_of_120_games.touch()  # as SQLite does for whoever opens what was there a moment ago
    assert "a restore was stopped half-way; run it again" in run("ratings", club_of_120_games).err
    done = run("restore", kept_backup, club_of_120_games)
    assert (done.code, "a restore that was stopped is undone" in done.err) == (REFUSED, True)
    assert head_of_ledger(club_of_120_games) == before
    assert_true(club_of_120_games)
    assert not list(club_of_120_games.parent.glob("club.re*"))


@pytest.mark.slow
@pytest.mark.parametrize("moves", range(3))
def test_a_restore_into_an_empty_place_that_was_stopped_is_completed(
    moves: int, kept_backup: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    club = tmp_path / "club.db"
    half_way(kept_backup, club, monkeypatch, moves, replace=False)
    assert not club.exists()
    assert "a restore was stopped half-way" in run("ratings", club).err
    done = run("restore", kept_backup, club)
    assert (done.code, "undone first" in done.err) == (0, True), done
    assert_true(club)
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix == ".db") == sorted(LEDGER_FILES)
    assert not restore_folder(club).exists()


def test_whatever_a_killed_restore_left_in_its_folder_is_no_obstacle(
    kept_backup: Path, club_of_120_games: Path
) -> None:
    (restore_folder(club_of_120_games) / "set").mkdir(parents=True)
    for name in ("lock", "plan.json.making", "set/club.db", "set/other"):
        (restore_folder(club_of_120_games) / name).write_bytes(b"half")
    restore(kept_backup, club_of_120_games, replace=True)
    assert_true(club_of_120_games)
    assert not restore_folder(club_of_120_games).exists()


def test_a_damaged_plan_is_told_with_the_way_out(kept_backup: Path, tmp_path: Path, run: Run) -> None:
    club = tmp_path / "club.db"
    restore_folder(club).mkdir()
    for text in (b"", b"{}", b"[]", b"{"):
        (restore_folder(club) / "plan.json").write_bytes(text)
        done = run("restore", kept_backup, club)
        assert (done.code, "back manually" in done.err, len(done.err.splitlines())) == (REFUSED, True, 1), done
    shutil.rmtree(restore_folder(club))
    assert run("restore", kept_backup, club).code == 0


@pytest.mark.slow
def test_a_disk_that_refuses_half_way_leaves_the_old_ledger(
    kept_backup: Path, club_of_120_games: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = head_of_ledger(club_of_120_games)
    for moves in range(1, 7):
        move, left = disk.move, [moves]

        def refusing(source: Path, target: Path) -> None:
            left[0] -= 1  # noqa: B023
            if not left[0]:  # noqa: B023
                raise StorageError(str(source), "Input/output error")
            move(source, target)  # noqa: B023

        with monkeypatch.context() as patched:
            patched.setattr(disk, "move", refusing)
            with pytest.raises(StorageError, match="Input/output error"):
                restore(kept_backup, club_of_120_games, replace=True)
        assert head_of_ledger(club_of_120_games) == before, moves
        assert not list(club_of_120_games.parent.glob("club.re*")), moves
    assert_true(club_of_120_games)


def test_a_ledger_made_in_the_place_meanwhile_is_left_alone(
    kept_backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    club = tmp_path / "club.db"

    def meanwhile(what: str, done: int, total: int) -> None:
        if not club.exists():
            Ledger.create(club, scheme="elo").close()

    with pytest.raises(StorageError, match="was made by another process meanwhile"):
        restore(kept_backup, club, progress=meanwhile)
    with Ledger.open(club) as ledger:
        assert ledger.first_scheme().scheme == "elo"
