"""A tournament performance so far: enrolment rating, closing rating, score, and the opponents' ratings.

The rule is ChessWorld's (seed 004): the TPR "is based upon the rating achieved by a player at the conclusion of the
game, (the closing Rating), and is then compared with their rating at the start of the game, (the enrolment Rating), and
is independent of the game score points". ``answers.crosstables.performances`` has that reading, and the formulas of
other federations, over these numbers.

This is an SQL view over the history and the games, and no class: as a table of a projector it was two wide rows and two
entries of an index for each game, a quarter of the time of a first build of 960,311 real games and 176 of its 669 MB.
All of it follows from stored rows: a row for each side of each rated game of a tournament. The last row of a player
in a tournament is a line of a cross-table; the games of a name that returns each year go on, and those of one edition
are the difference of two rows (``book.timeline`` tells editions apart).

The rows of a player are a look through that player's history; those of a tournament a look through that of its pool, so
that answers take its games from ``games``. SQLite adds up with a correction for what rounding loses: sums may differ in
the last bit from sums in order.
"""

from __future__ import annotations

from collections.abc import Mapping

from ledger.book.tables import PLAYER, POINTS, POOL, ColumnDoc, TableDoc, opponent_rating_sql

NAME = "tournament_performance"
VIEW = f"""CREATE VIEW {NAME} AS
    SELECT h.pool, h.player, h.n, games.tournament, count(*) OVER so_far AS games,
      sum(h.half_points) OVER so_far AS half_points, sum(1 - h.colour) OVER so_far AS white_games,
      sum(games.time_loss = h.colour + 1) OVER so_far AS time_losses,
      first_value(h.rating_before) OVER so_far AS enrolment_rating, h.rating AS closing_rating,
      sum({opponent_rating_sql("rating_before", "h", "other")}) OVER so_far AS opponents_enrolment,
      sum({opponent_rating_sql("rating", "h", "other")}) OVER so_far AS opponents_closing
    FROM history AS h CROSS JOIN games ON games.position = h.game
    LEFT JOIN history AS other
      ON other.pool = h.pool AND other.player = h.opponent AND other.n = h.opponent_n
    WHERE games.tournament IS NOT NULL
    WINDOW so_far AS (PARTITION BY h.pool, h.player, games.tournament ORDER BY h.n ROWS UNBOUNDED PRECEDING)"""
KEY = ("pool", "player", "n")
TYPES: Mapping[str, str] = {  # as SQLite does not tell them of what a view works out
    **dict.fromkeys(("pool", "player", "n", "games", "half_points", "white_games", "time_losses"), "INTEGER"),
    "tournament": "TEXT",
    **dict.fromkeys(("enrolment_rating", "closing_rating", "opponents_enrolment", "opponents_closing"), "REAL"),
}
_COLUMNS: Mapping[str, ColumnDoc] = {
    "pool": POOL,
    "player": PLAYER,
    "n": ColumnDoc("the player's n-th rated game in the pool, from 1", "games"),
    "tournament": ColumnDoc("name of the tournament"),
    "games": ColumnDoc("rated games in the tournament so far", "games"),
    "half_points": ColumnDoc("half points in them", "half-points"),
    "white_games": ColumnDoc("of these games, with White", "games"),
    "time_losses": ColumnDoc("of these games, lost by overstepping the time", "games"),
    "enrolment_rating": ColumnDoc("rating before the first of these games", POINTS),
    "closing_rating": ColumnDoc("rating after the last of these games", POINTS),
    "opponents_enrolment": ColumnDoc("sum of the opponents' ratings before each game", POINTS),
    "opponents_closing": ColumnDoc("sum of the opponents' ratings after each game", POINTS),
}
DOC = TableDoc("A row for each side of each rated game of a tournament, worked out when it is asked for.", _COLUMNS)
