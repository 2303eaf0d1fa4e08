"""Facts beside games after corrections: schemes, runs, tournaments, standings, pasts of players, each taken anew.

A fact is taken out of its table and put in again as it stands now; the games that it reaches are judged again. Games
themselves are the business of ``settling``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ledger.book import pasts, stored_policies, stored_rounds, tables
from ledger.book.fresh import Fresh
from ledger.book.judging import Judging
from ledger.book.roster import INSERT_SEED, Roster, seed_row
from ledger.book.stored_pools import add_closing, add_era, add_opening, add_run, era_of, stored_pools
from ledger.book.timeline import Pool
from ledger.errors import CorruptError
from ledger.facts.events import (
    BirthYearLearnt,
    Event,
    PlayerChanged,
    PlayerRegistered,
    RatingRunClosed,
    RatingSeeded,
    RoundWithoutGame,
    SchemeAdopted,
    TournamentClosed,
    TournamentOpened,
)
from ledger.facts.instants import instant_ms
from ledger.facts.public_events import PolicySet

if TYPE_CHECKING:
    import sqlite3

_DECLARED = "SELECT declared_rating FROM changes WHERE position = ?"
_OF_PLAYER = "(white = ?1 OR black = ?1) AND ended_ms >= ?2"
_SET_KNOWN = "UPDATE players SET joined_at = ?, standing = ?, declared_rating = ? WHERE player = ?"
_ALWAYS = -(2**62)  # milliseconds


class SettledFacts:
    """What makes the facts beside games of one book those that its corrections say."""

    def __init__(
        self, connection: sqlite3.Connection, pools: dict[str, Pool], roster: Roster, judging: Judging,
        close_runs: Callable[[str, int], None], place: Callable[[Pool, str, Fresh], None],
    ) -> None:  # fmt: skip
        """Take the parts of the book.

        Args:
            connection: its database.
            pools: its pools by name: those whose timeline changes are put in anew.
            roster: its players.
            judging: its judge.
            close_runs: called with a pool and the place in rating order from where its periods are counted anew.
            place: called with a pool and a tournament whose games take their places anew.
        """
        self._connection = connection
        self._pools = pools
        self._roster = roster
        self._judging = judging
        self._close_runs = close_runs
        self._place = place

    def settle(
        self, position: int, recorded: Event, now: Event | None, fresh: Fresh, stands: Callable[[str], Event | None]
    ) -> None:
        """Take a fact as it stands now.

        Args:
            position: of the entry that recorded it.
            recorded: the fact as it was recorded.
            now: as it stands; None where it is annulled.
            fresh: what is to be rated anew is noted here.
            stands: the fact of a key as it stands; None where there is none, or where it is annulled.
        """
        match recorded:
            case SchemeAdopted():
                self._era(position, recorded, now, fresh)
            case RatingRunClosed():
                self._run(position, recorded, now)
            case TournamentOpened() | TournamentClosed():
                self._tournament(position, recorded, now, fresh)
            case PlayerRegistered() | BirthYearLearnt():
                self._known(recorded.player, stands, fresh)
            case PlayerChanged():
                self._changed(position, recorded, now, fresh)
            case RatingSeeded():
                self._seed(position, recorded, now, fresh)
            case PolicySet():
                stored_policies.settle(self._connection, position, recorded, now if type(now) is PolicySet else None)
            case RoundWithoutGame():
                stands_now = now if isinstance(now, RoundWithoutGame) else None
                stored_rounds.settle(self._connection, position, self._pools[recorded.pool].pool, stands_now)
            case _:
                pass

    def _reloaded(self, name: str) -> Pool:
        for pool in stored_pools(self._connection):
            if pool.name == name:
                self._pools[name] = pool
                return pool
        raise CorruptError("journal", 0, f"pool {name!r} has no scheme after its corrections; run 'audit'")

    def _taken_out(self, table: str, position: int, column: str) -> list[int]:
        """Take the row of an entry out of a table; what its column held, milliseconds."""
        held = self._connection.execute(f"SELECT {column} FROM {table} WHERE position = ?", (position,)).fetchall()
        self._connection.execute(f"DELETE FROM {table} WHERE position = ?", (position,))
        return [ms for (ms,) in held]

    def _era(self, position: int, recorded: SchemeAdopted, now: Event | None, fresh: Fresh) -> None:
        before = self._pools[recorded.pool]
        begins = self._taken_out("eras", position, "since_ms")
        if isinstance(now, SchemeAdopted):
            era = era_of(position, now)
            add_era(self._connection, before, era)
            fresh.adopted.append(era.scheme)
            begins.append(era.since_ms)
        pool = self._reloaded(recorded.pool)
        if begins:
            cut = min(begins) - 1  # where a period stands that the change of scheme cuts short
            since = max(cut - max(before.reach_ms, pool.reach_ms), _ALWAYS)
            where = "pool = ?1 AND (ended_ms >= ?2 OR rated_ms >= ?2)"
            self._judging.again(where, (pool.pool, since), fresh, everybody=True)

    def _run(self, position: int, recorded: RatingRunClosed, now: Event | None) -> None:
        ends = self._taken_out("runs", position, "as_of_ms")
        if isinstance(now, RatingRunClosed):
            ends.append(add_run(self._connection, self._pools[recorded.pool], position, now))
        pool = self._reloaded(recorded.pool)
        if pool.by_runs and ends:
            self._close_runs(pool.name, min(ends))

    def _tournament(
        self, position: int, recorded: TournamentOpened | TournamentClosed, now: Event | None, fresh: Fresh
    ) -> None:
        names = {recorded.tournament}
        table = "openings" if isinstance(recorded, TournamentOpened) else "tournaments"
        query = f"SELECT tournament FROM {table} WHERE position = ?"
        names.update(name for (name,) in self._connection.execute(query, (position,)).fetchall())
        self._taken_out(table, position, "position")
        before = self._pools[recorded.pool]
        if isinstance(now, TournamentOpened):
            add_opening(self._connection, before, position, now)
            names.add(now.tournament)
        elif isinstance(now, TournamentClosed):
            add_closing(self._connection, before, position, now)
            names.add(now.tournament)
        pool = self._reloaded(recorded.pool)
        for name in sorted(names):
            self._place(pool, name, fresh)

    def _known(self, player: int, stands: Callable[[str], Event | None], fresh: Fresh) -> None:
        """What registration told of a player, and a year of birth that was learnt later, which goes before."""
        joined, born = stands(f"player:{player}"), stands(f"born:{player}")
        if isinstance(joined, PlayerRegistered):
            row = (joined.joined_at, joined.standing.value, joined.declared_rating, player)
            self._connection.execute(_SET_KNOWN, row)
            year = born.birth_year if isinstance(born, BirthYearLearnt) else joined.birth_year
            self._connection.execute(pasts.UPDATE_BIRTH_YEAR, (year, player))
        self._roster.is_told_of_pasts = True  # perhaps by the correction alone
        self._roster.read_again(player)
        self._judging.again(_OF_PLAYER, (player, _ALWAYS), fresh, player=player)
        pasts.begin_anew(self._connection, player, None, fresh.note)

    def _changed(self, position: int, recorded: PlayerChanged, now: Event | None, fresh: Fresh) -> None:
        player = recorded.player
        declared = set(self._connection.execute(_DECLARED, (position,)).fetchall())
        begins = self._taken_out("changes", position, "effective_ms")
        if isinstance(now, PlayerChanged):
            declared.add((now.declared_rating,))
            begins.append(instant_ms(now.effective_at))
            row = (player, begins[-1], now.effective_at, now.standing.value, now.declared_rating, position)
            self._connection.execute(tables.INSERT_CHANGE, row)
        self._roster.read_again(player)
        if begins:
            declares = declared != {(None,)}  # a standing alone moves no game but those that it lets count or not
            self._judging.again(_OF_PLAYER, (player, min(begins)), fresh, player=player if declares else None)
            if declares:  # such a rating acts at the first game
                pasts.begin_anew(self._connection, player, None, fresh.note)

    def _seed(self, position: int, recorded: RatingSeeded, now: Event | None, fresh: Fresh) -> None:
        pool = self._pools[recorded.pool]
        self._taken_out("seeds", position, "effective_ms")
        if isinstance(now, RatingSeeded):
            self._connection.execute(INSERT_SEED, seed_row(pool.pool, now, position))
        pasts.begin_anew(self._connection, recorded.player, pool.pool, fresh.note)
