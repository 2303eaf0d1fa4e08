"""Editing a ledger's files behind its back, as somebody does who knows SQLite and the guards."""

from contextlib import closing
from pathlib import Path

from ledger.runtime import sqlite

Statement = str | tuple[str, tuple[object, ...]]


def edit(path: Path, *statements: Statement) -> None:
    """Take the guards away, change the file, and put those back whose table still stands; no pragma of ours is set."""
    with closing(sqlite.sqlite3.connect(path)) as connection, connection:
        query = "SELECT name, tbl_name, sql FROM sqlite_master WHERE type = 'trigger'"
        guards = connection.execute(query).fetchall()
        for name, _, _ in guards:
            connection.execute(f'DROP TRIGGER "{name}"')
        for statement in statements:
            connection.execute(*((statement,) if isinstance(statement, str) else statement))
        standing = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        for _, table, sql in guards:
            if table in standing:
                connection.execute(sql)


def execute(path: Path, *statements: Statement) -> None:
    """Run statements on the file as any other program would, its guards in force."""
    with closing(sqlite.sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(*((statement,) if isinstance(statement, str) else statement))


def run_sql(path: Path, *statements: str) -> None:
    with closing(sqlite.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
