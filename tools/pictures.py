"""A comparison of schemes as a picture: calibration, log-loss, and the ratings through the years, as SVG or PNG.

Drawn by matplotlib, which is optional. Colour, marker and line distinguish schemes, so that no reader has to
see colours. The same comparison gives the same bytes. Names are drawn as ``visible`` has them, and never as formulas.
"""

from __future__ import annotations

import warnings
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ledger.answers.comparing.comparison import Comparison, SchemeFigures
from ledger.runtime.lazy import mpl, mpl_figure
from ledger.runtime.visible import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KINDS = (".svg", ".png")
# Okabe and Ito's colours for all kinds of colour vision, but for yellow, which is too pale for lines on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
INK, FAINT = "#333333", "#B8B8B8"
FEWEST_GAMES = 20  # a mean score over fewer games is chance
FEWEST_SHARE = 0.01  # so is the mean rating of fewer players, as a share of those of the busiest year
STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans", "font.size": 9.5, "axes.titlesize": 11, "axes.titleweight": "bold",
    "axes.titlelocation": "left", "axes.titlepad": 10, "axes.edgecolor": FAINT, "axes.labelcolor": INK,
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "axes.axisbelow": True,
    "grid.color": "#E6E6E6", "grid.linewidth": 0.8, "text.color": INK, "xtick.color": INK, "ytick.color": INK,
    "xtick.major.size": 0, "ytick.major.size": 0, "svg.hashsalt": "rating-ledger", "svg.fonttype": "path",
    "text.parse_math": False, "backend": "agg",
    "figure.constrained_layout.w_pad": 0.12, "figure.constrained_layout.h_pad": 0.1,
}  # fmt: skip


class SchemeLook(NamedTuple):
    """The colours and marks of one scheme."""

    colour: str
    marker: str
    line: Any


def check_available() -> None:
    """Refuse where matplotlib is not installed.

    Raises:
        ClickException: it is not; says how to get it.
    """
    try:
        mpl.rc_context  # noqa: B018  # loads it
    except ImportError:
        raise click.ClickException(
            "--picture needs matplotlib, which is not installed: pip install 'rating-ledger[pictures]'"
        ) from None


def draw(compared: Comparison, kind: str) -> bytes:
    """Return the picture of a comparison; *kind* is one of ``KINDS``."""
    looks = [
        SchemeLook(COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)], LINES[i % len(LINES)])
        for i in range(len(compared.schemes))
    ]
    with mpl.rc_context({**mpl.rcParamsDefault, **STYLE}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # a letter that the font lacks is drawn as a box
        figure = mpl_figure.Figure(figsize=(11, 8.6), layout="constrained")
        panels = figure.subplot_mosaic([["calibration", "loss"], ["years", "years"]], height_ratios=[1.15, 1.0])
        _calibration(panels["calibration"], compared.schemes, looks)
        _loss(panels["loss"], compared, looks)
        _years(panels["years"], compared.schemes, looks)
        _words(figure, compared, looks)
        out = BytesIO()
        metadata = {"Date": None, "Creator": None} if kind == ".svg" else {"Software": None}
        figure.savefig(out, format=kind.removeprefix("."), dpi=150, metadata=metadata)
    return out.getvalue()


def _words(figure: Figure, compared: Comparison, looks: list[SchemeLook]) -> None:
    """Draw the title and the legend of all panels."""
    games, what = compared.schemes[0].games, f"{compared.replayed:,} games"
    if games != compared.replayed:
        without = " without provisional players" if compared.established else ""
        what = f"{games:,} predictions{without} in {what}"
    pool = visible(compared.pool)
    span = f"{compared.first_game} to {compared.last_game}"
    figure.suptitle(f"Pool {pool}: {what}, {span}", x=0.015, ha="left", fontsize=13)
    lines = [
        mpl.lines.Line2D([], [], color=look.colour, marker=look.marker, linestyle=look.line, markersize=6)
        for look in looks
    ]
    names = [visible(scheme.scheme) for scheme in compared.schemes]
    figure.legend(lines, names, loc="outside lower center", ncols=min(len(names), 6), frameon=False, handlelength=3.2)


def _calibration(axes: Axes, schemes: tuple[SchemeFigures, ...], looks: list[SchemeLook]) -> None:
    axes.plot([0, 1], [0, 1], color=FAINT, linewidth=1.2, zorder=1)
    axes.text(
        0.05,
        0.03,
        "as predicted",
        rotation=45,
        rotation_mode="anchor",
        transform_rotates_text=True,
        va="top",
        color="#777777",
        fontsize=8.5,
    )
    for scheme, look in zip(schemes, looks, strict=True):
        seen = [bin_ for bin_ in scheme.calibration if bin_.games >= FEWEST_GAMES]
        expected, scored = [bin_.predicted or 0.0 for bin_ in seen], [bin_.scored or 0.0 for bin_ in seen]
        axes.plot(
            expected,
            scored,
            color=look.colour,
            marker=look.marker,
            linestyle=look.line,
            linewidth=1.6,
            markersize=5.5,
            markeredgecolor="white",
            markeredgewidth=0.6,
            zorder=3,
        )
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="expected score of White", ylabel="actual score of White")
    axes.set_title("Calibration")


def _loss(axes: Axes, compared: Comparison, looks: list[SchemeLook]) -> None:
    """Bars from what an even guess costs to what each scheme's predictions cost: the longer to the left, the better."""
    best = min(compared.even, *(scheme.log_loss for scheme in compared.schemes))
    worst = max(compared.even, *(scheme.log_loss for scheme in compared.schemes))
    width = max(compared.even - best, 0.01)
    end = min(worst, compared.even + width) + 0.04 * width  # one that is far worse than a guess runs out of the panel
    thick = min(9.0, 72.0 / len(compared.schemes))
    for row, (scheme, look) in enumerate(zip(compared.schemes, looks, strict=True)):
        bar = [compared.even, min(scheme.log_loss, end)]
        axes.plot(bar, [row, row], color=look.colour, linewidth=thick, solid_capstyle="butt", zorder=2)
        if scheme.log_loss <= end:
            axes.plot(
                [scheme.log_loss],
                [row],
                color=look.colour,
                marker=look.marker,
                markersize=thick + 3,
                markeredgewidth=0,
                zorder=3,
            )
        axes.annotate(
            f"{scheme.log_loss:.4f}",
            (min(scheme.log_loss, compared.even), row),
            xytext=(-12, 0),
            textcoords="offset points",
            ha="right",
            va="center_baseline",
        )
    axes.axvline(compared.even, color=INK, linewidth=1.0, zorder=4)
    axes.set(xlim=(best - 0.28 * (end - best), end), ylim=(len(compared.schemes) - 0.4, -0.6))
    axes.set_yticks(range(len(compared.schemes)), [visible(scheme.scheme) for scheme in compared.schemes])
    axes.set_xlabel(f"mean log-loss; {compared.even:.4f}: an even score in every game")
    axes.grid(visible=False, axis="y")
    axes.set_title("Log-loss of the predictions (less is better)")


def _years(axes: Axes, schemes: tuple[SchemeFigures, ...], looks: list[SchemeLook]) -> None:
    pale = min(0.11, 0.5 / len(schemes))
    busiest = max(year.players for scheme in schemes for year in scheme.years)
    for scheme, look in zip(schemes, looks, strict=True):
        seen = [
            (year.year, year.mean, year.spread)
            for year in scheme.years
            if year.players >= FEWEST_SHARE * busiest and year.mean is not None and year.spread is not None
        ]
        years, means = [year for year, _, _ in seen], [mean for _, mean, _ in seen]
        low, high = [mean - spread for _, mean, spread in seen], [mean + spread for _, mean, spread in seen]
        axes.fill_between(years, low, high, color=look.colour, alpha=pale, linewidth=0, zorder=1)
        axes.plot(
            years,
            means,
            color=look.colour,
            marker=look.marker,
            linestyle=look.line,
            linewidth=1.6,
            markersize=4.5,
            markeredgecolor="white",
            markeredgewidth=0.5,
            zorder=3,
        )
    axes.xaxis.set_major_locator(mpl.ticker.MaxNLocator(integer=True, nbins=14))
    axes.margins(x=0.01)
    axes.set(xlabel="year (each with 1 % or more of the players of the busiest one)", ylabel="rating")
    axes.set_title("Last ratings of the year: mean and standard deviation of the players active in it")
