"""Opening a ledger file to be verified: read-only, in one snapshot, with errors turned into ours. No hashing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from ledger.errors import CorruptError, LedgerError, StorageError, one_line

if TYPE_CHECKING:
    import sqlite3
else:
    try:
        from pysqlite3 import dbapi2 as sqlite3
    except ImportError:
        import sqlite3

FIRST_FALSEHOODS = 20
LOCK_WAIT_SECONDS = 5.0
RESTORE = "restore the file from a copy whose head is known"

# SQLite's own words may quote damaged bytes, which Python then cannot decode.
READ_ERRORS = (sqlite3.Error, UnicodeDecodeError)


@attrs.frozen
class Falsehood:
    """One thing in a file that is not what was sealed.

    Attributes:
        table: the table it stands in, or ``file`` for damage that belongs to none.
        position_or_key: journal position, player number, node, text hash, or the name of the check.
        message: what is false, which value, and what to do.
    """

    table: str
    position_or_key: int | str
    message: str

    def __str__(self) -> str:
        entry = " entry" if self.table == "journal" and isinstance(self.position_or_key, int) else ""
        return f"{self.table}{entry} {self.position_or_key}: {self.message}"


@contextmanager
def opened(path: str, *tables: str) -> Iterator[sqlite3.Connection]:
    """One read-only snapshot of a file that must hold *tables*; what SQLite raises becomes ours."""
    if not _is_file(path):
        raise StorageError(path, "no such file; give the path of an existing ledger file")
    connection = None
    try:
        connection = _connect(path)
        held = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        for table in tables:
            if table not in held:
                raise StorageError(
                    path, f"has no table {table!r}: empty or not a ledger file; check the path"
                )
        yield connection
    except READ_ERRORS as error:
        raise _translated(path, error) from error
    finally:
        if connection is not None:
            connection.close()


def _is_file(path: str) -> bool:
    try:
        return Path(path).is_file()
    except OSError as error:
        raise StorageError(path, f"cannot be reached ({error.strerror}); check its folders") from error


def _connect(path: str) -> sqlite3.Connection:
    """Open *path* read-only; as a fixed file where its folder is read-only and no log lies beside it."""
    address = f"{Path(path).absolute().as_uri()}?mode=ro"
    log = Path(f"{path}-wal")
    try:
        return _snapshot(address)
    except sqlite3.OperationalError as error:
        cannot_make_log = "unable to open" in str(error) or "readonly database" in str(error)
        if not cannot_make_log or (log.exists() and log.stat().st_size):
            raise
        return _snapshot(f"{address}&immutable=1")


def _snapshot(address: str) -> sqlite3.Connection:
    connection = sqlite3.connect(address, LOCK_WAIT_SECONDS, uri=True, isolation_level=None)
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except READ_ERRORS:
        connection.close()
        raise
    return connection


def _translated(path: str, error: Exception) -> LedgerError:
    if "not a database" in str(error):
        return StorageError(path, "is not an SQLite database, or its first page was overwritten")
    if isinstance(error, sqlite3.OperationalError):
        return StorageError(path, f"cannot be read ({one_line(error)}); check its rights and what locks it")
    return CorruptError(path, 0, f"cannot be read ({one_line(error)}): pages are damaged; {RESTORE}")


def shown(value: object) -> str:
    """A value for a message, on one line and never long."""
    text = value.hex() if isinstance(value, bytes) and len(value) == 32 else ascii(value)
    return text if len(text) <= 100 else f"{text[:97]}..."
