"""Stored pools: reads the pools of a views database with their eras, closed rating periods and tournaments."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import attrs
import orjson

from ledger.book.late_reports import Announced, PublishedLists
from ledger.book.timeline import BEGINNING, Era, Pool
from ledger.facts.events import ConversionRange, SchemeAdopted
from ledger.facts.instants import instant_ms
from ledger.facts.words import Carry
from ledger.schemes import find_scheme

if TYPE_CHECKING:
    import sqlite3

    from ledger.schemes.scheme import Scheme

_CLOSED = "SELECT DISTINCT pool, tournament, closed_ms FROM tournaments"
_ANNOUNCED = (
    "SELECT pool, tournament, position, starts_ms, ends_ms FROM openings{where} "
    "UNION ALL SELECT pool, tournament, position, NULL, closed_ms FROM tournaments{where} ORDER BY 1, 2, 3"
)
_PUBLISHED = "SELECT position, as_of_ms FROM publications WHERE pool = ? ORDER BY position"
_RUNS = "SELECT as_of_ms, position FROM runs WHERE pool = ? ORDER BY as_of_ms"
_OPENED = "SELECT pool, tournament, starts_ms, max(ends_ms) FROM openings"  # of two with one beginning the longer holds


def era_row(pool: int, era: Era) -> dict[str, object]:
    """Return an era of a pool as a row of the table ``eras``."""
    return {
        "pool": pool,
        "since_ms": era.since_ms,
        "since": era.since,
        "scheme": era.scheme.name,
        "settings": _json(dict(era.settings)),
        "carry": era.carry.value,
        "conversion": _json([attrs.asdict(conversion) for conversion in era.conversion]),
        "position": era.position,
    }


def with_announced(connection: sqlite3.Connection, pool: Pool, tournament: str) -> Pool:
    """Return a pool with the openings and closings of one tournament read again."""
    where = pool.pool, tournament
    closings = connection.execute(f"{_CLOSED} WHERE pool = ? AND tournament = ? ORDER BY closed_ms", where)
    openings = connection.execute(f"{_OPENED} WHERE pool = ? AND tournament = ? GROUP BY 1, 2, 3 ORDER BY 3", where)
    closed, opened = {**pool.closed}, {**pool.opened}
    closed[tournament] = tuple(ms for _, _, ms in closings)
    opened[tournament] = tuple((starts_ms, ends_ms) for _, _, starts_ms, ends_ms in openings)
    announced = {**pool.announced}
    if pool.by_next_list:
        query = _ANNOUNCED.format(where=" WHERE pool = ?1 AND tournament = ?2")
        announced[tournament] = tuple(Announced(*row[2:]) for row in connection.execute(query, where))
    return attrs.evolve(
        pool,
        closed={name: ends for name, ends in closed.items() if ends},
        opened={name: spans for name, spans in opened.items() if spans},
        announced={name: entries for name, entries in announced.items() if entries},
    )


def with_lists(connection: sqlite3.Connection, pool: Pool) -> Pool:
    """Return a pool with its published lists and its closed rating periods read again.

    In a pool with ``by_next_list`` a run counts only if it was closed before a list of its instant was published.
    """
    rows = connection.execute(_PUBLISHED, (pool.pool,)).fetchall()
    published = PublishedLists(tuple(position for position, _ in rows), tuple(ms for _, ms in rows))
    runs = connection.execute(_RUNS, (pool.pool,)).fetchall()
    if pool.by_next_list:
        runs = [(ms, entry) for ms, entry in runs if ms > published.limits[published.before(entry)]]
    return attrs.evolve(pool, published=published, runs=tuple(dict.fromkeys(ms for ms, _ in runs)))


def _json(value: object) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def era_of(position: int, event: SchemeAdopted) -> Era:
    """Return the era that begins with an adoption, whose entry has a position."""
    scheme = find_scheme(event.scheme)
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


@lru_cache
def _numbers(scheme: Scheme, settings: str) -> Any:
    """Return settings as kernels take them, from their JSON; every answer asks for those of all eras."""
    return scheme.numbers_from(orjson.loads(settings))


def stored_pools(connection: sqlite3.Connection) -> list[Pool]:
    """Return the pools of a views database with their timelines, in order of their numbers."""
    eras: dict[int, list[Era]] = {}
    # Of eras that begin together the last one holds: that of the more precise spelling, then that of the later entry.
    query = "SELECT pool, since_ms, since, scheme, settings, carry, conversion, position FROM eras ORDER BY 1, 2, 3, 8"
    for pool, since_ms, since, name, settings, carry, conversion, position in connection.execute(query):
        scheme, values = find_scheme(name), orjson.loads(settings)
        ranges = tuple(ConversionRange(**fields) for fields in orjson.loads(conversion))
        era = Era(since_ms, since, scheme, _numbers(scheme, settings), values, Carry(carry), ranges, position)
        eras.setdefault(pool, []).append(era)
    closed: dict[int, dict[str, tuple[int, ...]]] = {}
    for pool, tournament, closed_ms in connection.execute(f"{_CLOSED} ORDER BY 1, 2, 3"):
        editions = closed.setdefault(pool, {})
        editions[tournament] = (*editions.get(tournament, ()), closed_ms)
    opened: dict[int, dict[str, tuple[tuple[int, int], ...]]] = {}
    query = f"{_OPENED} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
    for pool, tournament, starts_ms, ends_ms in connection.execute(query):
        of_pool = opened.setdefault(pool, {})
        of_pool[tournament] = (*of_pool.get(tournament, ()), (starts_ms, ends_ms))
    names = dict(connection.execute("SELECT pool, name FROM pools ORDER BY pool").fetchall())
    # an adoption writes both in one transaction: if they differ, another program has written the views
    if names.keys() != eras.keys():
        raise ValueError(f"tables pools and eras have different pools: {sorted(names)} and {sorted(eras)}")
    pools = [
        Pool(pool, name, tuple(eras[pool]), (), closed.get(pool, {}), opened.get(pool, {}))
        for pool, name in names.items()
    ]
    if any(pool.by_next_list for pool in pools):
        announced: dict[int, dict[str, tuple[Announced, ...]]] = {}
        for number, tournament, *entry in connection.execute(_ANNOUNCED.format(where="")):
            of_number = announced.setdefault(number, {})
            of_number[tournament] = (*of_number.get(tournament, ()), Announced(*entry))
        pools = [
            attrs.evolve(pool, announced=announced.get(pool.pool, {})) if pool.by_next_list else pool for pool in pools
        ]
    return [with_lists(connection, pool) for pool in pools]
