"""What a projector is: a fold over one player's rated games, in rating order, that keeps its state after each.

Its table has a row for each side of each rated game, keyed ``(pool, player, n)``: n is the player's n-th rated game in
the pool. The rows are the snapshots: any earlier state is a row, and after a correction the engine drops the later
rows of the players concerned, takes up the state of the last row before, and folds on. A projector knows nothing of
that. Two things may be otherwise. Where ``rows`` is ``CHANGES`` only those rows are kept in which the state is another
than before the game: the state after game n is the last row up to n. Where ``by`` is ``TOURNAMENT`` the fold begins
anew with each tournament of a player: the state after game n is the last row of that player and tournament up to n,
and a game without a tournament has no row. What is no such fold is no projector: it is asked of the rows when somebody
wants it, in ``answers``. No projector lives here (see ``ratings.projectors``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import attrs
import orjson

from ledger.errors import ProjectionError

EACH_GAME, CHANGES = "each game", "changes"  # which rows a table keeps
PLAYER, TOURNAMENT = "player", "tournament"  # what a fold goes over: all games of a player, or those in one tournament


class SideColumn(NamedTuple):
    """What can be known of one side of a rated game: SQL type, meaning, and the column of ``games`` that it is from."""

    type: str
    doc: str
    fact: str = ""


# By name. A kernel takes numbers; texts can be stored, and stand beside a number that a kernel can take.
SIDE_COLUMNS: Mapping[str, SideColumn] = {
    "n": SideColumn("INTEGER", "the player's n-th rated game in the pool, from 1"),
    "game": SideColumn("INTEGER", "position of the game in the journal"),
    "ended_ms": SideColumn(
        "INTEGER",
        "when it ended, milliseconds since 1970 UTC; the first moment of the day, month or year if only that is known",
    ),
    "opponent": SideColumn("INTEGER", "player number of the opponent"),
    "opponent_n": SideColumn("INTEGER", "the same as n, of the opponent"),
    "colour": SideColumn("INTEGER", "0 White, 1 Black"),
    "half_points": SideColumn("INTEGER", "2 win, 1 draw, 0 loss"),
    "lost_on_time": SideColumn("INTEGER", "1 when this side overstepped the time and lost"),
    "rating": SideColumn("REAL", "rating after the game or its batch, points, unrounded"),
    "opponent_rating": SideColumn("REAL", "the same of the opponent"),
    "rating_before": SideColumn(
        "REAL", "rating with which the player went into the game or its batch, brought to its time, points, unrounded"
    ),
    "opponent_rating_before": SideColumn("REAL", "the same of the opponent"),
    "expected_score": SideColumn("REAL", "the score, 0 to 1, that the scheme expected of this side"),
    "games_before": SideColumn(
        "INTEGER",
        "what n is short of the games that count: those before the ledger's, as a seed tells, less those before all "
        "began anew",
    ),
    "listed": SideColumn("INTEGER", "1 when the scheme lists a player with the state after the game, else 0"),
    "era": SideColumn("INTEGER", "place in the pool's timeline, from 0, of the scheme that rated the game"),
    "restart": SideColumn(
        "INTEGER", "place in the pool's timeline of the last scheme up to that one with which all began anew, or 0"
    ),
    "scheme": SideColumn("TEXT", "name of the scheme that rated the game"),
    "termination": SideColumn("TEXT", "how the game ended, a word of ``facts.words.Termination``", "termination"),
    "termination_code": SideColumn("INTEGER", "the place of that word among all of them, from 0", "termination"),
    "tournament": SideColumn("TEXT", "name of the tournament", "tournament"),
    "tournament_code": SideColumn(
        "INTEGER", "a number that stands for that name (``facts.words.tournament_code``); 0 for none", "tournament"
    ),
    "round": SideColumn("TEXT", "the round as it was recorded", "round"),
    "round_order": SideColumn("INTEGER", "a number that sorts rounds (``facts.words.round_order``)", "round_order"),
}

# What may be otherwise after other people's games are, though the player's own are as before.
FOLLOW_RATINGS = frozenset({
    "opponent_n", "rating", "opponent_rating", "rating_before", "opponent_rating_before", "expected_score", "listed",
})  # fmt: skip


class Largest(NamedTuple):
    """Rows that are asked for by size, the largest first: by which column of the state, and from which value on.

    The table has an index of those alone, for most rows of most tables are small ones that nobody asks for.
    """

    column: str
    least: float


class Kept(NamedTuple):
    """A column of the running state: its name, SQL type, start value (NaN is stored as NULL) and meaning."""

    name: str
    type: str
    start: float
    doc: str


@attrs.frozen(kw_only=True)
class Projector:
    """A read model by player and game number, or by player, tournament and game number.

    Attributes:
        name: also the name of its table.
        version: to be raised with every change that alters a row.
        settings: constants that its rows depend on; part of its identity.
        takes: the columns of a side that ``step`` reads, in order: numbers out of ``SIDE_COLUMNS``.
        stores: the columns of a side that its table repeats, out of ``SIDE_COLUMNS``.
        state: the running state, kept after every side.
        step: kernel ``(state, p, columns, side)``: fold the side at index *side* of each column of *columns* into the
            fields ``state[p]``, ``state[p + 1]``, ...; as for schemes, plain arithmetic that Numba compiles.
        rows: ``EACH_GAME``, or ``CHANGES`` for those rows alone in which the state is another than before the game.
        by: ``PLAYER``, or ``TOURNAMENT`` for a fold over a player's games in one tournament; its table has a column
            ``tournament`` after ``n``, and an index by it.
        largest: of which rows it has an index, the largest first, in the order ``stores``, player, n; by default none.

    Raises:
        ProjectionError: it takes or stores what no side has, takes a text, gives two columns one name, or wants rows or
            a fold that there are not, or an index by a column that is none of its state.
    """

    name: str
    version: int
    state: tuple[Kept, ...]
    takes: tuple[str, ...]
    step: Callable[..., None]
    settings: Mapping[str, float] = attrs.field(factory=dict, hash=False)
    stores: tuple[str, ...] = ()
    rows: str = EACH_GAME
    by: str = PLAYER
    largest: Largest | None = None

    def __attrs_post_init__(self) -> None:
        unknown = sorted({*self.takes, *self.stores} - set(SIDE_COLUMNS))
        if unknown:
            raise ProjectionError(self.name, f"no side of a game has {unknown}; there are {sorted(SIDE_COLUMNS)}")
        texts = sorted(name for name in self.takes if SIDE_COLUMNS[name].type == "TEXT")
        if texts:
            raise ProjectionError(self.name, f"a kernel takes numbers, and {texts} are texts; they can only be stored")
        if any(not isinstance(kept, Kept) for kept in self.state):
            raise ProjectionError(self.name, "its state is a tuple of Kept(name, type, start, doc)")
        for word, choices in ((self.rows, (EACH_GAME, CHANGES)), (self.by, (PLAYER, TOURNAMENT))):
            if word not in choices:
                raise ProjectionError(self.name, f"{word!r} is none of {list(choices)}")
        fields = [kept.name for kept in self.state]
        if self.largest is not None and self.largest.column not in fields:
            raise ProjectionError(self.name, f"its state has no {self.largest.column!r} to have an index by: {fields}")
        names = [*self.key, *self.stores, *fields]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ProjectionError(self.name, f"two columns of its table would be called {twice}; give them other names")

    @property
    def key(self) -> tuple[str, ...]:
        """The columns that tell its rows apart, and their order in it."""
        return ("pool", "player", "n", "tournament") if self.by == TOURNAMENT else ("pool", "player", "n")

    @property
    def wants(self) -> set[str]:
        """The columns of a side that it takes, stores, or is ordered by."""
        return {*self.takes, *self.stores, *self.key[3:]}

    @property
    def follows_ratings(self) -> bool:
        """Whether a player's rows may be others after a correction that changes none of the player's own games."""
        return not self.wants.isdisjoint(FOLLOW_RATINGS)

    @property
    def identity(self) -> str:
        """Name, version, settings and columns: when this changes, the table is built anew."""
        columns = [*self.takes, "", *self.stores, *(f"{kept.name} {kept.type} {kept.start}" for kept in self.state)]
        columns += [word for word in (self.rows, self.by) if word not in {EACH_GAME, PLAYER}]
        identity = [self.name, self.version, dict(self.settings), columns]
        return orjson.dumps(identity, option=orjson.OPT_SORT_KEYS).decode()
