"""The moves that a correction would bring as a picture, as SVG or PNG: a line for each player from before to after.

Drawn by matplotlib, which is optional. Up and down are told apart by colour and by the shape of the mark, so that
nobody has to see colours. The same moves give the same bytes. Names are drawn as ``visible`` has them, never as formulas.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any

from ledger.correcting.previews import Impact
from ledger.runtime.lazy import mpl, mpl_figure

from .pictures import COLOURS, FAINT, INK, STYLE
from .visible import visible
from .wording import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 30  # players in a picture
UP, DOWN = COLOURS[0], COLOURS[1]  # blue and vermilion
LONGEST_NAME = 40


def draw(impact: Impact, rows: Sequence[dict[str, Any]], kind: str) -> bytes:
    """The picture of the largest moves.

    Args:
        impact: what would move.
        rows: its moves, the largest first.
        kind: one of ``pictures.KINDS``.
    """
    shown = [row for row in rows if row["difference"] != 0][:MOST]
    with mpl.rc_context({**mpl.rcParamsDefault, **STYLE}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # a letter that the font lacks is drawn as a box
        figure = mpl_figure.Figure(figsize=(9, 2.2 + 0.27 * max(len(shown), 3)), layout="constrained")
        axes = figure.subplots()
        for place, row in enumerate(shown):
            _line(axes, place, row)
        pools = {row["pool"] for row in shown}
        labels = [_label(row, with_pool=len(pools) > 1) for row in shown]
        axes.set_yticks(range(len(shown)), labels)
        axes.set(ylim=(max(len(shown), 1) - 0.4, -0.6), xlabel="rating, points")
        if not shown:
            axes.text(0.5, 0.5, "no rating would change", transform=axes.transAxes, ha="center", color=INK)
        _legend(axes)
        what = f"{counted(impact.games, 'game')} rated again, {counted(impact.moved, 'rating')} would change"
        more = f"; the {len(shown)} largest moves" if impact.moved > len(shown) else ""
        figure.suptitle(f"Proposal {impact.proposal}: {what}{more}", x=0.015, ha="left", fontsize=13)
        out = BytesIO()
        metadata = {"Date": None, "Creator": None} if kind == ".svg" else {"Software": None}
        figure.savefig(out, format=kind.removeprefix("."), dpi=150, metadata=metadata)
    return out.getvalue()


def _line(axes: Axes, place: int, row: dict[str, Any]) -> None:
    """One player: where the rating is, where it would be, and by how much it would move."""
    before, after, difference = row["rating_before"], row["rating_after"], row["difference"]
    if difference is None:
        value, words = (after, "comes in") if before is None else (before, "no rated game left")
        axes.plot([value], [place], marker="D", color=INK, markersize=6, linestyle="none", zorder=3)
    else:
        value, words = max(before, after), f"{difference:+.1f}"
        colour, marker = (UP, ">") if difference > 0 else (DOWN, "<")
        axes.plot([before, after], [place, place], color=colour, linewidth=2.0, zorder=2)
        axes.plot([before], [place], marker="o", color="white", markeredgecolor=INK, markersize=6, zorder=3)
        axes.plot([after], [place], marker=marker, color=colour, markersize=8, zorder=4)
    axes.annotate(
        words, (value, place), xytext=(9, 0), textcoords="offset points", va="center_baseline", fontsize=8.5, color=INK
    )


def _label(row: dict[str, Any], *, with_pool: bool) -> str:
    name = visible(row["name"])
    name = name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
    return f"{name} ({visible(row['pool'])})" if with_pool else name


def _legend(axes: Axes) -> None:
    line = mpl.lines.Line2D
    marks = [
        line([], [], marker="o", color="white", markeredgecolor=INK, linestyle="none", label="now"),
        line([], [], marker=">", color=UP, label="up to"),
        line([], [], marker="<", color=DOWN, label="down to"),
        line([], [], marker="D", color=INK, linestyle="none", label="comes or goes"),
    ]
    axes.figure.legend(handles=marks, loc="outside lower center", ncols=len(marks), frameon=False)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", color=FAINT, linewidth=0.4)
    axes.margins(x=0.12)
