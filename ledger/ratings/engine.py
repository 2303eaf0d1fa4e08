"""Rated games to ratings: which loop around a scheme's kernels runs, for each of the three rhythms, and how.

One source runs in two ways, as ordinary Python for a few games and compiled for many, with the same bits. The loops
themselves are in ``loops``; what happens in a game or a batch is the scheme's business.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

from ledger.ratings import loops
from ledger.ratings.loops import (
    Rateable,
    SideRatings,
    Workspace,
    foretell,
    gather,
    keep,
    put_back,
    rate_batch,
    replay,
    replay_batches,
)
from ledger.runtime.columns import FEW, Column, Columns
from ledger.runtime.kernels import bound, compiled
from ledger.runtime.lazy import np
from ledger.schemes.scheme import Newcomer, Rhythm, Scheme, When, as_it_stands, at_time

__all__ = [
    "COMPILE_FROM", "Rateable", "SideRatings", "Workspace", "expected", "gather", "newcomers", "predict", "rate",
    "rate_one_batch", "rating_loop", "rating_loop_of", "run", "scheme_loop", "workspace",
]  # fmt: skip
COMPILE_FROM = 20_000  # games from which loading the compiled kernel (about 0.3 s) pays


def scheme_loop(loop: Callable[..., Any], scheme: Scheme, *helpers: Callable[..., Any]) -> Callable[..., Any]:
    """*loop* with the scheme's kernels in it, and *helpers*, which it or later helpers call by name, likewise."""
    known: dict[str, object] = {
        "FIELDS": len(scheme.state), "WORK": len(scheme.work), "STEPS": scheme.steps, "at": scheme.at,
        "AGES": scheme.at is not as_it_stands, "MIRRORED": scheme.mirrored,
        "rate_game": scheme.rate_game, "rate_player": scheme.rate_player, "expected_score": scheme.expected_score,
        "provisional": scheme.provisional, "listed": scheme.listed,
    }  # fmt: skip
    asks = scheme.in_force is not None
    for name, helper in (
        ("take_began", loops.take_began_if_asked if asks else loops.take_began),
        ("rate_side", loops.rate_with_began if asks else loops.rate_without_began),
    ):
        known[name] = bound(helper, f"{helper.__name__}_{scheme.name}", **known)
    for helper in helpers:
        known[helper.__name__] = bound(helper, f"{helper.__name__}_{scheme.name}", **known)
    return bound(loop, f"{loop.__name__}_{scheme.name}", **known)


def rating_loop_of(scheme: Scheme, *noting: Callable[..., Any]) -> Callable[..., None]:
    """``replay`` or ``replay_batches`` for one scheme, with *noting* for ``foretell`` and ``keep``."""
    if scheme.rhythm is Rhythm.GAME:
        return scheme_loop(replay, scheme, *noting)
    return scheme_loop(replay_batches, scheme, gather, rate_batch, put_back, *noting)


@cache
def rating_loop(scheme: Scheme) -> Callable[..., None]:
    """The loop that fills ``SideRatings`` for one scheme."""
    return rating_loop_of(scheme, foretell, keep)


def newcomers(scheme: Scheme, numbers: Any, who: Sequence[Newcomer]) -> list[float]:
    """The flat state of players who have not played, in the given order."""
    return [value for newcomer in who for value in scheme.begin(newcomer, numbers)]


def rate(cols: Columns, scheme: Scheme, numbers: Any, games: Rateable, state: Column, counts: Column) -> SideRatings:
    """Rate games: as ordinary Python on lists (``FEW``), or compiled on NumPy arrays (``MANY``); the same bits.

    Args:
        cols: how the columns are held.
        scheme: the scheme.
        numbers: its settings.
        games: what is rated.
        state: (players * fields) floats; changed in place.
        counts: (players) 32-bit whole numbers, rated games so far; changed in place.
    """
    sides = 2 * len(games.white)
    kept = SideRatings(
        cols.room(sides * len(scheme.state)), cols.zeros(sides), cols.room(sides), cols.room(sides), counts
    )
    run(cols, scheme, rating_loop(scheme), numbers, games, state, len(counts), kept)
    return kept


def run(
    cols: Columns,
    scheme: Scheme,
    loop: Callable[..., None],
    numbers: Any,
    games: Rateable,
    state: Column,
    players: int,
    kept: Any,
) -> None:
    """Run a loop of ``rating_loop_of`` over games of *players* players, on lists or compiled on arrays."""
    if cols is not FEW:
        loop = compiled(loop)
    if scheme.rhythm is Rhythm.GAME:
        loop(games, state, cols.room(2 * len(scheme.state)), kept, numbers)
    else:
        space = workspace(cols, scheme, players, 2 * cols.longest(games.starts))
        loop(with_began(cols, scheme, games), state, space, kept, numbers)


def with_began(cols: Columns, scheme: Scheme, games: Rateable) -> Rateable:
    """The games with the day on which the tournament of each began, where the scheme asks and it was not said."""
    if scheme.in_force is None or len(games.began):
        return games
    if cols is FEW:
        batches = zip(pairwise(games.starts), games.closing, strict=True)
        return games._replace(began=[day for (first, last), day in batches for _ in range(first, last)])
    return games._replace(began=np.repeat(games.closing, np.diff(games.starts)))


def workspace(cols: Columns, scheme: Scheme, players: int, sides: int) -> Workspace:
    """Room for *players* in batches of at most so many *sides*, two a game."""
    places = min(players, sides)
    return Workspace(
        cols.zeros(players),
        cols.zeros(places + 1),
        cols.zeros(places),
        cols.zeros(places),
        cols.zeros(sides),
        cols.room(places * len(scheme.state)),
        cols.room(places * len(scheme.work)),
        cols.room(places * len(scheme.state)),
        cols.zeros(sides),
        cols.room(sides),
        cols.zeros(sides),
        cols.room(0 if scheme.in_force is None else sides),
    )


def rate_one_batch(
    scheme: Scheme, numbers: Any, games: Rateable, state: list[float]
) -> tuple[list[float], list[float], list[float]]:
    """One batch by itself: the states that it begins with, those after it, and its work numbers, flat by player.

    A player without a game in it stays as in *state*, with work numbers of 0.
    """
    players, fields, noted = len(state) // len(scheme.state), len(scheme.state), len(scheme.work)
    space = workspace(FEW, scheme, players, 2 * len(games.white))
    present = scheme_loop(gather, scheme)(with_began(FEW, scheme, games), 0, len(games.white), space)
    scheme_loop(rate_batch, scheme)(present, games.period[0], games.closing[0], state, space, numbers)
    begun, after, work = list(state), list(state), [0.0] * (players * noted)
    for place, player in enumerate(space.roster[:present]):
        begun[player * fields : (player + 1) * fields] = space.own[place * fields : (place + 1) * fields]
        after[player * fields : (player + 1) * fields] = space.after[place * fields : (place + 1) * fields]
        work[player * noted : (player + 1) * noted] = space.work[place * noted : (place + 1) * noted]
    return begun, after, work


def expected(scheme: Scheme, numbers: Any, own: Sequence[float], opponent: Sequence[float], when: When) -> float:
    """The score, 0 to 1, that the scheme expects of the first player against the second at a time."""
    both = [*at_time(scheme, numbers, own, when), *at_time(scheme, numbers, opponent, when)]
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
