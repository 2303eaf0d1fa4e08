"""Schemes of a few lines, one for each rhythm, whose numbers can be told in one's head.

By game and by event a win takes ``worth`` points from the loser. By period everybody gets ``worth`` for each game, and
loses a point for each period that has gone by since the last one. A test puts them beside the built-in schemes.
"""

from collections.abc import Sequence
from typing import Any

import attrs
import pytest

from ledger import schemes
from ledger.schemes.scheme import ExplainedPlayer, Explanation, MetOpponent, Newcomer, Rhythm, Scheme, When
from ledger.schemes.settings import PeriodSettings, numbers_of, setting


@attrs.frozen(kw_only=True)
class Settings(PeriodSettings):
    """What all of them take; ``min_listed`` games until a list shows a player."""

    initial: float = setting(1500.0, "rating of a newcomer", "points", "this file")
    worth: float = setting(10.0, "worth of a game", "points", "this file")
    min_listed: float = setting(0.0, "games until a player is listed", "games", "this file")

    def __attrs_post_init__(self) -> None:
        self.check_periods()


Numbers = numbers_of(Settings)


def enter(newcomer: Newcomer, numbers: Settings) -> tuple[float, ...]:
    return (numbers.initial if newcomer.declared is None else newcomer.declared, 0.0)


def carry(rating: float, games: float, newcomer: Newcomer, numbers: Settings) -> tuple[float, ...]:
    return (rating, games)


def rate_game(state: Any, w: int, b: int, score: float, day: float, numbers: Any) -> None:
    state[w] += numbers.worth * (2.0 * score - 1.0)
    state[b] -= numbers.worth * (2.0 * score - 1.0)
    state[w + 1] += 1.0
    state[b + 1] += 1.0


def rate_event(
    step: int,
    state: Any,
    work: Any,
    after: Any,
    player: int,
    opponent: Any,
    score: Any,
    colour: Any,
    first: int,
    last: int,
    period: float,
    day: float,
    numbers: Any,
) -> None:
    total = 0.0
    for game in range(first, last):
        total += 2.0 * score[game] - 1.0
    after[player * 2] = state[player * 2] + numbers.worth * total
    after[player * 2 + 1] = state[player * 2 + 1] + (last - first)


def rate_period(
    step: int,
    state: Any,
    work: Any,
    after: Any,
    player: int,
    opponent: Any,
    score: Any,
    colour: Any,
    first: int,
    last: int,
    period: float,
    day: float,
    numbers: Any,
) -> None:
    after[player * 3] = state[player * 3] + numbers.worth * (last - first)
    after[player * 3 + 1] = state[player * 3 + 1] + (last - first)
    after[player * 3 + 2] = period


def rust(state: Any, p: int, period: float, day: float, numbers: Any) -> None:
    """A point for each period since the last one; -1 stands for nobody's."""
    if 0.0 <= state[p + 2] < period:
        state[p] -= period - state[p + 2]
        state[p + 2] = period


def listed(state: Any, p: int, numbers: Any) -> bool:
    return bool(state[p + 1] >= numbers.min_listed)


def expected_score(state: Any, p: int, opponent: int, numbers: Any) -> float:
    return 0.5


def explain(side: ExplainedPlayer, meetings: Sequence[MetOpponent], when: When, numbers: Any) -> Explanation:
    return Explanation("R + worth", (), side.after[0], side.after[0], "none", "this file")


def enter_period(newcomer: Newcomer, numbers: Settings) -> tuple[float, ...]:
    return (*enter(newcomer, numbers), -1.0)


def carry_period(rating: float, games: float, newcomer: Newcomer, numbers: Settings) -> tuple[float, ...]:
    return (rating, games, -1.0)


COMMON: dict[str, Any] = {
    "source": "this file",
    "version": 1,
    "settings": Settings,
    "numbers": Numbers,
    "expected_score": expected_score,
    "explain": explain,
    "listed": listed,
}
BY_GAME = Scheme(
    name="small-game",
    title="by game",
    state=("rating", "games"),
    enter=enter,
    carry=carry,
    rate_game=rate_game,
    **COMMON,
)
BY_EVENT = Scheme(
    name="small-event",
    title="by event",
    state=("rating", "games"),
    enter=enter,
    carry=carry,
    rhythm=Rhythm.EVENT,
    rate_player=rate_event,
    **COMMON,
)
BY_PERIOD = Scheme(
    name="small-period", title="by period", state=("rating", "games", "last_period"), enter=enter_period,
    carry=carry_period, rhythm=Rhythm.PERIOD, rate_player=rate_period, at=rust, **COMMON,
)  # fmt: skip
FORGETFUL = attrs.evolve(BY_GAME, name="small-forgetful", carry=None)  # takes a rating, no number of games
SMALL = (BY_GAME, BY_EVENT, BY_PERIOD, FORGETFUL)


def install(patch: pytest.MonkeyPatch, *those: Scheme) -> None:
    """Let the ledger know these schemes too, or instead of its own of the same name."""
    known = {**schemes.available(), **{one.name: one for one in those}}
    patch.setattr(schemes, "built_in_names", lambda: ())
    patch.setattr(schemes, "available", lambda: known)
