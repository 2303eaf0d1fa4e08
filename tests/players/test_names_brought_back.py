"""An older people file knows who was erased: nobody is shown the name, and it goes again."""

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ledger.audit.audit import audit
from ledger.audit.recomputed_ledger import recompute_ledger
from ledger.errors import RejectedError
from ledger.journal.sqlite_store import SqliteJournal
from ledger.ledger import Ledger
from ledger.players.lost_names import accept_lost_names
from ledger.players.sqlite_people import SqlitePeople
from ledger.runtime.ledger_files import sidecar
from tests.kit.backups import bytes_of
from tests.kit.commands import Run
from tests.kit.people import THREE_NAMES, erasures, everybody, make_released, pending, put_people_file
from tests.kit.tampering import execute

NAME = THREE_NAMES[0]


@pytest.fixture(name="brought_back")
def _brought_back(pair_club: Path, tmp_path: Path) -> Path:
    """The people file from before the erasure is put back: it knows who was erased."""
    shutil.copy(sidecar(pair_club, "people"), tmp_path / "older")
    with Ledger.open(pair_club) as ledger:
        ledger.erase(1)
    put_people_file(tmp_path / "older", pair_club)
    (tmp_path / "older").unlink()
    assert everybody(sidecar(pair_club, "people"))[0].name == NAME
    return pair_club


def test_who_was_erased_is_erased_again_by_whoever_may_write(brought_back: Path, run: Run) -> None:
    (falsehood,) = audit(brought_back).falsehoods
    assert (falsehood.table, falsehood.position_or_key) == ("people", 1)
    assert falsehood.message.startswith("is known by name, but entry 5 says that this person was erased: the file")
    assert recompute_ledger(brought_back).ledger is None
    done = run("show", brought_back, "1")
    assert (done.code, NAME in done.out + done.err) == (0, False)
    assert everybody(sidecar(brought_back, "people"))[0].is_erased
    assert NAME.encode() not in bytes_of(brought_back.parent)
    assert (audit(brought_back).falsehoods, erasures(brought_back), pending(brought_back)) == ((), [("ledger", 1)], {})


@pytest.fixture(name="kept_from_writing", params=["read only", "journal locked", "trigger"])
def _kept_from_writing(request: pytest.FixtureRequest, brought_back: Path) -> Iterator[Ledger]:
    """It is open, and could not be brought to its end."""
    if request.param == "trigger":
        execute(brought_back, "CREATE TRIGGER t AFTER INSERT ON texts BEGIN SELECT 1; END")
    if request.param == "journal locked":
        with closing(SqliteJournal(brought_back)) as journal, journal.writing(), Ledger.open(brought_back) as ledger:
            yield ledger
    else:
        with Ledger.open(brought_back, read_only=request.param == "read only") as ledger:
            yield ledger


def test_who_was_erased_is_shown_to_nobody_where_it_cannot_be_erased_again(kept_from_writing: Ledger) -> None:
    ledger = kept_from_writing
    assert everybody(Path(ledger.people.path))[0].name == NAME
    assert ledger.player("1").is_erased
    people = ledger.people
    assert (people.find(NAME), people.by_identity(["id:1"]), people.names()) == ([], {}, [(2, "Bob")])
    assert (people.suggest(NAME[:-1]), people.counts()) == ([], (2, 2))
    assert [person.player for persons in people.iter_named() for person in persons] == [2]
    assert ledger.people_row(1) == people.by_number([1])[1] == (1, None, None, None, people.by_number([1])[1].joined_at)


def test_an_older_file_may_be_of_an_older_release(brought_back: Path) -> None:
    make_released(sidecar(brought_back, "people"))
    with Ledger.open(brought_back, read_only=True) as ledger:
        assert (ledger.player("1").name, ledger.player("2").name) == (None, "Bob")
    with Ledger.open(brought_back) as ledger:
        assert (ledger.player("1").name, ledger.player("2").name) == (None, "Bob")
    assert audit(brought_back).falsehoods == ()


def test_whoever_could_not_write_first_erases_before_a_number_is_given_out(brought_back: Path) -> None:
    with closing(SqliteJournal(brought_back)) as journal:
        with journal.writing():
            ledger = Ledger.open(brought_back)
        with ledger:
            assert everybody(sidecar(brought_back, "people"))[0].name == NAME
            assert ledger.register("id:1", NAME) == 3
    assert [person.name for person in everybody(sidecar(brought_back, "people"))] == [None, "Bob", NAME]
    assert audit(brought_back).falsehoods == ()


def test_a_name_that_was_to_be_given_goes_with_the_person(brought_back: Path) -> None:
    execute(sidecar(brought_back, "people"), "INSERT INTO renaming VALUES (1, 1, 'Mallory', randomblob(16))")
    with Ledger.open(brought_back, read_only=True) as ledger:
        assert ledger.player("1").is_erased
    with Ledger.open(brought_back) as ledger, pytest.raises(RejectedError, match="who player 1 was is forgotten"):
        ledger.rename(1, "Mallory")
    with closing(SqlitePeople(sidecar(brought_back, "people"))) as people:
        assert people.pending.rows() == []
    assert b"Mallory" not in bytes_of(brought_back.parent)


def test_going_on_without_lost_names_brings_nobody_back(brought_back: Path) -> None:
    execute(sidecar(brought_back, "people"), "DELETE FROM people WHERE player = 2")
    with closing(SqliteJournal(brought_back)) as journal:
        assert accept_lost_names(journal, sidecar(brought_back, "people")) == 1
    with Ledger.open(brought_back) as ledger:
        assert [ledger.player(number).name for number in ("1", "2")] == [None, None]
    assert audit(brought_back).falsehoods == ()
