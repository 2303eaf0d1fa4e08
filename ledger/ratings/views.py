"""Keeping the views level with the journal: folding in what is new, or building the lot aside and putting it in place.

One process projects at a time (a lock file). A large backlog is built aside in steps that each commit, so a build that
was stopped goes on where it was; readers see the old views until the new ones are whole. Everything else is one
transaction: rows and checkpoint together.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from ledger.book.game_book import GameBook
from ledger.book.game_book_columns import decode_bodies, fold_columns
from ledger.book.judging import Changes, RecordedEvent
from ledger.book.roster import Roster
from ledger.book.stored_pools import stored_pools
from ledger.book.timeline import Pool
from ledger.errors import CorruptError, LedgerError, ReadModelError, StorageError, one_line
from ledger.facts.codec import decode
from ledger.journal import Journal
from ledger.ratings import fact_folds, keeping, late_tables, views_file
from ledger.ratings.building import Build
from ledger.ratings.fact_projector import DeclaredFactProjector, ReadModel, of_facts
from ledger.ratings.keeping import InstalledProjectors, Plan
from ledger.ratings.player_states import PlayerStates
from ledger.ratings.projection import PoolProjections
from ledger.ratings.projector import DeclaredProjector
from ledger.ratings.projectors import tournament_performance
from ledger.runtime import sqlite
from ledger.runtime.lazy import filelock
from ledger.runtime.long_work import Progress, silent
from ledger.runtime.table_writer import wait_for_writer

FEW_ENTRIES = 2_000  # up to here entries are folded one by one, without loading Polars
BUILD_FROM = 50_000  # a backlog of this many entries that is larger than what is folded in is built aside


Written = tuple["sqlite.FileConnection", int, int]  # the connection, and how often others and it have written


class Views:
    """The views of one journal on disk."""

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
        self.path = Path(path)
        self.at_hand = projectors if isinstance(projectors, InstalledProjectors) else InstalledProjectors(projectors)
        self.journal = journal
        self._aside: TemporaryDirectory[str] | None = None
        self.is_of_a_trial = False  # what is written here is rolled back
        self.follows = True  # else somebody else brings them level, and they answer as far as they are
        # the same file by another connection, for trials
        self._trials: Views | None = None
        self._is_tried_on = False
        self._connection: sqlite.FileConnection | None = None
        self._inode = 0  # of the open file
        self._current: Written | None = None  # as the views were when they were compared
        self._pools_read: tuple[Written, list[Pool]] | None = None  # and when their pools were read
        self._moment_at: int | None = None  # the position that the present moment is of; None: there is none
        self._moment_of: Written | None = None  # as the views were in the last moment
        self._states: dict[int, PlayerStates] = {}  # and what was read of them then, by pool
        self._roster: Roster | None = None  # and of all players
        self._book: GameBook | None = None
        self._pools: PoolProjections
        self._of_facts: list[DeclaredFactProjector]  # those of the plan that are kept here
        # which read models are kept here, and which by others; as it was last fitted
        self._plan: Plan
        self._rule_at = 0  # the entry that set which are kept
        self._version = -1  # of the file, when we last looked or wrote
        # position at which the book was left; another process may have gone on since
        self._book_at = 0
        # what this process has just recorded, by position
        self._recorded: dict[int, RecordedEvent] = {}

    @property
    def _building(self) -> Path:
        return self.path.with_name(self.path.name + ".building")

    @cached_property
    def _lock(self) -> filelock.FileLock:
        """What a process holds while it makes the views anew."""
        return filelock.FileLock(str(self.path) + ".lock")

    @property
    def connection(self) -> sqlite.FileConnection:
        """The open views, which are those of this journal.

        Raises:
            StorageError: they cannot be opened.
            CorruptError: they are damaged, or were derived from another journal.
        """
        if self._connection is None:
            if not self.path.exists():  # opening would make an empty file
                raise StorageError(str(self.path), "there are no views yet: make them with catch_up()")
            # Before it is opened: a file that is put in its place meanwhile is then seen to be another one.
            self._inode = self.path.stat().st_ino
            connection = views_file.open_views(self.path, read_only=not self.follows)
            try:
                self._check_journal(views_file.checkpoint(connection))
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _check_journal(self, checkpoint: views_file.ViewsHead) -> None:
        """Raise CorruptError when the views were derived from another journal, or from more than this one holds."""
        size = self.journal.size()
        if checkpoint.position > size:
            raise CorruptError(
                str(self.path),
                0,
                f"knows {checkpoint.position} entries, the journal holds {size}: the journal was cut or an older copy "
                "restored; prove it with 'audit --since', then 'rebuild' the views",
            )
        if self.journal.root_at(checkpoint.position) != checkpoint.root:
            raise CorruptError(
                str(self.path),
                0,
                f"was derived from another journal: its first {checkpoint.position} entries are not those of the "
                "journal beside it; put back the files that belong together, or, where 'audit --since' proves the "
                "journal, 'rebuild' the views",
            )

    def close(self) -> None:
        """Release the file; it is opened again when it is asked."""
        self._book, self._moment_at = None, None
        # A trial that is under way would lose its connection, and what it has tried with it.
        if self._trials is not None and not self._is_tried_on:
            self._trials.close()
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def elsewhere(self, path: Path) -> Views:
        """Views for trials in a file: a copy of this one, or this one by another connection."""
        tried = Views(path, self.at_hand, self.journal)
        tried.is_of_a_trial = True
        return tried

    def for_trials(self) -> Views:
        """The same views by a connection that is kept for trials, so that this one answers as they stand meanwhile."""
        if self._trials is None:
            self._trials = self.elsewhere(self.path)
        # opened anew where another file was put in the place of this one
        self._trials._is_there()
        return self._trials

    @contextmanager
    def being_tried_on(self) -> Iterator[None]:
        """For the length of the block nothing can be folded in here: it would wait for the trial, which waits for it.

        Raises:
            StorageError: something is tried already by this very object.
        """
        self._refuse_within_a_trial()
        self._is_tried_on = True
        try:
            yield
        finally:
            self._is_tried_on = False

    def _refuse_within_a_trial(self) -> None:
        if self._is_tried_on:
            message = "something is tried on the views until the block of 'as_if' ends: bring them level after it"
            raise StorageError(str(self.path), message)

    def close_for_good(self) -> None:
        """Release the file, and take away what was built aside."""
        self.close()
        if self._aside is not None:
            self._aside.cleanup()

    def pools(self) -> list[Pool]:
        """The pools as they stand here: what judges a fact holds a transaction of the journal by then."""
        written = self._moment_of if self._moment_at is not None and self._moment_of else self.written()
        # Kept until somebody writes, for facts are judged and questions answered by the thousand between two writings;
        # but not what is read within a transaction that writes, since a rollback takes no change out of the count.
        may_be_kept = self._moment_at is not None or not self.connection.in_transaction
        if self._pools_read is not None and self._pools_read[0] == written and may_be_kept:
            return self._pools_read[1]
        with views_file.reading(self.path):
            pools = stored_pools(self.connection)
        if may_be_kept:
            self._pools_read = written, pools
        return pools

    def states(self, pool: Pool) -> PlayerStates:
        """The states of a pool's players as they stand here; within a moment one answer asks what another one asked.

        What they have read is kept until somebody writes: from moment to moment it stays what it is.
        """
        if self._moment_at is None:
            return PlayerStates(self.connection, pool)
        connection = self.connection

        def roster() -> Roster:
            if self._roster is None:
                self._roster = Roster(connection)
            return self._roster

        states = self._states.get(pool.pool)
        if states is None or states.pool is not pool:
            states = self._states[pool.pool] = PlayerStates(connection, pool, roster)
        return states

    def expect(self, entries: Iterable[RecordedEvent]) -> None:
        """Take note of events that this process has recorded: folding them in needs no reading back."""
        for entry in entries:
            self._recorded[entry.position] = entry
        if len(self._recorded) > FEW_ENTRIES:
            self._recorded.clear()

    def position(self) -> int:
        """How far the journal is folded in; 0 where there are no views yet."""
        if self._moment_at is not None:
            return self._moment_at
        return views_file.position(self.connection) if self.path.exists() else 0

    def is_level(self) -> bool:
        """True when there is nothing to fold in, asked without the lock and without writing."""
        if not self._is_there():
            return False
        connection = self.connection
        # What made the rows takes half a millisecond to compare: it is asked again only after somebody has written.
        written = self.written()
        if written != self._current:
            if not views_file.are_rated_alike(connection):
                return False
            plan = self.at_hand.plan(connection)
            if not plan.is_done:
                return False
            views_file.check_tables(connection, plan.kept)
            self._current = written
        return views_file.position(connection) == self.journal.size()

    def written(self) -> Written:
        """What is another one after anybody has written."""
        connection = self.connection
        # The data version tells of others' commits alone, the changes of one's own; both are counted by connection.
        return connection, views_file.data_version(connection), connection.total_changes

    def build(self) -> str:
        """Which build of the views this is: another word once they were built anew, and the same to every process."""
        # Whole builds are copied into the file, of which SQLite then says that its schema is another one.
        (schema,) = self.connection.execute("PRAGMA schema_version").fetchone()
        return f"{self._inode}.{schema}"

    @property
    def is_read(self) -> bool:
        """Whether what is read now is of one moment: a transaction is under way on the open views."""
        return self._connection is not None and self._connection.in_transaction

    @contextmanager
    def moment(self) -> Iterator[int]:
        """Read everything within the block in one transaction, whoever writes meanwhile; gives the journal's position.

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
            self._moment_at = views_file.position(connection)  # the first look is what the moment is of
            if (written := self.written()) != self._moment_of:
                self._moment_of = written
                self._states.clear()
                self._roster = None
            yield self._moment_at
        finally:
            self._moment_at = None
            if self._connection is connection:  # else it was closed within the block
                # not ROLLBACK, which would end the rows that somebody still reads
                connection.execute("COMMIT")

    def level(self, progress: Progress = silent) -> None:
        """Make sure that they are level with the journal before questions are asked.

        Where they are behind and cannot be written (a read-only folder, another user's files) they are built aside,
        until they are closed for good. Views that do not follow stay as they are.

        Raises:
            CorruptError: they are damaged, or are not of this journal.
            StorageError: they do not follow, and are not there, or of another release.
        """
        if not self.follows:
            if not self.is_read and not self._is_there():
                message = "there are no views of this release yet; who writes the ledger makes them: 'pools' does"
                raise StorageError(str(self.path), message)
            return
        if self.is_read or self.is_level():
            # what is read as of one moment stays as it is
            return
        if not self.can_be_written():
            self.close()
            self._aside = TemporaryDirectory(prefix="ledger-aside-")
            self.path = Path(self._aside.name) / "views.db"
            # The lock is named after the path: the next one who asks makes it for the new one.
            self.__dict__.pop("_lock", None)
        self.catch_up(progress)

    def catch_up(self, progress: Progress = silent) -> int:
        """Fold in every entry that the journal has and the views have not; returns the position reached.

        Raises:
            CorruptError: the views are damaged, or are not of this journal.
            StorageError: a file refuses, or the views are being read as of one moment.
        """
        self._refuse_within_a_moment()
        while True:
            if self._is_there():
                reached = self._fold_in(progress)
                if reached is not None:
                    return reached
            with self._alone():
                # Asked again under the lock: somebody else may have built them while this process waited for it.
                stands = self._is_there() and views_file.are_rated_alike(self.connection)
                if not stands or self._is_built_sooner(
                    self.at_hand.plan(self.connection), views_file.position(self.connection)
                ):
                    self._build(progress)

    def refuse_foreign(self) -> None:
        """Raise CorruptError, before anything is written, when there are views that are not of this journal."""
        if self._is_there():
            self._check_journal(views_file.checkpoint(self.connection))

    def rebuild(self, progress: Progress = silent) -> int:
        """Build the views anew from the journal alone; returns the position reached."""
        self._refuse_within_a_moment()
        with self._alone():
            self._discard_build()
            self._build(progress)
        return self.catch_up(progress)

    def build_until(self, until: int, progress: Progress = silent) -> None:
        """Build the views anew as they stood when the journal had *until* entries, and leave them there."""
        with self._alone():
            self._discard_build()
            self._build(progress, until)

    def _refuse_within_a_moment(self) -> None:
        self._refuse_within_a_trial()
        if self.is_read:
            message = "is read as of one moment until the block of 'moment' ends: bring the views level after it"
            raise StorageError(str(self.path), message)

    def read_models(self) -> list[str]:
        """Names of the read models that are at hand here, or that the views have or had."""
        return sorted({projector.name for projector in self.at_hand.all} | self._stood())

    def kept(self) -> tuple[ReadModel, ...]:
        """The read models whose tables are level, and are kept level here."""
        plan, left = self.at_hand.plan(self.connection), keeping.left_behind(self.connection)
        made = {projector.name for projector in plan.make} | left
        return tuple(projector for projector in plan.kept if projector.name not in made)

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
            status = self.path.stat()
        except FileNotFoundError:
            self.close()
            return False
        if self._connection is not None and status.st_ino != self._inode:
            self.close()
        if self._connection is None and status.st_size and views_file.is_outdated(self.path):
            return False
        return status.st_size > 0

    def _fold_in(self, progress: Progress) -> int | None:
        """Fold a backlog into standing views, in one transaction; its write lock keeps other processes away.

        Returns the position reached, or None, and does nothing, where building aside is cheaper or must be.
        """
        connection = self.connection
        try:
            with sqlite.immediate(connection):
                is_current = self.written() == self._current
                done = self._done(connection, progress)
                size = self.journal.size()  # asked second: the journal only grows
                if done is None or _is_far_behind(done, size):
                    return None
                if done < size:
                    self.journal.fence()  # what may still be lost is not folded in
                    self._fold(done, size)
                if self._book is None:  # the ledger keeps other tables from now on
                    return None
            if is_current:  # what made the rows is as it was compared: only the entries are new
                self._current = self.written()
        except BaseException as error:
            self._book = None  # what it remembers was rolled back
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

    def _done(self, connection: sqlite.FileConnection, progress: Progress) -> int | None:
        """How far the views are, with the book made ready to go on; None where they are to be rated anew."""
        version = views_file.data_version(connection)
        if self._book is None or version != self._version:  # another process has written since
            # it may be of a later release, whose tables would not be kept here
            views_file.check_layout(connection, self.path)
            if not views_file.are_rated_alike(connection):
                return None
            done = views_file.position(connection)
            plan = self.at_hand.plan(connection)
            if self._is_built_sooner(plan, done):
                return None
            if self._book is None or self._book_at != done:
                with views_file.reading(self.path):
                    self._book = GameBook(connection, self.journal)
            late_tables.fit(self._book, plan, done, progress)
            self.at_hand.has_made(plan)
            self._plan = plan
            self._of_facts = of_facts(self._plan.kept)
            self._rule_at = keeping.rule_position(self._book.connection)
            self._pools = PoolProjections(self._book, self._plan.kept)
            self._book_at, self._version = done, version
        return self._book_at

    def _fold(self, done: int, size: int) -> None:
        assert self._book is not None
        fresh = Changes(stood={} if self._of_facts else None)
        recorded = self._recorded
        if size - done <= FEW_ENTRIES and all(position in recorded for position in range(done + 1, size + 1)):
            self._book.take([recorded[position] for position in range(done + 1, size + 1)], fresh)
            recorded.clear()
        else:
            for bodies in self.journal.read(done, size):
                if size - done <= FEW_ENTRIES:
                    self._book.take(map(decode, bodies), fresh)
                else:
                    fold_columns(self._book, decode_bodies(bodies), fresh)
        views_file.note_schemes(self.connection, fresh.adopted)
        self._pools.update(fresh, done)
        if self._of_facts:
            fact_folds.tell(self._book, self._of_facts, done, size, fresh)
        keeping.leave(self.connection, self._plan.others, done, fresh.start_ms)
        views_file.set_checkpoint(self.connection, size, self.journal.root_at(size))
        self._book_at = size
        if keeping.rule_position(self.connection) != self._rule_at:
            self._book = None  # made anew, it fits its tables to the rule

    def _build(self, progress: Progress, until: int | None = None) -> None:
        stood = self._stood()
        rule = keeping.rule_of(self.journal)
        projectors = self.at_hand.to_keep(rule, stood)
        missing = stood | {name for name, is_kept in rule.said.items() if is_kept}
        missing -= {projector.name for projector in projectors}
        build = Build(self._building, projectors, self.journal)
        target = self.journal.size() if until is None else until
        self.journal.fence()
        if until is None and target <= FEW_ENTRIES and not _is_far_behind(0, target):
            # Made empty, and folded by whoever brings views level: building by columns loads what takes a second.
            target = 0
        try:
            build.run(target, progress, [name for name in missing if rule.keeps(name) is not False])
        except ReadModelError as error:
            self.at_hand.leave_out(error)
            self._build(progress, until)
            return
        self.close()
        views_file.put_in_place(self._building, self.path)

    def _stood(self) -> set[str]:
        """Names of the read models that the views which give way had, whatever their layout: they are not forgotten."""
        if not self.path.exists():
            return set()
        # whoever only reads a file with a log leaves files of its log behind
        read_only = not os.access(self.path, os.W_OK)
        try:
            with closing(sqlite.connect(self.path, read_only=read_only)) as connection:
                # The last one was a table up to layout 8; it is worked out when it is asked for now.
                names = set(views_file.stored_projectors(connection)) - {tournament_performance.NAME}
                tells = "SELECT 1 FROM sqlite_master WHERE name = 'left_behind'"  # not before layout 9
                return names | (keeping.left_behind(connection) if connection.execute(tells).fetchone() else set())
        except LedgerError:  # damaged, or of a layout that does not tell
            return set()

    def _discard_build(self) -> None:
        wait_for_writer(self._building)
        for leftover in self.path.parent.glob(self._building.name + "*"):
            leftover.unlink()

    def _is_built_sooner(self, plan: Plan, done: int) -> bool:
        """True when building all of the views aside takes less time than going on with those that stand."""
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
    """True when building aside is cheaper than folding in."""
    return size - done >= BUILD_FROM and size - done > done
