"""Games to measure with, as columns: made up from a seed, or read from the over-the-board set.

A set of games is a dictionary of NumPy columns in rating order:

==============  =======  =====================================================================
``white``       int32    player number, dense from 0
``black``       int32    player number, never White's
``score``       float64  White's score: 0, 0.5 or 1
``ended_at``    int64    milliseconds since 1970 UTC, ascending, whole seconds, some of them tied
``half_moves``  int16    -1 where the source does not say
``checkmate``   uint8    1 where the game ended in mate
``event``       int32    number of the tournament's name; over-the-board games only, as the next two
``white_elo``   int16    rating shown beside White's name, 0 where there is none
``black_elo``   int16    the same of Black
==============  =======  =====================================================================
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ledger.runtime.lazy import np, pl

if TYPE_CHECKING:
    import numpy.typing as npt

Columns = dict[str, "npt.NDArray[Any]"]

FIRST_SECOND = int(datetime(2010, 1, 1, tzinfo=UTC).timestamp())
SECONDS = 15 * 365 * 86_400
CHUNK = 500_000
RESULTS = {1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1"}


def games(count: int, players: int, seed: int) -> Columns:
    """Make up ``count`` games of exactly ``players`` players over 15 years: the same for the same seed.

    Player i joins with White in game ``i * count / players``, so every number occurs, newcomers never stop
    coming and the early ones play most. Activity is log-normal (a tenth of the players plays more than half
    of the games), skill is normal with a deviation of 200 points, White has 30 points of advantage, and
    results are logistic with up to 25 % draws.
    """
    if not 2 <= players <= count:
        raise ValueError(f"players must be from 2 to the number of games, got {players} for {count} games")
    rng = np.random.default_rng(seed)
    skill = rng.normal(0.0, 200.0, players)
    activity = np.cumsum(np.exp(rng.normal(0.0, 1.2, players)))
    columns: Columns = {
        "white": np.empty(count, np.int32),
        "black": np.empty(count, np.int32),
        "score": np.empty(count, np.float64),
        "ended_at": _instants(rng, count),
        "half_moves": np.empty(count, np.int16),
        "checkmate": np.empty(count, np.uint8),
    }
    for part in _parts(count):
        white, black = _pairings(rng, np.arange(part.start, part.stop), activity, count)
        columns["white"][part], columns["black"][part] = white, black
        score = columns["score"][part] = _scores(rng, skill[white] - skill[black] + 30.0)
        columns["half_moves"][part], columns["checkmate"][part] = _lengths(rng, score)
    return columns


def write_csv(columns: Columns, path: Path) -> None:
    """Write ``key,white,black,result,termination,half_moves,ended_at``, half a million games at a time.

    The columns carry no termination but mate: of the other decided games every third is said to be lost on
    time.
    """
    with path.open("wb") as file:
        for part in _parts(len(columns["white"])):
            _frame(columns, part).write_csv(file, include_header=part.start == 0)


def otb_columns(path: Path) -> Columns:
    """Read ``otb_replay_strict.csv.gz`` into the same columns, in its order; a date stands for midnight."""
    small = dict.fromkeys(("plies", "white_elo", "black_elo"), pl.Int16())
    names = ["date", "event", "white_fide_id", "black_fide_id", "result", *small]
    with gzip.open(path) as file:
        frame = pl.read_csv(file.read(), columns=names, schema_overrides=small)
    sides = [frame["white_fide_id"], frame["black_fide_id"]]
    numbers = (pl.concat(sides).rank("dense") - 1).cast(pl.Int32).to_numpy()
    scores = {word: score for score, word in RESULTS.items()}
    score = frame["result"].replace_strict(scores, return_dtype=pl.Float64).to_numpy(writable=True)
    days = frame["date"].str.to_date("%Y-%m-%d").cast(pl.Datetime("ms")).cast(pl.Int64)
    return {
        "white": numbers[: len(frame)].copy(),
        "black": numbers[len(frame) :].copy(),
        "score": score,
        "ended_at": days.to_numpy(),
        "half_moves": frame["plies"].fill_null(-1).to_numpy(),
        "checkmate": np.zeros(len(frame), np.uint8),
        "event": frame["event"].fill_null("").rank("dense").cast(pl.Int32).to_numpy(),
    } | {name: frame[name].fill_null(0).to_numpy() for name in ("white_elo", "black_elo")}


def _parts(count: int) -> Iterator[slice]:
    return (slice(start, min(start + CHUNK, count)) for start in range(0, count, CHUNK))


def _instants(rng: np.random.Generator, count: int) -> npt.NDArray[Any]:
    """Ascending whole seconds in milliseconds; every fiftieth shares its second with the game before."""
    seconds = rng.integers(FIRST_SECOND, FIRST_SECOND + SECONDS, count)
    seconds.sort()
    tied = 1 + np.flatnonzero(rng.random(count - 1, np.float32) < 0.02)
    seconds[tied] = seconds[tied - 1]
    seconds *= 1000
    return seconds


def _pairings(
    rng: np.random.Generator, index: npt.NDArray[Any], activity: npt.NDArray[Any], count: int
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Draw two different players for each game from those who have joined by then, by their activity."""
    players = len(activity)
    newest = index * players // count
    joined = np.maximum(newest + 1, 2)
    white, black = (
        np.searchsorted(activity, rng.random(len(index)) * activity[joined - 1], side="right") for _ in "wb"
    )
    joins = (index - 1) * players // count != newest
    white[joins] = newest[joins]
    np.minimum(white, joined - 1, out=white)
    np.minimum(black, joined - 1, out=black)
    same = white == black
    black[same] = (black[same] + 1) % joined[same]
    return white, black


def _scores(rng: np.random.Generator, difference: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """White's scores; the chance of a draw is p(1 - p), a quarter between equals."""
    expected = 1.0 / (1.0 + np.power(10.0, difference / -400.0))
    draw = expected * (1.0 - expected)
    win = expected - draw / 2
    chance = rng.random(len(difference))
    return np.where(chance < win, 1.0, np.where(chance < win + draw, 0.5, 0.0))


def _lengths(rng: np.random.Generator, score: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Half-moves and mates: 3 % of the games have ten or fewer, a quarter of the decided ones end in mate.

    White mates with an odd half-move and Black with an even one, the fourth at the earliest (fool's mate).
    """
    count = len(score)
    half_moves = (rng.standard_gamma(4.0, count, np.float32) * 18.0).clip(11, 400).astype(np.int16)
    short = np.flatnonzero(rng.random(count, np.float32) < 0.03)
    half_moves[short] = rng.integers(0, 11, len(short), np.int16)
    mate = (score != 0.5) & (half_moves >= 4) & (rng.random(count, np.float32) < 0.25)
    odd = half_moves | 1
    half_moves = np.where(mate, np.where(score == 1.0, odd, odd - 1), half_moves).astype(np.int16)
    return half_moves, mate.astype(np.uint8)


def _frame(columns: Columns, part: slice) -> pl.DataFrame:
    frame = pl.DataFrame({name: column[part] for name, column in columns.items()})
    number = pl.int_range(part.start + 1, part.stop + 1, dtype=pl.Int64)
    ended_at = pl.col("ended_at").cast(pl.Datetime("ms"))
    on_time = pl.col("ended_at") // 1000 % 3 == 0
    termination = (
        pl.when(pl.col("checkmate") == 1)
        .then(pl.lit("checkmate"))
        .when(pl.col("score") == 0.5)
        .then(pl.lit("agreement"))
        .when(on_time)
        .then(pl.lit("time"))
        .otherwise(pl.lit("resignation"))
    )
    return frame.select(
        key=_numbered("g", number, 8),
        white=_numbered("p", pl.col("white"), 6),
        black=_numbered("p", pl.col("black"), 6),
        result=pl.col("score").replace_strict(RESULTS, return_dtype=pl.String),
        termination=termination,
        half_moves=pl.col("half_moves"),
        ended_at=ended_at.dt.strftime("%Y-%m-%dT%H:%M:%SZ"),
    )


def _numbered(letter: str, number: pl.Expr, digits: int) -> pl.Expr:
    return pl.lit(letter) + number.cast(pl.String).str.zfill(digits)
