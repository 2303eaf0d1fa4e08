"""Timelines of a pool: eras, runs and closed tournaments, said in one line."""

from __future__ import annotations

from typing import Any

from ledger.book.timeline import BEGINNING, Era, Pool
from ledger.facts.events import ConversionRange
from ledger.facts.instants import instant_end_ms, instant_ms
from ledger.facts.words import Carry
from ledger.schemes.scheme import Newcomer, Scheme


def era(scheme: Scheme, since: str = "", carry: Carry = Carry.KEEP, *ranges: ConversionRange, **settings: Any) -> Era:
    """An era from the first millisecond of *since* on, from the beginning where it is left out."""
    since_ms = instant_ms(since) if since else BEGINNING
    return Era(since_ms, since, scheme, scheme.numbers_from(settings), settings, carry, ranges, 1)


def pool(*eras: Era, runs: tuple[str, ...] = (), **closed: str) -> Pool:
    """A pool with these eras, runs closed with these days, and tournaments by name."""
    ended = {name: tuple(map(instant_end_ms, days.split())) for name, days in closed.items()}
    return Pool(1, "standard", eras, tuple(sorted(instant_end_ms(run) for run in runs)), ended)


def place(where: Pool, ended: str, tournament: str | None = None) -> tuple[int, str]:
    return where.place(instant_ms(ended), tournament)[:2]


def nobody(_: int) -> Newcomer:
    return Newcomer()


def ending(day: str) -> int:
    return instant_end_ms(day)


def map_of(factor: str, offset: str, from_rating: str | None = None) -> ConversionRange:
    return ConversionRange(from_rating=from_rating, factor=factor, offset=offset)
