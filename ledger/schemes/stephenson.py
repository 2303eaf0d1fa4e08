"""The Stephenson system (2012): Glicko with a variance that grows by game, a bonus and a pull towards the opponents.

Source: A. Stephenson and J. Sonas, appendix of ``ChessRatings.pdf`` in the R package PlayerRatings 1.1-0; its author
won the FIDE/Deloitte contest of 2012 with a variant. A period is a month. With v = RD², brought to the month by
v + c²t, and m games against opponents with r_j and v_j:

    g_j = 1/sqrt(1 + 3q²v_j/π²)                       as in Glicko
    E_j = 1/(1 + 10^(-g_j(r - r_j)/400))              the same
    v'  = 1/(1/(v + h²m) + q² Σ g_j²E_j(1 - E_j))
    r'  = r + q·v'·Σ g_j(s_j - E_j + b) + λ(mean of r_j - r)

With h, b and λ at zero and Glicko's c it is Glicko. The package writes 100·b and 100·λ, and so do the settings. The
appendix has a γ for White's advantage too, 0 unless set, "of little importance for ratings construction": here it
is 0, so that a game counts alike with either colour. Only this scheme's rules live here; how RD grows with time, and
how players begin, is Glicko's.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import attrs

from ledger.schemes.formulas.bounds import (
    bounded,
    check_bounds,
    largest_change,
    limited,
    rating_floor,
    rating_limit,
    rounding,
)
from ledger.schemes.formulas.glicko_games import after_games
from ledger.schemes.glicko import Player, Q, at, chance, check_deviations, enter, expected_score, impact, relist, seeded
from ledger.schemes.scheme import (
    BatchGames,
    ExplainedPlayer,
    Explanation,
    FormulaSum,
    GameLine,
    OpponentGame,
    Rhythm,
    Scheme,
    Term,
    When,
    accept_every_rating,
    opponent_of,
    unchanged_always,
)
from ledger.schemes.settings import PeriodSettings, numbers_of, require_not_negative, setting

APPENDIX = "Stephenson and Sonas, PlayerRatings 1.1-0, ChessRatings.pdf, appendix"
MANUAL = "PlayerRatings 1.1-0, steph"
PERCENT = 100.0


@attrs.frozen(kw_only=True)
class Settings(PeriodSettings):
    """The constants of the scheme, with the values that the package gives them."""

    initial: float = setting(2200.0, "rating of a newcomer", "points", f"{MANUAL}: init")
    initial_rd: float = setting(300.0, "RD of a newcomer", "points", f"{MANUAL}: init")
    c: float = setting(10.0, "growth of RD in a period", "points", f"{APPENDIX}, step 1; {MANUAL}: cval")
    h: float = setting(10.0, "growth of RD in a game", "points", f"{APPENDIX}, step 2; {MANUAL}: hval")
    bonus: float = setting(0.0, "100·b, a bonus for each game", "% of a point", f"{APPENDIX}; {MANUAL}: bval")
    neighbourhood: float = setting(2.0, "100·λ, the pull towards the opponents", "%", f"{APPENDIX}; {MANUAL}: lambda")
    rd_cap: float = setting(350.0, "largest RD", "points", f"{APPENDIX}, R function: a ceiling of 350")
    rd_floor: float = setting(0.0, "smallest RD after a period", "points", "our choice; Glicko has 30")
    largest_change: float = largest_change()
    rating_floor: float = rating_floor()
    rating_limit: float = rating_limit()

    def __attrs_post_init__(self) -> None:
        """Refuse constants under which the formulas have no meaning."""
        self.check_periods()
        require_not_negative(self, "initial", "c", "h", "bonus", "neighbourhood", "rd_floor")
        for name in ("bonus", "neighbourhood"):
            if getattr(self, name) > PERCENT:
                raise ValueError(f"{name} must be from 0 to 100, got {getattr(self, name)}")
        check_deviations(self)
        check_bounds(self)


Numbers = numbers_of(Settings)
DEFAULT = Numbers(*attrs.astuple(Settings()))


def rate_period(player: Player, after: Player, games: BatchGames, when: When, numbers: Settings) -> None:
    """Rate one player's games of one period (step 2)."""
    improvement = 0.0  # Σ g(s - E + b)
    information = 0.0  # Σ g²E(1 - E)
    distance = 0.0  # Σ (r_j - r)
    for game in range(games.first, games.last):
        opponent = opponent_of(games, game)
        weight = impact(opponent.rd)
        expected = chance(player.rating - opponent.rating, weight)
        improvement += weight * (games.score[game] - expected + numbers.bonus / PERCENT)
        information += weight * weight * expected * (1.0 - expected)
        distance += opponent.rating - player.rating
    count = games.last - games.first
    before = player.rd * player.rd + numbers.h * numbers.h * count
    # 1/(1/(v + h²m) + d), written so that an RD of 0 divides by nothing
    variance = before / (1.0 + before * Q * Q * information)
    rating = player.rating + Q * variance * improvement + numbers.neighbourhood / PERCENT * (distance / count)
    rd = sqrt(variance)
    after.rating = bounded(rating, player.rating, numbers)
    # A ceiling here too: with a large h the RD could pass the largest one until time holds it again.
    after.rd = numbers.rd_floor if rd < numbers.rd_floor else numbers.rd_cap if rd > numbers.rd_cap else rd
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
    if not games:
        return rating, rd
    after = after_games(rate_period, Player(rating, rd), games, numbers)
    return after.rating, after.rd


def explain(own: ExplainedPlayer, meetings: Sequence[OpponentGame], when: When, numbers: Settings) -> Explanation:  # noqa: ARG001
    """Return the formula of step 2 with a period's numbers, one term a game."""
    rating, rd, b = own.before.rating, own.before.rd, numbers.bonus / PERCENT
    pull, count = numbers.neighbourhood / PERCENT, len(meetings)
    weights = [impact(meeting.opponent.rd) for meeting in meetings]
    chances = [(g, chance(rating - each.opponent.rating, g)) for g, each in zip(weights, meetings, strict=True)]
    before = rd * rd + numbers.h * numbers.h * count
    variance = before / (1.0 + before * Q * Q * sum(g * g * e * (1.0 - e) for g, e in chances))
    factor, lines = Q * variance, []
    for meeting, (g, e) in zip(meetings, chances, strict=True):
        other, worth = meeting.opponent.rating, g * (meeting.score - e + b)
        points = factor * worth + pull * (other - rating) / count
        words = f"RD {meeting.opponent.rd:.1f}, g {g:.4f}"
        gain = meeting.score - e
        lines.append(GameLine(other, rating, rating - other, "", e, gain, 1.0, factor, points, worth, words=words))
    improvement = sum(line.worth or 0.0 for line in lines)
    mean = sum(meeting.opponent.rating for meeting in meetings) / count
    unrounded = rating + factor * improvement + pull * (mean - rating)
    terms = (
        Term("r", rating, "rating before the period"),
        Term("RD", rd, "deviation at the beginning of the period"),
        Term("q", Q, "ln(10)/400"),
        Term("v'", variance, f"1/(1/(RD² + h²m) + q² Σ g²E(1 - E)), h {numbers.h:g}, m {count}"),
        Term("Σx", improvement, f"Σ g(s - E + b) over the games, b {b:g}"),
        Term("λ", pull, "the pull towards the opponents"),
        Term("R", mean, "mean of the opponents' ratings"),
        Term("RD'", own.after.rd, "deviation after the period"),
    )
    change = FormulaSum("Δ", "points", factor * improvement + pull * (mean - rating), "change of the rating")
    return Explanation(
        "r + q·v'·Σx + λ·(R - r)",
        terms,
        unrounded,
        own.after.rating,
        rounding(numbers),
        f"{APPENDIX}, step 2",
        lines=tuple(lines),
        sums=(FormulaSum("Σx", "worth", improvement, "Σ g(s - E + b) over the games"), change),
        limited=limited(own.after.rating, unrounded),
    )


SCHEME = Scheme(
    name="stephenson",
    title="Stephenson",
    source=APPENDIX,
    readings=(
        "A newcomer's RD is that of the first period; the R function lets it grow by one period before.",
        "White's advantage γ counts in predictions alone: in the ratings it is 0, its default in the R function.",
    ),
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
