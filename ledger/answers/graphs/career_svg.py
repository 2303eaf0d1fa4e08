"""A career drawn as SVG: a line, oldest game left, with its years or months, marks, and other pools beside it.

As a strip below a graph it is also its control: parts of it lead to the games that were played then, and a script finds
in ``data-knots`` which day is where.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from math import floor
from typing import NamedTuple

from ledger.answers.graphs import looks, wording
from ledger.answers.graphs.career import Career, CareerLine, CareerPoint, CareerPublished, CareerTournament
from ledger.answers.graphs.graph_data import GAMES_PER_PAGE
from ledger.answers.graphs.layout import LARGEST, LEAST_SPAN, month_labels, month_number, rating_scale
from ledger.answers.graphs.looks import Look, Theme
from ledger.answers.graphs.page_reader import count_pages
from ledger.facts.periods import DAY_MS
from ledger.runtime.visible import in_markup, visible

WIDE, NARROW = 860, 360  # pixels: on a desk, on a phone
HEIGHT = 330
MOST_KNOTS = 60
_LINK_WIDTH = {WIDE: 16, NARROW: 28}  # pixels, at least: of a part that leads to its games
_LEFT, _RIGHT, _TOP, _BELOW = 58, 18, 14, 34
_LARGE = 200  # pixels: a picture as high has lines at round ratings
_LEGEND_ROW, _LETTER = 20, 7.0  # pixels; how wide words come out is the reader's font to say
_HEADING = 46
_YEAR_ROOM = 40
_UNIX = date(1970, 1, 1).toordinal()


class CareerLinks(NamedTuple):
    """The addresses to which parts of a drawn career lead.

    Attributes:
        page: returns the address of a page of 50 games by its number.
        tournament: that of a tournament by its mark.
        published: that of a published list by its name.
    """

    page: Callable[[int], str]
    tournament: Callable[[CareerTournament], str]
    published: Callable[[str], str]


def picture(career: Career, theme: Theme = Theme.AUTO, *, width: int = WIDE, height: int = HEIGHT) -> str:
    """Return a career as an SVG file with a heading and its own style; without a rating to show it says so."""
    sheet = looks.style_sheet(Look(theme=theme))
    own = f'<style>{sheet}</style><rect class="page" width="100%" height="100%" fill="#FFFFFF"/>'
    return drawn(career, width=width, height=height, definitions=own, has_heading=True)


def drawn(
    career: Career,
    *,
    width: int = WIDE,
    height: int = 90,
    shown: tuple[int, int] | None = None,
    links: CareerLinks | None = None,
    definitions: str = "",
    has_heading: bool = False,
) -> str:
    """Return a career as SVG.

    Args:
        career: its data.
        width: of the picture, pixels.
        height: of the picture without heading and legend, pixels.
        shown: the first and the last game of the graph above, which are marked.
        links: the addresses of its parts; None: nothing leads anywhere.
        definitions: style of a picture that stands alone.
        has_heading: whether name, pool and days are above the line; else the document says them.
    """
    lines: list[Career | CareerLine] = [career, *career.other_pools]
    legend = list(_legend_items(lines, width)) if career.other_pools else []
    above = (_HEADING if has_heading else 0) + (_LEGEND_ROW * (1 + legend[-1].row) if legend else 0)
    role = "img" if links is None else "group"  # a picture hides the links in it from screen readers
    words = in_markup(describe(career))
    plot = _Plot(career, width, height, above)
    kind = "rg career narrow" if width == NARROW else "rg career"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{kind}" viewBox="0 0 {width} {height + above}" '
        f'width="{width}" height="{height + above}" role="{role}" aria-label="{words}"{_knots(plot)}>',
        f"<title>{words}</title>{definitions}",
        *(_heading(career) if has_heading else ()),
        *_legend(legend, _HEADING if has_heading else 0),
    ]
    if plot.is_empty:
        middle = f'x="{width / 2:.0f}" y="{above + height / 2:.0f}"'
        return "".join([*parts, f'<text class="quiet middle" {middle}>no rating to show</text></svg>\n'])
    if shown is not None:
        first, last = plot.x_of_game(shown[0]), plot.x_of_game(shown[1])
        size = f'width="{max(last - first, 3):.1f}" height="{plot.base - plot.top}"'
        parts.append(f'<rect class="window" x="{first:.1f}" y="{plot.top}" {size} fill="#0072B2" fill-opacity=".18"/>')
    parts += _axes(plot)
    if links is not None:
        parts += _page_links(plot, links.page)
    for place in reversed(range(len(lines))):  # the pool that was asked for lies on top
        parts.append(_line(plot, lines[place], place))
    parts += _marks(plot, links)
    return "".join([*parts, "</svg>\n"])


def describe(career: Career) -> str:
    """Return a career in words, for readers who do not see it."""
    words = [f"Career of {career.name}: {wording.count_noun(career.games, 'rated game')}"]
    if career.points:
        highest, last = career.highest, career.points[-1]
        assert highest is not None
        words.append(f"from {career.points[0].in_force} to {last.in_force}")
        words.append(f"highest {wording.format_rating(highest.rating)} on {highest.in_force}")
        words.append(f"last {wording.format_rating(last.rating)}")
    words += [f"beside it pool {line.pool}" for line in career.other_pools]
    return ", ".join(words)


class _Plot:
    """Places of a career in its picture, pixels: along the games, or along the days of lists and of several pools."""

    def __init__(self, career: Career, width: int, height: int, above: int) -> None:
        self.career, self.width = career, width
        self.top, self.base, self.right = above + _TOP, above + height - _BELOW, width - _RIGHT
        every = [*career.points, *(point for line in career.other_pools for point in line.points)]
        self.is_empty = not every
        self.by_day = career.is_by_list or bool(career.other_pools)
        if self.is_empty:
            return
        ratings = [max(-LARGEST, min(LARGEST, point.rating)) for point in every]
        ratings += [each.published_rating for each in career.published if each.published_rating is not None]
        self.ticks: tuple[float, ...] = ()
        if height >= _LARGE:
            self.low, self.high, self.ticks = rating_scale([min(ratings), max(ratings)])
        else:
            low, high = min(ratings), max(ratings)
            middle, half = (low + high) / 2, max(high - low, LEAST_SPAN) / 2
            self.low, self.high = middle - half, middle + half
        days = [_ordinal(point.in_force) for point in every]
        first, last = min(days), max(days)
        if career.since is not None:
            first = max(first, _ordinal(career.since))
        if career.until is None and self.by_day:
            last += (last - first) // 40  # the last rating holds on
        self.days = (first, max(last, first + 30))
        numbers = [point.n for point in career.points]
        is_part = career.since is not None or career.until is not None
        games = (numbers[0], numbers[-1]) if is_part and numbers else (1, career.games)
        self.games = (games[0], max(games[1], games[0] + 1))
        self.day_of_game = [(point.n, _ordinal(point.in_force)) for point in career.points]

    def _along(self, value: float, ends: tuple[int, int]) -> float:
        share = min(max((value - ends[0]) / (ends[1] - ends[0]), 0.0), 1.0)
        return _LEFT + (self.right - _LEFT) * share

    def x(self, point: CareerPoint) -> float:
        return self.x_of_day(point.in_force) if self.by_day else self._along(point.n, self.games)

    def x_of_day(self, day: str) -> float:
        """Return the place of a day; along the games, that of the last game by then."""
        ordinal = _ordinal(day)
        if self.by_day:
            return self._along(ordinal, self.days)
        place = bisect_left(self.day_of_game, ordinal + 1, key=lambda each: each[1])
        return self._along(self.day_of_game[max(place - 1, 0)][0], self.games)

    def x_of_game(self, n: float) -> float:
        """Return the place of a game; along the days, in proportion between two points of the line."""
        if not self.by_day:
            return self._along(n, self.games)
        points = self.day_of_game
        if not points:
            return float(_LEFT)
        place = min(max(bisect_left(points, n, key=lambda each: each[0]), 1), len(points) - 1) if len(points) > 1 else 0
        (n1, day1), (n2, day2) = points[max(place - 1, 0)], points[place]
        share = 0.0 if n1 == n2 else min(max((n - n1) / (n2 - n1), 0.0), 1.0)
        return self._along(day1 + (day2 - day1) * share, self.days)

    def y(self, rating: float) -> float:
        within = min(max(rating, self.low), self.high)
        return self.top + (self.base - self.top) * (self.high - within) / (self.high - self.low)

    def rating_at(self, n: int, day: str) -> float:
        """Return the rating of the line after a game, or that of the list of a day."""
        points = self.career.points
        if self.career.is_by_list:
            place = bisect_left(points, day, key=lambda point: point.in_force)
        else:
            place = bisect_left(points, n, key=lambda point: point.n)
        return points[min(place, len(points) - 1)].rating


def _ordinal(day: str) -> int:
    return date.fromisoformat(day).toordinal()


def _knots(plot: _Plot) -> str:
    """Return places with their days since 1970, between which a script counts on in proportion."""
    if plot.is_empty:
        return ""
    if plot.by_day:
        knots = [(float(_LEFT), plot.days[0]), (float(plot.right), plot.days[1])]
    else:
        points = plot.career.points
        every = -(-len(points) // MOST_KNOTS)
        knots = [(plot.x(point), _ordinal(point.in_force)) for point in [*points[:-1:every], points[-1]]]
    written = " ".join(f"{x:.0f},{day - _UNIX}" for x, day in knots)
    return f' data-knots="{written}" data-top="{plot.top}" data-base="{plot.base}"'


def _heading(career: Career) -> Iterator[str]:
    days = f"{career.points[0].in_force} to {career.points[-1].in_force}" if career.points else ""
    quiet = " · ".join(filter(None, (career.pool, wording.count_noun(career.games, "rated game"), days)))
    yield f'<text class="heading" x="{_LEFT}" y="22">{in_markup(visible(career.name))}</text>'
    yield f'<text class="quiet" x="{_LEFT}" y="40">{in_markup(visible(quiet))}</text>'


class _LegendItem(NamedTuple):
    """A line in the legend: its place among the lines, its words, where it begins."""

    place: int
    words: str
    x: float
    row: int


def _legend_items(lines: Sequence[Career | CareerLine], width: int) -> Iterator[_LegendItem]:
    x, row = float(_LEFT), 0
    for place, line in enumerate(lines):
        last = wording.format_rating(line.points[-1].rating) if line.points else "-"
        words = f"{visible(line.pool)[:24]} {last}"
        room = 34 + _LETTER * len(words)
        if x > _LEFT and x + room > width:
            x, row = float(_LEFT), row + 1
        yield _LegendItem(place, words, x, row)
        x += room + 12


def _legend(items: Sequence[_LegendItem], top: int) -> Iterator[str]:
    for place, words, x, row in items:
        y = top + 14 + _LEGEND_ROW * row
        yield f'<path d="M{x:.0f} {y - 4}h26"{_stroke(place)}/>'
        yield f'<text x="{x + 32:.0f}" y="{y}">{in_markup(words)}</text>'


def _stroke(place: int) -> str:
    """Return the look of a line: lines differ in colour and in dash."""
    colour, dash = looks.LINES[place % len(looks.LINES)]
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f' fill="none" stroke="{colour}" stroke-width="2"{dashes}'


def _line(plot: _Plot, line: Career | CareerLine, place: int) -> str:
    """Return a line; that of lists goes in steps, for each rating holds until the next."""
    corners: list[str] = []
    before = 0.0
    for point in line.points:
        x, y = plot.x(point), plot.y(point.rating)
        if line.is_by_list and corners:
            corners.append(f"{x:.1f} {before:.1f}")
        corners.append(f"{x:.1f} {y:.1f}")
        before = y
    if line.is_by_list and corners:
        corners.append(f"{plot.right:.1f} {before:.1f}")
    elif len(corners) == 1:
        corners.append(corners[0])  # a dot, where line ends are round
    path = "L".join(corners)
    return f'<path class="career-line"{_stroke(place)} stroke-linecap="round" d="M{path}"/>' if corners else ""


def _axes(plot: _Plot) -> Iterator[str]:
    for rating in plot.ticks or (plot.low, plot.high):
        y = plot.y(rating)
        if plot.ticks:
            yield f'<path class="grid" stroke="#57606A" d="M{_LEFT} {y:.1f}H{plot.right}"/>'
        words = wording.format_rating(floor(rating + 0.5))
        yield f'<text class="quiet end" x="{_LEFT - 8}" y="{y + 4:.1f}">{words}</text>'
    if plot.low > 0:  # the axis does not begin at 0
        yield f'<path class="axis" d="M{_LEFT - 7} {plot.base - 26}l5-4 4 6 5-4" stroke="#57606A" fill="none"/>'
    yield f'<path class="axis" stroke="#57606A" d="M{_LEFT} {plot.base}H{plot.right}"/>'
    yield from _months(plot) if plot.by_day else _years(plot)
    for scheme in plot.career.schemes[1:]:
        if not plot.games[0] < scheme.n <= plot.games[1]:
            continue
        words = in_markup(f"from game {scheme.n:,} on by {scheme.scheme}")
        x = plot.x_of_game(scheme.n)
        path = f"M{x:.1f} {plot.top - 8}V{plot.base}"
        yield f'<path class="seam" stroke="#57606A" stroke-dasharray="5 3" d="{path}"><title>{words}</title></path>'


def _years(plot: _Plot) -> Iterator[str]:
    years = [(plot.x_of_game(year.n), year.year) for year in plot.career.years]
    free = 0.0
    if len(years) > 1 and years[1][0] - years[0][0] < _YEAR_ROOM:
        free = years[1][0]  # of a beginning year there are a few days: the whole one after it is named
    for x, year in years:
        yield f'<path class="grid" stroke="#57606A" d="M{x:.1f} {plot.top}V{plot.base}"/>'
        if x >= free and x < plot.right - 20:
            yield f'<text class="quiet" x="{x + 3:.1f}" y="{plot.base + 15}">{year}</text>'
            free = x + _YEAR_ROOM


def _months(plot: _Plot) -> Iterator[str]:
    first, last = plot.days
    from_ms, to_ms = (first - _UNIX) * DAY_MS, (last - _UNIX) * DAY_MS

    def x(ms: float) -> float:
        return _LEFT + (plot.right - _LEFT) * (ms - from_ms) / (to_ms - from_ms)

    free = 0.0
    for label in month_labels(month_number(from_ms), month_number(to_ms) + 1, plot.right - _LEFT, x):
        half = _LETTER * len(label.text) / 2
        if max(free, _LEFT) <= label.x - half and label.x <= plot.right:
            free = label.x + half + 4
            yield f'<text class="quiet middle" x="{label.x:.1f}" y="{plot.base + 15}">{label.text}</text>'
            if label.below:
                yield f'<text class="quiet middle" x="{label.x:.1f}" y="{plot.base + 29}">{label.below}</text>'


def _page_links(plot: _Plot, link: Callable[[int], str]) -> Iterator[str]:
    """Yield areas of the picture that lead to the pages of the games there, oldest first."""
    games = plot.career.games
    pages = count_pages(games)
    most = (plot.right - _LEFT) // _LINK_WIDTH.get(plot.width, _LINK_WIDTH[WIDE])
    per_link = -(-pages // most)
    for page in range(pages, 0, -per_link):
        oldest = max(1, games - page * GAMES_PER_PAGE + 1)
        newest = min(games, games - (page - per_link) * GAMES_PER_PAGE)
        left, right = plot.x_of_game(max(oldest - 0.5, 1)), plot.x_of_game(min(newest + 0.5, games))
        if right - left < 1:  # not within the range
            continue
        words = f"games {oldest:,} to {newest:,}"
        size = f'width="{right - left:.1f}" height="{plot.base - plot.top}" fill="transparent"'
        area = f'<rect class="hit" x="{left:.1f}" y="{plot.top}" {size}><title>{words}</title></rect>'
        yield f'<a href="{in_markup(link(page))}" aria-label="{words}">{area}</a>'


# -- marks -------------------------------------------------------------------------------------------------------------


def _marks(plot: _Plot, links: CareerLinks | None) -> Iterator[str]:
    career = plot.career
    if career.points:
        yield from _tournaments(plot, career.tournaments, None if links is None else links.tournament)
    for published in career.published:
        yield _published(plot, published, None if links is None else links.published)
    is_hera = career.has_classes
    highest = career.hera if is_hera else career.highest
    if highest is None or not (plot.low <= highest.rating <= plot.high):
        return
    x, y = plot.x(highest), plot.y(highest.rating)
    words = f"{'HERA' if is_hera else 'highest'} {wording.format_rating(highest.rating)}, {highest.in_force}"
    yield f'<path class="mark" d="M{x - 4:.1f} {y - 9:.1f}h8l-4 6z"><title>{in_markup(words)}</title></path>'


def _tournaments(
    plot: _Plot, tournaments: Sequence[CareerTournament], link: Callable[[CareerTournament], str] | None
) -> Iterator[str]:
    stacked: Counter[int] = Counter()
    for tournament in tournaments:
        x = plot.x_of_day(tournament.in_force) if plot.by_day else plot.x_of_game(tournament.n)
        y = plot.y(plot.rating_at(tournament.n, tournament.in_force))
        y -= 9 * stacked[round(x)]  # of those that count from one day on, one lies above the other
        stacked[round(x)] += 1
        words = in_markup(tournament_words(tournament))
        dot = f'<circle class="spot" cx="{x:.1f}" cy="{max(y, 5):.1f}" r="3.5" fill="#FFFFFF" stroke="#57606A">'
        yield _led(None if link is None else link(tournament), f"{dot}<title>{words}</title></circle>")


def _published(plot: _Plot, published: CareerPublished, link: Callable[[str], str] | None) -> str:
    x = plot.x_of_day(published.as_of)
    y = plot.base if published.published_rating is None else plot.y(published.published_rating)
    words = in_markup(published_words(published))
    mark = f'<path class="open" d="M{x:.1f} {y - 5:.1f}l4 5-4 5-4-5z" fill="#FFFFFF" stroke="#57606A">'
    return _led(None if link is None else link(published.list), f"{mark}<title>{words}</title></path>")


def _led(address: str | None, mark: str) -> str:
    return mark if address is None else f'<a href="{in_markup(address)}">{mark}</a>'


def tournament_words(tournament: CareerTournament) -> str:
    """Describe the mark of a tournament: its games, its score and the change that they made."""
    words = f"{tournament.tournament}: {tournament.score:g} of {tournament.games}"
    if tournament.change is None:
        return f"{words}, counts from {tournament.in_force}"
    others = tournament.together - 1
    with_others = f" with {wording.count_noun(others, 'other tournament')}" if others else ""
    return f"{words}, {tournament.change:+.1f}{with_others}, counts from {tournament.in_force}"


def published_words(published: CareerPublished) -> str:
    """Describe the mark of a published list that would say another number now."""
    said, would = map(wording.format_rating, (published.published_rating, published.revised_rating))
    return f"List {published.list} said {said}, now it would say {would}"
