"""The file with the log of refusals, the sessions at the desk and the idempotency keys of a ledger in files.

It names people, so only its owner may read or write it. It is no part of the journal and of no backup.
"""

from __future__ import annotations

import hmac
import os
import secrets
import stat
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from ledger.auth import token_store
from ledger.auth.sessions import IDLE_MS, MOST, NOTED_EVERY_MS, SessionRow
from ledger.auth.token_store import KEY_BYTES, RefusalRow, SendingRow, keyed_hash
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
_OF_SESSION = ", ".join(SessionRow._fields)
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_READABLE_BY_OTHERS = stat.S_IRGRP | stat.S_IROTH


class TokensFile:
    """The file of one ledger; it is opened for each question, so that a revocation holds at once."""

    keeps_claims = True

    def __init__(self, path: Path, ledger: Callable[[], bytes]) -> None:
        """Say where it is or will be, and which ledger it is of.

        Args:
            path: of the file.
            ledger: gives the hash of the journal's first entry, 32 bytes.
        """
        self.path = path
        self._ledger = ledger

    @property
    def place(self) -> str:
        """The file, as messages name it."""
        return str(self.path)

    @property
    def where(self) -> str:
        """The file, as a message goes on."""
        return f"beside {self.path.name!r}"

    def exists(self) -> bool:
        """Return whether the file was filled; an empty one is none.

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
        """Return a warning about its permissions: a reader learns who works here, but no token."""
        if os.name == "posix" and self.exists() and self.path.stat().st_mode & _READABLE_BY_OTHERS:
            return f"{self.path}: others may read who holds tokens and what was refused; run 'chmod 600' on it"
        return None

    def note(self, at: str, tried: str, claimed: str | None, token: int | None, rule: str, reason: str) -> None:
        """Write an attempt that was refused into the log; the file is made where there is none."""
        with self._writing(make=True) as connection:
            row = (at, tried, claimed, token, rule, reason)
            connection.execute(
                "INSERT INTO refusals(at, tried, claimed, token, rule, reason) VALUES (?, ?, ?, ?, ?, ?)", row
            )

    def refusals(self, last: int | None = None) -> list[RefusalRow]:
        """The log in order of time; only the *last* ones where a number is given."""
        if not self.exists():
            return []
        with self._open() as connection:
            query = "SELECT number, at, tried, claimed, token, rule, reason FROM refusals ORDER BY number DESC LIMIT ?"
            # SQLite takes a limit below zero for none.
            rows = connection.execute(query, (-1 if last is None else last,)).fetchall()
        return [RefusalRow(*row) for row in reversed(rows)]

    def forget(self, names: Collection[str]) -> None:
        """Take the names of a person who is being erased out of the log."""
        if not self.exists():
            return
        with self._writing() as connection:
            for number, tried, claimed, reason in connection.execute(
                "SELECT number, tried, claimed, reason FROM refusals"
            ).fetchall():
                kept = None if claimed is None or matches_a_name(claimed, names) else claimed
                row = redact_names(tried, names), kept, redact_names(reason, names)
                if row != (tried, claimed, reason):
                    connection.execute(
                        "UPDATE refusals SET tried = ?, claimed = ?, reason = ? WHERE number = ?", (*row, number)
                    )

    # -- sessions --------------------------------------------------------------------------------------------------

    def session(self, word: str) -> SessionRow | None:
        """The session of a word, over or not; None where there is none."""
        if not self.exists():
            return None
        with self._open() as connection:
            query = f"SELECT {_OF_SESSION} FROM sessions WHERE hash = ?"
            row = connection.execute(query, (keyed_hash(_key(connection), word),)).fetchone()
        return None if row is None else SessionRow(*row)

    def begin_session(self, word: str, session: SessionRow) -> None:
        """Keep a session; those that are over go, and the oldest of the same token where there are too many."""
        now_ms = session.begun_ms
        with self._writing(make=True) as connection:
            # what began in the future was begun by a clock that was wrong
            connection.execute(
                "DELETE FROM sessions WHERE ends_ms < ? OR used_ms < ? OR begun_ms > ?",
                (now_ms, now_ms - IDLE_MS, now_ms),
            )
            # SQLite has no OFFSET without a LIMIT; one below zero is none.
            connection.execute(
                "DELETE FROM sessions WHERE hash IN "
                "(SELECT hash FROM sessions WHERE token = ? ORDER BY begun_ms DESC, used_ms DESC LIMIT -1 OFFSET ?)",
                (session.token, MOST - 1),
            )
            row = (keyed_hash(_key(connection), word), *session)
            connection.execute(f"INSERT INTO sessions(hash, {_OF_SESSION}) VALUES (?, ?, ?, ?, ?, ?, ?)", row)

    def note_use(self, word: str, now_ms: int) -> None:
        """A session is used, which is written down where it was not a moment ago."""
        with self._writing() as connection:
            connection.execute(
                "UPDATE sessions SET used_ms = ?1 WHERE hash = ?2 AND used_ms <= ?1 - ?3",
                (now_ms, keyed_hash(_key(connection), word), NOTED_EVERY_MS),
            )

    def end_session(self, word: str) -> None:
        """A session is over."""
        with self._writing() as connection:
            connection.execute("DELETE FROM sessions WHERE hash = ?", (keyed_hash(_key(connection), word),))

    # -- what was sent ---------------------------------------------------------------------------------------------

    def sending(self, word: str, content: bytes) -> SendingRow | None:
        """Return the intended entry of a request under a word; None: there was none.

        The journal says whether it was recorded: a process that was stopped before leaves the row behind.

        Args:
            word: the mark of a repeat, with its sender.
            content: what is sent now.
        """
        if not self.exists():
            return None
        with self._open() as connection:
            key = _key(connection)
            query = "SELECT digest, entry, reason, proposals FROM sendings WHERE hash = ?"
            row = connection.execute(query, (keyed_hash(key, word),)).fetchone()
        return None if row is None else SendingRow(hmac.digest(key, content, "sha256") == row[0], *row[1:])

    def remember_key(self, word: str, content: bytes, entry: str, reason: str, proposals: int) -> None:
        """Remember, durably, what is about to be recorded of what was sent under a word, as ``SendingRow`` has it."""
        with self._writing(make=True) as connection:
            key = _key(connection)
            connection.execute(
                # A row that is replaced comes back under the highest number: what was sent last is forgotten last.
                "INSERT OR REPLACE INTO sendings(hash, digest, entry, reason, proposals) VALUES (?, ?, ?, ?, ?)",
                (keyed_hash(key, word), hmac.digest(key, content, "sha256"), entry, reason, proposals),
            )
            connection.execute(
                "DELETE FROM sendings WHERE number <= (SELECT max(number) FROM sendings) - ?",
                (token_store.MOST_SENDINGS,),
            )

    def create(self) -> None:
        """Make the empty file if there is none."""
        with self._writing(make=True):
            pass

    # -- the file --------------------------------------------------------------------------------------------------

    @contextmanager
    def _open(self, *, make: bool = False) -> Iterator[sqlite.FileConnection]:
        """The file, of this ledger and as this program made it.

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
                raise StorageError(str(self.path), fault)
            # The log and the sessions of another ledger name other people.
            ledgers = connection.execute("SELECT ledger FROM file").fetchall()
            if ledgers != [(self._ledger(),)]:
                raise StorageError(str(self.path), f"holds the tokens of another ledger; {REMEDY}")
            yield connection
        finally:
            connection.close()

    @contextmanager
    def _writing(self, *, make: bool = False) -> Iterator[sqlite.FileConnection]:
        with self._open(make=make) as connection, sqlite.write_transaction(connection):
            yield connection

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
            raise StorageError(str(self.path), message) from error
        if os.name == "posix" and self.path.stat().st_mode & _WRITABLE_BY_OTHERS:
            message = "others may write it, so that it proves nothing; look through 'token log', then 'chmod 600' it"
            raise StorageError(str(self.path), message)


def _key(connection: sqlite.FileConnection) -> bytes:
    return bytes(connection.execute("SELECT hash_key FROM file").fetchone()[0])
