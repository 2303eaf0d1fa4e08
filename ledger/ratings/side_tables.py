"""The tables with rows of the sides of rated games: the history, and one for each projector.

Here stands what columns they have; the statements are in ``player_rows``, the rows come from ``side_rows``.
Every ledger has the history, with the scheme's whole state and the counts that a summary or a graph needs. HERA is the
"Highest Ever Rating Achieved" of the ChessWorld FAQ: "based upon your achievement after completing 50 rated games".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import nan
from typing import Any

import attrs

from ledger.errors import ProjectionError
from ledger.ratings.fact_projector import ReadModel
from ledger.ratings.projector import CHANGES, SIDE_COLUMNS, TOURNAMENT, Kept, Projector
from ledger.schemes.scheme import Seed

HERA_FROM = 50
WINS, DRAWS, LOSSES, TIME_LOSSES, SUM, SQUARES, HERA, HERA_N, GAMES_BEFORE, RESTART, GAMES_UNTIL = range(11)


def counts_for_hera(n: float, games_before: float) -> bool:
    """Whether a highest rating counts after the n-th game, with so many games before the first that counts."""
    return n + games_before >= HERA_FROM


def step(state: Any, p: int, columns: Any, side: int) -> None:
    """Count one side of a game: result, loss on time, sums of the rating, highest rating from game 50 on.

    Games that a seed tells of count among the 50, and the highest rating that it tells of stands until it is passed.
    Where everybody begins anew the 50 are games of the new system, as its provisional games are: "HERA is based upon
    your achievement after completing 50 rated games", and "there is no direct comparison with the previous system".
    """
    n, half_points, lost_on_time, ratings, restart = columns
    rating = ratings[side]
    if restart[side] != state[p + RESTART]:
        until = n[side] - 1.0
        state[p + GAMES_BEFORE] += state[p + GAMES_UNTIL] - until
        state[p + GAMES_UNTIL] = until
        state[p + RESTART] = restart[side]
    if half_points[side] == 2:
        state[p + WINS] += 1.0
    elif half_points[side] == 1:
        state[p + DRAWS] += 1.0
    else:
        state[p + LOSSES] += 1.0
    state[p + TIME_LOSSES] += lost_on_time[side]
    state[p + SUM] += rating
    state[p + SQUARES] += rating * rating
    hera = state[p + HERA]
    if counts_for_hera(n[side], state[p + GAMES_BEFORE]) and (hera != hera or rating > hera):  # noqa: PLR0124 (NaN: none yet)
        state[p + HERA] = rating
        state[p + HERA_N] = n[side]


def begun(fold: Projector, seed: Seed | None) -> list[float]:
    """The running state of a fold before a player's first game; that of the history knows the player's past."""
    state = [kept.start for kept in fold.state]
    if fold is HISTORY and seed is not None:
        state[GAMES_BEFORE] = seed.games or 0.0
        highest = highest_of(seed)
        if highest is not None:
            state[HERA] = highest
    return state


def highest_of(seed: Seed) -> float | None:
    """The HERA that a player brings along: what the list says, or its rating where that stands on enough games."""
    return seed.peak if seed.highest is not None or (seed.games or 0.0) >= HERA_FROM else None


HISTORY = Projector(
    name="history",
    version=4,
    settings={"hera_from": HERA_FROM},
    stores=(
        "game",
        "ended_ms",
        "opponent",
        "opponent_n",
        "colour",
        "half_points",
        "rating",
        "rating_before",
        "expected_score",
    ),
    takes=("n", "half_points", "lost_on_time", "rating", "restart"),
    state=(
        Kept("wins", "INTEGER", 0.0, "rated games won so far"),
        Kept("draws", "INTEGER", 0.0, "rated games drawn so far"),
        Kept("losses", "INTEGER", 0.0, "rated games lost so far"),
        Kept("time_losses", "INTEGER", 0.0, "of these, lost by overstepping the time"),
        Kept("rating_sum", "REAL", 0.0, "sum of the ratings after each game, points"),
        Kept("rating_squares", "REAL", 0.0, "sum of their squares"),
        Kept("hera", "REAL", nan, "highest rating after 50 or more rated games, points; NULL before"),
        Kept("hera_n", "INTEGER", 0.0, "the game it was first reached in; 0 for none, and for that of a seed"),
        Kept("games_before", "INTEGER", 0.0, "what n is short of the games that count for HERA: a seed's, less older"),
        Kept("restart", "INTEGER", 0.0, "place in the timeline of the scheme with which all began anew, or 0"),
        Kept("games_until_restart", "INTEGER", 0.0, "rated games before that"),
    ),
    step=step,
)


@attrs.frozen
class SideTable:
    """One table, keyed ``(pool, player, n)``.

    Attributes:
        fold: what it stores of a side, and the running state that it keeps after each.
        scheme_state: names of the scheme's state fields that it carries besides the rating; the history alone does.
        is_of_facts: whether its rows of a player stand as long as the player's own games do, whatever others are rated.
    """

    fold: Projector
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
    fields = tuple(name for name in scheme_state if name != "rating")
    return (SideTable(HISTORY, fields), *(SideTable(made) for made in projectors if isinstance(made, Projector)))


def columns_wanted(tables: Iterable[SideTable]) -> frozenset[str]:
    """The columns of ``SIDE_COLUMNS`` that some table takes or stores."""
    return frozenset(name for table in tables for name in table.fold.wants)


def facts_wanted(tables: Iterable[SideTable]) -> tuple[str, ...]:
    """The columns of ``games`` that the tables need besides those that rating needs."""
    facts = {SIDE_COLUMNS[name].fact for name in columns_wanted(tables)}
    return tuple(sorted(facts - {""}))


def refuse_taken_names(projectors: Sequence[ReadModel], taken: Iterable[str]) -> None:
    """Raise ProjectionError for a projector whose table would be another one's."""
    names = {name.lower() for name in (*taken, HISTORY.name)}  # SQLite's names know no cases
    for projector in projectors:
        if projector.name.lower() in names:
            raise ProjectionError(projector.name, "takes the name of a table of the ledger or of another projector")
        names.add(projector.name.lower())
