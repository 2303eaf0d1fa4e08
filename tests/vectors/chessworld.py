"""Published examples of the ChessWorld scheme, answered by its public functions."""

from math import floor

from ledger.schemes.chessworld import (
    SCHEME,
    Player,
    Settings,
    capped,
    enter,
    expected_score,
    game_points,
    k_factor,
    rate_side,
    refuse,
    strength,
)
from ledger.schemes.scheme import ENDED_CHECKMATE, HALF_MOVES_UNKNOWN, OUTCOME_WHITE, STANDING_FULL, Newcomer
from tests.vectors.comparing import Functions, Inputs
from tests.vectors.published import rating_class

RESIGNED = ENDED_CHECKMATE + 1
SWITCHES = ("include_initial", "count_current")
ESTABLISHED = 99.0  # rated games of an opponent of whom nothing is said


def _numbers(given: Inputs) -> Settings:
    numbers: Settings = SCHEME.numbers_from({name: given[name] for name in SWITCHES if given.get(name) is not None})
    return numbers


def _shown(rating: float) -> int:
    """To the nearest point: classes and strengths are ranges of whole numbers."""
    return floor(rating + 0.5)


def _rate(player: Player, opponent: float, opponent_games: float, score: float, numbers: Settings) -> None:
    """One game of one player, who is changed; the opponent's games have it in them."""
    player.games += 1.0
    expected = expected_score(player, Player(opponent), numbers)
    rate_side(player, opponent, opponent_games, score, expected, numbers)


def _provisional(given: Inputs) -> list[float]:
    numbers, shown = _numbers(given), []
    player = enter(Newcomer(given.get("initial")), numbers)
    for opponent, score in given["games"]:
        _rate(player, float(opponent), ESTABLISHED, float(score), numbers)
        shown.append(player.rating)
    return shown


def _elo(given: Inputs) -> float:
    """The game after the provisional ones; ``n_opp`` counts it among the opponent's games."""
    numbers, n = _numbers(given), given.get("n_opp")
    player = Player(float(given["r1"]), numbers.provisional_games)
    opponent_games = ESTABLISHED if n is None else float(n)
    _rate(player, float(given["r2"]), opponent_games, float(given["w"]), numbers)
    return player.rating


def _rateable(given: Inputs) -> bool:
    plies = HALF_MOVES_UNKNOWN if given.get("plies") is None else given["plies"]
    ended = ENDED_CHECKMATE if given.get("checkmate") else RESIGNED
    return not refuse(OUTCOME_WHITE, ended, plies, True, STANDING_FULL, STANDING_FULL, _numbers(given))  # noqa: FBT003


FUNCTIONS: Functions = {
    ("chessworld", "k"): lambda given: k_factor(given["r"], _numbers(given)),
    ("chessworld", "opp"): lambda given: capped(given["own"], given["opp"], _numbers(given)),
    ("chessworld", "points"): lambda given: game_points(given["own"], given["opp"], given["score"], _numbers(given)),
    ("chessworld", "provisional"): _provisional,
    ("chessworld", "elo"): _elo,
    ("chessworld", "class"): lambda given: rating_class(_shown(given["r"])),
    ("chessworld", "strength"): lambda given: strength(_shown(given["r"])),
    ("chessworld", "rateable"): _rateable,
}
