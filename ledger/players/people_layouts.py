"""The two layouts of the people file: its tables, how the first write upgrades a released file, how a reader sees it.

Files of both layouts are read as they are; the first write upgrades an old one. A reader may be unable to bring a
file to the state that the journal records. Then ``show`` puts a view before the table, for that connection alone:
names with a commitment that still wait for their players are read as theirs, and erased players are read as erased.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from ledger.players import persons
from ledger.players.persons import SECRET_BYTES

if TYPE_CHECKING:
    import sqlite3


LAYOUT, RELEASED = 5, 1  # that is written now; that of release 0.1.0, whose files have the table ``people`` alone
# Indexes of the words of names and of whole names (``sqlite_name_indexes``), which the first search makes.
SEARCH, FOLDS = "people_search", "people_folds"
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
    """Return whether a people file has the tables of today: a file of release 0.1.0 has its people alone."""
    return bool(connection.execute("PRAGMA user_version").fetchone()[0] == LAYOUT)


def upgrade(connection: sqlite3.Connection) -> None:
    """Give a people file of an earlier release the tables of today, within the caller's transaction."""
    if not is_upgraded(connection):
        for table in _ADDED:
            connection.execute(table)
        keep_secret(connection, persons.new_secret())
        # It is in the header of the file: a rollback undoes it with the tables.
        connection.execute(f"PRAGMA user_version={LAYOUT}")


def keep_secret(connection: sqlite3.Connection, secret: bytes) -> None:
    """Make it the secret of a people file, within the caller's transaction."""
    connection.execute("INSERT OR REPLACE INTO main.secret(number, secret) VALUES (1, ?)", (secret,))


def secret_of(connection: sqlite3.Connection) -> bytes | None:
    """Return the secret of a people file; None in one of release 0.1.0."""
    if not is_upgraded(connection):
        return None
    row = connection.execute("SELECT secret FROM main.secret").fetchone()
    return None if row is None else bytes(row[0])


_SEALED = "CREATE TEMP TABLE IF NOT EXISTS sealed_salts(salt BLOB PRIMARY KEY)"
_HIDDEN = "CREATE TEMP TABLE IF NOT EXISTS hidden_players(player INTEGER PRIMARY KEY)"
# A row that another process completes meanwhile is gone from the table, and the player's own row says the same.
_RENAMED = (
    "LEFT JOIN main.renaming AS r ON r.player = p.player AND p.salt IS NOT NULL "
    "AND r.salt IN (SELECT salt FROM temp.sealed_salts)"
)
# A file of release 0.1.0 has no such table: this join finds nothing, and the view stays one.
_AS_IT_STANDS = "LEFT JOIN (SELECT NULL AS player, NULL AS name, NULL AS salt) AS r ON r.player = p.player"
# SQLite looks for a name among temporary things first: a query of ``people`` reads this view, so every write says
# ``main.people``.
_VIEW = """
CREATE TEMP VIEW people AS
SELECT p.player, iif(h.player IS NULL, p.identity, NULL) AS identity,
  iif(h.player IS NULL, coalesce(r.name, p.name), NULL) AS name,
  iif(h.player IS NULL, coalesce(r.salt, p.salt), NULL) AS salt, p.joined_at
FROM main.people AS p LEFT JOIN temp.hidden_players AS h ON h.player = p.player {renamed}
"""


def show(connection: sqlite3.Connection, *, sealed: Iterable[bytes] = (), hidden: Iterable[int] = ()) -> None:
    """Read the people so from now on.

    Args:
        connection: to a people file.
        sealed: salts of the names that wait and that the journal sealed.
        hidden: numbers of those who were erased.
    """
    connection.execute(_SEALED)
    connection.execute(_HIDDEN)
    connection.executemany("INSERT OR IGNORE INTO temp.sealed_salts(salt) VALUES (?)", [(salt,) for salt in sealed])
    connection.executemany("INSERT OR IGNORE INTO temp.hidden_players VALUES (?)", [(player,) for player in hidden])
    connection.execute("DROP VIEW IF EXISTS temp.people")
    connection.execute(_VIEW.format(renamed=_RENAMED if is_upgraded(connection) else _AS_IT_STANDS))


Begin = Callable[[float | None], AbstractContextManager[None]]


class FilePart:
    """One group of tables in a people file, such as the names or the reasons.

    Attributes:
        path: the file as messages name it.
    """

    def __init__(self, path: str, connection: sqlite3.Connection, begin: Begin) -> None:
        """Take the people file.

        Args:
            path: as it is named in messages.
            connection: to it.
            begin: a write transaction on it that waits so many seconds for others, after which the file has the newest
                layout.
        """
        self.path = path
        self._connection = connection
        self._begin = begin

    def _writing(self, patience: float | None = None) -> AbstractContextManager[None]:
        return self._begin(patience)
