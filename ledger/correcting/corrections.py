"""Proposing, listing and deciding corrections of a ledger. Nothing is edited: results are derived again.

``book.proposal_judge`` decides under the journal's write lock whether a proposal or a decision may be recorded; the
game book applies it to the facts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import count, groupby
from typing import Any

import attrs
import orjson

from ledger.auth.tokens import VERBS_OF, Actor
from ledger.book.policies import Party, refusal_of_decision
from ledger.book.proposal_judge import ProposalJudge
from ledger.book.stored_proposals import Proposal, StoredProposals
from ledger.correcting.drafts import Drafts, entries_of_proposal, facts_of_approval
from ledger.correcting.previews import Impact, Previews
from ledger.correcting.verbs import Verbs, at_lines, read_batch
from ledger.errors import BatchError, ProposalError, Refusal, RejectedError, UnknownNameError
from ledger.facts import codec
from ledger.facts.changes import Change
from ledger.facts.events import ROLES_OF, CorrectionDecided, CorrectionProposed, Decision, Event, Role, proposal_key
from ledger.facts.words import Receipt
from ledger.handle import OpenLedger
from ledger.journal import FindEntries, Writer
from ledger.players.reasons import reason_faults
from ledger.runtime.calls import checked_methods


@attrs.frozen
class RecordedProposal:
    """The receipt of a proposal: its number and entries, and other open proposals about the same facts.

    Attributes:
        proposal: its number.
        receipts: the receipts of its entries.
        related: numbers of the open proposals about the same facts.
        duplicate: True if it was recorded before: sent under the same key, or without one by the same person with the
            same changes and reason, and still open.
    """

    proposal: int
    receipts: tuple[Receipt, ...]
    related: tuple[int, ...]
    duplicate: bool = False


@attrs.frozen
class IdempotencyKey:
    """The mark of a request, by which a repeat is recognised.

    Attributes:
        word: the sender's key; the same person with the same key repeats the request.
        content: the request without its reason, which may be erased and must not be guessed later.
    """

    word: str
    content: bytes


@attrs.frozen
class ProposalDetails:
    """A proposal with its changes, times and reasons.

    Attributes:
        proposal: its current state.
        changes: its changes.
        proposed_at: when it was recorded.
        decided_at: when it was decided; None while it is open.
        reason: the reason; None if it was erased, or is not in the people file.
        decision_reason: the reason of the decision; None if there is none or it was erased.
        related: numbers of other open proposals about the same facts, while it is open.
    """

    proposal: Proposal
    changes: tuple[Change, ...]
    proposed_at: str
    decided_at: str | None
    reason: str | None
    decision_reason: str | None
    related: tuple[int, ...]

    @property
    def state(self) -> str:
        """``open``, ``approved``, ``rejected``, ``withdrawn``, ``undone`` or ``without effect``."""
        proposal = self.proposal
        if proposal.decision is None:
            return "open"
        if proposal.decision != Decision.APPROVED or proposal.effective:
            return proposal.decision
        return "undone" if proposal.why_not is None else "without effect"


def _related_proposals(
    judging: ProposalJudge, proposals: Sequence[Sequence[Change]], reason: str
) -> dict[int, tuple[int, ...]]:
    """Return, by the number of each new proposal, the open ones about the same facts; refuse all if one is refused."""
    related: dict[int, tuple[int, ...]] = {}
    about: defaultdict[str, list[int]] = defaultdict(list)  # by subject, the new proposals about it
    for number, changes in enumerate(proposals, judging.proposals.next_number()):
        refusals = [Refusal(0, "no-reason", fault) for fault in reason_faults(reason)]
        refusals += judging.refusals(changes)
        if refusals:
            raise ProposalError(proposal_key(number), refusals)
        subjects = dict.fromkeys(change.subject for change in changes)
        # those that are proposed together are open by then, too
        siblings = {other for subject in subjects for other in about[subject]}
        related[number] = (*judging.proposals.open_proposals_about([*subjects]), *sorted(siblings))
        for subject in subjects:
            about[subject].append(number)
    return related


def _sent_by(person: str, idempotency_key: IdempotencyKey) -> str:
    # no name of a person holds the end of a line (``codec.actor_json``): two persons' words are never one
    return f"{person}\n{idempotency_key.word}"


@checked_methods
@attrs.frozen
class Corrections:
    """The corrections of one ledger: proposals and their decisions."""

    ledger: OpenLedger

    @property
    def drafts(self) -> Drafts:
        """The drafts, which make the changes of proposals."""
        return Drafts(self.ledger)

    @property
    def verbs(self) -> Verbs:
        """The verbs, which read changes from a command's arguments or the rows of a file."""
        return Verbs(self.drafts)

    def refusals(self, changes: Sequence[Change]) -> list[Refusal]:
        """Return the reasons why changes may not be proposed now; empty if they may. Nothing is recorded."""
        with self.ledger.read_snapshot():
            return self._judging(self.ledger.now_ms()).refusals(changes)

    def _judging(self, now_ms: int) -> ProposalJudge:
        ledger = self.ledger
        return ProposalJudge(ledger.views.connection, ledger.journal, now_ms, ledger.current_facts)

    def propose(
        self, changes: Sequence[Change], *, reason: str, by: str | None = None, token: str | None = None
    ) -> RecordedProposal:
        """Record a proposal of changes, as ``propose_each`` does."""
        return self.propose_each([changes], reason=reason, by=by, token=token)[0]

    def propose_each(
        self,
        proposals: Sequence[Sequence[Change]],
        *,
        reason: str,
        by: str | None = None,
        token: str | None = None,
        idempotency_key: IdempotencyKey | None = None,
    ) -> list[RecordedProposal]:
        """Record proposals in one transaction: all, or none.

        Each takes effect once it is approved.

        Args:
            proposals: the changes of each proposal; ``drafts`` makes them.
            reason: why, 1 to 1,000 characters.
            by: the name of the proposer; if tokens are set up, the token of a corrector names that person.
            token: that token.
            idempotency_key: the mark by which ``find_previous`` recognises a repeat of the request.

        Raises:
            ProposalError: one of the changes may not be proposed; all faults of the first such proposal are listed.
            RejectedError: for want of a token.
            MalformedError: no name of a person.
            StorageError: a file refuses.
        """
        tried = "propose a correction"
        who = self.ledger.tokens.authenticate(token, by, Role.CORRECTOR, tried)
        related: dict[int, tuple[int, ...]] = {}
        repeat: list[RecordedProposal] = []

        def gate(writer: Writer, now_ms: int) -> Sequence[Event]:
            self.ledger.tokens.check(who, Role.CORRECTOR, writer.size + 1, tried)
            # a request to two nodes at once is checked here, where one waits for the other
            if idempotency_key is not None:
                repeat.extend(self._sent(who.name, idempotency_key, reason, writer.find))
            if repeat:
                return []
            self.ledger.ensure_up_to_date()
            judging = self._judging(now_ms)
            if idempotency_key is None and (same := self._open_already(judging, proposals, reason, who)):
                repeat.extend(same)
                return []
            related.update(_related_proposals(judging, proposals, reason))
            sealed = self.ledger.people.reasons.store(writer, {proposal_key(number): reason for number in related})
            if idempotency_key is not None:
                # Before the journal takes them: the other way a crash would let the same be proposed once more.
                word, key = _sent_by(who.name, idempotency_key), proposal_key(min(related))
                self.ledger.tokens.store.remember_key(word, idempotency_key.content, key, sealed[key], len(related))
            return [
                entry
                for number, changes in zip(related, proposals, strict=True)
                for entry in entries_of_proposal(
                    number, changes, sealed[proposal_key(number)], proven=who.proven, by_token=who.entry
                )
            ]

        # long work is done before the lock; the gate catches up with later entries
        self.ledger.ensure_up_to_date()
        with self.ledger.tokens.logging_refusals(who, tried):
            receipts = self.ledger._record_judged(gate, who.name)
        if repeat:
            return repeat
        # parts of one proposal follow each other: their keys are proposal:7@1, proposal:7@2
        of_each = groupby(receipts, lambda receipt: int(receipt.key.removeprefix("proposal:").partition("@")[0]))
        return [RecordedProposal(number, tuple(parts), related[number]) for number, parts in of_each]

    def propose_batch(
        self,
        content: bytes,
        *,
        reason: str,
        each: bool = False,
        by: str | None = None,
        token: str | None = None,
        idempotency_key: IdempotencyKey | None = None,
    ) -> list[RecordedProposal]:
        """Propose the corrections in a CSV file with the columns of ``verbs.read_batch``: all of them, or none.

        Rows are judged together, with *each* as well: two that change one field contradict each other. The other
        arguments and errors are those of ``propose_each``.

        Args:
            content: the file, UTF-8.
            reason: why, 1 to 1,000 characters.
            each: True for a proposal, and so a decision, for each row; False for one proposal with all rows.
            by: the name of the proposer.
            token: a token of a corrector.
            idempotency_key: the mark of a repeat.

        Raises:
            BatchError: rows that cannot be read, or may not be proposed; all faults are listed by their lines.
        """
        rows, faults = read_batch(self.verbs, content)
        changes = [row.change for row in rows]
        if rows:
            faults += at_lines(rows, self.refusals(changes))
        if faults:
            raise BatchError(sorted(faults), reason_faults(reason))
        parts = [[change] for change in changes] if each else [changes]
        return self.propose_each(parts, reason=reason, by=by, token=token, idempotency_key=idempotency_key)

    def find_previous(
        self, idempotency_key: IdempotencyKey, *, reason: str, by: str | None = None, token: str | None = None
    ) -> list[RecordedProposal]:
        """Return the proposals that an earlier identical request of the same person recorded; empty if there is none.

        Call it before the changes are drafted, for facts may have changed since.

        Raises:
            RejectedError: another request was sent with that key; or for want of a token.
            StorageError: a file refuses.
        """
        who = self.ledger.tokens.authenticate(token, by, Role.CORRECTOR, "propose a correction")
        proposed = self._sent(who.name, idempotency_key, reason, self.ledger.journal.find)
        if proposed:
            # an answer that it is recorded must be about stored entries
            self.ledger.journal.ensure_durable()
        return proposed

    def _sent(
        self, person: str, idempotency_key: IdempotencyKey, reason: str, find: FindEntries
    ) -> list[RecordedProposal]:
        """Return the recorded proposals of a person's request; empty if there are none."""
        row = self.ledger.tokens.store.find_request(_sent_by(person, idempotency_key), idempotency_key.content)
        stored = None if row is None else find([row.entry]).get(row.entry)
        entry = None if stored is None else codec.decode(stored.body).event
        # The key alone proves nothing: where what was sent was never recorded, another proposal got its number.
        if row is None or not isinstance(entry, CorrectionProposed) or entry.reason != row.reason:
            return []
        if not row.is_same or self.ledger.people.reasons.text(row.reason) not in {reason, None}:  # None: it was erased
            message = (
                f"another request was sent with the same key, as proposal {entry.proposal}: "
                "open the form again, or take another Idempotency-Key"
            )
            raise RejectedError("sent-already", row.entry, message)
        numbers = range(entry.proposal, entry.proposal + row.proposals)
        return [RecordedProposal(number, tuple(self._receipts_of(number)), (), duplicate=True) for number in numbers]

    def _open_already(
        self, judging: ProposalJudge, proposals: Sequence[Sequence[Change]], reason: str, who: Actor
    ) -> list[RecordedProposal]:
        """Return the same person's open proposals with the same changes and reasons; empty unless all are open.

        A command that was stopped after the commit is repeated so.
        """
        decided, numbers = judging.proposals, list[int]()
        for changes in proposals:
            subjects = [*dict.fromkeys(change.subject for change in changes)]
            for number in decided.open_proposals_about(subjects):
                stored = decided.proposal(number)
                if number in numbers or stored is None:
                    continue
                # a person whom a token names need not be the one who only gave the same name
                if (stored.proposed_by, bool(stored.proposed_proven)) != (who.name, who.proven):
                    continue
                same = list(decided.changes([number])) == [*changes]
                if same and self.ledger.people.reasons.text(stored.reason) == reason:
                    numbers.append(number)
                    break
            else:
                return []
        return [RecordedProposal(number, tuple(self._receipts_of(number)), (), duplicate=True) for number in numbers]

    def _receipts_of(self, proposal: int) -> Iterator[Receipt]:
        for part in count(1):
            key = proposal_key(proposal, part)
            if (stored := self.ledger.journal.find([key]).get(key)) is None:
                return
            yield Receipt(stored.position, key, stored.leaf, duplicate=True)

    def decide(
        self,
        proposal: int,
        decision: Decision,
        *,
        by: str | None = None,
        token: str | None = None,
        reason: str | None = None,
        seen: int | None = None,
        despite_games: bool = False,
    ) -> list[Receipt]:
        """Approve, reject or withdraw a proposal; return the receipts of the decision and of the facts that it records.

        The approval of a late fact records that fact in the same transaction.

        Args:
            proposal: the number of the proposal.
            decision: the decision.
            by: the name of the person who decides; if tokens are set up, the token of an approver, or of a corrector to
                withdraw, names that person.
            token: that token.
            reason: why, 1 to 1,000 characters.
            seen: the number of entries for which the person looked at the impact: refused if there are more by now. The
                command and the server require it if facts were recorded after the proposal. It is no rule of the
                journal, for no entry says what a person looked at.
            despite_games: allow further games since, but nothing else: ``OpenLedger.unseen``.

        Raises:
            ProposalError: it may not be decided so; ``stale`` if the facts have changed since.
            RejectedError: for want of a token.
            MalformedError: no name of a person.
        """
        tried, role = f"{VERBS_OF[decision]} proposal {proposal}", ROLES_OF[decision]
        who = self.ledger.tokens.authenticate(token, by, role, tried)

        def gate(writer: Writer, now_ms: int) -> Sequence[Event]:
            # four eyes hold from the entry of their policy on, never backwards
            position = writer.size + 1
            # Again, under the lock: the token may have been revoked while its holder waited for it.
            self.ledger.tokens.check(who, role, position, tried)
            self.ledger.ensure_up_to_date()
            judging = self._judging(now_ms)
            faults = [] if reason is None else reason_faults(reason)
            refusals = [Refusal(0, "no-reason", fault) for fault in faults]
            party = Party(who.name, who.proven)
            refusals += judging.decision_refusals(
                proposal,
                decision,
                who.name,
                lambda stored: refusal_of_decision(self.ledger.views.connection, position, stored, decision, party),
            )
            if not refusals:
                # Last: a person who may not decide need not look at the impact again.
                unseen = self.ledger.unseen("the impact", seen, writer.size, despite_games=despite_games)
                refusals += [] if unseen is None else [Refusal(0, "unseen-entries", unseen)]
            key = f"decision:{proposal}"
            if refusals:
                raise ProposalError(key, refusals)
            sealed = None if reason is None else self.ledger.people.reasons.store(writer, {key: reason})[key]
            event = CorrectionDecided(
                proposal=proposal, decision=decision, reason=sealed, proven=who.proven, by_token=who.entry
            )
            # In one transaction: after a crash an approved game would not be recorded.
            added = facts_of_approval(judging.proposals, proposal) if decision is Decision.APPROVED else []
            return [event, *added]

        self.ledger.ensure_up_to_date()
        with self.ledger.tokens.logging_refusals(who, tried):
            return self.ledger._record_judged(gate, who.name)

    def preview(
        self, proposal: int | Sequence[Change], *, others_wait: float | None = None, at_most: float | None = None
    ) -> Impact:
        """Return the impact of an approval, by a dry run in the views that is rolled back.

        Others can read meanwhile.

        Args:
            proposal: the number of an open proposal, or changes that are not proposed yet.
            others_wait: seconds for which others may be kept from writing the views, before the dry run begins again on
                a copy of them; None for no limit.
            at_most: the limit of seconds on a copy; None for no limit.

        Raises:
            ProposalError: it may not be approved, or proposed; all faults are listed.
            TooLongError: it took longer than *at_most*.
        """
        return Previews(self.ledger).of(proposal, others_wait=others_wait, at_most=at_most)

    def recorded_since(self, number: int) -> tuple[int, int]:
        """Return the number of facts and decisions recorded after a proposal, and the number of all entries.

        Other proposals do not count, for they change nothing; 0 if there is no such proposal.
        """
        with self.ledger.read_snapshot() as position:
            return StoredProposals(self.ledger.views.connection).entries_since(number, position), position

    def erase_reasons(self, number: int, *, by: str | None = None, token: str | None = None) -> int:
        """Erase the reasons of a proposal and of its decision for good; return how many there were.

        The entries stay as they are.

        Args:
            number: the number of the proposal.
            by: the name of the person who erases them; if tokens are set up, the token of an approver names that
                person.
            token: that token.

        Raises:
            RejectedError: for want of a token.
            UnknownNameError: there is no proposal of this number.
            StorageError: a file refuses, or another process reads the people file and keeps the old bytes in its log.
        """
        self.ledger.tokens.authenticate(token, by, Role.APPROVER, f"erase the reasons of proposal {number}")
        with self.ledger.read_snapshot():
            proposals = list(StoredProposals(self.ledger.views.connection).proposals(open_only=False, numbers=[number]))
        # There is one at most, for numbers are never used again.
        for proposal in proposals:
            sealed = filter(None, (proposal.reason, proposal.decision_reason))
            return self.ledger.people.reasons.erase(self.ledger.journal.writing(), sealed)
        raise UnknownNameError("proposal", str(number), "see 'correct list'")

    def proposal(self, number: int) -> ProposalDetails:
        """Return a proposal with its changes, times and reasons.

        Raises:
            UnknownNameError: there is no proposal of this number.
        """
        for proposal in self.proposals(numbers=[number]):
            return proposal
        raise UnknownNameError("proposal", str(number), "see 'correct list'")

    def stored(self, *, open_only: bool = False) -> list[Proposal]:
        """Return all proposals, or only the open ones, by number, without their changes and reasons."""
        with self.ledger.read_snapshot():
            return StoredProposals(self.ledger.views.connection).proposals(open_only=open_only)

    def proposals(self, *, open_only: bool = False, numbers: Sequence[int] | None = None) -> Iterator[ProposalDetails]:
        """Yield all proposals, only the open ones, or those with some numbers, by number, from one read snapshot."""
        with self.ledger.read_snapshot():
            # A list: the snapshot ends with this call, and a generator would read on after it.
            return iter(list(self._proposals(open_only=open_only, numbers=numbers)))

    def _proposals(self, *, open_only: bool, numbers: Sequence[int] | None) -> Iterator[ProposalDetails]:
        decided = StoredProposals(self.ledger.views.connection)
        for proposal in decided.proposals(open_only=open_only, numbers=numbers):
            changes = tuple(decided.changes([proposal.proposal]))
            related = (
                decided.open_proposals_about([change.subject for change in changes])
                if proposal.decision is None
                else []
            )
            sealed = [proposal.reason, *([proposal.decision_reason] if proposal.decision_reason else [])]
            texts = self.ledger.people.reasons.texts(sealed)
            position = proposal.decided_position
            yield ProposalDetails(
                proposal,
                changes,
                self._recorded_at(proposal.position),
                None if position is None else self._recorded_at(position),
                texts.get(proposal.reason),
                texts.get(proposal.decision_reason or ""),
                tuple(number for number in related if number != proposal.proposal),
            )

    def _recorded_at(self, position: int) -> str:
        for bodies in self.ledger.journal.read(position - 1, position):
            entry: dict[str, Any] = orjson.loads(bodies[0])
            return str(entry["recorded_at"])
        return ""
