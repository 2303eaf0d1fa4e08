"""Rated games to ratings: the loops around a scheme's kernels, for each of the three rhythms.

One source runs in two ways, as ordinary Python for a few games and compiled for many, with the same bits. The engine
cuts the games into batches and gathers each player's games; what happens in a game or a batch is the scheme's business.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

from ledger.columns import FEW, Column, Columns
from ledger.kernels import bound, compiled
from ledger.schemes.base import Newcomer, Rhythm, Scheme, When

# Names that ``bound`` gives to the loops below, each time to something else.
FIELDS = WORK = STEPS = 0
at: Callable[..., None]
rate_game: Callable[..., None]
rate_player: Callable[..., None]
refuse: Callable[..., int]
step: Callable[..., None]

COMPILE_FROM = 20_000  # games from which loading the compiled kernel (about 0.3 s) pays


class Rateable(NamedTuple):
    """Games of one pool under one scheme, in rating order, as columns.

    Attributes:
        white: dense player index of White, by game (32 bit).
        black: dense player index of Black, by game (32 bit).
        score: White's score 0, 0.5 or 1, by game.
        day: when it ended, days since 1970, by game.
        starts: place of the first game of each batch, and one more for the end; empty for a scheme by game.
        period: number of the rating period, by batch.
        closing: when the batch closed, days since 1970, by batch.
    """

    white: Column
    black: Column
    score: Column
    day: Column
    starts: Column = ()
    period: Column = ()
    closing: Column = ()


def note(
    white: Any, black: Any, first: int, last: int, state: Any, counts: Any, history: Any, n: Any
) -> None:
    """Keep both players' state and game number after each of the games *first* <= game < *last*."""
    for game in range(first, last):
        w = white[game] * FIELDS
        b = black[game] * FIELDS
        row = 2 * game * FIELDS
        for field in range(FIELDS):
            history[row + field] = state[w + field]
            history[row + FIELDS + field] = state[b + field]
        counts[white[game]] += 1
        n[2 * game] = counts[white[game]]
        counts[black[game]] += 1
        n[2 * game + 1] = counts[black[game]]


def replay(
    white: Any, black: Any, score: Any, day: Any, state: Any, counts: Any, history: Any, n: Any, numbers: Any
) -> None:
    """Rate games in order, one by one, keeping both players' state after each.

    Args:
        white: as in ``Rateable``.
        black: as in ``Rateable``.
        score: as in ``Rateable``.
        day: as in ``Rateable``.
        state: flat, FIELDS numbers a player; changed in place.
        counts: rated games so far, by player; changed in place.
        history: flat, FIELDS numbers a side, White's then Black's of each game; filled.
        n: by side, the how-manieth rated game it was; filled.
        numbers: the scheme's settings.
    """
    for game in range(len(white)):
        rate_game(state, white[game] * FIELDS, black[game] * FIELDS, score[game], day[game], numbers)  # noqa: F821
        note(white, black, game, game + 1, state, counts, history, n)


def gather(
    white: Any, black: Any, score: Any, first: int, last: int, tally: Any, begin: Any, roster: Any, opponent: Any,
    result: Any, colour: Any,
) -> int:  # fmt: skip
    """Sort the sides of a batch by player, in order of appearance and of the games; returns the number of players.

    ``roster`` lists the players; player *i*'s games stand from ``begin[i]``, ``tally[i]`` of them.
    """
    players = 0
    for game in range(first, last):
        w = white[game]
        b = black[game]
        if tally[w] == 0:
            roster[players] = w
            players += 1
        tally[w] += 1
        if tally[b] == 0:
            roster[players] = b
            players += 1
        tally[b] += 1
    place = 0
    for i in range(players):
        begin[roster[i]] = place
        place += tally[roster[i]]
        tally[roster[i]] = 0
    for game in range(first, last):
        w = white[game]
        b = black[game]
        mine = begin[w] + tally[w]
        opponent[mine] = b
        result[mine] = score[game]
        colour[mine] = 0
        tally[w] += 1
        mine = begin[b] + tally[b]
        opponent[mine] = w
        result[mine] = 1.0 - score[game]
        colour[mine] = 1
        tally[b] += 1
    return players


def rate_batch(
    players: int, period: float, day: float, state: Any, work: Any, after: Any, tally: Any, begin: Any, roster: Any,
    opponent: Any, result: Any, colour: Any, numbers: Any,
) -> None:  # fmt: skip
    """Rate the gathered players of one batch; leaves their new fields in *after*."""
    for i in range(players):
        player = roster[i]
        at(state, player * FIELDS, period, day, numbers)  # noqa: F821
        for field in range(WORK):
            work[player * WORK + field] = 0.0
    for one in range(STEPS):
        for i in range(players):
            player = roster[i]
            first = begin[player]
            rate_player(  # noqa: F821
                one, state, work, after, player, opponent, result, colour, first, first + tally[player], period, day,
                numbers,
            )  # fmt: skip


def replay_batches(
    white: Any, black: Any, score: Any, starts: Any, period: Any, closing: Any, state: Any, work: Any, after: Any,
    tally: Any, begin: Any, roster: Any, opponent: Any, result: Any, colour: Any, counts: Any, history: Any, n: Any,
    numbers: Any,
) -> None:  # fmt: skip
    """Rate games batch by batch, keeping both players' state after the batch at each of its games.

    Args:
        white: as in ``Rateable``, and so *black*, *score*, *starts*, *period*, *closing*.
        black: see *white*.
        score: see *white*.
        starts: see *white*.
        period: see *white*.
        closing: see *white*.
        state: flat, FIELDS numbers a player; changed in place.
        work: room, WORK numbers a player.
        after: room, FIELDS numbers a player.
        tally: zeros, by player.
        begin: room, by player, as *roster*.
        roster: room, by player.
        opponent: room for twice the games of the largest batch, as *result* and *colour*.
        result: see *opponent*.
        colour: see *opponent*.
        counts: as in ``replay``, and so *history*, *n* and *numbers*.
        history: see *counts*.
        n: see *counts*.
        numbers: see *counts*.
    """
    for batch in range(len(period)):
        first = starts[batch]
        last = starts[batch + 1]
        players = gather(white, black, score, first, last, tally, begin, roster, opponent, result, colour)
        rate_batch(
            players, period[batch], closing[batch], state, work, after, tally, begin, roster, opponent, result, colour,
            numbers,
        )  # fmt: skip
        for i in range(players):
            player = roster[i]
            tally[player] = 0
            for field in range(player * FIELDS, player * FIELDS + FIELDS):
                state[field] = after[field]
        note(white, black, first, last, state, counts, history, n)


def refuse_all(
    outcome: Any, termination: Any, half_moves: Any, rated: Any, white: Any, black: Any, reasons: Any, numbers: Any
) -> None:
    """Ask a scheme's ``refuse`` for each game; fills *reasons* with codes."""
    for game in range(len(outcome)):
        reasons[game] = refuse(  # noqa: F821
            outcome[game], termination[game], half_moves[game], rated[game], white[game], black[game], numbers
        )


def fold(run: Any, columns: Any, state: Any, history: Any) -> None:
    """Fold sides into a running state by player, keeping the state after each side.

    Args:
        run: by side, the index of its player's run; the sides of one run follow each other in rating order.
        columns: tuple of the columns that the step takes, each by side.
        state: flat, FIELDS numbers a run; changed in place.
        history: flat, FIELDS numbers a side; filled.
    """
    for side in range(len(run)):
        p = run[side] * FIELDS
        step(state, p, columns, side)  # noqa: F821
        for field in range(FIELDS):
            history[side * FIELDS + field] = state[p + field]


def scheme_loop(loop: Callable[..., None], scheme: Scheme, *helpers: Callable[..., Any]) -> Callable[..., None]:
    """*loop* with the scheme's kernels in it, and *helpers*, which it or later helpers call by name, likewise."""
    known: dict[str, object] = {
        "FIELDS": len(scheme.state), "WORK": len(scheme.work), "STEPS": scheme.steps, "at": scheme.at,
        "rate_game": scheme.rate_game, "rate_player": scheme.rate_player, "expected_score": scheme.expected_score,
        "provisional": scheme.provisional, "listed": scheme.listed,
    }  # fmt: skip
    for helper in helpers:
        known[helper.__name__] = bound(helper, f"{helper.__name__}_{scheme.name}", **known)
    return bound(loop, f"{loop.__name__}_{scheme.name}", **known)


@cache
def rating_loop(scheme: Scheme) -> Callable[..., None]:
    """``replay`` or ``replay_batches`` for one scheme."""
    if scheme.rhythm is Rhythm.GAME:
        return scheme_loop(replay, scheme, note)
    return scheme_loop(replay_batches, scheme, note, rate_batch)


@cache
def refusal_loop(scheme: Scheme) -> Callable[..., None]:
    """``refuse_all`` for one scheme."""
    return bound(refuse_all, f"refuse_{scheme.name}", refuse=scheme.refuse)


@cache
def folding_loop(name: str, step_kernel: Callable[..., None], fields: int) -> Callable[..., None]:
    """``fold`` for one projector."""
    return bound(fold, f"fold_{name}", step=step_kernel, FIELDS=fields)


def newcomers(scheme: Scheme, numbers: Any, who: Sequence[Newcomer]) -> list[float]:
    """The flat state of players who have not played, in the given order."""
    return [value for one in who for value in scheme.enter(one, numbers)]


def rate(
    cols: Columns, scheme: Scheme, numbers: Any, games: Rateable, state: Column, counts: Column
) -> tuple[Column, Column]:
    """Rate games: as ordinary Python on lists (``FEW``), or compiled on NumPy arrays (``MANY``); the same bits.

    Args:
        cols: how the columns are held.
        scheme: the scheme.
        numbers: its settings.
        games: what is rated.
        state: (players * fields) floats; changed in place.
        counts: (players) 32-bit whole numbers, rated games so far; changed in place.

    Returns:
        (2 * games * fields) floats, the states after each side, and (2 * games) whole numbers, the game numbers.
    """
    sides = 2 * len(games.white)
    history, n = cols.room(sides * len(scheme.state)), cols.zeros(sides)
    loop = rating_loop(scheme)
    if cols is not FEW:
        loop = compiled(loop)
    if scheme.rhythm is Rhythm.GAME:
        loop(games.white, games.black, games.score, games.day, state, counts, history, n, numbers)
        return history, n
    loop(
        games.white, games.black, games.score, games.starts, games.period, games.closing, state,
        *rooms(cols, scheme, len(counts), 2 * cols.longest(games.starts)), counts, history, n, numbers,
    )  # fmt: skip
    return history, n


def rooms(cols: Columns, scheme: Scheme, players: int, sides: int) -> tuple[Column, ...]:
    """Room for *work*, *after*, *tally*, *begin*, *roster*, *opponent*, *result* and *colour* of a batch."""
    return (
        cols.room(players * len(scheme.work)), cols.room(players * len(scheme.state)), cols.zeros(players),
        cols.zeros(players), cols.zeros(players), cols.zeros(sides), cols.room(sides), cols.zeros(sides),
    )  # fmt: skip


def rate_one_batch(
    scheme: Scheme, numbers: Any, games: Rateable, state: list[float]
) -> tuple[list[float], list[float], list[float]]:
    """One batch by itself: the states that it begins with, those after it, and its work numbers, flat by player."""
    players = len(state) // len(scheme.state)
    work, after, tally, *rest = rooms(FEW, scheme, players, 2 * len(games.white))
    present = gather(games.white, games.black, games.score, 0, len(games.white), tally, *rest)
    loop = scheme_loop(rate_batch, scheme)
    loop(present, games.period[0], games.closing[0], state, work, after, tally, *rest, numbers)
    return state, after, work


def brought(scheme: Scheme, numbers: Any, state: Sequence[float], when: When) -> tuple[float, ...]:
    """A player's state as it stands at a time."""
    later = list(state)
    scheme.at(later, 0, when.period, when.day, numbers)
    return tuple(later)


def expected(
    scheme: Scheme, numbers: Any, own: Sequence[float], opponent: Sequence[float], when: When
) -> float:
    """The score, 0 to 1, that the scheme expects of the first player against the second at a time."""
    both = [*brought(scheme, numbers, own, when), *brought(scheme, numbers, opponent, when)]
    return scheme.expected_score(both, 0, len(own), numbers)


def predict(
    scheme: Scheme, numbers: Any, own: Sequence[float], opponent: Sequence[float], when: When
) -> dict[str, tuple[float, ...]]:
    """The state after a win, a draw and a loss of the first player against the second, each a batch by itself."""
    after: dict[str, tuple[float, ...]] = {}
    for word, score in (("win", 1.0), ("draw", 0.5), ("loss", 0.0)):
        state = [*own, *opponent]
        games = Rateable([0], [1], [score], [when.day], [0, 1], [when.period], [when.day])
        rate(FEW, scheme, numbers, games, state, [0, 0])
        after[word] = tuple(state[: len(own)])
    return after
