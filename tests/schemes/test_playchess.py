"""The PlayChess scheme against its page's numbers, IECG's worked example, and the seams between its formulas."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import pytest

from ledger.facts.words import Outcome, Standing, Termination
from ledger.ratings import engine
from ledger.ratings.engine import RateableGames, predict
from ledger.schemes import find_scheme
from ledger.schemes.playchess import (
    DEFAULT,
    SCHEME,
    Player,
    Settings,
    bonus,
    carry,
    correction,
    counted,
    enter,
    explain,
    g_factor,
    k_factor,
    lss_r,
    provisional_rating,
    r_factor,
    rating_difference,
    refuse,
)
from ledger.schemes.scheme import (
    HALF_MOVES_UNKNOWN,
    REASONS,
    ExplainedPlayer,
    Newcomer,
    OpponentGame,
    Scheme,
    Seed,
    When,
)
from ledger.schemes.settings import replace_settings
from ledger.testing import SchemeContract
from ledger.testing.scheme_contract import evaluate_rule
from tests.vectors.playchess import FUNCTIONS

EXACT = 1e-9
NOW = When(9_000.0, 18_000.0)


class TestPlayChess(SchemeContract):
    settings: ClassVar[Sequence[Mapping[str, int | bool | str]]] = (
        {},
        {"low_end": True, "win_bonus": True, "moves_alone": True, "cut_off": 1200},
        {"provisional_games": 0, "initial": 1500, "by_runs": True},
        {"provisional_games": 25, "largest_change": 900, "cut_off": "0.5", "period_days": 7},
    )

    def make(self) -> Scheme:
        return SCHEME


def run(own: Player, games: Sequence[tuple[Player, float]], numbers: Settings = DEFAULT) -> Player:
    """The first player after a run with the given opponents and scores."""
    places = range(len(games))
    batch = RateableGames(
        [0 for _ in places],
        [place + 1 for place in places],
        [score for _, score in games],
        [NOW.day for _ in places],
        [0, len(games)],
        [NOW.period],
        [NOW.day],
    )
    players = [own, *(opponent for opponent, _ in games)]
    after: Player = engine.rate_one_batch(SCHEME, numbers, batch, players)[0].after
    return after


def newcomer(declared: float | None = None) -> Player:
    return enter(Newcomer(declared), DEFAULT)


def rated(rating: float, games: float = 100.0) -> Player:
    return carry(rating, games, Newcomer(), DEFAULT)


def numbers(**given: Any) -> Settings:
    return replace_settings(DEFAULT, **given)


@pytest.mark.parametrize(("score", "rating"), [(1.0, 1400.0), (0.5, 1000.0), (0.0, 600.0)])
def test_a_single_game_gives_the_performance_of_the_page(score: float, rating: float) -> None:
    assert run(newcomer(), [(rated(1000.0), score)]) == Player(rating, 1.0, score, 1000.0, 1.0)


def test_a_newcomer_counts_for_others_with_the_declared_strength() -> None:
    assert run(newcomer(), [(newcomer(2100.0), 0.5)]).rating == 2100.0
    assert run(newcomer(), [(newcomer(), 0.5)]).rating == 1000.0


def test_the_declared_strength_does_not_influence_the_own_rating() -> None:
    games = [(rated(1500.0), 1.0), (rated(2500.0), 0.5)]
    assert run(newcomer(100.0), games) == run(newcomer(2900.0), games)


def test_five_games_of_the_dummies_example_give_1069_by_equation_7() -> None:
    one_by_one = newcomer()
    for score in (0.5, 0.5, 0.5, 0.5):
        one_by_one = run(one_by_one, [(rated(1000.0), score)])
    assert one_by_one.rating == 1000.0
    assert run(one_by_one, [(rated(1000.0), 1.0)]).rating == pytest.approx(1069.0277735, abs=1e-6)


def test_all_games_so_far_count_however_they_are_cut_into_runs() -> None:
    games = [(rated(1000.0 + 40.0 * place), place % 3 / 2.0) for place in range(8)]
    cut = run(run(newcomer(), games[:3]), games[3:])
    assert cut == run(newcomer(), games)


def test_the_cut_off_holds_against_the_rating_of_the_previous_list() -> None:
    before = run(newcomer(), [(rated(1500.0), 0.5)])
    assert before.rating == 1500.0
    assert run(before, [(rated(2500.0), 0.5)]).opponent_sum == 1500.0 + 1900.0
    assert run(before, [(rated(1900.0), 0.5)]).opponent_sum == 1500.0 + 1900.0
    assert run(before, [(rated(300.0), 0.5)]).opponent_sum == 1500.0 + 1100.0


def test_iecgs_worked_example_of_a_provisional_rating() -> None:
    # iecg.org/Ratexam.htm: five games, 2 wins, 1 draw, opponents' mean 2000, then a game against 2200. It prints
    # 2088, 2033 and 1978 from p rounded to two places; the unrounded p moves them by less than 4 points.
    before = Player(2000.0, 5.0, 2.5, 10_000.0, 1.0)
    for score, printed in ((1.0, 2088.0), (0.5, 2033.0), (0.0, 1978.0)):
        assert run(before, [(rated(2200.0), score)]).rating == pytest.approx(printed, abs=4.0)
    as_printed = 12_200.0 / 6.0 + rating_difference(0.58, 800.0) * correction(0.58)
    assert as_printed == pytest.approx(2088.0, abs=1.0)


def test_who_finishes_the_tenth_game_in_a_run_is_rated_by_equation_7_once_more() -> None:
    nine = rated(1500.0, 9.0)
    games = [(rated(1500.0), 1.0), (rated(1500.0), 1.0), (rated(1500.0), 0.0)]
    after = run(nine, games)
    assert after.rating == provisional_rating(12 * 1500.0, 4.5 + 2.0, 12.0, 800.0)
    assert not SCHEME.provisional(after, DEFAULT)
    assert SCHEME.provisional(nine, DEFAULT)
    assert run(rated(1500.0, 10.0), games).rating == pytest.approx(1500.0 + 20 * 1.5 * 0.5)


@pytest.mark.parametrize("p", [0.001, 0.0099, 0.0])
def test_no_percentage_is_worth_more_than_800_points(p: float) -> None:
    assert rating_difference(p, 800.0) == -800.0
    assert rating_difference(1.0 - p, 800.0) == 800.0


def test_d_and_f_at_their_ends_and_middle() -> None:
    assert rating_difference(0.5, 800.0) == 0.0
    assert rating_difference(0.99, 800.0) == pytest.approx(400 * 1.9956351945975, abs=1e-6)
    assert (correction(0.0), correction(0.5), correction(1.0)) == (0.5, 1.0, 0.5)


@pytest.mark.parametrize(
    ("rating", "r"), [(1000, 20), (2000, 20), (2000.5, 19.9875), (2200, 15), (2399, 10.025), (2400, 10), (2800, 10)]
)
def test_r_falls_between_2000_and_2400(rating: float, r: float) -> None:
    assert r_factor(rating) == pytest.approx(r, abs=EXACT)


@pytest.mark.parametrize(
    ("games", "g"),
    [(10, 1.5), (15, 1.5), (16, 1.25), (30, 1.25), (31, 1.245), (50, 1.15), (79, 1.005), (80, 1), (999, 1)],
)
def test_g_falls_with_the_games_of_the_previous_list(games: float, g: float) -> None:
    assert g_factor(games) == pytest.approx(g, abs=EXACT)
    assert k_factor(2200.0, games) == pytest.approx(15 * g, abs=EXACT)


def test_the_games_of_one_run_are_added_up_from_the_same_rating() -> None:
    games = [(rated(1600.0), 1.0), (rated(1600.0), 0.5), (rated(2600.0), 0.0)]
    # k = 20; against the equals 10 and 0; 2600 counts as 2000: 20 (0 - 1/11)
    assert run(rated(1600.0), games).rating == pytest.approx(1600.0 + 10.0 - 20.0 / 11.0, abs=EXACT)
    assert run(rated(1600.0), games).games == 103.0


def test_k_is_that_of_the_previous_list_for_all_games_of_a_run() -> None:
    games = [(rated(1600.0), 1.0)] * 3
    assert run(rated(1600.0, 15.0), games).rating == 1600.0 + 3 * 30.0 * 0.5


def test_a_difference_of_exactly_400_is_not_cut() -> None:
    assert counted(1500.0, 1900.0, 400.0) == 1900.0
    assert counted(1500.0, 1901.0, 400.0) == 1900.0
    assert counted(1500.0, 1099.0, 400.0) == 1100.0


@pytest.mark.parametrize(
    ("rating", "r"), [(199.9, 0), (200, 0), (400, 10), (599, 19.95), (600, 20), (601, 20), (2200, 15)]
)
def test_the_low_end_of_lss(rating: float, r: float) -> None:
    assert lss_r(rating) == pytest.approx(r, abs=EXACT)


def test_the_win_bonus_of_lss() -> None:
    steps = [(1800, 0), (1801, 0.2), (2000, 0.2), (2001, 0.3), (2201, 0.5), (2301, 0.8), (2400, 0.8), (2401, 1.2)]
    for own, v in steps:
        assert bonus(own, own - 10.0) == pytest.approx(5.0 * v, abs=EXACT)
    assert bonus(2500.0, 2350.0) == 0.0
    assert bonus(2500.0, 2351.0) == pytest.approx(11.0 / 30.0 * 1.2, abs=EXACT)
    with_it, without = numbers(win_bonus=True), DEFAULT
    equal = rated(2500.0)
    assert run(equal, [(equal, 1.0)], with_it).rating - run(equal, [(equal, 1.0)], without).rating == pytest.approx(6.4)
    for score in (0.5, 0.0):
        assert run(equal, [(equal, score)], with_it) == run(equal, [(equal, score)], without)


def refused(termination: Termination, half_moves: int, given: Settings = DEFAULT) -> str:
    outcome = list(Outcome).index(Outcome.DRAW if termination is Termination.AGREEMENT else Outcome.WHITE)
    full = list(Standing).index(Standing.FULL)
    rated_game = True
    return REASONS[refuse(outcome, list(Termination).index(termination), half_moves, rated_game, full, full, given)]


@pytest.mark.parametrize("termination", [Termination.RESIGNATION, Termination.AGREEMENT])
def test_games_given_up_or_agreed_drawn_before_ten_moves_are_not_valid(termination: Termination) -> None:
    assert refused(termination, 19) == "too-short"
    assert refused(termination, 20) == ""
    assert refused(termination, HALF_MOVES_UNKNOWN) == ""


@pytest.mark.parametrize("termination", [Termination.TIME, Termination.CHECKMATE, Termination.UNKNOWN])
def test_other_short_games_are_rated_unless_the_moves_alone_decide(termination: Termination) -> None:
    assert refused(termination, 4) == ""
    assert refused(termination, 4, numbers(moves_alone=True)) == "too-short"


def test_the_first_period_of_a_year_starts_on_1_january_and_lasts_two_months() -> None:
    calendar = SCHEME.calendar(DEFAULT)
    assert (calendar.days, calendar.months, calendar.first_month, calendar.by_runs) == (0.0, 2.0, 1.0, False)


def test_who_comes_with_few_games_keeps_the_rating_while_scoring_evenly_against_equals() -> None:
    assert run(rated(1700.0, 4.0), [(rated(1700.0), 0.5)]).rating == 1700.0
    assert carry(1700.0, 10.0, Newcomer(), DEFAULT) == Player(1700.0, 10.0, 0.0, 0.0, 1.0)


def test_an_explanation_shows_each_game_of_the_run() -> None:
    own, opponents = rated(1600.0), [rated(1600.0), rated(2600.0)]
    after = run(own, [(opponents[0], 1.0), (opponents[1], 0.0)])
    meetings = (OpponentGame(opponents[0], 1.0), OpponentGame(opponents[1], 0.0, 1))
    told = explain(ExplainedPlayer(own, after), meetings, NOW, DEFAULT)
    assert told.rule == "Ro + r·g·(W - We)"
    values = {term.symbol: term.value for term in told.terms}
    assert (values["r"], values["g"], values["dR1"]) == (20.0, 1.0, 10.0)
    assert evaluate_rule(told) == pytest.approx(told.result, abs=EXACT)


def test_the_published_examples_run_through_the_public_functions() -> None:
    assert FUNCTIONS["playchess", "dummies"]({"r": 1000, "n": 4, "perf": 1400}) == 1080.0
    assert FUNCTIONS["playchess", "established"]({"ro": 2000, "pn": 80, "games": [[2600, 0]]}) == pytest.approx(
        1998.1818181818182, abs=EXACT
    )
    assert FUNCTIONS["playchess", "provisional"]({"opps": [1000], "wins": 0, "draws": 1}) == 1000.0
    assert FUNCTIONS["playchess", "lss_r"]({"ro": 400}) == 10.0


@pytest.mark.parametrize("scheme", ["playchess", "playchess-dummies"])
def test_the_cut_off_holds_for_a_rating_without_games_and_not_for_a_declared_strength(scheme: str) -> None:
    rated_by = find_scheme(scheme)
    numbers = rated_by.numbers_from({})
    opponent = rated_by.begin(Newcomer(seed=Seed(1000.0, 100.0)), numbers)
    listed = rated_by.begin(Newcomer(seed=Seed(1973.0, 0.0)), numbers)
    declared = rated_by.begin(Newcomer(declared=1973.0), numbers)
    after = [predict(rated_by, numbers, own, opponent, When(1.0, 1.0))["win"][0] for own in (listed, declared)]
    assert after == [1973.0, 1400.0], "an opponent of 1000 counts as one of 1573"
