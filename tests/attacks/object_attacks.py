"""What anybody with an SQLite tool can do: foreign triggers, tables and indexes; objects gone; values changed.

Changes of values and rows are made on a server, too (``stores``); its objects are attacked in ``server_attacks``.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import product
from math import inf, nextafter
from pathlib import Path

from tests.attacks import plays as play
from tests.attacks.histories import History, Point
from tests.attacks.plays import Attack
from tests.attacks.stores import NOTHING_THERE, Act, file_of, objects_of, raw, roles_in_files, roles_on_server, store_of
from tests.kit.tampering import Statement, execute

MAIN_TABLES = {("journal", "journal"), ("people", "people")}  # without which a file is no longer ours


def past_guards(role: str, *statements: Statement) -> Act:
    """Return an act that runs statements on one part of a ledger, past the guards that stand there."""
    return lambda spoilt: store_of(spoilt, role).edited(*statements)


def as_anybody(role: str, *statements: Statement) -> Act:
    """Return an act that runs statements on a file as any other program does, its guards in force."""
    return lambda spoilt: execute(file_of(spoilt, role), *statements)


def tables_in_files(db: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Yield role, table and columns of every table in a file."""
    for role in roles_in_files(db):
        for table, columns in store_of(db, role).columns().items():
            yield role, table, list(columns)


def triggers(history: History) -> Iterator[Attack]:
    """Yield a trigger before and after every write of every table of every file."""
    for role, table, columns in tables_in_files(history.looked_at()):
        for when, event in product(("BEFORE", "AFTER"), ("INSERT", "UPDATE", "DELETE")):
            for effect, statements in _trigger(table, columns, f"{when} {event}").items():
                name = f"a trigger {when.lower()} {event.lower()} on {table} of the {role} that {effect}"
                kind = f"{when} {event} {role} {effect}"
                yield Attack(name, history.last, as_anybody(role, *statements), play.WRITING, kind=kind)


def _trigger(table: str, columns: Sequence[str], moment: str) -> dict[str, list[str]]:
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
        bodies["takes it back"] = [f'{begin} BEGIN DELETE FROM "{table}" WHERE "{key}" = new."{key}"; END']
    if moment == "AFTER UPDATE":
        old = ", ".join(f'"{name}" = old."{name}"' for name in columns)
        changed = " OR ".join(f'new."{name}" IS NOT old."{name}"' for name in columns)
        guard = f'old."{last}" IS NOT NULL AND ({changed})'
        undo = f'UPDATE "{table}" SET {old} WHERE "{key}" = new."{key}"'
        bodies["takes it back"] = [f"{begin} WHEN {guard} BEGIN {undo}; END"]
    return bodies


def additions(history: History) -> Iterator[Attack]:
    """Yield tables, views and indexes that no ledger has."""
    db = history.looked_at()
    extra: dict[str, tuple[str, list[str]]] = {}  # by name, the role and the statements
    for role, table, columns in tables_in_files(db):
        first, last, every = columns[0], columns[-1], ", ".join(f'"{column}"' for column in columns)
        if f"an empty table in the {role}" not in extra:
            extra |= {
                f"an empty table in the {role}": (role, ["CREATE TABLE guest(a)"]),
                f"a table with a row in the {role}": (role, ["CREATE TABLE guest(a)", "INSERT INTO guest VALUES (1)"]),
                f"a view in the {role}": (role, [f'CREATE VIEW guest AS SELECT * FROM "{table}"']),
                f"a virtual table in the {role}": (role, ["CREATE VIRTUAL TABLE guest USING fts5(a)"]),
            }
        coming = f'"{table}"(typeof("{last}")) WHERE "{first}" > {_highest(file_of(db, role), table, first)}'
        extra |= {
            f"an index on {table} in the {role}": (role, [f'CREATE INDEX guest ON "{table}"("{last}")']),
            f"a unique index on {table} in the {role}": (role, [f'CREATE UNIQUE INDEX guest ON "{table}"({every})']),
            f"a unique index on the coming rows of {table} in the {role}": (  # of which it lets one in
                role, [f"CREATE UNIQUE INDEX guest ON {coming}"],
            ),
        }  # fmt: skip
    for name, (role, statements) in extra.items():
        kind = f"{name.partition(' in the ')[0].partition(' on ')[0]} in the {role}"
        yield Attack(name, history.last, as_anybody(role, *statements), kind=kind)


def _highest(path: Path, table: str, column: str) -> str:
    with closing(raw(path)) as connection:
        return str(connection.execute(f'SELECT quote(max("{column}")) FROM "{table}"').fetchone()[0])


def removals(history: History) -> Iterator[Attack]:
    """Yield every object of every file gone, every table emptied, every column renamed, in turn."""
    db, last = history.looked_at(), history.last
    for role in roles_in_files(db):
        for kind, name, table, sql in objects_of(file_of(db, role)):
            codes = play.MAY_BE_UNREADABLE if (role, table) in MAIN_TABLES and kind == "table" else (play.FALSE,)
            act = as_anybody(role, f'DROP {kind} "{name}"')
            if sql:
                yield Attack(f"the {kind} {name} dropped from the {role}", last, act, play.READING, audit_codes=codes)
    for role, table, columns in tables_in_files(db):
        codes = play.MAY_BE_UNREADABLE if (role, table) in MAIN_TABLES else (play.FALSE,)
        emptied = past_guards(role, f'DELETE FROM "{table}"')
        yield Attack(f"the table {table} of the {role} emptied", last, emptied, play.READING)
        added = as_anybody(role, f'ALTER TABLE "{table}" ADD COLUMN guest TEXT')
        yield Attack(f"a column added to {table} of the {role}", last, added)
        for column in columns:
            name = f"the column {column} of {table} of the {role} renamed"
            act = as_anybody(role, f'ALTER TABLE "{table}" RENAME COLUMN "{column}" TO guest')
            yield Attack(name, last, act, play.READING, audit_codes=codes)


def headers(history: History) -> Iterator[Attack]:
    """Yield another application id or layout in the header of every file."""
    words = ("application_id", 0), ("application_id", 1), ("user_version", 0), ("user_version", 99)
    for role, (word, value) in product(roles_in_files(history.last.db), words):
        name, act = f"{word} {value} in the header of the {role}", as_anybody(role, f"PRAGMA {word}={value}")
        yield Attack(name, history.last, act, (*play.QUICK, play.REBUILD), audit_codes=play.MAY_BE_UNREADABLE)


LOOSE = (  # the same table without its constraints
    "CREATE TABLE kept AS SELECT * FROM progress", "DROP TABLE progress",
    "CREATE TABLE progress AS SELECT * FROM kept", "DROP TABLE kept",
)  # fmt: skip
OTHERS = (0, -5, 1, "position - 1", "position + 1", 10**6, 2**62)
POSITIONS = {f"set to {value}": (f"UPDATE progress SET position = {value}",) for value in OTHERS} | {
    "emptied": ("DELETE FROM progress",),
    "NULL": (*LOOSE, "UPDATE progress SET position = NULL"),
    "a text": (*LOOSE, "UPDATE progress SET position = 'many'"),
    "twice": (*LOOSE, "INSERT INTO progress SELECT * FROM progress"),
    "without columns": ("DROP TABLE progress", "CREATE TABLE progress(guest)"),
}
FALSE_VIEWS = (
    "UPDATE projections SET identity = 'x'", "DELETE FROM projections", "UPDATE eras SET settings = '{'",
    "UPDATE eras SET settings = '[]'", 'UPDATE eras SET settings = \'{"initial": "much"}\'',
    "UPDATE eras SET scheme = 'nobody'", "UPDATE eras SET conversion = 'x'", "UPDATE eras SET carry = 'x'",
    "UPDATE tournaments SET pool = 99", "UPDATE pools SET name = 'other'", "UPDATE games SET outcome = 'nobody'",
    "UPDATE games SET ended_at = 'never'", "UPDATE history SET game = 0", "UPDATE history SET n = n + 100",
    "UPDATE current SET n = 99", "UPDATE players SET standing = 'king'",
)  # fmt: skip


def checkpoints(history: History) -> Iterator[Attack]:
    """Yield every change of the position up to which the views hold the journal, and of what they were built by."""
    for what, statements in POSITIONS.items():
        name, act = f"the position of the views {what}", as_anybody("views", *statements)
        yield Attack(name, history.last, act, play.READING, reads_may_err=False)
    for statement in FALSE_VIEWS:
        yield Attack(f"views: {statement}", history.last, as_anybody("views", statement), play.READING)


def encodings(history: History) -> Iterator[Attack]:
    """Yield text that is no UTF-8, in every text of every table."""
    db = history.looked_at()
    for role, table, columns in tables_in_files(db):
        kinds = store_of(db, role).columns()[table]
        for column in (column for column in columns if kinds[column] == "TEXT"):
            for how, value in (("a stray byte", "80"), ("a cut letter", "c3"), ("a surrogate", "eda080")):
                spoilt = f'"{column}" = CAST(CAST("{column}" AS BLOB) || x\'{value}\' AS TEXT)'
                where = f'WHERE "{column}" = (SELECT max("{column}") FROM "{table}")'
                act = past_guards(role, f'UPDATE OR IGNORE "{table}" SET {spoilt} {where}')
                yield Attack(
                    f"{how} in {column} of {table} of the {role}", history.last, act, (*play.QUICK, play.REBUILD)
                )


def values(history: History) -> Iterator[Attack]:
    """Yield every value changed by the smallest change of its type; every row taken away, and one like it added."""
    present, tall = history.looked_at(), history.looked_at(history.tall)
    for role in (*roles_on_server(present), *roles_in_files(present)):
        for table, columns in store_of(present, role).columns().items():
            point, db = (history.tall, tall) if table == "nodes" else (history.last, present)  # few games have none
            store = store_of(db, role)
            for number, row in enumerate(store.rows(table), 1):
                where, likeness = f"row {number} of {table} of the {role}", []
                for column, kind, value in zip(columns, columns.values(), row, strict=True):
                    others = _others(value, kind)
                    likeness.append(others[0][1])
                    for how, other in others:
                        edit = store.changed(table, row, column, other)
                        yield _edit(point, db, role, f"{column} of {where} {how}", f"{table}.{column}", edit)
                yield _edit(point, db, role, f"{where} gone", f"{table} gone", store.gone(table, row))
                name, more = f"a row like row {number} added to {table} of the {role}", store.more(table, (*likeness,))
                yield _edit(point, db, role, name, f"{table} more", more)


def _edit(point: Point, db: Path, role: str, name: str, kind: str, edit: Statement) -> Attack:
    more = {"people": (play.IMPORT_KNOWN,), "tokens": (play.USE_TOKENS,)}.get(role, ())
    # of a server an audit makes a copy first, which says of some rows that no file can hold them
    codes = play.MAY_BE_UNREADABLE if role in roles_on_server(db) and role != "tokens" else (play.FALSE,)
    return Attack(name, point, past_guards(role, edit), (play.AUDIT, *more), audit_codes=codes, kind=kind)


def _others(value: object, kind: str) -> list[tuple[str, object]]:
    """Return what may stand in the place of a value, each with the word for the change."""
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
