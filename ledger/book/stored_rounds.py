"""Rounds without a game in the views: what byes and absences brought whom, as they stand after all corrections.

A row says what was told, under the number that was told; who that person is by now, and whether the tournament was
voided, is asked when rows are read. No rating knows of them.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

from ledger.book import corrections
from ledger.book.decided import Decided
from ledger.book.timeline import Pool
from ledger.facts.changes import Verb
from ledger.facts.events import RoundWithoutGame
from ledger.facts.instants import instant_end_ms, instant_ms

if TYPE_CHECKING:
    import sqlite3

_OF_NAMES = (
    "SELECT tournament, edition_ms, edition, round, player, brings, half_points, position FROM rounds_without_game "
    "WHERE pool = ?1 AND tournament IN (SELECT value FROM json_each(?2)) ORDER BY tournament, edition_ms, position"
)
_NAMES = "SELECT DISTINCT tournament FROM rounds_without_game WHERE pool = ?"
_NAMES_SINCE = "SELECT DISTINCT tournament FROM rounds_without_game WHERE pool = ? AND edition_ms >= ?"
_NAMES_OF_PLAYERS = (
    "SELECT DISTINCT tournament FROM rounds_without_game "
    "WHERE player IN (SELECT value FROM json_each(?2)) AND pool = ?1"
)


class StoredRound(NamedTuple):
    """A round without a game as it stands.

    Attributes:
        tournament: name of the tournament.
        edition_ms: the first millisecond of the day of the edition that was told.
        edition: that day as it was told.
        round: its number; None where rounds have none.
        player: the person, after all merges.
        brings: a word of ``facts.words.Brings``.
        half_points: what it brings.
        position: of the entry that recorded it.
    """

    tournament: str
    edition_ms: int
    edition: str
    round: int | None
    player: int
    brings: str
    half_points: int
    position: int

    @property
    def last_ms(self) -> int:
        """The last millisecond of the day that was told."""
        return instant_end_ms(self.edition)


def as_stored(event: RoundWithoutGame, position: int) -> StoredRound:
    """A round without a game as it would be read if its entry stood at a position."""
    return StoredRound(
        event.tournament,
        instant_ms(event.edition),
        event.edition,
        event.round,
        event.player,
        event.brings.value,
        event.worth,
        position,
    )


def names_in(connection: sqlite3.Connection, pool: Pool) -> list[str]:
    """The names of the tournaments of a pool of which such rounds are told."""
    return [name for (name,) in connection.execute(_NAMES, (pool.pool,))]


def names_since(connection: sqlite3.Connection, pool: Pool, ms: int) -> list[str]:
    """The same where a day of an edition that was told is that of an instant or later."""
    return [name for (name,) in connection.execute(_NAMES_SINCE, (pool.pool, ms))]


def names_of(connection: sqlite3.Connection, pool: Pool, player: int) -> list[str]:
    """The same of a person."""
    decided = Decided(connection)
    numbers = sorted(corrections.below(decided.merges, player))
    return [name for (name,) in connection.execute(_NAMES_OF_PLAYERS, (pool.pool, json.dumps(numbers)))]


def rounds_of(connection: sqlite3.Connection, pool: Pool, names: Collection[str]) -> dict[str, list[StoredRound]]:
    """By name of a tournament its rounds without a game, of all editions; none of what was voided with its games."""
    found: dict[str, list[StoredRound]] = {}
    rows = connection.execute(_OF_NAMES, (pool.pool, json.dumps(sorted(names)))).fetchall()
    if not rows:  # as nearly always: nothing else is asked then
        return found
    decided = Decided(connection)
    for row in rows:
        stored = StoredRound._make(row)
        if not _is_voided(decided, pool.name, stored):
            person = corrections.root(decided.merges, stored.player)
            found.setdefault(stored.tournament, []).append(stored._replace(player=person))
    return found


def _is_voided(decided: Decided, pool: str, stored: StoredRound) -> bool:
    """Whether the last change that speaks of its tournament's games of that day voids them: byes go with them."""
    acting = [
        (span.position, span.number, span.change.do)
        for span in decided.spans_of(0, 0, pool, stored.tournament)
        if _reaches(*corrections.span(span.change), stored)
    ]
    return bool(acting) and max(acting)[2] is Verb.ANNUL_TOURNAMENT


def _reaches(first: int, last: int, stored: StoredRound) -> bool:
    return first <= stored.last_ms and stored.edition_ms <= last
