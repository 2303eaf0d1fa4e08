"""The layout of a drawn rating graph: the scale of rating points, positions of bars, labels of the axis.

Lengths are pixels; x grows to the right, so newer games have the smaller x.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import MAXYEAR, UTC, datetime, timedelta
from math import ceil, floor, isfinite, log10
from typing import NamedTuple

from ledger.answers.graphs.graph_data import Page
from ledger.facts.periods import OPEN

LEFT, RIGHT, TOP, BELOW = 58.0, 18.0, 70.0, 64.0  # around the plot
HEIGHT = 280.0  # of the plot
NARROWEST = 760.0  # plot, so that heading and legend have room
NOW_WIDTH, NOW_GAP = 14.0, 12.0  # the bar of the rating now and the space next to it
WIDEST_STEP, SMALLEST_STEP = 22.0, 4.0  # from bar to bar
DAY_BAR = 6.0  # width of a bar in date order
WIDEST_BY_DATE = 2_400.0
LEAST_SPAN = 100.0  # points from the lower to the upper end of the scale
LARGEST = 1e300  # points: what is larger is drawn there
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LABEL_ROOM = 44.0  # between two labels of the axis
_DIGIT, _NOW_WORD = 7.0, 30.0  # pixels: how wide a digit and "now" come out, in most fonts
_MONTH = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_MONTHS_BETWEEN = {  # two labels, with the room that one of them needs: Jan, Jan-Mar, 2006, 2000-2009
    1: 30.0,
    **dict.fromkeys((2, 3, 6), 56.0),
    12: 40.0,
    **dict.fromkeys((24, 60, 120, 240, 600, 1200, 2400, 6000, 12000), 76.0),
}


class Scale(NamedTuple):
    """The vertical scale of rating points: the lowest and the highest value, and the values that have a line."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def y(self, rating: float) -> float:
        """Return the vertical position of a rating, in pixels from the top."""
        span = self.high / 2 - self.low / 2
        share = (min(max(rating, self.low), self.high) / 2 - self.low / 2) / span
        return TOP + HEIGHT * (1.0 - share)


class AxisLabel(NamedTuple):
    """A label below the horizontal axis, and a second word under it."""

    x: float
    text: str
    below: str = ""


class GraphLayout(NamedTuple):
    """The horizontal positions and the vertical scale of everything that a rating graph draws.

    Attributes:
        bar: width of a bar.
        places: the middle of each bar, newest first.
        second_places: the same for the second player's games.
        now: the middle of the bar of the rating now; None: the page does not show it.
        seams: the place of each change of scheme.
    """

    width: float
    bar: float
    places: tuple[float, ...]
    second_places: tuple[float, ...]
    now: float | None
    labels: tuple[AxisLabel, ...]
    seams: tuple[float, ...]
    scale: Scale

    @property
    def right(self) -> float:
        """The right end of the plot."""
        return self.width - RIGHT


def lay_out(page: Page, *, opponents: bool) -> GraphLayout:
    """Return the layout of a page; the scale includes the opponents' ratings if they are shown."""
    ratings = [bar.rating for player in page.players for bar in player.bars]
    if page.is_newest:
        ratings.append(page.player.rating_now)
    if opponents:
        ratings += [bar.opponent_rating_before for bar in page.player.bars]
    finite = [rating for rating in ratings if rating is not None and isfinite(rating)]
    # another author's scheme may rate beyond all measure: the drawing stays one
    scale = rating_scale([max(-LARGEST, min(LARGEST, end(finite))) for end in (min, max) if finite])
    now = LEFT + NOW_GAP / 2 + NOW_WIDTH / 2 if page.is_newest and page.player.rating_now is not None else None
    begin = LEFT + NOW_GAP / 2 if now is None else now + NOW_WIDTH / 2 + NOW_GAP
    if page.by == "date" and (page.player.bars or page.against is not None):
        return _by_date(page, scale, now, begin)
    return _by_game(page, scale, now, begin)


def rating_scale(ratings: Sequence[float]) -> Scale:
    """Return a scale with round values that includes the ratings, the lowest a little above its lower end."""
    low, high = min(ratings, default=1000.0), max(ratings, default=2000.0)
    span = high / 2 - low / 2
    if span < LEAST_SPAN / 2:  # a change of 20 points is no landslide
        low, high, span = low / 2 + high / 2 - LEAST_SPAN / 2, low / 2 + high / 2 + LEAST_SPAN / 2, LEAST_SPAN / 2
    # Ratings that are as good as equal would leave the scale without a height.
    if span < max(1.0, abs(high) * 1e-9):
        span = max(25.0, abs(high) * 1e-9)
    low, high = low - span * 0.16, high + span * 0.08
    least = (high / 2 - low / 2) / 3.5
    power = 10.0 ** floor(log10(max(least, 1.0)))  # a step is one point at least
    # The last factor is taken in any case: an error of the logarithm must not leave ``next`` without a step.
    step = next(factor * power for factor in (1.0, 2.0, 2.5, 5.0, 10.0) if factor * power >= least or factor == 10.0)
    first, last = floor(low / step), ceil(high / step)
    ticks = tuple(number * step for number in range(first, last + 1))
    return Scale(ticks[0], ticks[-1], ticks)


def _by_game(page: Page, scale: Scale, now: float | None, begin: float) -> GraphLayout:
    bars = page.player.bars
    step = max(SMALLEST_STEP, min(WIDEST_STEP, (NARROWEST - (begin - LEFT)) / max(1, len(bars))))
    places = tuple(begin + step * (i + 0.5) for i in range(len(bars)))
    width = max(LEFT + NARROWEST, begin + step * len(bars)) + RIGHT
    every = next(n for n in (1, 2, 5, 10, 20, 50, 100, 200, 500) if n * step >= _LABEL_ROOM)
    place_of = dict(zip([bar.n for bar in bars], places, strict=True))
    numbers = [n for n in place_of if n % every == 0] or [*place_of][:1]
    free = 0.0 if now is None else now + _NOW_WORD / 2  # the word below the rating now stays readable
    labels = tuple(
        AxisLabel(place_of[n], text)
        for n, text in ((n, f"{n:,}") for n in numbers)
        if place_of[n] - _DIGIT * len(text) / 2 > free
    )
    seams = tuple(place_of[seam.n] + step / 2 for seam in page.player.seams)
    gap = 2.0 if step >= 9 else 1.0
    return GraphLayout(width, step - gap, places, (), now, labels, seams, scale)


def _by_date(page: Page, scale: Scale, now: float | None, begin: float) -> GraphLayout:
    ends = [bar.ended_ms for player in page.players for bar in player.bars]
    if not ends:
        return _by_game(page, scale, now, begin)
    first, last = month_number(min(ends)), month_number(max(ends)) + 1  # from its beginning, to its end
    room = min(max(NARROWEST - (begin - LEFT), len(page.player.bars) * 2.0), WIDEST_BY_DATE)
    from_ms, to_ms = _ms(first), _ms(last)

    def x(ms: float) -> float:
        return begin + DAY_BAR / 2 + (room - DAY_BAR) * (to_ms - ms) / (to_ms - from_ms)

    labels = tuple(month_labels(first, last, room, x))
    seams = tuple(x(seam.ended_ms) + DAY_BAR / 2 + 1 for seam in page.player.seams)
    return GraphLayout(
        begin + room + RIGHT,
        DAY_BAR,
        tuple(x(bar.ended_ms) for bar in page.player.bars),
        tuple(x(bar.ended_ms) for bar in page.against.bars) if page.against is not None else (),
        now,
        labels,
        seams,
        scale,
    )


def month_labels(first: int, last: int, room: float, x: Callable[[float], float]) -> list[AxisLabel]:
    """Return the labels of months or of groups of them, each in the middle of its span.

    Args:
        first: the number of the first month, as ``month_number`` returns it.
        last: that of the month after the last one.
        room: the pixels that they have together.
        x: returns the place of an instant, milliseconds since 1970.
    """
    per_month = room / (last - first)
    every = next((n for n, width in _MONTHS_BETWEEN.items() if n * per_month >= width), max(_MONTHS_BETWEEN))
    begin = first - first % every if every > 1 else first
    labels = []
    for month in range(begin, last, every):
        begins, ends = max(month, first), min(month + every, last)
        # A group that an end of the axis cuts to less than two thirds has no room for its words, unless it is alone.
        if (ends - begins) * 3 < every * 2 and last - first > every:
            continue
        middle = (_ms(begins) + _ms(ends)) / 2
        year, name = divmod(month, 12)
        if every >= 12:
            text = str(year) if every == 12 else f"{year}-{year + every // 12 - 1}"
            labels.append(AxisLabel(x(middle), text))
        else:
            text = _MONTH[name] if every == 1 else f"{_MONTH[begins % 12]}-{_MONTH[(ends - 1) % 12]}"
            labels.append(AxisLabel(x(middle), text, str(year) if name == 0 or not labels else ""))
    return labels


def month_number(ms: int) -> int:
    """Return the number of the month of an instant: twelve times its year, and the months before it."""
    moment = _EPOCH + timedelta(milliseconds=ms)
    return moment.year * 12 + moment.month - 1


def _ms(month: int) -> int:
    """Return when a month begins, milliseconds since 1970."""
    year, place = divmod(month, 12)
    # Python's dates end with the year 9999, and so do the ledger's: the month after it begins behind the last instant.
    if year > MAXYEAR:
        return OPEN + 1
    return (datetime(year, place + 1, 1, tzinfo=UTC) - _EPOCH) // timedelta(milliseconds=1)
