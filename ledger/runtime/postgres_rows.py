"""Encoding rows for PostgreSQL's binary COPY, to record entries and to copy ledgers to a server."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, repeat
from struct import Struct
from typing import Any, NamedTuple

COPY_HEADER, COPY_END = b"PGCOPY\n\xff\r\n\0" + bytes(8), b"\xff\xff"  # of a whole COPY
PIECE = 1 << 20  # bytes of rows that are handed on at once
MOST_ROWS = 5_000  # of a piece, regardless of their contents
AT_ONCE = 500  # rows that are packed column by column, which takes half of what value by value does
_COUNT, _LENGTH = Struct("!h").pack, Struct("!i").pack
# Length and value in one; what has no such width is text or bytes.
_NUMBERS = {"int8": (Struct("!iq").pack, 8), "int4": (Struct("!ii").pack, 4)}
_NULL = _LENGTH(-1)


class CopyPiece(NamedTuple):
    """Encoded rows, without the header and the end of a COPY."""

    rows: int
    data: bytes


class BadTextError(ValueError):
    """An error about a text that is not UTF-8.

    Attributes:
        row: the first value of its row.
    """

    def __init__(self, row: object) -> None:
        self.row = row
        super().__init__(f"row {row}: a text is not UTF-8")


def copy_pieces(types: Sequence[str], rows: Iterable[Sequence[Any]], most: int = MOST_ROWS) -> Iterator[CopyPiece]:
    """Yield rows encoded for a binary COPY, in pieces of about a megabyte.

    Args:
        types: of the columns: ``int8``, ``int4``, ``text`` or ``bytea``.
        rows: with a value, or None, for each column.
        most: rows of a piece.

    Raises:
        BadTextError: a text is not UTF-8.
    """
    begin, source = _COUNT(len(types)), iter(rows)
    parts: list[bytes] = []
    size = count = 0
    while block := list(islice(source, min(AT_ONCE, most - count))):
        try:
            columns = [begin for _ in block], *chain.from_iterable(map(_column, types, zip(*block, strict=True)))
        except UnicodeEncodeError as error:
            raise BadTextError(next(row[0] for row in block if error.object in row)) from error
        data: list[bytes] = [b""] * (len(columns) * len(block))
        for place, values in enumerate(columns):
            data[place :: len(columns)] = values
        parts.append(b"".join(data))
        size += len(parts[-1])
        count += len(block)
        if size > PIECE or count == most:
            yield CopyPiece(count, b"".join(parts))
            parts, size, count = [], 0, 0
    if count:
        yield CopyPiece(count, b"".join(parts))


def _column(kind: str, values: Sequence[Any]) -> tuple[Sequence[bytes], ...]:
    """Return a column in the format of COPY: numbers with their lengths, or lengths and their contents."""
    number, classes = _NUMBERS.get(kind), set(map(type, values))
    if number is not None:
        pack, width = number
        if classes == {int}:
            return (list(map(pack, repeat(width), values)),)
        return ([_NULL if value is None else pack(width, value) for value in values],)
    if classes == {str}:
        values = list(map(str.encode, values))
    elif classes != {bytes}:
        values = [value.encode() if isinstance(value, str) else value for value in values]
        if None in values:
            lengths = [_NULL if value is None else _LENGTH(len(value)) for value in values]
            return lengths, [value or b"" for value in values]
    return list(map(_LENGTH, map(len, values))), values
