"""Facts as they stand after their corrections, for whoever records: a game may be told again as it stands.

How a game stands is asked of the views as they are where a transaction on the journal holds entries of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import attrs

from ledger.book import corrections, stored_merges
from ledger.book.hypothetical_facts import HypotheticalFacts
from ledger.book.proposal_conflicts import may_meet, refuse_meeting
from ledger.facts.events import Event
from ledger.journal import Journal
from ledger.journal.told_again import Corrected
from ledger.ratings.views import Views

FIRST = "proposal:1@1"  # the key that stands in every journal in which anything was proposed


@attrs.frozen
class StandingGames:
    """The games of one ledger.

    Attributes:
        journal: where they stand as they were recorded.
        views: where it is known how they stand now.
        level: brings the views level with the journal.
    """

    journal: Journal
    views: Callable[[], Views]
    level: Callable[[], None]

    def any_corrected(self) -> bool:
        """Whether anything was proposed; else every game stands as it was recorded."""
        return bool(self.journal.find([FIRST]))

    def standing(self, game: str) -> Corrected | None:
        """How a game stands that the views know; None where nothing was proposed, or they do not know it."""
        if not self.any_corrected() or not self.views().path.exists():
            return None
        facts = HypotheticalFacts(self.views().connection, self.journal)
        fact = facts.fact(f"game:{game}")
        if fact is None or not fact.facts:
            return None
        person = partial(corrections.root, facts.decided.merges)
        plain = {name: value for name, value in fact.facts.items() if name != "game"}
        return Corrected({**plain, "white": person(plain["white"]), "black": person(plain["black"])}, person)

    def standing_now(self, game: str) -> Corrected | None:
        """The same, of views that are brought level for it: not while a transaction holds entries of its own."""
        if self.any_corrected():
            self.level()
        return self.standing(game)

    def refuse_meeting(self, event: Event) -> None:
        """Refuse a new fact where another one was corrected to stand; the views are brought level for it.

        Raises:
            ConflictError: ``exists-with-different-key``.
        """
        if may_meet(event) and self.any_corrected():
            self.level()
            refuse_meeting(self.views().connection, self.journal, event)

    def person(self, player: int) -> int:
        """The number by which a player is known after all merges; the views are brought level for it."""
        if not self.any_corrected():
            return player
        self.level()
        return corrections.root(stored_merges.merges_in(self.views().connection), player)
