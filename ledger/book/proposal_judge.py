"""The judge of proposals: refuses proposals and decisions, and reports all faults at once.

It reads the views, up to date with the journal and under its write lock; nothing is written. ``RULES`` lists its own
refusals; ``book.judge`` judges the facts that a proposal adds, moves or restores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.book import decisions, judge, taken_back
from ledger.book.conflicts import NO_PROPOSAL, Fact, WhatIfFacts, impossible_endings, key_collisions
from ledger.book.evidence import Context, CurrentFacts, Evidence, subject_of
from ledger.book.kinds import KINDS, correctable_fields, is_annullable
from ledger.book.policies import POLICIES, check_settings
from ledger.book.rules_by_facts import PLACE_FIELDS
from ledger.book.rules_by_keys import ENTRY_POINTS, erasure_keys, needed_keys
from ledger.book.stored_proposals import Proposal, StoredProposals
from ledger.errors import LedgerError, MalformedError, Refusal, RejectedError, UnknownNameError
from ledger.facts import codec
from ledger.facts.changes import BLANK, Change, Verb
from ledger.facts.events import Decision, Event, GameRecorded, PolicySet
from ledger.journal import Journal
from ledger.journal.late_facts import next_policy_number
from ledger.runtime.nearest import did_you_mean

if TYPE_CHECKING:
    import sqlite3

RULES: Mapping[str, str] = {  # name -> what it means and what to do
    "no-reason": "a correction is proposed with a reason, which is stored outside the journal: give one",
    "nothing-proposed": "a proposal holds at least one change, and a batch at least one row: give one",
    "no-such-fact": "the journal holds no fact of this key at this entry: look it up",
    "no-such-player": "this player number was never registered: look it up",
    "no-such-tournament": (
        "no game of this pool bears this tournament's name, nor was it announced: names are matched whole"
    ),
    "no-such-proposal": "nobody made a proposal of this number: see 'correct list'",
    "not-correctable": "this field, or a fact of this kind, is not corrected so: the message says what is",
    "stale": "the fact no longer says what the proposal expects: look at it again and propose anew",
    "changes-nothing": "the facts say already what they would say then: nothing to do",
    "conflicting": "two changes contradict each other, or the facts would after it: leave one out",
    "circular": "a player would be merged into somebody who is the same person already",
    "already-merged": "the player is merged into somebody already: take the merge apart first",
    "bad-value": "a field may not hold this value: the message says what it may hold",
    "impossible-ending": "no game of this result, or of so many half-moves, ends so: correct all of it in one proposal",
    "exists-already": "the journal holds a fact of this key: correct that one, or restore it",
    "already-decided": "a proposal is decided once: propose anew, or undo an approved one",
    "not-approved": "only an approved proposal that acts can be undone: see 'correct show'",
    "not-the-proposer": "a proposal is withdrawn by who made it; somebody else rejects it",
    "four-eyes": "who proposed a correction may not approve it: somebody else does",
    "unseen-entries": "entries were recorded since the impact was looked at: look at it again, then approve",
}

_Faults = Iterator[tuple[str, str]]  # rules and messages

# what the keys of policies begin with that hold by position
_BY_POSITION = tuple(f"policy:{name}@" for name, policy in POLICIES.items() if policy.is_by_position)


_OF_PERSON = (
    "SELECT EXISTS(SELECT 1 FROM games WHERE {side} = ? AND rated = 1 AND voided_by IS NULL "
    "AND ended_ms BETWEEN ? AND ?{won})"
)
_AT_TOURNAMENT = (
    "SELECT count(*), count(voided_by) FROM games WHERE pool = (SELECT pool FROM pools WHERE name = ?) "
    "AND tournament = ? AND ended_ms BETWEEN ? AND ?"
)
_TOURNAMENTS = (
    "SELECT DISTINCT tournament FROM games WHERE pool = (SELECT pool FROM pools WHERE name = ?) "
    "AND tournament IS NOT NULL"
)


class _ProposedFacts(NamedTuple):
    """The facts that would hold after a proposal.

    Attributes:
        added: by number of a change, the fact that it adds, or the error of one that is invalid.
        by_change: by number of a change, the facts after it.
        by_subject: all of them by their subject.
        moved_entries: entries of facts that the proposal changes or annuls.
    """

    added: dict[int, Event | MalformedError]
    by_change: dict[int, list[Event]]
    by_subject: dict[str, list[Event]]
    moved_entries: set[int]

    def note(self, number: int, event: Event) -> None:
        """Note a fact after a change."""
        self.by_change.setdefault(number, []).append(event)
        self.by_subject.setdefault(subject_of(event), []).append(event)


class ProposalJudge:
    """Judges the proposals and decisions of one ledger, in one read snapshot."""

    def __init__(self, connection: sqlite3.Connection, journal: Journal, now_ms: int, current: CurrentFacts) -> None:
        """Take the views, up to date with the journal, the journal under its write lock, and the recording time."""
        self._connection = connection
        self._journal = journal
        self._now_ms = now_ms
        self._current = current
        self._facts = WhatIfFacts(connection, journal)
        self.proposals: StoredProposals = self._facts.proposals

    def refusals(self, changes: Sequence[Change], proposal: int = NO_PROPOSAL) -> list[Refusal]:
        """Return the refusals of changes that are proposed, or approved now; empty if they are allowed."""
        if not changes:
            return [Refusal(0, "nothing-proposed", "nothing is proposed; give at least one change")]
        after = WhatIfFacts(self._connection, self._journal, changes, proposal, self.proposals)
        proposed = self._proposed_facts(changes, after)
        refusals: list[Refusal] = []
        for number, change in enumerate(changes, 1):
            # One after the other: a change that is refused by itself cannot be judged among other facts.
            faults = list(self._faults(change, proposed.added.get(number))) or list(
                self._rule_faults(number, change, proposed)
            )
            refusals += [Refusal(number, rule, message) for rule, message in faults]
        # The changes are judged together only if each by itself is allowed: a missing fact cannot be judged.
        if not refusals:
            refusals = [*self._contradictions(changes)]
        if not refusals:
            refusals = [*self._circles(changes, after), *self._impossible(changes, after)]
        return refusals

    def _proposed_facts(self, changes: Sequence[Change], after: WhatIfFacts) -> _ProposedFacts:
        """Return the facts that would hold, so far as they can; corrected games only if a closing asks for them."""
        proposed = _ProposedFacts({}, {}, {}, set())
        keys = self._keys(changes)
        closes = any((key or "").startswith("tournament:") for key in (*keys, *(change.fact for change in changes)))
        for number, change in enumerate(changes, 1):
            if change.do is Verb.ADD:
                try:
                    proposed.added[number] = event = codec.structure_event(change.kind, dict(change.facts or {}))
                    proposed.note(number, event)
                except MalformedError as error:
                    proposed.added[number] = error
            elif change.do is Verb.ANNUL and change.entry is not None:
                proposed.moved_entries.add(change.entry)
        for key, number in keys.items():
            fact = after.fact(key) if closes or not key.startswith("game:") else None
            if fact is None:
                continue
            proposed.moved_entries.add(fact.entry)
            if fact.annulled_by is None:
                with suppress(MalformedError):
                    proposed.note(number, after.event(fact))
        return proposed

    def _rule_faults(self, number: int, change: Change, proposed: _ProposedFacts) -> _Faults:
        """Yield what the judge refuses of the facts that one change brings, among all others of its proposal."""
        fact = self._fact_of(change) if change.do is Verb.REPLACE else None
        if change.do is Verb.REPLACE:
            places = None if fact is None else PLACE_FIELDS.get(fact.cls)
            if places is None or places.isdisjoint(change.facts or {}):
                # it stays where it is, next to all other facts there in old journals
                return
        context = {Verb.ADD: Context.PROPOSAL, Verb.REPLACE: Context.CHANGE}.get(change.do, Context.RESTORE)
        for event in proposed.by_change.get(number, ()):
            keys = (
                self._journal.find((*needed_keys(event), *erasure_keys(event))) if context is Context.PROPOSAL else ()
            )
            before = None if fact is None else self._facts.event(fact)
            evidence = Evidence(
                context,
                self._now_ms,
                keys,
                self._current,
                proposed.by_subject,
                proposed.moved_entries,
                before,
                self._journal.find,
            )
            yield from _refused(event, evidence)

    def decision_refusals(
        self, number: int, decision: Decision, by: str, broken: Callable[[Proposal], str | None]
    ) -> list[Refusal]:
        """Return the refusals of a decision about a proposal; empty if it is allowed.

        Args:
            number: of the proposal.
            decision: the decision.
            by: the person who decides.
            broken: returns why a policy forbids that person to approve a proposal; None if none does.
        """
        proposal = self.proposals.proposal(number)
        if proposal is None:
            return [Refusal(0, "no-such-proposal", f"there is no proposal {number}; see 'correct list'")]
        if proposal.decision is not None:
            message = f"proposal {number} was {proposal.decision} by {proposal.decided_by!r} at entry "
            message += f"{proposal.decided_position}; propose anew, or undo it where it was approved"
            return [Refusal(0, "already-decided", message)]
        if decision is Decision.WITHDRAWN and by != proposal.proposed_by:
            message = f"proposal {number} was made by {proposal.proposed_by!r}, not by {by!r}; reject it instead"
            return [Refusal(0, "not-the-proposer", message)]
        if decision is not Decision.APPROVED:
            return []
        words = broken(proposal)
        if words is not None:
            return [Refusal(0, "four-eyes", words)]
        refusals = []
        for refusal in self.refusals(list(self.proposals.changes([number])), number):
            # It was allowed when it was proposed: the person who decides learns that a fact was recorded since.
            rule = "stale" if refusal.rule in {"changes-nothing", "exists-already"} else refusal.rule
            message = f"{refusal.message} (this was in order when it was proposed, at entry {proposal.position})"
            refusals.append(refusal._replace(rule=rule, message=message))
        return refusals

    def _faults(self, change: Change, added: Event | MalformedError | None) -> _Faults:
        """Yield what is wrong with one change by itself; *added* is the fact that it adds."""
        # Neither a change of such a setting nor its annulment: the setting would never have held.
        changes = [change] if change.do is not Verb.ADD else []
        if change.do is Verb.UNDO:
            changes = list(self.proposals.changes([change.proposal or 0]))
        for each in changes:
            if (each.fact or "").startswith(_BY_POSITION):
                message = f"{each.fact!r} holds from its entry on, never backwards; set that policy anew"
                yield "not-correctable", message
                return
        match change.do:
            case Verb.REPLACE:
                yield from self._replace(change)
            case Verb.ANNUL | Verb.RESTORE:
                yield from self._annul(change)
            case Verb.ADD:
                yield from self._add(change, added)
            case Verb.MERGE | Verb.PART:
                yield from self._merge(change)
            case Verb.ANNUL_GAMES:
                yield from self._annul_games(change)
            case Verb.ANNUL_TOURNAMENT | Verb.RESTORE_TOURNAMENT:
                yield from self._tournament(change)
            case Verb.ANNUL_ENTRIES:
                yield from taken_back.range_change_faults(self._connection, self._journal, self._facts, change)
            case Verb.UNDO:
                yield from self._undo(change)

    def _fact_of(self, change: Change) -> Fact | None:
        """Return the fact that a change names, if the journal holds it at that entry."""
        fact = self._facts.fact(change.fact or "")
        return fact if fact is not None and fact.entry == change.entry else None

    def _replace(self, change: Change) -> _Faults:
        fact = self._fact_of(change)
        if fact is None:
            yield "no-such-fact", f"the journal holds no {change.fact!r} at entry {change.entry}; look it up in 'log'"
            return
        allowed = [name for name in correctable_fields(fact.cls) if not self._is_fixed(change, name)]
        new_facts = dict(change.facts or {})
        for name in new_facts.keys() - set(allowed):
            yield "not-correctable", f"{name} of {change.fact!r} cannot be corrected; what can is {allowed}"
        is_stale = False
        for name, expected in (change.expects or {}).items():
            now = fact.facts.get(name, BLANK)
            if _plain(now) != _plain(expected):
                is_stale = True
                yield (
                    "stale",
                    f"{name} of {change.fact!r} is {_as_text(now)}, not {_as_text(expected)}; look at it again",
                )
        # If the fact has another value than expected, the message "says so already" would be no news.
        if not is_stale and all(
            _plain(fact.facts.get(name, BLANK)) == _plain(value) for name, value in new_facts.items()
        ):
            says = ", ".join(f"{name}={_as_text(value)}" for name, value in new_facts.items())
            yield "changes-nothing", f"{change.fact!r} says so already: {says}"

    @staticmethod
    def _is_fixed(change: Change, field: str) -> bool:
        """Return whether a field is fixed: of a first scheme its start, versions unless scheme or settings change."""
        if field in {"scheme_version", "arithmetic"}:
            return (change.facts or {}).keys().isdisjoint({"scheme", "settings"})
        return _is_first_scheme(str(change.fact)) and field in {"effective_from", "carry", "conversion"}

    def _annul(self, change: Change) -> _Faults:
        fact = self._fact_of(change)
        if fact is None:
            yield "no-such-fact", f"the journal holds no {change.fact!r} at entry {change.entry}; look it up in 'log'"
        elif not is_annullable(fact.cls) or self._is_fixed(change, "effective_from"):
            yield "not-correctable", f"{change.fact!r} cannot be taken back; correct its fields instead"
        elif change.do is Verb.ANNUL and fact.annulled_by is not None:
            yield "changes-nothing", f"{change.fact!r} was annulled by proposal {fact.annulled_by} already"
        elif change.do is Verb.RESTORE and fact.annulled_by is None:
            yield "changes-nothing", f"{change.fact!r} stands; there is nothing to restore"
        elif change.do is Verb.RESTORE and fact.cls is GameRecorded:
            proposals = self.proposals
            again = taken_back.game_recorded_again(self._connection, self._journal, fact.entry, proposals)
            if again is not None:
                yield "conflicting", _recorded_again(*again)

    def _add(self, change: Change, event: Event | MalformedError | None) -> _Faults:
        fact = self._facts.fact(change.fact or "")
        if fact is not None:
            way = "restore it" if fact.annulled_by is not None else "correct that one"
            yield "exists-already", f"{change.fact!r} was recorded at entry {fact.entry}; {way}"
            return
        assert event is not None
        if isinstance(event, MalformedError):
            yield "bad-value", f"{change.fact!r} may not be recorded so: {'; '.join(event.problems)}"
        elif not is_annullable(type(event)):
            others = ", ".join(kind.KIND for kind in KINDS if is_annullable(kind))
            yield "not-correctable", f"a {event.KIND} is not recorded by a proposal; what is: {others}"
        elif event.key != change.fact:
            yield "bad-value", f"the key of this fact is {event.key!r}, not {change.fact!r}"
        elif isinstance(event, PolicySet):
            yield from _policy_faults(event)
            try:
                self._current.check_read_models(event.policy, event.settings)
            except UnknownNameError as error:
                yield "bad-value", f"{event.key!r} may not be set so: {error}"
            number = next_policy_number(self._journal.find, event.policy)
            # they are looked up as numbered without gaps
            if event.number != number:
                yield "bad-value", f"{event.key!r}: the next setting of this policy has number {number}"

    def _merge(self, change: Change) -> _Faults:
        player, into = change.player or 0, change.into or 0
        merges = self.proposals.merges
        for number in (player, into):
            if not self._journal.find([f"player:{number}"]):
                yield "no-such-player", f"player {number} was never registered; look the number up in 'players'"
                return
        if change.do is Verb.PART:
            if merges.get(player) != into:
                now = f"it is merged into {merges.get(player, 'nobody')}"
                yield "stale", f"player {player} is not merged into {into} now: {now}"
        elif player == into:
            yield "circular", f"player {player} cannot be merged into itself; give two different players"
        elif player in merges:
            merged = f"player {player} is merged into player {merges[player]} already"
            yield "already-merged", merged if merges[player] == into else f"{merged}; take that merge apart first"
        elif decisions.person_of(merges, into) == player:
            merged = f"player {into} is merged into player {player} already"
            yield "circular", f"{merged}, so that player {player} cannot be merged into player {into}"

    def _annul_games(self, change: Change) -> _Faults:
        player = change.player or 0
        if not self._journal.find([f"player:{player}"]):
            yield "no-such-player", f"player {player} was never registered; look the number up in 'players'"
            return
        if backwards := _backwards(change):
            yield backwards
            return
        person = decisions.person_of(self.proposals.merges, player)
        first, last = decisions.span_ms(change)
        for side, outcome in (("white", "white"), ("black", "black")):
            won = "" if change.which == "all" else f" AND outcome = '{outcome}'"
            # A question for each colour: each has its own index.
            query = _OF_PERSON.format(side=side, won=won)
            if self._connection.execute(query, (person, first, last)).fetchone()[0]:
                return
        kind = "rated game" if change.which == "all" else "rated game that the opponent lost"
        yield "changes-nothing", f"player {player} has no {kind}{_between(change)} that stands"

    def _tournament(self, change: Change) -> _Faults:
        if backwards := _backwards(change):
            yield backwards
            return
        where = (change.pool, change.tournament, *decisions.span_ms(change))
        games, voided = self._connection.execute(_AT_TOURNAMENT, where).fetchone()
        name = f"tournament {change.tournament!r} of pool {change.pool!r}"
        if not games:
            names = {other for (other,) in self._connection.execute(_TOURNAMENTS, (change.pool,))}
            like = "" if change.tournament in names else did_you_mean(change.tournament or "", sorted(names))
            yield "no-such-tournament", f"{name} has no games{_between(change)}; {like}names are matched whole"
        elif change.do is Verb.ANNUL_TOURNAMENT and voided == games:
            yield "changes-nothing", f"all {games} games of {name}{_between(change)} are voided already"
        elif change.do is Verb.RESTORE_TOURNAMENT and not voided:
            yield "changes-nothing", f"no game of {name}{_between(change)} is voided"

    def _undo(self, change: Change) -> _Faults:
        proposal = self.proposals.proposal(change.proposal or 0)
        if proposal is None:
            yield "no-such-proposal", f"there is no proposal {change.proposal}; see 'correct list'"
        elif not proposal.effective:
            undone = self.proposals.undone_proposals()
            words = "is open" if proposal.decision is None else f"was {proposal.decision}"
            words = "was undone already" if change.proposal in undone else words
            yield "not-approved", f"proposal {change.proposal} {words}; only one that acts can be undone"
        else:
            for former in self.proposals.changes([proposal.proposal]):
                if former.do is Verb.ANNUL_ENTRIES:
                    again = taken_back.recorded_again(
                        self._connection, self._journal, self._facts, former, proposal.proposal
                    )
                    if again is not None:
                        yield "conflicting", _recorded_again(*again)

    def _contradictions(self, changes: Sequence[Change]) -> Iterator[Refusal]:
        """Yield changes of one proposal that change the same thing."""
        first_changes: dict[tuple[str, str], int] = {}
        for number, change in enumerate(changes, 1):
            fields = list(change.facts or {}) if change.do is Verb.REPLACE else ["itself"]
            for field in fields:
                first = first_changes.setdefault((change.subject, field), number)
                if first != number:
                    message = f"change {first} and change {number} both change {field} of {change.subject!r}"
                    yield Refusal(number, "conflicting", f"{message}; leave one out")

    def _circles(self, changes: Sequence[Change], after: WhatIfFacts) -> Iterator[Refusal]:
        merges = after.merges()
        for number, change in enumerate(changes, 1):
            if change.do in {Verb.MERGE, Verb.UNDO}:
                ring = [player for player in merges if decisions.person_of(merges, player) in merges]
                if ring:
                    message = f"players {ring} would be merged into each other in a ring; leave one merge out"
                    yield Refusal(number, "circular", message)
                    return

    def _keys(self, changes: Sequence[Change]) -> dict[str, int]:
        """Return the facts that may change, each with the number of its first change."""
        keys: dict[str, int] = {}
        for number, change in enumerate(changes, 1):
            for reached in self.proposals.with_undone([change]):
                is_own = reached is change
                if reached.fact is not None and (not is_own or reached.do in {Verb.REPLACE, Verb.RESTORE}):
                    keys.setdefault(reached.fact, number)
        return keys

    def _impossible(self, changes: Sequence[Change], after: WhatIfFacts) -> Iterator[Refusal]:
        """Yield facts that would be invalid, or would be at the place of another one."""
        keys = self._keys(changes)
        yield from impossible_endings(self._facts, after, keys, changes)
        yield from key_collisions(self._connection, after, keys)
        for key, number in keys.items():
            fact = after.fact(key)
            if fact is None:
                continue
            if fact.annulled_by is not None and _is_first_scheme(key):  # that of a pool which an approval began
                yield Refusal(number, "not-correctable", f"{key!r} cannot be taken back: its pool would have no scheme")
                continue
            try:
                # of a fact that is annulled, too: it may be put back
                event = after.event(fact)
                if isinstance(event, PolicySet):
                    yield from (Refusal(number, rule, message) for rule, message in _policy_faults(event))
                if type(event) in ENTRY_POINTS:
                    continue
                # An annulled fact may be invalid by now, as old journals hold some. A changed one is judged all the
                # same: a missing pool or scheme could not be folded, put back or not.
                current = self._facts.fact(key)
                if fact.annulled_by is not None and current is not None and current.facts == fact.facts:
                    continue
                find = self._journal.find
                evidence = Evidence(Context.APPROVAL, self._now_ms, find(needed_keys(event)), find=find)
                yield from (Refusal(number, *fault) for fault in _refused(event, evidence, key))
            except MalformedError as error:
                yield Refusal(number, "bad-value", f"{key!r} may not stand so: {'; '.join(error.problems)}")


def _refused(event: Event, evidence: Evidence, key: str | None = None) -> _Faults:
    """Yield what the judge refuses of a fact; *key* is that under which it is recorded."""
    try:
        judge.check(event, evidence)
    except RejectedError as error:
        yield error.rule, f"{(key or event.key)!r}: {str(error).removeprefix(f'{error.rule}: ')}"


def _recorded_again(key: str, other: str) -> str:
    return (
        f"{key!r} was taken back and recorded again as {other!r}; take that one back first, or leave both as they are"
    )


def _is_first_scheme(key: str) -> bool:
    return key.startswith("scheme:") and key.endswith("@start")


def _policy_faults(event: PolicySet) -> _Faults:
    try:
        check_settings(event.policy, event.settings, event.effective_from)
    except LedgerError as error:
        yield "bad-value", f"{event.key!r} may not be set so: {'; '.join(str(error).splitlines())}"


def _plain(value: Any) -> Any:
    """Return a value as it is compared: numbers and switches differ, lists are lists."""
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if hasattr(value, "items"):
        return {name: _plain(item) for name, item in value.items()}
    return (type(value) is bool, value)


def _as_text(value: Any) -> str:
    return "blank" if value == BLANK else repr(value)


def _between(change: Change) -> str:
    since = f" from {change.since}" if change.since else ""
    return since + (f" until {change.until}" if change.until else "")


def _backwards(change: Change) -> tuple[str, str] | None:
    first, last = decisions.span_ms(change)
    if first <= last:
        return None
    return "bad-value", f"from {change.since} until {change.until} is no time at all; the end comes first"
