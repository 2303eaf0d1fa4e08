"""Warnings about games that end before the day from which a player has the rating of a list.

Such a game may be right and is never refused; it is rated with what applied then. As its year may be a typo, the
recorder attaches a note. The views are only read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ledger.book.initial_ratings import seed_effect
from ledger.book.stored_pools import stored_pools
from ledger.errors import LedgerError
from ledger.facts.events import (
    Event,
    GameRecorded,
)
from ledger.facts.instants import Precision, instant_ms, instant_text
from ledger.facts.source_games import FileFault
from ledger.facts.words import Receipt
from ledger.ratings import queries
from ledger.ratings.views import Views
from ledger.recording.recorder import RecordedEvents

if TYPE_CHECKING:
    import sqlite3

    from ledger.recording.game_columns import GameColumns
    from ledger.recording.game_rows import GameRows

_SEEDS = "SELECT EXISTS(SELECT 1 FROM seeds) AS found"
# Of each side, [place, pool, player, end in milliseconds], the seed that acted so far and holds from after that end.
_EARLY = """
SELECT side.value ->> 0 AS place, side.value ->> 3 AS ended_ms, pools.pool AS number, s.player,
  max(s.effective_ms) AS since_ms, s.effective_at AS since, s.rating
FROM json_each(?1) AS side
CROSS JOIN pools ON pools.name = side.value ->> 1
CROSS JOIN seeds AS s ON s.pool = pools.pool AND s.player = side.value ->> 2 AND s.effective_ms > side.value ->> 3
WHERE s.effective_ms <= coalesce(
  (SELECT ended_ms FROM history AS h WHERE h.pool = s.pool AND h.player = s.player AND n = 1), s.effective_ms)
GROUP BY side.key ORDER BY side.key
"""


class RecordedSide(NamedTuple):
    """One player's half of a recorded game: its line or index, pool, player, and the end of the game."""

    place: int
    pool: str
    player: int
    ended_ms: int


class SeedWarnings:
    """The warnings about the games that one process records."""

    def __init__(self, views: Views) -> None:
        """Take the views; they need not exist, and catch up by themselves."""
        self._views = views
        self._reported: set[tuple[str, int]] = set()  # each player is named once a pool

    def of_games(self, games: GameRows | GameColumns) -> list[FileFault]:
        """Return a note for each player concerned, of games that are events."""
        connection = self._connection()
        if connection is None:
            return []
        # Only the earliest game of each: if that one takes no list away, no later one of the player does.
        sides = games.earliest_sides()
        names = {side.player: repr(side.name) for side in sides}
        recorded = (RecordedSide(side.line, side.pool, side.player, side.ended_ms) for side in sides)
        return self._seeds_taken_away(connection, recorded, names.__getitem__)

    def of_events(self, events: Sequence[Event | None]) -> dict[int, str]:
        """Return a warning for each recorded game before the day of a player's initial rating, by its index."""
        connection = self._connection() if GameRecorded in set(map(type, events)) else None
        if connection is None:
            return {}
        games = [(i, event) for i, event in enumerate(events) if type(event) is GameRecorded and event.rated]
        sides = [
            RecordedSide(place, game.pool, player, instant_ms(game.ended_at))
            for place, game in games
            for player in (game.white, game.black)
        ]
        notes: dict[int, str] = {}
        for place, message in self._seeds_taken_away(connection, sides, lambda player: f"player {player}"):
            notes[place] = f"{notes[place]}; {message}" if place in notes else message
        return notes

    def noted(self, recorded: RecordedEvents) -> list[Receipt]:
        """Return the receipts of recorded events with the warnings as their notes."""
        receipts = recorded.receipts
        for place, note in self.of_events(recorded.events).items():
            receipts[place] = receipts[place]._replace(note=note)
        return receipts

    def _connection(self) -> sqlite3.Connection | None:
        """Return the views if they have a seed; the code that derives from them reports damage."""
        try:
            connection = self._views.connection if self._views.path.exists() else None
            if connection is not None and queries.fetch_first(connection, _SEEDS, ()) == {"found": 1}:
                return connection
        except LedgerError:
            pass
        return None

    def _seeds_taken_away(
        self, connection: sqlite3.Connection, sides: Iterable[RecordedSide], name_of: Callable[[int], str]
    ) -> list[FileFault]:
        """Return place and message of each side that takes a seed away."""
        faults = []
        for row in queries.fetch_dicts(connection, _EARLY, (json.dumps(list(sides)),)):
            pool = next(pool for pool in stored_pools(connection) if pool.pool == row["number"])
            key = (pool.name, row["player"])
            if key not in self._reported and not seed_effect(pool, row["ended_ms"], row["since_ms"]).takes_effect:
                self._reported.add(key)
                ended = instant_text(row["ended_ms"], Precision.DAY)
                message = (
                    f"this game ended on {ended}, before {row['since']}, from when {name_of(row['player'])} has the "
                    f"rating {row['rating']:g} of a list in pool {pool.name!r}: it is rated with what applied before "
                    "the list; check the year of the game"
                )
                faults.append(FileFault(row["place"], message))
        return faults
