"""Reading rows as columns: a process of its own and one's own connection give the same rows, of one moment."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

from ledger.errors import CorruptError, StorageError
from ledger.runtime import sqlite
from ledger.runtime.table_reader import ReadingConnection, ReadingProcess, TableReader, TableScan, sql_literal

ROWS = [
    (group, number, None if number < 8 else number / 3, None if number < 12 else f"it's {number}", float("inf"))
    for group in ("a", "b'")
    for number in range(1, 16)
]
SCAN = TableScan(
    columns={
        "group": ('"group"', "TEXT"),
        "number": ("number", "INTEGER"),
        "real": ("real", "REAL"),
        "text": ("text", "TEXT"),
        "twice": ("2 * number", "INTEGER"),
        "endless": ("endless", "REAL"),
    },
    source="t",
    key=("group", "number"),
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A file with a table whose columns begin with nothing."""
    path = tmp_path / "a b#.db"
    with closing(sqlite.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(
            'CREATE TABLE t("group" TEXT, number INTEGER, real REAL, text TEXT, endless REAL, '
            'PRIMARY KEY("group", number)) STRICT, WITHOUT ROWID'
        )
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", ROWS)
    return path


@pytest.fixture(params=["process", "connection"])
def reader(request: pytest.FixtureRequest, table: Path) -> Iterator[TableReader]:
    """Each way of reading it."""
    with closing(sqlite.connect(table, read_only=True)) as connection:
        connection.execute("BEGIN")
        made: TableReader = (
            ReadingProcess(table) if request.param == "process" else ReadingConnection(table, connection)
        )
        yield made
        made.close()


def test_both_ways_give_the_same_rows_in_order_and_of_one_moment(reader: TableReader, table: Path) -> None:
    wanted = [(group, number, real, text, 2 * number, endless) for group, number, real, text, endless in ROWS]
    for size in (1, 4, 15, 30, 31, None):
        frames = list(reader.frames(SCAN, size))
        assert all(len(frame) <= (size or 30) for frame in frames)
        assert pl.concat(frames).rows() == wanted
        assert pl.concat(frames).schema == pl.Schema(
            {
                "group": pl.String,
                "number": pl.Int64,
                "real": pl.Float64,
                "text": pl.String,
                "twice": pl.Int64,
                "endless": pl.Float64,
            }
        )
        with closing(sqlite.connect(table)) as other:
            other.execute("INSERT OR REPLACE INTO t VALUES ('z', 1, NULL, NULL, 1.0)")
    chosen = TableScan(
        columns=SCAN.columns, source="t", key=SCAN.key, where=[f'"group" = {sql_literal("b" + chr(39))}']
    )
    assert [len(frame) for frame in reader.frames(chosen, 10)] == [10, 5]
    assert list(reader.frames(TableScan(columns=SCAN.columns, source="t", key=SCAN.key, where=["number > 99"]))) == []


@pytest.mark.slow
def test_a_damaged_file_is_named_and_so_is_a_process_that_died(table: Path) -> None:
    torn = table.with_name("torn.db")
    with closing(sqlite.connect(table)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = table.read_bytes()
    torn.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
    unknown = TableScan(columns=SCAN.columns, source="no", key=SCAN.key)
    for path, wanted, error in ((torn, SCAN, CorruptError), (table, unknown, StorageError)):
        reader = ReadingProcess(path)
        with pytest.raises(error, match=str(path.name)):
            list(reader.frames(wanted))
        reader.close()
    reader = ReadingProcess(table)
    reader._process.kill()
    with pytest.raises(StorageError, match="the process that reads it ended"):
        list(reader.frames(SCAN))
    reader.close()


@pytest.mark.slow
def test_nothing_can_be_written_by_it(table: Path) -> None:
    reader = ReadingProcess(table)
    reader._process.send("query", "DELETE FROM t")
    with pytest.raises(StorageError, match="read-only"):
        reader._answer()
    reader.close()
    with closing(sqlite.connect(table)) as connection:
        assert connection.execute("SELECT count(*) FROM t").fetchone() == (30,)
