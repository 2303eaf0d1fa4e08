"""Facts about a tournament besides its games, stated by hand, as a report (TRF) states them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ledger.errors import MalformedError
from ledger.facts.events import TournamentDescribed
from ledger.facts.player_details import arbiters_of_text
from ledger.facts.source_games import SourceReport
from ledger.handle import OpenLedger
from ledger.journal.transactions import Transaction
from ledger.recording.reported_tournaments import ReportRecorder


def describe_tournament(
    ledger: OpenLedger,
    tournament: str,
    edition: str,
    facts: dict[str, Any],
    *,
    pool: str,
    chief: str | None = None,
    deputies: Sequence[str] = (),
    actor: str,
    token: str | None = None,
) -> bool:
    """Record what reports to a federation say of a tournament; facts that are left out stay as they are.

    Args:
        ledger: the ledger.
        tournament: the name that its games carry.
        edition: the first day of the edition.
        facts: fields of ``tournament-described/1``.
        pool: the pool of its games.
        chief: the chief arbiter; None: as before.
        deputies: the other arbiters; empty: as before.
        actor: the submitter.
        token: authenticates the actor, if the role of a recorder is assigned.

    Returns:
        False if all of it was stated already.

    Raises:
        MalformedError: a fact is none that the journal may hold, or none was given.
        RejectedError: this machine's clock is behind the journal, or for want of a token.
        StorageError: the people file and the journal do not belong together.
    """
    actor = ledger.recorder_named(token, actor)
    if not (facts or chief or deputies):
        raise MalformedError(["nothing is stated: give a city, a federation, an arbiter or another fact"])
    # made only for its refusals
    TournamentDescribed(pool=pool, tournament=tournament, edition=edition, number=1, **facts)
    ledger.names.people()  # compared with the journal before anything is stored in it
    with ledger.journal.writing() as writer:
        transaction = Transaction.begin(writer, ledger.now_ms, actor)
        recorder = ReportRecorder(transaction, ledger.journal, ledger.names, {})
        if chief or deputies:
            before, others = arbiters_of_text(recorder.arbiters(pool, tournament, edition))
            chief, deputies = chief or before, deputies or others
        size = writer.size
        recorder.record(SourceReport(0, tournament, edition, facts, chief, tuple(deputies), ()), pool)
        return writer.size > size
