"""The rows of a ledger's tables on a server and in files, read in one form to be sent, compared and hashed.

A row has the form of PostgreSQL's binary COPY, whichever place it is read from. So a digest of a server's table is
one of the bytes that the server sends, and a file's table with the same rows has the same one. Rows are read by
queries of their own and not by the stores, so that they are shown exactly as they are stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.errors import CorruptError
from ledger.runtime import postgres_rows
from ledger.runtime.postgres import quoted
from ledger.runtime.postgres_rows import COPY_END, COPY_HEADER, BadTextError, CopyPiece

if TYPE_CHECKING:
    import sqlite3

    from psycopg import Connection

BLOCK = 5_000  # rows of a file that are read at once


class TableToCopy(NamedTuple):
    """A table that a ledger has on a server as in a file."""

    name: str
    columns: tuple[str, ...]
    types: tuple[str, ...]  # of the columns, as the server calls them
    key: tuple[str, ...]  # the columns that give the order of the rows

    @property
    def column_list(self) -> str:
        """The columns, separated by commas."""
        return ", ".join(self.columns)


def _table(name: str, columns: str, *key: str) -> TableToCopy:
    names, types = zip(*(column.split() for column in columns.split(",")), strict=True)
    return TableToCopy(name, names, types, key)


# All that is not derived. Indexes of names follow from the names; numbers of changes are one server's own.
ENTRIES = _table("journal", "position int8, kind text, key text, body bytea, leaf bytea", "position")
TEXTS = _table("texts", "sha256 bytea, zstd bytea", "sha256")
JOURNAL_TABLES = (ENTRIES, _table("nodes", "level int4, number int8, hash bytea", "level", "number"), TEXTS)
SECRET = _table("secret", "number int4, secret bytea", "number")
PEOPLE = _table("people", "player int8, identity text, name text, salt bytea, joined_at text", "player")
PEOPLE_TABLES = (
    SECRET,
    PEOPLE,
    _table("renaming", "player int8, number int4, name text, salt bytea", "player"),
    _table("erasing", "player int8, actor text", "player"),
    _table("reasons", "number int8, commitment text, entry text, salt bytea, text text", "number"),
)

# Next to the journal, and in no backup: the key of the hashes, with the ledger, comes first.
TOKEN_KEY = _table("file", "hash_key bytea, ledger bytea", "hash_key")
TOKEN_TABLES = (
    TOKEN_KEY,
    _table("refusals", "number int8, at text, tried text, claimed text, token int8, rule text, reason text", "number"),
    _table(
        "sessions", "hash bytea, token int8, entry int8, digest text, begun_ms int8, used_ms int8, ends_ms int8", "hash"
    ),
    _table("sendings", "number int8, hash bytea, digest bytea, entry text, reason text, proposals int8", "number"),
)


def pieces(table: TableToCopy, rows: Iterable[Sequence[Any]], place: str) -> Iterator[CopyPiece]:
    """Yield the rows of a table in the form of a binary COPY, in pieces of about a megabyte.

    Raises:
        CorruptError: a text is not UTF-8; *place* is the table's, as messages name it.
    """
    try:
        yield from postgres_rows.copy_pieces(table.types, rows, BLOCK)
    except BadTextError as error:
        raise CorruptError(
            place, 0, f"table {table.name}, row {error.row}: a text is not UTF-8; run 'audit'"
        ) from error


class Digest:
    """A SHA-256 over the rows of a table, in the form of a whole binary COPY."""

    def __init__(self) -> None:
        self._hash = sha256(COPY_HEADER)

    def add(self, data: bytes) -> None:
        """Add the bytes of further rows."""
        self._hash.update(data)

    def text(self) -> str:
        """Return the digest of the rows so far, in hexadecimal."""
        whole = self._hash.copy()
        whole.update(COPY_END)
        return whole.hexdigest()


# --- in a file ----------------------------------------------------------------------------------------------


def read_file_rows(connection: sqlite3.Connection, table: TableToCopy) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a file's table in order of the key, exactly as they are stored."""
    # of ``main``: a view ``temp.people``, which hides who is being erased, would go before the table
    query = f"SELECT {table.column_list} FROM main.{table.name} ORDER BY {', '.join(table.key)}"
    cursor = connection.execute(query)
    while rows := cursor.fetchmany(BLOCK):
        yield from rows


def count_file_rows(connection: sqlite3.Connection, table: TableToCopy) -> int:
    """Return the number of rows of a file's table."""
    return int(connection.execute(f"SELECT count(*) FROM main.{table.name}").fetchone()[0])


def file_digest(connection: sqlite3.Connection, table: TableToCopy, path: str) -> str:
    """Return the digest of the rows of a file's table."""
    digest = Digest()
    for piece in pieces(table, read_file_rows(connection, table), path):
        digest.add(piece.data)
    return digest.text()


# --- on a server --------------------------------------------------------------------------------------------


class SchemaPlace(NamedTuple):
    """A schema of a server, with the connection that reads it."""

    connection: Connection[Any]
    schema: str
    name: str  # as messages have it, without a password


def _query(schema: str, table: TableToCopy) -> bytes:
    # a column whose type was changed is read as the right type
    columns = ", ".join(f"{name}::{kind}" for name, kind in zip(table.columns, table.types, strict=True))
    # PostgreSQL takes a bare name in ORDER BY for the column that comes out, which may have been converted
    order = ", ".join(f"rows.{name}" for name in table.key)
    query = f"SELECT {columns} FROM {quoted(schema)}.{table.name} AS rows ORDER BY {order}"
    return f"COPY ({query}) TO STDOUT (FORMAT binary)".encode()


def read_server_rows(place: SchemaPlace, table: TableToCopy) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a server's table in order of the key, within the caller's transaction."""
    with place.connection.cursor() as cursor, cursor.copy(_query(place.schema, table)) as copy:
        copy.set_types(table.types)
        yield from copy.rows()


def count_server_rows(place: SchemaPlace, table: TableToCopy) -> int:
    """Return the number of rows of a server's table."""
    row = place.connection.execute(f"SELECT count(*) FROM {quoted(place.schema)}.{table.name}".encode()).fetchone()
    return int(row[0]) if row else 0


def server_digest(place: SchemaPlace, table: TableToCopy) -> str:
    """Return the digest of the rows of a server's table, from the bytes that the server sends."""
    whole = sha256()
    with place.connection.cursor() as cursor, cursor.copy(_query(place.schema, table)) as copy:
        for data in copy:
            whole.update(data)
    return whole.hexdigest()


def begin_snapshot(connection: Connection[Any]) -> None:
    """Begin a transaction that only reads, in one read snapshot, in which no policy silently hides a row."""
    connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    connection.execute("SET LOCAL row_security = off")
