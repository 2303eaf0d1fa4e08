"""A page of a rating graph as JSON, as its schema ``rating-graph/1`` says, and as rows for CSV."""

from __future__ import annotations

from typing import Any

import orjson

from ledger.answers.graphs.bars import Page
from ledger.runtime.visible import in_json


def as_json(page: Page) -> bytes:
    """The document ``rating-graph/1``; hidden characters of names are escaped, a rating without bounds is null."""
    return exact(page, upright=True)


def exact(value: Any, *, upright: bool = False) -> bytes:
    """JSON of plain values and of the classes of a page, on one line or, *upright*, a field a line."""
    option = orjson.OPT_APPEND_NEWLINE | (orjson.OPT_INDENT_2 if upright else 0)
    text = orjson.dumps(value, default=vars, option=option)
    return text if text.isascii() and b"\x7f" not in text else in_json(text.decode()).encode()


def rows(page: Page) -> list[dict[str, Any]]:
    """A row for each bar, newest first, with its player in front; the second player's behind the first one's."""
    return [
        {"player": player.name, "player_number": player.player, **vars(bar)}
        for player in (page.player, page.against)
        if player is not None
        for bar in player.bars
    ]
