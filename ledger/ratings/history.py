"""The rating history, the ledger's own table: a row for each side of each rated game, with the scheme's whole state.

It also keeps the counts that a summary or a graph needs, folded as a projector folds. Every ledger has it, whatever
projectors are installed beside it. HERA is the "Highest Ever Rating Achieved" of the ChessWorld FAQ: "based upon
your achievement after completing 50 rated games".
"""

from __future__ import annotations

from math import nan
from typing import Any

from ledger.ratings.projector import Kept, Projector
from ledger.schemes.scheme import Seed

HERA_FROM = 50
WINS, DRAWS, LOSSES, TIME_LOSSES, SUM, SQUARES, HERA, HERA_N, GAMES_BEFORE, RESTART, GAMES_UNTIL = range(11)


def counts_for_hera(n: float, games_before: float) -> bool:
    """Whether a highest rating counts after the n-th game of who had so many games before the first one that counts."""
    return n + games_before >= HERA_FROM


def step(state: Any, p: int, columns: Any, side: int) -> None:
    """Count one side of a game: result, loss on time, sums of the rating, highest rating from game 50 on.

    Games that a seed tells of count among the 50, and the highest rating that it tells of stands until it is passed.
    Where everybody begins anew the 50 are games of the new system, as its provisional games are: "HERA is based upon
    your achievement after completing 50 rated games", and "there is no direct comparison with the previous system".
    """
    n, half_points, lost_on_time, ratings, restart = columns
    rating = ratings[side]
    if restart[side] != state[p + RESTART]:
        until = n[side] - 1.0
        state[p + GAMES_BEFORE] += state[p + GAMES_UNTIL] - until
        state[p + GAMES_UNTIL] = until
        state[p + RESTART] = restart[side]
    if half_points[side] == 2:
        state[p + WINS] += 1.0
    elif half_points[side] == 1:
        state[p + DRAWS] += 1.0
    else:
        state[p + LOSSES] += 1.0
    state[p + TIME_LOSSES] += lost_on_time[side]
    state[p + SUM] += rating
    state[p + SQUARES] += rating * rating
    hera = state[p + HERA]
    if counts_for_hera(n[side], state[p + GAMES_BEFORE]) and (hera != hera or rating > hera):  # noqa: PLR0124 (NaN: none yet)
        state[p + HERA] = rating
        state[p + HERA_N] = n[side]


def begun(fold: Projector, seed: Seed | None) -> list[float]:
    """The running state of a fold before a player's first game; that of the history knows the player's past."""
    state = [kept.start for kept in fold.state]
    if fold is HISTORY and seed is not None:
        state[GAMES_BEFORE] = seed.games or 0.0
        highest = highest_of(seed)
        if highest is not None:
            state[HERA] = highest
    return state


def highest_of(seed: Seed) -> float | None:
    """The HERA that a player brings along: what the list says, or its rating where that stands on enough games."""
    return seed.peak if seed.highest is not None or (seed.games or 0.0) >= HERA_FROM else None


HISTORY = Projector(
    name="history",
    version=4,
    settings={"hera_from": HERA_FROM},
    stores=(
        "game",
        "ended_ms",
        "opponent",
        "opponent_n",
        "colour",
        "half_points",
        "rating",
        "rating_before",
        "expected_score",
    ),
    takes=("n", "half_points", "lost_on_time", "rating", "restart"),
    state=(
        Kept("wins", "INTEGER", 0.0, "rated games won so far"),
        Kept("draws", "INTEGER", 0.0, "rated games drawn so far"),
        Kept("losses", "INTEGER", 0.0, "rated games lost so far"),
        Kept("time_losses", "INTEGER", 0.0, "of these, lost by overstepping the time"),
        Kept("rating_sum", "REAL", 0.0, "sum of the ratings after each game, points"),
        Kept("rating_squares", "REAL", 0.0, "sum of their squares"),
        Kept("hera", "REAL", nan, "highest rating after 50 or more rated games, points; NULL before"),
        Kept("hera_n", "INTEGER", 0.0, "the game it was first reached in; 0 for none, and for that of a seed"),
        Kept("games_before", "INTEGER", 0.0, "what n is short of the games that count for HERA: a seed's, less older"),
        Kept("restart", "INTEGER", 0.0, "place in the timeline of the scheme with which all began anew, or 0"),
        Kept("games_until_restart", "INTEGER", 0.0, "rated games before that"),
    ),
    step=step,
)
