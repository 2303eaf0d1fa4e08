"""Positions: FEN read, written, refused in words; what is attacked."""

import pytest

from ledger.board.position import NUMBERS, START, Position
from ledger.errors import MalformedError

KEPT = (
    START,
    "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 12 40",
    "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
    "8/8/8/8/8/4k3/4p3/4K3 w - - 5 71",
    "1rk3r1/8/8/8/8/8/8/1RK3R1 w KQkq - 0 1",  # Chess960
    f"{START[:-4]} 20000 10001",  # after the longest game that a ledger takes
    f"{START[:-4]} 999999999 999999999",
    "rr2k3/8/8/8/8/8/8/RR2K3 w Bb - 0 1",  # the inner rook castles, so its file says which
)


@pytest.mark.parametrize("fen", KEPT)
def test_what_is_read_is_written_again(fen: str) -> None:
    assert Position(fen).fen == fen


def test_both_counts_may_be_left_out() -> None:
    assert Position("8/8/8/8/8/4k3/4p3/4K3 w - -").fen == "8/8/8/8/8/4k3/4p3/4K3 w - - 0 1"


@pytest.mark.parametrize(
    "fen",
    [
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1",  # nobody stands beside it
        "8/8/8/8/R3Pp1k/8/8/4K3 b - e3 0 1",  # both pawns leave the rank at once, and the rook checks
    ],
)
def test_a_square_in_passing_is_named_only_where_the_capture_is_legal(fen: str) -> None:
    assert Position(fen).fen == fen.replace(" e3 ", " - ")


@pytest.mark.parametrize(
    ("fen", "why"),
    [
        ("", "give pieces, side to move"),
        ("x" * 500, "give pieces, side to move"),
        ("8/8/8/8/8/8/8/8 w - - 0 1", "there must be a white and a black king"),
        ("kK6/8/8/8/8/8/8 w - - 0 1", "eight ranks of eight squares"),
        ("kK7/8/8/8/8/8/8/8 w - - 0 1", "eight ranks of eight squares"),
        ("k6P/8/8/8/8/8/8/7K w - - 0 1", "a pawn stands on the first or the last rank"),
        ("k7/8/8/8/8/8/8/7K x - - 0 1", "must be w or b, got 'x'"),
        ("k7/8/8/8/8/8/8/7K w KX - 0 1", "castling must be"),
        ("k7/8/8/8/8/8/8/7K w K - 0 1", "castling 'K': there is no rook for it"),
        ("k7/8/8/8/8/8/8/7K w - e3 0 1", "'e3' is no square that a pawn has just passed"),
        ("k7/8/8/8/8/8/8/7K w - - x 1", "the counts must be whole numbers of at most nine digits"),
        ("k7/8/8/8/8/8/8/7K w - - 0 1234567890", "the counts must be whole numbers of at most nine digits"),
        ("k7/8/8/8/8/8/8/7K w - - -1 1", "the counts must be whole numbers of at most nine digits"),
        ("k6R/8/8/8/8/8/8/7K w - - 0 1", "the side that is not to move stands in check"),
    ],
)
def test_what_is_no_position_is_refused_in_words(fen: str, why: str) -> None:
    with pytest.raises(MalformedError, match=why):
        Position(fen)


def test_every_fault_of_a_fen_is_told() -> None:
    with pytest.raises(MalformedError) as caught:
        Position("8/8/8/8/8/8/8/8 z - e9 a 1")
    assert len(caught.value.problems) == 4


def test_what_each_piece_attacks() -> None:
    position = Position("k7/8/8/3Q4/8/1N4p1/8/K6R b - - 0 1".replace("3Q4", "3q4").replace(" b ", " w "))
    white = {name for name, square in NUMBERS.items() if position.is_attacked(square, by_white=True)}
    black = {name for name, square in NUMBERS.items() if position.is_attacked(square, by_white=False)}
    assert {"a5", "c5", "d4", "d2", "c1", "a1"} <= white  # the knight; a1 is protected by the rook
    assert {"b1", "g1", "h8", "a2", "b2"} <= white
    assert {"f2", "h2", "d1", "h1", "b3", "a8", "h5", "a5"} <= black
    assert {"c2", "a2", "e1", "g4"}.isdisjoint(black)  # the knight stands before a2; a pawn attacks forwards
