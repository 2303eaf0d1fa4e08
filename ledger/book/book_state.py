"""The state of one game book: its database, its journal, and the pools, players and proposals in memory.

Everything that applies a fact receives this state as one object: kinds of facts, games that change, corrections.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ledger.book import decisions, guests, tables, tournament_editions
from ledger.book.assessment import GameAssessor, Reratings
from ledger.book.roster import Roster
from ledger.book.stored_editions import UnplacedTournaments
from ledger.book.stored_pools import stored_pools
from ledger.book.stored_proposals import StoredProposals
from ledger.book.timeline import BEGINNING, Pool
from ledger.errors import CorruptError, MalformedError
from ledger.facts.codec import decode
from ledger.facts.events import Event, RoundWithoutGame
from ledger.facts.periods import OPEN

if TYPE_CHECKING:
    import sqlite3

    from ledger.journal import Journal


class BookState:
    """The state of one game book, for everything that applies facts to it.

    Attributes:
        connection: the database.
        journal: the journal, which has corrected facts as they were recorded.
        until: the last position that the book covers; None: all of the journal.
        roster: the players.
        pools: the pools by name, in their current form.
        assessor: says which games count, and their places in rating order.
        proposals: the proposals and decisions.
        played: tournaments of which games were recorded since their games were last placed.
        unsettled: positions of new games that a correction in force may concern.
        notes_moves: whether the moves of games are stored, to find repeats.
    """

    notes_moves = True

    def __init__(self, connection: sqlite3.Connection, journal: Journal, *, until: int | None = None) -> None:
        """Load the state of a database that was derived from a journal up to a position."""
        self.connection = connection
        self.journal = journal
        self.until = until
        self.roster = Roster(connection)
        self.pools = {pool.name: pool for pool in stored_pools(connection)}
        self.proposals = StoredProposals(connection)
        self.assessor = GameAssessor(connection, self.pools, self.roster, self.proposals.merges)
        self.played = UnplacedTournaments()
        self.unsettled: set[int] = set()
        self._possible_guests: dict[int, int] = {}  # by player, from when on games wait to be assessed again
        self._entered: dict[tuple[int, str], int] = {}  # by pool and tournament, likewise
        self._runs_from: dict[str, int] = {}  # by pool, the earliest run closed since its games were placed

    def pool_named(self, name: str, position: int) -> Pool:
        """Return the pool that an entry at a position names.

        Raises:
            CorruptError: no scheme was adopted for it before.
        """
        pool = self.pools.get(name)
        if pool is None:
            raise CorruptError("journal", position, f"no scheme rates pool {name!r} of this entry; run 'audit'")
        return pool

    def reload_pool(self, name: str) -> Pool:
        """Read a pool from its tables again, and return it."""
        for pool in stored_pools(self.connection):
            if pool.name == name:
                self.pools[name] = pool
                return pool
        raise CorruptError("journal", 0, f"pool {name!r} has no scheme after its corrections; run 'audit'")

    def covers(self, position: int) -> bool:
        """Return whether the book covers the entry at a position of the journal."""
        return self.until is None or position <= self.until

    def fact(self, key: str) -> Event | None:
        """Return the fact of a key after its corrections; None if there is none, or if it is annulled."""
        stored = self.journal.find([key]).get(key)
        if stored is None or not self.covers(stored.position):
            return None
        return self.corrected_fact(decode(stored.body).event, stored.position)

    def corrected_fact(
        self, event: Event, position: int, *, until: int | None = None, in_force: bool = False
    ) -> Event | None:
        """Return a fact after its corrections; None if it is annulled.

        Args:
            event: the fact as it was recorded.
            position: of its entry.
            until: the last entry whose decisions count; by default all that were applied.
            in_force: leave out a round without a game if its tournament is void; it stays in its table, and
                ``tournament_editions.rounds_of`` leaves it out.

        Raises:
            CorruptError: a correction gave it a value that is not allowed.
        """
        combined = decisions.combined_change(self.proposals.approved_changes([event.key], until=until)[event.key])
        is_annulled = combined.annulled_by(self.proposals.spans_of_fact(event, position, until=until)) is not None
        if is_annulled and not isinstance(event, RoundWithoutGame):
            return None
        try:
            now = decisions.with_corrections(event, combined.fields)
        except MalformedError as error:
            message = f"the fact {event.key!r} was corrected to what it may not be ({error}); run 'audit'"
            raise CorruptError("journal", 0, message) from error
        # of a round that was annulled by itself the tournament may have been restored since, and it with it
        if isinstance(now, RoundWithoutGame) and (is_annulled or in_force):
            stored = tournament_editions.stored_round(now, position)
            if tournament_editions.annulled_by(self.proposals, now.pool, stored, combined, until=until) is not None:
                return None
        return now

    def note_tournament_game(self, pool: int, tournament: str | None, ended_ms: int) -> None:
        """Note that a tournament got or lost a game, or that one of its games ended at another time."""
        name = next(candidate.name for candidate in self.pools.values() if candidate.pool == pool)
        if tournament and self.pools[name].by_event:
            self.played.note(name, tournament, ended_ms, ended_ms)

    def renumber_periods(self, pool: str, since_ms: int) -> None:
        """Note that a pool's rating periods must be numbered again from an instant on, after all new entries."""
        self._runs_from[pool] = min(since_ms, self._runs_from.get(pool, since_ms))

    def place_periods(self, reratings: Reratings) -> None:
        """Assess the games of renumbered rating periods again."""
        for name, since in self._runs_from.items():  # once, however many runs were closed
            where = "pool = ?1 AND rated_ms >= ?2 AND reason IS NULL"
            self.assessor.reassess(where, (self.pools[name].pool, since), reratings, everybody=True)
        self._runs_from.clear()

    @property
    def has_guests(self) -> bool:
        """True if some pool has guests."""
        return any(pool.has_guests for pool in self.pools.values())

    def _has_guests_in(self, pool: int) -> bool:
        """Return whether a pool, by its number, has guests."""
        return any(each.pool == pool and each.has_guests for each in self.pools.values())

    def note_possible_guest(self, player: int, since_ms: int) -> None:
        """Note that another fact may make a player a guest from an instant on, or change the guest's rating."""
        if self.has_guests:
            self._possible_guests[player] = min(since_ms, self._possible_guests.get(player, since_ms))

    def note_list_of_guest(self, player: int, pool: int, since_ms: int) -> None:
        """Note that a list gives a player a rating from an instant on, if the player may be a guest in the pool."""
        if self._has_guests_in(pool) and (self.proposals.merges or guests.may_be_guest(self.connection, player)):
            self.note_possible_guest(player, since_ms)

    def note_entrants(self, pool: int, tournament: str, since_ms: int) -> None:
        """Note that the list of entrants of a tournament changed, in an edition that begins at an instant."""
        if self._has_guests_in(pool):
            place = (pool, tournament)
            self._entered[place] = min(since_ms, self._entered.get(place, since_ms))

    def place_new_guests(self, position: int, reratings: Reratings) -> None:
        """Assess the games of possible guests again that were recorded as columns from a position on."""
        if self.has_guests:
            players = guests.possible_guests(self.connection, self.proposals.merges)
            self._assess_guests(players, "position", position, reratings)

    def place_guests(self, reratings: Reratings) -> None:
        """Assess the games of noted tournaments and possible guests again, after all new facts."""
        for (pool, tournament), since_ms in self._entered.items():
            tables.index_tournaments(self.connection)
            where = "pool = ?1 AND tournament = ?2 AND ended_ms >= ?3"
            self.assessor.reassess(where, (pool, tournament, since_ms), reratings)
        self._entered.clear()
        if self._possible_guests:
            since_ms = min(self._possible_guests.values())
            players = sorted({decisions.person_of(self.proposals.merges, player) for player in self._possible_guests})
            self._possible_guests.clear()
            self._assess_guests(players, "ended_ms", since_ms, reratings)

    def place_all_guests(self, reratings: Reratings) -> None:
        """Assess the games of all possible guests again, at the end of a build."""
        self._possible_guests.clear()
        self._entered.clear()
        if self.has_guests:
            players = guests.possible_guests(self.connection, self.proposals.merges)
            self._assess_guests(players, "ended_ms", BEGINNING, reratings)

    def _assess_guests(self, players: Sequence[int], column: str, since: int, reratings: Reratings) -> None:
        """Assess the games of players again, in pools with guests, from a position or an end on."""
        # The plus keeps SQLite to the positions of a block: it would look for each of a million players.
        among = f"{'+' if column == 'position' else ''}{{}} IN (SELECT value FROM json_each(?3))"
        where = f"pool = ?1 AND {column} >= ?2 AND ({among.format('white')} OR {among.format('black')})"
        for pool in self.pools.values():
            if pool.has_guests and players:
                self.assessor.reassess(where, (pool.pool, since, json.dumps(players)), reratings)

    def place_tournament(self, pool: Pool, tournament: str, reratings: Reratings) -> None:
        """Assess the games of a tournament again, by its announcements."""
        if not pool.by_game:
            tables.index_tournaments(self.connection)
            self.assessor.reassess("pool = ?1 AND tournament = ?2", (pool.pool, tournament), reratings)

    def place_tournaments(self, reratings: Reratings) -> None:
        """Assess the games again that are near new ones in tournaments that are rated whole."""
        for (name, tournament), (first, last) in self.played.take_all():
            pool = self.pools[name]
            tables.index_tournaments(self.connection)
            announced = tournament in pool.closed or tournament in pool.opened
            # The days of one edition bound the next: with an announcement all games of the name are placed again.
            span = (BEGINNING, OPEN) if announced else (first - pool.reach_ms, last + pool.reach_ms)
            where = "pool = ?1 AND tournament = ?2 AND ended_ms BETWEEN ?3 AND ?4"
            self.assessor.reassess(where, (pool.pool, tournament, *span), reratings)
