"""Predictions before each game: the engine's loops once more, asked what the scheme expected before it knew.

Each game is predicted from both players' states as they are at its time, then rated. A scheme that rates games in
batches predicts all of a batch from the states at the beginning of it. Of the states only the ratings are kept.
Nothing is judged here, nothing read or written.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import nan
from typing import Any, NamedTuple

from ledger.ratings import engine
from ledger.ratings.engine import Rateable, rating_loop_of, scheme_loop
from ledger.runtime.columns import FEW, Column, Columns
from ledger.runtime.kernels import compiled
from ledger.schemes.scheme import Scheme

# Names that ``scheme_loop`` gives to the loops below, each time to something else.
FIELDS = 0
at: Callable[..., None]
expected_score: Callable[..., float]
listed: Callable[..., bool]
provisional: Callable[..., bool]

UNLISTED = nan  # the rating of a player whom the scheme does not list


class Foresight(NamedTuple):
    """What a scheme expected of games, and the ratings that it gave.

    Attributes:
        expected: the score, 0 to 1, that it expected of White, by game.
        unsettled: 1 where it called a side's rating provisional, by game.
        rating: rating after the game, White's then Black's of each; NaN while it does not list the player.
        final: rating at the time of the last game, by player; NaN for those whom it does not list then.
    """

    expected: Column
    unsettled: Column
    rating: Column
    final: Column


def foretell(state: Any, w: int, b: int, numbers: Any) -> tuple[float, int]:
    """What is expected of White, and 1 if a rating is provisional; *state* is that of the game's time."""
    unsettled = provisional(state, w, numbers) or provisional(state, b, numbers)  # noqa: F821
    return expected_score(state, w, b, numbers), 1 if unsettled else 0  # noqa: F821


def keep(
    game: int,
    white: int,  # noqa: ARG001
    black: int,  # noqa: ARG001
    foretold: Any,
    state: Any,
    w: int,
    b: int,
    kept: Any,
    numbers: Any,
) -> None:
    """Note what was expected of one game, and both ratings after it."""
    kept.expected[game], kept.unsettled[game] = foretold
    kept.rating[2 * game] = shown(state, w, numbers)
    kept.rating[2 * game + 1] = shown(state, b, numbers)


def shown(state: Any, p: int, numbers: Any) -> float:
    """The rating of a player, NaN for one who is not listed."""
    if listed(state, p, numbers):  # noqa: F821
        return state[p]  # type: ignore[no-any-return]
    return UNLISTED


def settle(period: float, day: float, state: Any, final: Any, numbers: Any) -> None:
    """Bring all players to a time and note their ratings there."""
    for player in range(len(final)):
        at(state, player * FIELDS, period, day, numbers)  # noqa: F821
        final[player] = shown(state, player * FIELDS, numbers)


@cache
def foreseeing_loop(scheme: Scheme) -> Callable[..., None]:
    """The engine's loop for one scheme, filling ``Foresight``."""
    return rating_loop_of(scheme, shown, foretell, keep)


@cache
def settling_loop(scheme: Scheme) -> Callable[..., None]:
    """``settle`` for one scheme."""
    return scheme_loop(settle, scheme, shown)


def foresee(cols: Columns, scheme: Scheme, numbers: Any, games: Rateable, state: Column) -> Foresight:
    """Predict and rate games: as ordinary Python on lists (``FEW``), or compiled on arrays (``MANY``); the same bits.

    Args:
        cols: how the columns are held.
        scheme: the scheme.
        numbers: its settings.
        games: what is rated.
        state: (players * fields) floats, as the players begin; changed in place.
    """
    count, players = len(games.white), len(state) // len(scheme.state)
    kept = Foresight(cols.room(count), cols.zeros(count), cols.room(2 * count), cols.room(players))
    engine.run(cols, scheme, foreseeing_loop(scheme), numbers, games, state, players, kept)
    if count:
        by_batch = len(games.period) > 0
        period, day = (games.period[-1], games.closing[-1]) if by_batch else (0.0, games.day[-1])
        loop = settling_loop(scheme)
        settled = loop if cols is FEW else compiled(loop)
        settled(float(period), float(day), state, kept.final, numbers)
    return kept
