"""The first build: sorted runs on the disk, rows written by a process of its own, and what happens when that fails."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import polars as pl
import pytest
from filelock import FileLock
from hypothesis import given
from hypothesis import strategies as st

from ledger.audit.audit import audit, table_digests
from ledger.errors import CorruptError, StorageError
from ledger.imports.reading import batch_games
from ledger.journal import sqlite_store
from ledger.ledger import Ledger
from ledger.ratings import view_builds
from ledger.runtime import sorted_runs, sqlite, table_writer
from ledger.runtime.ledger_files import sidecar
from ledger.runtime.sorted_runs import SortedRuns
from ledger.runtime.table_writer import WritingConnection, WritingProcess, wait_for_writer
from tests.kit.clubs import open_ledger
from tests.kit.disks import COMPILES_NOTHING
from tests.kit.games import source_games
from tests.kit.places import TESTS
from tests.tiers import examples

ROOT = TESTS.parent
INSERT = "INSERT INTO rows VALUES (?, ?, ?, ?)"


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(-2, 5)), max_size=9), max_size=8),
    st.integers(1, 12),
    st.integers(1, 6),
    st.integers(1, 9),
)
@examples(quick=10, ci=50, nightly=1_000)
def test_rows_come_out_sorted_and_no_block_parts_what_belongs_together(
    frames_of_keys: list[list[tuple[int, int]]], rows_a_run: int, piece: int, rows_a_block: int
) -> None:
    rows = [(pool, ms, f"key {i}-{j}") for i, keys in enumerate(frames_of_keys) for j, (pool, ms) in enumerate(keys)]
    schema = {"pool": pl.Int16, "ms": pl.Int64, "key": pl.String}
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.object(sorted_runs, "PIECE", piece),
        SortedRuns(Path(folder), ("pool", "ms", "key"), lead=2, rows_a_run=rows_a_run) as runs,
    ):
        for i, keys in enumerate(frames_of_keys):
            mine = [row for row in rows if row[2].startswith(f"key {i}-")]
            assert len(mine) == len(keys)
            runs.add(pl.DataFrame(mine, schema=schema, orient="row"))
        assert runs.rows == len(rows)
        blocks = [block.rows() for block in runs.blocks(rows_a_block)]
        assert list(Path(folder).iterdir()) == [] or os.name == "nt"  # the temporary file has no name
    assert [row for block in blocks for row in block] == sorted(rows)
    ends = [(block[0][:2], block[-1][:2]) for block in blocks]
    assert all(last < first for (_, last), (first, _) in pairwise(ends))


def test_what_fits_into_one_run_never_touches_the_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(tempfile, "TemporaryFile", refused)
    with SortedRuns(tmp_path, ("key",), lead=1, rows_a_run=10) as runs:
        runs.add(pl.DataFrame({"key": range(25, 0, -1)}))
        assert [block["key"].to_list() for block in runs.blocks(1_000)] == [list(range(1, 26))]


def test_no_room_for_a_sort_is_one_clear_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with SortedRuns(tmp_path, ("key",), lead=1, rows_a_run=2) as runs:
        runs.add(pl.DataFrame({"key": [3, 1, 2]}))
        with pytest.raises(StorageError, match=r"No space left on device.*free some space"):
            runs.add(pl.DataFrame({"key": [5]}))


@pytest.fixture
def one_table(tmp_path: Path) -> Iterator[tuple[Path, Any]]:
    """A file with one strict table, and a connection to it."""
    path = tmp_path / "rows.db"
    with closing(sqlite.connect(path)) as connection:
        connection.execute(
            "CREATE TABLE rows(key INTEGER, word TEXT, number REAL, bytes BLOB, PRIMARY KEY(key)) STRICT, WITHOUT ROWID"
        )
        yield path, connection


def some_rows(first: int, last: int) -> pl.DataFrame:
    numbers = [float("nan") if i % 3 == 0 else i / 7 for i in range(first, last)]
    words = [None if i % 5 == 0 else f"wörd {i}" * (i % 4) for i in range(first, last)]
    return pl.DataFrame(
        {"key": range(first, last), "word": words, "number": numbers, "bytes": [b"\x00\xff"] * (last - first)},
        schema={"key": pl.Int64, "word": pl.String, "number": pl.Float64, "bytes": pl.Binary},
    )


@pytest.mark.slow
def test_both_ways_write_the_same_rows(one_table: tuple[Path, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_writer, "MESSAGE", 7)
    path, connection = one_table
    written = []
    for writer in (WritingConnection(connection), WritingProcess(path)):
        writer.insert(INSERT, some_rows(0, 40))
        writer.insert("UPDATE rows SET word = ? WHERE key = 1", pl.DataFrame({"word": ["changed"]}))
        writer.commit()
        writer.settle()
        written.append(connection.execute("SELECT * FROM rows").fetchall())
        connection.execute("DELETE FROM rows")
        writer.insert(INSERT, some_rows(0, 3))
        writer.commit()
        writer.insert(INSERT, some_rows(3, 9))  # not committed
        writer.settle()
        writer.close()
        assert connection.execute("SELECT count(*) FROM rows").fetchone() == (3,)
        connection.execute("DELETE FROM rows")
    assert written[0] == written[1]
    assert written[0][0] == (0, None, None, b"\x00\xff")  # no number is stored as NULL
    assert sorted(each.name for each in path.parent.iterdir()) == ["rows.db"]


@pytest.mark.slow
def test_what_the_writing_process_is_refused_is_raised_here(one_table: tuple[Path, Any]) -> None:
    path, connection = one_table
    writer = WritingProcess(path)
    writer.insert(INSERT, some_rows(0, 5))
    writer.insert(INSERT, some_rows(4, 6))
    writer.commit()
    with pytest.raises(StorageError, match="UNIQUE constraint failed"):
        writer.settle()
    with pytest.raises(StorageError, match="UNIQUE constraint failed"):
        writer.insert(INSERT, some_rows(7, 8))
    writer.close()
    assert connection.execute("SELECT count(*) FROM rows").fetchone() == (0,)


@pytest.mark.slow
def test_a_full_disk_is_told_as_by_our_own_connection(one_table: tuple[Path, Any]) -> None:
    path, connection = one_table
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))\n"
        "from tests.ratings.test_first_build import WritingProcess, some_rows, INSERT\n"
        "writer = WritingProcess(sys.argv[1])\n"
        "try:\n"
        "    writer.insert(INSERT, some_rows(0, 20_000)); writer.commit(); writer.settle()\n"
        "finally:\n"
        "    writer.close()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        cwd=ROOT,
        env={**os.environ, **COMPILES_NOTHING},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "nothing was lost" in done.stderr.splitlines()[-1]
    assert connection.execute("SELECT count(*) FROM rows").fetchone() == (0,)


@pytest.mark.slow
def test_a_writing_process_that_was_killed_is_one_clear_error(one_table: tuple[Path, Any]) -> None:
    path, connection = one_table
    writer = WritingProcess(path)
    writer.insert(INSERT, some_rows(0, 5))
    writer.commit()
    writer.settle()
    writer._process.kill()
    writer._process._process.wait()
    writer.insert(INSERT, some_rows(5, 9))
    writer.commit()
    with pytest.raises(StorageError, match=r"the process that writes it ended \(exit code -9\); run the command again"):
        writer.settle()
    writer.close()
    assert connection.execute("SELECT count(*) FROM rows").fetchone() == (5,)


@pytest.mark.parametrize("lack", ["package", "process"])
def test_without_a_writing_process_the_callers_connection_writes(
    lack: str, one_table: tuple[Path, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, connection = one_table
    if lack == "package":
        monkeypatch.setattr(table_writer, "_PACKAGES", ("adbc_driver_that_nobody_made",))
    else:
        monkeypatch.setattr(sys, "executable", str(path.parent / "no-python"))
    assert isinstance(table_writer.table_writer(path, connection), WritingConnection)


def test_who_goes_on_waits_for_a_writing_process_that_was_left_behind(
    one_table: tuple[Path, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = one_table
    lock = Path(f"{path}.lock")
    monkeypatch.setattr(table_writer, "WAITING_MS", 200)
    with FileLock(lock), pytest.raises(StorageError, match="another process still writes"):
        wait_for_writer(path)
    wait_for_writer(path)
    assert not lock.exists()


@pytest.mark.slow
def test_a_rebuild_takes_nothing_from_under_a_writing_process_that_was_left_behind(
    club: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = Path(f"{sidecar(club, 'views')}.building")
    left.write_bytes(b"of a build that was killed")
    monkeypatch.setattr(table_writer, "WAITING_MS", 200)
    with Ledger.open(club) as ledger:
        with FileLock(f"{left}.lock"), pytest.raises(StorageError, match="another process still writes"):
            ledger.views.rebuild()
        assert left.read_bytes() == b"of a build that was killed"
        ledger.views.rebuild()
        assert not left.exists()


@pytest.fixture(name="club")
def _club(tmp_path: Path, by_columns: None) -> Path:
    path = tmp_path / "club.db"
    with open_ledger(path) as ledger:
        ledger.import_games(batch_games(source_games(900), 100))
        ledger.catch_up()
    return path


@pytest.fixture(name="by_a_process")
def _by_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Builds are written by a process of its own, in many transactions."""
    monkeypatch.setattr(view_builds, "OWN_PROCESS_FROM", 0)
    monkeypatch.setattr(view_builds, "ENTRIES_A_COMMIT", 200)
    monkeypatch.setattr(sqlite_store, "BLOCK", 200)
    monkeypatch.setattr(view_builds, "SIDES_A_BLOCK", 200)
    monkeypatch.setattr(sorted_runs, "PIECE", 50)


def files(path: Path) -> list[str]:
    return sorted(each.name for each in path.parent.iterdir())


@pytest.mark.slow
@pytest.mark.usefixtures("by_a_process")
def test_a_build_whose_writing_process_is_killed_goes_on_where_it_was(
    club: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Ledger.open(club) as ledger:
        expected = table_digests(ledger.views.connection)
    before = files(club)
    random = Random(3)
    started: list[WritingProcess] = []
    start = WritingProcess.__init__

    def noted(self: WritingProcess, path: Path) -> None:
        start(self, path)
        started.append(self)

    monkeypatch.setattr(WritingProcess, "__init__", noted)
    for leftover in club.parent.glob("club.views.*"):
        leftover.unlink()
    reached = []
    for _ in range(4):
        left = [random.randint(0, 6)]

        def killing(what: str, done: int, total: int, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] < 0:
                started[-1]._process.kill()

        with Ledger.open(club) as ledger:
            with pytest.raises(StorageError, match="ended \\(exit code -9\\)"):
                ledger.catch_up(killing)
            assert not ledger.views.path.exists()
        with closing(sqlite.connect(f"{sidecar(club, 'views')}.building")) as connection:
            reached.append(connection.execute("SELECT folded, pool, player FROM build").fetchone())
    assert reached == sorted(reached)
    assert reached[-1][0] > 0
    with Ledger.open(club) as ledger:
        ledger.catch_up()
        assert table_digests(ledger.views.connection) == expected
    assert set(files(club)) <= set(before)


@pytest.mark.slow
def test_a_build_never_holds_more_rows_than_a_run_and_a_block(club: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is bounded by the sizes of these, whatever the number of games."""
    run, block, piece = 120, 60, 10
    for module, name, size in (
        (sqlite_store, "BLOCK", block),
        (view_builds, "GAMES_A_RUN", run),
        (view_builds, "GAMES_A_BLOCK", block),
        (view_builds, "SIDES_A_RUN", run),
        (view_builds, "SIDES_A_BLOCK", block),
        (sorted_runs, "PIECE", piece),
    ):
        monkeypatch.setattr(module, name, size)
    held: list[int] = []
    given: list[int] = []
    add, blocks = SortedRuns.add, SortedRuns.blocks

    def noting_add(self: SortedRuns, frame: pl.DataFrame) -> None:
        add(self, frame)
        held.append(self._rows_in_memory)

    def noting_blocks(self: SortedRuns, rows: int) -> Iterator[pl.DataFrame]:
        for frame in blocks(self, rows):
            given.append(len(frame))
            yield frame

    monkeypatch.setattr(SortedRuns, "add", noting_add)
    monkeypatch.setattr(SortedRuns, "blocks", noting_blocks)
    with Ledger.open(club) as ledger:
        ledger.rebuild()
        games = sum(row["reason"] is None for row in ledger.rows("games"))
        longest = max(row["n"] for row in ledger.rows("current"))
    assert sum(given) == 3 * games  # each game once, each of its sides once
    assert max(held) < run + 3 * block  # a block of games has two sides each, and some more
    runs = 3 * games // run + 2
    assert max(given) < block + max(longest, 60) + runs * piece


@pytest.mark.slow
@pytest.mark.usefixtures("by_a_process")
def test_the_audit_agrees_with_what_a_process_of_its_own_wrote(club: Path) -> None:
    with Ledger.open(club) as ledger:
        ledger.rebuild()
    assert audit(club).falsehoods == ()


@pytest.mark.slow
@pytest.mark.usefixtures("by_a_process")
@pytest.mark.parametrize("stop", [KeyboardInterrupt, CorruptError])
def test_a_stopped_build_leaves_no_process_and_no_temporary_file(club: Path, stop: type[BaseException]) -> None:
    error = stop("club.db", 1, "damaged") if stop is CorruptError else stop()
    steps = [0]

    def stopping(*_: object) -> None:
        steps[0] += 1
        if steps[0] == 4:
            raise error

    before = files(club)
    with Ledger.open(club) as ledger, pytest.raises(stop):
        ledger.rebuild(stopping)
    left = set(files(club)) - set(before)
    assert left <= {"club.views.db.building", "club.views.db.building-journal"}  # which is rolled back when opened
    with Ledger.open(club) as ledger:
        ledger.rebuild()
    assert audit(club).falsehoods == ()
