"""Projectors of games: each updates a running state by each rated game of a player, and fills a table from it.

A projector of games goes over one player's rated games, in rating order, and keeps its state after each. Its table has
a row for each side of each rated game, keyed ``(pool, player, n)``: n is the player's n-th rated game in the pool. The
rows are the snapshots: any earlier state is a row, and after a correction the engine drops the later
rows of the players concerned, takes up the state of the last row before, and folds on. A projector knows nothing of
that. Two things may be otherwise. Where ``rows`` is ``CHANGES`` only those rows are kept in which the state is another
than before the game: the state after game n is the last row up to n. Where ``by`` is ``TOURNAMENT`` the fold begins
again with each tournament of a player: the state after game n is the last row of that player and tournament up to n,
and a game without a tournament has no row. Anything that is no such fold is no projector: the rows answer it when a
wants it, in ``answers``. No projector lives here (see ``ratings.projectors``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from math import isfinite, isnan
from types import FunctionType
from typing import Any, NamedTuple, Protocol

import attrs
import orjson

from ledger.errors import ProjectionError
from ledger.facts.event_fields import NAME_PATTERN
from ledger.runtime.kernels import digest_of_sources, kernel_sources
from ledger.runtime.nearest import expected_names
from ledger.runtime.plugin_code import KernelArgument, faults_of_kernel, returning_lines, source_place
from ledger.runtime.records import is_record, number, numbers

EACH_GAME, CHANGES = "each game", "changes"  # which rows a table keeps
PLAYER, TOURNAMENT = "player", "tournament"  # what a fold goes over: all games of a player, or those in one tournament


class SideColumn(NamedTuple):
    """A column that projectors may read for a player's half of a game: SQL type, meaning, and source column."""

    type: str
    doc: str
    fact: str = ""


# By name. A kernel takes numbers; texts can be stored, and each has a number that a kernel can take.
SIDE_COLUMNS: Mapping[str, SideColumn] = {
    "n": SideColumn("INTEGER", "the player's n-th rated game in the pool, from 1"),
    "game": SideColumn("INTEGER", "position of the game in the journal"),
    "ended_ms": SideColumn(
        "INTEGER",
        "when it ended, milliseconds since 1970 UTC; the first moment of the day, month or year if only that is known",
    ),
    "opponent": SideColumn("INTEGER", "player number of the opponent"),
    "opponent_n": SideColumn("INTEGER", "the same as n, of the opponent; 0 for a guest, who has no row"),
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
FOLLOW_RATINGS = frozenset(
    {"opponent_n", "rating", "opponent_rating", "rating_before", "opponent_rating_before", "expected_score", "listed"}
)


class Largest(NamedTuple):
    """An index of a projector's largest rows: by which column of the state, and from which value on.

    The table has an index of those alone, for most rows of most tables are small ones that no query needs.
    """

    column: str
    least: float


class Kept(NamedTuple):
    """A column of the running state: its name, SQL type, start value (NaN is stored as NULL), meaning and unit."""

    name: str
    type: str
    start: float
    doc: str
    unit: str = ""


class RatedSide(Protocol):
    """One player's half of a rated game, as ``step`` reads it: the columns that its projector names."""

    n: float
    game: float
    ended_ms: float
    opponent: float
    opponent_n: float
    colour: float
    half_points: float
    lost_on_time: float
    rating: float
    opponent_rating: float
    rating_before: float
    opponent_rating_before: float
    expected_score: float
    games_before: float
    listed: float
    era: float
    restart: float
    termination_code: float
    tournament_code: float
    round_order: float


class Projector:
    """The base class of a plug-in that sums up a player's rated games and stores a row for each game.

    A class of attrs: each field is a column of the table (``column``), a row of columns (``column`` with *size*), or a
    class of such fields (``part``). ``declare`` says the rest.
    """

    def __init__(self, **named: object) -> None:
        # attrs gives each class its own: a call here is of this class, as plug-ins of an earlier form did.
        words = f"a projector is a class now, got {sorted(named)}: see 'Plug-ins' in the README of the package 'ledger'"
        raise ProjectionError(str(named.get("name", "a projector")), words)

    def step(self, game: RatedSide) -> None:
        """Update the fields by one player's half of a rated game: plain arithmetic that Numba compiles."""
        raise NotImplementedError


def column(start: float, kind: str, doc: str, *, unit: str = "", size: int = 0, name: str = "") -> Any:
    """Declare a column of a projector's table, with its start, meaning and unit; a field of its class.

    Args:
        start: its value before a player's first game; NaN is stored as NULL.
        kind: its type in SQL, INTEGER or REAL.
        doc: what it means.
        unit: what it counts in, such as ``points``.
        size: how many columns the field is, numbered from 1, with ``{}`` for the number in *doc*; 0 for a single one.
        name: of the column, or before the numbers; by default that of the field.
    """
    return number(start, doc, size=size, name=name, kind=kind, unit=unit)


def declare(
    made: type[Projector],
    *,
    name: str,
    version: int,
    reads: Sequence[str],
    stores: Sequence[str] = (),
    settings: Mapping[str, float] | None = None,
    rows: str = EACH_GAME,
    by: str = PLAYER,
    largest: Largest | None = None,
) -> DeclaredProjector:
    """Declare a projector of games: its class with all that a ledger must know to keep its table.

    Args:
        made: the class.
        name: also the name of its table.
        version: to be raised with every change that alters a row.
        reads: the columns of a side that ``step`` reads, in order: numbers out of ``SIDE_COLUMNS``.
        stores: the columns of a side that its table repeats, out of ``SIDE_COLUMNS``.
        settings: constants that its rows depend on; part of its identity.
        rows: ``EACH_GAME``, or ``CHANGES`` for those rows alone in which a field is another than before the game.
        by: ``PLAYER``, or ``TOURNAMENT`` for a fold over a player's games in one tournament; its table has a column
            ``tournament`` after ``n``, and an index by it.
        largest: of which rows it has an index, the largest first, in the order *stores*, player, n; by default none.

    Raises:
        ProjectionError: it cannot be kept like that; what is wrong with the class, its step or an argument is named.
    """
    return DeclaredProjector(
        made=made,
        name=name,
        version=version,
        reads=_names(name, "reads", reads),
        stores=_names(name, "stores", stores),
        settings=dict(settings or {}),
        rows=rows,
        by=by,
        largest=largest,
    )


def _names(projector: str, argument: str, names: Sequence[str]) -> tuple[str, ...]:
    if isinstance(names, str):  # ("n") is no tuple, and each letter would be a name
        raise ProjectionError(str(projector), f"{argument}= takes several names, got {names!r}; write ({names!r},)")
    return tuple(names)


@attrs.frozen(kw_only=True)
class DeclaredProjector:
    """A projector of games as ``declare`` gives it, with the columns and the identity of its table."""

    made: type
    name: str
    version: int
    reads: tuple[str, ...]
    stores: tuple[str, ...] = ()
    settings: Mapping[str, float] = attrs.field(factory=dict, hash=False)
    rows: str = EACH_GAME
    by: str = PLAYER
    largest: Largest | None = None

    def __attrs_post_init__(self) -> None:
        faults = [*self._faults_of_name(), *_faults_of_class(self.made)]
        if isinstance(self.made, type) and is_record(self.made):
            faults += [*self._faults_of_columns(), *_faults_of_step(self.made, self.reads)]
        if faults:
            raise ProjectionError(str(self.name), "; ".join(faults))

    def _faults_of_name(self) -> Iterator[str]:
        if not isinstance(self.name, str) or not re.fullmatch(NAME_PATTERN, self.name):
            yield f"its name matches {NAME_PATTERN}, got {self.name!r}"
        if type(self.version) is not int or self.version < 1:
            yield f"its version is a whole number from 1 on, got {self.version!r}"
        if strange := {name: value for name, value in self.settings.items() if not isinstance(value, int | float)}:
            yield f"its settings are numbers, got {strange}"
        for word, choices in ((self.rows, (EACH_GAME, CHANGES)), (self.by, (PLAYER, TOURNAMENT))):
            if word not in choices:
                yield f"{word!r} is none of {list(choices)}"

    def _faults_of_columns(self) -> Iterator[str]:
        for unknown in sorted({*self.reads, *self.stores} - set(SIDE_COLUMNS)):
            yield f"no side of a game has {unknown!r}; {expected_names(unknown, SIDE_COLUMNS)}"
            return
        if texts := sorted(name for name in self.reads if SIDE_COLUMNS[name].type == "TEXT"):
            yield f"a step reads numbers, and {texts} are texts; they can only be stored"
        fields = [kept.name for kept in self.state]
        if self.largest is not None and not isinstance(self.largest, Largest):
            yield f"largest= is Largest(column, least), got {self.largest!r}"
        elif self.largest is not None and self.largest.column not in fields:
            yield f"its state has no {self.largest.column!r} to have an index by: {fields}"
        names = [*self.key, *self.stores, *fields]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            yield f"two columns of its table would be called {twice}; give them other names"

    @cached_property
    def step(self) -> Callable[[Any, RatedSide], None]:
        """The class's method ``step`` as a plain function of a record and one player's half of a game."""
        step: Callable[[Any, RatedSide], None] = vars(self.made)["step"]
        return step

    @cached_property
    def state(self) -> tuple[Kept, ...]:
        """The columns of the running state, in their order."""
        return _state_of(self.made)

    @cached_property
    def key(self) -> tuple[str, ...]:
        """The columns of its key, in order."""
        return ("pool", "player", "n", "tournament") if self.by == TOURNAMENT else ("pool", "player", "n")

    @cached_property
    def wants(self) -> frozenset[str]:
        """The columns of a player's half of a game that the projector reads, stores, or is ordered by."""
        return frozenset((*self.reads, *self.stores, *self.key[3:]))

    @cached_property
    def follows_ratings(self) -> bool:
        """True if a player's rows may change by a correction that changes none of the player's own games."""
        return not self.wants.isdisjoint(FOLLOW_RATINGS)

    @cached_property
    def identity(self) -> str:
        """Name, version, settings, columns and the source of a plug-in: if this changes, the table is built again."""
        columns = [*self.reads, "", *self.stores, *(f"{kept.name} {kept.type} {kept.start}" for kept in self.state)]
        columns += [word for word in (self.rows, self.by) if word not in {EACH_GAME, PLAYER}]
        columns += source_of_plugin(self.made, "step")
        identity = [self.name, self.version, dict(self.settings), columns]
        return orjson.dumps(identity, option=orjson.OPT_SORT_KEYS).decode()


@cache
def source_of_plugin(made: type, method: str) -> tuple[str, ...]:
    """Return the digest of a plug-in's method and all that it calls; none of our own, whose version we raise."""
    function = getattr(made, method)
    is_own = made.__module__.partition(".")[0] == __name__.partition(".")[0]
    return () if is_own else (digest_of_sources(kernel_sources(function, {})),)


@cache
def _state_of(made: type) -> tuple[Kept, ...]:
    return tuple(Kept(each.name, each.more["kind"], each.start, each.doc, each.more["unit"]) for each in numbers(made))


_NO_FLOATS = (int, bool, str, "int", "bool", "str")
_WAY = "give it fields by column(...) or part(...)"


def _faults_of_class(made: Any) -> Iterator[str]:
    """Yield the faults in the fields of a projector's class."""
    if not (isinstance(made, type) and issubclass(made, Projector) and made is not Projector):
        yield f"its class is to be a class of Projector, got {made!r}"
        return
    if made.__setattr__.__name__ == "_frozen_setattrs":
        yield f"{made.__name__} is frozen, and a step changes its fields; put @attrs.define above it"
        return
    if not attrs.has(made) or "__attrs_attrs__" not in vars(made):
        yield f"{made.__name__} is no class of attrs; put @attrs.define above it"
        return
    if not is_record(made):
        yield f"{made.__name__} has other fields than columns; {_WAY}"
        return
    for field in attrs.fields(made):
        if field.type in _NO_FLOATS:
            yield f"{field.name}: annotate it as float: both engines hold floats, and the SQL type is the column's"
    for each in numbers(made):
        kind, start, doc = each.more.get("kind"), each.start, each.doc
        if kind not in {"INTEGER", "REAL"}:
            yield f"{each.name}: a column is of INTEGER or REAL, got {kind!r}"
        elif not isnan(start) and (not isfinite(start) or (kind == "INTEGER" and start != int(start))):
            yield f"{each.name}: {start!r} is no start of a column of {kind}"
        if not isinstance(doc, str) or not doc.strip():
            yield f"{each.name}: say what it means, with its unit"


def _faults_of_step(made: type, reads: Sequence[str]) -> Iterator[str]:
    """Yield the faults of a projector's step."""
    step = made.__dict__.get("step")
    if not isinstance(step, FunctionType):
        yield f"{made.__name__} has no step(self, game) of its own"
        return
    what = f"step of {made.__name__}"
    fields = [field.name for field in attrs.fields(made)]
    arguments = {"self": KernelArgument(fields, written=True), "game": KernelArgument(reads, "reads= does not name")}
    yield from faults_of_kernel(what, step, arguments)
    for line in returning_lines(step):
        yield f"{what} ({source_place(step)}): line {line} returns something; store it in the fields"
