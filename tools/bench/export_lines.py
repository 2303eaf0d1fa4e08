"""The export of the history to Parquet beside Arrow alone: ADBC's read of the table and the write of its columns.

A second line tells the same beside the write alone, of rows that are in memory; it only informs: SQLite gives rows
one by one, which takes longer than writing them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from ledger.answers.exports.exporting import export
from ledger.ledger import Ledger
from ledger.ratings.view_tables import side_tables
from ledger.runtime.lazy import pl
from ledger.runtime.table_reader import ReadingProcess, TableScan

from .datasets import GameSet
from .measuring import SecondsTaken, both_lines, cost_of, in_turns
from .table import Line


def export_lines(sets: Sequence[GameSet], rounds: int) -> Iterator[Line]:
    """The history of each set."""
    for data in sets:
        with Ledger.open(data.ledger()) as ledger, data.scratch() as folder:
            ledger.level()
            exported = folder / "exported.parquet"
            export(ledger, ["history"], exported)
            rows = pl.read_parquet(exported)
            works: Mapping[str, Callable[[], SecondsTaken]] = {
                "export": partial(cost_of, partial(export, ledger, ["history"], exported)),
                "arrow": partial(cost_of, partial(_read_and_write, ledger.views.path, folder / "arrow.parquet")),
                "write": partial(cost_of, partial(_write, rows, folder / "written.parquet")),
            }
            measured = in_turns(works, rounds)
        yield from both_lines("export", data.name, measured["export"], measured["arrow"])
        yield from both_lines("export-write", data.name, measured["export"], measured["write"])


def _read_and_write(views: Path, path: Path) -> None:
    """Read the whole table as Arrow columns, in a process of its own, and write them."""
    (table,) = side_tables((), ())
    columns = {name: (f'"{name}"', kind.split()[0]) for name, kind in table.columns}
    reader = ReadingProcess(views)
    scan = TableScan(columns=columns, source=table.name, key=("pool", "player", "n"))
    for rows in reader.frames(scan, 2**62):
        _write(rows, path)
    reader.close()


def _write(rows: pl.DataFrame, path: Path) -> None:
    rows.write_parquet(path, compression="zstd")
