"""Tournaments that a file reported with their days: which of them the ledger was not told of yet, as events.

Nothing is recorded and nothing is printed here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ledger.answers.announcements import announced_in
from ledger.book.tournaments import NOTHING
from ledger.errors import RejectedError
from ledger.facts import codec
from ledger.facts.events import TournamentOpened
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.words import Format
from ledger.imports.reading import ReportedTournament
from ledger.journal import rules
from ledger.journal.recorder_columns import BY_SPEED
from ledger.ledger import Ledger


class Opening(NamedTuple):
    """A tournament to announce: line of the file, the event, and why that is refused, None where it is not."""

    line: int
    event: TournamentOpened
    problem: str | None


def openings(ledger: Ledger, reported: Iterable[ReportedTournament], pool: str) -> Iterator[Opening]:
    """The tournaments of a file that the ledger was not told of with these days.

    Args:
        ledger: where they would be announced.
        reported: what the file says of them.
        pool: the pool of its games, or ``by-speed``: then one whose speed is unknown is left out.
    """
    for tournament in reported:
        name = tournament.speed if pool == BY_SPEED else pool
        if name is None:
            continue
        event = TournamentOpened(
            pool=name,
            tournament=tournament.name,
            starts_at=tournament.starts_at,
            ends_at=tournament.ends_at,
            format=None if tournament.format is None else Format(tournament.format),
            entrants=tournament.entrants,
            rounds=tournament.rounds,
        )
        known = announced_in(ledger.journal, name).get(event.tournament, NOTHING)
        if (instant_ms(event.starts_at), instant_end_ms(event.ends_at)) not in known.opened:
            yield Opening(tournament.line, event, _refusal(ledger, event))


def _refusal(ledger: Ledger, event: TournamentOpened) -> str | None:
    """Why an announcement would be refused; None where it would be recorded, or where its pool is none yet."""
    stored = ledger.journal.find([event.key]).get(event.key)
    try:
        if stored is None:
            ledger.standing.judge(event)
        else:
            rules.check_repeat(TournamentOpened, event.key, rules.facts_of(stored), codec.facts_mapping(event))
    except RejectedError as error:
        return str(error).removeprefix(f"{error.rule}: ")
    return None
