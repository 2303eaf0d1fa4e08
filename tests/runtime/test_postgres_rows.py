"""Rows as PostgreSQL's binary COPY has them, and addresses: what is shown of one, and what it may not have in it."""

from collections.abc import Sequence
from struct import pack
from typing import Any

import pytest

from ledger.errors import StorageError
from ledger.runtime import postgres, postgres_rows
from ledger.runtime.postgres_rows import BadTextError, copy_pieces
from ledger.runtime.postgres_session import packed_array, packed_bigint

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
    made = list(copy_pieces(TYPES, iter(ROWS), most))
    assert b"".join(piece.data for piece in made) == plainly(ROWS)
    assert sum(piece.rows for piece in made) == len(ROWS)
    assert max(piece.rows for piece in made) <= most
    assert all(piece.data == plainly(ROWS[first : first + piece.rows]) for first, piece in _placed(made))


def _placed(made: Sequence[postgres_rows.CopyPiece]) -> list[tuple[int, postgres_rows.CopyPiece]]:
    return [(sum(piece.rows for piece in made[:place]), piece) for place, piece in enumerate(made)]


def test_pieces_end_after_a_megabyte_or_so_many_rows() -> None:
    long = [(number, 0, "t", bytes(10_000)) for number in range(1_500)]
    sizes = [len(piece.data) for piece in copy_pieces(TYPES, long)]
    assert len(sizes) == 3
    assert max(sizes) < 6 * postgres_rows.PIECE
    assert [piece.rows for piece in copy_pieces(TYPES, [(1, 1, "", b"")] * 12, 5)] == [5, 5, 2]
    assert list(copy_pieces(TYPES, [])) == []


def test_a_text_that_is_none_is_told_with_its_row() -> None:
    rows = [(number, 0, "\ud800" if number == 8 else "fine", b"") for number in range(1, 20)]
    with pytest.raises(BadTextError) as caught:
        list(copy_pieces(TYPES, rows))
    assert caught.value.row == 8


SECRET = "s3cr:t/?@x"


@pytest.mark.outside  # psycopg reads the address
@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ann:s3cr@db1/chess",
        "postgresql://ann:s3cr%3At@db1:5432,db2:5433/chess?sslmode=require",
        f"postgresql://ann:{SECRET}@db1/chess",
        "postgresql://:s3cr@/chess",
        "postgres://ann:12/s3cr@db1/chess",
        "postgresql://ann@db1/chess?password=s3cr&sslmode=require",
        "postgresql://ann@db1/chess?sslmode=require&sslpassword=s3cr",
        "host=db1 user=ann password=s3cr dbname=chess",
        "host=db1 password = 's3cr it\\'s' dbname=chess",
    ],
)
def test_no_password_is_shown_and_none_may_stand_in_an_address(address: str) -> None:
    assert "s3cr" in address
    assert "s3cr" not in postgres.without_password(address)
    with pytest.raises(StorageError) as refused:
        postgres.connect(address)
    assert "s3cr" not in str(refused.value)
    assert "has a password in it" in str(refused.value) or "is no address of a database" in str(refused.value)


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ann@db1/chess", "postgresql://db1:5432/chess", "postgresql://ann@[::1]:5432/chess",
        "postgresql:///chess?host=/run/postgresql&application_name=club", "service=club", "host=db1 passfile=/etc/pass",
    ],
)  # fmt: skip
def test_an_address_without_a_password_is_shown_as_it_is(address: str) -> None:
    assert postgres.without_password(address) == address


def test_names_stand_in_quotes() -> None:
    assert postgres.quoted('the "club"') == '"the ""club"""'


def test_addresses_are_told_from_paths() -> None:
    assert postgres.is_address("postgresql://ann@db1/chess")
    assert not postgres.is_address("postgresql/club.db")


@pytest.mark.parametrize("value", [0, 1, -1, 2**40, 2**63 - 1, -(2**63)])
def test_numbers_come_back_from_the_binary_protocol(value: int) -> None:
    assert int.from_bytes(packed_bigint(value), "big", signed=True) == value


def test_an_array_has_its_type_and_the_length_of_each_item() -> None:
    assert (
        packed_array(25, [b"ab", b""]).hex() == "0000000100000000000000190000000200000001" + "000000026162" + "00000000"
    )
