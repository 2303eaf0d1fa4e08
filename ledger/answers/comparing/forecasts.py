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
from ledger.ratings.engine import Rateable, gather, put_back, rate_batch, scheme_loop
from ledger.runtime.columns import FEW, Column, Columns
from ledger.runtime.kernels import compiled
from ledger.schemes.scheme import Rhythm, Scheme

# Names that ``scheme_loop`` gives to the loops below, each time to something else.
FIELDS = 0
at: Callable[..., None]
expected_score: Callable[..., float]
listed: Callable[..., bool]
provisional: Callable[..., bool]
rate_game: Callable[..., None]

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


def foretell(game: int, state: Any, w: int, b: int, expected: Any, unsettled: Any, numbers: Any) -> None:
    """Note what is expected of one game; both players are in *state* as they are at its time."""
    expected[game] = expected_score(state, w, b, numbers)  # noqa: F821
    unsettled[game] = 0
    if provisional(state, w, numbers) or provisional(state, b, numbers):  # noqa: F821
        unsettled[game] = 1


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


def foresee_games(
    white: Any, black: Any, score: Any, day: Any, state: Any, both: Any, expected: Any, unsettled: Any, rating: Any,
    final: Any, numbers: Any,
) -> None:  # fmt: skip
    """Predict and rate games in order, one by one.

    Args:
        white: as in ``engine.Rateable``.
        black: as in ``engine.Rateable``.
        score: as in ``engine.Rateable``.
        day: as in ``engine.Rateable``.
        state: flat, FIELDS numbers a player; changed in place.
        both: room for two players' numbers.
        expected: as in ``Foresight``; filled.
        unsettled: as in ``Foresight``; filled.
        rating: as in ``Foresight``; filled.
        final: as in ``Foresight``; filled.
        numbers: the scheme's settings.
    """
    for game in range(len(white)):
        w = white[game] * FIELDS
        b = black[game] * FIELDS
        for field in range(FIELDS):
            both[field] = state[w + field]
            both[FIELDS + field] = state[b + field]
        at(both, 0, 0.0, day[game], numbers)  # noqa: F821
        at(both, FIELDS, 0.0, day[game], numbers)  # noqa: F821
        foretell(game, both, 0, FIELDS, expected, unsettled, numbers)
        rate_game(state, w, b, score[game], day[game], numbers)  # noqa: F821
        rating[2 * game] = shown(state, w, numbers)
        rating[2 * game + 1] = shown(state, b, numbers)
    if len(white) > 0:
        settle(0.0, day[len(white) - 1], state, final, numbers)


def foresee_batches(
    white: Any, black: Any, score: Any, starts: Any, period: Any, closing: Any, state: Any, slot: Any, roster: Any,
    tally: Any, end: Any, side: Any, own: Any, work: Any, after: Any, opponent: Any, result: Any, colour: Any,
    expected: Any, unsettled: Any, rating: Any, final: Any, numbers: Any,
) -> None:  # fmt: skip
    """Predict and rate games batch by batch.

    Args:
        white: as in ``engine.Rateable``, and so *black*, *score*, *starts*, *period*, *closing*.
        black: see *white*.
        score: see *white*.
        starts: see *white*.
        period: see *white*.
        closing: see *white*.
        state: flat, FIELDS numbers a player; changed in place.
        slot: see ``engine.rooms``, and so all up to *colour*.
        roster: see *slot*.
        tally: see *slot*.
        end: see *slot*.
        side: see *slot*.
        own: see *slot*.
        work: see *slot*.
        after: see *slot*.
        opponent: see *slot*.
        result: see *slot*.
        colour: see *slot*.
        expected: as in ``Foresight``, and so *unsettled*, *rating*, *final*; filled.
        unsettled: see *expected*.
        rating: see *expected*.
        final: see *expected*.
        numbers: the scheme's settings.
    """
    for batch in range(len(period)):
        first = starts[batch]
        last = starts[batch + 1]
        players = gather(white, black, score, first, last, slot, roster, tally, end, side, opponent, result, colour)
        rate_batch(
            players, period[batch], closing[batch], state, slot, roster, tally, end, own, work, after, opponent, result,
            colour, numbers,
        )  # fmt: skip
        put_back(players, state, roster, after)
        for game in range(first, last):  # *own* is as the batch began
            w = side[2 * (game - first)] * FIELDS
            b = side[2 * (game - first) + 1] * FIELDS
            foretell(game, own, w, b, expected, unsettled, numbers)
            rating[2 * game] = shown(after, w, numbers)
            rating[2 * game + 1] = shown(after, b, numbers)
    if len(period) > 0:
        settle(period[len(period) - 1], closing[len(period) - 1], state, final, numbers)


@cache
def foreseeing_loop(scheme: Scheme) -> Callable[..., None]:
    """``foresee_games`` or ``foresee_batches`` for one scheme."""
    if scheme.rhythm is Rhythm.GAME:
        return scheme_loop(foresee_games, scheme, foretell, shown, settle)
    return scheme_loop(foresee_batches, scheme, rate_batch, put_back, foretell, shown, settle)


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
    told = Foresight(cols.room(count), cols.zeros(count), cols.room(2 * count), cols.room(players))
    loop = foreseeing_loop(scheme)
    if cols is not FEW:
        loop = compiled(loop)
    if scheme.rhythm is Rhythm.GAME:
        both = cols.room(2 * len(scheme.state))
        loop(games.white, games.black, games.score, games.day, state, both, *told, numbers)
        return told
    loop(
        games.white, games.black, games.score, games.starts, games.period, games.closing, state,
        *engine.rooms(cols, scheme, players, 2 * cols.longest(games.starts)), *told, numbers,
    )  # fmt: skip
    return told
