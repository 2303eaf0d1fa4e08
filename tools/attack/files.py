"""The three files of a ledger, copied and read raw, as somebody with any SQLite tool would. Nothing is judged here.

Opening a database may write to it (a log is folded in, a hot journal rolled back), so what is to stay as it is must
be read from a copy.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from ledger.errors import one_line
from ledger.runtime.ledger_files import beside
from ledger.runtime.sqlite import sqlite3

from . import servers
from .servers import Row, Statement

if TYPE_CHECKING:
    from sqlite3 import Connection

ROLES = ("journal", "people", "views")
LOGS = ("-wal", "-shm", "-journal")
READ_ERRORS = (sqlite3.Error, UnicodeDecodeError, OverflowError)

Act = Callable[[Path], None]  # spoils the ledger at that path


def ledger_in(folder: Path) -> Path:
    """The journal's path in a folder that holds one ledger.

    Raises:
        ValueError: there is none, or there are several.
    """
    found = [path for path in sorted(folder.glob("*.db")) if beside(path, "people").exists()]
    if len(found) != 1:
        raise ValueError(f"{folder}: holds {len(found)} ledgers, expected one; give the folder of one ledger")
    return found[0]


def file_of(db: Path, role: str) -> Path:
    """The file of a ledger that plays *role*."""
    return db if role == "journal" else beside(db, role)


def copied(db: Path, folder: Path, *, with_database: bool = True) -> Path:
    """Copy all files of a ledger, logs and half-made ones too, into a new *folder*; the copy's path.

    What is on a server is copied there, too.
    """
    if folder.exists():
        folder.chmod(0o755)  # an attack may have taken the right to write away
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    for path in db.parent.iterdir():
        if path.name.startswith(f"{db.stem}.") and path.is_file():
            shutil.copyfile(path, folder / path.name)
    if with_database:
        servers.give_own_database(folder / db.name)
    return folder / db.name


def put(source: Path, target: Path, *, logs: bool = True) -> None:
    """Put a file in the place of another; with its logs, or beside those that the other one had."""
    shutil.copyfile(source, target)
    if not logs:
        return
    for word in LOGS:
        log = source.with_name(source.name + word)
        target.with_name(target.name + word).unlink(missing_ok=True)
        if log.exists():
            shutil.copyfile(log, target.with_name(target.name + word))


def edited(path: Path, *statements: Statement) -> None:
    """Run statements on a file without any of the ledger's settings, triggers included."""
    with closing(sqlite3.connect(str(path), isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema=ON")
        connection.execute("BEGIN")
        for statement in statements:
            connection.execute(*((statement,) if isinstance(statement, str) else statement))
        connection.execute("COMMIT")


@attrs.frozen
class Contents:
    """What a database file says, whatever its bytes are.

    Attributes:
        schema: type, name, table and statement of every object.
        header: application id, layout, encoding.
        tables: by table, SHA-256 over its rows in the order in which they are stored.
        sound: what SQLite says of pages and indexes, ``ok`` where nothing is wrong.
    """

    schema: frozenset[Row]
    header: Row
    tables: dict[str, str]
    sound: str


def raw(path: Path) -> Connection:
    """Open a copy of a file; text comes as it is stored, damaged or not."""
    connection: Connection = sqlite3.connect(str(path), isolation_level=None)
    connection.text_factory = lambda stored: stored.decode("utf-8", "surrogateescape")
    return connection


def contents(path: Path) -> Contents | str:
    """What a copy of a file says, or why it cannot be read."""
    try:
        with closing(raw(path)) as connection:
            schema = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
            header = tuple(
                connection.execute(f"PRAGMA {word}").fetchone()[0]
                for word in ("application_id", "user_version", "encoding")
            )
            (sound,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
            tables = {name: _digest(connection, name) for kind, name, *_ in schema if kind == "table"}
            return Contents(frozenset(schema), header, tables, one_line(sound))
    except READ_ERRORS as error:
        return f"{type(error).__name__}: {error}"


def _digest(connection: Connection, table: str) -> str:
    digest = sha256()
    for row in connection.execute(f'SELECT * FROM "{table}"'):
        digest.update(repr(row).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def columns_of(path: Path) -> dict[str, dict[str, str]]:
    """By table, its columns with their declared types, of a copy of a file."""
    with closing(raw(path)) as connection:
        query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
        return {
            table: {row[1]: row[2] for row in connection.execute(f'PRAGMA table_info("{table}")')}
            for (table,) in connection.execute(query).fetchall()
        }


def objects_of(path: Path) -> list[tuple[str, str, str, str]]:
    """Type, name, table and statement of every object of a copy of a file; no statement where SQLite made it."""
    with closing(raw(path)) as connection:
        return connection.execute("SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master").fetchall()
