"""The PostgreSQL store of the journal. Only this module writes its tables; entries, tree and heads are as in a file.

Writers take a lock of the transaction, by a number that is the table's own, before they read what the last entry is.
No sequence, for a transaction that is undone leaves a gap in one; no row that counts, for its dead copies pile up
behind every reader with an old snapshot (3,300 appends a second fell to 465). Readers take no lock, and no transaction
stays open between two questions.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import chain, count
from typing import NamedTuple

from ledger.errors import CorruptError, StorageError
from ledger.journal import KeyTakenError, StoredEntry
from ledger.journal.merkle import Node
from ledger.journal.postgres_tables import LAYOUT, PROGRAM, TRIGGERS, Roles, creation_sql
from ledger.journal.stored_tree import ENDING, Edge, StoredTree, StoredWriter, recorded_at_of
from ledger.runtime import postgres
from ledger.runtime.lazy import psycopg
from ledger.runtime.postgres import UNKNOWN_OUTCOME, quoted, without_password
from ledger.runtime.postgres_rows import COPY_END, COPY_HEADER, copy_pieces
from ledger.runtime.postgres_session import (
    BYTEA,
    PATIENCE,
    LostError,
    ServerAnswer,
    ServerSession,
    ServerStatement,
    StatementRefusedError,
    Value,
    packed_array,
    text_array,
)

BLOCK = 50_000  # positions that a round trip of a read covers
STEP = 1_000  # of them that one statement covers, so that the server goes on while we take what it has sent
_BETWEEN = b"\0"  # bodies of one answer; JSON has none within
KEYS_A_QUERY = 5_000
FEW = 100  # keys whose entries are remembered through a transaction
GRACE = 5.0  # seconds more than the server waits for the lock, so that it can say so
READS, WRITES = "the ledger's role for those who read", "the ledger's role for those who record"

# READ COMMITTED: the statement after the lock sees what the writer before has committed. The one snapshot of a stricter
# level is taken with the first statement, which waits for the lock, and would not (PostgreSQL, "Transaction
# Isolation").
_BEGIN = ServerStatement("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
_BEGIN_SNAPSHOT = ServerStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
_COMMIT, _ROLLBACK = ServerStatement("COMMIT"), ServerStatement("ROLLBACK")
_RELEASE, _UNDO = ServerStatement("RELEASE SAVEPOINT append"), ServerStatement("ROLLBACK TO SAVEPOINT append")
# A commit that writes, and so waits for standbys: a transaction that only reads waits for none.
_MARK = ServerStatement("SELECT pg_logical_emit_message(true, 'rating-ledger', '')")
_LOCK = "SELECT pg_advisory_xact_lock($1)"
_LOCK_TIMEOUT = "SELECT set_config('lock_timeout', $1, $2::text::boolean)"
_TAKEN = "23505"  # unique_violation
_TYPES = ("int8", "text", "text", "bytea", "bytea")  # of an entry's columns

# A value that changes with the table or its triggers. It costs as much as a row: it is read before many are
# copied; a single one that a trigger changes is refused by its own statement.
_TABLE_VERSION = """
SELECT concat(c.xmin, (SELECT string_agg(concat(t.oid, '.', t.xmin), ',') FROM pg_trigger t WHERE t.tgrelid = c.oid))
FROM pg_class c WHERE c.oid = $1::bigint::oid
"""
# Of several privileges in one text the server says whether any is held ("Access Privilege Inquiry Functions"): so it is
# asked of those that no recorder may have, and each of the others by itself.
_LOOK = """
SELECT has_schema_privilege(n.oid, 'USAGE'), j.oid::bigint, has_table_privilege(j.oid, 'SELECT'),
  has_table_privilege(j.oid, 'INSERT'), has_table_privilege(j.oid, 'UPDATE, DELETE, TRUNCATE'), current_user
FROM pg_namespace n LEFT JOIN pg_class a ON a.relnamespace = n.oid AND a.relname = 'about'
  LEFT JOIN pg_class j ON j.relnamespace = n.oid AND j.relname = 'journal' AND a.oid IS NOT NULL
WHERE n.nspname = $1
"""
_ANYBODY = re.compile(r"""(?:^|[\s(,])"?\*"?(?:$|[\s),])""")  # among the names of standbys, the one that is any
_PROMISE = "SELECT current_setting('synchronous_standby_names'), current_setting('synchronous_commit')"
# Objects on our tables, ours and foreign ones, each with its table.
_OBJECTS = """
SELECT 'trigger', c.relname::text, t.tgname::text, t.tgenabled::text
FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
WHERE c.relnamespace = $1::text::regnamespace AND NOT t.tgisinternal
UNION ALL SELECT 'rule', c.relname::text, r.rulename::text, '' FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
WHERE c.relnamespace = $1::text::regnamespace AND c.relkind = 'r'
UNION ALL SELECT 'policy', c.relname::text, 'row security', '' FROM pg_class c
WHERE c.relnamespace = $1::text::regnamespace AND c.relrowsecurity
UNION ALL SELECT 'unlogged', c.relname::text, '', '' FROM pg_class c
WHERE c.relnamespace = $1::text::regnamespace AND c.relkind = 'r' AND c.relpersistence <> 'p'
"""


class _Statements(NamedTuple):
    about: str
    leave: str
    size: str
    last: str
    leaves: str
    nodes: str
    read: str
    read_each: str
    find_one: str
    find: str
    keys_from: str
    keys_after: str
    text: str
    insert: str
    insert_if_new: str
    copy: str
    keep_texts: str


def _statements(schema: str) -> _Statements:
    s = quoted(schema)
    stretch = "position > $1::bigint AND position <= $2::bigint ORDER BY position"
    insert = f"INSERT INTO {s}.journal(position, kind, key, body, leaf) VALUES ($1, $2, $3, $4, $5)"
    # division by zero, if a foreign trigger changed the row
    unchanged = "RETURNING 1 / (position = $1 AND kind = $2 AND key = $3 AND body = $4 AND leaf = $5)::integer"
    return _Statements(
        about=f"SELECT name, value FROM {s}.about",
        leave=f"SELECT {s}.leave($1::text)",
        size=f"SELECT coalesce(max(position), 0) FROM {s}.journal",
        last=f"SELECT position, leaf, substr(body, length(body) - {ENDING - 1}) FROM {s}.journal "
        "ORDER BY position DESC LIMIT 1",
        leaves=f"SELECT leaf FROM {s}.journal WHERE {stretch}",
        nodes=f"SELECT hash FROM {s}.nodes WHERE level = $1::bigint AND number >= $2::bigint AND number < $3::bigint "
        "ORDER BY number",
        # One value of many bodies: on 18 a third less of the processor's time than a row for each, on 15 a little less.
        read="SELECT count(*), string_agg(body, '\\x00'::bytea) "
        f"FROM (SELECT body FROM {s}.journal WHERE {stretch}) AS stretch",
        read_each=f"SELECT body FROM {s}.journal WHERE {stretch}",
        find_one=f"SELECT key, position, body, leaf FROM {s}.journal WHERE key = $1::text",
        find=f"SELECT key, position, body, leaf FROM {s}.journal WHERE key = ANY($1::text[]) ORDER BY position",
        keys_from=f"SELECT key FROM {s}.journal WHERE key >= $1::text AND key < $2::text ORDER BY key LIMIT $3::bigint",
        keys_after=f"SELECT key FROM {s}.journal WHERE key > $1::text AND key < $2::text ORDER BY key LIMIT $3::bigint",
        text=f"SELECT zstd FROM {s}.texts WHERE sha256 = $1::bytea",
        insert=f"{insert} {unchanged}",
        insert_if_new=f"{insert} ON CONFLICT (key) DO NOTHING {unchanged}",
        copy=f"SAVEPOINT append; COPY {s}.journal(position, kind, key, body, leaf) FROM STDIN (FORMAT binary)",
        keep_texts=f"SELECT {s}.keep_texts($1::bytea[], $2::bytea[])",
    )


class PostgresJournal(StoredTree):
    """A journal in one schema of a database, shared by any number of reading and writing processes.

    Attributes:
        identity: the journal's identity: 32 hexadecimal digits, made with its tables.
        went_to: where the ledger was moved to from here; None if it was not moved.
    """

    def __init__(
        self,
        address: str,
        schema: str,
        *,
        identity: str | None = None,
        patience: float = PATIENCE,
        needs_quorum: bool = False,
    ) -> None:
        """Open an existing journal.

        Args:
            address: of the database, without a password.
            schema: the schema of the tables.
            identity: the identity that the journal must have, if it is known.
            patience: seconds that the server may be silent, and that another writer may take.
            needs_quorum: whether nothing may be recorded on a server that waits for no other one.

        Raises:
            StorageError: the server cannot be reached or trusted, or this is no journal, or another one.
        """
        self._needs_quorum = needs_quorum
        self.path = f"{without_password(address)}, schema {schema}"
        self.schema = schema
        self.identity = identity or ""
        self._statements = _statements(schema)
        self._edge = Edge()
        # the last entry, and its leaf, that all required servers have, as far as this process knows
        self._settled: tuple[int, bytes | None] = (0, None)
        self._seen = 0  # entries that were given in answers, which may be gone with a lost server
        self.went_to: str | None = None
        self._fault: str | None = None  # why this user, or any user, may not write
        self._writer: PostgresWriter | None = None
        self._oid = 0  # of the table of entries
        self._version = ""  # of that table, when everything on it was ours
        self._patience = patience
        self._session = ServerSession(address, self._check, patience + GRACE)
        try:
            self._session.ask(ServerStatement(self._statements.about))
        except BaseException:
            self._session.close()
            raise

    @classmethod
    def create(
        cls, address: str, schema: str, *, roles: Roles | None = None, patience: float = PATIENCE
    ) -> PostgresJournal:
        """Make an empty journal in a new schema, with roles for those who record and those who read.

        The address must be that of a user who may make schemas and roles.

        Raises:
            StorageError: the schema exists, or cannot be made.
        """
        identity, place = secrets.token_hex(16), f"{without_password(address)}, schema {schema}"
        with closing(postgres.connect(address)) as connection, postgres.storage_errors(address):
            # Not by ``has_schema``, which needs the right to use it.
            question = "SELECT count(*) FROM pg_namespace WHERE nspname = %s"
            if connection.execute(question, (schema,)).fetchone() != (0,):
                raise StorageError(place, "exists already; a journal is never overwritten: give another schema")
            try:
                with connection.transaction():
                    connection.execute(creation_sql(schema, roles or Roles.of(schema), identity).encode())
            except psycopg.errors.InsufficientPrivilege as error:
                message = (
                    f"{error.diag.message_primary}: the journal must be made by a user who may make roles, and schemas "
                    "in this database; nothing was made"
                )
                raise StorageError(place, message) from error
        return cls(address, schema, identity=identity, patience=patience)

    def ask(self, *questions: ServerStatement) -> list[ServerAnswer]:
        """Run SQL queries in one round trip, and return their answers.

        They run within an open write transaction of this journal, if there is one.

        Raises:
            StorageError: the server cannot be reached, or refuses.
        """
        if self._writer is not None:
            return self._writer.ask(*questions)
        return self._session.ask(*questions)

    def run(self, *statements: ServerStatement) -> list[ServerAnswer]:
        """Change rows of other tables than the journal's in one round trip: all of them, or none.

        They become part of an open write transaction. Else they may be done twice: if the connection is lost
        meanwhile they are sent again on a new one.

        Raises:
            StorageError: the server cannot be reached or refuses, or nothing is known to be replicated.
        """
        if self._writer is not None:
            return self._writer.ask(*statements)
        self._session.warnings.clear()
        try:
            answers = self._session.ask(_BEGIN, *statements, _COMMIT)
        finally:
            self._roll_back()
        self._refuse_unreplicated()
        return answers[1:-1]

    def _refuse_unreplicated(self) -> None:
        """Raise StorageError for the warning of a cancelled wait for standbys: the commit itself had no error."""
        if self._session.warnings:
            message = (
                f"{self._session.warnings[0]}: not known to be replicated: run the command again, what was recorded is "
                "then found to be known"
            )
            raise StorageError(self.path, message)

    def session(self) -> ServerSession:
        """Return the database session, to share this journal's transactions.

        An open writer's pending statements are sent first.

        Raises:
            StorageError: an open transaction was lost with its connection.
        """
        if self._writer is not None:
            self._writer.ask()
        return self._session

    def close(self) -> None:
        """Close the connection."""
        self._session.close()

    def _check(self, session: ServerSession) -> None:
        """Check on each new connection that the tables are this journal's, and note why this user may not write."""
        try:
            # Not by ``ask``: where the connection is lost again that would open another one, and come here again,
            # within itself.
            (look,) = session.ask_once(ServerStatement(_LOOK, [self.schema]))
            if not look.count:
                raise StorageError(
                    self.path,
                    "there is no such schema: check its name, or make the ledger there by 'rating-ledger init'",
                )
            (usage, oid, may_read, may_add, may_change, user) = look.rows()[0]
            role = f"the role {user!r}"
            if not usage or (oid is not None and not may_read):
                raise StorageError(self.path, f"{role} may not read it: have it granted {READS}")
            if oid is None:
                raise StorageError(self.path, "is no ledger: check the address and the schema")
            about, objects, version, promise, _ = session.ask_once(
                ServerStatement(self._statements.about),
                ServerStatement(_OBJECTS, [quoted(self.schema)]),
                ServerStatement(_TABLE_VERSION, [oid]),
                ServerStatement(_PROMISE),
                ServerStatement(_LOCK_TIMEOUT, [f"{max(1, int(1_000 * self._patience))}ms", "false"]),
            )
        except (LostError, StatementRefusedError) as error:
            raise session.explained_error(error) from error
        settings = dict(about.rows())
        self._check_identity(settings)
        self._oid, self._version = oid, version.value()
        self._fault, self.went_to = None, settings.get("gone")
        if faults := _faults(objects):
            self._fault = f"{faults[0]}: that was not this program; have it undone before anything is recorded"
        elif not may_add:
            self._fault = f"{role} may only read: have it granted {WRITES}, or give the address another user"
        elif may_change:
            self._fault = (
                f"{role} may change and delete what is recorded, as the owner and every superuser may: record by "
                f"another user, who is granted {WRITES}"
            )
        elif self.went_to is not None:
            self._fault = f"the ledger went to {self.went_to}: record there; this one is as it was then"
        elif self._needs_quorum:
            self._fault = promises_too_little(*promise.rows()[0])

    def _check_identity(self, about: dict[str, str]) -> None:
        if about.get("program") != PROGRAM:
            raise StorageError(
                self.path, "is no ledger, but tables of another program: check the address and the schema"
            )
        if about.get("layout") != str(LAYOUT):
            way_out = (
                "it was made before the first release: back it up with that version, and restore it with this one"
                if about.get("layout") == "1"
                else "it was written by a later version of this program: install that one"
            )
            message = f"has layout {about.get('layout')}, this program reads layout {LAYOUT}; {way_out}"
            raise StorageError(self.path, message)
        identity = about.get("journal", "")
        if self.identity not in ("", identity):
            raise StorageError(self.path, "is another ledger than before: check the address and the schema")
        self.identity = identity

    @contextmanager
    def _snapshot(self) -> Iterator[None]:
        self.ask(_BEGIN_SNAPSHOT)
        try:
            yield
        finally:
            self._roll_back()

    def _roll_back(self) -> None:
        if self._session.in_transaction:
            try:
                self._session.ask_once(_ROLLBACK)
            except (LostError, StatementRefusedError):
                self._session.drop()  # the server rolls back a transaction without a client

    def size(self) -> int:
        """Return the number of committed entries."""
        (answer,) = self.ask(ServerStatement(self._statements.size))
        size: int = answer.value()
        self._seen = max(self._seen, size)
        return size

    def _last(self) -> tuple[int, bytes | None]:
        (answer,) = self.ask(ServerStatement(self._statements.last))
        size, leaf = _position_and_leaf(answer)
        self._seen = max(self._seen, size)
        return size, leaf

    def _find_last(self, size: int, leaf: bytes | None) -> int:
        """Return *size* as for any store; entries that this process only read may have been lost with a server."""
        try:
            return super()._find_last(size, leaf)
        except CorruptError:
            settled, its_leaf = self._settled
            last_leaf = self._leaves(settled - 1, settled) if settled else [its_leaf]
            if self._edge.frontier.size <= settled or last_leaf != [its_leaf]:
                raise
        # Entries beyond the settled ones went with a lost server: the edge is read again from the tables.
        self._edge = Edge()
        return size

    def _leaves(self, first: int, last: int) -> list[bytes]:
        (answer,) = self.ask(ServerStatement(self._statements.leaves, [first, last]))
        return answer.column()

    def _nodes(self, level: int, first: int, last: int) -> list[bytes]:
        (answer,) = self.ask(ServerStatement(self._statements.nodes, [level, first, last]))
        return answer.column()

    def read(self, after: int = 0, until: int | None = None) -> Iterator[list[bytes]]:
        """Yield the bodies of entries in order, in blocks of 50,000 (``Journal.read``)."""
        last = self.size() if until is None else min(until, self.size())
        for start in range(after, last, BLOCK):
            end = min(start + BLOCK, last)
            stretches = [[first, min(first + STEP, end)] for first in range(start, end, STEP)]
            answers = self.ask(*(ServerStatement(self._statements.read, stretch) for stretch in stretches))
            bodies: list[bytes] = []
            for stretch, answer in zip(stretches, answers, strict=True):
                ((stored, joined),) = answer.rows()
                parts = [] if joined is None else joined.split(_BETWEEN)
                if len(parts) != stored:  # a changed body may hold anything
                    parts = self.ask(ServerStatement(self._statements.read_each, stretch))[0].column()
                bodies += parts
            if bodies:
                yield bodies

    def find(self, keys: Sequence[str]) -> dict[str, StoredEntry]:
        """Return the committed entries with these unique keys of facts, by key."""
        questions = self._finding(keys)
        return _entries_by_key(self.ask(*questions)) if questions else {}

    def _finding(self, keys: Sequence[str]) -> list[ServerStatement]:
        # no text of PostgreSQL has a NUL, so no entry bears such a key
        keys = [key for key in keys if "\0" not in key]
        if len(keys) == 1:  # a live game asks for one
            return [ServerStatement(self._statements.find_one, keys)]
        blocks = [keys[start : start + KEYS_A_QUERY] for start in range(0, len(keys), KEYS_A_QUERY)]
        return [ServerStatement(self._statements.find, [text_array(block)]) for block in blocks]

    def keys(self, first: str, last: str) -> Iterator[str]:
        """Yield the committed keys from *first* on and before *last*, in order of their bytes."""
        step = 1  # whether there is any is asked most often
        (answer,) = self.ask(ServerStatement(self._statements.keys_from, [first, last, step]))
        while keys := answer.column():
            yield from (key.decode() for key in keys)
            if len(keys) < step:
                return
            step = min(step * 8, BLOCK)
            (answer,) = self.ask(ServerStatement(self._statements.keys_after, [keys[-1], last, step]))

    def text(self, sha256: bytes) -> bytes | None:
        """Return the zstd frame of a movetext, or None."""
        (answer,) = self.ask(ServerStatement(self._statements.text, [sha256]))
        return next(iter(answer.column()), None)

    def mark_moved(self, place: str) -> None:
        """Refuse all further entries, because the ledger was moved to an address that the refusal names.

        Call it within a write transaction, so that nothing was recorded since the other place has all entries.
        """
        self.ask(ServerStatement(self._statements.leave, [place]))

    def ensure_durable(self) -> None:
        """Wait until all entries that could be read at the call are on as many servers as required.

        An entry can be read before standbys have it, and is lost if the leader is lost at that moment. If nothing was
        recorded since the last call, only the size is asked.

        Raises:
            StorageError: it is not known whether they are, or some entries were lost with a server.
        """
        self.size()
        if self._seen <= self._settled[0]:
            return
        edge = self._edge
        try:
            # Asked in the transaction that waits, for the connection may be one to another server by now.
            _, last, leaves, _ = self._session.ask(
                _BEGIN,
                ServerStatement(self._statements.last),
                ServerStatement(self._statements.leaves, [edge.frontier.size - 1, edge.frontier.size]),
                _MARK,
            )
            PostgresWriter(self, self._session, edge).commit()
        finally:
            self._roll_back()
        size, leaf = _position_and_leaf(last)
        is_gone = size < self._seen or (edge.frontier.size > 0 and leaves.column() != [edge.last_leaf])
        self._find_last(size, leaf)
        self._settled, self._seen = (size, leaf), size
        if is_gone:
            raise StorageError(
                self.path,
                "entries that were read here are gone with a server that was lost before another one had them; they "
                "were never acknowledged: run the command again",
            )

    @contextmanager
    def writing(self, patience: float | None = None, *, keys: Sequence[str] = ()) -> Iterator[PostgresWriter]:
        """Begin a write transaction, committed durably when the block ends without an error.

        Raises:
            StorageError: another process writes, the server does not answer or refuses, or the tables were changed.
            CorruptError: an entry of this process, now or before, is missing there.
        """
        try:
            few = keys if len(keys) <= FEW else ()
            last, *rows = self._begin(patience, self._finding(few))
            self._catch_up(self._find_last(*_position_and_leaf(last)))
            for _, _, ending in last.rows():
                self._edge.recorded_at = recorded_at_of(ending)
            self._writer = writer = PostgresWriter(self, self._session, self._edge.copy())
            writer.remember(few, _entries_by_key(rows))
            yield writer
            if not writer.added and writer.saw_any:
                # An answer that a fact is recorded already must be about an entry that is not lost.
                writer.ask(_MARK)
            writer.commit()
        finally:
            self._writer = None
            self._roll_back()
        self._edge = writer.edge
        self.recorded += writer.added
        if writer.added or writer.saw_any:
            self._settled = max(self._settled, (writer.size, writer.edge.last_leaf), key=lambda settled: settled[0])
        # a single entry is looked for when the next transaction begins
        if writer.added > 1:
            self._find_last(*self._last())

    def check_table(self) -> None:
        """Check that the table of entries and its triggers are unchanged since the last check.

        Raises:
            StorageError: there is a trigger or a rule that this program did not make, or one of its own is gone.
        """
        (version,) = self.ask(ServerStatement(_TABLE_VERSION, [self._oid]))
        if version.rows() != [(self._version,)]:
            self._check(self._session)
            if self._fault is not None:
                raise StorageError(self.path, self._fault)

    def faults(self) -> list[str]:
        """Return messages about foreign, missing or disabled objects on the tables."""
        (objects,) = self.ask(ServerStatement(_OBJECTS, [quoted(self.schema)]))
        return _faults(objects)

    def _begin(self, patience: float | None, questions: Sequence[ServerStatement]) -> list[ServerAnswer]:
        """Begin a transaction and take the lock; return the last entry, and the answers to the questions."""
        wait = []
        if patience is not None:  # the least that the server can wait is a thousandth
            wait.append(ServerStatement(_LOCK_TIMEOUT, [f"{max(1, int(1_000 * patience))}ms", "true"]))
        if not self._session.is_open:  # what may not be written is known by then
            self._session.ask(ServerStatement(self._statements.size))
        while True:
            if self._fault is not None:  # it may have been mended meanwhile
                self._check(self._session)
            for refusal in (self.refusal, self._fault):
                if refusal is not None:
                    raise StorageError(self.path, refusal)
            oid = self._oid
            # Each time: Patroni changes the servers to wait for whenever one comes or goes.
            promise = [ServerStatement(_PROMISE)] if self._needs_quorum else []
            answers = self._session.ask(
                _BEGIN,
                *wait,
                ServerStatement(_LOCK, [oid]),
                *promise,
                ServerStatement(self._statements.last),
                *questions,
                patience=None if patience is None else patience + GRACE,
            )
            if self._oid == oid:
                begun = answers[len(wait) + 2 :]
                if promise and (fault := promises_too_little(*begun.pop(0).rows()[0])) is not None:
                    raise StorageError(self.path, f"{fault}; nothing was recorded")
                return begun
            # The connection was lost and is another one now, to tables that a restore made.
            self._roll_back()


def promises_too_little(standbys: str, commit: str) -> str | None:
    """Return why acknowledged entries may be lost with a server; None if another one has them by then.

    Args:
        standbys: the server's setting ``synchronous_standby_names``.
        commit: the server's setting ``synchronous_commit``.
    """
    # With "local" a commit waits for no other server, with "off" not even for its own disk ("synchronous_commit").
    if standbys and commit in {"on", "remote_write", "remote_apply"}:
        if _ANYBODY.search(standbys) is None:
            return None
        return (
            f"it waits for whichever server comes (synchronous_standby_names is {standbys!r}), as Patroni has it while "
            "all others are away: a copy that is only being made would count as one that has the entry, and an "
            "acknowledged entry be lost; have another server back, or name those whose word counts"
        )
    setting = f"synchronous_commit is {commit}" if standbys else "synchronous_standby_names is empty"
    return (
        f"{setting}, so that what it acknowledges may be lost with it, and the settings say that another server is to "
        "have it too: have synchronous_standby_names and synchronous_commit set, or take the line 'durability' away"
    )


def _position_and_leaf(last: ServerAnswer) -> tuple[int, bytes | None]:
    return next(((position, leaf) for position, leaf, *_ in last.rows()), (0, None))


def _entries_by_key(answers: Iterable[ServerAnswer]) -> dict[str, StoredEntry]:
    return {key: StoredEntry(*entry) for answer in answers for key, *entry in answer.rows()}


def _faults(objects: ServerAnswer) -> list[str]:
    """Return messages about the foreign objects on the tables, and own ones that are missing or disabled."""
    own = {(table, name) for table, names in TRIGGERS.items() for name in names}
    there = objects.rows()
    faults = []
    for kind, table, name, enabled in there:
        if kind == "unlogged":
            faults.append(f"the table {table!r} is unlogged, so that a crash empties it")
        elif kind != "trigger" or (table, name) not in own:
            faults.append(f"the table {table!r} has a {kind} {name!r}")
        elif enabled not in ("O", "A"):
            # pg_trigger: O fires but for replication, A always; R would fire for replication alone, D never.
            faults.append(f"the trigger {name!r} of the table {table!r} is switched off")
    missing = own - {(table, name) for kind, table, name, _ in there if kind == "trigger"}
    return faults + [f"the trigger {name!r} of the table {table!r} is gone" for table, name in sorted(missing)]


class PostgresWriter(StoredWriter):
    """One write transaction on a ``PostgresJournal``.

    Statements that need no answer wait for the next one that does, or for the commit: one round trip for all.
    """

    def __init__(self, journal: PostgresJournal, session: ServerSession, edge: Edge) -> None:
        super().__init__(journal.path, edge)
        self._journal = journal
        self._session = session
        self._statements = journal._statements
        self._looked_up: dict[str, StoredEntry | None] = {}  # by key, its entry; no other process can take it by now
        self.saw_any = False  # whether stored entries were looked up
        self._is_checked = False  # the table cannot be changed any more once it has a row of this transaction
        # each with the number of rows that it must add, and its table
        self._waiting: list[tuple[ServerStatement, int | None, str]] = []

    def ask(self, *questions: ServerStatement) -> list[ServerAnswer]:
        """Send the waiting SQL statements, then these, and return the answers to these."""
        if not self._session.in_transaction:  # on a new connection nothing holds the lock
            raise StorageError(self.path, f"the transaction ended when the server was lost: {UNKNOWN_OUTCOME}")
        if not (self._waiting or questions):
            return []
        waiting, self._waiting = self._waiting, []
        answers = self._session.ask(*(question for question, *_ in waiting), *questions)
        for answer, (_, expected, table) in zip(answers, waiting, strict=False):
            if expected is not None:
                self.check_row_count(answer.count, expected, table)
        return answers[len(waiting) :]

    def commit(self) -> None:
        """Commit, durably and on as many standbys as the server is set up for.

        Raises:
            StorageError: nothing is known to be recorded, or not to be replicated.
        """
        # What an earlier statement warned of says nothing of this commit.
        self._session.warnings.clear()
        self.ask(_COMMIT)
        self._journal._refuse_unreplicated()

    def remember(self, keys: Iterable[str], entries: Mapping[str, StoredEntry]) -> None:
        """Cache the entries found for a few keys under the lock; a key without an entry is not used yet."""
        self.saw_any = self.saw_any or bool(entries)
        self._looked_up |= {key: entries.get(key) for key in keys}

    def find(self, keys: Sequence[str]) -> dict[str, StoredEntry]:
        """Return the entries with these unique keys of facts, by key; entries of this transaction included."""
        if len(keys) > FEW:
            entries = self._journal.find(keys) if self.size else {}
            self.saw_any = self.saw_any or bool(entries)
            return entries
        if not self._looked_up.keys() >= set(keys):
            self.remember(keys, self._journal.find(keys) if self.size else {})
        return {key: stored for key in keys if (stored := self._looked_up[key]) is not None}

    def _last_body(self) -> bytes:
        (answer,) = self.ask(ServerStatement(self._statements.last))
        ending: bytes = answer.rows()[0][2]
        return ending

    def _insert(
        self, kinds: Iterable[str], keys: Sequence[str], bodies: Sequence[bytes], leaves: Sequence[bytes]
    ) -> None:
        if len(keys) > 1:
            self._copy(kinds, keys, bodies, leaves)
        else:
            row: list[Value] = [self.size + 1, next(iter(kinds)), keys[0], bodies[0], leaves[0]]
            # Asked under the lock, and free: no process takes it before the commit, so the row goes with it and an
            # entry costs two round trips. ``...`` is a key that was not asked.
            if self._looked_up.get(keys[0], ...) is None:
                self._waiting.append((ServerStatement(self._statements.insert, row), 1, "journal"))
            else:
                (answer,) = self.ask(ServerStatement(self._statements.insert_if_new, row))
                if not answer.count:
                    raise KeyTakenError
        # What was looked up before says of them that they are free.
        for key in keys:
            self._looked_up.pop(key, None)

    def _copy(
        self, kinds: Iterable[str], keys: Sequence[str], bodies: Sequence[bytes], leaves: Sequence[bytes]
    ) -> None:
        """Insert many rows by COPY, which adds none if one key is taken."""
        # Either way what waits is sent first: a COPY has the connection to itself, and its rows follow those that wait.
        if self._is_checked:
            self.ask()
        else:
            self._journal.check_table()
            self._is_checked = True
        # Not strict: the positions have no end, and kinds may be repeated without one.
        rows = zip(count(self.size + 1), kinds, keys, bodies, leaves, strict=False)
        try:
            data = (piece.data for piece in copy_pieces(_TYPES, rows))
            taken = self._session.copy_in(self._statements.copy, chain([COPY_HEADER], data, [COPY_END]))
        except StatementRefusedError as error:
            if error.code == _TAKEN and error.constraint == "journal_key":
                self.ask(_UNDO, _RELEASE)
                raise KeyTakenError from error
            raise self._session.explained_error(error) from error
        except LostError as error:
            raise self._session.explained_error(error) from error
        self._waiting.append((_RELEASE, None, ""))
        self.check_row_count(taken, len(keys), "journal")

    def _insert_nodes(self, nodes: Sequence[Node]) -> None:
        """Do nothing: the server adds them with the entries that they follow from."""

    def store_texts(self, texts: Iterable[tuple[bytes, bytes]]) -> None:
        """Store (SHA-256, zstd frame) pairs of movetext; an existing one stays."""
        frames = dict(texts)
        if frames:
            columns = [packed_array(BYTEA, frames), packed_array(BYTEA, frames.values())]
            # How many of them are new is unknown: stored ones are skipped.
            self._waiting.append((ServerStatement(self._statements.keep_texts, columns), None, "texts"))
