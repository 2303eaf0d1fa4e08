"""Predictions of a rating scheme before each game, and measures of their quality. Pure.

Each game is predicted from both players' states at its time, then rated. A scheme that rates games in batches predicts
all of a batch from the states at its beginning. The measures, and the similarity of two orders, take NumPy arrays. A
prediction is the score expected of White, 0 to 1; the score is 0, 0.5 or 1: draws count as half a win.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import nan, sqrt
from typing import Any, NamedTuple

import attrs

from ledger.facts.json_schemas import documented
from ledger.facts.periods import DAY_MS
from ledger.ratings import engine
from ledger.ratings.engine import RateableGames, rating_loop_of, scheme_loop
from ledger.runtime.columns import FEW, Column, Columns
from ledger.runtime.kernels import compile_kernel
from ledger.runtime.lazy import np
from ledger.schemes.formulas.white_advantage import with_advantage
from ledger.schemes.scheme import POOL_SETTINGS, WHITE_ADVANTAGE, Scheme

# Names that ``scheme_loop`` gives to the loops below, each time to something else.
at: Callable[..., None]
expected_score: Callable[..., float]
listed: Callable[..., bool]
provisional: Callable[..., bool]

UNLISTED = nan  # the rating of a player whom the scheme does not list


class Predictions(NamedTuple):
    """The predictions of a rating scheme for games, and the ratings after them.

    Attributes:
        expected: the score, 0 to 1, expected of White, by game.
        unsettled: 1 if the rating of a side was provisional, by game.
        rating: rating after the game, White's then Black's of each; NaN while the scheme does not list the player.
        final: rating at the time of the last game, by player; NaN if the scheme does not list the player then.
    """

    expected: Column
    unsettled: Column
    rating: Column
    final: Column


def forecast_game(white: Any, black: Any, numbers: Any) -> tuple[float, int]:
    """Return White's expected score, and 1 if a rating is provisional, from both states at the time of the game."""
    unsettled = provisional(white, numbers) or provisional(black, numbers)  # noqa: F821
    return expected_score(white, black, numbers), 1 if unsettled else 0  # noqa: F821


def record_sides(
    game: int,
    white: int,  # noqa: ARG001
    black: int,  # noqa: ARG001
    foretold: Any,
    own: Any,
    opponent: Any,
    kept: Any,
    numbers: Any,
) -> None:
    """Store the prediction of one game, and the ratings of both players after it."""
    kept.expected[game], kept.unsettled[game] = foretold
    kept.rating[2 * game] = listed_rating(own, numbers)
    kept.rating[2 * game + 1] = listed_rating(opponent, numbers)


def listed_rating(player: Any, numbers: Any) -> float:
    """Return the rating of a player; NaN if the scheme does not list the player."""
    if listed(player, numbers):  # noqa: F821
        return player.rating  # type: ignore[no-any-return]
    return UNLISTED


def note_final_ratings(period: float, day: float, players: Any, final: Any, numbers: Any) -> None:
    """Advance all players to a time and store their ratings there."""
    for player in range(len(final)):
        at(players[player], period, day, numbers)  # noqa: F821
        final[player] = listed_rating(players[player], numbers)


@cache
def prediction_loop(scheme: Scheme) -> Callable[..., None]:
    """Return a rating loop of one scheme that also stores its predictions in ``Predictions``."""
    return rating_loop_of(scheme, listed_rating, forecast_game, record_sides)


@cache
def final_ratings_loop(scheme: Scheme) -> Callable[..., None]:
    """Return the loop of ``note_final_ratings`` for one scheme."""
    return scheme_loop(note_final_ratings, scheme, listed_rating)


def predict_and_rate(cols: Columns, scheme: Scheme, numbers: Any, games: RateableGames, state: Column) -> Predictions:
    """Predict the results of games and rate them; interpreted and compiled code give the same bits.

    Lists (``FEW``) are rated by ordinary Python, arrays (``MANY``) by a compiled loop.

    *state* is the initial state of the players, (players * fields) floats; it is changed in place.
    """
    kept = predict_games(cols, scheme, numbers, games, state)
    return kept._replace(final=final_ratings(cols, scheme, numbers, games, state))


def predict_games(
    cols: Columns,
    scheme: Scheme,
    numbers: Any,
    games: RateableGames,
    state: Column,
    fitted: engine.FittedGames | None = None,
) -> Predictions:
    """Predict and rate games, and leave the players' states as after their last games; ``final`` is empty.

    *fitted* are the games before, for a scheme by fit.
    """
    count, players = len(games.white), len(state) // len(scheme.state)
    kept = Predictions(
        cols.unfilled_floats(count), cols.zeros(count), cols.unfilled_floats(2 * count), cols.unfilled_floats(0)
    )
    engine.run_loop(cols, scheme, prediction_loop(scheme), numbers, games, state, players, kept, fitted)
    return kept


def final_ratings(cols: Columns, scheme: Scheme, numbers: Any, games: RateableGames, state: Column) -> Column:
    """Return the ratings at the time of the last game, by player as in ``Predictions``; the states are advanced."""
    final = cols.unfilled_floats(len(state) // len(scheme.state))
    if len(games.white):
        by_batch = len(games.period) > 0
        period, day = (games.period[-1], games.closing[-1]) if by_batch else (0.0, games.day[-1])
        loop = final_ratings_loop(scheme)
        settling = loop if cols is FEW else compile_kernel(loop)
        settling(float(period), float(day), engine.records(cols, scheme.player, state), final, numbers)
    return final


CLIP = 1e-6  # a prediction of 0 or 1 counts as this far from it: else one upset would cost infinitely much
BINS = 10
MOST_ADVANTAGE = POOL_SETTINGS[WHITE_ADVANTAGE].most
HALVINGS = 20  # 800 points, to less than a hundredth
RESAMPLES = 2_000
RESAMPLING_SEED = 2012


@attrs.frozen(slots=False)
class Bin:
    """A calibration bin: the games predicted within one tenth of 0 to 1, with mean prediction and mean score."""

    low: float = documented("least prediction in it, 0 to 0.9")
    high: float = documented("where the next one begins; the last one ends with 1 itself")
    games: int = documented("how many", minimum=0)
    predicted: float | None = documented("mean prediction; null: there is no game")
    scored: float | None = documented("mean score; null: there is no game")


def game_losses(expected: Any, score: Any) -> Any:
    """Return -(s ln p + (1 - s) ln(1 - p)) of each game, p at least ``CLIP`` from 0 and 1; 0.693 for a coin."""
    p = np.clip(expected, CLIP, 1.0 - CLIP)
    # ``log1p`` keeps the digits that 1 - p loses where p is small.
    return -(score * np.log(p) + (1.0 - score) * np.log1p(-p))


def log_loss(expected: Any, score: Any) -> float:
    """Return the log-loss of predictions, the mean of ``game_losses``."""
    return float(game_losses(expected, score).mean())


def weeks_of(ended_ms: Any) -> Any:
    """Return the number of the week, from Monday on, in which each game ended (UTC)."""
    return (ended_ms // DAY_MS + 3) // 7  # 1970 began on a Thursday


def interval_by_weeks(values: Any, weeks: Any) -> tuple[float, float]:
    """Return the 95 % interval of the mean of a value per game: whole weeks are resampled, for their games are alike.

    There are games of two weeks or more. The raw bits of PCG64 are the same in every release of NumPy.
    """
    _, week = np.unique(weeks, return_inverse=True)
    sums, games = np.bincount(week, weights=values), np.bincount(week)
    count, mean = len(games), float(values.mean())
    drawn = np.random.PCG64(RESAMPLING_SEED).random_raw(RESAMPLES * count).reshape(RESAMPLES, count) % np.uint64(count)
    drawn = drawn.astype(np.intp)
    low, high = np.quantile(sums[drawn].sum(axis=1) / games[drawn].sum(axis=1), (0.025, 0.975))
    # Means of weeks that are drawn again vary less than those of other weeks would, by this factor.
    wider = sqrt(count / (count - 1))
    return mean + (float(low) - mean) * wider, mean + (float(high) - mean) * wider


def brier(expected: Any, score: Any) -> float:
    """Return the Brier score: the mean of (p - s)²."""
    error = expected - score
    return float((error * error).mean())


def bias(expected: Any, score: Any) -> float:
    """Return the bias of predictions, the mean of p - s: by how much White's score was overestimated."""
    return float((expected - score).mean())


def fit_white_advantage(expected: Any, score: Any) -> float:
    """Return White's advantage with which predictions have the least log-loss, points, to a tenth.

    The log-loss has its minimum where White scores as much as was predicted, and the prediction grows with the points.
    """
    low, high = -MOST_ADVANTAGE, MOST_ADVANTAGE
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        if bias(with_advantage(expected, middle), score) < 0.0:
            low = middle
        else:
            high = middle
    return round((low + high) * 5.0) / 10.0


def calibration(expected: Any, score: Any) -> tuple[Bin, ...]:
    """Return the predictions in ten bins of equal width, each with its mean prediction and mean score."""
    # a prediction of 1 itself would begin an eleventh bin
    place = np.minimum((expected * BINS).astype(np.int64), BINS - 1)
    games = np.bincount(place, minlength=BINS).tolist()
    predicted = np.bincount(place, weights=expected, minlength=BINS).tolist()
    scored = np.bincount(place, weights=score, minlength=BINS).tolist()
    return tuple(
        Bin(i / BINS, (i + 1) / BINS, n, predicted[i] / n if n else None, scored[i] / n if n else None)
        for i, n in enumerate(games)
    )


def average_ranks(values: Any) -> Any:
    """Return the rank of each number from 1, the smallest first; equal numbers share the mean of their ranks."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return (last - (count - 1) / 2.0)[place]


def spearman(first: Any, second: Any) -> float | None:
    """Return Spearman's rank correlation of two arrays, from -1 to 1; None if it is undefined."""
    a, b = average_ranks(first), average_ranks(second)
    if not len(a):
        return None
    # twice the same subtraction: the short formula for Spearman's holds only where no two are equal
    a, b = a - a.mean(), b - b.mean()
    spread = sqrt(float((a * a).sum()) * float((b * b).sum()))
    return float((a * b).sum()) / spread if spread else None


def rank_places(values: Any) -> Any:
    """Return the rank of each number from 1, the largest first; equal numbers share a rank.

    A rank is one more than the count of larger numbers.
    """
    ordered = np.sort(values)
    return len(values) - np.searchsorted(ordered, values, side="right") + 1
