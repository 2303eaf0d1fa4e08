"""The names of a ledger in a file of SQLite, next to the journal's: so that its backups can expire.

Writes leave no copy of a name behind: bytes that move within the file are overwritten in their old place, and after
an erasure the file is rewritten. ``sqlite_layout`` defines the tables of the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import lru_cache
from itertools import starmap
from pathlib import Path
from typing import Any, ClassVar

from ledger.errors import CorruptError, StorageError
from ledger.players import persons
from ledger.players.name_indexes import NameMatch, NameSearch, searchable_words
from ledger.players.names_database import Value
from ledger.players.people import People
from ledger.players.sqlite_layout import LAYOUT, RELEASED, SCHEMA, is_upgraded, keep_secret, upgrade
from ledger.runtime import sqlite
from ledger.runtime.file_guard import FileGuard, split_statements

APPLICATION_ID = sqlite.PEOPLE_ID
MISSING = (
    "the people file is missing; restore it from a copy or, where there is none, go on without names: "
    "'rating-ledger accept-lost-names DB'"
)
# The same sums over the rows and over the index on identities: they differ where one is older than the other. One
# statement, in one read snapshot.
_SUMS = "count(identity), total(player) FILTER (WHERE identity IS NOT NULL), total(length(identity))"
_COUNTS = (
    f"SELECT * FROM (SELECT count(*), coalesce(max(player), 0), {_SUMS} FROM main.people NOT INDEXED), "
    f"(SELECT {_SUMS} FROM main.people INDEXED BY sqlite_autoindex_people_1 WHERE identity IS NOT NULL)"
)
_BETWEEN = (
    "SELECT count(*) FROM main.people AS p NOT INDEXED WHERE p.player BETWEEN ? AND ? AND (p.identity IS NULL "
    "OR p.player = (SELECT player FROM main.people INDEXED BY sqlite_autoindex_people_1 WHERE identity = p.identity))"
)
_LIST = re.compile(r"\bIN :(\w+)")
_EMPTY_LOG = "PRAGMA wal_checkpoint(TRUNCATE)"
SECURE_DELETE_SINCE = (3, 42, 0)  # the SQLite that takes deleted words out of the index of parts at once
# The statements that make each index of names.
_INDEXES: Mapping[str, Sequence[str]] = {
    "people_folds": (
        "CREATE TABLE main.people_folds(player INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT",
        "CREATE INDEX main.people_folds_by_name ON people_folds(name)",
    ),
    "people_search": (
        "CREATE VIRTUAL TABLE main.people_search USING fts5(words, tokenize = 'trigram case_sensitive 1')",
        # FTS5 writes a mark for a deleted word and keeps the word until segments are merged, unless this option is set.
        "INSERT INTO main.people_search(people_search, rank) VALUES ('secure-delete', 1)",
    ),
}


class SqliteNameSearch(NameSearch):
    """The search by a part of a name in one people file: FTS5, whose trigrams are three letters on end."""

    COLUMNS: ClassVar[Mapping[str, str]] = {"rowid": "int8", "words": "text"}

    @staticmethod
    def row(player: int, name: str) -> tuple[int, str]:
        """Return the player with the words of the name."""
        return player, searchable_words(name)

    def highest_indexed(self) -> int:
        """Return the highest number in the index; 0 if there is none."""
        if not self._database.has_index(self.TABLE):
            return 0
        # FTS5 keeps the rows in this table of its own, by number: the highest is one look-up.
        return int(self._database.rows("SELECT coalesce(max(id), 0) FROM {s}.people_search_content")[0][0])

    def update_names(self, players: Sequence[int]) -> None:
        """Act as ``NameIndex`` requires; if deleted words would stay, the next search rebuilds the index."""
        if sqlite.sqlite3.sqlite_version_info < SECURE_DELETE_SINCE:
            self._database.run("DROP TABLE IF EXISTS {s}.people_search")
        else:
            super().update_names(players)

    def _holding(self, words: Sequence[str]) -> list[NameMatch]:
        query = (
            "SELECT people.player, people.identity, people.name FROM {s}.people_search AS s "
            "JOIN {people} ON people.player = s.rowid WHERE s.words MATCH :words AND people.name IS NOT NULL"
        )
        # In quotation marks: AND, OR, NOT and NEAR are words of FTS5's language, and may be parts of names.
        rows = self._database.rows(query, words=" AND ".join(f'"{word}"' for word in words))
        return list(starmap(NameMatch, rows))


class SqlitePeople(People):
    """The people file of one ledger."""

    STILL_READ = "another process is reading it, so its log still holds"
    RESTORE = "put the newest copy in its place, with its -wal file"
    SET_ASIDE = "with this file moved aside together with its -wal and -shm files"
    SEARCH = SqliteNameSearch
    IS_WORD_IN_ANY_CASE = "{} = :word COLLATE NOCASE"
    IS_UNUSUAL = "identity GLOB '*[^ -~]*'"

    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        """Open the file.

        Raises:
            StorageError: missing or not ours.
        """
        super().__init__(str(path))
        if not Path(path).exists():
            raise StorageError(self.path, MISSING)
        self._connection = _connect(path, read_only=read_only)
        sqlite.check_identity(self._connection, path, APPLICATION_ID, LAYOUT, RELEASED)
        self._guard = FileGuard(path, SCHEMA)
        # as the journal: a name that it seals must outlast a power cut, too
        self._connection.execute("PRAGMA synchronous=FULL")
        # newcomers of an import go anywhere in the index
        self._connection.execute("PRAGMA cache_size=-65536")

    @classmethod
    def create(cls, path: str | Path, secret: bytes | None = None) -> SqlitePeople:
        """Make an empty people file with a secret; a new one where none is given.

        Raises:
            StorageError: it exists or cannot be made.
        """
        if Path(path).exists():
            raise StorageError(str(path), "exists already")
        connection = _connect(path)
        # SQLite turns the log on outside a transaction only.
        connection.execute("PRAGMA journal_mode=WAL")
        with sqlite.write_transaction(connection):
            for statement in split_statements(SCHEMA):
                connection.execute(statement)
            keep_secret(connection, secret or persons.new_secret())
            connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version={LAYOUT}")
        connection.close()
        return cls(path)

    @classmethod
    def is_empty(cls, path: str | Path) -> bool:
        """Return whether a people file has no players.

        Raises:
            StorageError: not ours.
        """
        with closing(cls(path)) as opened:
            return opened.highest() == 0

    def close(self) -> None:
        """Release the file."""
        self._connection.close()

    # -- the database ----------------------------------------------------------------------------------------------

    def rows(self, query: str, **values: Value) -> list[Any]:
        """Return the rows of an SQL query."""
        return self._execute(query, values).fetchall()

    def run(self, statement: str, **values: Value) -> int:
        """Run an SQL statement within the write transaction, and return the number of rows that it changed."""
        return self._execute(statement, values).rowcount

    def _execute(self, query: str, values: Mapping[str, Value]) -> sqlite.FileCursor:
        salts = ", ".join(f"x'{salt.hex()}'" for salt in self.sealed)
        arguments = {name: json.dumps(value) if isinstance(value, list) else value for name, value in values.items()}
        arguments["hidden"] = json.dumps(list(self.hidden))
        return self._connection.execute(_translated(query, self._people(f"IN ({salts})")), arguments)

    def add(self, table: str, columns: Mapping[str, str], rows: Iterable[Sequence[Any]]) -> int:
        """Add many rows within the write transaction; return how many the table took. A missing index is made."""
        if table in _INDEXES and not self.has_index(table):
            made = _INDEXES[table]
            if table == "people_search" and sqlite.sqlite3.sqlite_version_info < SECURE_DELETE_SINCE:
                made = made[:1]
            for statement in made:
                self._connection.execute(statement)
        insert = f"INSERT INTO main.{table}({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
        return self._connection.executemany(insert, rows).rowcount

    @contextmanager
    def writing(self, patience: float | None = None) -> Iterator[None]:
        """Open one write transaction on a file that is as this program left it; an old layout is upgraded."""
        if self.refusal is not None:
            raise StorageError(self.path, self.refusal)
        with sqlite.write_transaction(self._connection, patience=patience):
            # Before the guard looks, which knows the schema of the newest layout alone.
            upgrade(self._connection)
            self._guard.check(self._connection)
            yield

    def is_upgraded(self) -> bool:
        """Return whether the file has all tables: one of release 0.1.0 has its people alone."""
        return is_upgraded(self._connection)

    def has_index(self, table: str) -> bool:
        """Return whether a table of an index of names exists."""
        return bool(self.rows("SELECT 1 FROM {s}.sqlite_master WHERE name = :table", table=table))

    def version(self) -> int:
        """Return a number that changes when another process has written the file."""
        return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    # -- numbers ---------------------------------------------------------------------------------------------------

    def delete_unregistered(self, first: int) -> None:
        """Delete the rows from a number on, whose registration was rolled back."""
        with self.writing():
            deleted = self.rows("DELETE FROM {s}.people WHERE player >= :first RETURNING player", first=first)
            self._out_of_indexes([player for (player,) in deleted])
        self._connection.execute(_EMPTY_LOG).fetchone()

    def counts(self) -> tuple[int, int]:
        """Return the number of rows and highest number. The whole file is read.

        Raises:
            CorruptError: rows and the index on identities do not belong together.
        """
        rows, highest, *sums = self._connection.execute(_COUNTS).fetchone()
        if sums[:3] != sums[3:]:
            raise CorruptError(
                self.path,
                0,
                "its index on identities is not that of its rows: the file and its log are put together from two "
                f"copies, or damaged; {sqlite.RESTORE}",
            )
        return int(rows), int(highest)

    def rows_between(self, first: int, last: int) -> int:
        """Return how many of these numbers have a row that the index on identities names, too."""
        return int(self._connection.execute(_BETWEEN, (first, last)).fetchone()[0])

    # -- forgetting ------------------------------------------------------------------------------------------------

    def purge(self) -> bool:
        """Rewrite the file and empty its log, so that no byte of deleted names is left in either.

        Returns:
            False if another process is reading the file, so that the log keeps old bytes.

        Raises:
            StorageError: the file refuses.
        """
        # secure_delete overwrites deleted bytes within the file; the log keeps whole earlier pages, and free pages
        # may hold names from before that pragma: the file is rewritten, and the log emptied on both sides of it.
        # first: in vain it would make the log longer
        for statement in (_EMPTY_LOG, "VACUUM", _EMPTY_LOG):
            busy = self._connection.execute(statement).fetchone() or (0,)
            if busy[0]:
                return False
        return True

    def purge_within(self, patience: float) -> bool:
        """Act as ``purge``, but wait at most *patience* seconds for other readers and writers."""
        with sqlite.busy_timeout(self._connection, patience):
            try:
                return self.purge()
            except StorageError as error:
                if "locked" in str(error):
                    return False
                raise

    def remaining_copies(self) -> str:
        """Return in words that copies of the file may still contain erased names."""
        return "copies of this file may still tell"


@lru_cache(maxsize=256)
def _translated(query: str, people: str) -> str:
    """Return a statement as SQLite has it; *people* is the SQL of the people as they are shown."""
    sql = query.replace("{people}", people).replace("{s}", "main").replace("strpos(", "instr(")
    return _LIST.sub(r"IN (SELECT value FROM json_each(:\1))", sql)


def _connect(path: str | Path, *, read_only: bool = False) -> sqlite.FileConnection:
    """Open the file so that writes leave no copy of a name behind."""
    connection = sqlite.connect(path, read_only=read_only)
    # what moves within the file is overwritten where it was
    connection.execute("PRAGMA secure_delete=ON")
    connection.execute("PRAGMA temp_store=MEMORY")  # names belong in no other file
    return connection
