"""A journal and a people file to try things on: they show what stands there, and forget what is written.

What is tried stands in a database of its own that SQLite keeps in memory, and on the disk for temporary files where it
grows; nothing reaches the files of the ledger.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from heapq import merge

import orjson

from ledger.facts.person_names import spelt
from ledger.facts.words import TreeHead
from ledger.journal import Journal, KeyTakenError, Stored
from ledger.players.people import People, Person
from ledger.players.sealed_names import Numbered, SealedNames
from ledger.players.sealings import Find, is_renaming, latest_commitments, registration_key
from ledger.runtime import sqlite

_BLOCK = 1_000  # entries read at once
_TABLE = "CREATE TABLE tried (position INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, body BLOB NOT NULL) STRICT"
_FIND = "SELECT key, position, body FROM tried WHERE key IN (SELECT value FROM json_each(?))"

Watch = Callable[[str, bytes], None]  # called with kind and body of each entry that is tried


class DryJournal:
    """A ``Journal`` over another one: entries are added as it would add them, and none is kept."""

    def __init__(self, journal: Journal, watch: Watch = lambda _kind, _body: None) -> None:
        self._journal = journal
        self._watch = watch
        self._first = journal.size()
        self._tried = sqlite.sqlite3.connect("", isolation_level=None)
        self._tried.execute(_TABLE)
        self._tried.execute("PRAGMA journal_mode=OFF")
        self._count = 0

    @contextmanager
    def writing(self) -> Iterator[DryWriter]:
        """A transaction: what an error undoes is forgotten."""
        before = self._count
        try:
            yield DryWriter(self)
        except BaseException:
            self._tried.execute("DELETE FROM tried WHERE position > ?", (self._first + before,))
            self._count = before
            raise

    def size(self) -> int:
        """Entries, those that are tried included."""
        return self._first + self._count

    def last_body(self) -> bytes | None:
        """The body of the last entry."""
        last = self.size()
        return next((body for bodies in self.read(last - 1) for body in bodies), None) if last else None

    def find(self, keys: Sequence[str]) -> Mapping[str, Stored]:
        """The entries that bear these keys, those that are tried included."""
        tried = self._tried.execute(_FIND, (json.dumps(list(keys)),)) if self._count else ()
        return {**self._journal.find(keys), **{key: Stored(position, body, b"") for key, position, body in tried}}

    def keys(self, first: str, last: str) -> Iterator[str]:
        """The keys from *first* on and before *last*, those that are tried included, in order."""
        tried = self._tried.execute("SELECT key FROM tried WHERE key >= ? AND key < ? ORDER BY key", (first, last))
        return merge(self._journal.keys(first, last), (key for (key,) in tried), key=str.encode)

    def read(self, after: int = 0, until: int | None = None) -> Iterator[list[bytes]]:
        """Bodies of the entries with position > *after* (and <= *until*), those that are tried included."""
        if after < self._first:
            yield from self._journal.read(after, until)
        last = self.size() if until is None else until
        rows = self._tried.execute(
            "SELECT body FROM tried WHERE position > ? AND position <= ? ORDER BY position", (after, last)
        )
        while found := rows.fetchmany(_BLOCK):
            yield [body for (body,) in found]

    def append(self, kinds: Iterable[str], keys: Sequence[str], bodies: Sequence[bytes]) -> list[bytes]:
        """As of ``Writer.append``; leaf hashes are empty."""
        if len(keys) != len(bodies):
            raise ValueError(f"{len(keys)} keys for {len(bodies)} bodies")
        if len(set(keys)) < len(keys) or self.find(keys):
            raise KeyTakenError
        first = self.size() + 1
        rows = [(first + place, key, bytes(body)) for place, (key, body) in enumerate(zip(keys, bodies, strict=True))]
        self._tried.executemany("INSERT INTO tried VALUES (?, ?, ?)", rows)
        self._count += len(rows)
        for kind, (_, _, body) in zip(kinds, rows, strict=False):
            self._watch(kind, body)
        return [b""] * len(rows)

    def keep_texts(self, texts: Iterable[tuple[bytes, bytes]]) -> None:
        """Nothing is kept."""

    def head(self) -> TreeHead:
        """That of the journal itself."""
        return self._journal.head()

    def root_at(self, size: int) -> bytes:
        """That of the journal itself."""
        return self._journal.root_at(size)

    def subtree_root(self, first: int, last: int) -> bytes:
        """That of the journal itself."""
        return self._journal.subtree_root(first, last)

    def text(self, sha256: bytes) -> bytes | None:
        """That of the journal itself."""
        return self._journal.text(sha256)

    def close(self) -> None:
        """Forget what was tried; the journal itself stays open."""
        self._tried.close()


class DryWriter:
    """The ``Writer`` of a ``DryJournal``, whose ``size`` is a property."""

    def __init__(self, journal: DryJournal) -> None:
        self._journal = journal
        self.find, self.append, self.keep_texts = journal.find, journal.append, journal.keep_texts

    @property
    def size(self) -> int:
        """Entries so far."""
        return self._journal.size()

    def last_recorded_at(self) -> str | None:
        """``recorded_at`` of the last entry."""
        body = self._journal.last_body()
        return None if body is None else str(orjson.loads(body)["recorded_at"])


class DryNames(SealedNames):
    """The names of a people file, in which those who are new get the numbers that they would get."""

    def __init__(self, journal: Journal, people: People) -> None:
        super().__init__(journal, people)
        self._dry_journal = journal
        self.new: dict[str, Person] = {}  # by identity as it is compared
        self._free = people.counts()[1] + 1

    def number(self, named: Mapping[str, str], joined_at: str, find: Find) -> Numbered:
        """As of ``SealedNames.number``; nobody is kept."""
        people = self.people()
        persons = people.by_identity(list(named))
        known = {identity: person for identity, person in persons.items() if person.identity is not None}
        for identity, name in named.items():
            if identity not in known:
                key = spelt(identity)
                if key not in self.new:
                    self.new[key] = Person(self._free + len(self.new), identity, name, b"", joined_at)
                persons[identity] = self.new[key]
        sealed = latest_commitments(self._dry_journal, find, (person.player for person in known.values()))
        for identity, person in known.items():
            if person.player in sealed:
                persons[identity] = self._confirmed(person, sealed[person.player])
        renamed = {player for player, entry in sealed.items() if is_renaming(entry)}
        return Numbered(persons, {*sealed, *self._registered(find)}, renamed)

    def _registered(self, find: Find) -> set[int]:
        """The new ones whose registration is tried already, by an earlier file."""
        keys = {registration_key(person.player): person.player for person in self.new.values()}
        return {keys[key] for key in find(list(keys))}
