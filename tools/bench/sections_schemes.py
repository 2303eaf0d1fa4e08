"""Sections ``replay`` and ``schemes``: ratings in memory, columns to full history, one core, for speed and accuracy.

Compiled loops are measured in turns with ours, Python packages once and on the last games of a set.
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
from ledger.facts.periods import MONTHLY
from ledger.ratings import engine
from ledger.runtime.arith import logistic
from ledger.runtime.columns import MANY
from ledger.runtime.lazy import np
from ledger.schemes import chessworld
from ledger.schemes.scheme import Newcomer, Rhythm, Scheme, state

from . import rival_ratings
from .datasets import WORKS, Columns, GameSet, Run
from .measuring import cost_of, installed, timed
from .ours import cut
from .rival_ratings import Package, loop_run, riix
from .rival_stores import START
from .table import EVEN, Line, line


class EloNumbers(NamedTuple):
    """The one constant of plain Elo."""

    k: float = 32.0


@attrs.define
class EloPlayer:
    """A player of whom nothing but the rating is kept."""

    rating: float = state("points")


def _rate_elo(white: EloPlayer, black: EloPlayer, score: float, day: float, numbers: EloNumbers) -> None:  # noqa: ARG001
    change = numbers.k * (score - logistic(white.rating - black.rating))
    white.rating += change
    black.rating -= change


PLAIN_ELO: Scheme = attrs.evolve(  # mirrored, as ChessWorld's expected score is
    built_in.find_scheme("chessworld"), name="bench-elo", numbers=EloNumbers, player=EloPlayer, rate_game=_rate_elo,
    enter=lambda _, __: EloPlayer(1500.0),
)  # fmt: skip


class SchemeVariant(NamedTuple):
    """A scheme with settings; *declared*: players begin with the rating that the games show, or 1500 for want of one.

    FIDE's rules make no rating from games between the unrated, so that without it there would be none.
    """

    what: str
    scheme: Scheme
    numbers: Any
    declared: bool = False


def variants() -> Iterator[SchemeVariant]:
    """Yield every built-in scheme with its default settings, and by week those that usually are."""
    for scheme in built_in.built_in_schemes():
        numbers = scheme.numbers_from({})
        if scheme.name in WORKS["weekly"]:
            yield SchemeVariant(f"{scheme.name} by week", scheme, scheme.numbers_from(WORKS["weekly"][scheme.name]))
        by_month = scheme.rhythm is Rhythm.PERIOD and scheme.calendar(numbers) == MONTHLY
        rhythm = "month" if by_month else scheme.rhythm.value
        yield SchemeVariant(f"{scheme.name} by {rhythm}", scheme, numbers, scheme.name == "fide")


def beginning(games: engine.RateableGames, scheme: Scheme, numbers: Any, declared: Any = None) -> Any:
    """Return the flat state of all players before the first game; *declared* ratings by player."""
    owner = MANY.interleave(games.white, games.black)
    first = np.zeros(int(owner.max()) + 1)
    first[owner[::-1]] = np.repeat(games.day, 2)[::-1]  # the last one written is the first one played
    known = repeat(None) if declared is None else declared.tolist()
    who = [Newcomer(rating, None, day) for rating, day in zip(known, first.tolist())]  # noqa: B905
    return MANY.float64_column(engine.initial_states(scheme, numbers, who))


def shown(columns: Columns) -> Any:
    """Return the first rating shown next to each player's name; 1500 if there is none."""
    owner = MANY.interleave(columns["white"], columns["black"])
    rating = MANY.interleave(columns["white_elo"], columns["black_elo"])
    first = np.full(int(owner.max()) + 1, START)
    known = np.flatnonzero(rating)[::-1]
    first[owner[known]] = rating[known]
    return first


def rating_run(games: engine.RateableGames, scheme: Scheme, numbers: Any, declared: Any = None) -> rival_ratings.Run:
    """Prepare a replay with both sides' full state after every game, compiled, one core; a run returns the state."""
    games = engine.with_tournament_starts(MANY, scheme, games)
    start, sides = beginning(games, scheme, numbers, declared), 2 * len(games.white)
    players = len(start) // len(scheme.state)
    history, before, expected = np.empty(sides * len(scheme.state)), np.empty(sides), np.empty(sides)
    n, loop = np.empty(sides, np.int32), engine.rating_loop(scheme)

    def run() -> Any:
        state = start.copy()
        kept = engine.SideRatings(history, n, before, expected, np.zeros(players, np.int32))
        engine.run_loop(MANY, scheme, loop, numbers, games, state, players, kept)
        return state

    return run


def judged(columns: Columns, scheme: Scheme, numbers: Any, declared: Any = None) -> tuple[float, float]:
    """Log-loss and Brier's score of what the scheme expected of White before each game."""
    games = cut(columns, scheme, numbers)
    expected = forecasts.predict_and_rate(
        MANY, scheme, numbers, games, beginning(games, scheme, numbers, declared)
    ).expected
    return forecasts.log_loss(expected, games.score), forecasts.brier(expected, games.score)


def last_games(columns: Columns, count: int) -> Columns:
    """Return the last games, their players numbered again."""
    part = {name: column[-count:] for name, column in columns.items()}
    _players, part["white"], part["black"] = MANY.dense_indexes(part["white"], part["black"])
    return part


# The sections.

Prepare = Callable[[Columns], rival_ratings.Run]
WORLD_ALLOWED = 10e6  # games/s
FEW = 200  # games that load and compile what a package needs


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
            yield line(
                "elo-riix", data.name, rates["elo"], _pace(partial(riix, system="Elo", steps="week"), columns, run)
            )
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


def _packages(scheme: str, *, foretelling: bool = False) -> Iterator[tuple[str, Callable[[Columns], Package]]]:
    """Yield the installed packages with the system of a scheme; *foretelling*: those that say what they expect."""
    for name, words in WORKS["packages"].get(scheme, {}).items():
        settings = {key: value for key, value in words.items() if key not in {"package", "foretell"}}
        if installed(words["package"]) and (not foretelling or "foretell" in words):
            settings |= words["foretell"] if foretelling else {}
            yield name, partial(getattr(rival_ratings, words["package"]), **settings)


def schemes(run: Run) -> Iterator[Line]:
    """Yield every built-in scheme on real games."""
    columns, name = run.real.columns(), run.real.name
    yield from speed_lines(run, run.real, columns)
    yield from accuracy_lines(name, columns, last_games(columns, run.size.part))
    if installed("riix"):
        yield from agreement_lines(name, last_games(columns, 2 * run.size.part))


def speed_lines(run: Run, data: GameSet, columns: Columns) -> Iterator[Line]:
    """Measure games/s of every scheme, compared with packages of the same system and the bare Elo loop."""
    for what, scheme, numbers, declared in variants():
        games = cut(columns, scheme, numbers)
        replayed = rating_run(games, scheme, numbers, shown(columns) if declared else None)
        rates = _paces(data, {"ours": replayed, "bare": loop_run("elo", columns)}, run)
        words = f"{what}, with history"
        yield line("scheme-compiled", data.name, rates["ours"], rates["bare"], what=words)
        for rival, package in _packages(what):
            pace = _pace(package, columns, run)
            yield line("scheme-python", data.name, rates["ours"], pace, what=words, rival=rival)


def accuracy_lines(name: str, columns: Columns, part: Columns) -> Iterator[Line]:
    """Measure log-loss and Brier's score of every scheme, compared with an even score, and with packages on a part."""
    measures = (("log-loss", forecasts.log_loss), ("Brier", forecasts.brier))
    for what, scheme, numbers, declared in variants():
        foretold = {EVEN: (columns, np.full(len(columns["score"]), 0.5))}
        for rival, package in _packages(what, foretelling=True):
            foretold[rival] = part, package(part).expected()
        for rival, (games, expected) in foretold.items():
            errors = judged(games, scheme, numbers, shown(games) if declared else None)
            for (unit, measure), error in zip(measures, errors, strict=True):
                words: dict[str, Any] = {"what": f"{what}, error of what it expects", "rival": rival, "unit": unit}
                yield line("scheme-accuracy", name, error, measure(expected, games["score"]), **words)


def agreement_lines(name: str, part: Columns) -> Iterator[Line]:
    """Yield the largest difference of our ratings from riix's after the last games: the same system by others."""
    glicko, glicko2, lichess = (built_in.find_scheme(system) for system in ("glicko", "glicko2", "lichess"))
    weekly = cut(part, glicko, glicko.numbers_from(WORKS["weekly"]["glicko"]))
    weekly = weekly._replace(period=np.arange(float(len(weekly.period))))
    batched = partial(riix, part, steps="week with games", update_method="batched")
    without_floor, unlimited = (
        glicko.numbers_from(WORKS["weekly"]["glicko"] | {"rd_floor": 0}),
        lichess.numbers_from(WORKS["unlimited"]["lichess"]),
    )
    by_week = batched(system="Glicko2").run(initial_phi=math.inf)  # the paper has no cap: there RD grows on
    by_game = riix(part, "Glicko2", "one").run()
    cases = (
        ("Glicko by week", glicko, without_floor, weekly, 1e-6, batched(system="Glicko", c=30.3).run()),
        ("Glicko-2 by week", glicko2, glicko2.numbers_from(WORKS["weekly"]["glicko2"]), weekly, 5e-4, by_week),
        ("Glicko-2 by game", lichess, unlimited, cut(part, lichess, unlimited), 4e-7, by_game),
    )
    for what, scheme, numbers, games, allowed, model in cases:
        ratings = model.ratings if scheme is glicko else 1500.0 + 173.7178 * model.mus
        farthest = float(np.abs(rating_run(games, scheme, numbers)()[:: len(scheme.state)] - ratings).max())
        yield line("scheme-agreement", name, max(farthest, 1e-15), allowed, what=f"{what}, farthest from riix")
