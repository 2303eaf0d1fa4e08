"""The "Rating Scheme for Dummies" of PlayChess: the running mean of the performances, game by game.

Source: PlayChess rating page, version 6.02 of 2008-03-31. Its example, 1080 and 800, is this scheme's and contradicts
eq. (7) of the same page, which ``playchess`` follows. The mean is for the first games only: "The ratings of experienced
players (more than 10 games) are calculated by a more complicated formula." From the eleventh game on that formula is
here the page's own dR = k·(W - We), game by game, with the rating and the number of games before the game in the place
of those of the previous list; a larger ``mean_games`` keeps the mean. Only this scheme's rules live here.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from ledger.schemes.playchess import (
    GAMES_PAGE,
    PAGE,
    change,
    counted,
    expected_score,
    explain_established,
    k_factor,
    r_factor,
    refuse,
)
from ledger.schemes.scheme import (
    ExplainedPlayer,
    Explanation,
    Newcomer,
    OpponentGame,
    Scheme,
    Seed,
    Term,
    When,
    accept_every_rating,
    state,
)
from ledger.schemes.settings import numbers_of, require_not_negative, require_positive, require_whole, setting

_SHOWN = "none; shown to the nearest point"


@attrs.frozen(kw_only=True)
class Settings:
    """The constants of the scheme. Ratings in points, lengths in games or half-moves."""

    initial: float = setting(1000.0, "strength without a declared rating", "points", f"{PAGE}: 'say rating 1000'")
    mean_games: float = setting(10.0, "games rated by the mean", "games", f"{PAGE}: 'more than 10 games'")
    worth: float = setting(400.0, "worth of a win over the opponent", "points", f"{PAGE}: '+400 points'")
    cut_off: float = setting(400.0, "largest difference that counts", "points", f"{PAGE}: 'larger than 400 points'")
    min_half_moves: float = setting(
        20.0, "a game resigned or agreed drawn has at least", "half-moves", f"{GAMES_PAGE}: 'before 10 moves'"
    )
    moves_alone: bool = setting(
        False,  # noqa: FBT003
        "that length for every game, however it ended",
        "switch",
        f"{GAMES_PAGE}: 'moves played alone'",
    )

    def __attrs_post_init__(self) -> None:
        """Refuse constants under which the formulas have no meaning."""
        require_whole(self, mean_games=(0, 1_000_000))
        require_positive(self, "cut_off")
        require_not_negative(self, "initial", "worth", "min_half_moves")


Numbers = numbers_of(Settings)
DEFAULT = Numbers(*attrs.astuple(Settings()))


@attrs.define
class Player:
    """The state of a player."""

    rating: float = state("points; the entry rating before the first game, which replaces it")
    games: float = state("rated games")
    has_rating: float = state("1 if *rating* is one, 0 if it is a declared strength")


def enter(newcomer: Newcomer, numbers: Settings) -> Player:
    """Return the initial state of a new player, with the entry rating."""
    return Player(numbers.initial if newcomer.declared is None else float(newcomer.declared))


def carry(rating: float, games: float, newcomer: Newcomer, numbers: Settings) -> Player:  # noqa: ARG001
    """Return the state of a player who comes with *games* rated games, which go on counting."""
    return Player(rating, games, 1.0)


def seeded(seed: Seed, newcomer: Newcomer, numbers: Settings) -> Player:
    """Return the state of a player with a history, whose games go on counting.

    A rating without a number of games is beyond the mean.
    """
    return carry(seed.rating, numbers.mean_games if seed.games is None else seed.games, newcomer, numbers)


def performance(own: float, has_rating: float, opponent: float, score: float, numbers: Settings) -> float:
    """Return the performance of a single game in rating points.

    It is the opponent's rating, +400 for a win, -400 for a loss.
    """
    # The page states it for equals. The cut-off holds for provisional ratings too, once there is a rating of one's own.
    other = counted(own, opponent, numbers.cut_off) if has_rating > 0.0 else opponent
    return other + numbers.worth * (2.0 * score - 1.0)


def mean_with(rating: float, games: float, performed: float) -> float:
    """Return the rating in rating points with one more performance in the mean.

    "New rating R = (4 x 1000 + 1400) / 5 = 1080".
    """
    return (games * rating + performed) / (games + 1.0)


def rated(player: Player, opponent: float, score: float, numbers: Settings) -> float:
    """Return a player's new rating in rating points after a game against an *opponent* of that rating."""
    own, games = player.rating, player.games
    if games < numbers.mean_games:
        return mean_with(own, games, performance(own, player.has_rating, opponent, score, numbers))
    return own + change(own, counted(own, opponent, numbers.cut_off), score, k_factor(own, games), False)  # noqa: FBT003


def rate_game(white: Player, black: Player, score: float, day: float, numbers: Settings) -> None:  # noqa: ARG001
    """Rate one game: change both players' states in place, from the ratings before it."""
    after_white = rated(white, black.rating, score, numbers)
    after_black = rated(black, white.rating, 1.0 - score, numbers)
    white.rating = after_white
    black.rating = after_black
    white.games += 1.0
    black.games += 1.0
    white.has_rating = black.has_rating = 1.0


def provisional(player: Player, numbers: Settings) -> bool:
    """Return True while the mean rates the player."""
    return bool(player.games < numbers.mean_games)


def explain(own: ExplainedPlayer, meetings: Sequence[OpponentGame], when: When, numbers: Settings) -> Explanation:  # noqa: ARG001
    """Return the formula of one game for one of its players, with its numbers."""
    rating, games = own.before.rating, own.before.games
    opponent, score = meetings[0].opponent.rating, meetings[0].score
    if games >= numbers.mean_games:
        others = [counted(rating, opponent, numbers.cut_off)]
        return explain_established(
            own, meetings, others, r_factor(rating), f"{PAGE}, eq. (4) and (5), with the rating before the game"
        )
    terms = (
        Term("R", rating, "rating before the game"),
        Term("n", games, "rated games before it"),
        Term("R2", opponent, "opponent's rating before the game"),
        Term(
            "P",
            performance(rating, own.before.has_rating, opponent, score, numbers),
            f"rating performance, R2 within {numbers.cut_off:g} points of R if rated, + {numbers.worth:g}·(2W - 1)",
        ),
        Term("W", score, "score"),
    )
    return Explanation(
        "(n·R + P) / (n + 1)", terms, own.after.rating, own.after.rating, _SHOWN, f"{PAGE}, scheme for dummies"
    )


SCHEME = Scheme(
    name="playchess-dummies",
    title="PlayChess, running mean of performances",
    source=f"{PAGE} 6.02 (2008-03-31), 'Rating Scheme for Dummies'",
    readings=(
        "The running mean is that of the first games; from then on the formulas of established ratings hold.",
        "The cut-off holds at any time, also for a rating without games; a declared strength is no rating.",
    ),
    version=2,
    settings=Settings,
    numbers=Numbers,
    player=Player,
    enter=enter,
    seeded=seeded,
    accepted_ratings=accept_every_rating,
    refuse=refuse,
    expected_score=expected_score,
    explain=explain,
    rate_game=rate_game,
    carry=carry,
    provisional=provisional,
)
