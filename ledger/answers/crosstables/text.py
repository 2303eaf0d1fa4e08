"""A cross-table in characters. Made from the page alone."""

from __future__ import annotations

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
    lines.append(tabulate.tabulate(cells, headers=heads, colalign=align, disable_numparse=True))
    for title, block in layout.blocks:
        lines += ["", visible(title), *(f"  {visible(line)}" for line in block)]
    if layout.notes:
        lines += ["", *map(visible, layout.notes)]
    return "\n".join(line.rstrip() for part in lines for line in part.split("\n"))
