"""The game book: journal entries to games as they now stand, one row each, with the reason where one does not count.

Entries by the dozen are taken as events, many thousands as columns (``game_book_columns``); both give the same rows.
Nothing is rated here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ledger.book import judging, tables
from ledger.book.correcting import Correcting
from ledger.book.fresh import Fresh, Placed
from ledger.book.kinds import note_moves, stand
from ledger.book.parts import Parts
from ledger.book.restand import Added, added, supplement
from ledger.book.timeline import Pool
from ledger.facts import codec
from ledger.facts.events import CorrectionDecided, CorrectionProposed, GameSupplemented
from ledger.journal import Journal

if TYPE_CHECKING:
    import sqlite3


# Each number that SQLite hands over becomes an object, which costs more than to find it: two share one.
POINTS_BITS, PLAYER_BITS = 2, 31
PACKED = (
    f"(position << {2 * POINTS_BITS}) | (half_points << {POINTS_BITS}) | time_loss",
    f"(white << {PLAYER_BITS}) | black",
    "rated_ms",
)
BATCH = ("batch", "ended_ms")  # of a pool that rates games by themselves none, and the place in rating order
PACKED_COLUMNS = ("position", "white", "black", "half_points", "time_loss", "rated_ms", *BATCH)  # what is asked for


def rated_games(pool: Pool, facts: Sequence[str] = ()) -> str:
    """The question for the rated games of a pool from a place on, in rating order; see ``GameBook.in_order``."""
    columns = [*PACKED, *(() if pool.by_game else BATCH), *facts]
    return (
        f"SELECT {', '.join(columns)} FROM games WHERE pool = ? AND reason IS NULL AND rated_ms >= ? "
        f"ORDER BY {tables.IN_RATING_ORDER}"
    )


class GameBook(Parts):
    """The games of one views database, and what is needed to place further ones."""

    def __init__(self, connection: sqlite3.Connection, journal: Journal, *, until: int | None = None) -> None:
        """Take up the games of a database.

        Args:
            connection: the database.
            journal: where facts that are corrected stand as they were recorded.
            until: of a build, the position at which it ends.
        """
        super().__init__(connection, journal, until=until)
        self.correcting = Correcting(self)

    def take(self, entries: Iterable[codec.Entry | Placed], fresh: Fresh) -> None:
        """Fold a few entries in, all that there are; what they touch is noted in *fresh*."""
        self.fold(entries, fresh)
        self.settle(fresh)

    def fold(self, entries: Iterable[codec.Entry | Placed], fresh: Fresh) -> None:
        """Fold some of many entries in: what was decided waits for ``settle``, until all that it concerns is there."""
        tellings: list[Added] = []  # of games that may stand among these entries
        for entry in entries:
            match entry.event:
                case CorrectionProposed() | CorrectionDecided():
                    assert isinstance(entry, codec.Entry)  # with who proposes or decides
                    self.correcting.take(entry)
                case GameSupplemented() as event:
                    tellings.append(added(event))
                    note_moves(self, event.entry, event.text)
                case event:
                    stand(self, entry.position, None, event, fresh)
        if tellings:
            supplement(self, tellings, fresh)

    def settle(self, fresh: Fresh) -> None:
        """Let the corrections that were decided take effect."""
        self.correcting.settle(fresh)
        self.place_runs(fresh)
        self.place_tournaments(fresh)

    def settle_all(self, fresh: Fresh) -> None:
        """Let all corrections take effect, and all tournaments take their places, at the end of a build."""
        if self.correcting.is_needed:
            self.correcting.settle_all(fresh)
            self.place_runs(fresh)
        self.played.taken()
        for pool in self.pools.values():
            if pool.by_event:
                tables.index_tournaments(self.connection)
                self.judging.again("pool = ?1", (pool.pool,), fresh)

    @property
    def is_to_settle(self) -> bool:
        """Whether ``settle_all`` may change a game."""
        return self.correcting.is_needed or any(pool.by_event for pool in self.pools.values())

    def in_order(self, pool: Pool, start_ms: int, facts: Sequence[str] = ()) -> Iterator[list[tuple[Any, ...]]]:
        """The rated games whose place is at *start_ms* or later, in rating order, in blocks of whole batches.

        Each is ``(game, players, place in rating order)``, where the pool does not rate games by themselves ``batch``
        and ``end``, and the further columns of the game book that *facts* names. A game is its position and, in four
        lower bits, the half points of White and who lost on time (0 nobody, 1 White, 2 Black); players are White and,
        in ``PLAYER_BITS`` lower bits, Black.
        """
        cursor = self.connection.execute(self._rated_games(pool, facts), (pool.pool, start_ms))
        kept: list[tuple[Any, ...]] = []  # the last batch may go on in the next block
        while rows := cursor.fetchmany(judging.BLOCK):
            rows = [*kept, *rows]
            cut = len(rows)
            if not pool.by_game:
                while cut and rows[cut - 1][2:4] == rows[-1][2:4]:
                    cut -= 1
            if cut:
                yield rows[:cut]
            kept = rows[cut:]
        if kept:
            yield kept

    def _rated_games(self, pool: Pool, facts: Sequence[str]) -> str:
        return rated_games(pool, facts)
