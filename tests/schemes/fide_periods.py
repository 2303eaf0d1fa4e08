"""Players and rating periods of FIDE as its kernel takes them."""

from collections.abc import Sequence
from datetime import date
from typing import Any

import attrs
import pytest

from ledger.ratings import engine
from ledger.ratings.engine import RateableGames
from ledger.schemes.fide import DEFAULT, SCHEME, Player, carry
from ledger.schemes.scheme import ExplainedPlayer, Newcomer, OpponentGame, When
from ledger.testing.scheme_contract import evaluate_rule

Games = Sequence[tuple[Player, float]]  # opponents and own scores


def day(text: str) -> float:
    return float((date.fromisoformat(text) - date(1970, 1, 1)).days)


def player(
    rating: float | None = None,
    games: float = 0.0,
    born: int | None = None,
    on: str = "2025-11-01",
    numbers: Any = DEFAULT,
) -> Player:
    return carry(rating or 0.0, games, Newcomer(None, born, day(on)), numbers)


def play(own: Player, games: Games, on: str = "2025-11-30", numbers: Any = DEFAULT) -> Player:
    """The player after a period with these opponents and own scores."""
    after: Player = whole(own, games, on, numbers)[0].after
    return after


def whole(own: Player, games: Games, on: str, numbers: Any = DEFAULT) -> tuple[ExplainedPlayer, list[OpponentGame]]:
    n = len(games)
    black, score = list(range(1, n + 1)), [score for _, score in games]
    batch = RateableGames([0] * n, black, score, [day(on)] * n, [0, n], [9.0], [day(on)])
    side, *others = engine.rate_one_batch(SCHEME, numbers, batch, [own, *(opponent for opponent, _ in games)])
    return side, [
        OpponentGame(other.before, score, began=day(on)) for other, (_, score) in zip(others, games, strict=True)
    ]


def at_day(player: Player, on: str, numbers: Any = DEFAULT) -> Player:
    """The player on a later day; *player* stays as it is."""
    later = attrs.evolve(player)
    SCHEME.at(later, 9.0, day(on), numbers)
    return later


def explained(own: Player, games: Games, on: str = "2025-11-30") -> Any:
    side, meetings = whole(own, games, on)
    told = SCHEME.explain(side, meetings, When(9.0, day(on)), DEFAULT)
    assert evaluate_rule(told) == pytest.approx(told.unrounded)
    return told
