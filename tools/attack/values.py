"""Every value of every row changed behind the ledger's back, one at a time; rows taken away and rows added.

The smallest change of its type: the next number, the next float, another last letter, another last bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, nextafter
from pathlib import Path

from .foreign_objects import looked_at, on
from .histories import History, Point
from .servers import Statement
from .stores import NOTHING_THERE, roles_of, roles_on_server, store_of
from .verdicts import AUDIT, FALSE, IMPORT_KNOWN, REFUSED, USE_TOKENS, Attack


def changed_values(history: History) -> Iterator[Attack]:
    """Every value of every row of every table of every part."""
    for point, db, role, table, columns in _tables(history):
        store = store_of(db, role)
        for number, row in enumerate(store.rows(table), 1):
            for column, kind, value in zip(columns, columns.values(), row, strict=True):
                for how, other in _others(value, kind):
                    name = f"{column} of row {number} of {table} of the {role} {how}"
                    edit = store.changed(table, row, column, other)
                    yield _edit(point, db, role, name, f"{table}.{column}", edit)


def changed_rows(history: History) -> Iterator[Attack]:
    """Every row of every table of every part taken away, and one like it added."""
    for point, db, role, table, columns in _tables(history):
        store = store_of(db, role)
        for number, row in enumerate(store.rows(table), 1):
            name = f"row {number} of {table} of the {role} gone"
            yield _edit(point, db, role, name, f"{table} gone", store.gone(table, row))
            likeness = tuple(_others(value, kind)[0][1] for value, kind in zip(row, columns.values(), strict=True))
            name = f"a row like row {number} added to {table} of the {role}"
            yield _edit(point, db, role, name, f"{table} more", store.more(table, likeness))


def _tables(history: History) -> Iterator[tuple[Point, Path, str, str, dict[str, str]]]:
    """Every table with its columns, and the point where it has rows, with a copy: only a tall journal has nodes."""
    present, tall = looked_at(history), looked_at(history, history.tall)
    for role in roles_of(present):
        for table, columns in store_of(present, role).columns().items():
            point, db = (history.tall, tall) if table == "nodes" else (history.last, present)
            yield point, db, role, table, columns


def _edit(point: Point, db: Path, role: str, name: str, kind: str, edit: Statement) -> Attack:
    plays = {"people": (AUDIT, IMPORT_KNOWN), "tokens": (AUDIT, USE_TOKENS)}.get(role, (AUDIT,))
    # of a server an audit makes a copy first, which says of some rows that no file can hold them
    codes = (FALSE, REFUSED) if role in roles_on_server(db) and role != "tokens" else (FALSE,)
    return Attack(name, point, on(role, edit), plays, audit_codes=codes, kind=kind)


def _others(value: object, kind: str) -> list[tuple[str, object]]:
    """What may stand in the place of a value, each with the word for the change."""
    match value:
        case None:
            return [("filled", NOTHING_THERE[kind])]
        case int():
            return [("made one more", value + 1), ("made negative", -value - 1)]
        case float():
            return [("made the next float", nextafter(value, inf)), ("made minus zero", -0.0)]
        case list():
            return [("with one more", [*value, 1]), ("made empty", [])]
        case bytes():
            return [("with its last bit changed", value[:-1] + bytes([value[-1] ^ 1])), ("made empty", b"")]
        case _:
            text = str(value)
            other = text[:-1] + ("y" if text.endswith("x") else "x")
            return [("with another last letter", other), ("with a blank", f"{text} ")]
