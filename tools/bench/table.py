"""The lines of the benchmark, how they are judged and printed. No measuring, no rivals, nothing heavy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from statistics import median
from typing import Any

import attrs

from .bounds import BY_NAME, Bound

_HEADINGS = (
    "what", "unit", "ours", "rival", "rival's", "ours / rival", "of rounds", "at least", "aim", "reached",
)  # fmt: skip
_LEFT = frozenset({"section", "what", "unit", "rival", "reached"})
LEGEND = (
    "ours / rival: our figure divided by the rival's, both in the unit of the line, medians of rounds taken in turns;",
    "of rounds: the lowest and the highest quotient of a single round. Times and memory should give a small quotient",
    "(<=), rates a large one (>=). CPU: of the processor, all processes together; without it: of the clock.",
)


class Reached(Enum):
    """What a ratio reached of what is wanted."""

    AIM = "aim"
    AT_LEAST = "at least"
    MISSED = "MISSED"
    NOTHING_WANTED = ""


def _are_positive(_: Line, attribute: attrs.Attribute[tuple[float, ...]], value: tuple[float, ...]) -> None:
    if not value or not all(figure > 0 for figure in value):
        raise ValueError(f"{attribute.name} must be figures above zero, got {value!r}")


@attrs.frozen
class Line:
    """Our figures beside a rival's, as a bound declares them.

    Attributes: bound: What is divided by what, in which unit, and how good the ratio should be. where: What it was
        measured on, empty where there is one thing only. ours: Our figure of each round, above zero. theirs: The
        rival's of each round, or a single figure that all rounds are compared with.
    """

    bound: Bound
    where: str
    ours: tuple[float, ...] = attrs.field(validator=_are_positive)
    theirs: tuple[float, ...] = attrs.field(validator=_are_positive)

    def __attrs_post_init__(self) -> None:
        """Refuse rounds that do not stand beside each other."""
        if len(self.theirs) not in {1, len(self.ours)}:
            raise ValueError(f"{self.bound.name}: {len(self.ours)} rounds of ours, {len(self.theirs)} of the rival")

    @property
    def ratio(self) -> float:
        """Our median figure divided by the rival's."""
        return median(self.ours) / median(self.theirs)

    @property
    def rounds(self) -> list[float]:
        """The ratio of each round; the ratio of the medians lies among them."""
        their_figures = self.theirs * len(self.ours) if len(self.theirs) == 1 else self.theirs
        return [our_figure / their_figure for our_figure, their_figure in zip(self.ours, their_figures, strict=True)]

    @property
    def reached(self) -> Reached:
        """What the ratio of the medians reached."""
        return self._judged(self.ratio)

    @property
    def rounds_agree(self) -> bool:
        """Whether every single round reached the same; where not, the noise is too great to tell."""
        return {self._judged(ratio) for ratio in self.rounds} == {self.reached}

    def _judged(self, ratio: float) -> Reached:
        bound = self.bound
        if bound.aim is not None and bound.meets(ratio, bound.aim):
            return Reached.AIM
        if bound.at_least is not None:
            return Reached.AT_LEAST if bound.meets(ratio, bound.at_least) else Reached.MISSED
        return Reached.NOTHING_WANTED if bound.aim is None else Reached.MISSED


def line(
    name: str,
    where: str,
    our_figures: float | Iterable[float],
    their_figures: float | Iterable[float],
    *,
    games: int | None = None,
    **words: Any,
) -> Line:
    """A line of the bound called *name*.

    Args:
        name: of the bound.
        where: what it was measured on.
        our_figures: our figure, or one for each round.
        their_figures: the rival's figure, or one for each round.
        games: how many games it was measured on, where that matters: of too few the line only informs.
        words: attributes of the bound that are different here, such as the rival of a group.
    """
    bound = attrs.evolve(BY_NAME[name], **words)
    if games is not None and games < bound.judged_from:
        bound = bound.not_judged()
    return Line(bound, where, _each(our_figures), _each(their_figures))


def _each(figures: float | Iterable[float]) -> tuple[float, ...]:
    return tuple(figures) if isinstance(figures, Iterable) else (figures,)


def number(value: float) -> str:
    """Write a figure with three significant digits at least: 0.0123, 4.56, 78.9, 1,234,567."""
    size = abs(value)
    if size >= 100:
        return f"{value:,.0f}"
    if size >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}" if size >= 1 else f"{value:.3g}"


def render(lines: Sequence[Line]) -> str:
    """Lay the lines out as a plain aligned table, numbers to the right, each with its ratio and what it reached."""
    return _table(_HEADINGS, [_cells(line) for line in lines])


def render_bounds(bounds: Sequence[Bound]) -> str:
    """Lay the bounds out alone, before anything is measured."""
    headings = ("section", "what", "unit", "rival", "at least", "aim", "from games")
    return _table(headings, [_bound_cells(bound) for bound in bounds])


def _bound_cells(bound: Bound) -> tuple[str, ...]:
    judged_from = f"{bound.judged_from:,}" if bound.judged_from else ""
    wanted = (bound.written(bound.at_least), bound.written(bound.aim))
    return (bound.section, bound.what, bound.unit, bound.rival, *wanted, judged_from)


def as_json(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """Give the lines as plain dictionaries, ready for any JSON writer.

    ``divided`` says in words what ``ratio`` is; ``ours`` and ``rival`` are medians, ``our_rounds`` and ``rival_rounds``
    the single figures; ``reached`` is ``aim``, ``at least``, ``MISSED`` or null where nothing is wanted.
    """
    return [_plain(line) for line in lines]


def _plain(line: Line) -> dict[str, Any]:
    bound = line.bound
    return {
        "bound": bound.name,
        "where": line.where,
        "divided": bound.divided,
        "what": bound.what,
        "rival_name": bound.rival,
        "unit": bound.unit,
        "small_is_good": bound.small_is_good,
        "ours": median(line.ours),
        "rival": median(line.theirs),
        "ratio": line.ratio,
        "lowest": min(line.rounds),
        "highest": max(line.rounds),
        "at_least": bound.at_least,
        "aim": bound.aim,
        "reached": line.reached.value or None,
        "rounds_agree": line.rounds_agree,
        "our_rounds": list(line.ours),
        "rival_rounds": list(line.theirs),
    }


def _cells(line: Line) -> tuple[str, ...]:
    bound = line.bound
    what = f"{line.where}: {bound.what}" if line.where else bound.what
    rounds = f"{number(min(line.rounds))}..{number(max(line.rounds))}" if len(line.rounds) > 1 else ""
    reached = line.reached.value if line.rounds_agree else f"{line.reached.value} (rounds differ)"
    figures = (number(median(line.ours)), bound.rival, number(median(line.theirs)), number(line.ratio), rounds)
    return (what, bound.unit, *figures, bound.written(bound.at_least), bound.written(bound.aim), reached)


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    whole = [headings, *rows]
    widths = [max(map(len, column)) for column in zip(*whole, strict=True)]
    whole.insert(1, ["-" * width for width in widths])
    left = [name in _LEFT for name in headings]
    return "\n".join(_aligned(row, widths, left) for row in whole)


def _aligned(row: Sequence[str], widths: Sequence[int], left: Sequence[bool]) -> str:
    cells = zip(row, widths, left, strict=True)
    return "  ".join(f"{cell:<{w}}" if to_left else f"{cell:>{w}}" for cell, w, to_left in cells).rstrip()
