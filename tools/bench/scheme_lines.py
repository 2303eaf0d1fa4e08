"""The section ``schemes``: every built-in scheme beside whoever has the same system, for speed and for accuracy.

Compiled loops are measured in turns with ours, Python packages one after the other on the last games of the set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ledger import schemes
from ledger.answers.comparing import forecasts
from ledger.runtime.lazy import np

from . import bare_ratings, rival_ratings, rivals
from .rivals import Run, installed, pace, side_by_side
from .schemes import (
    UNLIMITED,
    WEEKLY,
    cut,
    judged,
    last_games,
    rating_run,
    ratings,
    scheme_run,
    shown,
    singly,
    variants,
)
from .synthetic import Columns
from .table import Line, line

PYTHON_GAMES = 100_000
AGREEING_GAMES = 200_000
BY_GAME = "Glicko-2, singly"

ELO = ("bare Numba Elo, history", lambda columns: rivals.numba_run(columns, history=True))
BARE: Mapping[str, tuple[str, Callable[[Columns], Run]]] = {
    "glicko by week": ("bare Numba Glicko, by game", bare_ratings.glicko_run),
    "glicko2 by week": ("bare Numba Glicko-2, by week", bare_ratings.weekly_glicko2_run),
    "lichess by game": ("bare Numba Glicko-2, by game", bare_ratings.glicko2_run),
    BY_GAME: ("bare Numba Glicko-2, by game", bare_ratings.glicko2_run),
    "uschess by event": ("bare Numba US Chess, by game", bare_ratings.uschess_run),
}
# Games/s of the Rust library skillratings as the issue gives them, of another machine. There its Elo was 0.49 of a bare
# Numba loop with history: by that loop, measured here, its figures can be brought to this machine.
ELSEWHERE: Mapping[str, float] = {
    "elo by game": 64e6,
    "glicko by week": 24e6,
    "glicko2 by week": 2.5e6,
    "lichess by game": 5.5e6,
    BY_GAME: 5.5e6,
    "uschess by event": 28e6,
}
LOOP_ELSEWHERE = 64e6 / 0.49


def _riix(system: str, steps: str, **settings: Any) -> Callable[[Columns], Run]:
    return lambda columns: rival_ratings.riix_run(rival_ratings.riix(columns, system, steps, **settings))


def _elote(system: str) -> Callable[[Columns], Run]:
    return lambda columns: rival_ratings.elote_run(rival_ratings.elote(columns, system))


def _elochess(system: str, scheme: str) -> Callable[[Columns], Run]:
    named = schemes.named(scheme)
    return lambda columns: rival_ratings.elochess_run(cut(columns, named, named.numbers_from({})), system)


def _python_rivals() -> dict[str, dict[str, Callable[[Columns], Run]]]:
    """By scheme the Python packages with the same system; the first word of each is the package."""
    return {
        what: {rival: make for rival, make in rivals_of.items() if installed(rival.split()[0])}
        for what, rivals_of in _all_python_rivals().items()
    }


def _all_python_rivals() -> dict[str, dict[str, Callable[[Columns], Run]]]:
    glicko2_by_game = {"riix Glicko-2, by game": _riix("Glicko2", "one"), "elote Glicko-2": _elote("Glicko2")}
    ecf = {"elote ECF, by game": _elote("ECF")}
    return {
        "elo by game": {"riix Elo": _riix("Elo", "week"), "elote Elo": _elote("Elo")},
        "glicko by week": {
            "riix Glicko, by week": _riix("Glicko", "week", update_method="batched"),
            "riix Glicko, by game": _riix("Glicko", "week"),
            "elote Glicko, by game": _elote("Glicko"),
        },
        "glicko2 by week": {
            "riix Glicko-2, by week": _riix("Glicko2", "week", update_method="batched"),
            **glicko2_by_game,
        },
        "lichess by game": glicko2_by_game,
        "ecf-grade by period": ecf,
        "ecf-monthly by month": ecf,
        "fide by month": {"elochess FIDE": _elochess("elo", "fide")},
        "uschess by event": {"elochess US Chess": _elochess("uscf", "uschess")},
    }


def speed_lines(name: str, columns: Columns) -> Iterator[Line]:
    """Games/s with full history, in memory, one core; who has no rival stands beside the bare Elo loop."""
    count, last = len(columns["white"]), last_games(columns, PYTHON_GAMES)
    python = _python_rivals()
    for what, run in _ours(columns):
        words, prepare = BARE.get(what, ELO)
        measured = side_by_side(count, {"ours": run, "bare": prepare(columns), "elo": ELO[1](columns)})
        paces, scheme = measured["ours"], f"{what}, with history"
        yield line("scheme-compiled", name, paces, measured["bare"], what=scheme, rival=words)
        if what in ELSEWHERE:
            yield line("scheme-elsewhere", name, paces, ELSEWHERE[what], what=scheme)
            here = [ELSEWHERE[what] / LOOP_ELSEWHERE * elo for elo in measured["elo"]]
            yield line("scheme-rust", name, paces, here, what=scheme)
        for rival, make in python.get(what, {}).items():
            rival_pace = pace(len(last["white"]), make(last), 1)
            yield line("scheme-python", name, paces, rival_pace, what=scheme, rival=rival)


def _ours(columns: Columns) -> Iterator[tuple[str, Run]]:
    for what, scheme, numbers, declared in variants():
        yield what, scheme_run(columns, scheme, numbers, shown(columns) if declared else None)
    glicko2 = schemes.named("glicko2")
    yield BY_GAME, rating_run(singly(columns), glicko2, glicko2.numbers_from({}))


def accuracy_lines(name: str, columns: Columns) -> Iterator[Line]:
    """Log-loss and Brier's score of every scheme before each game, beside who has the same system, or knows nothing."""
    score, rivals = columns["score"], _foretellers()
    even = np.full(len(score), 0.5)
    for what, scheme, numbers, declared in variants():
        errors = judged(columns, scheme, numbers, shown(columns) if declared else None)
        packages = {rival: foretell for rival, foretell in rivals.get(what, {}).items() if installed(rival.split()[0])}
        rivals_of = {"an even score for both": lambda _: even, **packages}
        for rival, foretold in rivals_of.items():
            expected = foretold(columns)
            measures = zip(("log-loss", "Brier"), (forecasts.log_loss, forecasts.brier), errors, strict=True)
            for unit, measure, error in measures:
                expects = f"{what}, error of what it expects"
                rival_error = measure(expected, score)
                yield line("scheme-accuracy", name, error, rival_error, what=expects, rival=rival, unit=unit)


def _foretellers() -> dict[str, dict[str, Callable[[Columns], Any]]]:
    def riix(system: str, steps: str, **settings: Any) -> Callable[[Columns], Any]:
        return lambda columns: rival_ratings.riix_expected(rival_ratings.riix(columns, system, steps, **settings))

    def elote(system: str) -> Callable[[Columns], Any]:
        return lambda columns: rival_ratings.elote_expected(rival_ratings.elote(columns, system))

    return {
        "elo by game": {"riix Elo": riix("Elo", "game"), "elote Elo": elote("Elo")},
        "glicko by week": {
            "riix Glicko, by week": riix("Glicko", "week", update_method="batched", c=30.3),
            "elote Glicko, by game": elote("Glicko"),
        },
        "glicko2 by week": {
            "riix Glicko-2, by week": riix("Glicko2", "week", update_method="batched"),
            "elote Glicko-2, by game": elote("Glicko2"),
        },
        "ecf-monthly by month": {"elote ECF, by game": elote("ECF")},
    }


def agreement_lines(name: str, columns: Columns) -> Iterator[Line]:
    """How far our ratings are from riix's after the last games, at most, points: the same system, written by others."""
    if not installed("riix"):
        return
    part = last_games(columns, AGREEING_GAMES)
    glicko, glicko2, lichess = (schemes.named(system) for system in ("glicko", "glicko2", "lichess"))
    weekly, dense = cut(part, glicko, glicko.numbers_from(WEEKLY["glicko"])), "week with games"
    weekly = weekly._replace(period=np.arange(float(len(weekly.period))))
    unlimited = lichess.numbers_from(UNLIMITED)
    cases = (
        (
            "Glicko by week",
            glicko,
            glicko.numbers_from(WEEKLY["glicko"] | {"rd_floor": 0}),
            weekly,
            1e-6,
            rival_ratings.riix(part, "Glicko", dense, update_method="batched", c=30.3),
        ),
        (
            "Glicko-2 by week",
            glicko2,
            glicko2.numbers_from(WEEKLY["glicko2"]),
            weekly,
            5e-4,
            rival_ratings.uncapped(rival_ratings.riix(part, "Glicko2", dense, update_method="batched")),
        ),
        (
            "Glicko-2 by game",
            lichess,
            unlimited,
            cut(part, lichess, unlimited),
            4e-7,
            rival_ratings.riix(part, "Glicko2", "one"),
        ),
    )
    for what, scheme, numbers, games, wanted, prepared in cases:
        model = rival_ratings.riix_run(prepared)()
        riix_ratings = model.ratings if scheme is glicko else 1500.0 + bare_ratings.SCALE * model.mus
        farthest = float(np.abs(ratings(rating_run(games, scheme, numbers)(), scheme) - riix_ratings).max())
        yield line("scheme-agreement", name, max(farthest, 1e-15), wanted, what=f"{what}, farthest from riix")
