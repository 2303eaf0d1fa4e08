"""Backups, and copies of a ledger's tables on a server of PostgreSQL: how the tests make, change and read them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

import orjson

from ledger.answers.querying import view_tables
from ledger.audit.audit import audit
from ledger.backups import disk
from ledger.facts.words import TreeHead
from ledger.imports.reading import batch_games
from ledger.ledger import Ledger
from ledger.runtime.lazy import psycopg
from tests.kit.clubs import NOW
from tests.kit.games import source_games

if TYPE_CHECKING:
    from psycopg import Connection

LEDGER_FILES = ("club.db", "club.people.db", "club.views.db")


def record(path: Path, first: int, last: int) -> None:
    """Import some more of the made-up games, and rate them."""
    with Ledger.open(path, clock=lambda: NOW) as ledger:
        games = list(source_games(last))[first:]
        assert ledger.import_games(batch_games(iter(games), 50)).recorded == len(games)
        ledger.catch_up()


def contents_of(folder: Path) -> dict[str, bytes | None]:
    """Every file below a folder with its bytes, but for lock files and the shared memory of SQLite."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
        if not path.name.endswith((".lock", "-shm")) and not (path.name.endswith("-wal") and not path.stat().st_size)
    }


def head_of_ledger(path: Path) -> TreeHead:
    with Ledger.open(path, read_only=True) as ledger:
        return ledger.head()


def assert_true(path: Path) -> None:
    assert audit(path).falsehoods == ()


def damage(path: Path) -> None:
    path.write_bytes(b"white,black,result\n" * 300)


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def edited(folder: Path, change: Callable[[Any], object], *, sealed: bool) -> None:
    """Change the manifest; *sealed*: its own hash, too, as somebody does who knows how it is made."""
    members = orjson.loads((folder / disk.NAME).read_bytes())
    change(members)
    if sealed:
        del members["sha256"]
        members["sha256"] = sha256(orjson.dumps(members, option=orjson.OPT_SORT_KEYS)).hexdigest()
    (folder / disk.NAME).write_bytes(orjson.dumps(members))


Rows = list[tuple[Any, ...]]
Where = Union[str, "Connection[Any]"]
SCHEMA = "ratings"
BESIDE = {"names", "origin"}  # tables there that the views do not have


def asked(where: Where, statement: str, values: Sequence[Any] = ()) -> Rows:
    """What a server answers to one statement: on a connection, or at an address in a transaction of its own."""
    if isinstance(where, str):
        with psycopg.connect(where) as connection:
            return asked(connection, statement, values)
    cursor = where.execute(statement.encode(), values or None)  # % is one where there are none
    return list(cursor.fetchall()) if cursor.description else []


def tables_there(where: Where, schema: str = SCHEMA) -> set[str]:
    """The names of the tables of a schema."""
    return {name for (name,) in asked(where, "SELECT tablename FROM pg_tables WHERE schemaname = %s", [schema])}


def columns_there(where: Where, table: str, schema: str = SCHEMA) -> list[str]:
    """The columns of a table, in their order."""
    query = (
        "SELECT column_name FROM information_schema.columns WHERE table_schema = %s AND table_name = %s "
        "ORDER BY ordinal_position"
    )
    return [name for (name,) in asked(where, query, [schema, table])]


def in_bits(rows: Rows) -> Rows:
    """The same rows with doubles as their bytes: equal numbers that are other numbers to the last bit show so."""
    return [tuple(struct.pack(">d", value) if type(value) is float else value for value in row) for row in rows]


def rows_of_views(ledger: Ledger, table: str, columns: Sequence[str], key: Sequence[str]) -> Rows:
    """The rows of a table of the views in the order of its key."""
    names, order = ", ".join(f'"{name}"' for name in columns), ", ".join(f'"{name}"' for name in key)
    return [tuple(row) for row in ledger.views.connection.execute(f'SELECT {names} FROM "{table}" ORDER BY {order}')]


def key_there(where: Where, table: str, schema: str = SCHEMA) -> list[str]:
    """The columns of the primary key of a table, in its order."""
    query = (
        "SELECT attname FROM pg_constraint, unnest(conkey) WITH ORDINALITY AS part(number, place) "
        "JOIN pg_attribute ON attnum = number WHERE contype = 'p' AND attrelid = conrelid "
        "AND conrelid = format('%%I.%%I', %s::text, %s::text)::regclass ORDER BY place"
    )
    return [name for (name,) in asked(where, query, [schema, table])]


def differences(ledger: Ledger, url: str, schema: str = SCHEMA, *, names: bool = False) -> list[str]:
    """The documented tables that are not there, or differ from the views in a row, a bit or their order."""
    ledger.ensure_up_to_date()
    with psycopg.connect(url) as connection:  # to ask by a new one each time costs as much as a copy
        return list(_differences(ledger, connection, schema, names=names))


def _differences(ledger: Ledger, connection: Connection[Any], schema: str, *, names: bool) -> Iterator[str]:
    there, described = tables_there(connection, schema), view_tables(ledger)
    for table in described:
        if table not in there:
            yield f"{table} is not there"
            continue
        columns, key = columns_there(connection, table, schema), key_there(connection, table, schema)
        expected = {name for name in described[table].columns if names or name != "birth_year"}
        if set(columns) != expected:
            yield f"{table} has columns {columns}"
            continue
        order = ", ".join(f'"{name}"' for name in key)
        selected = ", ".join(f'"{name}"' for name in columns)
        rows = asked(connection, f'SELECT {selected} FROM "{schema}"."{table}" ORDER BY {order}')
        if not key or in_bits(rows) != in_bits(rows_of_views(ledger, table, columns, key)):
            yield f"{table} differs"
    if there - described.keys() != (BESIDE if names else BESIDE - {"names"}):
        yield f"beside the views: {sorted(there - described.keys())}"
