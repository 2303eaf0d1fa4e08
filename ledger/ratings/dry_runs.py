"""Dry runs: entries that are not recorded take effect in the views, in a transaction that is rolled back.

Within a dry run the ordinary questions read the real tables, so what they answer is what the entries would bring. The
journal is not touched; the write lock of the views is held meanwhile, so that others read on and wait to write. Where
it cannot be had (others write, or try, for long; nobody may write the folder) the dry run takes a copy of the views.
What other connections or processes are to read is committed in such a copy.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs

from ledger.book.assessment import Reratings
from ledger.book.decisions import person_of
from ledger.book.game_book import GameBook
from ledger.book.timeline import Pool
from ledger.errors import StorageError, TooLongError
from ledger.facts.codec import Entry
from ledger.facts.events import GameRecorded, RatingSeeded, RoundWithoutGame
from ledger.facts.instants import instant_ms
from ledger.facts.words import Termination
from ledger.journal import Journal
from ledger.ratings import fact_folds, views_file
from ledger.ratings.fact_projector import ReadModel, fact_projectors_among
from ledger.ratings.player_rows import PlayerRows
from ledger.ratings.projection import PoolProjections
from ledger.ratings.projectors.history import HISTORY
from ledger.ratings.view_tables import SideTable
from ledger.ratings.views import Views
from ledger.runtime import sqlite

if TYPE_CHECKING:
    import sqlite3

PATIENCE = 2.0  # seconds for which others may write before a copy of the views is tried on
_HAS_SENT = "SELECT 1 FROM sent_reports LIMIT 1"
_STEPS = 10_000  # of SQLite's machine, some tenths of a millisecond, between two looks at the clock


class _OverError(Exception):
    """A dry run is over: what was written is rolled back."""


@contextmanager
def dry_run(views: Views, at_most: float | None = None, *, apart: bool = False) -> Iterator[Views]:
    """Open up-to-date views in which everything that is written is rolled back after the block.

    It is a copy if the views are locked.

    Args:
        views: up to date.
        at_most: seconds that the block may take; None: any.
        apart: on a copy in any case, so that no writer waits.

    Raises:
        StorageError: the disk refuses.
        TooLongError: it took longer than *at_most*.
    """
    with suppress(_OverError), ExitStack() as stack:
        tried = stack.enter_context(_locked(views, apart=apart))
        with _within(tried.connection, at_most):
            yield tried
        # Only an exception undoes the transaction.
        raise _OverError


@contextmanager
def _within(connection: sqlite3.Connection, seconds: float | None) -> Iterator[None]:
    """Raise TooLongError if the work over a connection takes longer than *seconds*; None: any time."""
    if seconds is None:
        yield
        return
    until = time.monotonic() + seconds
    is_over = False

    def look() -> bool:
        nonlocal is_over
        is_over = is_over or time.monotonic() > until
        return is_over

    # SQLite checks between its own steps, so that a long calculation outside it is given up at its next statement.
    connection.set_progress_handler(look, _STEPS)
    try:
        yield
    except Exception as error:
        if is_over:
            raise TooLongError(seconds) from error
        raise
    finally:
        connection.set_progress_handler(None, 0)


@contextmanager
def _locked(views: Views, *, apart: bool) -> Iterator[Views]:
    """Open the views by a connection of its own with their write lock, or a copy if the lock cannot be had."""
    if views.is_dry_run:  # one within another
        with rolled_back(views.connection):
            yield views
        return
    with ExitStack() as stack:
        is_copied = apart or not views.can_be_written()
        tried = stack.enter_context(copy_of_views(views)) if is_copied else views.open_for_dry_run()
        try:
            stack.enter_context(sqlite.write_transaction(tried.connection, PATIENCE))
        except StorageError:  # others are writing, perhaps for long
            tried = stack.enter_context(copy_of_views(views))
            stack.enter_context(sqlite.write_transaction(tried.connection))
        stack.enter_context(views.dry_runs.taken(views.path))
        yield tried


@contextmanager
def copy_of_views(views: Views) -> Iterator[Views]:
    """Open a copy of views in a temporary folder for the block.

    It costs reading and writing all of them.

    Raises:
        StorageError: the disk refuses.
    """
    with TemporaryDirectory(prefix="ledger-dry-run-") as folder:
        copy = views.for_dry_run_at(Path(folder) / views.path.name)
        views.copy_to(copy.path)
        with closing(copy):
            yield copy


@contextmanager
def rolled_back(connection: sqlite3.Connection) -> Iterator[None]:
    """Roll back what is written in the block, within a dry run that goes on."""
    connection.execute("SAVEPOINT dry_run")
    try:
        yield
    finally:
        connection.execute("ROLLBACK TO dry_run")
        # SQLite keeps a savepoint open that was rolled back to.
        connection.execute("RELEASE dry_run")


@attrs.frozen
class ReratedGames:
    """The games of a pool that entries cause to be rated again.

    Attributes:
        start_ms: the place of the first of them in rating order, milliseconds.
        games: their number.
        players: their players.
    """

    start_ms: int
    games: int
    players: frozenset[int]


class MovedResult(NamedTuple):
    """A game or bye of a tournament that entries change: pool, tournament, and its end or edition, milliseconds."""

    pool: str
    tournament: str
    ms: int


@attrs.frozen
class DryRunResult:
    """The effect of entries in a dry run.

    Attributes:
        book: the game book.
        again: by number of a pool, the games that were rated again.
        seeded: pool and player of each list rating that is new or changed.
        merged: players who are other persons now, and those who these are and were.
        results: the results of tournaments that change, if a report was sent.
    """

    book: GameBook
    again: Mapping[int, ReratedGames]
    seeded: frozenset[tuple[str, int]]
    merged: frozenset[int]
    results: tuple[MovedResult, ...]


def apply_entries(
    views: Views, journal: Journal, entries: Sequence[Entry], read_models: Sequence[ReadModel] = ()
) -> DryRunResult:
    """Let entries take effect within a dry run.

    Args:
        views: of a dry run.
        journal: the entries that the views know, and those that are tried.
        entries: these, with the next positions.
        read_models: the tables that follow, apart from the history.

    Raises:
        CorruptError: the entries do not follow from what is there.
    """
    connection, seen = views.connection, views_file.position(views.connection)
    listeners = fact_projectors_among(read_models)
    has_sent = connection.execute(_HAS_SENT).fetchone() is not None
    book, fresh = GameBook(connection, journal), Reratings(former_games={} if listeners or has_sent else None)
    merges = dict(book.proposals.merges)
    book.apply_entries(entries, fresh)
    views_file.record_schemes(connection, fresh.adopted)
    watched: dict[int, _WatchedRows] = {}

    def rows_of(connection: sqlite3.Connection, pool: Pool, tables: Sequence[SideTable]) -> PlayerRows:
        return watched.setdefault(pool.pool, _WatchedRows(connection, pool, tables))

    projections = PoolProjections(book, read_models, rows_of)
    again = {}
    for number, games in projections.update_by_pool(fresh, seen):
        again[number] = ReratedGames(fresh.start_ms[number], games, frozenset(watched[number].players))
    fact_folds.project_changed_facts(book, listeners, seen, seen + len(entries), fresh)
    views_file.set_checkpoint(connection, journal.size(), journal.root_at(journal.size()))
    facts = chain((entry.event for entry in entries), fresh.other_facts.values())
    seeded = frozenset((event.pool, event.player) for event in facts if isinstance(event, RatingSeeded))
    changed = merges.items() ^ book.proposals.merges.items()
    results = tuple(_changed_results(book, seen, seen + len(entries), fresh)) if has_sent else ()
    return DryRunResult(book, again, seeded, frozenset(chain.from_iterable(changed)), results)


def _changed_results(book: GameBook, after: int, until: int, fresh: Reratings) -> Iterator[MovedResult]:
    for _, before, now in fact_folds.changed_facts(book, {GameRecorded, RoundWithoutGame}, after, until, fresh):
        facts = [fact for fact in (before, now) if isinstance(fact, GameRecorded | RoundWithoutGame)]
        # a merge changes no result: the report calls the player by the other number
        if len({_as_reported(book.proposals.merges, fact) for fact in facts}) == 1 < len(facts):
            continue
        days = [fact.ended_at if isinstance(fact, GameRecorded) else fact.edition for fact in facts]
        yield from {
            MovedResult(fact.pool, fact.tournament, instant_ms(day)): None
            for fact, day in zip(facts, days, strict=True)
            if fact.tournament is not None
        }


def _as_reported(merges: Mapping[int, int], fact: GameRecorded | RoundWithoutGame) -> tuple[object, ...]:
    place = fact.pool, fact.tournament, fact.round
    if isinstance(fact, RoundWithoutGame):
        return *place, person_of(merges, fact.player), fact.edition, fact.brings, fact.half_points
    is_played = fact.termination is not Termination.UNPLAYED
    sides = person_of(merges, fact.white), person_of(merges, fact.black)
    return *place, *sides, fact.ended_at, fact.outcome, is_played


class _WatchedRows(PlayerRows):
    """The rows of a pool that note whose games are rerated."""

    def __init__(self, connection: sqlite3.Connection, pool: Pool, tables: Sequence[SideTable]) -> None:
        super().__init__(connection, pool, tables)
        self.players: set[int] = set()

    def write(self, table: SideTable, rows: Iterable[Sequence[Any]], *, replacing: bool = False) -> None:
        """Note the players of the history's rows, and write them."""
        super().write(table, self._noted(rows) if table.fold is HISTORY else rows, replacing=replacing)

    def _noted(self, rows: Iterable[Sequence[Any]]) -> Iterator[Sequence[Any]]:
        # On the way to the table: the rows of a long history are made as they are written, never all at once.
        for row in rows:
            self.players.add(row[1])
            yield row

    def note_converged(self, players: Iterable[int]) -> None:
        """Note the players who were rated again and converged."""
        self.players.update(players)

    def restore_current(self, bases: Sequence[tuple[int, int]]) -> None:
        """Note the players who have no rated game any longer from there on."""
        self.players.update(player for player, _ in bases)
        super().restore_current(bases)
