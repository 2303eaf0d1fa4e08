"""Ledger files opened for verification: read-only, in one snapshot, with SQLite's errors translated.

A file that cannot be opened normally, because its folder may not be written or its disk is full, is read as a fixed
file; if a log is next to it that only a writer could fold in, file and log are copied to a temporary folder and read
there.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from ledger.errors import CorruptError, StorageError, one_line

if TYPE_CHECKING:
    import sqlite3
else:
    try:
        # The library of the writers, though none of their code: of two SQLite libraries in one process, the one that
        # closes a file drops the locks that the other has on it.
        from pysqlite3 import dbapi2 as sqlite3
    except ImportError:
        import sqlite3

FIRST_FALSEHOODS = 20
LOCK_WAIT_SECONDS = 5.0
TRIES = 5  # to open a file that another process is putting in place, or writes while it is copied
RESTORE = "restore the file from a copy whose head is known"

# SQLite's own words may quote damaged bytes, which Python then cannot decode.
READ_ERRORS = (sqlite3.Error, UnicodeDecodeError)
_DISK = "SQLITE_IOERR"
_CUT_OFF = "SQLITE_IOERR_SHORT_READ"  # a file that ends before what it says it holds
_NO_LOG_CAN_BE_MADE = {"SQLITE_CANTOPEN", "SQLITE_READONLY", _DISK}
_OF_THE_SYSTEM = {"SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_PERM", "SQLITE_NOMEM"}


@attrs.frozen
class Falsehood:
    """A fault that the audit found in a file, with its place and what to do.

    Attributes:
        table: its table, or ``journal file``, ``people schema`` and the like for what belongs to none.
        position_or_key: journal position, player number, node, text hash, or the name of the check.
        message: what is false, which value, and what to do.
    """

    table: str
    position_or_key: int | str
    message: str

    @classmethod
    def of_file(cls, word: str, error: CorruptError) -> Falsehood:
        """Return the falsehood for the error that ended the reading of the file called *word*."""
        return cls(f"{word} file", Path(error.path).name, str(error).removeprefix(f"{error.path}: "))

    def __str__(self) -> str:
        """Return one line of visible characters, for any content of the file."""
        entry = " entry" if self.table == "journal" and isinstance(self.position_or_key, int) else ""
        line = f"{self.table}{entry} {self.position_or_key}: {self.message}"
        # ``runtime.visible`` does more, and is code of the writers
        return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)


class Finding:
    """The result of a check: true only if nothing is false, so that ``if verify_journal(...):`` means what it says."""

    __slots__ = ()
    falsehoods: tuple[Falsehood, ...]

    @property
    def ok(self) -> bool:
        """True if the check found nothing false."""
        return not self.falsehoods

    def __bool__(self) -> bool:
        return self.ok


@attrs.frozen
class Snapshot:
    """A file held open as a read snapshot; *connection* is in the transaction that keeps it."""

    path: str
    connection: sqlite3.Connection
    remedy: str = RESTORE

    def decode_any_text(self) -> None:
        """Decode text that is not UTF-8 with its bad bytes as lone surrogates from now on, instead of failing."""
        self.connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")

    def entries_by_key(self, columns: str, condition: str) -> str:
        """Return a query for columns of a journal's entries whose keys meet a condition, by the index of its layout."""
        views = self.connection.execute("SELECT name FROM sqlite_master WHERE type = 'view'")
        has_runs = ("keys",) in views.fetchall()
        where = f"position IN (SELECT position FROM keys WHERE {condition})" if has_runs else condition
        return f"SELECT {columns} FROM journal WHERE {where}"


@contextmanager
def open_snapshot(path: str, remedy: str = RESTORE) -> Iterator[Snapshot]:
    """Yield one read-only snapshot of the file at *path*; *remedy* ends the messages about its damage.

    Raises:
        StorageError: the file is missing, locked, or may not be read.
        CorruptError: it is no database, or its first pages are damaged.
    """
    with ExitStack() as stack:
        with translate_errors(path, remedy):
            connection = _open(path, stack)
            stack.callback(connection.close)
        yield Snapshot(path, connection, remedy)


@contextmanager
def open_with_tables(source: str | Snapshot, *tables: str) -> Iterator[Snapshot]:
    """Yield a snapshot of a file after checking that it has *tables*: a new one of a path, or the one given."""
    with ExitStack() as stack:
        file = stack.enter_context(open_snapshot(source)) if isinstance(source, str) else source
        with translate_errors(file.path, file.remedy):
            query = "SELECT name FROM sqlite_master WHERE type = 'table'"
            present = {name for (name,) in file.connection.execute(query)}
            for table in tables:
                if table not in present:
                    message = f"has no table {table!r}: empty or not a ledger file; check the path, or {file.remedy}"
                    raise CorruptError(file.path, 0, message)
            yield file


@contextmanager
def translate_errors(path: str, remedy: str = RESTORE) -> Iterator[None]:
    """Turn SQLite's errors about *path* into ours, with what to do.

    Raises:
        StorageError: the system refused: locked, no rights, no memory, a disk that is full or failing.
        CorruptError: anything else, for our statements are right.
    """
    try:
        yield
    except READ_ERRORS as error:
        if "not a database" in str(error):
            message = f"is not an SQLite database, or its first page was overwritten; {remedy}"
            raise CorruptError(path, 0, message) from error
        if primary_error_name(error) in _OF_THE_SYSTEM:
            message = f"cannot be read ({one_line(error)}); check its rights and what locks it"
            raise StorageError(path, message) from error
        if primary_error_name(error) == _DISK and getattr(error, "sqlite_errorname", "") != _CUT_OFF:
            way_out = "the disk refused (full, over quota, or failing), which says nothing of what it holds; make room"
            raise StorageError(path, f"cannot be read ({one_line(error)}): {way_out}") from error
        raise CorruptError(path, 0, f"cannot be read ({one_line(error)}): it is damaged; {remedy}") from error


def primary_error_name(error: Exception) -> str:
    """Return the name of SQLite's primary error code: ``SQLITE_BUSY`` for ``SQLITE_BUSY_SNAPSHOT``."""
    return "_".join(str(getattr(error, "sqlite_errorname", "")).split("_")[:2])


def _open(path: str, stack: ExitStack) -> sqlite3.Connection:
    """Open the file that bears the name when it is read: another one may be put in its place meanwhile."""
    for last_try in (False,) * (TRIES - 1) + (True,):
        before = _inode(path)
        try:
            connection = _connect(path, stack)
        except READ_ERRORS as error:
            if last_try or primary_error_name(error) in {"SQLITE_BUSY", "SQLITE_LOCKED"} or _inode(path) == before:
                raise
            continue
        if _inode(path) == before:
            return connection
        connection.close()
    raise StorageError(path, "is replaced again and again while it is opened; try again later")


def _inode(path: str) -> int:
    """Return the inode of the file at *path*; StorageError if there is none."""
    try:
        about = Path(path).stat()
    except OSError as error:
        if not isinstance(error, FileNotFoundError):
            raise StorageError(path, f"cannot be reached ({error.strerror}); check its folders") from error
    else:
        if stat.S_ISREG(about.st_mode):
            return about.st_ino
    raise StorageError(path, "no such file; give the path of an existing ledger file")


def _connect(path: str, stack: ExitStack) -> sqlite3.Connection:
    """Open *path* read-only; if no log can be made next to it, open it as a fixed file or as a copy."""
    # SQLite puts the log next to the file that a link points to
    target = os.path.realpath(path)
    try:
        return _begun(f"{Path(target).as_uri()}?mode=ro")
    except sqlite3.OperationalError as error:
        if _size(f"{target}-journal"):
            message = (
                f"{path}-journal lies next to it, which no command of this program leaves: the next writer would put "
                "older pages back into the file; move that journal away, and audit the ledger again"
            )
            raise CorruptError(path, 0, message) from error
        if primary_error_name(error) not in _NO_LOG_CAN_BE_MADE:
            raise
        # Only now: SQLite says the same of a file that may not be read as of a folder in which no log can be made.
        if not os.access(target, os.R_OK):
            raise StorageError(path, "you lack the right to read it; check its permissions") from error
        if _size(f"{target}-wal"):
            return _begun(f"{_copied(path, target, stack).as_uri()}?mode=ro")
        before = _state(target)
        stack.callback(_check_unchanged, path, target, before)
        return _begun(f"{Path(target).as_uri()}?mode=ro&immutable=1")


def _begun(address: str) -> sqlite3.Connection:
    """Return a connection in a read transaction, which holds the snapshot."""
    # None: Python begins no transaction by itself; the one below is the snapshot.
    connection = sqlite3.connect(address, LOCK_WAIT_SECONDS, uri=True, isolation_level=None)
    try:
        # The file may be anybody's: its schema must run no function, and damaged cells are to be noticed when read.
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute("BEGIN")
        # a deferred transaction: SQLite takes the snapshot with the first read alone
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except READ_ERRORS:
        connection.close()
        raise
    return connection


def _copied(path: str, target: str, stack: ExitStack) -> Path:
    """Copy file and log, as of one instant, to a temporary folder."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ledger-read-")))
    copy = folder / "copy.db"
    for _ in range(TRIES):
        before = _state(target)
        # The file first: pages that are folded into it while it is copied are still in the log that is copied then. a
        # writer that ends folds the log in and takes it away
        with suppress(FileNotFoundError):
            shutil.copyfile(target, copy)
            shutil.copyfile(f"{target}-wal", f"{copy}-wal")
        if _state(target) == before:
            return copy
    raise StorageError(path, "is written to while it is copied to be read; try again later")


def _state(target: str) -> tuple[object, ...]:
    """Return the properties that change when a file or its log is written."""
    about = Path(target).stat()
    return about.st_ino, about.st_size, about.st_mtime_ns, _size(f"{target}-wal")


def _size(path: str) -> int:
    return Path(path).stat().st_size if Path(path).exists() else 0


def _check_unchanged(path: str, target: str, before: tuple[object, ...]) -> None:
    """Refuse a fixed file that was written meanwhile: it takes no part in locking, so its content says nothing."""
    with suppress(FileNotFoundError):
        now = _state(target)
        # where another file bears the name, ours is as it was
        if now[0] == before[0] and now != before:
            raise StorageError(path, "was written to while it was read as a fixed file; try again")


def excerpt(value: object) -> str:
    """Return a value as messages quote it: on one line, at most 100 characters."""
    text = value.hex() if isinstance(value, bytes) and len(value) == 32 else ascii(value)
    return text if len(text) <= 100 else f"{text[:97]}..."


def text_fault(value: object) -> str:
    """Return the fault of a value that must be text in UTF-8; empty if it is."""
    if not isinstance(value, str):
        return f"holds {excerpt(value)}, which is no text"
    try:
        value.encode()
    except UnicodeEncodeError:
        return f"holds {excerpt(value)}, which is no UTF-8"
    return ""


def readable_rows(
    file: Snapshot, false: list[Falsehood], table: str, what: str, sql: str, values: Sequence[object] = ()
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a query, up to the first that cannot be read; add a falsehood for that to *false*.

    The first column is the position or key that the falsehood names; *what* is a word for a row.
    """
    last: Any = 0
    try:
        for row in file.connection.execute(sql, values):
            last = row[0]
            yield row
    except READ_ERRORS as error:
        message = f"no {what} after this one can be read ({one_line(error)}); {file.remedy}"
        false.append(Falsehood(table, last, message))


def facts_of(body: Any) -> dict[str, Any]:
    """Return the facts of a body; empty if it is not JSON with facts."""
    try:
        facts = json.loads(body)["facts"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return {}
    return facts if isinstance(facts, dict) else {}


def last_position(connection: sqlite3.Connection) -> int:
    """Return the highest position, 0 if there is none or none can be read."""
    try:
        (last,) = connection.execute("SELECT max(position) FROM journal").fetchone()
    except READ_ERRORS:
        return 0
    return last if isinstance(last, int) else 0
