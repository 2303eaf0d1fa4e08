"""Renamings that were stopped on their way or go on beside other processes: the old name or the new one, never none.

Kill -9 stands for every way to stop without warning.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ledger.audit.audit import Verdict, audit
from ledger.audit.proven import recompute
from ledger.backups import backup, making, restore
from ledger.errors import StorageError
from ledger.imports.reading import frames
from ledger.journal import renaming
from ledger.journal.pending_names import Pending, PendingNames
from ledger.journal.people import People
from ledger.journal.sealed_names import accept_lost_names, lost_names
from ledger.journal.sealings import is_sealed, latest_commitments
from ledger.journal.sqlite_store import SqliteJournal
from ledger.ledger import Ledger
from ledger.runtime import sqlite
from ledger.runtime.ledger_files import beside
from tests.kit.clubs import copied, open_ledger
from tests.kit.crashes import CRASHES, check_journal, driven
from tests.kit.people import everybody, marked, won_by_the_first
from tests.kit.places import ROOT
from tests.kit.tampering import execute

OLD_NAME, NEW_NAME, THIRD_NAME = marked(3)
FORGED = "INSERT OR REPLACE INTO renaming VALUES ({player}, {number}, '{name}', {salt})"
WAITING = "1 names that were to be given"


class _StoppedError(BaseException):
    """Ends a process."""


@pytest.fixture(scope="module")
def folder_of_two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("two")
    with open_ledger(folder / "club.db") as ledger:
        for number, name in enumerate((OLD_NAME, "Bob"), 1):
            assert ledger.register(f"id:{number}", name) == number
        (game,) = won_by_the_first(("Ann", "Bob"))
        ledger.import_games(frames([game._replace(white_id="id:1", black_id="id:2")]))
        ledger.catch_up()
    return folder


@pytest.fixture(name="club")
def _club(folder_of_two: Path, tmp_path: Path) -> Path:
    """Two players, who are known by identities that say nothing of their names, and a game, rated."""
    return copied(folder_of_two, tmp_path / "club")


@pytest.fixture(name="stopped")
def _stopped(club: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The process ended when the journal had sealed the name: it did not reach its player."""
    stop(club, monkeypatch, PendingNames, "give")
    assert [person.name for person in everybody(beside(club, "people"))] == [OLD_NAME, "Bob"]
    return club


def stop(club: Path, monkeypatch: pytest.MonkeyPatch, where: Any, function: str) -> None:
    """End a renaming where it comes to a function."""

    def stopping(*_: object) -> None:
        raise _StoppedError

    with monkeypatch.context() as patch, Ledger.open(club) as ledger:
        patch.setattr(where, function, stopping)
        if function != "settle_if_possible":
            patch.setattr(renaming, "settle_if_possible", lambda *_: None)
        with pytest.raises(_StoppedError):
            ledger.rename(1, NEW_NAME)


def bytes_of(club: Path) -> bytes:
    return b"".join(file.read_bytes() for file in club.parent.iterdir() if file.is_file())


def waiting(club: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite.connect(beside(club, "people"), read_only=True)) as connection:
        return connection.execute("SELECT player, number, name FROM renaming").fetchall()


def left_out(verdict: Verdict) -> list[str]:
    return [omission.part for omission in verdict.not_compared if "names" in omission.part]


# --- stopped ------------------------------------------------------------------------------------------------------


def test_killed_at_any_statement_it_is_the_old_name_or_the_new(club: Path, tmp_path: Path) -> None:
    """What stands there is true as it is, and the same command completes it."""
    whole = copied(club.parent, tmp_path / "whole").parent
    done = driven(whole, "--steps", "rename", "--die-at", str(2**62))
    assert done.returncode == 0, done.stderr
    statements = int(done.stdout.split()[-1])
    seen = set()
    for statement in range(1, statements + 1, 1 if CRASHES > 50 else 3):
        folder = tmp_path / str(statement)
        path = copied(club.parent, folder)
        assert driven(folder, "--steps", "rename", "--die-at", str(statement)).returncode == -9
        sealed = [entry for entry in check_journal(folder) if entry["kind"] == "player-renamed/1"]
        assert audit(path).falsehoods == ()
        with Ledger.open(path, read_only=True) as ledger:
            name = ledger.player("1").name
        assert name == ("Renamed" if sealed else OLD_NAME)
        with Ledger.open(path) as ledger:
            assert ledger.player("id:1").name == name
        seen.add((name, bool(waiting(path))))
        assert left_out(audit(path)) == []
        assert (OLD_NAME.encode() in bytes_of(path)) == (name == OLD_NAME)
        with Ledger.open(path) as ledger:
            assert ledger.rename(1, "Renamed") == (name == OLD_NAME)
        assert OLD_NAME.encode() not in bytes_of(path)
    assert seen == {(OLD_NAME, False), ("Renamed", False)}


def test_a_name_that_was_never_sealed_is_dropped(club: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stop(club, monkeypatch, renaming, "_seal")
    assert waiting(club) == [(1, 1, NEW_NAME)]
    verdict = audit(club)
    assert (verdict.falsehoods, left_out(verdict)) == ((), [WAITING])
    with Ledger.open(club, read_only=True) as ledger:
        assert ledger.player("1").name == OLD_NAME
        assert not ledger.people.named(NEW_NAME)
    assert waiting(club) == [(1, 1, NEW_NAME)]  # who only reads writes nothing
    with Ledger.open(club) as ledger:
        assert ledger.player("1").name == OLD_NAME
    assert waiting(club) == []
    assert NEW_NAME.encode() not in bytes_of(club)


def test_who_may_not_write_reads_the_name_that_was_sealed(stopped: Path) -> None:
    assert (audit(stopped).falsehoods, left_out(audit(stopped))) == ((), [])
    with Ledger.open(stopped, read_only=True) as ledger:
        for wanted in ("1", "id:1", NEW_NAME, NEW_NAME.swapcase()):
            person = ledger.player(wanted)
            assert (person.player, person.name) == (1, NEW_NAME)
        people = ledger.people
        assert people.names() == [(1, NEW_NAME), (2, "Bob")]
        assert [person.name for persons in people.salted(highest_first=True) for person in persons] == ["Bob", NEW_NAME]
        assert people.by_number([1])[1] == people.by_identity(["id:1"])["id:1"] == people.named(NEW_NAME)[0]
        assert people.named(OLD_NAME) == []
        assert people.like(NEW_NAME[:-2]) == [NEW_NAME]
        assert people.counts() == (2, 2)
    recomputed = recompute(stopped).ledger
    assert recomputed is not None
    with recomputed as ledger:
        assert ledger.player("id:1").name == NEW_NAME
    assert OLD_NAME.encode() in bytes_of(stopped)


@pytest.mark.parametrize("way", ["open", "erase", "rename", "import", "lost names"])
def test_whoever_writes_next_completes_it(way: str, stopped: Path) -> None:
    if way == "lost names":
        execute(beside(stopped, "people"), "DELETE FROM people WHERE player = 2")
        with closing(SqliteJournal(stopped)) as journal:
            assert lost_names(journal, beside(stopped, "people")) == 1
            assert accept_lost_names(journal, beside(stopped, "people")) == 1
    with Ledger.open(stopped) as ledger:
        if way == "erase":
            ledger.erase(1)
        elif way == "rename":
            ledger.rename(1, THIRD_NAME)
        elif way == "import":
            (game,) = won_by_the_first(("Ann", "Bob"))
            report = ledger.import_games(frames([game._replace(white_id="id:1", black_id="id:2")]))
            assert (report.repeated, report.players, report.kept_names) == (1, 0, 1)
    assert everybody(beside(stopped, "people"))[0].name == {"erase": None, "rename": THIRD_NAME}.get(way, NEW_NAME)
    assert waiting(stopped) == []
    assert OLD_NAME.encode() not in bytes_of(stopped)
    verdict = audit(stopped)
    assert (verdict.falsehoods, left_out(verdict)) == ((), [])


def test_one_that_was_stopped_before_the_old_name_was_cleaned_away_is_cleaned_next(
    club: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop(club, monkeypatch, People, "clean")
    assert waiting(club) == [(1, 1, NEW_NAME)]
    assert everybody(beside(club, "people"))[0].name == NEW_NAME
    assert audit(club).falsehoods == ()
    Ledger.open(club).close()
    assert (waiting(club), OLD_NAME.encode() in bytes_of(club)) == ([], False)


def test_erasing_forgets_the_name_that_was_to_be_given(club: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stop(club, monkeypatch, PendingNames, "give")
    with closing(People(beside(club, "people"))) as people:
        assert people.erase(1)
    assert waiting(club) == []
    assert NEW_NAME.encode() not in bytes_of(club)
    with Ledger.open(club) as ledger:
        assert ledger.player("1").is_erased
    assert audit(club).falsehoods == ()


def test_a_file_that_cannot_be_settled_can_be_read(stopped: Path) -> None:
    """Another program's trigger: no writer takes such a file."""
    execute(stopped, "CREATE TRIGGER t AFTER INSERT ON texts BEGIN SELECT 1; END")
    with Ledger.open(stopped) as ledger:
        assert ledger.player(NEW_NAME).player == 1
        with pytest.raises(StorageError, match="trigger 't'"):
            ledger.rename(1, THIRD_NAME)
        assert ledger.player(NEW_NAME).player == 1


# --- rows that somebody put there ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("player", "number", "name", "salt"),
    [(1, 1, "Mallory", "randomblob(16)"), (2, 7, "Mallory", "zeroblob(16)"), (99, 1, "Mallory", "x''"),
     (2, -1, "", "(SELECT salt FROM people WHERE player = 2)")],
)  # fmt: skip
def test_a_forged_row_gives_nobody_a_name(
    player: int, number: int, name: str, salt: str, club: Path, tmp_path: Path
) -> None:
    names = [person.name for person in everybody(beside(club, "people"))]
    execute(beside(club, "people"), FORGED.format(player=player, number=number, name=name, salt=salt))
    forged = copied(club.parent, tmp_path / "read only")
    with Ledger.open(forged, read_only=True) as ledger:
        assert [ledger.player(str(number)).name for number in (1, 2)] == names
        assert not ledger.people.named("Mallory")
    assert audit(forged).falsehoods == ()
    with Ledger.open(club) as ledger:
        assert [ledger.player(str(number)).name for number in (1, 2)] == names
    assert waiting(club) == []
    assert [person.name for person in everybody(beside(club, "people"))] == names
    assert audit(club).falsehoods == ()


def test_a_forged_row_excuses_no_name_that_was_changed(club: Path) -> None:
    execute(
        beside(club, "people"), FORGED.format(player=2, number=1, name="Mallory", salt="zeroblob(16)"),
        "UPDATE people SET name = 'Mallory', salt = zeroblob(16) WHERE player = 2",
    )  # fmt: skip
    with Ledger.open(club, read_only=True) as ledger, pytest.raises(StorageError, match="is not whom entry 3"):
        ledger.player("2")
    (falsehood,) = audit(club).falsehoods
    assert "the name is not the one sealed in entry 3" in falsehood.message


def test_a_name_that_was_true_once_cannot_be_brought_back(club: Path) -> None:
    """Both the row that waited and the player's own row, as they were before the next renaming."""
    with Ledger.open(club) as ledger:
        ledger.rename(2, THIRD_NAME)
        person = everybody(beside(club, "people"))[1]
        ledger.rename(2, NEW_NAME)
    pending = Pending(2, 1, THIRD_NAME, person.salt or b"")
    execute(beside(club, "people"), ("INSERT INTO renaming VALUES (?, ?, ?, ?)", pending))
    with Ledger.open(club, read_only=True) as ledger:
        assert ledger.player("2").name == NEW_NAME
    Ledger.open(club).close()
    assert (waiting(club), everybody(beside(club, "people"))[1].name) == ([], NEW_NAME)
    execute(beside(club, "people"), ("UPDATE people SET name = ?, salt = ? WHERE player = 2", (person[2], person[3])))
    assert "from before entry 6" in audit(club).falsehoods[0].message


# --- beside other processes ---------------------------------------------------------------------------------------


def test_a_reader_who_keeps_the_old_bytes_is_told_of_and_the_next_command_takes_them_away(club: Path) -> None:
    reader = sqlite.connect(beside(club, "people"))
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM people").fetchall()
    with Ledger.open(club) as ledger:
        ledger.people._connection.execute("PRAGMA busy_timeout=0")
        renamed = ledger.registry.rename(1, NEW_NAME, actor="officer")
        assert (renamed.person.name, renamed.recorded, renamed.is_forgotten) == (NEW_NAME, True, False)
        assert ledger.player(NEW_NAME).player == 1
    assert OLD_NAME.encode() in bytes_of(club)
    assert audit(club).falsehoods == ()
    reader.close()
    Ledger.open(club).close()
    assert OLD_NAME.encode() not in bytes_of(club)


def test_a_ledger_that_was_open_knows_the_new_name(club: Path) -> None:
    with Ledger.open(club) as ledger, Ledger.open(club, read_only=True) as reading, Ledger.open(club) as other:
        assert (ledger.player("1").name, reading.player("1").name) == (OLD_NAME, OLD_NAME)
        other.rename(1, NEW_NAME)
        assert (ledger.player("1").name, reading.player("1").name) == (NEW_NAME, NEW_NAME)
        assert ledger.register("id:3", "New") == 3


def test_who_compares_while_a_name_is_given_sees_one_of_the_two(club: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The row was read before the renaming, the entry after it, or the other way round."""
    with Ledger.open(club) as ledger, Ledger.open(club) as other:
        old = ledger.people.by_number([1])[1]
        with closing(SqliteJournal(club)) as journal:
            entry = latest_commitments(journal, journal.find, [1])[1]
        with monkeypatch.context() as patch:
            patch.setattr(renaming, "settle", lambda *_: None)  # it waits for its player
            other.rename(1, NEW_NAME)
        assert ledger._names.compared(old).name == NEW_NAME
        assert ledger._names._confirmed(ledger.people.by_number([1])[1], entry).name == OLD_NAME
        Ledger.open(club).close()
        assert ledger._names.compared(old).name == NEW_NAME
        assert ledger._names._confirmed(ledger.people.by_number([1])[1], entry).name == NEW_NAME


def test_processes_that_rename_at_once_leave_one_name_that_was_sealed(club: Path) -> None:
    script = (
        "import sys; from ledger import Ledger\n"
        "for i in range(15):\n"
        "  with Ledger.open(sys.argv[1]) as ledger:\n"
        "    ledger.rename(1 + i % 2, f'{sys.argv[2]} {i}')\n"
        "    ledger.player(str(1 + i % 2))\n"
        "    ledger.register(f'{sys.argv[2]}:{i}', 'New')"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(club), word], cwd=ROOT, stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        for word in ("one", "two")
    ]  # fmt: skip
    assert [process.communicate()[1].decode() for process in running] == ["", ""]
    with Ledger.open(club) as ledger:
        assert len(list(ledger.entries("player-renamed"))) == 30
        sealed = latest_commitments(ledger.journal, ledger.journal.find, (1, 2))
        assert all(is_sealed(ledger.player(str(number)), entry) for number, entry in sealed.items())
    assert (waiting(club), audit(club).falsehoods) == ([], ())


def renaming_on(where: Any, function: str, club: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Somebody renames before each call of a function; the names that are still to be given."""
    names = iter(marked(2))
    called: Callable[..., Any] = getattr(where, function)

    def renames(*arguments: Any, **more: Any) -> Any:
        for name in names:
            with Ledger.open(club) as ledger:
                ledger.rename(1, name)
            break
        return called(*arguments, **more)

    monkeypatch.setattr(where, function, renames)
    return names


def test_a_backup_beside_a_renaming_is_one_consistent_set(
    club: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = renaming_on(making, "_copy_people", club, monkeypatch)
    made = backup(club, tmp_path / "kept")
    assert list(names) == []
    assert made.names == 2
    assert audit(made.folder / "club.db").falsehoods == ()
    restored = restore(made.folder, tmp_path / "again.db")
    with Ledger.open(restored.path) as ledger, Ledger.open(club) as original:
        assert ledger.player("1").name == original.player("1").name


def test_a_backup_beside_renamings_without_end_gives_up(
    club: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = iter(range(99))
    monkeypatch.setattr(making, "_renamings", lambda _: next(counts))
    with pytest.raises(StorageError, match="renamed again and again"):
        backup(club, tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


def test_a_backup_of_a_stopped_renaming_holds_both_steps(stopped: Path, tmp_path: Path) -> None:
    made = backup(stopped, tmp_path / "kept")
    restored = restore(made.folder, tmp_path / "again.db")
    with Ledger.open(restored.path) as ledger:
        assert ledger.player("1").name == NEW_NAME


def test_an_audit_beside_a_renaming_calls_nothing_false(club: Path) -> None:
    names = iter([NEW_NAME])

    def renames(*_: object) -> None:  # while the journal is read
        for name in names:
            with Ledger.open(club) as ledger:
                ledger.rename(1, name)

    verdict = audit(club, progress=renames)
    assert (verdict.falsehoods, left_out(verdict)) == ((), ["names of 1 players"])
    assert verdict.names_checked == 1
    assert (audit(club).falsehoods, audit(club).names_checked) == ((), 2)
