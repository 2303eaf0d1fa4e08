"""Files that are locked or damaged, and a clock that goes backwards: one clear line, and nothing is lost."""

import shutil
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ledger.errors import CorruptError, LedgerError, RejectedError, StorageError
from ledger.imports.reading import batch_games
from ledger.ledger import Ledger
from ledger.runtime import sqlite
from tests.kit.backups import LEDGER_FILES
from tests.kit.clubs import NOW, open_ledger
from tests.kit.crashes import audited, check_journal, derived
from tests.kit.games import source_games
from tests.tiers import few_quick, times


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "act"),
    [
        ("club.db", lambda ledger: ledger.import_games(batch_games(source_games(700), 300))),
        ("club.db", lambda ledger: ledger.register("made:new", "New")),
        ("club.people.db", lambda ledger: ledger.register("made:new", "New")),
        ("club.views.db", lambda ledger: (ledger.register("made:new", "New"), ledger.catch_up())),
        ("club.views.db", lambda ledger: ledger.rebuild()),
    ],
)
def test_a_file_that_another_keeps_locked_is_named(
    file: str, act: Callable[[Ledger], object], copy_of_600_games: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.2)
    with (
        closing(sqlite.connect(copy_of_600_games / file)) as other,
        open_ledger(copy_of_600_games / "club.db") as ledger,
    ):
        other.execute("BEGIN IMMEDIATE")
        before = ledger.head()
        with pytest.raises(StorageError, match="locked: another process"):
            act(ledger)
        if file != "club.views.db":
            assert ledger.head() == before
        # readers are not kept waiting; a ledger that is ahead of the views says so, for it would answer with old rows
        assert ledger.views.connection.execute("SELECT count(*) FROM games").fetchone() == (600,)
        if ledger.views.is_up_to_date():
            assert len(list(ledger.rows("games"))) == 600
        other.execute("ROLLBACK")
        act(ledger)
        ledger.catch_up()
    assert audited(copy_of_600_games) == ()


def everything(folder: Path) -> None:
    """Open, append, catch up, read."""
    with open_ledger(folder / "club.db") as ledger:
        ledger.head()
        ledger.import_games(batch_games(source_games(620), 300))
        ledger.catch_up()
        ledger.pool()
        ledger.player("made:p1")
        for table in ("games", "history", "current", "players", "pools"):
            assert list(ledger.rows(table))


def schema(file: Path) -> list[Any]:
    with closing(sqlite.connect(file)) as connection:
        return connection.execute("SELECT sql FROM sqlite_master").fetchall()


def hurt(file: Path, random: Random, how: str) -> None:
    whole = file.read_bytes()
    if how == "truncated":
        file.write_bytes(whole[: random.choice((0, 1, 99, 100, 4096, 5000, len(whole) // 2, len(whole) - 4096, -1))])
    else:
        place = random.choice((random.randrange(100), random.randrange(4096), random.randrange(len(whole))))
        file.write_bytes(whole[:place] + bytes([whole[place] ^ (1 << random.randrange(8))]) + whole[place + 1 :])


@pytest.mark.parametrize("how", ["truncated", "bit-flipped"])
@pytest.mark.parametrize("file", few_quick(LEDGER_FILES, "club.db"))
def test_a_damaged_file_ends_in_one_clear_line(file: str, how: str, folder_of_600_games: Path, tmp_path: Path) -> None:
    random = Random(file + how)
    refusals: list[LedgerError] = []
    for attempt in range(9 if how == "truncated" else times(quick=9, ci=27, nightly=300)):
        folder = Path(shutil.copytree(folder_of_600_games, tmp_path / str(attempt)))
        hurt(folder / file, random, how)
        try:
            everything(folder)
        except LedgerError as error:
            refusals.append(error)
        except TypeError:  # a column of another name reads as its name: SQLite takes it for a text
            assert schema(folder / file) != schema(folder_of_600_games / file)
        for name in LEDGER_FILES:
            if name != file:
                with closing(sqlite.connect(folder / name)) as other:
                    assert other.execute("PRAGMA integrity_check").fetchall() == [("ok",)], name
        shutil.rmtree(folder)
    assert refusals
    for refusal in refusals:
        assert "\n" not in str(refusal), refusal
        if not isinstance(refusal, RejectedError):  # which is said of facts, not of a file
            assert any(word in str(refusal) for word in (str(tmp_path), "@ $", "'audit'", "'rebuild'")), refusal


@pytest.mark.slow
def test_damaged_views_are_built_anew(folder_of_600_games: Path, tmp_path: Path) -> None:
    """They are disposable: 'rebuild' makes them from the journal whatever became of them."""
    random = Random(7)
    expected = derived(folder_of_600_games)
    for attempt in range(times(quick=4, ci=12, nightly=100)):
        folder = Path(shutil.copytree(folder_of_600_games, tmp_path / str(attempt)))
        hurt(folder / "club.views.db", random, random.choice(("truncated", "bit-flipped")))
        with open_ledger(folder / "club.db") as ledger:
            ledger.rebuild()
        assert derived(folder) == expected, attempt
        shutil.rmtree(folder)


@pytest.mark.slow
def test_views_deleted_under_a_left_over_log_are_built_anew(copy_of_600_games: Path) -> None:
    expected = derived(copy_of_600_games)
    with open_ledger(copy_of_600_games / "club.db") as ledger:
        ledger.register("made:new", "New")
        ledger.catch_up()
        log = (copy_of_600_games / "club.views.db-wal").read_bytes()
    (copy_of_600_games / "club.views.db").unlink()
    (copy_of_600_games / "club.views.db-wal").write_bytes(log)
    with open_ledger(copy_of_600_games / "club.db") as ledger:
        ledger.catch_up()
        ledger.catch_up()
    again = derived(copy_of_600_games)
    assert {table: again[table] for table in ("games", "history", "current")} == {
        table: expected[table] for table in ("games", "history", "current")
    }


def test_a_flipped_bit_in_the_journal_is_found_by_the_audit(folder_of_600_games: Path, tmp_path: Path) -> None:
    random = Random(11)
    sound = raw_rows(folder_of_600_games)
    for attempt in range(times(quick=5, ci=15, nightly=300)):
        folder = Path(shutil.copytree(folder_of_600_games, tmp_path / str(attempt)))
        hurt(folder / "club.db", random, "bit-flipped")
        try:
            found = audited(folder)
        except LedgerError:
            continue
        if not found:
            assert raw_rows(folder) == sound  # the bit was in no entry: a header field or free space
        shutil.rmtree(folder)


def raw_rows(folder: Path) -> list[Any]:
    with closing(sqlite.connect(folder / "club.db")) as connection:
        return connection.execute("SELECT * FROM journal ORDER BY position").fetchall()


def test_views_that_know_more_than_the_journal_say_so(copy_of_600_games: Path, folder_of_600_games: Path) -> None:
    with open_ledger(copy_of_600_games / "club.db") as ledger:
        ledger.register("made:new", "New")
        ledger.catch_up()
    for name in ("club.db", "club.people.db"):
        shutil.copy(folder_of_600_games / name, copy_of_600_games / name)
    with open_ledger(copy_of_600_games / "club.db") as ledger, pytest.raises(CorruptError, match="an older copy"):
        ledger.catch_up()


def test_a_clock_that_goes_backwards_is_refused_and_nothing_recorded(copy_of_600_games: Path) -> None:
    now = [NOW]
    with Ledger.open(copy_of_600_games / "club.db", clock=lambda: now[0]) as ledger:
        before = ledger.head()
        now[0] = NOW - timedelta(minutes=2)
        with pytest.raises(RejectedError, match=r"^clock-behind: .*nothing was recorded$"):
            ledger.import_games(batch_games(source_games(700), 300))
        with pytest.raises(RejectedError, match="clock-behind"):
            ledger.register("made:new", "New")
        assert ledger.head() == before
        now[0] = NOW - timedelta(seconds=30)  # two machines' clocks
        ledger.import_games(batch_games(source_games(700), 300))
        ledger.catch_up()
    stamps = [entry["recorded_at"] for entry in check_journal(copy_of_600_games)]
    assert stamps == sorted(stamps)
