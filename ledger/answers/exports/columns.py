"""The columns of exports: what each says, in which unit, how it is read and turned into what a file shows.

One description serves all: the scan of the tables, the types of Parquet and SQLite, the published JSON Schemas and
the page of the reference. This module also defines datasets and their filters; it names none. The columns of any
table of the views come from its types of SQLite and from the descriptions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import attrs

from ledger.answers.asking import PERSONAL
from ledger.book.tables import ColumnDoc, TableDoc
from ledger.ratings.projector import SIDE_COLUMNS
from ledger.ratings.projectors import tournament_performance
from ledger.ratings.projectors.history import HISTORY
from ledger.ratings.view_tables import side_tables
from ledger.runtime.lazy import pl, sqlite_utils
from ledger.runtime.table_reader import TableScan

if TYPE_CHECKING:
    from polars import DataFrame, DataType, Series

    # by number, or a frame of ``key`` and ``value``
    Lookup = Series | DataFrame
    import sqlite3

    from sqlite_utils.db import Table

    from ledger.handle import OpenLedger

JSON_SCHEMA_DIALECT = "https://json-schema.org/draft/2020-12/schema"
INSTANT_PATTERN = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{3})?Z$"


class ColumnKind(StrEnum):
    """The contents of a column."""

    INTEGER = "integer"
    NUMBER = "number"
    TEXT = "text"
    INSTANT = "instant"  # read as milliseconds since 1970; ISO 8601 in text, a timestamp in Parquet
    BOOLEAN = "boolean"  # read as 0 and 1


_SQL_TYPES = {ColumnKind.NUMBER: "REAL", ColumnKind.TEXT: "TEXT"}  # of what is read; the others are whole numbers
_STORED_TYPES = {ColumnKind.NUMBER: "REAL", ColumnKind.TEXT: "TEXT", ColumnKind.INSTANT: "TEXT"}
_JSON_TYPES = {ColumnKind.INSTANT: "string", ColumnKind.TEXT: "string"}


@attrs.frozen(kw_only=True)
class ExportColumn:
    """A column of an export.

    Attributes:
        name: as files call it.
        kind: its contents.
        meaning: its meaning, its unit or form, and the column of another export whose values it has.
        sql: the expression that is read; empty if the value is looked up by another column.
        lookup: the name of the table in which the value that was read is looked up.
        of: the column by which it is looked up, if that is another one.
        optional: whether it may be empty.
        personal: whether it identifies a player: it is in an export only on request.
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
        """The SQL type in which it is read."""
        return "INTEGER" if self.lookup else _SQL_TYPES.get(self.kind, "INTEGER")

    @property
    def stored_as(self) -> str:
        """The SQL type in which it is written."""
        return _STORED_TYPES.get(self.kind, "INTEGER")

    @property
    def type(self) -> DataType:
        """Its type in Parquet."""
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
    """Return the scan of the columns that are not looked up by others."""
    read = {column.name: (column.sql, column.read_as) for column in columns if column.sql}
    return TableScan(columns=read, source=source, key=key, where=where)


def convert_frame(frame: DataFrame, columns: Sequence[ExportColumn], lookups: Mapping[str, Lookup]) -> DataFrame:
    """Return rows as they were read, in the kinds and the order of the columns."""
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


def lookup_by_number(values: Mapping[int, str]) -> Series:
    """Return a lookup by small whole numbers."""
    numbers = pl.DataFrame({"key": list(values), "value": list(values.values())}, {"key": pl.Int64, "value": pl.String})
    places = pl.DataFrame({"key": pl.int_range(max(values, default=-1) + 1, eager=True)})
    return places.join(numbers, on="key", how="left", maintain_order="left")["value"]


def with_iso_instants(frame: DataFrame) -> DataFrame:
    """Return timestamps as text, to the second or, where it is not a whole one, to the millisecond."""
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
    """Return the JSON Schema of a row; columns that identify a player may be missing.

    Args:
        title: name and version of the export.
        doc: what a row is.
        columns: the columns.
        others: what further columns hold; None if there are none.
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
    """The filter of rows.

    Attributes:
        pool: number of the pool; None: all.
        player: number of a player; None: all.
        since_ms: games that ended then or later, milliseconds since 1970.
        until_ms: games that ended then or earlier.
        tournament: games of the tournament of that name.
        published: the published list of that name; None: all.
        at: the instant of ratings in force; None: now.
        names: whether to include columns that identify a player.
    """

    pool: int | None = None
    player: int | None = None
    since_ms: int | None = None
    until_ms: int | None = None
    tournament: str | None = None
    published: str | None = None
    at: str | None = None
    names: bool = False

    @property
    def filters(self) -> set[str]:
        """The names of the filters that were set, besides the names."""
        return {name for name, value in attrs.asdict(self).items() if value is not None} - {"names"}


@attrs.frozen(kw_only=True)
class Dataset:
    """A table to export.

    Attributes:
        name: as it is asked for.
        doc: what a row is.
        columns: its columns, those with personal data too.
        filters: which fields of ``ExportFilter`` it knows.
        key: names of the columns that identify rows.
        scans: what is read of the views, one after the other.
        rows: instead, what gives frames in the kinds of the columns.
    """

    name: str
    doc: str
    columns: Sequence[ExportColumn]
    filters: frozenset[str] = frozenset()
    key: Sequence[str] = ()
    scans: Callable[[ExportFilter, Sequence[ExportColumn]], list[TableScan]] | None = None
    rows: Callable[[OpenLedger, ExportFilter], Iterator[DataFrame]] | None = None

    def selected_columns(self, selection: ExportFilter) -> list[ExportColumn]:
        """Return the columns that are wanted."""
        return [column for column in self.columns if selection.names or not column.personal]


# --- tables of the views, unchanged -----------------------------------------------------------------------------


_KINDS = {"INTEGER": ColumnKind.INTEGER, "REAL": ColumnKind.NUMBER, "TEXT": ColumnKind.TEXT}


def _table(connection: sqlite3.Connection, name: str) -> Table:
    """Return a table of the caller's connection, which keeps its settings."""
    return sqlite_utils.Database(connection, recursive_triggers=False, execute_plugins=False).table(name)


def scheme_state_columns(connection: sqlite3.Connection) -> list[str]:
    """Return the state fields of the schemes that were ever in use: columns of the history."""
    fixed = {name for name, _ in side_tables((), ())[0].columns}
    return [column.name for column in _table(connection, HISTORY.name).columns if column.name not in fixed]


def stored_order(table: TableDoc, state: Sequence[str]) -> list[str]:
    """Return the columns of the history, those of the schemes' state last: they come and go."""
    return [*(name for name in table.columns if name not in state), *state]


def history_column_kind(name: str, state: Sequence[str]) -> ColumnKind:
    """Return the contents of a column of the history."""
    if name in state:
        return ColumnKind.NUMBER
    kept = {kept.name: kept.type for kept in HISTORY.state}
    return _KINDS[kept[name] if name in kept else SIDE_COLUMNS[name].type if name in SIDE_COLUMNS else "INTEGER"]


def is_exportable(connection: sqlite3.Connection, table: str) -> bool:
    """Return whether a table can be exported: it has columns of numbers and text alone, and may have rows."""
    is_view = table == tournament_performance.NAME
    return is_view or all(column.type in _KINDS for column in _table(connection, table).columns)


def columns_of_table(
    connection: sqlite3.Connection, table: str, described: TableDoc
) -> tuple[list[ExportColumn], list[str]]:
    """Return the columns of a table, and the names of its key."""
    if table == tournament_performance.NAME:
        types = tournament_performance.TYPES
        columns = [
            ExportColumn(
                name=name,
                kind=_KINDS[types[name]],
                meaning=meaning,
                sql=f'"{name}"',
                optional=name not in tournament_performance.KEY,
            )
            for name, meaning in described.columns.items()
        ]
        return columns, list(tournament_performance.KEY)
    columns, key = [], {}
    for _, name, kind, not_null, _, place in _table(connection, table).columns:
        meaning = described.columns.get(name, ColumnDoc(""))
        columns.append(
            ExportColumn(
                name=name,
                kind=_KINDS[kind],
                meaning=meaning,
                sql=f'"{name}"',
                # An INTEGER PRIMARY KEY has a value in every row, though it need not be declared NOT NULL.
                optional=not not_null and not place,
                personal=name in PERSONAL,
            )
        )
        if place:
            key[place] = name
    return columns, [key[place] for place in sorted(key)]


_ROWS_A_PART = 50_000  # rows of a view that is worked out
_RATED_GAMES = "SELECT pool, player, n FROM current ORDER BY pool, player"


def table_parts(connection: sqlite3.Connection, table: str) -> Iterator[list[str]]:
    """Yield conditions that take a table part by part, in key order: one part without any, except for a view.

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
