"""The names of a ledger on a server of PostgreSQL, in a schema of their own next to the journal's.

A write transaction takes a lock by a number (that of the table of people) until it commits. If the connection is
that of a journal with an open write transaction, writes to the names belong to that one: new players get their
numbers, reasons are stored and people are forgotten in the transaction of the entries that say so.
``postgres_layout`` defines the tables and roles.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from itertools import chain, starmap
from typing import Any, ClassVar, Self

from ledger.errors import StorageError
from ledger.journal.postgres_tables import Roles
from ledger.players import persons
from ledger.players.name_indexes import NameMatch, NameSearch, searchable_words
from ledger.players.names_database import Value
from ledger.players.people import People
from ledger.players.postgres_layout import WITH_NAMES, check, foreign_objects, schema_of, statements
from ledger.runtime import postgres
from ledger.runtime.postgres import UNKNOWN_OUTCOME, quoted
from ledger.runtime.postgres_rows import COPY_END, COPY_HEADER, copy_pieces
from ledger.runtime.postgres_session import (
    BYTEA,
    LostError,
    ServerSession,
    ServerStatement,
    StatementRefusedError,
    bigint_array,
    numbered,
    packed_array,
    text_array,
)

WRITER_SECONDS = 60.0  # how long a writer waits for another before it says so
READER_SECONDS = 10.0  # how long an erasure waits for transactions that began before it
_PAUSE = 0.2  # seconds between two looks whether they are over
_GRACE = 5.0  # seconds more than the server waits for a lock, so that it can say so
_LONGEST = 3_600.0  # seconds for which a server that rewrites a table may say nothing
_NOT_AVAILABLE = "55P03"  # lock_not_available
_KEPT_CHANGES = 1_000  # of others, that a session may have missed without counting as another one's file
# The server's message that a rewritten table holds earlier rows, which another transaction may still read.
_KEPT_ROWS = re.compile(r"(\d+)")


_WHOLE = tuple(map(ServerStatement, ("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", "COMMIT", "ROLLBACK")))
_PART = tuple(map(ServerStatement, ("SAVEPOINT names", "RELEASE names", "ROLLBACK TO names")))


_LOCK_TIMEOUT = "SELECT set_config('lock_timeout', $1, true)"
_SURROGATE = re.compile("[\ud800-\udfff]")


def _encoded(value: Value) -> bytes | str | int | None:
    """Return a value as the server takes it: a list as an array, and NULL for what no text there is."""
    if isinstance(value, str):
        return value if _is_storable(value) else None
    if not isinstance(value, list):
        return value
    numbers = [item for item in value if isinstance(item, int)]
    words = [item for item in value if isinstance(item, str) and _is_storable(item)]
    # an empty array would need a type; nothing equals any of NULL either
    return bigint_array(numbers) if numbers else text_array(words) if words else None


def _is_storable(word: str) -> bool:
    """Return whether a text on the server may hold these characters: no player has another name."""
    return "\x00" not in word and (word.isascii() or not _SURROGATE.search(word))


def trigrams(words: Iterable[str]) -> set[int]:
    """Return all trigrams of words, each as a number of 63 bits: a code point has 21."""
    numbers: set[int] = set()
    for word in words:
        letters = list(map(ord, word))
        numbers.update([a << 42 | b << 21 | c for a, b, c in zip(letters, letters[1:], letters[2:], strict=False)])
    return numbers


class PostgresNameSearch(NameSearch):
    """The search by a part of a name on a server: an inverted index (GIN) of three letters on end."""

    # bytes go as they are, for any type of the column
    COLUMNS: ClassVar[Mapping[str, str]] = {"player": "int8", "words": "text", "trigrams": "bytea"}

    @staticmethod
    def row(player: int, name: str) -> tuple[int, str, bytes]:
        """Return the player with the words of the name and their trigrams."""
        words = searchable_words(name)
        return player, words, bigint_array(trigrams(words.split()))

    def _holding(self, words: Sequence[str]) -> list[NameMatch]:
        # who has all trigrams of a word may have them apart: the words themselves are looked through
        query = (
            "SELECT people.player, identity, name FROM {people} JOIN {s}.people_search s USING (player) "
            "WHERE s.trigrams @> :trigrams::bigint[] AND name IS NOT NULL "
            "AND NOT EXISTS (SELECT FROM unnest(:words::text[]) AS asked(word) WHERE strpos(s.words, word) = 0)"
        )
        rows = self._database.rows(query, trigrams=list(trigrams(words)), words=list(words))
        return list(starmap(NameMatch, rows))


class PostgresPeople(People):
    """The names of one ledger on a server."""

    RESTORE = "have the database restored from its newest copy"
    SET_ASIDE = None
    SEARCH = PostgresNameSearch
    # in this collation, as in SQLite, English letters alone have a case
    IS_WORD_IN_ANY_CASE = 'lower({}) = lower(:word::text COLLATE "C")'
    IS_UNUSUAL = "identity ~ '[^ -~]'"
    STILL_READ = (
        "a transaction that began before is still open on the server, or on a standby that reports to it: have it "
        "ended (pg_stat_activity, pg_prepared_xacts); until then the tables hold"
    )

    def __init__(self, address: str, schema: str, *, session: Callable[[], ServerSession] | None = None) -> None:
        """Open the names.

        Args:
            address: of the database, as libpq has it.
            schema: of the journal.
            session: gives the session of the journal, whose write transactions the names share then. In such a
                transaction it must have sent by then what the journal's writer holds back, so that it is not undone
                with a part that fails, and refuse if the connection was lost. By default the names have their own.

        Raises:
            StorageError: they cannot be reached, are not there, or not ours.
        """
        super().__init__(f"{postgres.without_password(address)}, schema {schema_of(schema)}")
        self._own = own = None if session else ServerSession(address)
        self._session: Callable[[], ServerSession] = session or (lambda: own)  # type: ignore[assignment, return-value]
        self._schema = schema
        # By it a session distinguishes its own changes from those of others; a bigint has 63 bits besides its sign.
        self._writer = secrets.randbits(62)
        self._version = 0
        try:
            check(self._session().connection(), self.path, schema)
            # the last change that was seen
            ((self._seen,),) = self.rows("SELECT coalesce(max(number), 0) FROM {s}.changes")
        except BaseException:
            self.close()
            raise

    @classmethod
    def create(cls, address: str, schema: str, secret: bytes | None = None, *, roles: Roles | None = None) -> Self:
        """Make an empty schema of names with a secret, a new one where none is given, and open it.

        The address is of a user who may make roles and schemas, and who may write there from then on;
        ``postgres_layout`` defines the schema.

        Raises:
            StorageError: there is such a schema, or this role may not make one.
        """
        names, place = schema_of(schema), f"{postgres.without_password(address)}, schema {schema_of(schema)}"
        with (
            closing(postgres.connect(address)) as connection,
            postgres.storage_errors(place),
            connection.transaction(),
        ):
            if postgres.has_schema(connection, names):
                raise StorageError(place, "exists already; names are never overwritten: give another schema")
            secret_kept = f"INSERT INTO {quoted(names)}.secret VALUES (1, %s)"
            roles = roles or Roles.of(names)
            *making, end = statements(schema, roles)
            for statement in making:
                connection.execute(statement.encode())
            connection.execute(secret_kept.encode(), [secret or persons.new_secret()])
            connection.execute(f"GRANT {quoted(roles.writer)} TO CURRENT_USER".encode())
            connection.execute(end.encode())
        return cls(address, schema)

    def close(self) -> None:
        """Release the connection, if it is the names' own."""
        if self._own is not None:
            self._own.close()

    # -- transactions ----------------------------------------------------------------------------------------------

    def rows(self, query: str, **values: Value) -> list[Any]:
        """Return the rows of an SQL query."""
        (answer,) = self._session().ask(self._statement(query, **values), place=self.path)
        return answer.rows()

    def run(self, statement: str, **values: Value) -> int:
        """Run an SQL statement within the write transaction, and return the number of rows that it changed."""
        (answer,) = self._in_transaction().ask(self._statement(statement, **values), place=self.path)
        return answer.count

    def _statement(self, query: str, **values: Value) -> ServerStatement:
        # The people first: their replacement names the schema, too.
        query = query.replace("{people}", self._people("= ANY(:sealed)"))
        sql, names = numbered(query.replace("{s}", quoted(schema_of(self._schema))))
        encoded = {name: _encoded(value) for name, value in values.items()}
        encoded |= {"hidden": _encoded(list(self.hidden)), "sealed": packed_array(BYTEA, self.sealed)}
        return ServerStatement(sql, [encoded[name] for name in names])

    def add(self, table: str, columns: Mapping[str, str], rows: Iterable[Sequence[Any]]) -> int:
        """Add many rows by a binary COPY, within the write transaction; return how many the table took."""
        session, data = self._in_transaction(), (piece.data for piece in copy_pieces(list(columns.values()), rows))
        copy = f"COPY {quoted(schema_of(self._schema))}.{table}({', '.join(columns)}) FROM STDIN (FORMAT BINARY)"
        try:
            return session.copy_in(copy, chain([COPY_HEADER], data, [COPY_END]))
        except (LostError, StatementRefusedError) as error:
            raise session.explained_error(error, self.path) from error

    def writing(self, patience: float | None = None) -> AbstractContextManager[None]:
        """Open one write transaction; in the journal's open one, if any, it is undone by itself if it fails."""
        if self.refusal is not None:
            raise StorageError(self.path, self.refusal)
        # The lock first: the number of this change follows the last one that was committed by then.
        lock = self._statement("SELECT pg_advisory_xact_lock('{s}.people'::regclass::oid::bigint)")
        change = self._statement(
            "INSERT INTO {s}.changes SELECT coalesce(max(number), 0) + 1, :writer::bigint FROM {s}.changes",
            writer=self._writer,
        )
        return self._transaction(WRITER_SECONDS if patience is None else patience, lock, change)

    @contextmanager
    def _transaction(self, patience: float, *first: ServerStatement) -> Iterator[None]:
        """Open a transaction, or a part of the open one, that begins with some statements, in one round trip."""
        session = self._session()
        begin, end, undo = _PART if session.in_transaction else _WHOLE
        wait = ServerStatement(_LOCK_TIMEOUT, [f"{max(1, int(1000 * patience))}ms"])
        waits = () if session.in_transaction else (wait,)  # a part waits as long as the whole does
        try:
            session.ask(begin, *waits, *first, patience=patience + _GRACE, place=self.path)
            yield
        except BaseException:
            if session.in_transaction:
                try:
                    session.ask_once(undo)
                except (LostError, StatementRefusedError):
                    session.drop()  # the server rolls back a transaction without a client
            raise
        self._in_transaction().ask(end, place=self.path)

    def _in_transaction(self) -> ServerSession:
        session = self._session()
        if not session.in_transaction:  # a new connection would commit each statement by itself
            raise StorageError(self.path, f"the transaction ended when the server was lost: {UNKNOWN_OUTCOME}")
        return session

    def version(self) -> int:
        """Return a number that changes when another session has written since the last call."""
        rows = self.rows("SELECT number, writer FROM {s}.changes WHERE number > :seen ORDER BY number", seen=self._seen)
        by_others = sum(writer != self._writer for _, writer in rows) + bool(rows and rows[0][0] > self._seen + 1)
        # rows in an open transaction may be undone, and its numbers be given out again
        if rows and not self._session().in_transaction:
            self._seen = rows[-1][0]
            self._version += by_others
            by_others = 0
        return int(self._version + by_others)

    # -- forgetting ------------------------------------------------------------------------------------------------

    def purge(self) -> bool:
        """Rewrite each table, so that no open transaction can read deleted names, and drop all statistics.

        Returns:
            False if a transaction that began before is open, so that old rows were kept.

        Raises:
            StorageError: the server refuses, has objects of another program there, or had made statistics of names.
        """
        return self._cleaned(READER_SECONDS)

    def purge_within(self, patience: float) -> bool:
        """Act as ``purge``, but wait at most *patience* seconds for other readers and writers."""
        try:
            return self._cleaned(patience)
        except StorageError as error:
            if isinstance(error.__cause__, StatementRefusedError) and error.__cause__.code == _NOT_AVAILABLE:
                return False
            raise

    def _cleaned(self, patience: float) -> bool:
        deadline = time.monotonic() + patience
        with postgres.storage_errors(self.path):
            # First: a foreign index or trigger would keep names of its own, even after this rewriting.
            for fault in foreign_objects(self._session().connection(), self._schema):
                raise StorageError(self.path, fault)
        with self._transaction(patience):
            ((emptied,),) = self.rows("SELECT {s}.without_statistics()")
            self.run(
                "DELETE FROM {s}.changes WHERE number <= (SELECT max(number) FROM {s}.changes) - :kept",
                kept=_KEPT_CHANGES,
            )
        left = list(WITH_NAMES)
        while left := [table for table in left if self._kept_rows(table, patience)]:
            if time.monotonic() >= deadline:
                return False
            time.sleep(_PAUSE)
        if emptied:
            raise StorageError(
                self.path,
                f"the server had made statistics of {', '.join(emptied)}, which tell names; they are taken away, and "
                "are made no more, but their old bytes may still be in its catalogue: have a superuser run 'VACUUM "
                "FULL pg_catalog.pg_statistic'",
            )
        return True

    def _kept_rows(self, table: str, patience: float) -> int:
        """Return how many old rows a table still holds after it was rewritten."""
        kept = 0

        def count(notice: Any) -> None:
            nonlocal kept
            rows = _KEPT_ROWS.match((notice.message_detail or "").strip())
            kept += int(rows[1]) if rows else 0

        connection = self._session().connection()
        connection.add_notice_handler(count)
        try:
            with self._transaction(patience):
                rewrite = self._statement("SELECT {s}.written_anew(cast(:table AS text))", table=table)
                self._session().ask(rewrite, patience=_LONGEST, place=self.path)
        finally:
            connection.remove_notice_handler(count)
        return kept

    def remaining_copies(self) -> str:
        """Return in words which logs and copies of the server may still contain erased names."""
        ((archives, standbys),) = self.rows(
            "SELECT current_setting('archive_mode') <> 'off', (SELECT count(*) FROM pg_replication_slots) "
            "+ (SELECT count(*) FROM pg_stat_replication)"
        )
        return (
            "the server's write-ahead log may still tell until its files are written over"
            + (", that of its standbys too" if standbys else "")
            + (", the archive of that log until it expires" if archives else "")
            + ", base backups and dumps until they expire, and so may a log of statements"
        )
