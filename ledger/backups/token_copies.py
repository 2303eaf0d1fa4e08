"""The copying of a token store with a ledger that moves: one transaction onto a server, one file that appears complete.

No backup has it. A ledger that moves takes it along, so that the log is kept, sessions continue, and a request that is
sent again is recognised by its idempotency key.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

from ledger.auth.postgres_token_tables import schema_of, writer_lock_sql
from ledger.auth.postgres_tokens import without_nul
from ledger.auth.tokens_file import TokensFile
from ledger.backups.server_copies import copy_table_to_file, send_rows
from ledger.backups.server_rows import (
    TOKEN_KEY,
    TOKEN_TABLES,
    Digest,
    SchemaPlace,
    begin_snapshot,
    file_digest,
    pieces,
    read_file_rows,
    read_server_rows,
    server_digest,
)
from ledger.errors import CorruptError, StorageError
from ledger.journal.settings_file import ServerPlace
from ledger.runtime import postgres, sqlite
from ledger.runtime.ledger_files import atomic_file, sidecar
from ledger.runtime.long_work import Progress


def tokens_to_server(path: Path, first: bytes, place: ServerPlace, progress: Progress) -> None:
    """Copy the token store next to the journal at *path* onto a server; existing rows stay.

    *first* is the hash of the journal's first entry; the user of *place* may record.

    Raises:
        StorageError: the file or the server refuses, or the tokens of another ledger are there.
    """
    source = TokensFile(sidecar(path, "tokens"), lambda: first)
    if not source.exists():
        return
    source.create()  # refuses a file of another ledger or layout
    with (
        closing(postgres.connect(place.address)) as connection,
        closing(sqlite.connect(source.path, read_only=True)) as file,
    ):
        there = _place(connection, place)
        with postgres.storage_errors(there.name):
            if not postgres.has_schema(there.connection, there.schema):
                message = (
                    "is not there, though the other schemas of the ledger are: give another schema; nothing is lost, "
                    "and the ledger is where it was"
                )
                raise StorageError(there.name, message)
            file.execute("BEGIN")
            with connection.transaction():
                _send_all(file, str(source.path), there, progress)


def _send_all(file: sqlite.sqlite3.Connection, path: str, there: SchemaPlace, progress: Progress) -> None:
    # other writers there wait, and find the key then
    there.connection.execute(writer_lock_sql(there.schema).encode())
    key = list(read_file_rows(file, TOKEN_KEY))
    if present_key := [tuple(map(bytes, row)) for row in read_server_rows(there, TOKEN_KEY)]:
        if present_key != key:  # what they are is a secret
            raise StorageError(there.name, "holds the tokens of another ledger; give another schema")
        return  # all of it came in one transaction, before the move was interrupted
    for table in TOKEN_TABLES:
        digest, done = Digest(), 0
        # no text of PostgreSQL has a NUL
        rows = (
            tuple(without_nul(value) if isinstance(value, str) else value for value in row)
            for row in read_file_rows(file, table)
        )
        waiting = pieces(table, rows, path)
        while added := send_rows(there, table, waiting, digest):
            done += added
            progress(f"copy {table.name}", done, done)
        if server_digest(there, table) != digest.text():
            raise CorruptError(there.name, 0, f"table {table.name} is not as it was sent: have its operator look")


def tokens_to_file(place: ServerPlace, path: Path, first: bytes, progress: Progress) -> None:
    """Copy a server's token store into the file next to the journal at *path*, which appears complete.

    Raises:
        StorageError: the server refuses, or another file is in the way.
    """
    target = TokensFile(sidecar(path, "tokens"), lambda: first)
    with closing(postgres.connect(place.address)) as connection:
        there = _place(connection, place)
        with postgres.storage_errors(there.name):
            if not postgres.has_schema(there.connection, there.schema):
                return
            begin_snapshot(connection)
            key = [tuple(map(bytes, row)) for row in read_server_rows(there, TOKEN_KEY)]
            if not key:
                return  # nothing was ever written there
            # An existing file must be the copy of an earlier move, or of this one before it was interrupted.
            if target.exists():
                with closing(sqlite.connect(target.path, read_only=True)) as file:
                    present = list(read_file_rows(file, TOKEN_KEY))
                if present != key:
                    words = "is not a copy of the token store on the server: move the file away and try again"
                    raise StorageError(str(target.path), words)
            with atomic_file(target.path, replace=True) as making:
                TokensFile(making, lambda: first).create()
                _fill(making, there, progress)


def _fill(making: Path, there: SchemaPlace, progress: Progress) -> None:
    with closing(sqlite.connect(making)) as file:
        # as ``TokensFile`` writes it: a session that was ended must not be back after a power cut
        file.execute("PRAGMA synchronous=EXTRA")
        with sqlite.write_transaction(file):
            for table in TOKEN_TABLES:
                copy_table_to_file(file, there, table, progress)
        for table in TOKEN_TABLES:
            if file_digest(file, table, str(making)) != server_digest(there, table):
                raise CorruptError(str(making), 0, f"table {table.name} differs from that on the server")


def _place(connection: Any, place: ServerPlace) -> SchemaPlace:
    schema = schema_of(place.schema)
    return SchemaPlace(connection, schema, f"{place.shown}, schema {schema}")
