"""A backup is proven before it counts; who was erased since is erased in it again when it is restored."""

import shutil
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from ledger.answers.rows import as_rows
from ledger.audit.audit import audit
from ledger.backups import Restored, disk, restore
from ledger.errors import CorruptError, LedgerError, StorageError
from ledger.facts.words import TreeHead
from ledger.ledger import Ledger
from ledger.runtime import sqlite
from ledger.runtime.ledger_files import sidecar
from tests.kit.backups import LEDGER_FILES, assert_true, bytes_of, contents_of, damage, edited, head_of_ledger, record
from tests.kit.clubs import NOW
from tests.kit.commands import Run
from tests.kit.tampering import run_sql


@pytest.mark.slow
def test_a_restored_ledger_is_the_one_that_was_backed_up(
    kept_backup: Path, folder_of_120_games: Path, tmp_path: Path
) -> None:
    restored = restore(kept_backup, tmp_path / "other.db")
    path = tmp_path / "other.db"
    assert restored == Restored(path, head_of_ledger(folder_of_120_games / "club.db"), 5, views=True)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["other.db", "other.people.db", "other.views.db"]
    assert sidecar(path, "people").stat().st_mode & 0o777 == 0o600
    with Ledger.open(path) as ledger, Ledger.open(folder_of_120_games / "club.db") as original:
        for table in ("games", "history", "current"):
            assert list(ledger.rows(table)) == list(original.rows(table))
        for file in (path, sidecar(path, "people"), sidecar(path, "views")):
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


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("file", [*LEDGER_FILES, disk.NAME])
def test_a_damaged_backup_is_refused_by_the_name_of_its_file(
    file: str, how: str, spoilt_backup: Path, later_backup: Path, club_of_120_games: Path, tmp_path: Path
) -> None:
    HOW[how](spoilt_backup / file, later_backup)
    before = contents_of(tmp_path)
    for target, replace in ((tmp_path / "new.db", False), (club_of_120_games, True)):
        with pytest.raises(StorageError, match=r"\(?(backup|backed up|damaged|changed)") as refusal:
            restore(spoilt_backup, target, replace=replace)
        assert "\n" not in str(refusal.value)
        named = file if how != "of another backup" or file != disk.NAME else "club.db"
        assert named in str(refusal.value)
        assert contents_of(tmp_path) == before
    if file == "club.views.db":
        assert "--without-views" in str(refusal.value)
        assert not restore(spoilt_backup, tmp_path / "new.db", with_views=False).views
        assert_true(tmp_path / "new.db")


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
        files={"journal": said["files"]["people"], "people": said["files"]["journal"], "views": said["files"]["views"]}
    ),
    "no people": lambda said: said["files"].pop("people"),
    "no files": lambda said: said.pop("files"),
    "files, a list": lambda said: said.update(files=[1]),
    "another format": lambda said: said.update(format="rating-ledger backup/2"),
    "no format": lambda said: said.pop("format"),
    "a time that is none": lambda said: said.update(made_at=7),
}


@pytest.mark.parametrize("sealed", [False, True], ids=["", "and sealed anew"])
@pytest.mark.parametrize("edit", EDITS)
def test_a_manifest_that_was_edited_is_refused(
    edit: str, sealed: bool, spoilt_backup: Path, club_of_120_games: Path, tmp_path: Path
) -> None:
    edited(spoilt_backup, EDITS[edit], sealed=sealed)
    before = contents_of(tmp_path)
    with pytest.raises(LedgerError) as refusal:
        restore(spoilt_backup, club_of_120_games, replace=True)
    assert "spoilt" in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert contents_of(tmp_path) == before


@pytest.mark.parametrize("text", [b"", b"{}", b"[]", b"null", b"{", b"\xff\xfe", b'"x"', b"[" * 100_000])
def test_a_manifest_that_is_none_is_refused(text: bytes, spoilt_backup: Path, tmp_path: Path) -> None:
    (spoilt_backup / disk.NAME).write_bytes(text)
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
    role = disk.ROLES[LEDGER_FILES.index(name)]
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
    old, new = disk.read_manifest(kept_backup).head, disk.read_manifest(later_backup).head
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


ERASED = "Player 3"


@pytest.mark.slow
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
    return as_rows(ledger.ranking())


@pytest.mark.parametrize("spoil", [damage, Path.unlink])
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


@pytest.mark.slow
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


@pytest.mark.parametrize("spoil", [damage, Path.unlink, lambda path: run_sql(path, "DROP TABLE people")])
def test_it_is_said_where_nobody_can_tell_who_was_erased(
    spoil: Callable[[Path], None], kept_backup: Path, club_of_120_games: Path, run: Run
) -> None:
    spoil(sidecar(club_of_120_games, "people"))
    done = run("restore", kept_backup, club_of_120_games, "--replace", "--yes")
    assert (done.code, "erase them again" in done.err) == (0, True), done
