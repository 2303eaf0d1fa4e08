"""The Lichess scheme: the calculator's published games, RD by the day, and each limit at its boundary."""

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.ratings import engine
from ledger.ratings.engine import RateableGames
from ledger.runtime.columns import FEW
from ledger.schemes import scheme
from ledger.schemes.lichess import (
    DEFAULT,
    SCHEME,
    Player,
    Settings,
    enter,
    explain,
    game,
    hold,
    live_rd,
    provisional,
    rate_game,
    refuse,
    sane,
    whole_points,
)
from ledger.schemes.scheme import (
    COUNTS,
    HALF_MOVES_UNKNOWN,
    TOO_SHORT,
    ExplainedPlayer,
    Newcomer,
    OpponentGame,
    Scheme,
    When,
)
from ledger.schemes.settings import replace_settings
from ledger.testing.scheme_contract import SchemeContract, evaluate_rule
from tests.schemes.glicko_periods import reference_volatility
from tests.vectors.glicko import history_date

SCALE = 173.7178
Triple = tuple[float, float, float]
State = tuple[float, float, float, float]
RESIGNED, RATED, STANDINGS = (0, 1), True, (0, 0)
NO_REGULATOR = replace_settings(DEFAULT, regulator=1.0)


class TestLichess(SchemeContract):
    score_decides = False  # a result of 4000 fails the sanity check
    settings = (
        {},
        {"regulator": "1.005", "min_half_moves": 0},
        {"regulator": 1, "periods_per_day": 0, "tau": "0.5"},
        {"largest_change": 50, "rating_floor": 1400, "rd_floor": 100, "rating_limit": 3000},
    )

    def make(self) -> Scheme:
        return SCHEME


def reference(own: Triple, opponent: Triple, score: float, advantage: float = 0.0, tau: float = 0.75) -> Triple:
    """Glicko-2 for one game without step 6, line by line."""
    mu, phi, sigma = (own[0] - 1500 + advantage / 2) / SCALE, own[1] / SCALE, own[2]
    muj, phij = (opponent[0] - 1500 - advantage / 2) / SCALE, opponent[1] / SCALE
    g = 1 / math.sqrt(1 + 3 * phij**2 / math.pi**2)
    e = 1 / (1 + math.exp(-g * (mu - muj)))
    v = 1 / (g**2 * e * (1 - e))
    new_sigma = reference_volatility(sigma, phi, v, v * g * (score - e), tau)
    new_phi = 1 / math.sqrt(1 / phi**2 + 1 / v)
    return own[0] + SCALE * new_phi**2 * g * (score - e), SCALE * new_phi, new_sigma


def played(white: State, black: State, score: float, day: float, numbers: Settings = DEFAULT) -> tuple[Player, Player]:
    both = Player(*white), Player(*black)
    rate_game(*both, score, day, numbers)
    return both


def triple(player: Player) -> Triple:
    return player.rating, player.rd, player.volatility


def test_two_players_of_350_and_the_first_move_advantage() -> None:
    """GlickoCalculatorTest and GlickoCalculatorWithColorAdvantageTest of scalachess."""
    equal = (1500.0, 350.0, 0.06)
    white, black = game(equal, equal, 1.0)
    assert white == pytest.approx((1662.21, 290.2305, 0.0599993), abs=0.005)
    assert black == pytest.approx((1337.79, 290.2305, 0.0599993), abs=0.005)
    white, black = game(equal, equal, 1.0, 11.782457)
    assert white == pytest.approx((1658.56, 290.2538, 0.0599992), abs=0.005)
    assert black == pytest.approx((1341.44, 290.2538, 0.0599992), abs=0.005)


triples = st.tuples(st.floats(400, 3500), st.floats(45, 500), st.floats(0.03, 0.1))


@given(triples, triples, st.sampled_from((0.0, 0.5, 1.0)), st.sampled_from((0.0, 11.782457, 20.30966)))
def test_a_game_agrees_with_the_reference(white: Triple, black: Triple, score: float, advantage: float) -> None:
    after_white, after_black = game(white, black, score, advantage)
    assert after_white == pytest.approx(reference(white, black, score, advantage), abs=2e-6)
    assert after_black == pytest.approx(reference(black, white, 1 - score, -advantage), abs=2e-6)


def test_many_games_agree_with_the_reference() -> None:
    """With RD by the day, caps and the regulator, from 1500/500/0.09."""
    random, players = Random(11), 15
    expected = dict.fromkeys(range(players), (1500.0, 500.0, 0.09, 100.0))
    games = []
    for i in range(1500):
        white, black = random.sample(range(players), 2)
        score, day = random.choice((1.0, 0.5, 0.0)), 100.0 + i * 1.7
        games.append((white, black, score, day))
        live = {p: (expected[p][0], reference_rd(expected[p], day), expected[p][2]) for p in (white, black)}
        for p, q, own_score in ((white, black, score), (black, white, 1 - score)):
            rating, rd, volatility = reference(live[p], live[q], own_score)
            rating = max(rating, 400.0)
            rating += max(rating - live[p][0], 0.0) * 0.015
            expected[p] = (rating, min(max(rd, 45.0), 500.0), min(volatility, 0.1), day)
    state = engine.initial_states(SCHEME, DEFAULT, [Newcomer(day=100.0)] * players)
    engine.rate(FEW, SCHEME, DEFAULT, RateableGames(*map(list, zip(*games, strict=True))), state, [0] * players)
    assert state == pytest.approx([value for p in range(players) for value in expected[p]], abs=1e-6)


def reference_rd(state: State, day: float) -> float:
    _rating, rd, volatility, since = state
    grown = math.sqrt((rd / SCALE) ** 2 + (day - since) * 0.21436 * volatility**2) * SCALE
    return min(max(grown, 45.0), 500.0)


def test_a_typical_rd_goes_from_60_to_110_in_a_year() -> None:
    assert abs(live_rd(60.0, 0.06, 365.0, DEFAULT) - 110.0) <= 0.1


def test_the_live_rd_is_held_in_45_to_500() -> None:
    assert live_rd(490.0, 0.1, 36_500.0, DEFAULT) == 500.0
    assert live_rd(44.0, 0.06, 0.0, DEFAULT) == 45.0
    assert live_rd(45.0, 0.06, -365.0, DEFAULT) == 45.0


@given(st.floats(45, 400), st.floats(0.04, 0.1), st.floats(0, 400))
def test_growth_is_undone_by_as_many_days_back(rd: float, volatility: float, days: float) -> None:
    live = live_rd(rd, volatility, days, DEFAULT)
    if live < 500.0:
        assert live_rd(live, volatility, -days, DEFAULT) == pytest.approx(rd, rel=1e-12)


@given(st.floats(45, 500), st.floats(0.04, 0.1), st.floats(0, 4000), st.floats(0, 4000))
def test_reading_a_state_on_the_way_does_not_change_what_it_is_later(
    rd: float, volatility: float, first: float, second: float
) -> None:
    state = (1500.0, rd, volatility, 1000.0)
    later = When(0.0, 1000.0 + first + second)
    once = scheme.at_time(SCHEME, DEFAULT, state, later)
    twice = scheme.at_time(SCHEME, DEFAULT, scheme.at_time(SCHEME, DEFAULT, state, When(0.0, 1000.0 + first)), later)
    assert once == pytest.approx(twice, rel=1e-12)
    assert scheme.at_time(SCHEME, DEFAULT, once, later) == once


def test_both_sides_count_with_their_live_rd() -> None:
    white, black = played((1500.0, 60.0, 0.06, 0.0), (1600.0, 80.0, 0.06, 300.0), 1.0, 365.0, NO_REGULATOR)
    live = (1500.0, live_rd(60.0, 0.06, 365.0, DEFAULT), 0.06), (1600.0, live_rd(80.0, 0.06, 65.0, DEFAULT), 0.06)
    assert (triple(white), triple(black)) == game(*live, 1.0)
    assert (white.day, black.day) == (365.0, 365.0)


def test_a_newcomers_rd_counts_from_the_first_game() -> None:
    assert enter(Newcomer(day=18_000.5), DEFAULT) == Player(1500.0, 500.0, 0.09, 18_000.5)


def held(rating: float, rd: float = 80.0, volatility: float = 0.06, before: float = 1500.0) -> Player:
    player = Player(rating, rd, volatility, 7.0)
    hold(player, before, NO_REGULATOR)
    return player


def test_the_regulator_multiplies_gains_only() -> None:
    before = (1500.0, 80.0, 0.06, 5.0)
    plain, loser = played(before, before, 1.0, 5.0, NO_REGULATOR)
    winner, same = played(before, before, 1.0, 5.0)
    assert winner.rating - 1500.0 == pytest.approx(1.015 * (plain.rating - 1500.0))
    assert same.rating == loser.rating


def test_a_change_is_at_most_700_points() -> None:
    assert held(2200.0).rating == 2200.0
    assert held(2201.0).rating == 2200.0
    assert held(799.0).rating == 800.0


def test_rating_rd_and_volatility_are_held_in_their_caps() -> None:
    assert held(399.0, before=700.0).rating == 400.0
    assert held(1500.0, rd=44.9).rd == 45.0
    assert held(1500.0, rd=500.1).rd == 500.0
    assert held(1500.0, volatility=0.11).volatility == 0.1


def test_what_fails_the_sanity_check_becomes_a_newcomers() -> None:
    assert held(4000.0, before=3990.0) == Player(1500.0, 500.0, 0.09, 7.0)
    assert held(3999.9, before=3990.0) == Player(3999.9, 80.0, 0.06, 7.0)
    assert held(0.0, before=450.0) == Player(1500.0, 500.0, 0.09, 7.0)
    assert held(1500.0, volatility=0.2) == Player(1500.0, 500.0, 0.09, 7.0)
    assert held(1500.0, rd=1000.0) == Player(1500.0, 500.0, 0.09, 7.0)
    assert sane(1500.0, 999.0, 0.19, DEFAULT)


def test_declared_ratings_that_lichess_could_not_hold() -> None:
    assert [enter(Newcomer(declared), DEFAULT).rating for declared in (100.0, 400.0, 2100.0, 3999.0, 4000.0)] == [
        400.0,
        400.0,
        2100.0,
        3999.0,
        1500.0,
    ]


def test_provisional_from_an_rd_of_110() -> None:
    assert provisional(Player(1500.0, 110.0, 0.06, 0.0), DEFAULT)
    assert not provisional(Player(1500.0, 109.999, 0.06, 0.0), DEFAULT)


def test_ratings_are_shown_cut_off() -> None:
    assert (whole_points(1499.99), whole_points(1500.0), whole_points(1516.7)) == (1499, 1500, 1516)


LENGTHS = [(0, TOO_SHORT), (1, TOO_SHORT), (2, COUNTS), (HALF_MOVES_UNKNOWN, COUNTS)]


@pytest.mark.parametrize(("half_moves", "code"), LENGTHS)
def test_games_of_fewer_than_two_plies_are_not_rated(half_moves: int, code: int) -> None:
    assert refuse(*RESIGNED, half_moves, RATED, *STANDINGS, DEFAULT) == code


def test_in_a_pool_of_tournaments_they_are() -> None:
    numbers = SCHEME.numbers_from({"min_half_moves": 0})
    assert refuse(*RESIGNED, 0, RATED, *STANDINGS, numbers) == COUNTS


def test_an_explanation_tells_the_side_of_the_first_move_and_the_limits() -> None:
    numbers = replace_settings(DEFAULT, advantage=11.782457)
    before, when = (1500.0, 350.0, 0.06, 5.0), When(0.0, 5.0)
    white, black = played(before, before, 1.0, 5.0, numbers)
    for side, score, colour in ((white, 1.0, 0), (black, 0.0, 1)):
        own, opponent = Player(*before), Player(*before)
        told = explain(ExplainedPlayer(own, side), [OpponentGame(opponent, score, colour)], when, numbers)
        assert evaluate_rule(told) == pytest.approx(side.rating, abs=1e-9)
    floored = played((401.0, 350.0, 0.06, 5.0), (401.0, 350.0, 0.06, 5.0), 0.0, 5.0)[0]
    own = Player(401.0, 350.0, 0.06, 5.0)
    assert "at least 400" in explain(ExplainedPlayer(own, floored), [OpponentGame(own, 0.0, 0)], when, DEFAULT).rounding


def test_months_of_a_rating_history_begin_at_0() -> None:
    assert [history_date(point) for point in ([2011, 0, 8, 1472], [2011, 8, 12, 1314], [2024, 11, 31, 1])] == [
        "2011-01-08",
        "2011-09-12",
        "2024-12-31",
    ]
    with pytest.raises(ValueError, match="month"):
        history_date([2011, 12, 1, 1500])
