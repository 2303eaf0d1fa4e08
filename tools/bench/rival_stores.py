"""Other people's ways to keep games and ratings in SQLite, each measured at its best. Nothing here prints.

All of them use the SQLite that sqlite-utils picks (pysqlite3 where it is installed, as we do). Target files must not
exist yet.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import importlib
import itertools
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from ledger.ratings.queries import table_names
from ledger.runtime import sqlite
from ledger.runtime.lazy import sqlite_utils

from .datasets import RESULTS, WORKS
from .measuring import Figure, cost_of

CHUNK = 50_000
READ_CHUNK = 200_000
K = 32.0
START = 1500.0
SCORES = {word: score for score, word in RESULTS.items()}
HEADERS = (("key", "white", "black", "result"), ("game_no", "white_fide_id", "black_fide_id", "result"))
HISTORY = ("player", "n", "game", "opponent", "score", "rating")
INSERT_HISTORY = "INSERT INTO history VALUES (?, ?, ?, ?, ?, ?)"

Row = tuple[Any, ...]


def dict_loop_executemany(csv_path: Path, db_path: Path, *, pragmas: Sequence[str] = ()) -> None:
    """The script that a developer would write: ``csv.reader``, a dictionary, ``executemany``, one commit.

    Two history rows a game, 50,000 rows a call, into one clustered table; every game with a result is rated, with
    K = 32. It keeps no journal, so it can prove, correct and explain nothing. The settings of SQLite are its defaults,
    as such a script leaves them (delete journal, ``synchronous=FULL``, 2 MB of cache); *pragmas* may give it more.
    """
    with closing(driver().connect(str(db_path))) as connection, _open_text(csv_path) as file:
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")
        connection.execute(WORKS["statements"]["history"])
        rows = _history(file)
        while chunk := list(itertools.islice(rows, CHUNK)):
            connection.executemany(INSERT_HISTORY, chunk)
        connection.commit()


def dict_loop_sqlite_utils(csv_path: Path, db_path: Path) -> None:
    """Run the same script with sqlite-utils' ``insert_all``.

    Its faster ways: all in one ``atomic()`` (four times as fast as a commit for each batch, which it makes of 166 rows,
    whatever the batch size), and tuples after a line of column names instead of dictionaries. The table is made by
    SQL, because sqlite-utils makes none WITHOUT ROWID.
    """
    database = sqlite_utils.Database(db_path)
    with closing(database.conn), _open_text(csv_path) as file:
        database.execute(WORKS["statements"]["history"])
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
    return (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8", newline="")


def rewrite_tables(source_db: Path, target_db: Path, *, synchronous: str = "NORMAL") -> Figure:
    """Write the same tables again with bare ``executemany``: the least that our rows can cost.

    Rows are read in table order, 200,000 at a time, without being timed; timed are the tables' creation, the inserts
    with a commit for each chunk, and the indexes, made at the end as is fastest. Views, triggers, virtual tables and
    SQLite's own tables are left out. The target gets the source's page size.
    """
    connect = driver().connect
    with closing(connect(str(source_db))) as source, closing(connect(str(target_db), isolation_level=None)) as target:
        page_size = source.execute("PRAGMA page_size").fetchone()[0]
        for setting in (f"page_size = {page_size}", "journal_mode = WAL", f"synchronous = {synchronous}"):
            target.execute(f"PRAGMA {setting}")
        no_tables = [name for _, name, sort, *_ in source.execute("PRAGMA table_list") if sort != "table"]
        schema = source.execute("SELECT type, name, sql FROM sqlite_master WHERE sql NOT NULL").fetchall()
        schema = [row for row in schema if not row[1].startswith("sqlite_") and row[1] not in no_tables]
        tables, indexes = ({name: sql for kind, name, sql in schema if kind == sort} for sort in ("table", "index"))
        cost = cost_of(lambda: [target.execute(sql) for sql in tables.values()])
        for table in tables:
            info = source.execute(f'PRAGMA table_xinfo("{table}")').fetchall()
            names = ", ".join(f'"{name}"' for _, name, *_, hidden in info if not hidden)
            cursor = source.execute(f'SELECT {names} FROM "{table}"')
            insert = f'INSERT INTO "{table}" ({names}) VALUES ({", ".join("?" * len(cursor.description))})'
            while rows := cursor.fetchmany(READ_CHUNK):
                cost = cost.plus(cost_of(partial(_write, target, insert, rows)))
        return cost.plus(cost_of(lambda: [target.execute(sql) for sql in indexes.values()]))


def _write(connection: Any, insert: str, rows: Iterable[Row]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany(insert, rows)
    connection.execute("COMMIT")


def durable_commits(count: int, files: Sequence[str], folder: Path, *, body_size: int = 300) -> Figure:
    """Rounds of commits per second, one row each in each of the *files*.

    The first file is durable (WAL, ``synchronous=FULL``: on the disk before the next), a second one plays the views
    that can be rebuilt (``synchronous=NORMAL``). The row is a position and a random body.
    """
    bodies = [(os.urandom(body_size),) for _ in range(count)]
    with ExitStack() as stack:
        connect = partial(driver().connect, isolation_level=None)
        connections = [stack.enter_context(closing(connect(str(folder / file)))) for file in files]
        for connection, synchronous in zip(connections, ("FULL", "NORMAL"), strict=False):
            for setting in ("journal_mode = WAL", f"synchronous = {synchronous}"):
                connection.execute(f"PRAGMA {setting}")
            connection.execute("CREATE TABLE entries(position INTEGER PRIMARY KEY, body BLOB)")
        insert = [connection.execute for connection in connections]

        def commit() -> None:
            for body in bodies:
                for execute in insert:
                    execute("INSERT INTO entries(body) VALUES (?)", body)

        return cost_of(commit).rates(count)


class BareRows:
    """The rows that a correction of the views changes, deleted and inserted by bare SQL: no rule, no rating."""

    KEPT_APART = frozenset({"progress", "proposals", "corrections"})  # written for every correction, however small

    def __init__(self, views: Path, folder: Path) -> None:
        """Copy the views as they are before the correction, with nothing in their log."""
        self._views, self.rows = views, 0
        self._copy = Path(shutil.copyfile(views, folder / "bare.db"))
        self._connection = sqlite.connect(self._copy)
        self._changed: list[tuple[str, list[list[Row]], str, list[list[Row]]]] = []  # rows forth and back

    def compare(self) -> None:
        """Find the rows that differ before and after the correction."""
        execute = self._connection.execute
        execute("ATTACH ? AS corrected", (str(self._views),))
        for table in sorted(set(table_names(self._connection)) - self.KEPT_APART):
            before, after = (
                list(map(tuple, execute(f'SELECT * FROM {a}."{table}" EXCEPT SELECT * FROM {b}."{table}"')))
                for a, b in (("main", "corrected"), ("corrected", "main"))
            )
            columns = execute(f'PRAGMA table_info("{table}")').fetchall()
            keys = sorted((column[5], column[0], column[1]) for column in columns if column[5])
            where = " AND ".join(f'"{name}" = ?' for *_, name in keys)
            delete = f'DELETE FROM "{table}" WHERE {where}'
            insert = f'INSERT OR REPLACE INTO "{table}" VALUES ({", ".join("?" * len(columns))})'
            gone = [[tuple(row[place] for _, place, _ in keys) for row in rows] for rows in (before, after)]
            self._changed.append((delete, gone, insert, [after, before]))
            self.rows += len(after)
        execute("DETACH corrected")

    def change(self, *, back: bool = False) -> None:
        """Delete the rows before, insert those after (or *back*: the other way round), and commit."""
        with sqlite.write_transaction(self._connection):
            for delete, gone, insert, come in self._changed:
                self._connection.executemany(delete, gone[back])
                self._connection.executemany(insert, come[back])

    def close(self) -> None:
        """Close the copy."""
        self._connection.close()


def sha256_each(bodies: Sequence[bytes]) -> None:
    """Digest bodies one by one: no leaf, no tree, nothing kept."""
    digest = hashlib.sha256
    for body in bodies:
        digest(body).digest()


def driver() -> Any:
    """Return the SQLite module that sqlite-utils picks, from its ``utils``, where mypy takes it for private."""
    return importlib.import_module("sqlite_utils.utils").sqlite3
