"""The copy of a ledger's documented tables to a PostgreSQL schema, for others to read; nothing is ever read back.

An existing table stays: the new rows come into a temporary table, and those that differ are deleted, updated and
inserted, all tables in one transaction. Readers never wait and see one complete state; grants, views and foreign keys
of others stay; after a day's games little is written. (Dropping tables and renaming new ones would be quick to write,
but readers would wait behind its lock, a transaction that began before would find the new tables empty, and views of
others would have to be dropped.) If the columns of a table change (another scheme's state, a new version of a read
model), columns are added and dropped, at the end, while readers of that table wait for its rows.

The server's own errors about any of this are reported in one line; ``runtime.postgres`` knows the others.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs

from ledger.answers.exports.exporting import open_snapshot
from ledger.answers.exports.postgres_tables import (
    COPY_MARK,
    LONGEST_NAME,
    ORIGIN,
    CopyOrigin,
    PostgresTable,
    postgres_tables,
)
from ledger.errors import LedgerError, MalformedError, StorageError, one_line
from ledger.handle import OpenLedger
from ledger.runtime import postgres
from ledger.runtime.lazy import psycopg
from ledger.runtime.long_work import Progress, mapped_in_threads, no_progress
from ledger.runtime.postgres import quoted

if TYPE_CHECKING:
    from psycopg import Connection, Cursor

    from ledger.runtime.table_reader import TableReader

PATIENCE = 60.0  # seconds that others may keep a table from being changed
_LOCK_SECONDS = 1  # of one try: readers wait behind it
_JOURNAL = "journal"  # the table by which a schema is one that a ledger lives in
_UNCHANGED = "nothing was changed"

# By SQLSTATE: what to do about what a server refuses here.
_REMEDIES = {
    "08": f"the connection was lost: {_UNCHANGED}, or all of it; run the command again",
    "22": f"the server cannot hold this; {_UNCHANGED}",
    "2BP01": f"others depend on it, and they are not taken away: change them, then run the command again; {_UNCHANGED}",
    "23503": f"a table of others refers to a row that is no more: change it, then run the command again; {_UNCHANGED}",
    "40": f"another transaction stood in the way: {_UNCHANGED}; run the command again",
    "42501": "this role may not do that: it has to be the owner of the schema and of its tables, or to have CREATE on "
    f"the database while the schema is not there yet; {_UNCHANGED}",
    "42710": f"something of others has the name: give another --schema; {_UNCHANGED}",
    "42939": f"PostgreSQL keeps such names for itself: give another --schema; {_UNCHANGED}",
    "42P07": f"something of others has the name: give another --schema; {_UNCHANGED}",
    "53": f"the server has too little of something, disk or memory: have its operator look; {_UNCHANGED}",
    "55P03": f"somebody else changes the same rows: wait for it to end and run the command again; {_UNCHANGED}",
    "57": f"the server was stopped, or ended the statement: {_UNCHANGED}, or all of it; run the command again",
}


class CopiedTable(NamedTuple):
    """A copied table: its name, the number of its rows, and how many rows the copy changed."""

    table: str
    rows: int
    changed: int


def copy_to_postgres(
    ledger: OpenLedger,
    address: str,
    schema: str,
    *,
    names: bool = False,
    proposal: int | None = None,
    progress: Progress = no_progress,
) -> list[CopiedTable]:
    """Copy the documented tables of the views to a PostgreSQL schema: one read snapshot, in one transaction.

    Args:
        ledger: a ledger; it catches up first.
        address: address of the database, as libpq takes it, without a password.
        schema: name of the schema; it is made if it is missing.
        names: whether to copy identifying data, too.
        proposal: the open proposal of a what-if; None otherwise.
        progress: receives how many rows of each table are sent.

    Returns:
        The tables in the order of ``tables``, ``origin`` last.

    Raises:
        MalformedError: the name of the schema is none, or PostgreSQL cannot store a text.
        ProjectionError: the table of a read model is not up to date.
        StorageError: the server cannot be reached or refuses, another copy is under way, the schema holds tables of
            others or of another ledger, or others depend on tables that the copy would drop. Nothing was changed.
    """
    if not 0 < len(schema.encode()) <= LONGEST_NAME or "\0" in schema:
        raise MalformedError([f"{schema!r} is no name of a schema: it has 1 to {LONGEST_NAME} bytes"])
    with closing(postgres.connect(address)) as connection, open_snapshot(ledger) as (reader, position):
        tables = postgres_tables(ledger, names=names)
        origin = _origin(ledger, position, proposal, names=names)
        copy = _Copy(address, connection, schema, [*tables, origin.table], reader, progress)
        with copy.translating_errors(f"schema {schema!r}"), connection.transaction():
            copy.begin()
            copy.refuse_others(origin, ledger)
            return copy.put_in_place()


def _origin(ledger: OpenLedger, position: int, proposal: int | None, *, names: bool) -> CopyOrigin:
    journal = ledger.journal
    # The entries of a what-if have no root: they are not recorded.
    size = min(position, journal.head().size)
    return CopyOrigin(
        ledger=journal.root_at(1).hex(),
        position=size,
        root=journal.root_at(size).hex(),
        proposal=proposal,
        names=int(names),
    )


class _PresentTable(NamedTuple):
    """An existing table of the schema; its comment identifies a table of this program."""

    comment: str
    columns: Mapping[str, str]
    key: Sequence[str]
    comments: Mapping[str, str]


_OBJECTS = """
SELECT c.relname, c.relkind::text, coalesce(obj_description(c.oid, 'pg_class'), ''), coalesce(owner.relname, '')
FROM pg_class AS c LEFT JOIN pg_index ON indexrelid = c.oid LEFT JOIN pg_class AS owner ON owner.oid = indrelid
WHERE c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = %s)
"""
_COLUMNS = """
SELECT attname, format_type(atttypid, atttypmod), coalesce(col_description(attrelid, attnum), ''),
  coalesce(array_position(conkey, attnum), 0)
FROM pg_attribute LEFT JOIN pg_constraint ON conrelid = attrelid AND contype = 'p'
WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum
"""


@attrs.define
class _Copy:
    """One copy into a schema, in one transaction; ``present`` and ``indexes`` are what exists there."""

    address: str
    connection: Connection[Any]
    schema: str
    tables: Sequence[PostgresTable]
    reader: TableReader
    progress: Progress
    present: dict[str, _PresentTable] = attrs.field(factory=dict, init=False)
    indexes: set[str] = attrs.field(factory=set, init=False)

    def execute(self, statement: str, values: Sequence[object] | None = None) -> Cursor[Any]:
        """Run one statement."""
        return self.connection.execute(statement, values)

    def refused(self, message: str) -> StorageError:
        return StorageError(postgres.without_password(self.address), f"schema {self.schema!r}: {message}")

    @contextmanager
    def translating_errors(self, subject: str) -> Iterator[None]:
        """Translate the server's errors within the block into one line about a table or the schema."""
        try:
            yield
        except LedgerError:
            raise
        except psycopg.Error as error:
            state = error.sqlstate or "08"
            remedy = _REMEDIES.get(state) or _REMEDIES.get(state[:2])
            if remedy is None and state.startswith("XX"):  # damaged
                raise postgres.translated_error(self.address, state, str(error)) from error
            # the server names objects that depend on a table in the line below the first
            words = one_line(f"{error.diag.message_primary or error}; {error.diag.message_detail or ''}").rstrip("; .")
            message = f"{subject}: {postgres.without_password(words)}: {remedy or _UNCHANGED}"
            raise StorageError(postgres.without_password(self.address), message) from error

    def in_schema(self, name: str) -> str:
        """Return a table of the schema, as SQL."""
        return f"{quoted(self.schema)}.{quoted(name)}"

    def begin(self) -> None:
        """Refuse to run beside another copy into the schema, and make the schema if it is missing."""
        ask = self.execute
        # Such locks are numbers that all programs of a database share: this one is made of words of our own. It goes
        # with the transaction, however that ends.
        row = ask(
            "SELECT pg_try_advisory_xact_lock(hashtextextended('rating-ledger export ' || %s, 0))", (self.schema,)
        ).fetchone()
        if row != (True,):
            raise self.refused(f"another export into it is under way: wait for it to end; {_UNCHANGED}")
        # A role's own limits are meant for people's questions. What is waited for is bounded all the same.
        ask("SET LOCAL statement_timeout = 0")
        ask("SET LOCAL idle_in_transaction_session_timeout = 0")
        if self.connection.info.server_version >= 170_000:  # the first version that has it
            ask("SET LOCAL transaction_timeout = 0")
        # So that the remains of a killed command end soon, and the next one need not wait. Not every system supports
        # it, and a statement that fails would end the whole transaction: it is within a savepoint.
        with suppress(psycopg.Error), self.connection.transaction():
            ask("SET LOCAL client_connection_check_interval = '5s'")
        ask(f"SET LOCAL lock_timeout = '{int(PATIENCE * 1000)}ms'")
        ask("SET LOCAL work_mem = '64MB'")  # two tables are compared by a hash of their keys
        ask("SET LOCAL maintenance_work_mem = '256MB'")  # indexes of some million rows
        if ask("SELECT 1 FROM pg_namespace WHERE nspname = %s", (self.schema,)).fetchone() is None:
            ask(f"CREATE SCHEMA {quoted(self.schema)}")

    def refuse_others(self, origin: CopyOrigin, ledger: OpenLedger) -> None:
        """Refuse a schema with a journal, with a copy of another ledger, or with objects of others under our names."""
        rows = self.execute(_OBJECTS, (self.schema,)).fetchall()
        copies = {name for name, kind, comment, _ in rows if kind == "r" and comment.endswith(COPY_MARK)}
        needed = {table.name for table in self.tables}
        if any(name == _JOURNAL for name, _, _, _ in rows):
            raise self.refused("holds a journal: give a schema of its own to what others read")
        indexes = {index.name for table in self.tables for index in table.indexes}
        taken = {name for name, *_ in rows if name in needed - copies}
        taken |= {name for name, _, _, table in rows if name in indexes and table not in copies}
        if taken:
            raise self.refused(
                f"holds {sorted(taken)}, which this program did not make: give another --schema, or rename them; "
                f"{_UNCHANGED}"
            )
        self.indexes = {name for name, _, _, table in rows if table in copies}
        for name in sorted(copies):
            self.present[name] = self._present(name)
            # Every column of a copy has a comment: one without any was added by another user for a purpose of their
            # own.
            if name in needed and (added := sorted(self.present[name].columns - self.present[name].comments.keys())):
                raise self.refused(
                    f"table {name!r} has columns {added}, which this program did not make: put them into a table of "
                    f"their own; {_UNCHANGED}"
                )
        self._refuse_another_ledger(origin, ledger)

    def _present(self, name: str) -> _PresentTable:
        target = self.in_schema(name)
        (row,) = self.execute("SELECT obj_description(%s::regclass, 'pg_class')", (target,)).fetchall()
        columns = self.execute(_COLUMNS, (target,)).fetchall()
        places = {column: place for column, _, _, place in columns if place}
        return _PresentTable(
            comment=row[0] or "",
            columns={column: kind for column, kind, _, _ in columns},
            key=sorted(places, key=places.__getitem__),
            comments={column: comment for column, _, comment, _ in columns if comment},
        )

    def _refuse_another_ledger(self, origin: CopyOrigin, ledger: OpenLedger) -> None:
        if (
            ORIGIN not in self.present
            or {"ledger", "position", "root", "proposal"} - self.present[ORIGIN].columns.keys()
        ):
            return
        row = self.execute(f"SELECT ledger, position, root, proposal FROM {self.in_schema(ORIGIN)}").fetchone()
        if row is None:
            return
        first, position, root, _ = row
        is_other = first != origin.ledger
        # Of a position that this journal has not, as of a copy of then, nothing can be said.
        if not is_other and 0 < position <= origin.position:
            is_other = root != ledger.journal.root_at(position).hex()
        if is_other:
            raise self.refused(
                f"holds a copy of another ledger (position {position:,}, root {root[:16]}…): give another --schema, or "
                f"drop that one; {_UNCHANGED}"
            )

    def put_in_place(self) -> list[CopiedTable]:
        """Copy the rows of every table, and drop tables that no longer exist in the views.

        Tables whose columns change come last: from the change to the end their readers wait.
        """
        made: dict[str, CopiedTable] = {}
        changing = []
        for table in self.tables:
            present = self.present.get(table.name)
            with self.translating_errors(f"table {table.name!r}"):
                if present is None:
                    made[table.name] = self._new(table)
                elif present.key == list(table.key) and present.columns == _types(table):
                    made[table.name] = self._replaced(table, self._staged(table))
                else:
                    changing.append((table, self._staged(table)))
        for table, rows in changing:
            with self.translating_errors(f"table {table.name!r}"):
                made[table.name] = self._changed(table, rows)
        # of read models, or the names, that are no more among what is copied
        for name in sorted(self.present.keys() - made.keys()):
            with self.translating_errors(f"table {name!r}"):
                self._locked(name)
                self.execute(f"DROP TABLE {self.in_schema(name)}")
        # Last, because a table that was made again has lost its comments.
        for table in self.tables:
            with self.translating_errors(f"table {table.name!r}"):
                self._describe(table)
        return [made[table.name] for table in self.tables]

    def _new(self, table: PostgresTable) -> CopiedTable:
        """Make a new table: first its rows, then its key and its indexes, which is quicker."""
        self._create(table)
        rows = self._filled(table, self.in_schema(table.name), freeze=True)
        self._finish(table)
        return CopiedTable(table.name, rows, rows)

    def _create(self, table: PostgresTable) -> None:
        columns = ", ".join(
            f"{quoted(column.name)} {column.type}{' NOT NULL' if column.is_required else ''}"
            for column in table.columns
        )
        self.execute(f"CREATE TABLE {self.in_schema(table.name)}({columns})")
        if table.is_personal:
            # Statistics of a column hold values of it, for all who may read them, and after a person was erased.
            for column in table.columns:
                self.execute(
                    f"ALTER TABLE {self.in_schema(table.name)} ALTER COLUMN {quoted(column.name)} SET STATISTICS 0"
                )

    def _filled(self, table: PostgresTable, target: str, *, freeze: bool = False) -> int:
        """Send the rows of a table, block by block; return their number."""
        # Rows that are frozen need no second writing of their pages; only a new and unseen table may have them.
        options = "FORMAT csv, FREEZE" if freeze else "FORMAT csv"
        names = ", ".join(quoted(column.name) for column in table.columns)
        rows, total = 0, 0 if self.progress is no_progress else table.count()
        frames = (frame.select(column.name for column in table.columns) for frame in table.rows(self.reader))
        with self.connection.cursor().copy(f"COPY {target}({names}) FROM STDIN ({options})") as copy:
            for frame, content in mapped_in_threads(table.csv, frames):
                copy.write(content)
                rows += len(frame)
                self.progress(table.name, rows, max(total, rows))
        return rows

    def _finish(self, table: PostgresTable) -> None:
        key = ", ".join(map(quoted, table.key))
        self.execute(f"ALTER TABLE {self.in_schema(table.name)} ADD PRIMARY KEY ({key})")
        self._index(table)
        self.execute(f"ANALYZE {self.in_schema(table.name)}")

    def _index(self, table: PostgresTable) -> None:
        for index in table.indexes:
            if index.name not in self.indexes:
                where = f" WHERE {index.where}" if index.where else ""
                self.execute(
                    f"CREATE INDEX {quoted(index.name)} ON {self.in_schema(table.name)} ({index.columns}){where}"
                )

    def _staged(self, table: PostgresTable) -> int:
        """Send the rows of an existing table into a temporary one; return their number."""
        columns = ", ".join(f"{quoted(column.name)} {column.type}" for column in table.columns)
        self.execute(f"CREATE TEMPORARY TABLE {_staging(table)}({columns}) ON COMMIT DROP")
        rows = self._filled(table, _staging(table))
        self.execute(f"ANALYZE {_staging(table)}({', '.join(map(quoted, table.key))})")
        return rows

    def _replaced(self, table: PostgresTable, rows: int) -> CopiedTable:
        """Write the rows that differ between a table and its new rows."""
        target, staging, pairs = self.in_schema(table.name), _staging(table), 'pg_temp."rows that differ"'
        # Against writers alone. Until the end no row of the table is where another one was.
        self.execute(f"LOCK TABLE {target} IN SHARE ROW EXCLUSIVE MODE")
        names = [quoted(column.name) for column in table.columns]
        same_key = " AND ".join(f"new.{quoted(name)} = old.{quoted(name)}" for name in table.key)
        # By the bytes: -0.0 equals 0.0 and is another rating to the last bit.
        are_equal = f"{_record('new', names)} OPERATOR(pg_catalog.*=) {_record('old', names)}"
        differing = self.execute(
            f"CREATE TEMPORARY TABLE {pairs} ON COMMIT DROP AS SELECT old.ctid AS old_row, new.ctid AS new_row "
            f"FROM {target} AS old FULL JOIN {staging} AS new ON {same_key} "
            f"WHERE old.ctid IS NULL OR new.ctid IS NULL OR NOT ({are_equal})"
        ).rowcount
        if differing:
            self.execute(f"ANALYZE {pairs}")
            columns, values = ", ".join(names), ", ".join(f"new.{name}" for name in names)
            taken = [
                self.execute(statement).rowcount
                for statement in (
                    f"DELETE FROM {target} AS old USING {pairs} WHERE old.ctid = old_row AND new_row IS NULL",
                    # Updated, not deleted and inserted: a foreign key of others would be in the way.
                    f"UPDATE {target} AS old SET ({columns}) = ROW({values}) "
                    f"FROM {pairs} JOIN {staging} AS new ON new.ctid = new_row WHERE old.ctid = old_row",
                    f"INSERT INTO {target}({columns}) SELECT {values} "
                    f"FROM {pairs} JOIN {staging} AS new ON new.ctid = new_row WHERE old_row IS NULL",
                )
            ]
            if sum(taken) != differing:
                raise self.refused(
                    f"table {table.name!r}: of {differing:,} rows that differ {sum(taken):,} can be written; a trigger "
                    "or a rule of others keeps the rest away: take it from the table and run the command again; "
                    f"{_UNCHANGED}"
                )
        self.execute(f"DROP TABLE {staging}, {pairs}")  # the next may need their place on the disk
        self._index(table)
        if differing * 10 > rows:  # else the server sees to it in time
            self.execute(f"ANALYZE {target}")
        return CopiedTable(table.name, rows, differing)

    def _changed(self, table: PostgresTable, rows: int) -> CopiedTable:
        """Change the columns of a table, or make it again if its key changes."""
        target, present, types = self.in_schema(table.name), self.present[table.name], _types(table)
        self._locked(table.name)
        if present.key != list(table.key) or any(present.columns[name] != types.get(name) for name in present.key):
            self.execute(f"DROP TABLE {target}")
            self.indexes -= {index.name for index in table.indexes}
            self._create(table)
            names = ", ".join(quoted(column.name) for column in table.columns)
            self.execute(f"INSERT INTO {target}({names}) SELECT {names} FROM {_staging(table)}")
            self._finish(table)
            return CopiedTable(table.name, rows, rows)
        for name in present.columns:
            if present.columns[name] != types.get(name):
                self.execute(f"ALTER TABLE {target} DROP COLUMN {quoted(name)}")
        for column in table.columns:
            if present.columns.get(column.name) != types[column.name]:
                # without NOT NULL, because the existing rows have no value of it yet
                self.execute(f"ALTER TABLE {target} ADD COLUMN {quoted(column.name)} {column.type}")
        # indexes of a column go with it
        left = self.execute(_OBJECTS, (self.schema,)).fetchall()
        self.indexes = {name for name, _, _, owner in left if owner}
        return self._replaced(table, rows)

    def _locked(self, name: str) -> None:
        """Lock a table against readers, in short tries: new readers wait behind each of them."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                with self.connection.transaction():
                    self.execute(f"SET LOCAL lock_timeout = '{_LOCK_SECONDS}s'")
                    self.execute(f"LOCK TABLE {self.in_schema(name)} IN ACCESS EXCLUSIVE MODE")
            except psycopg.errors.LockNotAvailable:
                if time.monotonic() > deadline:
                    message = f"table {name!r} has to be changed, and somebody reads it for longer than {PATIENCE:g} s"
                    raise self.refused(f"{message}: end that, then run the command again; {_UNCHANGED}") from None
                time.sleep(_LOCK_SECONDS)
            else:
                # What was set within a savepoint holds on after it, to the end of the whole transaction.
                self.execute(f"SET LOCAL lock_timeout = '{int(PATIENCE * 1000)}ms'")
                return

    def _describe(self, table: PostgresTable) -> None:
        """Set the missing comments of a table and its columns."""
        target = self.in_schema(table.name)
        present = self._present(table.name)
        if present.comment != table.comment:
            self.execute(f"COMMENT ON TABLE {target} IS {_text(table.comment)}")
        by_name = {other.name: other for other in self.tables}
        for column, comment in table.comments(by_name).items():
            if present.comments.get(column) != comment:
                self.execute(f"COMMENT ON COLUMN {target}.{quoted(column)} IS {_text(comment)}")


def _staging(table: PostgresTable) -> str:
    return f"pg_temp.{quoted(table.name)}"


def _types(table: PostgresTable) -> dict[str, str]:
    """Return the types of the columns as the server reports them, without their collation."""
    return {column.name: column.type.partition(" COLLATE")[0] for column in table.columns}


def _record(row: str, names: Sequence[str]) -> str:
    # as a record; PostgreSQL would compare two plain rows of columns column by column, for which *= is not made
    return f"ROW({', '.join(f'{row}.{name}' for name in names)})::record"


def _text(words: str) -> str:
    """Return an SQL literal for any value of ``standard_conforming_strings``: COMMENT takes no parameters."""
    return "E'" + words.replace("\\", "\\\\").replace("'", "''") + "'"
