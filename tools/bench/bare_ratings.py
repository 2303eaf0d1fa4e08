"""Bare loops of well-known formulas, compiled by Numba: the least that a rating system with history can cost here.

They stand in for the Rust library skillratings, which Python cannot call: no rules, no newcomers, no checks, the
platform's ``exp`` and ``pow``, and compiled just as our kernels are. Each keeps all fields of both players after every
game. Only loops; nothing is timed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ledger.facts import periods
from ledger.facts.periods import Calendar
from ledger.runtime.kernels import compiled
from ledger.runtime.lazy import np

from .rivals import START, Run, players_of
from .synthetic import Columns

RD, VOLATILITY = 350.0, 0.06
Q = math.log(10.0) / 400.0
Q2 = Q * Q
G = 3.0 * Q2 / (math.pi * math.pi)
SCALE = 173.7178
G2 = 3.0 / (math.pi * math.pi)
TAU2, TAU, EPSILON = 0.25, 0.5, 1e-6


def glicko_run(columns: Columns) -> Run:
    """Glicko after every game, RD not growing by time; a run returns ratings and RDs, two a player."""
    return _run(_glicko, columns, [START, RD])


def glicko2_run(columns: Columns) -> Run:
    """Glicko-2, each game a period of its own; a run returns mu, phi and sigma, three a player."""
    return _run(_glicko2, columns, [0.0, RD / SCALE, VOLATILITY])


def uschess_run(columns: Columns) -> Run:
    """US Chess's standard formula after every game, without bonus; a run returns ratings and games, two a player."""
    return _run(_uschess, columns, [START, 0.0])


def chessworld_run(columns: Columns) -> Run:
    """ChessWorld's scheme with its constants, keeping the columns that our rows have.

    These are all fields after the game, the rating before it, what was expected, which game it was. A run returns
    rating, games and sum of game points, three a player.
    """
    white, black, score = columns["white"], columns["black"], columns["score"]
    total, sides = players_of(columns), 2 * len(white)
    history, before, expected, n = np.empty((sides, 3)), np.empty(sides), np.empty(sides), np.empty(sides, np.int32)

    def run() -> Any:
        state, games = np.tile(np.array([1400.0, 0.0, 0.0]), (total, 1)), np.zeros(total, np.int32)
        compiled(_chessworld)(white, black, score, state, games, history, before, expected, n)
        return state

    return run


def weekly_glicko2_run(columns: Columns) -> Run:
    """Glicko-2 by the week, RD growing by the weeks missed; a run returns mu, phi, sigma and week, four a player."""
    week = periods.numbers(columns["ended_at"], Calendar(days=7))
    first = np.concatenate([[0], 1 + np.flatnonzero(np.diff(week)), [len(week)]])
    total = players_of(columns)
    return _run(
        _weekly_glicko2,
        columns,
        [0.0, RD / SCALE, VOLATILITY, -1.0],
        first,
        week[first[:-1]] - week[0],
        np.zeros((total, 2)),
        np.empty(total, np.int64),
    )


def _run(loop: Callable[..., None], columns: Columns, start: list[float], *more: Any) -> Run:
    white, black, score = columns["white"], columns["black"], columns["score"]
    total, history = players_of(columns), np.empty((2 * len(white), len(start)))

    def run() -> Any:
        state = np.tile(np.array(start), (total, 1))
        compiled(loop)(white, black, score, *more, state, history)
        return state

    return run


def _glicko(white: Any, black: Any, score: Any, state: Any, history: Any) -> None:
    for i in range(len(white)):
        w, b = white[i], black[i]
        difference = state[w, 0] - state[b, 0]
        g_w = 1.0 / math.sqrt(1.0 + G * state[b, 1] * state[b, 1])
        g_b = 1.0 / math.sqrt(1.0 + G * state[w, 1] * state[w, 1])
        e_w = 1.0 / (1.0 + math.exp(-Q * g_w * difference))
        e_b = 1.0 / (1.0 + math.exp(Q * g_b * difference))
        precision_w = 1.0 / (state[w, 1] * state[w, 1]) + Q2 * g_w * g_w * e_w * (1.0 - e_w)
        precision_b = 1.0 / (state[b, 1] * state[b, 1]) + Q2 * g_b * g_b * e_b * (1.0 - e_b)
        state[w, 0] += Q / precision_w * g_w * (score[i] - e_w)
        state[b, 0] += Q / precision_b * g_b * (1.0 - score[i] - e_b)
        state[w, 1] = math.sqrt(1.0 / precision_w)
        state[b, 1] = math.sqrt(1.0 / precision_b)
        for field in range(2):
            history[2 * i, field] = state[w, field]
            history[2 * i + 1, field] = state[b, field]


def _uschess(white: Any, black: Any, score: Any, state: Any, history: Any) -> None:
    for i in range(len(white)):
        w, b = white[i], black[i]
        surprise = score[i] - 1.0 / (1.0 + 10.0 ** ((state[b, 0] - state[w, 0]) / 400.0))
        for p, sign in ((w, 1.0), (b, -1.0)):
            short = 2569.0 - state[p, 0]
            worth = 50.0
            if short > 214.0:
                worth = 50.0 / math.sqrt(0.662 + 0.00000739 * short * short)
            state[p, 0] += sign * surprise * 800.0 / (min(state[p, 1], worth) + 1.0)
            state[p, 1] += 1.0
        for field in range(2):
            history[2 * i, field] = state[w, field]
            history[2 * i + 1, field] = state[b, field]


def _chessworld(
    white: Any, black: Any, score: Any, state: Any, games: Any, history: Any, before: Any, expected: Any, n: Any
) -> None:
    for i in range(len(white)):
        w, b = white[i], black[i]
        r_w, r_b = state[w, 0], state[b, 0]
        e = 1.0 / (1.0 + 10.0 ** ((r_b - r_w) / 400.0))
        before[2 * i], before[2 * i + 1] = r_w, r_b
        expected[2 * i], expected[2 * i + 1] = e, 1.0 - e
        state[w, 1] += 1.0
        state[b, 1] += 1.0
        _chessworld_side(state, w, r_b, state[b, 1], score[i], e)
        _chessworld_side(state, b, r_w, state[w, 1], 1.0 - score[i], 1.0 - e)
        for field in range(3):
            history[2 * i, field] = state[w, field]
            history[2 * i + 1, field] = state[b, field]
        games[w] += 1
        games[b] += 1
        n[2 * i], n[2 * i + 1] = games[w], games[b]


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


def _glicko2(white: Any, black: Any, score: Any, state: Any, history: Any) -> None:
    for i in range(len(white)):
        w, b = white[i], black[i]
        difference = state[w, 0] - state[b, 0]
        g_w = 1.0 / math.sqrt(1.0 + G2 * state[b, 1] * state[b, 1])
        g_b = 1.0 / math.sqrt(1.0 + G2 * state[w, 1] * state[w, 1])
        e_w = 1.0 / (1.0 + math.exp(-g_w * difference))
        e_b = 1.0 / (1.0 + math.exp(g_b * difference))
        _update(state, w, g_w * (score[i] - e_w), g_w * g_w * e_w * (1.0 - e_w))
        _update(state, b, g_b * (1.0 - score[i] - e_b), g_b * g_b * e_b * (1.0 - e_b))
        for field in range(3):
            history[2 * i, field] = state[w, field]
            history[2 * i + 1, field] = state[b, field]


def _weekly_glicko2(
    white: Any, black: Any, score: Any, first: Any, week: Any, sums: Any, met: Any, state: Any, history: Any
) -> None:
    for batch in range(len(week)):
        players = 0
        for i in range(first[batch], first[batch + 1]):
            for p in (white[i], black[i]):
                if sums[p, 1] == 0.0:
                    sums[p, 1] = 1e-300  # met
                    met[players] = p
                    players += 1
                    missed = week[batch] - 1.0 - state[p, 3]
                    if missed > 0.0 and state[p, 3] >= 0.0:
                        state[p, 1] = math.sqrt(state[p, 1] * state[p, 1] + missed * state[p, 2] * state[p, 2])
                    state[p, 3] = week[batch]
        for i in range(first[batch], first[batch + 1]):
            w, b = white[i], black[i]
            difference = state[w, 0] - state[b, 0]
            g_w = 1.0 / math.sqrt(1.0 + G2 * state[b, 1] * state[b, 1])
            g_b = 1.0 / math.sqrt(1.0 + G2 * state[w, 1] * state[w, 1])
            e_w = 1.0 / (1.0 + math.exp(-g_w * difference))
            e_b = 1.0 / (1.0 + math.exp(g_b * difference))
            sums[w, 0] += g_w * (score[i] - e_w)
            sums[b, 0] += g_b * (1.0 - score[i] - e_b)
            sums[w, 1] += g_w * g_w * e_w * (1.0 - e_w)
            sums[b, 1] += g_b * g_b * e_b * (1.0 - e_b)
        for j in range(players):
            p = met[j]
            _update(state, p, sums[p, 0], sums[p, 1])
            sums[p, 0] = sums[p, 1] = 0.0
        for i in range(first[batch], first[batch + 1]):
            for field in range(4):
                history[2 * i, field] = state[white[i], field]
                history[2 * i + 1, field] = state[black[i], field]


def _volatility(sigma: float, phi2: float, v: float, delta2: float) -> float:
    """Step 5 of the paper as it stands there."""
    a = math.log(sigma * sigma)
    low = a
    if delta2 > phi2 + v:
        high = math.log(delta2 - phi2 - v)
    else:
        high = a - TAU
        while _f(high, a, phi2, v, delta2) < 0.0:
            high -= TAU
    f_low, f_high = _f(low, a, phi2, v, delta2), _f(high, a, phi2, v, delta2)
    while abs(high - low) > EPSILON:
        middle = low + (low - high) * f_low / (f_high - f_low)
        f_middle = _f(middle, a, phi2, v, delta2)
        if f_middle * f_high <= 0.0:
            low, f_low = high, f_high
        else:
            f_low *= 0.5
        high, f_high = middle, f_middle
    return math.exp(low * 0.5)


def _f(x: float, a: float, phi2: float, v: float, delta2: float) -> float:
    e = math.exp(x)
    whole = phi2 + v + e
    return e * (delta2 - whole) / (2.0 * whole * whole) - (x - a) / TAU2


def _update(state: Any, p: int, improvement: float, information: float) -> None:
    """Steps 5 to 8 for one player."""
    v, phi2 = 1.0 / information, state[p, 1] * state[p, 1]
    delta = v * improvement
    sigma = _volatility(state[p, 2], phi2, v, delta * delta)
    after = 1.0 / (1.0 / (phi2 + sigma * sigma) + information)
    state[p, 0] += after * improvement
    state[p, 1] = math.sqrt(after)
    state[p, 2] = sigma
