"""The facts of a ledger as they are now, after corrections: games, rounds, players, pools.

The journal says what was recorded, the views what became of it. While a transaction on the journal has entries of its
own, the views are asked as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import attrs

from ledger.book import collisions, decisions, initial_ratings, stored_proposals
from ledger.book.conflicts import HypotheticalFacts
from ledger.book.policies import READ_MODELS, Given, stored_policies
from ledger.book.timeline import Pool
from ledger.book.tournament_editions import are_near, in_edition
from ledger.duplicates.repeats import Corrected
from ledger.errors import RejectedError, UnknownNameError
from ledger.facts import codec
from ledger.facts.codec import decode
from ledger.facts.events import Event, PlayerChanged, RoundWithoutGame
from ledger.journal import Journal
from ledger.runtime.nearest import choice_of

if TYPE_CHECKING:
    import sqlite3

FIRST = "proposal:1@1"  # the key that stands in every journal in which anything was proposed


class DerivedViews(Protocol):
    """The views of a ledger, as far as the judge asks them."""

    @property
    def path(self) -> Path:
        """The file."""

    @property
    def connection(self) -> sqlite3.Connection:
        """The open views."""

    def level(self) -> None:
        """Bring them up to date with the journal."""

    def pools(self) -> list[Pool]:
        """Return the pools with their timelines."""

    def read_models(self) -> list[str]:
        """Return the names of the read models that there are."""


@attrs.frozen
class CurrentFacts:
    """The current facts of one ledger.

    Attributes:
        journal: the facts as they were recorded.
        views: the facts as they are now.
    """

    journal: Journal
    views: DerivedViews

    @property
    def connection(self) -> sqlite3.Connection:
        """The views, which are brought up to date first."""
        self.views.level()
        return self.views.connection

    def pool(self, name: str) -> Pool | None:
        """Return a pool of the views, which are brought up to date first; None if there is none."""
        self.views.level()
        return next((pool for pool in self.views.pools() if pool.name == name), None)

    def any_corrected(self) -> bool:
        """Whether anything was proposed; else every game stands as it was recorded."""
        return bool(self.journal.find([FIRST]))

    def corrected(self) -> HypotheticalFacts | None:
        """Return the facts as they were corrected; None if nothing was."""
        return HypotheticalFacts(self.connection, self.journal) if self.any_corrected() else None

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
            conflict = collisions.key_conflict(connection, self.journal, event)
            assert conflict is not None  # with the fact of this key
            raise conflict
        recorded = decode(self.journal.find([key])[key].body).event
        assert isinstance(recorded, RoundWithoutGame)  # keys of its family are of rounds
        return recorded

    def late_declaration(self, event: PlayerChanged) -> RejectedError | None:
        """Return the refusal of a declared rating that has no effect any more, as ``initial_ratings`` says."""
        return initial_ratings.late_declaration(self.connection, self.views.pools(), event)

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
