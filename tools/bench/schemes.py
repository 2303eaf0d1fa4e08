"""Every built-in scheme in the benchmark: games cut as its rhythm wants, rated with full history, and predicted.

Games by period are cut by the scheme's own calendar or another one; games by event by month and tournament, or by month
alone where the games name none. No rivals here, and nothing is printed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import attrs

from ledger import schemes
from ledger.answers.comparing import forecasts
from ledger.answers.comparing.forecasts import foresee
from ledger.facts import periods
from ledger.facts.periods import DAY_MS, MONTHLY
from ledger.ratings import engine
from ledger.runtime.arith import logistic
from ledger.runtime.columns import FEW, MANY
from ledger.runtime.kernels import compiled
from ledger.runtime.lazy import np
from ledger.schemes.scheme import Newcomer, Rhythm, Scheme

from .rivals import START, Run
from .synthetic import Columns

WEEKLY: dict[str, dict[str, int | bool | str]] = {
    "glicko": {"period_days": 7, "c": "30.3"},  # c belongs to the length of a period
    "glicko2": {"period_days": 7},
}
# Lichess without its limits is Glicko-2 after every game in which RD does not grow by time.
UNLIMITED: dict[str, int | bool | str] = {
    "initial_rd": 350, "initial_volatility": "0.06", "tau": "0.5", "periods_per_day": 0, "rd_floor": 1, "rd_cap": 999,
    "volatility_cap": 1, "rating_floor": 0, "rating_limit": 9999, "largest_change": 9999, "regulator": 1,
}  # fmt: skip


class EloNumbers(NamedTuple):
    """The one constant of plain Elo."""

    k: float


def rate_elo(state: Any, w: int, b: int, score: float, day: float, numbers: EloNumbers) -> None:  # noqa: ARG001
    """Plain Elo: both sides by K times the surprise."""
    change = numbers.k * (score - logistic(state[w] - state[b]))
    state[w] += change
    state[b] -= change


PLAIN_ELO: Scheme = attrs.evolve(
    schemes.named("chessworld"),
    name="bench-elo",
    numbers=EloNumbers,
    state=("rating",),
    enter=lambda _, __: (1500.0,),
    rate_game=rate_elo,  # mirrored, as ChessWorld's expected score is
)


class SchemeVariant(NamedTuple):
    """A scheme with settings; *declared*: players begin with the rating that the games show, or 1500 for want of one.

    FIDE's rules make nobody's rating from games between the unrated, so that without it there would be none.
    """

    what: str
    scheme: Scheme
    numbers: Any
    declared: bool = False


def variants() -> Iterator[SchemeVariant]:
    """Every built-in scheme with its default settings, and by week those that usually are."""
    for scheme in schemes.built_in():
        numbers = scheme.numbers_from({})
        if scheme.name in WEEKLY:
            yield SchemeVariant(f"{scheme.name} by week", scheme, scheme.numbers_from(WEEKLY[scheme.name]))
        by_month = scheme.rhythm is Rhythm.PERIOD and scheme.calendar(numbers) == MONTHLY
        rhythm = "month" if by_month else scheme.rhythm.value
        yield SchemeVariant(f"{scheme.name} by {rhythm}", scheme, numbers, scheme.name == "fide")


def cut(columns: Columns, scheme: Scheme, numbers: Any) -> engine.Rateable:
    """The games in the batches, and so in the order, in which the scheme rates them."""
    ended_at = columns["ended_at"]
    games = engine.Rateable(columns["white"], columns["black"], columns["score"], ended_at / DAY_MS)
    if scheme.rhythm is Rhythm.GAME:
        return games
    calendar = scheme.calendar(numbers) if scheme.rhythm is Rhythm.PERIOD else MONTHLY
    period, closing = periods.numbers(ended_at, calendar), periods.closings(ended_at, calendar)
    event = np.zeros(len(period), np.int32)
    if scheme.rhythm is Rhythm.EVENT and "event" in columns:
        event = columns["event"]
        order = np.lexsort((event, period))
        event, period, closing = event[order], period[order], closing[order]
        games = engine.Rateable(*(column[order] for column in games[:4]))
    begins = np.ones(len(period), np.bool_)
    begins[1:] = (np.diff(period) != 0) | (np.diff(event) != 0)
    first = np.flatnonzero(begins)
    starts = np.append(first, len(period))
    return games._replace(starts=starts, period=MANY.floats(period[first]), closing=closing[first] / DAY_MS)


def singly(columns: Columns) -> engine.Rateable:
    """Each game as a batch of its own, all in one period, for a scheme by period."""
    count, day = len(columns["white"]), columns["ended_at"] / DAY_MS
    starts, period = np.arange(count + 1), np.zeros(count)
    return engine.Rateable(columns["white"], columns["black"], columns["score"], day, starts, period, day)


def beginning(games: engine.Rateable, scheme: Scheme, numbers: Any, declared: Any = None) -> Any:
    """The flat state of all players before the first game; *declared* ratings by player."""
    players = int(max(games.white.max(), games.black.max())) + 1
    first = np.zeros(players)
    owner = MANY.interleave(games.white, games.black)
    first[owner[::-1]] = np.repeat(games.day, 2)[::-1]  # the last one written is the first one played
    known = [None] * players if declared is None else declared.tolist()
    who = [Newcomer(rating, None, day) for rating, day in zip(known, first.tolist(), strict=True)]
    return MANY.floats(engine.newcomers(scheme, numbers, who))


def shown(columns: Columns) -> Any:
    """The first rating shown beside each player's name; 1500 where there is none."""
    owner = MANY.interleave(columns["white"], columns["black"])
    rating = np.zeros(len(owner), np.int16)
    if "white_elo" in columns:
        rating = MANY.interleave(columns["white_elo"], columns["black_elo"])
    first = np.full(int(owner.max()) + 1, START)
    known = np.flatnonzero(rating)[::-1]
    first[owner[known]] = rating[known]
    return first


def rating_run(games: engine.Rateable, scheme: Scheme, numbers: Any, declared: Any = None) -> Run:
    """Prepare a replay with both sides' full state after every game, compiled, one core; a run returns the state."""
    games = engine.with_began(MANY, scheme, games)
    start, count = beginning(games, scheme, numbers, declared), len(games.white)
    players = len(start) // len(scheme.state)
    sides = 2 * count
    history, before, expected = np.empty(sides * len(scheme.state)), np.empty(sides), np.empty(sides)
    n = np.empty(sides, np.int32)
    loop = compiled(engine.rating_loop(scheme))
    both = np.empty(2 * len(scheme.state))
    space = engine.workspace(MANY, scheme, players, 2 * MANY.longest(games.starts))
    room = both if scheme.rhythm is Rhythm.GAME else space

    def run() -> Any:
        state = start.copy()
        kept = engine.SideRatings(history, n, before, expected, np.zeros(players, np.int32))
        loop(games, state, room, kept, numbers)
        return state

    return run


def scheme_run(columns: Columns, scheme: Scheme, numbers: Any, declared: Any = None) -> Run:
    """``rating_run`` of games as they are in the columns."""
    return rating_run(cut(columns, scheme, numbers), scheme, numbers, declared)


def judged(columns: Columns, scheme: Scheme, numbers: Any, declared: Any = None) -> tuple[float, float]:
    """Log-loss and Brier's score of what the scheme expected of White before each game."""
    games = cut(columns, scheme, numbers)
    state = beginning(games, scheme, numbers, declared)
    if len(games.score) < engine.COMPILE_FROM:  # as ``compare`` does
        few = engine.Rateable(*(np.asarray(column).tolist() for column in games))
        expected = np.asarray(foresee(FEW, scheme, numbers, few, state.tolist()).expected)
    else:
        expected = foresee(MANY, scheme, numbers, games, state).expected
    return forecasts.log_loss(expected, games.score), forecasts.brier(expected, games.score)


def ratings(state: Any, scheme: Scheme) -> Any:
    """The ratings of a flat state, by player."""
    return state[:: len(scheme.state)]


def last_games(columns: Columns, count: int) -> Columns:
    """The last games, their players numbered anew."""
    part = {name: column[-count:] for name, column in columns.items()}
    _players, part["white"], part["black"] = MANY.dense(part["white"], part["black"])
    return part
