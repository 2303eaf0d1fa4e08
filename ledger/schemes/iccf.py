"""The Elo rating of ICCF until 2023: quarterly lists, by performance up to 30 games, by k·(W - We) after that.

ICCF's own text could be read in parts only (rule 9.4 through corrchessbg.com, the table through fayllar.org); each
setting names where its number is from. The scheme of ``playchess`` "is mainly based on the ICCF Rating Scheme" (IECG
Rating Rules 1.7, I.1), and its formulas replace the missing ones: the provisional formula with its correction F, r
and g (ICCF's p) of k, and the logistic expected score.

Facts that games lack are approximated:

* a tournament's entry ratings. Unless ``entry_lists`` is set, the list rating in force replaces them. With it, every
  so many lists the rating of that day is kept as the entry rating of the tournaments that end before the next such day.
* the day inside a period. Lists hold from a month after the period, so that a game of a period's first month is rated
  by the list before the last one ("In these games his own rating is not the high value of 2015/2", ICCF Ratings
  Commissioner 2015); here it is rated by the last one, as all games of its period.

Only this scheme's rules live here.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, inf

import attrs

from ledger.runtime.arith import logistic
from ledger.schemes.formulas.fide_rules import percentage
from ledger.schemes.playchess import correction, counted, g_factor, k_factor, provisional_sums, r_factor
from ledger.schemes.scheme import (
    AcceptedRatings,
    BatchGames,
    ExplainedPlayer,
    Explanation,
    FormulaSum,
    GameLine,
    Newcomer,
    OpponentGame,
    Rhythm,
    Scheme,
    Seed,
    Term,
    When,
    opponent_of,
    state,
    unchanged_always,
)
from ledger.schemes.settings import (
    PeriodSettings,
    numbers_of,
    require_not_negative,
    require_positive,
    require_whole,
    setting,
)

IECG = "IECG Rating Rules 1.7"
WELSH = "Welsh CCF, 'Rating Blues' (2017)"
RULE_9_4 = "ICCF Tournament Rules 9.4 (Congress 2011)"
UNSEEN = -1e9  # no period noted yet; those in days before 1970 have numbers below 0
# 1 December 2011, days since 1970: list 2012/2 rates the games ended from then to February 2012.
FIRST_DAY_OF_2012_2 = 15_309.0

# ICCF list, working rules, table 3: percentage from 0.50 to 1.00 to difference Dp, points; antisymmetric below. What
# could be read of it is FIDE's table 8.1.1 but for 677 at 1.00; the rows that could not be read are taken from FIDE's.
DP = (
    0.0, 7.0, 14.0, 21.0, 29.0, 36.0, 43.0, 50.0, 57.0, 65.0, 72.0, 80.0, 87.0, 95.0, 102.0, 110.0, 117.0, 125.0,
    133.0, 141.0, 149.0, 158.0, 166.0, 175.0, 184.0, 193.0, 202.0, 211.0, 220.0, 230.0, 240.0, 251.0, 262.0, 273.0,
    284.0, 296.0, 309.0, 322.0, 336.0, 351.0, 366.0, 383.0, 401.0, 422.0, 444.0, 470.0, 501.0, 538.0, 589.0, 677.0,
    677.0,
)  # fmt: skip


@attrs.frozen(kw_only=True)
class Settings(PeriodSettings):
    """The constants of the scheme. Ratings in points, lengths in games, lists or months."""

    # list 2015/3, valid from 1 July 2015, rates the games ended from 1 March to 31 May (kszgk.com, 2015-06-05)
    period_months: float = setting(3.0, "length of a period in calendar months", "months", f"{WELSH}: '4 times a year'")
    first_month: float = setting(3.0, "a month of the year in which a period begins", "month", "kszgk.com, list 2015/3")
    initial: float = setting(
        1800.0,
        "entry rating without a declared one",
        "points",
        f"choice of the pool; {RULE_9_4}: the tournament's mean",
    )
    listed_games: float = setting(12.0, "games to be listed", "games", f"{WELSH}: 'between 12 and 30 games'")
    fixed_games: float = setting(30.0, "games to a fixed rating", "games", f"{WELSH}: '30 games onwards'")
    cut_off: float = setting(350.0, "largest difference that counts", "points", "ingram-braun.net: 'fixed by ICCF'")
    corrected: bool = setting(True, "multiply Dp by F", "switch", f"{IECG} IV.1; not confirmed for ICCF")  # noqa: FBT003
    higher_rating: bool = setting(
        True,  # noqa: FBT003
        "from list 2012/2 own current, opponent's higher rating; off: entry ratings always",
        "switch",
        RULE_9_4,
    )
    entry_lists: float = setting(
        0.0, "lists for which an entry rating is kept; 0: that in force stands for it", "lists", "our approximation"
    )

    def __attrs_post_init__(self) -> None:
        """Refuse constants under which the formulas have no meaning."""
        self.check_periods()
        require_whole(self, listed_games=(0, 10_000), fixed_games=(0, 10_000), entry_lists=(0, 10_000))
        require_positive(self, "cut_off")
        require_not_negative(self, "initial")


Numbers = numbers_of(Settings)
DEFAULT = Numbers(*attrs.astuple(Settings()))


@attrs.define
class Player:
    """The state of a player."""

    rating: float = state("of the last list, before the first games the entry rating, points")
    games: float = state("rated games")
    score_sum: float = state("points in the games up to a fixed rating")
    opponent_sum: float = state("sum of the opponents' ratings in the games up to a fixed rating, points")
    entry_rating: float = state("rating with which tournaments that end now were entered, points")
    period: float = state("the last period that was noted", UNSEEN)


def enter(newcomer: Newcomer, numbers: Settings) -> Player:
    """Return the initial state of a new player, with the entry rating."""
    # Rule 9.4: a player without an ICCF rating enters with that of FIDE (to be declared), else with the mean of the
    # tournament.
    rating = numbers.initial if newcomer.declared is None else newcomer.declared
    return Player(rating, entry_rating=rating)


def carry(rating: float, games: float, newcomer: Newcomer, numbers: Settings) -> Player:  # noqa: ARG001
    """Return the state of a player who comes with *games* rated games, which go on counting.

    Too few count as even scores against equals.
    """
    player = Player(rating, games, entry_rating=rating)
    if games < numbers.fixed_games:
        player.score_sum = games / 2.0
        player.opponent_sum = rating * games
    return player


def seeded(seed: Seed, newcomer: Newcomer, numbers: Settings) -> Player:
    """Return the state of a player with a history, whose games go on counting.

    A rating without a number of games is a fixed one.
    """
    return carry(seed.rating, numbers.fixed_games if seed.games is None else seed.games, newcomer, numbers)


def accepted_ratings(day: float, numbers: Settings) -> AcceptedRatings:  # noqa: ARG001
    """Return the limits of seeds that hold: enough games to be listed; without a number, those of a fixed rating."""
    return AcceptedRatings(low=0.0 if numbers.fixed_games >= numbers.listed_games else inf, games=numbers.listed_games)


def at(player: Player, period: float, day: float, numbers: Settings) -> None:  # noqa: ARG001
    """Store the list rating in force as the entry rating when a new stretch of ``entry_lists`` lists begins."""
    if (
        numbers.entry_lists > 0.0
        and player.period != UNSEEN
        and floor(player.period / numbers.entry_lists) != floor(period / numbers.entry_lists)
    ):
        player.entry_rating = player.rating
    player.period = period


def dp(score: float, games: float) -> float:
    """Return Dp, the rating difference in rating points for a score in *games*, by the table.

    Percentages are rounded to whole ones, halves outwards.
    """
    # From the score, not from the quotient: 11.5 of 20 are 57.5 %, but the float next to 0.575 lies below it.
    # the table has one half of it: halves go outwards on both sides
    if 2.0 * score < games:
        return -DP[percentage(games - score, games) - 50]
    return DP[percentage(score, games) - 50]


def performance(opponent_sum: float, score_sum: float, games: float, corrected: bool) -> float:
    """Return the rating by performance over all of *games*, in rating points.

    It is the opponents' mean + Dp, times F if *corrected*.
    """
    factor = correction(score_sum / games) if corrected else 1.0
    return opponent_sum / games + dp(score_sum, games) * factor


def own_rating(player: Player, day: float, numbers: Settings) -> float:
    """Return the player's rating in the expected score, in rating points.

    It is the current one from list 2012/2, before that the entry rating.
    """
    if numbers.entry_lists == 0.0 or (numbers.higher_rating and day >= FIRST_DAY_OF_2012_2):
        return player.rating
    return player.entry_rating


def opponent_rating(opponent: Player, day: float, numbers: Settings) -> float:
    """Return the opponent's rating in the expected score, in rating points."""
    # Rule 9.4, from list 2012/2: where the opponent's new rating is lower than that at the start of the tournament, the
    # latter counts; before, always the entry rating.
    if numbers.entry_lists == 0.0:
        return opponent.rating
    if numbers.higher_rating and day >= FIRST_DAY_OF_2012_2 and opponent.rating > opponent.entry_rating:
        return opponent.rating
    return opponent.entry_rating


def rate_period(player: Player, after: Player, games: BatchGames, when: When, numbers: Settings) -> None:
    """Rate one player's games of one period: all games so far up to a fixed rating, the change by k after that."""
    before, scores, opponents = player.games, player.score_sum, player.opponent_sum
    total = before + (games.last - games.first)
    own = own_rating(player, when.day, numbers)
    if before < numbers.fixed_games:
        # "If you have less than 30 games, you must include all your games" (ingram-braun.net)
        for g in range(games.first, games.last):
            other = opponent_rating(opponent_of(games, g), when.day, numbers)
            # the limit is counted from a rating of one's own, which a newcomer has after the first period alone
            opponents += counted(own, other, numbers.cut_off) if before > 0.0 else other
            scores += games.score[g]
        after.rating = performance(opponents, scores, total, numbers.corrected)
    else:
        missed = 0.0
        for g in range(games.first, games.last):
            other = opponent_rating(opponent_of(games, g), when.day, numbers)
            missed += games.score[g] - logistic(own - counted(own, other, numbers.cut_off))
        after.rating = player.rating + k_factor(player.rating, before) * missed
    after.games = total
    after.score_sum = scores
    after.opponent_sum = opponents
    after.entry_rating = player.entry_rating
    after.period = player.period


def expected_score(player: Player, opponent: Player, numbers: Settings) -> float:
    """Return the expected score, from 0 to 1, with the limit on the difference."""
    return logistic(player.rating - counted(player.rating, opponent.rating, numbers.cut_off))


def provisional(player: Player, numbers: Settings) -> bool:
    """Return True until the rating is fixed."""
    return player.games < numbers.fixed_games


def listed(player: Player, numbers: Settings) -> bool:
    """Return whether the list shows the player."""
    return player.games >= numbers.listed_games


def explain(own: ExplainedPlayer, meetings: Sequence[OpponentGame], when: When, numbers: Settings) -> Explanation:
    """Return the formula of one player's games in one period with its numbers."""
    rating, games = own.before.rating, own.before.games
    current = own_rating(own.before, when.day, numbers)
    others = [opponent_rating(meeting.opponent, when.day, numbers) for meeting in meetings]
    if games > 0 or games >= numbers.fixed_games:
        others = [counted(current, other, numbers.cut_off) for other in others]
    limits = [_limit(meeting, other, when.day, numbers) for meeting, other in zip(meetings, others, strict=True)]
    if games < numbers.fixed_games:
        explanation = _explain_performance(own.after, others, numbers)
        pairs = zip(others, limits, strict=True)
        return explanation._replace(
            lines=tuple(GameLine(other, current, limit=limit) for other, limit in pairs),
            sums=provisional_sums(own),
        )
    expected = [logistic(current - other) for other in others]
    terms = (
        Term("Ro", rating, "rating of the last list"),
        Term("R", current, "own rating in the expected scores"),
        Term("r", r_factor(rating), "by Ro"),
        Term("p", g_factor(games), f"by the {games:g} rated games before"),
        Term("W", sum(meeting.score for meeting in meetings), "points of this period"),
        Term("We", sum(expected), "expected points, 1 / (1 + 10^(-D/400)) each"),
        *(
            Term(f"We{i}", e, f"expected against {other:.1f} as it counts; scored {meeting.score:g}")
            for i, (meeting, other, e) in enumerate(zip(meetings, others, expected, strict=True), 1)
        ),
    )
    explanation = _explained("Ro + r·p·(W - We)", terms, own.after, f"ICCF rating rules, fixed ratings; {RULE_9_4}")
    k = k_factor(rating, games)
    lines = [
        GameLine(other, current, current - other, limit, e, meeting.score - e, factor=k, points=k * (meeting.score - e))
        for meeting, other, limit, e in zip(meetings, others, limits, expected, strict=True)
    ]
    sums = (
        FormulaSum("We", "expected", sum(expected), "expected points"),
        FormulaSum("r·p·(W - We)", "points", own.after.rating - rating, "change of the rating"),
    )
    return explanation._replace(lines=tuple(lines), sums=sums)


def _limit(meeting: OpponentGame, other: float, day: float, numbers: Settings) -> str:
    """Return the rule by which an opponent's rating counts as *other*; empty if it counts as it is."""
    is_whole = other == opponent_rating(meeting.opponent, day, numbers)
    return "" if is_whole else f"{numbers.cut_off:g}-point rule"


def _explain_performance(after: Player, others: Sequence[float], numbers: Settings) -> Explanation:
    games = after.games
    p = after.score_sum / games
    terms = [
        Term("N", games, "rated games so far, this period included"),
        Term("ΣR", after.opponent_sum, "sum of the opponents' ratings in them"),
        Term("P", p, "percentage score in them"),
        Term("Dp", dp(after.score_sum, games), "difference for P by the table"),
        *(Term(f"R{i}", other, f"opponent {i} of this period as it counts") for i, other in enumerate(others, 1)),
    ]
    rule = "ΣR / N + Dp"
    if numbers.corrected:
        terms.append(Term("F", correction(p), "correction -2·P·P + 2·P + 0.5"))
        rule = "ΣR / N + Dp·F"
    return _explained(
        rule, tuple(terms), after, f"ICCF rating rules, fewer than {numbers.fixed_games:g} games; {IECG} IV.1"
    )


def _explained(rule: str, terms: tuple[Term, ...], after: Player, source: str) -> Explanation:
    return Explanation(rule, terms, after.rating, after.rating, "none; lists show the nearest point", source)


SCHEME = Scheme(
    name="iccf",
    title="ICCF Elo, until 2023",
    source=f"{RULE_9_4}; {WELSH}; {IECG}",
    version=3,
    settings=Settings,
    numbers=Numbers,
    player=Player,
    enter=enter,
    seeded=seeded,
    accepted_ratings=accepted_ratings,
    expected_score=expected_score,
    explain=explain,
    rhythm=Rhythm.PERIOD,
    passes=(rate_period,),
    at=at,
    unchanged_since=unchanged_always,
    carry=carry,
    provisional=provisional,
    listed=listed,
)
