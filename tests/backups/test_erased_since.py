"""Who was erased since a backup is erased in it again when it is restored."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ledger.answers.rows import as_rows
from ledger.audit.audit import audit
from ledger.backups import restore
from ledger.ledger import Ledger
from ledger.runtime import sqlite
from ledger.runtime.ledger_files import beside
from tests.kit.backups import bytes_of, damage
from tests.kit.clubs import NOW
from tests.kit.commands import Run
from tests.kit.tampering import run_sql

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
    from ledger.answers import rankings

    return as_rows(rankings.ranking(ledger, None, limit=100, min_games=1))


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
    spoil(beside(club_of_120_games, "people"))
    done = run("restore", kept_backup, club_of_120_games, "--replace", "--yes")
    assert (done.code, "erase them again" in done.err) == (0, True), done
