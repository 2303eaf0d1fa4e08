"""The SQLite store of the journal. Only this module writes its tables.

``synchronous=FULL``: in a power-loss model NORMAL lost acknowledged entries and FULL never did. The triggers are a
guard rail against mistakes (``INSERT OR REPLACE`` on a plain connection gets past the first two, not past the
third); the Merkle tree is the lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from itertools import count
from pathlib import Path

from ledger.errors import StorageError
from ledger.journal import KeyTakenError, StoredEntry, sqlite_keys
from ledger.journal.merkle import Node
from ledger.journal.sqlite_keys import ColumnIndex, KeyIndex, KeyRuns
from ledger.journal.stored_tree import Edge, StoredTree, StoredWriter
from ledger.runtime import sqlite
from ledger.runtime.file_guard import FileGuard, split_statements

APPLICATION_ID = sqlite.JOURNAL_ID
LAYOUT, RELEASED = 2, 1  # that is written now; that of release 0.1.0, whose keys have an index of the column
BLOCK = 50_000  # bodies a read hands out at once

_ENTRIES = """
CREATE TABLE journal(
  position INTEGER PRIMARY KEY CHECK(position > 0),
  kind TEXT NOT NULL,
  key TEXT NOT NULL%s,
  body BLOB NOT NULL CHECK(length(body) <= 65535),
  leaf BLOB NOT NULL CHECK(length(leaf) = 32)
) STRICT;
"""
_HASHES = """
CREATE TABLE nodes(
  level INTEGER NOT NULL, number INTEGER NOT NULL, hash BLOB NOT NULL CHECK(length(hash) = 32),
  PRIMARY KEY(level, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE texts(sha256 BLOB PRIMARY KEY CHECK(length(sha256) = 32), zstd BLOB NOT NULL) STRICT;
"""
_APPEND_ONLY = """
CREATE TRIGGER journal_never_updates BEFORE UPDATE ON journal
BEGIN SELECT raise(ABORT, 'the journal is append-only: correct a fact by a new entry'); END;
CREATE TRIGGER journal_never_deletes BEFORE DELETE ON journal
BEGIN SELECT raise(ABORT, 'the journal is append-only: void a fact by a new entry'); END;
"""
_NEXT_POSITION = """
CREATE TRIGGER journal_takes_the_next_position BEFORE INSERT ON journal
WHEN new.position IS NOT (SELECT coalesce(max(position), 0) + 1 FROM journal)
  OR EXISTS (SELECT 1 FROM %s WHERE key = new.key)
BEGIN SELECT raise(ABORT, 'the journal takes a new key at the next position only'); END;
"""
_UNGUARDED = """
DROP TRIGGER IF EXISTS journal_takes_the_next_position;
DROP TRIGGER IF EXISTS journal_keeps_the_key;
"""
# By layout: the tables of the entries, and the triggers on single ones; all of a file besides them is the same.
ENTRIES = {RELEASED: _ENTRIES % " UNIQUE" + _APPEND_ONLY, LAYOUT: _ENTRIES % "" + _APPEND_ONLY + sqlite_keys.SCHEMA}
GUARDS = {RELEASED: _NEXT_POSITION % "journal", LAYOUT: _NEXT_POSITION % "keys" + sqlite_keys.KEEP_KEY}
SCHEMAS = {layout: ENTRIES[layout] + _HASHES + GUARDS[layout] for layout in ENTRIES}
_INDICES: dict[int, type[KeyIndex]] = {RELEASED: ColumnIndex, LAYOUT: KeyRuns}
SHORT_LOG, LONG_LOG = 1_000, 16_384  # pages of 4 KiB
MANY = 1_000  # entries from which an append drops the guard, and a transaction lets the log grow

_LEAVES = "SELECT leaf FROM journal WHERE position > ? AND position <= ? ORDER BY position"
_NODES = "SELECT hash FROM nodes WHERE level = ? AND number >= ? AND number < ? ORDER BY number"
_INSERT = "INSERT INTO journal(position, kind, key, body, leaf) VALUES (?, ?, ?, ?, ?)"
_LAST = "SELECT position, leaf FROM journal WHERE position = (SELECT max(position) FROM journal)"
# Only a text that is already stored is skipped; any other obstacle is an error.
_KEEP_TEXT = "INSERT INTO texts(sha256, zstd) VALUES (?, ?) ON CONFLICT(sha256) DO NOTHING"


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
        sqlite.check_identity(self._connection, path, APPLICATION_ID, LAYOUT, RELEASED)
        # With a write-ahead log only FULL syncs each commit: receipted entries must outlast a power cut.
        self._connection.execute("PRAGMA synchronous=FULL")
        # 64 MiB (a negative number counts KiB): an import looks its keys up in each run of the index.
        self._connection.execute("PRAGMA cache_size=-65536")
        self._guards = {layout: FileGuard(path, script) for layout, script in SCHEMAS.items()}
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
            run_script(connection, SCHEMAS[LAYOUT])
            connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version={LAYOUT}")
        connection.close()
        return cls(path)

    def has_present_layout(self) -> bool:
        """Return whether the file has the layout of this release."""
        return self._layout() == LAYOUT

    def upgrade(self, advance: Callable[[int, int], None]) -> bool:
        """Bring a file of release 0.1.0 to the present layout; return False if it has that already.

        It is one transaction: an interrupted upgrade leaves the file as it was.

        Args:
            advance: called with the number of entries that were copied, and that of all.
        """
        with self.writing() as writer:
            if self.has_present_layout():
                return False
            run_script(self._connection, _UNGUARDED + "DROP TRIGGER journal_never_updates;")
            run_script(self._connection, "DROP TRIGGER journal_never_deletes; ALTER TABLE journal RENAME TO entries;")
            run_script(self._connection, ENTRIES[LAYOUT])
            for start in range(0, writer.size, BLOCK):
                self._connection.execute(
                    "INSERT INTO journal SELECT * FROM entries WHERE position > ? AND position <= ?",
                    (start, start + BLOCK),
                )
                advance(min(start + BLOCK, writer.size), writer.size)
            sqlite_keys.fill(self._connection)
            run_script(self._connection, f"DROP TABLE entries; {GUARDS[LAYOUT]} PRAGMA user_version={LAYOUT};")
        return True

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
        # an upgrade or a merge of runs by another process must not fall between two queries
        with nullcontext() if self._connection.in_transaction else self._snapshot():
            return self._index().find(keys)

    def keys(self, first: str, last: str) -> Iterator[str]:
        """Yield the committed keys from *first* on and before *last*, in order of their bytes."""
        return self._index().between(first, last)

    def _layout(self) -> int:
        """Return the layout of the file: another process may upgrade it."""
        return int(self._connection.execute("PRAGMA user_version").fetchone()[0])

    def _index(self) -> KeyIndex:
        return _INDICES[self._layout()](self._connection)

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
            layout = self._layout()
            self._guards[layout].check(self._connection)
            self._catch_up(self._find_last(*self._last()))
            writer = SqliteWriter(self, self._connection, self._edge.copy(), self._index())
            yield writer
            if not writer.is_guarded:  # a rollback restores the guard by itself
                run_script(self._connection, GUARDS[layout])
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


def run_script(connection: sqlite.FileConnection, script: str) -> None:
    """Run the statements of a script within the transaction that is open."""
    for statement in split_statements(script):
        connection.execute(statement)


class SqliteWriter(StoredWriter):
    """One write transaction on a ``SqliteJournal``."""

    def __init__(self, journal: SqliteJournal, connection: sqlite.FileConnection, edge: Edge, index: KeyIndex) -> None:
        super().__init__(journal.path, edge)
        self._connection = connection
        self._index = index
        self._absent: set[str] = set()  # keys that were looked for since the last insertion and are not there
        self.is_guarded = True

    def _last_body(self) -> bytes:
        row = self._connection.execute("SELECT body FROM journal WHERE position = ?", (self.size,)).fetchone()
        return bytes(row[0])

    def find(self, keys: Sequence[str]) -> dict[str, StoredEntry]:
        """Return the entries with these unique keys of facts, by key; entries of this transaction included."""
        entries = self._index.find(keys) if self.size else {}
        self._absent.update(key for key in keys if key not in entries)
        return entries

    def _insert(
        self, kinds: Iterable[str], keys: Sequence[str], bodies: Sequence[bytes], leaves: Sequence[bytes]
    ) -> None:
        # The guard costs 10 µs a row. No other process can insert inside this transaction, or sees it gone.
        if len(leaves) >= MANY and self.is_guarded:
            run_script(self._connection, _UNGUARDED)
            self.is_guarded = False
        blobs = map(bytearray, bodies), map(bytearray, leaves)  # which the driver takes without an adapter
        # Not strict: the positions have no end, and kinds may be repeated without one.
        rows = zip(count(self.size + 1), kinds, keys, *blobs, strict=False)
        is_single = len(leaves) == 1 and self.is_guarded
        try:
            with nullcontext() if is_single else self._all_or_none():
                if is_single:
                    taken = self._connection.execute(_INSERT, next(rows)).rowcount
                else:
                    taken = self._connection.executemany(_INSERT, rows).rowcount
                if not self.is_guarded:
                    self._index.add(keys, self.size + 1, self._absent, is_run=len(keys) >= MANY)
        except StorageError as error:
            if sqlite.breaks_constraint(error):
                raise KeyTakenError from error
            raise
        self._absent.clear()
        self.check_row_count(taken, len(leaves), "journal")

    @contextmanager
    def _all_or_none(self) -> Iterator[None]:
        self._connection.execute("SAVEPOINT append")
        try:
            yield
        except (KeyTakenError, StorageError):
            with suppress(StorageError):  # a full disk has undone the whole transaction
                self._connection.execute("ROLLBACK TO append")
                self._connection.execute("RELEASE append")
            raise
        self._connection.execute("RELEASE append")

    def _insert_nodes(self, nodes: Sequence[Node]) -> None:
        cursor = self._connection.executemany("INSERT INTO nodes(level, number, hash) VALUES (?, ?, ?)", nodes)
        self.check_row_count(cursor.rowcount, len(nodes), "nodes")

    def store_texts(self, texts: Iterable[tuple[bytes, bytes]]) -> None:
        """Store (SHA-256, zstd frame) pairs of movetext; an existing one stays."""
        self._connection.executemany(_KEEP_TEXT, texts)
