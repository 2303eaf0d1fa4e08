"""Facts as they would be if some changes were approved now, and the search for their contradictions.

A correction may move a fact to an instant or an edition that the key of another one names; the key of the moved fact
stays. A game may get an ending that no game has. The views must be up to date; nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.book import decisions, tournament_editions
from ledger.book.decisions import AFTER_ALL, ApprovedChange, UndoingProposal
from ledger.book.kinds import KINDS
from ledger.book.reapplied_games import game_rows, recorded_facts
from ledger.book.stored_proposals import StoredProposals
from ledger.errors import ConflictError, MalformedError, Refusal
from ledger.facts import codec
from ledger.facts.changes import Change, Verb
from ledger.facts.codec import decode
from ledger.facts.events import Event, GameRecorded, RoundWithoutGame
from ledger.facts.words import becomes_drawn_by_time, length_fault, result_fault
from ledger.journal import Journal

if TYPE_CHECKING:
    import sqlite3


# GLOB and not LIKE, which ignores case: the beginning of the pattern is then looked up in the index of subjects.
_CORRECTED = "SELECT DISTINCT subject FROM corrections WHERE subject GLOB ? ORDER BY subject"
NO_PROPOSAL = 0  # the number of a proposal that was not made yet


class Fact(NamedTuple):
    """A recorded fact after its corrections, those of a what-if among them.

    Attributes:
        entry: position of the entry that recorded it.
        cls: its class.
        facts: its fields as plain values, without blank ones.
        annulled_by: the proposal that annulled it; None if it holds.
        reported: its fields before all corrections, with those of its supplements.
    """

    entry: int
    cls: type[Event]
    facts: Mapping[str, Any]
    annulled_by: int | None
    reported: Mapping[str, Any]


class WhatIfFacts:
    """The facts of one ledger as if changes were approved that are not."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        journal: Journal,
        changes: Sequence[Change] = (),
        proposal: int = NO_PROPOSAL,
        proposals: StoredProposals | None = None,
    ) -> None:
        """Take the views, the journal and the changes that may be approved.

        Args:
            connection: the views, up to date with the journal.
            journal: the facts as they were recorded.
            changes: changes that would act after all approved ones.
            proposal: the number of their proposal.
            proposals: the stored proposals, if they were read already.
        """
        self.proposals = StoredProposals(connection) if proposals is None else proposals
        self._connection = connection
        self._journal = journal
        self._names: dict[int, str] = dict(connection.execute("SELECT pool, name FROM pools").fetchall())
        undoes = {change.proposal: number for number, change in enumerate(changes, 1) if change.proposal is not None}
        self._undone = self.proposals.undone_proposals([UndoingProposal(AFTER_ALL, proposal, undoes)] if undoes else [])
        self._further: dict[str, list[ApprovedChange]] = {}
        for number, change in enumerate(changes, 1):
            acting = ApprovedChange(AFTER_ALL, proposal, number, change, is_undone=False)
            self._further.setdefault(change.subject, []).append(acting)

    def fact(self, key: str) -> Fact | None:
        """Return the fact of a key; None if the journal holds none."""
        stored = self._journal.find([key]).get(key)
        if stored is None:
            return None
        event = decode(stored.body).event
        acting = self.proposals.approved_changes([key], self._undone)[key] + self._further.get(key, [])
        combined = decisions.combined_change(acting)
        spans = self.proposals.spans_of_fact(event, stored.position)
        annulled_by = combined.annulled_by(span for span in spans if span.proposal not in self._undone)
        facts: Mapping[str, Any] = codec.facts_mapping(event)
        if isinstance(event, GameRecorded):
            rows = game_rows(self._connection, [stored.position])
            # recorded in a transaction that the views cannot know yet
            if not rows:
                return Fact(stored.position, type(event), {}, None, {})
            facts = recorded_facts(self._connection, rows, self._names)[0]
            if not self._further:
                # With all games of a player or tournament it may be annulled, and with all of a tournament reinstated,
                # though the last change that names it alone said otherwise.
                annulled_by = rows[0]["voided_by"]
        elif isinstance(event, RoundWithoutGame) and not self._further:
            now = decisions.with_corrections(event, combined.fields)
            assert isinstance(now, RoundWithoutGame)
            round_now = tournament_editions.stored_round(now, stored.position)
            annulled_by = tournament_editions.annulled_by(self.proposals, now.pool, round_now, combined)
        return Fact(stored.position, type(event), decisions.with_fields(facts, combined.fields), annulled_by, facts)

    def event(self, fact: Fact) -> Event:
        """Return a fact as an event.

        Raises:
            MalformedError: a field may not hold its value.
        """
        return codec.structure_event(fact.cls.KIND, dict(fact.facts))

    def merges(self) -> dict[int, int]:
        """Return by number of a merged player the number that it would be merged into directly."""
        further = [subject for subject in self._further if subject.startswith("person:")]
        targets: dict[int, int] = {}
        subjects = sorted({*self.proposals.merge_subjects(), *further})
        acting = self.proposals.approved_changes(subjects, self._undone)
        for subject in subjects:
            merge = decisions.merge_in_force(acting[subject] + self._further.get(subject, []))
            if merge is not None and merge.change.into is not None:
                targets[int(subject.partition(":")[2])] = merge.change.into
        return targets


_RULE = "impossible-ending"
_RESULT, _LENGTH = ("outcome", "termination"), ("termination", "half_moves")
_HOW = (
    "correct both in one proposal: 'result GAME --to RESULT --termination WORD --half-moves NUMBER'; the word is "
    "'unknown' where nobody knows"
)
_BY_TIME = (
    "was not drawn, and would be a draw by time; say in the same proposal how it ended: --termination time where the "
    "flag fell and the other side could not mate, else another word, or 'unknown'"
)

Facts = Mapping[str, Any]


def ending_faults(facts: Facts) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the contradictions between result, termination and length of a game: the fields and a message."""
    if (fault := result_fault(facts["outcome"], facts["termination"])) is not None:
        yield _RESULT, fault
    if (fault := length_fault(facts["termination"], facts.get("half_moves"))) is not None:
        yield _LENGTH, fault


def impossible_endings(
    before: WhatIfFacts, after: WhatIfFacts, keys: Mapping[str, int], changes: Sequence[Change]
) -> Iterator[Refusal]:
    """Yield refusals of games whose ending would be impossible after a proposal, and is not now.

    Args:
        before: the facts as they are.
        after: the facts as they would be.
        keys: the keys that the proposal changes, each with the number of its change.
        changes: those of the proposal.
    """
    ends = {change.fact for change in changes if change.do is Verb.REPLACE and "termination" in (change.facts or {})}
    results = {change.fact for change in changes if change.do is Verb.REPLACE and "outcome" in (change.facts or {})}
    for key, number in keys.items():
        fact = after.fact(key) if key.startswith("game:") else None
        if fact is None:
            continue
        try:
            after.event(fact)
        except MalformedError:  # a field has an invalid value: ``proposal_judge`` reports that
            continue
        for fields, message in ending_faults(fact.facts):
            former = before.fact(key)
            # As a source reported it, or as it is already: journals of earlier releases hold such games, whose other
            # fields may still be corrected.
            if _same(fields, fact.facts, fact.reported) or (former and _same(fields, fact.facts, former.facts)):
                continue
            yield Refusal(number, _RULE, f"{key!r}: {message}; {_HOW}")
        # A loss on time that is called a draw fits every rule, for a flag may fall against a side that cannot mate: so
        # the caller must confirm the ending.
        if key in results - ends:
            former = before.fact(key)
            if former and becomes_drawn_by_time(former.facts.get("outcome"), *(fact.facts[name] for name in _RESULT)):
                yield Refusal(number, _RULE, f"{key!r} {_BY_TIME}")


def _same(fields: Sequence[str], first: Facts, second: Facts) -> bool:
    return all(first.get(name) == second.get(name) for name in fields)


def key_collisions(connection: sqlite3.Connection, after: WhatIfFacts, keys: Mapping[str, int]) -> Iterator[Refusal]:
    """Yield refusals of facts whose corrected key would be that of another fact.

    Args:
        connection: the views.
        after: the facts as they would be.
        keys: those that the proposal moves or restores, each with the number of its change.
    """
    for key, number in keys.items():
        place = _place(after, key) if "@" in key else None
        if place is None:
            continue
        # Corrected facts and those of this proposal: any other fact is where its key says, and keys are unique.
        corrected = (subject for (subject,) in connection.execute(_CORRECTED, (f"{_family(place)}*",)).fetchall())
        for other in dict.fromkeys((place, *corrected, *keys)):
            if other != key and other.startswith(_family(place)) and _place(after, other) == place:
                message = f"{key!r} and {other!r} would both be at {place.rpartition('@')[2]}; move one elsewhere"
                yield Refusal(number, "conflicting", message)
                break


def key_conflict(connection: sqlite3.Connection, journal: Journal, event: Event) -> ConflictError | None:
    """Return the refusal of a new fact whose key a correction gave to another fact; None if there is none."""
    key = key_moved_to(connection, journal, event)
    if key is None:
        return None
    advice = f"{key!r} was moved there by a correction; correct that one, or take it back"
    return ConflictError(event.key, "key", key, event.key, f"{event.key!r}: {advice}")


def key_moved_to(connection: sqlite3.Connection, journal: Journal, event: Event) -> str | None:
    """Return the recorded key of the fact that a correction moved to the key of a new one; None if there is none."""
    rows = connection.execute(_CORRECTED, (f"{_family(event.key)}*",)).fetchall()
    facts = WhatIfFacts(connection, journal) if rows else None
    for (subject,) in rows:
        if facts is not None and subject != event.key and _place(facts, subject) == event.key:
            return str(subject)
    return None


def keys_beginning(journal: Journal, place: str) -> Iterator[str]:
    """Yield the journal's keys that begin with *place*, which ends with ``@``.

    An instant or an edition follows in the key.
    """
    # the text that follows all of them: a span of keys is looked up in the index
    return journal.keys(place, place[:-1] + chr(ord("@") + 1))


def _family(key: str) -> str:
    """Return how the keys begin of facts that may get to the same place: a tournament may get another name."""
    kind = key.partition(":")[0]
    return f"{kind}:" if kind in {"opening", "tournament", "round"} else f"{key.rpartition('@')[0]}@"


def _place(after: WhatIfFacts, key: str) -> str | None:
    """Return the key that a fact would have if it were recorded as it would be; None if it has no instant."""
    fact = after.fact(key)
    if fact is None or fact.annulled_by is not None or fact.cls not in KINDS or not KINDS[fact.cls].is_at_instant:
        return None
    try:
        return after.event(fact).key
    except MalformedError:  # another refusal says so
        return None
