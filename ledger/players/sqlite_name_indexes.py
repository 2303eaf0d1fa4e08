"""The two indexes of names in a file of SQLite; ``name_indexes`` has the rules that are the same in every store."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from ledger.players.name_indexes import NameFolds, NameIndex, NameMatch, NameSearch
from ledger.runtime import sqlite

if TYPE_CHECKING:
    import sqlite3
from ledger.players.people_layouts import FOLDS, SEARCH, Begin, FilePart

_LATER = "SELECT player, name FROM main.people WHERE player > ? AND name IS NOT NULL ORDER BY player LIMIT ?"
_STORED = "SELECT player, name FROM main.people WHERE player IN (SELECT value FROM json_each(?)) AND name IS NOT NULL"


class SqliteNameIndex(FilePart, NameIndex):
    """One index in one people file.

    A class says its ``TABLE``, the column of its ``NUMBER`` and of what it holds (``HELD``), the statement for the
    highest number that it has ``REACHED``, and how it is made.
    """

    TABLE: ClassVar[str]
    NUMBER: ClassVar[str]
    HELD: ClassVar[str]
    REACHED: ClassVar[str]

    @staticmethod
    def statements() -> tuple[str, ...]:
        """Return the statements that make the index."""
        raise NotImplementedError

    def _exists(self) -> bool:
        row = self._connection.execute(f"SELECT 1 FROM main.sqlite_master WHERE name = '{self.TABLE}'").fetchone()
        return row is not None

    def reached(self) -> int:
        """Return the highest number in the index; 0 if there is none."""
        if not self._exists():
            return 0
        return int(self._connection.execute(self.REACHED).fetchone()[0])

    def _later(self, player: int, most: int) -> list[tuple[int, str]]:
        return self._connection.execute(_LATER, (player, most)).fetchall()

    def _stored(self, players: Sequence[int]) -> list[tuple[int, str]]:
        return self._connection.execute(_STORED, (json.dumps(players),)).fetchall()

    def _enter(self, forms: Iterable[tuple[int, str]]) -> None:
        if not self._exists():
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
    """The players who have a whole name, in one people file."""

    TABLE, NUMBER, HELD = FOLDS, "player", "name"
    REACHED = f"SELECT coalesce(max(player), 0) FROM main.{FOLDS}"

    def __init__(
        self, path: str, connection: sqlite3.Connection, begin: Begin, pending: Callable[[], Iterable[int]]
    ) -> None:
        """Take the people file, and the function that lists players with pending names."""
        super().__init__(path, connection, begin)
        self._players_pending = pending

    @staticmethod
    def statements() -> tuple[str, ...]:
        """Return a table and its index."""
        return (
            f"CREATE TABLE main.{FOLDS}(player INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT",
            f"CREATE INDEX main.{FOLDS}_by_name ON {FOLDS}(name)",
        )

    def _pending(self) -> Iterable[int]:
        return self._players_pending()

    def _names(self, player: int) -> list[tuple[int, str]]:
        return self._connection.execute(_ALL, (player,)).fetchall()

    def _indexed(self, forms: Sequence[str]) -> Iterable[int]:
        return [player for (player,) in self._connection.execute(_INDEXED, (json.dumps(forms),))]

    def _names_of(self, players: Sequence[int]) -> list[tuple[int, str]]:
        return self._connection.execute(_SOME, (json.dumps(players),)).fetchall()


SECURE_DELETE_SINCE = (3, 42, 0)  # the SQLite that takes deleted words out of the index at once
_FOUND = (
    f"SELECT p.player, p.identity, p.name FROM main.{SEARCH} AS s JOIN people AS p ON p.player = s.rowid "
    "WHERE s.words MATCH ? AND p.name IS NOT NULL"
)
_REST = "SELECT player, identity, name FROM people WHERE player > ? AND name IS NOT NULL"


class SqliteNameSearch(SqliteNameIndex, NameSearch):
    """The search by a part of a name in one people file: FTS5, whose trigrams are three letters on end."""

    TABLE, NUMBER, HELD = SEARCH, "rowid", "words"
    # FTS5 keeps the rows in this table of its own, by number: the highest is one look-up.
    REACHED = f"SELECT coalesce(max(id), 0) FROM main.{SEARCH}_content"

    @staticmethod
    def statements() -> tuple[str, ...]:
        """Return a table of trigrams, which forgets deleted words at once where SQLite can."""
        create = f"CREATE VIRTUAL TABLE main.{SEARCH} USING fts5(words, tokenize = 'trigram case_sensitive 1')"
        # FTS5 writes a mark for a deleted word and keeps the word until segments are merged, unless this option is set.
        secure = f"INSERT INTO main.{SEARCH}({SEARCH}, rank) VALUES ('secure-delete', 1)"
        return (create, secure) if sqlite.sqlite3.sqlite_version_info >= SECURE_DELETE_SINCE else (create,)

    def take_out(self, players: Sequence[int]) -> None:
        """Act as ``NameIndex`` requires; if deleted words would stay, the next search rebuilds the index."""
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
        return list(map(NameMatch._make, self._connection.execute(query, (argument,))))
