"""The Glicko scheme: the paper's example, growth of RD, and a plain reference that the kernels must agree with."""

import math
from collections.abc import Sequence

import pytest

from ledger.ratings import engine
from ledger.runtime.columns import FEW
from ledger.runtime.records import flat_of
from ledger.schemes import scheme
from ledger.schemes.glicko import DEFAULT, NEVER, SCHEME, Player, after_period, decayed, enter, expected_between, impact
from ledger.schemes.scheme import Newcomer, Scheme, When
from ledger.schemes.settings import replace_settings
from ledger.testing.scheme_contract import SchemeContract
from tests.schemes.glicko_periods import PLAYERS, many_periods, one_batch, rateable
from tests.vectors.published import interval

PAPER_GAMES = ((1400.0, 30.0, 1.0), (1550.0, 100.0, 0.0), (1700.0, 300.0, 0.0))
Games = Sequence[tuple[float, float, float]]


class TestGlicko(SchemeContract):
    settings = (
        {},
        {"period_days": 7, "c": "30.3"},
        {"initial": 1200, "initial_rd": 200, "c": 0, "rd_floor": 0},
        {"rd_floor": 80, "rd_cap": 500, "by_runs": True},
    )

    def make(self) -> Scheme:
        return SCHEME


def reference(rating: float, rd: float, games: Games) -> tuple[float, float]:
    """Step 2 of the paper, line by line."""
    q = math.log(10) / 400
    g = [1 / math.sqrt(1 + 3 * q**2 * rdj**2 / math.pi**2) for _rj, rdj, _s in games]
    e = [1 / (1 + 10 ** (-gj * (rating - rj) / 400)) for gj, (rj, _rdj, _s) in zip(g, games, strict=True)]
    d2 = 1 / (q**2 * sum(gj**2 * ej * (1 - ej) for gj, ej in zip(g, e, strict=True)))
    total = sum(gj * (s - ej) for gj, ej, (_rj, _rdj, s) in zip(g, e, games, strict=True))
    return rating + q / (1 / rd**2 + 1 / d2) * total, math.sqrt(1 / (1 / rd**2 + 1 / d2))


def test_the_papers_example_gives_1464_and_151_4() -> None:
    rating, rd = after_period(1500.0, 200.0, PAPER_GAMES)
    assert abs(rating - 1464.0) <= 0.5
    assert abs(rd - 151.4) <= 0.05
    assert (rating, rd) == pytest.approx(reference(1500.0, 200.0, PAPER_GAMES), abs=1e-9)


def test_a_period_without_games_changes_neither_rating_nor_rd() -> None:
    assert after_period(1500.0, 200.0, ()) == (1500.0, 200.0)


def test_the_papers_intermediate_numbers() -> None:
    assert [round(impact(rd), 4) for rd in (30.0, 100.0, 300.0)] == [0.9955, 0.9531, 0.7242]
    assert round(expected_between(1400.0, 80.0, 1500.0, 150.0), 3) == 0.376
    low, high = interval(1500.0, 30.0)
    assert (round(low), round(high)) == (1441, 1559)


def test_an_rd_of_50_reaches_350_in_30_periods_of_c_63_2() -> None:
    assert abs(decayed(50.0, 63.2, 30.0, 350.0) - 349.753) <= 0.0005
    assert decayed(50.0, 63.2, 31.0, 350.0) == 350.0
    assert decayed(50.0, 63.2, 0.0, 350.0) == 50.0


def test_rd_grows_for_every_player_of_a_batch_by_the_periods_since() -> None:
    """The rated player and the opponent, in the period after the last as after several."""
    players = [Player(1500.0, 100.0, 7.0), Player(1700.0, 50.0, 4.0)]
    one, two = engine.rate_one_batch(SCHEME, DEFAULT, one_batch([(0, 1, 1.0)], 8.0), players)
    own, other = math.sqrt(100**2 + 63.2**2), math.sqrt(50**2 + 63.2**2 * 4)
    assert flat_of(one.before) == pytest.approx([1500.0, own, 8.0])
    assert flat_of(two.before) == pytest.approx([1700.0, other, 8.0])
    for after, expected in (
        (one.after, reference(1500.0, own, [(1700.0, other, 1.0)])),
        (two.after, reference(1700.0, other, [(1500.0, own, 0.0)])),
    ):
        assert (after.rating, after.rd) == pytest.approx(expected, abs=1e-9)
        assert after.period == 8.0


def test_growth_in_two_steps_is_growth_in_one_and_nothing_is_added_twice() -> None:
    state = (1500.0, 60.0, 10.0)
    once = scheme.at_time(SCHEME, DEFAULT, state, When(15.0))
    twice = scheme.at_time(SCHEME, DEFAULT, scheme.at_time(SCHEME, DEFAULT, state, When(12.0)), When(15.0))
    assert once == pytest.approx(twice, rel=1e-15)
    assert scheme.at_time(SCHEME, DEFAULT, once, When(15.0)) == once
    assert scheme.at_time(SCHEME, DEFAULT, once, When(14.0)) == once, "time does not run backwards"


def test_a_newcomers_rd_does_not_grow_before_the_first_game() -> None:
    numbers = SCHEME.numbers_from({"initial_rd": 150})
    assert enter(Newcomer(1800.0), numbers) == Player(1800.0, 150.0, NEVER)
    state = SCHEME.begin(Newcomer(1800.0), numbers)
    assert scheme.at_time(SCHEME, numbers, state, When(24_000.0)) == state


def test_rd_does_not_fall_below_its_floor() -> None:
    games = [(1500.0, 30.0, 0.5)] * 300
    assert after_period(1500.0, 40.0, games)[1] == 30.0
    assert after_period(1500.0, 40.0, games, replace_settings(DEFAULT, rd_floor=0.0))[1] < 30.0


def test_many_periods_agree_with_the_reference() -> None:
    expected = dict.fromkeys(range(PLAYERS), (1500.0, 350.0, NEVER))
    for period, batch in many_periods():
        expected = reference_period(expected, batch, period)
    state = engine.initial_states(SCHEME, DEFAULT, [Newcomer()] * PLAYERS)
    engine.rate(FEW, SCHEME, DEFAULT, rateable(many_periods()), state, [0] * PLAYERS)
    assert state == pytest.approx([value for p in range(PLAYERS) for value in expected[p]], abs=1e-6)


def reference_period(
    states: dict[int, tuple[float, float, float]], batch: Sequence[tuple[int, int, float]], period: float
) -> dict[int, tuple[float, float, float]]:
    played = {p for white, black, _s in batch for p in (white, black)}
    before = dict(states)
    for p in played:
        rating, rd, last = states[p]
        t = 0.0 if last == NEVER else period - last
        before[p] = (rating, min(math.sqrt(rd**2 + 63.2**2 * t), 350.0), period)
    after = dict(before)
    for p in played:
        own = [(*before[b][:2], s) for w, b, s in batch if w == p] + [
            (*before[w][:2], 1 - s) for w, b, s in batch if b == p
        ]
        rating, rd = reference(*before[p][:2], own)
        after[p] = (rating, max(rd, 30.0), period)
    return after
