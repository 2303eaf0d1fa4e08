"""Players and sections of US Chess as its kernel takes them."""

from collections.abc import Sequence
from datetime import date
from typing import Any

from ledger.ratings import engine
from ledger.ratings.engine import Rateable
from ledger.schemes import uschess
from ledger.schemes.scheme import Newcomer
from ledger.schemes.settings import with_settings
from ledger.schemes.uschess import DEFAULT, FIELDS, SCHEME

DAY = 20_600.0  # in 2026
STRANGER = Newcomer(day=DAY)


def day_of(year: int, month: int, day: int) -> float:
    return float((date(year, month, day) - date(1970, 1, 1)).days)


def player(rating: float | None, games: float = 1000.0, **fields: float) -> list[float]:
    """A player's state; None is unrated."""
    if rating is None:
        return list(uschess.enter(STRANGER, DEFAULT))
    state = list(uschess.carry(rating, games, STRANGER, DEFAULT))
    for name, value in fields.items():
        state[SCHEME.state.index(name)] = value
    return state


def section(
    players: Sequence[Sequence[float]], games: Sequence[tuple[int, int, float]], day: float = DAY, **settings: Any
) -> list[list[float]]:
    """The states after one section of ``(White, Black, White's score)``."""
    white, black, score = (list(column) for column in zip(*games, strict=True))
    batch = Rateable(white, black, score, [day] * len(games), [0, len(games)], [0.0], [day])
    flat = [value for one in players for value in one]
    _before, after, _work = engine.rate_one_batch(SCHEME, with_settings(DEFAULT, **settings), batch, flat)
    return [after[i : i + FIELDS] for i in range(0, len(after), FIELDS)]
