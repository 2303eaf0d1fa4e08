"""Corrections: what was proposed and decided, which approved ones are in force, and what a fact is after them.

Changes act in the order of their decisions, the last one on a field holds. A decision that was undone acts no longer;
the others are folded again in their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ledger.facts import codec
from ledger.facts.changes import BLANK, Change, Verb, Which
from ledger.facts.events import Event
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.words import Outcome

# Milliseconds. Half of what 64 bits hold: days may be added or taken away, and SQLite and NumPy still take the sum.
BEFORE_ALL, AFTER_ALL = -(2**62), 2**62

# Of a change in the order in which all act: the position of the decision, and its number in the proposal.
DecisionPlace = tuple[int, int]


class UndoingProposal(NamedTuple):
    """An approved proposal: where it was decided, its number, and by each proposal that it undoes which change does."""

    position: int
    proposal: int
    undoes: Mapping[int, int]


class ApprovedChange(NamedTuple):
    """A change of an approved proposal.

    Attributes:
        position: of the decision or, where that was undone, of the decision that undid it.
        proposal: number of the proposal.
        number: of the change in it or, where that was undone, of the change that undoes it in the other one.
        change: the change.
        is_undone: True where the decision acts no longer: a fact that it added is annulled then.
    """

    position: int
    proposal: int
    number: int
    change: Change
    is_undone: bool


class CombinedChange(NamedTuple):
    """A fact after its corrections.

    Attributes:
        fields: the fields that are others than recorded, with their values; the empty text is a blank.
        annulled: where it is annulled, the place of the change that did it in their order, and its proposal.
    """

    fields: Mapping[str, Any]
    annulled: tuple[DecisionPlace, int] | None
    restored: DecisionPlace | None


def find_undone(approved: Sequence[UndoingProposal]) -> dict[int, DecisionPlace]:
    """By proposal that acts no longer, the place of the change that undid it.

    Args:
        approved: those that undo, and those that they undo, in any order.
    """
    places: dict[int, DecisionPlace] = {}
    for undoing in sorted(approved, key=lambda undoing: undoing.position, reverse=True):
        # the last undo is not undone
        if undoing.proposal not in places:
            for proposal, number in undoing.undoes.items():
                places.setdefault(proposal, (undoing.position, number))
    return places


def combined_change(acting: Iterable[ApprovedChange]) -> CombinedChange:
    """Return the fact after its changes."""
    fields: dict[str, Any] = {}
    annulled: tuple[DecisionPlace, int] | None = None
    restored: DecisionPlace | None = None
    for position, proposal, number, change, is_undone in sorted(acting, key=lambda act: (act.position, act.number)):
        # No other change has it: by it verdicts of several are compared, too.
        place = (position, number)
        if is_undone:
            if change.do is Verb.ADD:
                annulled, restored = (place, proposal), None
        elif change.do is Verb.REPLACE:
            # Of an annulled fact, too: when it is restored, it is as corrected.
            fields.update(change.facts or {})
        elif change.do is Verb.ANNUL:
            annulled, restored = (place, proposal), None
        elif change.do is Verb.RESTORE:
            annulled, restored = None, place
    return CombinedChange(fields, annulled, restored)


def with_corrections(event: Event, fields: Mapping[str, Any]) -> Event:
    """The fact with these fields instead of its own.

    Raises:
        MalformedError: no such field, or it may not hold that value.
    """
    if not fields:
        return event
    return codec.structure_event(event.KIND, with_fields(codec.facts_mapping(event), fields))


def with_fields(facts: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Plain facts with these fields instead of their own; blanks are left out."""
    return {name: value for name, value in {**facts, **fields}.items() if value != BLANK}


def span_ms(change: Change) -> tuple[int, int]:
    """The first and the last millisecond of the games that a change means."""
    first = BEFORE_ALL if change.since is None else instant_ms(change.since)
    return first, AFTER_ALL if change.until is None else instant_end_ms(change.until)


def annuls_game(change: Change, player: int, white: int, outcome: str) -> bool:
    """Return whether an ``annul-games`` means a rated game of *player* in its span.

    Args:
        change: the change.
        player: the person of whom it speaks.
        white: who was White, as a person.
        outcome: of the game.
    """
    return change.which is Which.ALL or outcome == (Outcome.WHITE if player == white else Outcome.BLACK)


def merge_in_force(acting: Iterable[ApprovedChange]) -> ApprovedChange | None:
    """Return the merge of a player in force; None if the last change parts the two, or none acts."""
    last = max((act for act in acting if not act.is_undone), key=lambda act: act[:3], default=None)
    return last if last is not None and last.change.do is Verb.MERGE else None


def person_of(merges: Mapping[int, int], player: int) -> int:
    """The number by which a person is known: that of the person who stays after all merges."""
    # The gate lets no ring come about; in a journal that was written past it, this must end all the same.
    met = {player}
    while player in merges and merges[player] not in met:
        player = merges[player]
        met.add(player)
    return player


def numbers_of_person(merges: Mapping[int, int], player: int) -> set[int]:
    """The numbers that were merged into a player, directly or by others, and that of the player."""
    numbers = {player}
    waiting = [player]
    while waiting:
        into = waiting.pop()
        fresh = {other for other, target in merges.items() if target == into} - numbers
        numbers |= fresh
        waiting += fresh
    return numbers
