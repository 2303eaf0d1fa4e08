"""A cross-table as a picture (SVG): no script, no font of its own, light and dark. Made from the page alone.

Results are told by their marks and by a bar below them: full for a win, half for a draw, dashed for a loss, in the
colours of the rating graph. Each cell has its mouse-over text, and the roles of a table for screen readers.
"""

from __future__ import annotations

from collections.abc import Sequence

from wcwidth import wcswidth

from ledger.answers.crosstables.layout import TableCell, TableColumn, TableLayout, laid_out
from ledger.answers.crosstables.page import Crosstable
from ledger.runtime.visible import in_markup, visible

SIZE, LINE, PAD = 13, 22, 7  # of the letters, of a row, beside a text; pixels
MARGIN, TOP = 16, 74
WIDEST_NAME = 34  # columns of letters; a longer name is cut, the mouse-over has it whole
WIN, DRAW, LOSS = "#0072B2", "#8C8C8C", "#D55E00"
WIDEST_CAPTION, WIDEST_LINE = 72, 130  # the same of the heading and of a line below the table
_LETTER = 7.3  # pixels; wider than the mean of sans-serif letters of that size
_DIGIT, _HALF = 8.3, 12.7  # pixels of ``0`` and ``½``, of which the marks of several games are made

_LIGHT = {"paper": "#FFFFFF", "ink": "#222222", "quiet": "#5A5A5A", "faint": "#D0D0D0", "soft": "#F4F4F4"}
_DARK = {"paper": "#16181B", "ink": "#E8E8E8", "quiet": "#A8ADB4", "faint": "#4A4F57", "soft": "#202327"}
_BRIGHT = {WIN: "#56B4E9", DRAW: "#B5B5B5", LOSS: "#FF9A56"}  # of the bars on dark paper


def drawn(page: Crosstable, *, dark: bool | None = None) -> str:
    """The picture as an SVG document; every text in it is escaped.

    Args:
        page: the data.
        dark: light or dark for good; None: as the reader's system has it.
    """
    layout = laid_out(page)
    widths = [
        max(map(_width, (column.head, *(_cut(row[place].text) for row in layout.rows)))) + 2 * PAD
        for place, column in enumerate(layout.columns)
    ]
    below = [line for title, block in layout.blocks for line in (title, *(f"   {line}" for line in block))]
    below = [_cut(line, WIDEST_LINE) for line in (*below, *layout.notes)]
    caption = _cut(layout.caption, WIDEST_CAPTION)
    # The caption has larger and bold letters, which are wider than ``_width`` reckons.
    width = max(sum(widths), *map(_width, (*layout.summary, *below)), 1.6 * _width(caption)) + 2 * MARGIN
    height = TOP + LINE * (len(layout.rows) + 1) + (len(below) + 1) * 19 + MARGIN
    label = in_markup(layout.caption)
    style = _colours(_DARK if dark else _LIGHT, is_dark=bool(dark))
    if dark is None:
        style += f" @media (prefers-color-scheme: dark) {{ {_colours(_DARK, is_dark=True)} }}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="table" aria-label="{label}">',
        f"<title>{label}</title>",
        f"<desc>{in_markup('; '.join(layout.summary))}</desc>",
        f"<style>{style}</style>",
        f'<rect class="paper" width="{width:.0f}" height="{height:.0f}"/>',
        f'<text class="caption" x="{MARGIN}" y="28">{in_markup(caption)}</text>',
        *(
            f'<text class="quiet" x="{MARGIN}" y="{46 + 16 * place}">{in_markup(line)}</text>'
            for place, line in enumerate(layout.summary)
        ),
        *_rows(layout, widths),
    ]
    y = TOP + LINE * (len(layout.rows) + 1) + 26
    for line in below:
        # Without ``preserve`` the blanks before the lines of a block would be dropped.
        parts.append(f'<text class="quiet" x="{MARGIN}" y="{y}" xml:space="preserve">{in_markup(line)}</text>')
        y += 19
    return "\n".join([*parts, "</svg>"]) + "\n"


def _colours(paint: dict[str, str], *, is_dark: bool) -> str:
    win, draw, loss = (_BRIGHT[colour] if is_dark else colour for colour in (WIN, DRAW, LOSS))
    return (
        f"text {{ font: {SIZE}px system-ui, 'DejaVu Sans', Arial, sans-serif; fill: {paint['ink']}; }} "
        f".paper {{ fill: {paint['paper']}; }} .soft {{ fill: {paint['soft']}; }} .quiet {{ fill: {paint['quiet']}; }} "
        f".line {{ stroke: {paint['faint']}; }} .head {{ font-weight: bold; }} "
        ".caption { font-size: 18px; font-weight: bold; } "
        f".self {{ fill: {paint['faint']}; }} .upset {{ font-weight: bold; }} "
        f".win {{ stroke: {win}; stroke-width: 4; }} .draw {{ stroke: {draw}; stroke-width: 2; }} "
        f".loss {{ stroke: {loss}; stroke-width: 3; stroke-dasharray: 3 2; }}"
    )


def _width(text: str) -> float:
    text = visible(text)
    digits, halves = sum(letter.isascii() and letter.isdigit() for letter in text), text.count("½")
    return _LETTER * (max(0, wcswidth(text)) - digits - halves) + _DIGIT * digits + _HALF * halves


def _cut(text: str, longest: int = WIDEST_NAME) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _rows(layout: TableLayout, widths: Sequence[float]) -> list[str]:
    lines = [f'<g role="row">{_heads(layout.columns, widths)}</g>']
    right = MARGIN + sum(widths)
    y = TOP + LINE
    for number, row in enumerate(layout.rows):
        soft = f'<rect class="soft" x="{MARGIN}" y="{y}" width="{right - MARGIN:.1f}" height="{LINE}"/>'
        lines.append(f'<g role="row">{soft if number % 2 else ""}')
        x = float(MARGIN)
        for cell, column, width in zip(row, layout.columns, widths, strict=True):
            lines.append(_cell(cell, column, x, y, width))
            x += width
        lines.append("</g>")
        y += LINE
    return [*lines, f'<path class="line" d="M{MARGIN} {TOP + LINE}H{right:.1f}M{MARGIN} {y}H{right:.1f}"/>']


def _heads(columns: Sequence[TableColumn], widths: Sequence[float]) -> str:
    x, heads = float(MARGIN), []
    for column, width in zip(columns, widths, strict=True):
        at, anchor = _anchor(column, x, width)
        heads.append(
            f'<g role="columnheader"><title>{in_markup(column.title)}</title><text class="head" x="{at:.1f}" '
            f'y="{TOP + 15}" text-anchor="{anchor}">{in_markup(column.head) or "#"}</text></g>'
        )
        x += width
    return "".join(heads)


def _anchor(column: TableColumn, x: float, width: float) -> tuple[float, str]:
    if column.align == "left":
        return x + PAD, "start"
    return (x + width / 2, "middle") if column.align == "centre" else (x + width - PAD, "end")


def _cell(cell: TableCell, column: TableColumn, x: float, y: float, width: float) -> str:
    at, anchor = _anchor(column, x, width)
    title = f"<title>{'&#10;'.join(map(in_markup, cell.title))}</title>" if cell.title else ""
    role = "rowheader" if cell.kind == "name" else "cell"
    if cell.kind == "self":
        box = f'<rect class="self" x="{x + 3:.1f}" y="{y + 3}" width="{width - 6:.1f}" height="{LINE - 6}"/>'
        return f'<g role="{role}">{title}{box}</g>'
    bar = ""
    if cell.kind in {"win", "draw", "loss"}:
        bar = f'<path class="{cell.kind}" d="M{x + 3:.1f} {y + LINE - 2.5}H{x + width - 3:.1f}"/>'
    shown = f"▲ {cell.text}" if cell.kind == "upset" else _cut(cell.text)
    style = ' class="upset"' if cell.kind == "upset" else ""
    text = f'<text{style} x="{at:.1f}" y="{y + 15}" text-anchor="{anchor}">{in_markup(shown)}</text>'
    # An unseen box, so that the mouse-over shows beside the letters, too.
    hit = f'<rect fill="none" pointer-events="all" x="{x:.1f}" y="{y}" width="{width:.1f}" height="{LINE}"/>'
    return f'<g role="{role}">{title}{hit if title else ""}{bar}{text}</g>'
