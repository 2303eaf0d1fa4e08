"""A backup is one consistent set whoever writes meanwhile, and is made whole or not at all.

Crashes and processes at work are in ``test_backups_under_load``.
"""

import shutil
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import pytest

from ledger.audit.audit import audit
from ledger.backups import backup, disk, making, restore
from ledger.errors import CorruptError, StorageError
from ledger.imports.reading import batch_games
from ledger.journal import sqlite_store
from ledger.ledger import Ledger
from ledger.players import sqlite_layout
from ledger.ratings import views_file
from ledger.runtime.ledger_files import sidecar
from tests.kit.backups import LEDGER_FILES, assert_true, bytes_of, contents_of, damage, head_of_ledger
from tests.kit.clubs import NOW, open_ledger
from tests.kit.games import source_games
from tests.kit.tampering import run_sql


def test_a_backup_is_the_three_files_and_what_is_said_of_them(club_of_120_games: Path, tmp_path: Path) -> None:
    made_at = datetime(2024, 5, 1, 12, tzinfo=UTC)
    made = backup(club_of_120_games, tmp_path / "b", clock=lambda: made_at)
    assert sorted(path.name for path in made.folder.iterdir()) == ["backup.json", *LEDGER_FILES]
    said = disk.read_manifest(made.folder)
    assert (said.made_at, said.head) == ("2024-05-01T12:00:00Z", head_of_ledger(club_of_120_games))
    assert (made.head, made.views, made.names, made.left_out) == (said.head, said.head.size, 5, "")
    layouts = (sqlite_store.LAYOUT, sqlite_layout.LAYOUT, views_file.LAYOUT)
    for role, name, layout in zip(disk.ROLES, LEDGER_FILES, layouts, strict=True):
        whole = (made.folder / name).read_bytes()
        assert said.files[role] == disk.CopiedFile(name, len(whole), sha256(whole).hexdigest(), layout)
    assert made.bytes == sum((made.folder / name).stat().st_size for name in LEDGER_FILES)


def test_the_copied_people_are_for_their_owner_alone(club_of_120_games: Path, tmp_path: Path) -> None:
    made = backup(club_of_120_games, tmp_path / "b")
    assert (made.folder / "club.people.db").stat().st_mode & 0o777 == 0o600


def test_no_file_of_a_backup_or_restored_from_it_is_more_open_than_its_own(
    club_of_120_games: Path, tmp_path: Path
) -> None:
    for name in LEDGER_FILES:
        club_of_120_games.with_name(name).chmod(0o600)
    club_of_120_games.parent.chmod(0o700)
    made = backup(club_of_120_games, tmp_path / "b")
    assert made.folder.stat().st_mode & 0o777 == 0o700
    (tmp_path / "new").mkdir()
    restore(made.folder, tmp_path / "new" / "club.db")
    for folder in (made.folder, tmp_path / "new"):
        assert {(folder / name).stat().st_mode & 0o777 for name in LEDGER_FILES} == {0o600}


def test_a_backup_is_a_ledger_that_the_audit_proves(club_of_120_games: Path, tmp_path: Path) -> None:
    made = backup(club_of_120_games, tmp_path / "b")
    assert_true(made.folder / "club.db")


def test_what_is_not_yet_written_back_from_the_logs_is_in_the_backup(club_of_120_games: Path, tmp_path: Path) -> None:
    with Ledger.open(club_of_120_games, clock=lambda: NOW) as ledger:
        ledger.register("made:new", "New")
        ledger.catch_up()
        assert Path(f"{club_of_120_games}-wal").stat().st_size
        made = backup(club_of_120_games, tmp_path / "b")
        assert made.head == ledger.head()
        assert made.names == 6


def test_a_ledger_without_views_has_a_backup_without_them(club_of_120_games: Path, tmp_path: Path) -> None:
    sidecar(club_of_120_games, "views").unlink()
    made = backup(club_of_120_games, tmp_path / "b")
    assert (made.views, made.left_out) == (None, "")
    assert set(disk.read_manifest(made.folder).files) == {"journal", "people"}
    assert not restore(made.folder, tmp_path / "again.db").views
    assert_true(tmp_path / "again.db")


def test_views_may_be_left_out(club_of_120_games: Path, tmp_path: Path) -> None:
    made = backup(club_of_120_games, tmp_path / "b", with_views=False)
    assert sorted(path.name for path in made.folder.iterdir()) == ["backup.json", *LEDGER_FILES[:2]]


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (damage, "not a database"),
        (lambda path: path.write_bytes(b""), "is not the views of a ledger"),
        (lambda path: run_sql(path, "PRAGMA user_version=1"), "layout 1"),
        (lambda path: run_sql(path, "UPDATE progress SET position = 9999"), "9999 entries"),
        (lambda path: run_sql(path, "UPDATE progress SET position = 0"), "0 entries"),
        (lambda path: run_sql(path, "DELETE FROM progress"), "holds 0 rows"),
        (lambda path: run_sql(path, "DROP TABLE progress"), "'progress' is missing"),
    ],
)
def test_views_that_cannot_be_used_never_keep_the_journal_from_being_backed_up(
    spoil: Callable[[Path], None], why: str, club_of_120_games: Path, tmp_path: Path
) -> None:
    spoil(sidecar(club_of_120_games, "views"))
    made = backup(club_of_120_games, tmp_path / "b")
    assert (made.views, why in made.left_out) == (None, True), made.left_out
    assert "\n" not in made.left_out
    assert set(disk.read_manifest(made.folder).files) == {"journal", "people"}
    assert restore(made.folder, tmp_path / "again.db").head == made.head


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["copy club.views.db", "copy club.db", "journal"])
def test_what_is_recorded_while_the_files_are_copied_never_makes_them_disagree(
    moment: str, club_of_120_games: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Games of new players come in, and somebody is erased, between any two pages and between any two files."""
    monkeypatch.setattr(making, "PAGES", 9)
    before, steps = head_of_ledger(club_of_120_games).size, [0]

    def meanwhile(what: str, done: int, total: int) -> None:
        if what == moment and steps[0] < 3:
            steps[0] += 1
            with Ledger.open(club_of_120_games, clock=lambda: NOW) as ledger:
                ledger.import_games(batch_games(source_games(20, seed=7 + steps[0])))
                ledger.register(f"made:{steps[0]}", f"New {steps[0]}")
                ledger.catch_up()
                with suppress(StorageError):  # a copy being made may keep the old bytes in the log
                    ledger.erase(1 + steps[0])

    made = backup(club_of_120_games, tmp_path / "b", progress=meanwhile)
    assert steps[0] == (3 if moment != "journal" else 1)
    assert made.views is not None
    assert before <= made.views <= made.head.size
    assert (made.head.size > made.views) == (moment == "copy club.views.db")
    restored = restore(made.folder, tmp_path / "again.db")
    assert restored.head == made.head
    assert audit(club_of_120_games, since=made.head).falsehoods == ()


@pytest.mark.parametrize(
    ("file", "statements", "words"),
    [
        (
            "club.db",
            ("DROP TRIGGER journal_never_updates", "UPDATE journal SET leaf = zeroblob(32) WHERE position = 7"),
            "journal entry 7",
        ),
        ("club.people.db", ("UPDATE people SET name = 'Mallory' WHERE player = 2",), "people 2: the name is not"),
        ("club.people.db", ("DELETE FROM people WHERE player = 4",), "player 4 of entry"),
    ],
)
def test_no_backup_is_made_of_a_ledger_that_is_false(
    file: str, statements: tuple[str, ...], words: str, club_of_120_games: Path, tmp_path: Path
) -> None:
    run_sql(tmp_path / file, *statements)
    with pytest.raises(CorruptError, match=words):
        backup(club_of_120_games, tmp_path / "b")
    assert not list(tmp_path.glob("b*"))


def test_a_damaged_page_is_named_with_the_file(club_of_120_games: Path, tmp_path: Path) -> None:
    people = sidecar(club_of_120_games, "people")
    whole = people.read_bytes()
    people.write_bytes(whole[:4096] + bytes(512) + whole[4608:])
    with pytest.raises(CorruptError, match=r"club\.people\.db"):
        backup(club_of_120_games, tmp_path / "b")
    assert not list(tmp_path.glob("b*"))


def test_a_folder_that_holds_something_is_never_written_over(club_of_120_games: Path, tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    first = backup(club_of_120_games, tmp_path / "b")  # an empty one is taken
    before = contents_of(first.folder)
    for folder in (tmp_path / "b", tmp_path):
        with pytest.raises(StorageError, match="holds something already"):
            backup(club_of_120_games, folder)
    with pytest.raises(StorageError, match="is a file"):
        backup(club_of_120_games, club_of_120_games)
    with pytest.raises(StorageError, match="there is no folder"):
        backup(club_of_120_games, tmp_path / "no" / "such")
    assert contents_of(first.folder) == before
    assert not list(tmp_path.glob("*.making"))


def test_what_a_killed_backup_left_is_cleaned_by_the_next(club_of_120_games: Path, tmp_path: Path) -> None:
    left = tmp_path / "b.making" / "set"
    left.mkdir(parents=True)
    (left / "club.db").write_bytes(b"half")
    (left / "other").write_bytes(b"half")
    made = backup(club_of_120_games, tmp_path / "b")
    assert sorted(path.name for path in made.folder.iterdir()) == ["backup.json", *LEDGER_FILES]
    assert not (tmp_path / "b.making").exists()


def test_two_backups_into_one_folder_at_once_are_one_backup(club_of_120_games: Path, tmp_path: Path) -> None:
    refusals: list[object] = []

    def meanwhile(what: str, done: int, total: int) -> None:
        if not refusals:
            with pytest.raises(StorageError, match="another process is at the same work") as refusal:
                backup(club_of_120_games, tmp_path / "b")
            refusals.append(refusal)

    made = backup(club_of_120_games, tmp_path / "b", progress=meanwhile)
    assert refusals
    assert disk.read_manifest(made.folder).head == made.head


def test_a_linked_ledger_is_backed_up_with_the_files_beside_the_target(club_of_120_games: Path, tmp_path: Path) -> None:
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "link.db").symlink_to(club_of_120_games)
    made = backup(tmp_path / "links" / "link.db", tmp_path / "b")
    assert sorted(path.name for path in made.folder.iterdir()) == ["backup.json", *LEDGER_FILES]
    assert [path.name for path in (tmp_path / "links").iterdir()] == ["link.db"]


@pytest.mark.slow
def test_a_ledger_of_any_name_is_backed_up(tmp_path: Path) -> None:
    for name in ("club", "a b%20ü?.sqlite3", "-", "x.views.db"):
        with open_ledger(tmp_path / name) as ledger:
            ledger.import_games(batch_games(source_games(5)))
        made = backup(tmp_path / name, tmp_path / f"{name}-backup")
        shutil.rmtree(tmp_path / "again", ignore_errors=True)
        (tmp_path / "again").mkdir()
        assert restore(made.folder, tmp_path / "again" / name).head == made.head


def test_a_missing_file_is_named(club_of_120_games: Path, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="there is no such ledger"):
        backup(tmp_path / "no.db", tmp_path / "b")
    sidecar(club_of_120_games, "people").unlink()
    with pytest.raises(StorageError, match="people file is missing"):
        backup(club_of_120_games, tmp_path / "b")


@pytest.mark.slow
def test_remains_of_erased_people_in_free_pages_stay_out_of_the_backup(tmp_path: Path) -> None:
    """Rows that once stood in a page that was split may lie there still; only rows that count are copied."""
    club = tmp_path / "club.db"
    with open_ledger(club) as ledger:
        ledger.people.assign_numbers({f"made:p{i}": f"Forgettable {i:05} " + "x" * 60 for i in range(2_000)}, "2020")
    people = sidecar(club, "people")
    run_sql(people, "PRAGMA secure_delete=OFF", "DELETE FROM people WHERE player % 2")
    names = [f"Forgettable {i:05} ".encode() for i in range(0, 2_000, 2)]  # of players with odd numbers
    left, copied = people.read_bytes(), bytes_of(backup(club, tmp_path / "b").folder)
    assert sum(name in left for name in names) > 100
    assert [name for name in names if name in copied] == []
    assert b"Forgettable 00001 " in copied
