"""Tables compared and hashed in parts: whoever does a part, and however many there are, the audit says the same."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import pytest

from ledger.audit import audit as audits
from ledger.audit import table_parts
from ledger.audit.audit import audit, table_digests
from ledger.audit.table_parts import ComparedPart, TablePart, is_equal, lines_of, parts_of
from ledger.ledger import Ledger
from ledger.runtime.long_work import PartMap
from ledger.runtime.process_executor import ProcessExecutor
from tests.audit.findings import views_of
from tests.audit.sqlite_library import sqlite3
from tests.kit.commands import Run
from tests.kit.tampering import edit, execute
from tools.commands import FALSE, REFUSED

FALSE_ROWS = {
    "nothing": ("SELECT 1",),
    "a rating": ("UPDATE history SET rating = rating + 1e-9 WHERE player = 6 AND n = 7",),
    "two tables": ("DELETE FROM games WHERE position % 7 = 0", "UPDATE history SET n = n + 1000 WHERE player = 5"),
    "one more row": ("INSERT INTO current VALUES (1, 99, 1, 3000.0, 12, 0, 0, 0, 1)",),
    "a table": ("DROP TABLE streaks",),
    "the position": ("UPDATE progress SET position = position - 1",),
    "a text that is none": ("UPDATE players SET joined_at = CAST(x'ff' AS TEXT) WHERE player = 4",),
}


@pytest.fixture(name="in_threads")
def _in_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[PartMap]:
    """Three threads that do parts of forty rows."""
    monkeypatch.setattr(table_parts, "ROWS", 40)
    monkeypatch.setattr(audits, "_FEW_BYTES", 0)
    with ThreadPoolExecutor(3) as executor:
        yield PartMap(executor, 4, few=1)


@pytest.mark.parametrize("statements", FALSE_ROWS.values(), ids=FALSE_ROWS)
def test_verdict_digests_and_first_false_rows_are_those_of_one_process(
    statements: tuple[str, ...], club_of_300_games: Path, in_threads: PartMap
) -> None:
    execute(views_of(club_of_300_games), *statements)
    verdict = audit(club_of_300_games)
    assert audit(club_of_300_games, part_map=in_threads) == verdict
    assert verdict.ok == (statements == ("SELECT 1",))


@pytest.mark.slow
def test_other_processes_say_the_same(club_of_300_games: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audits, "_FEW_BYTES", 0)
    with ProcessExecutor(2) as executor:
        assert audit(club_of_300_games, part_map=PartMap(executor, 3, few=1)) == audit(club_of_300_games)


def test_a_digest_is_that_of_all_rows_in_order_however_they_are_parted(
    club_of_300_games: Path, in_threads: PartMap
) -> None:
    with closing(sqlite3.connect(views_of(club_of_300_games))) as connection:
        history = [*parts_of(connection, "history")]
        lines = b"".join(map(lines_of, history))
        assert [(lines.count(b"\n"),)] == connection.execute("SELECT count(*) FROM history").fetchall()
        assert [lines_of(part).count(b"\n") for part in history[:-1]] == [40] * (len(history) - 1)
        assert len(history) > 5
        digests = table_digests(connection, in_threads)
        assert digests == table_digests(connection)
        assert digests["history"] == sha256(lines).hexdigest()


def test_a_key_that_may_be_null_makes_one_part(tmp_path: Path, in_threads: PartMap) -> None:
    path = tmp_path / "views.db"
    count = "WITH RECURSIVE count(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM count WHERE n < 100)"
    fill = f"INSERT INTO t {count} SELECT nullif(n, 7), n FROM count"
    edit(path, "CREATE TABLE t(a INTEGER, b INTEGER, PRIMARY KEY(a, b))", fill)
    with closing(sqlite3.connect(path)) as connection:
        assert [lines_of(part).count(b"\n") for part in parts_of(connection, "t")] == [100]


def test_views_that_another_process_took_further_are_looked_at_closely(club_of_300_games: Path) -> None:
    path = str(views_of(club_of_300_games))
    with closing(sqlite3.connect(path)) as connection:
        (part,) = parts_of(connection, "current")
        (progress,) = connection.execute("SELECT position, root FROM progress").fetchall()
    assert is_equal(ComparedPart(part, path, progress))
    assert not is_equal(ComparedPart(part, path, (progress[0] - 1, progress[1])))
    assert not is_equal(ComparedPart(part, f"{path}.gone", progress))


def test_a_range_of_keys_is_compared_alone(club_of_300_games: Path, tmp_path: Path) -> None:
    path, other = views_of(club_of_300_games), tmp_path / "other.db"
    other.write_bytes(path.read_bytes())
    execute(other, "UPDATE history SET rating = rating + 1 WHERE player = 3 AND n = 2")
    with closing(sqlite3.connect(path)) as connection:
        (progress,) = connection.execute("SELECT position, root FROM progress").fetchall()
        (part,) = parts_of(connection, "history")
    ends = [None, (1, 3, 2), (1, 3, 3), None]
    parts = [TablePart(part.path, part.table, *pair) for pair in pairwise(ends)]
    assert [is_equal(ComparedPart(each, str(other), progress)) for each in parts] == [True, False, True]


def kill_worker(part: object) -> bool:
    os.kill(os.getpid(), signal.SIGKILL)
    return bool(part)


@pytest.mark.slow
def test_a_killed_worker_leaves_the_rows_uncompared(club_of_300_games: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audits, "_FEW_BYTES", 0)
    monkeypatch.setattr("ledger.audit.rebuilt_views.is_equal", kill_worker)
    with ProcessExecutor(2) as executor:
        verdict = audit(club_of_300_games, part_map=PartMap(executor, 3, few=1))
    assert not verdict.ok
    (left_out,) = verdict.not_compared
    assert (left_out.part, left_out.failed) == ("derived rows", True)
    assert left_out.reason == "a worker process ended (exit code -9): audit it again, or with --workers 1"


@pytest.mark.slow
def test_the_command_says_the_same_with_any_number_of_workers(sample_club: Path, run: Run) -> None:
    with Ledger.open(sample_club) as ledger:
        ledger.ensure_up_to_date()
    one, two = (run("audit", sample_club, "--workers", workers) for workers in (1, 2))
    assert one == two
    assert one.code == 0
    execute(views_of(sample_club), "UPDATE history SET rating = 1 WHERE player = 3 AND n = 2")
    one, two = (run("audit", sample_club, "--workers", workers) for workers in (1, 2))
    assert one == two
    assert one.code == FALSE
    for word in ("0", "many"):
        assert run("audit", sample_club, "--workers", word).code not in {0, REFUSED, FALSE}
