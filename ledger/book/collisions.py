"""Facts at one place: a correction may move a fact to an instant or an edition that the key of another one names.

The key of a fact names its instant, and stays when the fact is moved. The current views are asked; nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ledger.book.conflicts import HypotheticalFacts
from ledger.book.kinds import KINDS
from ledger.errors import ConflictError, MalformedError, Refusal
from ledger.facts.events import Event
from ledger.journal import Journal

if TYPE_CHECKING:
    import sqlite3

# GLOB and not LIKE, which knows no case: what a pattern begins with is then looked up in the index of subjects.
_CORRECTED = "SELECT DISTINCT subject FROM corrections WHERE subject GLOB ? ORDER BY subject"


def key_collisions(
    connection: sqlite3.Connection, after: HypotheticalFacts, keys: Mapping[str, int]
) -> Iterator[Refusal]:
    """Yield the refusals of facts that would be at the place of another one.

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
                message = f"{key!r} and {other!r} would both stand at {place.rpartition('@')[2]}; move one elsewhere"
                yield Refusal(number, "conflicting", message)
                break


def key_conflict(connection: sqlite3.Connection, journal: Journal, event: Event) -> ConflictError | None:
    """Return the refusal of a new fact at the place of a corrected one, whose key names another place.

    Args:
        connection: the views, level with the journal.
        journal: the facts as they were recorded.
        event: a fact at an instant, with a key that the journal does not hold.
    """
    key = corrected_key_at(connection, journal, event)
    if key is None:
        return None
    stands = f"{key!r} stands there since it was corrected; correct that one, or take it back"
    return ConflictError(event.key, "key", key, event.key, f"{event.key!r}: {stands}")


def corrected_key_at(connection: sqlite3.Connection, journal: Journal, event: Event) -> str | None:
    """Return the key of the corrected fact that is at the place of a fact, though the key names another place."""
    rows = connection.execute(_CORRECTED, (f"{_family(event.key)}*",)).fetchall()
    facts = HypotheticalFacts(connection, journal) if rows else None
    for (subject,) in rows:
        if facts is not None and subject != event.key and _place(facts, subject) == event.key:
            return str(subject)
    return None


def keys_at(journal: Journal, place: str) -> Iterator[str]:
    """Return the keys of a journal that begin with a place, which ends with ``@``; an instant or an edition follows."""
    # the text that follows all of them: a span of keys is looked up in the index
    return journal.keys(place, place[:-1] + chr(ord("@") + 1))


def _family(key: str) -> str:
    """Return how the keys begin of facts that may get to the same place: a tournament may get another name."""
    kind = key.partition(":")[0]
    return f"{kind}:" if kind in {"opening", "tournament", "round"} else f"{key.rpartition('@')[0]}@"


def _place(after: HypotheticalFacts, key: str) -> str | None:
    """Return the key that a fact would have if it were recorded as it would be; None if it has no instant."""
    fact = after.fact(key)
    if fact is None or fact.annulled_by is not None or fact.cls not in KINDS or not KINDS[fact.cls].is_at_instant:
        return None
    try:
        return after.event(fact).key
    except MalformedError:  # another refusal says so
        return None
