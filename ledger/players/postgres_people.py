"""The names of a ledger on a server of PostgreSQL, in a schema of their own next to the journal's.

A write transaction takes a lock by a number (that of the table of people) until it commits. If the connection is
that of a journal with an open write transaction, writes to the names belong to that one: new players get their
numbers, reasons are stored and people are forgotten in the transaction of the entries that say so.
``postgres_layout`` defines the tables and roles.
"""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from functools import lru_cache
from itertools import chain
from typing import Any, ClassVar, Self

from ledger.errors import StorageError
from ledger.journal.postgres_tables import Roles
from ledger.players import persons
from ledger.players.name_indexes import NameFolds, NameIndex, NameMatch, NameSearch
from ledger.players.pending_changes import Pending, PendingErasures, PendingNames
from ledger.players.people import People
from ledger.players.persons import Person
from ledger.players.postgres_layout import WITH_NAMES, check, foreign_objects, schema_of, statements
from ledger.players.reasons import KeptReason, Reasons
from ledger.runtime import postgres
from ledger.runtime.postgres import UNKNOWN_OUTCOME, quoted
from ledger.runtime.postgres_rows import COPY_END, COPY_HEADER, copy_pieces
from ledger.runtime.postgres_session import (
    BYTEA,
    LostError,
    ServerSession,
    ServerStatement,
    StatementRefusedError,
    Value,
    bigint_array,
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
_COLUMNS = "player, identity, name, salt, joined_at"
# The server's message that a rewritten table holds earlier rows, which another transaction may still read.
_KEPT_ROWS = re.compile(r"(\d+)")


Begin = Callable[[float | None], AbstractContextManager[None]]
_WHOLE = tuple(map(ServerStatement, ("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", "COMMIT", "ROLLBACK")))
_PART = tuple(map(ServerStatement, ("SAVEPOINT names", "RELEASE names", "ROLLBACK TO names")))


class NamesDatabase:
    """The access of one store to its database, and its way of reading the people there.

    Attributes:
        session: gives the session, the same one each time.
        place: database and schema as messages name them, without a password.
        schema: of the names, quoted.
        sealed: salts of the names that wait and that the journal sealed.
        hidden: numbers of those who were erased.
    """

    def __init__(self, session: Callable[[], ServerSession], place: str, schema: str) -> None:
        self.session, self.place, self.schema = session, place, schema
        self.sealed: set[bytes] = set()
        self.hidden: set[int] = set()

    def rows(self, query: str, **values: Value) -> list[Any]:
        """Return the rows of a query, as for ``statement``."""
        (answer,) = self.session().ask(self.statement(query, **values), place=self.place)
        return answer.rows()

    def run(self, statement: str, **values: Value) -> int:
        """Return how many rows a statement touched, within a write transaction."""
        (answer,) = self._in_transaction().ask(self.statement(statement, **values), place=self.place)
        return answer.count

    def statement(self, query: str, **values: Value) -> ServerStatement:
        """Return a statement, in which ``{s}`` is the schema and ``{people}`` the people as they are to be read."""
        if self.sealed or self.hidden:
            source = _AS_SHOWN
            values |= {"sealed": packed_array(BYTEA, self.sealed), "hidden": bigint_array(self.hidden)}
        else:
            source = "{s}.people AS people"
        # The people first: their replacement names the schema, too.
        sql, names = _numbered(query.replace("{people}", source).replace("{s}", self.schema))
        return ServerStatement(sql, [values[name] for name in names])

    def copy(self, table: str, columns: str, types: Sequence[str], rows: Iterable[Sequence[Any]]) -> int:
        """Add rows by a binary COPY, within a write transaction; return how many the table took."""
        session, data = self._in_transaction(), (piece.data for piece in copy_pieces(types, rows))
        try:
            return session.copy_in(
                f"COPY {self.schema}.{table}({columns}) FROM STDIN (FORMAT BINARY)",
                chain([COPY_HEADER], data, [COPY_END]),
            )
        except (LostError, StatementRefusedError) as error:
            raise session.explained(error, self.place) from error

    @contextmanager
    def transaction(self, patience: float, *first: ServerStatement) -> Iterator[None]:
        """A transaction, or a part of the open one, that begins with some statements, in one round trip.

        Args:
            patience: seconds to wait for others; a part waits as long as the whole does.
            first: the statements.
        """
        session = self.session()
        begin, end, undo = _PART if session.in_transaction else _WHOLE
        wait = ServerStatement(_LOCK_TIMEOUT, [f"{max(1, int(1000 * patience))}ms"])
        waits = () if session.in_transaction else (wait,)
        try:
            session.ask(begin, *waits, *first, patience=patience + _GRACE, place=self.place)
            yield
        except BaseException:
            if session.in_transaction:
                try:
                    session.ask_once(undo)
                except (LostError, StatementRefusedError):
                    session.drop()  # the server rolls back a transaction without a client
            raise
        self._in_transaction().ask(end, place=self.place)

    def _in_transaction(self) -> ServerSession:
        session = self.session()
        if not session.in_transaction:  # a new connection would commit each statement by itself
            raise StorageError(self.place, f"the transaction ended when the server was lost: {UNKNOWN_OUTCOME}")
        return session

    @property
    def is_open(self) -> bool:
        """True if a transaction is open."""
        return self.session().in_transaction


_LOCK_TIMEOUT = "SELECT set_config('lock_timeout', $1, true)"
_VALUE = re.compile(r"%\((\w+)\)s")


@lru_cache(maxsize=256)
def _numbered(query: str) -> tuple[str, tuple[str, ...]]:
    """Return a query with numbers for the names of its values, and the names in that order."""
    names = tuple(dict.fromkeys(_VALUE.findall(query)))
    return _VALUE.sub(lambda place: f"${names.index(place[1]) + 1}", query), names


# A row that another process completes meanwhile is gone from the table, and the player's own row says the same.
_AS_SHOWN = """
(SELECT p.player, CASE WHEN h.is_shown THEN p.identity END AS identity,
  CASE WHEN h.is_shown THEN coalesce(r.name, p.name) END AS name,
  CASE WHEN h.is_shown THEN coalesce(r.salt, p.salt) END AS salt, p.joined_at
FROM {s}.people p CROSS JOIN LATERAL (SELECT p.player <> ALL(%(hidden)s::bigint[]) AS is_shown) h
LEFT JOIN {s}.renaming r ON r.player = p.player AND p.salt IS NOT NULL AND r.salt = ANY(%(sealed)s::bytea[])) AS people
"""


class PostgresPeople(People):
    """The names of one ledger on a server."""

    RESTORE = "have the database restored from its newest copy"
    SET_ASIDE = None
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
        self.path = f"{postgres.without_password(address)}, schema {schema_of(schema)}"
        self._own = own = None if session else ServerSession(address)
        self._database = NamesDatabase(session or (lambda: own), self.path, quoted(schema_of(schema)))  # type: ignore[arg-type, return-value]
        self._schema = schema
        # By it a session distinguishes its own changes from those of others; a bigint has 63 bits besides its sign.
        self._writer = secrets.randbits(62)
        self._version = 0
        part = (self._database, self._writing)
        self.search = PostgresNameSearch(*part)
        self.folds = PostgresNameFolds(*part)
        self.pending = PostgresPendingNames(*part, self._out_of_indexes)
        self.erasures = PostgresPendingErasures(*part, self._out_of_indexes)
        self.reasons = PostgresReasons(*part, self.clean_whole)
        try:
            check(self._database.session().connection(), self.path, schema)
            # the last change that was seen
            ((self._seen,),) = self._database.rows("SELECT coalesce(max(number), 0) FROM {s}.changes")
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

    @contextmanager
    def _writing(self, patience: float | None = None) -> Iterator[None]:
        """Act as ``People`` requires: in the journal's open transaction, if any, undone by itself if it fails."""
        if self.refusal is not None:
            raise StorageError(self.path, self.refusal)
        # The lock first: the number of this change follows the last one that was committed by then.
        lock = self._database.statement("SELECT pg_advisory_xact_lock('{s}.people'::regclass::oid::bigint)")
        change = self._database.statement(
            "INSERT INTO {s}.changes SELECT coalesce(max(number), 0) + 1, %(writer)s::bigint FROM {s}.changes",
            writer=self._writer,
        )
        with self._database.transaction(WRITER_SECONDS if patience is None else patience, lock, change):
            yield

    def version(self) -> int:
        """Return a number that changes when another session has written since the last call."""
        rows = self._database.rows(
            "SELECT number, writer FROM {s}.changes WHERE number > %(seen)s ORDER BY number", seen=self._seen
        )
        by_others = sum(writer != self._writer for _, writer in rows) + bool(rows and rows[0][0] > self._seen + 1)
        # rows in an open transaction may be undone, and its numbers be given out again
        if rows and not self._database.is_open:
            self._seen = rows[-1][0]
            self._version += by_others
            by_others = 0
        return int(self._version + by_others)

    # -- the secret ------------------------------------------------------------------------------------------------

    def secret(self) -> bytes:
        """Return the secret under which the ledger makes keys of facts, 32 bytes.

        Raises:
            StorageError: it is gone.
        """
        rows = self._database.rows("SELECT secret FROM {s}.secret")
        if not rows:
            raise StorageError(self.path, "its secret is gone: have the names restored from a copy")
        return bytes(rows[0][0])

    def secret_to_try(self) -> bytes:
        """Return the secret; a server's names have one from the beginning."""
        return self.secret()

    def take_secret(self, secret: bytes) -> None:
        """Have the secret of another ledger, before any key was made."""
        with self._writing():
            self._database.run(
                "INSERT INTO {s}.secret VALUES (1, %(secret)s) ON CONFLICT (number) DO UPDATE SET secret = %(secret)s",
                secret=secret,
            )

    # -- numbers ---------------------------------------------------------------------------------------------------

    def _take_in(self, persons: Sequence[Person]) -> int:
        return self._database.copy("people", _COLUMNS, ("int8", "text", "text", "bytea", "text"), persons)

    def highest(self) -> int:
        """Return the highest number that has a row; 0 if there is none."""
        return int(self._database.rows("SELECT coalesce(max(player), 0) FROM {s}.people")[0][0])

    def rows_between(self, first: int, last: int) -> int:
        """Return how many of these numbers have a row."""
        query = "SELECT count(*) FROM {s}.people WHERE player BETWEEN %(first)s AND %(last)s"
        return int(self._database.rows(query, first=first, last=last)[0][0])

    def counts(self) -> tuple[int, int]:
        """Return number of rows and highest number. The server puts rows and indexes together: no program can."""
        ((rows, highest),) = self._database.rows("SELECT count(*), coalesce(max(player), 0) FROM {s}.people")
        return int(rows), int(highest)

    def numbers(self) -> set[int]:
        """Return every number that has a row, erased or not."""
        return {player for (player,) in self._database.rows("SELECT player FROM {s}.people")}

    def has_nameless(self) -> bool:
        """Return whether a player was erased, or a name lost."""
        query = "SELECT EXISTS (SELECT FROM {people} WHERE identity IS NULL)"
        return bool(self._database.rows(query)[0][0])

    def nameless(self) -> list[int]:
        """Return the numbers of all who were erased, or whose names were lost."""
        query = "SELECT player FROM {people} WHERE identity IS NULL ORDER BY player"
        return [player for (player,) in self._database.rows(query)]

    # -- names -----------------------------------------------------------------------------------------------------

    def _persons(self, condition: str, **values: Value) -> list[Person]:
        query = f"SELECT {_COLUMNS} FROM {{people}} WHERE {condition}"
        return [Person(*row) for row in self._database.rows(query, **values)]

    def names(self) -> list[tuple[int, str]]:
        """Return the number and name of all players who were not erased, in order of the numbers."""
        return self._database.rows("SELECT player, name FROM {people} WHERE name IS NOT NULL ORDER BY player")

    def identities_and_names(self) -> list[tuple[int, str, str]]:
        """Yield number, identity and name of all who were not erased, in order of the numbers."""
        named = "identity IS NOT NULL AND name IS NOT NULL"
        return self._database.rows(f"SELECT player, identity, name FROM {{people}} WHERE {named} ORDER BY player")

    def identities(self) -> list[tuple[int, str]]:
        """Return the number and identity of all players who were not erased, in order of the numbers."""
        return self._database.rows("SELECT player, identity FROM {people} WHERE identity IS NOT NULL ORDER BY player")

    def _beyond(self, player: int, most: int, *, highest_first: bool) -> list[Person]:
        condition = "player < %(player)s" if highest_first else "player > %(player)s"
        order = "ORDER BY player DESC" if highest_first else "ORDER BY player"
        return self._persons(f"{condition} AND salt IS NOT NULL {order} LIMIT %(most)s", player=player, most=most)

    def _spelt_so(self, identities: set[str]) -> dict[str, Person]:
        # Each by itself: the server has no statistics by which to choose a way for all of them. OFFSET 0 keeps it from
        # making one join of it.
        query = (
            f"SELECT {_COLUMNS} FROM json_array_elements_text(%(asked)s::json) AS asked(word) CROSS JOIN LATERAL "
            f'(SELECT * FROM {{people}} WHERE identity = asked.word COLLATE "C" OFFSET 0) AS people'
        )
        return {row[1]: Person(*row) for row in self._database.rows(query, asked=json.dumps(_storable(identities)))}

    def _otherwise_spelt(self) -> list[str]:
        query = (
            "SELECT identity FROM {people} WHERE identity <> lower(identity) "
            "OR strpos(identity, '  ') > 0 OR strpos(identity, ': ') > 0 OR identity ~ '[^ -~]' "
            "OR starts_with(identity, 'fide:0') ORDER BY player"
        )
        return [identity for (identity,) in self._database.rows(query)]

    def by_number(self, players: Iterable[int]) -> dict[int, Person]:
        """Return the known ones of these players, in order of the numbers."""
        persons = self._persons("player = ANY(%(players)s) ORDER BY player", players=bigint_array(players))
        return {person.player: person for person in persons}

    def _bearing(self, word: str, bearers: Sequence[int] | None, *, any_case: bool = False) -> list[Person]:
        if not _storable([word]):
            return []
        asked, like = '%(word)s::text COLLATE "C"', "{} = {}"
        if any_case:  # in this collation, as in SQLite, English letters alone have a case
            like = "lower({}) = lower({})"
        among = "" if bearers is None else "player = ANY(%(bearers)s) AND "
        condition = f"({like.format('identity', asked)} OR {among}{like.format('name', asked)})"
        return self._persons(f"{condition} ORDER BY player", word=word, bearers=bigint_array(bearers or ()))

    def _some_names(self, most: int) -> list[tuple[str, str]]:
        query = "SELECT identity, name FROM {people} WHERE salt IS NOT NULL ORDER BY player LIMIT %(most)s"
        return self._database.rows(query, most=most)

    def _names_like(self, word: str, most: int) -> list[tuple[str, str]]:
        # a pattern as SQLite has it: no sign takes away the meaning of another
        begins = "ILIKE (%(begin)s::text || '%') COLLATE \"C\" ESCAPE ''"
        query = (
            f"SELECT identity, name FROM {{people}} WHERE salt IS NOT NULL AND (name {begins} "
            f"OR identity {begins} OR strpos(name, %(word)s::text) > 0) ORDER BY player LIMIT %(most)s"
        )
        begin, prefix = word[:1], word
        return self._database.rows(
            query,
            begin=begin if _storable([begin]) else None,
            word=prefix if _storable([prefix]) else None,
            most=most,
        )

    # -- forgetting ------------------------------------------------------------------------------------------------

    def mark_erased(self, players: Iterable[int]) -> None:
        """Read these players as erased from now on."""
        self._database.hidden.update(players)

    def clean(self) -> bool:
        """Rewrite each table, which drops rows that no open transaction may read any more; and all statistics.

        Returns:
            False if a transaction that began before is open, so that old rows were kept.

        Raises:
            StorageError: the server refuses, has objects of another program there, or had made statistics of names.
        """
        return self._cleaned(READER_SECONDS)

    def clean_soon(self, patience: float) -> bool:
        """Act as ``clean``, but wait no longer than so many seconds for those who read or write."""
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
            for fault in foreign_objects(self._database.session().connection(), self._schema):
                raise StorageError(self.path, fault)
        with self._database.transaction(patience):
            ((emptied,),) = self._database.rows("SELECT {s}.without_statistics()")
            self._database.run(
                "DELETE FROM {s}.changes WHERE number <= (SELECT max(number) FROM {s}.changes) - %(kept)s",
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

        connection = self._database.session().connection()
        connection.add_notice_handler(count)
        try:
            with self._database.transaction(patience):
                rewrite = self._database.statement("SELECT {s}.written_anew(%(table)s)", table=table)
                self._database.session().ask(rewrite, patience=_LONGEST, place=self.path)
        finally:
            connection.remove_notice_handler(count)
        return kept

    def copies(self) -> str:
        """Return the server's log, and the copies made of it; standbys and replicas follow the leader in all else."""
        ((archives, standbys),) = self._database.rows(
            "SELECT current_setting('archive_mode') <> 'off', (SELECT count(*) FROM pg_replication_slots) "
            "+ (SELECT count(*) FROM pg_stat_replication)"
        )
        return (
            "the server's write-ahead log may still tell until its files are written over"
            + (", that of its standbys too" if standbys else "")
            + (", the archive of that log until it expires" if archives else "")
            + ", base backups and dumps until they expire, and so may a log of statements"
        )


def _storable(words: Iterable[str]) -> list[str]:
    """Return those of these words that a text on the server may hold: no player has another name."""
    return [word for word in words if "\x00" not in word and (word.isascii() or not _SURROGATE.search(word))]


_SURROGATE = re.compile("[\ud800-\udfff]")


class _StorePart:
    """A part of a store on a server with one subject.

    Attributes:
        path: the store as messages name it.
    """

    def __init__(self, database: NamesDatabase, begin: Begin) -> None:
        """Take the database, and what begins a write transaction that waits so many seconds for others."""
        self.path = database.place
        self._database = database
        self._begin = begin

    def _writing(self, patience: float | None = None) -> AbstractContextManager[None]:
        return self._begin(patience)


class _ServerChanges(_StorePart):
    """The pending changes on a server."""

    def __init__(
        self,
        database: NamesDatabase,
        begin: Begin,
        out_of_indexes: Callable[[Sequence[int]], None],
    ) -> None:
        """Take the database, and what takes former names out of its indexes."""
        super().__init__(database, begin)
        self._out_of_indexes = out_of_indexes


class PostgresPendingNames(_ServerChanges, PendingNames):
    """The names on a server that are about to be given."""

    def rows(self) -> list[Pending]:
        """Return all pending names, in order of the players."""
        rows = self._database.rows("SELECT player, number, name, salt FROM {s}.renaming ORDER BY player")
        return [Pending(*row) for row in rows]

    def _keep(self, pending: Pending) -> None:
        with self._writing():
            self._database.run(
                "INSERT INTO {s}.renaming VALUES (%(player)s, %(number)s::bigint, %(name)s, %(salt)s) "
                "ON CONFLICT (player) "
                "DO UPDATE SET number = excluded.number, name = excluded.name, salt = excluded.salt",
                **pending._asdict(),
            )

    def give(self, pending: Pending) -> None:
        """Give the name to its player, unless that is done already or the player was erased; the row stays."""
        with self._writing():
            self._database.run(
                "UPDATE {s}.people SET name = %(name)s, salt = %(salt)s WHERE player = %(player)s AND salt IS NOT NULL "
                "AND EXISTS (SELECT FROM {s}.renaming r WHERE r.player = %(player)s AND r.number = %(number)s::bigint "
                "AND r.salt = %(salt)s)",
                **pending._asdict(),
            )
            self._out_of_indexes([pending.player])

    def drop(self, pending: Pending) -> None:
        """Delete the row, unless another one has replaced it."""
        with self._writing():
            self._database.run(
                "DELETE FROM {s}.renaming WHERE player = %(player)s AND salt = %(salt)s",
                player=pending.player,
                salt=pending.salt,
            )

    def show(self, sealed: Sequence[Pending]) -> None:
        """Read the people by these names from now on: the journal committed to them."""
        self._database.sealed.update(pending.salt for pending in sealed)


_KNOWN = "(identity IS NOT NULL OR name IS NOT NULL OR salt IS NOT NULL)"


class PostgresPendingErasures(_ServerChanges, PendingErasures):
    """The incomplete erasures on a server."""

    def rows(self) -> dict[int, str]:
        """Return, by player, the person who requested the erasure."""
        return dict(self._database.rows("SELECT player, actor FROM {s}.erasing ORDER BY player"))

    def stored_players(self, players: Iterable[int]) -> list[int]:
        """Return those of these players of whom more than the number is stored, in order, however they are shown."""
        query = f"SELECT player FROM {{s}}.people WHERE player = ANY(%(players)s) AND {_KNOWN} ORDER BY player"
        return [player for (player,) in self._database.rows(query, players=bigint_array(players))]

    def begin(self, players: Iterable[int], actor: str) -> int:
        """Forget identity, name and salt of players, and a name that was to be given; their old bytes may stay."""
        numbers = list(players)
        with self._writing():
            blanked = self._database.run(
                "UPDATE {s}.people SET identity = NULL, name = NULL, salt = NULL "
                f"WHERE player = ANY(%(players)s) AND {_KNOWN}",
                players=bigint_array(numbers),
            )
            self._database.run(
                "DELETE FROM {s}.renaming WHERE player = ANY(%(players)s)", players=bigint_array(numbers)
            )
            self._out_of_indexes(numbers)
            self._database.run(
                "INSERT INTO {s}.erasing SELECT DISTINCT unnest(%(players)s::bigint[]), %(actor)s::text "
                "ON CONFLICT DO NOTHING",
                players=bigint_array(numbers),
                actor=actor,
            )
        return blanked

    def drop(self, players: Iterable[int]) -> None:
        """Delete the rows of these players, whose erasure is complete."""
        with self._writing():
            self._database.run("DELETE FROM {s}.erasing WHERE player = ANY(%(players)s)", players=bigint_array(players))


class PostgresReasons(_StorePart, Reasons):
    """The reasons of corrections on a server."""

    def __init__(self, database: NamesDatabase, begin: Begin, clean_whole: Callable[[], None]) -> None:
        """Take the database, and the function that rewrites it."""
        super().__init__(database, begin)
        self._clean_whole = clean_whole

    def _clean(self) -> None:
        self._clean_whole()

    def _add(self, rows: Sequence[KeptReason]) -> None:
        for row in rows:
            self._database.run(
                "INSERT INTO {s}.reasons SELECT coalesce(max(number), 0) + 1, %(commitment)s::text, %(entry)s::text, "
                "%(salt)s::bytea, %(text)s::text FROM {s}.reasons",
                **row._asdict(),
            )

    def _newest_first(self) -> Iterator[tuple[int, str, str]]:
        number, most = 2**62, 1
        while rows := self._database.rows(
            "SELECT number, commitment, entry FROM {s}.reasons WHERE number < %(number)s "
            "ORDER BY number DESC LIMIT %(most)s",
            number=number,
            most=most,
        ):
            yield from rows
            number, most = rows[-1][0], 1_000

    def _drop(self, numbers: Sequence[int]) -> None:
        if numbers:
            self._database.run("DELETE FROM {s}.reasons WHERE number = ANY(%(numbers)s)", numbers=bigint_array(numbers))

    def _kept(self, commitments: Sequence[str]) -> list[KeptReason]:
        rows = self._database.rows(
            "SELECT commitment, entry, salt, text FROM {s}.reasons WHERE commitment = ANY(%(asked)s) ORDER BY number",
            asked=text_array(_storable(commitments)),
        )
        return list(map(KeptReason._make, rows))

    def _blank(self, commitments: Sequence[str]) -> int:
        return self._database.run(
            "UPDATE {s}.reasons SET salt = NULL, text = NULL WHERE commitment = ANY(%(asked)s) "
            "AND (salt IS NOT NULL OR text IS NOT NULL)",
            asked=text_array(_storable(commitments)),
        )


class _Index(_StorePart, NameIndex):
    """One index of names in tables of its own; a class says which table."""

    TABLE: ClassVar[str]

    def reached(self) -> int:
        """Return the highest number in the index; 0 if it is empty."""
        return int(self._database.rows(f"SELECT coalesce(max(player), 0) FROM {{s}}.{self.TABLE}")[0][0])

    def _later(self, player: int, most: int) -> list[tuple[int, str]]:
        query = (
            "SELECT player, name FROM {s}.people WHERE player > %(player)s AND name IS NOT NULL "
            "ORDER BY player LIMIT %(most)s"
        )
        return self._database.rows(query, player=player, most=most)

    def _stored(self, players: Sequence[int]) -> list[tuple[int, str]]:
        query = "SELECT player, name FROM {s}.people WHERE player = ANY(%(players)s) AND name IS NOT NULL"
        return self._database.rows(query, players=bigint_array(players))

    def _leave(self, players: Sequence[int]) -> None:
        self._database.run(
            f"DELETE FROM {{s}}.{self.TABLE} WHERE player = ANY(%(players)s)", players=bigint_array(players)
        )


class PostgresNameFolds(_Index, NameFolds):
    """The players who have a whole name, on a server."""

    TABLE = "people_folds"

    def _enter(self, forms: Iterable[tuple[int, str]]) -> None:
        self._database.copy(self.TABLE, "player, name", ("int8", "text"), forms)

    def _pending(self) -> list[int]:
        return [player for (player,) in self._database.rows("SELECT player FROM {s}.renaming")]

    def _names(self, player: int) -> list[tuple[int, str]]:
        query = "SELECT player, name FROM {people} WHERE name IS NOT NULL AND player > %(player)s ORDER BY player"
        return self._database.rows(query, player=player)

    def _indexed(self, forms: Sequence[str]) -> list[int]:
        # each by itself, as in ``_spelt_so`` of the people
        query = (
            "SELECT player FROM json_array_elements_text(%(forms)s::json) AS asked(word) CROSS JOIN LATERAL "
            '(SELECT player FROM {s}.people_folds f WHERE f.name = asked.word COLLATE "C" OFFSET 0) AS bearers'
        )
        return [player for (player,) in self._database.rows(query, forms=json.dumps(_storable(forms)))]

    def _names_of(self, players: Sequence[int]) -> list[tuple[int, str]]:
        query = "SELECT player, name FROM {people} WHERE name IS NOT NULL AND player = ANY(%(players)s)"
        return self._database.rows(query, players=bigint_array(players))


def trigrams(words: Iterable[str]) -> set[int]:
    """Return each three letters in a row within words, as a number of 63 bits: a code point has 21."""
    numbers: set[int] = set()
    for word in words:
        letters = list(map(ord, word))
        numbers.update([a << 42 | b << 21 | c for a, b, c in zip(letters, letters[1:], letters[2:], strict=False)])
    return numbers


class PostgresNameSearch(_Index, NameSearch):
    """The search by a part of a name on a server: an inverted index (GIN) of three letters on end."""

    TABLE = "people_search"

    def _enter(self, forms: Iterable[tuple[int, str]]) -> None:
        # bytes go as they are, for any type of the column
        rows = ((player, words, bigint_array(trigrams(words.split()))) for player, words in forms)
        self._database.copy(self.TABLE, "player, words, trigrams", ("int8", "text", "bytea"), rows)

    def _after(self, player: int) -> list[NameMatch]:
        condition = "player > %(player)s AND name IS NOT NULL"
        query = f"SELECT player, identity, name FROM {{people}} WHERE {condition}"
        return list(map(NameMatch._make, self._database.rows(query, player=player)))

    def _holding(self, words: Sequence[str]) -> list[NameMatch]:
        # who has all trigrams of a word may have them apart: the words themselves are looked through
        query = (
            "SELECT people.player, identity, name FROM {people} JOIN {s}.people_search s USING (player) "
            "WHERE s.trigrams @> %(trigrams)s::bigint[] AND name IS NOT NULL "
            "AND NOT EXISTS (SELECT FROM unnest(%(words)s::text[]) AS asked(word) WHERE strpos(s.words, word) = 0)"
        )
        rows = self._database.rows(query, trigrams=bigint_array(trigrams(words)), words=text_array(words))
        return list(map(NameMatch._make, rows))
