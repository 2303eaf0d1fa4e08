"""Whole-history rating: its contract, the fit against a solver of its own, and deviations that hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ledger.ratings import engine
from ledger.ratings.engine import RateableGames
from ledger.runtime.columns import FEW, MANY
from ledger.schemes.scheme import Newcomer, Scheme
from ledger.schemes.settings import replace_settings
from ledger.schemes.whole_history import DEFAULT, MONTH, SCHEME
from ledger.testing.kit import bit_patterns
from ledger.testing.scheme_contract import FIRST_DAY, SchemeContract

Q = np.log(10.0) / 400.0
NINETY_PER_CENT = 1.6448536  # standard deviations to each side of the mean of a normal distribution


class TestWholeHistory(SchemeContract):
    settings = ({}, {"w2": 40, "sweeps": 1, "initial_rd": 150, "listed_rd": 60})
    batches = (1, 300, 90, 500, 2, 200)

    def make(self) -> Scheme:
        return SCHEME


def generated(seed: int, players: int, lists: int, games: int) -> tuple[RateableGames, Any]:
    """Return so many games a list between players whose strength is a Wiener process; and the strengths, by list."""
    random = np.random.default_rng(seed)
    change = np.sqrt(DEFAULT.w2) * random.standard_normal((lists, players))
    change[0] = DEFAULT.initial + DEFAULT.initial_rd * random.standard_normal(players)
    strength = change.cumsum(axis=0)
    white = random.integers(0, players, (lists, games))
    black = (white + random.integers(1, players, (lists, games))) % players
    of_list = np.arange(lists)[:, None]
    expected = 1.0 / (1.0 + np.exp(-Q * (strength[of_list, white] - strength[of_list, black])))
    score = random.random((lists, games)) < expected
    closing = FIRST_DAY + MONTH * np.arange(float(lists))
    columns = white.ravel().astype(np.int32), black.ravel().astype(np.int32), score.ravel().astype(float)
    starts = games * np.arange(lists + 1)
    return RateableGames(*columns, np.repeat(closing, games), starts, np.arange(float(lists)), closing), strength


def rated(games: RateableGames, players: int, numbers: Any = DEFAULT, cols: Any = FEW) -> Any:
    """Return rating and deviation of both players after each game."""
    newcomers = [Newcomer(None, None, FIRST_DAY)] * players
    state = cols.float64_column(engine.initial_states(SCHEME, numbers, newcomers))
    if cols is FEW:
        games = games._replace(**{name: column.tolist() for name, column in games._asdict().items() if len(column)})
    kept = engine.rate(cols, SCHEME, numbers, games, state, cols.zeros(players))
    return np.reshape(kept.history, (-1, 2, len(SCHEME.state)))[:, :, :2]


def solved(games: RateableGames, advantage: float = 0.0) -> tuple[Any, Any, Any]:
    """Maximise the posterior density by Newton's method with the whole matrix: nodes of White and of Black, ratings."""
    batch = np.repeat(np.arange(len(games.period)), np.diff(games.starts))
    sides = np.stack([np.concatenate([games.white, games.black]), np.concatenate([batch, batch])])
    nodes, place = np.unique(sides, axis=1, return_inverse=True)
    white, black = place.reshape(2, -1)
    count = nodes.shape[1]
    prior = np.zeros((count, count))
    for node, (player, when) in enumerate(nodes.T):
        if node == 0 or nodes[0, node - 1] != player:
            prior[node, node] += 1.0 / DEFAULT.initial_rd**2
        else:
            tie = 1.0 / (DEFAULT.w2 * (when - nodes[1, node - 1]))
            prior[node - 1 : node + 1, node - 1 : node + 1] += tie * np.array([[1.0, -1.0], [-1.0, 1.0]])
    meets = np.zeros((len(white), count))
    meets[np.arange(len(white)), white] += 1.0
    meets[np.arange(len(white)), black] -= 1.0
    rating = np.zeros(count)  # from the initial one
    for _ in range(30):
        expected = 1.0 / (1.0 + np.exp(-Q * (meets @ rating + advantage)))
        slope = Q * meets.T @ (games.score - expected) - prior @ rating
        curvature = prior + Q * Q * (meets.T * (expected * (1.0 - expected))) @ meets
        rating += np.linalg.solve(curvature, slope)
    assert abs(slope).max() < 1e-12
    return white, black, DEFAULT.initial + rating


@pytest.mark.slow
@pytest.mark.parametrize("advantage", [0.0, 35.0])
def test_many_sweeps_come_to_the_ratings_of_an_independent_solver(advantage: float) -> None:
    games, _ = generated(1, 12, 6, 20)
    history = rated(games, 12, replace_settings(DEFAULT, sweeps=1000.0, advantage=advantage), MANY)
    last = slice(games.starts[-2], None)
    white, black, expected = solved(games, advantage)
    assert history[last, 0, 0] == pytest.approx(expected[white[last]], abs=1e-6)
    assert history[last, 1, 0] == pytest.approx(expected[black[last]], abs=1e-6)


def test_the_sweeps_of_new_pools_come_to_a_fifth_of_a_deviation_from_them() -> None:
    games, _ = generated(2, 24, 6, 40)
    last = slice(games.starts[-2], None)
    white, _, expected = solved(games)
    history = rated(games, 24)[last, 0]
    assert np.mean(np.abs(history[:, 0] - expected[white[last]]) / history[:, 1]) < 0.2


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_intervals_of_90_per_cent_cover_88_to_92_per_cent_of_generated_strengths(seed: int) -> None:
    """Of each player on each of 24 lists: some 45,000 intervals, of 2,000 players independently."""
    games, strength = generated(seed, 2_000, 24, 3_000)
    history = rated(games, 2_000, cols=MANY)
    lists = np.repeat(np.arange(24), 3_000)[:, None]
    players = np.stack([games.white, games.black], axis=1)
    _, first = np.unique((lists * 2_000 + players).ravel(), return_index=True)
    within = np.abs(history[:, :, 0] - strength[lists, players]) < NINETY_PER_CENT * history[:, :, 1]
    assert 0.88 <= within.ravel()[first].mean() <= 0.92


def test_neither_colours_nor_the_order_of_players_matter() -> None:
    games, _ = generated(4, 30, 5, 80)
    swapped = games._replace(white=games.black, black=games.white, score=1.0 - games.score)
    renumbered = games._replace(white=29 - games.white, black=29 - games.black)
    expected = bit_patterns(rated(games, 30).ravel())
    assert bit_patterns(rated(swapped, 30)[:, ::-1].ravel()) == expected
    assert bit_patterns(rated(renumbered, 30).ravel()) == expected


def test_later_games_change_no_earlier_list() -> None:
    games, _ = generated(6, 10, 4, 15)
    white, black, score, day, starts, period, closing, _ = games
    cut = starts[3]
    earlier = RateableGames(white[:cut], black[:cut], score[:cut], day[:cut], starts[:4], period[:3], closing[:3])
    assert bit_patterns(rated(games, 10)[:cut].ravel()) == bit_patterns(rated(earlier, 10).ravel())


def test_a_player_who_is_away_becomes_less_certain() -> None:
    player = SCHEME.player(1800.0, 60.0, FIRST_DAY)
    SCHEME.at(player, 0.0, FIRST_DAY + 12 * MONTH, DEFAULT)
    assert (player.rating, player.rd) == (1800.0, pytest.approx(np.sqrt(60.0**2 + 12 * 196.0)))
