"""Other people's rating loops and codecs, each measured at its best on this machine. Nothing here prints.

Every rating rival gets the columns of ``synthetic`` and computes the same thing: Elo with K = 32, 1500 points
at the start and 10**(d/400), one game after the other. What it needs is prepared outside the measured time;
it runs once to warm up and then ``runs`` times, and the median counts. Packages are imported when a rival is
run.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from ledger.runtime.lazy import nb, np

from .measuring import cost_of, in_turns

if TYPE_CHECKING:
    import numpy.typing as npt

    from .synthetic import Columns

K = 32.0
START = 1500.0
WEEK = 7 * 86_400_000

Run = Callable[[], Any]


def riix_elo(columns: Columns, *, limit: int = 1_000_000, runs: int = 3) -> float:
    """Games per second of riix's ``Elo`` over the first ``limit`` games; final ratings only, no history.

    Its loader joins names through Polars without keeping the order of the games, so the data set is built by
    its own ``MatchupDataset.init_from_arrays``, in date order, with its default rating period of a week and
    its default ``iterative`` update (``batched`` is another formula: all games of a period at once). A data
    set can be walked any number of times; the model is new in each run.
    """
    part = head(columns, limit)
    return pace(len(part["white"]), riix_run(part), runs)


def dict_elo(columns: Columns, *, limit: int = 500_000, runs: int = 3) -> float:
    """Games per second of plain Python, a dictionary and three lists, over the first ``limit`` games."""
    part = head(columns, limit)
    return pace(len(part["white"]), dict_run(part), runs)


def sha256_each(bodies: Sequence[bytes]) -> None:
    """Digest bodies one by one: no leaf, no tree, nothing kept."""
    digest = hashlib.sha256
    for body in bodies:
        digest(body).digest()


def python_chess_parse(path: Path, limit: int | None = None) -> float:
    """Games per second of python-chess's full parse, ``chess.pgn.read_game``: every move is checked and made.

    One pass over the file, up to ``limit`` games, after one game to warm up; reading the file is part of it.
    """
    pgn = importlib.import_module("chess.pgn")
    with path.open(encoding="utf-8") as file:
        pgn.read_game(file)
        file.seek(0)
        count = 0
        start = perf_counter()
        while (limit is None or count < limit) and pgn.read_game(file) is not None:
            count += 1
        return count / (perf_counter() - start)


def pace(count: int, run: Run, runs: int) -> float:
    """Run once to warm up, then ``runs`` times; ``count`` divided by the median of the seconds."""
    run()
    seconds = []
    for _ in range(runs):
        start = perf_counter()
        run()
        seconds.append(perf_counter() - start)
    return count / statistics.median(seconds)


def side_by_side(count: int, runs: Mapping[str, Run], times: int = 7) -> dict[str, list[float]]:
    """Paces of several, run in turns after a warm-up of each; *count* divided by the seconds of each round."""
    for run in runs.values():
        run()
    taken = in_turns({name: partial(cost_of, run) for name, run in runs.items()}, times)
    return {name: [count / cost.clock for cost in costs] for name, costs in taken.items()}


def installed(package: str) -> bool:
    """Whether a rival is there; where it is not, its lines are left out."""
    return importlib.util.find_spec(package) is not None


def head(columns: Columns, limit: int) -> Columns:
    """Give the first ``limit`` games."""
    return {name: column[:limit] for name, column in columns.items()}


def evalica_run(columns: Columns) -> Run:
    """Prepare evalica's Rust core; a run returns the final rating of each player, no history.

    The lowest level of evalica 0.4.2 is ``evalica._brzo.elo``. It is twice as fast on NumPy arrays (uint64
    players, uint8 winners, float64 weights: borrowed, not copied) as on lists, and about twenty times as fast
    as the public ``evalica.elo``, which indexes names and sorts a pandas series around the same call. Only
    the call is measured.
    """
    brzo = importlib.import_module("evalica._brzo")
    white, black = columns["white"].astype(np.uint64), columns["black"].astype(np.uint64)
    score = columns["score"]
    winners = np.where(score == 0.5, 0, np.where(score == 1.0, 1, 2)).astype(np.uint8)
    weights, total = np.ones(len(score)), players_of(columns)
    settings = {"initial": START, "base": 10.0, "scale": 400.0, "k": K, "win_weight": 1.0, "tie_weight": 0.5}
    return lambda: brzo.elo(white, black, winners, weights, total, **settings)


def riix_run(columns: Columns) -> Run:
    """Prepare riix; a run returns the final rating of each player."""
    elo = importlib.import_module("riix.models.elo").Elo
    dataset_type = importlib.import_module("riix.utils").MatchupDataset
    competitors = [f"p{number:06d}" for number in range(players_of(columns))]
    ended_at = columns["ended_at"]
    dataset = dataset_type.init_from_arrays(
        time_steps=((ended_at - ended_at[0]) // WEEK).astype(np.int32),
        matchups=np.column_stack([columns["white"], columns["black"]]),
        outcomes=columns["score"],
        competitors=competitors,
    )

    def run() -> Any:
        model = elo(competitors, initial_rating=START, k=K, alpha=math.log(10.0) / 400.0)
        model.fit_dataset(dataset)
        return model.ratings

    return run


def numba_run(columns: Columns, *, history: bool) -> Run:
    """Prepare the bare loop compiled by Numba: no rules, no eligibility, ``pow`` of the platform.

    A run returns the final rating of each player. ``history`` also writes both new ratings of each game into an array
    that is there already and was touched in the warm-up, as was the compiler.
    """
    white, black, score = columns["white"], columns["black"], columns["score"]
    total = players_of(columns)
    ratings_after = np.empty((len(white), 2))

    def run() -> Any:
        ratings = np.full(total, START)
        if history:
            _compiled(_loop_with_history)(white, black, score, ratings, ratings_after)
        else:
            _compiled(_loop)(white, black, score, ratings)
        return ratings

    return run


def numba_columns_run(columns: Columns) -> Run:
    """``numba_run`` that keeps the columns that our rows have: rating before and after, what was expected, which game.

    The arrays are there already and were touched in the warm-up, as was the compiler.
    """
    white, black, score = columns["white"], columns["black"], columns["score"]
    total, sides = players_of(columns), 2 * len(white)
    before, expected, after, n = np.empty(sides), np.empty(sides), np.empty(sides), np.empty(sides, np.int32)

    def run() -> Any:
        ratings, games = np.full(total, START), np.zeros(total, np.int32)
        _compiled(_loop_with_columns)(white, black, score, ratings, games, before, expected, after, n)
        return ratings

    return run


def dict_run(columns: Columns) -> Run:
    """Prepare the dictionary loop; a run returns the ratings by player number."""
    white, black, score = (columns[name].tolist() for name in ("white", "black", "score"))

    def run() -> dict[int, float]:
        ratings: dict[int, float] = {}
        for w, b, s in zip(white, black, score, strict=True):
            rating_w, rating_b = ratings.get(w, START), ratings.get(b, START)
            change = K * (s - 1.0 / (1.0 + 10.0 ** ((rating_b - rating_w) / 400.0)))
            ratings[w] = rating_w + change
            ratings[b] = rating_b - change
        return ratings

    return run


def players_of(columns: Columns) -> int:
    """Count the players, whose numbers are dense from 0."""
    return 1 + int(max(columns["white"].max(), columns["black"].max()))


@cache
def _compiled(loop: Callable[..., None]) -> Callable[..., None]:
    compiled: Callable[..., None] = nb.njit(loop)
    return compiled


def _loop(white: npt.NDArray[Any], black: npt.NDArray[Any], score: npt.NDArray[Any], ratings: npt.NDArray[Any]) -> None:
    for i in range(len(white)):
        w, b = white[i], black[i]
        change = 32.0 * (score[i] - 1.0 / (1.0 + 10.0 ** ((ratings[b] - ratings[w]) / 400.0)))
        ratings[w] += change
        ratings[b] -= change


def _loop_with_history(
    white: npt.NDArray[Any],
    black: npt.NDArray[Any],
    score: npt.NDArray[Any],
    ratings: npt.NDArray[Any],
    ratings_after: npt.NDArray[Any],
) -> None:
    for i in range(len(white)):
        w, b = white[i], black[i]
        change = 32.0 * (score[i] - 1.0 / (1.0 + 10.0 ** ((ratings[b] - ratings[w]) / 400.0)))
        ratings[w] += change
        ratings[b] -= change
        ratings_after[i, 0] = ratings[w]
        ratings_after[i, 1] = ratings[b]


def _loop_with_columns(
    white: npt.NDArray[Any],
    black: npt.NDArray[Any],
    score: npt.NDArray[Any],
    ratings: npt.NDArray[Any],
    games: npt.NDArray[Any],
    before: npt.NDArray[Any],
    expected: npt.NDArray[Any],
    after: npt.NDArray[Any],
    n: npt.NDArray[Any],
) -> None:
    for i in range(len(white)):
        w, b = white[i], black[i]
        before[2 * i], before[2 * i + 1] = ratings[w], ratings[b]
        e = 1.0 / (1.0 + 10.0 ** ((ratings[b] - ratings[w]) / 400.0))
        expected[2 * i], expected[2 * i + 1] = e, 1.0 - e
        change = 32.0 * (score[i] - e)
        ratings[w] += change
        ratings[b] -= change
        after[2 * i], after[2 * i + 1] = ratings[w], ratings[b]
        games[w] += 1
        games[b] += 1
        n[2 * i], n[2 * i + 1] = games[w], games[b]
