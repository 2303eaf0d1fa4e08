"""Guests: players of another federation than that of a pool, in their games there.

Their opponents are rated against the rating that the report or a list gives the guest; the guest gets none. Which
federation a player belongs to on the day of a game, the list of entrants of its tournament says, else the dated fact
``federation-set/1``; without both a player is no guest. Nothing is rated or written here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import orjson

from ledger.book.decisions import numbers_of_person, person_of
from ledger.book.roster import Roster
from ledger.book.timeline import Era, Pool
from ledger.facts.events import FederationSet, PlayerEntered
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.periods import DAY_MS
from ledger.schemes.scheme import Seed

if TYPE_CHECKING:
    import sqlite3

# A league of a season is shorter, and the next one of the name begins later.
LONGEST_EDITION_MS = 330 * DAY_MS
_FEDERATIONS = (
    "SELECT effective_ms, federation FROM federations WHERE player = ? "
    "ORDER BY effective_ms DESC, effective_at DESC, position DESC"
)
_ENTRIES = (
    "SELECT edition_ms, edition, rating, federation FROM entrants "
    "WHERE player IN (SELECT value FROM json_each(?1)) AND pool = ?2 AND tournament = ?3 "
    "ORDER BY edition_ms DESC, number DESC, position DESC"
)
# Whoever may be a guest somewhere: everybody else needs no look.
_MAY_BE_GUESTS = "SELECT player FROM federations UNION SELECT player FROM entrants WHERE federation IS NOT NULL"
_MAY_BE_GUEST = (
    "SELECT EXISTS(SELECT 1 FROM federations WHERE player = ?1) "
    "OR EXISTS(SELECT 1 FROM entrants WHERE player = ?1 AND federation IS NOT NULL)"
)
# Of several facts from one instant the more precise one holds, then the later one.
FOREIGN_AT = """
SELECT player FROM federations AS f WHERE effective_ms <= ?1 AND federation <> ?2 AND NOT EXISTS (
  SELECT 1 FROM federations AS later WHERE later.player = f.player AND later.effective_ms <= ?1
  AND (later.effective_ms, later.effective_at, later.position) > (f.effective_ms, f.effective_at, f.position))
"""


class ReportedEntry(NamedTuple):
    """A line of the list of entrants: the rating and the federation of a player; None where it has nothing."""

    rating: int | None
    federation: str | None


_NO_ENTRY = ReportedEntry(None, None)


class GameSides(NamedTuple):
    """The two players of a game, where and when they met, and the ratings that the source shows.

    Attributes:
        white: White's number.
        black: Black's number.
        tournament: name of the tournament.
        ended_ms: when it ended.
        began_ms: the first millisecond of its tournament, where tournaments are rated whole.
        white_rating: White's rating as the source shows it.
        black_rating: Black's.
    """

    white: int
    black: int
    tournament: str | None
    ended_ms: int
    began_ms: int | None
    white_rating: int | None
    black_rating: int | None


class Guests:
    """Says which players of games are guests, and by which rating; what was read is kept, so that none is read twice.

    A fact that is recorded later needs another object.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        roster: Roster,
        merges: Mapping[int, int],
        reported: Iterable[PlayerEntered] = (),
    ) -> None:
        """Take the database of the book, its roster, the merges in force, and entrants that it lacks; read nothing."""
        self._connection, self._roster, self._merges = connection, roster, merges
        self._reported: dict[tuple[str, str, int], list[PlayerEntered]] = {}
        for entry in reported:
            self._reported.setdefault((entry.pool, entry.tournament, person_of(merges, entry.player)), []).append(entry)
        self._federations: dict[int, list[tuple[int, str]]] = {}
        self._entries: dict[tuple[int, str, int], list[tuple[int, int, ReportedEntry]]] = {}

    def of_game(self, pool: Pool, era: Era, game: GameSides) -> tuple[str | None, str | None] | None:
        """Return the ratings of White and Black as guests, as ``stored_seed`` has them; None for one who is no guest.

        None instead of both if the game cannot be rated: a guest has no rating, or both players are guests.
        """
        if era.federation is None:
            return None, None
        white, black = self._entry(pool, game, game.white), self._entry(pool, game, game.black)
        is_guest = [
            federation not in {None, era.federation}
            for federation in (
                white.federation or self.federation_at(game.white, game.ended_ms),
                black.federation or self.federation_at(game.black, game.ended_ms),
            )
        ]
        if not any(is_guest):
            return None, None
        if all(is_guest):
            return None
        if is_guest[0]:
            seed = self._seed(pool, game, game.white, white.rating or game.white_rating)
        else:
            seed = self._seed(pool, game, game.black, black.rating or game.black_rating)
        if seed is None:
            return None
        text = stored_seed(seed)
        return (text, None) if is_guest[0] else (None, text)

    def federation_at(self, player: int, ms: int) -> str | None:
        """Return a player's federation at an instant by the dated facts; None if none says one."""
        if player not in self._federations:
            self._federations[player] = _dated_federations(self._connection, player)
        return _in_force(self._federations[player], ms)

    def _entry(self, pool: Pool, game: GameSides, player: int) -> ReportedEntry:
        """Return what the list of entrants of a game's tournament says of a player."""
        if not game.tournament:
            return _NO_ENTRY
        place = (pool.pool, game.tournament, player)
        if place not in self._entries:
            numbers = orjson.dumps(sorted(numbers_of_person(self._merges, player))).decode()
            rows = self._connection.execute(_ENTRIES, (numbers, *place[:2])).fetchall()
            for entry in self._reported.get((pool.name, game.tournament, player), ()):
                rows.insert(0, (instant_ms(entry.edition), entry.edition, entry.rating, entry.federation))
            self._entries[place] = [
                (first_ms, instant_end_ms(edition) + LONGEST_EDITION_MS, ReportedEntry(rating, federation))
                for first_ms, edition, rating, federation in rows
            ]
        return next((entry for first, last, entry in self._entries[place] if first <= game.ended_ms <= last), _NO_ENTRY)

    def _seed(self, pool: Pool, game: GameSides, player: int, reported: int | None) -> Seed | None:
        """Return the rating of a guest in a game, of the report or of the list in force; None if neither has one."""
        listed = self._roster.seed_at(pool.pool, player, game.ended_ms if game.began_ms is None else game.began_ms)
        if not reported:
            return None if listed is None else listed.seed._replace(highest=None)
        if listed is None:
            return Seed(float(reported))
        # The report is of the day: the list adds what it alone states, such as K.
        return listed.seed._replace(rating=float(reported), highest=None, day=None)


def stored_seed(seed: Seed) -> str:
    """Return a guest's rating as the table ``games`` stores it: JSON, without what is unknown."""
    fields = {name: value for name, value in seed._asdict().items() if value is not None}
    return orjson.dumps(fields, option=orjson.OPT_SORT_KEYS).decode()


def seed_of(stored: str) -> Seed:
    """Return the rating of a guest that the table ``games`` stores."""
    return Seed(**orjson.loads(stored))


def federation_at(connection: sqlite3.Connection, player: int, ms: int) -> str | None:
    """Return a player's federation at an instant by the dated facts; None if none says one."""
    return _in_force(_dated_federations(connection, player), ms)


def _dated_federations(connection: sqlite3.Connection, player: int) -> list[tuple[int, str]]:
    """Return the federations of a player with their first milliseconds, the latest first."""
    return connection.execute(_FEDERATIONS, (player,)).fetchall()


def _in_force(federations: Iterable[tuple[int, str]], ms: int) -> str | None:
    return next((federation for since, federation in federations if since <= ms), None)


def is_another_federation(connection: sqlite3.Connection, event: FederationSet, home: Collection[str]) -> bool:
    """Return whether a fact changes the federation that the ledger has by then.

    *home* are the ``home_federations``: an unknown player belongs to each.
    """
    now = federation_at(connection, event.player, instant_ms(event.effective_at))
    return event.federation != now and not (now is None and event.federation in home)


def home_federations(pools: Iterable[Pool]) -> set[str]:
    """Return the federations of pools with guests: a player of whom nothing else is known belongs there."""
    return {era.federation for pool in pools for era in pool.eras if era.federation is not None}


def may_be_guest(connection: sqlite3.Connection, player: int) -> bool:
    """Return whether a fact about a number says a federation."""
    return bool(connection.execute(_MAY_BE_GUEST, (player,)).fetchone()[0])


def possible_guests(connection: sqlite3.Connection, merges: Mapping[int, int]) -> list[int]:
    """Return the players who may be a guest in some pool, under all their numbers, in order."""
    numbers: set[int] = set()
    for (player,) in connection.execute(_MAY_BE_GUESTS):
        numbers |= numbers_of_person(merges, player) if merges else {player}
    return sorted(numbers)


def other_federations_at(connection: sqlite3.Connection, pool: Pool, ms: int) -> frozenset[int]:
    """Return the players of other federations than a pool's at an instant, by the dated facts: no list shows them."""
    federation = pool.eras[pool.era_at(ms)].federation
    if federation is None:
        return frozenset()
    return frozenset(player for (player,) in connection.execute(FOREIGN_AT, (ms, federation)))
