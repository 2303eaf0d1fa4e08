"""Rows of a spreadsheet that have a few fields too many or too few without anything being wrong with them.

Programs write dividers behind the last column, and leave them out where a row's last cells are empty (Excel does after
sixteen such rows). What a field means is not known here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from ledger.imports.csv.header import Layout

if TYPE_CHECKING:
    from typing import Any


class Found(Protocol):
    """Where rows of a block lie, as ``rows`` finds them."""

    @property
    def starts(self) -> Any: ...  # noqa: D102
    @property
    def ends(self) -> Any: ...  # noqa: D102
    @property
    def fields(self) -> Any: ...  # noqa: D102


def whole_row(fields: Sequence[str], layout: Layout, *, may_be_cut: bool) -> list[str]:
    """The fields of a row as many as the header names, where nothing is lost by that; otherwise as they are.

    Args:
        fields: of the row.
        layout: how many there should be.
        may_be_cut: the row is the last of a file and has no line end, so that a missing field may have said something.
    """
    if len(fields) > layout.width and not any(field.strip() for field in fields[layout.width :]):
        return list(fields[: layout.width])
    if layout.least <= len(fields) < layout.width and not may_be_cut:
        return [*fields, *[""] * (layout.width - len(fields))]
    return list(fields)


def with_mended_rows(block: bytes, rows: Found, odd: Sequence[int], layout: Layout, *, is_bare: bool) -> bytes:
    """A block in which the rows numbered *odd* have the fields of the header, where nothing is lost by that.

    Args:
        block: some rows, and what comes after them.
        rows: where they lie.
        odd: which of them have another number of fields.
        layout: how many there should be.
        is_bare: the last byte of the block is a line end that the file does not have.
    """
    parts: list[bytes] = []
    done = 0
    for row in odd:
        start, end, fields = int(rows.starts[row]), int(rows.ends[row]), int(rows.fields[row])
        may_be_cut = is_bare and end == len(block)
        mended = _mended(block[start:end], fields, layout, may_be_cut=may_be_cut)
        if mended is not None:
            parts += (block[done:start], mended)
            done = end
    return b"".join((*parts, block[done:])) if parts else block


def _mended(row: bytes, fields: int, layout: Layout, *, may_be_cut: bool) -> bytes | None:
    mark, text = layout.delimiter.encode(), row[:-1]
    if layout.least <= fields < layout.width and text.strip():
        return None if may_be_cut else text + mark * (layout.width - fields) + b"\n"
    for _ in range(fields - layout.width):
        text = text.rstrip(b" \r")
        if not text.endswith(mark):
            return None
        text = text[:-1]
    return text + b"\n" if fields > layout.width else None
