"""The formulas of US Chess; no scheme by itself: ``ledger.schemes.uschess`` rates with them.

Sources: Glickman & Doan, The US Chess Rating System (6 April 2026), of which the editions of 2004, 2016 and 2020 differ
as said below; Approximating Formulas for the US Chess Rating System (2015, 2017). Every function is a kernel in the
sense of ``schemes.scheme``. Sums over games take the opponents' ratings from their ``SectionWork``, as a *step* of the
document leaves them: 1, 3 or 4. No settings, no player's state here.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, sqrt
from typing import Any

import attrs

from ledger.runtime.arith import logistic, pow10
from ledger.runtime.records import number
from ledger.schemes.scheme import BatchGames, work_of

NO_GAMES, ALL_WON, ALL_LOST, MIXED = 0.0, 1.0, 2.0, 3.0  # a player's record before an event
RANGE = 400.0  # beyond it PWe is 0 or 1
TOLERANCE = 1e-7  # "tolerance 1e-7" of the special formula's sum
FAR = 1e9  # beyond every rating

# B of the bonus, by the day on which the event ended
B_14_FROM = 17_287.0  # 2017-05-01: "tournaments ending on May 1 or later"
B_12_FROM = 19_389.0  # 2023-02-01: ended on or after
B_10_FROM = 20_089.0  # 2025-01-01: announced in May 2025, rerated
FIDE_2024_FROM = 19_783.0  # 2024-03-01: the conversion that follows FIDE's new low ratings

UNKNOWN_AGE, UNKNOWN_ADULT = 750.0, 1300.0  # start ratings without a date of birth


@attrs.define
class SectionWork:
    """The intermediate numbers of one player while a section is rated."""

    yardstick: float = number(0.0, "rating before the section, or start rating; points")
    first: float = number(0.0, "rating by step 3, points: with games before the section, the yardstick")
    step_4: float = number(0.0, "rating by step 4, points")
    opponents: float = number(0.0, "1 with one opponent in the section, 2 with more")
    bonus: float = number(0.0, "bonus by the last step that the standard formula took, points")
    wins: float = number(0.0, "games won in the section")
    draws: float = number(0.0, "games drawn in the section")
    first_strength: float = number(0.0, "``strength`` of ``first``")
    step_4_strength: float = number(0.0, "``strength`` of ``step_4``")


def games_against(opponents: Sequence[SectionWork]) -> BatchGames:
    """Return a player's games against some opponents, in the form that the sums over games take."""
    return BatchGames((), opponents, range(len(opponents)), (), (), (), 0, 0, len(opponents))


def opponent_rating(games: BatchGames, game: int, step: int) -> float:
    """Return the rating of the opponent in a game as step 1, 3 or 4 leaves it."""
    work = work_of(games, game)
    if step == 1:
        return work.yardstick  # type: ignore[no-any-return]
    return work.first if step == 3 else work.step_4  # type: ignore[no-any-return]


# --- step 2: effective games, K ---------------------------------------------------------------------------------


def effective(rating: float) -> float:
    """Return N*: the number of games that a rating is worth."""
    # "50/sqrt(0.662 + 0.00000739*(2569-R)^2) for R <= 2355", else 50
    if rating > 2355.0:
        return 50.0
    short = 2569.0 - rating
    return 50.0 / sqrt(0.662 + 0.00000739 * (short * short))


def effective_games(games: float, rating: float) -> float:
    """Return the effective number of games, N' = min(N, N*)."""
    worth = effective(rating)
    return games if games < worth else worth


def k_factor(effective_n: float, m: float, rating: float, dual: bool) -> float:
    """Return K = 800/(N'+m) in rating points.

    It is less from 2200 on the Regular side of a *dual*-rated event (30 <= mm+ss <= 65).
    """
    weight = effective_n + m
    if dual and rating >= 2500.0:
        return 200.0 / weight
    if dual and rating > 2200.0:
        return 800.0 * (6.5 - 0.0025 * rating) / weight
    return 800.0 / weight


def looked_over(games: BatchGames) -> tuple[float, float, float]:
    """Return wins, draws, and 1 if the player met one opponent only, 2 if more."""
    # Added without an ``if``, an unpredictable branch: a section takes 0.88 times as long.
    wins = 0.0
    draws = 0.0
    others = 0
    for game in range(games.first, games.last):
        wins += games.score[game] == 1.0
        draws += games.score[game] == 0.5
        others += games.opponent[game] != games.opponent[games.first]
    return wins, draws, 1.0 if others == 0 else 2.0


def record_after(record: float, wins: float, draws: float, m: float) -> float:
    """Return a player's record after *m* more games."""
    if wins == m and record in (NO_GAMES, ALL_WON):
        return ALL_WON
    if wins + draws == 0.0 and record in (NO_GAMES, ALL_LOST):
        return ALL_LOST
    return MIXED


# --- the special formula ------------------------------------------------------------------------------------------


def pwe(rating: float, opponent: float) -> float:
    """Return the provisional winning expectancy from 0 to 1.

    It is linear in the difference: 0 from -400 and 1 from +400 points.
    """
    chance = 0.5 + (rating - opponent) / 800.0
    chance = chance if chance > 0.0 else 0.0
    return chance if chance < 1.0 else 1.0


def special_centre(rating: float, record: float) -> float:
    """Return R0' in rating points.

    It is R0 - 400 after earlier games that were all won, R0 + 400 if all lost, else R0.
    """
    if record == ALL_WON:
        return rating - 400.0
    if record == ALL_LOST:
        return rating + 400.0
    return rating


def special_points(score: float, effective_n: float, record: float) -> float:
    """Return S', the adjusted score.

    It is S + N' after earlier games that were all won, S if all lost, else S + N'/2.
    """
    if record == ALL_WON:
        return score + effective_n
    if record == ALL_LOST:
        return score
    return score + effective_n / 2.0


def special_objective(
    at: float, centre: float, effective_n: float, points: float, games: BatchGames, step: int
) -> float:
    """Return N'·PWe(R, R0') + Σ PWe(R, Ri) - S' at the rating R = *at*: grows with R, linear between knots."""
    total = effective_n * pwe(at, centre)
    for game in range(games.first, games.last):
        total += pwe(at, opponent_rating(games, game, step))
    return total - points


def next_knot(at: float, up: bool, centre: float, effective_n: float, games: BatchGames, step: int) -> float:
    """Return the nearest of the knots R0' ± 400, Ri ± 400 above or below *at*; ± ``FAR`` if there is none."""
    # Below is above with every sign turned.
    sign = 1.0 if up else -1.0
    here = sign * at
    best = FAR
    if effective_n > 0.0:
        knot = sign * centre - RANGE
        if here < knot < best:
            best = knot
        knot = sign * centre + RANGE
        if here < knot < best:
            best = knot
    for game in range(games.first, games.last):
        rating = sign * opponent_rating(games, game, step)
        knot = rating - RANGE
        if here < knot < best:
            best = knot
        knot = rating + RANGE
        if here < knot < best:
            best = knot
    return sign * best


def special_guess(centre: float, effective_n: float, points: float, games: BatchGames, step: int) -> float:
    """Return the rating M by the special formula as if no opponent were over 400 points away.

    The editions of 2016-20 walk from it.
    """
    # The edition of 2026 walks from R0'; the way is another, the answer the same.
    weight = effective_n + (games.last - games.first)
    if weight == 0.0:
        return centre
    total = effective_n * centre + 800.0 * points - 400.0 * weight
    for game in range(games.first, games.last):
        total += opponent_rating(games, game, step)
    return total / weight


def special(rating: float, record: float, effective_n: float, score: float, games: BatchGames, step: int) -> float:
    """Return the special formula's rating in rating points, not yet bounded: where ``special_objective`` is 0.

    It walks from knot to knot.

    Args:
        rating: R0, before the event.
        record: one of ``NO_GAMES``, ``ALL_WON``, ``ALL_LOST``, ``MIXED``.
        effective_n: N'.
        score: S in the event.
        games: the event's.
        step: that of which the opponents' ratings are taken.
    """
    centre = special_centre(rating, record)
    points = special_points(score, effective_n, record)
    at = special_guess(centre, effective_n, points, games, step)
    miss = special_objective(at, centre, effective_n, points, games, step)
    up = miss < 0.0
    while (miss > TOLERANCE or miss < -TOLERANCE) and -FAR < at < FAR:
        before = at
        missed = miss
        at = next_knot(at, up, centre, effective_n, games, step)
        miss = special_objective(at, centre, effective_n, points, games, step)
        if (up and miss > TOLERANCE) or (not up and miss < -TOLERANCE):  # the answer lies between the two
            return before + (at - before) * (missed / (missed - miss))
    # "On a flat root stretch (nobody within 400): R0 if inside it, else the nearer end."
    up = rating > at
    while (up and at < rating) or (not up and at > rating):
        knot = next_knot(at, up, centre, effective_n, games, step)
        miss = special_objective(knot, centre, effective_n, points, games, step)
        if miss > TOLERANCE or miss < -TOLERANCE:
            return at
        if (up and knot >= rating) or (not up and knot <= rating):
            return rating
        at = knot
    return at


# --- the standard formula -----------------------------------------------------------------------------------------


def expected_total(rating: float, opponents: Sequence[float]) -> float:
    """Return E = Σ 1/(1+10^(-(R0-Ri)/400)), without a limit to the difference."""
    total = 0.0
    for opponent in opponents:
        total += logistic(rating - opponent)
    return total


def strength(rating: float) -> float:
    """Return 10^(R/400): the expected points of two players against each other are in the ratio of their strengths."""
    return pow10(rating / 400.0)


def expected_by_strength(own: float, games: BatchGames, step: int) -> float:
    """Return ``expected_total`` from the ``strength`` of all: E = Σ own/(own + other), without a power in each game."""
    total = 0.0
    for game in range(games.first, games.last):
        work = work_of(games, game)
        total += own / (own + (work.first_strength if step == 3 else work.step_4_strength))
    return total


def bonus_b(day: float) -> float:
    """Return B by the day (since 1970) of the event's end: 12, from May 2017 14, from Feb 2023 12, from 2025 10."""
    if day >= B_10_FROM:
        return 10.0
    if day >= B_12_FROM or day < B_14_FROM:
        return 12.0
    return 14.0


def bonus_eligible(opponent: Any, first: int, last: int) -> bool:
    """Return whether a bonus is possible."""
    # "m >= 3 and nobody met more than twice (m = 3: more than once)"
    # A two-player match of three games or more is thereby excluded.
    m = last - first
    if m < 3:
        return False
    most = 1 if m == 3 else 2
    for g in range(first, last):
        met = 0
        for h in range(first, g + 1):
            if opponent[h] == opponent[g]:
                met += 1
        if met > most:
            return False
    return True


def bonus(gain: float, m: float, b: float) -> float:
    """Return the bonus in rating points of an eligible player whose *gain* is K(S-E).

    It is max(0, K(S-E) - B·sqrt(max(m, 4))).
    """
    # the greater of m and 4; a library in use takes the lesser (RULES 9)
    threshold = b * sqrt(m if m > 4.0 else 4.0)
    return gain - threshold if gain > threshold else 0.0


def limited(rating: float, own: float, limit: float) -> float:
    """Return the rating after a two-player match, at most *limit* rating points from *own*, the one before it."""
    # "change limited to 50"
    if rating > own + limit:
        return own + limit
    return rating if rating > own - limit else own - limit


# --- floors -------------------------------------------------------------------------------------------------------


def floor_raised(absolute: float, wins: float, draws: float, events: float) -> float:
    """Return an absolute floor after further wins, draws and events."""
    raised = absolute + (4.0 * wins + 2.0 * draws + events)
    return raised if raised < 150.0 else 150.0


def floor_peak(peak: float) -> float:
    """Return the floor by the highest established rating: (peak - 200) down to a full 100, 1200 to 2100; else 0."""
    # by the rating as the list shows it, in whole points
    rounded = floor(peak + 0.5)
    by_peak = 100.0 * floor((rounded - 200.0) / 100.0)
    if by_peak < 1200.0:
        return 0.0
    return by_peak if by_peak < 2100.0 else 2100.0


# --- step 1: start ratings ----------------------------------------------------------------------------------------


def start_by_age(age: float) -> float:
    """Return the start rating of an unrated player by age, in rating points (editions of 2020 and 2026)."""
    # 50·age, at least 100, at most 1300
    start = 50.0 * age
    if start < 100.0:
        return 100.0
    return start if start < 1300.0 else 1300.0


def start_by_age_before_2008(age: float) -> float:
    """Return the start rating of an unrated player by the older rule: 300 + 50·age from 4 to 20, else 1300."""
    return 300.0 + 50.0 * age if 4.0 <= age <= 20.0 else 1300.0


def age_on(birth_year: float, day: float) -> float:
    """Return the age in years, on a day since 1970, of a person born at some time of a year, taken as its middle."""
    return 1970.0 + day / 365.2425 - (birth_year + 0.5)


def from_fide(fide: float) -> float:
    """Convert a FIDE rating to US Chess since March 2024, in rating points.

    -1073 + 1.5667·F up to 2000, 20 + 1.02·F above.
    """
    # Both give 2060 at 2000, and the low one undoes FIDE's rise exactly; a library in use has them exchanged (RULES 2).
    return -1073.0 + 1.5667 * fide if fide <= 2000.0 else 20.0 + 1.02 * fide


def from_fide_2020(fide: float) -> float:
    """Convert a FIDE rating to US Chess before March 2024, in rating points.

    180 + 0.94·F up to 2000, 20 + 1.02·F above.
    """
    return 180.0 + 0.94 * fide if fide <= 2000.0 else 20.0 + 1.02 * fide


def from_fide_on(fide: float, day: float) -> float:
    """Convert a FIDE rating to US Chess by the formula of the day (since 1970)."""
    return from_fide(fide) if day >= FIDE_2024_FROM else from_fide_2020(fide)


def games_behind_fide(fide: float) -> float:
    """Return N of a converted FIDE rating: "over 2150 [...] 10 games"; "2150 or less [...] 5 games" (2004 edition)."""
    return 10.0 if fide > 2150.0 else 5.0
