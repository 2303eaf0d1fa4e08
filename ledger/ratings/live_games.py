"""One more game at the end of a pool's rating order, rated by itself: what a live server does all day.

The rows are exactly those that ``projection`` writes; left out is what serves late games, batches and columns. Each
player's last state is remembered, so that a player who plays on is not read back. Where the game is not the next one of
its pool, or a scheme begins with it, nothing is done here.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan

import attrs

from ledger.book.game_book import Played
from ledger.book.roster import Roster
from ledger.book.timeline import Pool
from ledger.facts.periods import DAY_MS
from ledger.ratings.player_rows import NEVER, PoolRows
from ledger.ratings.projector import Projector

REMEMBERED = 20_000  # players; some 2 KB each


@attrs.frozen
class _Last:
    """What a player brings to the next game: games rated so far, the scheme's state, each projector's."""

    n: int
    state: Sequence[float]
    kept: Sequence[Sequence[float]]


class LiveGames:
    """Rates the games of one pool as they come."""

    def __init__(self, pool: Pool, roster: Roster, projectors: Sequence[Projector], rows: PoolRows) -> None:
        self._pool = pool
        self._roster = roster
        self._projectors = projectors
        self._rows = rows
        self._fields = tuple(name for name in pool.state_fields if name != "rating")
        self._last: dict[int, _Last] = {}
        self._era = -1  # of what is remembered
        self._end_ms = NEVER  # the last place in rating order, where something is remembered

    def forget(self) -> None:
        """Rows were written elsewhere: read them again."""
        self._last.clear()

    def take(self, game: Played) -> bool:
        """Rate and write a game that the game book has; False, with nothing done, where it is not the pool's next."""
        if not self._is_next(game):
            return False
        before = [self._before(player, game.ended_ms) for player in (game.white, game.black)]
        white, black = before
        if white is None or black is None:
            return False
        after = self._rate(game, white, black)
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

    def _before(self, player: int, ended_ms: int) -> _Last | None:
        """What the player brings; None where it is from before the scheme."""
        known = self._last.get(player)
        if known is not None:
            return known
        era = self._pool.eras[self._era]
        n, _ = self._rows.last_place(player)
        if n == 0:
            state = era.scheme.enter(self._roster.newcomer(player, ended_ms), era.numbers)
            return _Last(0, state, [[one.start for one in projector.state] for projector in self._projectors])
        row = self._rows.snapshot(player, n)
        if self._pool.era_at(row.ended_ms) != self._era:
            return None
        return _Last(n, [row.scheme_state[name] for name in era.scheme.state], row.kept)

    def _rate(self, game: Played, white: _Last, black: _Last) -> tuple[_Last, _Last]:
        """Rate the game and write its two rows of each projector and of the current ratings."""
        era = self._pool.eras[self._era]
        fields = era.scheme.state
        state = [*white.state, *black.state]
        rate_game = era.scheme.rate_game
        assert rate_game is not None  # a scheme by game has one
        rate_game(state, 0, len(fields), game.half_points / 2, game.ended_ms / DAY_MS, era.numbers)
        n = white.n + 1, black.n + 1
        held = state[: len(fields)], state[len(fields) :]
        named = [dict(zip(fields, one, strict=True)) for one in held]
        sides = _sides(game, n, [one["rating"] for one in named])
        kept: tuple[list[list[float]], list[list[float]]] = ([], [])
        for place, projector in enumerate(self._projectors):
            width = len(projector.state)
            folded = [*white.kept[place], *black.kept[place]]
            takes = tuple(sides[name] for name in projector.takes)
            projector.step(folded, 0, takes, 0)
            projector.step(folded, width, takes, 1)
            mine = folded[:width], folded[width:]
            self._write(projector, (game.white, game.black), sides, named, mine)
            for one, values in zip(kept, mine, strict=True):
                one.append(_as_read(projector, values))
        self._rows.write_current(
            (self._pool.pool, player, n[side], named[side]["rating"], game.position, game.ended_ms, game.rated_ms)
            for side, player in enumerate((game.white, game.black))
        )
        return _Last(n[0], held[0], kept[0]), _Last(n[1], held[1], kept[1])

    def _write(
        self, projector: Projector, players: tuple[int, int], sides: dict[str, Sequence[float]],
        named: Sequence[dict[str, float]], kept: tuple[list[float], list[float]],
    ) -> None:  # fmt: skip
        rows = []
        fields = self._fields if projector.keeps_scheme_state else ()
        for side in (0, 1):
            row = [self._pool.pool, players[side], sides["n"][side]]
            row += [sides[name][side] for name in projector.stores]
            row += [named[side].get(name, nan) for name in fields]
            rows.append(row + kept[side])
        self._rows.write(projector, rows)


def _sides(game: Played, n: Sequence[int], ratings: Sequence[float]) -> dict[str, Sequence[float]]:
    """The columns of ``SIDE_COLUMNS``, White's side before Black's."""
    return {
        "n": n,
        "game": (game.position, game.position),
        "ended_ms": (game.ended_ms, game.ended_ms),
        "opponent": (game.black, game.white),
        "opponent_n": (n[1], n[0]),
        "colour": (0, 1),
        "half_points": (game.half_points, 2 - game.half_points),
        "lost_on_time": (int(game.time_loss == 1), int(game.time_loss == 2)),
        "rating": ratings,
        "opponent_rating": (ratings[1], ratings[0]),
    }


def _as_read(projector: Projector, values: Sequence[float]) -> list[float]:
    """The running state as it comes back from the table, where NaN stands as NULL."""
    return [one.start if isnan(value) else value for one, value in zip(projector.state, values, strict=True)]
