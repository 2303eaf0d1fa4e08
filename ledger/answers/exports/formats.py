"""How rows become a file: CSV, newline-delimited JSON, Parquet, SQLite. All of them take frames, block by block.

Text is made harmless for whoever opens it: in CSV what a spreadsheet would run has an apostrophe before it, as
``runtime.visible`` says; in JSON hidden characters are escaped. Parquet and SQLite hold text as it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from io import BytesIO
from pathlib import Path
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.answers.exports.columns import ExportColumn, with_iso_instants
from ledger.answers.exports.datasets import Dataset
from ledger.runtime import sqlite
from ledger.runtime.lazy import pl, pl_plugins, sqlite_utils
from ledger.runtime.table_writer import OwnConnection, TableWriter, table_writer
from ledger.runtime.visible import in_cell, in_json, visible

if TYPE_CHECKING:
    from polars import DataFrame

ROWS_A_GROUP = 250_000  # of Parquet: what a reader takes at one time
_AHEAD = 2  # frames that wait to be written
_PLAIN_CELL = r"^[A-Za-z0-9][ -:<-~]*$"  # printable ASCII without a semicolon that begins with a letter or a digit


class ExportTable(NamedTuple):
    """A table to write: what it is, its columns, its rows in their kinds."""

    dataset: Dataset
    columns: Sequence[ExportColumn]
    frames: Iterator[DataFrame]


class WriteOptions(NamedTuple):
    """How a file is to be written.

    Attributes:
        raw: CSV without apostrophes before what a spreadsheet would run.
        position: how many entries of the journal the rows follow from.
        are_many: whether there are so many rows that a process of its own is worth starting.
    """

    raw: bool
    position: int
    are_many: bool


Writer = Callable[[Path, Sequence[ExportTable], WriteOptions], None]
Lines = Callable[[ExportTable, WriteOptions], Iterator[bytes]]


def csv_lines(part: ExportTable, options: WriteOptions) -> Iterator[bytes]:
    """A table as CSV: a line of names, empty cells for what is not known, line ends as on Unix."""
    yield (",".join(column.name for column in part.columns) + "\n").encode()
    for frame in part.frames:
        shown = with_iso_instants(frame)
        texts = [name for name, kind in shown.schema.items() if kind == pl.String]
        cells = shown.with_columns(_cells(shown[name], raw=options.raw) for name in texts)
        written = BytesIO()
        cells.write_csv(written, include_header=False)
        yield written.getvalue()


def _cells(texts: Any, *, raw: bool) -> Any:
    """A column of text as cells: most are plain; of the others each different text is looked at once."""
    others = texts.filter(~texts.str.contains(_PLAIN_CELL)).unique().drop_nulls().to_list()
    shown = {text: visible(text, keep="\n") for text in others}
    if not raw:
        shown = {text: in_cell(cell, "csv") for text, cell in shown.items()}
    changed = {text: cell for text, cell in shown.items() if text != cell}
    return texts.replace(list(changed), list(changed.values())) if changed else texts


# Every function that gives lines takes the same arguments; JSON runs in no spreadsheet.
def ndjson_lines(part: ExportTable, options: WriteOptions) -> Iterator[bytes]:  # noqa: ARG001
    """A table as newline-delimited JSON: an object a line."""
    for frame in part.frames:
        yield in_json(with_iso_instants(frame).write_ndjson()).encode()


def _in_a_file(lines: Lines) -> Writer:
    """What writes a table of text to a file."""

    def write(path: Path, parts: Sequence[ExportTable], options: WriteOptions) -> None:
        (part,) = parts
        with path.open("wb") as file:
            file.writelines(lines(part, options))

    return write


# -- Parquet -------------------------------------------------------------------------------------------------------


def write_parquet(path: Path, parts: Sequence[ExportTable], options: WriteOptions) -> None:
    """One table as Parquet (zstd), with what its columns mean under ``rating-ledger`` in the metadata of the file.

    Rows are written by threads of their own while the next are read.
    """
    (part,) = parts
    said = {
        "dataset": part.dataset.name,
        "doc": part.dataset.doc,
        "entries": options.position,
        "columns": {column.name: {"doc": column.meaning.doc, "unit": column.meaning.unit} for column in part.columns},
    }
    waiting: Queue[DataFrame | None] = Queue(_AHEAD)
    ended = Event()

    def frames(*_: object) -> Iterator[DataFrame]:
        while True:
            try:
                frame = waiting.get(timeout=0.1)
            except Empty:
                if ended.is_set():  # whoever reads failed
                    raise InterruptedError from None
                continue
            if frame is None:
                return
            yield frame

    source = pl_plugins.register_io_source(frames, schema={column.name: column.type for column in part.columns})
    failures: list[BaseException] = []

    def sink() -> None:
        try:
            source.sink_parquet(
                path, row_group_size=ROWS_A_GROUP, metadata={"rating-ledger": json.dumps(said, ensure_ascii=False)}
            )
        except BaseException as failure:  # noqa: BLE001  # told where the rows are read
            failures.append(failure)

    sinking = Thread(target=sink, daemon=True)
    sinking.start()
    try:
        for frame in part.frames:
            _hand_over(waiting, frame, sinking)
        _hand_over(waiting, None, sinking)
    finally:
        ended.set()
        sinking.join()
    if failures:
        raise failures[0]


def _hand_over(waiting: Queue[DataFrame | None], frame: DataFrame | None, sinking: Thread) -> None:
    while sinking.is_alive():
        try:
            waiting.put(frame, timeout=0.1)
        except Full:
            continue
        return


# -- SQLite --------------------------------------------------------------------------------------------------------


def write_sqlite(path: Path, parts: Sequence[ExportTable], options: WriteOptions) -> None:
    """Tables of one SQLite file, each with its key and with foreign keys to the others; instants are ISO 8601 text."""
    connection = sqlite.connect(path)
    with closing(connection), sqlite.storage_errors(path):
        database = sqlite_utils.Database(connection)
        tables = {part.dataset.name: {column.name for column in part.columns} for part in parts}
        for part in parts:
            required = {column.name for column in part.columns if not column.optional}
            types = {column.name: _PYTHON[column.stored_as] for column in part.columns}
            pk = tuple(part.dataset.key) or None
            database.table(part.dataset.name).create(types, pk=pk, not_null=required, strict=True)
        database.add_foreign_keys([key for part in parts for key in _foreign_keys(part, tables)])
        connection.execute("PRAGMA foreign_keys=OFF")  # rows come table by table
        for part in parts:
            writer = table_writer(path, connection) if options.are_many else OwnConnection(connection)
            _fill(writer, part)
        for table, column, _, _ in [key for part in parts for key in _foreign_keys(part, tables)]:
            database.table(table).create_index([column], if_not_exists=True)


_PYTHON: Mapping[str, type] = {"INTEGER": int, "REAL": float, "TEXT": str}


def _foreign_keys(part: ExportTable, tables: Mapping[str, set[str]]) -> list[tuple[str, str, str, str]]:
    """(table, column, other table, its key) where the other table stands in the same file."""
    keys = []
    for column in part.columns:
        table, _, name = column.meaning.references.partition(".")
        if table in tables and name in tables[table]:
            keys.append((part.dataset.name, column.name, table, name))
    return keys


def _fill(writer: TableWriter, part: ExportTable) -> None:
    names = ", ".join(f'"{column.name}"' for column in part.columns)
    places = ", ".join("?" * len(part.columns))
    query = f'INSERT INTO "{part.dataset.name}"({names}) VALUES ({places})'
    try:
        for frame in part.frames:
            writer.insert(query, with_iso_instants(frame).with_columns(pl.col(pl.Boolean).cast(pl.Int64)))
        writer.commit()
        writer.settle()
    finally:
        writer.close()


class FileFormat(NamedTuple):
    """A format of files.

    Attributes:
        write: writes it to a file.
        lines: gives its bytes, block by block, where it is text that may go elsewhere; else None.
        suffixes: of the file names by which it is known without being named.
        takes_many: whether one file holds several tables.
    """

    write: Writer
    suffixes: tuple[str, ...]
    lines: Lines | None = None
    takes_many: bool = False


FORMATS: Mapping[str, FileFormat] = {
    "csv": FileFormat(_in_a_file(csv_lines), (".csv",), csv_lines),
    "ndjson": FileFormat(_in_a_file(ndjson_lines), (".ndjson", ".jsonl", ".nl"), ndjson_lines),
    "parquet": FileFormat(write_parquet, (".parquet",)),
    "sqlite": FileFormat(write_sqlite, (".db", ".sqlite", ".sqlite3"), takes_many=True),
}
