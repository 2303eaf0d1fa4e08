"""The formats of a cross-table: text, rows for a spreadsheet, an HTML page, an SVG picture.

All of them are made from the page alone, and most from its layout (``layout``). HTML and SVG are one file each, with
no script, no font of their own, light and dark. A mark, a colour and, in the picture, a bar show the result of a
game: full for a win, half for a draw, dashed for a loss, in the colours of the rating graph. Each cell has its
mouse-over text, and the roles of a table for screen readers. The mouse-over text of a player's games is repeated
below the table of HTML, in a list that opens for each player, so that keyboards and screen readers reach it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from wcwidth import wcswidth

from ledger.answers.asking import format_average
from ledger.answers.crosstables.crosstable_data import Crosstable, CrossTableRow
from ledger.answers.crosstables.layout import (
    TableCell,
    TableColumn,
    TableLayout,
    format_percent,
    format_points,
    lay_out_table,
)
from ledger.answers.graphs.wording import format_rating
from ledger.runtime.lazy import tabulate
from ledger.runtime.visible import in_markup, visible

_ALIGN = {"left": "left", "right": "right", "centre": "center"}


def as_text(page: Crosstable) -> str:
    """Return the table as text, with names on one line and hidden characters shown; no line feed at the end."""
    layout = lay_out_table(page)
    heads = [visible(column.head) for column in layout.columns]
    cells = [[visible(cell.text) for cell in row] for row in layout.rows]
    align = [_ALIGN[column.align] for column in layout.columns]
    lines = [visible(layout.caption), *map(visible, layout.summary), ""]
    # Left to itself, tabulate takes names and marks that look like numbers for numbers, and rewrites them.
    lines.append(tabulate.tabulate(cells, headers=heads, colalign=align, disable_numparse=True))
    for title, block in layout.blocks:
        lines += ["", visible(title), *(f"  {visible(line)}" for line in block)]
    if layout.notes:
        lines += ["", *map(visible, layout.notes)]
    return "\n".join(line.rstrip() for part in lines for line in part.split("\n"))


def spreadsheet_rows(page: Crosstable) -> list[dict[str, Any]]:
    """Return one row for each player, the best first, with equal columns.

    The column ``vs_3`` has the marks of the games against row 3.

    ``rating`` is the enrolment rating; that and all others are in points, unrounded. ``TPR_`` is followed by the name
    of the performance rating. Tie-breaks are called by their abbreviations.
    """
    rows = []
    for standing in page.standings:
        met = {meeting.opponent_number: meeting.marks for meeting in standing.meetings}
        row: dict[str, Any] = {name: getattr(standing, name) for name in ("number", "place", "player", "name")}
        row["rating"] = standing.enrolment_rating
        row |= {
            name: getattr(standing, name) for name in ("closing_rating", "games", "wins", "draws", "losses", "points")
        }
        row |= {column.short: standing.tie_breaks[column.name] for column in page.tie_breaks}
        row |= {
            "opponents_mean": standing.opponents_mean,
            f"TPR_{page.performance.variant}": standing.performance,
            "er_offset_percent": standing.er_offset,
            "upsets": standing.upsets,
        }
        row |= {f"vs_{other.number}": met.get(other.number) for other in page.standings}
        rows.append(row)
    return rows


_STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #222; --faint: #d0d0d0; --soft: #f4f4f4; --quiet: #5a5a5a;
  --win: #0072b226; --draw: #8c8c8c30; --loss: #d55e0026; --edge-win: #0072b2; --edge-draw: #8c8c8c;
  --edge-loss: #d55e00; }
@media (prefers-color-scheme: dark) { :root { --paper: #16181b; --ink: #e8e8e8; --faint: #3d4147; --soft: #202327;
  --quiet: #a8adb4; --win: #0072b270; --draw: #8c8c8c45; --loss: #d55e0060; --edge-win: #56b4e9; --edge-draw: #b5b5b5;
  --edge-loss: #ff9a56; } }
body { font: 15px/1.45 system-ui, sans-serif; background: var(--paper); color: var(--ink); margin: 1.5rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-size: 1.25rem; font-weight: 600; padding-bottom: .2rem; }
caption small { display: block; font-size: .85rem; font-weight: 400; color: var(--quiet); }
th, td { padding: .22rem .5rem; border-bottom: 1px solid var(--faint); text-align: right; white-space: nowrap; }
thead th { border-bottom: 2px solid var(--quiet); font-weight: 600; }
th.left, td.left { text-align: left; } th.centre, td.centre { text-align: center; }
tbody th { font-weight: 600; }
td.win { background: var(--win); box-shadow: inset 0 -3px var(--edge-win); }
td.draw { background: var(--draw); box-shadow: inset 0 -3px var(--edge-draw); }
td.loss { background: var(--loss); box-shadow: inset 0 -3px var(--edge-loss); }
td.self { color: var(--faint); } td.upset { font-weight: 700; } td.upset::before { content: "\\25B2 "; }
[title] { cursor: help; } details { margin: .3rem 0; } summary { cursor: pointer; }
details table { margin: .4rem 0 1rem 1.2rem; font-size: .92rem; } .notes, .rounds { color: var(--ink); }
"""
_VIEW_COLUMNS = ("opponent", "result", "enrolment rating", "closing rating", "performance", "ER offset %")


def as_html(page: Crosstable) -> str:
    """Return the table as a complete HTML document; every text in it is escaped."""
    layout = lay_out_table(page)
    parts = [
        # A wide table is scrolled sideways: without a mouse that takes the focus.
        '<div class="scroll" tabindex="0" role="region" aria-label="cross-table">',
        *_html_table(layout),
        "</div>",
        *_html_blocks(layout),
        "<h2>From each player's view</h2>",
        *(line for standing in page.standings for line in _html_view(page, standing)),
    ]
    return html_document(layout.caption, parts)


def html_document(title: str, parts: Iterable[str]) -> str:
    """Return a complete HTML document of tables; *parts* are markup already."""
    lines = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{in_markup(title)}</title>",
        f"<style>{_STYLE}</style></head><body>",
        *parts,
        "</body></html>",
    ]
    return "\n".join(lines) + "\n"


def _html_table(layout: TableLayout) -> list[str]:
    small = "".join(f"<small>{in_markup(line)}</small>" for line in layout.summary)
    heads = "".join(
        f'<th scope="col" class="{column.align}" title="{in_markup(column.title)}">'
        f"{in_markup(column.head) or '<abbr title=place>#</abbr>'}</th>"
        for column in layout.columns
    )
    lines = [f"<table><caption>{in_markup(layout.caption)}{small}</caption>", f"<thead><tr>{heads}</tr></thead><tbody>"]
    for row in layout.rows:
        cells = (_html_cell(cell, column.align) for cell, column in zip(row, layout.columns, strict=True))
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return [*lines, "</tbody></table>"]


def _html_cell(cell: TableCell, align: str) -> str:
    # In an attribute a line feed must be written so for the mouse-over to have several lines.
    lines = "&#10;".join(map(in_markup, cell.title))
    title = f' title="{lines}"' if lines else ""
    if cell.kind == "name":
        return f'<th scope="row" class="{align}"{title}>{in_markup(cell.text)}</th>'
    classes = f"{align} {cell.kind}".strip()
    if cell.kind == "self":
        return f'<td class="{classes}" aria-label="no game">■</td>'
    return f'<td class="{classes}"{title}>{in_markup(cell.text)}</td>'


def _html_blocks(layout: TableLayout) -> list[str]:
    lines = []
    for title, block in layout.blocks:
        items = "".join(f"<li>{in_markup(line)}</li>" for line in block)
        lines.append(f'<h2>{in_markup(title)}</h2><ul class="rounds">{items}</ul>')
    if layout.notes:
        items = "".join(f"<li>{in_markup(note)}</li>" for note in layout.notes)
        lines.append(f'<ul class="notes">{items}</ul>')
    return lines


def _html_view(page: Crosstable, standing: CrossTableRow) -> list[str]:
    """Return the mouse-over of a player's TPR: every opponent as the player met them."""
    label = format_average(standing.performance)
    offset = format_percent(standing.er_offset)
    worth = f"TPR {label} ({page.performance.variant}), ER offset {offset} %"
    summary = f"{standing.name}: {worth}, {format_points(standing.points)} points"
    heads = "".join(
        f'<th scope="col" class="{"left" if head == "opponent" else ""}">{head}</th>' for head in _VIEW_COLUMNS
    )
    rows = "".join(
        f'<tr><th scope="row" class="left">{in_markup(meeting.opponent)}</th><td>{meeting.marks}</td>'
        f"<td>{format_rating(meeting.opponent_enrolment_rating)}</td><td>{format_rating(meeting.opponent_closing_rating)}</td>"
        f"<td>{format_average(meeting.performance)}</td><td>{format_percent(meeting.er_offset)}</td></tr>"
        for meeting in standing.meetings
    )
    caption = f"Enrolment and closing ratings of the opponents, and how {in_markup(standing.name)} performed"
    return [
        f"<details><summary>{in_markup(summary)}</summary>",
        f"<table><caption><small>{caption}</small></caption><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>",
        "</details>",
    ]


FONT_SIZE, ROW_HEIGHT, PADDING = 13, 22, 7  # of the letters, of a row, next to a text; pixels
MARGIN, TOP = 16, 74
WIDEST_NAME = 34  # columns of letters; a longer name is cut, the mouse-over has it whole
WIN, DRAW, LOSS = "#0072B2", "#8C8C8C", "#D55E00"
WIDEST_CAPTION, WIDEST_LINE = 72, 130  # the same of the heading and of a line below the table
_LETTER = 7.3  # pixels; wider than the mean of sans-serif letters of that size
_DIGIT, _HALF = 8.3, 12.7  # pixels of ``0`` and ``½``, of which the marks of several games are made

_LIGHT = {"paper": "#FFFFFF", "ink": "#222222", "quiet": "#5A5A5A", "faint": "#D0D0D0", "soft": "#F4F4F4"}
_DARK = {"paper": "#16181B", "ink": "#E8E8E8", "quiet": "#A8ADB4", "faint": "#4A4F57", "soft": "#202327"}
_BRIGHT = {WIN: "#56B4E9", DRAW: "#B5B5B5", LOSS: "#FF9A56"}  # of the bars on dark paper


def as_svg(page: Crosstable, *, dark: bool | None = None) -> str:
    """Return the table as an SVG document; every text in it is escaped.

    It is light or dark; None: it has the theme of its reader's system.
    """
    layout = lay_out_table(page)
    widths = [
        max(map(_width, (column.head, *(_cut(row[place].text) for row in layout.rows)))) + 2 * PADDING
        for place, column in enumerate(layout.columns)
    ]
    below = [line for title, block in layout.blocks for line in (title, *(f"   {line}" for line in block))]
    below = [_cut(line, WIDEST_LINE) for line in (*below, *layout.notes)]
    caption = _cut(layout.caption, WIDEST_CAPTION)
    # The caption has larger and bold letters, which are wider than ``_width`` reckons.
    width = max(sum(widths), *map(_width, (*layout.summary, *below)), 1.6 * _width(caption)) + 2 * MARGIN
    height = TOP + ROW_HEIGHT * (len(layout.rows) + 1) + (len(below) + 1) * 19 + MARGIN
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
        *_svg_rows(layout, widths),
    ]
    y = TOP + ROW_HEIGHT * (len(layout.rows) + 1) + 26
    for line in below:
        # Without ``preserve`` the blanks before the lines of a block would be dropped.
        parts.append(f'<text class="quiet" x="{MARGIN}" y="{y}" xml:space="preserve">{in_markup(line)}</text>')
        y += 19
    return "\n".join([*parts, "</svg>"]) + "\n"


def _colours(paint: dict[str, str], *, is_dark: bool) -> str:
    win, draw, loss = (_BRIGHT[colour] if is_dark else colour for colour in (WIN, DRAW, LOSS))
    return (
        f"text {{ font: {FONT_SIZE}px system-ui, 'DejaVu Sans', Arial, sans-serif; fill: {paint['ink']}; }} "
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


def _svg_rows(layout: TableLayout, widths: Sequence[float]) -> list[str]:
    lines = [f'<g role="row">{_heads(layout.columns, widths)}</g>']
    right = MARGIN + sum(widths)
    y = TOP + ROW_HEIGHT
    for number, row in enumerate(layout.rows):
        soft = f'<rect class="soft" x="{MARGIN}" y="{y}" width="{right - MARGIN:.1f}" height="{ROW_HEIGHT}"/>'
        lines.append(f'<g role="row">{soft if number % 2 else ""}')
        x = float(MARGIN)
        for cell, column, width in zip(row, layout.columns, widths, strict=True):
            lines.append(_svg_cell(cell, column, x, y, width))
            x += width
        lines.append("</g>")
        y += ROW_HEIGHT
    return [*lines, f'<path class="line" d="M{MARGIN} {TOP + ROW_HEIGHT}H{right:.1f}M{MARGIN} {y}H{right:.1f}"/>']


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
        return x + PADDING, "start"
    return (x + width / 2, "middle") if column.align == "centre" else (x + width - PADDING, "end")


def _svg_cell(cell: TableCell, column: TableColumn, x: float, y: float, width: float) -> str:
    at, anchor = _anchor(column, x, width)
    title = f"<title>{'&#10;'.join(map(in_markup, cell.title))}</title>" if cell.title else ""
    role = "rowheader" if cell.kind == "name" else "cell"
    if cell.kind == "self":
        box = f'<rect class="self" x="{x + 3:.1f}" y="{y + 3}" width="{width - 6:.1f}" height="{ROW_HEIGHT - 6}"/>'
        return f'<g role="{role}">{title}{box}</g>'
    bar = ""
    if cell.kind in {"win", "draw", "loss"}:
        bar = f'<path class="{cell.kind}" d="M{x + 3:.1f} {y + ROW_HEIGHT - 2.5}H{x + width - 3:.1f}"/>'
    label = f"▲ {cell.text}" if cell.kind == "upset" else _cut(cell.text)
    style = ' class="upset"' if cell.kind == "upset" else ""
    text = f'<text{style} x="{at:.1f}" y="{y + 15}" text-anchor="{anchor}">{in_markup(label)}</text>'
    # An unseen box, so that the mouse-over shows next to the letters, too.
    hit = f'<rect fill="none" pointer-events="all" x="{x:.1f}" y="{y}" width="{width:.1f}" height="{ROW_HEIGHT}"/>'
    return f'<g role="{role}">{title}{hit if title else ""}{bar}{text}</g>'
