"""The moves that a correction would bring, as SVG or PNG: a bar for each player, as long as the rating would move.

Drawn by matplotlib, which is optional. Colour and the shape of the mark distinguish up and down, so that
no reader has to see colours. The same moves give the same bytes. Names are drawn as ``visible`` has them, never as
formulas.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any

from ledger.correcting.previews import Impact
from ledger.runtime.lazy import mpl, mpl_figure
from ledger.runtime.visible import visible

from .pictures import COLOURS, FAINT, INK, STYLE
from .wording import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 30  # players in a picture
UP, DOWN = COLOURS[0], COLOURS[1]  # blue and vermilion
LONGEST_NAME = 40


def draw(impact: Impact, rows: Sequence[dict[str, Any]], kind: str) -> bytes:
    """Return the picture of the largest moves.

    Args:
        impact: what would move.
        rows: its moves, the largest first.
        kind: one of ``pictures.KINDS``.
    """
    shown = [row for row in rows if row["rating_before"] != row["rating_after"]][:MOST]
    with mpl.rc_context({**mpl.rcParamsDefault, **STYLE}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # a letter that the font lacks is drawn as a box
        figure = mpl_figure.Figure(figsize=(9, 2.2 + 0.27 * max(len(shown), 3)), layout="constrained")
        axes = figure.subplots()
        for place, row in enumerate(shown):
            _line(axes, place, row)
        pools = {row["pool"] for row in shown}
        labels = [_label(row, with_pool=len(pools) > 1) for row in shown]
        axes.set_yticks(range(len(shown)), labels)
        axes.set(ylim=(max(len(shown), 1) - 0.4, -0.6), xlabel="change of the rating, points")
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
    """One player: a bar as long as the rating would move, and from where to where."""
    before, after, difference = row["rating_before"], row["rating_after"], row["difference"]
    if difference is None:
        words = f"would come in with {after:.1f}" if before is None else f"{before:.1f}, no rating left"
        axes.plot([0], [place], marker="D", color=INK, markersize=6, linestyle="none", zorder=3)
    else:
        words = f"{before:.1f} to {after:.1f}"
        colour, marker = (UP, ">") if difference > 0 else (DOWN, "<")
        axes.plot([0, difference], [place, place], color=colour, linewidth=4.0, solid_capstyle="butt", zorder=2)
        axes.plot([difference], [place], marker=marker, color=colour, markersize=8, linestyle="none", zorder=4)
    end = max(difference or 0.0, 0.0)
    axes.annotate(
        words, (end, place), xytext=(9, 0), textcoords="offset points", va="center_baseline", fontsize=8.5, color=INK
    )


def _label(row: dict[str, Any], *, with_pool: bool) -> str:
    name = visible(row["name"])
    name = name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
    return f"{name} ({visible(row['pool'])})" if with_pool else name


def _legend(axes: Axes) -> None:
    line = mpl.lines.Line2D
    marks = [
        line([], [], marker=">", color=UP, label="up"),
        line([], [], marker="<", color=DOWN, label="down"),
        line([], [], marker="D", color=INK, linestyle="none", label="comes or goes"),
    ]
    axes.figure.legend(handles=marks, loc="outside lower center", ncols=len(marks), frameon=False)
    axes.axvline(0, color=FAINT, linewidth=1.0, zorder=1)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)
    axes.margins(x=0.25)
