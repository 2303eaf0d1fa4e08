"""Lichess ratings: Glicko-2 after every game, with deviations that grow by the day.

Source: what scalachess (``rating/``) and lila (``modules/rating``) do. Each game is a period of its own that adds no
deviation in step 6; instead RD grows by the clock, by the same formula with 0.21436 periods a day.

Lichess grows the stored RD whenever it reads it and takes the growth back when it writes, so that what is stored
stays the RD at the last game. Here a player has *rd* as of *day*, the last game's in what is kept. Growth for d1 days
and then for d2 is growth for d1 + d2, at the largest RD too, and the smallest never holds a growing RD; so ``at`` moves
*rd* and *day* together, a game grows both sides' RD from their days to its own, and since what is only read is never
kept, nothing has to be taken back.

One pool is one speed: set ``regulator`` to 1.005 for blitz, 1.013 for ultraBullet, 1.02 for atomic and antichess, 1
for speeds without one; its default 1.015 is that of bullet, rapid and classical. Lichess halves a human's change
against a bot; this scheme does not, because a game does not state that a player is a bot.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import attrs

from ledger.schemes.glicko2 import SCALE, chance, check_scale, expected_score, impact, rate_side, rate_sides
from ledger.schemes.scheme import (
    COUNTS,
    HALF_MOVES_UNKNOWN,
    TOO_SHORT,
    AcceptedRatings,
    ExplainedPlayer,
    Explanation,
    Newcomer,
    OpponentGame,
    Scheme,
    Seed,
    Term,
    When,
    common_reason,
    state,
    unchanged_always,
)
from ledger.schemes.settings import numbers_of, require_not_negative, require_positive, setting

GLICKO = "lila, modules/rating, Glicko"
CALCULATOR = "scalachess, rating, GlickoCalculator"
MOST_RD = 1000.0  # beyond these two a result is no rating, regardless of the caps
VOLATILITY_LIMIT = 2.0  # times the cap


@attrs.frozen(kw_only=True)
class Settings:
    """The constants of the scheme. Ratings and RD in points, volatility and tau on the scale of Glicko-2."""

    initial: float = setting(1500.0, "rating of a newcomer", "points", f"{GLICKO}: default")
    initial_rd: float = setting(500.0, "RD of a newcomer", "points", f"{GLICKO}: default")
    initial_volatility: float = setting(0.09, "volatility of a newcomer", "1/173.7178 points", f"{GLICKO}: default")
    tau: float = setting(0.75, "how much volatility changes", "1", "scalachess, rating: Tau.default")
    periods_per_day: float = setting(
        0.21436, "growth of RD by time", "periods a day", f"{GLICKO}: 'RD goes from 60 -> 110 in 1 year'"
    )
    rd_floor: float = setting(45.0, "smallest RD", "points", f"{GLICKO}: minDeviation")
    rd_cap: float = setting(500.0, "largest RD", "points", f"{GLICKO}: maxDeviation")
    volatility_cap: float = setting(0.1, "largest volatility", "1/173.7178 points", f"{GLICKO}: maxVolatility")
    rating_floor: float = setting(400.0, "smallest rating", "points", f"{GLICKO}: minRating")
    rating_limit: float = setting(4000.0, "what no sane rating reaches", "points", f"{GLICKO}: sanityCheck")
    largest_change: float = setting(700.0, "largest change by a game", "points", f"{GLICKO}: maxRatingDelta")
    provisional_rd: float = setting(110.0, "RD from which a rating is provisional", "points", f"{GLICKO}: provisional")
    regulator: float = setting(
        1.015, "what gains are multiplied by", "1", "lila, RatingRegulator: bullet, rapid, classical"
    )
    advantage: float = setting(0.0, "worth of the first move", "points", "scalachess, rating: ColorAdvantage.zero")
    min_half_moves: float = setting(
        2.0, "a shorter game is not rated; 0 for tournaments", "half-moves", "lila, PerfsUpdater: 2 plies"
    )

    def __attrs_post_init__(self) -> None:
        """Refuse constants under which the formulas have no meaning."""
        check_scale(self)
        require_positive(self, "rd_floor", "volatility_cap", "largest_change", "regulator")
        require_not_negative(self, "periods_per_day", "rating_floor", "provisional_rd", "min_half_moves")
        if not self.rd_floor <= self.initial_rd <= self.rd_cap < MOST_RD:
            raise ValueError(f"initial_rd must be from rd_floor to rd_cap, below 1000, got {self.initial_rd}")
        if not self.initial_volatility <= self.volatility_cap <= 1.0:
            raise ValueError(f"volatility_cap must be from initial_volatility to 1, got {self.volatility_cap}")
        if not self.rating_floor <= self.initial < self.rating_limit:
            raise ValueError(f"initial must be from rating_floor to below rating_limit, got {self.initial}")


Numbers = numbers_of(Settings)
DEFAULT = Numbers(*attrs.astuple(Settings()))


@attrs.define
class Player:
    """The state of a player."""

    rating: float = state("points")
    rd: float = state("rating deviation RD as of *day*, points")
    volatility: float = state("1/173.7178 points")
    day: float = state("days since 1970")


def enter(newcomer: Newcomer, numbers: Settings) -> Player:
    """Return the initial state of a new player, whose RD is that of the first game's day."""
    # A declared rating replaces 1500, unless it is below the floor, which then holds it, or fails the sanity check.
    declared = newcomer.declared
    rating = numbers.initial if declared is None or declared >= numbers.rating_limit else float(declared)
    return Player(max(rating, numbers.rating_floor), numbers.initial_rd, numbers.initial_volatility, newcomer.day)


def seeded(seed: Seed, newcomer: Newcomer, numbers: Settings) -> Player:
    """Return the state of a player with a history: rating, RD and volatility within their limits.

    RD grows from the seed's day on.
    """
    player = enter(newcomer._replace(declared=seed.rating), numbers)
    if seed.deviation is not None:
        player.rd = clipped(seed.deviation, numbers.rd_floor, numbers.rd_cap)
    if seed.volatility is not None:
        player.volatility = clipped(seed.volatility, 1e-4, numbers.volatility_cap)
    return player


def accepted_ratings(day: float, numbers: Settings) -> AcceptedRatings:  # noqa: ARG001
    """Return the limits of seeds that hold: ratings within the bounds."""
    return AcceptedRatings(low=numbers.rating_floor, high=numbers.rating_limit - 1.0)


def refuse(
    outcome: int,
    termination: int,
    half_moves: int,
    rated: bool,
    white: int,  # noqa: ARG001
    black: int,  # noqa: ARG001
    numbers: Settings,
) -> int:
    """Return the reason why a game is not rated (an index into ``REASONS``), or 0. An unknown length is accepted."""
    common = common_reason(outcome, termination, rated)
    if common != COUNTS:
        return common
    # games with fewer than 2 plies are not rated, but tournament games are
    if half_moves != HALF_MOVES_UNKNOWN and half_moves < numbers.min_half_moves:
        return TOO_SHORT
    return COUNTS


def live_rd(rd: float, volatility: float, days: float, numbers: Settings) -> float:
    """Return RD in rating points *days* later, within 45 to 500.

    It is sqrt(φ² + t·σ²), t = days·0.21436 periods.
    """
    step = SCALE * volatility
    # Games may arrive out of order: on an earlier day less has grown, and never less than nothing.
    square = rd * rd + days * numbers.periods_per_day * step * step
    return clipped(sqrt(square) if square > 0.0 else 0.0, numbers.rd_floor, numbers.rd_cap)


def clipped(value: float, low: float, high: float) -> float:
    """Return *value*, but not below *low* nor above *high*."""
    if value < low:
        return low
    return high if value > high else value


def relist(player: Player, fresh: Player, seed: Seed, numbers: Settings) -> Player:  # noqa: ARG001
    """Return the state after a later list: its rating within the limits, and RD and volatility if it states them."""
    rd = player.rd if seed.deviation is None else fresh.rd
    volatility = player.volatility if seed.volatility is None else fresh.volatility
    return Player(fresh.rating, rd, volatility, fresh.day)


def at(player: Player, period: float, day: float, numbers: Settings) -> None:  # noqa: ARG001
    """Make RD the live one of *day*."""
    if day > player.day:
        player.rd = live_rd(player.rd, player.volatility, day - player.day, numbers)
        player.day = day


def rate_game(white: Player, black: Player, score: float, day: float, numbers: Settings) -> None:
    """Rate one game: change both players' states in place, from those before it with their live RD."""
    at(white, 0.0, day, numbers)
    at(black, 0.0, day, numbers)
    of_white, of_black = white.rating, black.rating
    improvement, information = evidence(of_white, of_black, black.rd, score, numbers.advantage)
    to_black, about_black = evidence(of_black, of_white, white.rd, 1.0 - score, -numbers.advantage)
    rate_sides(white, black, improvement, information, to_black, about_black, numbers.tau)
    hold(white, of_white, numbers)
    hold(black, of_black, numbers)


def evidence(rating: float, opponent: float, opponent_rd: float, score: float, advantage: float) -> tuple[float, float]:
    """Return g(s - E) and g²E(1 - E) of one player of a game.

    Args:
        rating: before the game, points.
        opponent: the opponent's rating, points.
        opponent_rd: the opponent's live RD, points.
        score: 0, 0.5 or 1.
        advantage: points that the first move is worth to this side: half on its own rating, half off the other's.
    """
    weight = impact(opponent_rd)
    expected = chance(rating - opponent + advantage, weight)
    return weight * (score - expected), weight * weight * expected * (1.0 - expected)


def played(player: Player, opponent: Player, score: float, advantage: float, tau: float) -> Player:
    """Return the player's state after one game by the calculator alone, without limits; both with live RD."""
    after = attrs.evolve(player)
    improvement, information = evidence(player.rating, opponent.rating, opponent.rd, score, advantage)
    rate_side(player, after, improvement, information, 0.0, tau)
    return after


def hold(player: Player, before: float, numbers: Settings) -> None:
    """Hold a player's new state within the limits, in Lichess's order.

    The order is: change, sanity check, caps, regulator.
    """
    rating = clipped(player.rating, before - numbers.largest_change, before + numbers.largest_change)
    if not sane(rating, player.rd, player.volatility, numbers):
        player.rating = numbers.initial
        player.rd = numbers.initial_rd
        player.volatility = numbers.initial_volatility
        return
    rating = max(rating, numbers.rating_floor)
    # the regulator: of gains only, after the caps
    if rating > before:
        rating += (rating - before) * (numbers.regulator - 1.0)
    player.rating = rating
    player.rd = clipped(player.rd, numbers.rd_floor, numbers.rd_cap)
    player.volatility = min(player.volatility, numbers.volatility_cap)


def sane(rating: float, rd: float, volatility: float, numbers: Settings) -> bool:
    """Return whether a new state passes the sanity check: rating, RD and volatility within wide limits."""
    return (
        0.0 < rating < numbers.rating_limit
        and 0.0 < rd < MOST_RD
        and 0.0 < volatility < VOLATILITY_LIMIT * numbers.volatility_cap
    )


def provisional(player: Player, numbers: Settings) -> bool:
    """Return True from an RD of 110 (``deviation >= 110`` in the code; the site says "above 110")."""
    return bool(player.rd >= numbers.provisional_rd)


def whole_points(rating: float) -> int:
    """Return the rating as the site shows it: cut off to whole points."""
    # A change that the site shows is the difference of two such numbers (RULES 3).
    return int(rating)


Triple = tuple[float, float, float]


def game(
    white: Triple, black: Triple, score: float, advantage: float = 0.0, tau: float = DEFAULT.tau
) -> tuple[Triple, Triple]:
    """Return both players' rating, live RD and volatility after one game, by the calculator alone without limits.

    Args:
        white: White's rating and live RD in points, and volatility.
        black: the same of Black.
        score: White's 0, 0.5 or 1.
        advantage: worth of the first move in points.
        tau: the system constant.
    """
    own, opponent = Player(*white), Player(*black)
    after = (played(own, opponent, score, advantage, tau), played(opponent, own, 1.0 - score, -advantage, tau))
    of_white, of_black = ((player.rating, player.rd, player.volatility) for player in after)
    return of_white, of_black


def explain(own: ExplainedPlayer, meetings: Sequence[OpponentGame], when: When, numbers: Settings) -> Explanation:
    """Return the formula of one game for one of its players, with its numbers."""
    opponent, score, colour, *_ = meetings[0]
    live, opponent_live = attrs.evolve(own.before), attrs.evolve(opponent)
    at(live, when.period, when.day, numbers)
    at(opponent_live, when.period, when.day, numbers)
    advantage = -numbers.advantage if colour else numbers.advantage
    weight = impact(opponent_live.rd)
    expected = chance(live.rating - opponent_live.rating + advantage, weight)
    after = played(live, opponent_live, score, advantage, numbers.tau)
    gain = after.rating > live.rating
    factor = numbers.regulator if gain else 1.0
    terms = (
        Term("R", live.rating, "rating before the game"),
        Term("φ'", after.rd / SCALE, f"RD {after.rd:.4f} after the game over 173.7178; live before {live.rd:.4f}"),
        Term("g", weight, f"1/sqrt(1 + 3φ²/π²) with the opponent's live RD {opponent_live.rd:.4f} over 173.7178"),
        Term("s", score, "score"),
        Term("E", expected, f"expected score against {opponent_live.rating:.4f}"),
        Term("m", factor, "regulator of gains" if gain else "1: the regulator is of gains only"),
    )
    unrounded = live.rating + factor * SCALE * (after.rd / SCALE) * (after.rd / SCALE) * weight * (score - expected)
    # ``hold`` keeps no note: the result shows whether it limited the change or gave a newcomer's rating instead.
    result, rounding = own.after.rating, "none; shown cut off to whole points"
    if abs(unrounded - result) >= 1e-6:
        rounding = (
            f"{after.rating:.1f} fails the sanity check: a newcomer's rating instead"
            if result == numbers.initial
            else f"held to a change of at most {numbers.largest_change:g} and a rating of at least "
            f"{numbers.rating_floor:g}; shown cut off to whole points"
        )
    return Explanation("R + m·173.7178·φ'^2·g·(s - E)", terms, unrounded, result, rounding, f"{CALCULATOR}; {GLICKO}")


SCHEME = Scheme(
    name="lichess",
    title="Lichess",
    source=f"{CALCULATOR}; {GLICKO}",
    version=1,
    settings=Settings,
    numbers=Numbers,
    player=Player,
    enter=enter,
    seeded=seeded,
    accepted_ratings=accepted_ratings,
    relist=relist,
    refuse=refuse,
    rate_game=rate_game,
    expected_score=expected_score,
    explain=explain,
    at=at,
    unchanged_since=unchanged_always,
    provisional=provisional,
)
