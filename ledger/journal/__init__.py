"""The append-only journal: the interface and the contract of its stores, such as ``sqlite_store``.

The contract (``ledger.testing.JournalContract`` runs it over any store):

* positions count from 1 without gaps; an entry once committed MUST never change, move or vanish;
* ``writing`` is one transaction: everything in it is committed durably together, or nothing is;
* every acknowledged ``append`` MUST be in the store when the transaction is over; otherwise it MUST raise an error;
* one writer at a time; a second one MUST wait, never fail because another was faster;
* readers MUST see only committed entries and MUST NOT wait for writers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from ledger.facts.words import TreeHead


class StoredEntry(NamedTuple):
    """A committed entry: its position, its raw body, its leaf hash."""

    position: int
    body: bytes
    leaf: bytes


FindEntries = Callable[
    [Sequence[str]], Mapping[str, StoredEntry]
]  # ``find`` of a journal, or of a writer in its transaction


class KeyTakenError(Exception):
    """An error about entries one of whose keys is taken already; the caller asks ``find`` which one."""


class Writer(Protocol):
    """An open write transaction on the journal."""

    @property
    def size(self) -> int:
        """The number of entries so far, those of this transaction included."""

    def last_recorded_at(self) -> str | None:
        """Return when the last entry was recorded; None in an empty journal."""

    def find(self, keys: Sequence[str]) -> Mapping[str, StoredEntry]:
        """Return the entries with these unique keys of facts, by key; entries of this transaction included."""

    def append(self, kinds: Iterable[str], keys: Sequence[str], bodies: Sequence[bytes]) -> list[bytes]:
        """Add entries at the next positions; return their leaf hashes.

        Args:
            kinds: kind of each entry; as many as bodies or more, such as ``repeat(kind)``.
            keys: key of each entry.
            bodies: raw body of each, made for its position.

        Raises:
            KeyTakenError: one of the keys is taken; none of the entries was added, the transaction goes on.
            ValueError: not as many keys as bodies; none was added.
        """

    def store_texts(self, texts: Iterable[tuple[bytes, bytes]]) -> None:
        """Store (SHA-256, zstd frame) pairs of movetext; an existing one stays."""


class Journal(Protocol):
    """An append-only store of entries, with a Merkle tree over them."""

    def writing(self, *, keys: Sequence[str] = ()) -> AbstractContextManager[Writer]:
        """Begin a write transaction, committed when the block ends without an error.

        A store on another machine looks up *keys*, the first ones that are needed, together with the lock.
        """

    def ensure_durable(self) -> None:
        """Wait until every entry that could be read before the call is durable on all required machines.

        If other machines must have each entry, a reader may see one that is lost with the machine at that moment: call
        this before a head is signed or given away.

        Raises:
            StorageError: it is not known whether they are.
        """

    def size(self) -> int:
        """Return the number of committed entries."""

    def head(self) -> TreeHead:
        """Return size and Merkle root of the committed entries."""

    def root_at(self, size: int) -> bytes:
        """Return the Merkle root of the first *size* committed entries, in 32 bytes.

        Raises:
            ValueError: the journal holds fewer.
        """

    def subtree_root(self, first: int, last: int) -> bytes:
        """Return the 32-byte root over the entries with first < position <= last, a subtree of the Merkle tree.

        Its number of entries is a power of two, or less at the right edge of some size of the tree; it begins at a
        multiple of the power of two that is not below it.

        Raises:
            ValueError: the tree has no such subtree.
        """

    def hashes(self, level: int, first: int, last: int) -> list[bytes]:
        """Return hashes of a level of tiles (C2SP tlog-tiles, "Merkle Tree"), from *first* on and before *last*.

        Level 0 has the leaves; each hash of a level above is the root over 256 of those below it, which are all there.

        Raises:
            ValueError: the level has not so many hashes.
        """

    def read(self, after: int = 0, until: int | None = None) -> Iterator[list[bytes]]:
        """Yield the bodies of the entries with position > *after* (and <= *until*), in order, in blocks."""

    def find(self, keys: Sequence[str]) -> Mapping[str, StoredEntry]:
        """Return the committed entries with these unique keys of facts (such as ``game:...``), by key."""

    def keys(self, first: str, last: str) -> Iterator[str]:
        """Yield the committed keys of facts from *first* on and before *last*, in order of their UTF-8 bytes."""

    def text(self, sha256: bytes) -> bytes | None:
        """Return the zstd frame of a movetext, or None."""

    def close(self) -> None:
        """Close the store."""


class StoredJournal(Journal, Protocol):
    """A journal in a file or on a server, as opposed to one of a dry run.

    Attributes:
        refusal: why nothing may be written, if the process that opened it found a reason.
    """

    refusal: str | None

    def writing(self, patience: float | None = None, *, keys: Sequence[str] = ()) -> AbstractContextManager[Writer]:
        """Begin a write transaction; *patience*: seconds to wait for another writer, by default the usual."""
