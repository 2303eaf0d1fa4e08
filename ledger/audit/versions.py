"""What an audit says of numbers that were first derived by another version of the program.

Adoptions name the versions of scheme and arithmetic. The rows that stand are compared with what this version derives;
of numbers that another version once gave, which may stand on paper, this version can say nothing. No comparing here.
"""

from __future__ import annotations

from collections.abc import Iterator

from ledger.book.hypothetical_facts import HypotheticalFacts
from ledger.facts.codec import decode
from ledger.facts.events import Event, SchemeAdopted
from ledger.journal import Journal
from ledger.ratings.views import Views
from ledger.runtime import arith
from ledger.schemes import named

_ADOPTIONS = "SELECT position FROM eras ORDER BY position"


def not_reproducible(made: Views) -> Iterator[tuple[str, str]]:
    """What was not compared because of another version, and why, for each such adoption of built views, in order."""
    facts = HypotheticalFacts(made.connection, made.journal)
    for (position,) in made.connection.execute(_ADOPTIONS).fetchall():
        event = _standing(facts, _entry(made.journal, position))
        if not isinstance(event, SchemeAdopted) or event.scheme_version is None or event.arithmetic is None:
            continue  # recorded before versions were
        here = named(event.scheme).version, arith.VERSION
        if (event.scheme_version, event.arithmetic) != here:
            yield (
                f"numbers first published in pool {event.pool}",
                f"not reproducible by this version: entry {position} adopted version {event.scheme_version} of "
                f"{event.scheme!r} with arithmetic {event.arithmetic}, this program has {here[0]} and {here[1]}; to "
                "compare them, run the release of that time",
            )


def _standing(facts: HypotheticalFacts, recorded: object) -> Event | None:
    """An adoption as it stands after its corrections; None for anything else, and where it is annulled."""
    fact = facts.fact(recorded.key) if isinstance(recorded, SchemeAdopted) else None
    return None if fact is None or fact.annulled_by is not None else facts.event(fact)


def _entry(journal: Journal, position: int) -> object:
    """The event at a position."""
    return next(decode(body).event for bodies in journal.read(position - 1, position) for body in bodies)
