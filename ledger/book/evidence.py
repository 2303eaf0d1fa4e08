"""The evidence of the judge: the current facts of a ledger, and what a rule may ask in each context.

A rule is a function of an event and its evidence. It returns the refusal, or None; a few raise it. Its name is that of
the refusal, and the first line of its docstring says what is refused and what to do. The journal holds the facts as
recorded, the views hold them as corrected. While a transaction on the journal has entries of its own, the views do not
catch up.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from enum import Enum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import attrs

from ledger.book import conflicts, decisions, stored_proposals
from ledger.book.late_reports import BEFORE_ALL_LISTS
from ledger.book.policies import READ_MODELS, Settings, stored_policies
from ledger.book.stored_proposals import includes_entry
from ledger.book.timeline import Pool
from ledger.book.tournament_editions import find_in_same_edition, may_share_edition
from ledger.duplicates.renewed_keys import MOST, RENEWED, renewed
from ledger.duplicates.repeats import CorrectedGame
from ledger.errors import RejectedError, UnknownNameError
from ledger.facts import codec
from ledger.facts.changes import spans_of
from ledger.facts.codec import decode
from ledger.facts.events import Event, GameRecorded, RoundWithoutGame
from ledger.journal import FindEntries, Journal, StoredEntry
from ledger.runtime.nearest import expected_names

if TYPE_CHECKING:
    import sqlite3

_VOIDED = "SELECT position, voided_by FROM games WHERE position BETWEEN ? AND ? AND voided_by IS NOT NULL"
FIRST_PROPOSAL = "proposal:1@1"  # every journal with a proposal has this key


class DerivedViews(Protocol):
    """The part of a ledger's views that the judge reads."""

    @property
    def path(self) -> Path:
        """The file of the views."""

    @property
    def connection(self) -> sqlite3.Connection:
        """The open database of the views."""

    def ensure_up_to_date(self) -> None:
        """Bring the views up to date with the journal."""

    def pools(self) -> list[Pool]:
        """Return the pools with their timelines."""

    def read_models(self) -> list[str]:
        """Return the names of the installed and stored read models."""

    def strength_decided(self, pool: Pool, player: int, ms: int) -> float | None:
        """Return the number of rated games from which a rating decides the strength, if a player has so many."""


@attrs.frozen
class CurrentFacts:
    """The current facts of one ledger: recorded ones from the journal, corrected ones from the views."""

    journal: Journal
    views: DerivedViews

    @property
    def connection(self) -> sqlite3.Connection:
        """The database of the views, which catch up first."""
        self.views.ensure_up_to_date()
        return self.views.connection

    def pool(self, name: str) -> Pool | None:
        """Return the pool of a name, after the views have caught up; None if there is none."""
        self.views.ensure_up_to_date()
        return next((pool for pool in self.views.pools() if pool.name == name), None)

    def has_proposals(self) -> bool:
        """Return whether the journal has a proposal.

        If not, every fact is as it was recorded.
        """
        return bool(self.journal.find([FIRST_PROPOSAL]))

    def corrected_facts(self) -> conflicts.WhatIfFacts | None:
        """Return the facts after corrections; None if nothing was proposed."""
        return conflicts.WhatIfFacts(self.connection, self.journal) if self.has_proposals() else None

    def corrected_game(self, game: str, *, catch_up: bool = False) -> CorrectedGame | None:
        """Return a game after corrections; None if nothing was proposed, or the views lack the game.

        Args:
            game: its key.
            catch_up: bring the views up to date first; never within a transaction that has entries of its own.
        """
        if not self.has_proposals():
            return None
        if catch_up:
            self.views.ensure_up_to_date()
        if not self.views.path.exists():
            return None
        facts = conflicts.WhatIfFacts(self.views.connection, self.journal)
        fact = facts.fact(f"game:{game}")
        if fact is None or not fact.facts:
            return None
        person = partial(decisions.person_of, facts.proposals.merges)
        plain = {name: value for name, value in fact.facts.items() if name != "game"}
        return CorrectedGame({**plain, "white": person(plain["white"]), "black": person(plain["black"])}, person)

    def taken_back_games(self, among: Collection[int] | None = None) -> Collection[int]:
        """Return the entries of games that were taken back with their import, all or *among* some; in no order.

        The views are read as they are: in an import they caught up before its first entry.
        """
        if not self.has_proposals() or not self.views.path.exists():
            return ()
        spans = stored_proposals.StoredProposals(self.views.connection).spans_of_entries
        if among is not None:
            spans = [span for span in spans if any(includes_entry(span.change, entry) for entry in among)]
        proposals = {span.proposal for span in spans}
        entries: set[int] = set()
        for first, last in {edges for span in spans for edges in spans_of(span.change.entries)}:
            rows = self.views.connection.execute(_VOIDED, (first, last))
            entries.update(position for position, proposal in rows if proposal in proposals)
        return entries if among is None else entries.intersection(among)

    def taken_back_facts(self, entries: Mapping[str, StoredEntry]) -> set[str]:
        """Return the keys of those recorded facts, no games or rounds, that were taken back with their import.

        The views are read as they are.
        """
        if not entries or not self.has_proposals() or not self.views.path.exists():
            return set()
        proposals = stored_proposals.StoredProposals(self.views.connection)
        spans = proposals.spans_of_entries
        among = {
            key: [span for span in spans if includes_entry(span.change, entry.position)]
            for key, entry in (entries.items() if spans else ())
        }
        among = {key: of_entry for key, of_entry in among.items() if of_entry}
        changes = proposals.approved_changes(list(among)) if among else {}
        numbers = {span.proposal for span in spans}
        return {
            key
            for key, of_entry in among.items()
            if decisions.combined_change(changes[key]).annulled_by(of_entry) in numbers
        }

    def taken_back_entries(self, entries: Collection[int]) -> set[int]:
        """Return those entries that a change in force took back with their import; the views are read as they are."""
        if not entries or not self.has_proposals() or not self.views.path.exists():
            return set()
        spans = stored_proposals.StoredProposals(self.views.connection).spans_of_entries
        return {entry for entry in entries if any(includes_entry(span.change, entry) for span in spans)}

    def with_free_key(self, event: Event, find: FindEntries, *, catch_up: bool = False) -> Event:
        """Return a fact under its key or, if its record was taken back with its import, under its next key.

        Args:
            event: the fact; kinds that have no further keys are returned unchanged.
            find: looks up keys in the journal.
            catch_up: bring the views up to date first; never within a transaction that has entries of its own.
        """
        if not isinstance(event, RENEWED) or not self.has_proposals():
            return event
        if catch_up:
            self.views.ensure_up_to_date()
        if not self.views.path.exists():
            return event
        proposals = {span.proposal for span in stored_proposals.StoredProposals(self.views.connection).spans_of_entries}
        facts = conflicts.WhatIfFacts(self.views.connection, self.journal) if proposals else None
        for number in range(1, MOST + 1):
            now = event if number == 1 else renewed(event, number)
            fact = facts.fact(now.key) if facts is not None and find([now.key]) else None
            if fact is None or fact.annulled_by not in proposals:
                return now
        return event

    def recorded_round(
        self, event: RoundWithoutGame, others: Iterable[Event] = (), *, catch_up: bool = False
    ) -> RoundWithoutGame:
        """Return a reported round without a game as the journal has it; unchanged if it is new.

        Sources call an edition by different days: its first one, that of the round. A corrected round may be reported
        as it is now.

        Args:
            event: the round as a source reports it.
            others: facts of its transaction, which may report the same round by another day.
            catch_up: bring the views up to date first, if the round may be recorded.

        Raises:
            ConflictError: ``exists-with-different-key``: a corrected round in its place has other facts.
        """
        if catch_up and (self.has_proposals() or any(conflicts.keys_beginning(self.journal, event.place))):
            self.views.ensure_up_to_date()
        days = [key for key in conflicts.keys_beginning(self.journal, event.place) if key != event.key]
        reported = [fact for fact in others if isinstance(fact, RoundWithoutGame) and fact.place == event.place]
        reported = [fact for fact in reported if fact.key not in {event.key, *days}]
        if not self.views.path.exists():
            same = next((fact for fact in reported if may_share_edition(fact, event)), None)
            return event if same is None else attrs.evolve(event, edition=same.edition)
        if not days and not reported and not self.has_proposals():
            return event
        if not days and not reported and not self.journal.find([event.key]):
            return self._corrected_round(event)
        connection = self.views.connection
        stored = self.journal.find([*days, event.key])
        events = [decode(entry.body).event for entry in stored.values()]
        rounds = [fact for fact in events if isinstance(fact, RoundWithoutGame)] + reported
        free = self.with_free_key(event, self.journal.find)
        # a record that was taken back is none
        rounds = [fact for fact in rounds if self.with_free_key(fact, self.journal.find).key == fact.key]
        same = find_in_same_edition(connection, event, rounds)
        if same is None:
            assert isinstance(free, RoundWithoutGame)
            return self._corrected_round(free)
        fact = conflicts.WhatIfFacts(connection, self.journal).fact(same.key)
        now = attrs.evolve(event, edition=same.edition)
        is_same = fact is not None and fact.annulled_by is None and dict(fact.facts) == codec.facts_mapping(now)
        return same if is_same else now

    def _corrected_round(self, event: RoundWithoutGame) -> RoundWithoutGame:
        """Return the recorded round that a correction moved to the place of this one; unchanged if there is none."""
        connection = self.views.connection
        key = conflicts.key_moved_to(connection, self.journal, event) if self.has_proposals() else None
        if key is None:
            return event
        fact = conflicts.WhatIfFacts(connection, self.journal).fact(key)
        if fact is None or dict(fact.facts) != codec.facts_mapping(event):
            conflict = conflicts.key_conflict(connection, self.journal, event)
            assert conflict is not None  # with the fact of this key
            raise conflict
        recorded = decode(self.journal.find([key])[key].body).event
        assert isinstance(recorded, RoundWithoutGame)  # keys of its family are of rounds
        return recorded

    def check_read_models(self, policy: str, settings: Settings) -> None:
        """Refuse new settings of the policy ``read-models`` that name a read model which is not installed.

        A name that was set before stays, for its plug-in may be gone. The views must be up to date.

        Raises:
            UnknownNameError: with the names that there are.
        """
        if policy != READ_MODELS:
            return
        models, said = self.views.read_models(), stored_policies(self.views.connection).last(READ_MODELS)
        for name in settings:
            if name not in models and (said is None or name not in said.settings):
                hint = f"{expected_names(name, models)}; install its plug-in first"
                raise UnknownNameError("read model", name, hint, where="at hand here")

    def person(self, player: int) -> int:
        """Return the number of a player after all merges; the views catch up first."""
        if not self.has_proposals():
            return player
        self.views.ensure_up_to_date()
        return decisions.person_of(stored_proposals.load_merges(self.views.connection), player)


Rule = Callable[[Any, "Evidence"], RejectedError | None]  # the event is of one of the kinds that the rule is listed for


class Context(Enum):
    """The contexts in which a fact is judged."""

    APPEND = "a new fact, recorded by itself"
    WITHOUT_VIEWS = "a new fact where nothing was derived yet: in a ledger that is being created, in a scratch journal"
    COMMAND = "a new fact that a person types, before it is recorded"
    IMPORT = "a row of a file; its pool and its players are recorded with it"
    PROPOSAL = "a new fact that a proposal adds: when it is proposed, and again when it is decided"
    CHANGE = "a fact that a proposal changes, likewise"
    RESTORE = "a fact that a proposal puts back, likewise"
    APPROVAL = "a fact as it would be after all changes of a proposal, and the entry that the approval records"


@attrs.frozen
class Evidence:
    """The evidence by which the rules judge one fact.

    Attributes:
        context: the context in which it is judged.
        now_ms: the recording time, milliseconds since 1970.
        keys: the keys that the journal holds, at least those of ``needed_keys`` and ``erasure_keys``.
        others: by subject, other facts of the same transaction or proposal: those before it, or all.
        moved_entries: entries of facts that the proposal changes or takes back.
        before: the fact as it is now, if the proposal changes it.
        find: looks up keys in the journal as it was before the transaction.
        latest_ms: returns ``late_facts.latest_ms`` of the transaction.
        changing: by key, the refusals of games that would change a published list, while four eyes are on.
    """

    context: Context
    now_ms: int
    keys: Container[str] = frozenset()
    _facts: CurrentFacts | None = None
    others: Mapping[str, Sequence[Event]] = attrs.Factory(dict)
    moved_entries: Collection[int] = ()
    before: Event | None = None
    find: FindEntries = lambda _: {}
    latest_ms: Callable[[], int] = lambda: 0
    changing: Mapping[str, RejectedError] = attrs.Factory(dict)

    @property
    def facts(self) -> CurrentFacts:
        """The current facts of the ledger; no rule reads them in the context ``WITHOUT_VIEWS``."""
        assert self._facts is not None
        return self._facts

    def published_ms(self, pool: str | None) -> int:
        """Return the last millisecond of the published lists of a pool, or of all; before all lists without one."""
        if self._facts is None:
            return BEFORE_ALL_LISTS
        self._facts.views.ensure_up_to_date()
        pools = self._facts.views.pools()
        return max((each.published.limits[-1] for each in pools if pool in {None, each.name}), default=BEFORE_ALL_LISTS)


def subject_of(event: Event) -> str:
    """Return the key of a fact without its instant, by which facts about one subject are found.

    Games have one word for all, since a closing asks for all of them.
    """
    return "game" if isinstance(event, GameRecorded) else event.key.partition("@")[0]
