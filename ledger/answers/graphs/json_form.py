"""A page of a rating graph as JSON, as its schema ``rating-graph/1`` says, as rows for CSV, and as Lichess has it.

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
    """Return the document ``rating-graph/1``; hidden characters of names are escaped, an unbounded rating is null."""
    return dump_json(page, upright=True)


def dump_json(value: Any, *, upright: bool = False) -> bytes:
    """Return JSON of plain values and of the classes of a page, on one line or, *upright*, a field a line."""
    option = orjson.OPT_APPEND_NEWLINE | (orjson.OPT_INDENT_2 if upright else 0)
    text = orjson.dumps(value, default=vars, option=option)
    # Delete is an invisible ASCII character.
    return text if text.isascii() and b"\x7f" not in text else in_json(text.decode()).encode()


def bar_rows(page: Page) -> list[dict[str, Any]]:
    """Return a row for each bar, newest first, with its player in front; the second player's behind the first one's."""
    return [
        {"player": player.name, "player_number": player.player, **vars(bar)}
        for player in (page.player, page.against)
        if player is not None
        for bar in player.bars
    ]


def lichess_history(pages: Iterable[Page]) -> list[dict[str, Any]]:
    """Return the history of one player.

    Args:
        pages: for each pool one page with all games.

    Returns:
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
