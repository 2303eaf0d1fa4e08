"""Building the views anew, aside: fold the journal into games, rate them, write the rows, in steps that each commit.

A build that was stopped goes on where it was, unless it is of another journal, of other projectors, or damaged. Putting
it in place is ``views``'s business.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ledger.book.game_book import Fresh, GameBook
from ledger.book.game_book_columns import RATED_COLUMNS, decode_bodies, take_decoded
from ledger.book.tables import ORDER_OF_ENDS, RATING_ORDER
from ledger.book.timeline import Pool
from ledger.errors import LedgerError
from ledger.journal import Journal
from ledger.journal.merkle import EMPTY_ROOT
from ledger.ratings import views_file
from ledger.ratings.projection import PoolProjection
from ledger.ratings.projector import Projector
from ledger.ratings.rated_games import Games, as_facts
from ledger.runtime import sqlite
from ledger.runtime.collector import collector_paused
from ledger.runtime.columns import MANY
from ledger.runtime.lazy import np, pl
from ledger.runtime.prefetch import mapped_ahead
from ledger.runtime.progress import Progress

if TYPE_CHECKING:
    import sqlite3

    from polars import DataFrame, Series


class Build:
    """A build aside: fold the journal into games, rate them, write the rows; resumable after each step."""

    def __init__(self, path: Path, projectors: Sequence[Projector], journal: Journal) -> None:
        """Say where it is made, what it holds, and which journal it follows from."""
        self._path = path
        self._projectors = projectors
        self._journal = journal

    def run(self, until: int, progress: Progress) -> None:
        """Bring the file to position *until*, or where a stopped build was to end, and close it."""
        with sqlite.storage_errors(self._path), collector_paused():
            self._run(until, progress)

    def _run(self, until: int, progress: Progress) -> None:
        connection = self._open()
        try:
            book = GameBook(connection)
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
                ordered = _in_rating_order(connection, games, pool, projection.facts)
                if not pools:
                    games = None  # ten million keys are no longer needed
                steps = projection.from_scratch(ordered, after, progress)
                self._write(connection, pool.pool, steps)
            with sqlite.immediate(connection, self._path):
                views_file.create_indexes(connection)
                views_file.set_checkpoint(connection, target, self._journal.root_at(target))
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
                if len(made) != 1 or not views_file.are_current(connection, self._projectors):
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
            with sqlite.immediate(connection, self._path):
                frames.append(_compact(take_decoded(book, block, fresh)))
                views_file.note_schemes(connection, fresh.adopted)
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
        f"SELECT {', '.join(RATED_COLUMNS)} FROM games WHERE reason IS NULL ORDER BY position"
    ).fetchall()
    schema = {name: pl.Int64 if name != "key" else pl.String for name in RATED_COLUMNS}
    return _compact(pl.DataFrame(rows, schema=schema, orient="row"))


def _in_rating_order(
    connection: sqlite3.Connection, games: DataFrame, pool: Pool, facts: Sequence[str]
) -> Games:
    here = games["pool"] == pool.pool
    mine = games if here.all() else games.filter(here)
    if pool.by_game:
        mine = mine.sort(ORDER_OF_ENDS)
        rated_ms, begins = mine["ended_ms"], np.ones(len(mine), np.int32)
    else:
        mine = mine.join(_stored_places(connection, pool.pool), on="position")
        mine = mine.sort(RATING_ORDER)
        rated_ms = mine["rated_ms"]
        begins = mine.select(pl.struct("rated_ms", "batch").rle_id().diff().fill_null(1)).to_series().to_numpy()
    return Games(
        mine["position"].to_numpy(), mine["white"].to_numpy(), mine["black"].to_numpy(),
        mine["half_points"].to_numpy(), mine["time_loss"].to_numpy(), mine["ended_ms"].to_numpy(),
        rated_ms.to_numpy(), begins.astype(np.int32), np.ones(len(mine), np.int32),
        _stored_facts(connection, pool.pool, mine["position"], facts),
    )  # fmt: skip


def _stored_facts(
    connection: sqlite3.Connection, pool: int, positions: Series, facts: Sequence[str]
) -> dict[str, Any]:
    """The columns of the game book that tables want besides those that rating needs, by game."""
    if not facts:
        return {}
    query = f"SELECT position, {', '.join(facts)} FROM games WHERE pool = ? AND reason IS NULL"
    rows = connection.execute(query, (pool,)).fetchall()
    kinds = {name: pl.Int64 if name == "round_order" else pl.String for name in facts}
    stored = pl.DataFrame(rows, schema={"position": pl.Int64, **kinds}, orient="row")
    found = positions.to_frame().join(stored, on="position", how="left", maintain_order="left")
    return as_facts(MANY, facts, [found[name].to_list() for name in facts])


def _stored_places(connection: sqlite3.Connection, pool: int) -> DataFrame:
    """Place in rating order and batch of each game that counts, by position."""
    rows = connection.execute(
        "SELECT position, rated_ms, batch FROM games WHERE pool = ? AND reason IS NULL", (pool,)
    ).fetchall()
    return pl.DataFrame(
        rows, schema={"position": pl.Int64, "rated_ms": pl.Int64, "batch": pl.String}, orient="row"
    )
