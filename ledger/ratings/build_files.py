"""The file next to the views in which one process at a time builds them again.

A build that was stopped goes on where it was. Readers see the old views until the new ones are complete.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path

from ledger.errors import LedgerError, ReadModelError, StorageError
from ledger.journal import Journal
from ledger.ratings import disk_space, read_models, views_file
from ledger.ratings.projectors import tournament_performance
from ledger.ratings.read_models import InstalledProjectors
from ledger.ratings.view_builds import Build
from ledger.runtime import sqlite
from ledger.runtime.lazy import filelock
from ledger.runtime.long_work import Progress
from ledger.runtime.table_writer import wait_for_writer


class BuildFiles:
    """The build of one file of views: its lock, its file, and the replacement of the views by it."""

    def __init__(self, path: Path) -> None:
        """Name the views; their builds are made next to them."""
        self.path = path
        self._building = path.with_name(path.name + ".building")

    @cached_property
    def lock(self) -> filelock.FileLock:
        """The lock that a process holds while it builds."""
        return filelock.FileLock(f"{self.path}.lock")

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold the lock under which one process builds.

        Raises:
            StorageError: the folder refuses.
        """
        try:
            with self.lock:
                yield
        except OSError as error:  # of the lock file or a build; the driver's errors are no OSError
            raise StorageError(
                str(self.path), f"{error}: the views cannot be written; see to the disk and the folder's permissions"
            ) from error

    def discard(self) -> None:
        """Delete a build that was stopped."""
        wait_for_writer(self._building)
        for leftover in self.path.parent.glob(self._building.name + "*"):
            leftover.unlink()

    def make(self, journal: Journal, installed: InstalledProjectors, until: int, progress: Progress) -> None:
        """Build the views up to entry *until*, without a projector that fails.

        Raises:
            StorageError: the disk lacks the space; nothing was begun.
        """
        if until:
            size = disk_space.build_bytes(self._size_of(journal, until), self.path)
            begun = self._building.stat().st_size if self._building.exists() else 0
            need = disk_space.SpaceNeed(self.path, size - begun)
            disk_space.require_space("a build of the views", [need])
        journal.ensure_durable()
        while True:
            former = self.former_read_models()
            rule = read_models.rule_in_journal(journal)
            projectors = installed.projectors_to_keep(rule, former)
            missing = former | {name for name, is_kept in rule.said.items() if is_kept}
            missing -= {projector.name for projector in projectors}
            build = Build(self._building, projectors, journal)
            try:
                build.build_to(until, progress, [name for name in missing if rule.keeps(name) is not False])
            except ReadModelError as error:
                installed.leave_out(error)
            else:
                return

    def _size_of(self, journal: Journal, until: int) -> float:
        with self._present() as connection:
            return disk_space.views_bytes(journal, until, connection)

    @contextmanager
    def _present(self) -> Iterator[sqlite.FileConnection | None]:
        """Yield a connection to the present views; None if there are none, or they cannot be opened."""
        connection = None
        if self.path.exists():
            # a mere reader of a file with a log leaves files of its log behind
            with suppress(LedgerError):
                connection = sqlite.connect(self.path, read_only=not os.access(self.path, os.W_OK))
        try:
            yield connection
        finally:
            if connection is not None:
                connection.close()

    def put_in_place(self) -> None:
        """Replace the views, which this process has closed, by the complete build."""
        views_file.replace_views(self._building, self.path)

    def former_read_models(self) -> set[str]:
        """Return the names of the read models that the present views have or had, whatever their layout."""
        with self._present() as connection, suppress(LedgerError):  # damaged, or of an unknown layout
            if connection is not None:
                # The last one was a table up to layout 8; it is worked out when it is asked for now.
                names = set(views_file.stored_projectors(connection)) - {tournament_performance.NAME}
                tells = "SELECT 1 FROM sqlite_master WHERE name = 'left_behind'"  # not before layout 9
                return names | (read_models.stale_tables(connection) if connection.execute(tells).fetchone() else set())
        return set()
