"""The look of a rating graph: colours for light and for dark pages, patterns, the style sheet of the SVG.

Results differ by colour and by pattern, chosen for every colour vision; in monochrome by pattern alone. A page that
allows no inline styles takes the same style sheet from an address (``Look.sheet``). Everything drawn also has plain
fills of its own, so that a graph without its style sheet is no black rectangle.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

COLOURS: Mapping[str, str] = {
    "win": "#0072B2",
    "draw": "#8C8C8C",
    "loss": "#D55E00",
    "time-loss": "#7A0177",
    "now": "#E040FB",
}
SECOND_PLAYER_COLOUR = "#009E73"
# Of several lines in one graph each has a colour for every colour vision (Okabe and Ito) and a dash.
LINES = (
    ("#0072B2", ""), ("#D55E00", "8 5"), ("#009E73", "2 4"), ("#CC79A7", "10 4 2 4"), ("#E69F00", "14 6"),
    ("#56B4E9", "6 3 2 3 2 3"),
)  # fmt: skip
FONT = '"DejaVu Sans", "Segoe UI", "Helvetica Neue", Arial, sans-serif'
# What is drawn over the ground of a pattern, in a square of 6 by 6.
_DOTS = '<circle cx="1.5" cy="1.5" r="1"/><circle cx="4.5" cy="4.5" r="1"/>'
_STRIPES = '<path d="M-1.5 1.5l3-3M0 6l6-6M4.5 7.5l3-3"/>'
_CROSSES = '<path d="M-1.5 1.5l3-3M0 6l6-6M4.5 7.5l3-3M-1.5 4.5l3 3M0 0l6 6M4.5-1.5l3 3"/>'
_PATTERNS: Mapping[str, str] = {"draw": _DOTS, "loss": _STRIPES, "time-loss": _CROSSES}


class Theme(StrEnum):
    """The theme of a picture: light, dark, or that of the reader's system."""

    AUTO = "auto"
    LIGHT = "light"
    DARK = "dark"


class Look(NamedTuple):
    """The reader's choices for the look of a rating graph.

    Attributes:
        opponents: whether small squares show the opponents' ratings.
        mono: whether patterns alone distinguish the results.
        theme: light, dark, or that of the reader's system.
        sheet: the address of the style sheet, for pages that allow no inline styles; None: it is in the picture.
    """

    opponents: bool = False
    mono: bool = False
    theme: Theme = Theme.AUTO
    sheet: str | None = None


DEFAULT_LOOK = Look()


class _Ground(NamedTuple):
    """The colours around the bars: page, ink, faint lines, outline of bars, what is drawn over a pattern's ground."""

    page: str
    ink: str
    faint: str
    quiet: str
    outline: str


_LIGHT = _Ground("#FFFFFF", "#1B1F24", "#E3E6EA", "#57606A", "#FFFFFF")
_DARK = _Ground("#14171B", "#E8EAED", "#2E343B", "#A3ABB5", "#C9CED6")


def pattern_definitions(look: Look) -> str:
    """Return the SVG definitions of the patterns, each with a ground and its drawing over it."""
    grounds = {name: _LIGHT.page if look.mono else COLOURS[name] for name in _PATTERNS}
    over = _LIGHT.ink if look.mono else _LIGHT.page
    return "".join(
        f'<pattern id="rg-{name}" width="6" height="6" patternUnits="userSpaceOnUse">'
        f'<rect class="ground {name}" width="6" height="6" fill="{grounds[name]}"/>'
        f'<g class="over {name}" fill="{over}" stroke="{over}">{drawn}</g></pattern>'
        for name, drawn in _PATTERNS.items()
    )


def bar_fill(kind: str, look: Look) -> str:
    """Return the fill of a bar without a style sheet.

    Patterns never come from a style sheet, which would seek them in itself.
    """
    if kind in _PATTERNS:
        return f"url(#rg-{kind})"
    if look.mono:
        return _LIGHT.ink if kind == "win" else _LIGHT.page
    return COLOURS[kind]


def style_sheet(look: Look) -> str:
    """Return the style sheet of a graph; for the theme ``AUTO`` with the colours of both themes."""
    if look.theme is Theme.DARK:
        return _FORM + _colours(_DARK, mono=look.mono)
    light = _FORM + _colours(_LIGHT, mono=look.mono)
    if look.theme is Theme.LIGHT:
        return light
    return f"{light}@media (prefers-color-scheme:dark){{{_colours(_DARK, mono=look.mono)}}}"


_REACHED = ",".join(f".rg {what}:{how} .hit" for what in ("[tabindex]", "a") for how in ("focus", "hover"))
_FORM = (
    f".rg text{{font-family:{FONT};font-size:12px}}.rg .heading{{font-size:18px;font-weight:bold}}"
    ".rg .middle{text-anchor:middle}.rg .end{text-anchor:end}.rg .bar{stroke-width:1}.rg .provisional{opacity:.6}"
    ".rg .none{fill:none;stroke-dasharray:2 2}.rg .grid,.rg .seam,.rg .axis{stroke-width:1}"
    ".rg .seam{stroke-dasharray:5 3}.rg .line{fill:none;stroke-width:2}.rg .spot{stroke-width:1.2}"
    ".rg .over{stroke-width:1.1}.rg .strong{font-weight:bold}.rg a{text-decoration:none}"
    f".rg [tabindex]:focus,.rg a:focus{{outline:none}}.rg .hit{{fill:transparent}}{_REACHED}{{stroke-width:2}}"
)


def _colours(ground: _Ground, *, mono: bool) -> str:
    page, ink, faint, quiet, outline = ground
    rules = [
        f".rg .page{{fill:{page}}}.rg text{{fill:{ink}}}.rg .quiet{{fill:{quiet}}}.rg .grid{{stroke:{faint}}}",
        f".rg .axis,.rg .seam{{stroke:{quiet}}}.rg .none{{stroke:{quiet}}}.rg .mark{{fill:{ink}}}",
        f".rg .open{{fill:{page};stroke:{ink}}}.rg .spot{{fill:{page};stroke:{ink}}}",
        f"{_REACHED}{{stroke:{ink}}}",
    ]
    if mono:
        rules += [
            f".rg .bar{{stroke:{ink}}}.rg .fill-win{{fill:{ink}}}.rg .fill-now{{fill:{page};stroke-width:2.5}}",
            f".rg .ground{{fill:{page}}}.rg .over{{fill:{ink};stroke:{ink}}}",
            f".rg .line{{stroke:{ink};stroke-dasharray:6 3}}",
            f".rg .beside{{fill:{page};stroke:{ink}}}.rg .now-words{{fill:{ink}}}",
        ]
    else:
        rules += [
            f".rg .bar{{stroke:{outline}}}",
            *(f".rg .fill-{name}{{fill:{COLOURS[name]}}}" for name in ("win", "now")),
            *(f".rg .ground.{name}{{fill:{COLOURS[name]}}}" for name in _PATTERNS),
            ".rg .over{fill:#FFFFFF;stroke:#FFFFFF;opacity:.55}.rg .over.time-loss{opacity:.8}",
            f".rg .line{{stroke:{SECOND_PLAYER_COLOUR}}}.rg .beside{{fill:{SECOND_PLAYER_COLOUR};stroke:{page}}}",
        ]
    return "".join(rules)
