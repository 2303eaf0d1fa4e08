"""SQL queries of a ledger: one statement that only reads, over the views, the journal and the names of players.

The views are opened for reading only, together with the journal. The names are a table of the connection alone,
filled if a statement reads it: salts and reasons stay in their file, and erased players have no name. The statement
runs in a process of its own (``query_process``), which limits its time and memory.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import attrs
import orjson

from ledger.answers.asking import in_one_snapshot
from ledger.book.tables import NUMBER, POSITION, ColumnDoc, TableDoc
from ledger.errors import MalformedError, StorageError, one_line
from ledger.facts.json_schemas import documented
from ledger.handle import OpenLedger
from ledger.journal.postgres_store import PostgresJournal
from ledger.ratings import read_models, table_docs
from ledger.ratings.projectors import tournament_performance
from ledger.runtime import query_runner, sqlite
from ledger.runtime.calls import checked
from ledger.runtime.lazy import sqlite_utils
from ledger.runtime.nearest import expected_names

SECONDS = 60.0  # default time limit of a statement
MEMORY = 1024  # default limit of SQLite's memory for a statement, MiB
MIB = 2**20
LONGEST = 64 * MIB  # of one row; an entry of the journal has at most 64 KiB
_ENTRIES = "CREATE TABLE journal(position INTEGER PRIMARY KEY, kind TEXT, key TEXT UNIQUE, body BLOB, leaf BLOB) STRICT"
_NAMES = "CREATE TEMP TABLE names(player INTEGER PRIMARY KEY, name TEXT, identity TEXT)"
QUERY_ONLY_TABLES: Mapping[str, TableDoc] = {
    "names": TableDoc(
        "Who the players are; only in 'query', and without those who were erased.",
        {
            "player": ColumnDoc("the player", NUMBER, "players.player"),
            "name": ColumnDoc("the player's name"),
            "identity": ColumnDoc("the player's identity, such as lichess:ann"),
        },
        "name",
    ),
    "journal": TableDoc(
        "The entries of the journal; only in 'query', and not with --known-at or --as-if.",
        {
            "position": ColumnDoc("place in the journal, from 1", POSITION),
            "kind": ColumnDoc("name and version of the fact, such as game-recorded/1"),
            "key": ColumnDoc("the fact's own key"),
            "body": ColumnDoc("the whole entry as canonical JSON, in bytes: cast(body AS TEXT)", "JSON"),
            "leaf": ColumnDoc("leaf hash of the entry", "SHA-256"),
        },
    ),
}


@checked
def query(
    ledger: OpenLedger,
    statement: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    seconds: float = SECONDS,
    memory: int = MEMORY,
    journal: bool = True,
) -> Iterator[dict[str, Any]]:
    """Run one SQL statement that only reads, and yield its rows as dictionaries; bytes are hexadecimal text.

    It runs in a process of its own, which ends when its time is over, or when the caller stops reading rows.

    Args:
        ledger: a ledger; its views are brought up to date.
        statement: one SELECT or another statement that only reads.
        parameters: values by name, for ``:name`` in the statement.
        seconds: time limit; 0: none.
        memory: limit of memory, MiB; 0: none.
        journal: whether the journal can be read, too.

    Raises:
        MalformedError: SQLite does not understand the statement, it would change something, or it exceeds a limit.
        CorruptError: a file is damaged.
    """
    ledger.ensure_up_to_date()  # one statement has one read snapshot by itself

    def filling(tables: set[str]) -> Iterator[tuple[str, list[tuple[Any, ...]]]]:
        for table in sorted(tables):
            read_models.refuse_stale_table(ledger.views.connection, table, ledger.views.installed.broken)
        if "names" in tables:
            identities = dict(ledger.people.identities())
            names = [(player, name, identities.get(player)) for player, name in ledger.people.names()]
            for start in range(0, len(names), query_runner.ROWS_AT_ONCE):
                yield "INSERT INTO names VALUES (?, ?, ?)", names[start : start + query_runner.ROWS_AT_ONCE]

    limits = query_runner.QueryLimits(seconds=seconds, memory=memory * MIB, longest=LONGEST)
    parameters = dict(parameters or {})
    stack = ExitStack()
    try:
        file = stack.enter_context(_journal_file(ledger, statement)) if journal else None
        preparations: list[query_runner.Preparation] = [
            *((pragma, ()) for pragma in sqlite.PRAGMAS),
            *([("ATTACH ? AS journal", (sqlite.sqlite_uri(file, read_only=True),))] if file else []),
            ("PRAGMA temp_store=MEMORY", ()),  # names belong in no other file
            (_NAMES, ()),
        ]
        rows = query_runner.run_query(ledger.views.path, preparations, statement, parameters, filling, limits)
        names = next(rows)
        # only then: sqlite-utils takes longer to load than a short statement to run
        if len(set(names)) < len(names):
            names = sqlite_utils.utils.dedupe_keys(names)
        for row in rows:
            yield dict(zip(names, row, strict=True))
    except query_runner.QueryError as failure:
        raise _explained(ledger, failure, seconds, memory) from failure
    finally:
        stack.close()


@contextmanager
def _journal_file(ledger: OpenLedger, statement: str) -> Iterator[Path | None]:
    """Open the file in which a statement reads the entries: the journal, or a copy of a server's if it names it."""
    journal = ledger.journal
    if not isinstance(journal, PostgresJournal):
        yield ledger.path
    elif re.search(r"\bjournal\b", statement, re.IGNORECASE) is None:
        yield None
    else:
        with tempfile.TemporaryDirectory(prefix=f"{ledger.path.stem}.query-", dir=ledger.path.parent) as folder:
            copy = Path(folder) / "journal.db"
            with closing(sqlite.connect(copy)) as connection, sqlite.write_transaction(connection):
                connection.execute(_ENTRIES)
                first = 0
                for bodies in journal.read():
                    leaves = journal.hashes(0, first, first + len(bodies))
                    entries = (orjson.loads(body) for body in bodies)
                    rows = zip(entries, bodies, leaves, strict=True)
                    connection.executemany(
                        "INSERT INTO journal VALUES (?, ?, ?, ?, ?)",
                        ((entry["position"], entry["kind"], entry["key"], body, leaf) for entry, body, leaf in rows),
                    )
                    first += len(bodies)
            yield copy


def _explained(ledger: OpenLedger, failure: query_runner.QueryError, seconds: float, memory: int) -> Exception:
    """Return the error for a statement that failed or was stopped."""
    words = one_line(failure.words)
    match failure.kind:
        case "refused":
            return MalformedError([f"query: it may only read: {words} is refused"])
        case "value":
            expected = "expected one statement that selects rows, such as SELECT * FROM pools"
            return MalformedError([f"query: {expected}"])
        case "time":
            return MalformedError([f"query: stopped after {seconds:g} s; allow it more, or 0: any time"])
        case "memory":
            more = "allow it more, or 0: any amount" if memory else "the machine has no more"
            return MalformedError([f"query: stopped: it takes more than {memory:,} MiB of memory; {more}"])
        case "long":
            return MalformedError([f"query: a row of more than {LONGEST // MIB} MiB, the limit of a row: select less"])
        case "ended":
            return StorageError(str(ledger.path), "the process of the query was ended from outside; repeat the query")
    if "no such table: " in words:
        table = words.partition("no such table: ")[2]
        tables = [*view_tables(ledger), *QUERY_ONLY_TABLES]
        return MalformedError([f"query: no table {table!r}; {expected_names(table, tables)}"])
    # malformed JSON is in a text that the statement parses, not in the file
    damaged = None if "malformed JSON" in words else sqlite.translated_error(ledger.views.path, words)
    return damaged or MalformedError([f"query: {words}"])


# -- the tables --------------------------------------------------------------------------------------------------


@in_one_snapshot
def view_tables(ledger: OpenLedger) -> dict[str, TableDoc]:
    """Return the documentation of the tables of the views, by name."""
    return table_docs.table_docs_in(ledger.views.connection, ledger.views.installed.all)


@attrs.frozen(kw_only=True, slots=False)
class TableRow:
    """A table that a query can read, with its number of rows and their meaning."""

    table: str = documented("its name")
    rows: int | None = documented("how many rows it has; null: they are worked out when they are asked for", minimum=0)
    says: str = documented("what a row says")


@attrs.frozen(kw_only=True, slots=False)
class ColumnRow:
    """A column of a table that a query can read: its type, unit, reference and meaning."""

    table: str = documented("the table")
    column: str = documented("its name")
    type: str | None = documented("its SQL type; null: it has none")
    unit: str | None = documented("its unit or form")
    references: str | None = documented("the column of another table whose values it has, table.column")
    says: str = documented("what it means")


@in_one_snapshot
def readable_tables(ledger: OpenLedger) -> list[TableRow]:
    """Return the tables that a query can read, with the number and the meaning of their rows."""
    database = sqlite_utils.Database(ledger.views.connection, execute_plugins=False)
    described = view_tables(ledger)
    # Rows that are computed by each query are not counted.
    counts = {name: database.table(name).count for name in described if name != tournament_performance.NAME}
    rows_of_views = [TableRow(table=name, rows=counts.get(name), says=table.doc) for name, table in described.items()]
    others = {"names": len(ledger.people.names()), "journal": ledger.snapshot_journal.size()}
    return [
        *rows_of_views,
        *(TableRow(table=name, rows=others[name], says=table.doc) for name, table in QUERY_ONLY_TABLES.items()),
    ]


@in_one_snapshot
def readable_columns(ledger: OpenLedger) -> list[ColumnRow]:
    """Return the columns of the tables that a query can read, with type, unit, reference and meaning."""
    database = sqlite_utils.Database(ledger.views.connection, execute_plugins=False)
    rows = []
    for name, table in {**view_tables(ledger), **QUERY_ONLY_TABLES}.items():
        if name == tournament_performance.NAME:
            types = dict(tournament_performance.TYPES)
        else:
            types = {column.name: column.type for column in database.table(name).columns}
        for column, meaning in table.columns.items():
            rows.append(
                ColumnRow(
                    table=name,
                    column=column,
                    type=types.get(column),
                    unit=meaning.unit or None,
                    references=meaning.references or None,
                    says=meaning.doc,
                )
            )
    return rows
