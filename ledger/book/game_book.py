"""The game book: journal entries to games as they now stand, one row each, with the reason where one does not count.

Entries by the dozen are taken as events, many thousands as columns (``game_book_columns``); both give the same rows.
Nothing is rated here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs
import orjson

from ledger.book import supplements, tables
from ledger.book.judging_columns import judged
from ledger.book.roster import Roster
from ledger.book.timeline import ALONE, BEGINNING, Era, Pool
from ledger.errors import CorruptError
from ledger.facts.codec import Entry
from ledger.facts.events import (
    ConversionRange,
    Event,
    GameRecorded,
    GameSupplemented,
    PlayerChanged,
    PlayerRegistered,
    RatingRunClosed,
    SchemeAdopted,
    TournamentClosed,
)
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.words import (
    HALF_POINTS,
    OUTCOME_CODE,
    TERMINATION_CODE,
    Carry,
    round_order,
    time_loss,
)
from ledger.runtime.lazy import pl
from ledger.schemes import named
from ledger.schemes.scheme import HALF_MOVES_UNKNOWN, REASONS, Scheme

if TYPE_CHECKING:
    import sqlite3


_IN_ORDER = "position, white, black, half_points, time_loss, ended_ms, rated_ms, batch"
BLOCK = 100_000  # games that are Python objects at one time: some 35 MB
_JUDGED = (
    "SELECT position, pool, reason, rated_ms, batch, ended_ms, outcome, termination, half_moves, rated, white, black, "
    "tournament FROM games WHERE "
)
_ASIDE = "judged(reason TEXT, rated_ms INTEGER NOT NULL, batch TEXT NOT NULL, position INTEGER PRIMARY KEY)"
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
        self._supplements: list[supplements.Added] = []  # of games that may stand among the entries being taken

    def take(self, entries: Iterable[Entry | Placed], fresh: Fresh) -> None:
        """Fold a few entries in; what they touch is noted in *fresh*."""
        self._take(entries, fresh)
        supplements.take(self.connection, self._supplements, self.verdicts, fresh.note)
        self._supplements.clear()
        for name, since in self._runs_from.items():  # once, however many runs were closed
            where = "pool = ?1 AND rated_ms >= ?2 AND reason IS NULL"  # later ones too: their periods are renumbered
            self._judge_again(where, (self.pools[name].pool, since), fresh, everybody=True)
        self._runs_from.clear()

    def _take(self, entries: Iterable[Entry | Placed], fresh: Fresh) -> None:
        for entry in entries:
            match entry.event:
                case GameRecorded() as event:
                    self._record(entry.position, event, fresh)
                case PlayerRegistered() as event:
                    self._register(event)
                case PlayerChanged() as event:
                    self._change(event, fresh)
                case SchemeAdopted() as event:
                    self._adopt(entry.position, event, fresh)
                case RatingRunClosed() as event:
                    self._close_run(entry.position, event)
                case TournamentClosed() as event:
                    self._close_tournament(entry.position, event, fresh)
                case GameSupplemented() as event:
                    self._supplements.append(supplements.added(event))

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
        reason, rated_ms, batch = self._judge(
            pool, ms, event.outcome, event.termination, event.half_moves, event.rated, event.white, event.black,
            event.tournament,
        )  # fmt: skip
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
        black: int, tournament: str | None,
    ) -> tuple[str | None, int, str]:  # fmt: skip
        """Why a game does not count (None if it does), its place in rating order, and its batch."""
        era = pool.eras[pool.era_at(ms)]
        reason = era.scheme.refuse(
            OUTCOME_CODE[outcome], TERMINATION_CODE[termination],
            HALF_MOVES_UNKNOWN if half_moves is None else half_moves, bool(rated),
            self.roster.standing_at(white, ms), self.roster.standing_at(black, ms), era.numbers,
        )  # fmt: skip
        if reason:
            return REASONS[reason], ms, ALONE
        return None, *pool.place(ms, tournament)

    def _register(self, event: PlayerRegistered) -> None:
        self.connection.execute(
            "INSERT INTO players VALUES (?, ?, ?, ?, ?)",
            (event.player, event.joined_at, event.standing.value, event.declared_rating, event.birth_year),
        )
        self.roster.register(event.player, event.standing, event.declared_rating, event.birth_year)

    def _adopt(self, position: int, event: SchemeAdopted, fresh: Fresh) -> None:
        """A pool begins, or is rated by another scheme from an instant on: its games since are judged again."""
        era = _era(position, event)
        pool = self.pools.get(event.pool)
        if pool is None:
            pool = Pool(len(self.pools) + 1, event.pool, (era,))
            self.connection.execute("INSERT INTO pools VALUES (?, ?, ?)", (pool.pool, pool.name, position))
        else:
            eras = sorted([*pool.eras, era], key=lambda known: (known.since_ms, known.since))
            pool = attrs.evolve(pool, eras=tuple(eras))
        self.connection.execute(
            "INSERT INTO eras VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                pool.pool, era.since_ms, era.since, era.scheme.name, _json(dict(era.settings)), era.carry.value,
                _json([attrs.asdict(conversion) for conversion in era.conversion]), position,
            ),
        )  # fmt: skip
        fresh.adopted.append(era.scheme)
        self.pools[pool.name] = pool
        if len(pool.eras) > 1:
            since = era.since_ms
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
        editions = tuple(sorted({*pool.closed.get(event.tournament, ()), ms}))
        pool = attrs.evolve(pool, closed={**pool.closed, event.tournament: editions})
        self.pools[pool.name] = pool
        if not pool.by_game:
            tables.index_tournaments(self.connection)
            self._judge_again("pool = ?1 AND tournament = ?2", (pool.pool, event.tournament), fresh)

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
                position, number, *stood = row[:5]
                if list(verdict) != stood:
                    changed.append((*verdict, position))
                    fresh.note(number, min(verdict[1], stood[1]), row[10:12])
                elif everybody and stood[0] is None:
                    fresh.note(number, stood[1], row[10:12])
                elif player is not None and stood[0] is None:
                    fresh.note(number, stood[1], (player,))
            if len(changed) > BLOCK:
                self._put_aside(changed)
                are_aside = True
            rows = cursor.fetchmany(BLOCK)
        self._change_games(changed, are_aside=are_aside)

    def _put_aside(self, changed: list[tuple[Any, ...]]) -> None:
        """Keep verdicts outside the memory until all games are judged: an index being read must not change."""
        self.connection.execute(f"CREATE TEMP TABLE IF NOT EXISTS {_ASIDE}")
        self.connection.executemany("INSERT INTO temp.judged VALUES (?, ?, ?, ?)", changed)
        changed.clear()

    def _change_games(self, changed: list[tuple[Any, ...]], *, are_aside: bool) -> None:
        if are_aside:
            self._put_aside(changed)
            self.connection.execute(
                "UPDATE games SET reason = judged.reason, rated_ms = judged.rated_ms, batch = judged.batch "
                "FROM temp.judged WHERE games.position = judged.position"
            )
            self.connection.execute("DROP TABLE temp.judged")
        else:
            update = "UPDATE games SET reason = ?, rated_ms = ?, batch = ? WHERE position = ?"
            self.connection.executemany(update, changed)

    def verdicts(self, rows: list[tuple[Any, ...]]) -> Iterable[tuple[str | None, int, str]]:
        """Why each stored game does not count, its place in rating order and its batch, one by one or as columns.

        Each row is position, pool, reason, place, batch as they stand, and what they follow from: end, outcome,
        termination, half-moves, rated, White, Black, tournament.
        """
        if len(rows) > FEW_JUDGED:
            names = [
                "pool", "ended_ms", "outcome", "termination", "half_moves", "rated", "white", "black", "tournament",
            ]  # fmt: skip
            columns = dict(zip(names, zip(*((row[1], *row[5:]) for row in rows), strict=True), strict=True))
            texts = {"outcome", "termination", "tournament"}
            schema = {name: pl.String if name in texts else pl.Int64 for name in names}
            frame = judged(self.pools.values(), self.roster, pl.DataFrame(columns, schema=schema))
            return frame.select("reason", "rated_ms", "batch").iter_rows()
        by_number = {pool.pool: pool for pool in self.pools.values()}
        return (self._judge(by_number[row[1]], *row[5:]) for row in rows)


def _json(value: object) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def _era(position: int, event: SchemeAdopted) -> Era:
    scheme = named(event.scheme)
    return Era(
        BEGINNING if event.effective_from is None else instant_ms(event.effective_from),
        event.effective_from or "",
        scheme,
        scheme.numbers_from(event.settings),
        dict(event.settings),
        event.carry or Carry.KEEP,
        event.conversion or (),
        position,
    )


def stored_pools(connection: sqlite3.Connection) -> list[Pool]:
    """The pools of a views database with their timelines, in order of their numbers."""
    eras: dict[int, list[Era]] = {}
    query = "SELECT pool, since_ms, since, scheme, settings, carry, conversion, position FROM eras ORDER BY 1, 2, 3"
    for pool, since_ms, since, name, settings, carry, conversion, position in connection.execute(query):
        scheme, given = named(name), orjson.loads(settings)
        ranges = tuple(ConversionRange(**fields) for fields in orjson.loads(conversion))
        era = Era(since_ms, since, scheme, scheme.numbers_from(given), given, Carry(carry), ranges, position)
        eras.setdefault(pool, []).append(era)
    runs: dict[int, list[int]] = {}
    for pool, as_of_ms in connection.execute("SELECT DISTINCT pool, as_of_ms FROM runs ORDER BY 1, 2"):
        runs.setdefault(pool, []).append(as_of_ms)
    closed: dict[int, dict[str, tuple[int, ...]]] = {}
    query = "SELECT DISTINCT pool, tournament, closed_ms FROM tournaments ORDER BY 1, 2, 3"
    for pool, tournament, closed_ms in connection.execute(query):
        editions = closed.setdefault(pool, {})
        editions[tournament] = (*editions.get(tournament, ()), closed_ms)
    names = dict(connection.execute("SELECT pool, name FROM pools ORDER BY pool").fetchall())
    if names.keys() != eras.keys():
        raise ValueError(f"tables pools and eras tell of other pools: {sorted(names)} and {sorted(eras)}")
    return [
        Pool(pool, name, tuple(eras[pool]), tuple(runs.get(pool, ())), closed.get(pool, {}))
        for pool, name in names.items()
    ]
