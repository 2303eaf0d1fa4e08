"""A rating graph as JSON of the schema ``rating-graph/1``, as rows for CSV, and in the format of Lichess.

Lichess gives a player's rating history (``GET /api/user/{username}/rating-history``, lichess-org/api) as a list of
pools, each with ``points``: ``[year, month from 0 to 11, day, rating]``, oldest first, one a day: the last rating that
came into force on it, to the nearest point.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import Any

import orjson

from ledger.answers.graphs.graph_data import Page
from ledger.runtime.visible import in_json


def graph_json(page: Page) -> bytes:
    """Return a page as the document ``rating-graph/1``; an unbounded rating is null."""
    return dump_json(page, indent=True)


def dump_json(value: Any, *, indent: bool = False) -> bytes:
    """Return JSON of plain values and of the classes of a page, on one line or indented; hidden characters escaped."""
    option = orjson.OPT_APPEND_NEWLINE | (orjson.OPT_INDENT_2 if indent else 0)
    text = orjson.dumps(value, default=vars, option=option)
    # Delete is an invisible ASCII character.
    return text if text.isascii() and b"\x7f" not in text else in_json(text.decode()).encode()


def bar_rows(page: Page) -> list[dict[str, Any]]:
    """Return the bars as rows, newest first, with the player in front; the second player's rows come last."""
    return [
        {"player": player.name, "player_number": player.player, **vars(bar)}
        for player in page.players
        for bar in player.bars
    ]


def lichess_history(pages: Iterable[Page]) -> list[dict[str, Any]]:
    """Return the rating history of one player in the format of Lichess, from one page with all games for each pool.

    A rating whose period has not closed is in force on no day, and left out.
    """
    histories: list[dict[str, Any]] = []
    for page in pages:
        by_day: dict[str, int] = {}
        for bar in reversed(page.player.bars):
            if bar.in_force is not None and bar.rating is not None and isfinite(bar.rating):
                by_day[bar.in_force] = round(bar.rating)
        days = sorted(by_day.items())
        points = [[int(day[:4]), int(day[5:7]) - 1, int(day[8:]), rating] for day, rating in days]
        histories.append({"name": page.pool, "points": points})
    return histories
