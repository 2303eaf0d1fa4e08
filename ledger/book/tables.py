"""The tables of the game book: games as they now stand, and the facts about pools, players, tournaments, policies.

``games.began_ms`` is the first millisecond of the game's tournament, where tournaments are rated whole: NULL where that
is the day on which the game ended, or where the scheme does not ask.

``games`` holds each game as it stands after all corrections: ``voided_by`` is the proposal that voided it, White and
Black are the persons that merged players are. ``originals`` keeps the facts of corrected games as they were told, and
``given_sides`` under which numbers a game of merged players was told. ``merges`` are those in force. ``movetexts`` says
which games were told with which moves.

They stand in the views database; what follows from ratings has its tables in ``ratings.views_file``. SQL only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

GAME_COLUMNS = (
    "position", "key", "pool", "white", "black", "outcome", "termination", "half_moves", "started_at", "ended_at",
    "ended_ms", "rated_ms", "batch", "tournament", "round", "round_order", "rated", "reason", "white_rating",
    "black_rating", "half_points", "time_loss",
)  # fmt: skip

ORDER_OF_ENDS = ("ended_ms", "round_order", "key")
RATING_ORDER = ("rated_ms", "batch", *ORDER_OF_ENDS)  # in which the games of a pool are rated
IN_RATING_ORDER, IN_ORDER_OF_ENDS = ", ".join(RATING_ORDER), ", ".join(ORDER_OF_ENDS)
INSERT_PLAYER = "INSERT OR REPLACE INTO players VALUES (?, ?, ?, ?, ?)"  # a corrected registration takes its place
INSERT_MOVETEXT = "INSERT OR REPLACE INTO movetexts VALUES (?, ?)"
INSERT_GAME = f"INSERT INTO games({', '.join(GAME_COLUMNS)}) VALUES ({', '.join('?' * len(GAME_COLUMNS))})"

# Verdicts on games that wait until all are judged.
ASIDE = (
    "judged(reason TEXT, rated_ms INTEGER NOT NULL, batch TEXT NOT NULL, began_ms INTEGER, "
    "position INTEGER PRIMARY KEY)"
)

SCHEMA = (
    "CREATE TABLE pools(pool INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, position INTEGER NOT NULL) STRICT",
    """CREATE TABLE eras(
      pool INTEGER NOT NULL, since_ms INTEGER NOT NULL, since TEXT NOT NULL, scheme TEXT NOT NULL,
      settings TEXT NOT NULL, carry TEXT NOT NULL, conversion TEXT NOT NULL, position INTEGER NOT NULL,
      PRIMARY KEY(pool, since_ms, since, position))
      STRICT, WITHOUT ROWID""",
    """CREATE TABLE runs(
      pool INTEGER NOT NULL, as_of_ms INTEGER NOT NULL, as_of TEXT NOT NULL, position INTEGER NOT NULL,
      PRIMARY KEY(pool, as_of_ms, as_of, position))
      STRICT, WITHOUT ROWID""",
    """CREATE TABLE tournaments(
      pool INTEGER NOT NULL, tournament TEXT NOT NULL, closed_ms INTEGER NOT NULL, closed_at TEXT NOT NULL,
      position INTEGER NOT NULL, PRIMARY KEY(pool, tournament, closed_ms, closed_at, position))
      STRICT, WITHOUT ROWID""",
    """CREATE TABLE openings(
      pool INTEGER NOT NULL, tournament TEXT NOT NULL, starts_ms INTEGER NOT NULL, starts_at TEXT NOT NULL,
      ends_ms INTEGER NOT NULL, ends_at TEXT NOT NULL, format TEXT, entrants INTEGER, rounds INTEGER,
      position INTEGER NOT NULL, PRIMARY KEY(pool, tournament, starts_ms, starts_at, position))
      STRICT, WITHOUT ROWID""",
    """CREATE TABLE rounds_without_game(
      pool INTEGER NOT NULL, tournament TEXT NOT NULL, edition_ms INTEGER NOT NULL, edition TEXT NOT NULL,
      round INTEGER, player INTEGER NOT NULL, brings TEXT NOT NULL, half_points INTEGER NOT NULL,
      position INTEGER NOT NULL, PRIMARY KEY(pool, tournament, edition_ms, position))
      STRICT, WITHOUT ROWID""",
    """CREATE TABLE policies(
      policy TEXT NOT NULL, number INTEGER NOT NULL, since_ms INTEGER NOT NULL, since TEXT NOT NULL,
      settings TEXT NOT NULL, position INTEGER NOT NULL, PRIMARY KEY(policy, number)) STRICT, WITHOUT ROWID""",
    """CREATE TABLE players(
      player INTEGER PRIMARY KEY, joined_at TEXT NOT NULL, standing TEXT NOT NULL, declared_rating INTEGER,
      birth_year INTEGER) STRICT""",
    """CREATE TABLE changes(
      player INTEGER NOT NULL, effective_ms INTEGER NOT NULL, effective_at TEXT NOT NULL, standing TEXT NOT NULL,
      declared_rating INTEGER, position INTEGER NOT NULL,
      PRIMARY KEY(player, effective_ms, effective_at, position))
      STRICT, WITHOUT ROWID""",
    """CREATE TABLE seeds(
      pool INTEGER NOT NULL, player INTEGER NOT NULL, effective_ms INTEGER NOT NULL, effective_at TEXT NOT NULL,
      rating REAL NOT NULL, games INTEGER, deviation REAL, volatility REAL, highest REAL, k_factor REAL, source TEXT,
      position INTEGER NOT NULL, PRIMARY KEY(pool, player, effective_ms, effective_at, position))
      STRICT, WITHOUT ROWID""",
    """CREATE TABLE games(
      position INTEGER PRIMARY KEY, key TEXT NOT NULL, pool INTEGER NOT NULL, white INTEGER NOT NULL,
      black INTEGER NOT NULL, outcome TEXT NOT NULL, termination TEXT NOT NULL, half_moves INTEGER,
      started_at TEXT, ended_at TEXT NOT NULL, ended_ms INTEGER NOT NULL, rated_ms INTEGER NOT NULL,
      batch TEXT NOT NULL, tournament TEXT, round TEXT,
      round_order INTEGER NOT NULL, rated INTEGER NOT NULL, reason TEXT, white_rating INTEGER,
      black_rating INTEGER, half_points INTEGER, time_loss INTEGER NOT NULL, began_ms INTEGER,
      voided_by INTEGER) STRICT""",
    """CREATE TABLE proposals(
      proposal INTEGER PRIMARY KEY, position INTEGER NOT NULL, proposed_by TEXT NOT NULL,
      proposed_proven INTEGER NOT NULL, reason TEXT NOT NULL, parts INTEGER NOT NULL, decision TEXT,
      decided_position INTEGER, decided_by TEXT, decided_proven INTEGER, decision_reason TEXT,
      effective INTEGER NOT NULL, why_not TEXT) STRICT""",
    """CREATE TABLE corrections(
      proposal INTEGER NOT NULL, number INTEGER NOT NULL, subject TEXT NOT NULL, change TEXT NOT NULL,
      PRIMARY KEY(proposal, number)) STRICT, WITHOUT ROWID""",
    "CREATE TABLE merges(player INTEGER PRIMARY KEY, into_player INTEGER NOT NULL, proposal INTEGER NOT NULL) STRICT",
    "CREATE TABLE given_sides(position INTEGER PRIMARY KEY, white INTEGER NOT NULL, black INTEGER NOT NULL) STRICT",
    "CREATE TABLE originals(position INTEGER PRIMARY KEY, facts TEXT NOT NULL) STRICT",
    "CREATE TABLE movetexts(position INTEGER PRIMARY KEY, moves INTEGER NOT NULL) STRICT",
)
NAMES = tuple(statement.split("(")[0].split()[2] for statement in SCHEMA)
_BY_TOURNAMENT = "CREATE INDEX games_by_tournament ON games(pool, tournament, ended_ms) WHERE tournament IS NOT NULL"
INDEXES = (
    "CREATE INDEX games_in_rating_order ON games(pool, rated_ms) WHERE reason IS NULL",
    "CREATE INDEX games_not_counted ON games(pool, ended_ms) WHERE reason IS NOT NULL",
    "CREATE INDEX seeds_by_rating ON seeds(pool, rating DESC, player)",
    "CREATE INDEX players_declared ON players(player) WHERE declared_rating IS NOT NULL",
    "CREATE INDEX players_not_full ON players(player, standing) WHERE standing <> 'full'",
    "CREATE INDEX changes_closing ON changes(player) WHERE standing = 'closed'",
    _BY_TOURNAMENT,
    # with Black and the end: whoever records a game asks for those of two players about a day
    "CREATE INDEX games_of_white ON games(white, black, ended_ms)",
    "CREATE INDEX games_of_black ON games(black)",
    "CREATE INDEX rounds_without_game_of_player ON rounds_without_game(player, pool, tournament)",
    "CREATE INDEX rounds_without_game_by_entry ON rounds_without_game(position)",
    "CREATE INDEX corrections_by_subject ON corrections(subject)",
    "CREATE INDEX given_sides_of_white ON given_sides(white, black)",
    "CREATE INDEX given_sides_of_black ON given_sides(black)",
    "CREATE INDEX originals_of_players ON originals(facts ->> 'white', facts ->> 'black')",
    "CREATE INDEX movetexts_by_moves ON movetexts(moves)",
)


def index_tournaments(connection: sqlite3.Connection) -> None:
    """Make the games of a tournament quick to find before the other indexes are made: for a build, which looks."""
    connection.execute(_BY_TOURNAMENT.replace("CREATE INDEX", "CREATE INDEX IF NOT EXISTS"))
