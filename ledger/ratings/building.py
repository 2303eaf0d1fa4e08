"""Building the views anew, aside: fold the journal into games, rate them, write the rows, in steps that each commit.

A build that was stopped goes on where it was, unless it is of another journal, of other projectors, or damaged. Putting
it in place is ``views``'s business.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from ledger.book.fresh import Fresh
from ledger.book.game_book import GameBook
from ledger.book.game_book_columns import RATED_COLUMNS, columns_schema, decode_bodies, take_decoded
from ledger.book.tables import RATING_ORDER
from ledger.errors import LedgerError
from ledger.journal import Journal
from ledger.journal.merkle import EMPTY_ROOT
from ledger.ratings import distribution, keeping, views_file
from ledger.ratings.fact_projector import ReadModel, of_facts
from ledger.ratings.pool_build import PoolBuild
from ledger.ratings.side_tables import facts_wanted, side_tables
from ledger.ratings.telling_facts import tell_all
from ledger.runtime import sqlite
from ledger.runtime.lazy import pl
from ledger.runtime.long_work import Progress, collector_paused, mapped_ahead
from ledger.runtime.sorted_runs import SortedRuns
from ledger.runtime.table_writer import MESSAGE, OwnConnection, OwnProcess, TableWriter, table_writer, wait_for_writer

if TYPE_CHECKING:
    import sqlite3

    from polars import DataFrame

OWN_PROCESS_FROM = 100_000  # entries from which starting a process to write their rows (about 0.3 s) pays
ENTRIES_A_COMMIT = 200_000  # entries that are folded between two commits: each waits for the disk
GAMES_A_RUN = 500_000  # games that are sorted in memory at one time, about 100 bytes each
GAMES_A_BLOCK = 250_000  # games that are rated together, or somewhat more
_STANDING = "SELECT target, folded, pool, player FROM build"


class Build:
    """A build aside: fold the journal into games, rate them, write the rows; resumable after each step."""

    def __init__(self, path: Path, projectors: Sequence[ReadModel], journal: Journal) -> None:
        """Say where it is made, what it holds, and which journal it follows from."""
        self._path = path
        self._projectors = projectors
        self._journal = journal
        facts = facts_wanted(side_tables(projectors, ()))
        self._columns = tuple(dict.fromkeys((*RATED_COLUMNS, *facts)))  # of each game that counts

    def run(self, until: int, progress: Progress, missing: Sequence[str] = ()) -> None:
        """Bring the file to position *until*, or where a stopped build was to end, and close it.

        Args:
            until: how many entries are folded.
            progress: told what is being done.
            missing: names of read models that the ledger keeps and nobody can fold here.
        """
        with sqlite.storage_errors(self._path), collector_paused():
            self._run(until, progress, missing)

    def _run(self, until: int, progress: Progress, missing: Sequence[str]) -> None:
        wait_for_writer(self._path)
        connection = self._open()
        try:
            target, folded, written_pool, written_player = connection.execute(_STANDING).fetchone()
            target = target or until
            with _Writers(self._path, connection, target) as writers, _sorted_games(self._path.parent) as games:
                book = GameBook(connection, self._journal, until=target)
                self._fold(connection, book, folded, target, games, writers, progress)
                shown = any(era.from_shown for pool in book.pools.values() for era in pool.eras)
                pasts = folded > 0 or book.roster.is_told_of_pasts  # a stopped build does not know
                if pasts or shown:
                    writers.own()  # what was written can be read
                book.roster.gather(pasts=pasts, shown=shown)
                for statement in views_file.index_statements("games("):
                    writers.aside().run(statement)  # while the games are rated
                for number, blocks in _by_pool(games):
                    if number < written_pool:
                        continue
                    pool = next(pool for pool in book.pools.values() if pool.pool == number)
                    after = written_player if number == written_pool else 0
                    build = PoolBuild(pool, book.roster, self._projectors, self._path.parent)
                    with build:
                        build.rate(blocks, after)
                        self._write(writers.aside(), number, build.write(writers.aside(), progress))
            with sqlite.immediate(connection, self._path):
                views_file.create_indexes(connection, self._projectors)
                if listeners := of_facts(self._projectors):
                    tell_all(book, listeners, target, progress)
                distribution.begin(connection)
                views_file.set_checkpoint(connection, target, self._journal.root_at(target))
                keeping.remember(connection, missing)
                connection.execute("DROP TABLE build")
        finally:
            connection.close()

    def _open(self) -> sqlite3.Connection:
        if self._path.exists():
            connection = sqlite.connect(self._path)
            if self._resumable(connection):
                return connection
            connection.close()
            for leftover in self._path.parent.glob(f"{self._path.name}*"):  # a hot log of it would spoil the new one
                leftover.unlink()
        connection = views_file.create(self._path, self._projectors)
        connection.execute(
            "CREATE TABLE build(target INTEGER, folded INTEGER, root BLOB, pool INTEGER, player INTEGER)"
        )
        connection.execute("INSERT INTO build VALUES (0, 0, ?, 0, 0)", (EMPTY_ROOT,))
        return connection

    def _resumable(self, connection: sqlite3.Connection) -> bool:
        """True for a build by the same projectors of the same journal; any other, or a damaged one, is begun anew."""
        try:
            with views_file.reading(self._path):
                made = connection.execute("SELECT target, folded, root FROM build").fetchall()
                if len(made) != 1 or not self._is_of_these(connection):
                    return False
                target, folded, root = made[0]
                if not folded <= target <= self._journal.size():
                    return False
                return bool(self._journal.root_at(folded) == root)
        except LedgerError:
            return False

    def _is_of_these(self, connection: sqlite3.Connection) -> bool:
        """Whether the file is rated as this program rates, and has the tables of these read models and no others."""
        if not views_file.are_rated_alike(connection):
            return False
        views_file.check_tables(connection, self._projectors)
        wanted = {projector.name: projector.identity for projector in self._projectors}
        return views_file.stored_projectors(connection) == wanted

    def _fold(
        self,
        connection: sqlite3.Connection,
        book: GameBook,
        folded: int,
        target: int,
        games: SortedRuns,
        writers: _Writers,
        progress: Progress,
    ) -> None:
        """Fold the rest of the journal into the game book; what counts of it, and was folded before, goes into *games*.

        A block with anything but players and games is written by the connection that the game book reads with, in one
        transaction with the note that it was folded in.
        """
        stale, committed = folded > 0, folded
        for bodies, block in mapped_ahead(decode_bodies, self._journal.read(folded, target)):
            fresh = Fresh()
            writer = writers.together() if block.reaches_back else writers.aside()
            counting = take_decoded(book, block, fresh, writer.insert, self._columns)
            views_file.note_schemes(connection, fresh.adopted)
            folded += len(bodies)
            done = {"target": target, "folded": folded, "root": self._journal.root_at(folded)}
            writer.insert("UPDATE build SET target = ?, folded = ?, root = ?", pl.DataFrame(done))
            if block.reaches_back or folded - committed >= ENTRIES_A_COMMIT or folded == target:
                writer.commit()
                committed = folded
            stale = stale or any(fresh.touched.values())  # a later fact reached back into earlier blocks
            if not stale:
                games.add(_compact(counting))
            progress("game book", folded, target)
        columns = self._columns
        if book.is_to_settle:
            stale = True
            writers.own()
            with sqlite.immediate(connection, self._path):
                if book.correcting.is_needed:  # it looks for games; tournaments alone go through all of them
                    for statement in (*views_file.index_statements("games("), *views_file.index_statements("given_")):
                        connection.execute(statement)
                settled = Fresh()
                book.settle_all(settled)
                views_file.note_schemes(connection, settled.adopted)
        if any(pool.by_event for pool in book.pools.values()):
            columns = tuple(dict.fromkeys((*columns, "began_ms", "tournament")))
        if stale:
            writers.own()
            games.clear()
            for frame in _stored_games(connection, columns):
                games.add(_compact(frame))

    @staticmethod
    def _write(writer: TableWriter, pool: int, steps: Iterator[int]) -> None:
        for player in steps:
            done = pl.DataFrame({"pool": pool, "player": player})
            writer.insert("UPDATE build SET pool = ?, player = ?", done)
            writer.commit()


class _Writers:
    """Both ways into the file: the connection that all else goes by, and, for much, a process of its own.

    One of them at a time. While the process has anything in hand the connection may not so much as read: SQLite would
    let it wait a minute for a lock and then give up, or, with luck, not.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, entries: int) -> None:
        """Say which file, and how much there is to write: a process of its own is for much."""
        self._path = path
        self._connection = connection
        self._own = OwnConnection(connection)
        self._entries = entries
        self._aside: TableWriter | None = None

    def __enter__(self) -> _Writers:
        """Nothing is started yet."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        """Leave the file to the connection; after an error without what was not committed."""
        try:
            if kind is None and self._aside is not None:
                self._aside.settle()
        finally:
            if self._aside is not None:
                self._aside.close()
            self._connection.set_authorizer(None)
            self._own.close()

    def own(self) -> TableWriter:
        """The connection, once all that was written is committed and nothing is under way."""
        if self._aside is not None:
            self._aside.commit()
            self._aside.settle()
            self._connection.set_authorizer(None)
        return self._own

    def together(self) -> TableWriter:
        """As ``own``, with a transaction begun that takes in what the game book itself writes."""
        writer = self.own()
        self._own.begin()
        return writer

    def aside(self) -> TableWriter:
        """What writes while this process goes on."""
        if self._aside is None:
            much = self._entries >= OWN_PROCESS_FROM
            self._aside = table_writer(self._path, self._connection) if much else self._own
        if isinstance(self._aside, OwnProcess):
            self._connection.set_authorizer(_refused)
        return self._aside


def _refused(*_: object) -> int:
    """No statement is allowed."""
    return sqlite.sqlite3.SQLITE_DENY


def _sorted_games(folder: Path) -> SortedRuns:
    """Room for the games that count, to come out by pool and in rating order, no batch in two blocks."""
    return SortedRuns(folder, ("pool", *RATING_ORDER), lead=2, rows_a_run=GAMES_A_RUN)


def _by_pool(games: SortedRuns) -> Iterator[tuple[int, Iterator[DataFrame]]]:
    """The number of each pool that has games, with them in rating order, in blocks."""
    parts = (part for block in games.blocks(GAMES_A_BLOCK) for part in block.partition_by("pool"))
    return groupby(parts, lambda part: int(part["pool"][0]))


def _compact(frame: DataFrame) -> DataFrame:
    """The same columns in as few bytes as they need."""
    small = {"pool": pl.Int16, "white": pl.Int32, "black": pl.Int32, "half_points": pl.Int8, "time_loss": pl.Int8}
    return frame.with_columns(pl.col(name).cast(kind) for name, kind in small.items())


def _stored_games(connection: sqlite3.Connection, names: Sequence[str]) -> Iterator[DataFrame]:
    """The games that count, of all that was folded in, as ``take_decoded`` gives them."""
    query = f"SELECT {', '.join(names)} FROM games WHERE reason IS NULL ORDER BY position"
    cursor = connection.execute(query)
    while rows := cursor.fetchmany(MESSAGE):
        columns = dict(zip(names, zip(*rows, strict=True), strict=True))
        yield pl.DataFrame(columns, schema=columns_schema(names))
