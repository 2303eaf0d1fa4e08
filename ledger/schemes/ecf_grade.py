"""The English grade, 1958 to 2020 (BCF, later ECF; Clarke's system): the mean of a season's game points.

Ratings are grades here, that is ECF points, each worth 7.5 to 8 Elo points (``elo``, ``elo_2020``). Sources: the
explanation of September 2004 (old.kjca.org/gradingexplanation.htm), the help of 2018 (ringwoodchessclub.org.uk), the
changes of 2011-12 (bronowskitrophy.wordpress.com, 8 August 2011) and of January 2015 (horshamchessclub.org.uk),
quoted above the lines that implement them. The increment for juniors is not in them, and left out. Half-yearly lists,
from January 2012: ``period_months`` 6, ``first_month`` 1, ``season_lists`` 2. Only this scheme's rules live here.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from typing import Any

import attrs

from ledger.facts.periods import last_over
from ledger.schemes.scheme import (
    ExplainedPlayer,
    Explanation,
    MetOpponent,
    Newcomer,
    Rhythm,
    Scheme,
    Seed,
    Term,
    When,
    calendar_of,
)
from ledger.schemes.settings import PeriodSettings, not_negative, numbers_of, positive, setting, whole_within

BCF_2004 = "BCF grading system, September 2004"
HELP = "ECF grading help, 2018"
CHANGES_2012 = "ECF grading changes 2011-12"
CHANGES_2015 = "ECF grading changes, January 2015"
CHESSWORLD = "ChessWorld rating FAQ: 'ECF 100 is assumed for everyone'"

# A list's slot 0 is the latest closed one; three seasons of two lists are 6 slots. The latest game's points come first.
SLOTS = 6
RECENT = 29  # of 30 games at least one is new when a grade is reckoned
RATING, GAMES, PERIOD = range(3)
LIST_GAMES = 3
LIST_POINTS = LIST_GAMES + SLOTS
POINTS = LIST_POINTS + SLOTS
FIELDS = POINTS + RECENT
NEVER = -1e9  # the period of a player without a list; those in days before 1970 have numbers below 0


@attrs.frozen(kw_only=True)
class Settings(PeriodSettings):
    """The constants of the scheme, in ECF points and games."""

    period_months: float = setting(12.0, "length of a period in months", "months", f"{BCF_2004}: to 31 May")
    first_month: float = setting(6.0, "a month in which a period begins", "month", f"{BCF_2004}: 'from 1st June'")
    season_lists: float = setting(1.0, "lists in a season, 1 or 2", "lists", f"{CHANGES_2012}: 2 from January 2012")
    cap: float = setting(40.0, "largest difference that counts", "ECF points", f"{HELP}: 'more than 40 points'")
    bonus: float = setting(50.0, "worth of a win over the opponent", "ECF points", f"{HELP}: 'grade plus 50'")
    full_games: float = setting(30.0, "games that need no earlier ones, to 30", "games", f"{HELP}: '30 or more games'")
    by_average: bool = setting(False, "earlier games by their list's average", "switch", CHANGES_2015)  # noqa: FBT003
    listed_games: float = setting(10.0, "games in three seasons to be listed", "games", f"{BCF_2004}; 9, later 5")
    start_grade: float = setting(100.0, "an ungraded player's, if not estimated", "ECF points", CHESSWORLD)
    estimate: bool = setting(True, "estimate the ungraded by their results", "switch", f"{HELP}: 'estimated'")  # noqa: FBT003
    rounded: bool = setting(True, "grades are whole numbers", "switch", "as lists show them; .5 up: our reading")  # noqa: FBT003

    def __attrs_post_init__(self) -> None:
        """Refuse constants under which the formulas have no meaning."""
        self.check_periods()
        positive(self, "bonus")
        not_negative(self, "cap", "listed_games")
        whole_within(self, season_lists=(1, 2), full_games=(1, RECENT + 1))


Numbers = numbers_of(Settings)
DEFAULT = Numbers(*attrs.astuple(Settings()))


def elo(grade: float) -> float:
    """Elo points of a grade by the older equivalence: 100 is 1400, 200 is 2200."""
    # Since 2019-20 it is 7.5·grade + 700; the two meet at 200 (RULES 4.1).
    return 8.0 * grade + 600.0


def counted(own: float, opponent: float, numbers: Settings) -> float:
    """The opponent's grade as it counts, ECF points."""
    # "if your opponent's grade differs from yours by more than 40 points it is assumed to be exactly 40 above (or
    # below) yours. This applies whatever the result."
    if opponent > own + numbers.cap:
        return own + numbers.cap
    if opponent < own - numbers.cap:
        return own - numbers.cap
    return opponent


def game_points(own: float, opponent: float, score: float, numbers: Settings) -> float:
    """A game's worth, ECF points."""
    # "the opponent's grade plus 50", for a draw the grade, for a loss the grade minus 50; 40 is the cap alone, though a
    # club's page says it here (RULES 4.1)
    return counted(own, opponent, numbers) + numbers.bonus * (2.0 * score - 1.0)


def category(now: float, two: float, three: float, for_e: float = 9.0, for_f: float = 5.0) -> str:
    """Letter of a grade by the games behind it; empty for none.

    Args:
        now: games in the latest season.
        two: games in the latest two seasons.
        three: games in the latest three seasons.
        for_e: games in three seasons for E: 10, later 9.
        for_f: games in three seasons for F: 5 from January 2015; before, no less than *for_e*.
    """
    if now >= 30:
        return "A"
    if two >= 30 and now >= 20:
        return "B"
    if three >= 30 and now >= 10:
        return "C"
    if three >= 15 and now >= 5:
        return "D"
    if three >= for_e and now >= 1:
        return "E"
    return "F" if three >= for_f and now >= 1 else ""


def enter(newcomer: Newcomer, numbers: Settings) -> tuple[float, ...]:  # noqa: ARG001
    """State of a newcomer: ungraded, 0, unless a grade (ECF points) was declared."""
    return (float(newcomer.declared or 0), 0.0, NEVER, *[0.0] * (FIELDS - 3))


def carry(rating: float, games: float, newcomer: Newcomer, numbers: Settings) -> tuple[float, ...]:  # noqa: ARG001
    """Who comes with a rating is graded with it; games played elsewhere have no game points."""
    return (float(rating), float(games), NEVER, *[0.0] * (FIELDS - 3))


def seeded(seed: Seed, newcomer: Newcomer, numbers: Settings) -> tuple[float, ...]:
    """Who comes with a past is on the list before it: its games, 30 if it does not tell, worth the grade each."""
    # Where lists follow rating runs the games stand on no list: they count as those of ``carry``.
    period = last_over(newcomer.day, calendar_of(numbers))
    if period is None:
        return carry(seed.rating, seed.games or 0.0, newcomer, numbers)
    games = numbers.full_games if seed.games is None else seed.games
    points = 0.0 if numbers.by_average else seed.rating
    on_list, recent = min(games, numbers.full_games), int(min(games, RECENT))
    return (
        seed.rating,
        games,
        period,
        on_list,
        *[0.0] * (SLOTS - 1),
        on_list * seed.rating,
        *[0.0] * (SLOTS - 1),
        *[points] * recent,
        *[0.0] * (RECENT - recent),
    )


def nearest(grade: float, numbers: Settings) -> float:
    """The nearest whole grade, one half upwards, where grades are whole."""
    return floor(grade + 0.5) * 1.0 if numbers.rounded else grade


def is_graded(state: Any, p: int) -> bool:
    """Whether a player has a current grade."""
    return bool(state[p + 1] > 0.0 or state[p] != 0.0)


def in_lists(state: Any, p: int, first: int, last: int) -> float:
    """Games in the slots *first* <= slot < *last*."""
    games = 0.0
    for slot in range(first, last):
        games += state[p + LIST_GAMES + slot]
    return games


def shift(state: Any, p: int, lists: float, after: Any) -> None:
    """Write into *after* the slots of *state* (may be the same) as they stand some lists later."""
    by = SLOTS if lists > SLOTS else int(lists)
    for slot in range(SLOTS - 1, -1, -1):  # from behind: *after* may be *state* itself
        for field in (p + LIST_GAMES + slot, p + LIST_POINTS + slot):
            after[field] = state[field - by] if slot >= by else 0.0


def at(state: Any, p: int, period: float, day: float, numbers: Settings) -> None:  # noqa: ARG001
    """Bring a state to the list in force in *period*, that of the period before; the grade itself stands."""
    lists = period - state[p + PERIOD] - 1.0
    if lists > 0.0:
        shift(state, p, lists, state)
        state[p + PERIOD] = period - 1.0


def starting_grade(state: Any, opponent: Any, score: Any, first: int, last: int, numbers: Settings) -> float:
    """What an ungraded player starts from: the plain performance against graded opponents, else against all."""
    # "If an opponent (or the player himself) is ungraded, a 'starting grade' is estimated, using all available
    # information". The method was not published; ours takes the first round of its iteration, without the 40-point
    # rule.
    if not numbers.estimate:
        return numbers.start_grade
    games = 0.0
    total = 0.0
    points = 0.0
    for game in range(first, last):
        other = opponent[game] * FIELDS
        if is_graded(state, other):
            games += 1.0
            total += state[other]
            points += score[game]
    if games == 0.0:
        games = float(last - first)
        total = games * numbers.start_grade
        for game in range(first, last):
            points += score[game]
    return nearest((total + numbers.bonus * (2.0 * points - games)) / games, numbers)


def brought_forward(state: Any, after: Any, p: int, batch: int, now: float, more: float, numbers: Settings) -> float:
    """Points of the games of the two earlier seasons that make up the full number.

    Args:
        state: fields before the batch, with the points of the latest games.
        after: fields after the batch, with the games and points of its list.
        p: the player.
        batch: games in the batch.
        now: games in the season.
        more: games to be brought forward.
        numbers: the settings.
    """
    points = 0.0
    if not numbers.by_average:
        # "they will take the n most recent games" (2012 to 2014)
        for place in range(int(now) - batch, int(now + more) - batch):
            points += state[p + POINTS + place]
        return points
    # Otherwise "as many games from each prior period as it needs", with the "average per game for the earliest"
    slot = int(numbers.season_lists)
    while more > 0.0:
        games = after[p + LIST_GAMES + slot]
        share = after[p + LIST_POINTS + slot]
        points += share if games <= more else more * (share / games)
        more -= games
        slot += 1
    return points


def missing(after: Any, p: int, now: float, numbers: Settings) -> float:
    """How many earlier games are brought forward."""
    # up to "the most recent 30 games", from three seasons in all
    if now >= numbers.full_games:
        return 0.0
    lists = int(numbers.season_lists)
    return min(in_lists(after, p, lists, 3 * lists), numbers.full_games - now)


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
    period: float,
    day: float,  # noqa: ARG001
    numbers: Settings,
) -> None:
    """Estimate the ungraded in the first round; rate one player's games of a list in the second."""
    own = player * FIELDS
    if step == 0:
        work[player] = state[own]
        if not is_graded(state, own):
            work[player] = starting_grade(state, opponent, score, first, last, numbers)
        return
    shift(state, own, max(period - state[own + PERIOD], 0.0), after)
    batch = last - first
    total = 0.0
    # By grades before the list alone: whom a player meets early in the season does not matter.
    for game in range(first, last):
        points = game_points(work[player], work[opponent[game]], score[game], numbers)
        total += points
        place = last - 1 - game
        if place < RECENT:
            after[own + POINTS + place] = 0.0 if numbers.by_average else points
    for place in range(batch, RECENT):
        after[own + POINTS + place] = state[own + POINTS + place - batch]
    after[own + 1] = state[own + 1] + batch
    after[own + PERIOD] = max(period, state[own + PERIOD])
    after[own + LIST_GAMES] += batch
    after[own + LIST_POINTS] += total
    after[own] = nearest(grade_after(state, after, own, batch, numbers), numbers)


def grade_after(state: Any, after: Any, p: int, batch: int, numbers: Settings) -> float:
    """The grade by a season's games, and earlier ones if they are fewer than 30; ECF points, unrounded."""
    lists = int(numbers.season_lists)
    now = in_lists(after, p, 0, lists)
    # "If there are 30 or more games in the most recent 12 months, then the grade is based on these games alone."
    points = season_points(after, p, numbers)
    more = missing(after, p, now, numbers)
    if more > 0.0:
        points += brought_forward(state, after, p, batch, now, more, numbers)
    return points / (now + more)


def season_points(state: Any, p: int, numbers: Settings) -> float:
    """Game points of the latest season."""
    points = 0.0
    for slot in range(int(numbers.season_lists)):
        points += state[p + LIST_POINTS + slot]
    return points


def expected_score(state: Any, p: int, q: int, numbers: Settings) -> float:
    """The score, 0..1, that would leave the grade as it is: 50 % and one for each ECF point, up to the cap."""
    own = state[p] if is_graded(state, p) else numbers.start_grade
    other = state[q] if is_graded(state, q) else numbers.start_grade
    share = 0.5 + (own - counted(own, other, numbers)) / (2.0 * numbers.bonus)
    if share > 1.0:
        return 1.0
    return 0.0 if share < 0.0 else share


def provisional(state: Any, p: int, numbers: Settings) -> bool:
    """True while fewer than the full number of games stand behind the grade."""
    return in_lists(state, p, 0, 3 * int(numbers.season_lists)) < numbers.full_games


def listed(state: Any, p: int, numbers: Settings) -> bool:
    """Whether there are games enough, and one of them in the latest season."""
    # "at least 10 games in the last three years, including at least one in the most recent year"
    lists = int(numbers.season_lists)
    return in_lists(state, p, 0, lists) > 0.0 and in_lists(state, p, 0, 3 * lists) >= numbers.listed_games


def explain(own: ExplainedPlayer, meetings: Sequence[MetOpponent], when: When, numbers: Settings) -> Explanation:  # noqa: ARG001
    """The formula of one player's list with its numbers."""
    lists, batch, grade = int(numbers.season_lists), len(meetings), own.work[0]
    now = in_lists(own.after, 0, 0, lists)
    more = missing(own.after, 0, now, numbers)
    forward = brought_forward(own.before, own.after, 0, batch, now, more, numbers) if more else 0.0
    strength = sum(counted(grade, meeting.work[0], numbers) for meeting in meetings) / batch
    scored = sum(meeting.score for meeting in meetings)
    points = sum(game_points(grade, meeting.work[0], meeting.score, numbers) for meeting in meetings)
    season = season_points(own.after, 0, numbers)
    graded = is_graded(own.before, 0)
    how = "by their lists' averages" if numbers.by_average else "the most recent ones"
    terms = (
        Term("g", grade, "own grade before the list" if graded else "ungraded: starting grade"),
        Term("m", float(batch), "games of the list"),
        Term("W", scored, "score in them"),
        Term("A", strength, f"average of the opponents' grades, each at most {numbers.cap:g} from g"),
        Term("p", points, f"their game points m·A + {numbers.bonus:g}·(2·W - m)"),
        Term("e", season - points, "game points of the season before this list"),
        Term("n", now, "games of the season"),
        Term("b", more, f"earlier games that make up {numbers.full_games:g}, {how}"),
        Term("B", forward, "their game points"),
    )
    rounding = "to the nearest whole grade, one half upwards" if numbers.rounded else "none"
    return Explanation(
        "(p + e + B) / (n + b)",
        terms,
        (season + forward) / (now + more),
        own.after[RATING],
        rounding,
        f"{HELP}; {CHANGES_2015 if numbers.by_average else CHANGES_2012}",
    )


SCHEME = Scheme(
    name="ecf-grade",
    title="English grade (BCF, ECF), 1958 to 2020; ratings in ECF points",
    source=HELP,
    version=2,
    settings=Settings,
    numbers=Numbers,
    state=(
        "rating",
        "games",
        "period",
        *(f"list_{slot}_games" for slot in range(SLOTS)),
        *(f"list_{slot}_points" for slot in range(SLOTS)),
        *(f"points_{place + 1}" for place in range(RECENT)),
    ),
    enter=enter,
    seeded=seeded,
    rate_player=rate_player,
    expected_score=expected_score,
    explain=explain,
    rhythm=Rhythm.PERIOD,
    scale="ECF points",
    steps=2,
    work=("grade",),
    at=at,
    carry=carry,
    provisional=provisional,
    listed=listed,
)
