"""One more game at the end of a pool's rating order, rated by itself: what a live server does all day.

The rows are those that ``projection`` writes, and are built by the same ``side_rows``; left out is what serves late
games and batches. Each player's last state is remembered, so that a player who plays on is not read back. Where the
game is not the next one of its pool, or a scheme begins with it, nothing is done here.
"""

from __future__ import annotations

from ledger.book.fresh import Played
from ledger.book.roster import Roster
from ledger.book.timeline import Held, Pool
from ledger.facts.periods import DAY_MS
from ledger.ratings import engine, side_rows
from ledger.ratings.player_rows import NEVER, Carried, PlayerRows, as_read
from ledger.ratings.rated_games import Games, Rated
from ledger.runtime.columns import FEW

REMEMBERED = 20_000  # players; some 2 KB each


class LiveGames:
    """Rates the games of one pool as they come."""

    def __init__(self, pool: Pool, roster: Roster, rows: PlayerRows) -> None:
        self._pool = pool
        self._roster = roster
        self._rows = rows
        self._last: dict[int, Carried] = {}
        self._era = -1  # of what is remembered
        self._end_ms = NEVER  # the last place in rating order, where something is remembered

    def forget(self) -> None:
        """Rows were written elsewhere: read them again."""
        self._last.clear()

    def take(self, game: Played) -> bool:
        """Rate and write a game that the game book has; False, with nothing done, where it is not the pool's next."""
        if not self._is_next(game):
            return False
        brought = [self._brought(player) for player in (game.white, game.black)]
        if any(carried.held is not None and carried.held.era != self._era for carried in brought):
            return False  # a state from before the scheme
        after = self._rate(game, brought)
        if len(self._last) > REMEMBERED:
            self._last.clear()
        self._last[game.white], self._last[game.black] = after
        self._end_ms = game.rated_ms
        return True

    def _is_next(self, game: Played) -> bool:
        if not self._pool.by_game:
            return False
        era = self._pool.era_at(game.rated_ms)
        if era != self._era:
            self._era = era
            self._last.clear()
        if not self._last:
            return self._rows.is_last(game.position, game.rated_ms)
        return game.rated_ms > self._end_ms

    def _brought(self, player: int) -> Carried:
        known = self._last.get(player)
        return self._rows.carried(player, self._rows.last_place(player)[0]) if known is None else known

    def _rate(self, game: Played, brought: list[Carried]) -> list[Carried]:
        """Rate the game and write its two rows of each table and of the current ratings."""
        era, players = self._pool.eras[self._era], [game.white, game.black]
        state: list[float] = []
        for side, player in enumerate(players):
            held = brought[side].held
            if held is None:
                newcomer = self._roster.newcomer(self._pool, player, game.ended_ms)
                brought[side] = self._rows.begun(newcomer.seed)
                state += era.scheme.begin(newcomer, era.numbers)
            else:
                state += held.state
        games = engine.Rateable([0], [1], [game.half_points / 2], [game.ended_ms / DAY_MS])
        kept = engine.rate(FEW, era.scheme, era.numbers, games, state, [carried.n for carried in brought])
        running = [[*white, *black] for white, black in zip(brought[0].kept, brought[1].kept, strict=True)]
        rated = self._rated(game, players, kept)
        folded = side_rows.fold_all(FEW, self._pool, self._rows, rated, running)
        self._rows.write_current(side_rows.write(FEW, self._pool, self._rows, rated, folded))
        width = len(era.scheme.state)
        after = []
        for side in (0, 1):
            fields = tuple(state[side * width : (side + 1) * width])
            folds = [
                as_read(table.fold, flat[side * len(flat) // 2 : (side + 1) * len(flat) // 2])
                for table, flat in zip(self._rows.tables, folded.running, strict=True)
            ]
            after.append(Carried(Held(self._era, fields, kept.n[side]), folds))
        return after

    def _rated(self, game: Played, players: list[int], kept: engine.SideRatings) -> Rated:
        """The one game as columns."""
        fields = self._pool.eras[self._era].scheme.state
        found = {name: kept.history[place :: len(fields)] for place, name in enumerate(fields)}
        unknown = {name: FEW.unknown(2) for name in self._pool.state_fields if name not in found}
        facts = {name: [game.facts[name]] for name in self._rows.facts}
        games = Games(
            [game.position],
            [0],
            [1],
            [game.half_points],
            [game.time_loss],
            [game.ended_ms],
            [game.rated_ms],
            [1],
            [1],
            facts,
        )
        return Rated(
            games,
            players,
            players,
            [0, 1, 2],
            [0, 1],
            [0, 1],
            kept.n,
            kept.before,
            kept.expected,
            [self._era],
            {**found, **unknown},
        )
