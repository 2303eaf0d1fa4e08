"""What the FIDE scheme keeps of a player, and which of the ratings that it keeps was in force when.

Here too is what the settings make of the rules of a day, and the rules that look at each of a player's tournaments of
a period by itself; a tournament is the games whose tournaments began at one moment. Plain functions for kernels; the
course of a player from period to period is in ``schemes.fide``.
"""

from __future__ import annotations

from typing import Any

from ledger.schemes.formulas.fide_initial import games_needed
from ledger.schemes.formulas.fide_rules import is_rated, one_upgrade, published_from, upgrade

NAMES = (
    "rating", "games", "highest", "birth_year", "pool_games", "pool_score", "pool_opponents", "pool_since", "day",
    "since", "earlier", "earlier_since", "earliest",
)  # fmt: skip
RATING, GAMES, HIGHEST, BIRTH_YEAR, POOL_GAMES, POOL_SCORE, POOL_OPPONENTS, POOL_SINCE, DAY = range(9)
SINCE, EARLIER, EARLIER_SINCE, EARLIEST = range(9, 13)  # the rating's first day, and the ratings in force before it
WIDTH = len(NAMES)
WORK_NAMES = ("counted", "scored", "expected_hundredths", "opponents", "k")
COUNTED, SCORED, EXPECTED, OPPONENTS, K = range(5)


def rules_of(day: float, numbers: Any) -> float:
    """The day whose rules hold for a batch that closes on *day*."""
    return numbers.rules_day if numbers.rules_day > 0.0 else day


def floor_of(day: float, numbers: Any) -> float:
    """The lowest rating published by the rules of *day*, points."""
    return numbers.floor if numbers.floor > 0.0 else published_from(day)


def needed(day: float, numbers: Any) -> float:
    """Games that make a rating by the rules of *day*."""
    return numbers.initial_games if numbers.initial_games > 0.0 else games_needed(day)


def remember(state: Any, p: int) -> None:
    """The present rating becomes the one before."""
    state[p + EARLIEST] = state[p + EARLIER]
    state[p + EARLIER_SINCE] = state[p + SINCE]
    state[p + EARLIER] = state[p]


def in_force(state: Any, p: int, day: float) -> float:
    """The rating in force on a day, points; of days long ago the oldest that is kept."""
    if day >= state[p + SINCE]:
        return state[p]  # type: ignore[no-any-return]
    if day >= state[p + EARLIER_SINCE]:
        return state[p + EARLIER]  # type: ignore[no-any-return]
    return state[p + EARLIEST]  # type: ignore[no-any-return]


def own_at_start(state: Any, p: int, day: float) -> float:
    """The rating with which a player is rated in a tournament that began on a day, points; 0 for who is unrated now."""
    if state[p] == 0.0:
        return 0.0
    own = in_force(state, p, day)
    return own if own > 0.0 else state[p]  # 8.2.4: rated meanwhile


def begun_before(began: Any, first: int, g: int) -> bool:
    """Whether one of the games *first* <= game < *g* belongs to the tournament of game *g*."""
    for earlier in range(first, g):  # noqa: SIM110, a kernel has no generators
        if began[earlier] == began[g]:
            return True
    return False


def upgrades(state: Any, p: int, opponent: Any, began: Any, first: int, last: int, numbers: Any) -> int:
    """What the expected score falls by where each of several tournaments has its one upgrade, hundredths."""
    fall = 0
    for g in range(first, last):
        rules = rules_of(began[g], numbers)
        if one_upgrade(rules, numbers.rapid) and not begun_before(began, first, g):
            own, widest = own_at_start(state, p, began[g]), 0.0
            for other in range(g, last):
                if began[other] == began[g]:
                    rating = in_force(state, opponent[other] * WIDTH, began[g])
                    if is_rated(own, rating, rules, numbers.rapid):
                        widest = max(widest, own - rating)
            fall += upgrade(widest, rules, numbers.rapid)
    return fall


def leave_out_pointless(
    state: Any,
    work: Any,
    p: int,
    w: int,
    opponent: Any,
    score: Any,
    began: Any,
    first: int,
    last: int,
    numbers: Any,
) -> None:
    """8.2: of an unrated player's tournaments those without a point are disregarded until one has brought a point."""
    counted, scored, opponents = 0.0, 0.0, 0.0
    for g in range(first, last):
        if not begun_before(began, first, g):
            rules, games, points, total = rules_of(began[g], numbers), 0.0, 0.0, 0.0
            for other in range(g, last):
                if began[other] == began[g]:
                    rating = in_force(state, opponent[other] * WIDTH, began[g])
                    if is_rated(0.0, rating, rules, numbers.rapid):
                        games += 1.0
                        points += score[other]
                        total += rating
            if points > 0.0 or counted > 0.0 or state[p + POOL_GAMES] > 0.0:
                counted += games
                scored += points
                opponents += total
    work[w + COUNTED] = counted
    work[w + SCORED] = scored
    work[w + OPPONENTS] = opponents
