"""The Glicko-2 scheme: the paper's example, one growth of RD a period, and a plain reference for the kernels."""

import math
from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.ratings import engine
from ledger.runtime.columns import FEW
from ledger.runtime.records import flat_of
from ledger.schemes import find_scheme, scheme
from ledger.schemes.glicko2 import (
    DEFAULT,
    NEVER,
    SCHEME,
    Player,
    after_period,
    exponential,
    grown,
    new_volatilities,
    new_volatility,
)
from ledger.schemes.scheme import Newcomer, Scheme, Seed, When
from ledger.schemes.settings import replace_settings
from ledger.testing.scheme_contract import SchemeContract
from tests.schemes.glicko_periods import PLAYERS, many_periods, one_batch, rateable, reference_volatility
from tests.vectors.published import rate_internal

SCALE = 173.7178
PAPER_GAMES = ((1400.0, 30.0, 1.0), (1550.0, 100.0, 0.0), (1700.0, 300.0, 0.0))
Games = Sequence[tuple[float, float, float]]


class TestGlicko2(SchemeContract):
    settings = (
        {},
        {"period_days": 7, "tau": "0.3"},
        {"initial": 1200, "initial_rd": 80, "initial_volatility": "0.2", "tau": "1.2"},
        {"by_runs": True},
    )

    def make(self) -> Scheme:
        return SCHEME


def reference(rating: float, rd: float, sigma: float, games: Games, tau: float = 0.5) -> tuple[float, float, float]:
    """Steps 2 to 8 of the paper, line by line, without any of the kernels' short cuts."""
    mu, phi = (rating - 1500) / SCALE, rd / SCALE
    told = [((rj - 1500) / SCALE, rdj / SCALE, s) for rj, rdj, s in games]
    g = [1 / math.sqrt(1 + 3 * phij**2 / math.pi**2) for _mu, phij, _s in told]
    e = [1 / (1 + math.exp(-gj * (mu - muj))) for gj, (muj, _phi, _s) in zip(g, told, strict=True)]
    v = 1 / sum(gj**2 * ej * (1 - ej) for gj, ej in zip(g, e, strict=True))
    total = sum(gj * (s - ej) for gj, ej, (_mu, _phi, s) in zip(g, e, told, strict=True))
    new_sigma = reference_volatility(sigma, phi, v, v * total, tau)
    phi_star = math.sqrt(phi**2 + new_sigma**2)
    new_phi = 1 / math.sqrt(1 / phi_star**2 + 1 / v)
    return 1500 + SCALE * (mu + new_phi**2 * total), SCALE * new_phi, new_sigma


def test_the_papers_example_at_full_precision() -> None:
    rating, rd, volatility = after_period(1500.0, 200.0, 0.06, PAPER_GAMES)
    assert abs(rating - 1464.0507) <= 5e-5
    assert abs(rd - 151.5165) <= 5e-5
    assert abs(volatility - 0.059995984286488495) <= 1e-9
    assert (rating, rd, volatility) == pytest.approx(reference(1500.0, 200.0, 0.06, PAPER_GAMES), abs=1e-9)


def test_the_papers_example_on_its_internal_scale() -> None:
    told = [(-0.5756, 0.1727, 1.0), (0.2878, 0.5756, 0.0), (1.1513, 1.7269, 0.0)]
    mu, phi, sigma = rate_internal(0.0, 1.1513, 0.06, told)
    assert (round(mu, 4), round(phi, 4), round(sigma, 4)) == (-0.2069, 0.8722, 0.06)


ratings, deviations = st.floats(0, 3500), st.floats(20, 500)
one_game = st.tuples(ratings, deviations, st.sampled_from((0.0, 0.5, 1.0)))


@given(ratings, deviations, st.floats(0.02, 0.2), st.lists(one_game, min_size=1, max_size=8), st.floats(0.2, 1.2))
def test_a_period_agrees_with_the_reference(rating: float, rd: float, sigma: float, games: Games, tau: float) -> None:
    """To the accuracy that step 5 has itself: it may stop 1e-6 from the root, by the sign of a rounding error."""
    got = after_period(rating, rd, sigma, games, replace_settings(DEFAULT, tau=tau))
    assert got == pytest.approx(reference(rating, rd, sigma, games, tau), abs=2e-5)


def test_nearly_all_periods_agree_with_the_reference_to_1e9() -> None:
    random, apart = Random(3), []
    for _ in range(3000):
        games = [(random.gauss(1600, 300), random.uniform(30, 350), random.choice((0.0, 0.5, 1.0))) for _ in range(5)]
        games = games[: random.randint(1, 5)]
        own = random.gauss(1600, 300), random.uniform(30, 350), random.uniform(0.04, 0.09)
        apart.append(max(abs(x - y) for x, y in zip(after_period(*own, games), reference(*own, games), strict=True)))
    assert max(apart) <= 4e-7
    assert sum(one > 1e-9 for one in apart) <= 10


@given(st.floats(-5, 5))
def test_the_exponential_of_the_iteration_is_good_to_1e14(y: float) -> None:
    assert exponential(y) == pytest.approx(math.exp(y), rel=1e-14)


SEARCHES = st.tuples(
    st.floats(1e-4, 1.0), st.floats(1e-4, 40.0), st.floats(0.5, 1e4), st.floats(0.0, 1e4)
)  # σ, φ², v, Δ²


@given(SEARCHES, SEARCHES, st.sampled_from((0.3, 0.5, 0.75, 1.2)))
def test_two_searches_side_by_side_give_the_bits_of_each_by_itself(
    one: tuple[float, float, float, float], other: tuple[float, float, float, float], tau: float
) -> None:
    both = new_volatilities(*one, *other, tau)
    assert both == (new_volatility(*one, tau), new_volatility(*other, tau))


def test_a_period_without_games_only_adds_the_volatility_to_rd() -> None:
    rating, rd, volatility = after_period(1250.0, 95.0, 0.06, ())
    assert (rating, volatility) == (1250.0, 0.06)
    assert rd == pytest.approx(math.sqrt(95**2 + (0.06 * SCALE) ** 2))


def test_a_period_played_grows_rd_once_and_by_the_new_volatility() -> None:
    """Played in period 7 and again in 8: nothing is missed between them."""
    players = [Player(1500.0, 200.0, 0.06, 7.0), Player(1400.0, 30.0, 0.06, 7.0)]
    sides = engine.rate_one_batch(SCHEME, DEFAULT, one_batch([(0, 1, 1.0)], 8.0), players)
    assert [side.before for side in sides] == players
    *after, period = flat_of(sides[0].after)
    assert after == pytest.approx(reference(1500.0, 200.0, 0.06, [(1400.0, 30.0, 1.0)]), abs=1e-9)
    assert period == 8.0


def test_periods_missed_grow_rd_by_the_old_volatility_before_the_batch() -> None:
    players = [Player(1500.0, 200.0, 0.06, 7.0), Player(1400.0, 30.0, 0.05, 5.0)]
    side, met = engine.rate_one_batch(SCHEME, DEFAULT, one_batch([(0, 1, 0.5)], 10.0), players)
    own = math.sqrt(200**2 + 2 * (0.06 * SCALE) ** 2)
    other = math.sqrt(30**2 + 4 * (0.05 * SCALE) ** 2)
    assert flat_of(side.before) == pytest.approx([1500.0, own, 0.06, 9.0])
    assert flat_of(met.before) == pytest.approx([1400.0, other, 0.05, 9.0])
    assert flat_of(side.after)[:3] == pytest.approx(reference(1500.0, own, 0.06, [(1400.0, other, 0.5)]), abs=1e-9)


def test_growth_in_two_steps_is_growth_in_one_and_nothing_is_added_twice() -> None:
    state = (1500.0, 60.0, 0.06, 10.0)
    once = scheme.at_time(SCHEME, DEFAULT, state, When(15.0))
    twice = scheme.at_time(SCHEME, DEFAULT, scheme.at_time(SCHEME, DEFAULT, state, When(12.0)), When(15.0))
    assert once == pytest.approx(twice, rel=1e-15)
    assert once[1] == pytest.approx(grown(60.0, 0.06, 4.0))
    assert scheme.at_time(SCHEME, DEFAULT, state, When(11.0)) == state, "the period after the last one is not missed"
    assert scheme.at_time(SCHEME, DEFAULT, once, When(15.0)) == once


def test_a_newcomers_rd_does_not_grow_before_the_first_game() -> None:
    state = SCHEME.begin(Newcomer(1800.0), DEFAULT)
    assert state == (1800.0, 350.0, 0.06, NEVER)
    assert scheme.at_time(SCHEME, DEFAULT, state, When(24_000.0)) == state


def test_players_too_far_apart_to_tell_anything_keep_their_ratings() -> None:
    rating, rd, volatility = after_period(0.0, 350.0, 0.06, [(60_000.0, 30.0, 0.0)])
    assert abs(rating) <= 1e-100
    assert volatility == 0.06
    assert rd == pytest.approx(grown(350.0, 0.06, 1.0))


def test_a_great_upset_raises_the_volatility() -> None:
    assert after_period(1000.0, 40.0, 0.06, [(2400.0, 40.0, 1.0)] * 3)[2] > 0.06
    assert after_period(1500.0, 40.0, 0.06, [(1500.0, 40.0, 0.5)] * 3)[2] < 0.06


def test_many_periods_agree_with_the_reference() -> None:
    expected = dict.fromkeys(range(PLAYERS), (1500.0, 350.0, 0.06, NEVER))
    for period, batch in many_periods():
        expected = reference_period(expected, batch, period)
    state = engine.initial_states(SCHEME, DEFAULT, [Newcomer()] * PLAYERS)
    engine.rate(FEW, SCHEME, DEFAULT, rateable(many_periods()), state, [0] * PLAYERS)
    assert state == pytest.approx([value for p in range(PLAYERS) for value in expected[p]], abs=1e-6)


State = tuple[float, float, float, float]


def reference_period(
    states: dict[int, State], batch: Sequence[tuple[int, int, float]], period: float
) -> dict[int, State]:
    """The paper's bookkeeping: step 6 alone in every period that a player misses."""
    played = {p for white, black, _s in batch for p in (white, black)}
    before = dict(states)
    for p in played:
        rating, rd, sigma, last = states[p]
        for _missed in range(0 if last == NEVER else int(period - last) - 1):
            rd = math.sqrt((rd / SCALE) ** 2 + sigma**2) * SCALE
        before[p] = (rating, rd, sigma, period)
    after = dict(before)
    for p in played:
        own = [(*before[b][:2], s) for w, b, s in batch if w == p]
        own += [(*before[w][:2], 1 - s) for w, b, s in batch if b == p]
        after[p] = (*reference(*before[p][:3], own), period)
    return after


@pytest.mark.parametrize("name", ["glicko", "glicko2"])
def test_bounds_hold_what_many_upsets_bring(name: str) -> None:
    rated_by = find_scheme(name)
    upsets = engine.RateableGames([0] * 30, [1] * 30, [0.0] * 30, [1.0] * 30, [0, 30], [1.0], [1.0])
    after = []
    for settings in ({}, {"largest_change": 300}, {"rating_floor": 1000, "rating_limit": 1600}):
        numbers = rated_by.numbers_from(settings)
        lists = [Newcomer(seed=Seed(rating, 100.0, 50.0)) for rating in (2200.0, 1200.0)]
        state = [value for listed in lists for value in rated_by.begin(listed, numbers)]
        engine.rate(FEW, rated_by, numbers, upsets, state, [0, 0])
        after.append((state[0], state[len(state) // 2]))
    assert after[0][0] < 1900.0
    assert after[0][1] > 1600.0
    assert after[1] == (1900.0, 1500.0)
    assert all(1000.0 <= rating <= 1600.0 for rating in after[2])
