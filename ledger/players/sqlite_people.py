"""The names of a ledger in a file of SQLite, next to the journal's: so that its backups can expire.

Writes leave no copy of a name behind: bytes that move within the file are overwritten in their old place, and after
an erasure the file is rewritten. ``people_layouts`` defines the file and its indexes of names.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from ledger.errors import CorruptError, StorageError
from ledger.players import people_layouts, persons
from ledger.players.pending_changes import Pending, PendingErasures, PendingNames
from ledger.players.people import People
from ledger.players.people_layouts import (
    LAYOUT,
    RELEASED,
    SCHEMA,
    Begin,
    FilePart,
    is_upgraded,
    keep_secret,
    secret_of,
    upgrade,
)
from ledger.players.persons import Person
from ledger.players.reasons import KeptReason, Reasons
from ledger.players.sqlite_name_indexes import SqliteNameFolds, SqliteNameSearch
from ledger.runtime import sqlite
from ledger.runtime.file_guard import FileGuard, split_statements

APPLICATION_ID = sqlite.PEOPLE_ID
MISSING = (
    "the people file is missing; restore it from a copy or, where there is none, go on without names: "
    "'rating-ledger accept-lost-names DB'"
)
_COLUMNS = "player, identity, name, salt, joined_at"
_INSERT = f"INSERT INTO main.people({_COLUMNS}) VALUES (?, ?, ?, ?, ?)"
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
# People whose name can be compared with the journal, from one end of the numbers or from the other.
_LOWEST = f"SELECT {_COLUMNS} FROM people WHERE player > ? AND salt IS NOT NULL ORDER BY player LIMIT ?"
_HIGHEST = f"SELECT {_COLUMNS} FROM people WHERE player < ? AND salt IS NOT NULL ORDER BY player DESC LIMIT ?"
# The second parameter is named in any case, for the driver refuses an argument that no parameter takes.
_MEANT = f"SELECT {_COLUMNS} FROM people WHERE ?2 IS NOT NULL AND"
# NOT INDEXED: by the table itself, whose rows lie in order of the numbers. The index on identities has all of
# ``_IDENTITIES`` in it, and would be read in its own order.
_NAMES = "SELECT player, name FROM people NOT INDEXED WHERE name IS NOT NULL"
_CALLED = "SELECT player, identity, name FROM people NOT INDEXED WHERE identity IS NOT NULL AND name IS NOT NULL"
_IDENTITIES = "SELECT player, identity FROM people NOT INDEXED WHERE identity IS NOT NULL"
_NAMELESS = "SELECT player FROM people WHERE identity IS NULL"
_EMPTY_LOG = "PRAGMA wal_checkpoint(TRUNCATE)"
# What may be spelt otherwise than the rule says: capitals, two blanks, characters beyond ASCII.
_OTHERWISE_SPELT = (
    "SELECT identity FROM people NOT INDEXED "
    "WHERE identity <> lower(identity) OR instr(identity, '  ') OR instr(identity, ': ') "
    "OR identity GLOB '*[^ -~]*' OR identity GLOB 'fide:0*' ORDER BY player"
)
# Names and identities near an unknown word.
_SOME_NAMES = "SELECT identity, name FROM people WHERE salt IS NOT NULL ORDER BY player LIMIT ?"
_NAMES_LIKE = (
    "SELECT identity, name FROM people WHERE salt IS NOT NULL AND (name LIKE ?1 || '%' OR identity LIKE ?1 || '%' "
    "OR instr(name, ?2)) ORDER BY player LIMIT ?3"
)


class SqlitePeople(People):
    """The people file of one ledger."""

    STILL_READ = "another process is reading it, so its log still holds"
    RESTORE = "put the newest copy in its place, with its -wal file"
    SET_ASIDE = "with this file moved aside together with its -wal and -shm files"

    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        """Open the file.

        Raises:
            StorageError: missing or not ours.
        """
        self.path = str(path)
        if not Path(path).exists():
            raise StorageError(self.path, MISSING)
        self._connection = _connect(path, read_only=read_only)
        sqlite.check_identity(self._connection, path, APPLICATION_ID, LAYOUT, RELEASED)
        self._take_parts()
        self._guard = FileGuard(path, SCHEMA)
        # as the journal: a name that it seals must outlast a power cut, too
        self._connection.execute("PRAGMA synchronous=FULL")
        # newcomers of an import go anywhere in the index
        self._connection.execute("PRAGMA cache_size=-65536")

    # by itself: the audit makes the same of a connection that it holds already
    def _take_parts(self) -> None:
        part = (self.path, self._connection, self._writing)
        self.pending = SqlitePendingNames(*part, self._out_of_indexes)
        self.erasures = SqlitePendingErasures(*part, self._out_of_indexes)
        self.reasons = SqliteReasons(*part, self.clean_whole)
        self.search = SqliteNameSearch(*part)
        self.folds = SqliteNameFolds(*part, lambda: [row.player for row in self.pending.rows()])

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
            return not opened._rows(f"SELECT {_COLUMNS} FROM people LIMIT 1", ())

    def close(self) -> None:
        """Release the file."""
        self._connection.close()

    def secret(self) -> bytes:
        """Return the secret under which the ledger makes keys of facts; a file of release 0.1.0 gets one.

        Raises:
            StorageError: it has none and cannot be written, or lost its own.
        """
        secret = secret_of(self._connection)
        if secret is None:
            with self._writing():  # upgrades the file, and with it makes a secret
                secret = secret_of(self._connection)
        if secret is None:
            raise StorageError(self.path, f"its secret is gone: {self.RESTORE}")
        return secret

    def secret_to_try(self) -> bytes:
        """Return the secret, or in a file without one another: for dry runs."""
        return secret_of(self._connection) or persons.new_secret()

    def take_secret(self, secret: bytes) -> None:
        """Have the secret of another ledger, before any key was made.

        Raises:
            StorageError: the file refuses.
        """
        with self._writing():
            keep_secret(self._connection, secret)

    def has_nameless(self) -> bool:
        """Return whether a player was erased, or a name lost: one look-up."""
        return self._connection.execute(f"{_NAMELESS} LIMIT 1").fetchone() is not None

    def nameless(self) -> list[int]:
        """Return the numbers of all who were erased, or whose names were lost."""
        return [player for (player,) in self._connection.execute(_NAMELESS)]

    def mark_erased(self, players: Iterable[int]) -> None:
        """Read these players as erased from now on."""
        people_layouts.show(self._connection, hidden=players)

    def clean(self) -> bool:
        """Leave nothing in the file and its log but the present rows, from any writer: rewrite it.

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

    def clean_soon(self, patience: float) -> bool:
        """As ``clean``, but wait no longer than so many seconds for those who read or write the file."""
        with sqlite.busy_timeout(self._connection, patience):
            try:
                return self.clean()
            except StorageError as error:
                if "locked" in str(error):
                    return False
                raise

    @contextmanager
    def _writing(self, patience: float | None = None) -> Iterator[None]:
        """Open one write transaction on a file that is as this program left it; it brings an old layout up."""
        if self.refusal is not None:
            raise StorageError(self.path, self.refusal)
        with sqlite.write_transaction(self._connection, patience=patience):
            # Before the guard looks, which knows the schema of the newest layout alone.
            upgrade(self._connection)
            self._guard.check(self._connection)
            yield

    def _take_in(self, persons: Sequence[Person]) -> int:
        return self._connection.executemany(_INSERT, persons).rowcount

    def forget_numbers(self, first: int) -> None:
        """Take rows away from a number on, which no entry registered: what gave them a number was undone."""
        with self._writing():
            deleted = self._connection.execute("DELETE FROM main.people WHERE player >= ? RETURNING player", (first,))
            self._out_of_indexes([player for (player,) in deleted.fetchall()])
        self._connection.execute(_EMPTY_LOG).fetchone()

    def version(self) -> int:
        """Return a number that changes when another process has written the file since the last call."""
        return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

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

    def highest(self) -> int:
        """Return the highest number that has a row; 0 if there is none."""
        return int(self._connection.execute("SELECT coalesce(max(player), 0) FROM main.people").fetchone()[0])

    def rows_between(self, first: int, last: int) -> int:
        """Return how many of these numbers have a row that the index on identities names, too."""
        return int(self._connection.execute(_BETWEEN, (first, last)).fetchone()[0])

    def numbers(self) -> set[int]:
        """Return every number that has a row, erased or not."""
        return {player for (player,) in self._connection.execute("SELECT player FROM people")}

    def names(self) -> list[tuple[int, str]]:
        """Number and name of everybody who was not erased."""
        return self._connection.execute(_NAMES).fetchall()

    def identities_and_names(self) -> list[tuple[int, str, str]]:
        """Number, identity and name of everybody who was not erased."""
        return self._connection.execute(_CALLED).fetchall()

    def identities(self) -> list[tuple[int, str]]:
        """Number and identity of everybody who was not erased."""
        return self._connection.execute(_IDENTITIES).fetchall()

    def _beyond(self, player: int, most: int, *, highest_first: bool) -> list[Person]:
        return self._rows(_HIGHEST if highest_first else _LOWEST, (player, most))

    def _spelt_so(self, identities: set[str]) -> dict[str, Person]:
        query = f"SELECT {_COLUMNS} FROM people WHERE identity IN (SELECT value FROM json_each(?))"
        return {person.identity or "": person for person in self._rows(query, (json.dumps(list(identities)),))}

    def _otherwise_spelt(self) -> Iterator[str]:
        for (identity,) in self._connection.execute(_OTHERWISE_SPELT):
            yield identity

    def by_number(self, players: Iterable[int]) -> dict[int, Person]:
        """Return the known ones of these players."""
        query = f"SELECT {_COLUMNS} FROM people WHERE player IN (SELECT value FROM json_each(?))"
        return {person.player: person for person in self._rows(query, (json.dumps(list(players)),))}

    def _bearing(self, word: str, bearers: Sequence[int] | None, *, any_case: bool = False) -> list[Person]:
        among, case = "" if bearers is None else "player IN (SELECT value FROM json_each(?2)) AND ", ""
        if any_case:
            case = " COLLATE NOCASE"
        query = f"{_MEANT} (identity = ?1{case} OR {among}name = ?1{case}) ORDER BY player"
        return self._rows(query, (word, json.dumps(bearers or [])))

    def _some_names(self, most: int) -> list[tuple[str, str]]:
        return self._connection.execute(_SOME_NAMES, (most,)).fetchall()

    def _names_like(self, word: str, most: int) -> list[tuple[str, str]]:
        return self._connection.execute(_NAMES_LIKE, (word[:1], word, most)).fetchall()

    def copies(self) -> str:
        """Return the copies of the file that may exist: backups."""
        return "copies of this file may still tell"

    def _rows(self, query: str, arguments: tuple[object, ...]) -> list[Person]:
        return [Person(*row) for row in self._connection.execute(query, arguments)]


def _connect(path: str | Path, *, read_only: bool = False) -> sqlite.FileConnection:
    """Open the file so that writes leave no copy of a name behind."""
    connection = sqlite.connect(path, read_only=read_only)
    # what moves within the file is overwritten where it was
    connection.execute("PRAGMA secure_delete=ON")
    connection.execute("PRAGMA temp_store=MEMORY")  # names belong in no other file
    return connection


_NAMES_PENDING = "SELECT player, number, name, salt FROM renaming ORDER BY player"
_BEGIN_NAME = "INSERT OR REPLACE INTO renaming(player, number, name, salt) VALUES (?, ?, ?, ?)"
_GIVE = (
    "UPDATE main.people SET name = ?3, salt = ?4 WHERE player = ?1 AND salt IS NOT NULL "
    "AND EXISTS (SELECT 1 FROM renaming WHERE player = ?1 AND number = ?2 AND salt = ?4)"
)
_DROP_NAME = "DELETE FROM renaming WHERE player = ? AND salt = ?"


class _FileChanges(FilePart):
    """The pending changes in one people file."""

    def __init__(
        self,
        path: str,
        connection: sqlite.FileConnection,
        begin: Begin,
        out_of_indexes: Callable[[Sequence[int]], None],
    ) -> None:
        """Take the people file, and what takes former names out of its indexes."""
        super().__init__(path, connection, begin)
        self._out_of_indexes = out_of_indexes


class SqlitePendingNames(_FileChanges, PendingNames):
    """The names of one people file that are about to be given."""

    def rows(self) -> list[Pending]:
        """Return all of them; none in a file of release 0.1.0."""
        if not is_upgraded(self._connection):
            return []
        return [Pending(*row) for row in self._connection.execute(_NAMES_PENDING)]

    def _keep(self, pending: Pending) -> None:
        with self._writing():
            self._connection.execute(_BEGIN_NAME, pending)

    def give(self, pending: Pending) -> None:
        """Give the name to its player, unless that is done already or the player was erased; the row stays."""
        with self._writing():
            self._connection.execute(_GIVE, pending)
            self._out_of_indexes([pending.player])

    def drop(self, pending: Pending) -> None:
        """Delete the row, unless another one has replaced it."""
        with self._writing():
            self._connection.execute(_DROP_NAME, (pending.player, pending.salt))

    def show(self, sealed: Sequence[Pending]) -> None:
        """Read the people by these names from now on: the journal sealed them."""
        people_layouts.show(self._connection, sealed=[pending.salt for pending in sealed])


_KNOWN = "(identity IS NOT NULL OR name IS NOT NULL OR salt IS NOT NULL)"
_ERASE = f"UPDATE main.people SET identity = NULL, name = NULL, salt = NULL WHERE player = ? AND {_KNOWN}"
_NOT_RENAMED = "DELETE FROM main.renaming WHERE player = ?"
_BEGIN_ERASURE = "INSERT OR IGNORE INTO main.erasing(player, actor) VALUES (?, ?)"
_ERASURES_PENDING = "SELECT player, actor FROM main.erasing ORDER BY player"
_DROP_ERASURE = "DELETE FROM main.erasing WHERE player = ?"
_STANDING = f"SELECT player FROM main.people WHERE player IN (SELECT value FROM json_each(?)) AND {_KNOWN}"


class SqlitePendingErasures(_FileChanges, PendingErasures):
    """The incomplete erasures of one people file."""

    def rows(self) -> dict[int, str]:
        """Return, by player, the person who requested the erasure; none in a file of release 0.1.0."""
        if not is_upgraded(self._connection):
            return {}
        return dict(self._connection.execute(_ERASURES_PENDING).fetchall())

    def stored_players(self, players: Iterable[int]) -> list[int]:
        """Return those of these players of whom the file knows more than the number."""
        rows = self._connection.execute(_STANDING, (json.dumps(list(players)),))
        return [player for (player,) in rows]

    def begin(self, players: Iterable[int], actor: str) -> int:
        """Forget identity, name and salt of players, and a name that was to be given; their old bytes may stay.

        Args:
            players: their numbers; the rows stay.
            actor: who has them forgotten.

        Returns:
            Of how many anything was known.
        """
        numbers = [(player,) for player in players]
        with self._writing():
            blanked = self._connection.executemany(_ERASE, numbers).rowcount
            self._connection.executemany(_NOT_RENAMED, numbers)
            self._out_of_indexes([player for (player,) in numbers])
            self._connection.executemany(_BEGIN_ERASURE, [(player, actor) for (player,) in numbers])
        return blanked

    def drop(self, players: Iterable[int]) -> None:
        """Delete the rows of these players, whose erasure is complete."""
        with self._writing():
            self._connection.executemany(_DROP_ERASURE, [(player,) for player in players])


_REASONS = "SELECT commitment, entry, salt, text FROM main.reasons WHERE commitment IN (SELECT value FROM json_each(?))"
_KEEP_REASON = "INSERT INTO main.reasons(commitment, entry, salt, text) VALUES (?, ?, ?, ?)"
_NEWEST_FIRST = "SELECT number, commitment, entry FROM main.reasons ORDER BY number DESC"
_DROP_REASON = "DELETE FROM main.reasons WHERE number = ?"
_ERASE_REASONS = (
    "UPDATE main.reasons SET salt = NULL, text = NULL WHERE commitment IN (SELECT value FROM json_each(?)) "
    "AND (salt IS NOT NULL OR text IS NOT NULL)"
)


class SqliteReasons(FilePart, Reasons):
    """The reasons in one people file."""

    def __init__(
        self, path: str, connection: sqlite.FileConnection, begin: Begin, clean_whole: Callable[[], None]
    ) -> None:
        """Take the people file, and what leaves nothing in it and its log but the rows as they are."""
        super().__init__(path, connection, begin)
        self._clean_whole = clean_whole

    def _clean(self) -> None:
        self._clean_whole()

    def _add(self, rows: Sequence[KeptReason]) -> None:
        self._connection.executemany(_KEEP_REASON, rows)

    def _newest_first(self) -> Iterator[tuple[int, str, str]]:
        return iter(self._connection.execute(_NEWEST_FIRST))

    def _drop(self, numbers: Sequence[int]) -> None:
        self._connection.executemany(_DROP_REASON, [(number,) for number in numbers])

    def _kept(self, commitments: Sequence[str]) -> list[KeptReason]:
        if not is_upgraded(self._connection):
            return []
        return list(map(KeptReason._make, self._connection.execute(_REASONS, (json.dumps(commitments),))))

    def _blank(self, commitments: Sequence[str]) -> int:
        return int(self._connection.execute(_ERASE_REASONS, (json.dumps(commitments),)).rowcount)
