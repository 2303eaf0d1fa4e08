"""A rating graph in characters: one column for each stretch of games, its mean rating as a bar.

The scale ends with the lowest and the highest rating of all, which a mean may not reach.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from math import isfinite, nan

EIGHTHS = " ▁▂▃▄▅▆▇█"
SCALE, CORNER, AXIS, CHANGE, CORRECTED = "│", "└", "─", "┼", "┬"
DRAWN = EIGHTHS + SCALE + CORNER + AXIS + CHANGE + CORRECTED
# For terminals whose encoding has no such characters.
ASCII: dict[str, str] = dict(zip(DRAWN, " .:-=+*%#|+-xc", strict=True))


def draw(
    ratings: Sequence[float],
    width: int = 64,
    height: int = 8,
    changes: Sequence[int] = (),
    *,
    corrected: Sequence[int] = (),
    first: int = 1,
    in_ascii: bool = False,
) -> str:
    """Return a graph of *ratings* in time order, at most *width* columns and *height* lines, with a scale in points.

    Each of *changes* is the place of a rating that begins another system, each of *corrected* that of a game that was
    corrected; their columns are marked on the axis, by the former where there are both. *first* is the number of the
    first game. Ratings that are infinite or no
    numbers are left out; a column of nothing else is empty.
    """
    columns = min(width, len(ratings))
    edges = [i * len(ratings) // columns for i in range(columns + 1)] if columns else []
    means = [_mean([rating for rating in ratings[a:b] if isfinite(rating)]) for a, b in pairwise(edges)]
    known = [rating for rating in ratings if isfinite(rating)]
    if not known:
        return "(no rated games)"
    low, high = min(known), max(known)
    span = high - low or 1.0
    levels = [round((mean - low) / span * (height * 8 - 1)) + 1 if isfinite(mean) else 0 for mean in means]
    lines, ends = [], {0: low, height - 1: high}
    for line in range(height - 1, -1, -1):
        bars = "".join(EIGHTHS[max(0, min(8, level - line * 8))] for level in levels)
        label = f"{ends[line]:6.0f}" if line in ends else " " * 6
        lines.append(f"{label} {SCALE}{bars}")
    marked = {bisect_right(edges, place) - 1: CORRECTED for place in corrected}
    marked |= {bisect_right(edges, place) - 1: CHANGE for place in changes}
    lines.append(f"{'':6} {CORNER}{''.join(marked.get(i, AXIS) for i in range(columns))}")
    begin, last = f"game {first}", f"game {first + len(ratings) - 1}" if len(ratings) > 1 else ""
    lines.append(f"{'':8}{begin} {last:>{max(0, columns - len(begin) - 1)}}".rstrip())
    text = "\n".join(lines)
    return "".join(ASCII.get(char, char) for char in text) if in_ascii else text


def _mean(ratings: Sequence[float]) -> float:
    return sum(ratings) / len(ratings) if ratings else nan
