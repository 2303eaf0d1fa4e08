"""Projectors of facts: tables that follow from the current facts, whatever is rated.

The ledger calls ``on_change(rows, position, before, now)``: nothing before if the fact is new, nothing now if it was
annulled. A projector writes its table and cannot read it, so that neither the order of the facts nor the way of their
corrections matters: a correction takes away what *before* had added, and adds what *now* adds. A game arrives with the
players for whom it counts, with all its supplements and corrections, rated or not, without its movetext; voided games
and games between two numbers of one person do not arrive. ``fact_folds`` decides which facts it receives.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING, Any

import attrs
import orjson

from ledger.errors import LedgerError, ProjectionError, ReadModelError, one_line
from ledger.facts.event_fields import NAME_PATTERN
from ledger.facts.events import EVENTS, CorrectionDecided, CorrectionProposed, Event, GameSupplemented

if TYPE_CHECKING:
    import sqlite3
from ledger.ratings.projector import DeclaredProjector, Kept, Projector, source_of_plugin

_COLUMN = "column"  # in the metadata of a field of such a class: its type in SQL, and what it means
FACTS = "facts"  # the first word about its columns in the identity of such a projector
TYPES = ("INTEGER", "REAL", "TEXT")
NO_FACTS = (GameSupplemented, CorrectionProposed, CorrectionDecided)  # they change other facts
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
    """The base class of a plug-in that makes the rows of one table from the current facts.

    A class of attrs: its fields are the columns of the table, those of the key first (``key_column``, then
    ``value_column``). ``declare_facts`` says the rest.
    """

    __init__ = Projector.__init__

    # ``Any`` for the two facts: a class may name its kinds alone (``GameRecorded | None``)
    @staticmethod
    def on_change(rows: FactRows, position: int, before: Any, now: Any) -> None:
        """Update the rows for the fact of the entry at *position*, which was *before* and is *now*.

        One of the two may be None, and they always differ.
        """
        raise NotImplementedError


def key_column(kind: str, doc: str, *, unit: str = "") -> Any:
    """Return a key column of the table: its type in SQL (INTEGER, REAL or TEXT), its meaning and unit."""
    return attrs.field(metadata={_COLUMN: (kind, doc, unit), "key": True})


def value_column(kind: str, doc: str, *, unit: str = "") -> Any:
    """Return a column of the table outside the key."""
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
        kinds: the classes of events that it receives.
        sums: whether its columns are whole numbers that facts add to and take from: a row exists while one of them is
            other than 0. Otherwise facts put rows in and remove them.
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
        on_change=vars(made)["on_change"].__func__,
        made=made,
        sums=sums,
        settings=dict(settings or {}),
    )


@attrs.frozen(kw_only=True)
class DeclaredFactProjector:
    """A projector of facts as ``declare_facts`` gives it; *on_change* is that of its class *made*."""

    name: str
    version: int
    kinds: tuple[type[Event], ...]
    key: tuple[Kept, ...]
    columns: tuple[Kept, ...] = ()
    on_change: Callable[[FactRows, int, Any, Any], None]
    made: type = FactProjector
    sums: bool = False
    settings: Mapping[str, float] = attrs.field(factory=dict, hash=False)

    def __attrs_post_init__(self) -> None:
        for name in (self.name, *(column.name for column in self.all_columns)):
            if not isinstance(name, str) or not re.fullmatch(NAME_PATTERN, name) or name.lower().startswith("sqlite"):
                message = f"a name of a table or column matches {NAME_PATTERN} and is none of SQLite's, got {name!r}"
                raise ProjectionError(str(self.name), message)
        if type(self.version) is not int or self.version < 1:
            raise ProjectionError(self.name, f"its version is a whole number from 1 on, got {self.version!r}")
        if type(self.kinds) is not tuple or not self.kinds or not all(kind in EVENTS for kind in self.kinds):
            message = f"kinds= is a tuple of classes of events such as GameRecorded, got {self.kinds!r}"
            raise ProjectionError(self.name, message)
        if acts := sorted(kind.KIND for kind in self.kinds if issubclass(kind, NO_FACTS)):
            message = (
                f"{acts} change other facts, which the projector receives as changed; name the kinds of those facts"
            )
            raise ProjectionError(self.name, message)
        names = [column.name.lower() for column in self.all_columns]  # SQLite's names know no cases
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ProjectionError(self.name, f"two columns of its table would be called {twice}; give them other names")
        if odd := [column.name for column in self.all_columns if column.type not in TYPES]:
            raise ProjectionError(self.name, f"columns {odd} are of none of the types {list(TYPES)}")
        if not self.key or (self.sums and not self.columns):
            raise ProjectionError(self.name, "its rows need a key, and sums something that is added up")
        if odd := [column.name for column in self.columns if self.sums and column.type != "INTEGER"]:
            message = f"adds up {odd}, which are no whole numbers: their sums would depend on the order of the facts"
            raise ProjectionError(self.name, message)

    @cached_property
    def all_columns(self) -> tuple[Kept, ...]:
        """The columns of its table, in their order."""
        return (*self.key, *self.columns)

    @cached_property
    def create(self) -> str:
        """The statement that makes its table."""
        must = {column.name for column in self.key} | ({column.name for column in self.columns} if self.sums else set())
        columns = ", ".join(
            f'"{column.name}" {column.type}{" NOT NULL" if column.name in must else ""}' for column in self.all_columns
        )
        key = ", ".join(f'"{column.name}"' for column in self.key)
        return f'CREATE TABLE "{self.name}"({columns}, PRIMARY KEY({key})) STRICT, WITHOUT ROWID'

    @cached_property
    def replace(self) -> str:
        """The statement that inserts a row, and replaces a row with the same key."""
        return f'INSERT OR REPLACE INTO "{self.name}" VALUES ({", ".join("?" * len(self.all_columns))})'

    @cached_property
    def add(self) -> str:
        """The statement that adds a row to the sums under its key."""
        key = ", ".join(f'"{column.name}"' for column in self.key)
        sums = ", ".join(f'"{column.name}" = "{column.name}" + excluded."{column.name}"' for column in self.columns)
        insert = self.replace.replace("INSERT OR REPLACE", "INSERT", 1)
        return f"{insert} ON CONFLICT({key}) DO UPDATE SET {sums}"

    @cached_property
    def delete(self) -> str:
        """The statement that deletes the row under a key."""
        key = " AND ".join(f'"{column.name}" = ?' for column in self.key)
        return f'DELETE FROM "{self.name}" WHERE {key}'

    @cached_property
    def delete_zeros(self) -> str:
        """The statement that deletes the row under a key if all its sums are 0."""
        return " AND ".join([self.delete, *(f'"{column.name}" = 0' for column in self.columns)])

    @cached_property
    def identity(self) -> str:
        """Name, version, settings, kinds and columns: if this changes, the table is built again."""
        columns = [FACTS, *(kind.KIND for kind in self.kinds), "sums" if self.sums else ""]
        columns += [
            *(f"{column.name} {column.type}" for column in self.all_columns),
            *source_of_plugin(self.made, "on_change"),
        ]
        identity = [self.name, self.version, dict(self.settings), [*columns, len(self.key)]]
        return orjson.dumps(identity, option=orjson.OPT_SORT_KEYS).decode()


ReadModel = DeclaredProjector | DeclaredFactProjector


def fact_projectors_among(read_models: Iterable[ReadModel]) -> list[DeclaredFactProjector]:
    """Return the projectors of facts among read models."""
    return [made for made in read_models if isinstance(made, DeclaredFactProjector)]


def is_fact_identity(identity: str) -> bool:
    """Return whether the projector of this identity is one of facts."""
    # Told by what the views have stored, for its plug-in may be missing here.
    try:
        _, _, _, columns = orjson.loads(identity)
        return bool(columns[0] == FACTS)
    except (ValueError, TypeError, LookupError):
        return False


class FactRows:
    """The pending changes to one table of facts: a projector puts, removes and adds; ``write`` stores them."""

    def __init__(self, connection: sqlite3.Connection, projector: DeclaredFactProjector) -> None:
        self._connection = connection
        self._projector = projector
        self._rows: dict[tuple[Value, ...], tuple[Value, ...] | None] = {}  # to be put in; None: to be taken out
        self._sums: dict[tuple[Value, ...], tuple[int, ...]] = {}

    def put(self, key: Sequence[Value], values: Sequence[Value] = ()) -> None:
        """Put a row under a key, and replace a former one.

        Raises:
            ReadModelError: the table has sums, or other columns.
        """
        self._check(key, values, sums=False)
        self._rows[tuple(key)] = tuple(values)

    def remove(self, key: Sequence[Value]) -> None:
        """Remove the row of a key.

        Raises:
            ReadModelError: the table has sums, or another key.
        """
        self._check(key, None, sums=False)
        self._rows[tuple(key)] = None

    def add(self, key: Sequence[Value], *amounts: int) -> None:
        """Add to the sums of a key, or subtract by amounts below 0; without amounts, add 1 to the only sum.

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
            words = (
                "calls add(), but its table holds no sums"
                if sums
                else "calls put() or remove(), but its table holds sums"
            )
            raise ReadModelError(made.name, words)
        fits = not isinstance(key, str) and len(key) == len(made.key)
        if not fits or (values is not None and len(values) != len(made.columns)):
            expected = f"{[column.name for column in made.key]} and {[column.name for column in made.columns]}"
            raise ReadModelError(made.name, f"gives the row {key!r} and {values!r}, but its columns are {expected}")
        columns = [*zip(made.key, key, strict=True), *zip(made.columns, values or (), strict=values is not None)]
        for place, (column, value) in enumerate(columns):
            if value is None and place >= len(made.key) and not sums:
                continue
            if not _FITS[column.type](value):
                message = f"column {column.name!r} takes {_TAKES[column.type]}, got {value!r}"
                raise ReadModelError(made.name, message)

    def apply(self, position: int, before: Event | None, now: Event | None) -> None:
        """Call the projector with a fact before and now.

        Raises:
            ReadModelError: it failed; the fold is rolled back.
        """
        try:
            self._projector.on_change(self, position, before, now)
        except LedgerError:
            raise
        except Exception as error:  # a plug-in's function may raise anything
            message = f"cannot take entry {position} ({type(error).__name__}: {one_line(error)}); correct the plug-in"
            raise ReadModelError(self._projector.name, message) from error
        if len(self._rows) + len(self._sums) >= WAITING:
            self.write()

    def write(self) -> None:
        """Store the pending changes."""
        made = self._projector
        if made.sums:
            self._connection.executemany(made.add, [(*key, *amounts) for key, amounts in self._sums.items()])
            self._connection.executemany(made.delete_zeros, list(self._sums))
        gone = [key for key, values in self._rows.items() if values is None]
        put = [(*key, *values) for key, values in self._rows.items() if values is not None]
        self._connection.executemany(made.delete, gone)
        self._connection.executemany(made.replace, put)
        self._rows.clear()
        self._sums.clear()
