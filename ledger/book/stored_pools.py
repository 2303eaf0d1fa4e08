"""The pools of a views database with their timelines, as they are stored: eras, runs, tournaments. SQL only.

What a pool makes of a game is the timeline's business.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import orjson

from ledger.book.eras import BEGINNING, Era
from ledger.book.timeline import Pool
from ledger.facts.events import (
    ConversionRange,
    RatingRunClosed,
    SchemeAdopted,
    TournamentClosed,
    TournamentOpened,
)
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.words import Carry
from ledger.schemes import named

if TYPE_CHECKING:
    import sqlite3


def add_pool(connection: sqlite3.Connection, pool: Pool, position: int) -> None:
    """A pool begins with the entry at *position*."""
    connection.execute("INSERT INTO pools VALUES (?, ?, ?)", (pool.pool, pool.name, position))


def add_era(connection: sqlite3.Connection, pool: Pool, era: Era) -> None:
    """A pool has another era."""
    connection.execute(
        "INSERT INTO eras VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            pool.pool, era.since_ms, era.since, era.scheme.name, _json(dict(era.settings)), era.carry.value,
            _json([attrs.asdict(conversion) for conversion in era.conversion]), era.position,
        ),
    )  # fmt: skip


def add_opening(connection: sqlite3.Connection, pool: Pool, position: int, event: TournamentOpened) -> None:
    """A tournament of a pool was opened."""
    first, last = instant_ms(event.starts_at), instant_end_ms(event.ends_at)
    connection.execute(
        "INSERT INTO openings VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            pool.pool, event.tournament, first, event.starts_at, last, event.ends_at, event.format, event.entrants,
            event.rounds, position,
        ),
    )  # fmt: skip


def add_run(connection: sqlite3.Connection, pool: Pool, position: int, event: RatingRunClosed) -> int:
    """A rating period of a pool ended; returns its last millisecond."""
    ms = instant_end_ms(event.as_of)
    connection.execute("INSERT INTO runs VALUES (?, ?, ?, ?)", (pool.pool, ms, event.as_of, position))
    return ms


def add_closing(connection: sqlite3.Connection, pool: Pool, position: int, event: TournamentClosed) -> int:
    """A tournament of a pool was over; returns its last millisecond."""
    ms = instant_end_ms(event.ended_at)
    row = (pool.pool, event.tournament, ms, event.ended_at, position)
    connection.execute("INSERT INTO tournaments VALUES (?, ?, ?, ?, ?)", row)
    return ms


def _json(value: object) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def era_of(position: int, event: SchemeAdopted) -> Era:
    """The era that an adoption begins."""
    scheme = named(event.scheme)
    return Era(
        BEGINNING if event.effective_from is None else instant_ms(event.effective_from),
        event.effective_from or "",
        scheme,
        scheme.numbers_from(event.settings),
        dict(event.settings),
        event.carry or Carry.KEEP,
        event.conversion or (),
        position,
    )


def stored_pools(connection: sqlite3.Connection) -> list[Pool]:
    """The pools of a views database with their timelines, in order of their numbers."""
    eras: dict[int, list[Era]] = {}
    query = "SELECT pool, since_ms, since, scheme, settings, carry, conversion, position FROM eras ORDER BY 1, 2, 3, 8"
    for pool, since_ms, since, name, settings, carry, conversion, position in connection.execute(query):
        scheme, given = named(name), orjson.loads(settings)
        ranges = tuple(ConversionRange(**fields) for fields in orjson.loads(conversion))
        era = Era(since_ms, since, scheme, scheme.numbers_from(given), given, Carry(carry), ranges, position)
        eras.setdefault(pool, []).append(era)
    runs: dict[int, list[int]] = {}
    for pool, as_of_ms in connection.execute("SELECT DISTINCT pool, as_of_ms FROM runs ORDER BY 1, 2"):
        runs.setdefault(pool, []).append(as_of_ms)
    closed: dict[int, dict[str, tuple[int, ...]]] = {}
    query = "SELECT DISTINCT pool, tournament, closed_ms FROM tournaments ORDER BY 1, 2, 3"
    for pool, tournament, closed_ms in connection.execute(query):
        editions = closed.setdefault(pool, {})
        editions[tournament] = (*editions.get(tournament, ()), closed_ms)
    opened: dict[int, dict[str, tuple[tuple[int, int], ...]]] = {}
    query = "SELECT pool, tournament, starts_ms, max(ends_ms) FROM openings GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
    for pool, tournament, starts_ms, ends_ms in connection.execute(query):
        of_pool = opened.setdefault(pool, {})
        of_pool[tournament] = (*of_pool.get(tournament, ()), (starts_ms, ends_ms))
    names = dict(connection.execute("SELECT pool, name FROM pools ORDER BY pool").fetchall())
    if names.keys() != eras.keys():
        raise ValueError(f"tables pools and eras tell of other pools: {sorted(names)} and {sorted(eras)}")
    return [
        Pool(pool, name, tuple(eras[pool]), tuple(runs.get(pool, ())), closed.get(pool, {}), opened.get(pool, {}))
        for pool, name in names.items()
    ]
