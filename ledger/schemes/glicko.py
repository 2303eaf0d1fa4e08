"""The Glicko system (Glickman, 1999): a rating with a deviation RD that shrinks by games and grows with time.

Source: M. Glickman, The Glicko system, glicko.net/glicko/glicko.pdf, quoted by its steps. A period's games are rated
together, each opponent as at the beginning of the period. Periods are months unless set otherwise; c belongs to the
length of a period: the paper's 63.2 takes an RD of 50 back to 350 in 30 periods. For weekly periods set
``period_days`` to 7 and divide c by the square root of how many of them make one old period (63.2 for months is 30.3
for weeks). Only this scheme's rules live here; those of Glicko-2 and of Lichess have modules of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, pi, sqrt
from typing import Any

import attrs

from ledger.facts.periods import last_finished_period
from ledger.runtime.arith import LOG2_10, exp2
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

PAPER = "Glickman, The Glicko system"
NEVER = -1e9  # the period of a player who has not been rated
Q = 0.005756462732485115  # q = ln(10)/400
SPREAD = 3.0 * Q * Q / (pi * pi)  # of g: 3q²/π²
BITS = LOG2_10 / 400.0  # 10^(x/400) is 2^(BITS·x)
NORMAL_95 = 1.96
LEAST_RD = 1.0


def check_deviations(settings: Any) -> None:
    """Refuse a first RD that is not between the smallest and the largest one."""
    if not LEAST_RD <= settings.initial_rd <= settings.rd_cap:
        raise ValueError(f"initial_rd must be from 1 to rd_cap, got {settings.initial_rd}")
    if settings.rd_floor > settings.initial_rd:
        raise ValueError(f"rd_floor must not exceed initial_rd, got {settings.rd_floor}")


@attrs.frozen(kw_only=True)
class Settings(PeriodSettings):
    """The constants of the scheme, all in points."""

    initial: float = setting(1500.0, "rating of a newcomer", "points", f"{PAPER}, step 1: unrated, 1500")
    initial_rd: float = setting(350.0, "RD of a newcomer", "points", f"{PAPER}, step 1: unrated, 350")
    c: float = setting(63.2, "growth of RD in a period", "points", f"{PAPER}, step 1: 50 to 350 in 30 periods")
    rd_cap: float = setting(350.0, "largest RD", "points", f"{PAPER}, step 1: min(sqrt(RD² + c²t), 350)")
    rd_floor: float = setting(30.0, "smallest RD after a period", "points", f"{PAPER}: a floor of 30 advised")
    largest_change: float = largest_change()
    rating_floor: float = rating_floor()
    rating_limit: float = rating_limit()

    def __attrs_post_init__(self) -> None:
        """Refuse constants under which the formulas have no meaning."""
        self.check_periods()
        require_not_negative(self, "initial", "c", "rd_floor")
        check_deviations(self)
        check_bounds(self)


Numbers = numbers_of(Settings)
DEFAULT = Numbers(*attrs.astuple(Settings()))


@attrs.define
class Player:
    """The state of a player."""

    rating: float = state("points")
    rd: float = state("rating deviation RD, points")
    period: float = state("the last rated period, or the one that RD was brought to")


def enter(newcomer: Newcomer, numbers: Settings) -> Player:
    """Return the initial state of a new player; a declared rating is as uncertain as none."""
    rating = numbers.initial if newcomer.declared is None else float(newcomer.declared)
    return Player(rating, numbers.initial_rd, NEVER)


def seeded(seed: Seed, newcomer: Newcomer, numbers: Settings) -> Player:
    """Return the state of a player with a history: the RD of its list, or that of a newcomer.

    The RD grows from the end of the period before.
    """
    if seed.deviation is None:
        return Player(seed.rating, numbers.initial_rd, NEVER)
    rd = min(max(seed.deviation, numbers.rd_floor), numbers.rd_cap)
    period = last_finished_period(newcomer.day, rating_period_calendar(numbers))
    return Player(seed.rating, rd, NEVER if period is None else period)


def decayed(rd: float, c: float, periods: float, cap: float) -> float:
    """Return RD in rating points after *periods* without games: min(sqrt(RD² + c²t), 350) (step 1)."""
    grown = sqrt(rd * rd + c * c * periods)
    return grown if grown < cap else cap


def relist(player: Player, fresh: Player, seed: Seed, numbers: Settings) -> Player:  # noqa: ARG001
    """Return the state after a later list, which replaces the rating and, if it states one, RD and its period."""
    grows = player if seed.deviation is None else fresh
    return Player(seed.rating, grows.rd, grows.period)


def at(player: Player, period: float, day: float, numbers: Settings) -> None:  # noqa: ARG001
    """Let RD grow by the periods since it was last updated: step 1, for every player of a period."""
    # Opponents' too: a library in use lets only the RD grow of the player who is rated (RULES 9).
    if player.period > NEVER and period > player.period:
        player.rd = decayed(player.rd, numbers.c, period - player.period, numbers.rd_cap)
        player.period = period


def impact(rd: float) -> float:
    """Return g(RD), from 0 to 1: the weight of a game against an opponent with that RD (step 2)."""
    return 1.0 / sqrt(1.0 + SPREAD * rd * rd)


def chance(difference: float, weight: float) -> float:
    """Return the expected score E, from 0 to 1, of the player rated *difference* points higher (step 2).

    *weight* is g(RD).
    """
    return 1.0 / (1.0 + exp2(-BITS * weight * difference))


def expected_between(rating: float, rd: float, opponent: float, opponent_rd: float) -> float:
    """Return the expected score, from 0 to 1, with the uncertainty of both: E with g(sqrt(RD1² + RD2²)).

    All arguments are in rating points.
    """
    return chance(rating - opponent, impact(sqrt(rd * rd + opponent_rd * opponent_rd)))


def expected_score(player: Player, opponent: Player, numbers: Settings) -> float:  # noqa: ARG001
    """Return the expected score, from 0 to 1, of players whom ``at`` brought to the time."""
    return expected_between(player.rating, player.rd, opponent.rating, opponent.rd)


def rate_period(player: Player, after: Player, games: BatchGames, when: When, numbers: Settings) -> None:
    """Rate one player's games of one period (step 2)."""
    improvement = 0.0  # Σ g(s - E)
    information = 0.0  # Σ g²E(1 - E)
    for game in range(games.first, games.last):
        opponent = opponent_of(games, game)
        weight = impact(opponent.rd)
        expected = chance(player.rating - opponent.rating, weight)
        improvement += weight * (games.score[game] - expected)
        information += weight * weight * expected * (1.0 - expected)
    # 1/RD² + 1/d², where d² = 1/(q² Σ g²E(1 - E))
    precision = 1.0 / (player.rd * player.rd) + Q * Q * information
    rd = sqrt(1.0 / precision)
    after.rating = bounded(player.rating + Q / precision * improvement, player.rating, numbers)
    after.rd = rd if rd > numbers.rd_floor else numbers.rd_floor
    after.period = when.period


def after_period(
    rating: float, rd: float, games: Sequence[tuple[float, float, float]], numbers: Settings = DEFAULT
) -> tuple[float, float]:
    """Return the rating and RD after one period that begins with the given ones, in points.

    Args:
        rating: at the beginning of the period.
        rd: RD at the beginning of the period, its growth included.
        games: opponent's rating, opponent's RD and own score of each game.
        numbers: the settings.
    """
    # The paper's worked example begins after step 1: its RD of 200 is used unchanged (RULES 3).
    if not games:
        return rating, rd
    after = after_games(rate_period, Player(rating, rd), games, numbers)
    return after.rating, after.rd


def explain(own: ExplainedPlayer, meetings: Sequence[OpponentGame], when: When, numbers: Settings) -> Explanation:  # noqa: ARG001
    """Return the formula of step 2 with a period's numbers, one term a game."""
    rating, rd = own.before.rating, own.before.rd
    improvement, information, by_game = 0.0, 0.0, []
    chances: list[tuple[float, float]] = []
    for i, meeting in enumerate(meetings, 1):
        opponent, opponent_rd = meeting.opponent.rating, meeting.opponent.rd
        g = impact(opponent_rd)
        e = chance(rating - opponent, g)
        improvement += g * (meeting.score - e)
        information += g * g * e * (1.0 - e)
        by_game.append(Term(f"x{i}", g * (meeting.score - e), game_words(i, meeting, g, e)))
        chances.append((g, e))
    d2 = 1.0 / (Q * Q * information) if information else inf
    factor = Q / (1.0 / (rd * rd) + 1.0 / d2)
    unrounded = rating + factor * improvement
    terms = (
        Term("r", rating, "rating before the period"),
        Term("RD", rd, "deviation at the beginning of the period"),
        Term("q", Q, "ln(10)/400"),
        Term("d²", d2, "1/(q² Σ g²E(1 - E))"),
        Term("Σx", improvement, "Σ g(s - E) over the games"),
        *by_game,
    )
    return Explanation(
        "r + q/(1/RD^2 + 1/d²)·Σx",
        (*terms, Term("RD'", own.after.rd, "deviation after the period")),
        unrounded,
        own.after.rating,
        rounding(numbers),
        f"{PAPER}, step 2",
        lines=game_lines(rating, meetings, chances, factor),
        sums=game_sums(improvement, factor * improvement),
        limited=limited(own.after.rating, unrounded),
    )


def game_words(i: int, meeting: OpponentGame, g: float, e: float) -> str:
    """Return the factors of a game's term g(s - E), for people."""
    rating, rd = meeting.opponent.rating, meeting.opponent.rd
    return f"game {i}: g(s - E) with g {g:.4f}, s {meeting.score:g}, E {e:.4f} against {rating:.1f}, RD {rd:.1f}"


SCHEME = Scheme(
    name="glicko",
    title="Glicko",
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
