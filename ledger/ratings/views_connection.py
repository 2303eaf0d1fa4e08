"""The connection to a file of views: opened when it is first needed, and again if another file is in its place."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

from ledger.errors import CorruptError, StorageError
from ledger.journal import Journal
from ledger.ratings import views_file
from ledger.runtime import sqlite

Version = tuple[sqlite.FileConnection, int, int]  # the connection, and how often others and it have written


class ViewsConnection:
    """A file of views and the connection to it.

    Attributes:
        path: the file.
        connection: the open connection; None while the file is closed.
    """

    def __init__(self, path: Path) -> None:
        """Name the file; opens nothing."""
        self.path = path
        self.connection: sqlite.FileConnection | None = None
        self._inode = 0  # of the open file
        self._temporary: TemporaryDirectory[str] | None = None

    def open(self, journal: Journal, *, read_only: bool) -> sqlite.FileConnection:
        """Open the views, which must be those of this journal.

        Raises:
            StorageError: they cannot be opened.
            CorruptError: they are damaged, or were derived from another journal.
        """
        if not self.path.exists():  # opening would make an empty file
            raise StorageError(str(self.path), "there are no views yet: make them with catch_up()")
        # Before it is opened: a file that is put in its place meanwhile is then seen to be another one.
        self._inode = self.path.stat().st_ino
        connection = views_file.open_views(self.path, read_only=read_only)
        try:
            self.refuse_foreign(connection, journal)
        except BaseException:
            connection.close()
            raise
        self.connection = connection
        return connection

    def refuse_foreign(self, connection: sqlite.FileConnection, journal: Journal) -> None:
        """Raise CorruptError if the views were derived from another journal, or from more than this one holds."""
        checkpoint, size = views_file.checkpoint(connection), journal.size()
        if checkpoint.position > size:
            raise CorruptError(
                str(self.path),
                0,
                f"knows {checkpoint.position} entries, the journal holds {size}: the journal was cut or an older copy "
                "restored; prove it with 'audit --since', then 'rebuild' the views",
            )
        if journal.root_at(checkpoint.position) != checkpoint.root:
            raise CorruptError(
                str(self.path),
                0,
                f"was derived from another journal: its first {checkpoint.position} entries are not those of the "
                "journal beside it; put back the files that belong together, or, where 'audit --since' proves the "
                "journal, 'rebuild' the views",
            )

    @property
    def in_transaction(self) -> bool:
        """True if a transaction is under way on the open file."""
        return self.connection is not None and self.connection.in_transaction

    def is_there(self) -> bool:
        """Return whether there is a file of this layout; closes the connection to one that was replaced or deleted."""
        try:
            status = self.path.stat()
        except FileNotFoundError:
            self.close()
            return False
        if self.connection is not None and status.st_ino != self._inode:
            self.close()
        if self.connection is None and status.st_size and views_file.is_outdated(self.path):
            return False
        return status.st_size > 0

    def build(self, connection: sqlite.FileConnection) -> str:
        """Return a word for this build of the views: another one after a rebuild, the same in every process."""
        # Whole builds are copied into the file, of which SQLite then says that its schema is another one.
        (schema,) = connection.execute("PRAGMA schema_version").fetchone()
        return f"{self._inode}.{schema}"

    def can_be_written(self) -> bool:
        """Return whether the folder, and the file if there is one, may be written."""
        return os.access(self.path.parent, os.W_OK) and (not self.path.exists() or os.access(self.path, os.W_OK))

    def move_to_temporary_folder(self) -> None:
        """Use a file in a temporary folder from now on, until ``discard``."""
        self.close()
        self._temporary = TemporaryDirectory(prefix="ledger-aside-")
        self.path = Path(self._temporary.name) / "views.db"

    def close(self) -> None:
        """Close the connection; ``open`` makes another one."""
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def discard(self) -> None:
        """Delete the temporary folder, if there is one."""
        if self._temporary is not None:
            self._temporary.cleanup()


def version_of(connection: sqlite.FileConnection) -> Version:
    """Return a value that differs after anybody has written the views."""
    # The data version counts others' commits alone, the changes one's own; both are counted by connection.
    return connection, views_file.data_version(connection), connection.total_changes
