"""The views of a journal, kept up to date: new entries are folded in, or all is built in another file and swapped in.

One process projects at a time (a lock file). A large backlog is built in another file in steps that each commit, so
that a stopped build goes on where it was; readers see the old views until the new ones are complete. Everything else is
one transaction: rows and checkpoint together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import attrs

from ledger.book.assessment import RecordedEvent
from ledger.book.game_book import GameBook
from ledger.book.timeline import Pool
from ledger.errors import CorruptError, ReadModelError, StorageError, one_line
from ledger.journal import Journal
from ledger.ratings import keeping, views_file
from ledger.ratings.fact_projector import ReadModel
from ledger.ratings.keeping import InstalledProjectors, Plan
from ledger.ratings.live_book import LiveBook
from ledger.ratings.player_states import PlayerStates
from ledger.ratings.projector import DeclaredProjector
from ledger.ratings.read_cache import ReadCache, read_pools
from ledger.ratings.trial_slot import TrialSlot
from ledger.ratings.views_connection import Version, ViewsConnection, version_of
from ledger.ratings.whole_builds import WholeBuilds
from ledger.runtime import sqlite
from ledger.runtime.long_work import Progress, silent

FEW_ENTRIES = 2_000  # up to here entries are folded one by one, without loading Polars
BUILD_FROM = 50_000  # a backlog of this many entries that is larger than the folded ones is built in another file


@attrs.frozen
class _Snapshot:
    connection: sqlite.FileConnection
    position: int  # how far the journal is folded in


class Views:
    """The views of one journal on disk.

    Attributes:
        at_hand: the read models that are made, and those that are only kept.
        journal: the journal from which they are derived.
        is_of_a_trial: True if what is written here is rolled back.
        follows: True if questions bring them level; False if another process does, and they answer as far as they are.
        trials: the trial that is run on them.
    """

    def __init__(
        self, path: str | Path, projectors: Sequence[ReadModel] | InstalledProjectors, journal: Journal
    ) -> None:
        """Say where they are or will be, what they hold, and which journal they are derived from; opens nothing.

        Args:
            path: the file.
            projectors: the read models to make; as ``InstalledProjectors``, those that are only kept, too.
            journal: the journal.

        Raises:
            ProjectionError: a projector takes the name of another table.
        """
        self.at_hand = projectors if isinstance(projectors, InstalledProjectors) else InstalledProjectors(projectors)
        self.journal = journal
        self.is_of_a_trial = False
        self.follows = True
        self.trials = TrialSlot()
        self._file = ViewsConnection(Path(path))
        self._compared: Version | None = None  # the version whose makers were compared with those that are installed
        self._snapshot: _Snapshot | None = None  # the present one
        self._reads = ReadCache(None)
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
        return self._file.connection or self._file.open(self.journal, read_only=not self.follows)

    def close(self) -> None:
        """Release the file; it is opened again when it is asked."""
        self._live = self._snapshot = None
        self.trials.close()
        self._file.close()

    def elsewhere(self, path: Path) -> Views:
        """Views for trials in a file: a copy of this one, or this one by another connection."""
        tried = Views(path, self.at_hand, self.journal)
        tried.is_of_a_trial = True
        return tried

    def for_trials(self) -> Views:
        """Open the same views by a connection for dry runs, so that this one answers from the current state."""
        tried = self.elsewhere(self.path)
        tried._file = self.trials.file(self.path)
        return tried

    def close_for_good(self) -> None:
        """Release the file, and remove an unfinished build."""
        self.close()
        self._file.discard()

    def pools(self) -> list[Pool]:
        """Return the pools of these views; the judge of a fact holds a transaction of the journal by then."""
        if self._position_of_snapshot is None:
            if self.connection.in_transaction:
                # Not kept: a rollback takes no change out of the count by which versions differ.
                return read_pools(self.connection, self.path)
            # Stored until the next write, for facts are judged by the thousand between two writes.
            self._forget_other_versions()
        return self._reads.pools(self.connection, self.path)

    def states(self, pool: Pool) -> PlayerStates:
        """Return the states of a pool's players; within a read snapshot one answer reuses the reads of another.

        Their reads are stored until the next write: from snapshot to snapshot they stay the same.
        """
        if self._position_of_snapshot is None:
            return PlayerStates(self.connection, pool)
        return self._reads.states(self.connection, pool)

    def _forget_other_versions(self) -> None:
        if (version := self.written()) != self._reads.version:
            self._reads = ReadCache(version)

    def expect(self, entries: Iterable[RecordedEvent]) -> None:
        """Take note of events that this process has recorded: folding them in needs no reading back."""
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
        """Return the last entry that is folded in; 0 if there are no views yet."""
        if (position := self._position_of_snapshot) is not None:
            return position
        return views_file.position(self.connection) if self.path.exists() else 0

    def is_level(self) -> bool:
        """True when there is nothing to fold in, asked without the lock and without writing."""
        if not self._file.is_there():
            return False
        connection = self.connection
        # The origin of the rows takes half a millisecond to compare: it is compared again only after a write.
        written = self.written()
        if written != self._compared:
            if not views_file.are_rated_alike(connection):
                return False
            plan = self.at_hand.plan(connection)
            if not plan.is_done:
                return False
            views_file.check_tables(connection, plan.kept)
            self._compared = written
        return views_file.position(connection) == self.journal.size()

    def written(self) -> Version:
        """Return a value that changes with every write."""
        return version_of(self.connection)

    def build(self) -> str:
        """Return the word of this build of the views: another one after each build, the same in every process."""
        return self._file.build(self.connection)

    @property
    def is_read(self) -> bool:
        """True if reads now are of one snapshot: a transaction is under way on the open views."""
        return self._file.in_transaction

    @contextmanager
    def moment(self) -> Iterator[int]:
        """Read everything within the block in one transaction, whatever is written meanwhile; yield the position.

        A moment within another one, or within a trial that is rolled back, is that one. As long as it lasts, the log of
        the views grows with what others write: what is long to work out or to print follows after the block.

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
            # the first look is what the moment is of
            self._snapshot = _Snapshot(connection, views_file.position(connection))
            self._forget_other_versions()
            yield self._snapshot.position
        finally:
            self._snapshot = None
            if self._file.connection is connection:  # else it was closed within the block
                # not ROLLBACK, which would end the rows that a caller still reads
                connection.execute("COMMIT")

    def level(self, progress: Progress = silent) -> None:
        """Make sure that they are level with the journal before questions are asked.

        If they are behind and cannot be written (a read-only folder, foreign files) they are built in a temporary
        file, until they are closed for good. Views that do not follow stay as they are.

        Raises:
            CorruptError: they are damaged, or are not of this journal.
            StorageError: they do not follow, and are not there, or of another release.
        """
        if not self.follows:
            if not self.is_read and not self._file.is_there():
                message = "there are no views of this release yet; who writes the ledger makes them: 'pools' does"
                raise StorageError(str(self.path), message)
            return
        if self.is_read or self.is_level():
            # what is read as of one moment stays as it is
            return
        if not self.can_be_written():
            self.close()
            self._file.move_to_temporary_folder()
        self.catch_up(progress)

    def catch_up(self, progress: Progress = silent) -> int:
        """Fold in every entry that the journal has and the views have not; returns the position reached.

        Raises:
            CorruptError: the views are damaged, or are not of this journal.
            StorageError: a file refuses, or the views are being read as of one moment.
        """
        self._refuse_within_a_moment()
        while True:
            if self._file.is_there():
                reached = self._fold_in(progress)
                if reached is not None:
                    return reached
            builds = WholeBuilds(self.path)
            with builds.alone():
                # Checked again under the lock: another process may have built them while this one waited for it.
                is_present = self._file.is_there() and views_file.are_rated_alike(self.connection)
                if not is_present or self._is_built_sooner(
                    self.at_hand.plan(self.connection), views_file.position(self.connection)
                ):
                    self._build(builds, progress)

    def refuse_foreign(self) -> None:
        """Raise CorruptError, before anything is written, when there are views that are not of this journal."""
        if self._file.is_there():
            self._file.refuse_foreign(self.connection, self.journal)

    def rebuild(self, progress: Progress = silent) -> int:
        """Build the views again from the journal alone; return the position reached."""
        self._refuse_within_a_moment()
        builds = WholeBuilds(self.path)
        with builds.alone():
            builds.discard()
            self._build(builds, progress)
        return self.catch_up(progress)

    def build_until(self, until: int, progress: Progress = silent) -> None:
        """Build the views of a journal with *until* entries, and leave them there."""
        builds = WholeBuilds(self.path)
        with builds.alone():
            builds.discard()
            self._build(builds, progress, until)

    def _refuse_within_a_moment(self) -> None:
        self.trials.refuse_within(self.path)
        if self.is_read:
            message = "is read as of one moment until the block of 'moment' ends: bring the views level after it"
            raise StorageError(str(self.path), message)

    def read_models(self) -> list[str]:
        """Names of the read models that are at hand here, or that the views have or had."""
        here = {projector.name for projector in self.at_hand.all}
        return sorted(here | WholeBuilds(self.path).former_read_models())

    def kept(self) -> tuple[ReadModel, ...]:
        """The read models whose tables are level, and are kept level here."""
        plan, left = self.at_hand.plan(self.connection), keeping.left_behind(self.connection)
        made = {projector.name for projector in plan.make} | left
        return tuple(projector for projector in plan.kept if projector.name not in made)

    def can_be_written(self) -> bool:
        """Return whether the folder, and the file if there is one, may be written."""
        return self._file.can_be_written()

    def _fold_in(self, progress: Progress) -> int | None:
        """Fold a backlog into standing views, in one transaction; its write lock keeps other processes away.

        Returns the position reached, or None, and does nothing, if a build in another file is cheaper or needed.
        """
        connection = self.connection
        try:
            with sqlite.immediate(connection):
                is_compared = self.written() == self._compared
                live = self._live = self._brought_up(connection, progress)
                size = self.journal.size()  # asked second: the journal only grows
                if live is None or _is_far_behind(live.position, size):
                    return None
                if live.position < size:
                    self.journal.fence()  # what may still be lost is not folded in
                    self._fold(live, size)
                    if not live.fits_the_rule:  # the ledger keeps other tables from now on
                        self._live = None
                        return None
            if is_compared:  # what made the rows is as it was compared: only the entries are new
                self._compared = self.written()
        except BaseException as error:
            self._live = None  # what it remembers was rolled back
            if isinstance(error, ReadModelError):
                self.at_hand.leave_out(error)
                return None
            if isinstance(error, ArithmeticError | LookupError | TypeError | ValueError):
                views_file.check_sound(connection, self.path)
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
        if not views_file.are_rated_alike(connection):
            return None
        done = views_file.position(connection)
        plan = self.at_hand.plan(connection)
        if self._is_built_sooner(plan, done):
            return None
        if live is not None and live.position == done:
            book = live.book
        else:
            with views_file.reading(self.path):
                book = GameBook(connection, self.journal)
        live = LiveBook.of(book, plan, done, version, progress)
        self.at_hand.has_made(plan)
        return live

    def _fold(self, live: LiveBook, size: int) -> None:
        positions = range(live.position + 1, size + 1)
        is_short = len(positions) <= FEW_ENTRIES
        if is_short and all(position in self._recorded for position in positions):
            live.fold_recorded(self.journal, [self._recorded[position] for position in positions], size)
            self._recorded.clear()
        else:
            live.fold(self.journal, size, by_columns=not is_short)

    def _build(self, builds: WholeBuilds, progress: Progress, until: int | None = None) -> None:
        target = self.journal.size() if until is None else until
        if until is None and target <= FEW_ENTRIES and not _is_far_behind(0, target):
            # Made empty, and folded by the caller: a build by columns loads libraries for a second.
            target = 0
        builds.make(self.journal, self.at_hand, target, progress)
        self.close()
        builds.put_in_place()

    def _is_built_sooner(self, plan: Plan, done: int) -> bool:
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
