"""The Glicko-2 system (Glickman): Glicko with a volatility, the size of a player's changes in strength.

Source: M. Glickman, Example of the Glicko-2 system, glicko.net/glicko/glicko2.pdf, by its steps. State and settings
are in points; the paper's mu is ``(rating - 1500)/173.7178`` and its phi ``rd/173.7178``. A period's games are rated
together. Periods are months unless set otherwise: ``period_days`` 7 makes them weeks; growth is by period, so
``initial_volatility`` belongs to their length.

RD grows exactly once a period: by the new volatility in a period played (step 6, in ``rate_player``), by the one at
hand in a period missed (``at``). The field ``period`` is the last one whose growth the RD contains, so that ``at`` at
the beginning of period n adds the periods up to n - 1. Only this scheme's rules live here.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, pi, sqrt
from typing import Any

import attrs

from ledger.facts.periods import last_finished_period
from ledger.runtime.arith import LOG2_E, exp2, log
from ledger.schemes.formulas.bounds import (
    bounded,
    check_bounds,
    largest_change,
    limited,
    rating_floor,
    rating_limit,
    rounding,
)
from ledger.schemes.formulas.glicko_games import after_games, game_lines, game_sums
from ledger.schemes.scheme import (
    BatchGames,
    ExplainedPlayer,
    Explanation,
    Newcomer,
    OpponentGame,
    Rhythm,
    Scheme,
    Seed,
    Term,
    When,
    accept_every_rating,
    opponent_of,
    rating_period_calendar,
    state,
    unchanged_always,
)
from ledger.schemes.settings import PeriodSettings, numbers_of, require_not_negative, setting

# -- step 5: the new volatility, by the search that the paper prescribes -------------------------------------------

# The paper's x = ln σ² is here y = x - ln σ² with the old σ: the same iterates up to rounding, with one e^y in each and
# no logarithm.
TOLERANCE = 1e-6  # ε, step 5.1
MOST_ROUNDS = 1000  # never met: a guard for a loop that compiled code could not be stopped in


def series(y: float) -> float:
    """Return e^y for |y| <= 1/32 by its Taylor series, which leaves out less than 2^-60."""
    # The order of the operations is fixed: another grouping of the same sum has other last bits, and so other ratings.
    y2 = y * y
    low = 1.0 + (y + y2 * (0.5 + y * (1.0 / 6.0)))
    high = (1.0 / 24.0 + y * (1.0 / 120.0)) + y2 * ((1.0 / 720.0 + y * (1.0 / 5040.0)) + y2 * (1.0 / 40320.0))
    return low + y2 * y2 * high


def exponential(y: float) -> float:
    """Return e^y as the iteration needs it, to 1e-14; nearly always y is close to 0, else the first -τ."""
    if -0.03125 < y < 0.03125:
        return series(y)
    if -1.0 < y < 1.0:
        part = series(y * 0.03125)
        part *= part
        part *= part
        part *= part
        part *= part
        return part * part
    return exp2(LOG2_E * y)


def slope(ratio: float, old: float, excess: float, spread: float) -> float:
    """Return the first part of f of step 5.1: e^x(Δ² - φ² - v - e^x) / 2(φ² + v + e^x)².

    Args:
        ratio: e^x over the old σ².
        old: the old σ².
        excess: Δ² - φ² - v.
        spread: φ² + v.
    """
    e = ratio * old
    whole = spread + e
    return e * (excess - e) / (2.0 * whole * whole)


def bracket(old: float, excess: float, spread: float, per_y: float, tau: float) -> tuple[float, float, float]:
    """Return the other end B of the search of step 5.2, with e^B and f(B).

    B = ln(Δ² - φ² - v), or a - kτ with the first k for which f is not negative.

    Args:
        old: the old σ².
        excess: Δ² - φ² - v.
        spread: φ² + v.
        per_y: 1/τ².
        tau: the system constant.
    """
    if excess > 0.0:
        ratio = excess / old
        b = log(ratio)
        return b, ratio, slope(ratio, old, excess, spread) - b * per_y
    b = -tau
    ratio = exponential(b)
    f_b = slope(ratio, old, excess, spread) - b * per_y
    while f_b < 0.0:
        b -= tau
        ratio = exponential(b)
        f_b = slope(ratio, old, excess, spread) - b * per_y
    return b, ratio, f_b


def goes_on(a: float, f_a: float, b: float, f_b: float) -> bool:
    """Return whether step 5.4 has another round: |B - A| > ε."""
    return abs(b - a) > TOLERANCE and f_a != f_b


def new_volatility(volatility: float, phi2: float, v: float, delta2: float, tau: float) -> float:
    """Return the new volatility σ' of step 5.

    It solves f(x) = 0 by the Illinois variant of regula falsi, from A = ln σ², to |B - A| <= ε.

    Args:
        volatility: σ.
        phi2: φ².
        v: estimated variance of the rating by the games (step 3).
        delta2: Δ² (step 4).
        tau: the system constant.
    """
    old = volatility * volatility
    spread = phi2 + v
    excess = delta2 - spread
    per_y = 1.0 / (tau * tau)
    a = 0.0
    ratio_a = 1.0
    f_a = slope(1.0, old, excess, spread)
    b, ratio_b, f_b = bracket(old, excess, spread, per_y, tau)
    # steps 5.3 and 5.4
    for _ in range(MOST_ROUNDS):
        if not goes_on(a, f_a, b, f_b):
            break
        c = a + (a - b) * f_a / (f_b - f_a)
        ratio = exponential(c)
        f_c = slope(ratio, old, excess, spread) - c * per_y
        if f_c * f_b <= 0.0:
            a = b
            f_a = f_b
            ratio_a = ratio_b
        else:
            f_a *= 0.5  # step 5.4: else one end of a curved f would stay for ever
        b = c
        f_b = f_c
        ratio_b = ratio
    # step 5.5: σ' = e^(A/2)
    return volatility * sqrt(ratio_a)


def new_volatilities(
    volatility: float,
    phi2: float,
    v: float,
    delta2: float,
    other: float,
    other_phi2: float,
    other_v: float,
    other_delta2: float,
    tau: float,
) -> tuple[float, float]:
    """Return ``new_volatility`` of two players.

    The bits are the same, but a processor works on both searches together.
    """
    # Written out, as a call that returns several numbers costs some of what this gains. A finished search goes on
    # without effect: which of the two has more to do is an unpredictable branch.
    old, other_old = volatility * volatility, other * other
    spread, other_spread = phi2 + v, other_phi2 + other_v
    excess, other_excess = delta2 - spread, other_delta2 - other_spread
    per_y = 1.0 / (tau * tau)
    a, ratio_a, f_a = 0.0, 1.0, slope(1.0, old, excess, spread)
    c, ratio_c, f_c = 0.0, 1.0, slope(1.0, other_old, other_excess, other_spread)
    b, ratio_b, f_b = bracket(old, excess, spread, per_y, tau)
    d, ratio_d, f_d = bracket(other_old, other_excess, other_spread, per_y, tau)
    for _ in range(MOST_ROUNDS):
        on, other_on = goes_on(a, f_a, b, f_b), goes_on(c, f_c, d, f_d)
        if not (on or other_on):
            break
        x = a + (a - b) * f_a / ((f_b - f_a) if on else 1.0)
        y = c + (c - d) * f_c / ((f_d - f_c) if other_on else 1.0)
        ratio_x, ratio_y = exponential(x), exponential(y)
        f_x = slope(ratio_x, old, excess, spread) - x * per_y
        f_y = slope(ratio_y, other_old, other_excess, other_spread) - y * per_y
        crossed, other_crossed = f_x * f_b <= 0.0, f_y * f_d <= 0.0
        if on:
            a = b if crossed else a
            f_a = f_b if crossed else f_a * 0.5
            ratio_a = ratio_b if crossed else ratio_a
            b, f_b, ratio_b = x, f_x, ratio_x
        if other_on:
            c = d if other_crossed else c
            f_c = f_d if other_crossed else f_c * 0.5
            ratio_c = ratio_d if other_crossed else ratio_c
            d, f_d, ratio_d = y, f_y, ratio_y
    return volatility * sqrt(ratio_a), other * sqrt(ratio_c)


# -- the scheme ----------------------------------------------------------------------------------------------------

PAPER = "Glickman, Example of the Glicko-2 system"
NEVER = -1e9  # the period of a player who has not been rated
CENTRE = 1500.0
SCALE = 173.7178  # points in one unit of mu and phi (step 2)
PER_POINT = 1.0 / SCALE
SPREAD = 3.0 / (pi * pi * SCALE * SCALE)  # of g for an RD in points
BITS = LOG2_E / SCALE  # e^(x/SCALE) is 2^(BITS·x)
NOTHING = 1e-30  # information of games between players too far apart to inform


@attrs.frozen(kw_only=True)
class Settings(PeriodSettings):
    """The constants of the scheme. Ratings and RD in points, volatility and tau on the scale of the paper."""

    initial: float = setting(1500.0, "rating of a newcomer", "points", f"{PAPER}, step 1: unrated, 1500")
    initial_rd: float = setting(350.0, "RD of a newcomer", "points", f"{PAPER}, step 1: unrated, 350")
    initial_volatility: float = setting(
        0.06, "volatility of a newcomer", "1/173.7178 points", f"{PAPER}, step 1: unrated, 0.06"
    )
    tau: float = setting(0.5, "how much volatility changes", "1", f"{PAPER}, step 1: the system constant τ")
    largest_change: float = largest_change()
    rating_floor: float = rating_floor()
    rating_limit: float = rating_limit()

    def __attrs_post_init__(self) -> None:
        """Refuse constants under which the formulas have no meaning."""
        self.check_periods()
        require_not_negative(self, "initial")
        check_scale(self)
        check_bounds(self)


def check_scale(settings: Any) -> None:
    """Refuse an RD, volatility or tau that no rating can be computed with.

    Raises:
        ValueError: naming the first of them.
    """
    for name, low, high in (("initial_rd", 1.0, 2000.0), ("initial_volatility", 1e-4, 1.0), ("tau", 0.01, 10.0)):
        if not low <= getattr(settings, name) <= high:
            raise ValueError(f"{name} must be from {low:g} to {high:g}, got {getattr(settings, name)}")


Numbers = numbers_of(Settings)
DEFAULT = Numbers(*attrs.astuple(Settings()))


@attrs.define
class Player:
    """The state of a player."""

    rating: float = state("points")
    rd: float = state("rating deviation RD, points")
    volatility: float = state("1/173.7178 points")
    period: float = state("the last period whose growth the RD contains")


def enter(newcomer: Newcomer, numbers: Settings) -> Player:
    """Return the initial state of a new player; a declared rating is as uncertain as none."""
    rating = numbers.initial if newcomer.declared is None else float(newcomer.declared)
    return Player(rating, numbers.initial_rd, numbers.initial_volatility, NEVER)


def seeded(seed: Seed, newcomer: Newcomer, numbers: Settings) -> Player:
    """Return the state of a player with a history: RD and volatility of its list, or those of a newcomer.

    RD grows from then on.
    """
    volatility = numbers.initial_volatility if seed.volatility is None else min(max(seed.volatility, 1e-4), 1.0)
    if seed.deviation is None:
        return Player(seed.rating, numbers.initial_rd, volatility, NEVER)
    period = last_finished_period(newcomer.day, rating_period_calendar(numbers))
    rd = min(seed.deviation, numbers.initial_rd)
    return Player(seed.rating, rd, volatility, NEVER if period is None else period)


def grown(rd: float, volatility: float, periods: float) -> float:
    """Return RD in points after *periods*: φ* = sqrt(φ² + t·σ²) (step 6)."""
    step = SCALE * volatility
    return sqrt(rd * rd + periods * step * step)


def relist(player: Player, fresh: Player, seed: Seed, numbers: Settings) -> Player:  # noqa: ARG001
    """Return the state after a later list, which replaces the rating and, where stated, RD and volatility σ.

    The RD comes with its first period.
    """
    grows = player if seed.deviation is None else fresh
    volatility = player.volatility if seed.volatility is None else fresh.volatility
    return Player(seed.rating, grows.rd, volatility, grows.period)


def at(player: Player, period: float, day: float, numbers: Settings) -> None:  # noqa: ARG001
    """Let RD grow by the periods missed before *period*: without games only step 6, with the old σ."""
    missed = period - 1.0 - player.period
    # A newcomer's RD is that of a player without any information: time cannot make it larger.
    if missed > 0.0 and player.period > NEVER:
        player.rd = grown(player.rd, player.volatility, missed)
        player.period = period - 1.0


def impact(rd: float) -> float:
    """Return g(φ), from 0 to 1, for an RD in rating points: 1/sqrt(1 + 3φ²/π²) (step 3)."""
    return 1.0 / sqrt(1.0 + SPREAD * rd * rd)


def chance(difference: float, weight: float) -> float:
    """Return the expected score E, from 0 to 1, of the player rated *difference* points higher (step 3).

    *weight* is g(φ).
    """
    return 1.0 / (1.0 + exp2(-BITS * weight * difference))


def expected_score(player: Player, opponent: Player, numbers: Any) -> float:  # noqa: ARG001
    """Return the expected score, from 0 to 1, with the RD of both, as Glicko predicts (the paper is silent)."""
    rd, opponent_rd = player.rd, opponent.rd
    return chance(player.rating - opponent.rating, impact(sqrt(rd * rd + opponent_rd * opponent_rd)))


def rate_period(player: Player, after: Player, games: BatchGames, when: When, numbers: Settings) -> None:
    """Rate one player's games of one period (steps 3 to 8)."""
    improvement = 0.0  # Σ g(s - E)
    information = 0.0  # 1/v = Σ g²E(1 - E)
    for game in range(games.first, games.last):
        opponent = opponent_of(games, game)
        weight = impact(opponent.rd)
        expected = chance(player.rating - opponent.rating, weight)
        improvement += weight * (games.score[game] - expected)
        information += weight * weight * expected * (1.0 - expected)
    rate_side(player, after, improvement, information, 1.0, numbers.tau)
    after.rating = bounded(after.rating, player.rating, numbers)
    after.period = when.period


def rate_side(player: Any, after: Any, improvement: float, information: float, periods: float, tau: float) -> None:
    """Run steps 4 to 8 for one player: fill in the new rating, RD and volatility of *after*.

    Args:
        player: before the games; may be *after*.
        after: after them.
        improvement: Σ g(s - E) over the games.
        information: 1/v = Σ g²E(1 - E) over the games.
        periods: how many step 6 adds: 1, or 0 if RD grows by time elsewhere.
        tau: the system constant.
    """
    phi2 = squared(player.rd)
    sigma = player.volatility
    # else v would be infinite, and step 5 has no answer for it
    if information > NOTHING:
        v = 1.0 / information
        delta = v * improvement
        sigma = new_volatility(player.volatility, phi2, v, delta * delta, tau)
    move(after, player.rating, phi2, sigma, improvement, information, periods)


def rate_sides(
    white: Any,
    black: Any,
    improvement: float,
    information: float,
    other_improvement: float,
    other_information: float,
    tau: float,
) -> None:
    """Rate one game: run ``rate_side`` for both players in place, with no period in step 6."""
    # The searches for their volatilities run side by side; what comes of one without information is not taken.
    informed, other_informed = information > NOTHING, other_information > NOTHING
    v, other_v = 1.0 / (information if informed else 1.0), 1.0 / (other_information if other_informed else 1.0)
    delta, other_delta = v * improvement, other_v * other_improvement
    phi2, other_phi2 = squared(white.rd), squared(black.rd)
    before, other_before = white.volatility, black.volatility
    sigma, other_sigma = new_volatilities(
        before, phi2, v, delta * delta, other_before, other_phi2, other_v, other_delta * other_delta, tau
    )
    move(white, white.rating, phi2, sigma if informed else before, improvement, information, 0.0)
    other_sigma = other_sigma if other_informed else other_before
    move(black, black.rating, other_phi2, other_sigma, other_improvement, other_information, 0.0)


def squared(rd: float) -> float:
    """Return φ² of an RD in points."""
    phi = rd * PER_POINT
    return phi * phi


def move(
    player: Any, rating: float, phi2: float, sigma: float, improvement: float, information: float, periods: float
) -> None:
    """Compute a player's new rating, RD and volatility: steps 6 to 8."""
    # step 7: φ'² = 1/(1/φ*² + 1/v), μ' = μ + φ'² Σ g(s - E)
    before2 = phi2 + periods * sigma * sigma
    # the same with one division, and none by 0 if 1/v is 0
    after2 = before2 / (1.0 + before2 * information)
    player.rating = rating + SCALE * after2 * improvement
    player.rd = SCALE * sqrt(after2)
    player.volatility = sigma


def after_period(
    rating: float,
    rd: float,
    volatility: float,
    games: Sequence[tuple[float, float, float]],
    numbers: Settings = DEFAULT,
) -> tuple[float, float, float]:
    """Return the rating, RD and volatility after one period that begins with the given ones, in points.

    Args:
        rating: at the beginning of the period.
        rd: at the beginning of the period.
        volatility: at the beginning of the period.
        games: opponent's rating, opponent's RD and own score of each game; none: only RD grows.
        numbers: the settings.
    """
    # The paper's example says 1464.06, for it rounds on the way; in full precision it is 1464.0507 (RULES 3).
    if not games:
        return rating, grown(rd, volatility, 1.0), volatility
    after = after_games(rate_period, Player(rating, rd, volatility), games, numbers)
    return after.rating, after.rd, after.volatility


def explain(own: ExplainedPlayer, meetings: Sequence[OpponentGame], when: When, numbers: Settings) -> Explanation:  # noqa: ARG001
    """Return the formulas of steps 3 to 8 with a period's numbers, one term a game."""
    rating, rd, sigma = own.before.rating, own.before.rd, own.after.volatility
    improvement, information, by_game = 0.0, 0.0, []
    chances: list[tuple[float, float]] = []
    for i, meeting in enumerate(meetings, 1):
        opponent, opponent_rd = meeting.opponent.rating, meeting.opponent.rd
        g = impact(opponent_rd)
        e = chance(rating - opponent, g)
        improvement += g * (meeting.score - e)
        information += g * g * e * (1.0 - e)
        words = f"g {g:.4f}, s {meeting.score:g}, E {e:.4f} against {opponent:.1f}, RD {opponent_rd:.1f}"
        by_game.append(Term(f"x{i}", g * (meeting.score - e), f"game {i}: g(s - E) with {words}"))
        chances.append((g, e))
    v = 1.0 / information if information else inf
    phi = rd / SCALE
    after2 = 1.0 / (1.0 / (phi * phi + sigma * sigma) + 1.0 / v)
    factor = SCALE * after2
    unrounded = rating + factor * improvement
    terms = (
        Term("R", rating, "rating before the period"),
        Term("φ", phi, f"RD {rd:.4f} before the period over 173.7178"),
        Term("σ'", sigma, f"volatility after the period, {own.before.volatility:.8f} before it (step 5)"),
        Term("v", v, "1/Σ g²E(1 - E) over the games (step 3)"),
        Term("Σx", improvement, "Σ g(s - E) over the games"),
        *by_game,
    )
    return Explanation(
        "R + 173.7178·Σx/(1/(φ^2 + σ'^2) + 1/v)",
        (*terms, Term("RD'", own.after.rd, "deviation after the period (steps 6 and 7)")),
        unrounded,
        own.after.rating,
        rounding(numbers),
        f"{PAPER}, steps 3 to 8",
        lines=game_lines(rating, meetings, chances, factor),
        sums=game_sums(improvement, factor * improvement),
        limited=limited(own.after.rating, unrounded),
    )


SCHEME = Scheme(
    name="glicko2",
    title="Glicko-2",
    source=PAPER,
    version=1,
    settings=Settings,
    numbers=Numbers,
    player=Player,
    enter=enter,
    seeded=seeded,
    accepted_ratings=accept_every_rating,
    relist=relist,
    rhythm=Rhythm.PERIOD,
    passes=(rate_period,),
    at=at,
    unchanged_since=unchanged_always,
    expected_score=expected_score,
    explain=explain,
)
