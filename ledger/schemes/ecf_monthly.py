"""The ECF monthly rating, from 1 July 2020: FIDE's table with K 20, and performances for those who are new.

Sources: "The calculation of ECF grades on a monthly basis" (englishchess.org.uk), the rating help
(ecfrating.org.uk/v2/help/help_rating.php) and the rating categories (dorsetchess.co.uk/new-rating-categories), quoted
above the lines that implement them. A list takes the help's three passes: 1 and 2 estimate the new and partially rated,
3 rates the others against them. Where the help could not be read to its end, a setting says "our reading". Late
results need no rule: the ledger rates the months after them again. Players from the older grades come with 7.5 of them
and 700. Only this scheme's rules live here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from ledger.facts.periods import months_of, year_of
from ledger.schemes.formulas.fide_rules import dp, expected_hundredths, pd, percentage
from ledger.schemes.scheme import (
    ExplainedPlayer,
    Explanation,
    MetOpponent,
    Newcomer,
    Rhythm,
    Scheme,
    Seed,
    SeedsStand,
    Term,
    When,
)
from ledger.schemes.settings import PeriodSettings, not_negative, numbers_of, positive, setting

MONTHLY = "The calculation of ECF grades on a monthly basis"
HELP = "ECF rating help"
OURS = "our reading: the help could not be read to its end"

UNRATED, PARTIAL, FULL = 0.0, 1.0, 2.0
YEAR = 12  # slots of the last months' games; slot 0 is counted in ``month``
RATING, RESULTS, STATUS, NOMINAL, BIRTH_YEAR, POOL_GAMES, POOL_SCORE, POOL_OPPONENTS, PLAYED, MONTH = range(10)
MONTH_GAMES = 10
FIELDS = MONTH_GAMES + YEAR
FIRST_PASS, SECOND_PASS, IS_FULL = range(3)
NOTES = 3


@attrs.frozen(kw_only=True)
class Settings(PeriodSettings):
    """The constants of the scheme. Ratings in points, lengths in games or months."""

    k: float = setting(20.0, "K", "points", f"{MONTHLY}: 'k is 20 or 40'")
    k_junior: float = setting(40.0, "K of juniors", "points", f"{MONTHLY}: 'k is 20 or 40'")
    junior_age: float = setting(18.0, "last age with a junior's K, by year of birth", "years", "our reading, as FIDE's")
    cap: float = setting(0.0, "largest difference that counts; 0: as the table ends", "points", OURS)
    nominal: float = setting(1450.0, "opponent in the fictional draw", "points", "our choice: the old grade 100")
    full_games: float = setting(10.0, "games for a full rating", "games", f"{HELP}: 'on at least 10 games'")
    partial_weight: float = setting(0.5, "weight of a game against a partial rating", "share", f"{HELP}: 'by 50%'")
    lapse_months: float = setting(36.0, "a rating lapses without a result in", "months", f"{HELP}; 60 in a later one")
    rounded: bool = setting(True, "ratings are whole numbers", "switch", "lists show whole numbers; .5 up: our reading")  # noqa: FBT003

    def __attrs_post_init__(self) -> None:
        """Refuse constants under which the formulas have no meaning."""
        self.check_periods()
        positive(self, "full_games", "lapse_months")
        not_negative(self, "k", "k_junior", "junior_age", "cap", "nominal", "partial_weight")


Numbers = numbers_of(Settings)
DEFAULT = Numbers(*attrs.astuple(Settings()))


def enter(newcomer: Newcomer, numbers: Settings) -> tuple[float, ...]:
    """State of a newcomer: new and unrated, or with a declared rating, which is one inherited."""
    return carry(float(newcomer.declared or 0), 0.0, newcomer, numbers)


def carry(rating: float, games: float, newcomer: Newcomer, numbers: Settings) -> tuple[float, ...]:  # noqa: ARG001
    """Who comes with a rating is fully rated, as those whom the first list was seeded with; 0 is none."""
    # "converted using the formula: new = 7.5*old + 700" is up to the pool that changes over from the grades.
    rating, born = float(rating), float(newcomer.birth_year or 0)
    status = FULL if rating else UNRATED
    played = float(months_of(newcomer.day))
    return (rating, 0.0, status, numbers.nominal, born, 0.0, 0.0, 0.0, played, played, *[0.0] * YEAR)


def seeded(seed: Seed, newcomer: Newcomer, numbers: Settings) -> tuple[float, ...]:
    """Who comes with a past is fully rated, as ``carry`` says, unless its games are too few: then partially."""
    # The games of a partial rating stand in the pool as even scores against opponents of that rating.
    rating, results, status, nominal, born, _, _, _, *rest = carry(seed.rating, 0.0, newcomer, numbers)
    games = 0.0
    if seed.games is not None and seed.games < numbers.full_games:
        games, status = seed.games, PARTIAL if seed.games else UNRATED
        rating = rating if games else 0.0
    return (rating, results, status, nominal, born, games, games / 2.0, games * rating, *rest)


def seeds_stand(day: float, numbers: Settings) -> SeedsStand:  # noqa: ARG001
    """Ratings with a game, or without a number of them."""
    return SeedsStand(games=1.0)


def category(status: float, results: float, of_year: float) -> str:
    """Letter of a rating: A, H (inherited), K or P; empty for none.

    Args:
        status: 0 unrated, 1 partial, 2 full.
        results: rated games since the player came.
        of_year: rated games in the previous 12 calendar months.
    """
    if status == UNRATED:
        return ""
    # "A player who has 30 or more rated results in the previous 12 calendar months"
    if of_year >= 30:
        return "A"
    if status == PARTIAL:
        return "P"
    # "players who inherited a rating [...] and has not played since"
    return "K" if results else "H"


def k_factor(birth_year: float, day: float, numbers: Settings) -> float:
    """K by age: 40 to the end of the year of the 18th birthday, else 20; birth year 0 is unknown, and no junior's."""
    if birth_year > 0.0 and year_of(day) - birth_year <= numbers.junior_age:
        return numbers.k_junior
    return numbers.k


def counted(own: float, opponent: float, numbers: Settings) -> float:
    """Own rating less the opponent's as it counts, points."""
    difference = own - opponent
    if numbers.cap == 0.0:
        return difference
    return max(min(difference, numbers.cap), -numbers.cap)


def performance(opponents: float, score: float, games: float, nominal: float) -> float:
    """P rating, points, unrounded: FIDE's performance with one draw added.

    Args:
        opponents: sum of the opponents' ratings, points.
        score: points won against them.
        games: games.
        nominal: the fictional opponent's rating, points.
    """
    # "a fictional draw against a fictional opponent": without it who won all games would have no performance
    return (opponents + nominal) / (games + 1.0) + dp(percentage(score + 0.5, games + 1.0))


def nearest(rating: float, numbers: Settings) -> float:
    """The nearest whole rating, one half upwards, where ratings are whole."""
    return float((rating + 0.5) // 1.0) if numbers.rounded else rating


def shift(state: Any, p: int, months: float, after: Any) -> None:
    """Write into *after* the months of *state* (may be the same) as they stand some months later."""
    by = int(min(months, float(YEAR)))
    for slot in range(YEAR - 1, -1, -1):
        after[p + MONTH_GAMES + slot] = state[p + MONTH_GAMES + slot - by] if slot >= by else 0.0


def relist(
    state: Sequence[float],
    fresh: tuple[float, ...],
    seed: Seed,  # noqa: ARG001
    numbers: Settings,  # noqa: ARG001
) -> tuple[float, ...]:
    """A later list replaces rating, status and pool; results of the year and the last month played go on."""
    # The list shows that the rating has not lapsed: the months without a result count from its day on.
    results, played = slice(1, 2), fresh[PLAYED]
    return (fresh[0], *state[results], *fresh[2:PLAYED], max(state[PLAYED], played), *state[MONTH:])


def at(state: Any, p: int, period: float, day: float, numbers: Settings) -> None:  # noqa: ARG001
    """Bring a state to the list in force on *day*, that of the month before; a rating may have lapsed."""
    month = float(months_of(day))
    if month - 1.0 > state[p + MONTH]:
        shift(state, p, month - 1.0 - state[p + MONTH], state)
        state[p + MONTH] = month - 1.0
    # Unrated: "no rated result in the previous 36 calendar months"
    if state[p + STATUS] != UNRATED and month - state[p + PLAYED] > numbers.lapse_months:
        # "on return, will be treated as a new player with one dummy game assuming a draw against an opponent with
        # the players last full rating"
        if state[p + STATUS] == FULL:
            state[p + NOMINAL] = state[p]
        state[p] = 0.0
        for field in (STATUS, POOL_GAMES, POOL_SCORE, POOL_OPPONENTS):
            state[p + field] = 0.0


def rate_player(
    step: int,
    state: Any,
    work: Any,
    after: Any,
    player: int,
    opponent: Any,
    score: Any,
    colour: Any,  # noqa: ARG001
    first: int,
    last: int,
    period: float,  # noqa: ARG001
    day: float,
    numbers: Settings,
) -> None:
    """One player in one of the three passes."""
    p, w = player * FIELDS, player * NOTES
    full = state[p + STATUS] == FULL
    if step == 0:
        work[w + IS_FULL] = 1.0 if full or state[p + POOL_GAMES] + (last - first) >= numbers.full_games else 0.0
        work[w] = state[p] if full else first_pass(state, p, opponent, score, first, last, numbers)
        work[w + 1] = work[w]
        return
    if step == 1:
        if not full:
            work[w + 1] = nearest(second_pass(state, p, work, opponent, score, first, last), numbers)
        return
    month = max(float(months_of(day)), state[p + MONTH])
    for field in range(MONTH):
        after[p + field] = state[p + field]
    shift(state, p, month - state[p + MONTH], after)
    after[p + MONTH_GAMES] += last - first
    after[p + RESULTS] += last - first
    after[p + PLAYED] = month
    after[p + MONTH] = month
    if full:
        total = third_pass(state[p], work, opponent, score, first, last, numbers)
        # "R1 = R0 +k(W-We)", in hundredths of a point of score
        k = k_factor(state[p + BIRTH_YEAR], day, numbers)
        after[p] = nearest(state[p] + k * total / 100.0, numbers)
    else:
        pool(state, p, work, after, opponent, score, first, last)


def first_pass(state: Any, p: int, opponent: Any, score: Any, first: int, last: int, numbers: Settings) -> float:
    """P rating "A", against those who were rated before; points."""
    games = state[p + POOL_GAMES]
    points = state[p + POOL_SCORE]
    opponents = state[p + POOL_OPPONENTS]
    for game in range(first, last):
        other = opponent[game] * FIELDS
        if state[other + STATUS] != UNRATED:
            games += 1.0
            points += score[game]
            opponents += state[other]
    return nearest(performance(opponents, points, games, state[p + NOMINAL]), numbers)


def second_pass(state: Any, p: int, work: Any, opponent: Any, score: Any, first: int, last: int) -> float:
    """P rating "B", against all: the new and partially rated with their "A"; points, unrounded."""
    points = state[p + POOL_SCORE]
    opponents = state[p + POOL_OPPONENTS]
    for game in range(first, last):
        points += score[game]
        opponents += work[opponent[game] * NOTES]
    return performance(opponents, points, state[p + POOL_GAMES] + (last - first), state[p + NOMINAL])


def third_pass(own: float, work: Any, opponent: Any, score: Any, first: int, last: int, numbers: Settings) -> float:
    """Score less expected score of a fully rated player, in hundredths of a point, each game by its weight."""
    total = 0.0
    for game in range(first, last):
        w = opponent[game] * NOTES
        # "the expected total score based on the FIDE table 8.1b"
        excess = 100.0 * score[game] - expected_hundredths(counted(own, work[w + 1], numbers))
        # Whole hundredths, and halves of them: their sum is exact, in whatever order the games come.
        # "When using an opponents Partial Rating [...] reducing any rating adjustment by 50%"
        total += excess if work[w + IS_FULL] == 1.0 else numbers.partial_weight * excess
    return total


def pool(state: Any, p: int, work: Any, after: Any, opponent: Any, score: Any, first: int, last: int) -> None:
    """A new or partially rated player's list: the rating of pass 2, and the games behind it while it is partial."""
    w = p // FIELDS * NOTES
    after[p] = work[w + 1]
    if work[w + IS_FULL] == 1.0:
        after[p + STATUS] = FULL
        for field in (POOL_GAMES, POOL_SCORE, POOL_OPPONENTS):
            after[p + field] = 0.0
        return
    after[p + STATUS] = PARTIAL
    after[p + POOL_GAMES] = state[p + POOL_GAMES] + (last - first)
    for game in range(first, last):
        after[p + POOL_SCORE] += score[game]
        after[p + POOL_OPPONENTS] += work[opponent[game] * NOTES]


def expected_score(state: Any, p: int, q: int, numbers: Settings) -> float:
    """Expected score 0..1 by the table; an unrated player counts with the nominal rating."""
    own = state[p] if state[p + STATUS] != UNRATED else state[p + NOMINAL]
    other = state[q] if state[q + STATUS] != UNRATED else state[q + NOMINAL]
    return pd(counted(own, other, numbers))


def provisional(state: Any, p: int, numbers: Settings) -> bool:  # noqa: ARG001
    """True without a full rating."""
    return bool(state[p + STATUS] != FULL)


def listed(state: Any, p: int, numbers: Settings) -> bool:  # noqa: ARG001
    """True for a partial or full rating."""
    return bool(state[p + STATUS] != UNRATED)


def explain(own: ExplainedPlayer, meetings: Sequence[MetOpponent], when: When, numbers: Settings) -> Explanation:
    """The formula of one player's list with its numbers."""
    rounding = "to the nearest whole rating, one half upwards" if numbers.rounded else "none"
    if own.before[STATUS] != FULL:
        return _explain_performance(own, meetings, rounding)
    rating = own.before[RATING]
    parts = [
        (1.0 if meeting.work[IS_FULL] else numbers.partial_weight, meeting.score, meeting.work[SECOND_PASS])
        for meeting in meetings
    ]
    scored = sum(weight * score for weight, score, _other in parts)
    expected = sum(weight * pd(counted(rating, other, numbers)) for weight, _score, other in parts)
    k = k_factor(own.before[BIRTH_YEAR], when.day, numbers)
    partial = sum(1.0 for meeting in meetings if not meeting.work[IS_FULL])
    terms = (
        Term("R0", rating, "rating of the month before"),
        Term("k", k, "K, by age"),
        Term("n", float(len(meetings)), "games"),
        Term("h", partial, f"of them against partially rated opponents, by {numbers.partial_weight:g}"),
        Term("W", scored, "score, each game by its weight"),
        Term("We", expected, "expected score by table 8.1b, each game by its weight"),
    )
    return Explanation(
        "R0 + k·(W - We)",
        terms,
        rating + k * (scored - expected),
        own.after[RATING],
        rounding,
        MONTHLY,
        tuple(other for _weight, _score, other in parts),
    )


def _explain_performance(own: ExplainedPlayer, meetings: Sequence[MetOpponent], rounding: str) -> Explanation:
    """The performance of a new or partially rated player."""
    games = own.before[POOL_GAMES] + len(meetings)
    scored = own.before[POOL_SCORE] + sum(meeting.score for meeting in meetings)
    opponents = own.before[POOL_OPPONENTS] + sum(meeting.work[FIRST_PASS] for meeting in meetings)
    percent = percentage(scored + 0.5, games + 1.0)
    terms = (
        Term("n", games, "games since the player was new"),
        Term("W", scored, "score in them"),
        Term("S", opponents, "sum of the opponents' ratings, of pass 1 if they have no full one"),
        Term("F", own.before[NOMINAL], "fictional opponent of the fictional draw"),
        Term("p", float(percent), "percentage (W + 1/2) / (n + 1)"),
        Term("dp", float(dp(percent)), "difference for p by table 8.1a"),
    )
    unrounded = performance(opponents, scored, games, own.before[NOMINAL])
    return Explanation(
        "(S + F) / (n + 1) + dp",
        terms,
        unrounded,
        own.after[RATING],
        rounding,
        f"{HELP}, P Rating",
        tuple(meeting.work[FIRST_PASS] for meeting in meetings),
    )


SCHEME = Scheme(
    name="ecf-monthly",
    title="ECF monthly rating, from July 2020",
    source=MONTHLY,
    version=1,
    settings=Settings,
    numbers=Numbers,
    state=(
        "rating",
        "results",
        "status",
        "nominal",
        "birth_year",
        "pool_games",
        "pool_score",
        "pool_opponents",
        "played",
        "month",
        *(f"month_{slot}_games" for slot in range(YEAR)),
    ),
    enter=enter,
    seeded=seeded,
    seeds_stand=seeds_stand,
    relist=relist,
    rate_player=rate_player,
    expected_score=expected_score,
    explain=explain,
    rhythm=Rhythm.PERIOD,
    steps=3,
    work=("pass_1", "pass_2", "is_full"),
    at=at,
    carry=carry,
    provisional=provisional,
    listed=listed,
)
