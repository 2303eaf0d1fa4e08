"""The columns of tables of the views as they stand, as exports have them: types of SQLite, what is told of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ledger.answers.exports.columns import ColumnKind, ExportColumn
from ledger.answers.wording import PERSONAL
from ledger.book.tables import ColumnDoc, TableDoc
from ledger.ratings import tournament_performance
from ledger.ratings.projector import SIDE_COLUMNS
from ledger.ratings.side_tables import HISTORY, side_tables
from ledger.runtime.lazy import sqlite_utils

if TYPE_CHECKING:
    import sqlite3

    from sqlite_utils.db import Table

_KINDS = {"INTEGER": ColumnKind.INTEGER, "REAL": ColumnKind.NUMBER, "TEXT": ColumnKind.TEXT}


def _table(connection: sqlite3.Connection, name: str) -> Table:
    """A table of the caller's connection, which keeps its settings."""
    return sqlite_utils.Database(connection, recursive_triggers=False, execute_plugins=False).table(name)


def scheme_state(connection: sqlite3.Connection) -> list[str]:
    """Names of the state fields of the schemes that were ever in use: columns of the history."""
    fixed = {name for name, _ in side_tables((), ())[0].columns}
    return [column.name for column in _table(connection, HISTORY.name).columns if column.name not in fixed]


def stored_order(table: TableDoc, state: Sequence[str]) -> list[str]:
    """The columns of the history, those of the schemes' state last: they come and go."""
    return [*(name for name in table.columns if name not in state), *state]


def kind_of_side(name: str, state: Sequence[str]) -> ColumnKind:
    """What a column of the history holds."""
    if name in state:
        return ColumnKind.NUMBER
    kept = {kept.name: kept.type for kept in HISTORY.state}
    return _KINDS[kept[name] if name in kept else SIDE_COLUMNS[name].type if name in SIDE_COLUMNS else "INTEGER"]


def can_be_had(connection: sqlite3.Connection, table: str) -> bool:
    """Whether a table has columns of numbers and text alone, and rows at all to come."""
    is_view = table == tournament_performance.NAME
    return is_view or all(column.type in _KINDS for column in _table(connection, table).columns)


def of_table(connection: sqlite3.Connection, table: str, described: TableDoc) -> tuple[list[ExportColumn], list[str]]:
    """The columns of a table, and the names of its key."""
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
                optional=not not_null and not place,
                personal=name in PERSONAL,
            )
        )
        if place:
            key[place] = name
    return columns, [key[place] for place in sorted(key)]
