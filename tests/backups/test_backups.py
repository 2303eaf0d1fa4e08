"""Backups: one consistent set whoever writes meanwhile, proven before it counts, and put in place whole or not at all.

Crashes and processes at work are in ``test_backups_under_load``.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import attrs
import orjson
import pytest

from ledger import backups
from ledger.audit.audit import audit
from ledger.backups import Loss, Restored, backup, files, making, manifest, replacing, restore
from ledger.errors import CorruptError, LedgerError, StorageError
from ledger.facts.words import TreeHead
from ledger.imports.reading import frames
from ledger.ledger import Ledger
from ledger.ratings import views_file
from ledger.runtime import sqlite
from ledger.runtime.ledger_files import beside, restoring
from tests.kit.clubs import NOW, copied, open_ledger, take_made_up_games
from tests.kit.commands import Run
from tests.kit.games import source_games
from tests.kit.places import ROOT
from tools.commands import REFUSED, USAGE

NAMES = ("club.db", "club.people.db", "club.views.db")
ERASED = "Player 3"


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


def record(path: Path, first: int, last: int) -> None:
    """Import some more of the made-up games, and rate them."""
    with Ledger.open(path, clock=lambda: NOW) as ledger:
        games = list(source_games(last))[first:]
        assert ledger.import_games(frames(iter(games), 50)).recorded == len(games)
        ledger.catch_up()


def contents(folder: Path) -> dict[str, bytes | None]:
    """Every file below a folder with its bytes, but for lock files and the shared memory of SQLite."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
        if not path.name.endswith((".lock", "-shm")) and not (path.name.endswith("-wal") and not path.stat().st_size)
    }


def head_of(path: Path) -> TreeHead:
    with Ledger.open(path, read_only=True) as ledger:
        return ledger.head()


def assert_true(path: Path) -> None:
    assert audit(path).falsehoods == ()


def run_sql(path: Path, *statements: str) -> None:
    with closing(sqlite.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)


# --- making a backup ----------------------------------------------------------------------------------------


def test_a_backup_is_the_three_files_and_what_is_said_of_them(club_of_120_games: Path, tmp_path: Path) -> None:
    made_at = datetime(2024, 5, 1, 12, tzinfo=UTC)
    made = backup(club_of_120_games, tmp_path / "b", clock=lambda: made_at)
    assert sorted(path.name for path in made.folder.iterdir()) == ["backup.json", *NAMES]
    said = manifest.read(made.folder)
    assert (said.made_at, said.head) == ("2024-05-01T12:00:00Z", head_of(club_of_120_games))
    assert (made.head, made.views, made.names, made.left_out) == (said.head, said.head.size, 5, "")
    for role, name, layout in zip(manifest.ROLES, NAMES, (1, 1, views_file.LAYOUT), strict=True):
        whole = (made.folder / name).read_bytes()
        assert said.files[role] == manifest.CopiedFile(name, len(whole), sha256(whole).hexdigest(), layout)
    assert made.bytes == sum((made.folder / name).stat().st_size for name in NAMES)


def test_the_copied_people_are_for_their_owner_alone(club_of_120_games: Path, tmp_path: Path) -> None:
    made = backup(club_of_120_games, tmp_path / "b")
    assert (made.folder / "club.people.db").stat().st_mode & 0o777 == 0o600


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
    beside(club_of_120_games, "views").unlink()
    made = backup(club_of_120_games, tmp_path / "b")
    assert (made.views, made.left_out) == (None, "")
    assert set(manifest.read(made.folder).files) == {"journal", "people"}
    assert not restore(made.folder, tmp_path / "again.db").views
    assert_true(tmp_path / "again.db")


def test_views_may_be_left_out(club_of_120_games: Path, tmp_path: Path) -> None:
    made = backup(club_of_120_games, tmp_path / "b", with_views=False)
    assert sorted(path.name for path in made.folder.iterdir()) == ["backup.json", *NAMES[:2]]


def _damage(path: Path) -> None:
    path.write_bytes(b"white,black,result\n" * 300)


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (_damage, "not a database"),
        (lambda path: path.write_bytes(b""), "not the expected file"),
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
    spoil(beside(club_of_120_games, "views"))
    made = backup(club_of_120_games, tmp_path / "b")
    assert (made.views, why in made.left_out) == (None, True), made.left_out
    assert "\n" not in made.left_out
    assert set(manifest.read(made.folder).files) == {"journal", "people"}
    assert restore(made.folder, tmp_path / "again.db").head == made.head


@pytest.mark.parametrize("moment", ["copy club.views.db", "copy club.db", "journal"])
def test_what_is_recorded_while_the_files_are_copied_never_makes_them_disagree(
    moment: str, club_of_120_games: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Games of new players come in, and somebody is erased, between any two pages and between any two files."""
    monkeypatch.setattr(making, "PAGES", 9)
    before, steps = head_of(club_of_120_games).size, [0]

    def meanwhile(what: str, done: int, total: int) -> None:
        if what == moment and steps[0] < 3:
            steps[0] += 1
            with Ledger.open(club_of_120_games, clock=lambda: NOW) as ledger:
                ledger.import_games(frames(source_games(20, seed=7 + steps[0])))
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
    people = beside(club_of_120_games, "people")
    whole = people.read_bytes()
    people.write_bytes(whole[:4096] + bytes(512) + whole[4608:])
    with pytest.raises(CorruptError, match=r"club\.people\.db"):
        backup(club_of_120_games, tmp_path / "b")
    assert not list(tmp_path.glob("b*"))


def test_a_folder_that_holds_something_is_never_written_over(club_of_120_games: Path, tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    first = backup(club_of_120_games, tmp_path / "b")  # an empty one is taken
    before = contents(first.folder)
    for folder in (tmp_path / "b", tmp_path):
        with pytest.raises(StorageError, match="holds something already"):
            backup(club_of_120_games, folder)
    with pytest.raises(StorageError, match="is a file"):
        backup(club_of_120_games, club_of_120_games)
    with pytest.raises(StorageError, match="there is no folder"):
        backup(club_of_120_games, tmp_path / "no" / "such")
    assert contents(first.folder) == before
    assert not list(tmp_path.glob("*.making"))


def test_what_a_killed_backup_left_is_cleaned_by_the_next(club_of_120_games: Path, tmp_path: Path) -> None:
    left = tmp_path / "b.making" / "set"
    left.mkdir(parents=True)
    (left / "club.db").write_bytes(b"half")
    (left / "other").write_bytes(b"half")
    made = backup(club_of_120_games, tmp_path / "b")
    assert sorted(path.name for path in made.folder.iterdir()) == ["backup.json", *NAMES]
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
    assert manifest.read(made.folder).head == made.head


def test_a_linked_ledger_is_backed_up_with_the_files_beside_the_target(club_of_120_games: Path, tmp_path: Path) -> None:
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "link.db").symlink_to(club_of_120_games)
    made = backup(tmp_path / "links" / "link.db", tmp_path / "b")
    assert sorted(path.name for path in made.folder.iterdir()) == ["backup.json", *NAMES]
    assert [path.name for path in (tmp_path / "links").iterdir()] == ["link.db"]


def test_a_ledger_of_any_name_is_backed_up(tmp_path: Path) -> None:
    for name in ("club", "a b%20ü?.sqlite3", "-", "x.views.db"):
        with open_ledger(tmp_path / name) as ledger:
            ledger.import_games(frames(source_games(5)))
        made = backup(tmp_path / name, tmp_path / f"{name}-backup")
        shutil.rmtree(tmp_path / "again", ignore_errors=True)
        (tmp_path / "again").mkdir()
        assert restore(made.folder, tmp_path / "again" / name).head == made.head


def test_a_missing_file_is_named(club_of_120_games: Path, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="there is no such ledger"):
        backup(tmp_path / "no.db", tmp_path / "b")
    beside(club_of_120_games, "people").unlink()
    with pytest.raises(StorageError, match="people file is missing"):
        backup(club_of_120_games, tmp_path / "b")


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_remains_of_erased_people_in_free_pages_stay_out_of_the_backup(tmp_path: Path) -> None:
    """Rows that once stood in a page that was split may lie there still; only rows that count are copied."""
    club = tmp_path / "club.db"
    with open_ledger(club) as ledger:
        ledger.people.number({f"made:p{i}": f"Forgettable {i:05} " + "x" * 60 for i in range(2_000)}, "2020")
    people = beside(club, "people")
    run_sql(people, "PRAGMA secure_delete=OFF", "DELETE FROM people WHERE player % 2")
    names = [f"Forgettable {i:05} ".encode() for i in range(0, 2_000, 2)]  # of players with odd numbers
    left, copied = people.read_bytes(), bytes_of(backup(club, tmp_path / "b").folder)
    assert sum(name in left for name in names) > 100
    assert [name for name in names if name in copied] == []
    assert b"Forgettable 00001 " in copied


# --- restoring ----------------------------------------------------------------------------------------------


def test_a_restored_ledger_is_the_one_that_was_backed_up(
    kept_backup: Path, folder_of_120_games: Path, tmp_path: Path
) -> None:
    restored = restore(kept_backup, tmp_path / "other.db")
    path = tmp_path / "other.db"
    assert restored == Restored(path, head_of(folder_of_120_games / "club.db"), 5, views=True)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["other.db", "other.people.db", "other.views.db"]
    assert beside(path, "people").stat().st_mode & 0o777 == 0o600
    with Ledger.open(path) as ledger, Ledger.open(folder_of_120_games / "club.db") as original:
        for table in ("games", "history", "current"):
            assert list(ledger.rows(table)) == list(original.rows(table))
        for file in (path, beside(path, "people"), beside(path, "views")):
            with closing(sqlite.connect(file)) as connection:
                assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    record(path, 120, 140)
    assert audit(path, since=restored.head).falsehoods == ()


HOW: dict[str, Callable[[Path, Path], object]] = {
    "one byte flipped": lambda file, _: file.write_bytes(_flipped(file.read_bytes())),
    "truncated": lambda file, _: file.write_bytes(file.read_bytes()[:-100]),
    "longer": lambda file, _: file.write_bytes(file.read_bytes() + b"\0"),
    "empty": lambda file, _: file.write_bytes(b""),
    "missing": lambda file, _: file.unlink(),
    "a folder": lambda file, _: _make_folder(file),
    "of another backup": lambda file, other: shutil.copy(other / file.name, file),
}


def _make_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def _flipped(whole: bytes) -> bytes:
    middle = len(whole) // 2
    return whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]


@pytest.fixture(scope="module", name="later_backup")
def _later_backup(folder_of_120_games: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A later backup of the same ledger."""
    folder = tmp_path_factory.mktemp("later")
    shutil.copytree(folder_of_120_games, folder / "ledger")
    record(folder / "ledger" / "club.db", 120, 150)
    return backup(folder / "ledger" / "club.db", folder / "backup").folder


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("file", [*NAMES, manifest.NAME])
def test_a_damaged_backup_is_refused_by_the_name_of_its_file(
    file: str, how: str, spoilt_backup: Path, later_backup: Path, club_of_120_games: Path, tmp_path: Path
) -> None:
    HOW[how](spoilt_backup / file, later_backup)
    before = contents(tmp_path)
    for target, replace in ((tmp_path / "new.db", False), (club_of_120_games, True)):
        with pytest.raises(StorageError, match=r"\(?(backup|backed up|damaged|changed)") as refusal:
            restore(spoilt_backup, target, replace=replace)
        assert "\n" not in str(refusal.value)
        named = file if how != "of another backup" or file != manifest.NAME else "club.db"
        assert named in str(refusal.value)
        assert contents(tmp_path) == before
    if file == "club.views.db":
        assert "--without-views" in str(refusal.value)
        assert not restore(spoilt_backup, tmp_path / "new.db", with_views=False).views
        assert_true(tmp_path / "new.db")


def edited(folder: Path, change: Callable[[Any], object], *, sealed: bool) -> None:
    """Change the manifest; *sealed*: its own hash, too, as somebody does who knows how it is made."""
    members = orjson.loads((folder / manifest.NAME).read_bytes())
    change(members)
    if sealed:
        del members["sha256"]
        members["sha256"] = sha256(orjson.dumps(members, option=orjson.OPT_SORT_KEYS)).hexdigest()
    (folder / manifest.NAME).write_bytes(orjson.dumps(members))


EDITS: dict[str, Callable[[Any], object]] = {
    "head": lambda said: said.update(head=f"{int(said['head'].split()[0]) - 1} {'0' * 64}"),
    "head, no head": lambda said: said.update(head="917"),
    "head, a number": lambda said: said.update(head=917),
    "a hash": lambda said: said["files"]["people"].update(sha256="0" * 64),
    "a hash, no hash": lambda said: said["files"]["people"].update(sha256="0" * 63),
    "a size": lambda said: said["files"]["journal"].update(bytes=5),
    "a size, no number": lambda said: said["files"]["journal"].update(bytes="5"),
    "a name": lambda said: said["files"]["journal"].update(name="club.people.db"),
    "a name elsewhere": lambda said: said["files"]["people"].update(name="../club.people.db"),
    "an absolute name": lambda said: said["files"]["people"].update(name="/etc/passwd"),
    "a name of nothing": lambda said: said["files"]["people"].update(name=""),
    "a name with a null": lambda said: said["files"]["people"].update(name="a\0b"),
    "files changed places": lambda said: said.update(
        files={
            "journal": said["files"]["people"], "people": said["files"]["journal"], "views": said["files"]["views"],
        }
    ),
    "no people": lambda said: said["files"].pop("people"),
    "no files": lambda said: said.pop("files"),
    "files, a list": lambda said: said.update(files=[1]),
    "another format": lambda said: said.update(format="rating-ledger backup/2"),
    "no format": lambda said: said.pop("format"),
    "a time that is none": lambda said: said.update(made_at=7),
}  # fmt: skip


@pytest.mark.parametrize("sealed", [False, True], ids=["", "and sealed anew"])
@pytest.mark.parametrize("edit", EDITS)
def test_a_manifest_that_was_edited_is_refused(
    edit: str, sealed: bool, spoilt_backup: Path, club_of_120_games: Path, tmp_path: Path
) -> None:
    edited(spoilt_backup, EDITS[edit], sealed=sealed)
    before = contents(tmp_path)
    with pytest.raises(LedgerError) as refusal:
        restore(spoilt_backup, club_of_120_games, replace=True)
    assert "spoilt" in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("text", [b"", b"{}", b"[]", b"null", b"{", b"\xff\xfe", b'"x"', b"[" * 100_000])
def test_a_manifest_that_is_none_is_refused(text: bytes, spoilt_backup: Path, tmp_path: Path) -> None:
    (spoilt_backup / manifest.NAME).write_bytes(text)
    with pytest.raises(StorageError, match=r"backup\.json: is damaged"):
        restore(spoilt_backup, tmp_path / "new.db")


FORGERIES: dict[str, tuple[str, tuple[str, ...], str]] = {
    "an entry": (
        "club.db",
        ("DROP TRIGGER journal_never_updates", "UPDATE journal SET leaf = zeroblob(32) WHERE position = 9"),
        "journal entry 9",
    ),
    "a name": ("club.people.db", ("UPDATE people SET name = 'Mallory' WHERE player = 3",), "people 3"),
    "a rating": ("club.views.db", ("UPDATE current SET rating = 3000 WHERE player = 2",), "current pool 1, player 2"),
    "a text": ("club.db", ("DELETE FROM texts",), "journal"),
}


@pytest.mark.parametrize("what", FORGERIES)
def test_a_forged_backup_with_a_manifest_to_match_is_found_by_the_audit(
    what: str, spoilt_backup: Path, tmp_path: Path
) -> None:
    name, statements, words = FORGERIES[what]
    run_sql(spoilt_backup / name, *statements)
    whole = (spoilt_backup / name).read_bytes()
    role = manifest.ROLES[NAMES.index(name)]
    edited(
        spoilt_backup,
        lambda said: said["files"][role].update(bytes=len(whole), sha256=sha256(whole).hexdigest()),
        sealed=True,
    )
    with pytest.raises(CorruptError, match=f"spoilt: is false: {words}"):
        restore(spoilt_backup, tmp_path / "new.db")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["spoilt"]


def test_a_folder_that_is_no_backup_is_told_so(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(StorageError, match=r"is no backup: it has no backup\.json"):
            restore(folder, tmp_path / "new.db")
    assert not list(tmp_path.iterdir())


def test_the_place_must_be_there_and_no_folder(kept_backup: Path, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="there is no folder"):
        restore(kept_backup, tmp_path / "no" / "new.db")
    with pytest.raises(StorageError, match="is a folder"):
        restore(kept_backup, tmp_path, replace=True)


def test_a_head_kept_outside_must_be_a_prefix(kept_backup: Path, later_backup: Path, tmp_path: Path) -> None:
    old, new = manifest.read(kept_backup).head, manifest.read(later_backup).head
    for head in (new, TreeHead(old.size, bytes(32))):
        with pytest.raises(CorruptError, match=r"(head|root) kept outside"):
            restore(kept_backup, tmp_path / "new.db", since=head)
    restore(later_backup, tmp_path / "new.db", since=old)


def test_views_of_other_read_models_are_left_to_the_next_command(
    spoilt_backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = spoilt_backup / "club.views.db"
    run_sql(whole, "UPDATE projections SET identity = 'history 0 {}' WHERE name = 'history'")
    content = whole.read_bytes()
    edited(spoilt_backup, lambda said: said["files"]["views"].update(sha256=sha256(content).hexdigest()), sealed=True)
    restored = restore(spoilt_backup, tmp_path / "new.db")
    assert (restored.views, "read models" in restored.left_out) == (False, True)
    assert_true(tmp_path / "new.db")


# --- a place that is taken ----------------------------------------------------------------------------------

LEFT_BEHIND = (
    *NAMES, "club.db-wal", "club.db-shm", "club.db-journal", "club.people.db-wal", "club.people.db-shm",
    "club.views.db-wal", "club.views.db.building", "club.views.db.building-wal",
)  # fmt: skip


@pytest.mark.parametrize("name", LEFT_BEHIND)
def test_any_file_of_a_ledger_in_the_place_is_refused_or_moved_aside(
    name: str, kept_backup: Path, tmp_path: Path
) -> None:
    """A log that another journal left would be replayed into the new one, a build would go on with it."""
    (tmp_path / name).write_bytes(b"something else")
    with pytest.raises(StorageError, match=rf"something stands there already \({name}\)"):
        restore(kept_backup, tmp_path / "club.db")
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [(name, b"something else")]
    restored = restore(kept_backup, tmp_path / "club.db", replace=True)
    assert restored.replaced == tmp_path / "club.replaced-1"
    assert [(file.name, file.read_bytes()) for file in restored.replaced.iterdir()] == [(name, b"something else")]
    assert_true(tmp_path / "club.db")


def test_the_replaced_files_are_kept_in_a_folder_of_their_own_each_time(
    kept_backup: Path, club_of_120_games: Path
) -> None:
    old, before = head_of(club_of_120_games), {name: club_of_120_games.with_name(name).stat().st_size for name in NAMES}
    (club_of_120_games.parent / "club.replaced-1").mkdir()
    (club_of_120_games.parent / "club.replaced-1" / "note").touch()
    for number in (2, 3):
        aside = restore(kept_backup, club_of_120_games, replace=True).replaced
        assert aside == club_of_120_games.parent / f"club.replaced-{number}"
        assert {name: len(whole or b"") for name, whole in contents(aside).items()} == before
        assert aside.stat().st_mode & 0o777 == 0o700
        assert head_of(aside / "club.db") == old
        assert_true(aside / "club.db")
        assert_true(club_of_120_games)


def losses(kept: Path, club: Path) -> Loss:
    """What a restore is told before it is approved; nothing is changed by it."""
    told: list[Loss] = []

    def refuse(loss: Loss) -> None:
        told.append(loss)
        raise InterruptedError

    before = contents(club.parent)
    with pytest.raises(InterruptedError):
        restore(kept, club, replace=True, approve=refuse)
    after = contents(club.parent)
    assert [name for name in after if after[name] != before.get(name)] == []
    return told[0]


def test_what_would_be_lost_is_told_first(
    kept_backup: Path, later_backup: Path, club_of_120_games: Path, tmp_path: Path
) -> None:
    size = head_of(club_of_120_games).size
    assert losses(kept_backup, club_of_120_games) == Loss(size, size, size, {})
    assert losses(kept_backup, club_of_120_games).is_earlier_state
    newer = manifest.read(later_backup).head.size
    assert losses(later_backup, club_of_120_games) == Loss(size, newer, size, {})
    assert not losses(later_backup, club_of_120_games).is_earlier_state  # it is a later one: nothing would be lost
    record(club_of_120_games, 120, 130)
    found = losses(kept_backup, club_of_120_games)
    assert (found.entries, found.common, found.is_earlier_state) == (size + 11, size, True)
    assert found.beyond == {"game-recorded/1": 10, "player-registered/1": 1}


def test_a_ledger_that_went_another_way_is_told_with_the_place(
    kept_backup: Path, later_backup: Path, club_of_120_games: Path
) -> None:
    size = head_of(club_of_120_games).size
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


@pytest.mark.parametrize("spoil", [_damage, lambda path: run_sql(path, "DROP TABLE journal"), Path.unlink])
def test_a_journal_that_cannot_be_read_is_told_to_be_so(
    spoil: Callable[[Path], None], kept_backup: Path, club_of_120_games: Path
) -> None:
    spoil(club_of_120_games)
    found = losses(kept_backup, club_of_120_games)
    assert (found.entries, found.common) == (None, 0)
    restore(kept_backup, club_of_120_games, replace=True)
    assert_true(club_of_120_games)


@pytest.mark.parametrize("name", NAMES)
def test_a_ledger_that_anybody_has_open_is_not_replaced(
    name: str, kept_backup: Path, club_of_120_games: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader would go on reading the old files for ever, a writer would write where nobody looks."""
    monkeypatch.setattr(replacing, "WAIT_SECONDS", 0.1)
    before = contents(club_of_120_games.parent)
    with closing(sqlite.connect(club_of_120_games.with_name(name), read_only=True)) as reader:
        reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
        with pytest.raises(StorageError, match=rf"{name}: another process has it open") as refusal:
            restore(kept_backup, club_of_120_games, replace=True)
        assert "\n" not in str(refusal.value)
        assert contents(club_of_120_games.parent) == before
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
    with Ledger.open(club_of_120_games) as ledger:
        views_of = ledger.views
    with views_of._alone(), pytest.raises(StorageError, match=r"club\.views\.db: another process has it open"):
        restore(kept_backup, club_of_120_games, replace=True)


def test_who_was_about_to_open_the_old_file_can_write_neither_there_nor_into_the_new_one(
    kept_backup: Path, club_of_120_games: Path
) -> None:
    opened = {name: sqlite.connect(club_of_120_games.with_name(name)) for name in NAMES}  # no byte is read yet
    restored = restore(kept_backup, club_of_120_games, replace=True)
    for name, connection in opened.items():
        with pytest.raises(sqlite.sqlite3.OperationalError, match="readonly"):
            connection.execute("CREATE TABLE stray(x)")
        connection.close()
        assert not club_of_120_games.with_name(f"{name}-wal").exists()
    assert_true(club_of_120_games)
    assert restored.replaced is not None
    assert_true(restored.replaced / "club.db")


def test_the_restored_files_have_the_permissions_of_those_that_they_replace(
    kept_backup: Path, club_of_120_games: Path
) -> None:
    for name, mode in zip(NAMES, (0o640, 0o660, 0o604), strict=True):
        club_of_120_games.with_name(name).chmod(mode)
    restore(kept_backup, club_of_120_games, replace=True)
    assert [club_of_120_games.with_name(name).stat().st_mode & 0o777 for name in NAMES] == [0o640, 0o660, 0o604]


def test_a_link_to_the_ledger_stays_one(kept_backup: Path, club_of_120_games: Path, tmp_path: Path) -> None:
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "link.db"
    link.symlink_to(club_of_120_games)
    assert restore(kept_backup, link, replace=True).replaced == tmp_path / "club.replaced-1"
    assert link.is_symlink()
    assert [path.name for path in (tmp_path / "links").iterdir()] == ["link.db"]
    assert_true(club_of_120_games)


# --- people who were erased since ---------------------------------------------------------------------------


def test_who_was_erased_since_the_backup_is_erased_in_it_again(
    kept_backup: Path, club_of_120_games: Path, tmp_path: Path
) -> None:
    with Ledger.open(club_of_120_games) as ledger:
        player = ledger.player(ERASED).player
        ledger.erase(player)
    restored = restore(kept_backup, club_of_120_games, replace=True)
    assert (restored.erased, restored.erased_unknown, restored.names) == ((player,), False, 4)
    assert ERASED.encode() not in bytes_of(tmp_path)
    verdict = audit(club_of_120_games)
    assert (verdict.falsehoods, verdict.names_erased) == ((), 1)
    with Ledger.open(club_of_120_games) as ledger:
        assert [row["name"] for row in _ranking(ledger) if row["player"] == player] == [f"(erased) {player}"]


def _ranking(ledger: Ledger) -> list[dict[str, Any]]:
    from ledger.answers import rankings

    return rankings.ranking(ledger, None, limit=100, min_games=1)


@pytest.mark.parametrize("spoil", [_damage, Path.unlink])
def test_the_people_alone_tell_who_was_erased_where_the_journal_cannot(
    spoil: Callable[[Path], None], kept_backup: Path, club_of_120_games: Path, tmp_path: Path
) -> None:
    with Ledger.open(club_of_120_games) as ledger:
        ledger.erase(2)
    spoil(club_of_120_games)
    assert restore(kept_backup, club_of_120_games, replace=True).erased == (2,)


def test_erased_people_of_another_ledger_mean_nobody_here(kept_backup: Path, tmp_path: Path) -> None:
    """There number 2 is somebody else."""
    with Ledger.create(tmp_path / "club.db", clock=lambda: NOW) as ledger:
        for i in range(5):
            ledger.register(f"other:{i}", f"Other {i}")
        ledger.erase(2)
    restored = restore(kept_backup, tmp_path / "club.db", replace=True)
    assert (restored.erased, restored.erased_unknown) == ((), False)
    assert audit(tmp_path / "club.db").names_erased == 0


def test_a_number_given_anew_after_the_backup_is_not_taken_for_the_person_of_before(
    kept_backup: Path, later_backup: Path, club_of_120_games: Path
) -> None:
    """The ledger was set back once and went on: its player 6 is not the backup's."""
    restore(kept_backup, club_of_120_games, replace=True)
    with Ledger.open(club_of_120_games, clock=lambda: NOW) as ledger:
        player = ledger.register("made:elsewhere", "Elsewhere")
        ledger.erase(player)
    with closing(sqlite.connect(later_backup / "club.people.db", read_only=True)) as people:
        known = {number for (number,) in people.execute("SELECT player FROM people")}
    assert player not in known or restore(later_backup, club_of_120_games, replace=True).erased == ()


@pytest.mark.parametrize("spoil", [_damage, Path.unlink, lambda path: run_sql(path, "DROP TABLE people")])
def test_it_is_said_where_nobody_can_tell_who_was_erased(
    spoil: Callable[[Path], None], kept_backup: Path, club_of_120_games: Path, run: Run
) -> None:
    spoil(beside(club_of_120_games, "people"))
    done = run("restore", kept_backup, club_of_120_games, "--replace", "--yes")
    assert (done.code, "erase them again" in done.err) == (0, True), done


# --- a restore that was stopped -----------------------------------------------------------------------------


def half_way(kept: Path, club: Path, monkeypatch: pytest.MonkeyPatch, moves: int, *, replace: bool) -> None:
    """Stop a restore after so many moves, as a power cut does: nothing is tidied up."""
    move, left = files.move, [moves + 1]  # the plan is moved, too

    def counted(source: Path, target: Path) -> None:
        if not left[0]:
            raise SystemExit
        left[0] -= 1
        move(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(files, "move", counted)
        patched.setattr(replacing, "undo", lambda *_: False)
        with pytest.raises(SystemExit):
            restore(kept, club, replace=replace)


@pytest.mark.parametrize("moves", range(6))
def test_wherever_a_restore_was_stopped_the_same_command_completes_it(
    moves: int, kept_backup: Path, club_of_120_games: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(club_of_120_games, 120, 130)
    old, new = head_of(club_of_120_games), manifest.read(kept_backup).head
    half_way(kept_backup, club_of_120_games, monkeypatch, moves, replace=True)
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
        assert head_of(club_of_120_games) == old
    done = run("restore", kept_backup, club_of_120_games, "--replace", "--yes")
    assert (done.code, "it was undone first" in done.err) == (0, moves > 0), done
    assert head_of(club_of_120_games) == new
    assert_true(club_of_120_games)
    assert not restoring(club_of_120_games).exists()
    assert head_of(club_of_120_games.parent / "club.replaced-1" / "club.db") == old
    assert not (club_of_120_games.parent / "club.replaced-2").exists()


@pytest.mark.parametrize("moves", range(1, 6))
def test_a_stopped_restore_can_be_given_up(
    moves: int, kept_backup: Path, club_of_120_games: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run without --replace, or with a backup that is damaged, it brings back what stood there."""
    record(club_of_120_games, 120, 130)
    before = head_of(club_of_120_games)
    half_way(kept_backup, club_of_120_games, monkeypatch, moves, replace=True)
    done = run("restore", kept_backup if moves % 2 else club_of_120_games.parent, club_of_120_games)
    assert done.code == REFUSED
    assert ("a restore that was stopped is undone" in done.err) == bool(moves % 2)
    assert head_of(club_of_120_games) == before
    assert_true(club_of_120_games)
    for name in NAMES:
        with closing(sqlite.connect(club_of_120_games.with_name(name))) as connection:
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert not list(club_of_120_games.parent.glob("club.re*"))


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
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix == ".db") == sorted(NAMES)
    assert not restoring(club).exists()


def test_whatever_a_killed_restore_left_in_its_folder_is_no_obstacle(
    kept_backup: Path, club_of_120_games: Path
) -> None:
    (restoring(club_of_120_games) / "set").mkdir(parents=True)
    for name in ("lock", "plan.json.making", "set/club.db", "set/other"):
        (restoring(club_of_120_games) / name).write_bytes(b"half")
    restore(kept_backup, club_of_120_games, replace=True)
    assert_true(club_of_120_games)
    assert not restoring(club_of_120_games).exists()


def test_a_damaged_plan_is_told_with_the_way_out(kept_backup: Path, tmp_path: Path, run: Run) -> None:
    club = tmp_path / "club.db"
    restoring(club).mkdir()
    for text in (b"", b"{}", b"[]", b"{"):
        (restoring(club) / "plan.json").write_bytes(text)
        done = run("restore", kept_backup, club)
        assert (done.code, "move back by hand" in done.err, len(done.err.splitlines())) == (REFUSED, True, 1), done
    shutil.rmtree(restoring(club))
    assert run("restore", kept_backup, club).code == 0


def test_a_disk_that_refuses_half_way_leaves_the_old_ledger(
    kept_backup: Path, club_of_120_games: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = head_of(club_of_120_games)
    for moves in range(1, 7):
        move, left = files.move, [moves]

        def refusing(source: Path, target: Path) -> None:
            left[0] -= 1  # noqa: B023
            if not left[0]:  # noqa: B023
                raise StorageError(str(source), "Input/output error")
            move(source, target)  # noqa: B023

        with monkeypatch.context() as patched:
            patched.setattr(files, "move", refusing)
            with pytest.raises(StorageError, match="Input/output error"):
                restore(kept_backup, club_of_120_games, replace=True)
        assert head_of(club_of_120_games) == before, moves
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


# --- disks --------------------------------------------------------------------------------------------------


@pytest.fixture(name="disk")
def _disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, of two megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m,mode=777", "none", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a file system can be mounted by root only")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def remount(folder: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", str(folder)], check=True)


def test_a_backup_may_go_to_another_file_system(club_of_120_games: Path, disk: Path) -> None:
    assert_true(backup(club_of_120_games, disk / "b").folder / "club.db")
    with pytest.raises(StorageError, match="give a folder inside it"):
        backup(club_of_120_games, disk)


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


@pytest.mark.parametrize("limit", [4_000, 90_000])
def test_a_file_that_may_not_grow_leaves_nothing(
    limit: int, club_of_120_games: Path, kept_backup: Path, tmp_path: Path
) -> None:
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    (tmp_path / "b").mkdir()
    for words in (("backup", str(club_of_120_games), "b/b"), ("restore", str(kept_backup), "b/club.db")):
        done = subprocess.run(
            [sys.executable, "-m", "tools.cli", *words], cwd=tmp_path, capture_output=True, text=True, check=False,
            preexec_fn=limited, env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        assert (done.returncode, len(done.stderr.splitlines())) == (REFUSED, 1), done
        assert any(word in done.stderr for word in ("too large", "disk", "full")), done
        assert list((tmp_path / "b").iterdir()) == []


# --- the commands -------------------------------------------------------------------------------------------


def test_the_commands_tell_what_they_did(club_of_120_games: Path, tmp_path: Path, run: Run) -> None:
    head = str(head_of(club_of_120_games))
    done = run("backup", club_of_120_games, tmp_path / "b")
    assert (done.code, done.out) == (0, f"{head}\n")
    assert "126 entries, 5 names, views at 126; " in done.err
    (tmp_path / "heads.txt").write_text(done.out)
    done = run("restore", tmp_path / "b", tmp_path / "new.db", "--since", tmp_path / "heads.txt")
    assert (done.code, done.out) == (0, f"{head}\n")
    assert "restored, 126 entries, 5 names, with its views" in done.err
    assert run("backup", club_of_120_games, tmp_path / "b").code == REFUSED
    assert run("restore", tmp_path / "b", club_of_120_games).code == REFUSED
    assert run("restore", tmp_path / "b", club_of_120_games, "--since", "nonsense").code == USAGE


def test_nothing_is_replaced_unasked(
    kept_backup: Path, club_of_120_games: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(club_of_120_games, 120, 125)
    before = contents(club_of_120_games.parent)
    done = run("restore", kept_backup, club_of_120_games, "--replace")
    assert (done.code, "give --yes" in done.err) == (USAGE, True)
    assert "an earlier state of it; its last 6 entries would be lost: 5 game-recorded/1, 1 player-" in done.err
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _: "n")
    assert run("restore", kept_backup, club_of_120_games, "--replace").code == REFUSED
    assert contents(club_of_120_games.parent) == before
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _: "y")
    done = run("restore", kept_backup, club_of_120_games, "--replace")
    assert (done.code, "club.replaced-1" in done.err) == (0, True)


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        (Loss(5, 5, 5), "it has the same 5 entries as the backup: nothing would be lost"),
        (Loss(7, 5, 5, {"game-recorded/1": 2}), "its last 2 entries would be lost: 2 game-recorded/1"),
        (Loss(7, 6, 5, {"game-recorded/1": 2}), "part after entry 5; its last 2 entries would be lost"),
        (Loss(5, 6, 5), "the backup is a later state of it: nothing would be lost, 1 entries come"),
        (Loss(7, 6, 0, {"game-recorded/1": 7}), "it is another ledger than the backup; all its 7 entries"),
        (Loss(None, 6), "its journal cannot be read"),
    ],
)
def test_what_would_be_lost_is_said_in_a_sentence(loss: Loss, words: str) -> None:
    from tools.commands.copying import words_of

    assert words in words_of(loss)


def test_the_results_are_documented() -> None:
    for name in backups.__all__:
        assert getattr(backups, name).__doc__
    for result in (backups.Backup, backups.Restored, Loss):
        assert all(f"    {field.name}: " in (result.__doc__ or "") for field in attrs.fields(result))


def test_the_manifest_can_be_read_by_people(kept_backup: Path) -> None:
    text = (kept_backup / manifest.NAME).read_text(encoding="utf-8")
    assert json.loads(text)["files"]["journal"]["name"] == "club.db"
    assert len(text.splitlines()) > 10
