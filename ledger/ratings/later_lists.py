"""Later lists: they give players with games a new rating; here is where in rating order they take effect.

A player begins with the list in force when the first rated game ends. Each later list replaces what it states before
the player's next game, or the next batch that begins on its day or later (``Pool.lists_until``). Games are therefore
rated in stretches: none reaches over the day of such a list. The scheme decides what a list does to a state.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ledger.book.roster import Roster, StoredSeed
from ledger.book.timeline import BEGINNING, ListRating, Pool
from ledger.ratings.rated_games import Games, first_games
from ledger.runtime.columns import Column, Columns

if TYPE_CHECKING:
    import sqlite3

# A player's games from the one with number ?3 back, with their places in rating order.
_PLACES_BACK = (
    "SELECT h.ended_ms, rated_ms, batch FROM history AS h JOIN games ON games.position = h.game "
    "WHERE h.pool = ?1 AND h.player = ?2 AND n <= ?3 ORDER BY n DESC"
)


def lists_in_state(connection: sqlite3.Connection, pool: Pool, player: int, n: int) -> int:
    """Return the instant up to which the state after a player's *n*-th game takes lists into account."""
    until, first_ms = BEGINNING, 0
    place: tuple[int, str] | None = None
    for ended_ms, rated_ms, batch in connection.execute(_PLACES_BACK, (pool.pool, player, n)):
        if place is not None and place != (rated_ms, batch):
            until = max(until, pool.lists_until(place[0], first_ms))
            # A batch takes no list into account that is later than its place.
            if rated_ms <= until:
                return until
        place, first_ms = (rated_ms, batch), ended_ms
    return until if place is None else max(until, pool.lists_until(place[0], first_ms))


class LaterLists:
    """The later lists of players during a rerating, and how far each player's state takes them into account."""

    def __init__(self, pool: Pool, roster: Roster) -> None:
        """Take a pool; nothing is read."""
        self._pool = pool
        self._roster = roster
        self._until: dict[int, int] = {}  # of players with lists
        self._seeds: dict[int, list[StoredSeed]] = {}  # as far as they were asked for

    @property
    def are_any(self) -> bool:
        """True if a player of the pool has the rating of a list."""
        return self._roster.has_seeds(self._pool.pool)

    def has_list(self, player: int) -> bool:
        """Return whether a player has the rating of a list in the pool."""
        return bool(self._lists_of(player))

    def _lists_of(self, player: int) -> list[StoredSeed]:
        if player not in self._seeds:
            self._seeds[player] = self._roster.seeds(self._pool.pool, player)
        return self._seeds[player]

    def note(self, player: int, until_ms: int) -> None:
        """Note up to which instant a player's state takes lists into account."""
        self._until[player] = max(until_ms, self._until.get(player, BEGINNING))

    def leave(self, players: Iterable[int]) -> None:
        """Forget players."""
        for player in players:
            self._until.pop(player, None)

    def waits(self, player: int) -> bool:
        """Return whether a list of a player is later than what the state takes into account."""
        after = self._until.get(player)
        return after is not None and self._lists_of(player)[-1].ms > after

    def taken_in(self, player: int, rated_ms: int, first_ms: int) -> list[ListRating]:
        """Return the lists that take effect before a player's batch, and note that they have.

        Args:
            player: the player.
            rated_ms: the batch's place in rating order.
            first_ms: when the player's first game in it ended.
        """
        # A new player begins with the list in force at the end of the first game.
        after, until = self._until.get(player, first_ms), self._pool.lists_until(rated_ms, first_ms)
        self.note(player, until)
        return self._roster.list_ratings_between(self._pool.pool, player, after, until)

    def cuts(self, cols: Columns, games: Games, dense: tuple[Column, Column, Column]) -> list[int]:
        """Return the places of games before which later lists may take effect, in order.

        Args:
            cols: how the columns are held.
            games: in rating order.
            dense: their players, and Whites and Blacks as places among them.
        """
        if not self.are_any or not len(games.white):
            return []
        (players,) = cols.lists([dense[0]])
        first = first_games(cols, len(players), *dense[1:])
        ends, (last_ms,) = cols.lists([cols.take(games.ended_ms, first)])[0], cols.lists([games.rated_ms[-1:]])[0]
        days: set[int] = set()
        for player, ended_ms in zip(players, ends, strict=True):
            seeds = self._lists_of(player)
            if seeds and seeds[-1].ms > (after := self._until.get(player, ended_ms)):
                days.update(listed.ms for listed in seeds if after < listed.ms <= last_ms)
        places: set[int] = set()
        for day in days:
            places.update(_cuts(cols, games, day))
        return sorted(places - {0, len(games.white)})


def _cuts(cols: Columns, games: Games, day: int) -> Sequence[int]:
    """Return the places before which a list of that instant may take effect: for batches of games before it, later."""
    first = cols.place(games.rated_ms, day)
    straddling = cols.where(cols.up_to(games.ended_ms[first:], day - 1))
    if not len(straddling):
        return [first]
    last = first + int(straddling[-1])
    begins = cols.lists([cols.where(games.begins)])[0]
    after = next((begin for begin in begins if begin > last), len(games.white))
    return [first, after, *(begin for begin in begins if first < begin <= last)]
