"""Schemes of a few lines, one for each rhythm, whose numbers can be told in one's head.

By game and by event a win takes ``worth`` points from the loser. By period everybody gets ``worth`` for each game, and
loses a point for each period that has gone by since the last one. A test puts them beside the built-in schemes.
"""

from collections.abc import Sequence
from typing import Any

import attrs
import pytest

from ledger import schemes
from ledger.schemes.scheme import (
    BatchGames,
    ExplainedPlayer,
    Explanation,
    Newcomer,
    OpponentGame,
    Rhythm,
    Scheme,
    When,
    state,
)
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


@attrs.define
class Player:
    """Who is rated by game or by event."""

    rating: float = state("points")
    games: float = state("rated games")


@attrs.define
class Rusty(Player):
    """Who is rated by period."""

    last_period: float = state("the last period with a game; -1 for none", -1.0)


def enter(newcomer: Newcomer, numbers: Settings) -> Player:
    return Player(numbers.initial if newcomer.declared is None else newcomer.declared, 0.0)


def carry(rating: float, games: float, newcomer: Newcomer, numbers: Settings) -> Player:
    return Player(rating, games)


def rate_game(white: Player, black: Player, score: float, day: float, numbers: Any) -> None:
    white.rating += numbers.worth * (2.0 * score - 1.0)
    black.rating -= numbers.worth * (2.0 * score - 1.0)
    white.games += 1.0
    black.games += 1.0


def rate_event(player: Player, after: Player, games: BatchGames, when: When, numbers: Any) -> None:
    total = 0.0
    for game in range(games.first, games.last):
        total += 2.0 * games.score[game] - 1.0
    after.rating = player.rating + numbers.worth * total
    after.games = player.games + (games.last - games.first)


def rate_period(player: Rusty, after: Rusty, games: BatchGames, when: When, numbers: Any) -> None:
    after.rating = player.rating + numbers.worth * (games.last - games.first)
    after.games = player.games + (games.last - games.first)
    after.last_period = when.period


def rust(player: Rusty, period: float, day: float, numbers: Any) -> None:
    """A point for each period since the last one."""
    if 0.0 <= player.last_period < period:
        player.rating -= period - player.last_period
        player.last_period = period


def listed(player: Player, numbers: Any) -> bool:
    return bool(player.games >= numbers.min_listed)


def expected_score(player: Player, opponent: Player, numbers: Any) -> float:
    return 0.5


def explain(side: ExplainedPlayer, meetings: Sequence[OpponentGame], when: When, numbers: Any) -> Explanation:
    return Explanation("R + worth", (), side.after.rating, side.after.rating, "none", "this file")


def enter_period(newcomer: Newcomer, numbers: Settings) -> Rusty:
    return Rusty(enter(newcomer, numbers).rating)


def carry_period(rating: float, games: float, newcomer: Newcomer, numbers: Settings) -> Rusty:
    return Rusty(rating, games)


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
    player=Player,
    enter=enter,
    carry=carry,
    rate_game=rate_game,
    **COMMON,
)
BY_EVENT = Scheme(
    name="small-event",
    title="by event",
    player=Player,
    enter=enter,
    carry=carry,
    rhythm=Rhythm.EVENT,
    passes=(rate_event,),
    **COMMON,
)
BY_PERIOD = Scheme(
    name="small-period", title="by period", player=Rusty, enter=enter_period,
    carry=carry_period, rhythm=Rhythm.PERIOD, passes=(rate_period,), at=rust, **COMMON,
)  # fmt: skip
FORGETFUL = attrs.evolve(BY_GAME, name="small-forgetful", carry=None)  # takes a rating, no number of games
SMALL = (BY_GAME, BY_EVENT, BY_PERIOD, FORGETFUL)


def install(patch: pytest.MonkeyPatch, *those: Scheme) -> None:
    """Let the ledger know these schemes too, or instead of its own of the same name."""
    known = {**schemes.available_schemes(), **{one.name: one for one in those}}
    patch.setattr(schemes, "built_in_names", lambda: ())
    patch.setattr(schemes, "available_schemes", lambda: known)
