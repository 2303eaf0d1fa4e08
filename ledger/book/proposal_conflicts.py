"""Facts that could not stand together if a proposal were approved: two of one kind at one instant.

A fact's key names its instant, and a correction may move it: its key stays, and the instant is another one. Asked of
the views, level with the journal; nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ledger.book.hypothetical_facts import HypotheticalFacts
from ledger.book.kinds import KINDS
from ledger.errors import ConflictError, MalformedError, Refusal
from ledger.facts.events import Event
from ledger.journal import Journal

if TYPE_CHECKING:
    import sqlite3

_CORRECTED = "SELECT DISTINCT subject FROM corrections WHERE subject GLOB ? ORDER BY subject"


def meetings(connection: sqlite3.Connection, after: HypotheticalFacts, keys: Mapping[str, int]) -> Iterator[Refusal]:
    """Facts that would say of one instant what another one says of it already.

    Args:
        connection: the views.
        after: the facts as they would be.
        keys: those that the proposal moves or restores, each with the number of its change.
    """
    for key, number in keys.items():
        place = _place(after, key) if "@" in key else None
        if place is None:
            continue
        corrected = (subject for (subject,) in connection.execute(_CORRECTED, (f"{_family(place)}*",)).fetchall())
        for other in dict.fromkeys((place, *corrected, *keys)):
            if other != key and other.startswith(_family(place)) and _place(after, other) == place:
                message = f"{key!r} and {other!r} would both stand at {place.rpartition('@')[2]}; move one elsewhere"
                yield Refusal(number, "conflicting", message)
                break


def may_meet(event: Event) -> bool:
    """Whether facts of its kind stand at instants, so that a corrected one may stand where it would."""
    kind = KINDS.get(type(event))
    return kind is not None and kind.is_at_instant


def refuse_meeting(connection: sqlite3.Connection, journal: Journal, event: Event) -> None:
    """Refuse a new fact where a corrected one, whose key names another place, stands by now.

    Args:
        connection: the views, level with the journal.
        journal: where facts stand as they were recorded.
        event: a fact of which ``may_meet`` is true, with a key that the journal does not hold.

    Raises:
        ConflictError: ``exists-with-different-key``.
    """
    rows = connection.execute(_CORRECTED, (f"{_family(event.key)}*",)).fetchall()
    facts = HypotheticalFacts(connection, journal) if rows else None
    for (subject,) in rows:
        if facts is not None and subject != event.key and _place(facts, subject) == event.key:
            stands = f"{subject!r} stands there since it was corrected; correct that one, or take it back"
            raise ConflictError(event.key, "key", subject, event.key, f"{event.key!r}: {stands}")


def _family(key: str) -> str:
    """How the keys begin of facts that may come to stand at the same place: a tournament may get another name."""
    kind = key.partition(":")[0]
    return f"{kind}:" if kind in {"opening", "tournament", "round"} else f"{key.rpartition('@')[0]}@"


def _place(after: HypotheticalFacts, key: str) -> str | None:
    """The key that a fact would bear if it were recorded as it would stand; None of one that has no instant."""
    fact = after.fact(key)
    if fact is None or fact.annulled_by is not None or fact.cls not in KINDS or not KINDS[fact.cls].is_at_instant:
        return None
    try:
        return after.event(fact).key
    except MalformedError:  # which is said of it already
        return None
