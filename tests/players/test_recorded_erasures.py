"""An erasure stands in the journal, without who it was: stopped, repeated, of merged players, beside backups."""

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from polars import DataFrame

from ledger.audit.audit import Verdict, audit
from ledger.backups import backup, restore
from ledger.errors import RejectedError, StorageError, UnknownNameError
from ledger.facts.changes import Change, Verb
from ledger.facts.events import Decision
from ledger.imports.reading import batch_games
from ledger.journal.rules import facts_of
from ledger.journal.sqlite_store import SqliteJournal
from ledger.ledger import Ledger
from ledger.players import erasing
from ledger.players.sqlite_people import SqlitePeople
from ledger.recording import game_columns
from ledger.runtime.ledger_files import sidecar
from tests.errors.rule_cases import source
from tests.kit.backups import bytes_of
from tests.kit.clubs import ClubOfTwo, copied
from tests.kit.commands import Run
from tests.kit.crashes import check_journal, driven
from tests.kit.people import THREE_NAMES, erasures, everybody, pending, won_by_the_first
from tests.kit.tampering import execute, run_sql
from tests.tiers import times

NAME = THREE_NAMES[0]
WAITING = "1 players who were erased"


class _StoppedError(BaseException):
    """Ends a process."""


def left_out(verdict: Verdict) -> list[str]:
    return [omission.part for omission in verdict.not_compared if "erased" in omission.part]


def stop(path: Path, monkeypatch: pytest.MonkeyPatch, where: Any, function: str) -> None:
    """End an erasure where it comes to a function."""

    def stopping(*_: object) -> None:
        raise _StoppedError

    with monkeypatch.context() as patch, Ledger.open(path) as ledger:
        patch.setattr(where, function, stopping)
        with pytest.raises(_StoppedError):
            ledger.erase(1, actor="eve")


def test_an_erasure_is_an_entry_without_who_it_was(pair_club: Path, run: Run) -> None:
    with Ledger.open(pair_club) as ledger:
        size, ratings = ledger.journal.size(), [row["rating"] for row in ledger.rows("history")]
    done = run("erase", pair_club, NAME, "--yes", "--actor", "admin:eve")
    assert (done.code, "who player 1 was is forgotten" in done.err) == (0, True)
    entry = check_journal(pair_club.parent)[-1]
    assert (entry["position"], entry["actor"], entry["kind"], entry["key"], entry["facts"]) == (
        size + 1,
        "admin:eve",
        "person-erased/1",
        "erased:1",
        {"player": 1},
    )
    with Ledger.open(pair_club) as ledger:
        ledger.catch_up()
        assert [row["rating"] for row in ledger.rows("history")] == ratings
        assert ledger.player("1").is_erased
    verdict = audit(pair_club)
    assert (verdict.falsehoods, verdict.names_erased, left_out(verdict), pending(pair_club)) == ((), 1, [], {})
    assert NAME.encode() not in bytes_of(pair_club.parent)


def test_erasing_again_records_nothing(pair_club: Path, run: Run) -> None:
    with Ledger.open(pair_club) as ledger:
        assert ledger.erase(1)
        size = ledger.journal.size()
        assert not ledger.erase(1)
        assert ledger.journal.size() == size
    assert "was forgotten before" in run("erase", pair_club, "1").err
    assert erasures(pair_club) == [("ledger", 1)]


def test_whom_an_earlier_release_erased_is_recorded_when_erased_again(pair_club: Path) -> None:
    """It left a blank row and no entry."""
    execute(
        sidecar(pair_club, "people"), "UPDATE people SET identity = NULL, name = NULL, salt = NULL WHERE player = 1"
    )
    Ledger.open(pair_club).close()
    assert (erasures(pair_club), audit(pair_club).falsehoods) == ([], ())
    with Ledger.open(pair_club) as ledger:
        assert not ledger.erase(1)
    assert erasures(pair_club) == [("ledger", 1)]


def test_a_number_that_nobody_registered_is_not_recorded(pair_club: Path) -> None:
    execute(sidecar(pair_club, "people"), "INSERT INTO people VALUES (3, 'id:3', 'Left Behind', x'00', '2020')")
    with Ledger.open(pair_club) as ledger:
        assert ledger.erase(3)
        with pytest.raises(UnknownNameError):
            ledger.erase(99)
    assert (erasures(pair_club), pending(pair_club)) == ([], {})
    assert b"Left Behind" not in bytes_of(pair_club.parent)


def test_who_comes_back_gets_a_new_number_and_no_command_shows_the_name(pair_club: Path, run: Run) -> None:
    with Ledger.open(pair_club) as ledger:
        ledger.erase(1)
        assert ledger.register("id:1", "Somebody") == 3
    for command in (["ratings"], ["show", "1"], ["games", "2"], ["log", "--limit", "0"], ["players", "alike"]):
        done = (
            run(command[0], *command[1:2], pair_club, *command[2:])
            if command[0] == "players"
            else run(command[0], pair_club, *command[1:])
        )
        assert NAME not in done.out + done.err
    done = run("player", "rename", pair_club, "1", "Robert")
    assert (done.code, "who player 1 was is forgotten" in done.err) == (1, True)


def test_a_clock_that_is_behind_erases_nobody(club_of_two: ClubOfTwo) -> None:
    club_of_two.clock.now -= timedelta(days=2)
    with pytest.raises(RejectedError) as refused:
        club_of_two.ledger.erase(1)
    assert refused.value.rule == "clock-behind"
    assert club_of_two.ledger.player("1").name == "Ann"


def test_killed_at_any_statement_nobody_is_erased_or_the_next_one_records_it(pair_club: Path, tmp_path: Path) -> None:
    """What stands there is true as it is, and whoever may write brings it to its end."""
    whole = copied(pair_club.parent, tmp_path / "whole").parent
    done = driven(whole, "--steps", "erase", "--die-at", str(2**62))
    assert done.returncode == 0, done.stderr
    statements = int(done.stdout.split()[-1])
    seen = set()
    for statement in range(1, statements + 1, times(quick=3, ci=3, nightly=1)):
        folder = tmp_path / str(statement)
        path = copied(pair_club.parent, folder)
        assert driven(folder, "--steps", "erase", "--die-at", str(statement)).returncode == -9
        recorded = [entry for entry in check_journal(folder) if entry["kind"] == "person-erased/1"]
        verdict = audit(path)
        assert verdict.falsehoods == ()
        with Ledger.open(path, read_only=True) as ledger:
            known = ledger.player("1").name
        assert known is None or not recorded
        assert (left_out(verdict) == [WAITING]) == (known is None and not recorded)
        Ledger.open(path).close()
        assert (erasures(path), pending(path)) == ([] if known else [("officer", 1)], {})
        assert (NAME.encode() in bytes_of(folder)) == (known is not None)
        seen.add((known is None, bool(recorded)))
        with Ledger.open(path) as ledger:
            assert ledger.erase(1, actor="officer") == (known is not None)
        assert erasures(path) == [("officer", 1)]
        assert NAME.encode() not in bytes_of(folder)
    assert seen == {(False, False), (True, False), (True, True)}


@pytest.mark.parametrize("way", ["open", "rename", "import"])
def test_one_that_was_stopped_before_its_entry_is_recorded_by_whoever_writes_next(
    way: str, pair_club: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop(pair_club, monkeypatch, erasing, "_record")
    assert (pending(pair_club), everybody(sidecar(pair_club, "people"))[0].is_erased) == ({1: "eve"}, True)
    assert left_out(audit(pair_club)) == [WAITING]
    with Ledger.open(pair_club, read_only=True) as ledger:
        assert ledger.player("1").is_erased
    assert (erasures(pair_club), pending(pair_club)) == ([], {1: "eve"})  # who only reads writes nothing
    with Ledger.open(pair_club) as ledger:
        if way == "rename":
            ledger.rename(2, "Robert")
        elif way == "import":
            (game,) = won_by_the_first(("Ann", "Bob"))
            ledger.import_games(batch_games([game._replace(key="made:2", white_id="id:1", black_id="id:2")]))
            assert ledger.player("id:1").player == 3
    assert (erasures(pair_club), pending(pair_club)) == ([("eve", 1)], {})
    assert (audit(pair_club).falsehoods, left_out(audit(pair_club))) == ((), [])
    assert NAME.encode() not in bytes_of(pair_club.parent)


def test_one_whose_old_bytes_are_still_there_is_cleaned_by_the_next_command(
    pair_club: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop(pair_club, monkeypatch, SqlitePeople, "purge_or_refuse")
    assert (erasures(pair_club), pending(pair_club)) == ([("eve", 1)], {1: "eve"})
    assert audit(pair_club).falsehoods == ()
    Ledger.open(pair_club).close()
    assert (erasures(pair_club), pending(pair_club)) == ([("eve", 1)], {})
    assert NAME.encode() not in bytes_of(pair_club.parent)


def test_a_journal_that_refuses_is_told_with_what_is_done_already(
    pair_club: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise StorageError("club.db", "database or disk is full")

    with monkeypatch.context() as patch, Ledger.open(pair_club) as ledger:
        patch.setattr(erasing, "_record", full)
        with pytest.raises(StorageError, match="is forgotten, but the journal does not say so yet: the next command"):
            ledger.erase(1)
    Ledger.open(pair_club).close()
    assert erasures(pair_club) == [("ledger", 1)]


def test_who_reads_does_not_wait_for_a_long_import(pair_club: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stop(pair_club, monkeypatch, erasing, "_record")
    with closing(SqliteJournal(pair_club)) as journal, journal.writing(), Ledger.open(pair_club) as ledger:
        assert ledger.player("1").is_erased
    assert pending(pair_club) == {1: "eve"}


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("(1, 'eve')", "waits to be brought to its end, but the player is known by name"),
        ("(99, CAST(x'ff' AS TEXT))", "holds '\\udcff', which is no UTF-8"),
    ],
)
def test_a_forged_row_is_named(row: str, fault: str, pair_club: Path) -> None:
    execute(sidecar(pair_club, "people"), f"INSERT INTO erasing VALUES {row}")
    (falsehood,) = audit(pair_club).falsehoods
    assert (falsehood.table, falsehood.message) == (
        "erasing",
        f"{fault}; 'rating-ledger erase DB {row[1:].partition(',')[0]}' erases the player again",
    )


def test_a_backup_of_a_stopped_erasure_is_recorded_where_it_is_restored(
    pair_club: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop(pair_club, monkeypatch, erasing, "_record")
    made = backup(pair_club, tmp_path / "kept")
    restored = restore(made.folder, tmp_path / "again.db")
    Ledger.open(restored.path).close()
    assert erasures(restored.path) == [("eve", 1)]


def test_who_was_erased_since_a_backup_is_recorded_there_by_the_next_command(pair_club: Path, tmp_path: Path) -> None:
    made = backup(pair_club, tmp_path / "kept")
    with Ledger.open(pair_club) as ledger:
        ledger.erase(1)
    assert restore(made.folder, pair_club, replace=True).erased == (1,)
    assert audit(pair_club).falsehoods == ()
    Ledger.open(pair_club).close()
    assert erasures(pair_club) == [("restore", 1)]
    assert pending(pair_club) == {}


def test_the_journal_tells_who_was_erased_where_the_people_cannot(pair_club: Path, tmp_path: Path) -> None:
    made = backup(pair_club, tmp_path / "kept")
    with Ledger.open(pair_club) as ledger:
        ledger.erase(1)
    run_sql(sidecar(pair_club, "people"), "DROP TABLE people")
    restored = restore(made.folder, pair_club, replace=True)
    assert (restored.erased, restored.erased_unknown) == ((1,), True)
    with Ledger.open(pair_club) as ledger:
        assert (ledger.player("1").name, ledger.player("2").name) == (None, "Bob")


def test_two_who_erase_at_once_leave_one_entry(pair_club: Path) -> None:
    with Ledger.open(pair_club) as ledger, Ledger.open(pair_club) as other:
        assert ledger.erase(1, actor="eve")
        assert not other.erase(1, actor="adam")
    assert erasures(pair_club) == [("eve", 1)]
    assert pending(pair_club) == {}


def test_an_erasure_covers_all_numbers_of_a_person(pair_club: Path, run: Run) -> None:
    with Ledger.open(pair_club) as ledger:
        third, fourth = ledger.register("id:3", "Third"), ledger.register("id:4", "Fourth")
        for player, into in ((third, 1), (fourth, third)):
            merge = Change(do=Verb.MERGE, player=player, into=into)
            proposed = ledger.propose([merge], reason="one person", by="eve")
            ledger.decide(proposed.proposal, Decision.APPROVED, by="adam")
        assert ledger.registry.same_person(third) == [1, 3, 4]
        assert ledger.registry.same_person(2) == [2]
    done = run("erase", pair_club, "Third", "--yes", "--actor", "eve")
    assert (done.code, "who players 1, 3, 4 were is forgotten" in done.err) == (0, True)
    assert erasures(pair_club) == [("eve", 1), ("eve", 3), ("eve", 4)]
    names = [person.name for person in everybody(sidecar(pair_club, "people"))]
    assert names == [None, "Bob", None, None]
    assert audit(pair_club).falsehoods == ()


def test_numbers_that_were_taken_apart_again_are_two_persons(pair_club: Path) -> None:
    with Ledger.open(pair_club) as ledger:
        third = ledger.register("id:3", "Third")
        for verb in (Verb.MERGE, Verb.PART):
            proposed = ledger.propose([Change(do=verb, player=third, into=1)], reason="one person", by="eve")
            ledger.decide(proposed.proposal, Decision.APPROVED, by="adam")
        ledger.erase(third)
    assert erasures(pair_club) == [("ledger", 3)]


def test_what_is_asked_before_an_erasure_names_all_numbers(
    pair_club: Path, run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Ledger.open(pair_club) as ledger:
        proposed = ledger.propose([Change(do=Verb.MERGE, player=2, into=1)], reason="one person", by="eve")
        ledger.decide(proposed.proposal, Decision.APPROVED, by="adam")
    asked: list[str] = []

    def no(question: str) -> str:
        asked.append(question)
        return "n"

    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("click.termui.visible_prompt_func", no)
    assert run("erase", pair_club, "2").code == 1
    question = f"Erase {NAME} (id:1), player 1, merged with Bob (id:2), player 2, for good?"
    assert question in "".join(asked) + capsys.readouterr().err


def test_who_is_erased_while_a_file_is_read_plays_no_further_game(
    club_of_two: ClubOfTwo, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, clock = club_of_two.ledger, club_of_two.clock
    monkeypatch.setattr(game_columns, "prefetched", iter)  # in this thread, so that the order is that of the lines

    def parts() -> Iterator[DataFrame]:
        yield from batch_games([source("i1")])
        with Ledger.open(club_of_two.path, clock=clock) as other:
            other.erase(1)
        yield from batch_games([source("i1"), source("i2")])

    report = ledger.import_games(parts())
    assert (report.recorded, [game.known for game in report.alike], report.faults) == (2, ["i1"], [])
    games = {key: facts_of(stored) for key, stored in ledger.journal.find(["game:i1", "game:i2"]).items()}
    assert {key: facts["white"] for key, facts in games.items()} == {"game:i1": 1, "game:i2": 3}
    assert [person.identity for person in ledger.names.file.by_number([1, 3]).values()] == [None, "name:ann"]
    assert audit(club_of_two.path).falsehoods == ()
