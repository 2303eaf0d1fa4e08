"""Reports about tournaments that were sent to a federation: recorded with the digests of the file and of its results.

The results are stored beside the journal, like movetexts, so that a later correction can be named: game or bye, round,
players by number, result. They hold no names.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

import attrs

from ledger.errors import MalformedError
from ledger.facts.events import Event, ReportSent
from ledger.handle import OpenLedger
from ledger.journal import Writer, rules, stored_texts
from ledger.runtime.calls import checked_methods


@checked_methods
@attrs.frozen
class SentReports:
    """The reports of one ledger that were sent."""

    ledger: OpenLedger

    def record(
        self,
        *,
        pool: str,
        tournament: str,
        edition: str,
        form: str,
        file: bytes,
        results: str,
        sent_on: str,
        since: str | None = None,
        until: str | None = None,
        actor: str,
        token: str | None = None,
    ) -> ReportSent | None:
        """Record that a report was sent; return None if the same file was recorded last for that day.

        Args:
            pool: the pool of its games.
            tournament: the name.
            edition: the first day of the edition.
            form: ``trf16`` or ``trf26``.
            file: the bytes that were sent.
            results: those of the report, as ``answers.sent_reports.results_text`` makes them.
            sent_on: the day.
            since: the first day of the period, of a part of a tournament.
            until: its last day.
            actor: the sender.
            token: authenticates the sender, if the role of a recorder is assigned.

        Raises:
            MalformedError: a value is none that the journal may hold.
            RejectedError: this machine's clock is behind the journal, or for want of a token.
        """
        ledger = self.ledger
        actor = ledger.recorder_named(token, actor)
        try:
            event = ReportSent(
                pool=pool,
                tournament=tournament,
                edition=edition,
                number=1,
                form=form,
                digest=sha256(file).hexdigest(),
                text=sha256(results.encode()).hexdigest(),
                sent_on=sent_on,
                since=since,
                until=until,
            )
        except ValueError as error:
            raise MalformedError([str(error)]) from None
        recorded: list[ReportSent] = []

        def gate(writer: Writer, _: int) -> Sequence[Event]:
            number, last = 1, None
            while stored := writer.find([attrs.evolve(event, number=number).key]):
                (entry,) = stored.values()
                last, number = rules.facts_of(entry), number + 1
            if last is not None and (last["digest"], last["sent_on"]) == (event.digest, event.sent_on):
                return ()
            recorded.append(attrs.evolve(event, number=number))
            writer.store_texts(stored_texts.compressed_texts([results]))
            return recorded

        ledger._record_judged(gate, actor)
        return recorded[0] if recorded else None
