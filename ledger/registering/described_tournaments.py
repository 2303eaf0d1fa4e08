"""Facts about a tournament besides its games, stated by hand, as a report (TRF) states them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ledger.book.conflicts import keys_beginning
from ledger.errors import MalformedError
from ledger.facts.codec import decode
from ledger.facts.event_fields import text_faults
from ledger.facts.events import Role, TournamentDescribed
from ledger.facts.player_details import arbiters_of_text
from ledger.facts.prior_ratings import MAX_NAME
from ledger.facts.source_games import SourceReport
from ledger.handle import OpenLedger
from ledger.journal.transactions import Transaction
from ledger.recording.reported_tournaments import ReportRecorder

_ARBITERS = (
    "SELECT arbiters FROM descriptions JOIN pools USING (pool) "
    "WHERE pools.name = ? AND tournament = ? AND arbiters IS NOT NULL ORDER BY descriptions.position"
)


def erase_arbiters(
    ledger: OpenLedger, tournament: str, *, pool: str, by: str | None = None, token: str | None = None
) -> int:
    """Erase the names of a tournament's arbiters for good, in all editions; the entries stay as they are.

    Args:
        ledger: the ledger.
        tournament: the name.
        pool: the pool of its games.
        by: who erases them; if tokens are set up, the token of an approver names that person.
        token: that token.

    Returns:
        The number of texts that were erased.

    Raises:
        RejectedError: for want of a token.
        StorageError: a file refuses, or another process reads the people file and keeps the old bytes in its log.
    """
    ledger.tokens.authenticate(token, by, Role.APPROVER, f"erase the arbiters of {tournament!r}")
    ledger.ensure_up_to_date()
    sealed = [commitment for (commitment,) in ledger.views.connection.execute(_ARBITERS, (pool, tournament))]
    # a description that was annulled or taken back has no row, but its text is still there
    place = TournamentDescribed(pool=pool, tournament=tournament, edition="2000", number=1).key.partition("@")[0]
    recorded = ledger.journal.find([*keys_beginning(ledger.journal, f"{place}@")])
    events = [decode(entry.body).event for entry in recorded.values()]
    sealed += [event.arbiters for event in events if isinstance(event, TournamentDescribed) and event.arbiters]
    return ledger.people.reasons.erase(ledger.journal.writing(), dict.fromkeys(sealed))


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
    named = [("arbiter", chief), *(("deputy", deputy) for deputy in deputies)]
    if faults := [fault for role, name in named if name for fault in text_faults(role, name, MAX_NAME)]:
        raise MalformedError(faults)
    # made only for its refusals
    TournamentDescribed(pool=pool, tournament=tournament, edition=edition, number=1, **facts)
    ledger.names.people()  # compared with the journal before anything is stored in it
    ledger.catch_up_if_corrected()
    with ledger.journal.writing() as writer:
        transaction = Transaction.begin(writer, ledger.now_ms, actor)
        recorder = ReportRecorder(transaction, ledger.current_facts, ledger.names, {})
        if chief or deputies:
            before, others = arbiters_of_text(recorder.arbiters(pool, tournament, edition))
            chief, deputies = chief or before, deputies or others
        size = writer.size
        recorder.record(SourceReport(0, tournament, edition, facts, chief, tuple(deputies), ()), pool)
        return writer.size > size
