"""The English grade against published numbers, and hand-worked seasons.

Published: camberleychess.co.uk/articles/grading.htm (game points of 110 against 170), mjh.orpheusweb.co.uk/nulcc (the
40-point rule), liquisearch.com and englishchess.org.uk (equivalences). The rest is worked out from the rule's words.
"""

from collections.abc import Sequence

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.ratings import engine
from ledger.runtime.columns import FEW
from ledger.schemes import ecf_grade
from ledger.schemes.ecf_grade import DEFAULT, SCHEME, Player, category, counted, expected_score, game_points
from ledger.schemes.scheme import Newcomer, Scheme
from ledger.testing import SchemeContract
from tests.vectors.published import elo_2020, season_grade, season_grade_by_percentage

Game = tuple[int, float]  # opponent's grade, own score
EXACT = 1e-9


class TestEcfGrade(SchemeContract):
    settings = (
        {},
        {"by_average": True, "rounded": False, "full_games": 12},
        {"period_months": 6, "first_month": 1, "season_lists": 2, "listed_games": 5},
        {"estimate": False, "season_lists": 2, "by_average": True, "cap": 60},
    )

    def make(self) -> Scheme:
        return SCHEME


def seasons(own: int | None, *lists: Sequence[Game], begins: int = 50, **settings: int | bool) -> Player:
    """Player 0 after lists of games against ever new opponents; an empty list is a period without games."""
    numbers = SCHEME.numbers_from(settings)
    opponents = [opponent for games in lists for opponent, _score in games]
    state = engine.initial_states(SCHEME, numbers, [Newcomer(own), *map(Newcomer, opponents)])
    met = 0
    for period, games in enumerate(lists, start=begins):
        if games:
            others = list(range(met + 1, met + len(games) + 1))
            met += len(games)
            n = len(games)
            part = engine.RateableGames(
                [0] * n, others, [score for _other, score in games], [0.0] * n, [0, n], [float(period)], [0.0]
            )
            engine.rate(FEW, SCHEME, numbers, part, state, [0] * (len(opponents) + 1))
    player: Player = SCHEME.player_of(state)
    return player


def grade(own: int | None, *lists: Sequence[Game], **settings: int | bool) -> float:
    return seasons(own, *lists, **settings).rating


def test_lists_of_days_before_1970_whose_numbers_lie_below_zero_grow_old_as_all_do() -> None:
    games: tuple[list[Game], ...] = ([(150, 1.0)] * 30, [], [], [], [(150, 0.5)])
    late, early = (seasons(150, *games, begins=begins, period_days=365) for begins in (50, -50))
    assert (early.period, late.period) == (-46.0, 54.0)
    assert attrs.evolve(early, period=54.0) == late


@pytest.mark.parametrize(
    ("own", "opponent", "score", "points"),
    [
        (110, 170, 1, 200),
        (170, 110, 0, 80),
        (110, 170, 0, 100),
        (170, 110, 1, 180),
        (110, 170, 0.5, 150),
        (170, 110, 0.5, 130),
    ],
)
def test_published_game_points(own: float, opponent: float, score: float, points: float) -> None:
    assert game_points(own, opponent, score, DEFAULT) == points


@pytest.mark.parametrize(
    ("opponent", "counts"), [(100, 110), (109, 110), (110, 110), (111, 111), (190, 190), (191, 190)]
)
def test_a_difference_of_more_than_40_counts_as_40(opponent: float, counts: float) -> None:
    assert counted(150, opponent, DEFAULT) == counts


@given(st.floats(0, 300), st.floats(0, 300))
def test_a_win_never_lowers_and_a_loss_never_raises(own: float, opponent: float) -> None:
    assert game_points(own, opponent, 1.0, DEFAULT) >= own + 10.0 - EXACT
    assert game_points(own, opponent, 0.0, DEFAULT) <= own - 10.0 + EXACT


@given(st.floats(0, 300), st.lists(st.tuples(st.floats(0, 300), st.sampled_from((0.0, 0.5, 1.0))), min_size=1))
def test_average_of_opponents_plus_percentage_less_50_is_the_same(own: float, games: list[tuple[float, float]]) -> None:
    opponents, scores = zip(*games, strict=True)
    by_points = season_grade(own, opponents, scores, DEFAULT)
    assert by_points == pytest.approx(season_grade_by_percentage(own, opponents, scores, DEFAULT), abs=1e-9)


FIVE: Sequence[Game] = ((140, 1.0), (155, 0.5), (120, 0.0), (190, 1.0), (90, 1.0))


def test_a_season_is_the_mean_of_its_game_points() -> None:
    assert grade(140, FIVE) == 159.0


def test_thirty_games_of_a_season_stand_alone() -> None:
    assert grade(100, [(100, 1.0)] * 30, [(150, 0.5)] * 30) == 150.0
    assert grade(100, [(100, 1.0)] * 30, [(150, 0.5)] * 40) == 150.0


def test_fewer_than_thirty_are_made_up_by_the_most_recent_earlier_ones() -> None:
    # 10 losses, then 20 wins: 20 games of the next season are joined by 10 of those wins.
    first = [(100, 0.0)] * 10 + [(100, 1.0)] * 20
    assert seasons(100, first).rating == 117.0  # (10·50 + 20·150) / 30 = 116.67
    assert grade(100, first, [(117, 0.5)] * 20) == 128.0  # (20·117 + 10·150) / 30
    assert grade(100, first, [(117, 0.5)] * 29) == 118.0  # (29·117 + 150) / 30 = 118.1
    assert grade(100, first, [(117, 0.5)]) == 119.0  # (117 + 20·150 + 9·50) / 30 = 118.9


def test_half_a_grade_by_averages_goes_up_whatever_float_is_next_to_it() -> None:
    # 39 games worth 4995, of which 26 count for 3330, and 4 worth 285: 3615 of 30 games are 120.5
    first = [(128, 0.5)] * 38 + [(131, 0.5)]
    second = [(78, 0.5)] * 3 + [(51, 0.5)]
    assert grade(128, first) == 128.0
    settings = {"by_average": True, "cap": 100}
    assert grade(128, first, second, **settings, rounded=False) == 120.5
    assert grade(128, first, second, **settings) == 121.0


def test_earlier_games_may_count_by_their_lists_averages() -> None:
    first = [(100, 0.0)] * 10 + [(100, 1.0)] * 20
    # 20 games of 117 and 10 at the average of 3500 / 30
    assert grade(100, first, [(117, 0.5)] * 20, by_average=True) == 117.0
    # the nearer season whole (5 of 150), of the farther one 20 at the average of 25 losses (50)
    assert grade(100, [(100, 0.0)] * 25, [(50, 1.0)] * 5, [(60, 0.5)] * 5, by_average=True, rounded=False) == (
        pytest.approx((20 * 50 + 5 * 100 + 5 * counted((5 * 100 + 25 * 50) / 30, 60, DEFAULT)) / 30)
    )


def test_games_of_three_seasons_ago_are_gone() -> None:
    old = [(100, 1.0)] * 20
    assert grade(100, old, [], [], [(150, 0.5)]) == 150.0
    assert grade(100, old, [], [(150, 0.5)]) == 150.0  # (150 + 20·150) / 21
    assert grade(100, [(100, 0.0)] * 20, [], [(50, 0.5)]) == 50.0
    assert grade(100, [(100, 0.0)] * 20, [], [], [(90, 0.5)]) == 90.0


def test_half_yearly_lists_count_the_last_twelve_months() -> None:
    halves = {"period_months": 6, "first_month": 1, "season_lists": 2}
    first, second = [(100, 1.0)] * 25, [(150, 0.5)] * 25
    assert grade(100, first, second, **halves) == 150.0  # 50 games of two halves
    assert grade(100, first, [], [(150, 0.0)] * 30, **halves) == 100.0  # the first half has left the season
    assert grade(100, first, [(150, 0.0)] * 30, **halves) == 123.0  # (25·150 + 30·100) / 55
    # five halves ago is within three seasons, six halves ago is not
    assert grade(100, first, [], [], [], [], [(150, 1.0)], **halves) == 152.0  # (25·150 + 200) / 26
    assert grade(100, first, [], [], [], [], [], [(150, 1.0)], **halves) == 200.0


def test_the_latest_game_is_remembered_first() -> None:
    player = seasons(100, [(100, 1.0), (100, 0.0)])
    assert player.points[:3] == [50.0, 150.0, 0.0]


def test_an_ungraded_player_starts_from_the_plain_performance() -> None:
    # 3 wins and a draw against 120: 120 + 37.5 -> 158; from there 120 counts as 120, so the grade is the same
    assert grade(None, [(120, 1.0)] * 3 + [(120, 0.5)]) == 158.0
    # all won against 60 and 160: starting grade 160; 60 then counts as 120
    assert grade(None, [(60, 1.0), (160, 1.0)]) == 190.0


def test_an_ungraded_player_may_start_from_100_instead() -> None:
    assert grade(None, [(170, 1.0)], estimate=False) == 190.0


def test_two_ungraded_players_know_of_each_other_only_that_they_are_ungraded() -> None:
    state = engine.initial_states(SCHEME, DEFAULT, [Newcomer(), Newcomer()])
    engine.rate(FEW, SCHEME, DEFAULT, engine.RateableGames([0], [1], [1.0], [0.0], [0, 1], [7.0], [0.0]), state, [0, 0])
    # starting grades 150 and 50, each at most 40 from the other
    assert (state[0], state[len(SCHEME.state)]) == (160.0, 40.0)


def test_a_graded_player_meets_an_ungraded_one_at_the_starting_grade() -> None:
    state = engine.initial_states(SCHEME, DEFAULT, [Newcomer(150), Newcomer(None), Newcomer(130)])
    games = engine.RateableGames([0, 1], [1, 2], [1.0, 0.5], [0.0, 0.0], [0, 2], [7.0], [0.0])
    engine.rate(FEW, SCHEME, DEFAULT, games, state, [0, 0, 0])
    # the newcomer: 140 - 25 = 115; the winner: 115 + 50; the other: 115 + 0
    assert (state[0], state[2 * len(SCHEME.state)]) == (165.0, 115.0)


@pytest.mark.parametrize(
    ("now", "two", "three", "letter"),
    [(30, 30, 30, "A"), (29, 30, 30, "B"), (20, 30, 30, "B"), (19, 30, 30, "C"), (10, 10, 30, "C"), (9, 30, 30, "D"),
     (5, 15, 15, "D"), (5, 14, 14, "E"), (1, 9, 9, "E"), (1, 8, 8, "F"), (1, 5, 5, "F"), (1, 4, 4, ""),
     (0, 29, 60, "")],
)  # fmt: skip
def test_categories(now: int, two: int, three: int, letter: str) -> None:
    assert category(now, two, three) == letter


def test_categories_of_earlier_years() -> None:
    assert category(1, 9, 9, for_e=10, for_f=10) == ""
    assert category(1, 10, 10, for_e=10, for_f=10) == "E"


def test_a_list_shows_who_has_ten_games_in_three_seasons_and_one_in_the_latest() -> None:
    nine, one = [(100, 0.5)] * 9, [(100, 0.5)]
    assert not SCHEME.listed(seasons(100, nine), DEFAULT)
    player = seasons(100, nine, one)
    assert SCHEME.listed(player, DEFAULT)
    assert SCHEME.provisional(player, DEFAULT)
    SCHEME.at(player, 52.0, 0.0, DEFAULT)  # the list of the latest season is in force all through the next
    assert SCHEME.listed(player, DEFAULT)
    SCHEME.at(player, 53.0, 0.0, DEFAULT)
    assert not SCHEME.listed(player, DEFAULT)
    assert player.rating == 100.0
    assert not SCHEME.provisional(seasons(100, nine * 4), DEFAULT)


def test_time_passed_in_steps_is_time_passed_at_once() -> None:
    at_once, in_steps = (seasons(100, FIVE, FIVE) for _ in range(2))
    SCHEME.at(at_once, 55.0, 0.0, DEFAULT)
    for period in range(50, 56):
        SCHEME.at(in_steps, float(period), 0.0, DEFAULT)
    assert at_once == in_steps


def test_who_comes_from_another_scheme_is_graded() -> None:
    player = ecf_grade.carry(150.0, 12.0, Newcomer(), DEFAULT)
    assert (player.rating, player.games) == (150.0, 12.0)
    assert ecf_grade.is_graded(player)


def test_equivalences() -> None:
    assert [ecf_grade.elo(100), ecf_grade.elo(200)] == [1400, 2200]
    assert [elo_2020(150), elo_2020(200)] == [1825, 2200]


def test_the_expected_score_leaves_the_grade_as_it_is() -> None:
    expected = expected_score(Player(150), Player(130), DEFAULT)
    assert expected == pytest.approx(0.7)
    assert game_points(150, 130, expected, DEFAULT) == pytest.approx(150)
