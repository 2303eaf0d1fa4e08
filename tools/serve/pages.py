"""The pages that players know: which there are, and what each gathers. Templates show it.

No rule and no SQL: what is asked of the library is what ``questions`` asks for programs, or the same answers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ledger.answers import pools, rankings
from ledger.ledger import Ledger

from . import page_forms as forms
from . import questions
from .parameters import Asked, Parameter, instant, text, whole
from .routes import Cost, Route
from .safety import Guard
from .sites import Site

Row = TypeVar("Row")
ROWS = 100  # of a page
LEADERS, NEWS = 5, 6  # rows on the start page
LAST_PAGE = 100_000
POOL = text("pool", "name of the pool; the ledger's first one by default")
AT = instant("at", "as it stood at the end of that day, month or year")
PAGE = whole("page", f"a page of {ROWS} rows, from 1", 1, 1, LAST_PAGE)


def paged(asked: Asked, rows: list[Row], size: int = ROWS) -> tuple[list[Row], forms.Paging]:
    """The rows of the page that is asked for, of those up to its end and one more."""
    before = (asked["page"] - 1) * size
    paging = forms.Paging(page=asked["page"], size=size, more=len(rows) > before + size)
    return rows[before : before + size], paging


def up_to(asked: Asked, size: int = ROWS) -> int:
    """How many rows are worked out for a page: those up to its end, and one that tells whether there are more."""
    return int(asked["page"] * size + 1)


def rows_of(ask: Callable[[Ledger, Asked], list[Row]], ledger: Ledger, most: int, **asked: Any) -> list[Row]:
    """The first rows of an answer for programs."""
    return ask(ledger, {"pool": None, "offset": 0, "limit": most - 1, **asked})


def start(ledger: Ledger, _: Asked) -> forms.StartPage:
    """What is new, and where to look."""
    shown = []
    for pool in pools.pools(ledger):
        choice = rankings.RankingChoice(pool=pool.pool, limit=LEADERS)
        leaders = rankings.ranking_in_full(ledger, choice, details=False) if pool.rated_games else []
        shown.append(forms.PoolShown(pool=pool, leaders=leaders))
    return forms.StartPage(
        pools=shown,
        lists=questions.lists(ledger, {"pool": None})[:NEWS],
        corrections=rows_of(questions.all_corrections, ledger, NEWS, state="all")[:NEWS],
    )


def ranking(ledger: Ledger, asked: Asked) -> forms.RankingPage:
    """The ranking of a pool, now or on a day."""
    every = [pool.name for pool in ledger.pools()]
    choice = rankings.RankingChoice(
        pool=asked["pool"],
        limit=up_to(asked),
        min_games=asked["min_games"],
        at=asked["at"],
        active_days=asked["active"],
    )
    rows, paging = paged(asked, rankings.ranking_in_full(ledger, choice, details=True))
    return forms.RankingPage(
        pools=every,
        pool=ledger.pool(asked["pool"]).name,
        at=asked["at"],
        active=asked["active"],
        min_games=asked["min_games"],
        rows=rows,
        paging=paging,
    )


def _page(path: str, ask: Callable[[Ledger, Asked], Any], template: str, *parameters: Parameter, **more: Any) -> Route:
    settings = {"guard": Guard.PAGE, "media": ("text/html; charset=utf-8",), **more}
    return Route(path=path, ask=ask, form=None, template=template, parameters=parameters, prefix="", **settings)


ROUTES: tuple[Route, ...] = (
    _page("/", start, "start.html", of_today=True, cost=Cost.SCAN),
    _page(
        "/ranking", ranking, "ranking.html", POOL, AT, PAGE,
        whole("min_games", "leave out who has fewer rated games", 1),
        whole("active", "leave out who has not played in so many days", None, 1, 100_000),
        of_today=True,
    ),
)  # fmt: skip


def robots(site: Site) -> str:
    """What search machines may visit."""
    rule = "Allow: /" if site.index else "Disallow: /"
    return f"User-agent: *\n{rule}\n"
