"""The current facts of a ledger judge new ones: the views know how a game is corrected and what cannot act.

Every entry point asks it after the rules of the journal: ``append``, imports, commands, proposals and their approval.
While a transaction on the journal has entries of its own, the views are asked as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import partial

import attrs

from ledger.book import collisions, decisions, stored_proposals
from ledger.book.collisions import may_meet
from ledger.book.conflicts import HypotheticalFacts
from ledger.book.policies import READ_MODELS, Given, stored_policies
from ledger.book.tournament_editions import are_near, in_edition
from ledger.duplicates.repeats import Corrected
from ledger.errors import ConflictError, UnknownNameError
from ledger.facts import codec
from ledger.facts.codec import decode
from ledger.facts.events import (
    BirthYearLearnt,
    Event,
    PlayerChanged,
    RatingSeeded,
    RoundWithoutGame,
    TournamentClosed,
    TournamentOpened,
)
from ledger.journal import Journal, rules
from ledger.ratings.views import Views
from ledger.recording.initial_ratings import is_late, may_be_late, refuse_late, refuse_other_birth
from ledger.runtime.nearest import choice_of

NOTHING: rules.Beside = {}
FIRST = "proposal:1@1"  # the key that stands in every journal in which anything was proposed
_OF_VIEWS = frozenset({RatingSeeded, PlayerChanged, BirthYearLearnt, TournamentOpened, TournamentClosed})


def need_views(batch: Sequence[Event]) -> bool:
    """Whether only level views can judge some of new facts, so that they are brought level before the lock."""
    # the kinds first, which takes no call a fact: nearly all batches are of games
    return not _OF_VIEWS.isdisjoint(map(type, batch)) and any(map(_needs_views, batch))


def _needs_views(event: Event) -> bool:
    return type(event) in _OF_VIEWS and (not isinstance(event, PlayerChanged) or may_be_late(event))


@attrs.frozen
class CurrentFacts:
    """How the facts of one ledger stand by now, its games above all, and what judges new ones by that.

    Attributes:
        journal: where they stand as they were recorded.
        views: where it is known how they stand now.
    """

    journal: Journal
    views: Views

    def any_corrected(self) -> bool:
        """Whether anything was proposed; else every game stands as it was recorded."""
        return bool(self.journal.find([FIRST]))

    def standing(self, game: str) -> Corrected | None:
        """How a game stands that the views know; None where nothing was proposed, or they do not know it."""
        if not self.any_corrected() or not self.views.path.exists():
            return None
        facts = HypotheticalFacts(self.views.connection, self.journal)
        fact = facts.fact(f"game:{game}")
        if fact is None or not fact.facts:
            return None
        person = partial(decisions.root, facts.decided.merges)
        plain = {name: value for name, value in fact.facts.items() if name != "game"}
        return Corrected({**plain, "white": person(plain["white"]), "black": person(plain["black"])}, person)

    def standing_now(self, game: str) -> Corrected | None:
        """The same, of views that are brought level for it: not while a transaction holds entries of its own."""
        if self.any_corrected():
            self.views.level()
        return self.standing(game)

    def told_round(self, event: RoundWithoutGame, beside: Iterable[Event] = ()) -> RoundWithoutGame:
        """A round without a game in the words in which the journal holds it; itself where it is new.

        Sources call an edition by different days: its first one, that of the round. And what was corrected may be told
        as it stands now. How it stands is asked of the views as they are.

        Args:
            event: the round as it is told.
            beside: facts of its transaction, which may tell it by another day; that telling then has its words.

        Raises:
            ConflictError: ``exists-with-different-key``: a corrected one stands in its place and says otherwise.
        """
        days = [key for key in collisions.keys_at(self.journal, event.place) if key != event.key]
        others = [fact for fact in beside if isinstance(fact, RoundWithoutGame) and fact.place == event.place]
        others = [fact for fact in others if fact.key not in {event.key, *days}]
        if not self.views.path.exists():
            same = next((fact for fact in others if are_near(fact, event)), None)
            return event if same is None else attrs.evolve(event, edition=same.edition)
        if not days and not others and not self.any_corrected():
            return event
        if not days and not others and not self.journal.find([event.key]):
            return self._corrected_round(event)
        connection = self.views.connection
        stored = self.journal.find([*days, event.key])
        events = [decode(entry.body).event for entry in stored.values()]
        rounds = [fact for fact in events if isinstance(fact, RoundWithoutGame)] + others
        same = in_edition(connection, event, rounds)
        if same is None:
            return self._corrected_round(event)
        fact = HypotheticalFacts(connection, self.journal).fact(same.key)
        now = attrs.evolve(event, edition=same.edition)
        stands = fact is not None and fact.annulled_by is None and dict(fact.facts) == codec.facts_mapping(now)
        return same if stands else now

    def _corrected_round(self, event: RoundWithoutGame) -> RoundWithoutGame:
        """A round that the journal does not hold under its own place: another one may have been moved there."""
        connection = self.views.connection
        key = collisions.standing_at(connection, self.journal, event) if self.any_corrected() else None
        if key is None:
            return event
        fact = HypotheticalFacts(connection, self.journal).fact(key)
        if fact is None or dict(fact.facts) != codec.facts_mapping(event):
            collisions.refuse_key_collision(connection, self.journal, event)
        recorded = decode(self.journal.find([key])[key].body).event
        assert isinstance(recorded, RoundWithoutGame)  # keys of its family are of rounds
        return recorded

    def judge(self, event: Event, beside: rules.Beside = NOTHING, moved: Collection[int] = ()) -> None:
        """Refuse a new fact that the rules of the journal let pass: the one judge of every door.

        Args:
            event: the fact; of a game nothing is said.
            beside: facts that come to stand together with it: those before it in its transaction, or all others of its
                proposal.
            moved: entries of facts that its proposal lets stand otherwise, or no longer.

        Raises:
            RejectedError: ``after-the-first-game``, ``same-instant``, ``overlapping-editions``, ``edition-closed``,
                ``played-after-closing``; ConflictError: ``exists-with-different-key``, ``...-birth-year``.
        """
        if _needs_views(event):
            self.views.level()
        if isinstance(event, BirthYearLearnt):
            refuse_other_birth(self.views.connection, event, beside)
        if may_be_late(event):
            refuse_late(self.views.connection, self.views.pools(), event)
        self.refuse_key_collision(event, beside)
        self.refuse_beside(event, beside, moved)

    def judge_moved(self, before: Event, event: Event, beside: rules.Beside, moved: Collection[int]) -> None:
        """Refuse a fact that a correction moves where it cannot act, though it can where it stands, or cannot stand.

        Args:
            before: the fact as it stands.
            event: as it would stand.
            beside: as of ``judge``.
            moved: likewise.

        Raises: as ``judge``.
        """
        connection, pools = self.views.connection, self.views.pools()
        if may_be_late(event) and not (may_be_late(before) and is_late(connection, pools, before)):
            refuse_late(connection, pools, event)
        self.refuse_beside(event, beside, moved)

    def refuse_beside(self, event: Event, beside: rules.Beside, moved: Collection[int]) -> None:
        """Refuse a fact that cannot stand together with others, as ``book.conflicts`` says.

        Raises: as ``judge``.
        """
        if type(event) not in collisions.PLACES:
            return
        stands = None
        if self.any_corrected():
            self.views.level()
            stands = HypotheticalFacts(self.views.connection, self.journal)
        collisions.refuse_same_instant(self.journal, event, stands, beside, moved)
        if isinstance(event, TournamentOpened | TournamentClosed):
            for pool in self.views.pools():  # of one that is none another rule speaks
                if pool.name == event.pool:
                    collisions.refuse_misfit(self.views.connection, pool, event, beside, moved)

    def refuse_unknown_tournament(
        self, event: Event, beside: rules.Beside = NOTHING, moved: Collection[int] = ()
    ) -> None:
        """Refuse the closing of a tournament that nobody knows, for whoever says its name by hand.

        Why ``append`` does not ask this, ``conflicts.refuse_unknown_tournament`` says. The views are brought level.

        Args: as of ``judge``.

        Raises:
            RejectedError: ``no-such-tournament``.
        """
        if isinstance(event, TournamentClosed):
            self.views.level()
            for pool in self.views.pools():  # of one that is none another rule speaks
                if pool.name == event.pool:
                    collisions.refuse_unknown_tournament(self.views.connection, pool, event, beside, moved)

    def refuse_unknown_models(self, policy: str, settings: Given) -> None:
        """Refuse names that no read model has, at hand here or in the tables: one mistyped would be kept by nobody.

        A name that was set before stays: its plug-in may be gone. Asked of level views.

        Args:
            policy: name of a policy; of others than ``read-models`` nothing is said.
            settings: what it is to say.

        Raises:
            UnknownNameError: naming those that there are.
        """
        if policy != READ_MODELS:
            return
        models, said = self.views.read_models(), stored_policies(self.views.connection).last(READ_MODELS)
        for name in settings:
            if name not in models and (said is None or name not in said.settings):
                hint = f"{choice_of(name, models)}; install its plug-in first"
                raise UnknownNameError("read model", name, hint, where="at hand here")

    def refuse_key_collision(self, event: Event, beside: rules.Beside = NOTHING) -> None:
        """Refuse a new fact where another one was corrected to stand; the views are brought level for it.

        Args:
            event: the fact.
            beside: as of ``judge``: a round without a game may be told there by another day.

        Raises:
            ConflictError: ``exists-with-different-key``.
        """
        telling: Event = event
        if isinstance(event, RoundWithoutGame):
            telling = self.told_round_now(event, beside.get(rules.subject_of(event), ()))
        if telling.key != event.key:
            words = f"{telling.key!r} says already what this round of the edition brought; correct that one"
            raise ConflictError(event.key, "key", telling.key, event.key, f"{event.key!r}: {words}")
        if may_meet(event) and self.any_corrected():
            self.views.level()
            collisions.refuse_key_collision(self.views.connection, self.journal, event)

    def told_round_now(self, event: RoundWithoutGame, beside: Iterable[Event] = ()) -> RoundWithoutGame:
        """The same as ``told_round``, of views that are brought level for it where the journal may hold it."""
        if self.any_corrected() or any(collisions.keys_at(self.journal, event.place)):
            self.views.level()
        return self.told_round(event, beside)

    def person(self, player: int) -> int:
        """The number by which a player is known after all merges; the views are brought level for it."""
        if not self.any_corrected():
            return player
        self.views.level()
        return decisions.root(stored_proposals.merges_in(self.views.connection), player)
