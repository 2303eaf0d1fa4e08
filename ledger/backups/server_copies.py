"""The copying of a complete ledger between a PostgreSQL server and files, row by row, with a proof of equality.

Everything is read from a server in one snapshot and written unchanged, true or not: the audit of the files then
verifies the server's content. Only content that the audit's reader has verified goes onto a server. The remains of an
interrupted copy into files are deleted, and the next one starts again. An interrupted copy onto a server continues
after the rows that are there, if they are the first ones of the files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from itertools import chain, islice
from operator import length_hint
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from ledger.audit import reader
from ledger.audit.reader import Snapshot
from ledger.audit.server_objects import server_faults
from ledger.backups import disk
from ledger.backups.server_rows import (
    ENTRIES,
    JOURNAL_TABLES,
    PEOPLE_TABLES,
    SECRET,
    TEXTS,
    Digest,
    SchemaPlace,
    TableToCopy,
    begin_snapshot,
    count_file_rows,
    count_server_rows,
    file_digest,
    pieces,
    read_file_rows,
    read_server_rows,
    server_digest,
)
from ledger.errors import CorruptError, StorageError, one_line
from ledger.facts.words import TreeHead
from ledger.journal import sqlite_keys
from ledger.journal.postgres_store import PostgresJournal
from ledger.journal.settings_file import ServerPlace
from ledger.journal.sqlite_store import SqliteJournal
from ledger.players import postgres_layout
from ledger.players.postgres_layout import schema_of
from ledger.players.postgres_people import PostgresPeople
from ledger.players.server_stores import make_schemas
from ledger.players.sqlite_people import SqlitePeople
from ledger.runtime import postgres, sqlite
from ledger.runtime.ledger_files import sidecar
from ledger.runtime.long_work import Progress, collector_paused, no_progress
from ledger.runtime.postgres import quoted, without_password
from ledger.runtime.postgres_rows import COPY_END, COPY_HEADER, CopyPiece
from ledger.runtime.postgres_session import ServerSession

if TYPE_CHECKING:
    import sqlite3

    from psycopg import Connection

ROWS = 5_000  # that a file takes at once
ROWS_A_COMMIT = 50_000  # that a stopped copy onto a server loses at most
LOCK_SECONDS = 30  # how long a copy onto a server waits for another writer there
ANOTHER = "another ledger is there, or another program wrote to it; give another schema"
UNFIT = "something on the server changes what is recorded; have its operator look, and make the copy in another schema"


@attrs.frozen
class LedgerContent:
    """The numbers and digests of a ledger's rows, the same in files as on a server.

    Attributes:
        rows: the number of rows, by table.
        digests: by table, the SHA-256 of its rows in order of their key, in the form of PostgreSQL's binary COPY; in
            hexadecimal.
    """

    rows: Mapping[str, int]
    digests: Mapping[str, str]


@attrs.frozen
class ServerCopy:
    """A copy of a ledger on a server that was proven to be equal to the one in files.

    Attributes:
        head: size and root of the journal: calculated from the bytes of the file, and stated by the server.
        content: read back from the server, and equal to that of the files.
            faults: a sentence for each object in the schemas that this program did not make or that is missing.
    """

    head: TreeHead
    content: LedgerContent
    faults: tuple[str, ...]


# --- from a server into files -------------------------------------------------------------------------------


def copy_to_files(address: str, schema: str, path: str | Path, progress: Progress = no_progress) -> LedgerContent:
    """Copy the ledger in a server's schema into new files: the journal at *path*, the people next to it.

    All rows are of one read snapshot and are written unchanged, so that ``audit`` of the files names the falsehoods
    on the server. The files appear when they are complete. It needs only the rights to read; while it lasts the server
    keeps the old bytes of people who are erased meanwhile.

    Args:
        address: of the database.
        schema: of the journal.
        path: the journal's file.
        progress: called with "copy TABLE", rows, and how many there are.

    Raises:
        StorageError: a file exists there or cannot be made, or the server refuses.
        CorruptError: no file of a ledger can hold a row, which is named.
    """
    target = Path(path).absolute()
    files = {"journal": target, "people": sidecar(target, "people")}
    _refuse_existing(files.values())
    making = target.with_name(f"{target.name}.making")
    with disk.locked_folder(making):
        made = making / disk.SET
        disk.make_empty_folder(made)
        copies = {role: made / file.name for role, file in files.items()}
        # both in one snapshot: a name with a commitment is there, and none that the journal does not know yet
        with _snapshot_of_server(address, schema) as (entries, names), collector_paused():
            SqliteJournal.create(copies["journal"]).close()
            of_journal = _fill(copies["journal"], entries, JOURNAL_TABLES, progress)
            SqlitePeople.create(copies["people"]).close()
            copies["people"].chmod(disk.PRIVATE)
            of_names = _fill(copies["people"], names, PEOPLE_TABLES, progress)
        disk.flush_folder(made)
        _refuse_existing(files.values())
        # the people first: a journal is what makes others take it for a ledger
        disk.move(copies["people"], files["people"])
        disk.move(copies["journal"], files["journal"])
        disk.flush(target.parent)
    return LedgerContent({**of_journal.rows, **of_names.rows}, {**of_journal.digests, **of_names.digests})


def _refuse_existing(files: Iterable[Path]) -> None:
    for file in files:
        if file.exists():
            raise StorageError(str(file), "exists already; a ledger is never overwritten: give another name")


def _places(connection: Connection[Any], address: str, schema: str) -> tuple[SchemaPlace, SchemaPlace]:
    """Return the two schemas of a ledger: the journal's and that of the names."""
    both = (schema, schema_of(schema))
    journal, names = (SchemaPlace(connection, each, f"{without_password(address)}, schema {each}") for each in both)
    return journal, names


@contextmanager
def _snapshot_of_server(address: str, schema: str) -> Iterator[tuple[SchemaPlace, SchemaPlace]]:
    """Yield the schemas of journal and names in one read snapshot, after all of it is replicated."""
    with closing(PostgresJournal(address, schema)) as opened, closing(postgres.connect(address)) as connection:
        journal, names = _places(connection, address, schema)
        postgres_layout.check(connection, names.name, schema)
        with postgres.storage_errors(journal.name):
            begin_snapshot(connection)
            count_server_rows(journal, SECRET._replace(name="about"))  # here the snapshot begins
        opened.ensure_durable()
        with postgres.storage_errors(journal.name):
            yield journal, names


def _fill(path: Path, place: SchemaPlace, tables: tuple[TableToCopy, ...], progress: Progress) -> LedgerContent:
    """Copy tables of a server into an empty file with these tables, and compare the digests of both."""
    with closing(sqlite.connect(path)) as file:
        # False rows are copied unchanged, for the audit to judge. All is flushed before it counts.
        for pragma in ("ignore_check_constraints=ON", "journal_mode=MEMORY", "synchronous=OFF", "cache_size=-65536"):
            file.execute(f"PRAGMA {pragma}")
        file.execute("BEGIN IMMEDIATE")
        guards = file.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in guards:
            file.execute(f"DROP TRIGGER {name}")
        rows = {table.name: copy_table_to_file(file, place, table, progress) for table in tables}
        if ENTRIES in tables:
            _index_keys(file, place)
        for _, sql in guards:
            file.execute(sql)
        file.execute("COMMIT")
        file.execute("PRAGMA journal_mode=WAL")
        digests = {table.name: file_digest(file, table, str(path)) for table in tables}
    for table in tables:
        if server_digest(place, table) != digests[table.name]:
            raise CorruptError(str(path), 0, f"table {table.name} differs from that on the server; nothing was made")
    return LedgerContent(rows, digests)


_REPEATED_KEY = """
SELECT min(position) FROM (SELECT max(position) AS position FROM journal GROUP BY key HAVING count(*) > 1)
"""


def _index_keys(file: sqlite.FileConnection, place: SchemaPlace) -> None:
    try:
        sqlite_keys.fill(file)
    except StorageError as error:
        if not sqlite.breaks_constraint(error):
            raise
        (row,) = file.execute(_REPEATED_KEY).fetchone()
        words = "its key is that of an earlier entry"
        message = f"table journal, row {row}: no file can hold it ({words}); {postgres.RESTORE}"
        raise CorruptError(place.name, row, message) from error


def copy_table_to_file(file: sqlite3.Connection, place: SchemaPlace, table: TableToCopy, progress: Progress) -> int:
    """Replace the rows of a file's table by those of a server's; return their number."""
    total, done = count_server_rows(place, table), 0
    insert = f"INSERT INTO {table.name}({table.column_list}) VALUES ({', '.join('?' * len(table.columns))})"
    file.execute(f"DELETE FROM {table.name}")  # the secret that the file was made with
    rows = read_server_rows(place, table)
    while block := list(islice(rows, ROWS)):
        taking = iter(block)
        try:
            file.executemany(insert, taking)
        except StorageError as error:
            if not sqlite.breaks_constraint(error):
                raise
            # ``executemany`` does not say which row was refused: it is the last one that was taken from the iterator.
            row = block[len(block) - length_hint(taking) - 1]
            words = one_line(error.__cause__)
            message = f"table {table.name}, row {row[0]}: no file can hold it ({words}); {postgres.RESTORE}"
            raise CorruptError(place.name, row[0] if table is ENTRIES else 0, message) from error
        done += len(block)
        progress(f"copy {table.name}", done, total)
    return done


# --- from files onto a server -------------------------------------------------------------------------------


def copy_to_server(
    path: str | Path,
    address: str,
    schema: str,
    *,
    progress: Progress = no_progress,
) -> ServerCopy:
    """Copy a ledger in files into a new schema of a server, and prove that the copy is equal.

    The audited bytes are copied. Others may write to the files meanwhile: a caller who moves a ledger prevents that, or
    compares the head afterwards. An interrupted copy continues after the rows in the schema; those are compared. No
    other program may write to the schema meanwhile.

    Args:
        path: the journal's file, with the people next to it.
        address: of the database, for a user who may make schemas and roles, or record if they exist already.
        schema: of the journal.
        progress: called with "journal" while it is audited, then with "copy TABLE".

    Raises:
        StorageError: the server refuses, or the schema holds another ledger, or more than the files.
        CorruptError: the files are false, or the server did not store what it received.
    """
    people_path = sidecar(path, "people")
    with closing(SqlitePeople(people_path)) as people:
        secret = people.secret()  # a file of release 0.1.0 gets one, and all of the tables
    with ExitStack() as stack:
        # the journal first: a writer begins with the people, so that these know everybody whom it names
        files = [stack.enter_context(reader.open_snapshot(str(file))) for file in (path, people_path)]
        head = _audited(files[0], files[1], progress)
        # Made after the audit alone: of files that are false nothing is left on the server.
        make_schemas(ServerPlace(address, schema))
        PostgresJournal(address, schema).close()  # an existing schema must be of a ledger
        PostgresPeople(address, schema).close()
        session = stack.enter_context(closing(ServerSession(address)))
        places = _places(session.connection(), address, schema)
        with postgres.storage_errors(places[0].name), _writing_alone(*places):
            names = PostgresPeople(address, schema, session=lambda: session)
            # they may have been made before, with another secret; it stays if there are rows that follow from it
            both = zip(places, (JOURNAL_TABLES, PEOPLE_TABLES), strict=True)
            if not any(count_server_rows(place, table) for place, of in both for table in of if table is not SECRET):
                names.adopt_secret(secret)
            content = _sent(files, places, progress)
            names.whole_names.catch_up()
            names.search.catch_up()
            _compare_content(places, content)
        with closing(PostgresJournal(address, schema)) as journal:
            there = journal.head()
            if there != head:
                raise CorruptError(places[0].name, 0, f"its head is {there}, that of the files {head}: {UNFIT}")
            journal.ensure_durable()  # and so is everything before it replicated
            return ServerCopy(head, content, tuple(server_faults(address, schema)))


def _audited(journal: Snapshot, names: Snapshot, progress: Progress) -> TreeHead:
    with collector_paused():
        verdict = reader.verify_journal(journal, None, lambda done, total: progress("journal", done, total))
    falsehoods = verdict.falsehoods or reader.verify_people(journal, names).falsehoods
    if falsehoods:
        raise CorruptError(journal.path, 0, f"{falsehoods[0]}; nothing was copied: run 'audit', restore a backup")
    return verdict.head


# Whoever may make roles may grant them to himself. The role is the one that may add to the table, besides its owner.
_WRITERS = """
SELECT DISTINCT g.grantee::regrole::text FROM pg_class c CROSS JOIN aclexplode(c.relacl) g
WHERE c.oid IN (%(journal)s::regclass, %(people)s::regclass) AND g.privilege_type = 'INSERT' AND g.grantee <> c.relowner
AND NOT has_table_privilege(c.oid, 'INSERT')
"""
# Locks of the session, not of a transaction: the rows are committed in many, and other writers must wait between two of
# them.
_LOCK = (
    "SELECT pg_advisory_lock(%(journal)s::regclass::oid::bigint), pg_advisory_lock(%(people)s::regclass::oid::bigint)"
)


@contextmanager
def _writing_alone(journal: SchemaPlace, names: SchemaPlace) -> Iterator[None]:
    """Take the locks and the rights of those who write to journal and names, until the block ends."""
    connection = journal.connection
    tables = {"journal": f"{quoted(journal.schema)}.journal", "people": f"{quoted(names.schema)}.people"}
    roles = [str(role) for (role,) in connection.execute(_WRITERS, tables).fetchall()]
    for role in roles:
        connection.execute(f"GRANT {role} TO CURRENT_USER".encode())
    try:
        connection.execute(f"SET lock_timeout = '{LOCK_SECONDS}s'".encode())
        connection.execute(_LOCK, tables)
        yield
    finally:
        if not connection.broken:
            # A transaction that failed takes no other statement before it is rolled back.
            connection.rollback()
            for role in roles:
                connection.execute(f"REVOKE {role} FROM CURRENT_USER".encode())


def _sent(files: Sequence[Snapshot], places: Sequence[SchemaPlace], progress: Progress) -> LedgerContent:
    """Send the missing rows; return the content of the files."""
    rows: dict[str, int] = {}
    digests: dict[str, str] = {}
    for file, place, tables in zip(files, places, (JOURNAL_TABLES, PEOPLE_TABLES), strict=True):
        for table in tables:
            with collector_paused():
                rows[table.name], digests[table.name] = _send(file, place, table, progress)
    return LedgerContent(rows, digests)


def _send(file: Snapshot, place: SchemaPlace, table: TableToCopy, progress: Progress) -> tuple[int, str]:
    """Send the rows of one table that are missing there; return number and digest of all."""
    total, done = count_file_rows(file.connection, table), count_server_rows(place, table)
    if done > total:
        raise StorageError(
            place.name,
            f"table {table.name} has more rows there ({done:,}) than in the files ({total:,}): {ANOTHER}",
        )
    digest = Digest()
    rows = read_file_rows(file.connection, table)
    if done:
        for piece in pieces(table, islice(rows, done), file.path):
            digest.add(piece.data)
        if server_digest(place, table) != digest.text():
            raise StorageError(place.name, _difference(file, place, table))
    waiting = pieces(table, rows, file.path)
    for first in waiting:
        done += send_rows(place, table, chain([first], waiting), digest)
        progress(f"copy {table.name}", done, total)
    return done, digest.text()


def send_rows(place: SchemaPlace, table: TableToCopy, waiting: Iterator[CopyPiece], digest: Digest) -> int:
    """Send the next rows of a table to a server in one transaction, add them to *digest*, and return their number."""
    added, target = 0, f"{quoted(place.schema)}.{table.name}"
    with place.connection.transaction(), place.connection.cursor() as cursor:
        if table is TEXTS:  # which is written only by the function
            cursor.execute(f"CREATE TEMPORARY TABLE arriving (LIKE {target}) ON COMMIT DROP".encode())
            target = "pg_temp.arriving"
        statement = f"COPY {target}({table.column_list}) FROM STDIN (FORMAT binary)".encode()
        with cursor.copy(statement) as copy:
            copy.write(COPY_HEADER)
            while added < ROWS_A_COMMIT and (piece := next(waiting, None)):
                copy.write(piece.data)
                digest.add(piece.data)
                added += piece.rows
            copy.write(COPY_END)
        taken = cursor.rowcount
        if table is TEXTS:
            keep = f"SELECT {quoted(place.schema)}.keep_texts(array_agg(sha256), array_agg(zstd)) FROM {target}"
            ((taken,),) = cursor.execute(keep.encode()).fetchall()
        # A foreign trigger or rule may leave rows out without an error: the server's own count shows it.
        if taken != added:
            raise CorruptError(place.name, 0, f"took {taken} of {added} rows into {table.name}: {UNFIT}")
    return added


def _difference(file: Snapshot, place: SchemaPlace, table: TableToCopy) -> str:
    """Return a report of rows on a server that are not the first ones of the files."""
    pairs = zip(read_server_rows(place, table), read_file_rows(file.connection, table), strict=False)
    row = next((there[0] for there, here in pairs if there != here), "unknown")
    what = "the secret differs" if table is SECRET else f"from row {row} on table {table.name} differs"
    return f"{what} from the files: {ANOTHER}"


def _compare_content(places: Sequence[SchemaPlace], content: LedgerContent) -> None:
    """Read everything back in one snapshot and compare it with the content of the files."""
    begin_snapshot(places[0].connection)
    for place, tables in zip(places, (JOURNAL_TABLES, PEOPLE_TABLES), strict=True):
        for table in tables:
            there = (count_server_rows(place, table), server_digest(place, table))
            if there != (content.rows[table.name], content.digests[table.name]):
                raise CorruptError(place.name, 0, f"table {table.name} is not as it was sent: {UNFIT}")
    places[0].connection.execute("COMMIT")
