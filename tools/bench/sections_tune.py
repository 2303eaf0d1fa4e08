"""Section ``tune``: what a trial of settings costs, and whether studies find planted settings, and none by chance."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from ledger.answers.comparing.comparison import Comparison, compare
from ledger.answers.comparing.replaying import candidate
from ledger.answers.comparing.study import CURRENT, NO_DIFFERENCE, Study, tune
from ledger.ledger import Ledger

from .. import output
from .datasets import Run, write_club
from .measuring import Figure, both_lines, cost_of, in_turns
from .ours import take_csv
from .table import Line, line

SCHEME, VARIED = "glicko", {"c": ("5", "80"), "initial_rd": ("150", "350")}
TRIALS = 40
PLANTED, ADOPTED = "16", "40"  # K of Elo by which a club's results are drawn, and another one
K_RANGE, NEAR_PLANTED = ("4", "80"), (10.0, 22.0)
CLUB_GAMES = 6_000


def tuning(run: Run) -> Iterator[Line]:
    """Yield one trial compared with a comparison of its scheme, then the findings of studies of made-up clubs."""
    yield from _trials(run)
    for name, adopted, first_seed in (("tune-planted", ADOPTED, 0), ("tune-null", PLANTED, 100)):
        right = 0
        for seed in range(run.size.clubs):
            study = run.apart(partial(_study, first_seed + seed, adopted))
            is_right = is_planted(study) if name == "tune-planted" else has_no_winner(study)
            right += is_right
            output.remark(f"{name}: club {seed + 1} of {run.size.clubs}, {right} right")
        yield line(name, f"{CLUB_GAMES:,} games each", run.size.clubs, right)


def _trials(run: Run) -> Iterator[Line]:
    with run.real.open() as ledger:

        def one_trial() -> Figure:
            studies: list[Study] = []
            cost = cost_of(lambda: studies.append(tune(ledger, SCHEME, VARIED, trials=TRIALS)))
            trials = len(studies[0].trials)  # a search that is at its end tries no more
            return Figure(cost.clock / trials, cost.cpu / trials)

        def comparison() -> tuple[Figure, float]:
            made: list[Comparison] = []
            cost = cost_of(lambda: made.append(compare(ledger, [candidate(SCHEME)], timer=time.thread_time)))
            return cost, made[0].schemes[0].seconds

        measured: dict[str, Any] = in_turns({"trial": one_trial, "compare": comparison}, run.rounds)
        costs, seconds = zip(*measured["compare"], strict=True)
        yield from both_lines("tune-trial", run.real.name, measured["trial"], costs)
        yield line("tune-replay", run.real.name, [cost.cpu for cost in measured["trial"]], seconds)


def _study(seed: int, adopted: str, folder: Path) -> Study:
    games = folder / "club.csv"
    write_club(games, seed, CLUB_GAMES, PLANTED)
    with Ledger.create(folder / "club.db", scheme="elo", settings={"k": adopted}) as ledger:
        take_csv(ledger, games)
        ledger.catch_up()
        return tune(ledger, "elo", {"k": K_RANGE}, trials=TRIALS, seed=seed)


def is_planted(study: Study) -> bool:
    """Return whether the best K is near the one by which the results were drawn."""
    low, high = NEAR_PLANTED
    return low <= float(study.varied[0].best) <= high


def has_no_winner(study: Study) -> bool:
    """Return whether no settings are judged better than the current ones."""
    (verdict,) = (each.verdict for each in study.judgements if each.which == CURRENT)
    return verdict in {None, NO_DIFFERENCE}
