"""Rated games to rows: rate what is new, re-rate what a late or changed game touches, and write both.

One way serves live updates, rebuilds and corrections: games in rating order from some instant on, of which some are
fresh. A game is re-rated when it is fresh or one of its players was touched before it; everybody else's rows stand.
The state of a player before the first re-rated game is a row, so nothing before it is read or computed again.
Few games run as lists and plain Python, many as columns and compiled kernels. No rule of any scheme lives here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs

from ledger import engine
from ledger.columns import FEW, MANY, Column, Columns
from ledger.gamebook import Fresh, GameBook, Pool, Roster
from ledger.pool_rows import PoolRows
from ledger.projector import Projector

if TYPE_CHECKING:
    import sqlite3

CHUNK = 250_000  # sides that become Python rows at one time: bounds the memory of a large write

Progress = Callable[[str, int, int], None]  # (what, done, of how many)


def silent(what: str, done: int, total: int) -> None:
    """Progress that nobody watches."""



class Games(NamedTuple):
    """Rated games of one pool in rating order, as columns.

    ``time_loss`` is 0 when nobody, 1 when White and 2 when Black lost on time; ``fresh`` is 1 for new games.
    """

    position: Column
    white: Column
    black: Column
    half_points: Column
    time_loss: Column
    ended_ms: Column
    fresh: Column


def touch(white: Any, black: Any, fresh: Any, touched: Any, skipped: Any, affected: Any) -> None:
    """Mark the games that must be re-rated: fresh ones, and those of players touched before.

    Args:
        white: dense player index, by game.
        black: dense player index, by game.
        fresh: 1 for new games.
        touched: 1 for players whose rows change from the start; spreads to opponents in place.
        skipped: by player, games left as they are; counted up in place.
        affected: by game, filled with 1 or 0.
    """
    for game in range(len(white)):
        w = white[game]
        b = black[game]
        if fresh[game] or touched[w] or touched[b]:
            touched[w] = 1
            touched[b] = 1
            affected[game] = 1
        else:
            affected[game] = 0
            skipped[w] += 1
            skipped[b] += 1


@attrs.define
class Before:
    """What each concerned player brings to the first re-rated game, by dense index.

    Attributes:
        rewound: those who have rows from that game on, which must go.
        base: games rated before it.
        state: flat state of the scheme.
        kept: by projector name, flat running state.
    """

    base: list[int] | Column
    state: list[float] | Column
    kept: dict[str, Any]
    rewound: list[tuple[int, int]] = attrs.Factory(list)


@attrs.define
class Rated:
    """Rated games and what came of them; a *side* is one player's part in a game, White's before Black's.

    Attributes:
        games: the games.
        player_column: player numbers by dense index.
        players: the same as a list.
        starts: by dense index, where the player's sides begin in *order*; one more for the end.
        order: places of the sides, sorted by player and game number.
        owner: by side, the dense index of its player.
        n: by side, the how-manieth rated game it was.
        scheme_state: by side, each field of the scheme's state after the game.
    """

    games: Games
    player_column: Column
    players: list[int]
    starts: list[int]
    order: Column
    owner: Column
    n: Column
    scheme_state: dict[str, Column]


class PoolProjection:
    """The projection of one pool of one views database."""

    def __init__(
        self, connection: sqlite3.Connection, pool: Pool, roster: Roster, projectors: Sequence[Projector]
    ) -> None:
        self._pool = pool
        self._roster = roster
        self._projectors = projectors
        self._rows = PoolRows(connection, pool.pool, projectors, pool.scheme.state)

    def from_scratch(self, games: Games, after_player: int, progress: Progress) -> Iterator[int]:
        """Rate all games of the pool and write the rows of players above *after_player*, some players at a time.

        Yields the last player written, each time the rows so far are whole, so that the caller may commit.
        """
        if not len(games.position):
            return
        players, white, black = MANY.dense(games.white, games.black)
        numbers = players.tolist()
        first_ms = self._first_ends(numbers, white, black, games)
        before = self._newcomers(MANY, numbers, first_ms)
        rated = self._rate(MANY, games, players, white, black, before)
        first = 0
        while first < len(numbers):
            last = first + 1
            while last < len(numbers) and rated.starts[last + 1] - rated.starts[first] <= CHUNK:
                last += 1
            if numbers[last - 1] > after_player:
                self._write(MANY, rated, before, first, last, replace=False)
                yield numbers[last - 1]
            progress("rating history", rated.starts[last], rated.starts[-1])
            first = last

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
        few = len(games) < engine.COMPILE_FROM
        cols = FEW if few else MANY
        table = _as_games(cols, games, checkpoint)
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
        loop = touch if few else engine.compiled(touch)
        loop(white, black, games.fresh, touched, skipped, affected)
        return cols.where(affected), dict(zip(numbers, cols.lists([skipped])[0], strict=True))

    def _newcomers(self, cols: Columns, players: list[int], first_ms: dict[int, int]) -> Before:
        roster = self._roster
        declared = [roster.declared_at(p, first_ms[p]) if p in first_ms else None for p in players]
        return Before(
            cols.zeros(len(players)),
            cols.floats(engine.newcomers(self._pool.scheme, self._pool.numbers, declared)),
            {p.name: cols.floats([kept.start for kept in p.state] * len(players)) for p in self._projectors},
        )

    def _first_ends(self, numbers: list[int], white: Column, black: Column, games: Games) -> dict[int, int]:
        """By player with a declared rating: when the first rated game ended, milliseconds."""
        wanted = {*self._roster.declared, *self._roster.changes}
        found: dict[int, int] = {}
        for place, player in enumerate(numbers):
            if player in wanted:
                mine = [i for side in (white, black) for i in [_first(side, place)] if i is not None]
                found[player] = int(games.ended_ms[min(mine)])
        return found

    def _before(
        self, cols: Columns, players: list[int], skipped: dict[int, int], start_ms: int, games: Games
    ) -> Before:
        """Read each player's last row before the first re-rated game; those without one are newcomers."""
        fields = self._pool.scheme.state
        first_ms: dict[int, int] = {}
        if self._roster.declared or self._roster.changes:
            for white, black, ms in zip(*cols.lists([games.white, games.black, games.ended_ms]), strict=True):
                first_ms.setdefault(white, ms)
                first_ms.setdefault(black, ms)
        base: list[int] = []
        state: list[float] = []
        rewound: list[tuple[int, int]] = []
        kept: dict[str, list[float]] = {projector.name: [] for projector in self._projectors}
        for player in players:
            n, last = self._rows.last_place(player)
            if last >= start_ms:
                n = self._rows.rated_before(player, start_ms) + skipped.get(player, 0)
                rewound.append((player, n))
            base.append(n)
            if n == 0:
                declared = self._roster.declared_at(player, first_ms[player]) if first_ms else None
                state += self._pool.scheme.enter(declared, self._pool.numbers)
                for projector in self._projectors:
                    kept[projector.name] += [one.start for one in projector.state]
                continue
            for projector in self._projectors:
                row = self._rows.state(projector, player, n)
                if projector.keeps_scheme_state:
                    state += row[: len(fields)]
                    row = row[len(fields) :]
                kept[projector.name] += [
                    one.start if value is None else value for one, value in zip(projector.state, row, strict=True)
                ]
        flats = {name: cols.floats(flat) for name, flat in kept.items()}
        return Before(cols.small(base), cols.floats(state), flats, rewound)

    def _rate(
        self, cols: Columns, games: Games, players: Column, white: Column, black: Column, before: Before
    ) -> Rated:
        scheme, numbers = self._pool.scheme, self._pool.numbers
        score = cols.floats([half / 2 for half in games.half_points]) if cols is FEW else games.half_points / 2.0
        state = before.state[:] if cols is FEW else before.state.copy()
        counts = before.base[:] if cols is FEW else before.base.copy()
        rate = engine.rate_few if cols is FEW else engine.rate_many
        history, n = rate(scheme, numbers, white, black, score, state, counts)
        owner = cols.interleave(white, black)
        order = cols.slots(owner, cols.ranks(n, owner, before.base), len(players))
        scheme_state = {name: cols.field(history, i, len(scheme.state)) for i, name in enumerate(scheme.state)}
        starts = [0]
        for played, base in zip(*cols.lists([counts, before.base]), strict=True):
            starts.append(starts[-1] + played - base)
        return Rated(games, players, cols.lists([players])[0], starts, order, owner, n, scheme_state)

    def _write(
        self, cols: Columns, rated: Rated, before: Before, first: int, last: int, *, replace: bool
    ) -> None:
        """Fold and write the sides of players *first* to *last* (exclusive), by dense index."""
        places = rated.order[rated.starts[first] : rated.starts[last]]
        sides = _sides(cols, rated, places)
        run = [one - first for one in sides["owner"]] if cols is FEW else sides["owner"] - first
        players = rated.players[first:last]
        lengths = [rated.starts[i + 1] - rated.starts[i] for i in range(first, last)]
        player_column = [player for player, length in zip(players, lengths, strict=True) for _ in range(length)]
        pool_column = [self._pool.pool] * len(player_column)
        n_column = cols.lists([sides["n"]])[0]
        for projector in self._projectors:
            stored = [sides[name] for name in projector.stores]
            if projector.keeps_scheme_state:
                stored += [cols.take(c, places) for name, c in rated.scheme_state.items() if name != "rating"]
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
            loop = engine.compiled(loop)
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
        columns = [cols.take(sides[name], ends) for name in ("n", "rating", "game", "ended_ms")]
        pool = [self._pool.pool] * (last - first)
        self._rows.write_current(zip(pool, rated.players[first:last], *cols.lists(columns), strict=True))


def _first(column: Column, value: int) -> int | None:
    places = (column == value).nonzero()[0]
    return int(places[0]) if len(places) else None


def _as_games(cols: Columns, rows: list[tuple[int, ...]], checkpoint: int) -> Games:
    position, white, black, half_points, time_loss, ended_ms = zip(*rows, strict=True) if rows else ([],) * 6
    return Games(
        cols.ints(position), cols.small(white), cols.small(black), cols.small(half_points), cols.small(time_loss),
        cols.ints(ended_ms), cols.small([1 if one > checkpoint else 0 for one in position]),
    )  # fmt: skip


def _sides(cols: Columns, rated: Rated, places: Column) -> dict[str, Column]:
    """The columns of ``SIDE_COLUMNS``, and the owner's dense index, of the sides at these places."""
    game, colour, other = cols.sides(places)
    half_points, time_loss = (cols.take(one, game) for one in (rated.games.half_points, rated.games.time_loss))
    return {
        "owner": cols.take(rated.owner, places),
        "n": cols.take(rated.n, places),
        "game": cols.take(rated.games.position, game),
        "ended_ms": cols.take(rated.games.ended_ms, game),
        "opponent": cols.take(rated.player_column, cols.take(rated.owner, other)),
        "opponent_n": cols.take(rated.n, other),
        "colour": colour,
        "half_points": cols.choose(colour, half_points, cols.minus(2, half_points)),
        "lost_on_time": cols.choose(colour, cols.equal(time_loss, 1), cols.equal(time_loss, 2)),
        "rating": cols.take(rated.scheme_state["rating"], places),
        "opponent_rating": cols.take(rated.scheme_state["rating"], other),
    }


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
            projection = self._by_pool.get(number)
            if projection is None:
                pool = next(pool for pool in self._book.pools.values() if pool.pool == number)
                projection = PoolProjection(self._book.connection, pool, self._book.roster, self._projectors)
                self._by_pool[number] = projection
            games = self._book.in_order(number, start_ms)
            rated += projection.update(games, checkpoint, start_ms, fresh.touched.get(number, set()))
        return rated
