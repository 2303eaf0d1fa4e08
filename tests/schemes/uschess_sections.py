"""Players and sections of US Chess as its kernel takes them."""

from collections.abc import Sequence
from datetime import date
from typing import Any

import attrs

from ledger.ratings import engine
from ledger.ratings.engine import RateableGames
from ledger.schemes import uschess
from ledger.schemes.formulas.uschess import SectionWork, games_against
from ledger.schemes.scheme import BatchGames, ExplainedPlayer, Newcomer
from ledger.schemes.settings import replace_settings
from ledger.schemes.uschess import DEFAULT, SCHEME, Player

DAY = 20_600.0  # in 2026
STRANGER = Newcomer(day=DAY)


def day_of(year: int, month: int, day: int) -> float:
    return float((date(year, month, day) - date(1970, 1, 1)).days)


def player(rating: float | None, games: float = 1000.0, **fields: float) -> Player:
    """A player; None is unrated."""
    if rating is None:
        return uschess.enter(STRANGER, DEFAULT)
    return attrs.evolve(uschess.carry(rating, games, STRANGER, DEFAULT), **fields)


def against(ratings: Sequence[float]) -> BatchGames:
    """A player's games against opponents with these ratings by step 4."""
    return games_against([SectionWork(step_4=rating) for rating in ratings])


def worked(
    players: Sequence[Player], games: Sequence[tuple[int, int, float]], day: float = DAY, **settings: Any
) -> list[ExplainedPlayer]:
    """One section of ``(White, Black, White's score)``, with the work numbers."""
    white, black, score = (list(column) for column in zip(*games, strict=True))
    batch = RateableGames(white, black, score, [day] * len(games), [0, len(games)], [0.0], [day])
    return engine.rate_one_batch(SCHEME, replace_settings(DEFAULT, **settings), batch, players)


def section(
    players: Sequence[Player], games: Sequence[tuple[int, int, float]], day: float = DAY, **settings: Any
) -> list[Player]:
    """The players after one section of ``(White, Black, White's score)``."""
    return [each.after for each in worked(players, games, day, **settings)]
