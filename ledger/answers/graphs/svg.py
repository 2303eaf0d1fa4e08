"""A page of a rating graph as SVG: our own drawing, readable without a script, by keyboard and by a screen reader.

Every bar is an element that the tabulator reaches; its label and title describe its game, and ``data-`` attributes have
the facts. All text is escaped here; colours and patterns are in ``looks``, places in ``layout``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import lru_cache, partial
from math import isfinite
from typing import NamedTuple

from ledger.answers.graphs import wording
from ledger.answers.graphs.graph_data import Bar, Page, PlayerBars
from ledger.answers.graphs.layout import BELOW, HEIGHT, LEFT, NOW_GAP, NOW_WIDTH, TOP, GraphLayout, lay_out
from ledger.answers.graphs.looks import DEFAULT_LOOK, Look, bar_fill, pattern_definitions, style_sheet
from ledger.runtime.visible import in_markup, lines_in_markup, visible

LONGEST_NAME = 36  # characters in the heading
_BASE = TOP + HEIGHT
_AXIS_WORDS, _SECOND_WORDS = _BASE + 18, _BASE + 33
_LEGEND = _BASE + BELOW - 6
_HEADING = 46.0  # height of the heading
_SPOT = 5.0  # side of the square that is an opponent's rating
Link = Callable[[PlayerBars, Bar], str | None]
Fact = tuple[str, Callable[[Bar, PlayerBars], object]]  # a fact's name, and what it is of a bar


def draw(page: Page, look: Look = DEFAULT_LOOK) -> str:
    """Return a page as an SVG file, in which each bar links to the game on its server."""
    definitions = f"<defs>{pattern_definitions(look)}</defs>"
    if look.sheet is None:
        return draw_fragment(page, look, _game_address, f"<style>{style_sheet(look)}</style>{definitions}")
    sheet = f'<?xml-stylesheet type="text/css" href="{in_markup(look.sheet)}"?>\n'
    return sheet + draw_fragment(page, look, _game_address, definitions)


def _game_address(_: PlayerBars, bar: Bar) -> str | None:
    return bar.address


def draw_fragment(
    page: Page,
    look: Look,
    link: Link,
    definitions: str,
    mark: str = "rg",
    *,
    data: Collection[str] | None = None,
    has_heading: bool = True,
) -> str:
    """Return a page as an SVG element for a larger document.

    Args:
        page: the data.
        look: the reader's choices.
        link: returns the target of a bar; None for no link.
        definitions: style and patterns, unless they are elsewhere in the document.
        mark: the beginning of its identifiers, different for each drawing of the document.
        data: names of the facts in ``data-`` attributes; None: all.
        has_heading: whether name, pool and days are above the bars; else the document says them.
    """
    layout = lay_out(page, opponents=look.opponents)
    drawn = _Drawn(look, link, [fact for fact in _FACTS if data is None or fact[0] in data])
    top = 0.0 if has_heading else _HEADING
    height = _BASE + BELOW - top
    bars = [
        _bar(bar, page.player, x, layout, drawn, band, with_spot=look.opponents and page.by == "game")
        for bar, x, band in zip(page.player.bars, layout.places, bands(layout.places), strict=True)
    ]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="rg" width="{_n(layout.width)}" height="{_n(height)}" '
        f'viewBox="0 {_n(top)} {_n(layout.width)} {_n(height)}" role="graphics-document document" lang="en" '
        f'aria-labelledby="{mark}-title {mark}-desc">'
        f'<title id="{mark}-title">{in_markup(f"Rating graph of {wording.heading(page)}")}</title>'
        f'<desc id="{mark}-desc">{in_markup(wording.summary(page))}</desc>',
        definitions,
        f'<rect class="page" y="{_n(top)}" width="100%" height="100%" fill="#FFFFFF"/>',
        *(_heading(page, layout) if has_heading else ()),
        *_axes(page, layout),
        '<g role="list">',
        *_now(page, layout, look),
        # of games that overlap the newest lies on top
        *(bars if page.by == "game" else reversed(bars)),
        "</g>",
        *_second_player(page, layout, drawn),
        *_spots_on_top(page, layout, opponents=look.opponents),
        *_seams(page, layout),
        *_legend(page, layout, look),
        "</svg>\n",
    ]
    return "\n".join(parts)


@lru_cache(maxsize=4_096)  # bars of one graph share most of their lengths, and graphs of as many games their places
def _n(length: float) -> str:
    """Return a length as SVG has it, to a hundredth of a pixel."""
    text = f"{length:.2f}".rstrip("0").rstrip(".")
    # A length just below zero is rounded to this.
    return "0" if text == "-0" else text


def _text(x: float, y: float, words: str, kind: str = "") -> str:
    return f'<text x="{_n(x)}" y="{_n(y)}" class="{kind}">{in_markup(words)}</text>'


def _line(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<path class="{kind}" d="M{_n(x1)} {_n(y1)}L{_n(x2)} {_n(y2)}" stroke="#57606A"/>'


def _cut(name: str) -> str:
    visible_name = visible(name)
    return visible_name if len(visible_name) <= LONGEST_NAME else f"{visible_name[: LONGEST_NAME - 1]}…"


def _heading(page: Page, layout: GraphLayout) -> list[str]:
    second = "" if page.against is None else f" and {_cut(page.against.name)}"
    quiet = " · ".join(filter(None, (_cut(page.pool), wording.games_shown(page), wording.days_shown(page))))
    parts = [_text(LEFT, 28, f"{_cut(page.player.name)}{second}", "heading"), _text(LEFT, 48, quiet, "quiet")]
    if page.page is not None:
        parts.append(_text(layout.right, 28, f"page {page.page:,} of {page.pages:,}", "quiet end"))
    return parts


def _axes(page: Page, layout: GraphLayout) -> list[str]:
    parts = ['<g aria-hidden="true">']
    for tick in layout.scale.ticks:
        y = layout.scale.y(tick)
        parts += [
            _line("grid", LEFT, y, layout.right, y),
            _text(LEFT - 8, y + 4, wording.format_rating(tick), "quiet end"),
        ]
    parts.append(_line("axis", LEFT, _BASE, layout.right, _BASE))
    if layout.scale.low > 0:  # the bars do not begin at 0
        parts.append(
            f'<path class="axis" d="M{_n(LEFT - 7)} {_n(_BASE - 14)}l5-4 4 6 5-4" stroke="#57606A" fill="none"/>'
        )
    for label in layout.labels:
        parts.append(_line("axis", label.x, _BASE, label.x, _BASE + 4))
        parts.append(_text(label.x, _AXIS_WORDS, label.text, "quiet middle"))
        if label.below:
            parts.append(_text(label.x, _SECOND_WORDS, label.below, "quiet middle"))
    if page.by == "game" and page.player.bars:
        parts.append(_text(layout.right, _SECOND_WORDS, "game", "quiet end"))
    if not page.player.bars:
        middle = (LEFT + layout.right) / 2
        parts.append(_text(middle, TOP + HEIGHT / 2, "no rated game yet", "quiet middle"))
    return [*parts, "</g>"]


def _now(page: Page, layout: GraphLayout, look: Look) -> list[str]:
    rating = page.player.rating_now
    if layout.now is None or rating is None or not isfinite(rating):
        return []
    y = layout.scale.y(rating)
    by_whom = f" by {page.player.scheme_now}" if wording.is_now_of_another_scheme(page) else ""
    words = (
        f"Rating now {wording.format_rating(rating)}{by_whom}{', provisional' if page.player.provisional_now else ''}"
    )
    drawn = _box("bar fill-now", _n(layout.now - NOW_WIDTH / 2), y, _n(NOW_WIDTH), bar_fill("now", look))
    return [
        f'<g role="listitem" data-rating-now="{rating!r}"><g tabindex="0" role="img" aria-label="{in_markup(words)}">'
        f"<title>{in_markup(words)}</title>{drawn}</g></g>",
        _text(layout.now, y - 7, wording.format_rating(rating), "strong middle now-words"),
        _text(layout.now, _AXIS_WORDS, "now", "strong middle now-words"),
    ]


def _box(kind: str, left: str, y: float, width: str, fill: str) -> str:
    """Return a rectangle down to the base; the two or three of a game with one place and width are written once."""
    # At the lower end of the scale a bar without height could not be seen.
    height = _n(max(1.0, _BASE - y))
    return f'<rect class="{kind}" x="{left}" y="{_n(y)}" width="{width}" height="{height}" fill="{fill}"/>'


class _Drawn(NamedTuple):
    """The drawing of games: the look, their links, the facts that they carry besides their words."""

    look: Look
    link: Link
    facts: Sequence[Fact]


def _spots_on_top(page: Page, layout: GraphLayout, *, opponents: bool) -> list[str]:
    """Return the opponents' ratings by date, above all bars: within its own bar one would be hidden by the next."""
    if not opponents or page.by == "game":
        return []
    spots = [
        f'<g data-spot="{wording.bar_id(page.player, bar)}">{_spot(bar, x, layout, wording.bar_label(bar))}</g>'
        for bar, x in zip(page.player.bars[::-1], layout.places[::-1], strict=True)
        if _has_spot(bar)
    ]
    return ['<g aria-hidden="true">', *spots, "</g>"] if spots else []


def _has_spot(bar: Bar) -> bool:
    return bar.opponent_rating_before is not None and isfinite(bar.opponent_rating_before)


def _spot(bar: Bar, x: float, layout: GraphLayout, *further: str) -> str:
    """Return the small square that is the opponent's rating, with it and *further* lines in its title."""
    y = layout.scale.y(bar.opponent_rating_before or 0.0) - _SPOT / 2
    title = lines_in_markup([f"Opponent's rating: {wording.format_rating(bar.opponent_rating_before)}", *further])
    return f'<rect class="spot" x="{_n(x - _SPOT / 2)}" y="{_n(y)}" width="5" height="5"><title>{title}</title></rect>'


def bands(places: Sequence[float]) -> list[tuple[int, int]]:
    """Return, for bars from the left, which band of its place reaches each, and how many there are at that place.

    Of games of one day only the newest bar would be reached, for it lies on the others: so each has a part of the
    height.
    """
    reached: list[tuple[int, int]] = []
    begin = 0
    for place in range(1, len(places) + 1):
        if place == len(places) or places[place] - places[begin] >= 1.0:
            reached += [(each, place - begin) for each in range(place - begin)]
            begin = place
    return reached


def _bar(
    bar: Bar,
    player: PlayerBars,
    x: float,
    layout: GraphLayout,
    how: _Drawn,
    band: tuple[int, int],
    *,
    with_spot: bool,
) -> str:
    y, kind, fill = _BASE - 6.0, "bar none", "none"
    if bar.rating is not None and isfinite(bar.rating):
        result = wording.result_kind(bar)
        y, fill = layout.scale.y(bar.rating), bar_fill(result, how.look)
        kind = f"bar fill-{result} provisional" if bar.provisional else f"bar fill-{result}"
    left, width = _n(x - layout.bar / 2), _n(layout.bar)
    place, count = band
    drawn = [_box("hit", left, TOP, width, "transparent")]
    if bar.provisional:
        # a paler one hides the marks under it, too
        drawn.append(_box("page", left, y, width, "#FFFFFF"))
    drawn.append(_box(kind, left, y, width, fill))
    if count > 1:
        hit = f'<rect class="hit" x="{left}" y="{_n(TOP + HEIGHT * place / count)}" width="{width}" '
        drawn[0] = f'{hit}height="{_n(HEIGHT / count)}" fill="transparent"/><g pointer-events="none">'
        drawn.append("</g>")
    if bar.corrected:
        drawn.append(f'<path class="mark" d="M{_n(x)} {_n(_BASE + 1.5)}l3.5 6h-7z"/>')
    if bar.published_list is not None:
        drawn.append(f'<path class="open" d="M{_n(x)} {_n(TOP - 9)}l3.5 4-3.5 4-3.5-4z"/>')
    if with_spot and _has_spot(bar):
        drawn.append(_spot(bar, x, layout))
    return _symbol(bar, player, "".join(drawn), how)


def _symbol(bar: Bar, player: PlayerBars, drawn: str, how: _Drawn) -> str:
    """Return the mark of a game: a link if the bar leads somewhere, with label, title and the facts of the game."""
    href = how.link(player, bar)
    # of the three that are escaped only the last has more than one line
    lines = lines_in_markup([href or "", wording.bar_label(bar), *wording.bar_details(bar, player)])
    leads_to, label, title = lines.split("\n", 2)
    way, end = ('<g tabindex="0" role="img"', "g") if href is None else (f'<a href="{leads_to}"', "a")
    named = f'{way} aria-label="{label}"><title>{title}</title>{drawn}</{end}>'
    # The item of the list is around the link: with that role of its own the link would be none to a screen reader.
    return f'<g role="listitem" {data_attributes(bar, player, how.facts)}>{named}</g>'


_FACTS: Sequence[Fact] = (
    ("player", lambda _, player: player.name),
    ("bar", lambda bar, player: wording.bar_id(player, bar)),
    ("n", lambda bar, _: bar.n),
    ("game", lambda bar, _: bar.game),
    ("ended", lambda bar, _: bar.ended_at),
    ("colour", lambda bar, _: bar.colour),
    ("result", lambda bar, _: wording.result_kind(bar)),
    ("termination", lambda bar, _: bar.termination),
    ("rating", lambda bar, _: bar.rating),
    ("opponent", lambda bar, _: bar.opponent),
    ("opponent-rating", lambda bar, _: bar.opponent_rating_before),
    ("opponent-rating-now", lambda bar, _: bar.opponent_rating_now),
    ("tournament", lambda bar, _: bar.tournament),
    ("scheme", lambda bar, _: bar.scheme),
    ("address", lambda bar, _: bar.address),
    ("final-position", lambda bar, _: bar.final_position),
)


def data_attributes(bar: Bar, player: PlayerBars, facts: Sequence[Fact]) -> str:
    """Return facts of a bar as ``data-`` attributes, with unrounded numbers and without unknown values."""
    attributes = []
    for name, value_of in facts:
        value = value_of(bar, player)
        if value is not None:
            attributes.append(f'data-{name}="{in_markup(value) if isinstance(value, str) else repr(value)}"')
    return " ".join(attributes)


def _second_player(page: Page, layout: GraphLayout, drawn: _Drawn) -> list[str]:
    """Return the second player's line from game to game, with a mark at each."""
    if page.against is None:
        return []
    spots = [
        (bar, x, layout.scale.y(bar.rating))
        for bar, x in zip(page.against.bars, layout.second_places, strict=True)
        if bar.rating is not None and isfinite(bar.rating)
    ]
    if not spots:
        return []
    line = "L".join(f"{_n(x)} {_n(y)}" for _, x, y in spots)
    mark = partial(_symbol, player=page.against, how=drawn)
    return [
        f'<path class="line" d="M{line}" fill="none" stroke="#009E73" aria-hidden="true"/>',
        f'<g role="list" aria-label="{in_markup(page.against.name)}">',
        *(mark(bar, drawn=f'<path class="beside" d="M{_n(x)} {_n(y - 4)}l4 4-4 4-4-4z"/>') for bar, x, y in spots),
        "</g>",
    ]


def _seams(page: Page, layout: GraphLayout) -> list[str]:
    parts = []
    for seam, x in zip(page.player.seams, layout.seams, strict=True):
        parts.append(_line("seam", x, TOP - 14, x, _BASE))
        parts.append(_text(x - 5, TOP - 5, f"{_cut(seam.scheme)} ◂", "quiet end"))
        parts.append(_text(x + 5, TOP - 5, f"▸ {_cut(seam.before)}", "quiet"))
    if layout.now is not None and wording.is_now_of_another_scheme(page):
        # next to the first bar, behind the number above that of now; left of it the present one's name has no space
        x = layout.now + NOW_WIDTH / 2 + NOW_GAP - 1
        parts.append(_line("seam", x, TOP - 14, x, _BASE))
        parts.append(_text(x + 5, TOP - 5, f"▸ {_cut(page.player.bars[0].scheme)}", "quiet"))
    return parts


def _legend(page: Page, layout: GraphLayout, look: Look) -> list[str]:
    """Return the meanings of the colours, patterns and marks on the page."""
    bars = page.player.bars
    items: list[tuple[str, str]] = []
    if layout.now is not None:
        items.append((_key("bar fill-now", bar_fill("now", look)), "Rating now"))
    kinds = {wording.result_kind(bar) for bar in bars}
    items += [
        (_key(f"bar fill-{kind}", bar_fill(kind, look)), wording.RESULT_WORDS[kind])
        for kind in wording.RESULT_KINDS
        if kind in kinds
    ]
    if any(bar.provisional for bar in bars):
        items.append((_key("bar fill-win provisional", bar_fill("win", look)), "paler: provisional"))
    if any(bar.rating is None for bar in bars):
        items.append((_key("bar none", "none"), "no rating"))
    if look.opponents and bars:
        items.append((f'<rect class="spot" x="4" y="-8" width="{_SPOT}" height="{_SPOT}"/>', "Opponent's rating"))
    if page.against is not None:
        items.append(('<path class="line" d="M0-5h13"/>', _cut(page.against.name)))
    if any(bar.corrected for bar in bars):
        items.append(('<path class="mark" d="M6-9l4 7h-8z"/>', "corrected"))
    if any(bar.published_list for bar in bars):
        items.append(('<path class="open" d="M6-10l4 5-4 5-4-5z"/>', "a list said otherwise"))
    parts, x = ['<g aria-hidden="true">'], LEFT
    for drawn, words in items:
        parts.append(f'<g transform="translate({_n(x)} {_n(_LEGEND)})">{drawn}{_text(18, 0, words)}</g>')
        # how wide the words come out is the reader's font to say: 7 pixels a letter are reckoned
        x += 34 + 7.0 * len(words)
    return [*parts, "</g>"]


def _key(kind: str, fill: str) -> str:
    return f'<rect class="{kind}" x="0" y="-11" width="13" height="13" fill="{fill}"/>'
