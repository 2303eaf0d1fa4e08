"""A cross-table as an HTML page: one file, no script, light and dark. Made from the page alone.

The result of a game is told by its mark and, beside that, by a colour. What a mouse-over says of a player's games
stands below the table once more, in a list that opens for each player, so that keyboards and screen readers reach it.
"""

from __future__ import annotations

from ledger.answers.crosstables.layout import TableCell, TableLayout, half, laid_out, percent, rating
from ledger.answers.crosstables.page import Crosstable, Standing
from ledger.answers.wording import average
from ledger.runtime.visible import in_markup

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
_VIEW = (
    "opponent",
    "result",
    "enrolment rating",
    "closing rating",
    "performance",
    "ER offset %",
)


def drawn(page: Crosstable) -> str:
    """The page as a whole HTML document; every text in it is escaped."""
    layout = laid_out(page)
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{in_markup(layout.caption)}</title>",
        f"<style>{_STYLE}</style></head><body>",
        # A wide table is scrolled sideways: without a mouse that takes the focus.
        '<div class="scroll" tabindex="0" role="region" aria-label="cross-table">',
        *_table(layout),
        "</div>",
        *_blocks(layout),
        "<h2>From each player's view</h2>",
        *(line for standing in page.standings for line in _view(page, standing)),
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def _table(layout: TableLayout) -> list[str]:
    small = "".join(f"<small>{in_markup(line)}</small>" for line in layout.summary)
    heads = "".join(
        f'<th scope="col" class="{column.align}" title="{in_markup(column.title)}">'
        f"{in_markup(column.head) or '<abbr title=place>#</abbr>'}</th>"
        for column in layout.columns
    )
    lines = [f"<table><caption>{in_markup(layout.caption)}{small}</caption>", f"<thead><tr>{heads}</tr></thead><tbody>"]
    for row in layout.rows:
        cells = (_cell(cell, column.align) for cell, column in zip(row, layout.columns, strict=True))
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return [*lines, "</tbody></table>"]


def _cell(cell: TableCell, align: str) -> str:
    # In an attribute a line feed must be written so for the mouse-over to have several lines.
    lines = "&#10;".join(map(in_markup, cell.title))
    title = f' title="{lines}"' if lines else ""
    if cell.kind == "name":
        return f'<th scope="row" class="{align}"{title}>{in_markup(cell.text)}</th>'
    classes = f"{align} {cell.kind}".strip()
    if cell.kind == "self":
        return f'<td class="{classes}" aria-label="no game">■</td>'
    return f'<td class="{classes}"{title}>{in_markup(cell.text)}</td>'


def _blocks(layout: TableLayout) -> list[str]:
    lines = []
    for title, block in layout.blocks:
        items = "".join(f"<li>{in_markup(line)}</li>" for line in block)
        lines.append(f'<h2>{in_markup(title)}</h2><ul class="rounds">{items}</ul>')
    if layout.notes:
        items = "".join(f"<li>{in_markup(note)}</li>" for note in layout.notes)
        lines.append(f'<ul class="notes">{items}</ul>')
    return lines


def _view(page: Crosstable, standing: Standing) -> list[str]:
    """What the mouse-over of a player's TPR shows: every opponent as the player met them."""
    shown = average(standing.performance)
    offset = percent(standing.er_offset)
    worth = f"TPR {shown} ({page.performance.variant}), ER offset {offset} %"
    summary = f"{standing.name}: {worth}, {half(standing.points)} points"
    heads = "".join(f'<th scope="col" class="{"left" if head == "opponent" else ""}">{head}</th>' for head in _VIEW)
    rows = "".join(
        f'<tr><th scope="row" class="left">{in_markup(meeting.opponent_name)}</th><td>{meeting.marks}</td>'
        f"<td>{rating(meeting.opponent_enrolment_rating)}</td><td>{rating(meeting.opponent_closing_rating)}</td>"
        f"<td>{average(meeting.performance)}</td><td>{percent(meeting.er_offset)}</td></tr>"
        for meeting in standing.meetings
    )
    caption = f"Enrolment and closing ratings of the opponents, and how {in_markup(standing.name)} performed"
    return [
        f"<details><summary>{in_markup(summary)}</summary>",
        f"<table><caption><small>{caption}</small></caption><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>",
        "</details>",
    ]
