"""Keeping the views level with the journal: folding in what is new, or building the lot aside and putting it in place.

One process projects at a time (a lock file). A large backlog is built aside in steps that each commit, so a build that
was stopped goes on where it was; readers see the old views until the new ones are whole. Everything else is one
transaction: rows and checkpoint together.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock

from ledger import db, views
from ledger.ahead import mapped_ahead
from ledger.codec import decode
from ledger.errors import CorruptError, LedgerError, StorageError, one_line
from ledger.gamebook import Fresh, GameBook, Placed
from ledger.gamebook_columns import RATED_COLUMNS, decode_bodies, take_decoded
from ledger.heavy import np, pl
from ledger.journal import Journal
from ledger.journal.merkle import EMPTY_ROOT
from ledger.pause import collector_paused
from ledger.projection import PoolProjection, PoolProjections, Progress, silent
from ledger.projector import Projector
from ledger.rated_games import Games
from ledger.timeline import Pool

if TYPE_CHECKING:
    import sqlite3

    from polars import DataFrame

FEW_ENTRIES = 2_000  # up to here entries are folded one by one, without loading Polars
BUILD_FROM = 50_000  # a backlog of this many entries that is larger than what is folded in is built aside


class Views:
    """The views of one journal on disk."""

    def __init__(self, path: str | Path, projectors: Sequence[Projector], journal: Journal) -> None:
        """Say where they are or will be, what they hold, and which journal they are derived from; opens nothing."""
        self.path = Path(path)
        self.projectors = tuple(projectors)
        self.journal = journal
        self._building = self.path.with_name(self.path.name + ".building")
        self._lock = FileLock(str(self.path) + ".lock")
        self._connection: sqlite3.Connection | None = None
        self._inode = 0  # of the open file
        self._book: GameBook | None = None
        self._pools: PoolProjections
        self._version = -1  # of the file, when we last looked or wrote
        self._book_at = 0  # position at which the book was left; another process may have gone on since
        self._recorded: dict[int, Placed] = {}  # what this process has just recorded, by position

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
            connection = views.open_views(self.path)
            try:
                self._check_journal(views.checkpoint(connection))
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _check_journal(self, checkpoint: views.Checkpoint) -> None:
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
        return views.position(self.connection) if self.path.exists() else 0

    def is_level(self) -> bool:
        """True when there is nothing to fold in, asked without the lock and without writing."""
        return self._usable() and views.position(self.connection) == self.journal.size()

    def catch_up(self, progress: Progress = silent) -> int:
        """Fold in every entry that the journal has and the views have not; returns the position reached.

        Raises:
            CorruptError: the views are damaged, or are not of this journal.
            StorageError: a file refuses.
        """
        while True:
            if self._is_there():
                reached = self._fold_in()
                if reached is not None:
                    return reached
            with self._alone():
                if not self._usable() or _is_far_behind(views.position(self.connection), self.journal.size()):
                    self._build(progress)  # nobody else has built them meanwhile

    def refuse_foreign(self) -> None:
        """Raise CorruptError, before anything is written, when there are views that are not of this journal."""
        if self._is_there():
            self._check_journal(views.checkpoint(self.connection))

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
        if self._connection is None and found.st_size and views.is_outdated(self.path):
            return False
        return found.st_size > 0

    def _usable(self) -> bool:
        return self._is_there() and views.are_current(self.connection, self.projectors)

    def _fold_in(self) -> int | None:
        """Fold a backlog into standing views, in one transaction; its write lock keeps other processes away.

        Returns the position reached, or None, and does nothing, where building aside is cheaper or must be.
        """
        connection = self.connection
        try:
            with db.immediate(connection, self.path, views.REBUILD):
                done = self._done(connection)
                size = self.journal.size()  # asked second: the journal only grows
                if done is None or _is_far_behind(done, size):
                    return None
                if done < size:
                    self._fold(done, size)
        except BaseException as error:
            self._book = None  # what it remembers was rolled back
            if isinstance(error, ArithmeticError | LookupError | TypeError | ValueError):
                views.check_sound(connection, self.path)
                raise CorruptError(
                    str(self.path), 0,
                    f"going on from its rows failed ({type(error).__name__}: {one_line(error)}): where 'audit' names a "
                    "false row, 'rebuild' the views; where it does not, a scheme or a projector is at fault",
                ) from error  # fmt: skip
            raise
        return size

    def _done(self, connection: sqlite3.Connection) -> int | None:
        """How far the views are, with the book made ready to go on; None where they are not of our projectors."""
        version = views.data_version(connection)
        if self._book is None or version != self._version:  # another process has written since
            if not views.are_current(connection, self.projectors):
                return None
            done = views.position(connection)
            if self._book is None or self._book_at != done:
                with views.reading(self.path):
                    self._book = GameBook(connection, self.projectors)
                self._pools = PoolProjections(self._book, self.projectors)
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
        self._pools.update(fresh, done)
        views.set_checkpoint(self.connection, size, self.journal.root_at(size))
        self._book_at = size

    def _fold_read(self, done: int, size: int, fresh: Fresh) -> None:
        assert self._book is not None
        for bodies in self.journal.read(done, size):
            if size - done <= FEW_ENTRIES:
                self._book.take(map(decode, bodies), fresh)
            else:
                take_decoded(self._book, decode_bodies(bodies), fresh)

    def _build(self, progress: Progress, until: int | None = None) -> None:
        build = _Build(self._building, self.projectors, self.journal)
        build.run(self.journal.size() if until is None else until, progress)
        self.close()
        views.put_in_place(self._building, self.path)

    def _discard_build(self) -> None:
        for leftover in self.path.parent.glob(self._building.name + "*"):
            leftover.unlink()


def _is_far_behind(done: int, size: int) -> bool:
    """True when building aside is cheaper than folding in."""
    return size - done >= BUILD_FROM and size - done > done


class _Build:
    """A build aside: fold the journal into games, rate them, write the rows; resumable after each step."""

    def __init__(self, path: Path, projectors: Sequence[Projector], journal: Journal) -> None:
        self._path = path
        self._projectors = projectors
        self._journal = journal

    def run(self, until: int, progress: Progress) -> None:
        """Bring the file to position *until*, or where a stopped build was to end, and close it."""
        with db.storage_errors(self._path), collector_paused():
            self._run(until, progress)

    def _run(self, until: int, progress: Progress) -> None:
        connection = self._open()
        try:
            book = GameBook(connection, self._projectors)
            query = "SELECT target, folded, pool, player FROM build"
            target, folded, written_pool, written_player = connection.execute(query).fetchone()
            target = target or until
            games = self._fold(connection, book, folded, target, progress)
            ordered_pools = sorted(book.pools.values(), key=lambda pool: pool.pool)
            pools = [pool for pool in ordered_pools if pool.pool >= written_pool]
            while games is not None and pools:
                pool = pools.pop(0)
                after = written_player if pool.pool == written_pool else 0
                projection = PoolProjection(connection, pool, book.roster, self._projectors)
                ordered = _in_rating_order(connection, games, pool)
                if not pools:
                    games = None  # ten million keys are no longer needed
                steps = projection.from_scratch(ordered, after, progress)
                self._write(connection, pool.pool, steps)
            with db.immediate(connection, self._path):
                views.create_indexes(connection)
                views.set_checkpoint(connection, target, self._journal.root_at(target))
                connection.execute("DROP TABLE build")
        finally:
            connection.close()

    def _open(self) -> sqlite3.Connection:
        if self._path.exists():
            connection = db.connect(self._path)
            if self._resumable(connection):
                return connection
            connection.close()
            for leftover in self._path.parent.glob(f"{self._path.name}*"):  # a hot log of it would spoil the new one
                leftover.unlink()
        connection = views.create(self._path, self._projectors)
        connection.execute(
            "CREATE TABLE build(target INTEGER, folded INTEGER, root BLOB, pool INTEGER, player INTEGER)"
        )
        connection.execute("INSERT INTO build VALUES (0, 0, ?, 0, 0)", (EMPTY_ROOT,))
        return connection

    def _resumable(self, connection: sqlite3.Connection) -> bool:
        """True for a build by the same projectors of the same journal; any other, or a damaged one, is begun anew."""
        try:
            with views.reading(self._path):
                made = connection.execute("SELECT target, folded, root FROM build").fetchall()
                if len(made) != 1 or not views.are_current(connection, self._projectors):
                    return False
                target, folded, root = made[0]
                if not folded <= target <= self._journal.size():
                    return False
                return bool(self._journal.root_at(folded) == root)
        except LedgerError:
            return False

    def _fold(
        self, connection: sqlite3.Connection, book: GameBook, folded: int, target: int, progress: Progress
    ) -> DataFrame | None:
        """The games that count, of the blocks folded before and of the rest."""
        frames = [_stored_games(connection)] if folded else []
        judged_again = False
        for bodies, block in mapped_ahead(decode_bodies, self._journal.read(folded, target)):
            fresh = Fresh()
            with db.immediate(connection, self._path):
                frames.append(_compact(take_decoded(book, block, fresh)))
                folded += len(bodies)
                done = (target, folded, self._journal.root_at(folded))
                connection.execute("UPDATE build SET target = ?, folded = ?, root = ?", done)
            judged_again = judged_again or any(fresh.touched.values())
            progress("game book", folded, target)
        if judged_again:  # a change of standing reached back into earlier blocks
            frames = [_stored_games(connection)]
        return pl.concat(frames) if frames else None

    def _write(self, connection: sqlite3.Connection, pool: int, steps: Any) -> None:
        connection.execute("BEGIN IMMEDIATE")
        for player in steps:
            connection.execute("UPDATE build SET pool = ?, player = ?", (pool, player))
            connection.execute("COMMIT")
            connection.execute("BEGIN IMMEDIATE")
        connection.execute("COMMIT")


def _compact(frame: DataFrame) -> DataFrame:
    """The same columns in as few bytes as they need: ten million games must fit in memory."""
    small = {"pool": pl.Int16, "white": pl.Int32, "black": pl.Int32, "half_points": pl.Int8, "time_loss": pl.Int8}
    return frame.with_columns(pl.col(name).cast(kind) for name, kind in small.items())


def _stored_games(connection: sqlite3.Connection) -> DataFrame:
    """The games that a stopped build had folded already."""
    rows = connection.execute(
        "SELECT position, pool, white, black, "
        "CASE outcome WHEN 'white' THEN 2 WHEN 'draw' THEN 1 ELSE 0 END, "
        "CASE WHEN termination <> 'time' OR outcome = 'draw' THEN 0 WHEN outcome = 'black' THEN 1 ELSE 2 END, "
        "ended_ms, round_order, key FROM games WHERE reason IS NULL ORDER BY position"
    ).fetchall()
    schema = {name: pl.Int64 if name != "key" else pl.String for name in RATED_COLUMNS}
    return _compact(pl.DataFrame(rows, schema=schema, orient="row"))


def _in_rating_order(connection: sqlite3.Connection, games: DataFrame, pool: Pool) -> Games:
    here = games["pool"] == pool.pool
    mine = games if here.all() else games.filter(here)
    if pool.by_game:
        mine = mine.sort("ended_ms", "round_order", "key")
        rated_ms, begins = mine["ended_ms"], np.ones(len(mine), np.int32)
    else:
        mine = mine.join(_stored_places(connection, pool.pool), on="position")
        mine = mine.sort("rated_ms", "batch", "ended_ms", "round_order", "key")
        rated_ms = mine["rated_ms"]
        begins = mine.select(pl.struct("rated_ms", "batch").rle_id().diff().fill_null(1)).to_series().to_numpy()
    return Games(
        mine["position"].to_numpy(), mine["white"].to_numpy(), mine["black"].to_numpy(),
        mine["half_points"].to_numpy(), mine["time_loss"].to_numpy(), mine["ended_ms"].to_numpy(),
        rated_ms.to_numpy(), begins.astype(np.int32), np.ones(len(mine), np.int32),
    )  # fmt: skip


def _stored_places(connection: sqlite3.Connection, pool: int) -> DataFrame:
    """Place in rating order and batch of each game that counts, by position."""
    rows = connection.execute(
        "SELECT position, rated_ms, batch FROM games WHERE pool = ? AND reason IS NULL", (pool,)
    ).fetchall()
    return pl.DataFrame(
        rows, schema={"position": pl.Int64, "rated_ms": pl.Int64, "batch": pl.String}, orient="row"
    )
