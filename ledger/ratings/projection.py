"""Rated games to rows: rate what is new, re-rate what a late or changed game touches, and write both.

One way serves rebuilds, backlogs, late games and corrections: games in rating order from some instant on, of which
some are fresh. A game is re-rated when it is fresh or one of its players was touched before it; everybody else's rows
stand. The state of a player before the first re-rated game is a row, so nothing before it is read or computed again.
A single fresh game at the end of that order takes the shorter way of ``live_games``.
Few games run as lists and plain Python, many as columns and compiled kernels. No rule of any scheme lives here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs

from ledger.book.game_book import Fresh, GameBook, Played
from ledger.book.roster import Roster
from ledger.book.timeline import Held, Pool
from ledger.ratings import engine
from ledger.ratings.live_games import LiveGames
from ledger.ratings.player_rows import PoolRows, Snapshot
from ledger.ratings.projector import Projector
from ledger.ratings.rated_games import Games, Rated, as_games, joined, rateable, sides_at, touch
from ledger.runtime.columns import FEW, MANY, Column, Columns
from ledger.runtime.kernels import compiled
from ledger.schemes.scheme import Newcomer

if TYPE_CHECKING:
    import sqlite3

CHUNK = 250_000  # sides that become Python rows at one time: bounds the memory of a large write


@attrs.define
class Before:
    """What each concerned player brings to the first re-rated game, by dense index.

    Attributes:
        players: player numbers.
        rewound: those who have rows from that game on, which must go.
        base: games rated before it.
        held: the scheme's state; None for newcomers.
        newcomers: what is known of each player beside the games.
        kept: by projector name, flat running state.
    """

    players: list[int]
    base: list[int] | Column
    held: list[Held | None]
    newcomers: list[Newcomer]
    kept: dict[str, Any]
    rewound: list[tuple[int, int]] = attrs.Factory(list)


class PoolProjection:
    """The projection of one pool of one views database."""

    def __init__(
        self, connection: sqlite3.Connection, pool: Pool, roster: Roster, projectors: Sequence[Projector]
    ) -> None:
        self.pool = pool
        self._roster = roster
        self._projectors = projectors
        self._rows = PoolRows(connection, pool.pool, projectors, pool.state_fields)
        self._live = LiveGames(pool, roster, projectors, self._rows)

    def take(self, game: Played) -> bool:
        """Rate one fresh game at the end of rating order; False, with nothing done, where it must go the long way."""
        return self._live.take(game)

    def update(self, games: list[tuple[int, ...]], checkpoint: int, start_ms: int, concerned: set[int]) -> int:
        """Re-rate what fresh games touch, from *start_ms* on, and write it.

        Args:
            games: rated games from *start_ms* on, as ``GameBook.in_order`` gives them.
            checkpoint: games at later journal positions are fresh.
            start_ms: nothing before it changes.
            concerned: players to be re-rated from there on in any case.

        Returns:
            The number of games rated.
        """
        self._live.forget()
        few = len(games) < engine.COMPILE_FROM
        cols = FEW if few else MANY
        table = as_games(cols, games, checkpoint, self.pool)
        affected, skipped = self._affected(cols, table, concerned, few)
        table = Games(*(cols.take(column, affected) for column in table))
        players, white, black = cols.dense(table.white, table.black) if len(table.white) else ([], [], [])
        numbers = cols.lists([players])[0] if len(table.white) else []
        before = self._before(cols, numbers, skipped, start_ms, table)
        gone = concerned.difference(numbers)
        if gone:
            self._drop_rows(sorted(gone), skipped, start_ms)
        if numbers:
            rated = self._rate(cols, table, players, white, black, before)
            self._write(cols, rated, before, 0, len(numbers), replace=True)
        return len(affected)

    def _affected(
        self, cols: Columns, games: Games, concerned: set[int], few: bool
    ) -> tuple[Column, dict[int, int]]:
        """Places of the games to re-rate, and by player the games passed over before."""
        if not len(games.white):
            return cols.small([]), {}
        if few and not concerned and all(games.fresh):  # nothing but new games, as in live use
            return list(range(len(games.white))), {}
        players, white, black = cols.dense(games.white, games.black)
        numbers = cols.lists([players])[0]
        touched = cols.small([1 if player in concerned else 0 for player in numbers])
        skipped, affected = cols.zeros(len(numbers)), cols.zeros(len(games.white))
        loop = touch if few else compiled(touch)
        loop(white, black, games.begins, games.fresh, touched, skipped, affected)
        return cols.where(affected), dict(zip(numbers, cols.lists([skipped])[0], strict=True))

    def _before(
        self, cols: Columns, players: list[int], skipped: dict[int, int], start_ms: int, games: Games
    ) -> Before:
        """Read each player's last row before the first re-rated game; those without one are newcomers."""
        first_ms: dict[int, int] = {}
        for white, black, ms in zip(*cols.lists([games.white, games.black, games.ended_ms]), strict=True):
            first_ms.setdefault(white, ms)
            first_ms.setdefault(black, ms)
        who = [self._roster.newcomer(player, first_ms[player]) for player in players]
        base: list[int] = []
        held: list[Held | None] = []
        rewound: list[tuple[int, int]] = []
        kept: dict[str, list[float]] = {projector.name: [] for projector in self._projectors}
        for player in players:
            n, last = self._rows.last_place(player)
            if last >= start_ms:
                n = self._rows.rated_before(player, start_ms) + skipped.get(player, 0)
                rewound.append((player, n))
            base.append(n)
            if n == 0:
                held.append(None)
                for projector in self._projectors:
                    kept[projector.name] += [one.start for one in projector.state]
                continue
            snapshot = self._rows.snapshot(player, n)
            held.append(self._held(snapshot, n))
            for projector, mine in zip(self._projectors, snapshot.kept, strict=True):
                kept[projector.name] += mine
        flats = {name: cols.floats(flat) for name, flat in kept.items()}
        return Before(players, cols.small(base), held, who, flats, rewound)

    def _held(self, snapshot: Snapshot, n: int) -> Held:
        era = self.pool.era_at(snapshot.ended_ms)
        return Held(era, tuple(snapshot.scheme_state[name] for name in self.pool.eras[era].scheme.state), n)

    def _rate(
        self, cols: Columns, games: Games, players: Column, white: Column, black: Column, before: Before
    ) -> Rated:
        counts = before.base[:] if cols is FEW else before.base.copy()
        n = cols.zeros(0)
        scheme_state: dict[str, Column] = {}
        for era, first, last in self._by_era(cols, games):
            part = Games(*(column[first:last] for column in games))
            mine = white[first:last], black[first:last]
            history, numbers = self._rate_era(cols, era, part, mine, before, counts)
            fields = self.pool.eras[era].scheme.state
            found = {name: cols.field(history, i, len(fields)) for i, name in enumerate(fields)}
            n = numbers if first == 0 else cols.joined(n, numbers)
            scheme_state = joined(cols, scheme_state, found, 2 * first, 2 * (last - first))
        for name in self.pool.state_fields:
            scheme_state.setdefault(name, cols.unknown(2 * len(games.white)))
        owner = cols.interleave(white, black)
        order = cols.slots(owner, cols.ranks(n, owner, before.base), len(players))
        starts = [0]
        for played, base in zip(*cols.lists([counts, before.base]), strict=True):
            starts.append(starts[-1] + played - base)
        return Rated(games, players, cols.lists([players])[0], starts, order, owner, n, scheme_state)

    def _by_era(self, cols: Columns, games: Games) -> list[tuple[int, int, int]]:
        """The stretches of games of one era: its place, the first game, one after the last."""
        eras = self.pool.eras
        if len(eras) == 1:
            return [(0, 0, len(games.ended_ms))]
        begins = [0, *(cols.place(games.rated_ms, era.since_ms) for era in eras[1:]), len(games.ended_ms)]
        return [(era, begins[era], begins[era + 1]) for era in range(len(eras)) if begins[era] < begins[era + 1]]

    def _rate_era(
        self, cols: Columns, era: int, games: Games, sides: tuple[Column, Column], before: Before, counts: Column
    ) -> tuple[Column, Column]:
        """Rate the games of one era; what its players hold then is noted in *before* where another era follows."""
        rated_by, white, black = self.pool.eras[era], *sides
        scheme, follows = rated_by.scheme, era + 1 < len(self.pool.eras)
        here = range(len(counts)) if not follows and era == 0 else cols.lists([cols.dense(white, black)[0]])[0]
        blank = (0.0,) * len(scheme.state)
        states = [blank] * len(counts)
        for player in here:
            held = before.held[player]
            if held is None:
                states[player] = scheme.enter(before.newcomers[player], rated_by.numbers)
            else:
                who = partial(self._roster.newcomer, before.players[player])
                states[player] = self.pool.carried(held, era, who)
        state = cols.floats([value for one in states for value in one])
        score = cols.over(games.half_points, 2)
        games_in = rateable(
            self.pool, cols, era, white, black, score, games.ended_ms, games.rated_ms, games.begins
        )
        history, n = engine.rate(cols, scheme, rated_by.numbers, games_in, state, counts)
        if follows:
            after, played = cols.lists([state, counts])
            width = len(scheme.state)
            for player in here:
                mine = tuple(after[player * width : (player + 1) * width])
                before.held[player] = Held(era, mine, played[player])
        return history, n

    def _write(
        self, cols: Columns, rated: Rated, before: Before, first: int, last: int, *, replace: bool
    ) -> None:
        """Fold and write the sides of players *first* to *last* (exclusive), by dense index."""
        places = rated.order[rated.starts[first] : rated.starts[last]]
        sides = sides_at(cols, rated, places)
        run = [one - first for one in sides["owner"]] if cols is FEW else sides["owner"] - first
        players = rated.players[first:last]
        lengths = [rated.starts[i + 1] - rated.starts[i] for i in range(first, last)]
        player_column = [player for player, length in zip(players, lengths, strict=True) for _ in range(length)]
        pool_column = [self.pool.pool] * len(player_column)
        n_column = cols.lists([sides["n"]])[0]
        for projector in self._projectors:
            stored = [sides[name] for name in projector.stores]
            if projector.keeps_scheme_state:
                fields = [name for name in self.pool.state_fields if name != "rating"]
                stored += [cols.take(rated.scheme_state[name], places) for name in fields]
            stored += self._fold(cols, projector, run, sides, before, first, last)
            if replace:
                self._rows.drop_after(projector, before.rewound)
            rows = zip(pool_column, player_column, n_column, *cols.lists(stored), strict=True)
            self._rows.write(projector, rows)
        self._write_current(rated, sides, cols, first, last)

    def _fold(
        self, cols: Columns, projector: Projector, run: Column, sides: dict[str, Column], before: Before,
        first: int, last: int,
    ) -> list[Column]:  # fmt: skip
        width = len(projector.state)
        loop = engine.folding_loop(projector.name, projector.step, width)
        if cols is not FEW:
            loop = compiled(loop)
        state = before.kept[projector.name][first * width : last * width]
        out = cols.room(len(run) * width)
        loop(run, tuple(sides[name] for name in projector.takes), state if cols is FEW else state.copy(), out)
        return [cols.field(out, i, width) for i in range(width)]

    def _drop_rows(self, players: list[int], skipped: dict[int, int], start_ms: int) -> None:
        """Players who have no rated game left from *start_ms* on: their later rows go, their earlier ones stand."""
        bases = [(player, self._rows.rated_before(player, start_ms) + skipped.get(player, 0)) for player in players]
        for projector in self._projectors:
            self._rows.drop_after(projector, bases)
        self._rows.restore_current(bases)

    def _write_current(
        self, rated: Rated, sides: dict[str, Column], cols: Columns, first: int, last: int
    ) -> None:
        start = rated.starts[first]
        ends = cols.small([rated.starts[i + 1] - start - 1 for i in range(first, last)])
        columns = [cols.take(sides[name], ends) for name in ("n", "rating", "game", "ended_ms", "rated_ms")]
        pool = [self.pool.pool] * (last - first)
        self._rows.write_current(zip(pool, rated.players[first:last], *cols.lists(columns), strict=True))


class PoolProjections:
    """The projections of all pools of one views database, made when first needed and kept."""

    def __init__(self, book: GameBook, projectors: Sequence[Projector]) -> None:
        self._book = book
        self._projectors = projectors
        self._by_pool: dict[int, PoolProjection] = {}

    def update(self, fresh: Fresh, checkpoint: int) -> int:
        """Bring every pool that *fresh* touches up to date; returns the number of games rated."""
        rated = 0
        for number, start_ms in sorted(fresh.start_ms.items()):
            pool = next(pool for pool in self._book.pools.values() if pool.pool == number)
            projection = self._by_pool.get(number)
            if projection is None or projection.pool is not pool:  # a scheme was adopted, a run closed
                projection = PoolProjection(self._book.connection, pool, self._book.roster, self._projectors)
                self._by_pool[number] = projection
            only = fresh.only.get(number)
            if only is not None and projection.take(only):
                rated += 1
                continue
            games = self._book.in_order(number, start_ms)
            rated += projection.update(games, checkpoint, start_ms, fresh.touched.get(number, set()))
        return rated
