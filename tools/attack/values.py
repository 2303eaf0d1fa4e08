"""Every value of every row changed behind the ledger's back, one at a time; rows taken away and rows added.

The smallest change of its type: the next number, the next float, another last letter, another last bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from math import inf, nextafter
from pathlib import Path

from .files import ROLES, Row, Statement, columns_of, file_of, raw
from .foreign_objects import looked_at, on
from .histories import History, Point
from .verdicts import AUDIT, IMPORT_KNOWN, Attack

NOTHING_THERE = {"INTEGER": 7, "REAL": 7.5, "TEXT": "x", "BLOB": b"x"}  # what comes in the place of NULL


def changed_values(history: History) -> Iterator[Attack]:
    """Every value of every row of every table of every file."""
    for point, db, role, table, columns in _tables(history):
        for number, row in enumerate(_rows(file_of(db, role), table), 1):
            for column, kind, value in zip(columns, columns.values(), row, strict=True):
                for how, other in _others(value, kind):
                    where, arguments = _exactly(list(columns), row)
                    edit = f'UPDATE OR IGNORE "{table}" SET "{column}" = ? WHERE {where}', [other, *arguments]
                    name = f"{column} of row {number} of {table} of the {role} {how}"
                    yield _edit(point, db, role, name, f"{table}.{column}", edit)


def changed_rows(history: History) -> Iterator[Attack]:
    """Every row of every table of every file taken away, and one like it added."""
    for point, db, role, table, columns in _tables(history):
        for number, row in enumerate(_rows(file_of(db, role), table), 1):
            where, arguments = _exactly(list(columns), row)
            gone = f'DELETE FROM "{table}" WHERE {where}', arguments
            yield _edit(point, db, role, f"row {number} of {table} of the {role} gone", f"{table} gone", gone)
            likeness = [_others(value, kind)[0][1] for value, kind in zip(row, columns.values(), strict=True)]
            marks = ", ".join("?" for _ in likeness)
            more = f'INSERT OR IGNORE INTO "{table}" VALUES ({marks})', likeness
            name = f"a row like row {number} added to {table} of the {role}"
            yield _edit(point, db, role, name, f"{table} more", more)


def _tables(history: History) -> Iterator[tuple[Point, Path, str, str, dict[str, str]]]:
    """Every table with its columns, and the point where it has rows, with a copy: only a tall journal has nodes."""
    present, tall = looked_at(history), looked_at(history, history.tall)
    for role in ROLES:
        for table, columns in columns_of(file_of(present, role)).items():
            point, db = (history.tall, tall) if table == "nodes" else (history.last, present)
            yield point, db, role, table, columns


def _edit(point: Point, db: Path, role: str, name: str, kind: str, edit: Statement) -> Attack:
    plays = (AUDIT, IMPORT_KNOWN) if role == "people" else (AUDIT,)
    return Attack(name, point, on(db, role, edit), plays, kind=kind)


def _rows(path: Path, table: str) -> list[Row]:
    with closing(raw(path)) as connection:
        return connection.execute(f'SELECT * FROM "{table}"').fetchall()


def _exactly(columns: Sequence[str], row: Row) -> tuple[str, list[object]]:
    """A condition that this row fulfils, with its arguments."""
    return " AND ".join(f'"{column}" IS ?' for column in columns), list(row)


def _others(value: object, kind: str) -> list[tuple[str, object]]:
    """What may stand in the place of a value, each with the word for the change."""
    match value:
        case None:
            return [("filled", NOTHING_THERE[kind])]
        case int():
            return [("made one more", value + 1), ("made negative", -value - 1)]
        case float():
            return [("made the next float", nextafter(value, inf)), ("made minus zero", -0.0)]
        case bytes():
            return [("with its last bit changed", value[:-1] + bytes([value[-1] ^ 1])), ("made empty", b"")]
        case _:
            text = str(value)
            other = text[:-1] + ("y" if text.endswith("x") else "x")
            return [("with another last letter", other), ("with a blank", f"{text} ")]
