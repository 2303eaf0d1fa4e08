"""The layouts of the people file: its tables, and how an older file is brought up. What the rows mean is not said here.

Files of every layout are read as they are; the first write brings one to the newest.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

LAYOUT = 5
OLDEST_LAYOUT = 1
SALT_BYTES, SECRET_BYTES = 16, 32
RENAMINGS_SINCE = 2
REASONS_SINCE = ERASURES_SINCE = 3
# From then on a file may have an index of the words of names (see ``name_search``), which the first search makes: a
# program that knows nothing of it must not write to the names.
SEARCH_SINCE, SEARCH = 4, "people_search"
FOLDS_SINCE, FOLDS = 5, "people_folds"  # likewise an index of whole names (see ``name_folds``)
SECRET_SINCE = 5
PEOPLE = """
CREATE TABLE people(
  player INTEGER PRIMARY KEY,
  identity TEXT UNIQUE,
  name TEXT,
  salt BLOB,
  joined_at TEXT NOT NULL
) STRICT;
"""
_RENAMING = """
CREATE TABLE renaming(
  player INTEGER PRIMARY KEY,
  number INTEGER NOT NULL,
  name TEXT NOT NULL,
  salt BLOB NOT NULL
) STRICT;
"""
# Reasons in the order in which they were kept, each with the key of the entry that seals it.
_REASONS = """
CREATE TABLE reasons(
  number INTEGER PRIMARY KEY,
  commitment TEXT NOT NULL UNIQUE,
  entry TEXT NOT NULL,
  salt BLOB,
  text TEXT
) STRICT;
"""
# Players who are forgotten, until that is recorded and their old bytes are gone; and who had them forgotten.
_ERASING = """
CREATE TABLE erasing(
  player INTEGER PRIMARY KEY,
  actor TEXT NOT NULL
) STRICT;
"""
# Under which the keys that are made of the facts of games are hashed: without it no name can be tried against them.
_SECRET = f"""
CREATE TABLE secret(
  number INTEGER PRIMARY KEY CHECK(number = 1),
  secret BLOB NOT NULL CHECK(length(secret) = {SECRET_BYTES})
) STRICT;
"""
SCHEMA = PEOPLE + _RENAMING + _REASONS + _ERASING + _SECRET
_ADDED = {RENAMINGS_SINCE: (_RENAMING,), REASONS_SINCE: (_REASONS, _ERASING), SECRET_SINCE: (_SECRET,)}


def layout(connection: sqlite3.Connection) -> int:
    """The layout of a people file."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def bring_up(connection: sqlite3.Connection) -> None:
    """Bring a people file to the newest layout, within the caller's transaction."""
    found = layout(connection)
    if found < LAYOUT:
        for number, tables in _ADDED.items():
            for table in tables if found < number else ():
                connection.execute(table)
        if found < SECRET_SINCE:
            keep_secret(connection, new_secret())
        connection.execute(f"PRAGMA user_version={LAYOUT}")


def new_secret() -> bytes:
    """A secret for one ledger."""
    return secrets.token_bytes(SECRET_BYTES)


def keep_secret(connection: sqlite3.Connection, secret: bytes) -> None:
    """Make it the secret of a people file, within the caller's transaction."""
    connection.execute("INSERT OR REPLACE INTO main.secret(number, secret) VALUES (1, ?)", (secret,))


def secret_of(connection: sqlite3.Connection) -> bytes | None:
    """The secret of a people file; None in one of an earlier layout."""
    if layout(connection) < SECRET_SINCE:
        return None
    row = connection.execute("SELECT secret FROM main.secret").fetchone()
    return None if row is None else bytes(row[0])
