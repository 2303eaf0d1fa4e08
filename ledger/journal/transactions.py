"""A write transaction of a journal, and the entries that it appends.

All entries of a transaction have one recording time, for which the clock is read once, under the lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Self

from ledger.facts import codec
from ledger.facts.events import Event
from ledger.journal import Writer, rules


class Transaction:
    """An open write transaction with the time at which its entries are recorded.

    Attributes:
        writer: the journal's side of it.
        now_ms: the recording time, milliseconds since 1970.
        recorded_at: the same as the entries have it.
        actor: the recorder of entries for which no other is named.
        last_leaf: the leaf hash of the last entry that was appended; empty before the first one.
    """

    def __init__(self, writer: Writer, now_ms: int, actor: str) -> None:
        """Take a time that the journal's clock rules allow."""
        self.writer, self.now_ms, self.actor = writer, now_ms, actor
        self.recorded_at = rules.recorded_text(now_ms)
        self.last_leaf = b""

    @classmethod
    def begin(cls, writer: Writer, clock_ms: Callable[[], int], actor: str) -> Self:
        """Return the transaction at the clock's present time.

        Raises:
            RejectedError: this machine's clock is behind the journal.
        """
        return cls(writer, rules.check_clock(clock_ms(), writer.last_recorded_at()), actor)

    def append(self, events: Iterable[Event]) -> int:
        """Append events; return their number."""
        entries = Entries(self)
        for event in events:
            entries.add(event)
        return len(entries.append())


class Entries:
    """Entries that one transaction appends together, or none of them: kinds, keys and bodies.

    Attributes:
        first: position of the first one.
    """

    def __init__(self, transaction: Transaction) -> None:
        """Start without entries, behind the last one of the journal."""
        self._transaction = transaction
        self.first = transaction.writer.size + 1
        self._kinds: list[str] = []
        self.keys: list[str] = []
        self._bodies: list[bytes] = []

    @property
    def next(self) -> int:
        """The position of the next entry."""
        return self.first + len(self._bodies)

    def add(self, event: Event, actor: str | None = None) -> bytes:
        """Add an event, of another actor if one is named; return its body."""
        transaction = self._transaction
        body = codec.body_of(self.next, transaction.recorded_at, transaction.actor if actor is None else actor, event)
        self._kinds.append(event.KIND)
        self.keys.append(event.key)
        self._bodies.append(body)
        return body

    def extend(self, kind: str, keys: Sequence[str], bodies: Sequence[bytes]) -> None:
        """Add events of one kind that are encoded for the positions from ``next`` on."""
        self._kinds += [kind] * len(bodies)
        self.keys += keys
        self._bodies += bodies

    def append(self) -> list[bytes]:
        """Append the entries; return their leaf hashes.

        Raises:
            KeyTakenError: one of the keys is taken; none was appended, the transaction goes on.
        """
        leaves = self._transaction.writer.append(self._kinds, self.keys, self._bodies)
        if leaves:
            self._transaction.last_leaf = leaves[-1]
        return leaves
