"""Chessmetrics (Jeff Sonas): a weighted mean of the performance in the games of the last 24 months.

Source: the formulas of chessmetrics.com/cm/CM2/Formulas.asp as en.wikipedia.org/wiki/Chessmetrics restates them, quoted
above the lines that implement them. The site rates all players of a list at once; here an opponent counts with the
rating of the list before. The full method also pads a player's games with draws, which the restatement leaves out
(from memory: four against the average opponent, three against 2300, and 43 points on top): ``pad_draws`` against
``pad_rating`` is off until somebody sets it. A newcomer's rating is our choice. Only this scheme's rules live here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from ledger.facts.periods import months_of
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
)
from ledger.schemes.settings import PeriodSettings, not_negative, numbers_of, positive, setting, whole_within

CM = "Chessmetrics formulas (Sonas)"
OURS = "our choice: no source gives one"
MEMORY = "our reading of the padding, off: known from memory only"

# Slot 0 is the latest month with a list, counted in ``month``; a month's points are the sum of its games' performances.
MONTHS = 24
RATING, MONTH = range(2)
MONTH_GAMES = 2
MONTH_POINTS = MONTH_GAMES + MONTHS
FIELDS = MONTH_POINTS + MONTHS


@attrs.frozen(kw_only=True)
class Settings(PeriodSettings):
    """The constants of the scheme. Ratings in points, ages in months."""

    start: float = setting(1500.0, "rating of a newcomer", "points", OURS)
    per_score: float = setting(850.0, "worth of 100 % over 0 %", "points", f"{CM}: '(PctScore - 0.50) * 850'")
    window: float = setting(24.0, "age at which a game weighs nothing, 1 to 24", "months", f"{CM}: '(24 - age)'")
    pad_draws: float = setting(0.0, "draws added to everybody's games, with full weight", "games", MEMORY)
    pad_rating: float = setting(2300.0, "opponent in the added draws", "points", MEMORY)

    def __attrs_post_init__(self) -> None:
        """Refuse constants under which the formulas have no meaning."""
        self.check_periods()
        positive(self, "per_score")
        not_negative(self, "start", "pad_draws", "pad_rating")
        whole_within(self, window=(1, MONTHS))


Numbers = numbers_of(Settings)
DEFAULT = Numbers(*attrs.astuple(Settings()))


def performance(average: float, share: float, numbers: Settings) -> float:
    """Performance rating, points: "Average Opponents' Rating + [(PctScore - 0.50) * 850]".

    Args:
        average: the opponents' average rating, points.
        share: score divided by games, 0..1.
        numbers: the settings.
    """
    return average + (share - 0.5) * numbers.per_score


def weight(age: float, numbers: Settings) -> float:
    """What a game of some months ago weighs, 0..1."""
    # "100% * (24 - age)", in 24ths
    if age >= numbers.window:
        return 0.0
    return (numbers.window - age) / numbers.window


def enter(newcomer: Newcomer, numbers: Settings) -> tuple[float, ...]:
    """State of a newcomer; a declared rating replaces the first one."""
    rating = numbers.start if newcomer.declared is None else float(newcomer.declared)
    return (rating, *[0.0] * (FIELDS - 1))


def relist(state: Sequence[float], fresh: tuple[float, ...], seed: Seed, numbers: Settings) -> tuple[float, ...]:
    """A later list replaces the rating: the latest performances of the window move so that their mean becomes it."""
    slot = newest(state, 0, numbers)
    if slot == int(numbers.window):
        return fresh
    listed = list(state)
    whole = numbers.window * numbers.pad_draws + sum(
        state[MONTH_GAMES + month] * (numbers.window - month) for month in range(int(numbers.window))
    )
    listed[MONTH_POINTS + slot] += (seed.rating - rating_of(state, 0, numbers)) * whole / (numbers.window - slot)
    listed[RATING] = seed.rating
    return tuple(listed)


def shift(state: Any, p: int, months: int, after: Any) -> None:
    """Write into *after* the months of *state* (may be the same) as they stand some months later."""
    by = min(months, MONTHS)
    for field in (p + MONTH_GAMES, p + MONTH_POINTS):
        for slot in range(MONTHS - 1, by - 1, -1):
            after[field + slot] = state[field + slot - by]
        for slot in range(by):
            after[field + slot] = 0.0


def rating_of(state: Any, p: int, numbers: Settings) -> float:
    """Weighted mean of the performances of the window, and of the draws added to them; points."""
    games = numbers.window * numbers.pad_draws
    points = games * numbers.pad_rating
    for slot in range(int(numbers.window)):
        # whole numbers, where 1/24 would be rounded
        # the weight, taken ``window`` times above and below
        share = numbers.window - slot
        games += state[p + MONTH_GAMES + slot] * share
        points += state[p + MONTH_POINTS + slot] * share
    return points / games


def newest(state: Any, p: int, numbers: Settings) -> int:
    """The newest month of the window with a game; the length of the window if there is none."""
    slot = 0
    while slot < numbers.window and state[p + MONTH_GAMES + slot] == 0.0:
        slot += 1
    return slot


def at(state: Any, p: int, period: float, day: float, numbers: Settings) -> None:  # noqa: ARG001
    """Bring a state to the list in force on *day*, that of the month before: older games weigh less."""
    # When the last game leaves the window, the rating stays as it was on the last list with a game.
    months = months_of(day) - 1
    by = months - int(state[p + 1])
    if by <= 0:
        return
    state[p + 1] = float(months)
    first = newest(state, p, numbers)
    if first == int(numbers.window):
        return
    left = int(numbers.window) - 1 - first
    shift(state, p, min(by, left), state)
    state[p] = rating_of(state, p, numbers)
    if by > left:
        shift(state, p, MONTHS, state)


def rate_player(
    step: int,  # noqa: ARG001
    state: Any,
    work: Any,  # noqa: ARG001
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
    """Rate one player's games of one list, opponents as the list before has them."""
    own = player * FIELDS
    month = max(float(months_of(day)), state[own + 1])
    shift(state, own, int(month - state[own + 1]), after)
    after[own + 1] = month
    points = 0.0
    for game in range(first, last):
        points += performance(state[opponent[game] * FIELDS], score[game], numbers)
    after[own + MONTH_GAMES] += last - first
    after[own + MONTH_POINTS] += points
    after[own] = rating_of(after, own, numbers)


def expected_score(state: Any, p: int, q: int, numbers: Settings) -> float:
    """The score, 0..1, that would be a performance of the own rating."""
    # "10% [...] 85 rating points": a straight line, which ends at 0 and 1
    share = 0.5 + (state[p] - state[q]) / numbers.per_score
    if share > 1.0:
        return 1.0
    return 0.0 if share < 0.0 else float(share)


def listed(state: Any, p: int, numbers: Settings) -> bool:
    """True while a game of the window is left."""
    return newest(state, p, numbers) < numbers.window


def explain(own: ExplainedPlayer, meetings: Sequence[MetOpponent], when: When, numbers: Settings) -> Explanation:  # noqa: ARG001
    """The formula of one player's list with its numbers."""
    games = float(len(meetings))
    average = sum(meeting.opponent[RATING] for meeting in meetings) / games
    scored = sum(meeting.score for meeting in meetings)
    earlier = [0.0] * FIELDS
    shift(own.before, 0, int(own.after[MONTH] - own.before[MONTH]), earlier)
    weights = [weight(slot, numbers) for slot in range(MONTHS)]
    weighed, points = (
        sum(share * value for share, value in zip(weights, earlier[field : field + MONTHS], strict=True))
        for field in (MONTH_GAMES, MONTH_POINTS)
    )
    terms = (
        Term("n", games, "games of this list, with full weight"),
        Term("W", scored, "score in them"),
        Term("A", average, "average of the opponents' ratings on the list before"),
        Term("P", performance(average, scored / games, numbers), f"performance A + (W/n - 0.5)·{numbers.per_score:g}"),
        Term("N", weighed, f"earlier games of {numbers.window:g} months, by their weights"),
        Term("S", points, "their performances, by their weights"),
        Term("c", numbers.pad_draws, "added draws"),
        Term("C", numbers.pad_rating, "opponent in them"),
    )
    result = own.after[RATING]
    return Explanation("(S + n·P + c·C) / (N + n + c)", terms, result, result, "none; shown to the nearest point", CM)


SCHEME = Scheme(
    name="chessmetrics",
    title="Chessmetrics (Sonas): weighted performance over 24 months",
    source=CM,
    version=1,
    settings=Settings,
    numbers=Numbers,
    state=(
        "rating",
        "month",
        *(f"month_{slot}_games" for slot in range(MONTHS)),
        *(f"month_{slot}_points" for slot in range(MONTHS)),
    ),
    enter=enter,
    rate_player=rate_player,
    expected_score=expected_score,
    explain=explain,
    rhythm=Rhythm.PERIOD,
    relist=relist,
    at=at,
    listed=listed,
)
