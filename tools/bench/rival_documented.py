"""The eventsourcing library used the way its own first example shows: an aggregate with decorated events, saved.

``rival_eventsourcing`` measures the same library at its fastest; here are its defaults: UUIDs, its JSON transcoder,
SQLite.
"""

from __future__ import annotations

import importlib
import os
from functools import cache, partial
from pathlib import Path
from typing import Any

from ledger.runtime.lazy import np

from .measuring import FREE, Rates, cost_of
from .rivals import START, K

TRANSACTION = 1_000


def documented_figures(directory: Path, count: int) -> dict[str, Rates]:
    """Events per second: ``appends`` and ``saves``, 1,000 at a time, and ``replayed``, by ``repository.get``.

    The aggregate rates each game as its events are applied, as the README's ``Dog`` learns tricks. In ``appends``
    both making the events and saving them is measured, in ``saves`` the saving alone.
    """
    os.environ.update(PERSISTENCE_MODULE="eventsourcing.sqlite", SQLITE_DBNAME=str(directory / "documented.db"))
    try:
        return _measure(_make_club(), count)
    finally:
        for name in ("PERSISTENCE_MODULE", "SQLITE_DBNAME"):
            del os.environ[name]


@cache
def _make_club() -> type[Any]:
    domain = importlib.import_module("eventsourcing.domain")

    class Club(domain.Aggregate):  # type: ignore[misc, name-defined]
        """A club whose games are its events."""

        @domain.event("Founded")  # type: ignore[untyped-decorator]
        def __init__(self) -> None:
            self.ratings: dict[int, float] = {}

        @domain.event("GameRecorded")  # type: ignore[untyped-decorator]
        def record(self, key: str, white: int, black: int, score: float, ended_at: int, half_moves: int) -> None:  # noqa: ARG002
            """Record and rate a game."""
            ratings = self.ratings
            rating_w, rating_b = ratings.get(white, START), ratings.get(black, START)
            change = K * (score - 1.0 / (1.0 + 10.0 ** ((rating_b - rating_w) / 400.0)))
            ratings[white], ratings[black] = rating_w + change, rating_b - change

    made: type[Any] = Club
    return made


def _measure(club_class: type[Any], count: int) -> dict[str, Rates]:
    rng = np.random.default_rng(4)
    players = rng.integers(0, 200, (2, count)).tolist()
    application = importlib.import_module("eventsourcing.application").Application()
    club = club_class()
    made = saved = FREE
    for first in range(0, count, TRANSACTION):
        made = made.plus(cost_of(partial(_record, club, players, range(first, min(first + TRANSACTION, count)))))
        saved = saved.plus(cost_of(partial(application.save, club)))
    figures = {"appends": made.plus(saved).rates(count), "saves": saved.rates(count)}
    figures["replayed"] = cost_of(partial(application.repository.get, club.id)).rates(count)
    application.close()
    return figures


def _record(club: Any, players: list[list[int]], numbers: range) -> None:
    for number in numbers:
        club.record(f"g{number}", players[0][number], players[1][number], 0.5, 1_262_304_000 + number, 40)
