"""The two layouts of the people file: its tables, and how the first write upgrades a released file.

Files of both layouts are read as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.players import persons
from ledger.players.persons import SECRET_BYTES

if TYPE_CHECKING:
    import sqlite3


LAYOUT, RELEASED = 5, 1  # that is written now; that of release 0.1.0, whose files have the table ``people`` alone
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
# Reasons in the order in which they were stored, each with the key of the entry that commits to it.
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
_ADDED = (_RENAMING, _REASONS, _ERASING, _SECRET)
SCHEMA = PEOPLE + "".join(_ADDED)


def is_upgraded(connection: sqlite3.Connection) -> bool:
    """Return whether a people file has all current tables: one of release 0.1.0 has its people alone."""
    return bool(connection.execute("PRAGMA user_version").fetchone()[0] == LAYOUT)


def upgrade(connection: sqlite3.Connection) -> None:
    """Add the current tables to a people file of release 0.1.0, within the caller's transaction."""
    if not is_upgraded(connection):
        for table in _ADDED:
            connection.execute(table)
        keep_secret(connection, persons.new_secret())
        # It is in the header of the file: a rollback undoes it with the tables.
        connection.execute(f"PRAGMA user_version={LAYOUT}")


def keep_secret(connection: sqlite3.Connection, secret: bytes) -> None:
    """Store the secret of a people file, within the caller's transaction."""
    connection.execute("INSERT OR REPLACE INTO main.secret(number, secret) VALUES (1, ?)", (secret,))
