"""The impact of a correction before it is approved: whose ratings would change, and by how much.

It is a dry run: the entries of the decision take effect in the views, in a transaction that is rolled back. The numbers
are those that the approval will give, to the last bit, as long as nothing else is recorded before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from typing import NamedTuple, cast

import attrs

from ledger.auth.issued_tokens import IssuedTokens
from ledger.book.policies import Party, breach_of_decision
from ledger.book.proposal_judge import ProposalJudge
from ledger.book.stored_proposals import Proposal, StoredProposals
from ledger.correcting.drafts import entries_of_proposal, facts_of_approval, facts_of_changes
from ledger.errors import MalformedError, ProposalError, Refusal, TooLongError
from ledger.facts.changes import Change, Verb
from ledger.facts.codec import Entry
from ledger.facts.event_fields import MAX_WHOLE
from ledger.facts.events import CorrectionDecided, Decision, Event, Role, TokenIssued, proposal_key
from ledger.facts.person_names import same_person
from ledger.handle import OpenLedger
from ledger.journal import Journal
from ledger.journal.scratch import ScratchJournal
from ledger.publishing.publications import Publications
from ledger.ratings import dry_runs, rating_previews
from ledger.ratings.dry_runs import MovedResult
from ledger.ratings.rating_previews import ListEffect, PlayerFigures, RatingPreview
from ledger.ratings.row_changes import RowChange
from ledger.ratings.views import Views
from ledger.runtime import sqlite

_WHEN = "2000-01-01T00:00:00.000Z"  # when an entry was recorded never influences a rating
_PROPOSER, _APPROVER = "somebody", "somebody else"
_NO_REASON = "0" * 64  # the commitment to a reason that was not given
_OF_GAMES = {Verb.ANNUL_GAMES, Verb.ANNUL_TOURNAMENT, Verb.RESTORE_TOURNAMENT}
_FACTS_OF_GAMES = ("game:", "opening:", "tournament:")  # how their keys begin
KEPT = 16  # impacts of proposals that are remembered
# Whether an account is closed or opened, or a rating of a list begins to hold, after one instant and up to another.
_BETWEEN = """
SELECT EXISTS(SELECT 1 FROM changes WHERE effective_ms > ?1 AND effective_ms <= ?2)
  OR EXISTS(SELECT 1 FROM seeds WHERE effective_ms > ?1 AND effective_ms <= ?2)
"""
_SECONDS_APIECE = 1.3  # an approval folds the read models, too, which takes about a third more


@attrs.frozen(kw_only=True)
class Move(RowChange[PlayerFigures]):
    """A player whose row in a pool would change: without a rated game or a list rating there is no row.

    Attributes:
        pool: the name of the pool.
        name: the name of the player; None if the person was erased, or the people file does not know the number.
    """

    pool: str
    name: str | None

    @property
    def ratings(self) -> tuple[float | None, float | None]:
        """The ratings before and after, in rating points; None where the scheme lists no rating of the player."""
        before, after = (side.rating if side and side.listed else None for side in (self.before, self.after))
        return before, after


@attrs.frozen
class Impact:
    """The impact of a proposal: the rows that its approval would change.

    Attributes:
        proposal: its number, or the one that the changes would get.
        seen: the number of entries for which it was calculated; ``decide`` takes it.
        recorded_since: the number of facts and decisions recorded after the proposal; other proposals do not count, for
            they change nothing; 0 for changes that are not proposed.
        games: the number of games that would be rated again.
        players: the number of players whose games would be rated again, once for each pool.
        moves: the players whose rows would change, by a game, a scheme or a list: those who come or go first, then the
            largest changes.
        lists: the published lists that would change if they were revised, by pool and instant.
        results: the results of tournaments that would change, if a report was ever sent.
        seconds: the approximate time that the approval would take, from the time of the dry run.
    """

    proposal: int
    seen: int
    recorded_since: int
    games: int
    players: int
    moves: tuple[Move, ...]
    lists: tuple[ListEffect, ...]
    results: tuple[MovedResult, ...]
    seconds: float = attrs.field(eq=False)

    @property
    def moved(self) -> int:
        """The number of players whose rating would change, or who would come or go; once for each pool."""
        return sum(move.ratings[0] != move.ratings[1] for move in self.moves)


class _Tried(NamedTuple):
    """The object of a dry run: a proposal, its changes, and the entries that its approval would record."""

    number: int  # of the proposal, or the one that the changes would get
    seen: int  # entries that were there
    since: int  # how many of them were recorded after the proposal
    changes: Sequence[Change]
    entries: Sequence[Entry]


@attrs.frozen
class Previews:
    """The previews of one ledger: dry runs of approvals."""

    ledger: OpenLedger

    def of(
        self, proposal: int | Sequence[Change], *, others_wait: float | None = None, at_most: float | None = None
    ) -> Impact:
        """Return the impact of approving an open proposal, or changes that are not proposed yet.

        Arguments and errors are those of ``Corrections.preview``; MalformedError if *proposal* is neither.
        """
        now_ms = self.ledger.now_ms()
        if (impact := self._remembered(proposal, now_ms)) is not None:
            return impact
        try:
            with dry_runs.dry_run(self.ledger.views, others_wait) as views:
                tried, preview = self._what_comes(views, proposal, now_ms)
        except TooLongError:
            # too long to keep others waiting for the lock: on a copy it may take its time
            with dry_runs.dry_run(self.ledger.views, at_most, apart=True) as views:
                tried, preview = self._what_comes(views, proposal, now_ms)
        impact = self._impact(tried, preview)
        if type(proposal) is int:
            # What is recorded next makes all of them old: nothing is lost by forgetting them at once.
            if len(self.ledger.impacts) >= KEPT:
                self.ledger.impacts.clear()
            self.ledger.impacts[proposal, tried.seen] = now_ms, impact
        return impact

    def _what_comes(self, views: Views, proposal: int | Sequence[Change], now_ms: int) -> tuple[_Tried, RatingPreview]:
        """Return the object of a dry run within views, and its effects."""
        tried = self._tried(views, proposal)
        # Corrections of games and of tournaments' days move those whose games are rated again; a scheme, a seed or a
        # merge may move anybody.
        everybody = not _concern_games_alone(StoredProposals(views.connection), tried.changes)
        published = Publications(self.ledger).last_editions()
        with closing(self._journal(tried)) as journal:
            preview = rating_previews.preview_ratings(
                views, journal, tried.entries, published, everybody=everybody, now_ms=now_ms
            )
        return tried, preview

    def _remembered(self, proposal: int | Sequence[Change], now_ms: int) -> Impact | None:
        """Return the stored impact of a proposal, if nothing was recorded since and time has changed nothing."""
        with self.ledger.read_snapshot() as position:
            kept = self.ledger.impacts.get((proposal, position)) if type(proposal) is int else None
            if kept is None:
                return None
            then_ms, impact = kept
            # The clock may have been set back since.
            (has_changed,) = self.ledger.views.connection.execute(_BETWEEN, sorted((then_ms, now_ms))).fetchone()
            # Stored as an object: the handle is below this package and knows no class of it.
            return None if has_changed else cast("Impact", impact)

    @contextmanager
    def as_if(self, proposal: int | Sequence[Change], *, apart: bool = False) -> Iterator[tuple[Views, Journal]]:
        """Yield the views, with all read models, and the journal as they would be after an approval, inside the block.

        With *apart* a copy of the views is made, which other connections can read, too. Raises what ``of`` raises.
        """
        self.ledger.ensure_up_to_date()
        with dry_runs.copy_of_views(self.ledger.views) if apart else dry_runs.dry_run(self.ledger.views) as views:
            tried = self._tried(views, proposal)
            with closing(self._journal(tried)) as journal:
                # Of a copy the transaction is committed: another connection reads nothing else.
                with sqlite.write_transaction(views.connection) if apart else nullcontext():
                    dry_runs.apply_entries(views, journal, tried.entries, views.kept())
                if apart:
                    views.journal = journal  # they are up to date with it
                yield views, journal

    def _journal(self, tried: _Tried) -> ScratchJournal:
        return ScratchJournal(self.ledger.journal, tried.seen, tried.entries)

    def _tried(self, views: Views, proposal: int | Sequence[Change]) -> _Tried:
        # exactly: True would be proposal 1
        if type(proposal) is int:
            return self._proposal(views, proposal)
        if isinstance(proposal, Sequence) and all(isinstance(each, Change) for each in proposal):
            return self._changes(views, proposal)
        expected = "the number of a proposal, or a list of changes as 'drafts' makes them"
        raise MalformedError([f"expected {expected}; got {proposal!r}"])

    def _proposal(self, views: Views, number: int) -> _Tried:
        connection, seen = views.connection, views.position()
        judge = self._judge(views)
        refusals = judge.decision_refusals(
            number,
            Decision.APPROVED,
            "",
            lambda proposal: breach_of_decision(
                connection, seen + 1, proposal, Decision.APPROVED, _approver_for(proposal)
            ),
        )
        if refusals:
            raise ProposalError(f"decision:{number}", refusals)
        proposal = judge.proposals.proposal(number)
        assert proposal is not None  # else it was refused
        approver = _approver_for(proposal)
        issued = self._issued(number, seen, {approver.name: Role.APPROVER} if approver.proven else {})
        by_token = seen + len(issued) if issued else None
        events: list[Event] = [_approval(number, proven=approver.proven, by_token=by_token)]
        events += facts_of_approval(judge.proposals, number)
        named = [*issued, *((approver.name, event) for event in events)]
        changes = list(judge.proposals.changes([number]))
        return _Tried(number, seen, judge.proposals.entries_since(number, seen), changes, _further(seen, named))

    def _changes(self, views: Views, changes: Sequence[Change]) -> _Tried:
        """Return the entries of changes that one person proposes and another approves."""
        seen, judge = views.position(), self._judge(views)
        number, refusals = judge.proposals.next_number(), judge.refusals(changes)
        if refusals:
            raise ProposalError(proposal_key(number), refusals)
        issued = self._issued(number, seen, {_PROPOSER: Role.CORRECTOR, _APPROVER: Role.APPROVER})
        # of these entries: that of the approver, and before it that of the proposer
        last = seen + len(issued)
        by_tokens = (last - 1, last) if issued else (None, None)
        proposed = entries_of_proposal(number, changes, _NO_REASON, proven=True, by_token=by_tokens[0])
        decided: list[Event] = [_approval(number, proven=True, by_token=by_tokens[1]), *facts_of_changes(changes)]
        named = [*issued, *((_PROPOSER, part) for part in proposed), *((_APPROVER, event) for event in decided)]
        return _Tried(number, seen, 0, changes, _further(seen, named))

    def _judge(self, views: Views) -> ProposalJudge:
        # No further than the views know: entries recorded meanwhile are not part of this dry run.
        journal = ScratchJournal(self.ledger.journal, views.position())
        return ProposalJudge(views.connection, journal, self.ledger.now_ms(), self.ledger.current_facts)

    def _issued(self, number: int, seen: int, persons: Mapping[str, Role]) -> list[tuple[str, Event]]:
        """Return the entries that issue tokens to the persons of a dry run; none if the journal has no tokens."""
        register = IssuedTokens(self.ledger.journal).register()
        if register.first is None or not persons:
            return []
        approvers = (token for token in register.tokens.values() if Role.APPROVER in token.roles)
        issuer = next((token for token in approvers if token.holds_at(seen + 1)), None)
        if issuer is None and register.approver_since is not None:
            message = "nobody holds the token of an approver any more, so that nobody can approve; see 'token reset'"
            raise ProposalError(f"decision:{number}", [Refusal(0, "four-eyes", message)])
        by, by_token = ("", None) if issuer is None else (issuer.event.person, issuer.position)
        # their numbers are far from those of issued tokens
        return [
            (
                # before there is an approver everybody issues their own
                by or person,
                TokenIssued(
                    number=token, person=person, roles=role.value, salt=_NO_REASON, digest=_NO_REASON,
                    by_token=by_token, reset=False,
                ),
            )
            for token, (person, role) in enumerate(persons.items(), MAX_WHOLE - len(persons))
        ]  # fmt: skip

    def _impact(self, tried: _Tried, preview: RatingPreview) -> Impact:
        changed = [(pool, change) for pool, changes in preview.changes.items() for change in changes]
        people = self.ledger.people.by_number(sorted({change.player for _, change in changed}))
        names = {player: person.name or None for player, person in people.items()}
        moves = [
            Move(player=each.player, before=each.before, after=each.after, pool=pool, name=names.get(each.player))
            for pool, each in changed
        ]
        return Impact(
            tried.number,
            tried.seen,
            tried.since,
            preview.games,
            preview.players,
            tuple(sorted(moves, key=_largest_first)),
            tuple(preview.lists),
            preview.results,
            _SECONDS_APIECE * preview.seconds,
        )


def _further(seen: int, named: Sequence[tuple[str, Event]]) -> list[Entry]:
    """Return the entries from position *seen* + 1 on, of events with the names of those who record them."""
    return [
        Entry(position=position, recorded_at=_WHEN, actor=actor, event=event)
        for position, (actor, event) in enumerate(named, seen + 1)
    ]


def _concern_games_alone(proposals: StoredProposals, changes: Iterable[Change]) -> bool:
    """Return whether changes, and those that they undo, concern only games or the days of tournaments."""
    return all(
        change.do is Verb.UNDO or change.do in _OF_GAMES or (change.fact or "").startswith(_FACTS_OF_GAMES)
        for change in proposals.with_undone(changes)
    )


def _approval(number: int, *, proven: bool, by_token: int | None) -> CorrectionDecided:
    return CorrectionDecided(proposal=number, decision=Decision.APPROVED, reason=None, proven=proven, by_token=by_token)


def _approver_for(proposal: Proposal) -> Party:
    """Return a person who may approve: another one than the proposer, and authenticated as well."""
    name = "another person" if same_person(proposal.proposed_by, _APPROVER) else _APPROVER
    # Next to an authenticated person a bare name may be the same person's, which four eyes refuse.
    return Party(name, bool(proposal.proposed_proven))


def _largest_first(move: Move) -> tuple[bool, float, str, int]:
    is_closed = [side is not None and side.closed for side in (move.before, move.after)]
    comes_or_goes = move.ratings.count(None) == 1 or is_closed[0] != is_closed[1]
    return not comes_or_goes, -abs(move.difference or 0.0), move.pool, move.player
