"""Other people's ways to keep games and ratings in SQLite, each measured at its best. Nothing here prints.

All of them use the SQLite that sqlite-utils picks (pysqlite3 where it is installed, as we do). Target files must not
exist yet.
"""

from __future__ import annotations

import csv
import gzip
import importlib
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TextIO

from ledger.runtime.lazy import sqlite_utils

from .measuring import Rates, SecondsTaken, cost_of
from .synthetic import RESULTS

CHUNK = 50_000
READ_CHUNK = 200_000

K = 32.0
START = 1500.0
SCORES = {word: score for score, word in RESULTS.items()}
HEADERS = (("key", "white", "black", "result"), ("game_no", "white_fide_id", "black_fide_id", "result"))

HISTORY = ("player", "n", "game", "opponent", "score", "rating")
CREATE_HISTORY = (
    "CREATE TABLE history(player TEXT, n INTEGER, game TEXT, opponent TEXT, score REAL, rating REAL,"
    " PRIMARY KEY(player, n)) WITHOUT ROWID"
)
INSERT_HISTORY = "INSERT INTO history VALUES (?, ?, ?, ?, ?, ?)"

Row = tuple[Any, ...]
Script = Callable[[Path, Path], None]


# The script that a developer would write.


def dict_loop_executemany(csv_path: Path, db_path: Path, *, pragmas: Sequence[str] = ()) -> None:
    """The honest simple script: ``csv.reader``, a dictionary, ``executemany``, one commit.

    Two history rows a game, 50,000 rows a call, into one clustered table; every game with a result is rated,
    with K = 32. It keeps no journal, so it can prove, correct and explain nothing. The settings of SQLite are
    its defaults, as such a script leaves them (delete journal, ``synchronous=FULL``, 2 MB of cache);
    ``pragmas`` such as ``cache_size=-256000`` (a third less time on the over-the-board set) give it more.
    """
    with closing(driver().connect(str(db_path))) as connection, _open_text(csv_path) as file:
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")
        connection.execute(CREATE_HISTORY)
        rows = _history(file)
        while chunk := list(itertools.islice(rows, CHUNK)):
            connection.executemany(INSERT_HISTORY, chunk)
        connection.commit()


def dict_loop_sqlite_utils(csv_path: Path, db_path: Path, *, pragmas: Sequence[str] = ()) -> None:
    """The same script with sqlite-utils' ``insert_all``, all else alike.

    Its faster ways: all in one ``atomic()`` (four times as fast as a commit for each batch, which it makes of
    166 rows, whatever it is asked for), and tuples after a line of column names instead of dictionaries. The
    table is made by SQL, because sqlite-utils makes none WITHOUT ROWID.
    """
    database = sqlite_utils.Database(db_path)
    with closing(database.conn), _open_text(csv_path) as file:
        for pragma in pragmas:
            database.execute(f"PRAGMA {pragma}")
        database.execute(CREATE_HISTORY)
        with database.atomic():
            database.table("history").insert_all(itertools.chain([HISTORY], _history(file)), batch_size=CHUNK)


def _history(file: TextIO) -> Iterator[Row]:
    reader = csv.reader(file)
    header = next(reader)
    names = next(names for names in HEADERS if set(names) <= set(header))
    key, white, black, result = map(header.index, names)
    ratings: dict[str, float] = {}
    counts: dict[str, int] = {}
    for line in reader:
        score = SCORES.get(line[result])
        if score is None:
            continue
        w, b = line[white], line[black]
        rating_w, rating_b = ratings.get(w, START), ratings.get(b, START)
        change = K * (score - 1.0 / (1.0 + 10.0 ** ((rating_b - rating_w) / 400.0)))
        ratings[w] = rating_w = rating_w + change
        ratings[b] = rating_b = rating_b - change
        counts[w] = n_w = counts.get(w, 0) + 1
        counts[b] = n_b = counts.get(b, 0) + 1
        yield w, n_w, line[key], b, score, rating_w
        yield b, n_b, line[key], w, 1.0 - score, rating_b


def _open_text(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8", newline="")
    return path.open(encoding="utf-8", newline="")


# Bounds: what the driver and the disk allow.


def rewrite_tables(
    source_db: Path, target_db: Path, *, journal_mode: str = "WAL", synchronous: str = "NORMAL"
) -> SecondsTaken:
    """The cost of writing the same tables again with bare ``executemany``: the least that our rows can cost.

    Rows are read in table order, 200,000 at a time, without being timed; timed are the tables' creation, the
    inserts with a commit for each chunk, and the indexes, made at the end as is fastest. Views, triggers,
    virtual tables and SQLite's own tables are left out. The target gets the source's page size.
    """
    connect = driver().connect
    with (
        closing(connect(str(source_db))) as source,
        closing(connect(str(target_db), isolation_level=None)) as target,
    ):
        target.execute(f"PRAGMA page_size = {source.execute('PRAGMA page_size').fetchone()[0]}")
        target.execute(f"PRAGMA journal_mode = {journal_mode}")
        target.execute(f"PRAGMA synchronous = {synchronous}")
        tables, indexes = _schema(source, "table"), _schema(source, "index")
        cost = cost_of(lambda: [target.execute(sql) for sql in tables.values()])
        for table in tables:
            cost = _rewrite(source, target, table, cost)
        return cost.plus(cost_of(lambda: [target.execute(sql) for sql in indexes.values()]))


def bare_executemany(connection: Any, insert: str, rows: Iterable[Row]) -> SecondsTaken:
    """The cost of one transaction with one ``executemany``."""

    def write() -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(insert, rows)
        connection.execute("COMMIT")

    return cost_of(write)


def durable_commits(path: Path, count: int, body_size: int = 300) -> Rates:
    """Commits per second of one row each: WAL, ``synchronous=FULL``, each on the disk before the next.

    The row is a position and a random body, and the statement is its own transaction.
    """
    bodies = [os.urandom(body_size) for _ in range(count)]
    with closing(driver().connect(str(path), isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("CREATE TABLE journal(position INTEGER PRIMARY KEY, body BLOB)")

        def commit() -> None:
            for body in bodies:
                connection.execute("INSERT INTO journal(body) VALUES (?)", (body,))

        return cost_of(commit).rates(count)


def durable_pairs(journal: Path, views: Path, count: int, body_size: int = 300) -> Rates:
    """Pairs of commits per second, one row each: a durable one of a journal, then one of views that can be rebuilt.

    The journal as in ``durable_commits``; the views, another file, in WAL mode with ``synchronous=NORMAL``.
    """
    bodies = [os.urandom(body_size) for _ in range(count)]
    connect = driver().connect
    with (
        closing(connect(str(journal), isolation_level=None)) as first,
        closing(connect(str(views), isolation_level=None)) as second,
    ):
        for connection, synchronous in ((first, "FULL"), (second, "NORMAL")):
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA synchronous = {synchronous}")
            connection.execute("CREATE TABLE entries(position INTEGER PRIMARY KEY, body BLOB)")

        def commit() -> None:
            for body in bodies:
                first.execute("INSERT INTO entries(body) VALUES (?)", (body,))
                second.execute("INSERT INTO entries(body) VALUES (?)", (body,))

        return cost_of(commit).rates(count)


def _schema(connection: Any, kind: str) -> dict[str, str]:
    """Names and statements of what a schema holds, but for SQLite's own and virtual tables' shadows."""
    shadows = {name for _, name, sort, *_ in connection.execute("PRAGMA table_list") if sort != "table"}
    found = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = ? AND sql NOT NULL", (kind,))
    return {name: sql for name, sql in found if not name.startswith("sqlite_") and name not in shadows}


def _rewrite(source: Any, target: Any, table: str, cost: SecondsTaken) -> SecondsTaken:
    info = source.execute(f'PRAGMA table_xinfo("{table}")').fetchall()
    columns = [f'"{name}"' for _, name, _, _, _, _, hidden in info if not hidden]
    names, marks = ", ".join(columns), ", ".join("?" * len(columns))
    insert = f'INSERT INTO "{table}" ({names}) VALUES ({marks})'
    cursor = source.execute(f'SELECT {names} FROM "{table}"')
    while rows := cursor.fetchmany(READ_CHUNK):
        cost = cost.plus(bare_executemany(target, insert, rows))
    return cost


def driver() -> Any:
    """The SQLite module that sqlite-utils picks, from its ``utils``, where mypy takes it for private."""
    return importlib.import_module("sqlite_utils.utils").sqlite3
