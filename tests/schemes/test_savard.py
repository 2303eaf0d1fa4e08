"""Savard's scheme: E and H, the three ranks, and the Harkness start."""

from typing import Any, ClassVar

import attrs
import pytest

from ledger.runtime.arith import logistic
from ledger.schemes.savard import (
    BEGINNING,
    DEFAULT,
    ESTABLISHED,
    ORDINARY,
    SCHEME,
    Player,
    carry,
    enter,
    expected_score,
    listed,
    opponent_rating,
    rank_of,
    rate_game,
    single_game,
    undecided,
    updated,
)
from ledger.schemes.scheme import Newcomer, Scheme
from ledger.testing.scheme_contract import SchemeContract
from tests.vectors.published import initial_rating

EXACT = 1e-9
WIN, DRAW, LOSS = 1.0, 0.5, 0.0
RATING_NEWCOMERS = SCHEME.numbers_from({"rate_newcomers": True})


class TestSavard(SchemeContract):
    score_decides = False  # the mixing step: where H is far from E, a win may lower it more than a draw
    settings: ClassVar = (
        {},
        {"rate_newcomers": True, "first_games": 3},
        {"established_from": 2100, "established_ever": False, "established_games": 40, "beginning_games": 20},
        {"established_from": 0, "established_games": 100, "ordinary_m": "0.1", "score_scale": 100},
    )

    def make(self) -> Scheme:
        return SCHEME


class TestSavardWithoutMixing(SchemeContract):
    settings: ClassVar = ({"beginning_m": 0},)

    def make(self) -> Scheme:
        return SCHEME


def rated(e: float, h: float, games: float = 100.0) -> Player:
    return Player(e, h, games, peak=e)


def newcomer(numbers: Any = DEFAULT) -> Player:
    return enter(Newcomer(), numbers)


def played(white: Player, black: Player, score: float, numbers: Any = DEFAULT) -> tuple[Player, Player]:
    """Both after a game; who is given stays as before it."""
    white, black = attrs.evolve(white), attrs.evolve(black)
    rate_game(white, black, score, 0.0, numbers)
    return white, black


def e_and_h(player: Player) -> tuple[float, float]:
    return player.rating, player.h


@pytest.mark.parametrize(
    ("opponent", "score", "s"),
    [
        (1179, WIN, 1180), (1180, WIN, 1180), (1181, WIN, 1181), (2500, WIN, 2500),
        (1821, LOSS, 1820), (1820, LOSS, 1820), (1819, LOSS, 1819), (500, LOSS, 500),
        (500, DRAW, 500), (2500, DRAW, 2500),
    ],
)  # fmt: skip
def test_s_is_limited_where_a_win_would_lower_or_a_loss_raise(opponent: float, score: float, s: float) -> None:
    assert single_game(1500.0, float(opponent), score, DEFAULT) == s


@pytest.mark.parametrize(
    ("rank", "score", "h"),
    [
        (ESTABLISHED, WIN, 0.9 * 1500 + 0.1 * 2000),
        (ESTABLISHED, DRAW, 0.98 * 1500 + 0.02 * 1600),
        (ORDINARY, LOSS, 0.8 * 1500 + 0.2 * 1200),
        (ORDINARY, DRAW, 0.95 * 1500 + 0.05 * 1600),
        (BEGINNING, WIN, 0.75 * 1500 + 0.25 * 2000),
        (BEGINNING, DRAW, 0.9 * 1500 + 0.1 * 1600),
    ],
)
def test_h_moves_by_p_or_for_a_draw_by_j(rank: int, score: float, h: float) -> None:
    assert updated(1500.0, 1500.0, 1600.0, 1600.0, score, rank, DEFAULT)[1] == pytest.approx(h, abs=EXACT)


@pytest.mark.parametrize(
    ("e", "h", "score", "r"),
    [
        # a win
        (1700, 1800, WIN, 1700), (1700, 1600, WIN, 1600), (1700, 1400, WIN, 1500), (1400, 1700, WIN, 1400),
        (1400, 1300, WIN, 1400), (1700, 1500, WIN, 1500), (1500, 1700, WIN, 1500),
        # a loss
        (1300, 1200, LOSS, 1300), (1300, 1400, LOSS, 1400), (1300, 1600, LOSS, 1500), (1600, 1300, LOSS, 1600),
        (1600, 1700, LOSS, 1600), (1300, 1500, LOSS, 1500), (1500, 1300, LOSS, 1500),
        # a draw
        (1700, 1600, DRAW, 1600), (1600, 1700, DRAW, 1600), (1300, 1400, DRAW, 1400), (1400, 1300, DRAW, 1400),
        (1700, 1400, DRAW, 1500), (1300, 1600, DRAW, 1500), (1700, 1500, DRAW, 1500), (1500, 1300, DRAW, 1500),
    ],
)  # fmt: skip
def test_the_opponent_counts_by_e_or_h(e: float, h: float, score: float, r: float) -> None:
    assert opponent_rating(1500.0, float(e), float(h), score) == r


def test_a_draw_between_e_and_h_does_not_change_e() -> None:
    assert undecided(1500.0, 1600.0, 1400.0, DRAW)
    assert undecided(1500.0, 1400.0, 1600.0, DRAW)
    assert not undecided(1500.0, 1600.0, 1500.0, DRAW)
    assert not undecided(1500.0, 1600.0, 1400.0, WIN)
    assert updated(1500.0, 1500.0, 1600.0, 1400.0, DRAW, ORDINARY, DEFAULT) == pytest.approx((1500.0, 1505.0))


@pytest.mark.parametrize(("rank", "k", "q"), [(ESTABLISHED, 24, 2), (ORDINARY, 32, 3), (BEGINNING, 48, 8)])
def test_the_main_step_by_k_or_for_a_draw_by_q(rank: int, k: float, q: float) -> None:
    m = 0.2 if rank == BEGINNING else 0.0
    for score, z in ((WIN, k), (LOSS, k), (DRAW, q)):
        e, h = updated(1500.0, 1450.0, 1700.0, 1700.0, score, rank, DEFAULT)
        main = 1500.0 + z * (score - logistic(-200.0))
        assert e == pytest.approx((1.0 - m) * main + m * h, abs=EXACT)


def test_mixing_may_make_a_beginners_win_worth_less_than_a_draw_where_h_is_far_above_e() -> None:
    e, h = 1358.0, 3043.0
    win, draw = (updated(e, h, 1105.0, 2185.0, score, BEGINNING, DEFAULT) for score in (WIN, DRAW))
    # H' = .75 * 3043 + .25 * (1105 + 400) and .9 * 3043 + .1 * 1105
    assert (win[1], draw[1]) == pytest.approx((2658.5, 2849.2), abs=EXACT)
    assert e < win[0] < draw[0]


def test_the_formula_as_printed_gives_1200_points_for_beating_an_equal() -> None:
    printed = SCHEME.numbers_from({"score_scale": 100})
    assert updated(1500.0, 1500.0, 1500.0, 1500.0, WIN, ESTABLISHED, printed)[0] == 2700.0
    assert updated(1500.0, 1500.0, 1500.0, 1500.0, WIN, ESTABLISHED, DEFAULT) == (1512.0, 1540.0)


def test_both_sides_are_rated_from_before_the_game() -> None:
    white, black = played(rated(1500.0, 1550.0), rated(1600.0, 1450.0), LOSS)
    assert e_and_h(white) == updated(1500.0, 1550.0, 1600.0, 1450.0, LOSS, ORDINARY, DEFAULT)
    assert e_and_h(black) == updated(1600.0, 1450.0, 1500.0, 1550.0, WIN, ORDINARY, DEFAULT)
    assert black.peak == black.rating
    assert white.peak == 1500.0


@pytest.mark.parametrize(
    ("rating", "peak", "games", "rank"),
    [
        (1500, 1500, 29, BEGINNING),
        (1500, 1500, 30, ORDINARY),
        (2399, 2399, 500, ORDINARY),
        (2400, 2400, 500, ESTABLISHED),
        (2300, 2400, 500, ESTABLISHED),
        (2400, 2400, 10, ESTABLISHED),
    ],
)
def test_ranks_by_default(rating: float, peak: float, games: float, rank: int) -> None:
    assert rank_of(float(rating), float(peak), float(games), DEFAULT) == rank


def test_ranks_by_present_rating_and_games() -> None:
    numbers = SCHEME.numbers_from({"established_ever": False, "established_games": 50})
    assert rank_of(2399.0, 2500.0, 60.0, numbers) == ORDINARY
    assert rank_of(2400.0, 2500.0, 49.0, numbers) == ORDINARY
    assert rank_of(2400.0, 2500.0, 50.0, numbers) == ESTABLISHED


def test_ranks_by_games_alone_or_nobody_established() -> None:
    by_games = SCHEME.numbers_from({"established_from": 0, "established_games": 50})
    assert [rank_of(0.0, 0.0, games, by_games) for games in (29.0, 49.0, 50.0)] == [BEGINNING, ORDINARY, ESTABLISHED]
    nobody = SCHEME.numbers_from({"established_from": 0})
    assert rank_of(2800.0, 2800.0, 5000.0, nobody) == ORDINARY


def test_the_initial_rating_after_ten_games_is_mean_and_percentage() -> None:
    player = newcomer()
    opponents = [1480.0, 1520.0, 1600.0, 1700.0, 1650.0, 1550.0, 1590.0, 1610.0, 1720.0, 1580.0]
    scores = [WIN, WIN, WIN, DRAW] + [LOSS] * 6
    for games, (opponent, score) in enumerate(zip(opponents, scores, strict=True), start=1):
        assert not listed(player, DEFAULT)
        player, _other = played(player, rated(opponent, 2000.0), score)
        assert player.left == 10.0 - games
        assert games == 10 or player.rating == 0.0
    # 35 per cent against an average of 1600
    assert (player.rating, player.h, player.peak) == pytest.approx((1450.0, 1450.0, 1450.0), abs=EXACT)
    assert listed(player, DEFAULT)
    assert initial_rating(opponents, scores) == pytest.approx(1450.0, abs=EXACT)


def test_an_opponent_in_his_first_games_counts_1000() -> None:
    one = SCHEME.numbers_from({"first_games": 1})
    white, black = played(newcomer(one), newcomer(one), WIN, one)
    assert (white.rating, black.rating) == (1500.0, 500.0)
    assert initial_rating([None, 1400.0], [DRAW, DRAW]) == 1200.0


def test_a_game_with_a_newcomer_leaves_the_rated_player_as_he_was() -> None:
    before = rated(1500.0, 1550.0)
    assert played(before, newcomer(), LOSS)[0] == before
    assert played(newcomer(), before, LOSS)[1] == before


def test_by_switch_the_newcomers_mean_with_this_game_rates_the_opponent() -> None:
    white, black = played(rated(1500.0, 1550.0), newcomer(RATING_NEWCOMERS), LOSS, RATING_NEWCOMERS)
    assert e_and_h(white) == updated(1500.0, 1550.0, 2000.0, 2000.0, LOSS, ORDINARY, DEFAULT)
    assert black == Player(0.0, 0.0, 1.0, 9.0, 2000.0, 0.0)
    # in the tenth game that mean is the initial rating
    white, black = played(Player(0.0, 0.0, 9.0, 1.0, 14_000.0, 0.0), rated(1500.0, 1550.0), WIN, RATING_NEWCOMERS)
    assert white.rating == 1600.0
    assert e_and_h(black) == updated(1500.0, 1550.0, 1600.0, 1600.0, LOSS, ORDINARY, DEFAULT)


def test_a_declared_or_carried_rating_needs_no_first_games() -> None:
    assert enter(Newcomer(1700), DEFAULT) == Player(1700.0, 1700.0, 0.0, 0.0, 0.0, 1700.0)
    assert carry(1700.5, 40.0, Newcomer(), DEFAULT) == Player(1700.5, 1700.5, 40.0, 0.0, 0.0, 1700.5)


def test_expected_scores_are_by_e_and_1000_for_the_unrated() -> None:
    assert expected_score(rated(1400.0, 9.0), newcomer(), DEFAULT) == logistic(400.0)
    assert expected_score(rated(1400.0, 9.0), rated(1500.0, 9.0), DEFAULT) == logistic(-100.0)
