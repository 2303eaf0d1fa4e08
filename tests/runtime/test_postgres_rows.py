"""Rows as PostgreSQL's binary COPY has them: value by value what its documentation says, in pieces of a size."""

from collections.abc import Sequence
from struct import pack
from typing import Any

import pytest

from ledger.runtime import postgres_rows
from ledger.runtime.postgres_rows import BadTextError, pieces

TYPES = ("int8", "int4", "text", "bytea")


def plainly(rows: Sequence[Sequence[Any]]) -> bytes:
    """The same, one value after the other."""
    said = []
    for row in rows:
        said.append(pack("!h", len(row)))
        for kind, value in zip(TYPES, row, strict=True):
            if value is None:
                said.append(pack("!i", -1))
                continue
            raw = value.encode() if isinstance(value, str) else value
            raw = pack("!q" if kind == "int8" else "!i", raw) if isinstance(raw, int) else raw
            said.append(pack("!i", len(raw)) + raw)
    return b"".join(said)


ROWS = [
    (1, -1, "ann", b"\0\xff"),
    (-(2**63), 2**31 - 1, "", b""),
    (2**63 - 1, 0, "Žofie 棋", b"x" * 70_000),
    (None, None, None, None),
    (5, None, "b" * 300, None),
    (6, 6, b"as bytes", "as text"),
    (7, 7, None, b"bytes again"),
]


@pytest.mark.parametrize("at_once", [1, 2, 3, 500])
@pytest.mark.parametrize("most", [1, 3, 5_000])
def test_every_value_stands_as_copy_takes_it(at_once: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever stands in one column with it: all of one type, some of them, nothing."""
    monkeypatch.setattr(postgres_rows, "AT_ONCE", at_once)
    made = list(pieces(TYPES, iter(ROWS), most))
    assert b"".join(piece.data for piece in made) == plainly(ROWS)
    assert sum(piece.rows for piece in made) == len(ROWS)
    assert max(piece.rows for piece in made) <= most
    assert all(piece.data == plainly(ROWS[first : first + piece.rows]) for first, piece in _placed(made))


def _placed(made: Sequence[postgres_rows.Piece]) -> list[tuple[int, postgres_rows.Piece]]:
    return [(sum(piece.rows for piece in made[:place]), piece) for place, piece in enumerate(made)]


def test_pieces_end_after_a_megabyte_or_so_many_rows() -> None:
    long = [(number, 0, "t", bytes(10_000)) for number in range(1_500)]
    sizes = [len(piece.data) for piece in pieces(TYPES, long)]
    assert len(sizes) == 3
    assert max(sizes) < 6 * postgres_rows.PIECE
    assert [piece.rows for piece in pieces(TYPES, [(1, 1, "", b"")] * 12, 5)] == [5, 5, 2]
    assert list(pieces(TYPES, [])) == []


def test_a_text_that_is_none_is_told_with_its_row() -> None:
    rows = [(number, 0, "\ud800" if number == 8 else "fine", b"") for number in range(1, 20)]
    with pytest.raises(BadTextError) as caught:
        list(pieces(TYPES, rows))
    assert caught.value.row == 8
