"""Corrections: which approved changes are in force, and what a fact is after them.

Changes act in the order of their decisions, the last one on a field holds. A decision that was undone acts no longer;
the others are applied again in their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ledger.facts import codec
from ledger.facts.changes import BLANK, AnnulmentScope, Change, Verb
from ledger.facts.events import Event
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.words import Outcome

# Milliseconds. Half of what 64 bits hold: days may be added or taken away, and SQLite and NumPy still take the sum.
BEFORE_ALL, AFTER_ALL = -(2**62), 2**62

# Of a change in the order in which all act: the position of the decision, and its number in the proposal.
DecisionPlace = tuple[int, int]


class UndoingProposal(NamedTuple):
    """An approved proposal that undoes others.

    Attributes:
        position: of its decision.
        proposal: its number.
        undoes: by number of an undone proposal, the number of the change that undoes it.
    """

    position: int
    proposal: int
    undoes: Mapping[int, int]


class ApprovedChange(NamedTuple):
    """A change of an approved proposal, in force or undone.

    Attributes:
        position: of the decision or, where that was undone, of the decision that undid it.
        proposal: number of the proposal.
        number: of the change in it or, where that was undone, of the change that undoes it in the other one.
        change: the change.
        is_undone: True if the decision acts no longer: a fact that it added is annulled then.
    """

    position: int
    proposal: int
    number: int
    change: Change
    is_undone: bool


class CombinedChange(NamedTuple):
    """The combined effect of the approved changes of one fact.

    Attributes:
        fields: the fields that differ from the recorded ones, with their values; the empty text is a blank.
        last: the last change that annulled or restored the fact: its place, and its proposal if it annulled.
    """

    fields: Mapping[str, Any]
    last: tuple[DecisionPlace, int | None] | None = None

    def annulled_by(self, spans: Iterable[ApprovedChange] = ()) -> int | None:
        """Return the proposal that annulled the fact, by itself or with others; None if it is in force.

        Args:
            spans: changes in force of all games of a player or tournament, this one among them.
        """
        # no two changes have one place, so that proposals are never compared
        changes = [] if self.last is None else [self.last]
        for span in spans:
            restores = span.change.do is Verb.RESTORE_TOURNAMENT
            changes.append(((span.position, span.number), None if restores else span.proposal))
        return max(changes)[1] if changes else None


def find_undone(approved: Sequence[UndoingProposal]) -> dict[int, DecisionPlace]:
    """Return, by number of an undone proposal, the change that undid it: its entry's position and its number.

    Args:
        approved: the proposals that undo others, in any order.
    """
    places: dict[int, DecisionPlace] = {}
    for undoing in sorted(approved, key=lambda undoing: undoing.position, reverse=True):
        # the last undo is not undone
        if undoing.proposal not in places:
            for proposal, number in undoing.undoes.items():
                places.setdefault(proposal, (undoing.position, number))
    return places


def combined_change(acting: Iterable[ApprovedChange]) -> CombinedChange:
    """Return the combined effect of the changes of one fact, in the order of their decisions."""
    fields: dict[str, Any] = {}
    last: tuple[DecisionPlace, int | None] | None = None
    for position, proposal, number, change, is_undone in sorted(acting, key=lambda act: (act.position, act.number)):
        if change.do is (Verb.ADD if is_undone else Verb.ANNUL):
            last = (position, number), proposal
        elif is_undone:
            continue
        elif change.do is Verb.RESTORE:
            last = (position, number), None
        elif change.do is Verb.REPLACE:
            # Of an annulled fact, too: when it is restored, it is as corrected.
            fields.update(change.facts or {})
    return CombinedChange(fields, last)


def with_corrections(event: Event, fields: Mapping[str, Any]) -> Event:
    """Return a fact with corrected fields.

    Raises:
        MalformedError: no such field, or it may not hold that value.
    """
    if not fields:
        return event
    return codec.structure_event(event.KIND, with_fields(codec.facts_mapping(event), fields))


def with_fields(facts: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return plain facts with corrected fields, without blank ones."""
    return {name: value for name, value in {**facts, **fields}.items() if value != BLANK}


def span_ms(change: Change) -> tuple[int, int]:
    """Return the first and the last millisecond of the time that a change is about."""
    first = BEFORE_ALL if change.since is None else instant_ms(change.since)
    return first, AFTER_ALL if change.until is None else instant_end_ms(change.until)


def annuls_game(change: Change, player: int, white: int, outcome: str) -> bool:
    """Return whether an ``annul-games`` of *player* annuls a rated game in its time; players are persons."""
    return change.which is AnnulmentScope.ALL or outcome == (Outcome.WHITE if player == white else Outcome.BLACK)


def merge_in_force(acting: Iterable[ApprovedChange]) -> ApprovedChange | None:
    """Return the merge in force of a player; None if there is none, or a later change parts the two."""
    last = max((act for act in acting if not act.is_undone), key=lambda act: act[:3], default=None)
    return last if last is not None and last.change.do is Verb.MERGE else None


def person_of(merges: Mapping[int, int], player: int) -> int:
    """Return the number that a player has after all merges."""
    # The judge refuses rings; in a journal that was written past it, this must end all the same.
    met = {player}
    while player in merges and merges[player] not in met:
        player = merges[player]
        met.add(player)
    return player


def numbers_of_person(merges: Mapping[int, int], player: int) -> set[int]:
    """Return all numbers of the person who has a number."""
    person = person_of(merges, player)
    return {person, *(number for number in merges if person_of(merges, number) == person)}
