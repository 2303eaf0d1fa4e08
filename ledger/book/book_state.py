"""The state of one game book: its database, its journal, and what memory holds of pools, players and decisions.

Everything that applies a fact receives this state as one object: kinds of facts, games that change, corrections.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.book import decisions, tables, tournament_editions
from ledger.book.assessment import Changes, GameAssessor
from ledger.book.roster import Roster
from ledger.book.stored_editions import UnplacedTournaments
from ledger.book.stored_pools import stored_pools
from ledger.book.stored_proposals import StoredProposals
from ledger.book.timeline import BEGINNING, Pool
from ledger.errors import CorruptError, MalformedError
from ledger.facts.codec import decode
from ledger.facts.events import (
    Event,
    RoundWithoutGame,
)
from ledger.facts.periods import OPEN

if TYPE_CHECKING:
    import sqlite3

    from ledger.journal import Journal


class BookState:
    """The state of one game book, which every fold receives.

    Attributes:
        connection: the database.
        journal: it has corrected facts as they were recorded.
        until: the last position that the book may know; None: all that the journal holds.
        roster: the players.
        pools: the pools by name, in their current form.
        assessor: says which games count, and their places in rating order.
        decided: the proposals and decisions.
        played: tournaments of which games were recorded since their games were last placed.
        unsettled: positions of new games that a correction in force may concern.
        notes_moves: whether the moves of games are noted, to find repeats.
    """

    notes_moves = True

    def __init__(self, connection: sqlite3.Connection, journal: Journal, *, until: int | None = None) -> None:
        """Load the state of a database.

        Args:
            connection: the database.
            journal: the journal that it follows from.
            until: of a build, the position at which it ends.
        """
        self.connection = connection
        self.journal = journal
        self.until = until
        self.roster = Roster(connection)
        self.pools = {pool.name: pool for pool in stored_pools(connection)}
        self.assessor = GameAssessor(connection, self.pools, self.roster)
        self.proposals = StoredProposals(connection)
        self.played = UnplacedTournaments()
        self.unsettled: set[int] = set()
        self._runs_from: dict[str, int] = {}  # by pool, the earliest run closed since its games were placed

    def pool_named(self, name: str, position: int) -> Pool:
        """Return the pool of an entry.

        Raises:
            CorruptError: no scheme was adopted for it before.
        """
        pool = self.pools.get(name)
        if pool is None:
            raise CorruptError("journal", position, f"no scheme rates pool {name!r} of this entry; run 'audit'")
        return pool

    def reload_pool(self, name: str) -> Pool:
        """Return a pool as its tables have it now."""
        for pool in stored_pools(self.connection):
            if pool.name == name:
                self.pools[name] = pool
                return pool
        raise CorruptError("journal", 0, f"pool {name!r} has no scheme after its corrections; run 'audit'")

    def covers(self, position: int) -> bool:
        """Return whether an entry of the journal is one of those that the book may know."""
        return self.until is None or position <= self.until

    def fact(self, key: str) -> Event | None:
        """Return the current fact of a key; None if there is none, or if it is annulled."""
        stored = self.journal.find([key]).get(key)
        if stored is None or not self.covers(stored.position):
            return None
        return self.corrected_fact(decode(stored.body).event)

    def corrected_fact(self, event: Event, *, until: int | None = None) -> Event | None:
        """Return a fact after its corrections; None if it is annulled.

        Args:
            event: the fact as it was recorded.
            until: the last entry of those whose decisions count; by default all that are folded in.

        Raises:
            CorruptError: it was corrected to what it may not be.
        """
        acting = self.proposals.approved_changes([event.key], until=until).get(event.key, [])
        in_force = decisions.combined_change(acting)
        if in_force.annulled is not None and not isinstance(event, RoundWithoutGame):
            return None
        try:
            now = decisions.with_corrections(event, in_force.fields)
        except MalformedError as error:
            message = f"the fact {event.key!r} was corrected to what it may not be ({error}); run 'audit'"
            raise CorruptError("journal", 0, message) from error
        # A round that was not annulled by itself stays in the table though its tournament is void:
        # ``tournament_editions.rounds_of`` leaves it out.
        if in_force.annulled is not None and isinstance(now, RoundWithoutGame):
            # its tournament may have been restored since, and it with it
            stored = tournament_editions.stored_round(now, 0)
            if tournament_editions.annulled_by(self.proposals, now.pool, stored, in_force, until=until) is not None:
                return None
        return now

    def fact_in_force(self, event: Event, *, until: int | None = None) -> Event | None:
        """Return a fact if it counts: its current form, but no round without a game of a voided tournament."""
        now = self.corrected_fact(event, until=until)
        if not isinstance(now, RoundWithoutGame) or not self.proposals.spans_for_tournament(
            now.pool, now.tournament, until=until
        ):
            return now
        in_force = decisions.combined_change(
            self.proposals.approved_changes([event.key], until=until).get(event.key, [])
        )
        stored = tournament_editions.stored_round(now, 0)
        is_void = tournament_editions.annulled_by(self.proposals, now.pool, stored, in_force, until=until) is not None
        return None if is_void else now

    def note_tournament_game(self, pool: int, tournament: str | None, ended_ms: int) -> None:
        """Note that a game has come into a tournament, has left it, or ended at another time."""
        name = next(candidate.name for candidate in self.pools.values() if candidate.pool == pool)
        if tournament and self.pools[name].by_event:
            self.played.note(name, tournament, ended_ms, ended_ms)

    def renumber_periods(self, pool: str, since_ms: int) -> None:
        """Note that a pool's periods are to be counted again from a place on, once all new entries are folded in."""
        self._runs_from[pool] = min(since_ms, self._runs_from.get(pool, since_ms))

    def place_periods(self, fresh: Changes) -> None:
        """Place the games of recounted periods, and the later ones, which are renumbered."""
        for name, since in self._runs_from.items():  # once, however many runs were closed
            where = "pool = ?1 AND rated_ms >= ?2 AND reason IS NULL"
            self.assessor.reassess(where, (self.pools[name].pool, since), fresh, everybody=True)
        self._runs_from.clear()

    def place_tournament(self, pool: Pool, tournament: str, fresh: Changes) -> None:
        """Place the games of a tournament by its announcements."""
        if not pool.by_game:
            tables.index_tournaments(self.connection)
            self.assessor.reassess("pool = ?1 AND tournament = ?2", (pool.pool, tournament), fresh)

    def place_tournaments(self, fresh: Changes) -> None:
        """Place the games around new ones of tournaments that are rated whole."""
        for (name, tournament), (first, last) in self.played.take_all():
            pool = self.pools[name]
            tables.index_tournaments(self.connection)
            announced = tournament in pool.closed or tournament in pool.opened
            # The days of one edition bound the next: with an announcement all games of the name are placed again.
            span = (BEGINNING, OPEN) if announced else (first - pool.reach_ms, last + pool.reach_ms)
            where = "pool = ?1 AND tournament = ?2 AND ended_ms BETWEEN ?3 AND ?4"
            self.assessor.reassess(where, (pool.pool, tournament, *span), fresh)
