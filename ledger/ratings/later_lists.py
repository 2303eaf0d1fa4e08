"""The later lists of players with games: where in rating order each one changes a rating.

A player begins with the list in force when the first rated game ends. Each later list replaces what it states before
the player's next game, or the next batch that begins on its day or later (``Pool.lists_until``). Games are therefore
rated in stretches: none reaches over the day of such a list. The scheme decides what a list does to a state.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ledger.book.roster import Roster, StoredSeed
from ledger.book.timeline import BEGINNING, ListRating, Pool
from ledger.ratings.rated_games import GamesInOrder, first_game_indexes
from ledger.runtime.columns import Column, Columns

if TYPE_CHECKING:
    import sqlite3

# A player's games from the one with number ?3 back, with their places in rating order.
_PLACES_BACK = (
    "SELECT h.ended_ms, rated_ms, batch FROM history AS h JOIN games ON games.position = h.game "
    "WHERE h.pool = ?1 AND h.player = ?2 AND n <= ?3 ORDER BY n DESC"
)


def lists_taken_in_until(connection: sqlite3.Connection, pool: Pool, player: int, n: int) -> int:
    """Return the instant up to which the state after a player's *n*-th game includes rating lists."""
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
    """The later lists of players during a rerating, and the instant up to which each player's state includes them."""

    def __init__(self, pool: Pool, roster: Roster) -> None:
        """Take a pool; nothing is read."""
        self._pool = pool
        self._roster = roster
        self._until: dict[int, int] = {}  # of players with lists
        self._seeds: dict[int, list[StoredSeed]] = {}  # as far as they were asked for

    @property
    def any_player_has_lists(self) -> bool:
        """True if a player of the pool has the rating of a list."""
        return self._roster.has_seeds(self._pool.pool)

    def has_list(self, player: int) -> bool:
        """Return whether a player has the rating of a list in the pool."""
        return bool(self._lists_of(player))

    def has_list_after(self, player: int, ms: int) -> bool:
        """Return whether a player has the rating of a list from a day after an instant."""
        seeds = self._lists_of(player)
        return bool(seeds) and seeds[-1].ms > ms

    def _lists_of(self, player: int) -> list[StoredSeed]:
        if player not in self._seeds:
            self._seeds[player] = self._roster.seeds(self._pool.pool, player)
        return self._seeds[player]

    def note(self, player: int, until_ms: int) -> None:
        """Note the instant up to which a player's state includes lists."""
        self._until[player] = max(until_ms, self._until.get(player, BEGINNING))

    def leave(self, players: Iterable[int]) -> None:
        """Forget players whose games are not rated any more in this rerating."""
        for player in players:
            self._until.pop(player, None)

    def has_pending_list(self, player: int) -> bool:
        """Return whether a list of a player is later than those that the state includes."""
        after = self._until.get(player)
        return after is not None and self._lists_of(player)[-1].ms > after

    def lists_before_batch(self, player: int, rated_ms: int, first_ms: int) -> list[ListRating]:
        """Return the lists that take effect before a player's batch, whose first game ended then, and note them."""
        # A new player begins with the list in force at the end of the first game.
        after, until = self._until.get(player, first_ms), self._pool.lists_until(rated_ms, first_ms)
        self.note(player, until)
        return self._roster.list_ratings_between(self._pool.pool, player, after, until)

    def list_game_indexes(self, cols: Columns, games: GamesInOrder, dense: tuple[Column, Column, Column]) -> list[int]:
        """Return the indexes of games, in rating order, before which later rating lists may take effect.

        *dense* has their players, and Whites and Blacks as places among them.
        """
        if not self.any_player_has_lists or not len(games.white):
            return []
        (players,) = cols.to_lists([dense[0]])
        first = first_game_indexes(cols, len(players), *dense[1:])
        ends, (last_ms,) = cols.to_lists([cols.take(games.ended_ms, first)])[0], cols.to_lists([games.rated_ms[-1:]])[0]
        days: set[int] = set()
        for player, ended_ms in zip(players, ends, strict=True):
            seeds = self._lists_of(player) if player > 0 else []  # a guest has no list
            if seeds and seeds[-1].ms > (after := self._until.get(player, ended_ms)):
                days.update(listed.ms for listed in seeds if after < listed.ms <= last_ms)
        places: set[int] = set()
        for day in days:
            places.update(_cuts(cols, games, day))
        return sorted(places - {0, len(games.white)})


def _cuts(cols: Columns, games: GamesInOrder, day: int) -> Sequence[int]:
    """Return the places before which a list of that instant may take effect: for batches of games before it, later."""
    first = cols.first_index_from(games.rated_ms, day)
    straddling = cols.set_indexes(cols.at_most_flags(games.ended_ms[first:], day - 1))
    if not len(straddling):
        return [first]
    last = first + int(straddling[-1])
    begins = cols.to_lists([cols.set_indexes(games.begins)])[0]
    after = next((begin for begin in begins if begin > last), len(games.white))
    return [first, after, *(begin for begin in begins if first < begin <= last)]
