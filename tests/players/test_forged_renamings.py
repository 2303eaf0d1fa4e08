"""Names that somebody put into the people file by hand, to be given to a player: the journal sealed none of them."""

from pathlib import Path

import pytest

from ledger.audit.audit import audit
from ledger.errors import StorageError
from ledger.ledger import Ledger
from ledger.players.pending_changes import PendingName
from ledger.runtime.ledger_files import sidecar
from tests.kit.clubs import copied
from tests.kit.people import THREE_NAMES, everybody, waiting
from tests.kit.tampering import execute

OLD_NAME, NEW_NAME, THIRD_NAME = THREE_NAMES
FORGED = "INSERT OR REPLACE INTO renaming VALUES ({player}, {number}, '{name}', {salt})"


@pytest.mark.parametrize(
    ("player", "number", "name", "salt", "fault"),
    [
        (1, 1, "Mallory", "randomblob(16)", ""),  # as one that was stopped leaves it
        (2, 7, "Mallory", "zeroblob(16)", ""),
        (2, 1, "", "(SELECT salt FROM people WHERE player = 2)", ""),
        (99, 1, "Mallory", "randomblob(16)", "waits for a player whom no entry registered"),
        (2, 1, "Mallory", "x''", "the salt is not 16 bytes"),
        (2, 0, "Mallory", "randomblob(16)", "is renaming 0, after which entry 3 gave another name"),
    ],
)
def test_a_forged_row_gives_nobody_a_name(
    player: int, number: int, name: str, salt: str, fault: str, pair_club: Path, tmp_path: Path
) -> None:
    names = [person.name for person in everybody(sidecar(pair_club, "people"))]
    execute(sidecar(pair_club, "people"), FORGED.format(player=player, number=number, name=name, salt=salt))
    forged = copied(pair_club.parent, tmp_path / "read only")
    with Ledger.open(forged, read_only=True) as ledger:
        assert [ledger.player(str(number)).name for number in (1, 2)] == names
        assert not ledger.people.find("Mallory")
    found = [(one.table, one.position_or_key, one.message) for one in audit(forged).falsehoods]
    remedy = f"; remove it with 'DELETE FROM renaming WHERE player = {player}'"
    assert found == ([("renaming", player, f"{fault}{remedy}")] if fault else [])
    with Ledger.open(pair_club) as ledger:
        assert [ledger.player(str(number)).name for number in (1, 2)] == names
    assert waiting(pair_club) == []
    assert [person.name for person in everybody(sidecar(pair_club, "people"))] == names
    assert audit(pair_club).falsehoods == ()


def test_a_forged_row_excuses_no_name_that_was_changed(pair_club: Path) -> None:
    execute(
        sidecar(pair_club, "people"),
        FORGED.format(player=2, number=1, name="Mallory", salt="zeroblob(16)"),
        "UPDATE people SET name = 'Mallory', salt = zeroblob(16) WHERE player = 2",
    )
    with Ledger.open(pair_club, read_only=True) as ledger, pytest.raises(StorageError, match="is not whom entry 3"):
        ledger.player("2")
    (falsehood,) = audit(pair_club).falsehoods
    assert "the name is not the one sealed in entry 3" in falsehood.message


def test_a_name_that_was_true_once_cannot_be_brought_back(pair_club: Path) -> None:
    """Both the row that waited and the player's own row, as they were before the next renaming."""
    with Ledger.open(pair_club) as ledger:
        ledger.rename(2, THIRD_NAME)
        person = everybody(sidecar(pair_club, "people"))[1]
        ledger.rename(2, NEW_NAME)
    pending = PendingName(2, 1, THIRD_NAME, person.salt or b"")
    execute(sidecar(pair_club, "people"), ("INSERT INTO renaming VALUES (?, ?, ?, ?)", pending))
    with Ledger.open(pair_club, read_only=True) as ledger:
        assert ledger.player("2").name == NEW_NAME
    Ledger.open(pair_club).close()
    assert (waiting(pair_club), everybody(sidecar(pair_club, "people"))[1].name) == ([], NEW_NAME)
    brought_back = ("UPDATE people SET name = ?, salt = ? WHERE player = 2", (person.name, person.salt))
    execute(sidecar(pair_club, "people"), brought_back)
    assert "from before entry 6" in audit(pair_club).falsehoods[0].message
