"""Judging the games of a book: why each does not count, and where it stands in rating order, a few or many at a time.

A fact may reach games that stand in the book already: they are judged again, and what becomes of them is noted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ledger.book import tables
from ledger.book.fresh import Fresh
from ledger.book.judging_columns import judged
from ledger.book.roster import Roster
from ledger.book.timeline import ALONE, Place, Pool
from ledger.book.tournament_games import editions_of
from ledger.book.tournaments import Edition
from ledger.facts.words import OUTCOME_CODE, TERMINATION_CODE
from ledger.runtime.lazy import pl
from ledger.schemes.scheme import HALF_MOVES_UNKNOWN, REASONS

if TYPE_CHECKING:
    import sqlite3

BLOCK = 100_000  # games that are Python objects at one time: some 35 MB
FEW_JUDGED = 2_000  # games up to which each is judged by itself, without loading Polars
JUDGED = (
    "position", "pool", "reason", "rated_ms", "batch", "began_ms", "ended_ms", "outcome", "termination", "half_moves",
    "rated", "white", "black", "tournament", "voided_by",
)  # fmt: skip
SELECT_JUDGED = f"SELECT {', '.join(JUDGED)} FROM games WHERE "
VOIDED, SAME_PERSON = "voided", "same-person"  # why a corrected game does not count, whatever the scheme
Verdict = tuple[str | None, int, str, int | None]  # why a game does not count, and its ``Place``


class Judging:
    """The judge of one game book."""

    def __init__(self, connection: sqlite3.Connection, pools: Mapping[str, Pool], roster: Roster) -> None:
        """Take the database of the book, its pools as they stand at each moment, and what is known of the players."""
        self._connection = connection
        self._pools = pools
        self._roster = roster

    def verdict(
        self,
        pool: Pool,
        ms: int,
        outcome: str,
        termination: str,
        half_moves: int | None,
        rated: bool,
        white: int,
        black: int,
        tournament: str | None,
        edition: Edition | None = None,
    ) -> Verdict:
        """Why a game does not count (None if it does), and its place in rating order."""
        place = pool.place(ms, tournament, edition) if pool.is_crossed else None
        era = pool.eras[pool.era_at(ms if place is None else place.rated_ms)]
        reason = era.scheme.refuse(
            OUTCOME_CODE[outcome],
            TERMINATION_CODE[termination],
            HALF_MOVES_UNKNOWN if half_moves is None else half_moves,
            bool(rated),
            *era.standings(self._roster.standing_at(white, ms), self._roster.standing_at(black, ms), tournament),
            era.numbers,
        )
        if reason:
            return REASONS[reason], *Place(ms, ALONE)
        return None, *(place or pool.place(ms, tournament, edition))

    def again(
        self,
        where: str,
        arguments: tuple[object, ...],
        fresh: Fresh,
        *,
        player: int | None = None,
        everybody: bool = False,
    ) -> None:
        """Judge games again that a later fact reaches; those that change, and on request all, are rated again.

        Args:
            where: which games.
            arguments: what its question marks stand for.
            fresh: what is touched is noted here.
            player: whose rating is begun anew whatever becomes of the games.
            everybody: all players of the games are rated again.
        """
        changed: list[tuple[Any, ...]] = []
        are_aside = False
        cursor = self._connection.execute(SELECT_JUDGED + where, arguments)
        rows = cursor.fetchmany(FEW_JUDGED)
        while rows:
            for verdict, row in zip(self.verdicts(rows), rows, strict=True):
                position, number, *stood = row[:6]
                if list(verdict) != stood:
                    changed.append((*verdict, position))
                    fresh.note(number, min(verdict[1], stood[1]), row[11:13])
                elif everybody and stood[0] is None:
                    fresh.note(number, stood[1], row[11:13])
                elif player is not None and stood[0] is None:
                    fresh.note(number, stood[1], (player,))
            if len(changed) > BLOCK:
                self._put_aside(changed)
                are_aside = True
            rows = cursor.fetchmany(BLOCK)
        self._change_games(changed, are_aside=are_aside)

    def _put_aside(self, changed: list[tuple[Any, ...]]) -> None:
        """Keep verdicts outside the memory until all games are judged: an index being read must not change."""
        self._connection.execute(f"CREATE TEMP TABLE IF NOT EXISTS {tables.ASIDE}")
        self._connection.executemany("INSERT INTO temp.judged VALUES (?, ?, ?, ?, ?)", changed)
        changed.clear()

    def _change_games(self, changed: list[tuple[Any, ...]], *, are_aside: bool) -> None:
        if are_aside:
            self._put_aside(changed)
            self._connection.execute(
                "UPDATE games SET reason = judged.reason, rated_ms = judged.rated_ms, batch = judged.batch, "
                "began_ms = judged.began_ms FROM temp.judged WHERE games.position = judged.position"
            )
            self._connection.execute("DROP TABLE temp.judged")
        else:
            update = "UPDATE games SET reason = ?, rated_ms = ?, batch = ?, began_ms = ? WHERE position = ?"
            self._connection.executemany(update, changed)

    def verdicts(self, rows: list[tuple[Any, ...]]) -> Iterable[Verdict]:
        """Why each stored game does not count, and its ``Place``.

        Args:
            rows: the columns ``JUDGED`` of each.
        """
        for row, verdict in zip(rows, self._verdicts(rows), strict=True):
            if row[14] is not None:
                yield VOIDED, *Place(row[6], ALONE)
            elif row[11] == row[12]:
                yield SAME_PERSON, *Place(row[6], ALONE)
            else:
                yield verdict

    def _verdicts(self, rows: list[tuple[Any, ...]]) -> Iterable[Verdict]:
        """The same by what the schemes say, one by one or as columns."""
        by_number = {pool.pool: pool for pool in self._pools.values()}
        asked = ((by_number[row[1]], row[13], row[6]) for row in rows)
        editions = editions_of(self._connection, asked) if any(pool.by_event for pool in by_number.values()) else {}
        if len(rows) > FEW_JUDGED:
            names = [
                "pool", "ended_ms", "outcome", "termination", "half_moves", "rated", "white", "black", "tournament",
            ]  # fmt: skip
            columns = dict(zip(names, zip(*((row[1], *row[6:14]) for row in rows), strict=True), strict=True))
            texts = {"outcome", "termination", "tournament"}
            schema = {name: pl.String if name in texts else pl.Int64 for name in names}
            frame = judged(self._pools.values(), self._roster, pl.DataFrame(columns, schema=schema), editions)
            return frame.select("reason", "rated_ms", "batch", "began_ms").iter_rows()
        return (
            self.verdict(by_number[row[1]], *(*row[6:14], editions.get(row[1], {}).get(row[13], {}).get(row[6])))
            for row in rows
        )
