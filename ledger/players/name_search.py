"""Search by a part of a name, by an index of three letters on end (FTS5, trigrams).

How it is made and kept, ``name_index`` says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ledger.errors import MalformedError
from ledger.facts.person_names import folded
from ledger.players.name_index import NameIndex
from ledger.players.people_layouts import SEARCH, SEARCH_SINCE
from ledger.runtime import sqlite

if TYPE_CHECKING:
    import sqlite3

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
    """The search in one people file."""

    TABLE, NUMBER, HELD, SINCE = SEARCH, "rowid", "words", SEARCH_SINCE
    REACHED = f"SELECT coalesce(max(id), 0) FROM main.{SEARCH}_content"

    @staticmethod
    def form(name: str) -> str:
        """The words of the name."""
        return in_words(name)

    @staticmethod
    def statements() -> tuple[str, ...]:
        """A table of trigrams, which forgets deleted words at once where SQLite can."""
        create = f"CREATE VIRTUAL TABLE main.{SEARCH} USING fts5(words, tokenize = 'trigram case_sensitive 1')"
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
            found = self._matches(words)
        begins = part.strip().casefold()
        return sorted(found, key=lambda match: (not match.name.casefold().startswith(begins), match.name, match.player))

    def _matches(self, words: Sequence[str]) -> list[Match]:
        reached = self.reached()
        if not reached:
            found, rest = [], self._rows(_REST, 0)
        else:
            asked = " AND ".join(f'"{word}"' for word in words if len(word) >= SHORTEST)
            found, rest = self._rows(_FOUND, asked), self._rows(_REST, reached)
            if min(map(len, words)) < SHORTEST:
                found, rest = [], [*found, *rest]
        return found + [match for match in rest if _has(in_words(match.name), words)]

    def _rows(self, query: str, argument: object) -> list[Match]:
        return list(map(Match._make, self._connection.execute(query, (argument,))))


def _has(text: str, words: Sequence[str]) -> bool:
    return all(word in text for word in words)
