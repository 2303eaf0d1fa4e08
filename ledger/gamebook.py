"""The game book: journal entries to games as they now stand, one row each, with the reason where one does not count.

Entries by the dozen are taken as events, many thousands as columns (``gamebook_columns``); both give the same rows.
Nothing is rated here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs
import orjson

from ledger import views
from ledger.codec import Entry
from ledger.errors import CorruptError
from ledger.events import GameRecorded, PlayerChanged, PlayerRegistered, SchemeAdopted
from ledger.model import Outcome, Standing, Termination, instant_ms, round_order
from ledger.projector import Projector
from ledger.schemes import named
from ledger.schemes.base import HALF_MOVES_UNKNOWN, REASONS, STANDING_FULL, Scheme

if TYPE_CHECKING:
    import sqlite3

OUTCOME_CODE: Mapping[str, int] = {word: code for code, word in enumerate(Outcome)}
TERMINATION_CODE: Mapping[str, int] = {word: code for code, word in enumerate(Termination)}
STANDING_CODE: Mapping[str, int] = {word: code for code, word in enumerate(Standing)}

INSERT_GAME = (
    f"INSERT INTO games({', '.join(views.GAME_COLUMNS)}) VALUES ({', '.join('?' * len(views.GAME_COLUMNS))})"
)
_IN_ORDER = """
SELECT position, white, black,
  CASE outcome WHEN 'white' THEN 2 WHEN 'draw' THEN 1 ELSE 0 END,
  CASE WHEN termination <> 'time' OR outcome = 'draw' THEN 0 WHEN outcome = 'black' THEN 1 ELSE 2 END,
  ended_ms
FROM games WHERE pool = ? AND reason IS NULL AND ended_ms >= ? ORDER BY ended_ms, round_order, key
"""


class Pool(NamedTuple):
    """A rating pool: its number in the views, its name, and what rates it."""

    pool: int
    name: str
    scheme: Scheme
    numbers: Any


@attrs.define
class Fresh:
    """What the newest entries touch, by pool: where re-rating must begin, and whom it concerns.

    Attributes:
        start_ms: by pool, the earliest end of a game that is new or changed, milliseconds.
        touched: by pool, players whose games from there on are re-rated whatever the new games say.
    """

    start_ms: dict[int, int] = attrs.Factory(dict)
    touched: dict[int, set[int]] = attrs.Factory(dict)

    def note(self, pool: int, ended_ms: int, players: Iterable[int] = ()) -> None:
        """Re-rating of *pool* must begin at *ended_ms* or before."""
        self.start_ms[pool] = min(ended_ms, self.start_ms.get(pool, ended_ms))
        self.touched.setdefault(pool, set()).update(players)


class Roster:
    """Standings and declared ratings by player and time; nearly everybody is a full member with neither."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.standing: dict[int, int] = {}
        self.declared: dict[int, int] = {}
        self.changes: dict[int, list[tuple[int, str, int, int | None]]] = {}
        query = (
            "SELECT player, standing, declared_rating FROM players "
            "WHERE standing <> 'full' OR declared_rating IS NOT NULL"
        )
        for player, standing, declared in connection.execute(query):
            self.register(player, standing, declared)
        for player, ms, at, standing, declared in connection.execute("SELECT * FROM changes"):
            self.change(player, ms, at, standing, declared)

    def register(self, player: int, standing: str, declared: int | None) -> None:
        """Note what a player joined with."""
        if standing != Standing.FULL:
            self.standing[player] = STANDING_CODE[standing]
        if declared is not None:
            self.declared[player] = declared

    def change(self, player: int, ms: int, at: str, standing: str, declared: int | None) -> None:
        """Note a change from *ms* on; of two that begin together (``2020``, ``2020-01-01``) the more precise holds."""
        self.changes[player] = sorted([*self.changes.get(player, []), (ms, at, STANDING_CODE[standing], declared)])

    def standing_at(self, player: int, ms: int) -> int:
        """Code of the standing at an instant."""
        code = self.standing.get(player, STANDING_FULL)
        for since, _, later, _ in self.changes.get(player, ()):
            if since <= ms:
                code = later
        return code

    def declared_at(self, player: int, ms: int) -> int | None:
        """The declared rating in force at an instant."""
        rating = self.declared.get(player)
        for since, _, _, later in self.changes.get(player, ()):
            if since <= ms and later is not None:
                rating = later
        return rating

    def special(self) -> set[int]:
        """Players who are or were anything but full members."""
        return {*self.standing, *self.changes}


class GameBook:
    """The games of one views database, and what is needed to place further ones."""

    def __init__(self, connection: sqlite3.Connection, projectors: Sequence[Projector]) -> None:
        self.connection = connection
        self._projectors = projectors
        self.roster = Roster(connection)
        self.pools: dict[str, Pool] = {}
        for pool, name, scheme, settings in connection.execute("SELECT pool, name, scheme, settings FROM pools"):
            rated_by = named(scheme)
            self.pools[name] = Pool(pool, name, rated_by, rated_by.numbers_from(orjson.loads(settings)))

    def take(self, entries: Iterable[Entry], fresh: Fresh) -> None:
        """Fold a few entries in; what they touch is noted in *fresh*."""
        for entry in entries:
            match entry.event:
                case GameRecorded() as event:
                    self._record(entry.position, event, fresh)
                case PlayerRegistered() as event:
                    self._register(event)
                case PlayerChanged() as event:
                    self._change(event, fresh)
                case SchemeAdopted() as event:
                    self._adopt(entry.position, event)

    def in_order(self, pool: int, start_ms: int) -> list[tuple[int, ...]]:
        """The rated games that ended at *start_ms* or later, in rating order.

        Each is ``(position, white, black, half points of White, who lost on time: 0 nobody 1 White 2 Black, end)``.
        """
        return list(self.connection.execute(_IN_ORDER, (pool, start_ms)))

    def _record(self, position: int, event: GameRecorded, fresh: Fresh) -> None:
        pool = self.pools.get(event.pool)
        if pool is None:
            raise CorruptError("journal", position, f"no scheme rates pool {event.pool!r} of this game; run 'audit'")
        ms = instant_ms(event.ended_at)
        reason = pool.scheme.refuse(
            OUTCOME_CODE[event.outcome],
            TERMINATION_CODE[event.termination],
            HALF_MOVES_UNKNOWN if event.half_moves is None else event.half_moves,
            event.rated,
            self.roster.standing_at(event.white, ms),
            self.roster.standing_at(event.black, ms),
            pool.numbers,
        )
        row = (
            position, event.game, pool.pool, event.white, event.black, event.outcome.value, event.termination.value,
            event.half_moves, event.started_at, event.ended_at, ms, event.tournament, event.round,
            round_order(event.round), int(event.rated), REASONS[reason] or None, event.white_rating, event.black_rating,
        )  # fmt: skip
        self.connection.execute(INSERT_GAME, row)
        if not reason:
            fresh.note(pool.pool, ms)

    def _register(self, event: PlayerRegistered) -> None:
        self.connection.execute(
            "INSERT INTO players VALUES (?, ?, ?, ?, ?)",
            (event.player, event.joined_at, event.standing.value, event.declared_rating, event.birth_year),
        )
        self.roster.register(event.player, event.standing, event.declared_rating)

    def _adopt(self, position: int, event: SchemeAdopted) -> None:
        scheme = named(event.scheme)
        pool = Pool(len(self.pools) + 1, event.pool, scheme, scheme.numbers_from(event.settings))
        settings = orjson.dumps(dict(event.settings), option=orjson.OPT_SORT_KEYS).decode()
        self.connection.execute(
            "INSERT INTO pools VALUES (?, ?, ?, ?, ?)", (pool.pool, pool.name, scheme.name, settings, position)
        )
        views.ensure_scheme_columns(self.connection, self._projectors, scheme.state)
        views.note_scheme(self.connection, scheme)
        self.pools[pool.name] = pool

    def _change(self, event: PlayerChanged, fresh: Fresh) -> None:
        """A standing or declared rating changes from an instant on: the player's games since are judged again."""
        ms = instant_ms(event.effective_at)
        self.connection.execute(
            "INSERT INTO changes VALUES (?, ?, ?, ?, ?)",
            (event.player, ms, event.effective_at, event.standing.value, event.declared_rating),
        )
        self.roster.change(event.player, ms, event.effective_at, event.standing, event.declared_rating)
        by_number = {pool.pool: pool for pool in self.pools.values()}
        games = self.connection.execute(
            "SELECT position, pool, white, black, outcome, termination, half_moves, rated, reason, ended_ms "
            "FROM games WHERE (white = ?1 OR black = ?1) AND ended_ms >= ?2",
            (event.player, ms),
        ).fetchall()
        for position, number, white, black, outcome, termination, half_moves, rated, stood, ended_ms in games:
            pool = by_number[number]
            reason = pool.scheme.refuse(
                OUTCOME_CODE[outcome], TERMINATION_CODE[termination],
                HALF_MOVES_UNKNOWN if half_moves is None else half_moves, bool(rated),
                self.roster.standing_at(white, ended_ms), self.roster.standing_at(black, ended_ms), pool.numbers,
            )  # fmt: skip
            if (REASONS[reason] or None) != stood:
                self.connection.execute(
                    "UPDATE games SET reason = ? WHERE position = ?", (REASONS[reason] or None, position)
                )
                fresh.note(number, ended_ms, (white, black))
            elif event.declared_rating is not None and not reason:
                fresh.note(number, ended_ms, (event.player,))
