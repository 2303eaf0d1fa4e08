"""The tables of the views with a row for each player of each rated game: columns, indexes and statements.

The queries are in ``player_rows``, the rows come from ``side_rows``.
Every ledger has the history, with the scheme's whole state and the counts that a summary or a graph needs. HERA is the
"Highest Ever Rating Achieved" of the ChessWorld FAQ: "based upon your achievement after completing 50 rated games".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import attrs

from ledger.errors import ProjectionError
from ledger.ratings.fact_projector import ReadModel
from ledger.ratings.projector import CHANGES, SIDE_COLUMNS, TOURNAMENT, DeclaredProjector
from ledger.ratings.projectors.history import HISTORY, begun_with
from ledger.schemes.scheme import Seed


def initial_state(fold: DeclaredProjector, seed: Seed | None) -> list[float]:
    """Return a table's running state before a player's first game; the history's includes the player's past."""
    return begun_with(seed) if fold is HISTORY and seed is not None else [kept.start for kept in fold.state]


@attrs.frozen
class SideTable:
    """A table with a row for each player of each rated game, keyed ``(pool, player, n)``.

    Attributes:
        fold: what it stores of a side, and the running state that it keeps after each.
        scheme_state: names of the scheme's state fields that it carries besides the rating; the history alone does.
    """

    fold: DeclaredProjector
    scheme_state: tuple[str, ...] = ()

    @cached_property
    def name(self) -> str:
        """The name of the table in the views."""
        return self.fold.name

    @cached_property
    def by_tournament(self) -> bool:
        """True if the running state restarts with each tournament of a player."""
        return self.fold.by == TOURNAMENT

    @cached_property
    def is_sparse(self) -> bool:
        """True if a game may have no row."""
        return self.fold.rows == CHANGES

    @cached_property
    def is_whole(self) -> bool:
        """True if it has a row for each player of each rated game."""
        return not self.is_sparse and not self.by_tournament

    @cached_property
    def is_asked_by_state(self) -> bool:
        """True if its last row up to a game has a player's state, which other players' games may change."""
        return self.is_sparse and not self.by_tournament and self.fold.follows_ratings

    @cached_property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """The names and SQL types of the table's columns, in the order of its rows."""
        return (("pool", "INTEGER NOT NULL"), ("player", "INTEGER NOT NULL"), ("n", "INTEGER NOT NULL"), *self.values)

    @cached_property
    def values(self) -> tuple[tuple[str, str], ...]:
        """The columns without pool, player and number of the game."""
        return (
            *([("tournament", "TEXT NOT NULL")] if self.by_tournament else []),
            *((name, SIDE_COLUMNS[name].type) for name in self.fold.stores),
            *((name, "REAL") for name in self.scheme_state),
            *((kept.name, kept.type) for kept in self.fold.state),
        )

    @cached_property
    def create(self) -> str:
        """The statement that makes it."""
        columns = ", ".join(f'"{name}" {kind}' for name, kind in self.columns)
        return f'CREATE TABLE "{self.name}"({columns}, PRIMARY KEY(pool, player, n)) STRICT, WITHOUT ROWID'

    @cached_property
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

    @cached_property
    def insert(self) -> str:
        """The statement that inserts a row."""
        names = ", ".join(f'"{name}"' for name, _ in self.columns)
        return f'INSERT INTO "{self.name}"({names}) VALUES ({", ".join("?" * len(self.columns))})'


def side_tables(projectors: Sequence[ReadModel], scheme_state: Sequence[str]) -> tuple[SideTable, ...]:
    """Return the history, then the tables of the projectors of games.

    *scheme_state* has every state field of the schemes in use.
    """
    return (
        SideTable(HISTORY, tuple(name for name in scheme_state if name != "rating")),
        *(SideTable(made) for made in projectors if isinstance(made, DeclaredProjector)),
    )


def columns_wanted(tables: Iterable[SideTable]) -> frozenset[str]:
    """Return the columns of ``SIDE_COLUMNS`` that some table reads or stores."""
    return frozenset(name for table in tables for name in table.fold.wants)


def facts_wanted(tables: Iterable[SideTable]) -> tuple[str, ...]:
    """Return the columns of ``games`` that the tables need besides those that rating needs."""
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
