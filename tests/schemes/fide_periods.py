"""Players and rating periods of FIDE as its kernel takes them."""

from collections.abc import Sequence
from datetime import date
from typing import Any

import pytest

from ledger.ratings import engine
from ledger.ratings.engine import Rateable
from ledger.schemes import scheme
from ledger.schemes.fide import DEFAULT, FIELDS, SCHEME, STATE
from ledger.schemes.scheme import ExplainedPlayer, MetOpponent, Newcomer, When
from ledger.testing.scheme_contract import evaluated


def day(text: str) -> float:
    return float((date.fromisoformat(text) - date(1970, 1, 1)).days)


def player(rating: float | None = None, games: float = 0.0, born: int | None = None, on: str = "2025-11-01") -> Any:
    return SCHEME.carried(rating or 0.0, games, Newcomer(None, born, day(on)), DEFAULT)


def play(
    own: Sequence[float], games: Sequence[tuple[Sequence[float], float]], on: str = "2025-11-30", numbers: Any = DEFAULT
) -> dict[str, float]:
    """The player's state after a period with these opponents and own scores."""
    return dict(zip(STATE, whole(own, games, on, numbers)[0].after, strict=True))


def whole(
    own: Sequence[float], games: Sequence[tuple[Sequence[float], float]], on: str, numbers: Any = DEFAULT
) -> tuple[ExplainedPlayer, list[MetOpponent]]:
    n = len(games)
    state = [*own, *(value for opponent, _ in games for value in opponent)]
    black, score = list(range(1, n + 1)), [score for _, score in games]
    batch = Rateable([0] * n, black, score, [day(on)] * n, [0, n], [9.0], [day(on)])
    before, after, work = engine.rate_one_batch(SCHEME, numbers, batch, state)
    sides = [tuple(before[i : i + FIELDS]) for i in range(0, len(before), FIELDS)]
    notes = len(SCHEME.work)
    return (
        ExplainedPlayer(sides[0], tuple(after[:FIELDS]), tuple(work[:notes])),
        [MetOpponent(sides[g + 1], games[g][1], began=day(on)) for g in range(n)],
    )


def at_day(state: Sequence[float], on: str, numbers: Any = DEFAULT) -> dict[str, float]:
    return dict(zip(STATE, scheme.at_time(SCHEME, numbers, state, When(9.0, day(on))), strict=True))


def play_state(after: dict[str, float]) -> tuple[float, ...]:
    return tuple(after.values())


def explained(own: Sequence[float], games: Sequence[tuple[Sequence[float], float]], on: str = "2025-11-30") -> Any:
    side, meetings = whole(own, games, on)
    told = SCHEME.explain(side, meetings, When(9.0, day(on)), DEFAULT)
    assert evaluated(told) == pytest.approx(told.unrounded)
    return told
