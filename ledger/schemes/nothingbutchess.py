"""The nothingbutchess.com scheme: win expectancy from a table, K 24 or 16, ratings in whole points, game by game.

Source: nothingbutchess.com, "How To Play Chess - player ratings", quoted above the lines that implement it. Its table
is FIDE's but for one row: 335 where FIDE has 336. It is kept as printed. Only this scheme's rules live here.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor

import attrs

from ledger.schemes.scheme import (
    ExplainedPlayer,
    Explanation,
    Newcomer,
    OpponentGame,
    Scheme,
    Term,
    When,
    accept_every_rating,
    state,
)
from ledger.schemes.settings import numbers_of, require_not_negative, setting

PAGE = "nothingbutchess.com, player ratings"

# "rating difference | win expectancy": the difference from which on the expectancy is .50, .51, ... .99. The page
# prints the mirrored half too.
THRESHOLDS = (
    0, 7, 14, 21, 29, 36, 43, 50, 57, 65, 72, 80, 87, 95, 102, 110, 117, 125, 133, 141, 149, 158, 166, 175, 184,
    193, 202, 211, 220, 230, 240, 251, 262, 273, 284, 296, 309, 322, 335, 351, 366, 383, 401, 422, 444, 470, 501,
    538, 589, 677,
)  # fmt: skip


@attrs.frozen(kw_only=True)
class Settings:
    """The constants of the scheme. Ratings in points."""

    initial: float = setting(1200.0, "rating of a newcomer", "points", f"{PAGE}: 'an initial rating of 1200'")
    k: float = setting(24.0, "K below k_falls_at", "points", f"{PAGE}: 'less than 2200, it's 24'")
    k_high: float = setting(16.0, "K from k_falls_at", "points", f"{PAGE}: 'over 2200, it's 16'")
    k_falls_at: float = setting(2200.0, "rating where K falls", "points", f"{PAGE}; exactly 2200: our reading, 16")
    rounded: bool = setting(True, "ratings are whole points", "switch", f"{PAGE}: 'after rounding off'")  # noqa: FBT003

    def __attrs_post_init__(self) -> None:
        """Refuse constants under which the formulas have no meaning."""
        require_not_negative(self, "initial", "k", "k_high", "k_falls_at")


Numbers = numbers_of(Settings)
DEFAULT = Numbers(*attrs.astuple(Settings()))


@attrs.define
class Player:
    """The state of a player."""

    rating: float = state("points")


def enter(newcomer: Newcomer, numbers: Settings) -> Player:
    """Return the initial state of a new player: with the declared rating or, without one, the initial rating."""
    return Player(numbers.initial if newcomer.declared is None else newcomer.declared)


def expectancy_percent(difference: float) -> int:
    """Return the win expectancy, from 1 to 99 per cent, of a player *difference* points above the opponent."""
    # "677 points (or more)": a row holds from its difference on, up to the next; the negative half mirrors it. (The
    # page's example, .85 for 300, would fit the nearest row, too: RULES 8.)
    size = abs(difference)
    low = 0
    high = len(THRESHOLDS)
    while high - low > 1:
        middle = (low + high) // 2
        if THRESHOLDS[middle] <= size:
            low = middle
        else:
            high = middle
    return 50 + low if difference >= 0.0 else 50 - low


def expectancy(difference: float) -> float:
    """Return the win expectancy, from 0.01 to 0.99, by "your rating minus your opponent's rating"."""
    return expectancy_percent(difference) / 100.0


def k_factor(rating: float, numbers: Settings) -> float:
    """Return K by the player's own rating: "less than 2200, it's 24. If it's over 2200, it's 16"."""
    # Of exactly 2200 the page says nothing: it is not "less" (RULES 8).
    return numbers.k if rating < numbers.k_falls_at else numbers.k_high


def new_rating(own: float, opponent: float, score: float, numbers: Settings) -> float:
    """Return the rating after one game in rating points, before it is rounded."""
    # "new rating = old rating + (k-factor * overall win expectancy)"
    return own + k_factor(own, numbers) * (score - expectancy(own - opponent))


def rounded_rating(rating: float, numbers: Settings) -> float:
    """Return the rating as it is stored: "after rounding off", to the nearest whole point, a half upwards."""
    return floor(rating + 0.5) * 1.0 if numbers.rounded else rating


def rate_game(white: Player, black: Player, score: float, day: float, numbers: Settings) -> None:  # noqa: ARG001
    """Rate one game: change both players' states in place, from the ratings before it."""
    # one look-up serves both: the table is its own mirror
    percent = expectancy_percent(white.rating - black.rating)
    move(white, score - percent / 100.0, numbers)
    # Black's from the table again, not 1 minus White's: 1 - .07 is another float than .93.
    move(black, (1.0 - score) - (100 - percent) / 100.0, numbers)


def move(player: Player, surplus: float, numbers: Settings) -> None:
    """Change one player's rating by the score above the expectancy."""
    player.rating = rounded_rating(player.rating + k_factor(player.rating, numbers) * surplus, numbers)


def expected_score(player: Player, opponent: Player, numbers: Settings) -> float:  # noqa: ARG001
    """Return the win expectancy by the table."""
    return expectancy(player.rating - opponent.rating)


def explain(own: ExplainedPlayer, meetings: Sequence[OpponentGame], when: When, numbers: Settings) -> Explanation:  # noqa: ARG001
    """Return the steps of the page for one game of one player."""
    (opponent, score, *_) = meetings[0]
    old, other = own.before.rating, opponent.rating
    terms = (
        Term("old", old, "rating before the game"),
        Term("opponent", other, "opponent's rating before the game"),
        Term("difference", old - other, "rating minus opponent's rating"),
        Term("score", score, "1 for a win, 0.5 for a tie, 0 for a loss"),
        Term("expectancy", expectancy(old - other), "win expectancy by the difference, from the table"),
        Term("k", k_factor(old, numbers), f"k-factor, by whether the rating is below {numbers.k_falls_at:g}"),
    )
    rounding = "to the nearest whole point, a half upwards" if numbers.rounded else "none; shown to the nearest point"
    return Explanation(
        "old + k·(score - expectancy)",
        terms,
        new_rating(old, other, score, numbers),
        own.after.rating,
        rounding,
        f"{PAGE}, Compute your new rating",
    )


SCHEME = Scheme(
    name="nothingbutchess",
    title="nothingbutchess.com",
    source=PAGE,
    readings=(
        "The table is looked up at the largest threshold that does not exceed the difference.",
        "K is 16 from exactly 2200 points on; the 335 of the table, which FIDE prints as 336, is kept.",
    ),
    version=1,
    settings=Settings,
    numbers=Numbers,
    player=Player,
    enter=enter,
    rate_game=rate_game,
    expected_score=expected_score,
    explain=explain,
    accepted_ratings=accept_every_rating,
)
