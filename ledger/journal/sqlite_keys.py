"""The index of the keys in a SQLite journal: sorted runs, which merge as they grow.

One index over all keys is written in no order, because most keys are random: at ten million entries each key rewrites
a page or two. Here the keys of an import become a run, written in the order of the keys; eight runs of one table merge
into one run of the next. So each key is written about once a table, and always in order (P. O'Neil and others, "The
log-structured merge-tree", 1996). The keys of small transactions, such as live games, go into a run of their own,
which is an ordinary index. Ledgers of before have one index over the column; ``ColumnIndex`` reads and writes those.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from ledger.journal import KeyTakenError, StoredEntry

if TYPE_CHECKING:
    import sqlite3

    from ledger.runtime.sqlite import FileConnection

BLOCK = 50_000  # keys a read hands out at once
KEYS_A_QUERY = 20_000  # sorted, so that a query passes over each run in order
FEW = 8  # keys that are looked up one by one
FAN = 8  # runs of a table that merge: more make merges rarer and look-ups longer
TABLES = 6
RUNS = [(table, run) for table in range(TABLES) for run in range(FAN if 0 < table < TABLES - 1 else 1)]


def _of_all_runs(columns: str, condition: str = "") -> str:
    """Return a query over all runs, in which each run is searched by its own index."""
    return " UNION ALL ".join(f"SELECT {columns} FROM keys_{table} WHERE run = {run}{condition}" for table, run in RUNS)


SCHEMA = "".join(
    f"""CREATE TABLE keys_{table}(
  run INTEGER NOT NULL, key TEXT NOT NULL, position INTEGER NOT NULL, PRIMARY KEY(run, key)
) STRICT, WITHOUT ROWID;
"""
    for table in range(TABLES)
)
SCHEMA += f"CREATE VIEW keys(key, position) AS {_of_all_runs('key, position')};\n"
# Of an entry that a transaction inserts under the guard: the others' keys are inserted as a run.
KEEP_KEY = """
CREATE TRIGGER journal_keeps_the_key AFTER INSERT ON journal
BEGIN INSERT INTO keys_0 VALUES (0, new.key, new.position); END;
"""
_PRESENT = " UNION ALL ".join(
    f"SELECT {table}, {run} WHERE EXISTS (SELECT 1 FROM keys_{table} WHERE run = {run})" for table, run in RUNS
)
FIND_ONE = """
SELECT ?1, position, body, leaf FROM journal WHERE position IN (SELECT position FROM keys WHERE key = ?1)
"""
BETWEEN = f"{_of_all_runs('key', ' AND key >= ?1 AND key < ?2')} ORDER BY key"


class KeyIndex(ABC):
    """An index of keys: which entry has a key, and which keys lie between two."""

    def __init__(self, connection: FileConnection) -> None:
        self._connection = connection

    @abstractmethod
    def find(self, keys: Sequence[str]) -> dict[str, StoredEntry]:
        """Return the entries with these keys, by key, in order of their positions."""

    @abstractmethod
    def between(self, first: str, last: str) -> Iterator[str]:
        """Yield the keys from *first* on and before *last*, in order of their bytes."""

    @abstractmethod
    def add(self, keys: Sequence[str], first: int, absent: Collection[str], *, is_run: bool) -> None:
        """Add the keys of entries that were inserted without the guard.

        Args:
            keys: the keys, all new.
            first: the position of the first one; the others follow.
            absent: keys that were looked for in this transaction and are not there.
            is_run: they are many, and become a run.

        Raises:
            KeyTakenError: an entry has one of them.
            StorageError: two of them are the same, which breaks a constraint.
        """

    def _in_blocks(self, query: str, first: str, last: str) -> Iterator[str]:
        cursor = self._connection.execute(query, (first, last))
        step = 1  # the usual question is whether there is any
        while rows := cursor.fetchmany(step):
            yield from (key for (key,) in rows)
            step = min(step * 8, BLOCK)


class ColumnIndex(KeyIndex):
    """The one index over the column, which ledgers of layout 1 have; SQLite adds keys to it by itself."""

    def find(self, keys: Sequence[str]) -> dict[str, StoredEntry]:
        """Return the entries with these keys, by key, in order of their positions."""
        # one parameter however many keys there are: no limit on question marks is met
        query = "SELECT key, position, body, leaf FROM journal WHERE key IN (SELECT value FROM json_each(?))"
        rows = [row for block in _blocks(keys) for row in self._connection.execute(query, (block,))]
        return _by_key(rows)

    def between(self, first: str, last: str) -> Iterator[str]:
        """Yield the keys from *first* on and before *last*, in order of their bytes."""
        return self._in_blocks("SELECT key FROM journal WHERE key >= ? AND key < ? ORDER BY key", first, last)

    def add(self, keys: Sequence[str], first: int, absent: Collection[str], *, is_run: bool) -> None:
        """Do nothing: the index is SQLite's."""


class KeyRuns(KeyIndex):
    """The sorted runs of keys, of ledgers of layout 2."""

    def find(self, keys: Sequence[str]) -> dict[str, StoredEntry]:
        """Return the entries with these keys, by key, in order of their positions."""
        if len(keys) <= FEW:
            return _by_key([row for key in keys for row in self._connection.execute(FIND_ONE, (key,))])
        rows = []
        runs = self._connection.execute(_PRESENT).fetchall()
        for block in _blocks(keys):
            for table, run in runs:
                rows += self._connection.execute(
                    "SELECT keys.key, position, body, leaf FROM json_each(?) AS word "
                    f"CROSS JOIN keys_{table} AS keys ON keys.run = {run} AND keys.key = word.value "
                    "JOIN journal USING(position)",
                    (block,),
                ).fetchall()
        return _by_key(rows)

    def between(self, first: str, last: str) -> Iterator[str]:
        """Yield the keys from *first* on and before *last*, in order of their bytes."""
        return self._in_blocks(BETWEEN, first, last)

    def add(self, keys: Sequence[str], first: int, absent: Collection[str], *, is_run: bool) -> None:
        """Add the keys of entries that were inserted without the guard (``KeyIndex.add``)."""
        for key, entry in self.find([key for key in keys if key not in absent]).items():
            raise KeyTakenError(f"entry {entry.position} has the key {key}")
        table, run = (1, self._free_run(1)) if is_run else (0, 0)
        # Python compares by code points, SQLite by bytes of UTF-8: the order is the same.
        rows = sorted(zip(keys, range(first, first + len(keys)), strict=True))
        self._connection.executemany(f"INSERT INTO keys_{table} VALUES ({run}, ?, ?)", rows)

    def _free_run(self, table: int) -> int:
        """Return the number of a run that a table does not have; if it has all, they become a run of the next table."""
        if table == TABLES - 1:
            return 0  # it has one, into which the others merge in order
        runs = [run for at, run in self._connection.execute(_PRESENT) if at == table]
        if len(runs) == FAN:
            merged = self._free_run(table + 1)
            parts = (f"SELECT {merged}, key, position FROM keys_{table} WHERE run = {run}" for run in runs)
            self._connection.execute(f"INSERT INTO keys_{table + 1} {' UNION ALL '.join(parts)} ORDER BY key")
            # without a condition SQLite drops all pages at once
            self._connection.execute(f"DELETE FROM keys_{table}")
            return 0
        return next(run for run in range(FAN) if run not in runs)


def fill(connection: FileConnection) -> None:
    """Index the keys of all entries, as one run."""
    connection.execute(f"INSERT INTO keys_{TABLES - 1} SELECT 0, key, position FROM journal ORDER BY key")


def query_by_keys(connection: sqlite3.Connection, columns: str, condition: str) -> str:
    """Return a query for columns of the entries whose keys meet a condition, which goes by the index of the file."""
    has_runs = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'view' AND name = 'keys'").fetchone()
    where = f"position IN (SELECT position FROM keys WHERE {condition})" if has_runs else condition
    return f"SELECT {columns} FROM journal WHERE {where}"


def _blocks(keys: Sequence[str]) -> Iterator[str]:
    """Yield the keys in order, as JSON, for ``json_each``."""
    ordered = sorted(keys)
    for start in range(0, len(ordered), KEYS_A_QUERY):
        yield json.dumps(ordered[start : start + KEYS_A_QUERY])


def _by_key(rows: list[tuple[str, int, bytes, bytes]]) -> dict[str, StoredEntry]:
    return {row[0]: StoredEntry(*row[1:]) for row in sorted(rows, key=lambda row: row[1])}
