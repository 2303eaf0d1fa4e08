"""Rows of pages, and the parameters of every page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ledger.ledger import Ledger

from .get_handlers import Part
from .page_data import Paging
from .parameters import Query, instant, text, whole

Row = TypeVar("Row")
ROWS = 100  # of a page
LAST_PAGE = 10_000
POOL = text("pool", "name of the pool; the ledger's first one by default")
AT = instant("at", "the state at the end of that day, month or year; by default now")
PAGE = whole("page", f"a page of {ROWS} rows, from 1", 1, 1, LAST_PAGE)


def up_to(query: Query, size: int = ROWS) -> int:
    """Return how many rows to compute for a page: those up to its end, and one that tells whether there are more."""
    return int(query["page"] * size + 1)


def before(query: Query, size: int = ROWS) -> int:
    """Return how many rows come before the page."""
    return int((query["page"] - 1) * size)


def paged(query: Query, rows: Sequence[Row], size: int = ROWS, left_out: int = 0) -> tuple[list[Row], Paging]:
    """Return the rows of the page, of those up to its end and one more, except the first ones."""
    first = before(query, size) - left_out
    paging = Paging(page=query["page"], size=size, more=len(rows) > first + size and query["page"] < LAST_PAGE)
    return list(rows[first : first + size]), paging


def asked_rows(
    ask: Callable[[Ledger, Query], list[Any] | Part], ledger: Ledger, query: Query, **more: Any
) -> tuple[list[Any], Paging]:
    """Return a page of rows that programs can ask for as well.

    Args:
        ask: the question of the API.
        ledger: whom it is put to.
        query: what the page was asked with.
        more: what the question takes besides *query*.
    """
    answer = ask(ledger, {**query, "offset": before(query), "limit": ROWS, **more})
    part = answer if isinstance(answer, Part) else Part(answer, 0)
    return paged(query, part.rows, left_out=part.before)


def pool_names(ledger: Ledger) -> list[str]:
    """Return all pools by name, the first one first."""
    return [pool.name for pool in ledger.pools()]
