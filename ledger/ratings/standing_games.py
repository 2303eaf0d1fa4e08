"""What only the views know of new facts: how a game stands that is told again, and what cannot act or stand any more.

How a game stands is asked of the views as they are where a transaction on the journal holds entries of its own.
"""

from __future__ import annotations

from functools import partial

import attrs

from ledger.book import corrections, decided
from ledger.book.hypothetical_facts import HypotheticalFacts, may_meet, refuse_meeting
from ledger.book.tournament_editions import in_edition
from ledger.errors import ConflictError
from ledger.facts import codec
from ledger.facts.codec import decode
from ledger.facts.events import Event, RoundWithoutGame
from ledger.journal import Journal
from ledger.journal.told_again import Corrected
from ledger.ratings import pasts
from ledger.ratings.views import Views

_AFTER_AT = chr(ord("@") + 1)  # ends the range of keys that begin with a place
FIRST = "proposal:1@1"  # the key that stands in every journal in which anything was proposed


@attrs.frozen
class StandingGames:
    """The games of one ledger.

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
        person = partial(corrections.root, facts.decided.merges)
        plain = {name: value for name, value in fact.facts.items() if name != "game"}
        return Corrected({**plain, "white": person(plain["white"]), "black": person(plain["black"])}, person)

    def standing_now(self, game: str) -> Corrected | None:
        """The same, of views that are brought level for it: not while a transaction holds entries of its own."""
        if self.any_corrected():
            self.views.level()
        return self.standing(game)

    def told_round(self, event: RoundWithoutGame) -> RoundWithoutGame:
        """A round without a game in the words in which the journal holds it; itself where it is new.

        Sources call an edition by different days: its first one, that of the round. And what was corrected may be told
        as it stands now. How it stands is asked of the views as they are.
        """
        days = [key for key in self.journal.keys(event.place, f"{event.place[:-1]}{_AFTER_AT}") if key != event.key]
        if not days and (not self.any_corrected() or not self.journal.find([event.key])):
            return event
        if not self.views.path.exists():
            return event
        connection = self.views.connection
        stored = self.journal.find([*days, event.key])
        events = [decode(entry.body).event for entry in stored.values()]
        known = [known for known in events if isinstance(known, RoundWithoutGame)]
        same = in_edition(connection, event, known)
        if same is None:
            return event
        fact = HypotheticalFacts(connection, self.journal).fact(same.key)
        now = attrs.evolve(event, edition=same.edition)
        stands = fact is not None and fact.annulled_by is None and dict(fact.facts) == codec.facts_mapping(now)
        return same if stands else now

    def judge(self, event: Event) -> None:
        """Refuse a new fact that the rules of the journal let pass.

        Raises:
            RejectedError: ``after-the-first-game``; ConflictError: ``exists-with-different-key``.
        """
        if pasts.may_be_late(event):
            pasts.refuse_late(self.views.connection, self.views.pools(), event)
        self.refuse_meeting(event)

    def refuse_meeting(self, event: Event) -> None:
        """Refuse a new fact where another one was corrected to stand; the views are brought level for it.

        Raises:
            ConflictError: ``exists-with-different-key``.
        """
        if isinstance(event, RoundWithoutGame) and (telling := self.told_round_now(event)).key != event.key:
            words = f"{telling.key!r} says already what this round of the edition brought; correct that one"
            raise ConflictError(event.key, "key", telling.key, event.key, f"{event.key!r}: {words}")
        if may_meet(event) and self.any_corrected():
            self.views.level()
            refuse_meeting(self.views.connection, self.journal, event)

    def told_round_now(self, event: RoundWithoutGame) -> RoundWithoutGame:
        """The same as ``told_round``, of views that are brought level for it where the journal may hold it."""
        if any(self.journal.keys(event.place, f"{event.place[:-1]}{_AFTER_AT}")):
            self.views.level()
        return self.told_round(event)

    def person(self, player: int) -> int:
        """The number by which a player is known after all merges; the views are brought level for it."""
        if not self.any_corrected():
            return player
        self.views.level()
        return corrections.root(decided.merges_in(self.views.connection), player)
