"""US Chess (Glickman & Doan): whole sections at once, in five steps, with a bonus and floors.

The scheme: settings, a player's state, the rounds of a section, and words for people. The formulas stand in
``formulas.uschess``. Ratings are floats, "shown rounded"; a section is one batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from ledger.runtime.arith import logistic
from ledger.schemes.formulas import uschess as formulas
from ledger.schemes.formulas.uschess import (
    ALL_LOST,
    ALL_WON,
    MIXED,
    NO_GAMES,
    UNKNOWN_ADULT,
    UNKNOWN_AGE,
    age_on,
    bonus,
    bonus_b,
    bonus_eligible,
    effective_games,
    expected_by_strength,
    expected_total,
    floor_peak,
    floor_raised,
    k_factor,
    limited,
    looked_over,
    record_after,
    special,
    start_by_age,
    start_by_age_before_2008,
    strength,
)
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
    from_the_beginning,
)
from ledger.schemes.settings import not_negative, numbers_of, positive, setting

DOCUMENT = "Glickman & Doan, The US Chess Rating System (6 April 2026)"
RATING, GAMES, RECORD, FLOOR, PEAK, BIRTH_YEAR, START = range(7)
FIELDS = 7
# With which anybody may come: no rating is so high, but a list may have a number of something else in that column. From
# 123,200 points on the strength of a player is no number any more, and from 10^9 on no knot is found.
HIGHEST = 100_000.0
YARDSTICK, FIRST, STEP_4, OPPONENTS, BONUS, WINS, DRAWS, FIRST_STRENGTH, STEP_4_STRENGTH = range(9)
WORK = 9


@attrs.frozen(kw_only=True)
class Settings:
    """The constants of the scheme. Ratings in points, lengths in games."""

    special_games: float = setting(8.0, "special formula up to so many games", "games", f"{DOCUMENT}: 'N <= 8'")
    special_cap: float = setting(2700.0, "the special formula gives no more", "points", f"{DOCUMENT}: cap 2700")
    lower_bound: float = setting(100.0, "no rating is lower", "points", f"{DOCUMENT}: lower bound 100")
    established_games: float = setting(25.0, "established above so many", "games", f"{DOCUMENT}: 'more than 25 games'")
    bonus_b: float = setting(0.0, "B of the bonus; 0: by the day the event ended", "points", f"{DOCUMENT}: 14, 12, 10")
    dual_rated: bool = setting(False, "smaller K from 2200 (30 <= mm+ss <= 65)", "switch", f"{DOCUMENT}: Regular side")  # noqa: FBT003
    online: bool = setting(False, "absolute floor 100 for everybody", "switch", f"{DOCUMENT}: floors, online")  # noqa: FBT003
    match_range: float = setting(400.0, "a match's players are no further apart", "points", f"{DOCUMENT}: matches")
    match_limit: float = setting(50.0, "largest change in a match; 0: no limit", "points", f"{DOCUMENT}: matches")
    assume_adult: bool = setting(False, "unknown age: adult, 1300; else 750", "switch", f"{DOCUMENT}: step 1")  # noqa: FBT003
    old_starts: bool = setting(False, "start 300 + 50·age", "switch", "rule before 2008 or so")  # noqa: FBT003
    declared_fide: bool = setting(False, "declared ratings are FIDE's", "switch", f"{DOCUMENT}: conversion")  # noqa: FBT003
    declared_games: float = setting(5.0, "N of another declared rating", "games", "edition of 2004, step 1: 5 games")

    def __attrs_post_init__(self) -> None:
        """Refuse constants under which the formulas have no meaning."""
        positive(self, "lower_bound")
        not_negative(
            self, "special_games", "established_games", "bonus_b", "match_range", "match_limit", "declared_games"
        )
        for name in ("special_games", "established_games", "declared_games"):
            if getattr(self, name) % 1:
                raise ValueError(f"{name} must be a whole number, got {getattr(self, name)}")
        if self.special_cap < self.lower_bound:
            raise ValueError(f"special_cap must not lie below lower_bound, got {self.special_cap} < {self.lower_bound}")
        for name in ("lower_bound", "special_cap"):
            if getattr(self, name) > 10_000:
                raise ValueError(f"{name} must be 10000 at most, got {getattr(self, name)}")


Numbers = numbers_of(Settings)
DEFAULT = Numbers(*attrs.astuple(Settings()))


def enter(newcomer: Newcomer, numbers: Settings) -> tuple[float, ...]:
    """State of a newcomer ``(rating, games, record, floor, peak, birth_year, start)``; rating 0.0 is unrated."""
    # A declared rating counts as based on some games, a FIDE rating is converted by the formula of the day.
    if newcomer.declared is None:
        born = 0.0 if newcomer.birth_year is None else float(newcomer.birth_year)
        start = start_rating(born, newcomer.day, numbers)
        return (0.0, 0.0, NO_GAMES, 100.0, 0.0, born, start)
    declared, games = float(newcomer.declared), numbers.declared_games
    if numbers.declared_fide:
        games = formulas.games_behind_fide(declared)
        declared = formulas.from_fide_on(declared, newcomer.day)
    return carry(declared, games, newcomer, numbers)


def carry(rating: float, games: float, newcomer: Newcomer, numbers: Settings) -> tuple[float, ...]:
    """Who comes with a rating after *games* games: neither all won nor all lost, no merit towards a floor yet."""
    rating = min(max(float(rating), numbers.lower_bound), HIGHEST)
    born = 0.0 if newcomer.birth_year is None else float(newcomer.birth_year)
    # floors go by the highest established rating alone
    peak = rating if games > numbers.established_games else 0.0
    return (rating, float(games), MIXED if games > 0 else NO_GAMES, 100.0, peak, born, 0.0)


def seeded(seed: Seed, newcomer: Newcomer, numbers: Settings) -> tuple[float, ...]:
    """Who comes with a past: N is its number of games, without one that of a declared rating; no conversion."""
    # The highest rating is the peak of the floors once the rating is established.
    games = numbers.declared_games if seed.games is None else seed.games
    rating, played, record, floor, peak, *rest = carry(seed.rating, games, newcomer, numbers)
    return (rating, played, record, floor, max(seed.peak, peak) if peak else 0.0, *rest)


def seeds_stand(day: float, numbers: Settings) -> SeedsStand:  # noqa: ARG001
    """Ratings that are not below the lowest one."""
    return SeedsStand(low=numbers.lower_bound)


def relist(
    state: Sequence[float],
    fresh: tuple[float, ...],
    seed: Seed,
    numbers: Settings,  # noqa: ARG001
) -> tuple[float, ...]:
    """A later list replaces rating and N; record, merits towards the floor and the highest rating go on."""
    record = state[RECORD] if state[GAMES] > 0.0 and seed.games is None else fresh[RECORD]
    peak = max(state[PEAK], fresh[PEAK])
    return (*fresh[:RECORD], record, state[FLOOR], peak, state[BIRTH_YEAR], state[START])


def start_rating(birth_year: float, day: float, numbers: Settings) -> float:
    """Start rating of an unrated player, points; *birth_year* 0 is unknown."""
    if birth_year == 0.0:
        return UNKNOWN_ADULT if numbers.assume_adult or numbers.old_starts else UNKNOWN_AGE
    age = age_on(birth_year, day)
    return start_by_age_before_2008(age) if numbers.old_starts else start_by_age(age)


def at(state: Any, p: int, period: float, day: float, numbers: Settings) -> None:  # noqa: ARG001
    """Only the unrated change by time: their start rating goes by their age."""
    if state[p] == 0.0:
        state[p + START] = start_rating(state[p + BIRTH_YEAR], day, numbers)


def rating_or_start(state: Any, p: int) -> float:
    """The rating, or the start rating of an unrated player."""
    return state[p] if state[p] > 0.0 else state[p + START]  # type: ignore[no-any-return]


def expected_score(state: Any, p: int, q: int, numbers: Settings) -> float:  # noqa: ARG001
    """Expected score 0..1 by the standard formula; the unrated by their start ratings."""
    return logistic(rating_or_start(state, p) - rating_or_start(state, q))


def provisional(state: Any, p: int, numbers: Settings) -> bool:
    """True until the rating is "established", based on more than 25 games."""
    return state[p + GAMES] <= numbers.established_games  # type: ignore[no-any-return]


def listed(state: Any, p: int, numbers: Settings) -> bool:  # noqa: ARG001
    """True for who has a rating."""
    return state[p] > 0.0  # type: ignore[no-any-return]


def is_special(games: float, record: float, numbers: Settings) -> bool:
    """Whether the special formula rates."""
    # "N <= 8" games played, or all earlier games won, or all lost: N, not the N' that a low rating makes smaller
    return games <= numbers.special_games or record in (ALL_WON, ALL_LOST)


def is_match(state: Any, p: int, q: int, numbers: Settings) -> bool:
    """Whether the rule for matches holds for two players who met nobody else."""
    # "both established, within 400 points"
    apart = state[p] - state[q]
    both = state[p + GAMES] > numbers.established_games and state[q + GAMES] > numbers.established_games
    return both and numbers.match_limit > 0.0 and -numbers.match_range <= apart <= numbers.match_range


def points(work: Any, w: int) -> float:
    """S: the player's points in the section."""
    return work[w + WINS] + 0.5 * work[w + DRAWS]  # type: ignore[no-any-return]


def bounded(rating: float, own: float, numbers: Settings) -> float:
    """What the special formula gives, from 100 to 2700, or to the *own* rating before where that is higher."""
    # The cap is for what the formula gives to those whom nobody rated before: a declared 2801 does not fall by it.
    cap = own if own > numbers.special_cap else numbers.special_cap
    if rating > cap:
        return cap
    return rating if rating > numbers.lower_bound else numbers.lower_bound


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
    """One player of a section in four rounds: steps 1, 3, 4 of the document, then step 5 with the floors."""
    p = player * FIELDS
    w = player * WORK
    if step == 0:
        work[w + YARDSTICK] = rating_or_start(state, p)
        work[w + WINS], work[w + DRAWS], work[w + OPPONENTS] = looked_over(opponent, score, first, last)
    elif step == 1:
        # Step 3: "special formula with effective count 1 from their start rating, only as the opponents' yardstick"
        estimate = work[w + YARDSTICK]
        if state[p + GAMES] == 0.0:
            total = points(work, w)
            estimate = bounded(
                special(estimate, NO_GAMES, 1.0, total, work, WORK, YARDSTICK, opponent, first, last), estimate, numbers
            )
        work[w + FIRST] = estimate
        work[w + FIRST_STRENGTH] = strength(estimate)
    else:
        # Step 5: "own rating and N' still pre-event, opponents at their step-4 values"
        rating = rated(state, p, work, w, step - 2, opponent, first, last, day, numbers)
        if step == 2:
            work[w + STEP_4] = rating
            work[w + STEP_4_STRENGTH] = strength(rating)
        else:
            q = opponent[first]
            alone = work[w + OPPONENTS] == 1.0 and work[q * WORK + OPPONENTS] == 1.0
            if alone and is_match(state, p, q * FIELDS, numbers):
                rating = limited(rating, state[p], numbers.match_limit)
            finish(state, p, after, rating, work[w + WINS], work[w + DRAWS], float(last - first), numbers)


def rated(
    state: Any,
    p: int,
    work: Any,
    w: int,
    later: int,
    opponent: Any,
    first: int,
    last: int,
    day: float,
    numbers: Settings,
) -> float:
    """A rating by the opponents' work numbers ``FIRST``, *later* 0, or ``STEP_4``, 1, before limits and floors."""
    # Notes the bonus.
    own = work[w + YARDSTICK]
    effective_n = effective_games(state[p + GAMES], own)
    total = points(work, w)
    if is_special(state[p + GAMES], state[p + RECORD], numbers):
        field = FIRST + later
        estimate = special(own, state[p + RECORD], effective_n, total, work, WORK, field, opponent, first, last)
        return bounded(estimate, own, numbers)
    m = float(last - first)
    # "R = R0 + K(S-E) + bonus"; who has games is known by the rating, so FIRST is R0
    field = FIRST_STRENGTH + later
    expected = expected_by_strength(work[w + FIRST_STRENGTH], work, WORK, field, opponent, first, last)
    gain = k_factor(effective_n, m, own, numbers.dual_rated) * (total - expected)
    more = bonus(gain, m, numbers.bonus_b if numbers.bonus_b > 0.0 else bonus_b(day))
    if more > 0.0 and not bonus_eligible(opponent, first, last):
        more = 0.0
    work[w + BONUS] = more
    return own + gain + more  # type: ignore[no-any-return]


def lowest(absolute: float, peak: float, numbers: Settings) -> float:
    """The highest of the floors, points: lower bound, absolute floor, and that by the *peak* (0: not established)."""
    low = floor_peak(peak)
    if not numbers.online and absolute > low:
        low = absolute
    return low if low > numbers.lower_bound else numbers.lower_bound


def finish(
    state: Any, p: int, after: Any, rating: float, wins: float, draws: float, m: float, numbers: Settings
) -> None:
    """Fill a player's fields after a section of *m* games: the counts, then the floors, "this event included"."""
    # an event counts towards the floor from three games on (RULES 2)
    absolute = floor_raised(state[p + FLOOR], wins, draws, 1.0 if m >= 3.0 else 0.0)
    games = state[p + GAMES] + m
    peak = state[p + PEAK]
    rating = max(rating, lowest(absolute, peak, numbers))
    if games > numbers.established_games and rating > peak:
        peak = rating
    after[p] = rating
    after[p + GAMES] = games
    after[p + RECORD] = record_after(state[p + RECORD], wins, draws, m)
    after[p + FLOOR] = absolute
    after[p + PEAK] = peak
    after[p + BIRTH_YEAR] = state[p + BIRTH_YEAR]
    after[p + START] = state[p + START]


def explain(own: ExplainedPlayer, meetings: Sequence[MetOpponent], when: When, numbers: Settings) -> Explanation:
    """The formula of one player's section with its numbers; opponents as rated by step 4."""
    # Without these nobody can reckon one player of a section again (RULES 2).
    table = [meeting.work[STEP_4] for meeting in meetings]
    games, r0 = own.before[GAMES], own.work[YARDSTICK]
    counted, score = effective_games(games, r0), sum(meeting.score for meeting in meetings)
    terms = [
        Term("R0", r0, "rating before the section" if own.before[RATING] else "start rating by age"),
        Term("N", games, "games before the section"),
        Term("N'", counted, "effective games, min(N, N*) with N* by R0"),
        Term("m", float(len(meetings)), "games of the section"),
        Term("S", score, "points scored"),
    ]
    if is_special(games, own.before[RECORD], numbers):
        rule, more, unrounded = _special_terms(own.before[RECORD], r0, counted, score, table)
        source = f"{DOCUMENT}, special rating formula"
    else:
        rule, more, unrounded = _standard_terms(own, r0, counted, score, table, when, numbers)
        source = f"{DOCUMENT}, standard rating formula"
    opponents = [
        Term(f"R{i}", rating, f"opponent's rating by step 4; score {meeting.score:g}")
        for i, (meeting, rating) in enumerate(zip(meetings, table, strict=True), 1)
    ]
    return Explanation(
        rule,
        (*terms, *more, *opponents),
        unrounded,
        own.after[RATING],
        _from_there(own, meetings, unrounded, numbers),
        source,
        tuple(table),
    )


def _standard_terms(
    own: ExplainedPlayer, r0: float, counted: float, score: float, table: list[float], when: When, numbers: Settings
) -> tuple[str, list[Term], float]:
    m = len(table)
    expected = expected_total(r0, table, 1, 0, range(m), 0, m)
    k, b = k_factor(counted, float(m), r0, numbers.dual_rated), numbers.bonus_b or bonus_b(when.day)
    terms = [
        Term("K", k, "800 / (N' + m), less from 2200 in dual-rated events" if numbers.dual_rated else "800 / (N' + m)"),
        Term("E", expected, "expected points Σ 1 / (1 + 10^(-(R0-Ri)/400))"),
        Term("B", b, "factor of the bonus threshold"),
        Term("b", own.work[BONUS], "bonus K·(S - E) - B·√max(m, 4), if above 0 and nobody was met too often"),
    ]
    return "R0 + K·(S - E) + b", terms, r0 + k * (score - expected) + own.work[BONUS]


def _special_terms(
    record: float, r0: float, counted: float, score: float, table: list[float]
) -> tuple[str, list[Term], float]:
    m = len(table)
    rating = special(r0, record, counted, score, table, 1, 0, range(m), 0, m)
    centre, points = formulas.special_centre(r0, record), formulas.special_points(score, counted, record)
    weighed = [(counted, centre), *((1.0, other) for other in table)]
    edge = formulas.RANGE + 1e-6
    weight = sum(n for n, other in weighed if abs(rating - other) <= edge)
    terms = [
        Term("R0'", centre, "R0 - 400 if all earlier games were won, + 400 if all were lost, else R0"),
        Term("S'", points, "S + N' if all earlier games were won, S if all were lost, else S + N'/2"),
    ]
    if not weight:
        return "R0, which fits as well as any rating that has nobody within 400 points", terms, r0
    sum_within = sum(n * other for n, other in weighed if abs(rating - other) <= edge)
    terms += [
        Term("W", weight, "games within 400 points of the answer, the N' against R0' among them"),
        Term("Z", sum_within, "sum of those opponents' ratings"),
        Term("F", float(sum(n for n, other in weighed if rating - other > edge)), "games against those further below"),
    ]
    return "(Z + 800·(S' - F) - 400·W) / W: where N'·PWe(R, R0') + Σ PWe(R, Ri) = S'", terms, rating


def _from_there(own: ExplainedPlayer, meetings: Sequence[MetOpponent], unrounded: float, numbers: Settings) -> str:
    """How the rating comes from what the formula gives."""
    result, r0 = own.after[RATING], own.work[YARDSTICK]
    if abs(result - unrounded) < 1e-6:
        return "none; shown to the nearest point"
    if result > unrounded and result == lowest(own.after[FLOOR], own.before[PEAK], numbers):
        return f"raised to the player's floor {result:g}; shown to the nearest point"
    if {own.work[OPPONENTS], *(meeting.work[OPPONENTS] for meeting in meetings)} == {1.0} and abs(result - r0) > 0:
        return f"a match changes a rating by {numbers.match_limit:g} points at most; shown to the nearest point"
    if result == r0 > numbers.special_cap and unrounded > result:
        return (
            f"the special formula gives {numbers.special_cap:g} at most, and who was rated higher before keeps that "
            f"rating, {result:g}; shown to the nearest point"
        )
    return f"the special formula gives {numbers.lower_bound:g} to {numbers.special_cap:g}; shown to the nearest point"


SCHEME = Scheme(
    name="uschess",
    title="US Chess, 2026",
    source=DOCUMENT,
    version=3,
    settings=Settings,
    numbers=Numbers,
    state=("rating", "games", "record", "floor", "peak", "birth_year", "start"),
    enter=enter,
    seeded=seeded,
    seeds_stand=seeds_stand,
    relist=relist,
    rhythm=Rhythm.EVENT,
    rate_player=rate_player,
    steps=4,
    work=(
        "yardstick",
        "first",
        "step_4",
        "opponents",
        "bonus",
        "wins",
        "draws",
        "first_strength",
        "step_4_strength",
    ),
    expected_score=expected_score,
    mirrored=True,
    explain=explain,
    at=at,
    stands_from=from_the_beginning,
    carry=carry,
    provisional=provisional,
    listed=listed,
)
