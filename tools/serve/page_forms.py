"""What a page shows: answers of the library, gathered. A class for each page; no rule, nothing written or formatted."""

from __future__ import annotations

import attrs

from ledger.answers.pools import PoolRow
from ledger.answers.rankings import RankingRow

from . import forms


@attrs.frozen(kw_only=True)
class PoolShown:
    """A pool, and who leads it."""

    pool: PoolRow
    leaders: list[RankingRow]


@attrs.frozen(kw_only=True)
class StartPage:
    """What is new, and where to look."""

    pools: list[PoolShown]
    lists: list[forms.PublicList]
    corrections: list[forms.PublicCorrection]


@attrs.frozen(kw_only=True)
class Paging:
    """Which rows of many are shown.

    Attributes:
        page: the page, from 1.
        size: rows of a page.
        more: whether there are rows after them.
    """

    page: int
    size: int
    more: bool

    @property
    def before(self) -> int:
        """How many rows come before them."""
        return (self.page - 1) * self.size


@attrs.frozen(kw_only=True)
class RankingPage:
    """A page of the ranking of a pool, and what was asked."""

    pools: list[str]
    pool: str
    at: str | None
    active: int | None
    min_games: int
    rows: list[RankingRow]
    paging: Paging
