"""The game book: journal entries to games as they now stand, one row each, with the reason where one does not count.

Entries by the dozen are taken as events, many thousands as columns (``game_book_columns``); both give the same rows.
Nothing is rated here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from ledger.book import judging, pasts, stored_policies, stored_rounds, supplements, tables
from ledger.book.correcting import Correcting
from ledger.book.decided import Decided
from ledger.book.eras import BEGINNING
from ledger.book.fresh import Fresh, Placed, Played
from ledger.book.judging import Judging
from ledger.book.roster import Roster
from ledger.book.settled_facts import SettledFacts
from ledger.book.settling import SettledGames
from ledger.book.stored_pools import add_closing, add_era, add_opening, add_pool, add_run, era_of, stored_pools
from ledger.book.timeline import Pool
from ledger.book.tournament_games import PlayedTournaments
from ledger.errors import CorruptError
from ledger.facts import codec
from ledger.facts.correction_events import CorrectionDecided, CorrectionProposed
from ledger.facts.events import (
    BirthYearLearnt,
    GameRecorded,
    GameSupplemented,
    PlayerChanged,
    PlayerRegistered,
    RatingRunClosed,
    RatingSeeded,
    RoundWithoutGame,
    SchemeAdopted,
    TournamentClosed,
    TournamentOpened,
)
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.periods import OPEN
from ledger.facts.public_events import PolicySet
from ledger.facts.words import HALF_POINTS, moves_number, round_order, time_loss
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


class GameBook:
    """The games of one views database, and what is needed to place further ones."""

    def __init__(self, connection: sqlite3.Connection, journal: Journal, *, until: int | None = None) -> None:
        """Take up the games of a database.

        Args:
            connection: the database.
            journal: where facts that are corrected stand as they were recorded.
            until: of a build, the position at which it ends: corrections, and tournaments that are rated whole, wait
                for ``settle_all``.
        """
        self.connection = connection
        self.roster = Roster(connection)
        self.pools = {pool.name: pool for pool in stored_pools(connection)}
        self.judging = Judging(connection, self.pools, self.roster)
        self._runs_from: dict[str, int] = {}  # by pool, the earliest run closed since its games were placed
        self.played = PlayedTournaments()
        self._supplements: list[supplements.Added] = []  # of games that may stand among the entries being taken
        self.decided = Decided(connection)
        games = SettledGames(connection, self.pools, self.judging, self.decided, self.moved)
        facts = SettledFacts(
            connection, self.pools, self.roster, self.judging, self._count_again, self._place_tournament
        )
        self._waits = until is not None
        self.correcting = Correcting(connection, journal, until, self.decided, self.pools, games, facts)

    def take(self, entries: Iterable[codec.Entry | Placed], fresh: Fresh) -> None:
        """Fold a few entries in; what they touch is noted in *fresh*."""
        self._take(entries, fresh)
        self.take_supplements(self._supplements, fresh)
        self._supplements.clear()
        if not self._waits:
            self.settle(fresh)
        else:  # a block of games alone changes nothing here: somebody else may be writing the file
            self._place_runs(fresh)

    def take_supplements(self, added: Iterable[supplements.Added], fresh: Fresh) -> None:
        """Fold in what further tellings add to games that stand in the book."""
        known = list(added)
        supplements.take(self.connection, known, self.judging.verdicts, fresh.note, self.moved)
        if known and not self._waits and self.correcting.is_needed:
            self.correcting.supplemented(dict(known))

    def settle(self, fresh: Fresh) -> None:
        """Let the corrections that were decided take effect."""
        self.correcting.settle(fresh)
        self._place_runs(fresh)
        self._place_tournaments(fresh)

    def settle_all(self, fresh: Fresh) -> None:
        """Let all corrections take effect, and all tournaments take their places, at the end of a build."""
        if self.correcting.is_needed:
            self.correcting.settle_all(fresh)
            self._place_runs(fresh)
        self.played.taken()
        for pool in self.pools.values():
            if pool.by_event:
                tables.index_tournaments(self.connection)
                self.judging.again("pool = ?1", (pool.pool,), fresh)

    @property
    def is_to_settle(self) -> bool:
        """Whether ``settle_all`` may change a game."""
        return self.correcting.is_needed or any(pool.by_event for pool in self.pools.values())

    def _place_runs(self, fresh: Fresh) -> None:
        for name, since in self._runs_from.items():  # once, however many runs were closed
            where = "pool = ?1 AND rated_ms >= ?2 AND reason IS NULL"  # later ones too: their periods are renumbered
            self.judging.again(where, (self.pools[name].pool, since), fresh, everybody=True)
        self._runs_from.clear()

    def _count_again(self, pool: str, since_ms: int) -> None:
        """The periods of a pool are counted anew from a place in rating order on."""
        self._runs_from[pool] = min(since_ms, self._runs_from.get(pool, since_ms))

    def _take(self, entries: Iterable[codec.Entry | Placed], fresh: Fresh) -> None:
        for entry in entries:
            match entry.event:
                case GameRecorded() as event:
                    self._record(entry.position, event, fresh)
                case PlayerRegistered() as event:
                    self._register(event)
                case PlayerChanged() as event:
                    self._change(entry.position, event, fresh)
                case BirthYearLearnt() | RatingSeeded() as event:
                    pasts.take(self.connection, entry.position, event, self.pool_named, fresh.note)
                case SchemeAdopted() as event:
                    self._adopt(entry.position, event, fresh)
                case RatingRunClosed() as event:
                    self._close_run(entry.position, event)
                case TournamentOpened() | TournamentClosed() as event:
                    self._tell_tournament(entry.position, event, fresh)
                case CorrectionProposed() | CorrectionDecided():
                    assert isinstance(entry, codec.Entry)  # with who proposes or decides
                    self.correcting.take(entry)
                case GameSupplemented() as event:
                    self._supplements.append(supplements.added(event))
                    self._note_moves(event.entry, event.text)
                case PolicySet() | RoundWithoutGame() as event:
                    self._take_unrated(entry.position, event)

    def _take_unrated(self, position: int, event: PolicySet | RoundWithoutGame) -> None:
        """Take in what no rating follows from."""
        if isinstance(event, PolicySet):
            stored_policies.take(self.connection, position, event)
        else:
            stored_rounds.take(self.connection, position, self.pool_named(event.pool, position).pool, event)

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
        reason, rated_ms, batch, _ = self.judging.verdict(
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
        self._note_moves(position, event.text)
        self.correcting.recorded(position, event)
        if reason is None:
            facts = {
                "termination": event.termination.value, "tournament": event.tournament, "round": event.round,
                "round_order": order,
            }  # fmt: skip
            played = Played(position, event.white, event.black, points or 0, loser, ms, rated_ms, facts)
            fresh.note(pool.pool, rated_ms, played=played)

    def _note_moves(self, position: int, text: str | None) -> None:
        if text is not None:
            self.connection.execute(tables.INSERT_MOVETEXT, (position, moves_number(text)))

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
            eras = sorted([*pool.eras, era], key=lambda known: (known.since_ms, known.since, known.position))
            pool = attrs.evolve(pool, eras=tuple(eras))
        add_era(self.connection, pool, era)
        fresh.adopted.append(era.scheme)
        self.pools[pool.name] = pool
        if len(pool.eras) > 1:
            since = era.since_ms - pool.reach_ms  # what is left of a tournament before it may now be short enough
            where = "pool = ?1 AND (ended_ms >= ?2 OR rated_ms >= ?2)"
            self.judging.again(where, (pool.pool, since), fresh, everybody=True)

    def _close_run(self, position: int, event: RatingRunClosed) -> None:
        """A rating period ends: the games in it that waited for a later run will take their place in this one."""
        pool = self.pool_named(event.pool, position)
        ms = add_run(self.connection, pool, position, event)
        pool = attrs.evolve(pool, runs=tuple(sorted({*pool.runs, ms})))
        self.pools[pool.name] = pool
        if pool.by_runs:
            self._count_again(pool.name, ms)

    def _tell_tournament(self, position: int, event: TournamentOpened | TournamentClosed, fresh: Fresh) -> None:
        """A tournament is announced: its games are those of its days; or it is over: they are rated as of its end."""
        pool = self.pool_named(event.pool, position)
        known = pool.announced(event.tournament)
        if isinstance(event, TournamentClosed):
            closed = known.closed_at(add_closing(self.connection, pool, position, event)).closed
            pool = attrs.evolve(pool, closed={**pool.closed, event.tournament: closed})
        else:
            add_opening(self.connection, pool, position, event)
            opened = known.opened_for(instant_ms(event.starts_at), instant_end_ms(event.ends_at)).opened
            pool = attrs.evolve(pool, opened={**pool.opened, event.tournament: opened})
        self.pools[pool.name] = pool
        self._place_tournament(pool, event.tournament, fresh)

    def _place_tournament(self, pool: Pool, tournament: str, fresh: Fresh) -> None:
        """The games of a tournament take the places that what was told of it gives them."""
        if not pool.by_game:
            tables.index_tournaments(self.connection)
            self.judging.again("pool = ?1 AND tournament = ?2", (pool.pool, tournament), fresh)

    def _place_tournaments(self, fresh: Fresh) -> None:
        """Where tournaments are rated whole, the games around those that were recorded since take their places."""
        for (name, tournament), (first, last) in self.played.taken():
            pool = self.pools[name]
            tables.index_tournaments(self.connection)
            announced = tournament in pool.closed or tournament in pool.opened
            span = (BEGINNING, OPEN) if announced else (first - pool.reach_ms, last + pool.reach_ms)
            where = "pool = ?1 AND tournament = ?2 AND ended_ms BETWEEN ?3 AND ?4"
            self.judging.again(where, (pool.pool, tournament, *span), fresh)

    def moved(self, pool: int, tournament: str | None, ended_ms: int) -> None:
        """A game that stands in the book has come into a tournament, or has left it, or ended at another time."""
        name = next(known.name for known in self.pools.values() if known.pool == pool)
        if tournament and self.pools[name].by_event:
            self.played.note(name, tournament, ended_ms, ended_ms)

    def _change(self, position: int, event: PlayerChanged, fresh: Fresh) -> None:
        """A standing or declared rating changes from an instant on: the player's games since are judged again."""
        ms = instant_ms(event.effective_at)
        self.connection.execute(
            tables.INSERT_CHANGE,
            (event.player, ms, event.effective_at, event.standing.value, event.declared_rating, position),
        )
        self.roster.change(event.player, ms, event.effective_at, position, event.standing, event.declared_rating)
        where = "(white = ?1 OR black = ?1) AND ended_ms >= ?2"
        player = None if event.declared_rating is None else event.player
        self.judging.again(where, (event.player, ms), fresh, player=player)
