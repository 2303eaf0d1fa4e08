"""What facts would say if some changes were approved now: for the gate of proposals and for whoever writes one.

Asked of the views, level with the journal; nothing is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.book import corrections
from ledger.book.corrections import AFTER_ALL, Acting, Undoing
from ledger.book.decided import Decided
from ledger.book.restand import recorded_facts, rows_at
from ledger.facts import codec
from ledger.facts.changes import Change
from ledger.facts.codec import decode
from ledger.facts.events import Event, GameRecorded
from ledger.journal import Journal

if TYPE_CHECKING:
    import sqlite3

NOT_YET = 0  # the number of a proposal that is none yet


class Fact(NamedTuple):
    """A fact as it stands, or would.

    Attributes:
        entry: position of the entry that recorded it.
        cls: its class.
        facts: its fields as plain values; those that say nothing are left out.
        annulled_by: the proposal that annulled it; None while it stands.
        told: its fields before all corrections, with what supplements told.
    """

    entry: int
    cls: type[Event]
    facts: Mapping[str, Any]
    annulled_by: int | None
    told: Mapping[str, Any]


class HypotheticalFacts:
    """The facts of one ledger, with changes that are not approved yet."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        journal: Journal,
        changes: Sequence[Change] = (),
        proposal: int = NOT_YET,
        decided: Decided | None = None,
    ) -> None:
        """Take the views, the journal and what may be approved.

        Args:
            connection: the views, level with the journal.
            journal: where facts stand as they were recorded.
            changes: those that would act after all that were approved.
            proposal: the number of their proposal.
            decided: what was decided, where that was read already.
        """
        self.decided = Decided(connection) if decided is None else decided
        self._connection = connection
        self._journal = journal
        self._names: dict[int, str] = dict(connection.execute("SELECT pool, name FROM pools").fetchall())
        undoes = {change.proposal for change in changes if change.proposal is not None}
        self._undone = self.decided.undone([Undoing(AFTER_ALL, proposal, undoes)] if undoes else [])
        self._further: dict[str, list[Acting]] = {}
        for number, change in enumerate(changes, 1):
            acting = Acting(AFTER_ALL, proposal, number, change, is_undone=False)
            self._further.setdefault(change.subject, []).append(acting)

    def fact(self, key: str) -> Fact | None:
        """The fact of a key; None where the journal holds none."""
        stored = self._journal.find([key]).get(key)
        if stored is None:
            return None
        event = decode(stored.body).event
        acting = self.decided.acting([key], self._undone).get(key, []) + self._further.get(key, [])
        stands = corrections.standing(acting)
        annulled_by = None if stands.annulled is None else stands.annulled[1]
        facts: Mapping[str, Any] = codec.facts_mapping(event)
        if isinstance(event, GameRecorded):
            rows = rows_at(self._connection, [stored.position])
            if not rows:  # recorded in a transaction that the views cannot know yet
                return Fact(stored.position, type(event), {}, None, {})
            facts = recorded_facts(self._connection, rows, self._names)[0]
            if not self._further and stands.annulled is None:
                annulled_by = rows[0]["voided_by"]  # all games of a player or tournament may be annulled
        return Fact(stored.position, type(event), corrections.with_fields(facts, stands.fields), annulled_by, facts)

    def event(self, fact: Fact) -> Event:
        """The event that a fact would be.

        Raises:
            MalformedError: a field may not hold its value.
        """
        return codec.structure_event(fact.cls.KIND, dict(fact.facts))

    def merges(self) -> dict[int, int]:
        """Who would be merged into whom, directly."""
        further = [subject for subject in self._further if subject.startswith("person:")]
        found: dict[int, int] = {}
        wanted = sorted({*self.decided.persons(), *further})
        acting = self.decided.acting(wanted, self._undone)
        for subject in wanted:
            merge = corrections.merged([*acting.get(subject, []), *self._further.get(subject, [])])
            if merge is not None and merge.change.into is not None:
                found[int(subject.partition(":")[2])] = merge.change.into
        return found
