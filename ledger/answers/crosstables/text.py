"""A cross-table in characters, and as rows for a spreadsheet: a row a player, numbers as numbers."""

from __future__ import annotations

from typing import Any

from ledger.answers.crosstables.layout import laid_out
from ledger.answers.crosstables.page import Crosstable
from ledger.runtime.lazy import tabulate
from ledger.runtime.visible import visible

_ALIGN = {"left": "left", "right": "right", "centre": "center"}


def drawn(page: Crosstable) -> str:
    """The table as text, every name on one line and nothing hidden in it; no line feed at the end."""
    layout = laid_out(page)
    heads = [visible(column.head) for column in layout.columns]
    cells = [[visible(cell.text) for cell in row] for row in layout.rows]
    align = [_ALIGN[column.align] for column in layout.columns]
    lines = [visible(layout.caption), *map(visible, layout.summary), ""]
    # Left to itself, tabulate takes names and marks that look like numbers for numbers, and writes them anew.
    lines.append(tabulate.tabulate(cells, headers=heads, colalign=align, disable_numparse=True))
    for title, block in layout.blocks:
        lines += ["", visible(title), *(f"  {visible(line)}" for line in block)]
    if layout.notes:
        lines += ["", *map(visible, layout.notes)]
    return "\n".join(line.rstrip() for part in lines for line in part.split("\n"))


def spreadsheet_rows(page: Crosstable) -> list[dict[str, Any]]:
    """A row a player, the best first, all with the same columns; ``vs_3`` are the marks against row 3 of the table.

    ``rating`` is the enrolment rating; that and all others are in points, unrounded. ``TPR_`` is followed by the name
    of the performance rating. Tie-breaks are called by their abbreviations.
    """
    rows = []
    for standing in page.standings:
        met = {meeting.opponent_number: meeting.marks for meeting in standing.meetings}
        row: dict[str, Any] = {
            "number": standing.number,
            "place": standing.place,
            "player": standing.player,
            "name": standing.name,
            "rating": standing.enrolment_rating,
            "closing_rating": standing.closing_rating,
            "games": standing.games,
            "wins": standing.wins,
            "draws": standing.draws,
            "losses": standing.losses,
            "points": standing.points,
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
