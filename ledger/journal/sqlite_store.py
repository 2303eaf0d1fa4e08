"""The SQLite store of the journal. Only this module writes its tables.

``synchronous=FULL``: in a power-loss model NORMAL lost acknowledged entries and FULL never did. The triggers are a
guard rail against mistakes (``INSERT OR REPLACE`` on a plain connection gets past the first two, not past the
third); the Merkle tree is the lock.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from ledger.errors import StorageError
from ledger.journal import KeyTakenError, StoredEntry
from ledger.journal.merkle import Node
from ledger.journal.stored_tree import Edge, StoredTree, StoredWriter
from ledger.runtime import sqlite
from ledger.runtime.file_guard import FileGuard, split_statements

APPLICATION_ID = sqlite.JOURNAL_ID
LAYOUT = 1
BLOCK = 50_000  # bodies a read hands out at once
KEYS_A_QUERY = 5_000

_SCHEMA = """
CREATE TABLE journal(
  position INTEGER PRIMARY KEY CHECK(position > 0),
  kind TEXT NOT NULL,
  key TEXT NOT NULL UNIQUE,
  body BLOB NOT NULL CHECK(length(body) <= 65535),
  leaf BLOB NOT NULL CHECK(length(leaf) = 32)
) STRICT;
CREATE TABLE nodes(
  level INTEGER NOT NULL, number INTEGER NOT NULL, hash BLOB NOT NULL CHECK(length(hash) = 32),
  PRIMARY KEY(level, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE texts(sha256 BLOB PRIMARY KEY CHECK(length(sha256) = 32), zstd BLOB NOT NULL) STRICT;
CREATE TRIGGER journal_never_updates BEFORE UPDATE ON journal
BEGIN SELECT raise(ABORT, 'the journal is append-only: correct a fact by a new entry'); END;
CREATE TRIGGER journal_never_deletes BEFORE DELETE ON journal
BEGIN SELECT raise(ABORT, 'the journal is append-only: void a fact by a new entry'); END;
"""
_GUARD = """
CREATE TRIGGER journal_takes_the_next_position BEFORE INSERT ON journal
WHEN new.position IS NOT (SELECT coalesce(max(position), 0) + 1 FROM journal)
  OR EXISTS (SELECT 1 FROM journal WHERE key = new.key)
BEGIN SELECT raise(ABORT, 'the journal takes a new key at the next position only'); END;
"""
SHORT_LOG, LONG_LOG = 1_000, 16_384  # pages of 4 KiB
MANY = 1_000  # entries from which an append drops the guard, and a transaction lets the log grow

_LEAVES = "SELECT leaf FROM journal WHERE position > ? AND position <= ? ORDER BY position"
_NODES = "SELECT hash FROM nodes WHERE level = ? AND number >= ? AND number < ? ORDER BY number"
_INSERT = "INSERT INTO journal(position, kind, key, body, leaf) VALUES (?, ?, ?, ?, ?)"
_KEYS = "SELECT key FROM journal WHERE key >= ? AND key < ? ORDER BY key"
_LAST = "SELECT position, leaf FROM journal WHERE position = (SELECT max(position) FROM journal)"
_FIND_ONE = "SELECT position, body, leaf FROM journal WHERE key = ?"
# Only a text that is already stored is skipped; any other obstacle is an error.
_KEEP_TEXT = "INSERT INTO texts(sha256, zstd) VALUES (?, ?) ON CONFLICT(sha256) DO NOTHING"
# One parameter however many keys there are: the statement is prepared once, and no limit on question marks is met.
_FIND = "SELECT key, position, body, leaf FROM journal WHERE key IN (SELECT value FROM json_each(?)) ORDER BY position"


class SqliteJournal(StoredTree):
    """A journal in a SQLite file, shared by any number of reading and writing processes."""

    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        """Open an existing journal.

        Raises:
            StorageError: missing, locked, or not a journal.
            CorruptError: damaged.
        """
        self.path = str(path)
        if not Path(path).exists():
            raise StorageError(self.path, "there is no such ledger; make one with 'rating-ledger init'")
        self._connection = sqlite.connect(path, read_only=read_only)
        sqlite.check_identity(self._connection, path, APPLICATION_ID, LAYOUT)
        # With a write-ahead log only FULL syncs each commit: receipted entries must outlast a power cut.
        self._connection.execute("PRAGMA synchronous=FULL")
        # 64 MiB (a negative number counts KiB): an import comes to the pages of the keys' index in no order.
        self._connection.execute("PRAGMA cache_size=-65536")
        self._guard = FileGuard(path, _SCHEMA + _GUARD)
        self._edge = Edge()
        self._log_pages = 0

    @classmethod
    def create(cls, path: str | Path) -> SqliteJournal:
        """Make an empty journal file.

        Raises:
            StorageError: the file exists or cannot be made.
        """
        if Path(path).exists():
            raise StorageError(str(path), "exists already; a journal is never overwritten")
        connection = sqlite.connect(path)
        # SQLite turns the log on outside a transaction only.
        connection.execute("PRAGMA journal_mode=WAL")
        with sqlite.write_transaction(connection):
            for statement in split_statements(_SCHEMA + _GUARD):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version={LAYOUT}")
        connection.close()
        return cls(path)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def ensure_durable(self) -> None:
        """Do nothing: all readable entries are on the disk already."""

    def size(self) -> int:
        """Return the number of committed entries."""
        return int(self._connection.execute("SELECT coalesce(max(position), 0) FROM journal").fetchone()[0])

    @contextmanager
    def _snapshot(self) -> Iterator[None]:
        # deferred: it waits for no writer, and all reads within see the snapshot of the first one
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            self._connection.execute("COMMIT")

    def _last(self) -> tuple[int, bytes | None]:
        return self._connection.execute(_LAST).fetchone() or (0, None)

    def _leaves(self, first: int, last: int) -> list[bytes]:
        return [leaf for (leaf,) in self._connection.execute(_LEAVES, (first, last))]

    def _nodes(self, level: int, first: int, last: int) -> list[bytes]:
        return [value for (value,) in self._connection.execute(_NODES, (level, first, last))]

    def read(self, after: int = 0, until: int | None = None) -> Iterator[list[bytes]]:
        """Yield the bodies of entries in order, in blocks of 50,000 (``Journal.read``)."""
        cursor = self._connection.execute(
            "SELECT body FROM journal WHERE position > ? AND position <= ? ORDER BY position",
            (after, 2**62 if until is None else until),
        )
        while rows := cursor.fetchmany(BLOCK):
            yield [body for (body,) in rows]

    def find(self, keys: Sequence[str]) -> dict[str, StoredEntry]:
        """Return the committed entries with these unique keys of facts, by key."""
        entries: dict[str, StoredEntry] = {}
        if len(keys) == 1:  # a live game asks for one
            row = self._connection.execute(_FIND_ONE, (keys[0],)).fetchone()
            return entries if row is None else {keys[0]: StoredEntry(*row)}
        for start in range(0, len(keys), KEYS_A_QUERY):
            block = json.dumps(list(keys[start : start + KEYS_A_QUERY]))
            for key, position, body, leaf in self._connection.execute(_FIND, (block,)):
                entries[key] = StoredEntry(position, body, leaf)
        return entries

    def keys(self, first: str, last: str) -> Iterator[str]:
        """Yield the committed keys from *first* on and before *last*, in order of their bytes."""
        cursor = self._connection.execute(_KEYS, (first, last))
        step = 1  # the usual question is whether there is any
        while rows := cursor.fetchmany(step):
            yield from (key for (key,) in rows)
            step = min(step * 8, BLOCK)

    def text(self, sha256: bytes) -> bytes | None:
        """Return the zstd frame of a movetext, or None."""
        row = self._connection.execute("SELECT zstd FROM texts WHERE sha256 = ?", (sha256,)).fetchone()
        return None if row is None else bytes(row[0])

    @contextmanager
    def writing(
        self,
        patience: float | None = None,
        *,
        keys: Sequence[str] = (),  # noqa: ARG002  # finding them costs no more later
    ) -> Iterator[SqliteWriter]:
        """Begin a write transaction, committed durably when the block ends without an error.

        Raises:
            StorageError: the path has another file, or a schema that this program did not make.
            CorruptError: entries that this process recorded, now or before, are not in the file.
        """
        if self.refusal is not None:
            raise StorageError(self.path, self.refusal)
        with sqlite.write_transaction(self._connection, patience=patience):
            # Under the lock: between this check and the rows no process can put a trigger on the table.
            self._guard.check(self._connection)
            self._catch_up(self._find_last(*self._last()))
            writer = SqliteWriter(self, self._connection, self._edge.copy())
            yield writer
            if not writer.is_guarded:  # a rollback restores the guard by itself
                self._connection.execute(_GUARD)
            # An import rewrites the same index pages again and again: they are written back once in 64 MB. A single
            # append is quicker in a short log that is written over and over.
            pages = LONG_LOG if writer.added >= MANY else SHORT_LOG
            if pages != self._log_pages:
                self._connection.execute(f"PRAGMA wal_autocheckpoint={pages}")
                self._log_pages = pages
        self._edge = writer.edge
        self.recorded += writer.added
        # a single entry is looked for when the next transaction begins
        if writer.added > 1:
            self._find_last(*self._last())


class SqliteWriter(StoredWriter):
    """One write transaction on a ``SqliteJournal``."""

    def __init__(self, journal: SqliteJournal, connection: sqlite.FileConnection, edge: Edge) -> None:
        super().__init__(journal.path, edge)
        self._journal = journal
        self._connection = connection
        self.is_guarded = True

    def _last_body(self) -> bytes:
        row = self._connection.execute("SELECT body FROM journal WHERE position = ?", (self.size,)).fetchone()
        return bytes(row[0])

    def find(self, keys: Sequence[str]) -> dict[str, StoredEntry]:
        """Return the entries with these unique keys of facts, by key; entries of this transaction included."""
        return self._journal.find(keys) if self.size else {}

    def _insert(
        self, kinds: Iterable[str], keys: Sequence[str], bodies: Sequence[bytes], leaves: Sequence[bytes]
    ) -> None:
        # The guard costs 2 µs a row. No other process can insert inside this transaction, or sees it gone.
        if len(leaves) >= MANY and self.is_guarded:
            self._connection.execute("DROP TRIGGER IF EXISTS journal_takes_the_next_position")
            self.is_guarded = False
        blobs = map(bytearray, bodies), map(bytearray, leaves)  # which the driver takes without an adapter
        # Not strict: the positions have no end, and kinds may be repeated without one.
        rows = zip(count(self.size + 1), kinds, keys, *blobs, strict=False)
        needs_savepoint = len(leaves) > 1
        if needs_savepoint:
            self._connection.execute("SAVEPOINT append")
        try:
            if needs_savepoint:
                taken = self._connection.executemany(_INSERT, rows).rowcount
            else:
                taken = self._connection.execute(_INSERT, next(rows)).rowcount
        except StorageError as error:
            if not sqlite.breaks_constraint(error):
                raise
            if needs_savepoint:
                self._connection.execute("ROLLBACK TO append")
                self._connection.execute("RELEASE append")
            raise KeyTakenError from error
        if needs_savepoint:
            self._connection.execute("RELEASE append")
        self.check_row_count(taken, len(leaves), "journal")

    def _insert_nodes(self, nodes: Sequence[Node]) -> None:
        cursor = self._connection.executemany("INSERT INTO nodes(level, number, hash) VALUES (?, ?, ?)", nodes)
        self.check_row_count(cursor.rowcount, len(nodes), "nodes")

    def store_texts(self, texts: Iterable[tuple[bytes, bytes]]) -> None:
        """Store (SHA-256, zstd frame) pairs of movetext; an existing one stays."""
        self._connection.executemany(_KEEP_TEXT, texts)
