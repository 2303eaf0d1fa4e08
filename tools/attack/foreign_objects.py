"""What no ledger has in its files: foreign triggers, tables and indexes, objects gone, headers and text garbled.

Each is made as anybody with an SQLite tool would make it. What the commands must then say is the judge's business.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import product
from pathlib import Path

from .files import Act, columns_of, copied, edited, file_of, objects_of, raw
from .histories import History, Point
from .servers import Statement
from .stores import roles_in_files, store_of
from .verdicts import (
    AUDIT,
    ERASE,
    FALSE,
    IMPORT_FRESH,
    IMPORT_KNOWN,
    QUICK,
    READS,
    REBUILD,
    REFUSED,
    REGISTER,
    Attack,
)

WRITING = ((*READS, *IMPORT_KNOWN), IMPORT_FRESH, REGISTER, ERASE)
MORE_READS = (
    *READS,
    ("head",),
    ("pools",),
    ("graph", "{ann}"),
    ("log", "--game", "club:1"),
    ("explain", "{ann}", "club:1"),
    ("predict", "1", "3"),
    ("show", "1", "--at", "2020-01-10"),
)
READING = ((*MORE_READS, *AUDIT), AUDIT, IMPORT_KNOWN, REBUILD)
MAIN_TABLES = {("journal", "journal"), ("people", "people")}  # without which a file is no longer ours
MAY_BE_UNREADABLE = (FALSE, REFUSED)


def looked_at(history: History, point: Point | None = None) -> Path:
    """A copy of the ledger at a point, by default the present, to look into."""
    chosen = point or history.last
    return copied(chosen.db, history.known.parent / f"looked at, {chosen.name}")


def on(role: str, *statements: Statement) -> Act:
    """An act that runs statements on one part of a ledger, past the guards that stand there."""
    return lambda spoilt: store_of(spoilt, role).edited(*statements)


def _with_guards(role: str, *statements: Statement) -> Act:
    return lambda spoilt: edited(file_of(spoilt, role), *statements)


def triggers(history: History) -> Iterator[Attack]:
    """A trigger before and after every write of every table of every file."""
    db = looked_at(history)
    for role in roles_in_files(db):
        for table, columns in columns_of(file_of(db, role)).items():
            for when, event in product(("BEFORE", "AFTER"), ("INSERT", "UPDATE", "DELETE")):
                for effect, statements in _trigger(table, list(columns), f"{when} {event}").items():
                    name = f"a trigger {when.lower()} {event.lower()} on {table} of the {role} that {effect}"
                    kind = f"{when} {event} {role} {effect}"
                    yield Attack(name, history.last, _with_guards(role, *statements), WRITING, kind=kind)


def _trigger(table: str, columns: Sequence[str], moment: str) -> dict[str, list[str]]:
    """By its effect, the statements that make a trigger."""
    key, last = columns[0], columns[-1]
    begin = f'CREATE TRIGGER guest {moment} ON "{table}"'
    bodies = {
        "ignores it": [f"{begin} BEGIN SELECT raise(IGNORE); END"],
        "aborts it": [f"{begin} BEGIN SELECT raise(ABORT, 'not today'); END"],
        "keeps a copy": [
            f'CREATE TABLE kept AS SELECT * FROM "{table}"',
            f'{begin} BEGIN INSERT INTO kept SELECT * FROM "{table}"; END',
        ],
    }
    if moment == "AFTER INSERT":
        undo = f'DELETE FROM "{table}" WHERE "{key}" = new."{key}"'
        bodies["takes it back"] = [f"{begin} BEGIN {undo}; END"]
    if moment == "AFTER UPDATE":
        old = ", ".join(f'"{name}" = old."{name}"' for name in columns)
        changed = " OR ".join(f'new."{name}" IS NOT old."{name}"' for name in columns)
        guard = f'old."{last}" IS NOT NULL AND ({changed})'
        undo = f'UPDATE "{table}" SET {old} WHERE "{key}" = new."{key}"'
        bodies["takes it back"] = [f"{begin} WHEN {guard} BEGIN {undo}; END"]
    return bodies


def additions(history: History) -> Iterator[Attack]:
    """Tables, views and indexes that no ledger has."""
    db = looked_at(history)
    for role in roles_in_files(db):
        held = columns_of(file_of(db, role))
        extra: dict[str, list[str]] = {
            "an empty table": ["CREATE TABLE guest(a)"],
            "a table with a row": ["CREATE TABLE guest(a)", "INSERT INTO guest VALUES (1)"],
            "a view": [f'CREATE VIEW guest AS SELECT * FROM "{next(iter(held))}"'],
            "a virtual table": ["CREATE VIRTUAL TABLE guest USING fts5(a)"],
        }
        for table, columns in held.items():
            first, last = next(iter(columns)), list(columns)[-1]
            highest = _highest(file_of(db, role), table, first)
            every = ", ".join(f'"{column}"' for column in columns)
            extra |= {
                f"an index on {table}": [f'CREATE INDEX guest ON "{table}"("{last}")'],
                f"a unique index on {table}": [f'CREATE UNIQUE INDEX guest ON "{table}"({every})'],
                f"a unique index on the coming rows of {table}": [  # of which it lets one in
                    f'CREATE UNIQUE INDEX guest ON "{table}"(typeof("{last}")) WHERE "{first}" > {highest}'
                ],
            }
        for name, statements in extra.items():
            kind = f"{name.partition(' on ')[0].partition(' of ')[0]} in the {role}"
            yield Attack(f"{name} in the {role}", history.last, _with_guards(role, *statements), kind=kind)


def _highest(path: Path, table: str, column: str) -> str:
    """The highest value of a column, as SQL."""
    with closing(raw(path)) as connection:
        return str(connection.execute(f'SELECT quote(max("{column}")) FROM "{table}"').fetchone()[0])


def removals(history: History) -> Iterator[Attack]:
    """Every object of every file gone, every table emptied, every column renamed, in turn."""
    db = looked_at(history)
    for role in roles_in_files(db):
        for kind, name, table, sql in objects_of(file_of(db, role)):
            main = (role, table) in MAIN_TABLES and kind == "table"
            if sql:
                yield Attack(
                    f"the {kind} {name} dropped from the {role}",
                    history.last,
                    _with_guards(role, f'DROP {kind} "{name}"'),
                    READING,
                    audit_codes=MAY_BE_UNREADABLE if main else (FALSE,),
                )
        for table, columns in columns_of(file_of(db, role)).items():
            emptied = on(role, f'DELETE FROM "{table}"')
            yield Attack(f"the table {table} of the {role} emptied", history.last, emptied, READING)
            added = _with_guards(role, f'ALTER TABLE "{table}" ADD COLUMN guest TEXT')
            yield Attack(f"a column added to {table} of the {role}", history.last, added)
            for column in columns:
                yield Attack(
                    f"the column {column} of {table} of the {role} renamed",
                    history.last,
                    _with_guards(role, f'ALTER TABLE "{table}" RENAME COLUMN "{column}" TO guest'),
                    READING,
                    audit_codes=MAY_BE_UNREADABLE if (role, table) in MAIN_TABLES else (FALSE,),
                )


def headers(history: History) -> Iterator[Attack]:
    """Another application id or layout in the header of every file."""
    for role in roles_in_files(history.last.db):
        for word, value in (("application_id", 0), ("application_id", 1), ("user_version", 0), ("user_version", 99)):
            name = f"{word} {value} in the header of the {role}"
            act = _pragma(role, f"PRAGMA {word}={value}")
            yield Attack(name, history.last, act, (*QUICK, REBUILD), audit_codes=MAY_BE_UNREADABLE)


def _pragma(role: str, statement: str) -> Act:
    return lambda spoilt: edited(file_of(spoilt, role), statement)


def checkpoints(history: History) -> Iterator[Attack]:
    """The position up to which the views say they hold the journal, changed in every way."""
    loose = [  # the same table without its constraints
        "CREATE TABLE kept AS SELECT * FROM progress",
        "DROP TABLE progress",
        "CREATE TABLE progress AS SELECT * FROM kept",
        "DROP TABLE kept",
    ]
    edits: dict[str, list[str]] = {
        f"set to {value}": [f"UPDATE progress SET position = {value}"]
        for value in (0, -5, 1, "position - 1", "position + 1", 10**6, 2**62)
    }
    edits |= {
        "emptied": ["DELETE FROM progress"],
        "NULL": [*loose, "UPDATE progress SET position = NULL"],
        "a text": [*loose, "UPDATE progress SET position = 'many'"],
        "twice": [*loose, "INSERT INTO progress SELECT * FROM progress"],
        "without columns": ["DROP TABLE progress", "CREATE TABLE progress(guest)"],
    }
    for name, statements in edits.items():
        act = _with_guards("views", *statements)
        yield Attack(f"the position of the views {name}", history.last, act, READING, reads_may_err=False)
    for statement in (
        "UPDATE projections SET identity = 'x'",
        "DELETE FROM projections",
        "UPDATE eras SET settings = '{'",
        "UPDATE eras SET settings = '[]'",
        'UPDATE eras SET settings = \'{"initial": "much"}\'',
        "UPDATE eras SET scheme = 'nobody'",
        "UPDATE eras SET conversion = 'x'",
        "UPDATE eras SET carry = 'x'",
        "UPDATE tournaments SET pool = 99",
        "UPDATE pools SET name = 'other'",
        "UPDATE games SET outcome = 'nobody'",
        "UPDATE games SET ended_at = 'never'",
        "UPDATE history SET game = 0",
        "UPDATE history SET n = n + 100",
        "UPDATE current SET n = 99",
        "UPDATE players SET standing = 'king'",
    ):
        yield Attack(f"views: {statement}", history.last, _with_guards("views", statement), READING)


def encodings(history: History) -> Iterator[Attack]:
    """Text that is no UTF-8, in every text of every table; and in another encoding than it says."""
    db = looked_at(history)
    for role in roles_in_files(db):
        for table, columns in columns_of(file_of(db, role)).items():
            for column, kind in columns.items():
                if kind != "TEXT":
                    continue
                for how, value in (("a stray byte", "80"), ("a cut letter", "c3"), ("a surrogate", "eda080")):
                    spoilt = f'"{column}" = CAST(CAST("{column}" AS BLOB) || x\'{value}\' AS TEXT)'
                    where = f'WHERE "{column}" = (SELECT max("{column}") FROM "{table}")'
                    act = on(role, f'UPDATE OR IGNORE "{table}" SET {spoilt} {where}')
                    yield Attack(f"{how} in {column} of {table} of the {role}", history.last, act, (*QUICK, REBUILD))
