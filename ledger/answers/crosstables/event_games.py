"""The games of one tournament as plain rows: results from the game book, ratings from the history.

Everything that shows a tournament takes its games from here. A game that was voided, or that merged players had between
themselves, is none of it. Who stands where is said elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from ledger.book import tables
from ledger.book.timeline import Pool
from ledger.facts.words import Termination
from ledger.ratings import queries

if TYPE_CHECKING:
    import sqlite3

_COLUMNS = (
    "position, key, white, black, half_points, termination, ended_ms, ended_at, rated_ms, batch, round, round_order, "
    "reason, white_rating, black_rating"
)
OF_TOURNAMENT = "pool = ?1 AND tournament = ?2 AND voided_by IS NULL AND white <> black"
ENDS = f"SELECT ended_ms, min(ended_at) FROM games WHERE {OF_TOURNAMENT} GROUP BY ended_ms ORDER BY ended_ms"
GAMES = f"""
SELECT {_COLUMNS} FROM games WHERE {OF_TOURNAMENT} AND ended_ms BETWEEN ?3 AND ?4
ORDER BY round_order, {tables.IN_ORDER_OF_ENDS}
"""
SIDES = """
SELECT h.*, games.rated_ms FROM history AS h JOIN games ON games.position = h.game
WHERE h.pool = ?1 AND h.player = ?2 AND h.game IN (SELECT value FROM json_each(?3)) ORDER BY h.n
"""
_ROUND = 10**12  # of ``round_order``: what a round adds to it


@attrs.frozen
class EventGame:
    """One game of a tournament as it now stands.

    Attributes:
        position: of the entry that recorded it.
        key: its own identity.
        white: player number of White.
        black: the same of Black.
        half_points: White's: 2, 1 or 0; None for a game without a result.
        termination: how it ended, a word of ``facts.words.Termination``.
        ended_ms: when it ended, milliseconds since 1970.
        ended_at: the same as it was recorded.
        round: as it was recorded.
        round_order: a number that sorts rounds.
        reason: why it does not count for the ratings; None for one that does.
        shown: the ratings that the source shows of White and of Black, points.
    """

    position: int
    key: str
    white: int
    black: int
    half_points: int | None
    termination: str
    ended_ms: int
    ended_at: str
    round: str | None
    round_order: int
    reason: str | None
    shown: tuple[int | None, int | None]

    @property
    def order(self) -> tuple[int, int, str]:
        """Its place among the games of the tournament: by round, by end, by key."""
        return self.round_order, self.ended_ms, self.key

    @property
    def round_number(self) -> int:
        """The number of its round; 0 where it is not known."""
        return self.round_order // _ROUND

    @property
    def is_played(self) -> bool:
        """Whether it has a result that was reached over the board: neither a forfeit nor unfinished."""
        return self.half_points is not None and self.termination != Termination.UNPLAYED

    def opponent_of(self, player: int) -> int:
        """The other player."""
        return self.black if player == self.white else self.white

    def half_points_of(self, player: int) -> int | None:
        """The half points of a player."""
        if self.half_points is None:
            return None
        return self.half_points if player == self.white else 2 - self.half_points

    def shown_of(self, player: int) -> int | None:
        """The rating that the source shows of a player."""
        return self.shown[player != self.white]


def ends(connection: sqlite3.Connection, pool: Pool, tournament: str) -> dict[int, str]:
    """When the games of a name ended, ascending: by millisecond, the least precise date that was recorded for it."""
    return dict(connection.execute(ENDS, (pool.pool, tournament)))


def games_of(
    connection: sqlite3.Connection, pool: Pool, tournament: str, first_ms: int, last_ms: int
) -> list[EventGame]:
    """The games of a name that ended from *first_ms* to *last_ms*, in the order of their rounds."""
    rows = queries.dictionaries(connection, GAMES, (pool.pool, tournament, first_ms, last_ms))
    return [event_game(row) for row in rows]


def event_game(row: dict[str, Any]) -> EventGame:
    """A game from its row in the book."""
    names = (field.name for field in attrs.fields(EventGame) if field.name != "shown")
    return EventGame(**{name: row[name] for name in names}, shown=(row["white_rating"], row["black_rating"]))


def sides_of(
    connection: sqlite3.Connection, pool: Pool, players: Iterable[int], games: Sequence[EventGame]
) -> dict[tuple[int, int], dict[str, Any]]:
    """By player and position of a game, the row of the history, with ``rated_ms``; none for what was not rated."""
    wanted: dict[int, list[int]] = {player: [] for player in players}
    for game in games:
        if game.reason is None:
            for player in (game.white, game.black):
                if player in wanted:
                    wanted[player].append(game.position)
    found = {}
    for player, positions in wanted.items():
        if positions:
            for row in queries.dictionaries(connection, SIDES, (pool.pool, player, json.dumps(positions))):
                found[player, row["game"]] = row
    return found
