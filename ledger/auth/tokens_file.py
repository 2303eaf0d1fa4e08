"""The file with the log of refusals, the sessions at the desk and the idempotency keys of a ledger in files.

It names people, so only its owner may read or write it. It is no part of the journal and of no backup.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from ledger.auth.token_store import KEY_BYTES, TokenStore, Value
from ledger.errors import StorageError
from ledger.facts.person_names import matches_a_name, redact_names
from ledger.runtime import sqlite
from ledger.runtime.file_guard import schema_faults as faults
from ledger.runtime.file_guard import split_statements

LAYOUT = 4
SCHEMA = """
CREATE TABLE file(
  only INTEGER PRIMARY KEY CHECK(only = 1),
  hash_key BLOB NOT NULL,
  ledger BLOB NOT NULL
) STRICT;
CREATE TABLE refusals(
  number INTEGER PRIMARY KEY,
  at TEXT NOT NULL,
  tried TEXT NOT NULL,
  claimed TEXT,
  token INTEGER,
  rule TEXT NOT NULL,
  reason TEXT NOT NULL
) STRICT;
CREATE TABLE sessions(
  hash BLOB PRIMARY KEY,
  token INTEGER NOT NULL,
  entry INTEGER NOT NULL,
  digest TEXT NOT NULL,
  begun_ms INTEGER NOT NULL,
  used_ms INTEGER NOT NULL,
  ends_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE sendings(
  number INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  digest BLOB NOT NULL,
  entry TEXT NOT NULL,
  reason TEXT NOT NULL,
  proposals INTEGER NOT NULL
) STRICT;
"""
REMEDY = "move the file aside: the next refusal or session makes a new one"
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_READABLE_BY_OTHERS = stat.S_IRGRP | stat.S_IROTH


class FileTables:
    """The tables of an open file of tokens."""

    def __init__(self, connection: sqlite.FileConnection) -> None:
        self._connection = connection

    @property
    def key(self) -> bytes:
        """The key under which words are hashed."""
        return bytes(self._connection.execute("SELECT hash_key FROM file").fetchone()[0])

    def rows(self, query: str, **values: Value) -> list[Any]:
        """Return the rows of an SQL query."""
        return self._connection.execute(query.replace("{s}", "main"), values).fetchall()

    def run(self, statement: str, **values: Value) -> int:
        """Run an SQL statement, and return the number of rows that it changed."""
        return self._connection.execute(statement.replace("{s}", "main"), values).rowcount

    def run_in_turn(self, *statements: tuple[str, Mapping[str, Value]]) -> list[int]:
        """Run SQL statements within the write transaction."""
        return [self.run(statement, **values) for statement, values in statements]


class TokensFile(TokenStore):
    """The token store of a ledger in files.

    It is opened for each question, so that the file may be replaced.
    """

    keeps_claims = True

    def __init__(self, path: Path, ledger: Callable[[], bytes]) -> None:
        """Take the place of the file, which need not exist, and the identity of its ledger.

        Args:
            path: of the file.
            ledger: gives the hash of the journal's first entry, 32 bytes.
        """
        self.path = path
        self.place, self.where = str(path), f"beside {path.name!r}"
        self._ledger = ledger

    def exists(self) -> bool:
        """Return whether the file has tables; an empty file counts as none.

        Raises:
            StorageError: what a process that was stopped has left in it cannot be taken back.
        """
        # another process writes it, or was stopped while doing so
        if self._size() and Path(f"{self.path}-journal").exists():
            with closing(sqlite.connect(self.path, remedy=REMEDY)) as connection:
                connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # takes back what was not committed
        return self._size() > 0

    def _size(self) -> int:
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    def warning(self) -> str | None:
        """Return a warning if other users may read the file: they learn who has tokens, but no token."""
        if os.name == "posix" and self.exists() and self.path.stat().st_mode & _READABLE_BY_OTHERS:
            return f"{self.path}: others may read who holds tokens and what was refused; run 'chmod 600' on it"
        return None

    def forget(self, names: Collection[str]) -> None:
        """Remove the names of an erased person from the log."""
        if not self.exists():
            return
        with self._writing() as database:
            for number, tried, claimed, reason in database.rows("SELECT number, tried, claimed, reason FROM refusals"):
                kept = None if claimed is None or matches_a_name(claimed, names) else claimed
                row = redact_names(tried, names), kept, redact_names(reason, names)
                if row != (tried, claimed, reason):
                    database.run(
                        "UPDATE refusals SET tried = :tried, claimed = :claimed, reason = :reason "
                        "WHERE number = :number",
                        **dict(zip(("tried", "claimed", "reason"), row, strict=True)),
                        number=number,
                    )

    def create(self) -> None:
        """Make the empty file if there is none."""
        with self._writing():
            pass

    # -- the file --------------------------------------------------------------------------------------------------

    @contextmanager
    def _open(self, *, make: bool = False) -> Iterator[sqlite.FileConnection]:
        """Open the file, which must be of this ledger and as this program made it.

        Raises:
            StorageError: it is not; or others may write it, so that what it says proves nothing.
        """
        self._check_permissions(make=make)
        connection = sqlite.connect(self.path, remedy=REMEDY)
        try:
            # A commit is the removal of the rollback journal; FULL lets a power cut bring that back, and with it a
            # session that was ended.
            connection.execute("PRAGMA synchronous=EXTRA")
            connection.execute("PRAGMA secure_delete=ON")  # a name that goes is overwritten
            if make:
                self._fill(connection)
            sqlite.check_identity(connection, self.path, sqlite.TOKENS_ID, LAYOUT)
            for fault in faults(connection, SCHEMA):
                raise StorageError(self.place, fault)
            # The log and the sessions of another ledger name other people.
            ledgers = connection.execute("SELECT ledger FROM file").fetchall()
            if ledgers != [(self._ledger(),)]:
                raise StorageError(self.place, f"holds the tokens of another ledger; {REMEDY}")
            yield connection
        finally:
            connection.close()

    @contextmanager
    def _reading(self) -> Iterator[FileTables | None]:
        if not self.exists():
            yield None
            return
        with self._open() as connection:
            yield FileTables(connection)

    @contextmanager
    def _writing(self) -> Iterator[FileTables]:
        with self._open(make=True) as connection, sqlite.write_transaction(connection):
            yield FileTables(connection)

    def _fill(self, connection: sqlite.FileConnection) -> None:
        """Make the tables where there are none, once."""
        with sqlite.write_transaction(connection):
            if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                return
            for statement in split_statements(SCHEMA):
                connection.execute(statement)
            row = (secrets.token_bytes(KEY_BYTES), self._ledger())
            connection.execute("INSERT INTO file VALUES (1, ?, ?)", row)
            connection.execute(f"PRAGMA application_id={sqlite.TOKENS_ID}")
            connection.execute(f"PRAGMA user_version={LAYOUT}")

    def _check_permissions(self, *, make: bool) -> None:
        try:
            # For its owner alone from its first byte on; so is the log that SQLite makes next to it.
            os.close(os.open(self.path, os.O_RDWR | (os.O_CREAT if make else 0), 0o600))
        except OSError as error:
            message = f"{error.strerror}; only who may read and write it can use tokens here"
            raise StorageError(self.place, message) from error
        if os.name == "posix" and self.path.stat().st_mode & _WRITABLE_BY_OTHERS:
            message = "others may write it, so that it proves nothing; look through 'token log', then 'chmod 600' it"
            raise StorageError(self.place, message)
