"""Reasons of corrections against their commitments: changed, moved, forged, missing and erased ones."""

from contextlib import closing
from pathlib import Path

import pytest

from ledger.audit.audit import audit
from ledger.audit.reader import verify_reasons
from ledger.audit.recomputed_ledger import recompute_ledger
from ledger.backups import backup, restore
from ledger.errors import CorruptError
from ledger.journal.sqlite_store import SqliteJournal
from ledger.ledger import Ledger
from ledger.players.lost_names import accept_lost_names
from ledger.runtime.ledger_files import sidecar
from tests.kit.clubs import NOW, copied
from tests.kit.commands import Run
from tests.kit.people import erase_reasons, kept_reasons, left_behind, propose
from tests.kit.tampering import execute

TEXTS = ("scoresheet", "wrong player", "told by the arbiter")


@pytest.fixture(scope="module")
def folder_of_reasons(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two players and three proposals; the second reason is erased."""
    folder = tmp_path_factory.mktemp("reasons")
    with Ledger.create(folder / "club.db", clock=lambda: NOW) as ledger:
        ledger.register("name:ann", "Ann")
        ledger.register("name:bob", "Bob")
        made = [propose(ledger, text)[0] for text in TEXTS]
        ledger.people.reasons.erase(ledger.journal.writing(), [made[1]])
        ledger.catch_up()
    return folder


@pytest.fixture(name="club_of_reasons")
def _club_of_reasons(folder_of_reasons: Path, tmp_path: Path) -> Path:
    return copied(folder_of_reasons, tmp_path / "club")


def verdict_of(club_of_reasons: Path) -> tuple[int, int, int, int]:
    found = verify_reasons(str(club_of_reasons), str(sidecar(club_of_reasons, "people")))
    assert found.falsehoods == ()
    return found.checked, found.erased, found.missing, found.waiting


def test_true_and_erased_reasons_are_counted(club_of_reasons: Path, run: Run) -> None:
    assert verdict_of(club_of_reasons) == (2, 1, 0, 0)
    done = run("audit", club_of_reasons)
    assert (done.code, done.err) == (0, "")
    compared = "6 entries: journal, 2 names, 2 reasons and data of players, 1 erased, and every derived row\n"
    assert done.out.startswith(f"TRUE {club_of_reasons}: {compared}")
    proven = recompute_ledger(club_of_reasons, kind=Ledger).ledger
    assert isinstance(proven, Ledger)
    with proven as ledger:
        commitments = [entry.facts["reason"] for entry in ledger.entries("correction-proposed")]
        assert list(map(ledger.people.reasons.text, commitments)) == [TEXTS[0], None, TEXTS[2]]


def exchange(first: int, second: int) -> list[str]:
    steps = ((first, 9), (second, first), (9, second))
    return [f"UPDATE reasons SET number = {new} WHERE number = {old}" for old, new in steps]


CHANGES = {
    "text = 'x' WHERE number = 1": (1, "the reason of proposal:1@1 is not the one sealed: text or salt was changed"),
    "salt = zeroblob(16) WHERE number = 1": (1, "the reason of proposal:1@1 is not the one sealed"),
    "salt = x'00' WHERE number = 1": (1, "the salt is not 16 bytes"),
    "salt = NULL WHERE number = 1": (1, "is half erased: without salt"),
    "text = NULL WHERE number = 3": (3, "is half erased: without text"),
    "salt = zeroblob(16), text = 'x' WHERE number = 2": (2, "the reason of proposal:2@1 is not the one sealed"),
    "text = CAST(x'ff' AS TEXT) WHERE number = 1": (1, "text holds '\\udcff', which is no UTF-8"),
    "entry = CAST(x'ff' AS TEXT) WHERE number = 1": (1, "entry holds '\\udcff', which is no UTF-8"),
    "commitment = CAST(x'ff' AS TEXT) WHERE number = 2": (2, "commitment holds '\\udcff', which is no UTF-8"),
    "commitment = 'x' WHERE number = 2": (2, "no entry 'proposal:2@1' sealed it"),
    "commitment = 'x' WHERE number = 1": (1, "the reason of proposal:1@1 is not the one sealed"),
    "entry = 'proposal:3@1' WHERE number = 1": (1, "no entry 'proposal:3@1' sealed it"),
    "entry = 'player:1' WHERE number = 2": (2, "no entry 'player:1' sealed it"),
    "number = 7 WHERE number = 3": (7, "is number 7, but there are 2 before it"),
    "number = 4 WHERE number = 1": (2, "is number 2, but there are 0 before it"),
    "number = 4 - number WHERE number <> 2": (2, "entry 5 sealed it, but entry 6 one before it"),
}


@pytest.mark.parametrize(("change", "found"), CHANGES.items(), ids=CHANGES)
def test_a_changed_row_is_found_and_named_by_its_number(
    change: str, found: tuple[int, str], club_of_reasons: Path
) -> None:
    statements = [f"UPDATE reasons SET {change}"]
    if "4 - number" in change:  # one row after another
        statements = exchange(1, 3)
    execute(sidecar(club_of_reasons, "people"), *statements)
    falsehood = audit(club_of_reasons).falsehoods[0]
    assert (falsehood.table, falsehood.position_or_key) == ("reasons", found[0])
    assert falsehood.message.startswith(found[1])
    assert "; restore that row from a copy, or erase the reason" in falsehood.message
    assert recompute_ledger(club_of_reasons).ledger is None


def test_a_missing_reason_is_told_and_not_called_erased(club_of_reasons: Path, run: Run) -> None:
    """The newest alone can be missing: an older copy of the people file has no row for it."""
    execute(sidecar(club_of_reasons, "people"), "DELETE FROM reasons WHERE number = 3")
    assert verdict_of(club_of_reasons) == (1, 1, 1, 0)
    done = run("audit", club_of_reasons)
    assert done.code == 0
    assert "1 reasons of corrections: they are not in the people file" in done.out


def test_one_that_no_entry_sealed_is_told(club_of_reasons: Path) -> None:
    left_behind(club_of_reasons, "proposal:4@1", "stopped")
    assert verdict_of(club_of_reasons) == (2, 1, 0, 1)


def test_a_forged_reason_before_a_sealed_one_is_false(club_of_reasons: Path) -> None:
    left_behind(club_of_reasons, "proposal:4@1", "stopped")
    execute(sidecar(club_of_reasons, "people"), *exchange(3, 4))
    (falsehood,) = audit(club_of_reasons).falsehoods
    assert (falsehood.position_or_key, falsehood.message[:37]) == (3, "no entry 'proposal:4@1' sealed it; re")


def test_whoever_goes_on_without_names_goes_on_without_reasons(club_of_reasons: Path) -> None:
    for file in club_of_reasons.parent.glob("club.people.db*"):
        file.unlink()
    with closing(SqliteJournal(club_of_reasons)) as journal:
        accept_lost_names(journal, sidecar(club_of_reasons, "people"))
    with Ledger.open(club_of_reasons) as ledger:
        commitments = [entry.facts["reason"] for entry in ledger.entries("correction-proposed")]
        assert ledger.people.reasons.texts(commitments) == {}
        propose(ledger, "from now on")
    assert kept_reasons(club_of_reasons) == [(1, "proposal:4@1", "from now on")]
    assert verdict_of(club_of_reasons) == (1, 0, 3, 0)


def test_a_backup_keeps_reasons_and_a_false_one_ends_it(club_of_reasons: Path, tmp_path: Path) -> None:
    left_behind(club_of_reasons, "proposal:4@1", "stopped")
    made = backup(club_of_reasons, tmp_path / "kept")
    restored = restore(made.folder, tmp_path / "again.db")
    assert kept_reasons(restored.path) == kept_reasons(club_of_reasons)
    execute(sidecar(club_of_reasons, "people"), "UPDATE reasons SET text = 'x' WHERE number = 1")
    with pytest.raises(CorruptError, match="reasons 1: the reason of proposal:1@1 is not the one sealed"):
        backup(club_of_reasons, tmp_path / "second")


def test_a_reason_erased_since_the_backup_is_erased_in_it_again(club_of_reasons: Path, tmp_path: Path) -> None:
    made = backup(club_of_reasons, tmp_path / "kept")
    with Ledger.open(club_of_reasons) as ledger:
        first = next(ledger.entries("correction-proposed")).facts["reason"]
    assert erase_reasons(club_of_reasons, first) == 1
    restored = restore(made.folder, club_of_reasons, replace=True)
    assert restored.reasons_erased == 1
    assert kept_reasons(club_of_reasons)[0] == (1, "proposal:1@1", None)
    assert TEXTS[0].encode() not in sidecar(club_of_reasons, "people").read_bytes()
