"""Rated games to ratings: the loops around a scheme's kernels, for each of the three rhythms.

One source runs in two ways, as ordinary Python for a few games and compiled for many, with the same bits. The engine
cuts the games into batches and gathers each player's games; what happens in a game or a batch is the scheme's business.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

from ledger.runtime.columns import FEW, Column, Columns
from ledger.runtime.kernels import bound, compiled
from ledger.schemes.scheme import Newcomer, Rhythm, Scheme, When, brought

# Names that ``bound`` gives to the loops below, each time to something else.
FIELDS = WORK = STEPS = 0
at: Callable[..., None]
rate_game: Callable[..., None]
rate_player: Callable[..., None]
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
        w = white[game] * FIELDS
        b = black[game] * FIELDS
        rate_game(state, w, b, score[game], day[game], numbers)  # noqa: F821
        row = 2 * game * FIELDS
        for field in range(FIELDS):
            history[row + field] = state[w + field]
            history[row + FIELDS + field] = state[b + field]
        counts[white[game]] += 1
        n[2 * game] = counts[white[game]]
        counts[black[game]] += 1
        n[2 * game + 1] = counts[black[game]]


def gather(
    white: Any, black: Any, score: Any, first: int, last: int, slot: Any, roster: Any, tally: Any, end: Any, side: Any,
    opponent: Any, result: Any, colour: Any,
) -> int:  # fmt: skip
    """Give the players of a batch places in order of appearance, and sort its sides by them; returns how many.

    ``roster`` lists the players, with room for one more, ``slot`` has each one's place and 1, ``side`` the place of
    each side's player. The games of place *i* stand up to ``end[i]``, ``tally[i]`` of them, opponents as places.
    """
    players = 0
    for game in range(first, last):
        for turn in range(2):
            # written in any case, counted if new: who is new in a batch is a branch that nobody can predict
            player = black[game] if turn else white[game]
            known = slot[player]
            roster[players] = player
            players += known == 0
            place = known if known else players
            slot[player] = place
            tally[place - 1] += 1
            side[2 * (game - first) + turn] = place - 1
    begin = 0
    for place in range(players):
        end[place] = begin
        begin += tally[place]
    for game in range(first, last):
        w = side[2 * (game - first)]
        b = side[2 * (game - first) + 1]
        mine = end[w]
        opponent[mine] = b
        result[mine] = score[game]
        colour[mine] = 0
        end[w] = mine + 1
        mine = end[b]
        opponent[mine] = w
        result[mine] = 1.0 - score[game]
        colour[mine] = 1
        end[b] = mine + 1
    return players


def rate_batch(
    players: int, period: float, day: float, state: Any, slot: Any, roster: Any, tally: Any, end: Any, own: Any,
    work: Any, after: Any, opponent: Any, result: Any, colour: Any, numbers: Any,
) -> None:  # fmt: skip
    """Rate the gathered players of one batch, all together in *own*, *work* and *after* by their places.

    Args:
        players: how many.
        period: number of the period.
        day: when the batch closed.
        state: everybody's fields; only read.
        slot: see ``gather``; zeros again for the next batch.
        roster: see ``gather``, and so *tally* (zeros again), *end*, *opponent*, *result*, *colour*.
        tally: see *roster*.
        end: see *roster*.
        own: filled with the players' fields brought to the batch.
        work: filled with the work numbers.
        after: filled with the new fields.
        opponent: see *roster*.
        result: see *roster*.
        colour: see *roster*.
        numbers: the scheme's settings.
    """
    for place in range(players):
        player = roster[place]
        for field in range(FIELDS):
            own[place * FIELDS + field] = state[player * FIELDS + field]
        at(own, place * FIELDS, period, day, numbers)  # noqa: F821
        for field in range(WORK):
            work[place * WORK + field] = 0.0
    for one in range(STEPS):
        for place in range(players):
            last = end[place]
            rate_player(  # noqa: F821
                one, own, work, after, place, opponent, result, colour, last - tally[place], last, period, day, numbers
            )
    for place in range(players):
        slot[roster[place]] = 0
        tally[place] = 0


def replay_batches(
    white: Any, black: Any, score: Any, starts: Any, period: Any, closing: Any, state: Any, slot: Any, roster: Any,
    tally: Any, end: Any, side: Any, own: Any, work: Any, after: Any, opponent: Any, result: Any, colour: Any,
    counts: Any, history: Any, n: Any, numbers: Any,
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
        slot: see ``rooms``, and so all up to *colour*.
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
        counts: as in ``replay``, and so *history*, *n* and *numbers*.
        history: see *counts*.
        n: see *counts*.
        numbers: see *counts*.
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
        note_batch(white, black, first, last, side, after, counts, history, n)


def put_back(players: int, state: Any, roster: Any, after: Any) -> None:
    """The fields of a batch's players from their places in *after* to where everybody's stand."""
    for place in range(players):
        for field in range(FIELDS):
            state[roster[place] * FIELDS + field] = after[place * FIELDS + field]


def note_batch(
    white: Any, black: Any, first: int, last: int, side: Any, after: Any, counts: Any, history: Any, n: Any
) -> None:
    """Keep both players' state after the batch and game number at each of its games *first* <= game < *last*."""
    for game in range(first, last):
        w = side[2 * (game - first)] * FIELDS
        b = side[2 * (game - first) + 1] * FIELDS
        row = 2 * game * FIELDS
        for field in range(FIELDS):
            history[row + field] = after[w + field]
            history[row + FIELDS + field] = after[b + field]
        counts[white[game]] += 1
        n[2 * game] = counts[white[game]]
        counts[black[game]] += 1
        n[2 * game + 1] = counts[black[game]]


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
        return scheme_loop(replay, scheme)
    return scheme_loop(replay_batches, scheme, rate_batch, put_back, note_batch)


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
    """Room for *players* in batches of at most so many *sides*, two a game.

    *slot* (by player), *roster*, *tally*, *end* (by place in the batch), *side*, *own*, *work*, *after* (by place),
    *opponent*, *result* and *colour*. A batch's players stand close together, however many there are.
    """
    places = min(players, sides)
    return (
        cols.zeros(players), cols.zeros(places + 1), cols.zeros(places), cols.zeros(places), cols.zeros(sides),
        cols.room(places * len(scheme.state)), cols.room(places * len(scheme.work)),
        cols.room(places * len(scheme.state)), cols.zeros(sides), cols.room(sides), cols.zeros(sides),
    )  # fmt: skip


def rate_one_batch(
    scheme: Scheme, numbers: Any, games: Rateable, state: list[float]
) -> tuple[list[float], list[float], list[float]]:
    """One batch by itself: the states that it begins with, those after it, and its work numbers, flat by player.

    Who has no game in it stays as in *state*, with work numbers of 0.
    """
    players, fields, noted = len(state) // len(scheme.state), len(scheme.state), len(scheme.work)
    slot, roster, tally, end, side, own, work, after, *rest = rooms(FEW, scheme, players, 2 * len(games.white))
    present = gather(
        games.white, games.black, games.score, 0, len(games.white), slot, roster, tally, end, side, *rest
    )
    loop = scheme_loop(rate_batch, scheme)
    loop(present, games.period[0], games.closing[0], state, slot, roster, tally, end, own, work, after, *rest, numbers)
    begun, done, told = list(state), list(state), [0.0] * (players * noted)
    for place, player in enumerate(roster[:present]):
        begun[player * fields : (player + 1) * fields] = own[place * fields : (place + 1) * fields]
        done[player * fields : (player + 1) * fields] = after[place * fields : (place + 1) * fields]
        told[player * noted : (player + 1) * noted] = work[place * noted : (place + 1) * noted]
    return begun, done, told


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
