"""Games to measure with, as NumPy columns in rating order: made up from a seed, or read from over-the-board games.

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
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ledger.runtime.lazy import np, pl

if TYPE_CHECKING:
    import numpy.typing as npt

Columns = dict[str, "npt.NDArray[Any]"]

FIRST_SECOND = int(datetime(2010, 1, 1, tzinfo=UTC).timestamp())
SECONDS = 15 * 365 * 86_400
END_MS = (FIRST_SECOND + SECONDS) * 1000
RESULTS = {1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1"}
PLAYERS = 13  # of a made-up tournament
GAMES_OF_A_PLAYER = 60  # in made-up tournaments, about


def games(count: int, players: int, seed: int) -> Columns:
    """Make up ``count`` games of exactly ``players`` players over 15 years: the same for the same seed.

    Player i joins with White in game ``i * count / players``, so every number occurs, new players never stop coming and
    the early ones play most. Activity is log-normal (a tenth of the players plays more than half of the games), skill
    is normal with a deviation of 200 points, White has 30 points of advantage, and results are logistic with up to
    25 % draws. 3 % of the games have ten half-moves or fewer, a quarter of the decided ones end in mate.
    """
    if not 2 <= players <= count:
        raise ValueError(f"players must be from 2 to the number of games, got {players} for {count} games")
    rng = np.random.default_rng(seed)
    skill = rng.normal(0.0, 200.0, players)
    seconds = np.sort(rng.integers(FIRST_SECOND, FIRST_SECOND + SECONDS, count))
    tied = 1 + np.flatnonzero(rng.random(count - 1, np.float32) < 0.02)
    seconds[tied] = seconds[tied - 1]
    white, black = _pairings(rng, count, np.cumsum(np.exp(rng.normal(0.0, 1.2, players))))
    expected = 1.0 / (1.0 + np.power(10.0, (skill[white] - skill[black] + 30.0) / -400.0))
    draw, chance = expected * (1.0 - expected), rng.random(count)  # the chance of a draw: a quarter between equals
    win = expected - draw / 2
    score = np.where(chance < win, 1.0, np.where(chance < win + draw, 0.5, 0.0))
    half_moves = (rng.standard_gamma(4.0, count, np.float32) * 18.0).clip(11, 400).astype(np.int16)
    short = np.flatnonzero(rng.random(count, np.float32) < 0.03)
    half_moves[short] = rng.integers(0, 11, len(short), np.int16)
    mate = (score != 0.5) & (half_moves >= 4) & (rng.random(count, np.float32) < 0.25)  # the fourth: fool's mate
    half_moves = np.where(mate, (half_moves | 1) - (score == 0.0), half_moves)  # White mates with an odd half-move
    return {
        "white": white.astype(np.int32),
        "black": black.astype(np.int32),
        "score": score,
        "ended_at": seconds * 1000,
        "half_moves": half_moves.astype(np.int16),
        "checkmate": mate.astype(np.uint8),
    }


def _pairings(rng: np.random.Generator, count: int, activity: npt.NDArray[Any]) -> tuple[Any, Any]:
    """Draw two different players for each game from those who have joined by then, by their activity."""
    players, index = len(activity), np.arange(count)
    newest = index * players // count
    joined = np.maximum(newest + 1, 2)
    white, black = (np.searchsorted(activity, rng.random(count) * activity[joined - 1], side="right") for _ in "wb")
    joins = (index - 1) * players // count != newest
    white[joins] = newest[joins]
    np.minimum(white, joined - 1, out=white)
    np.minimum(black, joined - 1, out=black)
    same = white == black
    black[same] = (black[same] + 1) % joined[same]
    return white, black


def write_csv(columns: Columns, path: Path) -> None:
    """Write ``key,white,black,result,termination,half_moves,ended_at``.

    The columns carry no termination but mate: of the other decided games every third is said to be lost on time.
    """
    termination = (
        pl.when(pl.col("checkmate") == 1)
        .then(pl.lit("checkmate"))
        .when(pl.col("score") == 0.5)
        .then(pl.lit("agreement"))
        .when(pl.col("ended_at") // 1000 % 3 == 0)
        .then(pl.lit("time"))
        .otherwise(pl.lit("resignation"))
    )
    pl.DataFrame(columns).select(
        key=_numbered("g", pl.int_range(1, pl.len() + 1), 8),
        white=_numbered("p", pl.col("white"), 6),
        black=_numbered("p", pl.col("black"), 6),
        result=pl.col("score").replace_strict(RESULTS, return_dtype=pl.String),
        termination=termination,
        half_moves=pl.col("half_moves"),
        ended_at=pl.col("ended_at").cast(pl.Datetime("ms")).dt.strftime("%Y-%m-%dT%H:%M:%SZ"),
    ).write_csv(path)


def _numbered(letter: str, number: pl.Expr, digits: int) -> pl.Expr:
    return pl.lit(letter) + number.cast(pl.String).str.zfill(digits)


def write_tournaments(path: Path, count: int) -> None:
    """Write made-up games in the form of the over-the-board file: tournaments in which everybody plays everybody."""
    pairs = sorted(((white, black) for white in range(PLAYERS) for black in range(white)), key=sum)
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.write("game_no,date,event,round,white_fide_id,black_fide_id,result,white_elo,black_elo,plies\n")
        for game in range(count):
            event, place = divmod(game, len(pairs))
            first = event * 5 % max(1, count // GAMES_OF_A_PLAYER)  # the field moves on by five from event to event
            white, black = (1 + first + player for player in pairs[place])
            result = tuple(RESULTS.values())[(white * black + event) % 3]
            day = date(2000, 1, 1) + timedelta(days=event * 20 * 365 // (1 + count // len(pairs)))
            shown = f"{1500 + white % 900},{1500 + black % 900 if black % 2 else ''}"
            file.write(f"{game + 1},{day},Open {event},1,{white},{black},{result},{shown},{20 + place}\n")


def otb_columns(path: Path) -> Columns:
    """Read a file of over-the-board games in its order; a date stands for midnight."""
    small = dict.fromkeys(("plies", "white_elo", "black_elo"), pl.Int16())
    names = ["date", "event", "white_fide_id", "black_fide_id", "result", *small]
    with gzip.open(path) as file:
        frame = pl.read_csv(file.read(), columns=names, schema_overrides=small)
    numbers = pl.concat([frame["white_fide_id"], frame["black_fide_id"]]).rank("dense").cast(pl.Int32).to_numpy() - 1
    scores = {word: score for score, word in RESULTS.items()}
    return {
        "white": numbers[: len(frame)].copy(),
        "black": numbers[len(frame) :].copy(),
        "score": frame["result"].replace_strict(scores, return_dtype=pl.Float64).to_numpy(writable=True),
        "ended_at": frame["date"].str.to_date("%Y-%m-%d").cast(pl.Datetime("ms")).cast(pl.Int64).to_numpy(),
        "half_moves": frame["plies"].fill_null(-1).to_numpy(),
        "checkmate": np.zeros(len(frame), np.uint8),
        "event": frame["event"].fill_null("").rank("dense").cast(pl.Int32).to_numpy(),
    } | {name: frame[name].fill_null(0).to_numpy() for name in ("white_elo", "black_elo")}
