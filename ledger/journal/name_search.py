"""Search by a part of a name, by an index of three letters on end (FTS5, trigrams) that stands beside the people.

The index follows from the names: the first search makes it, each later one adds who came since, so that recording
players costs nothing more. Renaming and erasing take the old name out of it in their own transaction, and its old bytes
with it. Where it cannot be written, or lacks players, the names themselves are read. A file without it is whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING, NamedTuple

from ledger.errors import LedgerError, MalformedError
from ledger.facts.person_names import folded
from ledger.journal.people_layouts import SEARCH, SEARCH_SINCE, layout
from ledger.runtime import sqlite

if TYPE_CHECKING:
    import sqlite3

SHORTEST = 3  # letters of a part that is searched by the index
SECURE_DELETE_SINCE = (3, 42, 0)  # the SQLite that takes deleted words out of the index at once
_PATIENCE = 1.0  # seconds to wait for another writer
_CHUNK = 100_000  # names that enter the index in one transaction
_FEW = 2_000  # names that are looked through rather than brought into the index
_THERE = f"SELECT 1 FROM main.sqlite_master WHERE name = '{SEARCH}'"
_CREATE = f"CREATE VIRTUAL TABLE main.{SEARCH} USING fts5(words, tokenize = 'trigram case_sensitive 1')"
_SECURE = f"INSERT INTO main.{SEARCH}({SEARCH}, rank) VALUES ('secure-delete', 1)"
_REACHED = f"SELECT coalesce(max(id), 0) FROM main.{SEARCH}_content"
_LATER = "SELECT player, name FROM main.people WHERE player > ? AND name IS NOT NULL ORDER BY player LIMIT ?"
_INSERT = f"INSERT INTO main.{SEARCH}(rowid, words) VALUES (?, ?)"
_DELETE = f"DELETE FROM main.{SEARCH} WHERE rowid = ?"
_NAME = "SELECT name FROM main.people WHERE player = ?"
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


def take_out(connection: sqlite3.Connection, players: Iterable[int]) -> None:
    """Take the names of players out of the index, within the caller's transaction; who is named still enters anew.

    Args:
        connection: to the people file, whose rows of these players are changed already.
        players: their numbers.
    """
    if not connection.execute(_THERE).fetchone():
        return
    if sqlite.sqlite3.sqlite_version_info < SECURE_DELETE_SINCE:  # old words would stay: the next search makes it anew
        connection.execute(f"DROP TABLE main.{SEARCH}")
        return
    (reached,) = connection.execute(_REACHED).fetchone()
    for player in players:
        connection.execute(_DELETE, (player,))
        row = connection.execute(_NAME, (player,)).fetchone()
        if row is not None and row[0] is not None and player <= reached:
            connection.execute(_INSERT, (player, in_words(row[0])))


class NameSearch:
    """The search in one people file."""

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
        self._bring_up()
        with sqlite.storage_errors(self._path):
            found = self._matches(words)
        begins = part.strip().casefold()
        return sorted(found, key=lambda match: (not match.name.casefold().startswith(begins), match.name, match.player))

    def _matches(self, words: Sequence[str]) -> list[Match]:
        if not self._is_there():
            found, rest = [], self._rows(_REST, 0)
        else:
            (reached,) = self._connection.execute(_REACHED).fetchone()
            asked = " AND ".join(f'"{word}"' for word in words if len(word) >= SHORTEST)
            found, rest = self._rows(_FOUND, asked), self._rows(_REST, reached)
            if min(map(len, words)) < SHORTEST:
                found, rest = [], [*found, *rest]
        return found + [match for match in rest if _has(in_words(match.name), words)]

    def _rows(self, query: str, argument: object) -> list[Match]:
        return list(map(Match._make, self._connection.execute(query, (argument,))))

    def _is_there(self) -> bool:
        return layout(self._connection) >= SEARCH_SINCE and self._connection.execute(_THERE).fetchone() is not None

    def _bring_up(self) -> None:
        """Take who came since into the index, if they are many; where the file cannot be written they are read."""
        with suppress(LedgerError):
            while self._lacks_many():
                with self._writing(_PATIENCE):
                    self._take_in()

    def _lacks_many(self) -> bool:
        with sqlite.storage_errors(self._path):
            reached = self._connection.execute(_REACHED).fetchone()[0] if self._is_there() else 0
            return len(self._connection.execute(_LATER, (reached, _FEW + 1)).fetchall()) > _FEW

    def _take_in(self) -> None:
        if not self._connection.execute(_THERE).fetchone():
            self._connection.execute(_CREATE)
            if sqlite.sqlite3.sqlite_version_info >= SECURE_DELETE_SINCE:
                self._connection.execute(_SECURE)
        (reached,) = self._connection.execute(_REACHED).fetchone()
        rows = self._connection.execute(_LATER, (reached, _CHUNK)).fetchall()
        self._connection.executemany(_INSERT, ((player, in_words(name)) for player, name in rows))


def _has(text: str, words: Sequence[str]) -> bool:
    return all(word in text for word in words)
