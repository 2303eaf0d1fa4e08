"""A backup that proved itself by a restore, and the newest backup of a ledger."""

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ledger.audit.audit import Verdict
from ledger.audit.reader import Falsehood
from ledger.backups import disk, newest_backup, proofs, prove_backup, restore
from ledger.errors import CorruptError, StorageError
from ledger.facts.words import TreeHead
from ledger.runtime.ledger_files import sidecar
from tests.kit.backups import contents_of, edited

NIGHT = datetime(2026, 11, 20, 3, tzinfo=UTC)


@pytest.fixture(name="own_backup")
def _own_backup(kept_backup: Path, tmp_path: Path) -> Path:
    """A copy of the backup, alone in its folder."""
    return Path(shutil.copytree(kept_backup, tmp_path / "nights" / "one"))


def proven_at(backup: Path) -> str | None:
    newest = newest_backup(backup.parent, lambda _: True)
    assert newest is not None
    return newest.proven_at


def test_a_proven_backup_says_since_when_and_is_else_the_same(own_backup: Path) -> None:
    before = contents_of(own_backup)
    assert proven_at(own_backup) is None
    assert prove_backup(own_backup, clock=lambda: NIGHT).ok
    assert proven_at(own_backup) == "2026-11-20T03:00:00Z"
    assert [path.name for path in own_backup.parent.iterdir()] == ["one"]
    assert {name: content for name, content in contents_of(own_backup).items() if name != proofs.NAME} == before


def test_a_backup_without_views_is_proven_by_building_them(own_backup: Path, kept_backup: Path) -> None:
    edited(own_backup, lambda members: members["files"].pop("views"), sealed=True)
    (own_backup / "club.views.db").unlink()
    verdict = prove_backup(own_backup, clock=lambda: NIGHT)
    assert (verdict.ok, verdict.rows_until) == (True, verdict.entries)
    assert proven_at(own_backup) is not None


@pytest.mark.parametrize("what", ["journal", "people", "views"])
def test_a_false_backup_loses_an_earlier_proof(own_backup: Path, what: str) -> None:
    prove_backup(own_backup, clock=lambda: NIGHT)
    file = own_backup / "club.db" if what == "journal" else sidecar(own_backup / "club.db", what)
    content = bytearray(file.read_bytes())
    content[-100] ^= 1
    file.write_bytes(content)
    with pytest.raises((StorageError, CorruptError)):
        prove_backup(own_backup)
    assert proven_at(own_backup) is None
    assert [path.name for path in own_backup.parent.iterdir()] == ["one"]


def test_a_verdict_that_is_false_proves_nothing(own_backup: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    false = Verdict(TreeHead(0, b""), 0, 0, 0, {}, (Falsehood("journal", 7, "is another entry"),))
    monkeypatch.setattr(proofs, "audit", lambda *_, **__: false)
    assert not prove_backup(own_backup)
    assert proven_at(own_backup) is None


def test_derived_rows_that_cannot_be_compared_prove_nothing(own_backup: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    silent = Verdict(TreeHead(5, b""), 5, 0, 0, {}, ())
    monkeypatch.setattr(proofs, "audit", lambda *_, **__: silent)
    with pytest.raises(StorageError, match="is not proven, for its derived rows cannot be compared"):
        prove_backup(own_backup)
    assert proven_at(own_backup) is None


@pytest.mark.parametrize("step", ["restore", "audit", "replace_file"])
def test_a_proof_that_is_killed_claims_nothing_and_the_next_one_sweeps_its_names_away(
    step: str, own_backup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prove_backup(own_backup, clock=lambda: NIGHT)

    def killed(*_: object, **__: object) -> None:
        raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr(proofs, step, killed)
        with pytest.raises(SystemExit):
            prove_backup(own_backup)
    assert proven_at(own_backup) is None
    left = own_backup.parent / "club.proof-left"  # nobody tidies up after SIGKILL
    left.mkdir()
    restore(own_backup, left / "club.db")
    (left / "held").touch()
    prove_backup(own_backup, clock=lambda: NIGHT)
    assert [path.name for path in own_backup.parent.iterdir()] == ["one"]
    assert proven_at(own_backup) is not None


@pytest.mark.parametrize("change", ["damage", "format", "another", "folder"])
def test_a_proof_that_is_not_of_this_backup_counts_for_nothing(
    change: str, own_backup: Path, later_backup: Path
) -> None:
    prove_backup(own_backup, clock=lambda: NIGHT)
    proof = own_backup / proofs.NAME
    text = proof.read_text()
    if change == "another":
        own_backup = Path(shutil.copytree(later_backup, own_backup.with_name("two")))
        shutil.move(proof, own_backup)
    elif change == "folder":
        proof.unlink()
        proof.mkdir()
    else:
        proof.write_text(text.replace("2026-11-20", "2026-12-20") if change == "damage" else "[1]")
    assert proven_at(own_backup) is None


def test_the_newest_backup_is_found_and_the_newest_proven_one(
    own_backup: Path, later_backup: Path, kept_backup: Path
) -> None:
    folder, heads = own_backup.parent, [disk.read_manifest(each).head for each in (kept_backup, later_backup)]
    later = Path(shutil.copytree(later_backup, folder / "two"))
    (folder / "three").mkdir()
    (folder / "notes.txt").write_text("heads\n")
    prove_backup(own_backup, clock=lambda: NIGHT)
    newest = newest_backup(folder, lambda head: head in heads)
    assert (newest and newest.folder) == later
    proven = newest_backup(folder, lambda _: True, only_proven=True)
    assert (proven and proven.folder) == own_backup
    alone = newest_backup(later, lambda _: True)
    assert (alone and alone.folder) == later
    assert newest_backup(folder, lambda _: False) is None
    with pytest.raises(StorageError):
        newest_backup(folder / "none", lambda _: True)


def test_a_backup_names_a_file_that_is_missing_or_cut_off(own_backup: Path) -> None:
    def fault() -> str:
        newest = newest_backup(own_backup.parent, lambda _: True)
        return "" if newest is None else newest.fault

    assert fault() == ""
    people = own_backup / "club.people.db"
    people.write_bytes(people.read_bytes()[:-1])
    assert f"{people} has " in fault()
    people.unlink()
    assert fault() == f"{people} is missing"
