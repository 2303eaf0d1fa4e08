"""The tables of the game book: games as corrected, and the facts about pools, players, tournaments, policies.

``games.began_ms`` is the first millisecond of the game's tournament, where tournaments are rated whole: NULL where that
is the day on which the game ended, or where the scheme does not ask.

``games`` has each game after all corrections: ``voided_by`` is the proposal that voided it, White and Black are the
persons of merged players. ``originals`` has the facts of corrected games as they were reported, ``given_sides`` the
reported numbers in games of merged players. ``merges`` are those in force. ``movetexts`` says which games have the same
moves.

They are in the views database; ``ratings.views_file`` has the tables that follow from ratings. SQL only.

The meaning and the unit of each table and column are here once, for the reference, ``rating-ledger tables``,
Datasette and the exports.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.facts.instants import instant_ms, instant_ms_column, round_order_column
from ledger.facts.words import HALF_POINTS, LOSER, Termination, round_order, time_loss
from ledger.runtime.lazy import pl

if TYPE_CHECKING:
    import sqlite3

    from polars import DataFrame


GAME_COLUMNS = (
    "position", "key", "pool", "white", "black", "outcome", "termination", "half_moves", "started_at", "ended_at",
    "ended_ms", "rated_ms", "batch", "tournament", "round", "round_order", "sequence", "sequence_order", "rated",
    "reason", "white_rating", "black_rating", "half_points", "time_loss", "white_guest", "black_guest",
)  # fmt: skip

REBUILD = "run 'rebuild': everything in the views follows from the journal"
ORDER_OF_ENDS = ("ended_ms", "round_order", "sequence_order", "key")
RATING_ORDER = ("rated_ms", "batch", *ORDER_OF_ENDS)  # in which the games of a pool are rated
POINTS_BITS, PLAYER_BITS = 2, 31  # of two numbers that are read as one (``game_book``)
IN_RATING_ORDER, IN_ORDER_OF_ENDS = ", ".join(RATING_ORDER), ", ".join(ORDER_OF_ENDS)
INSERT_PLAYER = "INSERT OR REPLACE INTO players VALUES (?, ?, ?, ?, ?)"  # a corrected registration takes its place
DETAIL_COLUMNS = ("player", "effective_ms", "effective_at", "number", "details", "position")
INSERT_DETAILS = f"INSERT INTO player_details({', '.join(DETAIL_COLUMNS)}) VALUES (?, ?, ?, ?, ?, ?)"
INSERT_MOVETEXT = "INSERT OR REPLACE INTO movetexts VALUES (?, ?)"
INSERT_GAME = f"INSERT INTO games({', '.join(GAME_COLUMNS)}) VALUES ({', '.join('?' * len(GAME_COLUMNS))})"

# Verdicts on games that wait until all are judged: an index that is being read must not change meanwhile.
TEMPORARY_ASSESSMENTS = (
    "judged(reason TEXT, rated_ms INTEGER NOT NULL, batch TEXT NOT NULL, began_ms INTEGER, white_guest TEXT, "
    "black_guest TEXT, position INTEGER PRIMARY KEY)"
)

# A key of several columns is the table itself (WITHOUT ROWID, sqlite.org/withoutrowid.html): otherwise an index would
# hold it a second time. The position is in it if two entries may say the same of one instant.
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
    """CREATE TABLE publications(
      pool INTEGER NOT NULL, position INTEGER NOT NULL, as_of_ms INTEGER NOT NULL, as_of TEXT NOT NULL,
      edition INTEGER NOT NULL, PRIMARY KEY(pool, position)) STRICT, WITHOUT ROWID""",
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
      position INTEGER NOT NULL, opponent INTEGER, colour TEXT,
      PRIMARY KEY(pool, tournament, edition_ms, position)) STRICT, WITHOUT ROWID""",
    """CREATE TABLE entrants(
      pool INTEGER NOT NULL, tournament TEXT NOT NULL, edition_ms INTEGER NOT NULL, edition TEXT NOT NULL,
      player INTEGER NOT NULL, number INTEGER NOT NULL, start_number INTEGER NOT NULL, rating INTEGER, place INTEGER,
      federation TEXT, position INTEGER NOT NULL, PRIMARY KEY(pool, tournament, position)) STRICT, WITHOUT ROWID""",
    """CREATE TABLE descriptions(
      pool INTEGER NOT NULL, tournament TEXT NOT NULL, edition_ms INTEGER NOT NULL, edition TEXT NOT NULL,
      number INTEGER NOT NULL, city TEXT, federation TEXT, system TEXT, time_control TEXT, time_code TEXT,
      rounds INTEGER, round_days TEXT, first_colour TEXT, scoring TEXT, start_order TEXT, program TEXT,
      system_code TEXT, tie_breaks TEXT, standings_order TEXT, arbiters TEXT,
      position INTEGER NOT NULL, PRIMARY KEY(pool, tournament, position)) STRICT, WITHOUT ROWID""",
    """CREATE TABLE sent_reports(
      pool INTEGER NOT NULL, tournament TEXT NOT NULL, edition_ms INTEGER NOT NULL, edition TEXT NOT NULL,
      number INTEGER NOT NULL, form TEXT NOT NULL, digest TEXT NOT NULL, text TEXT NOT NULL, sent_on TEXT NOT NULL,
      since TEXT, until TEXT, position INTEGER NOT NULL, PRIMARY KEY(pool, tournament, position))
      STRICT, WITHOUT ROWID""",
    """CREATE TABLE player_details(
      player INTEGER NOT NULL, effective_ms INTEGER NOT NULL, effective_at TEXT NOT NULL, number INTEGER NOT NULL,
      details TEXT NOT NULL, position INTEGER NOT NULL, PRIMARY KEY(player, position)) STRICT, WITHOUT ROWID""",
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
    """CREATE TABLE strengths(
      pool INTEGER NOT NULL, player INTEGER NOT NULL, effective_ms INTEGER NOT NULL, effective_at TEXT NOT NULL,
      strength TEXT NOT NULL, position INTEGER NOT NULL,
      PRIMARY KEY(pool, player, effective_ms, effective_at, position))
      STRICT, WITHOUT ROWID""",
    """CREATE TABLE federations(
      player INTEGER NOT NULL, effective_ms INTEGER NOT NULL, effective_at TEXT NOT NULL, federation TEXT NOT NULL,
      position INTEGER NOT NULL, PRIMARY KEY(player, effective_ms, effective_at, position)) STRICT, WITHOUT ROWID""",
    """CREATE TABLE games(
      position INTEGER PRIMARY KEY, key TEXT NOT NULL, pool INTEGER NOT NULL, white INTEGER NOT NULL,
      black INTEGER NOT NULL, outcome TEXT NOT NULL, termination TEXT NOT NULL, half_moves INTEGER,
      started_at TEXT, ended_at TEXT NOT NULL, ended_ms INTEGER NOT NULL, rated_ms INTEGER NOT NULL,
      batch TEXT NOT NULL, tournament TEXT, round TEXT,
      round_order INTEGER NOT NULL, sequence INTEGER, sequence_order INTEGER NOT NULL, rated INTEGER NOT NULL,
      reason TEXT, white_rating INTEGER,
      black_rating INTEGER, half_points INTEGER, time_loss INTEGER NOT NULL, began_ms INTEGER,
      voided_by INTEGER, white_guest TEXT, black_guest TEXT) STRICT""",
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
TABLE_NAMES = tuple(statement.split("(")[0].split()[2] for statement in SCHEMA)
_ENTRANTS_OF_PLAYER = "CREATE INDEX entrants_of_player ON entrants(player, pool, tournament)"
_BY_TOURNAMENT = "CREATE INDEX games_by_tournament ON games(pool, tournament, ended_ms) WHERE tournament IS NOT NULL"
# An index on some rows alone serves a question whose conditions say the same of them (sqlite.org/partialindex.html),
# one on expressions a query that spells them the same (sqlite.org/expridx.html).
INDEXES = (
    # The place alone: what else is rating order SQLite sorts within one place (EXPLAIN QUERY PLAN: TEMP B-TREE FOR LAST
    # 5 TERMS), where a game that is rated by itself has few others.
    "CREATE INDEX games_in_rating_order ON games(pool, rated_ms) WHERE reason IS NULL",
    "CREATE INDEX games_not_counted ON games(pool, ended_ms) WHERE reason IS NOT NULL",
    # The best who never played come into a ranking by it, one after another, without a look at all of a list.
    "CREATE INDEX seeds_by_rating ON seeds(pool, rating DESC, player)",
    # Who has a past is asked of a pool in which a million may play, and a few declared a rating.
    "CREATE INDEX players_declared ON players(player) WHERE declared_rating IS NOT NULL",
    # Accounts that are closed are few, and asked for with each ranking (``player_rows``).
    "CREATE INDEX players_not_full ON players(player, standing) WHERE standing <> 'full'",
    "CREATE INDEX changes_closing ON changes(player) WHERE standing = 'closed'",
    _BY_TOURNAMENT,
    # with Black and the end: recording a game asks for those of two players about a day
    "CREATE INDEX games_of_white ON games(white, black, ended_ms)",
    "CREATE INDEX games_of_black ON games(black, ended_ms)",  # the end: when a player's first game was
    # Guests are few, and their page asks for their games.
    "CREATE INDEX games_of_white_guests ON games(pool, white, ended_ms) WHERE white_guest IS NOT NULL",
    "CREATE INDEX games_of_black_guests ON games(pool, black, ended_ms) WHERE black_guest IS NOT NULL",
    # A game asks for the federation and the rating of its players in the report about its tournament.
    _ENTRANTS_OF_PLAYER,
    "CREATE INDEX rounds_without_game_of_player ON rounds_without_game(player, pool, tournament)",
    # A correction takes the row of an entry out, and the key of the table begins with the pool.
    "CREATE INDEX rounds_without_game_by_entry ON rounds_without_game(position)",
    "CREATE INDEX corrections_by_subject ON corrections(subject)",
    # Repeats are recognised by the reported facts, whatever was merged or corrected since.
    "CREATE INDEX given_sides_of_white ON given_sides(white, black)",
    "CREATE INDEX given_sides_of_black ON given_sides(black)",
    "CREATE INDEX originals_of_players ON originals(facts ->> 'white', facts ->> 'black')",
    "CREATE INDEX movetexts_by_moves ON movetexts(moves)",
)


def opponent_rating_sql(column: str, own: str, opponent: str) -> str:
    """Return the SQL of an opponent's rating: a column of the row *opponent*, of a guest the rating that counts.

    *own* is the row of the player, and the row of the game is ``games``; a guest has no row.
    """
    guest = f"iif({own}.colour = 0, games.black_guest, games.white_guest)"
    return f"coalesce({opponent}.{column}, {guest} ->> 'rating')"


def index_tournaments(connection: sqlite3.Connection) -> None:
    """Make the games of a tournament quick to find before the other indexes are made: for a build, which looks."""
    connection.execute(_BY_TOURNAMENT.replace("CREATE INDEX", "CREATE INDEX IF NOT EXISTS"))


def index_entrants(connection: sqlite3.Connection) -> None:
    """Make the entrants of a player quick to find before the other indexes are made, likewise."""
    connection.execute(_ENTRANTS_OF_PLAYER.replace("CREATE INDEX", "CREATE INDEX IF NOT EXISTS"))


FACT_COLUMNS = (
    "white", "black", "outcome", "termination", "half_moves", "started_at", "ended_at", "tournament", "round",
    "sequence", "rated", "white_rating", "black_rating",
)  # fmt: skip  # the fields of ``game-recorded/1`` that a row has under their own names
DERIVED_COLUMNS = ("ended_ms", "round_order", "sequence_order", "half_points", "time_loss")
ASSESSMENT_COLUMNS = ("reason", "rated_ms", "batch", "began_ms", "white_guest", "black_guest")  # what the judge says


def game_row(facts: Mapping[str, Any], pool: int) -> dict[str, Any]:
    """Return the columns of a game's row that follow from its facts, without ratings or corrections.

    Args:
        facts: the plain fields of ``game-recorded/1``; those that say nothing may be left out.
        pool: number of its pool.
    """
    row: dict[str, Any] = {name: facts.get(name) for name in FACT_COLUMNS}
    row["pool"], row["key"], row["rated"] = pool, facts["game"], int(facts["rated"])
    outcome, termination = row["outcome"], row["termination"]
    row["ended_ms"], row["round_order"] = instant_ms(row["ended_at"]), round_order(row["round"])
    row["sequence_order"] = row["sequence"] or 0  # a game without one comes first
    row["half_points"], row["time_loss"] = HALF_POINTS[outcome], time_loss(outcome, termination)
    return row


def with_derived_columns(frame: DataFrame) -> DataFrame:
    """The facts of many games with the columns ``DERIVED_COLUMNS``, as ``game_row`` gives them for one."""
    loser = frame["outcome"].replace_strict(dict(LOSER), return_dtype=pl.Int64)
    return frame.with_columns(
        ended_ms=instant_ms_column(frame["ended_at"]),
        round_order=round_order_column(frame["round"]),
        sequence_order=pl.col("sequence").fill_null(0),
        half_points=frame["outcome"].replace_strict(dict(HALF_POINTS), return_dtype=pl.Int64),
        time_loss=pl.when(pl.col("termination") == Termination.TIME.value).then(loser).otherwise(0),
    )


def game_facts(row: Mapping[str, Any], pool: str) -> dict[str, Any]:
    """Return the plain facts of a row, in the fields of ``game-recorded/1``; the movetext is in no row.

    Args:
        row: its columns by name.
        pool: name of its pool.
    """
    facts = {name: row[name] for name in FACT_COLUMNS if row[name] is not None}
    return {**facts, "rated": bool(row["rated"]), "game": row["key"], "pool": pool}


MS = "ms since 1970 UTC"
INSTANT = "ISO 8601, UTC"
POINTS = "points"
NUMBER = "player number"
POSITION = "position in the journal"
JSON = "JSON"
YES_NO = "0 or 1"


class ColumnDoc(NamedTuple):
    """A column's meaning, its unit or form, and the column of another table whose values it has."""

    doc: str
    unit: str = ""
    references: str = ""


class TableDoc(NamedTuple):
    """A table's description: a sentence, its columns, and the column that names a row."""

    doc: str
    columns: Mapping[str, ColumnDoc]
    label: str = ""


POOL = ColumnDoc("the pool", "pool number", "pools.pool")
PLAYER = ColumnDoc("the player", NUMBER, "players.player")
ENTRY = ColumnDoc("the entry that says so", POSITION)
PROPOSAL = ColumnDoc("the proposal", "proposal number", "proposals.proposal")


def _ms(text: str) -> ColumnDoc:
    return ColumnDoc(f"the same as {text}: its first moment", MS)


def _last_ms(text: str) -> ColumnDoc:
    return ColumnDoc(f"the same as {text}: its last moment", MS)


_GAME = {
    "position": ColumnDoc("the entry that recorded the game", POSITION),
    "key": ColumnDoc("the game's own key, such as lichess:Mxzwh32Z"),
    "pool": POOL,
    "white": ColumnDoc("who played White; of merged players the person", NUMBER, "players.player"),
    "black": ColumnDoc("who played Black; of merged players the person", NUMBER, "players.player"),
    "outcome": ColumnDoc("white, draw, black, or how a game without a result ended", "word"),
    "termination": ColumnDoc("how it ended: checkmate, resignation, time, ...", "word"),
    "half_moves": ColumnDoc("length, NULL where nobody knows", "half-moves"),
    "started_at": ColumnDoc("when it began, as exactly as it is known", INSTANT),
    "ended_at": ColumnDoc("when it ended, as exactly as it is known", INSTANT),
    "ended_ms": _ms("ended_at"),
    "rated_ms": ColumnDoc("its place in rating order: when the ratings that it leads to come into force", MS),
    "batch": ColumnDoc("the tournament or period that is rated together, empty where each game is rated by itself"),
    "tournament": ColumnDoc("name of the tournament"),
    "round": ColumnDoc("the round as it was recorded"),
    "round_order": ColumnDoc("a number that sorts rounds as people do"),
    "sequence": ColumnDoc("place within its day and round, as the source numbers or lists its games"),
    "sequence_order": ColumnDoc("the same, 0 without one"),
    "rated": ColumnDoc("whether a rated game was asked for", YES_NO),
    "reason": ColumnDoc("why the game does not count; NULL for a game that counts", "word"),
    "white_rating": ColumnDoc("White's rating as the source shows it", POINTS),
    "black_rating": ColumnDoc("Black's rating as the source shows it", POINTS),
    "half_points": ColumnDoc("White's score: 2 win, 1 draw, 0 loss; NULL without a result", "half-points"),
    "time_loss": ColumnDoc("who lost by overstepping the time: 0 nobody, 1 White, 2 Black", "code"),
    "began_ms": ColumnDoc("when its tournament began, where tournaments are rated whole and that is another day", MS),
    "voided_by": ColumnDoc("the proposal that voided it", "proposal number", "proposals.proposal"),
    "white_guest": ColumnDoc(
        "the rating of White that counts, as a guest's, with what a list states; NULL: none", JSON
    ),
    "black_guest": ColumnDoc(
        "the rating of Black that counts, as a guest's, with what a list states; NULL: none", JSON
    ),
}
_CORRECTIONS = {
    "proposals": TableDoc(
        "Proposals to correct what the journal says, each with its last decision.",
        {
            "proposal": ColumnDoc("number of the proposal"),
            "position": ColumnDoc("the first entry of the proposal", POSITION),
            "proposed_by": ColumnDoc("who proposed it"),
            "proposed_proven": ColumnDoc("whether a token proved that", YES_NO),
            "reason": ColumnDoc("salted digest of the reason; its words stand in the people file", "hexadecimal"),
            "parts": ColumnDoc("entries of which it consists"),
            "decision": ColumnDoc("the last decision; NULL while it is open", "word"),
            "decided_position": ColumnDoc("the entry of that decision", POSITION),
            "decided_by": ColumnDoc("who decided"),
            "decided_proven": ColumnDoc("whether a token proved that", YES_NO),
            "decision_reason": ColumnDoc("salted digest of the reason of the decision", "hexadecimal"),
            "effective": ColumnDoc("whether it acts now", YES_NO),
            "why_not": ColumnDoc("the rule that keeps an approved one from acting", "word"),
        },
    ),
    "corrections": TableDoc(
        "What each proposal changes, a row for each change.",
        {
            "proposal": PROPOSAL,
            "number": ColumnDoc("place of the change in its proposal, from 1"),
            "subject": ColumnDoc("the fact that is changed, by its key, such as game:lichess:Mxzwh32Z"),
            "change": ColumnDoc("what is changed, with the values that are replaced", JSON),
        },
    ),
    "merges": TableDoc(
        "Players who are the same person as another one, by corrections in force.",
        {
            "player": ColumnDoc("the number that is another player's", NUMBER, "players.player"),
            "into_player": ColumnDoc("the person", NUMBER, "players.player"),
            "proposal": PROPOSAL,
        },
    ),
    "given_sides": TableDoc(
        "Under which numbers the games of merged players were told.",
        {
            "position": ColumnDoc("the game", POSITION, "games.position"),
            "white": ColumnDoc("White as told", NUMBER, "players.player"),
            "black": ColumnDoc("Black as told", NUMBER, "players.player"),
        },
    ),
    "originals": TableDoc(
        "Corrected games as they were told.",
        {
            "position": ColumnDoc("the game", POSITION, "games.position"),
            "facts": ColumnDoc("its facts before all corrections", JSON),
        },
    ),
    "movetexts": TableDoc(
        "Games of which moves were told, to find those with the same moves.",
        {
            "position": ColumnDoc("the game", POSITION, "games.position"),
            "moves": ColumnDoc("the first 8 bytes of the SHA-256 of its moves, as a signed number"),
        },
    ),
}
_PLAYERS = {
    "players": TableDoc(
        "Everybody who was ever registered, by number. No name stands here.",
        {
            "player": ColumnDoc("the player", NUMBER),
            "joined_at": ColumnDoc("when the player was registered", INSTANT),
            "standing": ColumnDoc("full, guest, welcomer or closed", "word"),
            "declared_rating": ColumnDoc("the rating that the player stated on joining", POINTS),
            "birth_year": ColumnDoc("year of birth", "year"),
        },
    ),
    "changes": TableDoc(
        "Changes of standing or of a declared rating, each from an instant on.",
        {
            "player": PLAYER,
            "effective_ms": _ms("effective_at"),
            "effective_at": ColumnDoc("from when on", INSTANT),
            "standing": ColumnDoc("full, guest, welcomer or closed", "word"),
            "declared_rating": ColumnDoc("the rating that the player states", POINTS),
            "position": ENTRY,
        },
    ),
    "player_details": TableDoc(
        "Data about players from an instant on, by the commitments to them: the people file has the data.",
        {
            "player": PLAYER,
            "effective_ms": _ms("effective_at"),
            "effective_at": ColumnDoc("from when on", INSTANT),
            "number": ColumnDoc("place among the descriptions of the player from this instant, from 1"),
            "details": ColumnDoc("commitment to the data", "SHA-256"),
            "position": ENTRY,
        },
    ),
    "seeds": TableDoc(
        "Ratings with which players came into a pool, and the list that each is from.",
        {
            "pool": POOL,
            "player": PLAYER,
            "effective_ms": _ms("effective_at"),
            "effective_at": ColumnDoc("from when on", INSTANT),
            "rating": ColumnDoc("the rating of the list", POINTS),
            "games": ColumnDoc("rated games before, where the list tells", "games"),
            "deviation": ColumnDoc("rating deviation", POINTS),
            "volatility": ColumnDoc("Glicko-2's volatility"),
            "highest": ColumnDoc("highest rating so far", POINTS),
            "k_factor": ColumnDoc("K", POINTS),
            "source": ColumnDoc("name of the list"),
            "position": ENTRY,
        },
    ),
    "federations": TableDoc(
        "The federations of players, each from an instant on; in a pool of another federation they are guests.",
        {
            "player": PLAYER,
            "effective_ms": _ms("effective_at"),
            "effective_at": ColumnDoc("from when on", INSTANT),
            "federation": ColumnDoc("federation of three letters", "code"),
            "position": ENTRY,
        },
    ),
    "strengths": TableDoc(
        "Strengths that players chose; they are shown until the provisional games are completed.",
        {
            "pool": POOL,
            "player": PLAYER,
            "effective_ms": _ms("effective_at"),
            "effective_at": ColumnDoc("from when on", INSTANT),
            "strength": ColumnDoc("beginner, intermediate or advanced", "word"),
            "position": ENTRY,
        },
    ),
}
_POOLS = {
    "pools": TableDoc(
        "The pools: games that are rated together.",
        {
            "pool": ColumnDoc("number of the pool, from 1"),
            "name": ColumnDoc("its name"),
            "position": ColumnDoc("the entry that it began with", POSITION),
        },
        "name",
    ),
    "eras": TableDoc(
        "Which scheme rates a pool from when on.",
        {
            "pool": POOL,
            "since_ms": _ms("since"),
            "since": ColumnDoc("from when on; empty from the beginning", INSTANT),
            "scheme": ColumnDoc("name of the scheme"),
            "settings": ColumnDoc("its settings", JSON),
            "carry": ColumnDoc("what players bring along: keep, restart or convert", "word"),
            "conversion": ColumnDoc("the map by which ratings are converted", JSON),
            "position": ENTRY,
        },
    ),
    "runs": TableDoc(
        "Rating periods that were ended by hand.",
        {
            "pool": POOL,
            "as_of_ms": _last_ms("as_of"),
            "as_of": ColumnDoc("the day up to which games belong to it", INSTANT),
            "position": ENTRY,
        },
    ),
    "publications": TableDoc(
        "Lists that were published.",
        {
            "pool": POOL,
            "position": ENTRY,
            "as_of_ms": _last_ms("as_of"),
            "as_of": ColumnDoc("the instant at whose end the ratings of the list are in force", INSTANT),
            "edition": ColumnDoc("place among the lists of this pool and instant, from 1"),
        },
    ),
    "tournaments": TableDoc(
        "Tournaments that were closed.",
        {
            "pool": POOL,
            "tournament": ColumnDoc("name of the tournament"),
            "closed_ms": _last_ms("closed_at"),
            "closed_at": ColumnDoc("when it was over", INSTANT),
            "position": ENTRY,
        },
    ),
    "openings": TableDoc(
        "Tournaments that were announced.",
        {
            "pool": POOL,
            "tournament": ColumnDoc("name of the tournament"),
            "starts_ms": _ms("starts_at"),
            "starts_at": ColumnDoc("its first day", INSTANT),
            "ends_ms": _last_ms("ends_at"),
            "ends_at": ColumnDoc("its last day", INSTANT),
            "format": ColumnDoc("all-play-all, swiss, knockout, match or arena", "word"),
            "entrants": ColumnDoc("how many enter", "players"),
            "rounds": ColumnDoc("how many rounds"),
            "position": ENTRY,
        },
    ),
    "rounds_without_game": TableDoc(
        "Rounds in which a player has no game, and what they bring: byes and absences. None is rated.",
        {
            "pool": POOL,
            "tournament": ColumnDoc("name of the tournament"),
            "edition_ms": _ms("edition"),
            "edition": ColumnDoc("a day of the edition, as it was told", INSTANT),
            "round": ColumnDoc("number of the round; NULL where rounds have none"),
            "player": ColumnDoc("the player as told; of merged players see merges", NUMBER, "players.player"),
            "brings": ColumnDoc("half, full, allotted, zero or absent", "word"),
            "half_points": ColumnDoc("what it brings: 2 a point", "half-points"),
            "position": ENTRY,
            "opponent": ColumnDoc("with whom the round was paired, as reported", NUMBER, "players.player"),
            "colour": ColumnDoc("the colour in that pairing: white or black", "word"),
        },
    ),
    "entrants": TableDoc(
        "Entrants of tournaments as reports list them; of several rows of a player the last one counts.",
        {
            "pool": POOL,
            "tournament": ColumnDoc("name of the tournament"),
            "edition_ms": _ms("edition"),
            "edition": ColumnDoc("a day of the edition", INSTANT),
            "player": ColumnDoc("the player as reported; of merged players see merges", NUMBER, "players.player"),
            "number": ColumnDoc("place among the reports of this entrant, from 1"),
            "start_number": ColumnDoc("starting number"),
            "rating": ColumnDoc("rating in the list of entrants; NULL for an unrated player", POINTS),
            "place": ColumnDoc("final place in the report"),
            "federation": ColumnDoc("federation in the list of entrants; NULL where none was given", "code"),
            "position": ENTRY,
        },
    ),
    "sent_reports": TableDoc(
        "Reports about tournaments that were sent to a federation.",
        {
            "pool": POOL,
            "tournament": ColumnDoc("name of the tournament"),
            "edition_ms": _ms("edition"),
            "edition": ColumnDoc("a day of the edition", INSTANT),
            "number": ColumnDoc("place among the reports of the edition that were sent, from 1"),
            "form": ColumnDoc("trf16 or trf26", "word"),
            "digest": ColumnDoc("digest of the file", "SHA-256"),
            "text": ColumnDoc("digest of the results, which are kept beside the journal", "SHA-256"),
            "sent_on": ColumnDoc("the day on which it was sent", INSTANT),
            "since": ColumnDoc("first day of the period; NULL of the whole tournament", INSTANT),
            "until": ColumnDoc("last day of the period; NULL of the whole tournament", INSTANT),
            "position": ENTRY,
        },
    ),
    "descriptions": TableDoc(
        "What reports state about tournaments besides games; of several rows the last one that states a field counts.",
        {
            "pool": POOL,
            "tournament": ColumnDoc("name of the tournament"),
            "edition_ms": _ms("edition"),
            "edition": ColumnDoc("a day of the edition", INSTANT),
            "number": ColumnDoc("place among the descriptions of the edition, from 1"),
            "city": ColumnDoc("where it was played"),
            "federation": ColumnDoc("federation that registers it"),
            "system": ColumnDoc("pairing system in words"),
            "time_control": ColumnDoc("time control in words"),
            "time_code": ColumnDoc("time control in the code of TRF26"),
            "rounds": ColumnDoc("number of rounds that are planned"),
            "round_days": ColumnDoc("day of each round, parted by blanks, - for an unknown one", INSTANT),
            "first_colour": ColumnDoc("colour of the first player in round 1", "word"),
            "scoring": ColumnDoc("points of results in the code of TRF26"),
            "start_order": ColumnDoc("order of the starting list in the code of TRF26"),
            "program": ColumnDoc("program that paired it"),
            "system_code": ColumnDoc("pairing system in the code of TRF26"),
            "tie_breaks": ColumnDoc("tie-breaks in the code of TRF26"),
            "standings_order": ColumnDoc("order of the standings in the code of TRF26"),
            "arbiters": ColumnDoc("commitment to the arbiters' names, which the people file has", "SHA-256"),
            "position": ENTRY,
        },
    ),
    "policies": TableDoc(
        "Rules that the ledger gives itself, each time that one was set.",
        {
            "policy": ColumnDoc("name of the policy"),
            "number": ColumnDoc("how often it was set by then, from 1"),
            "since_ms": _ms("since"),
            "since": ColumnDoc("from when on", INSTANT),
            "settings": ColumnDoc("its settings", JSON),
            "position": ENTRY,
        },
    ),
}
TABLE_DOCS: Mapping[str, TableDoc] = {
    "games": TableDoc("Every game as it now stands, rated or not.", _GAME, "key"),
    **_PLAYERS,
    **_POOLS,
    **_CORRECTIONS,
}
