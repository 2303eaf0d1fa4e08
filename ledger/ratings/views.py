"""Keeping the views level with the journal: folding in what is new, or building the lot aside and putting it in place.

One process projects at a time (a lock file). A large backlog is built aside in steps that each commit, so a build that
was stopped goes on where it was; readers see the old views until the new ones are whole. Everything else is one
transaction: rows and checkpoint together.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ledger.book.fresh import Fresh, Placed
from ledger.book.game_book import GameBook
from ledger.book.game_book_columns import decode_bodies, take_decoded
from ledger.errors import CorruptError, ProjectionError, StorageError, one_line
from ledger.facts.codec import decode
from ledger.journal import Journal
from ledger.ratings import installing, views_file
from ledger.ratings.building import Build
from ledger.ratings.projection import PoolProjections
from ledger.ratings.projector import Projector
from ledger.ratings.side_tables import refuse_taken_names
from ledger.runtime import sqlite
from ledger.runtime.lazy import filelock
from ledger.runtime.progress import Progress, silent
from ledger.runtime.table_writer import wait_for_writer

if TYPE_CHECKING:
    import sqlite3


FEW_ENTRIES = 2_000  # up to here entries are folded one by one, without loading Polars
BUILD_FROM = 50_000  # a backlog of this many entries that is larger than what is folded in is built aside


class Views:
    """The views of one journal on disk."""

    def __init__(self, path: str | Path, projectors: Sequence[Projector], journal: Journal) -> None:
        """Say where they are or will be, what they hold, and which journal they are derived from; opens nothing.

        Args:
            path: the file.
            projectors: the read models beside the history.
            journal: the journal.

        Raises:
            ProjectionError: a projector takes the name of another table.
        """
        self.path = Path(path)
        self.projectors = tuple(projectors)
        self.broken: Mapping[str, ProjectionError] = {}  # projectors that are installed and cannot be loaded
        refuse_taken_names(self.projectors, views_file.OWN_TABLES)
        self.journal = journal
        self._building = self.path.with_name(self.path.name + ".building")
        self._connection: sqlite3.Connection | None = None
        self._inode = 0  # of the open file
        self._book: GameBook | None = None
        self._pools: PoolProjections
        self._version = -1  # of the file, when we last looked or wrote
        self._book_at = 0  # position at which the book was left; another process may have gone on since
        self._recorded: dict[int, Placed] = {}  # what this process has just recorded, by position

    @cached_property
    def _lock(self) -> filelock.FileLock:
        """What a process holds while it makes the views anew."""
        return filelock.FileLock(str(self.path) + ".lock")

    @property
    def connection(self) -> sqlite3.Connection:
        """The open views, which are those of this journal.

        Raises:
            StorageError: they cannot be opened.
            CorruptError: they are damaged, or were derived from another journal.
        """
        if self._connection is None:
            if not self.path.exists():  # opening would make an empty file
                raise StorageError(str(self.path), "there are no views yet; make them with 'rebuild'")
            self._inode = self.path.stat().st_ino
            connection = views_file.open_views(self.path)
            try:
                self._check_journal(views_file.checkpoint(connection))
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _check_journal(self, checkpoint: views_file.Checkpoint) -> None:
        """Raise CorruptError when the views were derived from another journal, or from more than this one holds."""
        held = self.journal.size()
        if checkpoint.position > held:
            raise CorruptError(
                str(self.path), 0,
                f"knows {checkpoint.position} entries, the journal holds {held}: the journal was cut or an older copy "
                "restored; prove it with 'audit --since', then 'rebuild' the views",
            )  # fmt: skip
        if self.journal.root_at(checkpoint.position) != checkpoint.root:
            raise CorruptError(
                str(self.path), 0,
                f"was derived from another journal: its first {checkpoint.position} entries are not those of the "
                "journal beside it; put back the files that belong together, or, where 'audit --since' proves the "
                "journal, 'rebuild' the views",
            )  # fmt: skip

    def close(self) -> None:
        """Release the file."""
        self._book = None
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def expect(self, entries: Iterable[Placed]) -> None:
        """Take note of events that this process has recorded: folding them in needs no reading back."""
        for entry in entries:
            self._recorded[entry.position] = entry
        if len(self._recorded) > FEW_ENTRIES:
            self._recorded.clear()

    def position(self) -> int:
        """How far the journal is folded in; 0 where there are no views yet."""
        return views_file.position(self.connection) if self.path.exists() else 0

    def is_level(self) -> bool:
        """True when there is nothing to fold in, asked without the lock and without writing."""
        return (
            self._is_there()
            and views_file.are_current(self.connection, self.projectors)
            and views_file.position(self.connection) == self.journal.size()
        )

    def catch_up(self, progress: Progress = silent) -> int:
        """Fold in every entry that the journal has and the views have not; returns the position reached.

        Raises:
            CorruptError: the views are damaged, or are not of this journal.
            StorageError: a file refuses.
        """
        while True:
            if self._is_there():
                reached = self._fold_in(progress)
                if reached is not None:
                    return reached
            with self._alone():
                if not self._usable() or _is_far_behind(views_file.position(self.connection), self.journal.size()):
                    self._build(progress)  # nobody else has built them meanwhile

    def refuse_foreign(self) -> None:
        """Raise CorruptError, before anything is written, when there are views that are not of this journal."""
        if self._is_there():
            self._check_journal(views_file.checkpoint(self.connection))

    def rebuild(self, progress: Progress = silent) -> int:
        """Build the views anew from the journal alone; returns the position reached."""
        with self._alone():
            self._discard_build()
            self._build(progress)
        return self.catch_up(progress)

    def build_until(self, until: int, progress: Progress = silent) -> None:
        """Build the views anew as they stood when the journal had *until* entries, and leave them there."""
        with self._alone():
            self._discard_build()
            self._build(progress, until)

    def can_be_written(self) -> bool:
        """Whether the folder, and the file where there is one, may be written."""
        return os.access(self.path.parent, os.W_OK) and (not self.path.exists() or os.access(self.path, os.W_OK))

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the lock under which one process projects."""
        try:
            with self._lock:
                yield
        except OSError as error:  # of the lock file or a build; the driver's errors are no OSError
            raise StorageError(
                str(self.path), f"{error}: the views cannot be written; see to the disk and the folder's permissions"
            ) from error

    def _is_there(self) -> bool:
        """True when there is a file of views; one that was put in the place of the open one is opened anew."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            self.close()
            return False
        if self._connection is not None and found.st_ino != self._inode:
            self.close()
        if self._connection is None and found.st_size and views_file.is_outdated(self.path):
            return False
        return found.st_size > 0

    def _usable(self) -> bool:
        return self._is_there() and views_file.are_rated_alike(self.connection)

    def _fold_in(self, progress: Progress) -> int | None:
        """Fold a backlog into standing views, in one transaction; its write lock keeps other processes away.

        Returns the position reached, or None, and does nothing, where building aside is cheaper or must be.
        """
        connection = self.connection
        try:
            with sqlite.immediate(connection, self.path, views_file.REBUILD):
                done = self._done(connection, progress)
                size = self.journal.size()  # asked second: the journal only grows
                if done is None or _is_far_behind(done, size):
                    return None
                if done < size:
                    self._fold(done, size)
        except BaseException as error:
            self._book = None  # what it remembers was rolled back
            if isinstance(error, ArithmeticError | LookupError | TypeError | ValueError):
                views_file.check_sound(connection, self.path)
                raise CorruptError(
                    str(self.path), 0,
                    f"going on from its rows failed ({type(error).__name__}: {one_line(error)}): where 'audit' names a "
                    "false row, 'rebuild' the views; where it does not, a scheme or a projector is at fault",
                ) from error  # fmt: skip
            raise
        return size

    def _done(self, connection: sqlite3.Connection, progress: Progress) -> int | None:
        """How far the views are, with the book made ready to go on; None where they are to be rated anew."""
        version = views_file.data_version(connection)
        if self._book is None or version != self._version:  # another process has written since
            if not views_file.are_rated_alike(connection):
                return None
            done = views_file.position(connection)
            if self._book is None or self._book_at != done:
                with views_file.reading(self.path):
                    self._book = GameBook(connection, self.journal)
                self._pools = PoolProjections(self._book, self.projectors)
            if not _is_far_behind(done, self.journal.size()):
                for name in views_file.stored_projectors(connection).keys() & self.broken.keys():
                    raise self.broken[name]  # its table is not to be lost
                installing.fit(connection, self.projectors, self._book.pools.values(), progress)
            self._book_at, self._version = done, version
        return self._book_at

    def _fold(self, done: int, size: int) -> None:
        assert self._book is not None
        fresh = Fresh()
        recorded = self._recorded
        if size - done <= FEW_ENTRIES and all(position in recorded for position in range(done + 1, size + 1)):
            self._book.take([recorded[position] for position in range(done + 1, size + 1)], fresh)
            recorded.clear()
        else:
            self._fold_read(done, size, fresh)
        views_file.note_schemes(self.connection, fresh.adopted)
        self._pools.update(fresh, done)
        views_file.set_checkpoint(self.connection, size, self.journal.root_at(size))
        self._book_at = size

    def _fold_read(self, done: int, size: int, fresh: Fresh) -> None:
        assert self._book is not None
        for bodies in self.journal.read(done, size):
            if size - done <= FEW_ENTRIES:
                self._book.take(map(decode, bodies), fresh)
            else:
                take_decoded(self._book, decode_bodies(bodies), fresh)

    def _build(self, progress: Progress, until: int | None = None) -> None:
        build = Build(self._building, self.projectors, self.journal)
        build.run(self.journal.size() if until is None else until, progress)
        self.close()
        views_file.put_in_place(self._building, self.path)

    def _discard_build(self) -> None:
        wait_for_writer(self._building)
        for leftover in self.path.parent.glob(self._building.name + "*"):
            leftover.unlink()


def _is_far_behind(done: int, size: int) -> bool:
    """True when building aside is cheaper than folding in."""
    return size - done >= BUILD_FROM and size - done > done
