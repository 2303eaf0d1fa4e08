"""Games that a proposal would make contradict themselves: a result, an ending, a number of half-moves that none has.

What a source told stays as it told it, and a correction of something else, or an undo, may leave it so. Asked of the
views, level with the journal; nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ledger.book.hypothetical_facts import Fact, HypotheticalFacts
from ledger.errors import MalformedError, Refusal
from ledger.facts.changes import Change, Verb
from ledger.facts.words import becomes_drawn_by_time, length_fault, result_fault

RULE = "impossible-ending"
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
    """What the facts of a game say against each other: the fields, and the words."""
    fault = result_fault(facts["outcome"], facts["termination"])
    if fault is not None:
        yield _RESULT, fault
    fault = length_fault(facts["termination"], facts.get("half_moves"))
    if fault is not None:
        yield _LENGTH, fault


def contradictory(
    before: HypotheticalFacts, after: HypotheticalFacts, keys: Mapping[str, int], changes: Sequence[Change]
) -> Iterator[Refusal]:
    """What a proposal would make of games that contradict themselves then, and do not now.

    Args:
        before: the facts as they stand.
        after: the facts as they would be.
        keys: those that the proposal changes, each with the number of its change.
        changes: of the proposal.
    """
    ends = {change.fact for change in changes if change.do is Verb.REPLACE and "termination" in (change.facts or {})}
    results = {change.fact for change in changes if change.do is Verb.REPLACE and "outcome" in (change.facts or {})}
    for key, number in keys.items():
        fact = after.fact(key) if key.startswith("game:") else None
        if fact is None or not _may_be(after, fact):
            continue
        for fields, message in ending_faults(fact.facts):
            stood = before.fact(key)
            if _same(fields, fact.facts, fact.told) or (stood and _same(fields, fact.facts, stood.facts)):
                continue
            yield Refusal(number, RULE, f"{key!r}: {message}; {_HOW}")
        if key in results - ends:
            stood = before.fact(key)
            if stood and becomes_drawn_by_time(stood.facts.get("outcome"), *(fact.facts[name] for name in _RESULT)):
                yield Refusal(number, RULE, f"{key!r} {_BY_TIME}")


def _may_be(after: HypotheticalFacts, fact: Fact) -> bool:
    """Whether each field holds a value that it may hold; of the others something else is said."""
    try:
        after.event(fact)
    except MalformedError:
        return False
    return True


def _same(fields: Sequence[str], first: Facts, second: Facts) -> bool:
    return all(first.get(name) == second.get(name) for name in fields)
