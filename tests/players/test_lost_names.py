"""Going on without names that are lost, when that is said; and players who are registered by number."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from ledger.audit.audit import audit
from ledger.errors import RejectedError, StorageError
from ledger.journal import sqlite_keys
from ledger.journal.sqlite_store import SqliteJournal
from ledger.ledger import Ledger
from ledger.players import lost_names, verified_names
from ledger.players.persons import Person
from ledger.players.sqlite_people import SqlitePeople
from ledger.runtime import sqlite
from ledger.runtime.ledger_files import sidecar
from tests.kit.commands import Run
from tests.kit.people import everybody, head_text, import_wins, registration_of
from tools.commands import REFUSED, USAGE


def test_numbers_without_names_are_read_and_recorded_by_number(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "club.db"
    with Ledger.create(path) as ledger:
        ledger.append_many([registration_of(7), registration_of(9)])
        ledger.append(registration_of(7))  # the same fact again
        ledger.catch_up()
        assert ledger.player("7") == Person(7, None, None, None, "2020")
        with pytest.raises(StorageError, match=r"nothing of 2 players .*: 7 \(entry 2\), 9 \(entry 3\)"):
            ledger.register("name:ann", "Ann")
    with pytest.raises(StorageError, match="nothing of 2 players"):
        import_wins(path, ("Ann", "Bob"))
    assert run("accept-lost-names", path, "--yes").code == 0
    import_wins(path, ("Ann", "Bob"))
    with Ledger.open(path) as ledger:
        assert (ledger.player("Ann").player, ledger.player("Bob").player) == (10, 11)
    assert audit(path).falsehoods == ()


def test_a_number_that_the_people_file_gave_to_somebody_is_not_registered_for_another(club_of_four: Path) -> None:
    with closing(SqlitePeople(sidecar(club_of_four, "people"))) as people:
        people.assign_numbers({"name:eve": "Eve"}, "2020")  # number 5, whom no entry registered yet
    with Ledger.open(club_of_four) as ledger:
        before = ledger.head()
        with pytest.raises(StorageError, match="player 5 is 'name:eve' here"):
            ledger.append_many([registration_of(6), registration_of(5)])
        assert ledger.head() == before
        with pytest.raises(RejectedError, match="exists-with-different-commitment"):
            ledger.append(registration_of(4))
        assert ledger.register("name:eve", "Eve") == 5


def test_a_number_registered_while_it_is_given_out_is_found_before_anybody_gets_it(
    club_of_four: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program registers the number between the look at the whole file and the giving out.

    Where that is done within the journal's write transaction, as everywhere in the library, the other one waits.
    """
    check = verified_names.VerifiedNames._check_all_there

    def check_then_other(self: verified_names.VerifiedNames) -> None:
        check(self)
        with Ledger.open(club_of_four) as other:
            other.append(registration_of(5))

    monkeypatch.setattr(verified_names.VerifiedNames, "_check_all_there", check_then_other)
    with (
        Ledger.open(club_of_four) as ledger,
        pytest.raises(StorageError, match=r"1 player .* registered: 5 \(entry 8\)"),
    ):
        ledger.names.assign_numbers({"name:eve": "Eve"}, "2020", ledger.journal.find)
    assert {person.player for person in everybody(sidecar(club_of_four, "people"))} == {1, 2, 3, 4}


def test_lost_names_are_given_up_and_all_goes_on(club_with_older_names: Path, run: Run) -> None:
    before = head_text(club_with_older_names)
    done = run("accept-lost-names", club_with_older_names, "--yes")
    assert (done.code, done.out) == (0, "")
    assert "club.people.db: 2 players go on as numbers without a name" in done.err
    assert head_text(club_with_older_names) == before  # nothing is appended
    with Ledger.open(club_with_older_names) as ledger:
        facts = [entry.facts for entry in ledger.entries("player-registered")]
    joined = {registered["player"]: registered["joined_at"] for registered in facts}
    assert everybody(sidecar(club_with_older_names, "people"))[2:] == [
        Person(3, None, None, None, joined[3]),
        Person(4, None, None, None, joined[4]),
    ]
    import_wins(club_with_older_names, ("Carl", "Ann"))
    with Ledger.open(club_with_older_names) as ledger:
        assert ledger.player("Carl").player == 5
    assert audit(club_with_older_names).falsehoods == ()
    again = run("accept-lost-names", club_with_older_names)
    assert (again.code, "no name is lost" in again.err) == (0, True)


def test_a_people_file_that_is_missing_is_made_anew(club_of_four: Path, run: Run) -> None:
    for leftover in club_of_four.parent.glob("club.people.db*"):
        leftover.unlink()
    done = run("show", club_of_four, "1")
    assert (done.code, "accept-lost-names DB" in done.err) == (REFUSED, True)
    assert "4 players go on as numbers" in run("accept-lost-names", club_of_four, "--yes").err
    assert json.loads(run("show", club_of_four, "1").out)["player"] == 1
    import_wins(club_of_four, ("Ann", "Mallory"))
    with Ledger.open(club_of_four) as ledger:
        assert ledger.player("Ann").player == 5
    assert audit(club_of_four).falsehoods == ()
    assert list(club_of_four.parent.glob("*.making*")) == []


def test_a_log_without_its_file_is_not_taken_for_that_of_a_new_one(club_of_four: Path, run: Run) -> None:
    with Ledger.open(club_of_four) as ledger:
        ledger.register("name:eve", "Eve")
        log = sidecar(club_of_four, "people").with_name("club.people.db-wal").read_bytes()
    assert log
    for leftover in club_of_four.parent.glob("club.people.db*"):
        leftover.unlink()
    club_of_four.with_name("club.people.db-wal").write_bytes(log)
    for _ in range(2):
        done = run("accept-lost-names", club_of_four, "--yes")
        assert (done.code, "move the log aside" in done.err) == (REFUSED, True)
        assert club_of_four.with_name("club.people.db-wal").read_bytes() == log
        assert not sidecar(club_of_four, "people").exists()


def test_a_foreign_people_file_is_not_filled_in(club_with_foreign_names: Path, run: Run) -> None:
    held = sidecar(club_with_foreign_names, "people").read_bytes()
    done = run("accept-lost-names", club_with_foreign_names, "--yes")
    assert done.code == REFUSED
    assert "4 in it are not whom the journal registered, first player 1 ('name:zoe', entry 2)" in done.err
    assert "moved aside" in done.err
    assert sidecar(club_with_foreign_names, "people").read_bytes() == held
    sidecar(club_with_foreign_names, "people").rename(club_with_foreign_names.with_name("aside"))
    assert run("accept-lost-names", club_with_foreign_names, "--yes").code == 0
    assert everybody(sidecar(club_with_foreign_names, "people"))[0][1:4] == (None, None, None)


def test_nothing_is_given_up_unasked(club_with_older_names: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    held = everybody(sidecar(club_with_older_names, "people"))
    done = run("accept-lost-names", club_with_older_names)
    assert (done.code, "give --yes" in done.err) == (USAGE, True)
    asked: list[str] = []
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)

    def answer(question: str) -> str:
        asked.append(question)
        return "n"

    monkeypatch.setattr("click.termui.visible_prompt_func", answer)
    assert run("accept-lost-names", club_with_older_names).code == 1
    assert "without the names of 2 players?" in asked[0]
    assert everybody(sidecar(club_with_older_names, "people")) == held


def test_names_are_given_up_whole_or_not_at_all(club_of_four: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for leftover in club_of_four.parent.glob("club.people.db*"):
        leftover.unlink()

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with closing(SqliteJournal(club_of_four)) as journal:
        with monkeypatch.context() as patch:
            patch.setattr(SqlitePeople, "add_nameless", stop)
            with pytest.raises(KeyboardInterrupt):
                lost_names.accept_lost_names(journal, sidecar(club_of_four, "people"))
        assert not sidecar(club_of_four, "people").exists()
        assert lost_names.count_lost_names(journal, sidecar(club_of_four, "people")) == 4
        assert lost_names.accept_lost_names(journal, sidecar(club_of_four, "people")) == 4
        assert lost_names.count_lost_names(journal, sidecar(club_of_four, "people")) == 0


def test_the_registered_numbers_are_read_from_the_index_alone(club_of_four: Path) -> None:
    with closing(sqlite.connect(club_of_four)) as connection:
        plan = connection.execute(f"EXPLAIN QUERY PLAN {sqlite_keys.BETWEEN}", ("player:", "player;")).fetchall()
    assert {row[3].split()[1] for row in plan if "SEARCH" in row[3] or "SCAN" in row[3]} == {
        f"keys_{table}" for table in range(sqlite_keys.TABLES)
    }
