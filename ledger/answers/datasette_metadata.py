"""The metadata by which Datasette (https://datasette.io) serves the views, or an export of them.

Descriptions of tables and columns with their units, labels, and canned queries. Under ``rating-ledger`` there are
units and foreign keys for programs: the views declare none, so that they are quick to write. Datasette's own
``units`` are those of physics, and stay unused. Datasette itself is not needed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from ledger.answers.asking import in_one_snapshot
from ledger.answers.exports.datasets import NAMED_DATASETS, find_dataset
from ledger.answers.querying import view_tables
from ledger.book.tables import TableDoc
from ledger.errors import MalformedError
from ledger.handle import OpenLedger
from ledger.runtime import sqlite
from ledger.runtime.lazy import sqlite_utils

OURS = "rating-ledger"


class CannedQuery(NamedTuple):
    """A canned query of Datasette: its title, description and SQL, and the tables that it reads."""

    title: str
    description: str
    sql: str
    tables: tuple[str, ...]


# Of the views: pools and players are numbers.
VIEW_QUERIES: Mapping[str, CannedQuery] = {
    "ranking": CannedQuery(
        "Ranking by last games",
        "The players of a pool by their ratings after their last rated games; :pool is its number in 'pools'.",
        "SELECT rank() OVER (ORDER BY rating DESC) AS rank, player, rating, n AS games FROM current "
        "WHERE pool = :pool AND listed = 1 ORDER BY rating DESC, player", ("current",),
    ),
    "graph": CannedQuery(
        "Rating graph", "The ratings of a player after each rated game, newest first.",
        "SELECT n, strftime('%Y-%m-%d', ended_ms / 1000, 'unixepoch') AS ended, half_points / 2.0 AS score, opponent, "
        "rating_before, rating, hera FROM history WHERE pool = :pool AND player = :player ORDER BY n DESC",
        ("history",),
    ),
    "not_counted": CannedQuery(
        "Games that do not count", "How many games do not count, by reason and pool.",
        "SELECT pools.name AS pool, reason, count(*) AS games FROM games JOIN pools USING (pool) "
        "WHERE reason IS NOT NULL GROUP BY 1, 2 ORDER BY 3 DESC", ("games", "pools"),
    ),
    "tournament": CannedQuery(
        "Games of a tournament", "The games of a tournament, by round.",
        "SELECT key, round, white, black, outcome, termination, ended_at, reason FROM games "
        "WHERE tournament = :tournament ORDER BY round_order, ended_ms, key", ("games",),
    ),
    "corrected": CannedQuery(
        "Corrections in force", "What was corrected, by which proposal, by whom.",
        "SELECT proposal, subject, change, proposed_by, decided_by FROM corrections JOIN proposals USING (proposal) "
        "WHERE effective ORDER BY proposal, number", ("corrections", "proposals"),
    ),
    "months": CannedQuery(
        "Games by month", "How many games ended in each month, and how many of them count.",
        "SELECT strftime('%Y-%m', ended_ms / 1000, 'unixepoch') AS month, count(*) AS games, "
        "sum(reason IS NULL) AS rated FROM games GROUP BY 1 ORDER BY 1", ("games",),
    ),
}  # fmt: skip
# Of an export: pools are names, instants are text.
EXPORT_QUERIES: Mapping[str, CannedQuery] = {
    "ranking": CannedQuery(
        "Ranking", "The rating lists, as they were in force when the export was made.",
        "SELECT * FROM ratings ORDER BY pool, rank, player", ("ratings",),
    ),
    "graph": CannedQuery(
        "Rating graph", "The ratings of a player after each rated game, newest first.",
        "SELECT * FROM history WHERE player = :player ORDER BY pool, n DESC", ("history",),
    ),
    "tournament": CannedQuery(
        "Games of a tournament", "The games of a tournament, in the order in which they ended.",
        "SELECT * FROM games WHERE tournament = :tournament ORDER BY ended, key", ("games",),
    ),
}  # fmt: skip


@in_one_snapshot
def metadata(ledger: OpenLedger, export: str | Path | None = None) -> dict[str, Any]:
    """Return the metadata of Datasette for the views and for an SQLite file that ``export`` made, if one is given.

    Raises:
        MalformedError: the export holds no table that can be exported.
    """
    described = {ledger.views.path.stem: (view_tables(ledger), VIEW_QUERIES)}
    if export is not None:
        described[Path(export).stem] = (_exported(ledger, Path(export)), EXPORT_QUERIES)
    return {
        "title": f"Rating ledger {ledger.path.stem}",
        "description": "Derived from the journal of results; every number can be worked out again.",
        "databases": {name: _database(tables, queries) for name, (tables, queries) in described.items()},
        OURS: {name: _for_programs(tables) for name, (tables, _) in described.items()},
    }


def _database(tables: Mapping[str, TableDoc], queries: Mapping[str, CannedQuery]) -> dict[str, Any]:
    return {
        "tables": {
            name: {
                "description": table.doc,
                **({"label_column": table.label} if table.label else {}),
                "columns": {
                    column: f"{meaning.doc} ({meaning.unit})" if meaning.unit else meaning.doc
                    for column, meaning in table.columns.items()
                },
            }
            for name, table in tables.items()
        },
        "queries": {
            name: {"title": query.title, "description": query.description, "sql": query.sql}
            for name, query in queries.items()
            # An export holds what was chosen for it, and a ledger may keep fewer read models: where a table is missing,
            # a query of it would only show an error.
            if tables.keys() >= set(query.tables)
        },
    }


def _for_programs(tables: Mapping[str, TableDoc]) -> dict[str, Any]:
    notes: dict[str, Any] = {}
    for name, table in tables.items():
        units = {column: meaning.unit for column, meaning in table.columns.items() if meaning.unit}
        keys = {
            column: meaning.references
            for column, meaning in table.columns.items()
            if meaning.references.partition(".")[0] in tables
        }
        notes[name] = {"units": units, "foreign_keys": keys}
    return notes


def _exported(ledger: OpenLedger, path: Path) -> dict[str, TableDoc]:
    """Return the descriptions of the tables of an export."""
    if not path.is_file():
        raise MalformedError([f"{path}: no such file; make it with 'export --format sqlite'"])
    with closing(sqlite.connect(path, read_only=True)) as connection:
        stored = {table.name: table.columns_dict for table in sqlite_utils.Database(connection).tables}
    names = {*NAMED_DATASETS, *view_tables(ledger)}
    docs = {}
    for name in sorted(names.intersection(stored)):
        item = find_dataset(ledger, name)
        columns = {column.name: column.meaning for column in item.columns if column.name in stored[name]}
        label = "name" if "name" in columns else "key" if "key" in columns else ""
        docs[name] = TableDoc(item.doc, columns, label)
    if not docs:
        raise MalformedError([f"{path}: holds no table of an export; make it with 'export --format sqlite'"])
    return docs
