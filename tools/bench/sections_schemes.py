"""Sections ``replay`` and ``schemes``: ratings in memory, columns to full history, one core, for speed and accuracy.

Compiled loops are measured in turns with ours, Python packages once and on the last games of a set. Games by period are
cut by the scheme's own calendar or another one; games by event by month and tournament, or by month alone if the games
name none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import repeat
from typing import Any, NamedTuple

import attrs

from ledger import schemes as built_in
from ledger.answers.comparing import forecasts
from ledger.facts import periods
from ledger.facts.periods import DAY_MS, MONTHLY
from ledger.ratings import engine
from ledger.runtime.arith import logistic
from ledger.runtime.columns import MANY
from ledger.runtime.kernels import compiled
from ledger.runtime.lazy import np
from ledger.schemes import chessworld
from ledger.schemes.scheme import Newcomer, Rhythm, Scheme

from . import rival_ratings
from .datasets import Columns, GameSet, Run
from .measuring import cost_of, installed, timed
from .rival_ratings import SCALE, Package, elochess, elote, loop_run, riix
from .rival_stores import START
from .table import EVEN, Line, line

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

    k: float = 32.0


def _rate_elo(state: Any, w: int, b: int, score: float, day: float, numbers: EloNumbers) -> None:  # noqa: ARG001
    change = numbers.k * (score - logistic(state[w] - state[b]))
    state[w] += change
    state[b] -= change


PLAIN_ELO: Scheme = attrs.evolve(  # mirrored, as ChessWorld's expected score is
    built_in.named("chessworld"), name="bench-elo", numbers=EloNumbers, state=("rating",), rate_game=_rate_elo,
    enter=lambda _, __: (1500.0,),
)  # fmt: skip


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
    for scheme in built_in.built_in():
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
    event = columns.get("event") if scheme.rhythm is Rhythm.EVENT else None
    if event is not None:
        order = np.lexsort((event, period))
        event, period, closing = event[order], period[order], closing[order]
        games = engine.Rateable(*(column[order] for column in games[:4]))
    begins = np.diff(period, prepend=period[0] - 1) != 0
    if event is not None:
        begins |= np.diff(event, prepend=event[0]) != 0
    first = np.flatnonzero(begins)
    starts = np.append(first, len(period))
    return games._replace(starts=starts, period=MANY.floats(period[first]), closing=closing[first] / DAY_MS)


def singly(columns: Columns) -> engine.Rateable:
    """Each game as a batch of its own, all in one period, for a scheme by period."""
    games = cut(columns, PLAIN_ELO, None)
    count = len(games.day)
    return games._replace(starts=np.arange(count + 1), period=np.zeros(count), closing=games.day)


def beginning(games: engine.Rateable, scheme: Scheme, numbers: Any, declared: Any = None) -> Any:
    """The flat state of all players before the first game; *declared* ratings by player."""
    owner = MANY.interleave(games.white, games.black)
    first = np.zeros(int(owner.max()) + 1)
    first[owner[::-1]] = np.repeat(games.day, 2)[::-1]  # the last one written is the first one played
    known = repeat(None) if declared is None else declared.tolist()
    who = [Newcomer(rating, None, day) for rating, day in zip(known, first.tolist())]  # noqa: B905
    return MANY.floats(engine.newcomers(scheme, numbers, who))


def shown(columns: Columns) -> Any:
    """The first rating shown beside each player's name; 1500 where there is none."""
    owner = MANY.interleave(columns["white"], columns["black"])
    rating = MANY.interleave(columns["white_elo"], columns["black_elo"])
    first = np.full(int(owner.max()) + 1, START)
    known = np.flatnonzero(rating)[::-1]
    first[owner[known]] = rating[known]
    return first


def rating_run(games: engine.Rateable, scheme: Scheme, numbers: Any, declared: Any = None) -> rival_ratings.Run:
    """Prepare a replay with both sides' full state after every game, compiled, one core; a run returns the state."""
    games = engine.with_began(MANY, scheme, games)
    start, sides = beginning(games, scheme, numbers, declared), 2 * len(games.white)
    players = len(start) // len(scheme.state)
    history, before, expected = np.empty(sides * len(scheme.state)), np.empty(sides), np.empty(sides)
    n, loop = np.empty(sides, np.int32), compiled(engine.rating_loop(scheme))
    room: Any = np.empty(2 * len(scheme.state))
    if scheme.rhythm is not Rhythm.GAME:
        room = engine.workspace(MANY, scheme, players, 2 * MANY.longest(games.starts))

    def run() -> Any:
        state = start.copy()
        kept = engine.SideRatings(history, n, before, expected, np.zeros(players, np.int32))
        loop(games, state, room, kept, numbers)
        return state

    return run


def judged(columns: Columns, scheme: Scheme, numbers: Any, declared: Any = None) -> tuple[float, float]:
    """Log-loss and Brier's score of what the scheme expected of White before each game."""
    games = cut(columns, scheme, numbers)
    expected = forecasts.foresee(MANY, scheme, numbers, games, beginning(games, scheme, numbers, declared)).expected
    return forecasts.log_loss(expected, games.score), forecasts.brier(expected, games.score)


def last_games(columns: Columns, count: int) -> Columns:
    """The last games, their players numbered anew."""
    part = {name: column[-count:] for name, column in columns.items()}
    _players, part["white"], part["black"] = MANY.dense(part["white"], part["black"])
    return part


# The sections.

Prepare = Callable[[Columns], rival_ratings.Run]
WORLD_ALLOWED = 10e6  # games/s
FEW = 200  # games that load and compile what a package needs
BY_GAME = "Glicko-2, singly"
ELO = ("bare Numba Elo, history", partial(loop_run, "elo"))
GLICKO2 = ("bare Numba Glicko-2, by game", partial(loop_run, "glicko2"))
BARE: Mapping[str, tuple[str, Prepare]] = {
    "glicko by week": ("bare Numba Glicko, by game", partial(loop_run, "glicko")),
    "glicko2 by week": ("bare Numba Glicko-2, by week", rival_ratings.weekly_glicko2_run),
    "lichess by game": GLICKO2,
    BY_GAME: GLICKO2,
    "uschess by event": ("bare Numba US Chess, by game", partial(loop_run, "uschess")),
}


def replay(run: Run) -> Iterator[Line]:
    """ChessWorld and plain Elo, all of a set in turns, but for Python's loops."""
    for data in (run.real, *run.sets):
        columns = data.columns()
        games = cut(columns, PLAIN_ELO, None)
        works = {
            "world": rating_run(games, chessworld.SCHEME, chessworld.DEFAULT),
            "elo": rating_run(games, PLAIN_ELO, EloNumbers()),
            "world-numba": loop_run("chessworld", columns, with_columns=True),
            "elo-columns": loop_run("elo", columns, with_columns=True),
            "elo-numba": loop_run("elo", columns),
        }
        if installed("evalica"):
            works["elo-evalica"] = rival_ratings.evalica_run(columns)
        rates = _paces(data, works, run)
        yield line("world", data.name, rates["world"], WORLD_ALLOWED)
        yield line("world-numba", data.name, rates["world"], rates["world-numba"])
        for name in [name for name in works if name.startswith("elo-")]:
            yield line(name, data.name, rates["elo"], rates[name])
        if installed("riix"):
            yield line("elo-riix", data.name, rates["elo"], _pace(RIIX_ELO, columns, run))
        yield line("elo-dict", data.name, rates["elo"], _pace(rival_ratings.elo_in_dicts, columns, run))


def _paces(data: GameSet, works: Mapping[str, rival_ratings.Run], run: Run) -> dict[str, list[float]]:
    """Games/s of each round, in turns."""
    costs = timed(works, run.short)
    return {name: [data.games / cost.clock for cost in each] for name, each in costs.items()}


def _pace(prepare: Callable[[Columns], Package], columns: Columns, run: Run) -> float:
    """Games/s of a slow rival over the last games, once, after a few games that warm it up."""
    prepare(last_games(columns, FEW)).run()
    part = last_games(columns, run.size.part)
    return len(part["white"]) / cost_of(prepare(part).run).clock


ELOTE = {system: partial(elote, system=system) for system in ("Elo", "Glicko", "Glicko2", "ECF")}
RIIX_ELO, WEEKLY_GLICKO, WEEKLY_GLICKO2, GLICKO2_ONE = (
    partial(riix, system="Elo", steps="week"),
    partial(riix, system="Glicko", steps="week", update_method="batched", c=30.3),
    partial(riix, system="Glicko2", steps="week", update_method="batched"),
    partial(riix, system="Glicko2", steps="one"),
)


class Rival(NamedTuple):
    """A Python package with the system of a scheme; *foretell*: how it says what it expects of a game before it."""

    scheme: str
    name: str  # its first word is the package
    prepare: Callable[[Columns], Package]
    foretell: Callable[[Columns], Package] | None = None


RIVALS = (
    Rival("elo by game", "riix Elo", RIIX_ELO, partial(riix, system="Elo", steps="game")),
    Rival("elo by game", "elote Elo, by game", ELOTE["Elo"], ELOTE["Elo"]),
    Rival("glicko by week", "riix Glicko, by week", WEEKLY_GLICKO, WEEKLY_GLICKO),
    Rival("glicko by week", "riix Glicko, by game", partial(riix, system="Glicko", steps="week")),
    Rival("glicko by week", "elote Glicko, by game", ELOTE["Glicko"], ELOTE["Glicko"]),
    Rival("glicko2 by week", "riix Glicko-2, by week", WEEKLY_GLICKO2, WEEKLY_GLICKO2),
    Rival("glicko2 by week", "riix Glicko-2, by game", GLICKO2_ONE),
    Rival("glicko2 by week", "elote Glicko2, by game", ELOTE["Glicko2"], ELOTE["Glicko2"]),
    Rival("lichess by game", "riix Glicko-2, by game", GLICKO2_ONE),
    Rival("lichess by game", "elote Glicko2, by game", ELOTE["Glicko2"]),
    Rival("ecf-grade by period", "elote ECF, by game", ELOTE["ECF"]),
    Rival("ecf-monthly by month", "elote ECF, by game", ELOTE["ECF"], ELOTE["ECF"]),
    Rival("uschess by event", "elochess US Chess", lambda columns: elochess(cut(columns, *_default("uschess")))),
)


def _rivals_of(scheme: str) -> list[Rival]:
    """Return the installed ones."""
    return [rival for rival in RIVALS if rival.scheme == scheme and installed(rival.name.split(maxsplit=1)[0])]


def _default(name: str) -> tuple[Scheme, Any]:
    """Return a scheme with its default settings."""
    scheme = built_in.named(name)
    return scheme, scheme.numbers_from({})


def schemes(run: Run) -> Iterator[Line]:
    """Every built-in scheme on real games."""
    columns, name = run.real.columns(), run.real.name
    yield from speed_lines(run, run.real, columns)
    yield from accuracy_lines(name, columns, last_games(columns, run.size.part))
    if installed("riix"):
        yield from agreement_lines(name, last_games(columns, 2 * run.size.part))


def speed_lines(run: Run, data: GameSet, columns: Columns) -> Iterator[Line]:
    """Games/s of every scheme beside those who have the same system, or else the bare Elo loop."""
    for what, replayed in _replays(columns):  # one after the other, for memory
        bare, prepare = BARE.get(what, ELO)
        rates = _paces(data, {"ours": replayed, "bare": prepare(columns)}, run)
        scheme = f"{what}, with history"
        yield line("scheme-compiled", data.name, rates["ours"], rates["bare"], what=scheme, rival=bare)
        for rival in _rivals_of(what):
            pace = _pace(rival.prepare, columns, run)
            yield line("scheme-python", data.name, rates["ours"], pace, what=scheme, rival=rival.name)


def _replays(columns: Columns) -> Iterator[tuple[str, rival_ratings.Run]]:
    for what, scheme, numbers, declared in variants():
        yield what, rating_run(cut(columns, scheme, numbers), scheme, numbers, shown(columns) if declared else None)
    yield BY_GAME, rating_run(singly(columns), *_default("glicko2"))


def accuracy_lines(name: str, columns: Columns, part: Columns) -> Iterator[Line]:
    """Log-loss and Brier's score of every scheme, beside an even score, and on a part of the games beside packages."""
    measures = (("log-loss", forecasts.log_loss), ("Brier", forecasts.brier))
    for what, scheme, numbers, declared in variants():
        foretold = {EVEN: (columns, np.full(len(columns["score"]), 0.5))}
        for each in _rivals_of(what):
            if each.foretell is not None:
                foretold[each.name] = part, each.foretell(part).expected()
        for rival, (games, expected) in foretold.items():
            errors = judged(games, scheme, numbers, shown(games) if declared else None)
            for (unit, measure), error in zip(measures, errors, strict=True):
                words: dict[str, Any] = {"what": f"{what}, error of what it expects", "rival": rival, "unit": unit}
                yield line("scheme-accuracy", name, error, measure(expected, games["score"]), **words)


def agreement_lines(name: str, part: Columns) -> Iterator[Line]:
    """The largest difference of our ratings from riix's after the last games: the same system, written by others."""
    glicko, glicko2, lichess = (built_in.named(system) for system in ("glicko", "glicko2", "lichess"))
    weekly = cut(part, glicko, glicko.numbers_from(WEEKLY["glicko"]))
    weekly = weekly._replace(period=np.arange(float(len(weekly.period))))
    batched = partial(riix, part, steps="week with games", update_method="batched")
    without_floor, unlimited = glicko.numbers_from(WEEKLY["glicko"] | {"rd_floor": 0}), lichess.numbers_from(UNLIMITED)
    by_week = batched(system="Glicko2").run(initial_phi=math.inf)  # the paper has no cap: there RD grows on
    by_game = riix(part, "Glicko2", "one").run()
    cases = (
        ("Glicko by week", glicko, without_floor, weekly, 1e-6, batched(system="Glicko", c=30.3).run()),
        ("Glicko-2 by week", glicko2, glicko2.numbers_from(WEEKLY["glicko2"]), weekly, 5e-4, by_week),
        ("Glicko-2 by game", lichess, unlimited, cut(part, lichess, unlimited), 4e-7, by_game),
    )
    for what, scheme, numbers, games, allowed, model in cases:
        ratings = model.ratings if scheme is glicko else 1500.0 + SCALE * model.mus
        farthest = float(np.abs(rating_run(games, scheme, numbers)()[:: len(scheme.state)] - ratings).max())
        yield line("scheme-agreement", name, max(farthest, 1e-15), allowed, what=f"{what}, farthest from riix")
