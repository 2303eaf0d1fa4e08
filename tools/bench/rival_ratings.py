"""Other people's ratings: in plain Python, in Rust, in bare loops compiled by Numba, and in Python packages.

The compiled loops are the least that a rating system can cost here: no rules, no newcomers, no checks, the platform's
``pow``, compiled as our kernels are, all fields of both players kept after every game. A function prepares a run over
the columns of ``datasets``; only the run is timed. Elo begins at 1500 and has K = 32. The packages are each as fast as
the public interface allows:

* riix 0.0.5 works on arrays: Elo, Glicko, Glicko-2, each after every game of a period in turn (``iterative``) or after
  the period, as published (``batched``).
* elote 1.5 has an object for each player: Elo, Glicko and Glicko-2 after every game, and an ECF of its own.
* elochess 0.5 computes one player's new rating by US Chess's formula; the loop around it is ours.

Left out: skillratings (Rust) has no binding on PyPI; the ``glicko2`` of PyPI (2.1) computes another volatility than the
paper's; openskill has none of these systems.
"""

from __future__ import annotations

import importlib
from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any, NamedTuple

from ledger import schemes as built_in
from ledger.facts import periods
from ledger.facts.periods import Calendar
from ledger.runtime.kernels import compile_kernel, with_globals
from ledger.runtime.lazy import np

from .datasets import Columns
from .ours import cut
from .rival_stores import START, K

Run = Callable[[], Any]
WEEKLY = Calendar(days=7)
ESTABLISHED = 50  # games behind every rating, for formulas that ask


def players_of(columns: Columns) -> int:
    """Count the players, whose numbers are dense from 0."""
    return 1 + int(max(columns["white"].max(), columns["black"].max()))


def evalica_run(columns: Columns) -> Run:
    """Prepare evalica's Rust core, which keeps no history.

    The lowest level of evalica 0.4.2 is ``evalica._brzo.elo``. It is twice as fast on NumPy arrays (uint64 players,
    uint8 winners, float64 weights: borrowed, not copied) as on lists, and about twenty times as fast as the public
    ``evalica.elo``, which indexes names and sorts a pandas series around the same call.
    """
    elo, total = importlib.import_module("evalica._brzo").elo, players_of(columns)
    white, black = columns["white"].astype(np.uint64), columns["black"].astype(np.uint64)
    winners = np.choose((2 * columns["score"]).astype(int), [2, 0, 1]).astype(np.uint8)
    settings = {"initial": START, "base": 10.0, "scale": 400.0, "k": K, "win_weight": 1.0, "tie_weight": 0.5}
    weights = np.ones(len(winners))
    return lambda: elo(white, black, winners, weights, total, **settings)


# Compiled loops: of each system a step for one game, and the loop around it.

STARTS = {"elo": [START], "chessworld": [1400.0, 0.0, 0.0]}  # rating; rating, games and sum of game points


def loop_run(system: str, columns: Columns, *, with_columns: bool = False) -> Run:
    """Prepare a compiled loop over single games; *with_columns* it keeps the columns that our rows have."""
    start, white, black, score = STARTS[system], columns["white"], columns["black"], columns["score"]
    loop, total = _of(globals()[f"_{system}"], len(start), with_columns), players_of(columns)
    history, sides = np.empty((2 * len(white), len(start))), 2 * len(white) if with_columns else 0
    kept = np.zeros(total, np.int32), np.empty(sides), np.empty(sides), np.empty(sides, np.int32)

    def run() -> Any:
        state = np.tile(np.array(start), (total, 1))
        compile_kernel(loop)(white, black, score, *kept, state, history)
        return state

    return run


@cache
def _of(step: Callable[..., float], fields: int, columns: bool) -> Callable[..., None]:
    """Return the loop for a step and its state; Numba unrolls what a constant number counts."""
    name = f"_loop{step.__name__}{'_columns' if columns else ''}"
    return with_globals(_loop, name, _step=step, FIELDS=fields, COLUMNS=columns)


def _step(state: Any, w: int, b: int, score: float) -> float:
    """Rate a game and return White's expected score; ``_of`` puts one of the steps below in its place."""
    raise NotImplementedError


FIELDS, COLUMNS = 0, False  # of a player's state; whether the columns of our rows are kept: likewise


def _loop(
    white: Any, black: Any, score: Any, games: Any, before: Any, expected: Any, n: Any, state: Any, history: Any
) -> None:
    if COLUMNS:
        games[:] = 0
    for i in range(len(white)):
        w, b = white[i], black[i]
        if COLUMNS:
            before[2 * i], before[2 * i + 1] = state[w, 0], state[b, 0]
        e = _step(state, w, b, score[i])
        for field in range(FIELDS):
            history[2 * i, field] = state[w, field]
            history[2 * i + 1, field] = state[b, field]
        if COLUMNS:
            expected[2 * i], expected[2 * i + 1] = e, 1.0 - e
            games[w] += 1
            games[b] += 1
            n[2 * i], n[2 * i + 1] = games[w], games[b]


def _elo(state: Any, w: int, b: int, score: float) -> Any:
    e = 1.0 / (1.0 + 10.0 ** ((state[b, 0] - state[w, 0]) / 400.0))
    change = 32.0 * (score - e)
    state[w, 0] += change
    state[b, 0] -= change
    return e


def _chessworld(state: Any, w: int, b: int, score: float) -> Any:
    r_w, r_b = state[w, 0], state[b, 0]
    e = 1.0 / (1.0 + 10.0 ** ((r_b - r_w) / 400.0))
    state[w, 1] += 1.0
    state[b, 1] += 1.0
    _chessworld_side(state, w, r_b, state[b, 1], score, e)
    _chessworld_side(state, b, r_w, state[w, 1], 1.0 - score, 1.0 - e)
    return e


def _chessworld_side(state: Any, p: int, opponent: float, opponent_games: float, score: float, e: float) -> None:
    own, played = state[p, 0], state[p, 1]
    if played <= 50.0:
        state[p, 2] += min(max(opponent, own - 320.0), own + 320.0) + 400.0 * (2.0 * score - 1.0)
        state[p, 0] = state[p, 2] / played
    else:
        k = min(max(32.0 - (own - 1600.0) / 100.0, 16.0), 32.0)
        if opponent_games <= 50.0:
            k *= opponent_games / 51.0
        state[p, 0] = own + k * (score - e)


# Packages.


class Package(NamedTuple):
    """A package that is ready to rate games: ``run`` rates all and returns its state.

    ``expected`` returns White's expected score before each game (riix: before the step in which the game lies).
    """

    run: Callable[..., Any]
    expected: Callable[[], Any] = lambda: None  # of one that expects nothing


def elo_in_dicts(columns: Columns) -> Package:
    """Prepare Elo over dictionaries in Python, which keeps no history."""
    white, black, score = (columns[name].tolist() for name in ("white", "black", "score"))

    def run() -> dict[int, float]:
        ratings: dict[int, float] = {}
        for w, b, s in zip(white, black, score, strict=True):
            rating_w, rating_b = ratings.get(w, START), ratings.get(b, START)
            change = K * (s - 1.0 / (1.0 + 10.0 ** ((rating_b - rating_w) / 400.0)))
            ratings[w], ratings[b] = rating_w + change, rating_b - change
        return ratings

    return Package(run)


def riix(columns: Columns, system: str, steps: str, **settings: Any) -> Package:
    """Prepare *system* (``Elo``, ``Glicko``, ``Glicko2``); a run may change attributes of the model.

    Steps are a ``week``, a ``week with games`` (in a week without any it lets the RD of those grow who have yet to
    come), a ``game``, or ``one`` for all.
    """
    model = getattr(importlib.import_module(f"riix.models.{system.lower()}"), system)
    weeks = periods.numbers(columns["ended_at"], WEEKLY)
    numbers = {
        "week": weeks - weeks[0], "week with games": np.unique(weeks, return_inverse=True)[1],
        "game": np.arange(len(weeks)), "one": np.zeros(len(weeks)),
    }  # fmt: skip
    competitors = [f"p{number:06d}" for number in range(players_of(columns))]
    matchups = np.column_stack([columns["white"], columns["black"]])
    dataset = importlib.import_module("riix.utils").MatchupDataset.init_from_arrays(
        numbers[steps].astype(np.int64), matchups, columns["score"], competitors
    )

    def run(**changed: float) -> Any:
        made = model(competitors, **settings)
        vars(made).update(changed)
        made.fit_dataset(dataset)
        return made

    return Package(run, lambda: model(competitors, **settings).fit_dataset(dataset, return_pre_match_probs=True))


def elote(columns: Columns, system: str) -> Package:
    """Prepare *system* (``Elo``, ``Glicko``, ``Glicko2``, ``ECF``), by the week where it has periods."""
    kind, settings = getattr(importlib.import_module("elote"), f"{system}Competitor"), {"initial_rating": START}
    timed = system.startswith("Glicko")
    if timed:  # a setting of the class, which others of this process must not see
        kind = type(kind.__name__, (kind,), {"_rating_period_days": 7.0})
    if system == "Elo":
        settings["k_factor"] = K
    white, black, score, ended_at = (columns[name].tolist() for name in ("white", "black", "score", "ended_at"))
    when = [{"match_time": datetime.fromtimestamp(ms / 1000, UTC)} if timed else {} for ms in ended_at]

    def run(expected: list[float] | None = None) -> list[Any]:
        players = [kind(**settings) for _ in range(players_of(columns))]
        for w, b, s, words in zip(white, black, score, when, strict=True):
            if expected is not None:
                expected.append(players[w].expected_score(players[b]))
            if s == 0.5:
                players[w].tied(players[b], **words)
            else:
                winner, loser = (w, b) if s else (b, w)
                players[winner].beat(players[loser], **words)
        return players

    def foretell() -> Any:
        expected: list[float] = []
        run(expected)
        return np.array(expected)

    return Package(run, foretell)


def elochess(columns: Columns) -> Package:
    """Prepare US Chess's formula: each player's games of each batch together, opponents as the batch found them.

    Ratings are whole numbers, and every rating counts as based on 50 games: what the package leaves to its user (who is
    new, floors, yardsticks of the unrated) is not done.
    """
    scheme = built_in.find_scheme("uschess")
    games = cut(columns, scheme, scheme.numbers_from({}))
    white, black, score, starts = (column.tolist() for column in (games.white, games.black, games.score, games.starts))
    batches = []
    for first, last in pairwise(starts):
        met, points = defaultdict[int, list[int]](list), defaultdict[int, float](float)
        for w, b, s in zip(white[first:last], black[first:last], score[first:last], strict=True):
            for own, other, scored in ((w, b, s), (b, w, 1.0 - s)):
                met[own].append(other)
                points[own] += scored
        batches.append([(player, opponents, points[player]) for player, opponents in met.items()])
    update = importlib.import_module("elochess.uscf").UscfCalculator.update_rating

    def run() -> list[int]:
        ratings = [int(START)] * (1 + max(*white, *black))
        for batch in batches:
            new = {
                player: update(ratings[player], [ratings[other] for other in met], points, games_played=ESTABLISHED)
                for player, met, points in batch
            }
            for player, rating in new.items():
                ratings[player] = rating
        return ratings

    return Package(run)


def python_chess(path: Path, limit: int) -> int:
    """Count the games of a PGN file, *limit* at most, by ``read_game``, which checks and makes every move."""
    read_game = importlib.import_module("chess.pgn").read_game
    with path.open(encoding="utf-8") as file:
        return sum(1 for _ in takewhile(lambda _: read_game(file) is not None, range(limit)))
