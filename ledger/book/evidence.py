"""The evidence of the judge: in which context a fact is judged, and what its rules may ask.

A rule is a function of an event and its evidence. It returns the refusal, or None; a few raise it. Its name is that of
the refusal, and the first line of its docstring says what is refused and what to do.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Mapping, Sequence
from enum import Enum
from typing import Any

import attrs

from ledger.book.current_facts import CurrentFacts
from ledger.errors import RejectedError
from ledger.facts.events import Event, GameRecorded
from ledger.journal import Find

Rule = Callable[[Any, "Evidence"], RejectedError | None]  # the event is of one of the kinds that the rule is listed for


class Context(Enum):
    """The contexts in which a fact is judged."""

    APPEND = "a new fact, recorded by itself"
    JOURNAL = "a new fact where nothing was derived yet: in a ledger that is being created, in a scratch journal"
    COMMAND = "a new fact that somebody types, before it is recorded"
    IMPORT = "a row of a file; its pool and its players are recorded with it"
    PROPOSAL = "a new fact that a proposal adds: when it is proposed, and again when it is decided"
    CHANGE = "a fact that a proposal changes, likewise"
    RETURN = "a fact that a proposal puts back, likewise"
    APPROVAL = "a fact as it would be after all changes of a proposal, and the entry that the approval records"


@attrs.frozen
class Evidence:
    """What the rules may ask about a fact.

    Attributes:
        context: the context in which it is judged.
        now_ms: the time to record under, milliseconds since 1970.
        keys: the keys that the journal holds, at least those of ``needed_keys`` and ``erasures``.
        others: by subject, other facts of the same transaction or proposal: those before it, or all.
        moved_entries: entries of facts that the proposal changes or takes back.
        before: the fact as it is now, if the proposal changes it.
        find: looks up keys in the journal as it was before the transaction.
        latest_ms: returns ``late_facts.latest_ms`` of the transaction.
    """

    context: Context
    now_ms: int
    keys: Container[str] = frozenset()
    _facts: CurrentFacts | None = None
    others: Mapping[str, Sequence[Event]] = attrs.Factory(dict)
    moved_entries: Collection[int] = ()
    before: Event | None = None
    find: Find = lambda _: {}
    latest_ms: Callable[[], int] = lambda: 0

    @property
    def facts(self) -> CurrentFacts:
        """The current facts of the ledger; no rule of the context ``JOURNAL`` asks for them."""
        assert self._facts is not None
        return self._facts


def subject_of(event: Event) -> str:
    """Return what a fact is about: its key without the instant; of all games one word, for a closing asks for all."""
    return "game" if isinstance(event, GameRecorded) else event.key.partition("@")[0]
