"""A temporary journal for past states and dry runs: it ends at an earlier entry, and may have unrecorded ones after it.

Unrecorded entries are in a database of their own that SQLite holds in memory, and on the disk for temporary files if it
grows: a dry run may bring a million. Nothing reaches the files of the ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from heapq import merge
from itertools import islice, repeat

import orjson

from ledger.errors import StorageError
from ledger.facts.codec import Entry, body_of
from ledger.facts.words import TreeHead
from ledger.journal import Journal, KeyTakenError, StoredEntry, Writer
from ledger.journal.merkle import EMPTY_ROOT, check_hashes, leaf_hash
from ledger.runtime import sqlite

BLOCK = 500  # keys that are looked up, and entries that are read, at one time
_TABLE = "CREATE TABLE further (position INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, body BLOB NOT NULL) STRICT"
_FIND = "SELECT key, position, body FROM further WHERE key IN (SELECT value FROM json_each(?))"

Watch = Callable[[str, bytes], None]  # called with kind and body of each entry that is tried


class ScratchJournal:
    """A journal of the first entries of another one, which its opener keeps open, and unrecorded ones after them.

    Args:
        journal: the recorded entries.
        size: how many of them this journal has.
        further: the unrecorded entries that follow, from position *size* + 1 on.
        watch: a function that receives each entry that a dry run appends; without it nothing can be appended.
    """

    def __init__(
        self, journal: Journal, size: int, further: Sequence[Entry] = (), *, watch: Watch | None = None
    ) -> None:
        self._journal = journal
        self._recorded = size
        self._watch = watch
        self._count = 0  # of the further entries
        if further:
            bodies = [body_of(entry.position, entry.recorded_at, entry.actor, entry.event) for entry in further]
            self._add([entry.event.key for entry in further], bodies)

    @cached_property
    def _further(self) -> sqlite.sqlite3.Connection:
        # Without a name: SQLite spills it to a file of its own, which goes with the connection
        # (sqlite.org/inmemorydb.html).
        connection = sqlite.sqlite3.connect("", isolation_level=None)
        connection.execute(_TABLE)
        # No rollback is ever asked for: what an error undoes is deleted by ``_trying``.
        connection.execute("PRAGMA journal_mode=OFF")
        return connection

    def _add(self, keys: Sequence[str], bodies: Sequence[bytes]) -> None:
        first = self.size() + 1
        rows = [(first + place, key, bytes(body)) for place, (key, body) in enumerate(zip(keys, bodies, strict=True))]
        self._further.executemany("INSERT INTO further VALUES (?, ?, ?)", rows)
        self._count += len(rows)

    @property
    def recorded(self) -> int:
        """The number of recorded entries, which those of a dry run follow."""
        return self._recorded

    def set_recorded(self, entries: int) -> None:
        """Change the number of recorded entries that this journal has; it must have no unrecorded ones."""
        self._recorded = entries

    def writing(
        self,
        *,
        keys: Sequence[str] = (),  # noqa: ARG002  # finding them costs no more later
    ) -> AbstractContextManager[Writer]:
        """Begin a transaction for unrecorded entries, rolled back after an error; StorageError without a *watch*."""
        if self._watch is None:
            when = "during a dry run" if self._count else f"as of entry {self._recorded}"
            raise StorageError("the journal", f"takes no entries {when}")
        return self._trying(_ScratchWriter(self, self._watch))

    @contextmanager
    def _trying(self, writer: Writer) -> Iterator[Writer]:
        before = self._count
        try:
            yield writer
        except BaseException:
            self._further.execute("DELETE FROM further WHERE position > ?", (self._recorded + before,))
            self._count = before
            raise

    def ensure_durable(self) -> None:
        """Wait until the recorded entries are durable on all required machines."""
        self._journal.ensure_durable()

    def size(self) -> int:
        """Return the number of entries, the unrecorded ones included."""
        return self._recorded + self._count

    def head(self) -> TreeHead:
        """Return size and Merkle root of the recorded entries; unrecorded ones have none."""
        return TreeHead(self._recorded, self.root_at(self._recorded))

    def root_at(self, size: int) -> bytes:
        """Return the Merkle root of the first *size* entries; that of an empty tree if some are unrecorded."""
        if size > self.size():
            raise ValueError(f"{size} entries of {self.size()}")
        # unrecorded entries have no root
        return self._journal.root_at(size) if size <= self._recorded else EMPTY_ROOT

    def subtree_root(self, first: int, last: int) -> bytes:
        """Return the root of a subtree over recorded entries (``Journal.subtree_root``)."""
        if last > self._recorded:
            raise ValueError(f"entry {last} of {self._recorded}")
        return self._journal.subtree_root(first, last)

    def hashes(self, level: int, first: int, last: int) -> list[bytes]:
        """Return hashes of a level of tiles over recorded entries (``Journal.hashes``)."""
        check_hashes(level, first, last, self._recorded)
        return self._journal.hashes(level, first, last)

    def read(self, after: int = 0, until: int | None = None) -> Iterator[list[bytes]]:
        """Yield the bodies of entries in order, in blocks (``Journal.read``)."""
        last = self.size() if until is None else min(until, self.size())
        if after < self._recorded:
            yield from self._journal.read(after, min(last, self._recorded))
        if last > self._recorded:
            query = "SELECT body FROM further WHERE position > ? AND position <= ? ORDER BY position"
            rows = self._further.execute(query, (after, last))
            while block := rows.fetchmany(BLOCK):
                yield [body for (body,) in block]

    def find(self, keys: Sequence[str]) -> Mapping[str, StoredEntry]:
        """Return the entries with these unique keys of facts, by key; unrecorded entries included."""
        entries = {key: stored for key, stored in self._journal.find(keys).items() if stored.position <= self._recorded}
        if self._count:
            rows = self._further.execute(_FIND, (orjson.dumps([*keys]).decode(),))
            entries |= {
                key: StoredEntry(position, body, leaf_hash(body)) for key, position, body in rows if key not in entries
            }
        return entries

    def keys(self, first: str, last: str) -> Iterator[str]:
        """Yield the keys from *first* on and before *last*, in order of their bytes."""
        if not self._count:
            return self._keys(first, last)
        further = self._further.execute(
            "SELECT key FROM further WHERE key >= ? AND key < ? ORDER BY key", (first, last)
        )
        return merge(self._keys(first, last), (key for (key,) in further), key=str.encode)

    def _keys(self, first: str, last: str) -> Iterator[str]:
        keys = self._journal.keys(first, last)
        while block := list(islice(keys, BLOCK)):
            keys_before = {
                key for key, stored in self._journal.find(block).items() if stored.position <= self._recorded
            }
            yield from (key for key in block if key in keys_before)

    def text(self, sha256: bytes) -> bytes | None:
        """Return the zstd frame of a movetext, or None; texts belong to no position."""
        return self._journal.text(sha256)

    def close(self) -> None:
        """Delete the unrecorded entries; the other journal stays open."""
        if "_further" in self.__dict__:
            self._further.close()


class _ScratchWriter:
    """The ``Writer`` of a ``ScratchJournal``."""

    def __init__(self, journal: ScratchJournal, watch: Watch) -> None:
        self._journal, self._watch = journal, watch
        self.find = journal.find

    @property
    def size(self) -> int:
        """The number of entries so far."""
        return self._journal.size()

    def last_recorded_at(self) -> str | None:
        """Return ``recorded_at`` of the last entry."""
        last = self.size
        bodies = [body for block in self._journal.read(last - 1) for body in block] if last else []
        return str(orjson.loads(bodies[0])["recorded_at"]) if bodies else None

    def append(self, kinds: Iterable[str], keys: Sequence[str], bodies: Sequence[bytes]) -> list[bytes]:
        """Add entries as ``Writer.append`` does; leaf hashes are empty, for these entries are never recorded."""
        if len(keys) != len(bodies):
            raise ValueError(f"{len(keys)} keys for {len(bodies)} bodies")
        if len(set(keys)) < len(keys) or self.find(keys):
            raise KeyTakenError
        self._journal._add(keys, bodies)
        for kind, body in zip(kinds, bodies, strict=False):
            self._watch(kind, bytes(body))
        return [*repeat(b"", len(bodies))]

    def store_texts(self, texts: Iterable[tuple[bytes, bytes]]) -> None:
        """Store nothing."""
