"""What projectors are: folds over each player's rated games, and, further down, tables of the facts as they stand.

A projector of games goes over one player's rated games, in rating order, and keeps its state after each. Its table has
a row for each side of each rated game, keyed ``(pool, player, n)``: n is the player's n-th rated game in the pool. The
rows are the snapshots: any earlier state is a row, and after a correction the engine drops the later
rows of the players concerned, takes up the state of the last row before, and folds on. A projector knows nothing of
that. Two things may be otherwise. Where ``rows`` is ``CHANGES`` only those rows are kept in which the state is another
than before the game: the state after game n is the last row up to n. Where ``by`` is ``TOURNAMENT`` the fold begins
anew with each tournament of a player: the state after game n is the last row of that player and tournament up to n,
and a game without a tournament has no row. What is no such fold is no projector: it is asked of the rows when somebody
wants it, in ``answers``. No projector lives here (see ``ratings.projectors``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import attrs
import orjson

from ledger.errors import LedgerError, ProjectionError, ReadModelError, one_line
from ledger.facts.event_fields import NAME_PATTERN
from ledger.facts.events import EVENTS, CorrectionDecided, CorrectionProposed, Event, GameSupplemented
from ledger.ratings import projector_steps
from ledger.runtime.kernels import digest_of, sources_of
from ledger.runtime.nearest import choice_of
from ledger.runtime.records import number, numbers

if TYPE_CHECKING:
    import sqlite3

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
FOLLOW_RATINGS = frozenset(
    {
        "opponent_n",
        "rating",
        "opponent_rating",
        "rating_before",
        "opponent_rating_before",
        "expected_score",
        "listed",
    }
)


class Largest(NamedTuple):
    """Rows that are asked for by size, the largest first: by which column of the state, and from which value on.

    The table has an index of those alone, for most rows of most tables are small ones that nobody asks for.
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
    """One side of a rated game, as ``step`` reads it: those columns of ``SIDE_COLUMNS`` that its projector names."""

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
    """A projector keeps some columns of a player and goes on with each rated game.

    A class of attrs: each field is a column of the table (``column``), a row of columns (``column`` with *size*), or a
    class of such fields (``part``). ``declare`` says the rest.
    """

    def __init__(self, **named: object) -> None:
        # attrs gives each class its own: whoever comes here calls this one, as plug-ins of an earlier form did.
        words = f"a projector is a class now, got {sorted(named)}: see 'Plug-ins' in the README of the package 'ledger'"
        raise ProjectionError(str(named.get("name", "a projector")), words)

    def step(self, game: RatedSide) -> None:
        """Fold one side of a rated game into the fields: plain arithmetic that Numba compiles, as in schemes."""
        raise NotImplementedError


def column(start: float, kind: str, doc: str, *, unit: str = "", size: int = 0, name: str = "") -> Any:
    """Return a field of a projector.

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
    """A read model by player and game number, or by player, tournament and game number; see ``declare``."""

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
        faults = [*self._faults_of_name(), *projector_steps.faults_of_class(self.made, Projector)]
        if projector_steps.has_columns(self.made):
            faults += [*self._faults_of_columns(), *projector_steps.faults_of_step(self.made, self.reads)]
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
            yield f"no side of a game has {unknown!r}; {choice_of(unknown, SIDE_COLUMNS)}"
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

    @property
    def step(self) -> Callable[[Any, RatedSide], None]:
        """The step of the class, as a plain function of a record and a side."""
        step: Callable[[Any, RatedSide], None] = vars(self.made)["step"]
        return step

    @property
    def state(self) -> tuple[Kept, ...]:
        """The columns of the running state, in their order."""
        return _state_of(self.made)

    @property
    def key(self) -> tuple[str, ...]:
        """The columns that tell its rows apart, and their order in it."""
        return ("pool", "player", "n", "tournament") if self.by == TOURNAMENT else ("pool", "player", "n")

    @property
    def wants(self) -> set[str]:
        """The columns of a side that it reads, stores, or is ordered by."""
        return {*self.reads, *self.stores, *self.key[3:]}

    @property
    def follows_ratings(self) -> bool:
        """Whether a player's rows may be others after a correction that changes none of the player's own games."""
        return not self.wants.isdisjoint(FOLLOW_RATINGS)

    @property
    def identity(self) -> str:
        """Name, version, settings, columns and the source of a plug-in: when this changes, the table is built anew."""
        columns = [*self.reads, "", *self.stores, *(f"{kept.name} {kept.type} {kept.start}" for kept in self.state)]
        columns += [word for word in (self.rows, self.by) if word not in {EACH_GAME, PLAYER}]
        columns += _source(self.made, "step")
        identity = [self.name, self.version, dict(self.settings), columns]
        return orjson.dumps(identity, option=orjson.OPT_SORT_KEYS).decode()


@cache
def _source(made: type, method: str) -> tuple[str, ...]:
    """The digest of a plug-in's method and all that it calls; none of our own, whose version we raise."""
    function = getattr(made, method)
    is_own = made.__module__.partition(".")[0] == __name__.partition(".")[0]
    return () if is_own else (digest_of(sources_of(function, {})),)


@cache
def _state_of(made: type) -> tuple[Kept, ...]:
    return tuple(Kept(each.name, each.more["kind"], each.start, each.doc, each.more["unit"]) for each in numbers(made))


# What a projector of facts is: a table that follows from the facts as they stand, whatever is rated.
#
# It is told ``on_change(rows, position, before, now)``: how a fact stood and how it stands; nothing before where it is
# recorded, nothing now where it is annulled. It writes its table and cannot read it, so that neither the order of the
# facts nor the way in which they came to stand matters: a correction takes away what *before* had brought, and adds
# what *now* brings. A game comes as the players that it is counted for, with all that further tellings and
# corrections made of it, rated or not, without its movetext; neither a voided game nor one between two numbers of one
# person stands. Who tells it which facts is ``keeping``.

_COLUMN = "column"  # in the metadata of a field of such a class: its type in SQL, and what it means
FACTS = "facts"  # the first word about its columns in the identity of such a projector
TYPES = ("INTEGER", "REAL", "TEXT")
NO_FACTS = (GameSupplemented, CorrectionProposed, CorrectionDecided)  # they say how other facts stand
WAITING = 20_000  # keys that are changed in memory before they are written

Value = int | float | str | None
# Exact types, for True is a whole number to Python; no lone surrogate, which has no UTF-8 and cannot be stored; no NaN,
# which SQLite keeps as NULL.
_FITS: Mapping[str, Callable[[Value], bool]] = {
    "INTEGER": lambda value: type(value) is int and -(2**63) <= value < 2**63,
    "REAL": lambda value: type(value) is int or (type(value) is float and isfinite(value)),
    "TEXT": lambda value: type(value) is str and not any("\ud800" <= letter <= "\udfff" for letter in value),
}
_TAKES = {"INTEGER": "whole numbers of 64 bits", "REAL": "finite numbers", "TEXT": "plain text"}


class FactProjector:
    """A projector of facts makes rows of the facts as they stand.

    A class of attrs: its fields are the columns of the table, those that tell rows apart first (``key_column``, then
    ``value_column``). ``declare_facts`` says the rest.
    """

    __init__ = Projector.__init__

    # ``Any`` for the two facts: a class may name its kinds alone (``GameRecorded | None``)
    @staticmethod
    def on_change(rows: FactRows, position: int, before: Any, now: Any) -> None:
        """Take in that the fact of the entry at *position*, which stood as *before*, stands as *now*.

        One of the two may be None, and they are never alike.
        """
        raise NotImplementedError


def key_column(kind: str, doc: str, *, unit: str = "") -> Any:
    """Return a field that is a column of the key: its type in SQL (INTEGER, REAL or TEXT), its meaning and unit."""
    return attrs.field(metadata={_COLUMN: (kind, doc, unit), "key": True})


def value_column(kind: str, doc: str, *, unit: str = "") -> Any:
    """Return a field that is a column beside the key."""
    return attrs.field(metadata={_COLUMN: (kind, doc, unit), "key": False})


def declare_facts(
    made: type[FactProjector],
    *,
    name: str,
    version: int,
    kinds: tuple[type[Event], ...],
    sums: bool = False,
    settings: Mapping[str, float] | None = None,
) -> DeclaredFactProjector:
    """Declare a projector of facts: its class with all that a ledger must know to keep its table.

    Args:
        made: the class.
        name: also the name of its table.
        version: to be raised with every change that alters a row.
        kinds: the classes of events that it is told of.
        sums: whether its columns are whole numbers that facts add to and take from: a row stands while one of them is
            other than 0. Otherwise facts put rows in and take them out.
        settings: constants that its rows depend on; part of its identity.

    Raises:
        ProjectionError: a kind that is no fact, two columns of one name, a type that no column has, a sum of others
            than whole numbers, a class without fields or without an ``on_change``.
    """
    if not (isinstance(made, type) and issubclass(made, FactProjector) and attrs.has(made)):
        raise ProjectionError(str(name), f"its class is to be a class of attrs and of FactProjector, got {made!r}")
    fields = attrs.fields(made)
    odd = [field.name for field in fields if _COLUMN not in field.metadata]
    if odd:
        raise ProjectionError(
            str(name), f"fields {odd} are no columns; give them by key_column(...) or value_column(...)"
        )
    if not isinstance(vars(made).get("on_change"), staticmethod):
        words = f"{made.__name__} has no static method on_change(rows, position, before, now) of its own"
        raise ProjectionError(str(name), words)
    by_key: dict[bool, list[Kept]] = {True: [], False: []}
    for field in fields:
        kind, doc, unit = field.metadata[_COLUMN]
        by_key[field.metadata["key"]].append(Kept(field.name, kind, 0.0, doc, unit))
    return DeclaredFactProjector(
        name=name,
        version=version,
        kinds=kinds,
        key=tuple(by_key[True]),
        columns=tuple(by_key[False]),
        stand=vars(made)["on_change"].__func__,
        made=made,
        sums=sums,
        settings=dict(settings or {}),
    )


@attrs.frozen(kw_only=True)
class DeclaredFactProjector:
    """A read model of facts, see ``declare_facts``; *stand* is the ``on_change`` of its class *made*."""

    name: str
    version: int
    kinds: tuple[type[Event], ...]
    key: tuple[Kept, ...]
    columns: tuple[Kept, ...] = ()
    stand: Callable[[FactRows, int, Any, Any], None]
    made: type = FactProjector
    sums: bool = False
    settings: Mapping[str, float] = attrs.field(factory=dict, hash=False)

    def __attrs_post_init__(self) -> None:
        for name in (self.name, *(column.name for column in self.every_column)):
            if not isinstance(name, str) or not re.fullmatch(NAME_PATTERN, name) or name.lower().startswith("sqlite"):
                message = f"a name of a table or column matches {NAME_PATTERN} and is none of SQLite's, got {name!r}"
                raise ProjectionError(str(self.name), message)
        if type(self.version) is not int or self.version < 1:
            raise ProjectionError(self.name, f"its version is a whole number from 1 on, got {self.version!r}")
        if type(self.kinds) is not tuple or not self.kinds or not all(kind in EVENTS for kind in self.kinds):
            message = f"names no kinds of event, a tuple of classes such as GameRecorded, to be told of: {self.kinds!r}"
            raise ProjectionError(self.name, message)
        if acts := sorted(kind.KIND for kind in self.kinds if issubclass(kind, NO_FACTS)):
            message = f"{acts} say how other facts stand, which it is told of these; name the kinds of the facts"
            raise ProjectionError(self.name, message)
        names = [column.name.lower() for column in self.every_column]  # SQLite's names know no cases
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ProjectionError(self.name, f"two columns of its table would be called {twice}; give them other names")
        if odd := [column.name for column in self.every_column if column.type not in TYPES]:
            raise ProjectionError(self.name, f"columns {odd} are of none of the types {list(TYPES)}")
        if not self.key or (self.sums and not self.columns):
            raise ProjectionError(self.name, "its rows need a key, and sums something that is added up")
        if odd := [column.name for column in self.columns if self.sums and column.type != "INTEGER"]:
            message = f"adds up {odd}, which are no whole numbers: their sums would depend on the order of the facts"
            raise ProjectionError(self.name, message)

    @property
    def every_column(self) -> tuple[Kept, ...]:
        """The columns of its table, in their order."""
        return (*self.key, *self.columns)

    @property
    def create(self) -> str:
        """The statement that makes its table."""
        must = {column.name for column in self.key} | ({column.name for column in self.columns} if self.sums else set())
        columns = ", ".join(
            f'"{column.name}" {column.type}{" NOT NULL" if column.name in must else ""}' for column in self.every_column
        )
        key = ", ".join(f'"{column.name}"' for column in self.key)
        return f'CREATE TABLE "{self.name}"({columns}, PRIMARY KEY({key})) STRICT, WITHOUT ROWID'

    @property
    def identity(self) -> str:
        """Name, version, settings, kinds and columns: when this changes, the table is built anew."""
        columns = [FACTS, *(kind.KIND for kind in self.kinds), "sums" if self.sums else ""]
        columns += [*(f"{column.name} {column.type}" for column in self.every_column), *_source(self.made, "on_change")]
        identity = [self.name, self.version, dict(self.settings), [*columns, len(self.key)]]
        return orjson.dumps(identity, option=orjson.OPT_SORT_KEYS).decode()


ReadModel = DeclaredProjector | DeclaredFactProjector


def of_facts(read_models: Iterable[ReadModel]) -> list[DeclaredFactProjector]:
    """Those that are told facts."""
    return [made for made in read_models if isinstance(made, DeclaredFactProjector)]


def is_of_facts(identity: str) -> bool:
    """Whether the projector of this identity is one of facts."""
    # Told by what the views have stored, for its plug-in may be missing here.
    try:
        _, _, _, columns = orjson.loads(identity)
        return bool(columns[0] == FACTS)
    except (ValueError, TypeError, LookupError):
        return False


class FactRows:
    """The rows of one table for the projector that fills it; what it says is kept until it is written."""

    def __init__(self, connection: sqlite3.Connection, projector: DeclaredFactProjector) -> None:
        self._connection = connection
        self._projector = projector
        self._rows: dict[tuple[Value, ...], tuple[Value, ...] | None] = {}  # to be put in; None: to be taken out
        self._sums: dict[tuple[Value, ...], tuple[int, ...]] = {}

    def put(self, key: Sequence[Value], values: Sequence[Value] = ()) -> None:
        """A row stands under a key, in the place of one that stood there.

        Raises:
            ReadModelError: the table has sums, or other columns.
        """
        self._check(key, values, sums=False)
        self._rows[tuple(key)] = tuple(values)

    def take_out(self, key: Sequence[Value]) -> None:
        """The row of a key stands no longer.

        Raises:
            ReadModelError: the table has sums, or another key.
        """
        self._check(key, None, sums=False)
        self._rows[tuple(key)] = None

    def add(self, key: Sequence[Value], *amounts: int) -> None:
        """Add to the sums of a key, or take from them with amounts below 0; without amounts, 1 to the only one.

        Raises:
            ReadModelError: the table has no sums, or others.
        """
        amounts = amounts or (1,)
        self._check(key, amounts, sums=True)
        before = self._sums.get(tuple(key), (0,) * len(amounts))
        self._sums[tuple(key)] = tuple(a + b for a, b in zip(before, amounts, strict=True))

    def _check(self, key: Sequence[Value], values: Sequence[Value] | None, *, sums: bool) -> None:
        made = self._projector
        if sums is not made.sums:
            words = "adds to sums, and its rows are none" if sums else "puts in or takes out rows of a table of sums"
            raise ReadModelError(made.name, words)
        fits = not isinstance(key, str) and len(key) == len(made.key)
        if not fits or (values is not None and len(values) != len(made.columns)):
            asked = f"{[column.name for column in made.key]} and {[column.name for column in made.columns]}"
            raise ReadModelError(made.name, f"tells {key!r} and {values!r}, where its columns are {asked}")
        columns = [*zip(made.key, key, strict=True), *zip(made.columns, values or (), strict=values is not None)]
        for place, (column, value) in enumerate(columns):
            if value is None and place >= len(made.key) and not sums:
                continue
            if not _FITS[column.type](value):
                message = f"column {column.name!r} takes {_TAKES[column.type]}, got {value!r}"
                raise ReadModelError(made.name, message)

    def stand(self, position: int, before: Event | None, now: Event | None) -> None:
        """Tell the projector of a fact.

        Raises:
            ReadModelError: it failed; nothing of the fold stands then.
        """
        try:
            self._projector.stand(self, position, before, now)
        except LedgerError:
            raise
        except Exception as error:  # whatever somebody else's function does
            message = f"cannot take entry {position} ({type(error).__name__}: {one_line(error)}); correct the plug-in"
            raise ReadModelError(self._projector.name, message) from error
        if len(self._rows) + len(self._sums) >= WAITING:
            self.write()

    def write(self) -> None:
        """Write what was said since this was last called."""
        made = self._projector
        table = f'"{made.name}"'
        of_key = " AND ".join(f'"{column.name}" = ?' for column in made.key)
        marks = ", ".join("?" * (len(made.key) + len(made.columns)))
        if made.sums:
            keys = ", ".join(f'"{column.name}"' for column in made.key)
            sums = [f'"{column.name}"' for column in made.columns]
            added = ", ".join(f"{name} = {name} + excluded.{name}" for name in sums)
            nothing = " AND ".join(f"{name} = 0" for name in sums)
            upsert = f"INSERT INTO {table} VALUES ({marks}) ON CONFLICT({keys}) DO UPDATE SET {added}"
            self._connection.executemany(upsert, [(*key, *amounts) for key, amounts in self._sums.items()])
            self._connection.executemany(f"DELETE FROM {table} WHERE {of_key} AND {nothing}", list(self._sums))
        gone = [key for key, values in self._rows.items() if values is None]
        put = [(*key, *values) for key, values in self._rows.items() if values is not None]
        self._connection.executemany(f"DELETE FROM {table} WHERE {of_key}", gone)
        self._connection.executemany(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", put)
        self._rows.clear()
        self._sums.clear()
