"""The views of a journal, kept up to date: new entries are applied, or all is built in another file and swapped in.

One process projects at a time (a lock file). A large backlog is built in another file in steps that each commit, so
that a stopped build goes on where it was; readers see the old views until the new ones are complete. Everything else is
one transaction: rows and checkpoint together.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import attrs

from ledger.book.assessment import RecordedEvent
from ledger.book.game_book import GameBook
from ledger.book.roster import Roster
from ledger.book.stored_pools import stored_pools
from ledger.book.timeline import Pool
from ledger.errors import CorruptError, ReadModelError, StorageError, one_line
from ledger.journal import Journal
from ledger.ratings import disk_space, read_models, views_file
from ledger.ratings.build_files import BuildFiles
from ledger.ratings.fact_projector import ReadModel
from ledger.ratings.live_book import LiveBook
from ledger.ratings.player_states import PlayerStates
from ledger.ratings.projector import DeclaredProjector
from ledger.ratings.read_models import InstalledProjectors, TablePlan
from ledger.ratings.views_connection import DryRunSlot, Version, ViewsConnection
from ledger.runtime import sqlite
from ledger.runtime.long_work import Progress, no_progress

FEW_ENTRIES = 2_000  # up to here entries are folded one by one, without loading Polars
BUILD_FROM = 50_000  # a backlog of this many entries that is larger than the folded ones is built in another file


@attrs.frozen
class _Snapshot:
    connection: sqlite.FileConnection
    position: int  # how far the journal is folded in


class _ReadCache:
    """The pools and players' states read from one *version* of the views; valid until the next write."""

    def __init__(self, version: Version | None) -> None:
        self.version = version
        self._pools: list[Pool] | None = None
        self._roster: Roster | None = None
        self._states: dict[int, PlayerStates] = {}  # by pool

    def pools(self, connection: sqlite.FileConnection, path: Path) -> list[Pool]:
        """Return the pools with their timelines."""
        if self._pools is None:
            self._pools = _read_pools(connection, path)
        return self._pools

    def states(self, connection: sqlite.FileConnection, pool: Pool) -> PlayerStates:
        """Return the states of a pool's players, which share one roster and keep the rows that they have read."""

        def roster() -> Roster:
            if self._roster is None:
                self._roster = Roster(connection)
            return self._roster

        states = self._states.get(pool.pool)
        if states is None or states.pool is not pool:
            states = self._states[pool.pool] = PlayerStates(connection, pool, roster)
        return states


def _read_pools(connection: sqlite.FileConnection, path: Path) -> list[Pool]:
    """Return the pools with their timelines."""
    with views_file.reporting_damage(path):
        return stored_pools(connection)


class Views:
    """The views of one journal on disk.

    Attributes:
        installed: the read models that are made, and those that are only kept.
        journal: the journal from which they are derived.
        is_dry_run: True if what is written here is rolled back.
        follows_journal: True if questions catch up first; False if another process does it.
        dry_runs: the dry run that is under way on them.
    """

    def __init__(
        self, path: str | Path, projectors: Sequence[ReadModel] | InstalledProjectors, journal: Journal
    ) -> None:
        """Name the file, the read models to make, and the journal; opens nothing.

        Raises:
            ProjectionError: a projector takes the name of another table.
        """
        self.installed = projectors if isinstance(projectors, InstalledProjectors) else InstalledProjectors(projectors)
        self.journal = journal
        self.is_dry_run = False
        self.follows_journal = True
        self.dry_runs = DryRunSlot()
        self._file = ViewsConnection(Path(path))
        self._compared: Version | None = None  # the version whose makers were compared with those that are installed
        self._snapshot: _Snapshot | None = None  # the present one
        self._reads = _ReadCache(None)
        self._live: LiveBook | None = None
        self._recorded: dict[int, RecordedEvent] = {}  # what this process has just recorded, by position

    @property
    def path(self) -> Path:
        """The file."""
        return self._file.path

    @property
    def connection(self) -> sqlite.FileConnection:
        """The open views, which are those of this journal.

        Raises:
            StorageError: they cannot be opened.
            CorruptError: they are damaged, or were derived from another journal.
        """
        return self._file.connection or self._file.open(self.journal, read_only=not self.follows_journal)

    def close(self) -> None:
        """Release the file; it is opened again when it is asked."""
        self._live = self._snapshot = None
        self.dry_runs.close()
        self._file.close()

    def for_dry_run_at(self, path: Path) -> Views:
        """Return views for dry runs in a file: a copy of this one, or this one by another connection."""
        tried = Views(path, self.installed, self.journal)
        tried.is_dry_run = True
        return tried

    def open_for_dry_run(self) -> Views:
        """Open the same views by a connection for dry runs, so that this one answers from the current state."""
        tried = self.for_dry_run_at(self.path)
        tried._file = self.dry_runs.second_connection(self.path)
        return tried

    def copy_to(self, path: Path) -> None:
        """Copy the file of the views to a new one."""
        with (
            closing(sqlite.connect(self.path, read_only=True)) as source,
            closing(sqlite.connect(path)) as target,
        ):
            source.copy_to(target)
            target.execute("PRAGMA journal_mode=WAL")

    def close_for_good(self) -> None:
        """Release the file, and remove an unfinished build."""
        self.close()
        self._file.discard()

    def pools(self) -> list[Pool]:
        """Return the pools of these views."""
        if self._position_of_snapshot is None:
            if self.connection.in_transaction:
                # Not kept: a rollback takes no change out of the count by which versions differ.
                return _read_pools(self.connection, self.path)
            # Stored until the next write, for facts are judged by the thousand between two writes.
            self._forget_other_versions()
        return self._reads.pools(self.connection, self.path)

    def states(self, pool: Pool) -> PlayerStates:
        """Return the states of a pool's players.

        Within a read snapshot one answer reuses the reads of another.

        The reads are stored until the next write: from snapshot to snapshot they stay the same.
        """
        if self._position_of_snapshot is None:
            return PlayerStates(self.connection, pool)
        return self._reads.states(self.connection, pool)

    def strength_decided(self, pool: Pool, player: int, ms: int) -> float | None:
        """Return the number of rated games from which a rating decides the strength, if a player has so many."""
        return self.states(pool).at(player, ms).strength_limit

    def _forget_other_versions(self) -> None:
        if (version := self.version()) != self._reads.version:
            self._reads = _ReadCache(version)

    def note_recorded(self, entries: Iterable[RecordedEvent]) -> None:
        """Store events that this process has recorded, so that applying them needs no reading back."""
        for entry in entries:
            self._recorded[entry.position] = entry
        if len(self._recorded) > FEW_ENTRIES:
            self._recorded.clear()

    @property
    def _position_of_snapshot(self) -> int | None:
        # none if the file was closed, or another one opened, within the block
        snapshot = self._snapshot
        return None if snapshot is None or snapshot.connection is not self._file.connection else snapshot.position

    def position(self) -> int:
        """Return the position of the last entry that the views contain; 0 if there are no views yet."""
        if (position := self._position_of_snapshot) is not None:
            return position
        return views_file.position(self.connection) if self.path.exists() else 0

    def is_up_to_date(self) -> bool:
        """Return whether the views contain every entry of the journal; neither locks nor writes."""
        if not self._file.is_there():
            return False
        connection = self.connection
        # The origin of the rows takes half a millisecond to compare: it is compared again only after a write.
        written = self.version()
        if written != self._compared:
            if not views_file.are_rated_by_this_program(connection):
                return False
            plan = self.installed.plan(connection)
            if not plan.is_done:
                return False
            views_file.check_tables(connection, plan.kept)
            self._compared = written
        return views_file.position(connection) == self.journal.size()

    def version(self) -> Version:
        """Return a value that changes with every write."""
        # The data version counts others' commits alone, the changes one's own; both are counted by connection.
        connection = self.connection
        return connection, views_file.data_version(connection), connection.total_changes

    def build(self) -> str:
        """Return a word that identifies this build of the views; it is the same in every process."""
        # Complete builds are copied into the file, of which SQLite then says that its schema is another one.
        (schema,) = self.connection.execute("PRAGMA schema_version").fetchone()
        return f"{self._file.inode}.{schema}"

    @property
    def in_snapshot(self) -> bool:
        """True if reads now are of one snapshot: a transaction is under way on the open views."""
        connection = self._file.connection
        return connection is not None and connection.in_transaction

    @contextmanager
    def read_snapshot(self) -> Iterator[int]:
        """Read everything within the block in one transaction, and yield the position of the views.

        Writes meanwhile are not seen.

        A snapshot within another one, or within a dry run, is that one. As long as it lasts, the log of the views grows
        with what others write: what is long to work out or to print follows after the block.

        Raises:
            StorageError: the views cannot be opened.
            CorruptError: they are damaged, or of another journal.
        """
        connection = self.connection
        if connection.in_transaction:
            yield self.position()
            return
        connection.execute("BEGIN")
        try:
            # the first read begins the snapshot
            self._snapshot = _Snapshot(connection, views_file.position(connection))
            self._forget_other_versions()
            yield self._snapshot.position
        finally:
            self._snapshot = None
            if self._file.connection is connection:  # else it was closed within the block
                # not ROLLBACK, which would end the rows that a caller still reads
                connection.execute("COMMIT")

    def ensure_up_to_date(self, progress: Progress = no_progress) -> None:
        """Bring the views up to date with the journal before questions are asked.

        If they are behind and cannot be written (a read-only folder, foreign files) they are built in a temporary
        file, until they are closed for good. Views that do not follow stay as they are.

        Raises:
            CorruptError: they are damaged, or are not of this journal.
            StorageError: they do not follow, and are not there, or of another release.
        """
        if not self.follows_journal:
            if not self.in_snapshot and not self._file.is_there():
                message = "there are no views of this release yet; who writes the ledger makes them: 'pools' does"
                raise StorageError(str(self.path), message)
            return
        if self.in_snapshot or self.is_up_to_date():
            return
        if not self.can_be_written():
            self.close()
            self._file.move_to_temporary_folder()
        self.catch_up(progress)

    def catch_up(self, progress: Progress = no_progress) -> int:
        """Apply every entry of the journal that the views lack; return the position reached.

        Raises:
            CorruptError: the views are damaged, or are not of this journal.
            StorageError: a file refuses, or a read snapshot is open.
        """
        self._refuse_within_snapshot()
        while True:
            if self._file.is_there():
                reached = self._fold_in(progress)
                if reached is not None:
                    return reached
            builds = BuildFiles(self.path)
            with builds.exclusive():
                # Checked again under the lock: another process may have built them while this one waited for it.
                is_present = self._file.is_there() and views_file.are_rated_by_this_program(self.connection)
                if not is_present or self._is_built_sooner(
                    self.installed.plan(self.connection), views_file.position(self.connection)
                ):
                    self._build(builds, progress)

    def refuse_foreign(self) -> None:
        """Raise CorruptError, before anything is written, when there are views that are not of this journal."""
        if self._file.is_there():
            self._file.refuse_foreign(self.connection, self.journal)

    def rebuild(self, progress: Progress = no_progress) -> int:
        """Build the views again from the journal alone; return the position reached."""
        self._refuse_within_snapshot()
        builds = BuildFiles(self.path)
        with builds.exclusive():
            builds.discard()
            self._build(builds, progress)
        return self.catch_up(progress)

    def build_up_to_entry(self, until: int, progress: Progress = no_progress) -> None:
        """Build the views of the journal's first *until* entries, in the place of the present ones."""
        builds = BuildFiles(self.path)
        with builds.exclusive():
            builds.discard()
            self._build(builds, progress, until)

    def space_for(self, entries: int) -> disk_space.SpaceNeed:
        """Return the space that the views take until so many further entries are in them."""
        done, size = self.position(), self.journal.size() + entries
        if _is_far_behind(done, size):
            present = self.connection if done else None
            built = disk_space.views_bytes(self.journal, size - entries, present) + disk_space.VIEWS_BYTES * entries
            return disk_space.SpaceNeed(self.path, disk_space.build_bytes(built, self.path))
        return disk_space.SpaceNeed(self.path, disk_space.fold_bytes(size - done, self.path))

    def _refuse_within_snapshot(self) -> None:
        self.dry_runs.refuse_within(self.path)
        if self.in_snapshot:
            message = "a read snapshot is open until the block of 'read_snapshot' ends; catch up after it"
            raise StorageError(str(self.path), message)

    def read_models(self) -> list[str]:
        """Return the names of the read models that are installed here, or that the views have or had."""
        here = {projector.name for projector in self.installed.all}
        return sorted(here | BuildFiles(self.path).former_read_models())

    def kept(self) -> tuple[ReadModel, ...]:
        """Return the read models whose tables are up to date, and which this process keeps so."""
        plan, left = self.installed.plan(self.connection), read_models.stale_tables(self.connection)
        made = {projector.name for projector in plan.make} | left
        return tuple(projector for projector in plan.kept if projector.name not in made)

    def can_be_written(self) -> bool:
        """Return whether the folder, and the file if there is one, may be written."""
        return os.access(self.path.parent, os.W_OK) and (not self.path.exists() or os.access(self.path, os.W_OK))

    def _fold_in(self, progress: Progress) -> int | None:
        """Fold a backlog in, in one transaction; return the position, or None if a build in another file is cheaper."""
        connection = self.connection
        try:
            with sqlite.write_transaction(connection):
                is_compared = self.version() == self._compared
                live = self._live = self._brought_up(connection, progress)
                size = self.journal.size()  # asked second: the journal only grows
                if live is None or _is_far_behind(live.position, size):
                    return None
                if live.position < size:
                    self.journal.ensure_durable()  # what may still be lost is not folded in
                    self._fold(live, size)
                    if not live.follows_rule:  # the ledger keeps other tables from now on
                        self._live = None
                        return None
            if is_compared:  # what made the rows is as it was compared: only the entries are new
                self._compared = self.version()
        except BaseException as error:
            self._live = None  # what it remembers was rolled back
            if isinstance(error, ReadModelError):
                self.installed.leave_out(error)
                return None
            if isinstance(error, ArithmeticError | LookupError | TypeError | ValueError):
                views_file.check_integrity(connection, self.path)
                raise CorruptError(
                    str(self.path),
                    0,
                    f"going on from its rows failed ({type(error).__name__}: {one_line(error)}): where 'audit' names a "
                    "false row, 'rebuild' the views; where it does not, a scheme or a projector is at fault",
                ) from error
            raise
        return size

    def _brought_up(self, connection: sqlite.FileConnection, progress: Progress) -> LiveBook | None:
        """Return the live book as the file is now; None if the views are to be rated again."""
        live, version = self._live, views_file.data_version(connection)
        if live is not None and live.connection is not connection:
            live = None
        if live is not None and version == live.data_version:
            return live
        # Another process has written since; it may be of a later release, whose tables would not be kept here.
        views_file.check_layout(connection, self.path)
        if not views_file.are_rated_by_this_program(connection):
            return None
        done = views_file.position(connection)
        plan = self.installed.plan(connection)
        if self._is_built_sooner(plan, done):
            return None
        if live is not None and live.position == done:
            book = live.book
        else:
            with views_file.reporting_damage(self.path):
                book = GameBook(connection, self.journal)
        live = LiveBook.of(book, plan, done, version, progress)
        self.installed.note_made(plan)
        return live

    def _fold(self, live: LiveBook, size: int) -> None:
        positions = range(live.position + 1, size + 1)
        is_short = len(positions) <= FEW_ENTRIES
        if is_short and all(position in self._recorded for position in positions):
            live.apply_recorded(self.journal, [self._recorded[position] for position in positions], size)
            self._recorded.clear()
        else:
            live.apply_journal(self.journal, size, by_columns=not is_short)

    def _build(self, builds: BuildFiles, progress: Progress, until: int | None = None) -> None:
        target = self.journal.size() if until is None else until
        if until is None and target <= FEW_ENTRIES and not _is_far_behind(0, target):
            # Made empty, and folded by the caller: a build by columns loads libraries for a second.
            target = 0
        builds.make(self.journal, self.installed, target, progress)
        self.close()
        builds.put_in_place()

    def _is_built_sooner(self, plan: TablePlan, done: int) -> bool:
        """Return whether a build of all views takes less time than going on with the present ones."""
        if _is_far_behind(done, self.journal.size()):
            return True
        # A table that is made late asks the games of each player one by one, where a build has them in order: of a
        # million games one table costs 0.8 of building everything, so two or more are built with the rest.
        # a build here would lose the tables that only other processes can fold
        return (
            done >= BUILD_FROM
            and not plan.others
            and sum(isinstance(made, DeclaredProjector) for made in plan.make) > 1
        )


def _is_far_behind(done: int, size: int) -> bool:
    """Return whether a build in another file is cheaper than folding in."""
    return size - done >= BUILD_FROM and size - done > done
