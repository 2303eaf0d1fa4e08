"""Plain Elo by game, as the rating change calculator computes it: ``Ra' = Ra + K * (Sa - Ea)``.

Source: "Chess Rating Change Calculator (ELO)", quoted above the lines that implement it. The page works with one K,
32, and says in words who gets a higher or a lower one; a table of three rows of conditions puts such words into
numbers. The first row that holds decides, else the plain K; a limit of 0 is switched off, and so is a row without a
limit. K 40, 20 and 10 in the manner of FIDE, B.02 8.3.3 (10 for good from 2400 on; 40 to the end of the year of the
18th birthday for those who never had 2300; 40 for the first 30 games; else 20):

    k 20, first_rating_from 2400, first_ever true, second_age_to 18, second_rating_below 2300, second_ever true,
    third_games_below 30

Only this scheme's rules live here; FIDE's own rating by period does not.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from ledger.facts.periods import year_of
from ledger.runtime.arith import logistic
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
from ledger.schemes.settings import numbers_of, require_not_negative, setting

PAGE = "Chess Rating Change Calculator (ELO)"
NEW = f"{PAGE}: 'typically used for new players or those with fewer than 30 games'"
HIGH = f"{PAGE}: 'used for very high-rated players'"
YOUNG = "FIDE B.02 8.3.3: juniors"
AGE_UNKNOWN = -1.0
PLAIN, FIRST, SECOND, THIRD = range(4)  # rows of the table of K
ROWS = ("first", "second", "third")


@attrs.frozen(kw_only=True)
class Settings:
    """The constants of the scheme. Ratings in points; a limit of 0 is switched off, and a row without limits too."""

    initial: float = setting(1500.0, "rating of a newcomer", "points", f"{PAGE}: the player of its example")
    k: float = setting(32.0, "K where no row holds", "points", f"{PAGE}: 'the K-factor is 32'")
    first_k: float = setting(10.0, "K of the first row", "points", HIGH)
    first_games_below: float = setting(0.0, "first row: rated games before this one, below", "games", NEW)
    first_rating_from: float = setting(0.0, "first row: own rating, this or above", "points", HIGH)
    first_rating_below: float = setting(0.0, "first row: own rating, below", "points", HIGH)
    first_age_to: float = setting(0.0, "first row: year of the game less year of birth, to", "years", YOUNG)
    first_ever: bool = setting(False, "first row: the highest rating so far counts as own", "switch", HIGH)  # noqa: FBT003
    second_k: float = setting(40.0, "K of the second row", "points", YOUNG)
    second_games_below: float = setting(0.0, "second row: rated games before this one, below", "games", NEW)
    second_rating_from: float = setting(0.0, "second row: own rating, this or above", "points", HIGH)
    second_rating_below: float = setting(0.0, "second row: own rating, below", "points", HIGH)
    second_age_to: float = setting(0.0, "second row: year of the game less year of birth, to", "years", YOUNG)
    second_ever: bool = setting(False, "second row: the highest rating so far counts as own", "switch", HIGH)  # noqa: FBT003
    third_k: float = setting(40.0, "K of the third row", "points", NEW)
    third_games_below: float = setting(0.0, "third row: rated games before this one, below", "games", NEW)
    third_rating_from: float = setting(0.0, "third row: own rating, this or above", "points", HIGH)
    third_rating_below: float = setting(0.0, "third row: own rating, below", "points", HIGH)
    third_age_to: float = setting(0.0, "third row: year of the game less year of birth, to", "years", YOUNG)
    third_ever: bool = setting(False, "third row: the highest rating so far counts as own", "switch", HIGH)  # noqa: FBT003

    def __attrs_post_init__(self) -> None:
        """Refuse constants under which the table has no meaning."""
        amounts = [field.name for field in attrs.fields(type(self)) if not isinstance(field.default, bool)]
        require_not_negative(self, *amounts)
        for row in ROWS:
            low, high = getattr(self, f"{row}_rating_from"), getattr(self, f"{row}_rating_below")
            if high and low >= high:
                raise ValueError(f"{row}_rating_below must exceed {row}_rating_from, got {high} <= {low}")


Numbers = numbers_of(Settings)
DEFAULT = Numbers(*attrs.astuple(Settings()))


@attrs.define
class Player:
    """The state of a player."""

    rating: float = state("points")
    games: float = state("rated games")
    birth_year: float = state("year of birth; 0 if it is unknown")
    peak: float = state("the highest rating so far, points")


def enter(newcomer: Newcomer, numbers: Settings) -> Player:
    """Return the initial state of a new player."""
    rating = numbers.initial if newcomer.declared is None else float(newcomer.declared)
    return carry(rating, 0.0, newcomer, numbers)


def carry(rating: float, games: float, newcomer: Newcomer, numbers: Settings) -> Player:  # noqa: ARG001
    """Return the state of a player who comes from another scheme: rating and number of games stay, and the peak."""
    return Player(rating, games, float(newcomer.birth_year or 0), rating)


def seeded(seed: Seed, newcomer: Newcomer, numbers: Settings) -> Player:
    """Return the state of a player with a history: its games and highest rating count for the K of the table."""
    player = carry(seed.rating, seed.games or 0.0, newcomer, numbers)
    player.peak = seed.highest_known
    return player


def age(birth_year: float, day: float) -> float:
    """Return the year of the game minus the year of birth; ``AGE_UNKNOWN`` for a year of birth of 0."""
    if birth_year == 0.0:
        return AGE_UNKNOWN
    return float(year_of(day)) - birth_year


def holds(
    games_below: float,
    rating_from: float,
    rating_below: float,
    age_to: float,
    rating: float,
    games: float,
    years: float,
) -> bool:
    """Return whether a row of the table of K fits: it has a limit, and every limit that is on holds; 0 is off.

    An unknown age fits no row with a limit of age.
    """
    if games_below + rating_from + rating_below + age_to == 0.0:  # none is negative
        return False
    if games_below > 0.0 and games >= games_below:
        return False
    if rating_from > 0.0 and rating < rating_from:
        return False
    if rating_below > 0.0 and rating >= rating_below:
        return False
    return age_to == 0.0 or (years != AGE_UNKNOWN and years <= age_to)


def k_row(rating: float, peak: float, games: float, years: float, numbers: Settings) -> int:
    """Return the row that decides: ``FIRST``, ``SECOND`` or ``THIRD``, or ``PLAIN`` if none holds.

    Args:
        rating: own rating before the game, points.
        peak: highest own rating so far, points.
        games: rated games before this one.
        years: ``age``.
        numbers: the settings.
    """
    # "Higher K-factors (e.g., 40) [...] new players or those with fewer than 30 games", "Intermediate K-factors
    # (e.g., 20 or 24)", "Lower K-factors (e.g., 10) are used for very high-rated players"
    if holds(
        numbers.first_games_below,
        numbers.first_rating_from,
        numbers.first_rating_below,
        numbers.first_age_to,
        peak if numbers.first_ever else rating,
        games,
        years,
    ):
        return FIRST
    if holds(
        numbers.second_games_below,
        numbers.second_rating_from,
        numbers.second_rating_below,
        numbers.second_age_to,
        peak if numbers.second_ever else rating,
        games,
        years,
    ):
        return SECOND
    if holds(
        numbers.third_games_below,
        numbers.third_rating_from,
        numbers.third_rating_below,
        numbers.third_age_to,
        peak if numbers.third_ever else rating,
        games,
        years,
    ):
        return THIRD
    return PLAIN


def k_factor(rating: float, peak: float, games: float, years: float, numbers: Settings) -> float:
    """Return K by the table; arguments as in ``k_row``."""
    row = k_row(rating, peak, games, years, numbers)
    if row == PLAIN:
        return numbers.k
    if row == FIRST:
        return numbers.first_k
    return numbers.second_k if row == SECOND else numbers.third_k


def expected(own: float, opponent: float) -> float:
    """Return the expected score from 0 to 1, without a limit on the difference.

    ``Ea = 1 / (1 + 10^((Rb - Ra) / 400))``.
    """
    return logistic(own - opponent)


def new_rating(own: float, opponent: float, score: float, k: float) -> float:
    """Return the rating after one game in rating points: ``Ra' = Ra + K * (Sa - Ea)``."""
    return own + k * (score - expected(own, opponent))


def rate_game(white: Player, black: Player, score: float, day: float, numbers: Settings) -> None:
    """Rate one game: change both players' states in place, from the ratings before it."""
    # Sa - Ea; for Black the same with the other sign
    surprise = score - expected(white.rating, black.rating)
    move(white, k_of(white, day, numbers) * surprise)
    move(black, k_of(black, day, numbers) * -surprise)


def k_of(player: Player, day: float, numbers: Settings) -> float:
    """Return K of a player in a game on *day*."""
    # By default there is one K: then neither a year of birth nor a row is looked at in a million games.
    # the answer of ``k_factor`` too, but here at once
    if without_rows(numbers):
        return numbers.k
    years = AGE_UNKNOWN
    if numbers.first_age_to + numbers.second_age_to + numbers.third_age_to > 0.0:
        years = age(player.birth_year, day)
    return k_factor(player.rating, player.peak, player.games, years, numbers)


def without_rows(numbers: Settings) -> bool:
    """Return whether every limit of the table of K is switched off; none is negative, so their sum decides."""
    first = numbers.first_games_below + numbers.first_rating_from + numbers.first_rating_below + numbers.first_age_to
    second = (
        numbers.second_games_below + numbers.second_rating_from + numbers.second_rating_below + numbers.second_age_to
    )
    third = numbers.third_games_below + numbers.third_rating_from + numbers.third_rating_below + numbers.third_age_to
    return first + second + third == 0.0


def move(player: Player, change: float) -> None:
    """Change one player's rating by a game, count the game, and note the highest rating."""
    player.rating += change
    player.games += 1.0
    player.peak = max(player.peak, player.rating)


def expected_score(player: Player, opponent: Player, numbers: Settings) -> float:  # noqa: ARG001
    """Return the expected score, from 0 to 1."""
    return expected(player.rating, opponent.rating)


def explain(own: ExplainedPlayer, meetings: Sequence[OpponentGame], when: When, numbers: Settings) -> Explanation:
    """Return the formula of one game for one of its players, with its numbers."""
    (opponent, score, *_), player = meetings[0], own.before
    rating, years = player.rating, age(player.birth_year, when.day)
    row = k_row(rating, player.peak, player.games, years, numbers)
    k = k_factor(rating, player.peak, player.games, years, numbers)
    which = f"{ROWS[row - 1]} row of the table" if row else "no row of the table holds"
    ea = expected(rating, opponent.rating)
    terms = (
        Term("Ra", rating, "rating before the game"),
        Term("Rb", opponent.rating, "opponent's rating before the game"),
        Term("Sa", score, "score"),
        Term("Ea", ea, "expected score 1 / (1 + 10^((Rb - Ra) / 400))"),
        Term("K", k, f"K-factor: {which}"),
    )
    return Explanation(
        "Ra + K·(Sa - Ea)",
        terms,
        rating + k * (score - ea),
        own.after.rating,
        "none; shown to the nearest point",
        f"{PAGE}, The ELO Rating Change Formula",
    )


SCHEME = Scheme(
    name="elo",
    title="Elo by game, with a table of K",
    source=PAGE,
    version=1,
    settings=Settings,
    numbers=Numbers,
    player=Player,
    enter=enter,
    seeded=seeded,
    accepted_ratings=accept_every_rating,
    rate_game=rate_game,
    expected_score=expected_score,
    mirrored=True,
    explain=explain,
    carry=carry,
)
