"""The layouts of the people file: its tables and name indexes, how an older file is brought up, how a reader sees it.

Files of every layout are read as they are; the first write brings one to the newest. For a reader who cannot bring a
file to the state that the journal tells, ``show`` puts a view before the table, for that connection alone: names that
were sealed and still wait for their players are read as theirs, who was erased is read as erased.
"""

from __future__ import annotations

import json
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from ledger.errors import LedgerError, MalformedError
from ledger.facts.person_names import folded
from ledger.runtime import sqlite

if TYPE_CHECKING:
    import sqlite3

LAYOUT = 5
OLDEST_LAYOUT = 1
SALT_BYTES, SECRET_BYTES = 16, 32
RENAMINGS_SINCE = 2
REASONS_SINCE = ERASURES_SINCE = 3
# From then on a file may have an index of the words of names (``NameSearch``), which the first search makes: a
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
    number = layout(connection)
    if number < LAYOUT:
        for since, tables in _ADDED.items():
            for table in tables if number < since else ():
                connection.execute(table)
        if number < SECRET_SINCE:
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


_SEALED = "CREATE TEMP TABLE IF NOT EXISTS sealed_salts(salt BLOB PRIMARY KEY)"
_HIDDEN = "CREATE TEMP TABLE IF NOT EXISTS hidden_players(player INTEGER PRIMARY KEY)"
# A row that somebody else brings to its end meanwhile is gone from the table, and the player's own row says the same.
_RENAMED = (
    "LEFT JOIN main.renaming AS r ON r.player = p.player AND p.salt IS NOT NULL "
    "AND r.salt IN (SELECT salt FROM temp.sealed_salts)"
)
# A file of the first layout has no such table: this join finds nothing, and the view stays one.
_AS_IT_STANDS = "LEFT JOIN (SELECT NULL AS player, NULL AS name, NULL AS salt) AS r ON r.player = p.player"
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


# Two indexes of the names that stand beside the people: whole names, whatever the case of letters, and parts of
# names.
#
# An index follows from the names: the first who asks in a file of many people makes it, each later one adds who came
# since, so that recording players costs nothing more. Renaming and erasing take the old name out of it in their own
# transaction. Where it cannot be written, or lacks players, the names themselves are read. A file without it is
# whole.

_PATIENCE = 1.0  # seconds to wait for another writer
_CHUNK = 100_000  # names that enter the index in one transaction
_FEW = 2_000  # names that are read each time rather than brought into the index
_LATER = "SELECT player, name FROM main.people WHERE player > ? AND name IS NOT NULL ORDER BY player LIMIT ?"
_NAME = "SELECT name FROM main.people WHERE player = ?"


class NameIndex(ABC):
    """One index in one people file.

    A class says its ``TABLE``, the column of its ``NUMBER`` and of what it holds (``HELD``), the layout ``SINCE`` which
    a file may have it, the statement for the highest number that it has ``REACHED``, and how it is made.
    """

    TABLE: ClassVar[str]
    NUMBER: ClassVar[str]
    HELD: ClassVar[str]
    SINCE: ClassVar[int]
    REACHED: ClassVar[str]

    def __init__(
        self, path: str, connection: sqlite3.Connection, writing: Callable[[float], AbstractContextManager[None]]
    ) -> None:
        """Take the people file.

        Args:
            path: as it is named in messages.
            connection: to it.
            writing: a write transaction on it that waits so many seconds for others.
        """
        self._path = path
        self._connection = connection
        self._writing = writing

    @staticmethod
    @abstractmethod
    def form(name: str) -> str:
        """What the index holds of a name."""

    @staticmethod
    @abstractmethod
    def statements() -> tuple[str, ...]:
        """What makes the index."""

    @classmethod
    def take_out(cls, connection: sqlite3.Connection, players: Iterable[int]) -> None:
        """Take names out of the index, within the caller's transaction; who is named still enters anew.

        Args:
            connection: to the people file, whose rows of these players are changed already.
            players: their numbers.
        """
        if not cls._stands(connection):
            return
        (reached,) = connection.execute(cls.REACHED).fetchone()
        for player in players:
            connection.execute(f"DELETE FROM main.{cls.TABLE} WHERE {cls.NUMBER} = ?", (player,))
            row = connection.execute(_NAME, (player,)).fetchone()
            # Whoever is beyond what the index reached enters with the others: taken in now, those between would be
            # passed over.
            if row is not None and row[0] is not None and player <= reached:
                connection.execute(cls._insert(), (player, cls.form(row[0])))

    @classmethod
    def _stands(cls, connection: sqlite3.Connection) -> bool:
        row = connection.execute(f"SELECT 1 FROM main.sqlite_master WHERE name = '{cls.TABLE}'").fetchone()
        return row is not None

    @classmethod
    def _insert(cls) -> str:
        return f"INSERT INTO main.{cls.TABLE}({cls.NUMBER}, {cls.HELD}) VALUES (?, ?)"

    def reached(self) -> int:
        """The highest number in the index; 0 where there is none, or the file is too old to have one."""
        if layout(self._connection) < self.SINCE or not self._stands(self._connection):
            return 0
        return int(self._connection.execute(self.REACHED).fetchone()[0])

    def lacks_many(self) -> bool:
        """Whether so many names are not in the index that whoever asks it reads many."""
        with sqlite.storage_errors(self._path):
            return len(self._connection.execute(_LATER, (self.reached(), _FEW + 1)).fetchall()) > _FEW

    def bring_up(self) -> None:
        """Take who came since into the index, if they are many; where the file cannot be written they are read."""
        with suppress(LedgerError):
            while self.lacks_many():
                with self._writing(_PATIENCE):
                    if not self._stands(self._connection):
                        for statement in self.statements():
                            self._connection.execute(statement)
                    rows = self._connection.execute(_LATER, (self.reached(), _CHUNK)).fetchall()
                    self._connection.executemany(self._insert(), ((player, self.form(name)) for player, name in rows))


_ALL = "SELECT player, name FROM people NOT INDEXED WHERE name IS NOT NULL AND player > ? ORDER BY player"
_INDEXED = f"SELECT player FROM main.{FOLDS} WHERE name IN (SELECT value FROM json_each(?))"
_SOME = (
    "SELECT player, name FROM people "
    "WHERE name IS NOT NULL AND player IN (SELECT value FROM json_each(?)) AND player <= ?"
)


def fold(name: str) -> str:
    """A name as it is compared: in small letters, with single blanks."""
    return " ".join(name.lower().split())


class NameFolds(NameIndex):
    """Who bears which whole name in one people file."""

    TABLE, NUMBER, HELD, SINCE = FOLDS, "player", "name", FOLDS_SINCE
    REACHED = f"SELECT coalesce(max(player), 0) FROM main.{FOLDS}"

    def __init__(
        self,
        path: str,
        connection: sqlite3.Connection,
        writing: Callable[[float], AbstractContextManager[None]],
        pending: Callable[[], Iterable[int]],
    ) -> None:
        """Take the people file as ``NameIndex`` does.

        For the players of *pending* names wait, which may be shown as theirs already (see ``shown_names``).
        """
        super().__init__(path, connection, writing)
        self._pending = pending

    @staticmethod
    def form(name: str) -> str:
        """The folded name."""
        return fold(name)

    @staticmethod
    def statements() -> tuple[str, ...]:
        """A table and its index."""
        return (
            f"CREATE TABLE main.{FOLDS}(player INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT",
            f"CREATE INDEX main.{FOLDS}_by_name ON {FOLDS}(name)",
        )

    def everybody(self) -> dict[str, list[int]]:
        """By folded name, the numbers of all who bear it, ascending; all names are read."""
        with sqlite.storage_errors(self._path):
            return _by_name(self._connection.execute(_ALL, (0,)))

    def bearers(self, names: Iterable[str]) -> dict[str, list[int]]:
        """The same of some names, folded; names that nobody bears are left out."""
        forms = list(names)
        with sqlite.storage_errors(self._path):
            reached = self.reached()
            rows = self._connection.execute(_ALL, (reached,)).fetchall()
            if reached:
                indexed = self._connection.execute(_INDEXED, (json.dumps(forms),)).fetchall()
                numbers = {player for (player,) in indexed}.union(self._pending())
                rows += self._connection.execute(_SOME, (json.dumps(list(numbers)), reached)).fetchall()
        bearers = _by_name(sorted(rows))
        return {name: bearers[name] for name in forms if name in bearers}


def _by_name(rows: Iterable[tuple[int, str]]) -> dict[str, list[int]]:
    bearers: dict[str, list[int]] = {}
    for player, name in rows:
        bearers.setdefault(fold(name), []).append(player)
    return bearers


SHORTEST = 3  # letters of a part that is searched by the index
SECURE_DELETE_SINCE = (3, 42, 0)  # the SQLite that takes deleted words out of the index at once
_FOUND = (
    f"SELECT p.player, p.identity, p.name FROM main.{SEARCH} AS s JOIN people AS p ON p.player = s.rowid "
    "WHERE s.words MATCH ? AND p.name IS NOT NULL"
)
_REST = "SELECT player, identity, name FROM people WHERE player > ? AND name IS NOT NULL"


class Match(NamedTuple):
    """A player whose name was found."""

    player: int
    identity: str
    name: str


def in_words(name: str) -> str:
    """A name as the index has it: its words without case and accents, divided by blanks."""
    return " ".join(folded(name).words)


class NameSearch(NameIndex):
    """The search by a part of a name in one people file: an index of three letters on end (FTS5, trigrams)."""

    TABLE, NUMBER, HELD, SINCE = SEARCH, "rowid", "words", SEARCH_SINCE
    # FTS5 keeps the rows in this table of its own, by number: the highest is one look-up.
    REACHED = f"SELECT coalesce(max(id), 0) FROM main.{SEARCH}_content"

    @staticmethod
    def form(name: str) -> str:
        """The words of the name."""
        return in_words(name)

    @staticmethod
    def statements() -> tuple[str, ...]:
        """A table of trigrams, which forgets deleted words at once where SQLite can."""
        # The words are folded before they enter the index, so that it need not fold them by rules of its own.
        create = f"CREATE VIRTUAL TABLE main.{SEARCH} USING fts5(words, tokenize = 'trigram case_sensitive 1')"
        # FTS5 writes a mark for a deleted word and keeps the word until segments are merged, unless it is told so.
        secure = f"INSERT INTO main.{SEARCH}({SEARCH}, rank) VALUES ('secure-delete', 1)"
        return (create, secure) if sqlite.sqlite3.sqlite_version_info >= SECURE_DELETE_SINCE else (create,)

    @classmethod
    def take_out(cls, connection: sqlite3.Connection, players: Iterable[int]) -> None:
        """As of ``NameIndex``; where deleted words would stay, the next search makes the index anew."""
        if sqlite.sqlite3.sqlite_version_info < SECURE_DELETE_SINCE:
            connection.execute(f"DROP TABLE IF EXISTS main.{SEARCH}")
        else:
            super().take_out(connection, players)

    def find(self, part: str) -> list[Match]:
        """Who has a name with all words of *part* in it, or parts of words; case and accents do not count.

        Names that begin with *part* come first, each in the order of the names.

        Args:
            part: of a name; one of its words has three letters or more.

        Raises:
            MalformedError: no word of it is long enough.
        """
        words = folded(part[:1_000]).words
        if not any(len(word) >= SHORTEST for word in words):
            message = f"search {part[:60]!r}: give {SHORTEST} letters on end or more; a whole name is found by 'show'"
            raise MalformedError([message])
        self.bring_up()
        with sqlite.storage_errors(self._path):
            matches = self._matches(words)
        begins = part.strip().casefold()
        return sorted(
            matches, key=lambda match: (not match.name.casefold().startswith(begins), match.name, match.player)
        )

    def _matches(self, words: Sequence[str]) -> list[Match]:
        reached = self.reached()
        matches, rest = list[Match](), self._rows(_REST, reached)
        if reached:
            long = " AND ".join(f'"{word}"' for word in words if len(word) >= SHORTEST)
            matches = self._rows(_FOUND, long)
            # trigrams know nothing of a word of two letters
            if min(map(len, words)) < SHORTEST:
                matches, rest = [], [*matches, *rest]
        return matches + [match for match in rest if all(word in in_words(match.name) for word in words)]

    def _rows(self, query: str, argument: object) -> list[Match]:
        return list(map(Match._make, self._connection.execute(query, (argument,))))
