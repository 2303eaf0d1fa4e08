"""US Chess (Glickman & Doan): whole sections at once, in five steps, with a bonus and floors.

The scheme: settings, a player's state, the rounds of a section, and words for people; ``formulas.uschess`` holds the
formulas. Ratings are floats, "shown rounded"; a section is one batch.
"""

from __future__ import annotations

from collections.abc import Sequence

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
    SectionWork,
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
    own_work,
    state,
    unchanged_always,
    work_of,
)
from ledger.schemes.settings import numbers_of, require_not_negative, require_positive, setting

DOCUMENT = "Glickman & Doan, The US Chess Rating System (6 April 2026)"
# With which anybody may come: no rating is so high, but a list may have a number of something else in that column. From
# 123,200 points on the strength of a player is no number any more, and from 10^9 on no knot is found.
HIGHEST = 100_000.0


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
        require_positive(self, "lower_bound")
        require_not_negative(
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


@attrs.define
class Player:
    """The state of a player."""

    rating: float = state("points; 0 is unrated")
    games: float = state("N, rated games")
    record: float = state("results so far: 0 no games, 1 all won, 2 all lost, 3 mixed")
    floor: float = state("absolute floor, points", 100.0)
    peak: float = state("highest established rating, points; 0 for none")
    birth_year: float = state("year of birth; 0 if it is unknown")
    start: float = state("start rating of who is unrated, points")


def enter(newcomer: Newcomer, numbers: Settings) -> Player:
    """Return the initial state of a new player."""
    # A declared rating counts as based on some games, a FIDE rating is converted by the formula of the day.
    if newcomer.declared is None:
        born = 0.0 if newcomer.birth_year is None else float(newcomer.birth_year)
        return Player(birth_year=born, start=start_rating(born, newcomer.day, numbers))
    declared, games = float(newcomer.declared), numbers.declared_games
    if numbers.declared_fide:
        games = formulas.games_behind_fide(declared)
        declared = formulas.from_fide_on(declared, newcomer.day)
    return carry(declared, games, newcomer, numbers)


def carry(rating: float, games: float, newcomer: Newcomer, numbers: Settings) -> Player:
    """Return the state of a player who comes with a rating after *games* games.

    They count as neither all won nor all lost, without merit towards a floor.
    """
    rating = min(max(float(rating), numbers.lower_bound), HIGHEST)
    return Player(
        rating,
        games,
        MIXED if games > 0 else NO_GAMES,
        peak=rating if games > numbers.established_games else 0.0,  # floors go by the highest established rating alone
        birth_year=0.0 if newcomer.birth_year is None else newcomer.birth_year,
    )


def seeded(seed: Seed, newcomer: Newcomer, numbers: Settings) -> Player:
    """Return the state of a player with a history: N is its number of games, else that of a declared rating.

    Nothing is converted.
    """
    player = carry(seed.rating, numbers.declared_games if seed.games is None else seed.games, newcomer, numbers)
    # The highest rating is the peak of the floors once the rating is established.
    if player.peak:
        player.peak = max(seed.highest_known, player.peak)
    return player


def accepted_ratings(day: float, numbers: Settings) -> AcceptedRatings:  # noqa: ARG001
    """Return ratings that are not below the lowest one."""
    return AcceptedRatings(low=numbers.lower_bound)


def relist(player: Player, fresh: Player, seed: Seed, numbers: Settings) -> Player:  # noqa: ARG001
    """Return the state after a later list, which replaces rating and N.

    Record, merits towards the floor and the highest rating go on.
    """
    record = player.record if player.games > 0.0 and seed.games is None else fresh.record
    return attrs.evolve(
        player, rating=fresh.rating, games=fresh.games, record=record, peak=max(player.peak, fresh.peak)
    )


def start_rating(birth_year: float, day: float, numbers: Settings) -> float:
    """Return the start rating of an unrated player in rating points; *birth_year* 0 is unknown."""
    if birth_year == 0.0:
        return UNKNOWN_ADULT if numbers.assume_adult or numbers.old_starts else UNKNOWN_AGE
    age = age_on(birth_year, day)
    return start_by_age_before_2008(age) if numbers.old_starts else start_by_age(age)


def at(player: Player, period: float, day: float, numbers: Settings) -> None:  # noqa: ARG001
    """Bring an unrated player to a later day: the start rating goes by age. Rated players stay as they are."""
    if player.rating == 0.0:
        player.start = start_rating(player.birth_year, day, numbers)


def rating_or_start(player: Player) -> float:
    """Return the rating, or the start rating of an unrated player."""
    return player.rating if player.rating > 0.0 else player.start


def expected_score(player: Player, opponent: Player, numbers: Settings) -> float:  # noqa: ARG001
    """Return the expected score, from 0 to 1, by the standard formula; the unrated by their start ratings."""
    return logistic(rating_or_start(player) - rating_or_start(opponent))


def provisional(player: Player, numbers: Settings) -> bool:
    """Return True until the rating is "established", based on more than 25 games."""
    return player.games <= numbers.established_games


def listed(player: Player, numbers: Settings) -> bool:  # noqa: ARG001
    """Return whether the player has a rating."""
    return player.rating > 0.0


def is_special(games: float, record: float, numbers: Settings) -> bool:
    """Return whether the special formula rates a player, by the number of games and their record."""
    # "N <= 8" games played, or all earlier games won, or all lost: N, not the N' that a low rating makes smaller
    return games <= numbers.special_games or record in (ALL_WON, ALL_LOST)


def is_match(player: Player, opponent: Player, numbers: Settings) -> bool:
    """Return whether the rule for matches holds for two players who met each other only."""
    # "both established, within 400 points"
    apart = player.rating - opponent.rating
    both = player.games > numbers.established_games and opponent.games > numbers.established_games
    return both and numbers.match_limit > 0.0 and -numbers.match_range <= apart <= numbers.match_range


def points(work: SectionWork) -> float:
    """Return S, the player's score in the section."""
    return work.wins + 0.5 * work.draws


def bounded(rating: float, own: float, numbers: Settings) -> float:
    """Return the special formula's result, from 100 to 2700, or to the *own* rating before if that is higher."""
    # The cap is for the formula's results of unrated players: a declared 2801 does not fall by it.
    cap = own if own > numbers.special_cap else numbers.special_cap
    if rating > cap:
        return cap
    return rating if rating > numbers.lower_bound else numbers.lower_bound


def step_1(player: Player, after: Player, games: BatchGames, when: When, numbers: Settings) -> None:  # noqa: ARG001
    """Do step 1: set the rating before the section, or the start rating, and count wins, draws and opponents."""
    work = own_work(games)
    work.yardstick = rating_or_start(player)
    work.wins, work.draws, work.opponents = looked_over(games)


def step_3(player: Player, after: Player, games: BatchGames, when: When, numbers: Settings) -> None:  # noqa: ARG001
    """Do step 3: set a first estimate of players without games, against everybody's ratings of step 1."""
    work = own_work(games)
    estimate = work.yardstick
    if player.games == 0.0:
        # "special formula with effective count 1 from their start rating, only as the opponents' yardstick"
        estimate = bounded(special(estimate, NO_GAMES, 1.0, points(work), games, step=1), estimate, numbers)
    work.first = estimate
    work.first_strength = strength(estimate)


def step_4(player: Player, after: Player, games: BatchGames, when: When, numbers: Settings) -> None:  # noqa: ARG001
    """Do step 4: set everybody's rating against the estimates of step 3."""
    work = own_work(games)
    work.step_4 = rated(player, games, when.day, numbers, step=3)
    work.step_4_strength = strength(work.step_4)


def step_5(player: Player, after: Player, games: BatchGames, when: When, numbers: Settings) -> None:
    """Do step 5: set each player's final rating after the section, with limits and floors.

    "own rating and N' still pre-event, opponents at their step-4 values".
    """
    work = own_work(games)
    rating = rated(player, games, when.day, numbers, step=4)
    alone = work.opponents == 1.0 and work_of(games, games.first).opponents == 1.0
    if alone and is_match(player, opponent_of(games, games.first), numbers):
        rating = limited(rating, player.rating, numbers.match_limit)
    finish(player, after, rating, work, float(games.last - games.first), numbers)


def rated(player: Player, games: BatchGames, day: float, numbers: Settings, step: int) -> float:
    """Return a player's rating by the opponents' ratings of step 3 or 4, before limits and floors."""
    # Notes the bonus.
    work = own_work(games)
    own = work.yardstick
    effective_n = effective_games(player.games, own)
    total = points(work)
    if is_special(player.games, player.record, numbers):
        return bounded(special(own, player.record, effective_n, total, games, step), own, numbers)
    m = float(games.last - games.first)
    # "R = R0 + K(S-E) + bonus"; who has games is known by the rating, so ``first`` is R0
    expected = expected_by_strength(work.first_strength, games, step)
    gain = k_factor(effective_n, m, own, numbers.dual_rated) * (total - expected)
    more = bonus(gain, m, numbers.bonus_b if numbers.bonus_b > 0.0 else bonus_b(day))
    if more > 0.0 and not bonus_eligible(games.opponent, games.first, games.last):
        more = 0.0
    work.bonus = more
    return own + gain + more  # type: ignore[no-any-return]


def lowest(absolute: float, peak: float, numbers: Settings) -> float:
    """Return the highest floor in rating points: lower bound, absolute floor, and the floor by the *peak*.

    A *peak* of 0: not established.
    """
    low = floor_peak(peak)
    if not numbers.online and absolute > low:
        low = absolute
    return low if low > numbers.lower_bound else numbers.lower_bound


def finish(player: Player, after: Player, rating: float, work: SectionWork, m: float, numbers: Settings) -> None:
    """Fill *after* with a player's state after a section of *m* games: the counts, then the floors.

    The floors are "this event included".
    """
    # an event counts towards the floor from three games on (RULES 2)
    after.floor = floor_raised(player.floor, work.wins, work.draws, 1.0 if m >= 3.0 else 0.0)
    after.games = player.games + m
    after.rating = max(rating, lowest(after.floor, player.peak, numbers))
    after.record = record_after(player.record, work.wins, work.draws, m)
    after.peak = player.peak
    if after.games > numbers.established_games:
        after.peak = max(after.rating, player.peak)
    after.birth_year = player.birth_year
    after.start = player.start


def explain(own: ExplainedPlayer, meetings: Sequence[OpponentGame], when: When, numbers: Settings) -> Explanation:
    """Return the formula of one player's section with its numbers; opponents as rated by step 4."""
    # Without these one player of a section cannot be calculated again (RULES 2).
    table = [meeting.work.step_4 for meeting in meetings]
    games, r0 = own.before.games, own.work.yardstick
    counted, score = effective_games(games, r0), sum(meeting.score for meeting in meetings)
    terms = [
        Term("R0", r0, "rating before the section" if own.before.rating else "start rating by age"),
        Term("N", games, "games before the section"),
        Term("N'", counted, "effective games, min(N, N*) with N* by R0"),
        Term("m", float(len(meetings)), "games of the section"),
        Term("S", score, "points scored"),
    ]
    if is_special(games, own.before.record, numbers):
        rule, more, unrounded = _special_terms(own.before.record, r0, counted, score, meetings)
        source = f"{DOCUMENT}, special rating formula"
    else:
        rule, more, unrounded = _standard_terms(own, r0, counted, score, table, when, numbers)
        source = f"{DOCUMENT}, standard rating formula"
    lines, sums = _lines_and_sums(own, meetings, unrounded, numbers)
    opponents = [
        Term(f"R{i}", rating, f"opponent's rating by step 4; score {meeting.score:g}")
        for i, (meeting, rating) in enumerate(zip(meetings, table, strict=True), 1)
    ]
    return Explanation(
        rule,
        (*terms, *more, *opponents),
        unrounded,
        own.after.rating,
        _from_there(own, meetings, unrounded, numbers),
        source,
        tuple(table),
        lines,
        sums,
        _steps(own, counted, unrounded),
        limited="" if abs(own.after.rating - unrounded) < 1e-6 else "limits and floors of step 5",
    )


def _lines_and_sums(
    own: ExplainedPlayer, meetings: Sequence[OpponentGame], unrounded: float, numbers: Settings
) -> tuple[tuple[GameLine, ...], tuple[FormulaSum, ...]]:
    """Return the games of a section with what each brings, and their sums."""
    r0, m = own.work.yardstick, float(len(meetings))
    score = FormulaSum("S", "score", points(own.work), "points scored")
    words = [f"step 1: {met.work.yardstick:g}, step 3: {met.work.first:g}" for met in meetings]
    if is_special(own.before.games, own.before.record, numbers):
        pairs = zip(meetings, words, strict=True)
        lines = [GameLine(met.work.step_4, r0, r0 - met.work.step_4, words=word) for met, word in pairs]
        return tuple(lines), (score,)
    k = k_factor(effective_games(own.before.games, r0), m, r0, numbers.dual_rated)
    lines = []
    for met, word in zip(meetings, words, strict=True):
        e = logistic(r0 - met.work.step_4)
        gain = met.score - e
        lines.append(
            GameLine(met.work.step_4, r0, r0 - met.work.step_4, "", e, gain, factor=k, points=k * gain, words=word)
        )
    expected = expected_total(r0, [met.work.step_4 for met in meetings])
    change = FormulaSum("K·(S - E) + b", "points", unrounded - r0, "change, the bonus included", own.work.bonus)
    return tuple(lines), (score, FormulaSum("E", "expected", expected, "expected points"), change)


def _steps(own: ExplainedPlayer, counted: float, unrounded: float) -> tuple[Term, ...]:
    """Return what the five steps of a section give for a player."""
    return (
        Term("1", own.work.yardstick, "rating before the section, or the start rating by age"),
        Term("2", counted, "effective number of games N'"),
        Term("3", own.work.first, "first estimate: of a player without games by the special formula"),
        Term("4", own.work.step_4, "rating against the opponents' ratings of step 3"),
        Term("5", unrounded, "rating against the opponents' ratings of step 4, before limits and floors"),
    )


def _standard_terms(
    own: ExplainedPlayer, r0: float, counted: float, score: float, table: list[float], when: When, numbers: Settings
) -> tuple[str, list[Term], float]:
    m = len(table)
    expected = expected_total(r0, table)
    k, b = k_factor(counted, float(m), r0, numbers.dual_rated), numbers.bonus_b or bonus_b(when.day)
    terms = [
        Term("K", k, "800 / (N' + m), less from 2200 in dual-rated events" if numbers.dual_rated else "800 / (N' + m)"),
        Term("E", expected, "expected points Σ 1 / (1 + 10^(-(R0-Ri)/400))"),
        Term("B", b, "factor of the bonus threshold"),
        Term("b", own.work.bonus, "bonus K·(S - E) - B·√max(m, 4), if above 0 and nobody was met too often"),
    ]
    return "R0 + K·(S - E) + b", terms, r0 + k * (score - expected) + own.work.bonus


def _special_terms(
    record: float, r0: float, counted: float, score: float, meetings: Sequence[OpponentGame]
) -> tuple[str, list[Term], float]:
    games = formulas.games_against([meeting.work for meeting in meetings])
    rating = special(r0, record, counted, score, games, step=4)
    centre, points = formulas.special_centre(r0, record), formulas.special_points(score, counted, record)
    weighed = [(counted, centre), *((1.0, meeting.work.step_4) for meeting in meetings)]
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


def _from_there(own: ExplainedPlayer, meetings: Sequence[OpponentGame], unrounded: float, numbers: Settings) -> str:
    """Return the steps from the formula's result to the rating."""
    result, r0 = own.after.rating, own.work.yardstick
    if abs(result - unrounded) < 1e-6:
        return "none; shown to the nearest point"
    if result > unrounded and result == lowest(own.after.floor, own.before.peak, numbers):
        return f"raised to the player's floor {result:g}; shown to the nearest point"
    if {own.work.opponents, *(meeting.work.opponents for meeting in meetings)} == {1.0} and abs(result - r0) > 0:
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
    player=Player,
    enter=enter,
    seeded=seeded,
    accepted_ratings=accepted_ratings,
    relist=relist,
    rhythm=Rhythm.EVENT,
    passes=(step_1, step_3, step_4, step_5),
    work=SectionWork,
    expected_score=expected_score,
    mirrored=True,
    explain=explain,
    at=at,
    unchanged_since=unchanged_always,
    carry=carry,
    provisional=provisional,
    listed=listed,
)
