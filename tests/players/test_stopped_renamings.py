"""Renamings that were stopped on their way or go on beside other processes: the old name or the new one, never none.

Kill -9 stands for every way to stop without warning.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any

import pytest

from ledger.audit.audit import Verdict, audit
from ledger.audit.recomputed_ledger import recompute_ledger
from ledger.backups import backup, making, restore
from ledger.errors import StorageError
from ledger.imports.reading import batch_games
from ledger.journal.sqlite_store import SqliteJournal
from ledger.ledger import Ledger
from ledger.players import renaming
from ledger.players.lost_names import accept_lost_names, count_lost_names
from ledger.players.pending_changes import PendingNames
from ledger.players.sqlite_people import SqlitePeople
from ledger.players.verified_names import is_committed, latest_commitments
from ledger.runtime import sqlite
from ledger.runtime.ledger_files import sidecar
from tests.kit.clubs import copied
from tests.kit.crashes import check_journal, driven
from tests.kit.people import THREE_NAMES, everybody, marked, waiting, won_by_the_first
from tests.kit.places import ROOT
from tests.kit.tampering import execute
from tests.tiers import times

OLD_NAME, NEW_NAME, THIRD_NAME = THREE_NAMES
WAITING = "1 names that were to be given"


class _StoppedError(BaseException):
    """Ends a process."""


@pytest.fixture(name="stopped_renaming")
def _stopped_renaming(pair_club: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The process ended when the journal had sealed the name: it did not reach its player."""
    stop(pair_club, monkeypatch, PendingNames, "apply")
    assert [person.name for person in everybody(sidecar(pair_club, "people"))] == [OLD_NAME, "Bob"]
    return pair_club


@pytest.fixture(name="patiences")
def _patiences(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How many seconds each was ready to wait for other processes, where it was not as long as ever."""
    asked: list[float] = []
    unchanged = sqlite.busy_timeout

    def noted(connection: Any, seconds: float) -> AbstractContextManager[None]:
        asked.append(seconds)
        return unchanged(connection, seconds)

    monkeypatch.setattr(sqlite, "busy_timeout", noted)
    return asked


def stop(pair_club: Path, monkeypatch: pytest.MonkeyPatch, where: Any, function: str) -> None:
    """End a renaming where it comes to a function."""

    def stopping(*_: object) -> None:
        raise _StoppedError

    with monkeypatch.context() as patch, Ledger.open(pair_club) as ledger:
        patch.setattr(where, function, stopping)
        if where is renaming:
            patch.setattr(renaming, "complete_pending", lambda *_: None)
        with pytest.raises(_StoppedError):
            ledger.rename(1, NEW_NAME)


def bytes_of(pair_club: Path) -> bytes:
    return b"".join(file.read_bytes() for file in pair_club.parent.iterdir() if file.is_file())


def left_out(verdict: Verdict) -> list[str]:
    return [omission.part for omission in verdict.not_compared if "names" in omission.part]


@pytest.mark.slow
def test_killed_at_any_statement_it_is_the_old_name_or_the_new(pair_club: Path, tmp_path: Path) -> None:
    """What stands there is true as it is, and the same command completes it."""
    whole = copied(pair_club.parent, tmp_path / "whole").parent
    done = driven(whole, "--steps", "rename", "--die-at", str(2**62))
    assert done.returncode == 0, done.stderr
    statements = int(done.stdout.split()[-1])
    seen = set()
    for statement in range(1, statements + 1, times(quick=9, ci=3, nightly=1)):
        folder = tmp_path / str(statement)
        path = copied(pair_club.parent, folder)
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


def test_a_name_that_was_never_sealed_is_dropped(pair_club: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stop(pair_club, monkeypatch, renaming, "body_of")
    assert waiting(pair_club) == [(1, 1, NEW_NAME)]
    verdict = audit(pair_club)
    assert (verdict.falsehoods, left_out(verdict)) == ((), [WAITING])
    with Ledger.open(pair_club, read_only=True) as ledger:
        assert ledger.player("1").name == OLD_NAME
        assert not ledger.people.find(NEW_NAME)
    assert waiting(pair_club) == [(1, 1, NEW_NAME)]  # who only reads writes nothing
    with Ledger.open(pair_club) as ledger:
        assert ledger.player("1").name == OLD_NAME
    assert waiting(pair_club) == []
    assert NEW_NAME.encode() not in bytes_of(pair_club)


def test_who_may_not_write_reads_the_name_that_was_sealed(stopped_renaming: Path) -> None:
    assert (audit(stopped_renaming).falsehoods, left_out(audit(stopped_renaming))) == ((), [])
    with Ledger.open(stopped_renaming, read_only=True) as ledger:
        for wanted in ("1", "id:1", NEW_NAME, NEW_NAME.swapcase()):
            person = ledger.player(wanted)
            assert (person.player, person.name) == (1, NEW_NAME)
        people = ledger.people
        assert people.names() == [(1, NEW_NAME), (2, "Bob")]
        assert [person.name for persons in people.iter_named(highest_first=True) for person in persons] == [
            "Bob",
            NEW_NAME,
        ]
        assert people.by_number([1])[1] == people.by_identity(["id:1"])["id:1"] == people.find(NEW_NAME)[0]
        assert people.find(OLD_NAME) == []
        assert people.suggest(NEW_NAME[:-2]) == [NEW_NAME]
        assert people.counts() == (2, 2)
    recomputed = recompute_ledger(stopped_renaming).ledger
    assert recomputed is not None
    with recomputed as ledger:
        assert ledger.player("id:1").name == NEW_NAME
    assert OLD_NAME.encode() in bytes_of(stopped_renaming)


@pytest.mark.parametrize("way", ["open", "erase", "rename", "import", "lost names"])
def test_whoever_writes_next_completes_it(way: str, stopped_renaming: Path) -> None:
    if way == "lost names":
        execute(sidecar(stopped_renaming, "people"), "DELETE FROM people WHERE player = 2")
        with closing(SqliteJournal(stopped_renaming)) as journal:
            assert count_lost_names(journal, sidecar(stopped_renaming, "people")) == 1
            assert accept_lost_names(journal, sidecar(stopped_renaming, "people")) == 1
    with Ledger.open(stopped_renaming) as ledger:
        if way == "erase":
            ledger.erase(1)
        elif way == "rename":
            ledger.rename(1, THIRD_NAME)
        elif way == "import":
            (game,) = won_by_the_first(("Ann", "Bob"))
            report = ledger.import_games(batch_games([game._replace(white_id="id:1", black_id="id:2")]))
            assert (report.repeated, report.players, report.kept_names) == (1, 0, 1)
    name = everybody(sidecar(stopped_renaming, "people"))[0].name
    assert name == {"erase": None, "rename": THIRD_NAME}.get(way, NEW_NAME)
    assert waiting(stopped_renaming) == []
    assert OLD_NAME.encode() not in bytes_of(stopped_renaming)
    verdict = audit(stopped_renaming)
    assert (verdict.falsehoods, left_out(verdict)) == ((), [])


def test_one_that_was_stopped_before_the_old_name_was_cleaned_away_is_cleaned_next(
    pair_club: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop(pair_club, monkeypatch, SqlitePeople, "purge_within")
    assert waiting(pair_club) == [(1, 1, NEW_NAME)]
    assert everybody(sidecar(pair_club, "people"))[0].name == NEW_NAME
    assert audit(pair_club).falsehoods == ()
    Ledger.open(pair_club).close()
    assert (waiting(pair_club), OLD_NAME.encode() in bytes_of(pair_club)) == ([], False)


def test_erasing_forgets_the_name_that_was_to_be_given(pair_club: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stop(pair_club, monkeypatch, PendingNames, "apply")
    with closing(SqlitePeople(sidecar(pair_club, "people"))) as people:
        assert people.erasures.begin([1], "ledger")
        people.purge_or_refuse()
    assert waiting(pair_club) == []
    assert NEW_NAME.encode() not in bytes_of(pair_club)
    with Ledger.open(pair_club) as ledger:
        assert ledger.player("1").is_erased
    assert audit(pair_club).falsehoods == ()


def test_a_file_that_cannot_be_settled_can_be_read(stopped_renaming: Path) -> None:
    """Another program's trigger: no writer takes such a file."""
    execute(stopped_renaming, "CREATE TRIGGER t AFTER INSERT ON texts BEGIN SELECT 1; END")
    with Ledger.open(stopped_renaming) as ledger:
        assert ledger.player(NEW_NAME).player == 1
        with pytest.raises(StorageError, match="trigger 't'"):
            ledger.rename(1, THIRD_NAME)
        assert ledger.player(NEW_NAME).player == 1


def test_who_reads_does_not_wait_for_a_long_import(stopped_renaming: Path, patiences: list[float]) -> None:
    with closing(SqliteJournal(stopped_renaming)) as journal, journal.writing():
        patiences.clear()
        with Ledger.open(stopped_renaming) as ledger:
            assert ledger.player(NEW_NAME).player == 1
        assert set(patiences) == {0}
        assert len(waiting(stopped_renaming)) == 1
    Ledger.open(stopped_renaming).close()
    assert waiting(stopped_renaming) == []


def test_a_reader_who_keeps_the_old_bytes_is_told_of_and_the_next_command_takes_them_away(
    pair_club: Path, patiences: list[float]
) -> None:
    reader = sqlite.connect(sidecar(pair_club, "people"))
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM people").fetchall()
    with Ledger.open(pair_club) as ledger:
        renamed = ledger.registry.rename(1, NEW_NAME, actor="officer")
        assert (renamed.person.name, renamed.recorded, renamed.is_forgotten) == (NEW_NAME, True, False)
        assert ledger.player(NEW_NAME).player == 1
    Ledger.open(pair_club).close()
    assert renaming.PATIENCE in patiences
    assert max(patiences) < 5  # seconds: nobody waits a minute for the reader
    assert OLD_NAME.encode() in bytes_of(pair_club)
    assert audit(pair_club).falsehoods == ()
    reader.close()
    Ledger.open(pair_club).close()
    assert OLD_NAME.encode() not in bytes_of(pair_club)


def test_a_ledger_that_was_open_knows_the_new_name(pair_club: Path) -> None:
    path = pair_club
    with Ledger.open(path) as ledger, Ledger.open(path, read_only=True) as reading, Ledger.open(path) as other:
        assert (ledger.player("1").name, reading.player("1").name) == (OLD_NAME, OLD_NAME)
        other.rename(1, NEW_NAME)
        assert (ledger.player("1").name, reading.player("1").name) == (NEW_NAME, NEW_NAME)
        assert ledger.register("id:3", "New") == 3


def test_who_compares_while_a_name_is_given_sees_one_of_the_two(
    pair_club: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row was read before the renaming, the entry after it, or the other way round."""
    with Ledger.open(pair_club) as ledger, Ledger.open(pair_club) as other:
        old = ledger.people.by_number([1])[1]
        with closing(SqliteJournal(pair_club)) as journal:
            entry = latest_commitments(journal, journal.find, [1])[1]
        with monkeypatch.context() as patch:
            patch.setattr(renaming, "complete_pending", lambda *_: None)  # it waits for its player
            other.rename(1, NEW_NAME)
        assert ledger.names.verify(old).name == NEW_NAME
        assert ledger.names._confirmed(ledger.people.by_number([1])[1], entry).name == OLD_NAME
        Ledger.open(pair_club).close()
        assert ledger.names.verify(old).name == NEW_NAME
        assert ledger.names._confirmed(ledger.people.by_number([1])[1], entry).name == NEW_NAME


@pytest.mark.slow
def test_processes_that_rename_at_once_leave_one_name_that_was_sealed(pair_club: Path) -> None:
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
            [sys.executable, "-c", script, str(pair_club), word],
            cwd=ROOT,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        for word in ("one", "two")
    ]
    assert [process.communicate()[1].decode() for process in running] == ["", ""]
    with Ledger.open(pair_club) as ledger:
        assert len(list(ledger.entries("player-renamed"))) == 30
        sealed = latest_commitments(ledger.journal, ledger.journal.find, (1, 2))
        assert all(is_committed(ledger.player(str(number)), entry) for number, entry in sealed.items())
    assert (waiting(pair_club), audit(pair_club).falsehoods) == ([], ())


def renaming_on(where: Any, function: str, pair_club: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Somebody renames before each call of a function; the names that are still to be given."""
    names = iter(marked(2))
    called: Callable[..., Any] = getattr(where, function)

    def renames(*arguments: Any, **more: Any) -> Any:
        for name in names:
            with Ledger.open(pair_club) as ledger:
                ledger.rename(1, name)
            break
        return called(*arguments, **more)

    monkeypatch.setattr(where, function, renames)
    return names


def test_a_backup_beside_a_renaming_is_one_consistent_set(
    pair_club: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = renaming_on(making, "_copy_people", pair_club, monkeypatch)
    made = backup(pair_club, tmp_path / "kept")
    assert list(names) == []
    assert made.names == 2
    assert audit(made.folder / "club.db").falsehoods == ()
    restored = restore(made.folder, tmp_path / "again.db")
    with Ledger.open(restored.path) as ledger, Ledger.open(pair_club) as original:
        assert ledger.player("1").name == original.player("1").name


def test_a_backup_beside_renamings_without_end_gives_up(
    pair_club: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = iter(range(99))
    monkeypatch.setattr(making, "_renamings", lambda _: next(counts))
    with pytest.raises(StorageError, match="renamed again and again"):
        backup(pair_club, tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


def test_a_backup_of_a_stopped_renaming_holds_both_steps(stopped_renaming: Path, tmp_path: Path) -> None:
    made = backup(stopped_renaming, tmp_path / "kept")
    restored = restore(made.folder, tmp_path / "again.db")
    with Ledger.open(restored.path) as ledger:
        assert ledger.player("1").name == NEW_NAME


def test_an_audit_beside_a_renaming_calls_nothing_false(pair_club: Path) -> None:
    names = iter([NEW_NAME])

    def renames(*_: object) -> None:  # while the journal is read
        for name in names:
            with Ledger.open(pair_club) as ledger:
                ledger.rename(1, name)

    verdict = audit(pair_club, progress=renames)
    assert (verdict.falsehoods, left_out(verdict)) == ((), ["names of 1 players"])
    assert verdict.names_checked == 1
    assert (audit(pair_club).falsehoods, audit(pair_club).names_checked) == ((), 2)
