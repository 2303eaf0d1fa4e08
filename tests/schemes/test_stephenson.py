"""The Stephenson scheme: examples of another implementation, Glicko as its special case, and a plain reference."""

import math
from collections.abc import Sequence

import pytest

from ledger.ratings import engine
from ledger.runtime.columns import FEW
from ledger.schemes import glicko
from ledger.schemes.glicko import NEVER, Player, expected_between
from ledger.schemes.scheme import ExplainedPlayer, Newcomer, OpponentGame, Scheme, When
from ledger.schemes.settings import replace_settings
from ledger.schemes.stephenson import DEFAULT, SCHEME, Settings, after_period, explain
from ledger.testing.scheme_contract import SchemeContract
from tests.schemes.glicko_periods import PLAYERS, many_periods, rateable

Games = Sequence[tuple[float, float, float]]
ALL_SETTINGS = replace_settings(DEFAULT, c=9.0, h=12.0, bonus=1.5, neighbourhood=3.0)
THREE = ((1500.0, 105.0, 1.0), (1200.0, 125.0, 0.0), (1560.0, 140.0, 0.5))


class TestStephenson(SchemeContract):
    settings = (
        {},
        {"c": 9, "h": 9, "bonus": "0.8"},
        {"initial": 1500, "initial_rd": 200, "c": 0, "h": 0, "neighbourhood": 0},
        {"rd_floor": 40, "rd_cap": 500, "by_runs": True},
    )

    def make(self) -> Scheme:
        return SCHEME


def reference(rating: float, rd: float, games: Games, numbers: Settings) -> tuple[float, float]:
    """Step 2 of the appendix, line by line."""
    q, b, pull, count = math.log(10) / 400, numbers.bonus / 100, numbers.neighbourhood / 100, len(games)
    g = [1 / math.sqrt(1 + 3 * q**2 * rdj**2 / math.pi**2) for _rj, rdj, _s in games]
    e = [1 / (1 + 10 ** (-gj * (rating - rj) / 400)) for gj, (rj, *_) in zip(g, games, strict=True)]
    d = q**2 * sum(gj**2 * ej * (1 - ej) for gj, ej in zip(g, e, strict=True))
    variance = 1 / (1 / (rd**2 + numbers.h**2 * count) + d)
    total = sum(gj * (s - ej + b) for gj, ej, (_rj, _rdj, s) in zip(g, e, games, strict=True))
    mean = sum(rj for rj, *_ in games) / count
    return rating + q * variance * total + pull * (mean - rating), math.sqrt(variance)


@pytest.mark.parametrize(
    ("own", "games", "expected"),
    [
        ((1500.0, 350.0), [(1500.0, 350.0, 1.0)], (1662, 290)),
        ((1500.0, 350.0), [(1500.0, 350.0, 0.0)], (1338, 290)),
        ((2330.0, math.hypot(200, 10)), [(1800.0, 20.0, 0.5)], (2220, 195)),
        ((1800.0, math.hypot(20, 10)), [(2330.0, 200.0, 0.5)], (1812, 23)),
        ((1300.0, math.hypot(120, 10)), THREE, (1329, 108)),
    ],
)
def test_the_examples_of_the_library_skillratings(
    own: tuple[float, float], games: Games, expected: tuple[int, int]
) -> None:
    """Its tests add h where the appendix adds h²: the same here with h = sqrt(10)."""
    numbers = replace_settings(DEFAULT, h=math.sqrt(10))
    rating, rd = after_period(*own, games, numbers)
    assert (round(rating), round(rd)) == expected


def test_an_example_worked_from_the_appendix() -> None:
    """Draws at equal ratings bring the bonus alone; without any variance only the pull is left."""
    numbers = replace_settings(DEFAULT, h=0.0, neighbourhood=10.0, bonus=2.0)
    q = math.log(10) / 400
    rating, rd = after_period(2000.0, 100.0, [(2000.0, 0.0, 0.5), (2000.0, 0.0, 0.5)], numbers)
    variance = 1 / (1 / 10_000 + q**2 * 2 * 0.25)
    assert (rating, rd) == pytest.approx((2000 + q * variance * 2 * 0.02, math.sqrt(variance)), abs=1e-9)
    pulled, _ = after_period(2000.0, 0.0, [(1900.0, 50.0, 1.0), (1800.0, 50.0, 0.0)], numbers)
    assert pulled == pytest.approx(2000 + 0.1 * (1850 - 2000), abs=1e-9)


def test_the_bonus_the_pull_and_the_growth_by_game_at_zero_give_glicko() -> None:
    numbers = replace_settings(DEFAULT, h=0.0, bonus=0.0, neighbourhood=0.0)
    games = ((1400.0, 30.0, 1.0), (1550.0, 100.0, 0.0), (1700.0, 300.0, 0.0))
    expected = glicko.after_period(1500.0, 200.0, games)
    assert after_period(1500.0, 200.0, games, numbers) == pytest.approx(expected, abs=1e-9)


def test_the_expected_score_takes_the_deviations_of_both() -> None:
    assert expected_between(1400.0, 40.0, 1500.0, 150.0) == pytest.approx(0.373700405951935, abs=1e-12)
    assert SCHEME.expected_score(Player(1400.0, 40.0), Player(1500.0, 150.0), ALL_SETTINGS) == expected_between(
        1400.0, 40.0, 1500.0, 150.0
    )


def test_a_period_without_games_changes_neither_rating_nor_rd() -> None:
    assert after_period(1500.0, 200.0, ()) == (1500.0, 200.0)


def test_rd_stays_between_its_floor_and_its_cap() -> None:
    even = [(1500.0, 350.0, 0.5)]
    assert after_period(1500.0, 350.0, even, replace_settings(DEFAULT, h=400.0))[1] == 350.0
    assert after_period(1500.0, 40.0, even * 300, replace_settings(DEFAULT, h=0.0, rd_floor=30.0))[1] == 30.0


def test_lines_add_up_to_the_change_with_every_part_of_the_formula() -> None:
    before, after = Player(1300.0, 120.0), Player()
    after.rating, after.rd = after_period(1300.0, 120.0, THREE, ALL_SETTINGS)
    meetings = [OpponentGame(Player(rating, rd), score) for rating, rd, score in THREE]
    explained = explain(ExplainedPlayer(before, after), meetings, When(), ALL_SETTINGS)
    assert explained.differences(meetings) == []
    assert sum(line.points or 0.0 for line in explained.lines) == pytest.approx(after.rating - 1300.0, abs=1e-9)
    assert [line.difference for line in explained.lines] == [1300 - 1500, 1300 - 1200, 1300 - 1560]


def test_many_periods_agree_with_the_reference() -> None:
    expected = dict.fromkeys(range(PLAYERS), (2200.0, 300.0, NEVER))
    for period, batch in many_periods():
        before = dict(expected)
        played = {p for white, black, _s in batch for p in (white, black)}
        for p in played:
            rating, rd, last = expected[p]
            t = 0.0 if last == NEVER else period - last
            before[p] = (rating, min(math.sqrt(rd**2 + 9.0**2 * t), 350.0), period)
        for p in played:
            own = [(*before[b][:2], s) for w, b, s in batch if w == p]
            own += [(*before[w][:2], 1 - s) for w, b, s in batch if b == p]
            expected[p] = (*reference(*before[p][:2], own, ALL_SETTINGS), period)
    state = engine.initial_states(SCHEME, ALL_SETTINGS, [Newcomer()] * PLAYERS)
    engine.rate(FEW, SCHEME, ALL_SETTINGS, rateable(many_periods()), state, [0] * PLAYERS)
    assert state == pytest.approx([value for p in range(PLAYERS) for value in expected[p]], abs=1e-6)
