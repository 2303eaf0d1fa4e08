"""The game book: journal entries to games as they now stand, one row each, with the reason where one does not count.

Entries by the dozen are taken as events, many thousands as columns (``game_book_columns``); both give the same rows.
Nothing is rated here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs

from ledger.book import pasts, stored_policies, supplements, tables
from ledger.book.eras import BEGINNING
from ledger.book.judging_columns import judged
from ledger.book.roster import Roster
from ledger.book.stored_pools import add_era, add_opening, add_pool, era_of, stored_pools
from ledger.book.timeline import ALONE, Place, Pool
from ledger.book.tournament_games import PlayedTournaments, editions_of
from ledger.book.tournaments import Edition
from ledger.errors import CorruptError
from ledger.facts.codec import Entry
from ledger.facts.events import (
    BirthYearLearnt,
    Event,
    GameRecorded,
    GameSupplemented,
    PlayerChanged,
    PlayerRegistered,
    RatingRunClosed,
    RatingSeeded,
    SchemeAdopted,
    TournamentClosed,
    TournamentOpened,
)
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.periods import OPEN
from ledger.facts.public_events import PolicySet
from ledger.facts.words import HALF_POINTS, OUTCOME_CODE, TERMINATION_CODE, round_order, time_loss
from ledger.runtime.lazy import pl
from ledger.schemes.scheme import HALF_MOVES_UNKNOWN, REASONS, Scheme

if TYPE_CHECKING:
    import sqlite3


_IN_ORDER = "position, white, black, half_points, time_loss, ended_ms, rated_ms, batch"
BLOCK = 100_000  # games that are Python objects at one time: some 35 MB
_JUDGED = (
    "SELECT position, pool, reason, rated_ms, batch, began_ms, ended_ms, outcome, termination, half_moves, rated, "
    "white, black, tournament FROM games WHERE "
)
Verdict = tuple[str | None, int, str, int | None]  # why a game does not count, and its ``Place``
FEW_JUDGED = 2_000  # games up to which each is judged by itself, without loading Polars
def rated_games(facts: Sequence[str] = ()) -> str:
    """The question for the rated games of a pool from a place on, in rating order; see ``GameBook.in_order``."""
    return (
        f"SELECT {', '.join([_IN_ORDER, *facts])} FROM games WHERE pool = ? AND reason IS NULL AND rated_ms >= ? "
        f"ORDER BY {tables.IN_RATING_ORDER}"
    )


class Placed(NamedTuple):
    """An event and its position in the journal: what the game book needs of an entry."""

    position: int
    event: Event


class Played(NamedTuple):
    """A rated game as ``GameBook.in_order`` tells it, with all facts that tables may want."""

    position: int
    white: int
    black: int
    half_points: int
    time_loss: int
    ended_ms: int
    rated_ms: int
    facts: dict[str, Any]


@attrs.define
class Fresh:
    """What the newest entries touch, by pool: where re-rating must begin, and whom it concerns.

    Attributes:
        start_ms: by pool, the earliest place in rating order of a game that is new or changed, milliseconds.
        touched: by pool, players whose games from there on are re-rated whatever the new games say.
        only: by pool, the one game that is new; None where there is more to it.
        adopted: the schemes that were adopted.
    """

    start_ms: dict[int, int] = attrs.Factory(dict)
    touched: dict[int, set[int]] = attrs.Factory(dict)
    only: dict[int, Played | None] = attrs.Factory(dict)
    adopted: list[Scheme] = attrs.Factory(list)

    def note(self, pool: int, rated_ms: int, players: Iterable[int] = (), played: Played | None = None) -> None:
        """Re-rating of *pool* must begin at *rated_ms* or before, for *played* or whatever else changed."""
        self.only[pool] = None if pool in self.only else played
        self.start_ms[pool] = min(rated_ms, self.start_ms.get(pool, rated_ms))
        self.touched.setdefault(pool, set()).update(players)


class GameBook:
    """The games of one views database, and what is needed to place further ones."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.roster = Roster(connection)
        self.pools = {pool.name: pool for pool in stored_pools(connection)}
        self._runs_from: dict[str, int] = {}  # by pool, the earliest run closed since its games were placed
        self.played = PlayedTournaments()
        self._supplements: list[supplements.Added] = []  # of games that may stand among the entries being taken

    def take(self, entries: Iterable[Entry | Placed], fresh: Fresh) -> None:
        """Fold a few entries in; what they touch is noted in *fresh*."""
        self._take(entries, fresh)
        supplements.take(self.connection, self._supplements, self.verdicts, fresh.note, self.moved)
        self._supplements.clear()
        for name, since in self._runs_from.items():  # once, however many runs were closed
            where = "pool = ?1 AND rated_ms >= ?2 AND reason IS NULL"  # later ones too: their periods are renumbered
            self._judge_again(where, (self.pools[name].pool, since), fresh, everybody=True)
        self._runs_from.clear()
        self.place_tournaments(fresh)

    def _take(self, entries: Iterable[Entry | Placed], fresh: Fresh) -> None:
        for entry in entries:
            match entry.event:
                case GameRecorded() as event:
                    self._record(entry.position, event, fresh)
                case PlayerRegistered() as event:
                    self._register(event)
                case PlayerChanged() as event:
                    self._change(event, fresh)
                case BirthYearLearnt() | RatingSeeded() as event:
                    pasts.take(self.connection, entry.position, event, self.pool_named, fresh.note)
                case SchemeAdopted() as event:
                    self._adopt(entry.position, event, fresh)
                case RatingRunClosed() as event:
                    self._close_run(entry.position, event)
                case TournamentClosed() as event:
                    self._close_tournament(entry.position, event, fresh)
                case TournamentOpened() as event:
                    self._open_tournament(entry.position, event, fresh)
                case GameSupplemented() as event:
                    self._supplements.append(supplements.added(event))
                case PolicySet() as event:
                    stored_policies.take(self.connection, entry.position, event)

    def in_order(self, pool: Pool, start_ms: int, facts: Sequence[str] = ()) -> Iterator[list[tuple[Any, ...]]]:
        """The rated games whose place is at *start_ms* or later, in rating order, in blocks of whole batches.

        Each is ``(position, white, black, half points of White, who lost on time: 0 nobody 1 White 2 Black, end, place
        in rating order, batch)``, and the further columns of the game book that *facts* names.
        """
        cursor = self.connection.execute(rated_games(facts), (pool.pool, start_ms))
        kept: list[tuple[Any, ...]] = []  # the last batch may go on in the next block
        while rows := cursor.fetchmany(BLOCK):
            rows = [*kept, *rows]
            cut = len(rows)
            if not pool.by_game:
                while cut and rows[cut - 1][6:8] == rows[-1][6:8]:
                    cut -= 1
            if cut:
                yield rows[:cut]
            kept = rows[cut:]
        if kept:
            yield kept

    def pool_named(self, name: str, position: int) -> Pool:
        """The pool of an entry.

        Raises:
            CorruptError: no scheme was adopted for it before.
        """
        pool = self.pools.get(name)
        if pool is None:
            raise CorruptError("journal", position, f"no scheme rates pool {name!r} of this entry; run 'audit'")
        return pool

    def _record(self, position: int, event: GameRecorded, fresh: Fresh) -> None:
        pool = self.pool_named(event.pool, position)
        ms = instant_ms(event.ended_at)
        reason, rated_ms, batch, _ = self._judge(
            pool, ms, event.outcome, event.termination, event.half_moves, event.rated, event.white, event.black,
            event.tournament,
        )  # fmt: skip
        if pool.by_event and event.tournament:
            self.played.note(pool.name, event.tournament, ms, ms)
        points, loser = HALF_POINTS[event.outcome], time_loss(event.outcome, event.termination)
        order = round_order(event.round)
        row = (
            position, event.game, pool.pool, event.white, event.black, event.outcome.value, event.termination.value,
            event.half_moves, event.started_at, event.ended_at, ms, rated_ms, batch, event.tournament, event.round,
            order, int(event.rated), reason, event.white_rating, event.black_rating, points, loser,
        )  # fmt: skip
        self.connection.execute(tables.INSERT_GAME, row)
        if reason is None:
            facts = {
                "termination": event.termination.value, "tournament": event.tournament, "round": event.round,
                "round_order": order,
            }  # fmt: skip
            played = Played(position, event.white, event.black, points or 0, loser, ms, rated_ms, facts)
            fresh.note(pool.pool, rated_ms, played=played)

    def _judge(
        self, pool: Pool, ms: int, outcome: str, termination: str, half_moves: int | None, rated: bool, white: int,
        black: int, tournament: str | None, edition: Edition | None = None,
    ) -> Verdict:  # fmt: skip
        """Why a game does not count (None if it does), and its place in rating order."""
        place = pool.place(ms, tournament, edition) if pool.is_crossed else None
        era = pool.eras[pool.era_at(ms if place is None else place.rated_ms)]
        reason = era.scheme.refuse(
            OUTCOME_CODE[outcome], TERMINATION_CODE[termination],
            HALF_MOVES_UNKNOWN if half_moves is None else half_moves, bool(rated),
            self.roster.standing_at(white, ms), self.roster.standing_at(black, ms), era.numbers,
        )  # fmt: skip
        if reason:
            return REASONS[reason], *Place(ms, ALONE)
        return None, *(place or pool.place(ms, tournament, edition))

    def _register(self, event: PlayerRegistered) -> None:
        self.connection.execute(
            "INSERT INTO players VALUES (?, ?, ?, ?, ?)",
            (event.player, event.joined_at, event.standing.value, event.declared_rating, event.birth_year),
        )
        self.roster.register(event.player, event.standing)

    def _adopt(self, position: int, event: SchemeAdopted, fresh: Fresh) -> None:
        """A pool begins, or is rated by another scheme from an instant on: its games since are judged again."""
        era = era_of(position, event)
        pool = self.pools.get(event.pool)
        if pool is None:
            pool = Pool(len(self.pools) + 1, event.pool, (era,))
            add_pool(self.connection, pool, position)
        else:
            eras = sorted([*pool.eras, era], key=lambda known: (known.since_ms, known.since))
            pool = attrs.evolve(pool, eras=tuple(eras))
        add_era(self.connection, pool, era)
        fresh.adopted.append(era.scheme)
        self.pools[pool.name] = pool
        if len(pool.eras) > 1:
            since = era.since_ms - pool.reach_ms  # what is left of a tournament before it may now be short enough
            where = "pool = ?1 AND (ended_ms >= ?2 OR rated_ms >= ?2)"
            self._judge_again(where, (pool.pool, since), fresh, everybody=True)

    def _close_run(self, position: int, event: RatingRunClosed) -> None:
        """A rating period ends: the games in it that waited for a later run will take their place in this one."""
        pool, ms = self.pool_named(event.pool, position), instant_end_ms(event.as_of)
        self.connection.execute("INSERT INTO runs VALUES (?, ?, ?, ?)", (pool.pool, ms, event.as_of, position))
        pool = attrs.evolve(pool, runs=tuple(sorted({*pool.runs, ms})))
        self.pools[pool.name] = pool
        if pool.by_runs:
            self._runs_from[pool.name] = min(ms, self._runs_from.get(pool.name, ms))

    def _close_tournament(self, position: int, event: TournamentClosed, fresh: Fresh) -> None:
        """A tournament is over: its games are rated together, as of its end."""
        pool, ms = self.pool_named(event.pool, position), instant_end_ms(event.ended_at)
        self.connection.execute(
            "INSERT INTO tournaments VALUES (?, ?, ?, ?, ?)",
            (pool.pool, event.tournament, ms, event.ended_at, position),
        )
        known = pool.announced(event.tournament).closed_at(ms)
        pool = attrs.evolve(pool, closed={**pool.closed, event.tournament: known.closed})
        self.pools[pool.name] = pool
        self._place_tournament(pool, event.tournament, fresh)

    def _open_tournament(self, position: int, event: TournamentOpened, fresh: Fresh) -> None:
        """A tournament is announced: its games are those of its days."""
        pool = self.pool_named(event.pool, position)
        first, last = instant_ms(event.starts_at), instant_end_ms(event.ends_at)
        add_opening(self.connection, pool, position, event)
        known = pool.announced(event.tournament).opened_for(first, last)
        pool = attrs.evolve(pool, opened={**pool.opened, event.tournament: known.opened})
        self.pools[pool.name] = pool
        self._place_tournament(pool, event.tournament, fresh)

    def _place_tournament(self, pool: Pool, tournament: str, fresh: Fresh) -> None:
        """The games of a tournament take the places that what was told of it gives them."""
        if not pool.by_game:
            tables.index_tournaments(self.connection)
            self._judge_again("pool = ?1 AND tournament = ?2", (pool.pool, tournament), fresh)

    def place_tournaments(self, fresh: Fresh) -> None:
        """Where tournaments are rated whole, the games around those that were recorded since take their places."""
        for (name, tournament), (first, last) in self.played.taken():
            pool = self.pools[name]
            tables.index_tournaments(self.connection)
            announced = tournament in pool.closed or tournament in pool.opened
            span = (BEGINNING, OPEN) if announced else (first - pool.reach_ms, last + pool.reach_ms)
            where = "pool = ?1 AND tournament = ?2 AND ended_ms BETWEEN ?3 AND ?4"
            self._judge_again(where, (pool.pool, tournament, *span), fresh)

    def moved(self, pool: int, tournament: str | None, ended_ms: int) -> None:
        """A game that stands in the book has come into a tournament, or has left it, or ended at another time."""
        name = next(known.name for known in self.pools.values() if known.pool == pool)
        if tournament and self.pools[name].by_event:
            self.played.note(name, tournament, ended_ms, ended_ms)

    def place_all_tournaments(self, fresh: Fresh) -> None:
        """The same for all games of the pools where tournaments are rated whole."""
        self.played.taken()
        for pool in self.pools.values():
            if pool.by_event:
                tables.index_tournaments(self.connection)
                self._judge_again("pool = ?1", (pool.pool,), fresh)

    def _change(self, event: PlayerChanged, fresh: Fresh) -> None:
        """A standing or declared rating changes from an instant on: the player's games since are judged again."""
        ms = instant_ms(event.effective_at)
        self.connection.execute(
            "INSERT INTO changes VALUES (?, ?, ?, ?, ?)",
            (event.player, ms, event.effective_at, event.standing.value, event.declared_rating),
        )
        self.roster.change(event.player, ms, event.effective_at, event.standing, event.declared_rating)
        where = "(white = ?1 OR black = ?1) AND ended_ms >= ?2"
        player = None if event.declared_rating is None else event.player
        self._judge_again(where, (event.player, ms), fresh, player=player)

    def _judge_again(
        self, where: str, arguments: tuple[object, ...], fresh: Fresh, *, player: int | None = None,
        everybody: bool = False,
    ) -> None:  # fmt: skip
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
        cursor = self.connection.execute(_JUDGED + where, arguments)
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
        self.connection.execute(f"CREATE TEMP TABLE IF NOT EXISTS {tables.ASIDE}")
        self.connection.executemany("INSERT INTO temp.judged VALUES (?, ?, ?, ?, ?)", changed)
        changed.clear()

    def _change_games(self, changed: list[tuple[Any, ...]], *, are_aside: bool) -> None:
        if are_aside:
            self._put_aside(changed)
            self.connection.execute(
                "UPDATE games SET reason = judged.reason, rated_ms = judged.rated_ms, batch = judged.batch, "
                "began_ms = judged.began_ms FROM temp.judged WHERE games.position = judged.position"
            )
            self.connection.execute("DROP TABLE temp.judged")
        else:
            update = "UPDATE games SET reason = ?, rated_ms = ?, batch = ?, began_ms = ? WHERE position = ?"
            self.connection.executemany(update, changed)

    def verdicts(self, rows: list[tuple[Any, ...]]) -> Iterable[Verdict]:
        """Why each stored game does not count, and its ``Place``, one by one or as columns.

        Each row is position, pool, reason and place as they stand, and what they follow from: end, outcome,
        termination, half-moves, rated, White, Black, tournament.
        """
        by_number = {pool.pool: pool for pool in self.pools.values()}
        asked = ((by_number[row[1]], row[13], row[6]) for row in rows)
        editions = editions_of(self.connection, asked) if any(pool.by_event for pool in by_number.values()) else {}
        if len(rows) > FEW_JUDGED:
            names = [
                "pool", "ended_ms", "outcome", "termination", "half_moves", "rated", "white", "black", "tournament",
            ]  # fmt: skip
            columns = dict(zip(names, zip(*((row[1], *row[6:]) for row in rows), strict=True), strict=True))
            texts = {"outcome", "termination", "tournament"}
            schema = {name: pl.String if name in texts else pl.Int64 for name in names}
            frame = judged(self.pools.values(), self.roster, pl.DataFrame(columns, schema=schema), editions)
            return frame.select("reason", "rated_ms", "batch", "began_ms").iter_rows()
        return (
            self._judge(by_number[row[1]], *(*row[6:], editions.get(row[1], {}).get(row[13], {}).get(row[6])))
            for row in rows
        )
