"""SQL that a reader asks of a ledger: one statement that only reads, over the views, the journal and names together.

The views are opened for reading only, the journal beside them, and the names are a table of the connection alone,
filled where a statement asks for it: salts and reasons stay in their file, and who was erased has no name. What a
statement may do is said in one place, ``_Judge``; it can be given a time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ledger.answers.moments import of_one_moment
from ledger.book.table_docs import NUMBER, POSITION, ColumnDoc, TableDoc
from ledger.errors import MalformedError, one_line
from ledger.ledger import Ledger
from ledger.ratings import keeping, read_models, tournament_performance
from ledger.runtime import sqlite
from ledger.runtime.lazy import sqlite_utils
from ledger.runtime.nearest import choice_of

if TYPE_CHECKING:
    import sqlite3

    from sqlite_utils import Database

SECONDS = 60.0  # that a statement may take where nobody says
_STEPS = 20_000  # of SQLite's machine between two looks at the clock
# Of sqlite3.h; sqlite-utils puts a savepoint around what it runs.
_PRAGMA, _READ, _SELECT, _TRANSACTION, _ATTACH, _FUNCTION, _SAVEPOINT, _RECURSIVE = 19, 20, 21, 22, 24, 31, 32, 33
_ALLOWED, _DENIED = 0, 1
_PRAGMAS = {"table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", "foreign_key_list"}
_FUNCTIONS = {"load_extension", "fts3_tokenizer", "randomblob", "zeroblob"}  # refused: code, and memory without end
_NAMES = "CREATE TEMP TABLE names(player INTEGER PRIMARY KEY, name TEXT, identity TEXT)"
BESIDE: Mapping[str, TableDoc] = {
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
        "The entries of the journal; only in 'query', and not with --known-at.",
        {
            "position": ColumnDoc("place in the journal, from 1", POSITION),
            "kind": ColumnDoc("name and version of the fact, such as game-recorded/1"),
            "key": ColumnDoc("the fact's own key"),
            "body": ColumnDoc("the whole entry as canonical JSON, in bytes: cast(body AS TEXT)", "JSON"),
            "leaf": ColumnDoc("leaf hash of the entry", "SHA-256"),
        },
    ),
}


class _Judge:
    """What a statement may do: select and read; it notes what it refuses, and whether names are asked for."""

    def __init__(self) -> None:
        self.refused: str | None = None
        self.reads_names = False
        self.tables: set[str] = set()

    def __call__(self, action: int, first: str | None, second: str | None, *_: str | None) -> int:
        if action == _READ:
            self.reads_names |= first == "names"
            self.tables.add(first or "")
            return _ALLOWED
        if action in {_SELECT, _RECURSIVE, _SAVEPOINT}:
            return _ALLOWED
        if action == _FUNCTION and (second or "").lower() not in _FUNCTIONS:
            return _ALLOWED
        if action == _PRAGMA and (first or "").lower() in _PRAGMAS:
            return _ALLOWED
        if self.refused is None:
            pragma, function = f"PRAGMA {first}", f"{second}()"
            words = {_PRAGMA: pragma, _FUNCTION: function, _ATTACH: "ATTACH", _TRANSACTION: "a transaction"}
            self.refused = words.get(action, "what would change something")
        return _DENIED


def query(
    ledger: Ledger, statement: str, parameters: Mapping[str, Any] | None = None, *, seconds: float = SECONDS,
    journal: bool = True,
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """The rows that a statement selects, as dictionaries, read as they are asked for; bytes are hexadecimal text.

    Args:
        ledger: a ledger; its views are brought level.
        statement: one SELECT, or what else only reads.
        parameters: values by name, for ``:name`` in the statement.
        seconds: how long it may take; 0: as long as it likes.
        journal: whether the journal can be read, too.

    Raises:
        MalformedError: SQLite does not understand it, it would change something, or it takes longer.
        CorruptError: a file is damaged.
    """
    judge = _Judge()
    ledger.level()  # one statement reads as of one moment by itself
    with _opened(ledger, journal=journal) as database, _explained(ledger, judge, seconds):
        connection = database.conn
        assert connection is not None
        given = dict(parameters or {})
        connection.set_authorizer(judge)
        if _asks_for_names(connection, statement, given, judge):
            connection.set_authorizer(None)
            _fill_names(connection, ledger)
            connection.set_authorizer(judge)
        for table in sorted(judge.tables):
            keeping.refuse_left_behind(ledger.views.connection, table, ledger.views.at_hand.broken)
        if seconds:
            deadline = time.monotonic() + seconds
            connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS)
        for row in database.query(statement, given):
            yield {name: value.hex() if isinstance(value, bytes) else value for name, value in row.items()}


@contextmanager
def _opened(ledger: Ledger, *, journal: bool) -> Iterator[Database]:
    """The views, for reading only, with the journal and an empty table of names."""
    connection = sqlite.connect(ledger.views.path, read_only=True)
    try:
        database = sqlite_utils.Database(connection, execute_plugins=False)
        if journal:
            connection.execute("ATTACH ? AS journal", (sqlite.address(ledger.path, read_only=True),))
        connection.execute("PRAGMA temp_store=MEMORY")  # names belong in no other file
        connection.execute(_NAMES)
        yield database
    finally:
        connection.close()


@contextmanager
def _explained(ledger: Ledger, judge: _Judge, seconds: float) -> Iterator[None]:
    """What SQLite says of a statement, as one clear error."""
    try:
        yield
    except (sqlite.sqlite3.Error, sqlite.sqlite3.Warning, ValueError, OverflowError) as error:
        text = one_line(error)
        if judge.refused is not None:
            raise MalformedError([f"query: it may only read: {judge.refused} is refused"]) from error
        if isinstance(error, ValueError):
            expected = "expected one statement that selects rows, such as SELECT * FROM pools"
            raise MalformedError([f"query: {expected}"]) from error
        if "interrupted" in text:
            raise MalformedError([f"query: stopped after {seconds:g} s; allow it more, or 0: any time"]) from error
        if "no such table: " in text:
            wanted = text.partition("no such table: ")[2]
            known = [*tables_described(ledger), *BESIDE]
            raise MalformedError([f"query: no table {wanted!r}; {choice_of(wanted, known)}"]) from error
        damaged = sqlite.explained(ledger.views.path, text)
        raise damaged or MalformedError([f"query: {text}"]) from error


def _asks_for_names(connection: sqlite3.Connection, statement: str, given: Mapping[str, Any], judge: _Judge) -> bool:
    """Whether a statement reads names; what is wrong with it is told when it is run."""
    try:
        connection.execute(f"EXPLAIN {statement}", given).close()
    except (sqlite.sqlite3.Error, sqlite.sqlite3.Warning, ValueError, OverflowError):
        return False
    return judge.reads_names


def _fill_names(connection: sqlite3.Connection, ledger: Ledger) -> None:
    identities = dict(ledger.people.identities())
    rows = ((player, name, identities.get(player)) for player, name in ledger.people.names())
    connection.executemany("INSERT INTO names VALUES (?, ?, ?)", rows)


# -- what there is -----------------------------------------------------------------------------------------------


@of_one_moment
def tables_described(ledger: Ledger) -> dict[str, TableDoc]:
    """What the tables of the views say, by name."""
    return read_models.described_in(ledger.views.connection, ledger.views.at_hand.all)


@of_one_moment
def tables(ledger: Ledger) -> list[dict[str, Any]]:
    """The tables of the views, and those beside them that a query can read: how many rows, what a row says.

    Rows that are worked out when they are asked for are not counted.
    """
    database = sqlite_utils.Database(ledger.views.connection, execute_plugins=False)
    described = tables_described(ledger)
    counts = {name: database.table(name).count for name in described if name != tournament_performance.NAME}
    found = [{"table": name, "rows": counts.get(name), "says": table.doc} for name, table in described.items()]
    beside = {"names": len(ledger.people.names()), "journal": ledger.journal_of_moment.size()}
    return [*found, *({"table": name, "rows": beside[name], "says": table.doc} for name, table in BESIDE.items())]


@of_one_moment
def columns(ledger: Ledger) -> list[dict[str, Any]]:
    """The columns of these tables: type, unit, the column of another table whose values each has, its meaning."""
    database = sqlite_utils.Database(ledger.views.connection, execute_plugins=False)
    found = []
    for name, table in {**tables_described(ledger), **BESIDE}.items():
        if name == tournament_performance.NAME:
            types = dict(tournament_performance.TYPES)
        else:
            types = {column.name: column.type for column in database.table(name).columns}
        for column, meaning in table.columns.items():
            found.append(
                {
                    "table": name,
                    "column": column,
                    "type": types.get(column),
                    "unit": meaning.unit or None,
                    "references": meaning.references or None,
                    "says": meaning.doc,
                }
            )
    return found
