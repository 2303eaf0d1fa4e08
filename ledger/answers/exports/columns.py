"""The classes of exports: columns, datasets and filters of rows; and the columns of any table of the views.

One description of a column serves the scan of the tables, the types of Parquet and SQLite, the published JSON Schemas
and the page of the reference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs

from ledger.book.tables import ColumnDoc, TableDoc
from ledger.ratings.projector import SIDE_COLUMNS
from ledger.ratings.projectors import tournament_performance
from ledger.ratings.projectors.history import HISTORY
from ledger.ratings.view_tables import side_tables
from ledger.runtime.lazy import pl
from ledger.runtime.table_reader import TableScan

if TYPE_CHECKING:
    from polars import DataFrame, DataType, Series

    # by number, or a frame of ``key`` and ``value``
    Lookup = Series | DataFrame
    import sqlite3

    from ledger.answers.player_details import PlayerGroup
    from ledger.handle import OpenLedger

JSON_SCHEMA_DIALECT = "https://json-schema.org/draft/2020-12/schema"
INSTANT_PATTERN = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{3})?Z$"


class ColumnKind(StrEnum):
    """The kind of values in a column of an export."""

    INTEGER = "integer"
    NUMBER = "number"
    TEXT = "text"
    INSTANT = "instant"  # read as milliseconds since 1970; ISO 8601 in text, a timestamp in Parquet
    BOOLEAN = "boolean"  # read as 0 and 1


_SQL_TYPES = {ColumnKind.NUMBER: "REAL", ColumnKind.TEXT: "TEXT"}  # of what is read; the others are whole numbers
_STORED_TYPES = {ColumnKind.NUMBER: "REAL", ColumnKind.TEXT: "TEXT", ColumnKind.INSTANT: "TEXT"}
_JSON_TYPES = {ColumnKind.INSTANT: "string", ColumnKind.TEXT: "string"}


@attrs.frozen
class ExportColumn:
    """A column of an export: its name, kind and meaning, and how its values are read.

    Attributes:
        sql: the SQL expression to read; empty if the value is looked up by another column.
        lookup: the name of the lookup that turns the value into a name or text; empty for none.
        of: the column by which the value is looked up, if that is another one.
        optional: whether it may be empty.
        personal: whether it identifies a player and is exported only on request.
    """

    name: str
    kind: ColumnKind
    meaning: ColumnDoc
    sql: str = ""
    lookup: str = ""
    of: str = ""
    optional: bool = True
    personal: bool = False

    @property
    def read_as(self) -> str:
        """The SQLite type in which the column is read."""
        return "INTEGER" if self.lookup else _SQL_TYPES.get(self.kind, "INTEGER")

    @property
    def stored_as(self) -> str:
        """The SQLite type in which the column is written to a SQLite file."""
        return _STORED_TYPES.get(self.kind, "INTEGER")

    @property
    def type(self) -> DataType:
        """The Polars type of the column, which Parquet files have."""
        types = {
            ColumnKind.NUMBER: pl.Float64(),
            ColumnKind.TEXT: pl.String(),
            ColumnKind.BOOLEAN: pl.Boolean(),
            ColumnKind.INSTANT: pl.Datetime("ms", "UTC"),
        }
        return types.get(self.kind) or pl.Int64()

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the column's value in a row of newline-delimited JSON."""
        word = _JSON_TYPES.get(self.kind, self.kind.value)
        unit = f" ({self.meaning.unit})" if self.meaning.unit else ""
        kind = [word, "null"] if self.optional else word
        definition: dict[str, Any] = {"description": f"{self.meaning.doc}{unit}", "type": kind}
        return definition | ({"pattern": INSTANT_PATTERN} if self.kind is ColumnKind.INSTANT else {})


def build_scan(
    columns: Iterable[ExportColumn], source: str, key: Sequence[str], where: Sequence[str] = ()
) -> TableScan:
    """Return the table scan that reads the columns with an SQL expression."""
    read = {column.name: (column.sql, column.read_as) for column in columns if column.sql}
    return TableScan(columns=read, source=source, key=key, where=where)


def convert_frame(frame: DataFrame, columns: Sequence[ExportColumn], lookups: Mapping[str, Lookup]) -> DataFrame:
    """Convert rows as they were read: look up names, and put the columns into their order and types."""
    for column in columns:
        if column.lookup:
            keys, lookup = frame[column.of or column.name], lookups[column.lookup]
            if isinstance(lookup, pl.Series):  # by number: the value is at that place
                # A number behind the last one has no place: it gives null, where ``gather`` would fail.
                values = lookup.gather(pl.select(pl.when(keys < len(lookup)).then(keys)).to_series())
            else:
                lookup_keys = keys.alias("key").to_frame()
                # The values belong to the rows that they were looked up for: their order must be that of the keys.
                values = lookup_keys.join(lookup, on="key", how="left", maintain_order="left")["value"]
            frame = frame.with_columns(values.alias(column.name))
    return frame.select(
        pl.col(column.name) != 0 if column.kind is ColumnKind.BOOLEAN else pl.col(column.name).cast(column.type)
        for column in columns
    )


def lookup_table(values: Mapping[int, str]) -> Series:
    """Return texts by number as a Polars series: the text of number n is at index n, and missing ones are null."""
    numbers = pl.DataFrame({"key": list(values), "value": list(values.values())}, {"key": pl.Int64, "value": pl.String})
    places = pl.DataFrame({"key": pl.int_range(max(values, default=-1) + 1, eager=True)})
    return places.join(numbers, on="key", how="left", maintain_order="left")["value"]


def with_iso_instants(frame: DataFrame) -> DataFrame:
    """Convert timestamps to ISO 8601 text, to the second, or to the millisecond if it is not a whole second."""
    moments = [name for name, kind in frame.schema.items() if isinstance(kind, pl.Datetime)]
    return frame.with_columns(
        pl.when(pl.col(name).dt.millisecond() == 0)
        .then(pl.col(name).dt.strftime("%Y-%m-%dT%H:%M:%SZ"))
        # ``%.3f`` includes its point: these are the words of chrono, which Polars uses, and not Python's.
        .otherwise(pl.col(name).dt.strftime("%Y-%m-%dT%H:%M:%S%.3fZ"))
        .alias(name)
        for name in moments
    )


def row_schema(
    title: str, doc: str, columns: Iterable[ExportColumn], others: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the JSON Schema of a row of an export; columns that identify a player may be missing.

    *others* is the JSON Schema of further columns; None if there are none.
    """
    columns = list(columns)
    return {
        "$schema": JSON_SCHEMA_DIALECT,
        "title": title,
        "description": doc,
        "type": "object",
        "properties": {column.name: column.schema() for column in columns},
        "required": [column.name for column in columns if not column.personal],
        "additionalProperties": False if others is None else dict(others),
    }


@attrs.frozen(kw_only=True)
class ExportFilter:
    """The filter of the rows of an export; a field of None selects all.

    Attributes:
        pool: number of the pool.
        since_ms: games that ended then or later, milliseconds since 1970.
        until_ms: games that ended then or earlier.
        published: name of the published list.
        at: the instant of ratings in force; None: now.
        group: a group of players; None: everybody.
        names: whether to include columns that identify a player.
    """

    pool: int | None = None
    player: int | None = None
    since_ms: int | None = None
    until_ms: int | None = None
    tournament: str | None = None
    published: str | None = None
    at: str | None = None
    group: PlayerGroup | None = None
    names: bool = False

    @property
    def filters(self) -> set[str]:
        """The names of the fields that select rows."""
        return {name for name, value in attrs.asdict(self).items() if value is not None} - {"names"}


@attrs.frozen(kw_only=True)
class Dataset:
    """A table that can be exported: its columns, its key, its filters and the source of its rows.

    Attributes:
        doc: the meaning of a row.
        filters: the supported fields of ``ExportFilter``.
        scans: returns the scans of the views to read one after the other.
        rows: yields the rows, if they are not scanned.
    """

    name: str
    doc: str
    columns: Sequence[ExportColumn]
    filters: frozenset[str] = frozenset()
    key: Sequence[str] = ()
    scans: Callable[[ExportFilter, Sequence[ExportColumn]], list[TableScan]] | None = None
    rows: Callable[[OpenLedger, ExportFilter], Iterator[DataFrame]] | None = None

    def selected_columns(self, selection: ExportFilter) -> list[ExportColumn]:
        """Return the columns to export: without those that identify a player, unless names are requested."""
        return [column for column in self.columns if selection.names or not column.personal]


COLUMN_KINDS = {"INTEGER": ColumnKind.INTEGER, "REAL": ColumnKind.NUMBER, "TEXT": ColumnKind.TEXT}


class StoredColumn(NamedTuple):
    """A column of a table of the views as SQLite stores it; required ones have a value in every row."""

    name: str
    stored_as: str
    meaning: ColumnDoc
    is_required: bool


def scheme_state_columns(connection: sqlite3.Connection) -> list[str]:
    """Return the state fields of the schemes that were ever in use: columns of the history."""
    fixed = {name for name, _ in side_tables((), ())[0].columns}
    return [row[1] for row in _table_info(connection, HISTORY.name) if row[1] not in fixed]


def _table_info(connection: sqlite3.Connection, table: str) -> list[Any]:
    return connection.execute(f'PRAGMA table_info("{table}")').fetchall()


def history_column_kind(name: str, state: Sequence[str]) -> ColumnKind:
    """Return the kind of values in a column of the history."""
    if name in state:
        return ColumnKind.NUMBER
    kept = {kept.name: kept.type for kept in HISTORY.state}
    return COLUMN_KINDS[kept[name] if name in kept else SIDE_COLUMNS[name].type if name in SIDE_COLUMNS else "INTEGER"]


def is_exportable(connection: sqlite3.Connection, table: str) -> bool:
    """Return whether a table of the views can be exported: all its columns are numbers and text."""
    is_view = table == tournament_performance.NAME
    return is_view or all(row[2] in COLUMN_KINDS for row in _table_info(connection, table))


def stored_columns(
    connection: sqlite3.Connection, table: str, described: TableDoc
) -> tuple[list[StoredColumn], list[str]]:
    """Return the columns of a table of the views, and the names of its key."""
    if table == tournament_performance.NAME:
        types, key = tournament_performance.TYPES, list(tournament_performance.KEY)
        columns = [StoredColumn(name, types[name], doc, name in key) for name, doc in described.columns.items()]
        return columns, key
    columns, places = [], {}
    for _, name, kind, not_null, _, place in _table_info(connection, table):
        # An INTEGER PRIMARY KEY has a value in every row, though it need not be declared NOT NULL.
        is_required = bool(not_null or place)
        columns.append(StoredColumn(name, kind, described.columns.get(name, ColumnDoc("")), is_required))
        if place:
            places[name] = place
    return columns, sorted(places, key=places.__getitem__)


_ROWS_A_PART = 50_000  # of a calculated view
_RATED_GAMES = "SELECT pool, player, n FROM current ORDER BY pool, player"


def table_parts(connection: sqlite3.Connection, table: str) -> Iterator[list[str]]:
    """Yield the SQL conditions of the parts in which a table is read, in key order.

    A stored table is one part.

    The performances in tournaments are calculated on demand. A block behind a key would be taken from all of them,
    calculated again for each: 3 s a block of those of 200,000 games. SQLite calculates those of players alone if the
    query says so.
    """
    if table != tournament_performance.NAME:
        yield []
        return
    first, rows = None, 0
    pool = player = 0
    for pool_of_row, player_of_row, games in connection.execute(_RATED_GAMES):
        if first is not None and (rows >= _ROWS_A_PART or pool_of_row != pool):
            yield [f"pool = {pool}", f"player BETWEEN {first} AND {player}"]
            first, rows = None, 0
        pool, player = pool_of_row, player_of_row
        first, rows = first or player, rows + games
    if first is not None:
        yield [f"pool = {pool}", f"player BETWEEN {first} AND {player}"]
