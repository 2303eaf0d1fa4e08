"""The tables of the views: those of the sides of rated games, and what every table says.

Here stands what columns they have; the statements are in ``player_rows``, the rows come from ``side_rows``.
Every ledger has the history, with the scheme's whole state and the counts that a summary or a graph needs. HERA is the
"Highest Ever Rating Achieved" of the ChessWorld FAQ: "based upon your achievement after completing 50 rated games".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import attrs

from ledger.book.tables import BOOK, MS, NUMBER, PLAYER, POINTS, POOL, POSITION, YES_NO, ColumnDoc, TableDoc
from ledger.errors import ProjectionError
from ledger.ratings.projector import (
    CHANGES,
    EACH_GAME,
    SIDE_COLUMNS,
    TOURNAMENT,
    DeclaredProjector,
    ReadModel,
    of_facts,
)
from ledger.ratings.projector import PLAYER as PLAYER_FOLD
from ledger.ratings.projectors import ratings, tournament_performance
from ledger.ratings.projectors.history import HISTORY, begun_with
from ledger.schemes.scheme import Seed

if TYPE_CHECKING:
    import sqlite3


def begun(fold: DeclaredProjector, seed: Seed | None) -> list[float]:
    """The running state of a fold before a player's first game; that of the history knows the player's past."""
    return begun_with(seed) if fold is HISTORY and seed is not None else [kept.start for kept in fold.state]


@attrs.frozen
class SideTable:
    """One table, keyed ``(pool, player, n)``.

    Attributes:
        fold: what it stores of a side, and the running state that it keeps after each.
        scheme_state: names of the scheme's state fields that it carries besides the rating; the history alone does.
        is_of_facts: whether its rows of a player stand as long as the player's own games do, whatever others are rated.
    """

    fold: DeclaredProjector
    scheme_state: tuple[str, ...] = ()
    is_of_facts: bool = attrs.field(init=False, eq=False)

    @is_of_facts.default
    def _(self) -> bool:
        return not self.fold.follows_ratings

    @property
    def name(self) -> str:
        """Its name in the views."""
        return self.fold.name

    @property
    def by_tournament(self) -> bool:
        """Whether the fold begins anew with each tournament of a player."""
        return self.fold.by == TOURNAMENT

    @property
    def is_sparse(self) -> bool:
        """Whether a game may be without a row."""
        return self.fold.rows == CHANGES

    @property
    def is_whole(self) -> bool:
        """Whether it has a row for each side of each rated game."""
        return not self.is_sparse and not self.by_tournament

    @property
    def is_asked_by_state(self) -> bool:
        """Whether only its last row up to a game tells a player's state, which other people's games may change."""
        return self.is_sparse and not self.by_tournament and not self.is_of_facts

    @property
    def columns(self) -> list[tuple[str, str]]:
        """Names and SQL types of its columns, in the order of its rows."""
        return [
            ("pool", "INTEGER NOT NULL"),
            ("player", "INTEGER NOT NULL"),
            ("n", "INTEGER NOT NULL"),
            *self.values,
        ]

    @property
    def values(self) -> list[tuple[str, str]]:
        """The same without pool, player and number of the game."""
        return [
            *([("tournament", "TEXT NOT NULL")] if self.by_tournament else []),
            *((name, SIDE_COLUMNS[name].type) for name in self.fold.stores),
            *((name, "REAL") for name in self.scheme_state),
            *((kept.name, kept.type) for kept in self.fold.state),
        ]

    @property
    def create(self) -> str:
        """The statement that makes it."""
        columns = ", ".join(f'"{name}" {kind}' for name, kind in self.columns)
        return f'CREATE TABLE "{self.name}"({columns}, PRIMARY KEY(pool, player, n)) STRICT, WITHOUT ROWID'

    @property
    def indexes(self) -> list[str]:
        """The statements that make its indexes, once it is filled: by tournament, and of its largest rows."""
        made = f'CREATE INDEX IF NOT EXISTS "{self.name}_by_{{}}" ON "{self.name}"'
        statements = []
        if self.by_tournament:
            statements.append(f"{made.format('tournament')}(pool, tournament, player, n)")
        if self.fold.largest is not None:
            name, least = self.fold.largest
            order = ", ".join([f'"{name}" DESC', *(f'"{column}"' for column in self.fold.stores), "player", "n"])
            statements.append(f'{made.format(name)}(pool, {order}) WHERE "{name}" >= {least}')
        return statements

    @property
    def insert(self) -> str:
        """The statement that inserts a row."""
        names = ", ".join(f'"{name}"' for name, _ in self.columns)
        return f'INSERT INTO "{self.name}"({names}) VALUES ({", ".join("?" * len(self.columns))})'


def side_tables(projectors: Sequence[ReadModel], scheme_state: Sequence[str]) -> tuple[SideTable, ...]:
    """The history first, then the tables of those projectors that fold sides of games.

    Args:
        projectors: the read models; those of facts have tables of another kind.
        scheme_state: every state field of the schemes in use.
    """
    return (
        SideTable(HISTORY, ratings.further_columns(scheme_state)),
        *(SideTable(made) for made in projectors if isinstance(made, DeclaredProjector)),
    )


def columns_wanted(tables: Iterable[SideTable]) -> frozenset[str]:
    """The columns of ``SIDE_COLUMNS`` that some table takes or stores."""
    return frozenset(name for table in tables for name in table.fold.wants)


def facts_wanted(tables: Iterable[SideTable]) -> tuple[str, ...]:
    """The columns of ``games`` that the tables need besides those that rating needs."""
    facts = {SIDE_COLUMNS[name].fact for name in columns_wanted(tables)}
    return tuple(sorted(facts - {""}))


def refuse_taken_names(projectors: Sequence[ReadModel], taken: Iterable[str]) -> None:
    """Raise ProjectionError for a projector whose table would be another one's."""
    own = {name.lower() for name in (*taken, HISTORY.name)}  # SQLite's names know no cases
    seen = set[str]()
    for projector in projectors:
        name = projector.name.lower()
        if name in own:
            raise ProjectionError(projector.name, "takes the name of a table of the ledger; give it another name")
        if name in seen:
            raise ProjectionError(projector.name, "is given twice, or two have this name; rename one of them")
        seen.add(name)


# What every table of the views says, with the unit of each column: the tables that a reader of the views meets.
#
# Tables of the game book are told in ``book.tables``, columns of sides in ``ratings.projector``, what a projector
# keeps by the projector itself; here stand the others, and all of them together. Nothing is written.

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
_OF_PROJECTOR = "A row for each side of {}, as the projector {} keeps it."
_OF_FACTS = "What the projector {} makes of the facts as they stand, those of unrated games among them."
_ROWS = {
    (EACH_GAME, PLAYER_FOLD): "each rated game",
    (CHANGES, PLAYER_FOLD): "each rated game in which its numbers change",
    (EACH_GAME, TOURNAMENT): "each rated game of a tournament",
    (CHANGES, TOURNAMENT): "each rated game of a tournament in which its numbers change",
}


def described(projectors: Sequence[ReadModel] = (), scheme_state: Sequence[str] = ()) -> dict[str, TableDoc]:
    """What is told of each table, the games and the history first.

    Args:
        projectors: those that have a table.
        scheme_state: names of the state fields of the schemes in use.
    """
    history, *others = side_tables(projectors, scheme_state)
    tables = {"games": BOOK["games"], history.name: TableDoc(_HISTORY, _side_columns(HISTORY, history.scheme_state))}
    tables["current"] = _OWN["current"]
    tables.update(BOOK)
    for table in others:
        doc = _OF_PROJECTOR.format(_ROWS[table.fold.rows, table.fold.by], table.name)
        tables[table.name] = TableDoc(doc, _side_columns(table.fold, ()))
    for made in of_facts(projectors):
        columns = {kept.name: ColumnDoc(kept.doc, kept.unit) for kept in made.every_column}
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
        **{name: ColumnDoc(ratings.OF_STATE) for name in scheme_state},
        **{kept.name: ColumnDoc(kept.doc, kept.unit) for kept in fold.state},
    }


def described_in(connection: sqlite3.Connection, projectors: Sequence[ReadModel]) -> dict[str, TableDoc]:
    """What is told of the tables that these views have, in the order of ``described``; columns as they are stored."""
    stored_names = {column for _, column in _columns(connection, HISTORY.name)}
    fixed = described()[HISTORY.name].columns
    everything = described(projectors, [name for name in stored_names if name not in fixed])
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
