"""Builds all views in another file in steps: applies the journal to the game book, rates the games, writes rows.

Each step commits. A build that was stopped goes on where it was, unless it is of another journal, of other projectors,
or damaged. Putting it in place is ``views``'s business.

Games of a pool come sorted in rating order, as many as memory may hold at a time, never half a batch; what each player
holds is carried from block to block. Their sides are sorted by player, where need be on the disk, folded, and written
in the order of the tables' keys. Memory grows with the number of players, not of games.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ledger.book.assessment import Reratings
from ledger.book.game_book import GameBook
from ledger.book.game_book_columns import RATED_COLUMNS, apply_decoded_block, column_types, decode_bodies
from ledger.book.tables import RATING_ORDER
from ledger.book.timeline import Pool
from ledger.errors import LedgerError
from ledger.journal import Journal
from ledger.journal.merkle import EMPTY_ROOT
from ledger.ratings import read_models, side_rows, views_file
from ledger.ratings.carried_states import CarriedStates
from ledger.ratings.fact_folds import project_all_facts
from ledger.ratings.fact_projector import ReadModel, fact_projectors_among
from ledger.ratings.player_rows import BY_LATER_LIST, CURRENT_COLUMNS, RAISE_BOUND, WRITE_CURRENT, listed_flags
from ledger.ratings.player_states import StartingRatings
from ledger.ratings.projector import SIDE_COLUMNS
from ledger.ratings.projectors.history import HISTORY
from ledger.ratings.rated_games import (
    GUESTS,
    GamesInOrder,
    RatedGameColumns,
    columns_of_facts,
    columns_of_sides,
    facts_needed,
)
from ledger.ratings.side_rows import TableStates
from ledger.ratings.view_tables import SideTable, columns_wanted, facts_wanted, initial_state, side_tables
from ledger.runtime import sqlite
from ledger.runtime.columns import FAR_APART, MANY
from ledger.runtime.lazy import np, pl
from ledger.runtime.long_work import Progress, collector_paused, mapped_in_threads
from ledger.runtime.sorted_runs import SortedRuns
from ledger.runtime.table_writer import (
    MESSAGE,
    TableWriter,
    WritingConnection,
    WritingProcess,
    table_writer,
    wait_for_writer,
)

if TYPE_CHECKING:
    from polars import DataFrame


SIDES_A_RUN = 1_000_000  # sides that are sorted in memory at one time, about 100 bytes each
SIDES_A_BLOCK = 250_000  # sides that are folded, written and committed together
STATE_PREFIX = "state "  # before the name of a field of the scheme's state, which may be that of a column of a side


class _PlayersOfPool(CarriedStates):
    """The states of a pool's players, placed by number or, if numbers are far apart (up to 2**31 - 1), by order."""

    def __init__(self, starts: StartingRatings) -> None:
        super().__init__(MANY, starts)
        self._numbers: Any = None  # if numbers are far apart, those of the players who were met, ascending,
        self._places: Any = None  # and their places

    def places(self, players: Any) -> Any:
        """Return the places of *players*, who ascend; a player who is met for the first time is given one."""
        last = int(players[-1]) if len(players) else 0
        if self._numbers is None:
            if last < FAR_APART:
                self._make_room(last + 1)
                return players
            self._numbers = self._places = np.flatnonzero(self.n)  # as they were so far
        new = np.setdiff1d(players, self._numbers, assume_unique=True)
        if len(new):
            first = int(self._places.max()) + 1 if len(self._places) else 0
            at = np.searchsorted(self._numbers, new)
            self._numbers = np.insert(self._numbers, at, new)
            self._places = np.insert(self._places, at, np.arange(first, first + len(new)))
            self._make_room(first + len(new))
        return self._places[np.searchsorted(self._numbers, players)]

    def _make_room(self, length: int) -> None:
        """Make room for so many places."""
        room = len(self.n)
        if length > room:
            # Half as much again: by just what is needed, every block with new players would copy all arrays.
            self.grow(max(length, room * 3 // 2) - room)


class PoolBuild:
    """The build of one pool from its first game on: ``rate``, then ``write``."""

    def __init__(self, starts: StartingRatings, projectors: Sequence[ReadModel], folder: Path) -> None:
        """Prepare the build; *folder* is where large sorts may have their temporary file."""
        self._pool = pool = starts.pool
        self._tables = side_tables(projectors, pool.state_fields)
        self._columns_wanted = columns_wanted(self._tables)
        facts = facts_needed(pool, facts_wanted(self._tables))
        self._texts = [name for name in facts if name in self._columns_wanted and SIDE_COLUMNS[name].type == "TEXT"]
        # A text that is only stored is taken out of the frame as it is: as a fact each would become a Python object.
        in_codes = {
            fact for name, (_, _, fact) in SIDE_COLUMNS.items() if name in self._columns_wanted and name != fact
        }
        self._facts = [name for name in facts if name not in self._texts or name in in_codes or pool.by_event]
        self._roster = starts.roster
        self._players = _PlayersOfPool(starts)
        # lead=1: the sides of one player come in one block, so that a fold begins and ends within it
        self._sides = SortedRuns(folder, ("player", "n"), lead=1, rows_a_run=SIDES_A_RUN)

    def __enter__(self) -> PoolBuild:
        """Enter; nothing is to be prepared."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the temporary files."""
        self._sides.clear()

    def rate(self, blocks: Iterable[DataFrame], after_player: int) -> None:
        """Rate games in rating order; store the rows of players above *after_player* in a temporary file.

        No batch is in two blocks.
        """
        for frame in blocks:
            rated = self._rate(_as_games(frame, self._pool, self._facts))
            sides = self._side_frame(rated, frame)
            self._sides.add(sides.filter(pl.col("player") > after_player) if after_player else sides)

    def write(self, writer: TableWriter, progress: Progress) -> Iterator[int]:
        """Write the rows, some players at a time.

        Yields the last player written, each time the rows so far are whole, so that the caller may commit.
        """
        done, total = 0, self._sides.rows
        for sides in self._sides.blocks(SIDES_A_BLOCK):
            self._write(writer, sides)
            yield int(sides["player"][-1])
            done += len(sides)
            progress("rating history", done, total)

    def _rate(self, games: GamesInOrder) -> RatedGameColumns:
        dense = MANY.dense_indexes(games.white, games.black)
        own = dense[0][dense[0] > 0] if games.guests else dense[0]  # without guests, who come last
        return self._players.rate(games, dense, self._players.places(own))

    def _side_frame(self, rated: RatedGameColumns, frame: DataFrame) -> DataFrame:
        """Return the sides of rated games by player and game number, with what the tables need; texts from *frame*."""
        sides = columns_of_sides(MANY, self._pool, rated, self._columns_wanted)
        if "listed" in self._columns_wanted:
            sides["listed"] = side_rows.listed_sides(MANY, self._pool, rated, np.arange(len(rated.order)))
        columns = {"player": pl.Series(rated.player_column[sides["owner"]])}
        for name, column in sides.items():
            if name in self._columns_wanted or name in CURRENT_COLUMNS:
                is_text = name in SIDE_COLUMNS and SIDE_COLUMNS[name].type == "TEXT"
                columns[name] = pl.Series(column.tolist(), dtype=pl.String) if is_text else pl.Series(column)
        for name in self._texts:
            # a game has two sides: the number of a side halved is that of its game
            columns[name] = frame[name].gather(rated.order >> 1)
        for name in self._pool.state_fields:
            columns[STATE_PREFIX + name] = pl.Series(MANY.take(rated.after[name], rated.order))
        return pl.DataFrame(columns)

    def _write(self, writer: TableWriter, sides: DataFrame) -> None:
        """Fold and write the sides of some players, all of theirs."""
        run = sides["player"].rle_id().to_numpy().astype(np.int32)
        for table in self._tables:
            if table.by_tournament:
                self._write_in_tournaments(writer, table, sides)
                continue
            state = np.tile(MANY.float64_column(initial_state(table.fold, None)), int(run[-1]) + 1)
            # The history alone knows a past: what a seed says of games and a highest rating is where its counts begin.
            if table.fold is HISTORY and self._roster.has_seeds(self._pool.pool):
                by_player = state.reshape(int(run[-1]) + 1, -1)  # the same numbers, written in place
                firsts = sides.group_by("player", maintain_order=True).agg(pl.col("ended_ms").first())
                for place, (player, first_ms) in enumerate(firsts.iter_rows()):
                    past = self._roster.seed_at(self._pool.pool, player, first_ms)
                    if past is not None:
                        by_player[place] = initial_state(HISTORY, past.seed)
            folded = _folded(table, run, sides, state)
            if table.fold is HISTORY:
                # The other tables come after it, for some of them count by the games that it keeps for HERA.
                further = side_rows.history_columns(MANY, folded, self._columns_wanted)
                sides = sides.with_columns(pl.Series(name, values) for name, values in further.items())
            self._insert(writer, table, sides, folded)
        ends = np.append(np.flatnonzero(np.diff(run)), len(run) - 1)
        last = sides[ends]
        fields = {name: last[STATE_PREFIX + name].to_numpy() for name in self._pool.state_fields}
        flags = listed_flags(MANY, self._pool, last["rated_ms"].to_numpy(), fields)
        if self._players.lists.any_player_has_lists:
            waiting = [self._players.lists.has_pending_list(player) for player in last["player"].to_list()]
            flags = np.where(waiting, BY_LATER_LIST, flags)
        listed = pl.Series("listed", flags)
        keys = last.select(pl.lit(self._pool.pool).alias("pool"), "player", *CURRENT_COLUMNS)
        writer.insert(WRITE_CURRENT, keys.with_columns(listed))
        highest = np.maximum.reduceat(sides["rating"].to_numpy(), np.append(0, ends[:-1] + 1))
        writer.insert(RAISE_BOUND, keys.select("pool", "player", pl.Series("rating", highest)))

    def _write_in_tournaments(self, writer: TableWriter, table: SideTable, sides: DataFrame) -> None:
        """Fold and write the sides of some players that are of a tournament."""
        there = sides.filter(pl.col("tournament").is_not_null())
        if len(there):
            names = there["tournament"].cast(pl.Categorical).to_physical().to_numpy().astype(np.int64)
            # A pair as one number: NumPy sorts numbers in one go, and pairs by comparing them.
            pairs = there["player"].to_numpy().astype(np.int64) * (int(names.max()) + 1) + names
            run = np.unique(pairs, return_inverse=True)[1].astype(np.int32)
            state = np.tile(MANY.float64_column(initial_state(table.fold, None)), int(run.max()) + 1)
            self._insert(writer, table, there, _folded(table, run, there, state))

    def _insert(self, writer: TableWriter, table: SideTable, sides: DataFrame, folded: TableStates) -> None:
        """Write the rows of a table."""
        names = [*table.fold.key[1:], *table.fold.stores, *(STATE_PREFIX + name for name in table.scheme_state)]
        rows = sides.select(pl.lit(self._pool.pool).alias("pool"), *names)
        if folded.places is not None:
            rows = rows[folded.places]
        if len(rows):
            writer.insert(
                table.insert, rows.with_columns(pl.Series(f"column {i}", col) for i, col in enumerate(folded.columns))
            )


def _folded(table: SideTable, run: Any, sides: DataFrame, state: Any) -> TableStates:
    # Polars gives arrays that may not be written, which are of another type to Numba: the step would be compiled again.
    taken = {name: sides[name].to_numpy().copy() for name in table.fold.reads}
    return side_rows.apply_projector(MANY, table.fold, run, taken, state, side_rows.side_locator(sides))


def _as_games(frame: DataFrame, pool: Pool, facts: Sequence[str]) -> GamesInOrder:
    """Return a block of games in rating order as the engine's columns."""
    if pool.by_game:
        begins = np.ones(len(frame), np.int32)
    else:
        changes = frame.select(pl.struct("rated_ms", "batch").rle_id().diff().fill_null(1)).to_series()
        begins = changes.to_numpy().astype(np.int32)
    columns: dict[str, Any] = {name: frame[name].to_numpy() for name in GamesInOrder._fields if name in frame.columns}
    further = columns_of_facts(MANY, facts, [frame[name].to_list() for name in facts])
    games = GamesInOrder(**columns, begins=begins, fresh=np.ones(len(frame), np.int32), facts=further)
    return games.with_guests(MANY)


OWN_PROCESS_FROM = 100_000  # entries from which starting a process to write their rows (about 0.3 s) pays
ENTRIES_A_COMMIT = 200_000  # entries that are folded between two commits: each waits for the disk
GAMES_A_RUN = 500_000  # games that are sorted in memory at one time, about 100 bytes each
GAMES_A_BLOCK = 250_000  # games that are rated together, or somewhat more
_HOW_FAR = "SELECT target, folded, pool, player FROM build"


class Build:
    """A build of all views in a file, which can be stopped and resumed after each step."""

    def __init__(self, path: Path, projectors: Sequence[ReadModel], journal: Journal) -> None:
        """Name the file, the read models that it holds, and the journal that it follows from."""
        self._path = path
        self._projectors = projectors
        self._journal = journal
        facts = facts_wanted(side_tables(projectors, ()))
        self._columns = tuple(dict.fromkeys((*RATED_COLUMNS, *facts)))  # of each game that counts

    @collector_paused()
    def build_to(self, until: int, progress: Progress, missing: Sequence[str] = ()) -> None:
        """Build the file up to position *until*, or to where a stopped build was to end, and close it.

        Args:
            until: how many entries are folded.
            progress: receives the progress.
            missing: names of read models that the ledger keeps and this process cannot fold.
        """
        wait_for_writer(self._path)
        connection = self._open()
        try:
            target, folded, written_pool, written_player = connection.execute(_HOW_FAR).fetchone()
            # A stopped build ends where it was to end: pools that are written already would miss the games of today.
            target = target or until
            # the games that count, to come out by pool and in rating order, no batch in two blocks
            room = SortedRuns(self._path.parent, ("pool", *RATING_ORDER), lead=2, rows_a_run=GAMES_A_RUN)
            with _Writers(self._path, connection, target) as writers, room as games:
                book = GameBook(connection, self._journal, until=target)
                self._fold(connection, book, folded, target, games, writers, progress)
                from_shown = any(era.from_shown for pool in book.pools.values() for era in pool.eras)
                pasts = folded > 0 or book.roster.has_initial_ratings  # a stopped build does not know
                if pasts or from_shown:
                    writers.own()  # what was written can be read
                book.roster.preload(pasts=pasts, shown=from_shown)
                for statement in views_file.index_statements("games("):
                    writers.concurrent().run(statement)  # while the games are rated
                parts = (part for block in games.blocks(GAMES_A_BLOCK) for part in block.partition_by("pool"))
                for number, blocks in groupby(parts, lambda part: int(part["pool"][0])):
                    # Pools come in order, and this one was written whole before the build was stopped.
                    if number < written_pool:
                        continue
                    pool = next(pool for pool in book.pools.values() if pool.pool == number)
                    # Its games are all rated again, for no state was stored; rows of its first players stay.
                    after = written_player if number == written_pool else 0
                    starts = StartingRatings(connection, pool, book.roster, book.pools.get)
                    build = PoolBuild(starts, self._projectors, self._path.parent)
                    if pool.from_pools:
                        writers.own()  # the rows of the pools before it can be read
                    with build:
                        build.rate(blocks, after)
                        self._write(writers.concurrent(), number, build.write(writers.concurrent(), progress))
            with sqlite.write_transaction(connection):
                views_file.create_indexes(connection, self._projectors)
                if listeners := fact_projectors_among(self._projectors):
                    project_all_facts(book, listeners, target, progress)
                views_file.count_distribution(connection)
                views_file.set_checkpoint(connection, target, self._journal.root_at(target))
                read_models.mark_missing(connection, missing)
                # In one transaction with the checkpoint: a file without this table is no build that could be gone on
                # with.
                connection.execute("DROP TABLE build")
        finally:
            connection.close()

    def _open(self) -> sqlite.FileConnection:
        if self._path.exists():
            connection = sqlite.connect(self._path)
            if self._resumable(connection):
                return connection
            connection.close()
            for leftover in self._path.parent.glob(f"{self._path.name}*"):  # a hot log of it would spoil the new one
                leftover.unlink()
        connection = views_file.create_views(self._path, self._projectors)
        connection.execute(
            "CREATE TABLE build(target INTEGER, folded INTEGER, root BLOB, pool INTEGER, player INTEGER)"
        )
        connection.execute("INSERT INTO build VALUES (0, 0, ?, 0, 0)", (EMPTY_ROOT,))
        return connection

    def _resumable(self, connection: sqlite.FileConnection) -> bool:
        """Return whether a build is of the same projectors and journal; any other or damaged one restarts."""
        try:
            with views_file.reporting_damage(self._path):
                ((target, folded, root),) = connection.execute("SELECT target, folded, root FROM build").fetchall()
                # an earlier release may have begun it, without tables that are written now
                views_file.check_layout(connection, self._path)
                if not views_file.are_rated_by_this_program(connection):
                    return False
                views_file.check_tables(connection, self._projectors)
                identities = {projector.name: projector.identity for projector in self._projectors}
                if views_file.stored_projectors(connection) != identities:
                    return False
                # The journal may be another one, or an older copy of this one, which is shorter.
                return bool(folded <= target <= self._journal.size() and self._journal.root_at(folded) == root)
        except LedgerError:
            return False

    def _fold(
        self,
        connection: sqlite.FileConnection,
        book: GameBook,
        folded: int,
        target: int,
        games: SortedRuns,
        writers: _Writers,
        progress: Progress,
    ) -> None:
        """Fold the rest of the journal into the game book; all that counts, of before too, goes into *games*."""
        # What a stopped build folded went into the tables alone: it is read back from there at the end.
        stale, committed = folded > 0, folded
        for bodies, block in mapped_in_threads(decode_bodies, self._journal.read(folded, target)):
            fresh = Reratings()
            # What is more than players and games changes rows that the game book reads: it is written by the book's
            # own connection, in one transaction with the note that it was folded in.
            writer = writers.together() if block.affects_earlier_games else writers.concurrent()
            counting = apply_decoded_block(book, block, fresh, writer.insert, self._columns)
            views_file.record_schemes(connection, fresh.adopted)
            folded += len(bodies)
            done = {"target": target, "folded": folded, "root": self._journal.root_at(folded)}
            writer.insert("UPDATE build SET target = ?, folded = ?, root = ?", pl.DataFrame(done))
            # The two writers take turns: a transaction of the book's own ends before the other one writes again.
            if block.affects_earlier_games or folded - committed >= ENTRIES_A_COMMIT or folded == target:
                writer.commit()
                committed = folded
            # a later fact reached back into earlier blocks
            stale = stale or any(fresh.touched.values())
            if not stale:
                games.add(_compact(counting))
            progress("game book", folded, target)
        columns = self._columns
        if book.may_change_at_end:
            stale = True
            writers.own()
            with sqlite.write_transaction(connection):
                # it looks for games; tournaments alone go through all of them
                if book.corrections.any_approved or book.has_guests:
                    for statement in (*views_file.index_statements("games("), *views_file.index_statements("given_")):
                        connection.execute(statement)
                settled = Reratings()
                book.finish_build(settled)
                views_file.record_schemes(connection, settled.adopted)
        if any(pool.by_event for pool in book.pools.values()):
            columns = tuple(dict.fromkeys((*columns, "began_ms", "tournament")))
        if book.has_guests:
            columns = (*columns, *GUESTS)
        if stale:
            writers.own()
            games.clear()
            query = f"SELECT {', '.join(columns)} FROM games WHERE reason IS NULL ORDER BY position"
            cursor = connection.execute(query)
            while rows := cursor.fetchmany(MESSAGE):
                by_name = dict(zip(columns, zip(*rows, strict=True), strict=True))
                games.add(_compact(pl.DataFrame(by_name, schema=column_types(columns))))

    @staticmethod
    def _write(writer: TableWriter, pool: int, steps: Iterator[int]) -> None:
        for player in steps:
            done = pl.DataFrame({"pool": pool, "player": player})
            writer.insert("UPDATE build SET pool = ?, player = ?", done)
            writer.commit()


class _Writers:
    """The two ways into the file, one at a time: the connection and, for many rows, a process of its own."""

    def __init__(self, path: Path, connection: sqlite.FileConnection, entries: int) -> None:
        """Take the file and how many entries there are to write."""
        self._path = path
        self._connection = connection
        self._own = WritingConnection(connection)
        self._entries = entries
        self._aside: TableWriter | None = None

    def __enter__(self) -> _Writers:
        """Enter; no writer is started yet."""
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
        """Return the connection's writer, once all that was written is committed and nothing is under way."""
        if self._aside is not None:
            self._aside.commit()
            self._aside.settle()
            self._connection.set_authorizer(None)
        return self._own

    def together(self) -> TableWriter:
        """Return the connection's writer in a new transaction, which includes what the game book itself writes."""
        writer = self.own()
        self._own.begin()
        return writer

    def concurrent(self) -> TableWriter:
        """Return the writer that works while this process goes on."""
        if self._aside is None:
            much = self._entries >= OWN_PROCESS_FROM
            self._aside = table_writer(self._path, self._connection) if much else self._own
        if isinstance(self._aside, WritingProcess):
            # While the process has anything in hand the connection may not so much as read: SQLite would let it wait
            # a minute for a lock and then give up, or, with luck, not.
            self._connection.set_authorizer(lambda *_: sqlite.sqlite3.SQLITE_DENY)
        return self._aside


def _compact(frame: DataFrame) -> DataFrame:
    """Return the same columns in as few bytes as they need."""
    small = {"pool": pl.Int16, "white": pl.Int32, "black": pl.Int32, "half_points": pl.Int8, "time_loss": pl.Int8}
    return frame.with_columns(pl.col(name).cast(kind) for name, kind in small.items())
