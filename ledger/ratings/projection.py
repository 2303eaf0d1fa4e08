"""Rated games to rows: rate what is new, re-rate what a late or changed game touches, and write both.

One way serves backlogs, late games and corrections: games in rating order from some instant on, of which some are
fresh, in blocks. A game is re-rated when it is fresh or one of its players was touched before it; everybody else's
rows stand. The state of a player before the first re-rated game is a row, so nothing before it is read or computed
again; from block to block the states of touched players are carried, so that memory is bounded by players and not by
games. A single fresh game at the end of that order takes the shorter way of ``live_games``.
Few games run as lists and plain Python, many as columns and compiled kernels. No rule of any scheme lives here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs

from ledger.book.fresh import Fresh, Played
from ledger.book.game_book import GameBook
from ledger.book.roster import Roster
from ledger.book.timeline import Held, Pool
from ledger.ratings import engine, side_rows
from ledger.ratings.live_games import LiveGames
from ledger.ratings.player_rows import Carried, PlayerRows, as_read
from ledger.ratings.projector import Projector
from ledger.ratings.rated_games import (
    BEGAN,
    TOURNAMENT,
    Games,
    Rated,
    as_games,
    further_facts,
    rateable,
    rated_by_era,
    touch,
)
from ledger.ratings.side_tables import SideTable, side_tables
from ledger.ratings.walks import Walk, parts, standing_again
from ledger.runtime.collector import collector_paused
from ledger.runtime.columns import FEW, MANY, Column, Columns
from ledger.runtime.kernels import compiled
from ledger.schemes.scheme import Newcomer

if TYPE_CHECKING:
    import sqlite3

MakeRows = Callable[["sqlite3.Connection", Pool, Sequence[SideTable]], PlayerRows]


@attrs.define
class Before:
    """What each concerned player brings to the first re-rated game, by dense index.

    Attributes:
        players: player numbers.
        base: games rated before it.
        held: the scheme's state; None for newcomers.
        newcomers: what is known of who has no state; None for the others.
        running: by table, the flat running state of its fold.
    """

    players: list[int]
    base: list[int] | Column
    held: list[Held | None]
    newcomers: list[Newcomer | None]
    running: list[Any]


class PoolProjection:
    """The projection of one pool of one views database."""

    def __init__(
        self, connection: sqlite3.Connection, pool: Pool, roster: Roster, projectors: Sequence[Projector],
        make_rows: MakeRows,
    ) -> None:  # fmt: skip
        self.pool = pool
        self._roster = roster
        tables = side_tables(projectors, pool.state_fields)
        self._rows = make_rows(connection, pool, tables)
        self.facts = further_facts(pool, self._rows.facts)
        self._live = LiveGames(pool, roster, self._rows)

    def take(self, game: Played) -> bool:
        """Rate one fresh game at the end of rating order; False, with nothing done, where it must go the long way."""
        return self._live.take(game)

    def update(
        self, blocks: Iterable[list[tuple[Any, ...]]], checkpoint: int, start_ms: int, concerned: set[int]
    ) -> int:
        """Re-rate what fresh games touch, from *start_ms* on, and write it.

        Args:
            blocks: rated games from *start_ms* on, as ``GameBook.in_order`` gives them with ``facts``.
            checkpoint: games at later journal positions are fresh.
            start_ms: nothing before it changes.
            concerned: players to be re-rated from there on in any case.

        Returns:
            The number of games rated.
        """
        self._live.forget()
        walk = Walk.begun(start_ms, checkpoint, concerned)
        rated = 0
        with collector_paused():
            for block, more in _with_more(blocks):
                rated += self._update(block, walk, more=more)
        self._rows.drop_after(walk.surplus)
        self._rows.write_current(walk.current.values())
        gone = concerned - walk.met
        if gone:
            self._drop_rows(sorted(gone), walk)
        return rated

    def _update(self, block: list[tuple[Any, ...]], walk: Walk, *, more: bool) -> int:
        """Re-rate what is touched of one block; returns how many games."""
        cols = FEW if len(block) < engine.COMPILE_FROM else MANY
        games = as_games(cols, block, walk.checkpoint, self.pool, self.facts)
        return sum(self._update_part(cols, part, walk, more=more or follows) for part, follows in parts(games))

    def _update_part(self, cols: Columns, games: Games, walk: Walk, *, more: bool) -> int:
        """Re-rate what is touched of a part of a block; returns how many games."""
        affected = self._affected(cols, games, walk, more=more)
        if not len(affected):
            return 0
        games = games.at(cols, affected)
        players, white, black = cols.dense(games.white, games.black)
        numbers = cols.lists([players])[0]
        before = self._before(cols, numbers, walk, games)
        rated = self._rate(cols, games, players, white, black, before, more=more)
        folded = side_rows.fold_all(cols, self.pool, self._rows, rated, before.running)
        standing = standing_again(cols, self._rows, walk, rated, folded) if more else {}
        walk.note_rated(side_rows.write(cols, self.pool, self._rows, rated, folded, replacing=True))
        if more:
            self._carry(cols, before, folded.running, walk)
            self._rows.stand_again(standing)
            walk.leave(standing)
        return len(affected)

    def _affected(self, cols: Columns, games: Games, walk: Walk, *, more: bool) -> Column:
        """Places of the games to re-rate; who is touched and how many games are passed over is noted in *walk*."""
        if not len(games.white):
            return []
        if cols is FEW and not more and not walk.touched and all(games.fresh):  # nothing but new games, as in live use
            return list(range(len(games.white)))
        players, white, black = cols.dense(games.white, games.black)
        numbers = cols.lists([players])[0]
        touched = cols.small([int(player in walk.touched) for player in numbers])
        skipped, affected = cols.zeros(len(numbers)), cols.zeros(len(games.white))
        loop = touch if cols is FEW else compiled(touch)
        loop(white, black, games.begins, games.fresh, touched, skipped, affected)
        hit, passed = cols.lists([touched, skipped])
        walk.touched.update(player for player, flag in zip(numbers, hit, strict=True) if flag)
        walk.note_passed(numbers, passed)
        return cols.where(affected)

    def _before(self, cols: Columns, players: list[int], walk: Walk, games: Games) -> Before:
        """What each player carries, or the last row before the first re-rated game; who has none is a newcomer."""
        first_ms: dict[int, int] = {}
        for white, black, ms in zip(*cols.lists([games.white, games.black, games.ended_ms]), strict=True):
            first_ms.setdefault(white, ms)
            first_ms.setdefault(black, ms)
        met = self._carried_from_rows([player for player in players if player not in walk.carried], walk)
        brought = []
        newcomers: list[Newcomer | None] = []
        for player in players:
            carried = walk.carried.get(player) or met[player]
            newcomer = None
            if carried.held is None:
                newcomer = self._roster.newcomer(self.pool, player, first_ms[player])
                carried = self._rows.begun(newcomer.seed)
            brought.append(carried)
            newcomers.append(newcomer)
        return Before(
            players,
            cols.small([carried.n for carried in brought]),
            [carried.held for carried in brought],
            newcomers,
            [
                cols.floats([value for carried in brought for value in carried.kept[place]])
                for place in range(len(self._rows.tables))
            ],
        )

    def _carried_from_rows(self, players: Sequence[int], walk: Walk) -> dict[int, Carried]:
        """By player who is met for the first time, or again, the last row before the first re-rated game."""
        last = self._rows.last_places(players)
        counts = {player: last[player][0] if player in last else 0 for player in players}
        walk.stored.update(counts)
        later = [player for player, (_, place) in last.items() if place >= walk.start_ms]
        if later:
            counts.update(self._bases(later, walk))
        return self._rows.many_carried(counts)

    def _bases(self, players: Sequence[int], walk: Walk) -> dict[int, int]:
        """By player, how many rated games stand as they are: those before the start, and those passed over since."""
        unknown = [player for player in players if player not in walk.stood]
        before = {**walk.stood, **self._rows.rated_before(unknown, walk.start_ms)}
        return {player: before[player] + walk.skipped.get(player, 0) for player in players}

    def _carry(self, cols: Columns, before: Before, running: list[Column], walk: Walk) -> None:
        """Note what the players of a block bring to the next one."""
        folds = [table.fold for table in self._rows.tables]
        flats = cols.lists(running)
        for place, (player, held) in enumerate(zip(before.players, before.held, strict=True)):
            kept = [
                as_read(fold, flat[place * len(fold.state) : (place + 1) * len(fold.state)])
                for fold, flat in zip(folds, flats, strict=True)
            ]
            walk.carried[player] = Carried(held, kept)

    def _rate(
        self, cols: Columns, games: Games, players: Column, white: Column, black: Column, before: Before, *,
        more: bool = False,
    ) -> Rated:  # fmt: skip
        counts = before.base[:] if cols is FEW else before.base.copy()

        def rate_era(era: int, first: int, last: int) -> engine.SideRatings:
            sides = white[first:last], black[first:last]
            return self._rate_era(cols, era, games.part(first, last), sides, before, counts, more=more)

        return rated_by_era(cols, self.pool, games, (players, white, black), before.base, rate_era)

    def _rate_era(
        self, cols: Columns, era: int, games: Games, sides: tuple[Column, Column], before: Before, counts: Column, *,
        more: bool,
    ) -> engine.SideRatings:  # fmt: skip
        """Rate the games of one era; what its players hold then is noted in *before* where another game may follow."""
        rated_by, white, black = self.pool.eras[era], *sides
        scheme, follows = rated_by.scheme, more or era + 1 < len(self.pool.eras)
        here = range(len(counts)) if not follows and era == 0 else cols.lists([cols.dense(white, black)[0]])[0]
        blank = (0.0,) * len(scheme.state)
        states = [blank] * len(counts)
        for player in here:
            held, newcomer = before.held[player], before.newcomers[player]
            if held is not None:
                who = partial(self._roster.anew, self.pool, before.players[player])
                states[player] = self.pool.carried(held, era, who)
            elif newcomer is not None:
                states[player] = scheme.begin(newcomer, rated_by.numbers)
        state = cols.floats([value for fields in states for value in fields])
        score = cols.over(games.half_points, 2)
        games_in = rateable(
            self.pool, cols, era, white, black, score, games.ended_ms, games.rated_ms, games.begins,
            games.facts.get(BEGAN, ()), games.facts.get(TOURNAMENT, ()),
        )  # fmt: skip
        kept = engine.rate(cols, scheme, rated_by.numbers, games_in, state, counts)
        if follows:
            after, played = cols.lists([state, counts])
            width = len(scheme.state)
            for player in here:
                fields = tuple(after[player * width : (player + 1) * width])
                before.held[player] = Held(era, fields, played[player])
        return kept

    def _drop_rows(self, players: list[int], walk: Walk) -> None:
        """Players who have no rated game left from the start on: their later rows go, their earlier ones stand."""
        bases = list(self._bases(players, walk).items())
        self._rows.drop_after(bases)
        self._rows.restore_current(bases)


def _with_more(blocks: Iterable[list[tuple[Any, ...]]]) -> Iterator[tuple[list[tuple[Any, ...]], bool]]:
    """Each block, and whether another one follows."""
    waiting: list[tuple[Any, ...]] = []
    for block in blocks:
        if waiting:
            yield waiting, True
        waiting = block
    if waiting:
        yield waiting, False


class PoolProjections:
    """The projections of all pools of one views database, made when first needed and kept."""

    def __init__(self, book: GameBook, projectors: Sequence[Projector], make_rows: MakeRows = PlayerRows) -> None:
        """Take a book.

        Args:
            book: whose games are rated.
            projectors: the read models beside the history.
            make_rows: what reads and writes the rows of a pool; a preview's writes none.
        """
        self._book = book
        self._projectors = projectors
        self._make_rows = make_rows
        self._by_pool: dict[int, PoolProjection] = {}

    def update(self, fresh: Fresh, checkpoint: int) -> int:
        """Bring every pool that *fresh* touches up to date; returns the number of games rated."""
        rated = 0
        for number, start_ms in sorted(fresh.start_ms.items()):
            pool = next(pool for pool in self._book.pools.values() if pool.pool == number)
            projection = self._by_pool.get(number)
            if projection is None or projection.pool is not pool:  # a scheme was adopted, a run closed
                projection = PoolProjection(
                    self._book.connection, pool, self._book.roster, self._projectors, self._make_rows
                )
                self._by_pool[number] = projection
            only = fresh.only.get(number)
            if only is not None and projection.take(only):
                rated += 1
                continue
            blocks = self._book.in_order(pool, start_ms, projection.facts)
            rated += projection.update(blocks, checkpoint, start_ms, fresh.touched.get(number, set()))
        return rated
