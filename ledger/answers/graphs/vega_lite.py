"""A page of a rating graph as a Vega-Lite specification (https://vega.github.io/vega-lite/), its data within.

Plain values only: no expressions, no addresses but that of the schema. Names are data, which Vega shows as text.
"""

from __future__ import annotations

from typing import Any

from ledger.answers.graphs import wording
from ledger.answers.graphs.graph_data import Bar, Page, PlayerBars
from ledger.answers.graphs.layout import Scale, lay_out
from ledger.answers.graphs.looks import COLOURS, SECOND_PLAYER_COLOUR
from ledger.runtime.visible import visible

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
_SPOT = {"type": "square", "size": 26, "fill": "#FFFFFF", "stroke": "#1B1F24", "strokeWidth": 1.2, "opacity": 1}
_TIP = (
    ("n", "quantitative", "game"),
    ("ended", "nominal", "ended"),
    ("opponent", "nominal", "opponent"),
    ("result", "nominal", "result"),
    ("termination", "nominal", "ended by"),
    ("rating", "quantitative", "rating"),
    ("opponent_rating_before", "quantitative", "opponent's rating"),
    ("tournament", "nominal", "tournament"),
)


def specification(page: Page, *, opponents: bool = False) -> dict[str, Any]:
    """Return a page as a Vega-Lite specification; on request with the opponents' ratings as small squares."""
    scale = lay_out(page, opponents=opponents).scale
    layers = [_bars(page, scale)]
    if opponents:
        layers.append(_layer(page, scale, "opponent_rating_before", dict(_SPOT)))
    if page.against is not None:
        second = [_datum(page.against, bar) for bar in page.against.bars]
        mark = {
            "type": "line",
            "color": SECOND_PLAYER_COLOUR,
            "point": {"shape": "diamond", "color": SECOND_PLAYER_COLOUR},
        }
        layers.append({"data": {"values": second}, **_layer(page, scale, "rating", mark)})
    layers += _seams(page)
    return {
        "$schema": SCHEMA,
        "title": {
            "text": visible(wording.heading(page)),
            "subtitle": visible(f"{page.pool}: {wording.games_shown(page)}"),
            "anchor": "start",
        },
        "description": visible(wording.summary(page)),
        "width": 800,
        "height": 300,
        "data": {"values": [_datum(page.player, bar) for bar in page.player.bars]},
        "layer": layers,
        "usermeta": {
            "position": page.position,
            "rating_now": page.player.rating_now,
            "page": page.page,
            "pages": page.pages,
        },
    }


def _datum(player: PlayerBars, bar: Bar) -> dict[str, Any]:
    return {
        "player": visible(player.name),
        "n": bar.n,
        "game": bar.game,
        "ended": bar.ended_at,
        "ended_ms": bar.ended_ms,
        "result": wording.RESULT_WORDS[wording.result_kind(bar)],
        "termination": bar.termination,
        "rating": bar.rating,
        "provisional": bar.provisional,
        "opponent": visible(bar.opponent),
        "opponent_rating_before": bar.opponent_rating_before,
        "opponent_rating": bar.opponent_rating,
        "opponent_rating_now": bar.opponent_rating_now,
        "tournament": None if bar.tournament is None else visible(bar.tournament),
        "scheme": bar.scheme,
        "address": bar.address,
    }


def _x(page: Page) -> dict[str, Any]:
    """Return the horizontal axis, the newest game at the left."""
    if page.by == "date":
        # Without ``utc`` Vega puts games on the days of the reader's own time zone.
        return {"field": "ended_ms", "type": "temporal", "title": None, "scale": {"reverse": True, "type": "utc"}}
    return {"field": "n", "type": "ordinal", "title": "game", "sort": "descending", "axis": {"labelOverlap": True}}


def _y(field: str, scale: Scale) -> dict[str, Any]:
    return {
        "field": field,
        "type": "quantitative",
        "title": "rating, points",
        # Left to itself Vega begins the scale at 0 and ends it at round values of its own.
        "scale": {"domain": [scale.low, scale.high], "zero": False, "nice": False},
    }


def _tooltip() -> list[dict[str, Any]]:
    return [{"field": field, "type": kind, "title": title} for field, kind, title in _TIP]


def _bars(page: Page, scale: Scale) -> dict[str, Any]:
    words = [wording.RESULT_WORDS[kind] for kind in wording.RESULT_KINDS]
    colours = [COLOURS[kind] for kind in wording.RESULT_KINDS]
    mark: dict[str, Any] = {"type": "bar", "clip": True}
    if page.by == "date":
        mark["width"] = 4
    return {
        "mark": mark,
        "encoding": {
            "x": _x(page),
            "y": _y("rating", scale),
            # a bar of Vega's begins at 0, far below this scale
            "y2": {"datum": scale.low},
            "color": {
                "field": "result",
                "type": "nominal",
                "title": "result",
                "scale": {"domain": words, "range": colours},
            },
            "opacity": {"condition": {"test": {"field": "provisional", "equal": True}, "value": 0.6}, "value": 1},
            "tooltip": _tooltip(),
            "href": {"field": "address", "type": "nominal"},
        },
    }


def _seams(page: Page) -> list[dict[str, Any]]:
    """Return a rule at the first game of another scheme."""
    seams = [
        {"n": seam.n, "ended_ms": seam.ended_ms, "scheme": visible(seam.scheme), "before": visible(seam.before)}
        for seam in page.player.seams
    ]
    if not seams:
        return []
    tooltip = [{"field": "scheme", "type": "nominal"}, {"field": "before", "type": "nominal"}]
    encoding = {"x": _x(page), "tooltip": tooltip}
    return [{"data": {"values": seams}, "mark": {"type": "rule", "strokeDash": [5, 3]}, "encoding": encoding}]


def _layer(page: Page, scale: Scale, field: str, mark: dict[str, Any]) -> dict[str, Any]:
    return {"mark": mark, "encoding": {"x": _x(page), "y": _y(field, scale), "tooltip": _tooltip()}}
