"""Editions of tournaments that are rated whole, read from the table of games; ``whole_tournaments`` defines them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ledger.book.late_reports import KnownEdition
from ledger.book.timeline import BEGINNING, Pool
from ledger.book.whole_tournaments import Edition
from ledger.facts.periods import OPEN

if TYPE_CHECKING:
    import sqlite3


EditionsByEnd = Mapping[
    int, Mapping[str, Mapping[int, KnownEdition]]
]  # by number of the pool, tournament and end of a game

# A voided game, or one between two numbers of one person, says nothing about its tournament's days.
_OF_TOURNAMENT = "pool = ?1 AND tournament = ?2 AND voided_by IS NULL AND white <> black"
_ENDS = f"SELECT DISTINCT ended_ms FROM games WHERE {_OF_TOURNAMENT} AND ended_ms BETWEEN ?3 AND ?4 ORDER BY ended_ms"
_GAMES = f"SELECT ended_ms, position FROM games WHERE {_OF_TOURNAMENT} AND ended_ms BETWEEN ?3 AND ?4"
_ALL_ENDS = f"SELECT DISTINCT ended_ms FROM games WHERE {_OF_TOURNAMENT} ORDER BY ended_ms"


class UnplacedTournaments:
    """The tournaments of which games were recorded since their games were last placed in rating order."""

    def __init__(self) -> None:
        self._spans: dict[tuple[str, str], tuple[int, int]] = {}

    def note(self, pool: str, tournament: str, first_ms: int, last_ms: int) -> None:
        """Note that games of a tournament were recorded that ended from *first_ms* to *last_ms*."""
        first, last = self._spans.get((pool, tournament), (first_ms, last_ms))
        self._spans[pool, tournament] = min(first, first_ms), max(last, last_ms)

    def take_all(self) -> list[tuple[tuple[str, str], tuple[int, int]]]:
        """Return pool and tournament with the first and the last end of these games, and forget them."""
        spans = list(self._spans.items())
        self._spans.clear()
        return spans


def rated_editions(connection: sqlite3.Connection, games: Iterable[tuple[Pool, str | None, int]]) -> EditionsByEnd:
    """Return the editions of tournaments that are rated whole, for games given by pool, tournament and end."""
    spans: dict[tuple[int, str], tuple[Pool, int, int]] = {}
    for pool, tournament, ended_ms in games:
        if pool.by_event and tournament:
            _, first, last = spans.get((pool.pool, tournament), (pool, ended_ms, ended_ms))
            spans[pool.pool, tournament] = pool, min(first, ended_ms), max(last, ended_ms)
    by_pool: dict[int, dict[str, Mapping[int, KnownEdition]]] = {}
    for (number, tournament), (pool, first, last) in spans.items():
        by_pool.setdefault(number, {})[tournament] = known_editions(connection, pool, tournament, first, last)
    return by_pool


def known_editions(
    connection: sqlite3.Connection,
    pool: Pool,
    tournament: str,
    first_ms: int,
    last_ms: int,
    further: Sequence[tuple[int, int]] = (),
) -> Mapping[int, KnownEdition]:
    """Return the editions of a tournament that is rated whole, by end of a game, near some ends of games.

    *further* are the end and the position of games that are not in the table yet.
    """
    # The days of one edition bound the next, however far away: then all games of the name are needed.
    announced = tournament in pool.closed or tournament in pool.opened
    span = (BEGINNING, OPEN) if announced else (first_ms - pool.reach_ms, last_ms + pool.reach_ms)
    if pool.by_next_list and len(pool.published):
        rows = connection.execute(_GAMES, (pool.pool, tournament, *span)).fetchall()
        return pool.reported_editions(tournament, [*rows, *further])
    ends = {ms for (ms,) in connection.execute(_ENDS, (pool.pool, tournament, *span))}
    return pool.editions(tournament, sorted(ends.union(end for end, _ in further)))


def editions_of_tournament(connection: sqlite3.Connection, pool: Pool, tournament: str) -> dict[int, Edition]:
    """Return each edition of a tournament that is rated as one event, under the end of every game in it."""
    ends = [ms for (ms,) in connection.execute(_ALL_ENDS, (pool.pool, tournament))]
    return pool.editions(tournament, ends)
