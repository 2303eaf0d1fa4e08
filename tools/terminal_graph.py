"""A rating graph in characters: one column for each stretch of games, its mean rating as a bar."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import isfinite

EIGHTHS = " ▁▂▃▄▅▆▇█"
SCALE, CORNER, AXIS, CHANGE = "│", "└", "─", "┼"
DRAWN = EIGHTHS + SCALE + CORNER + AXIS + CHANGE
# For terminals whose encoding has no such characters.
ASCII: dict[str, str] = dict(zip(DRAWN, " .:-=+*%#|+-x", strict=True))


def draw(
    ratings: Sequence[float], width: int = 64, height: int = 8, changes: Sequence[int] = (), *, in_ascii: bool = False
) -> str:
    """A graph of *ratings* in time order, at most *width* columns and *height* lines, with a scale in points.

    Each of *changes* is the place of a rating that begins another system; its column is marked on the axis. A rating
    that is infinite or no number leaves its column empty.
    """
    columns = min(width, len(ratings))
    edges = [i * len(ratings) // columns for i in range(columns + 1)] if columns else []
    means = [sum(ratings[a:b]) / (b - a) for a, b in pairwise(edges)]
    known = [mean for mean in means if isfinite(mean)]
    if not known:
        return "(no rated games)"
    low, high = min(known), max(known)
    span = high - low or 1.0
    levels = [round((mean - low) / span * (height * 8 - 1)) + 1 if isfinite(mean) else 0 for mean in means]
    lines = []
    for line in range(height - 1, -1, -1):
        bars = "".join(EIGHTHS[max(0, min(8, level - line * 8))] for level in levels)
        label = f"{low + span * (line + 0.5) / height:6.0f}" if line in {0, height - 1} else " " * 6
        lines.append(f"{label} {SCALE}{bars}")
    marked = {max(i for i in range(columns) if edges[i] <= place) for place in changes}
    lines.append(f"{'':6} {CORNER}{''.join(CHANGE if i in marked else AXIS for i in range(columns))}")
    last = f"game {len(ratings)}" if len(ratings) > 1 else ""
    lines.append(f"{'':8}game 1 {last:>{max(0, columns - 7)}}".rstrip())
    text = "\n".join(lines)
    return "".join(ASCII.get(char, char) for char in text) if in_ascii else text
