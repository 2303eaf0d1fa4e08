"""The meaning and the unit of each column in the tables of the views.

``book.tables`` describes the tables of the game book, ``ratings.projector`` the columns of sides, each projector its
own columns; the others are described here, and all are put together. Nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ledger.book.tables import MS, NUMBER, PLAYER, POINTS, POOL, POSITION, TABLE_DOCS, YES_NO, ColumnDoc, TableDoc
from ledger.ratings.fact_projector import ReadModel, fact_projectors_among
from ledger.ratings.projector import CHANGES, EACH_GAME, SIDE_COLUMNS, TOURNAMENT, DeclaredProjector
from ledger.ratings.projector import PLAYER as PLAYER_FOLD
from ledger.ratings.projectors import tournament_performance
from ledger.ratings.projectors.history import HISTORY

if TYPE_CHECKING:
    import sqlite3
from ledger.ratings.view_tables import side_tables

_N = ColumnDoc(SIDE_COLUMNS["n"].doc, "games")
_OWN: Mapping[str, TableDoc] = {
    "current": TableDoc(
        "Each player's state now in each pool: the last row of the history, and whether lists show it.",
        {
            "pool": POOL,
            "player": PLAYER,
            "n": ColumnDoc("rated games", "games"),
            "rating": ColumnDoc("rating after the last game or its batch, unrounded", POINTS),
            "game": ColumnDoc("the last rated game", POSITION, "games.position"),
            "ended_ms": ColumnDoc("when that ended: the first moment that it may mean", MS),
            "rated_ms": ColumnDoc("its place in rating order", MS),
            "latest_ms": ColumnDoc("when the latest of the rated games ended: not of a late event, of a later day", MS),
            "listed": ColumnDoc(
                "whether the scheme lists a player with that state; 2: a later list says the rating", YES_NO
            ),
        },
    ),
    "distribution": TableDoc(
        "The distribution of ratings in each pool: how many players are listed with each whole number of points.",
        {
            "pool": POOL,
            "points": ColumnDoc("of the rating, cut towards zero: 1400 is 1400.0 to 1400.9, 0 is -0.9 to 0.9", POINTS),
            "players": ColumnDoc("whom the scheme lists with such a rating", "players"),
        },
    ),
    "rating_bounds": TableDoc(
        "For each player a rating that no row of the history exceeds; after corrections it may be higher than needed.",
        {"pool": POOL, "player": PLAYER, "rating": ColumnDoc("the bound: at least each rating of the player", POINTS)},
    ),
    "progress": TableDoc(
        "How far the journal is folded in; one row.",
        {
            "only": ColumnDoc("always 1"),
            "position": ColumnDoc("the last entry that is folded in", POSITION),
            "root": ColumnDoc("the journal's Merkle root there", "SHA-256"),
        },
    ),
    "left_behind": TableDoc(
        "Read models whose tables are not level: a process without their plug-ins has gone on since.",
        {
            "name": ColumnDoc("of the read model, and of its table"),
            "pool": ColumnDoc("the pool in which its rows may be others; 0: it has no table yet", "pool number"),
            "position": ColumnDoc("up to this entry its rows follow from the journal", POSITION),
            "since_ms": ColumnDoc("the earliest place in rating order from which they may be others; NULL: all", MS),
        },
    ),
    "projections": TableDoc(
        "What made the rows: identities of the folds, versions of the schemes and of the arithmetic.",
        {"name": ColumnDoc("of a table, a scheme, a package or the arithmetic"), "identity": ColumnDoc("its version")},
    ),
}
# Units of what can be known of a side of a game.
_SIDE_UNITS: Mapping[str, str] = {
    "n": "games", "game": POSITION, "ended_ms": MS, "opponent": NUMBER, "opponent_n": "games", "colour": "code",
    "half_points": "half-points", "lost_on_time": YES_NO, "rating": POINTS, "opponent_rating": POINTS,
    "rating_before": POINTS, "opponent_rating_before": POINTS, "expected_score": "0 to 1", "termination": "word",
}  # fmt: skip
_SIDE_REFERENCES = {"game": "games.position", "opponent": "players.player"}
_HISTORY = "A row for each side of each rated game: the player's state after it, and the counts so far."
_OF_STATE = "state of the pool's scheme after the game: 'scheme show' tells of it; NULL under a scheme without it"
_OF_PROJECTOR = "A row for each side of {}, as the projector {} keeps it."
_OF_FACTS = "What the projector {} makes of the current facts, those of unrated games among them."
_ROWS = {
    (EACH_GAME, PLAYER_FOLD): "each rated game",
    (CHANGES, PLAYER_FOLD): "each rated game in which its numbers change",
    (EACH_GAME, TOURNAMENT): "each rated game of a tournament",
    (CHANGES, TOURNAMENT): "each rated game of a tournament in which its numbers change",
}


def table_docs(projectors: Sequence[ReadModel] = (), scheme_state: Sequence[str] = ()) -> dict[str, TableDoc]:
    """Return the description of each table, the games and the history first.

    *projectors* are those that have a table, *scheme_state* the state fields of the schemes in use.
    """
    history, *others = side_tables(projectors, scheme_state)
    tables = {
        "games": TABLE_DOCS["games"],
        history.name: TableDoc(_HISTORY, _side_columns(HISTORY, history.scheme_state)),
    }
    tables["current"] = _OWN["current"]
    tables.update(TABLE_DOCS)
    for table in others:
        doc = _OF_PROJECTOR.format(_ROWS[table.fold.rows, table.fold.by], table.name)
        tables[table.name] = TableDoc(doc, _side_columns(table.fold, ()))
    for made in fact_projectors_among(projectors):
        columns = {kept.name: ColumnDoc(kept.doc, kept.unit) for kept in made.all_columns}
        tables[made.name] = TableDoc(_OF_FACTS.format(made.name), columns)
    tables[tournament_performance.NAME] = tournament_performance.DOC
    tables.update(_OWN)
    return tables


def _side_columns(fold: DeclaredProjector, scheme_state: Sequence[str]) -> dict[str, ColumnDoc]:
    return {
        "pool": POOL,
        "player": PLAYER,
        "n": _N,
        **{name: ColumnDoc(SIDE_COLUMNS[name].doc) for name in fold.key[3:]},
        **{
            name: ColumnDoc(SIDE_COLUMNS[name].doc, _SIDE_UNITS.get(name, ""), _SIDE_REFERENCES.get(name, ""))
            for name in fold.stores
        },
        **{name: ColumnDoc(_OF_STATE) for name in scheme_state},
        **{kept.name: ColumnDoc(kept.doc, kept.unit) for kept in fold.state},
    }


def table_docs_in(connection: sqlite3.Connection, projectors: Sequence[ReadModel]) -> dict[str, TableDoc]:
    """Return the descriptions of these views' tables, in the same order; columns as they are stored."""
    stored_names = {column for _, column in _columns(connection, HISTORY.name)}
    fixed = table_docs()[HISTORY.name].columns
    everything = table_docs(projectors, [name for name in stored_names if name not in fixed])
    tables: dict[str, TableDoc] = {}
    for name, table in everything.items():
        stored = [column for _, column in _columns(connection, name)]
        if stored:
            columns = {column: table.columns[column] for column in stored if column in table.columns}
            tables[name] = table._replace(columns=columns)
    return tables


def _columns(connection: sqlite3.Connection, table: str) -> Iterator[tuple[str, str]]:
    for row in connection.execute(f'PRAGMA table_info("{table}")'):
        yield row[2], row[1]
