"""The games of tournaments and the ratings of their players, read from the views.

Every answer about a tournament takes its games from here. Voided games and games between merged players are left out.

The enrolment rating is the one in force when the player's first game in the tournament started, the closing rating of
a game the one after it or, if the scheme rates by period or event, after that. Both are the ledger's own, or those
that the source of the games shows.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import fsum
from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.book import tables
from ledger.book.timeline import Pool
from ledger.facts.instants import instant_ms
from ledger.facts.words import Termination
from ledger.ratings import queries
from ledger.ratings.player_states import PlayerStates
from ledger.runtime.visible import is_storable
from ledger.schemes.scheme import UNRATED

if TYPE_CHECKING:
    import sqlite3

EARLIEST_MS, LATEST_MS = -(2**63), 2**63 - 1  # milliseconds; no place in rating order is earlier or later
# A voided game, or one between the two accounts of one person, is no game of a tournament.
_OF_POOL = "pool = ?1 AND tournament IS NOT NULL AND voided_by IS NULL AND white <> black"
# ``tournament IS NOT NULL`` lets SQLite take the index, which holds the games of tournaments alone.
ENDS = f"SELECT tournament, ended_ms, ended_at FROM games WHERE {_OF_POOL}"
_READ = f"""
SELECT tournament, position, key, white, black, half_points, termination, ended_ms, ended_at, round, round_order,
  reason, white_rating, black_rating, started_at, white_guest ->> 'rating', black_guest ->> 'rating'
FROM games WHERE {_OF_POOL} AND tournament {{}} ORDER BY tournament, round_order, {tables.IN_ORDER_OF_ENDS}
"""
# Several as one text of JSON: a statement has 32,766 parameters at most, and is prepared once for any number.
GAMES, GAMES_OF_SEVERAL = _READ.format("= ?2"), _READ.format("IN (SELECT value FROM json_each(?2))")
# From name to name, for each has many games.
_MET = """
WITH RECURSIVE met(name) AS (
  SELECT min(tournament) FROM games WHERE pool = ?1 AND tournament IS NOT NULL
  UNION ALL SELECT (SELECT min(tournament) FROM games WHERE pool = ?1 AND tournament > met.name)
  FROM met WHERE met.name IS NOT NULL)
"""
NAMES = f"{_MET} SELECT name FROM met WHERE name IS NOT NULL"
# An index gives the names; whether a game counts is read in the table, for few names only.
STANDING_NAMES = f"""
SELECT value FROM json_each(?2) WHERE EXISTS (SELECT 1 FROM games WHERE {_OF_POOL} AND tournament = value)
"""
# Those with a game that ended from an instant on, to another one, or on both sides of the two and so near that they may
# be one edition; or those announced to last so long.
_WITHIN = "EXISTS (SELECT 1 FROM games WHERE pool = ?1 AND tournament = met.name AND ended_ms BETWEEN {} AND {})"
NAMES_SINCE = f"""{_MET}SELECT name FROM met WHERE {_WITHIN.format("?2", "?3")}
  OR ({_WITHIN.format("?4", "?2")} AND {_WITHIN.format("?3", "?5")})
UNION SELECT tournament FROM openings WHERE pool = ?1 AND ends_ms >= ?2 AND starts_ms <= ?3
UNION SELECT tournament FROM tournaments AS told WHERE pool = ?1 AND closed_ms >= ?2
  AND (closed_ms <= ?3 OR EXISTS (
    SELECT 1 FROM games WHERE pool = ?1 AND tournament = told.tournament AND ended_ms < ?2))
"""
NTH_LATEST_GAME = """
SELECT rated_ms FROM games WHERE pool = ?1 AND reason IS NULL AND rated_ms <= ?3
ORDER BY rated_ms DESC LIMIT 1 OFFSET ?2
"""
# By the player, never (hence the plus) by all games of tournaments of the pool.
NAMES_OF_PLAYER = """
SELECT tournament FROM games WHERE white = ?2 AND +pool = ?1 AND tournament IS NOT NULL AND voided_by IS NULL
UNION SELECT tournament FROM games WHERE black = ?2 AND +pool = ?1 AND tournament IS NOT NULL AND voided_by IS NULL
"""


def history_query(near: int) -> str:
    """Return the SQL query that selects a player's rows of the history for some games.

    The first and the last of them in rating order are found by halves until *near* rows are left, for a player may have
    many others.
    """
    these = "FROM games WHERE position IN (SELECT value FROM json_each(?3))"
    # CROSS JOIN fixes the order: from the rows of one player, never from the games.
    return f"""
WITH RECURSIVE {queries.binary_search("earlier", f"rated_ms < (SELECT min(rated_ms) {these})", near)},
{queries.binary_search("last", f"rated_ms <= (SELECT max(rated_ms) {these})", near)}
SELECT h.*, games.rated_ms, games.batch FROM history AS h CROSS JOIN games ON games.position = h.game
WHERE h.pool = ?1 AND h.player = ?2 AND h.n > {queries.found_row("earlier", "low", near)}
  AND h.n <= {queries.found_row("last", "high", near)} AND h.game IN (SELECT value FROM json_each(?3)) ORDER BY h.n
"""


HISTORY_ROWS = history_query(queries.NEAR)
_ROUND = 10**12  # of ``round_order``: what a round adds to it


class Announcement(NamedTuple):
    """The announcement of a tournament: its pairing system, entrants and rounds; None if it does not state one."""

    format: str | None = None
    entrants: int | None = None
    rounds: int | None = None


class EventGame(NamedTuple):
    """One game of a tournament in its corrected form.

    Attributes:
        position: position of the journal entry that recorded it.
        half_points: White's: 2, 1 or 0; None for a game without a result.
        termination: how it ended, a word of ``facts.words.Termination``.
        ended_ms: when it ended, milliseconds since 1970; ``ended_at`` is the same as it was recorded.
        round_order: a number that sorts rounds.
        reason: why it does not count for the ratings; None if it does.
        white_shown: White's rating as the source shows it, points.
        white_guest: the rating against which Black was rated if White is a guest, points.
    """

    tournament: str
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
    white_shown: int | None
    black_shown: int | None
    started_at: str | None = None
    white_guest: float | None = None
    black_guest: float | None = None

    @property
    def players(self) -> tuple[int, int]:
        """The two players, White first."""
        return self.white, self.black

    @property
    def order(self) -> tuple[int, int, str]:
        """The sort key of the game within its tournament: round, end, key."""
        return self.round_order, self.ended_ms, self.key

    @property
    def round_number(self) -> int:
        """The number of the round; 0 if it is not known."""
        return self.round_order // _ROUND

    @property
    def is_played(self) -> bool:
        """True if the result was reached over the board: the game is neither a forfeit nor unfinished."""
        return self.half_points is not None and self.termination != Termination.UNPLAYED

    def opponent_of(self, player: int) -> int:
        """Return the opponent of a player of the game."""
        return self.black if player == self.white else self.white

    def half_points_of(self, player: int) -> int | None:
        """Return the half points of a player."""
        if self.half_points is None:
            return None
        return self.half_points if player == self.white else 2 - self.half_points

    def shown_rating(self, player: int) -> int | None:
        """Return a player's rating as the source of the game shows it."""
        return self.white_shown if player == self.white else self.black_shown

    def guest_rating(self, player: int) -> float | None:
        """Return the rating of a guest against which the opponent was rated; None of other players."""
        return self.white_guest if player == self.white else self.black_guest


def tournament_names(connection: sqlite3.Connection, pool: Pool, text: str = "") -> list[str]:
    """Return the names of all tournaments of a pool that contain a text, regardless of case; in no order."""
    part = text.casefold()
    names = [name for (name,) in connection.execute(NAMES, (pool.pool,)) if part in name.casefold()]
    return [name for (name,) in connection.execute(STANDING_NAMES, (pool.pool, json.dumps(names)))]


def names_between(connection: sqlite3.Connection, pool: Pool, ms: int, until: int, reach_ms: int) -> list[str]:
    """Return the names of tournaments that may have an edition between two instants in milliseconds since 1970.

    Some of them may have no game there.

    Two games of one edition that was not announced are at most *reach_ms* apart.
    """
    near = max(ms - reach_ms, EARLIEST_MS), min(until + reach_ms, LATEST_MS)
    return [name for (name,) in connection.execute(NAMES_SINCE, (pool.pool, ms, until, *near))]


def rated_ms_before_latest(connection: sqlite3.Connection, pool: Pool, games: int, until: int) -> int | None:
    """Return the rating time (``rated_ms``) of the last game before the latest *games*; None without one.

    Only places up to the instant *until* count.
    """
    row = connection.execute(NTH_LATEST_GAME, (pool.pool, games, until)).fetchone()
    return None if row is None else int(row[0])


def load_game_ends(connection: sqlite3.Connection, pool: Pool) -> dict[str, dict[int, str]]:
    """Return the ends of all games of a pool by tournament: the recorded date by its first millisecond, ascending."""
    by_name: dict[str, dict[int, str]] = {}
    for name, ended_ms, date in connection.execute(ENDS, (pool.pool,)):  # three times as quick as grouped by SQLite
        ends = by_name.get(name)
        if ends is None:
            by_name[name] = {ended_ms: date}
        # Of two dates of one instant the less precise is the beginning of the other, and so the lesser text.
        elif ends.setdefault(ended_ms, date) > date:
            ends[ended_ms] = date
    return {name: dict(sorted(ends.items())) for name, ends in by_name.items()}


def game_ends(games: Iterable[EventGame]) -> dict[int, str]:
    """Return the ends of the games of one tournament: the recorded date by its first millisecond, ascending."""
    ends: dict[int, str] = {}
    for game in sorted(games, key=lambda game: (game.ended_ms, game.ended_at)):
        ends.setdefault(game.ended_ms, game.ended_at)
    return ends


def load_games(connection: sqlite3.Connection, pool: Pool, names: Collection[str]) -> dict[str, list[EventGame]]:
    """Return the games of tournaments by name, of all editions, in the order of their rounds."""
    games: dict[str, list[EventGame]] = {}
    names = [name for name in names if is_storable(name)]
    if len(names) == 1:
        rows = connection.execute(GAMES, (pool.pool, *names))
    else:
        rows = connection.execute(GAMES_OF_SEVERAL, (pool.pool, json.dumps(sorted(names))))
    for row in rows:
        games.setdefault(row[0], []).append(EventGame._make(row))
    return games


def names_of_player(connection: sqlite3.Connection, pool: Pool, player: int) -> list[str]:
    """Return the names of the tournaments in which a player has a game."""
    return [name for (name,) in connection.execute(NAMES_OF_PLAYER, (pool.pool, player))]


def games_by_player(games: Iterable[EventGame]) -> dict[int, list[EventGame]]:
    """Return the games of each player, in the given order."""
    by_player: dict[int, list[EventGame]] = {}
    for game in games:
        for player in game.players:
            by_player.setdefault(player, []).append(game)
    return by_player


LEDGER, SHOWN = "ledger", "shown"
RATING_SOURCES = (LEDGER, SHOWN)


class LedgerRatings:
    """The ledger's own ratings of the players of one tournament, read on demand."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        pool: Pool,
        states: PlayerStates,
        games: Mapping[int, Sequence[EventGame]],
        began_ms: int,
    ) -> None:
        self._connection, self._pool, self._states, self._began_ms = connection, pool, states, began_ms
        self._games = games
        self._enrolments: dict[int, float | None] = {}
        self._sides: dict[int, Mapping[int, dict[str, Any]]] = {}
        self._before: dict[tuple[int, int], float | None] = {}

    def _row(self, player: int, game: EventGame) -> dict[str, Any] | None:
        """Return the row of a player's history for a game, with ``rated_ms``; None for an unrated game."""
        if player not in self._sides:
            positions = [game.position for game in self._games.get(player, ()) if game.reason is None]
            arguments = (self._pool.pool, player, json.dumps(positions))
            rows = queries.fetch_dicts(self._connection, HISTORY_ROWS, arguments) if positions else ()
            self._sides[player] = {row["game"]: row for row in rows}
        return self._sides[player].get(game.position)

    def is_counted(self, game: EventGame) -> bool:
        """Return whether a game counts for performance ratings: it is rated."""
        return game.reason is None

    def enrolment_rating(self, player: int) -> float | None:
        """Return the player's rating in force at the start of the tournament's first game.

        Seed 004: "at the start of the game".

        If no game has a start, the announced start counts, else the instant before the first rated game. A player
        without a game before has the rating before the first game; a player with byes alone, the one when the
        tournament began.
        """
        if player not in self._enrolments and player not in self._games:
            self._enrolments[player] = self._states.at(player, self._began_ms, before=True).in_force
        elif player not in self._enrolments:
            games = self._games[player]
            # the first in the order in which they were rated, or else the first that ended
            rated = {row["n"]: game for game in games if (row := self._row(player, game)) is not None}
            first = rated[min(rated)] if rated else min(games, key=lambda game: game.ended_ms)
            self._enrolments[player] = self._at_start(player, games, first)
        return self._enrolments[player]

    def _at_start(self, player: int, games: Sequence[EventGame], first: EventGame) -> float | None:
        """Return the rating in force when the first of a player's games started; before *first* if that is unknown."""
        if first.guest_rating(player) is not None:
            return first.guest_rating(player)
        starts = [instant_ms(game.started_at) for game in games if game.started_at is not None]
        if not starts:
            spans = self._pool.announcements(first.tournament).editions()
            starts = [span.first_ms for span in spans if span.first_ms <= first.ended_ms <= span.last_ms]
        if not starts or min(starts) >= first.ended_ms:
            return self.rating_before(player, first)
        rating = self._states.at(player, min(starts), before=True).in_force
        row = self._row(player, first)
        if rating is None and row is not None and row["n"] == 1:
            # The rating that a source shows with the very first rated game, or that the player has in another pool,
            # holds in this one from its end on, and for its start.
            era = self._pool.eras[self._pool.era_at(first.ended_ms)]
            return self.rating_before(player, first) if era.from_shown or era.from_pool else None
        return rating

    def rating_gain(self, player: int, games: Sequence[EventGame]) -> tuple[float, float] | None:
        """Return a player's rating before the first of some games, and the change by these games; None if unknown.

        Games that were rated together changed it once.
        """
        changes: dict[tuple[int, int], tuple[float, float]] = {}
        for game in games:
            row = self._row(player, game)
            before, after = self.rating_to_change(player, game), self.rating_after(player, game)
            if row is None or before is None or after is None:
                return None
            place = row["rated_ms"], 0 if not self._pool.rates_single_games_at(row["rated_ms"]) else row["n"]
            changes.setdefault(place, (before, after))
        if not changes:
            return None
        first, _ = next(iter(changes.values()))
        return first, fsum(after - before for before, after in changes.values())

    def rating_before(self, player: int, game: EventGame) -> float | None:
        """Return a player's rating in force before a game."""
        key = (player, game.position)
        if (guest := game.guest_rating(player)) is not None:
            return guest
        if key not in self._before:
            row = self._row(player, game)
            if row is None:
                self._before[key] = self._states.at(player, game.ended_ms, before=True).in_force
            else:
                self._before[key] = self._states.rating_before_game(row)
        return self._before[key]

    def rating_to_change(self, player: int, game: EventGame) -> float | None:
        """Return a player's rating that changed by a game, or by those that it was rated with."""
        row = self._row(player, game)
        return self.rating_before(player, game) if row is None else self._states.rating_to_change(row)

    def rating_after(self, player: int, game: EventGame) -> float | None:
        """Return a player's rating after a game, or its period or event; None for a game that is not rated."""
        row = self._row(player, game)
        return game.guest_rating(player) if row is None else self._states.after_game(row).rating

    def upset_surplus(self, player: int, game: EventGame) -> float | None:
        """Return by how many rating points the opponent was rated above the player before a game; None if unrated."""
        own, opponents = self._row(player, game), self._row(game.opponent_of(player), game)
        their_rating = game.guest_rating(game.opponent_of(player)) if opponents is None else opponents["rating_before"]
        if own is None or their_rating is None or UNRATED in {own["rating_before"], their_rating}:
            return None
        return float(their_rating - own["rating_before"])


class ShownRatings:
    """The ratings of the players of one tournament as the source of the games shows them, such as a federation's."""

    def __init__(self, games: Sequence[EventGame]) -> None:
        often: dict[int, Counter[int]] = {}
        # In order of the ends, for ``most_common`` keeps equals as they were first counted.
        for game in sorted(games, key=lambda game: game.ended_ms):
            for player in game.players:
                rating = game.shown_rating(player)
                if rating is not None:
                    often.setdefault(player, Counter())[rating] += 1
        self._enrolment = {player: float(counted.most_common(1)[0][0]) for player, counted in often.items()}

    def is_counted(self, game: EventGame) -> bool:
        """Return whether a game counts for performance ratings: it was played."""
        return game.is_played

    def enrolment_rating(self, player: int) -> float | None:
        """Return the rating of a player that most games show; of equally frequent ones, the first."""
        return self._enrolment.get(player)

    def rating_before(self, player: int, game: EventGame) -> float | None:
        """Return a player's rating that a game shows or, if it shows none, the enrolment rating."""
        rating = game.shown_rating(player)
        return self.enrolment_rating(player) if rating is None else float(rating)

    def rating_to_change(self, player: int, game: EventGame) -> float | None:
        """Return the rating that a game shows: no source shows a change."""
        return self.rating_before(player, game)

    def rating_after(self, player: int, game: EventGame) -> float | None:  # noqa: ARG002
        """Return None: no source shows the rating after a game."""
        return None

    def rating_gain(self, player: int, games: Sequence[EventGame]) -> tuple[float, float] | None:  # noqa: ARG002
        """Return None: no source shows the change of a rating."""
        return None

    def upset_surplus(self, player: int, game: EventGame) -> float | None:
        """Return by how many rating points the source rates the opponent above the player.

        It is None for an unplayed game.
        """
        own, opponents = self.rating_before(player, game), self.rating_before(game.opponent_of(player), game)
        return None if own is None or opponents is None or not game.is_played else opponents - own


EventRatings = LedgerRatings | ShownRatings
