"""The lines of the benchmark and how they are printed. No measuring, no rivals, nothing heavy."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import attrs

_WANTED = re.compile(r"(?:(?P<sign>>=|<=)\s*(?P<bound>\d+(?:\.\d+)?)\s*x?)?")
_HEADINGS = ("what", "ours", "rival", "rival's", "unit", "ratio", "wanted", "verdict")
_LEFT = frozenset({"what", "rival", "unit", "verdict"})


def _is_a_bound(_: Line, attribute: attrs.Attribute[str], value: str) -> None:
    if _WANTED.fullmatch(value) is None:
        raise ValueError(f"{attribute.name} must look like '>= 1.5x' or '<= 1.5x' or be empty, got {value!r}")


def _is_positive(_: Line, attribute: attrs.Attribute[float], value: float) -> None:
    if not value > 0:
        raise ValueError(f"{attribute.name} must be above zero, got {value!r}")


@attrs.frozen
class Line:
    """One of our figures beside a rival's, or beside a bound that nobody can beat.

    Attributes: what: What was measured. ours: Our figure, in ``unit``, above zero. rival_name: Who or what it
        is compared with. rival: The rival's figure, in ``unit``, above zero. unit: The unit of both figures
        (``games/s``, ``s``, ``bytes/game``). wanted: The bound on ``ratio``. ``>= 2x``: at least twice as
        good as the rival; ``<= 1.3x``: at most 1.3 times the rival's cost. Empty: no bound, the line only
        informs. higher_is_better: True for rates; False for times and sizes.
    """

    what: str
    ours: float = attrs.field(validator=_is_positive)
    rival_name: str
    rival: float = attrs.field(validator=_is_positive)
    unit: str
    wanted: str = attrs.field(default="", validator=_is_a_bound)
    higher_is_better: bool = True

    @property
    def ratio(self) -> float:
        """How many times as good as the rival we are; for a ``<=`` bound, how many times its cost."""
        times_as_good = self.ours / self.rival if self.higher_is_better else self.rival / self.ours
        return 1 / times_as_good if self.wanted.startswith("<=") else times_as_good

    @property
    def holds(self) -> bool | None:
        """Whether the wanted bound held; None where none is wanted."""
        match = _WANTED.fullmatch(self.wanted)
        if match is None or match["sign"] is None:
            return None
        bound = float(match["bound"])
        return self.ratio >= bound if match["sign"] == ">=" else self.ratio <= bound


def number(value: float) -> str:
    """Write a figure with three significant digits at least: 0.0123, 4.56, 78.9, 1,234,567."""
    size = abs(value)
    if size >= 100:
        return f"{value:,.0f}"
    if size >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}" if size >= 1 else f"{value:.3g}"


def render(lines: Sequence[Line]) -> str:
    """Lay the lines out as a plain aligned table, numbers to the right, each with its ratio and verdict."""
    rows = [_HEADINGS, *map(_cells, lines)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rows.insert(1, tuple("-" * width for width in widths))
    return "\n".join(_aligned(row, widths) for row in rows)


def as_json(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """Give the lines as plain dictionaries, with ``ratio`` and ``holds``, ready for any JSON writer."""
    return [attrs.asdict(line) | {"ratio": line.ratio, "holds": line.holds} for line in lines]


def _cells(line: Line) -> tuple[str, ...]:
    verdict = {True: "holds", False: "MISSED", None: ""}[line.holds]
    figures = (line.what, number(line.ours), line.rival_name, number(line.rival), line.unit)
    return (*figures, f"{number(line.ratio)}x", line.wanted, verdict)


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = zip(row, widths, _HEADINGS, strict=True)
    return "  ".join(f"{cell:<{w}}" if name in _LEFT else f"{cell:>{w}}" for cell, w, name in cells).rstrip()
