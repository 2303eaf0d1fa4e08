"""The running mean of PlayChess against the page's example, and where it ends."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from ledger.schemes.playchess_dummies import DEFAULT, SCHEME, Player, Settings, enter, mean_with, performance, rate_game
from ledger.schemes.scheme import Newcomer, Scheme
from ledger.schemes.settings import replace_settings
from ledger.testing import SchemeContract

State = tuple[float, float]


class TestPlayChessDummies(SchemeContract):
    settings: ClassVar[Sequence[Mapping[str, int | bool | str]]] = (
        {},
        {"mean_games": 1_000_000, "moves_alone": True},
        {"mean_games": 0, "cut_off": 1200, "worth": 350},
    )

    def make(self) -> Scheme:
        return SCHEME


def played(own: State, opponent: State, score: float, numbers: Settings = DEFAULT) -> tuple[State, State]:
    """Rating and games of both after a game; with games before it a player has a rating."""
    white, black = (Player(*side, has_rating=side[1] > 0.0) for side in (own, opponent))
    rate_game(white, black, score, 0.0, numbers)
    return (white.rating, white.games), (black.rating, black.games)


def test_the_pages_example_gives_1080_and_800() -> None:
    assert played((1000.0, 4.0), (1000.0, 1.0), 1.0) == ((1080.0, 5.0), (800.0, 2.0))
    assert mean_with(1000.0, 4.0, 1400.0) == 1080.0


def test_players_of_the_same_strength_keep_their_ratings_by_drawing() -> None:
    assert played((1000.0, 4.0), (1000.0, 1.0), 0.5) == ((1000.0, 5.0), (1000.0, 2.0))


def test_the_first_game_replaces_the_declared_strength() -> None:
    start = enter(Newcomer(2000.0), DEFAULT)
    assert played((start.rating, start.games), (1500.0, 20.0), 0.0)[0] == (1100.0, 1.0)


def test_a_win_over_a_stronger_player_is_worth_more_up_to_the_cut_off() -> None:
    assert performance(1000.0, 3.0, 1200.0, 1.0, DEFAULT) == 1600.0
    assert performance(1000.0, 3.0, 1400.0, 1.0, DEFAULT) == 1800.0
    assert performance(1000.0, 3.0, 2000.0, 1.0, DEFAULT) == 1800.0
    assert performance(1000.0, 0.0, 2000.0, 1.0, DEFAULT) == 2400.0, "no rating of one's own yet"


def test_a_win_never_lowers_a_rating() -> None:
    for opponent in (0.0, 600.0, 900.0):
        assert played((1500.0, 5.0), (opponent, 5.0), 1.0)[0][0] >= 1500.0


def test_the_tenth_game_is_the_last_of_the_mean() -> None:
    assert played((1000.0, 9.0), (1000.0, 9.0), 1.0)[0][0] == 1040.0
    assert played((1000.0, 10.0), (1000.0, 9.0), 1.0)[0][0] == 1000.0 + 20 * 1.5 * 0.5
    for_ever = replace_settings(DEFAULT, mean_games=1_000_000.0)
    assert played((1000.0, 99.0), (1000.0, 9.0), 1.0, for_ever)[0][0] == 1004.0
