"""The layouts of the people file: its tables and name indexes, how an older file is brought up, how a reader sees it.

Files of every layout are read as they are; the first write brings one to the newest. For a reader who cannot bring a
file to the state that the journal tells, ``show`` puts a view before the table, for that connection alone: names that
were sealed and still wait for their players are read as theirs, who was erased is read as erased.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, ClassVar

from ledger.players import people
from ledger.players.name_indexes import NameFolds, NameIndex, NameMatch, NameSearch
from ledger.players.people import SECRET_BYTES
from ledger.runtime import sqlite

if TYPE_CHECKING:
    import sqlite3

LAYOUT = 5
OLDEST_LAYOUT = 1
RENAMINGS_SINCE = 2
REASONS_SINCE = ERASURES_SINCE = 3
# From then on a file may have an index of the words of names (``SqliteNameSearch``), which the first search makes: a
# program that knows nothing of it must not write to the names.
SEARCH_SINCE, SEARCH = 4, "people_search"
FOLDS_SINCE, FOLDS = 5, "people_folds"  # likewise an index of whole names (``SqliteNameFolds``)
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
    number = layout(connection)
    if number < LAYOUT:
        for since, tables in _ADDED.items():
            for table in tables if number < since else ():
                connection.execute(table)
        if number < SECRET_SINCE:
            keep_secret(connection, people.new_secret())
        # It stands in the header of the file: with the transaction it is undone.
        connection.execute(f"PRAGMA user_version={LAYOUT}")


def keep_secret(connection: sqlite3.Connection, secret: bytes) -> None:
    """Make it the secret of a people file, within the caller's transaction."""
    connection.execute("INSERT OR REPLACE INTO main.secret(number, secret) VALUES (1, ?)", (secret,))


def secret_of(connection: sqlite3.Connection) -> bytes | None:
    """The secret of a people file; None in one of an earlier layout."""
    if layout(connection) < SECRET_SINCE:
        return None
    row = connection.execute("SELECT secret FROM main.secret").fetchone()
    return None if row is None else bytes(row[0])


_SEALED = "CREATE TEMP TABLE IF NOT EXISTS sealed_salts(salt BLOB PRIMARY KEY)"
_HIDDEN = "CREATE TEMP TABLE IF NOT EXISTS hidden_players(player INTEGER PRIMARY KEY)"
# A row that somebody else brings to its end meanwhile is gone from the table, and the player's own row says the same.
_RENAMED = (
    "LEFT JOIN main.renaming AS r ON r.player = p.player AND p.salt IS NOT NULL "
    "AND r.salt IN (SELECT salt FROM temp.sealed_salts)"
)
# A file of the first layout has no such table: this join finds nothing, and the view stays one.
_AS_IT_STANDS = "LEFT JOIN (SELECT NULL AS player, NULL AS name, NULL AS salt) AS r ON r.player = p.player"
# SQLite looks for a name among temporary things first: whoever asks for ``people`` reads this view, and so whatever is
# to be written says ``main.people``.
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
    has_renamings = layout(connection) >= RENAMINGS_SINCE
    connection.execute(_VIEW.format(renamed=_RENAMED if has_renamings else _AS_IT_STANDS))


Begin = Callable[[float | None], AbstractContextManager[None]]


class FilePart:
    """What has one subject in a people file.

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


# Two indexes of the names: what is the same in every store is told in ``name_indexes``.

_LATER = "SELECT player, name FROM main.people WHERE player > ? AND name IS NOT NULL ORDER BY player LIMIT ?"
_STORED = "SELECT player, name FROM main.people WHERE player IN (SELECT value FROM json_each(?)) AND name IS NOT NULL"


class SqliteNameIndex(FilePart, NameIndex):
    """One index in one people file.

    A class says its ``TABLE``, the column of its ``NUMBER`` and of what it holds (``HELD``), the layout ``SINCE`` which
    a file may have it, the statement for the highest number that it has ``REACHED``, and how it is made.
    """

    TABLE: ClassVar[str]
    NUMBER: ClassVar[str]
    HELD: ClassVar[str]
    SINCE: ClassVar[int]
    REACHED: ClassVar[str]

    @staticmethod
    def statements() -> tuple[str, ...]:
        """What makes the index."""
        raise NotImplementedError

    def _stands(self) -> bool:
        row = self._connection.execute(f"SELECT 1 FROM main.sqlite_master WHERE name = '{self.TABLE}'").fetchone()
        return row is not None

    def reached(self) -> int:
        """The highest number in the index; 0 where there is none, or the file is too old to have one."""
        with sqlite.storage_errors(self.path):
            if layout(self._connection) < self.SINCE or not self._stands():
                return 0
            return int(self._connection.execute(self.REACHED).fetchone()[0])

    def _later(self, player: int, most: int) -> list[tuple[int, str]]:
        with sqlite.storage_errors(self.path):
            return self._connection.execute(_LATER, (player, most)).fetchall()

    def _stored(self, players: Sequence[int]) -> list[tuple[int, str]]:
        return self._connection.execute(_STORED, (json.dumps(players),)).fetchall()

    def _enter(self, forms: Iterable[tuple[int, str]]) -> None:
        if not self._stands():
            for statement in self.statements():
                self._connection.execute(statement)
        insert = f"INSERT INTO main.{self.TABLE}({self.NUMBER}, {self.HELD}) VALUES (?, ?)"
        self._connection.executemany(insert, forms)

    def _leave(self, players: Sequence[int]) -> None:
        delete = f"DELETE FROM main.{self.TABLE} WHERE {self.NUMBER} = ?"
        self._connection.executemany(delete, [(player,) for player in players])


_ALL = "SELECT player, name FROM people NOT INDEXED WHERE name IS NOT NULL AND player > ? ORDER BY player"
_INDEXED = f"SELECT player FROM main.{FOLDS} WHERE name IN (SELECT value FROM json_each(?))"
_SOME = "SELECT player, name FROM people WHERE name IS NOT NULL AND player IN (SELECT value FROM json_each(?))"


class SqliteNameFolds(SqliteNameIndex, NameFolds):
    """Who bears which whole name in one people file."""

    TABLE, NUMBER, HELD, SINCE = FOLDS, "player", "name", FOLDS_SINCE
    REACHED = f"SELECT coalesce(max(player), 0) FROM main.{FOLDS}"

    def __init__(
        self, path: str, connection: sqlite3.Connection, begin: Begin, pending: Callable[[], Iterable[int]]
    ) -> None:
        """Take the people file, and what tells the players for whom names wait."""
        super().__init__(path, connection, begin)
        self._players_pending = pending

    @staticmethod
    def statements() -> tuple[str, ...]:
        """A table and its index."""
        return (
            f"CREATE TABLE main.{FOLDS}(player INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT",
            f"CREATE INDEX main.{FOLDS}_by_name ON {FOLDS}(name)",
        )

    def _pending(self) -> Iterable[int]:
        return self._players_pending()

    def _names(self, player: int) -> list[tuple[int, str]]:
        with sqlite.storage_errors(self.path):
            return self._connection.execute(_ALL, (player,)).fetchall()

    def _indexed(self, forms: Sequence[str]) -> Iterable[int]:
        with sqlite.storage_errors(self.path):
            return [player for (player,) in self._connection.execute(_INDEXED, (json.dumps(forms),))]

    def _names_of(self, players: Sequence[int]) -> list[tuple[int, str]]:
        with sqlite.storage_errors(self.path):
            return self._connection.execute(_SOME, (json.dumps(players),)).fetchall()


SECURE_DELETE_SINCE = (3, 42, 0)  # the SQLite that takes deleted words out of the index at once
_FOUND = (
    f"SELECT p.player, p.identity, p.name FROM main.{SEARCH} AS s JOIN people AS p ON p.player = s.rowid "
    "WHERE s.words MATCH ? AND p.name IS NOT NULL"
)
_REST = "SELECT player, identity, name FROM people WHERE player > ? AND name IS NOT NULL"


class SqliteNameSearch(SqliteNameIndex, NameSearch):
    """The search by a part of a name in one people file: FTS5, whose trigrams are three letters on end."""

    TABLE, NUMBER, HELD, SINCE = SEARCH, "rowid", "words", SEARCH_SINCE
    # FTS5 keeps the rows in this table of its own, by number: the highest is one look-up.
    REACHED = f"SELECT coalesce(max(id), 0) FROM main.{SEARCH}_content"

    @staticmethod
    def statements() -> tuple[str, ...]:
        """A table of trigrams, which forgets deleted words at once where SQLite can."""
        create = f"CREATE VIRTUAL TABLE main.{SEARCH} USING fts5(words, tokenize = 'trigram case_sensitive 1')"
        # FTS5 writes a mark for a deleted word and keeps the word until segments are merged, unless it is told so.
        secure = f"INSERT INTO main.{SEARCH}({SEARCH}, rank) VALUES ('secure-delete', 1)"
        return (create, secure) if sqlite.sqlite3.sqlite_version_info >= SECURE_DELETE_SINCE else (create,)

    def take_out(self, players: Sequence[int]) -> None:
        """As of ``NameIndex``; where deleted words would stay, the next search makes the index anew."""
        if sqlite.sqlite3.sqlite_version_info < SECURE_DELETE_SINCE:
            self._connection.execute(f"DROP TABLE IF EXISTS main.{SEARCH}")
        else:
            super().take_out(players)

    def _after(self, player: int) -> list[NameMatch]:
        return self._matching(_REST, player)

    def _holding(self, words: Sequence[str]) -> list[NameMatch]:
        # In quotation marks: AND, OR, NOT and NEAR are words of FTS5's language, and may be parts of names.
        return self._matching(_FOUND, " AND ".join(f'"{word}"' for word in words))

    def _matching(self, query: str, argument: object) -> list[NameMatch]:
        with sqlite.storage_errors(self.path):
            return list(map(NameMatch._make, self._connection.execute(query, (argument,))))
