"""Writing an export: the rows of one read snapshot, into a file that is complete or not there at all.

Everything is read in one transaction while others record games and update the views, also by the second process that
reads. The file is made under another name and replaces an older export; the files of a ledger are never overwritten.

Rows become CSV, newline-delimited JSON, Parquet or SQLite (``FORMATS``); all of them take frames, block by block.
Text is made harmless for its readers: in CSV a cell that a spreadsheet would run has an apostrophe before it, as
``runtime.visible`` says; in JSON hidden characters are escaped. Parquet and SQLite contain text unchanged. A text
without rows (``DOCUMENTS``) is made by a function of the ledger and of the filter.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from io import BytesIO
from itertools import chain
from pathlib import Path
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.answers.exports.columns import (
    Dataset,
    ExportColumn,
    ExportFilter,
    convert_frame,
    lookup_table,
    with_iso_instants,
)
from ledger.answers.exports.datasets import CORRECTED, NAMES, POOLS, check_filters, find_dataset
from ledger.answers.exports.fide_list import fide_list_findings, fide_text_list, fide_xml_list, swiss_manager_list
from ledger.answers.exports.trf_report import report_findings, trf16_report, trf26_report
from ledger.errors import MalformedError, StorageError
from ledger.handle import OpenLedger
from ledger.ratings import views_file
from ledger.runtime import sqlite, table_writer
from ledger.runtime.lazy import pl, pl_plugins, sqlite_utils
from ledger.runtime.ledger_files import atomic_file, refuse_own_files
from ledger.runtime.long_work import Progress, no_progress
from ledger.runtime.table_reader import ReadingConnection, TableReader, TableScan, table_reader
from ledger.runtime.table_writer import TableWriter
from ledger.runtime.visible import in_cell, in_json, visible

if TYPE_CHECKING:
    from polars import DataFrame

    from ledger.answers.exports.columns import Lookup

PARQUET_GROUP_ROWS = 250_000  # of Parquet: what a reader takes at one time
_AHEAD = 2  # frames that wait to be written
_SYSTEM_ERROR = re.compile(r"\(os error (\d+)\)")
_PLAIN_CELL = r"^[A-Za-z0-9][ -:<-~]*$"  # printable ASCII without a semicolon that begins with a letter or a digit


class ExportTable(NamedTuple):
    """A table to write: its dataset, the columns to export, and the blocks of its rows."""

    dataset: Dataset
    columns: Sequence[ExportColumn]
    frames: Iterator[DataFrame]


class WriteOptions(NamedTuple):
    """The options of writing an export: raw CSV without added apostrophes, and the position of the last entry read."""

    raw: bool
    position: int

    @property
    def are_many(self) -> bool:
        """True if the rows are so many that a process of its own is worth starting."""
        return self.position > FEW_ENTRIES


Writer = Callable[[Path, Sequence[ExportTable], WriteOptions], None]
Lines = Callable[[ExportTable, WriteOptions], Iterator[bytes]]


def csv_lines(part: ExportTable, options: WriteOptions) -> Iterator[bytes]:
    """Yield a table as CSV: a line of column names, empty cells for unknown values, Unix line ends."""
    yield (",".join(column.name for column in part.columns) + "\n").encode()
    for frame in part.frames:
        cells = with_iso_instants(frame)
        texts = [name for name, kind in cells.schema.items() if kind == pl.String]
        cells = cells.with_columns(_cells(cells[name], raw=options.raw) for name in texts)
        written = BytesIO()
        cells.write_csv(written, include_header=False)
        yield written.getvalue()


def _cells(texts: Any, *, raw: bool) -> Any:
    """Return a column of text as CSV cells; most are plain, and each different one of the others is converted once."""
    others = texts.filter(~texts.str.contains(_PLAIN_CELL)).unique().drop_nulls().to_list()
    # A cell in quotation marks may have several lines (RFC 4180, 2.6).
    cells = {text: visible(text, keep="\n") for text in others}
    if not raw:
        cells = {text: in_cell(cell, "csv") for text, cell in cells.items()}
    changed = {text: cell for text, cell in cells.items() if text != cell}
    return texts.replace(list(changed), list(changed.values())) if changed else texts


# Every function that gives lines takes the same arguments; JSON runs in no spreadsheet.
def ndjson_lines(part: ExportTable, options: WriteOptions) -> Iterator[bytes]:  # noqa: ARG001
    """Yield a table as newline-delimited JSON, one object a line."""
    for frame in part.frames:
        yield in_json(with_iso_instants(frame).write_ndjson()).encode()


def _in_a_file(lines: Lines) -> Writer:
    def write(path: Path, parts: Sequence[ExportTable], options: WriteOptions) -> None:
        (part,) = parts
        with path.open("wb") as file:
            file.writelines(lines(part, options))

    return write


def write_parquet(path: Path, parts: Sequence[ExportTable], options: WriteOptions) -> None:
    """Write one table as Parquet (zstd), with the meanings of its columns under ``rating-ledger`` in the metadata.

    Threads of their own write rows while the next ones are read.
    """
    (part,) = parts
    about = {
        "dataset": part.dataset.name,
        "doc": part.dataset.doc,
        "entries": options.position,
        "columns": {column.name: {"doc": column.meaning.doc, "unit": column.meaning.unit} for column in part.columns},
    }
    metadata = {"rating-ledger": json.dumps(about, ensure_ascii=False)}
    waiting: Queue[DataFrame | None] = Queue(_AHEAD)
    ended = Event()

    def frames(*_: object) -> Iterator[DataFrame]:
        while True:
            try:
                frame = waiting.get(timeout=0.1)
            except Empty:
                if ended.is_set():  # the reading of rows failed
                    raise InterruptedError from None
                continue
            if frame is None:
                return
            yield frame

    source = pl_plugins.register_io_source(frames, schema={column.name: column.type for column in part.columns})
    failures: list[BaseException] = []

    def sink() -> None:
        try:
            source.sink_parquet(path, row_group_size=PARQUET_GROUP_ROWS, metadata=metadata)
        except BaseException as failure:  # noqa: BLE001  # reported where the rows are read
            failures.append(failure)

    # Polars asks for its rows in a thread of its own, and a connection of SQLite belongs to the one that opened it: so
    # the rows are read in this one, and handed over.
    sinking = Thread(target=sink, daemon=True)
    sinking.start()
    try:
        for frame in chain(part.frames, [None]):
            # By short waits: the writer may fail meanwhile, and takes nothing more then.
            while sinking.is_alive():
                with suppress(Full):
                    waiting.put(frame, timeout=0.1)
                    break
    finally:
        ended.set()
        sinking.join()
    if failures:
        # Polars has words of its own for refusals of the system, such as a full disk.
        refused = _SYSTEM_ERROR.search(str(failures[0]))
        raise OSError(int(refused[1]), os.strerror(int(refused[1]))) if refused else failures[0]


def write_sqlite(path: Path, parts: Sequence[ExportTable], options: WriteOptions) -> None:
    """Write the tables of one SQLite file with keys and foreign keys; instants are ISO 8601 text."""
    connection = sqlite.connect(path)
    with closing(connection):
        database = sqlite_utils.Database(connection)
        for part in parts:
            required = {column.name for column in part.columns if not column.optional}
            types = {column.name: _PYTHON[column.stored_as] for column in part.columns}
            pk = tuple(part.dataset.key) or None
            database.table(part.dataset.name).create(types, pk=pk, not_null=required, strict=True)
        foreign_keys = _foreign_keys(parts)
        database.add_foreign_keys(foreign_keys)
        connection.execute("PRAGMA foreign_keys=OFF")  # rows come table by table
        for part in parts:
            own = table_writer.WritingConnection
            _fill(table_writer.table_writer(path, connection) if options.are_many else own(connection), part)
        # After the rows: an index of all of them is made quicker than one that grows with each.
        for table, column, _, _ in foreign_keys:
            database.table(table).create_index([column], if_not_exists=True)


_PYTHON: Mapping[str, type] = {"INTEGER": int, "REAL": float, "TEXT": str}


def _foreign_keys(parts: Sequence[ExportTable]) -> list[tuple[str, str, str, str]]:
    """Return (table, column, other table, its key) of all columns that refer to a table of the same file."""
    tables = {part.dataset.name: {column.name for column in part.columns} for part in parts}
    keys = []
    for part in parts:
        for column in part.columns:
            table, _, name = column.meaning.references.partition(".")
            if name in tables.get(table, ()):
                keys.append((part.dataset.name, column.name, table, name))
    return keys


def _fill(writer: TableWriter, part: ExportTable) -> None:
    names = ", ".join(f'"{column.name}"' for column in part.columns)
    places = ", ".join("?" * len(part.columns))
    query = f'INSERT INTO "{part.dataset.name}"({names}) VALUES ({places})'
    try:
        for frame in part.frames:
            # SQLite has no type for true and false, and a STRICT table takes no other type than its own.
            writer.insert(query, with_iso_instants(frame).with_columns(pl.col(pl.Boolean).cast(pl.Int64)))
        writer.commit()
        writer.settle()
    finally:
        writer.close()


class FileFormat(NamedTuple):
    """A file format of exported rows, known by the endings of file names.

    Attributes:
        lines: yields the bytes of a text format block by block; None for other formats.
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


class TextDocument(NamedTuple):
    """A text without rows that can be exported, such as a report in TRF16; it is made from a ledger and a filter.

    ``check`` returns what the text lacks and what contradicts in it, for a person to read before it is sent.
    """

    doc: str
    make: Callable[[OpenLedger, ExportFilter], Iterator[bytes]]
    filters: frozenset[str]
    suffixes: tuple[str, ...] = ()
    check: Callable[[OpenLedger, ExportFilter], list[str]] | None = None


_OF_REPORTS = frozenset({"tournament", "pool", "since_ms", "until_ms"})
# By subject and format.
DOCUMENTS: Mapping[tuple[str, str], TextDocument] = {
    ("tournament", "trf16"): TextDocument(
        doc="One tournament as a report in FIDE's TRF16.",
        make=trf16_report,
        filters=_OF_REPORTS,
        suffixes=(".trf", ".trf16"),
        check=report_findings,
    ),
    ("tournament", "trf26"): TextDocument(
        doc="One tournament as a report in FIDE's TRF26.",
        make=trf26_report,
        filters=_OF_REPORTS,
        suffixes=(".trf26", ".trfx"),
        check=report_findings,
    ),
    ("list", "fide-text"): TextDocument(
        doc="One published list as FIDE's text.",
        make=fide_text_list,
        filters=frozenset({"published", "group"}),
        suffixes=(".txt",),
        check=fide_list_findings,
    ),
    ("list", "fide-xml"): TextDocument(
        doc="One published list as FIDE's XML.",
        make=fide_xml_list,
        filters=frozenset({"published", "group"}),
        suffixes=(".xml",),
        check=fide_list_findings,
    ),
    ("list", "swiss-manager"): TextDocument(
        doc="One published list for Swiss-Manager, with national and FIDE numbers.",
        make=swiss_manager_list,
        filters=frozenset({"published", "group"}),
        check=fide_list_findings,
    ),
}


FEW_ENTRIES = 20_000  # of a journal: up to here this process reads and writes alone; starting others takes longer
_TRIES = 3  # to open the same snapshot in two processes, before one of them reads alone
_POSITION = TableScan(columns={"position": ("position", "INTEGER")}, source="progress", key=("position",))
# The key follows 'game:', and ';' follows ':' in the order of subjects.
# The order within is that of the proposals: group_concat joins what comes as it comes.
_CORRECTED = """
SELECT substr(subject, 6) AS key, group_concat(proposal, ' ') AS value FROM (
  SELECT DISTINCT subject, proposal FROM corrections JOIN proposals USING (proposal)
  WHERE effective AND subject >= 'game:' AND subject < 'game;' ORDER BY subject, proposal)
GROUP BY subject
"""
# ``n`` counts a player's rows: one row a player gives how many the history has.
_TOTALS = {"games": "SELECT count(*) FROM games", "history": "SELECT coalesce(sum(n), 0) FROM current"}


class ExportResult(NamedTuple):
    """The name of an exported dataset, and the number of written rows; None for a text without rows."""

    what: str
    rows: int | None


def export(
    ledger: OpenLedger,
    what: Sequence[str],
    target: str | Path,
    *,
    fmt: str | None = None,
    selection: ExportFilter | None = None,
    raw: bool = False,
    progress: Progress = no_progress,
) -> list[ExportResult]:
    """Write datasets of a ledger to a file.

    Args:
        ledger: a ledger whose views are up to date.
        what: names of datasets or of tables of the views; several if the format takes them.
        target: the file; an older one there is replaced.
        fmt: name of the format; by default that of the file's name.
        selection: the filter of rows, and whether to include names of people; by default all rows, without names.
        raw: CSV without apostrophes before cells that a spreadsheet would run.
        progress: receives how many rows are written.

    Raises:
        UnknownNameError: there is no dataset or table of a name.
        MalformedError: tables, format and filter do not go together.
        StorageError: the file is one of a ledger, or cannot be written.
    """
    path, selection = Path(target), selection or ExportFilter()
    chosen_format = fmt or format_of_file(what, path)
    if document := _document(what, chosen_format, selection):
        with export_file(ledger, path, chosen_format) as making, making.open("wb") as file:
            file.writelines(document.make(ledger, selection))
        return [ExportResult(what[0], None)]
    chosen = _chosen(ledger, what, chosen_format, selection)
    with export_file(ledger, path, chosen_format) as making, open_snapshot(ledger) as (reader, position):
        counts = dict.fromkeys((item.name for item in chosen), 0)
        lookups = _Lookups(ledger)
        parts = [_table(ledger, reader, item, selection, lookups) for item in chosen]
        parts = [part._replace(frames=_counted(part, counts, ledger, progress)) for part in parts]
        FORMATS[chosen_format].write(making, parts, WriteOptions(raw, position))
    return [ExportResult(name, rows) for name, rows in counts.items()]


@contextmanager
def export_file(ledger: OpenLedger, path: Path, fmt: str) -> Iterator[Path]:
    """Yield the path to which an export is written; when the block ends without an error, it replaces the file.

    Raises:
        StorageError: the file is one of a ledger, or cannot be written.
    """
    refuse_own_files(path, ledger.path)
    _check_target(path, fmt)
    with _complete_file(path) as making:
        yield making


def export_lines(
    ledger: OpenLedger,
    what: Sequence[str],
    *,
    fmt: str = "csv",
    selection: ExportFilter | None = None,
    raw: bool = False,
) -> Iterator[bytes]:
    """Yield the bytes of an export in a text format, block by block, as the reader takes them.

    Until all are taken, the views are read in one transaction: the log of the views grows meanwhile with what others
    write, and this ledger does not catch up. Arguments are those of ``export``.

    Raises:
        UnknownNameError: there is no dataset or table of a name.
        MalformedError: tables, format and filter do not go together, or the format is no text.
    """
    selection = selection or ExportFilter()
    if document := _document(what, fmt, selection):
        return document.make(ledger, selection)
    (item,) = _chosen(ledger, what, fmt, selection) if len(set(what)) == 1 else (None,)
    made = FORMATS[fmt].lines if fmt in FORMATS else None
    if item is None or made is None:
        texts = sorted(name for name, file_format in FORMATS.items() if file_format.lines)
        raise MalformedError([f"without a file one table goes out, as one of {texts}; got {list(what)} as {fmt}"])
    return _lines(ledger, item, made, selection, raw=raw)


# Apart from ``export_lines``, because a generator runs only when it is read: wrong requests are refused before that.
def _lines(ledger: OpenLedger, item: Dataset, made: Lines, selection: ExportFilter, *, raw: bool) -> Iterator[bytes]:
    with open_snapshot(ledger) as (reader, position):
        part = _table(ledger, reader, item, selection, _Lookups(ledger))
        yield from made(part, WriteOptions(raw, position))


def check_request(ledger: OpenLedger, what: Sequence[str], fmt: str, selection: ExportFilter) -> None:
    """Refuse tables, a format and a filter that cannot be exported, before the export begins.

    Raises:
        MalformedError: they do not go together.
        UnknownNameError: there is no dataset or table of a name.
    """
    if _document(what, fmt, selection) is None:
        _chosen(ledger, what, fmt, selection)


def check_document(ledger: OpenLedger, what: Sequence[str], fmt: str, selection: ExportFilter) -> list[str]:
    """Return what a text without rows lacks and what contradicts in it; nothing of rows.

    Raises:
        MalformedError: as of ``export``.
    """
    document = _document(what, fmt, selection)
    return [] if document is None or document.check is None else document.check(ledger, selection)


def _document(what: Sequence[str], fmt: str, selection: ExportFilter) -> TextDocument | None:
    """Return the requested text without rows; None for rows."""
    document = DOCUMENTS.get((what[0], fmt))
    if document and (further := sorted({*what[1:], *(selection.filters - document.filters)})):
        raise MalformedError([f"{what[0]!r} as {fmt} does not go with {further}"])
    return document


def _chosen(ledger: OpenLedger, what: Sequence[str], fmt: str, selection: ExportFilter) -> list[Dataset]:
    """Return the requested datasets, which fit the format and the filter."""
    if fmt not in FORMATS:
        raise MalformedError([f"no format {fmt!r}: expected one of {sorted(FORMATS)}"])
    if subjects := sorted({subject for subject, _ in DOCUMENTS if subject in what}):
        formats = {subject: [name for about, name in DOCUMENTS if about == subject] for subject in subjects}
        raise MalformedError(
            [f"{subject!r} goes out as {' or '.join(formats[subject])}, not as {fmt}" for subject in subjects]
        )
    chosen = [find_dataset(ledger, name) for name in dict.fromkeys(what)]
    if len(chosen) > 1 and not FORMATS[fmt].takes_many:
        raise MalformedError([f"a file of {fmt} holds one table; sqlite takes several, got {list(what)}"])
    check_filters(selection, chosen)
    return chosen


def format_of_file(what: Sequence[str], path: Path) -> str:
    """Return the format that the ending of a file's name selects.

    Raises:
        MalformedError: it selects none.
    """
    documents = {name: document for (subject, name), document in DOCUMENTS.items() if subject == what[0]}
    suffixes = {name: file_format.suffixes for name, file_format in FORMATS.items()}
    suffixes |= {name: document.suffixes for name, document in documents.items()}
    for name, of_format in suffixes.items():
        if path.suffix.lower() in of_format:
            return name
    formats = sorted(suffixes)
    raise MalformedError([f"{path.name!r} does not say the format: give one of {formats}"])


class _Lookups(dict[str, "Lookup"]):
    """Names by number and proposals by key, each read on first use."""

    def __init__(self, ledger: OpenLedger) -> None:
        super().__init__()
        self._ledger = ledger

    def __missing__(self, name: str) -> Lookup:
        connection, people = self._ledger.views.connection, self._ledger.people
        if name == CORRECTED:
            rows = connection.execute(_CORRECTED).fetchall()
            self[name] = pl.DataFrame(rows, {"key": pl.String, "value": pl.String}, orient="row")
        elif name == POOLS:
            self[name] = lookup_table(dict(connection.execute("SELECT pool, name FROM pools").fetchall()))
        else:
            self[name] = lookup_table(dict(people.names() if name == NAMES else people.identities()))
        return self[name]


def _table(
    ledger: OpenLedger, reader: TableReader, item: Dataset, selection: ExportFilter, lookups: _Lookups
) -> ExportTable:
    columns = item.selected_columns(selection)
    if item.rows is not None:
        frames = item.rows(ledger, selection)
    else:
        assert item.scans is not None
        frames = (frame for scan in item.scans(selection, columns) for frame in reader.frames(scan))
    return ExportTable(item, columns, (convert_frame(frame, columns, lookups) for frame in frames))


def _counted(part: ExportTable, counts: dict[str, int], ledger: OpenLedger, progress: Progress) -> Iterator[DataFrame]:
    name, total = part.dataset.name, 0
    if progress is not no_progress and name in _TOTALS:
        total = ledger.views.connection.execute(_TOTALS[name]).fetchone()[0]
    for frame in part.frames:
        counts[name] += len(frame)
        progress(name, counts[name], max(total, counts[name]))
        yield frame


@contextmanager
def open_snapshot(ledger: OpenLedger) -> Iterator[tuple[TableReader, int]]:
    """Open a reader of the up-to-date views at one position; yield it with that position."""
    ledger.ensure_up_to_date()
    views = ledger.views
    for attempt in range(_TRIES + 1):
        # a read snapshot that has begun already cannot be used by another process
        is_alone = views.in_snapshot or attempt == _TRIES
        with views.read_snapshot() as position:
            make = ReadingConnection if is_alone or position <= FEW_ENTRIES else table_reader
            reader: TableReader = make(views.path, views.connection)
            with closing(reader):
                with views_file.reporting_damage(views.path):
                    is_same = [frame["position"].to_list() for frame in reader.frames(_POSITION)] == [[position]]
                if is_same:  # else another process wrote in between
                    yield reader, position
                    return


def _check_target(path: Path, fmt: str) -> None:
    """Refuse a folder, and a file that the format cannot be written to."""
    if path.is_dir():
        raise StorageError(str(path), "is a folder: give the name of a file")
    if fmt in FORMATS and FORMATS[fmt].lines is None:  # a library writes the file
        if _is_stream(path):
            raise StorageError(str(path), f"is a device or a pipe, which cannot hold {fmt}: give a file's name")
        try:
            str(path.absolute()).encode()
        except UnicodeEncodeError:
            raise StorageError(str(path), f"has bytes in its name that are no UTF-8, for {fmt}: give another") from None


def _is_stream(path: Path) -> bool:
    """Return whether the path is a device or a pipe, which is written into, not replaced."""
    return path.exists() and not path.is_file()


@contextmanager
def _complete_file(path: Path) -> Iterator[Path]:
    """Yield the path to write to; after a failure nothing is left there."""
    if _is_stream(path):
        try:
            yield path
        except OSError as error:
            raise StorageError(str(path), f"cannot be written: {error.strerror or error}") from error
        return
    # The target of a link is replaced, as a shell does it; the link stays.
    target = path.resolve() if path.is_symlink() else path
    with atomic_file(target, replace=True) as making:
        if target.exists():  # from the beginning: the file holds names of people, which others may not read
            making.touch(mode=0o600)
            making.chmod(target.stat().st_mode & 0o777)
        try:
            yield making
        # Also after an interruption.
        except BaseException:
            for end in ("", "-journal", "-wal", "-shm"):
                with suppress(OSError):
                    making.with_name(f"{making.name}{end}").unlink()
            raise
