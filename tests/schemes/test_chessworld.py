"""The ChessWorld scheme against the numbers and the promises of its FAQ.

Source of the published numbers: ChessWorld rating FAQ, http://www.letsplaychess.com/chessclubs/faq_ratingsystem.asp.
A *derived* one follows from the FAQ's words by hand.
"""

from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.facts.words import Outcome, Standing, Termination
from ledger.ratings import engine
from ledger.runtime.records import flat_of
from ledger.schemes.chessworld import (
    DEFAULT,
    SCHEME,
    Player,
    Settings,
    capped,
    carry,
    enter,
    expected_score,
    explain,
    game_points,
    k_factor,
    rate_game,
    refuse,
    scale,
    strength,
)
from ledger.schemes.chessworld import provisional as is_provisional
from ledger.schemes.scheme import HALF_MOVES_UNKNOWN, REASONS, ExplainedPlayer, Newcomer, OpponentGame, Scheme, When
from ledger.testing.scheme_contract import SchemeContract, evaluate_rule
from tests.vectors.published import rating_class

EXACT = 1e-9
# A state is (rating, rated games, sum of game points).
State = tuple[float, float, float]
WHITE_WINS, DRAWN, BLACK_WINS = 1.0, 0.5, 0.0
THEN = When(period=0.0, day=13_149.0)  # 1 January 2006; the scheme asks for no time

ratings = st.floats(0, 4000)
provisional = st.builds(lambda n, mean: (mean, float(n), mean * n), st.integers(1, 49), ratings)
established = st.builds(lambda n, rating: (rating, float(n), 0.0), st.integers(50, 5000), ratings)
newcomers = st.builds(lambda rating: (rating, 0.0, 0.0), ratings)
anybody = newcomers | provisional | established


class TestReadings(SchemeContract):
    settings: ClassVar = (
        {"include_initial": True},
        {"count_current": False},
        {"provisional_games": 0},
        {"provisional_games": 5},
        {"provisional_games": 5, "include_initial": True, "count_current": False},
        {"initial": "1200.5", "cap": 0, "k_highest": "24.75", "k_lowest": 24},
        {"provisional_games": 1, "bonus": "999999999999", "cap": "999999999999.5"},
    )
    score_decides = True

    def make(self) -> Scheme:
        return SCHEME


def played(own: State, opponent: State, score: float, numbers: Settings = DEFAULT) -> tuple[State, State]:
    """Both states after a game of the first with White."""
    white, black = Player(*own), Player(*opponent)
    rate_game(white, black, score, THEN.day, numbers)
    return state_of(white), state_of(black)


def state_of(player: Player) -> State:
    rating, games, points = flat_of(player)
    return rating, games, points


def after(own: State, opponent: State, score: float, numbers: Settings = DEFAULT) -> State:
    return played(own, opponent, score, numbers)[0]


def run(games: Sequence[tuple[float, float]], numbers: Settings = DEFAULT, declared: int | None = None) -> list[float]:
    """Ratings of a newcomer after each of his games: (opponent's rating, score)."""
    state = state_of(enter(Newcomer(declared), numbers))
    shown = []
    for opponent, score in games:
        state = after(state, (opponent, 99.0, 0.0), score, numbers)
        shown.append(state[0])
    return shown


def reason(
    outcome: Outcome = Outcome.WHITE,
    termination: Termination = Termination.RESIGNATION,
    half_moves: int = 61,
    *,
    rated: bool = True,
    white: Standing = Standing.FULL,
    black: Standing = Standing.FULL,
) -> str:
    """Why a game does not count, empty for one that does."""
    how = list(Outcome).index(outcome), list(Termination).index(termination)
    standings = list(Standing).index(white), list(Standing).index(black)
    return REASONS[refuse(*how, half_moves, rated, *standings, DEFAULT)]


@pytest.mark.parametrize(
    ("rating", "k"),
    [
        (2355, 24.45),  # official: the FAQ's own example
        (1600, 32),
        (3200, 16),
        (1000, 32),
        (2400, 24),  # derived: both ends are continuous
        (0, 32),
        (4000, 16),
        (1601, 31.99),
        (3199, 16.01),
    ],
)
def test_k(rating: float, k: float) -> None:
    assert k_factor(rating, DEFAULT) == pytest.approx(k, abs=EXACT)


@pytest.mark.parametrize(
    ("own", "opponent", "counts_as"),
    [
        (1200, 2700, 1520),  # official: the FAQ's own example
        (1200, 1520, 1520),
        (1200, 1521, 1520),
        (1900, 1000, 1580),
        (1900, 1580, 1580),
        (1500, 1500, 1500),
    ],
)
def test_an_opponent_counts_as_at_most_320_points_away(own: float, opponent: float, counts_as: float) -> None:
    assert capped(own, opponent, DEFAULT) == counts_as


@pytest.mark.parametrize(
    ("own", "opponent", "score", "points"),
    [
        (1200, 2700, BLACK_WINS, 1120),  # derived: own - 80, "cannot gain points from losing"
        (1900, 1000, WHITE_WINS, 1980),  # derived: own + 80, a win never lowers
        (1400, 1500, WHITE_WINS, 1900),
        (1400, 1500, DRAWN, 1500),
        (1400, 1500, BLACK_WINS, 1100),
    ],
)
def test_game_points(own: float, opponent: float, score: float, points: float) -> None:
    assert game_points(own, opponent, score, DEFAULT) == points


@pytest.mark.parametrize(
    ("games", "shown"),
    [
        ([(1400, 1.0)], [1800.0]),  # derived: "massive fluctuations within the first few games"
        ([(1400, 1.0), (2700, 0.0), (1400, 0.5)], [1800.0, 1760.0, 4960 / 3]),  # points 1800, 1720, 1440
        ([(1400, 0.5)] * 4, [1400.0] * 4),
    ],
)
def test_a_provisional_rating_is_the_mean_of_the_game_points(
    games: list[tuple[float, float]], shown: list[float]
) -> None:
    assert run(games) == pytest.approx(shown, abs=EXACT)


@pytest.mark.parametrize(
    ("opponents_games", "rating"),
    [
        (16, 2000 + 28 * 0.5 / 3),  # derived: the 17th game of the opponent, n/51 = 1/3
        (50, 2014.0),
        (51, 2014.0),
        (400, 2014.0),  # derived: no longer provisional
        (0, 2000 + 28 * 0.5 / 51),
        (49, 2000 + 28 * 0.5 * 50 / 51),
    ],
)
def test_elo_against_an_equal_scales_k_by_n_of_51(opponents_games: float, rating: float) -> None:
    own, opponent = (2000.0, 200.0, 0.0), (2000.0, opponents_games, 2000.0 * opponents_games)
    assert after(own, opponent, WHITE_WINS)[0] == pytest.approx(rating, abs=EXACT)


def test_a_full_elo_game_of_unequal_players() -> None:
    # 1800 beats 2200: E = 1/11, K = 30 and 26
    white, black = played((1800.0, 60.0, 0.0), (2200.0, 60.0, 0.0), WHITE_WINS)
    assert white[0] == pytest.approx(1800 + 30 * 10 / 11, abs=EXACT)
    assert black[0] == pytest.approx(2200 - 26 * 10 / 11, abs=EXACT)


@pytest.mark.parametrize(
    ("difference", "expected"), [(0, 0.5), (400, 10 / 11), (-400, 1 / 11), (800, 100 / 101), (-200, 0.2402530733520421)]
)
def test_expected_score(difference: float, expected: float) -> None:
    own, opponent = Player(2000.0 + difference), Player(2000.0)
    assert expected_score(own, opponent, DEFAULT) == pytest.approx(expected, abs=EXACT)
    assert expected_score(opponent, own, DEFAULT) == pytest.approx(1 - expected, abs=EXACT)


@pytest.mark.parametrize(
    ("rating", "letter", "group"),
    [  # official
        (1399, "A", "Beginner"), (1400, "B", "Beginner"), (1600, "B", "Beginner"), (1601, "B", "Intermediate"),
        (1879, "B", "Intermediate"), (1880, "C", "Intermediate"), (2199, "C", "Intermediate"),
        (2200, "D", "Intermediate"), (2400, "D", "Intermediate"), (2401, "D", "Advanced"),
    ],
)  # fmt: skip
def test_classes_and_strengths(rating: int, letter: str, group: str) -> None:
    assert (rating_class(rating), strength(rating)) == (letter, group)


@pytest.mark.parametrize(
    ("half_moves", "termination", "refused"),
    [  # official: "only games longer than 10 half moves", checkmate excepted
        (10, Termination.RESIGNATION, "too-short"),
        (11, Termination.RESIGNATION, ""),
        (4, Termination.CHECKMATE, ""),
        (10, Termination.CHECKMATE, ""),
        (0, Termination.TIME, "too-short"),
        (HALF_MOVES_UNKNOWN, Termination.RESIGNATION, ""),
    ],
)
def test_short_games_count_only_when_mate_ended_them(half_moves: int, termination: Termination, refused: str) -> None:
    assert reason(termination=termination, half_moves=half_moves) == refused


@pytest.mark.parametrize(("white", "black"), list(product(Standing, repeat=2)))
def test_a_guest_is_rated_against_a_welcomer_only(white: Standing, black: Standing) -> None:
    pair = {white, black}
    counts = Standing.GUEST not in pair or pair == {Standing.GUEST, Standing.WELCOMER}
    assert reason(white=white, black=black) == ("" if counts else "guest")


def test_a_game_given_up_by_both_is_not_rated() -> None:
    assert reason(Outcome.NONE, Termination.ABANDONMENT) == "abandoned-by-both"
    assert reason(Outcome.WHITE, Termination.ABANDONMENT) == ""


def test_games_without_a_result_casual_games_and_forfeits_are_not_rated() -> None:
    assert reason(Outcome.NONE) == "unfinished"
    assert reason(rated=False) == "casual"
    assert reason(termination=Termination.UNPLAYED) == "unplayed"


def test_of_several_reasons_the_first_of_the_list_is_named() -> None:
    worst = partial(reason, half_moves=0, rated=False, white=Standing.GUEST)
    assert worst(Outcome.NONE, Termination.UNPLAYED) == "unplayed"
    assert worst(Outcome.NONE, Termination.ABANDONMENT) == "abandoned-by-both"
    assert worst() == "casual"
    assert worst(rated=True) == "too-short"


@given(own=newcomers | provisional, opponent=anybody)
def test_a_provisional_player_never_gains_by_losing_nor_loses_by_winning(own: State, opponent: State) -> None:
    won, lost = after(own, opponent, WHITE_WINS)[0], after(own, opponent, BLACK_WINS)[0]
    # The mean of n numbers, each half a unit in the last place off, may miss by as little; 80/50 points do not drown.
    assert won > own[0] > lost
    assert won - lost == pytest.approx(800 / (own[1] + 1))


@given(own=established, opponent=anybody)
def test_an_established_player_never_gains_by_losing_nor_loses_by_winning(own: State, opponent: State) -> None:
    assert after(own, opponent, WHITE_WINS)[0] >= own[0] >= after(own, opponent, BLACK_WINS)[0]


@given(own=anybody, opponent=anybody)
def test_a_better_result_never_gives_less(own: State, opponent: State) -> None:
    lost, drew, won = (after(own, opponent, score)[0] for score in (BLACK_WINS, DRAWN, WHITE_WINS))
    assert lost <= drew <= won


@given(own=provisional, opponent=st.floats(0, 3000))
def test_playing_anybody_stronger_than_320_points_more_has_no_impact(own: State, opponent: float) -> None:
    far = own[0] + 320 + opponent
    for score in (WHITE_WINS, DRAWN, BLACK_WINS):
        assert after(own, (far, 99.0, 0.0), score) == after(own, (own[0] + 320, 99.0, 0.0), score)


@given(own=established, opponent=established, score=st.sampled_from([0.0, 0.5, 1.0]))
def test_elo_from_game_51_takes_the_whole_difference_and_keeps_the_sum_of_points(
    own: State, opponent: State, score: float
) -> None:
    rating, games, points = after(own, opponent, score)
    expected = 1 / (1 + 10 ** ((opponent[0] - own[0]) / 400))
    assert rating == pytest.approx(own[0] + k_factor(own[0], DEFAULT) * (score - expected), abs=1e-8)
    assert (games, points) == (own[1] + 1, own[2])


@given(own=anybody, opponent=anybody, score=st.sampled_from([0.0, 0.5, 1.0]))
def test_colours_do_not_matter(own: State, opponent: State, score: float) -> None:
    white, black = played(own, opponent, score)
    assert played(opponent, own, 1 - score) == (black, white)


def test_game_50_is_the_last_by_the_mean_and_game_51_the_first_by_elo() -> None:
    opponent = (1500.0, 300.0, 0.0)
    fiftieth = after((1500.0, 49.0, 49 * 1500.0), opponent, WHITE_WINS)
    assert fiftieth == pytest.approx(((49 * 1500 + 1900) / 50, 50, 49 * 1500 + 1900))
    next_one = after(fiftieth, (fiftieth[0], 300.0, 0.0), WHITE_WINS)
    assert next_one == pytest.approx((fiftieth[0] + 16, 51, fiftieth[2]))


def test_n_of_51_grows_to_one_without_a_jump() -> None:
    assert [scale(float(n), DEFAULT) for n in range(1, 51)] == [n / 51 for n in range(1, 51)]
    assert scale(51.0, DEFAULT) == scale(5000.0, DEFAULT) == 1.0
    before = SCHEME.numbers_from({"count_current": False})
    assert [scale(float(n), before) for n in (1, 50, 51)] == [0.0, 49 / 51, 1.0]


def test_a_newcomer_enters_at_1400_or_at_the_rating_he_declares() -> None:
    assert enter(Newcomer(), DEFAULT) == Player(1400.0, 0.0, 0.0)
    assert enter(Newcomer(1150, 1990, 13_149.0), DEFAULT) == Player(1150.0, 0.0, 0.0)
    # it serves as his own rating for the cap, and as the opponent's for others
    assert run([(2700, 0.0)], declared=1150) == [1150 + 320 - 400]
    assert after((2000.0, 99.0, 0.0), (1150.0, 0.0, 0.0), DRAWN)[0] < 2000


def test_a_rating_is_provisional_until_50_games_are_rated() -> None:
    players = Player(1400.0, 49.0, 49 * 1400.0), Player(1400.0, 50.0, 50 * 1400.0)
    assert [is_provisional(player, DEFAULT) for player in players] == [True, False]
    longer = SCHEME.numbers_from({"provisional_games": 51})
    assert [is_provisional(player, longer) for player in players] == [True, True]


@pytest.mark.parametrize("settings", [{}, {"include_initial": True}])
@pytest.mark.parametrize("games", [0.0, 7.0, 50.0, 51.0, 400.0])
def test_who_comes_from_another_scheme_keeps_rating_and_count_and_the_mean_goes_on_from_there(
    games: float, settings: dict[str, int | bool | str]
) -> None:
    numbers = SCHEME.numbers_from(settings)
    player = carry(1700.0, games, Newcomer(), numbers)
    assert (player.rating, player.games) == (1700.0, games)
    # a draw with an equal opponent is worth 1700 points, and moves neither a mean of 1700 nor an Elo rating of 1700
    assert after(state_of(player), (1700.0, 99.0, 0.0), DRAWN, numbers)[0] == pytest.approx(1700.0)


def test_with_the_initial_rating_in_the_mean_one_win_gives_half_as_much() -> None:
    reading = SCHEME.numbers_from({"include_initial": True})
    assert run([(1400, 1.0), (1600, 1.0)], reading) == pytest.approx([1600, (1400 + 1800 + 2000) / 3])


CASES: dict[str, tuple[State, State, dict[str, int | bool | str], str]] = {
    "first game": ((1400.0, 0.0, 0.0), (2700.0, 10.0, 27_000.0), {}, "(S + p) / n"),
    "50th game": ((1510.0, 49.0, 73_990.0), (1480.0, 70.0, 0.0), {}, "(S + p) / n"),
    "51st game": ((1510.0, 50.0, 75_500.0), (1480.0, 70.0, 0.0), {}, "r1 + K·(w - E)"),
    "provisional opponent": ((2355.0, 90.0, 0.0), (2100.0, 16.0, 33_600.0), {}, "r1 + K·(n/51)·(w - E)"),
    "initial in the mean": (
        (1400.0, 0.0, 0.0),
        (1500.0, 3.0, 4500.0),
        {"include_initial": True},
        "(S + p) / (n + 1), S with the initial rating",
    ),
}


@pytest.mark.parametrize(("own", "opponent", "settings", "rule"), CASES.values(), ids=CASES)
@pytest.mark.parametrize("score", [1.0, 0.5, 0.0])
def test_the_terms_of_an_explanation_give_its_result(
    own: State, opponent: State, settings: dict[str, int | bool | str], rule: str, score: float
) -> None:
    numbers = SCHEME.numbers_from(settings)
    mine = after(own, opponent, score, numbers)
    explained = ExplainedPlayer(Player(*own), Player(*mine))
    told = explain(explained, [OpponentGame(Player(*opponent), score)], THEN, numbers)
    assert told.rule == rule
    assert told.result == told.unrounded == mine[0]
    assert evaluate_rule(told) == pytest.approx(told.result, abs=EXACT)
    values = {term.symbol: term.value for term in told.terms}
    assert (values["r1"], values["r2"], values["w"]) == (own[0], opponent[0], score)
    assert "ChessWorld rating FAQ" in told.source


def test_a_capped_opponent_is_shown_with_both_numbers() -> None:
    own, opponent = (1200.0, 5.0, 6000.0), (2700.0, 99.0, 0.0)
    explained = ExplainedPlayer(Player(*own), Player(*after(own, opponent, 0.0)))
    told = explain(explained, [OpponentGame(Player(*opponent), 0.0, colour=1)], THEN, DEFAULT)
    values = {term.symbol: term.value for term in told.terms}
    assert (values["r2"], values["r2'"], values["p"], values["n"]) == (2700, 1520, 1120, 6)


@given(own=anybody, opponent=anybody)
def test_a_prediction_is_what_the_game_then_brings(own: State, opponent: State) -> None:
    foretold = engine.predict(SCHEME, DEFAULT, own, opponent, THEN)
    assert foretold == {
        word: after(own, opponent, score) for word, score in (("win", 1.0), ("draw", 0.5), ("loss", 0.0))
    }
