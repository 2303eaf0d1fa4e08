"""The ChessWorld scheme of January 2006: 50 provisional games by the English (ECF) model, then Elo.

Source: ChessWorld rating FAQ (chessworld.net/chessclubs/faq_ratingsystem.asp, letsplaychess.com copy), quoted above
the lines that implement it. Where the FAQ leaves a reading open, a setting chooses and its default is the reading
that keeps every promise of the FAQ. Only this scheme's rules live here.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from ledger.runtime.arith import logistic
from ledger.schemes.scheme import (
    COUNTS,
    ENDED_CHECKMATE,
    GUEST,
    HALF_MOVES_UNKNOWN,
    STANDING_GUEST,
    STANDING_WELCOMER,
    TOO_SHORT,
    ExplainedPlayer,
    Explanation,
    Newcomer,
    OpponentGame,
    Scheme,
    Term,
    When,
    accept_every_rating,
    common_reason,
    state,
)
from ledger.schemes.settings import numbers_of, require_not_negative, require_whole, setting

FAQ = "ChessWorld rating FAQ"


@attrs.frozen(kw_only=True)
class Settings:
    """The constants of the scheme. Ratings in points, lengths in games or half-moves."""

    initial: float = setting(1400.0, "rating of a newcomer", "points", f"{FAQ}: 'ECF 100 is assumed for everyone'")
    provisional_games: float = setting(50.0, "provisional games", "games", f"{FAQ}: 'In the first 50 games'")
    cap: float = setting(320.0, "largest difference that counts", "points", f"{FAQ}: '40 ECF points translates to 320'")
    bonus: float = setting(400.0, "worth of a win over the opponent", "points", f"{FAQ}: 'opponents rating +50' ECF")
    k_highest: float = setting(32.0, "K up to k_falls_from", "points", f"{FAQ}: 'K = 32'")
    k_lowest: float = setting(16.0, "K from k_falls_to", "points", f"{FAQ}: 'K = 16'")
    k_falls_from: float = setting(1600.0, "rating where K begins to fall", "points", f"{FAQ}: 'equal to 1600'")
    k_falls_to: float = setting(3200.0, "rating where K has fallen", "points", f"{FAQ}: 'greater or equal to 3200'")
    include_initial: bool = setting(False, "count the initial rating in the mean", "switch", "our reading: no")  # noqa: FBT003
    count_current: bool = setting(True, "n of n/51 counts the game being rated", "switch", "our reading: yes")  # noqa: FBT003
    min_half_moves: float = setting(10.0, "a game must be longer, unless mate", "half-moves", f"{FAQ}: '10 half moves'")
    guest_tournaments: bool = setting(
        False,  # noqa: FBT003
        "guests are rated where a tournament's name says 'guest welcom...'",
        "switch",
        f"{FAQ}: 'specific Guest Welcoming Tournaments'",
    )

    def __attrs_post_init__(self) -> None:
        """Refuse constants under which the formulas have no meaning."""
        require_whole(self, provisional_games=(0, 10_000))
        if self.k_falls_to <= self.k_falls_from:
            raise ValueError(f"k_falls_to must exceed k_falls_from, got {self.k_falls_to} <= {self.k_falls_from}")
        require_not_negative(self, "initial", "cap", "bonus", "k_highest", "k_lowest", "min_half_moves")


Numbers = numbers_of(Settings)
DEFAULT = Numbers(*attrs.astuple(Settings()))


@attrs.define
class Player:
    """The state of a player."""

    rating: float = state("points")
    games: float = state("rated games")
    points: float = state("sum of the game points of the provisional games")


def enter(newcomer: Newcomer, numbers: Settings) -> Player:
    """Return the initial state of a new player."""
    # "just set your FIDE rating to the equivalent of what your rating is": a declared rating replaces the initial one.
    return Player(numbers.initial if newcomer.declared is None else float(newcomer.declared))


def refuse(
    outcome: int, termination: int, half_moves: int, rated: bool, white: int, black: int, numbers: Settings
) -> int:
    """Return the reason why a game is not rated (an index into ``REASONS``), or 0. An unknown length is accepted."""
    common = common_reason(outcome, termination, rated)
    if common != COUNTS:
        return common
    # "only games longer than 10 half moves", or ended by checkmate at any length
    if half_moves != HALF_MOVES_UNKNOWN and half_moves <= numbers.min_half_moves and termination != ENDED_CHECKMATE:
        return TOO_SHORT
    # "In general, no. However, if you are invited by, or choose, a site Welcomer, any games with that player
    # will be rated."
    if (white == STANDING_GUEST and black != STANDING_WELCOMER) or (
        black == STANDING_GUEST and white != STANDING_WELCOMER
    ):
        return GUEST
    return COUNTS


def welcomes(tournament: str, numbers: Settings) -> bool:
    """Return whether guests are rated in a tournament of that name."""
    # "ChessWorld does invite all Guest Members to specific Guest Welcoming Tournaments. These Tournaments offer players
    # a chance to play a number of rated games."
    return numbers.guest_tournaments and "guest welcom" in " ".join(tournament.casefold().replace("-", " ").split())


def k_factor(rating: float, numbers: Settings) -> float:
    """Return the factor K by the player's own rating, which is in rating points.

    It is 32 to 1600, 16 from 3200, ``32 - (r1 - 1600)/100`` between.
    """
    if rating <= numbers.k_falls_from:
        return numbers.k_highest
    if rating >= numbers.k_falls_to:
        return numbers.k_lowest
    fall = (numbers.k_highest - numbers.k_lowest) / (numbers.k_falls_to - numbers.k_falls_from)
    return numbers.k_highest - (rating - numbers.k_falls_from) * fall


def capped(own: float, opponent: float, numbers: Settings) -> float:
    """Return the opponent's rating as it counts, in rating points."""
    # "then it is assumed that the difference is exactly 40" ECF points, 320 of ours
    # Against the player's running rating: "until your rating increases and then your range increases".
    if opponent > own + numbers.cap:
        return own + numbers.cap
    if opponent < own - numbers.cap:
        return own - numbers.cap
    return opponent


def game_points(own: float, opponent: float, score: float, numbers: Settings) -> float:
    """Return the worth of a provisional game in rating points; a draw is worth the opponent's rating."""
    # "A win [...] your opponents rating +50, and a loss [...] -50": ECF points, each worth 8
    return capped(own, opponent, numbers) + numbers.bonus * (2.0 * score - 1.0)


def scale(opponent_games: float, numbers: Settings) -> float:
    """Return the factor, from 0 to 1, by which K is reduced."""
    # "The scaling function is n/51" against a provisionally rated opponent
    # *opponent_games* counts the game being rated: a game is complete when it is rated, and the 51st gives 51/51.
    if opponent_games > numbers.provisional_games:
        return 1.0
    n = opponent_games if numbers.count_current else opponent_games - 1.0
    return n / (numbers.provisional_games + 1.0)


def rate_game(white: Player, black: Player, score: float, day: float, numbers: Settings) -> None:  # noqa: ARG001
    """Rate one game: change both players' states in place, from the ratings before it."""
    # both before either is written: each side rates against what the other was
    of_white, of_black = white.rating, black.rating
    white.games += 1.0
    black.games += 1.0
    expected = logistic(of_white - of_black)  # of Black it is to the bit 1 minus that
    rate_side(white, of_black, black.games, score, expected, numbers)
    rate_side(black, of_white, white.games, 1.0 - score, 1.0 - expected, numbers)


def rate_side(
    player: Player, opponent: float, opponent_games: float, score: float, expected: float, numbers: Settings
) -> None:
    """Rate one game for one of its two players.

    Args:
        player: from the rating before it; *games* counts it.
        opponent: the opponent's rating before it, points.
        opponent_games: the opponent's rated games, this one included.
        score: 0, 0.5 or 1.
        expected: by the Elo formula.
        numbers: the settings.
    """
    if player.games <= numbers.provisional_games:
        # "based on the English Chess Federation (ECF) Grading system": the mean of the game points
        points = player.points + game_points(player.rating, opponent, score, numbers)
        if numbers.include_initial:
            if player.games == 1.0:
                points += player.rating
            player.rating = points / (player.games + 1.0)
        else:
            player.rating = points / player.games
        player.points = points
    else:
        # "From your 51st rated game onwards": r1 + K * [w - 1 / (1 + 10^((r2-r1)/400))]
        player.rating += k_factor(player.rating, numbers) * scale(opponent_games, numbers) * (score - expected)


def expected_score(player: Player, opponent: Player, numbers: Settings) -> float:  # noqa: ARG001
    """Return the expected score, from 0 to 1, by the Elo formula of the FAQ."""
    return logistic(player.rating - opponent.rating)


def provisional(player: Player, numbers: Settings) -> bool:
    """Return True during the first 50 rated games."""
    return bool(player.games < numbers.provisional_games)


def carry(rating: float, games: float, newcomer: Newcomer, numbers: Settings) -> Player:  # noqa: ARG001
    """Return the state of a player who comes with a rating and *games* rated games, which go on counting.

    The mean goes on from the rating itself.
    """
    counted = games + 1.0 if numbers.include_initial and games else games
    return Player(rating, games, rating * counted)


def explain(own: ExplainedPlayer, meetings: Sequence[OpponentGame], when: When, numbers: Settings) -> Explanation:  # noqa: ARG001
    """Return the formula of one game for one of its players, with its numbers."""
    (opponent, score, *_) = meetings[0]
    games, opponent_games = own.before.games + 1.0, opponent.games + 1.0
    r1, r2 = own.before.rating, opponent.rating
    if games <= numbers.provisional_games:
        return _explain_provisional(own, r2, games, score, numbers)
    factor = scale(opponent_games, numbers)
    k = k_factor(r1, numbers)
    terms = [
        Term("r1", r1, "rating before the game"),
        Term("r2", r2, "opponent's rating before the game"),
        Term("w", score, "score"),
        Term("E", logistic(r1 - r2), "expected score 1 / (1 + 10^((r2-r1)/400))"),
        Term("K", k, "K-factor by r1"),
    ]
    rule = "r1 + K·(w - E)"
    if factor != 1.0:
        counted = "counts" if numbers.count_current else "does not count"
        part = f"n/{numbers.provisional_games + 1.0:g}"
        terms.append(Term(part, factor, f"scaling for a provisional opponent; n {counted} this game"))
        rule = f"r1 + K·({part})·(w - E)"
    return Explanation(
        rule,
        tuple(terms),
        own.after.rating,
        own.after.rating,
        "none; shown to the nearest point",
        f"{FAQ}, from the 51st rated game",
    )


def _explain_provisional(own: ExplainedPlayer, r2: float, games: float, score: float, numbers: Settings) -> Explanation:
    r1, points = own.before.rating, own.before.points
    if numbers.include_initial and games == 1.0:
        points += r1
    terms = (
        Term("r1", r1, "rating before the game"),
        Term("r2", r2, "opponent's rating before the game"),
        Term("r2'", capped(r1, r2, numbers), f"r2, at most {numbers.cap:g} points from r1"),
        Term("w", score, "score"),
        Term("p", game_points(r1, r2, score, numbers), f"game points r2' + {numbers.bonus:g}·(2w - 1)"),
        Term("S", points, "sum of the game points before this game"),
        Term("n", games, "rated games, this one included"),
    )
    rule = "(S + p) / n"
    if numbers.include_initial:
        rule = "(S + p) / (n + 1), S with the initial rating"
    return Explanation(
        rule,
        terms,
        own.after.rating,
        own.after.rating,
        "none; shown to the nearest point",
        f"{FAQ}, first {numbers.provisional_games:g} rated games",
    )


def strength(rating: int) -> str:
    """Return the strength group of a rating as it is shown, in whole points."""
    # "Beginner- up to 1600, Intermediate - 1601 - 2400, Advanced - 2401 and above"
    return "Beginner" if rating <= 1600 else "Intermediate" if rating <= 2400 else "Advanced"


SCHEME = Scheme(
    name="chessworld",
    title="ChessWorld, from January 2006",
    source=FAQ,
    readings=(
        "The mean of the first 50 games leaves out the initial rating.",
        "The cap of 320 points goes by the running rating, not by the initial one.",
        "n of n/51 counts the game that is being rated.",
        "A game counts that is longer than 10 half-moves or ends in checkmate.",
    ),
    version=1,
    settings=Settings,
    numbers=Numbers,
    player=Player,
    enter=enter,
    refuse=refuse,
    welcomes=welcomes,
    for_new_pools={"guest_tournaments": True},
    rate_game=rate_game,
    expected_score=expected_score,
    mirrored=True,
    explain=explain,
    provisional=provisional,
    carry=carry,
    accepted_ratings=accept_every_rating,
)
