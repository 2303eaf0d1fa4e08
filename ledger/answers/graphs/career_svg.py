"""A career drawn as SVG: a line, oldest game left, with years, scheme changes and the highest rating.

As a strip below a graph it is also its control: parts of it lead to the games that were played then.
"""

from __future__ import annotations

from collections.abc import Callable
from math import floor

from ledger.answers.graphs import json_form, looks, wording
from ledger.answers.graphs.career import Career, CareerPoint
from ledger.answers.graphs.graph_data import GAMES_PER_PAGE
from ledger.answers.graphs.layout import LEAST_SPAN
from ledger.answers.graphs.looks import Look, Theme
from ledger.answers.graphs.page_reader import count_pages
from ledger.runtime.visible import in_markup

WIDTH = 860
MOST_LINKS = 60
_LEFT, _RIGHT, _TOP, _BELOW = 58, 18, 12, 20


def picture(career: Career, theme: Theme = Theme.AUTO, height: int = 330) -> str:
    """Return a career as an SVG file, which has its own style; of a player without a game an empty one."""
    if not career.points:
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}"><title>no rated game</title></svg>'
        )
    sheet = looks.style_sheet(Look(theme=theme)) + f".rg .line{{stroke:{looks.COLOURS['win']}}}"
    return drawn(
        career, height=height, definitions=f'<style>{sheet}</style><rect class="page" width="100%" height="100%"/>'
    )


def document(career: Career, kind: str, theme: Theme = Theme.AUTO) -> bytes:
    """Return a career as a document: a picture for ``svg``, its data for ``json``."""
    return picture(career, theme).encode() if kind == "svg" else json_form.dump_json(career)


class _Plot:
    """Places of a career in its picture, pixels."""

    def __init__(self, career: Career, height: int) -> None:
        self.career, self.base = career, height - _BELOW
        self.height = self.base - _TOP
        ratings = [point.rating for point in career.points]
        low, high = min(ratings), max(ratings)
        middle, half = (low + high) / 2, max(high - low, LEAST_SPAN) / 2
        self.low, self.high = middle - half, middle + half

    def x(self, n: float) -> float:
        return _LEFT + (WIDTH - _LEFT - _RIGHT) * (n - 1) / max(self.career.games - 1, 1)

    def y(self, rating: float) -> float:
        return _TOP + self.height * (self.high - rating) / (self.high - self.low)


def drawn(
    career: Career,
    *,
    height: int = 90,
    shown: tuple[int, int] | None = None,
    link: Callable[[int], str] | None = None,
    definitions: str = "",
) -> str:
    """Return a career as SVG.

    Args:
        career: its data, with at least one point.
        height: of the picture, pixels.
        shown: the first and the last game of the graph above, which are marked.
        link: returns the address of a page of 50 games; None: nothing leads anywhere.
        definitions: style of a picture that stands alone.
    """
    plot = _Plot(career, height)
    title = f"Career of {career.name}: {wording.count_noun(career.games, 'rated game')}"
    role = "img" if link is None else "group"  # a picture hides the links in it from screen readers
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="rg career" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" role="{role}" aria-label="{in_markup(title)}">',
        f"<title>{in_markup(title)}</title>{definitions}",
    ]
    if shown is not None:
        first, last = plot.x(shown[0]), plot.x(shown[1])
        width = max(last - first, 3)
        parts.append(f'<rect class="window" x="{first:.1f}" y="{_TOP}" width="{width:.1f}" height="{plot.height}"/>')
    parts += _axes(plot)
    line = _steps(plot) if career.is_by_list else [f"{plot.x(p.n):.1f} {plot.y(p.rating):.1f}" for p in career.points]
    parts.append(f'<path class="line" fill="none" stroke="#0072B2" d="M{"L".join(line)}"/>')
    if career.hera is not None:
        parts.append(_highest(plot, career.hera))
    if link is not None:
        parts += _links(plot, link)
    return "".join([*parts, "</svg>\n"])


def _steps(plot: _Plot) -> list[str]:
    """Return the corners of a line that goes from list to list: each rating holds until the next."""
    corners, y = [], 0.0
    for place, point in enumerate(plot.career.points):
        x = plot.x(point.n)
        if place:
            corners.append(f"{x:.1f} {y:.1f}")
        y = plot.y(point.rating)
        corners.append(f"{x:.1f} {y:.1f}")
    return corners


def _axes(plot: _Plot) -> list[str]:
    parts = []
    for rating in (plot.low, plot.high):
        words = wording.format_rating(floor(rating + 0.5))
        parts.append(f'<text class="quiet end" x="{_LEFT - 8}" y="{plot.y(rating) + 4:.1f}">{words}</text>')
    free = 0.0
    for year in plot.career.years:
        x = plot.x(year.n)
        parts.append(f'<path class="grid" stroke="#57606A" d="M{x:.1f} {_TOP}V{plot.base}"/>')
        if x >= free:
            parts.append(f'<text class="quiet" x="{x + 3:.1f}" y="{plot.base + 14}">{year.year}</text>')
            free = x + 40
    for scheme in plot.career.schemes[1:]:
        x = plot.x(scheme.n)
        words = in_markup(f"from game {scheme.n:,} on by {scheme.scheme}")
        parts.append(
            f'<path class="seam" stroke="#57606A" d="M{x:.1f} {_TOP - 8}V{plot.base}"><title>{words}</title></path>'
        )
    return parts


def _highest(plot: _Plot, highest: CareerPoint) -> str:
    x, y = plot.x(highest.n), plot.y(highest.rating)
    words = in_markup(f"HERA {wording.format_rating(highest.rating)}, {highest.in_force}")
    return f'<path class="mark" d="M{x - 4:.1f} {y - 9:.1f}h8l-4 6z"><title>{words}</title></path>'


def _links(plot: _Plot, link: Callable[[int], str]) -> list[str]:
    """Return areas of the picture that lead to the pages of the games there, oldest first."""
    games = plot.career.games
    pages = count_pages(games)
    per_link = -(-pages // MOST_LINKS)
    parts = []
    for page in range(pages, 0, -per_link):
        oldest, newest = (
            max(1, games - page * GAMES_PER_PAGE + 1),
            min(games, games - (page - per_link) * GAMES_PER_PAGE),
        )
        left, right = plot.x(max(oldest - 0.5, 1)), plot.x(min(newest + 0.5, games))
        words = f"games {oldest:,} to {newest:,}"
        parts.append(
            f'<a href="{in_markup(link(page))}" aria-label="{words}"><title>{words}</title><rect class="hit" '
            f'x="{left:.1f}" y="0" width="{right - left:.1f}" height="{plot.base}" fill="transparent"/></a>'
        )
    return parts
