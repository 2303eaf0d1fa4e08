"""The connection to a file of views: opened when it is first needed, and again if another file is in its place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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
        inode: that of the open file.
    """

    def __init__(self, path: Path) -> None:
        """Name the file; opens nothing."""
        self.path = path
        self.connection: sqlite.FileConnection | None = None
        self.inode = 0
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
        self.inode = self.path.stat().st_ino
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

    def is_there(self) -> bool:
        """Return whether there is a file of this layout.

        A connection to one that was replaced or deleted is closed.
        """
        try:
            status = self.path.stat()
        except FileNotFoundError:
            self.close()
            return False
        if self.connection is not None and status.st_ino != self.inode:
            self.close()
        if self.connection is None and status.st_size and views_file.is_outdated(self.path):
            return False
        return status.st_size > 0

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


class DryRunSlot:
    """The one dry run that may be under way at a time, and the second connection to the views that it uses."""

    def __init__(self) -> None:
        self._second: ViewsConnection | None = None
        self._is_busy = False

    def second_connection(self, path: Path) -> ViewsConnection:
        """Return the second connection; it is opened again if another file was put in the place of the views."""
        if self._second is None or self._second.path != path:
            self._second = ViewsConnection(path)
        self._second.is_there()
        return self._second

    def refuse_within(self, path: Path) -> None:
        """Raise StorageError during a dry run."""
        if self._is_busy:
            message = "a dry run on the views lasts until the block of 'as_if' ends; catch up after it"
            raise StorageError(str(path), message)

    @contextmanager
    def taken(self, path: Path) -> Iterator[None]:
        """Reserve the slot for a dry run in the block, in which no entries can be applied.

        Raises:
            StorageError: another one is under way.
        """
        self.refuse_within(path)
        self._is_busy = True
        try:
            yield
        finally:
            self._is_busy = False

    def close(self) -> None:
        """Close the connection, unless a dry run is under way, which would lose what it has written."""
        if self._second is not None and not self._is_busy:
            self._second.close()
