"""Positions and moves as chess has them: FEN read and written, and refusals in words that name the place."""

import pytest

from ledger.board.playing import final_position, main_line, replay
from ledger.board.position import SQUARE_NUMBERS, START, Position
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
    white = {name for name, square in SQUARE_NUMBERS.items() if position.is_attacked(square, by_white=True)}
    black = {name for name, square in SQUARE_NUMBERS.items() if position.is_attacked(square, by_white=False)}
    assert {"a5", "c5", "d4", "d2", "c1", "a1"} <= white  # the knight; a1 is protected by the rook
    assert {"b1", "g1", "h8", "a2", "b2"} <= white
    assert {"f2", "h2", "d1", "h1", "b3", "a8", "h5", "a5"} <= black
    assert {"c2", "a2", "e1", "g4"}.isdisjoint(black)  # the knight stands before a2; a pawn attacks forwards


def after(moves: str, start: str = START) -> str:
    return replay(moves.split(), start).fen


@pytest.mark.parametrize(
    ("start", "moves", "fen"),
    [
        (START, "e4 c5 Nf3", "rnbqkbnr/pp1ppppp/8/2p5/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2"),
        (START, "e4 e5 Ke2", "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPPKPPP/RNBQ1BNR b kq - 1 2"),
        (START, "e4 a6 e5 d5 exd6", "rnbqkbnr/1pp1pppp/p2P4/8/8/8/PPPP1PPP/RNBQKBNR b KQkq - 0 3"),
        (START, "e2e4 e7-e5 Ng1f3 Nb8-c6", "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3"),
        (START, "e4 -- d4", "rnbqkbnr/pppppppp/8/8/3PP3/8/PPP2PPP/RNBQKBNR b KQkq - 0 2"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "O-O O-O-O+", "2kr3r/8/8/8/8/8/8/R4RK1 w - - 2 2"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "Rxa8+ Ke7", "R6r/4k3/8/8/8/8/8/4K2R w K - 1 2"),
        ("8/P6k/8/8/8/8/8/K7 w - - 3 9", "a8=N", "N7/7k/8/8/8/8/8/K7 b - - 0 9"),
        ("1r5k/P7/8/8/8/8/8/K7 w - - 3 9", "axb8=Q+", "1Q5k/8/8/8/8/8/8/K7 b - - 0 9"),
        # two knights reach d2, and the one on f3 is pinned
        ("4k3/8/8/8/1b6/4KN1r/8/1N6 w - - 0 1", "Nd2", "4k3/8/8/8/1b6/4KN1r/3N4/8 b - - 1 1"),
        # Chess960: the rook stands where the king goes
        ("4k3/8/8/8/8/8/8/5KR1 w K - 0 1", "O-O", "4k3/8/8/8/8/8/8/5RK1 b - - 1 1"),
        ("1rk5/8/8/8/8/8/8/4K3 b q - 0 1", "O-O-O", "2kr4/8/8/8/8/8/8/4K3 w - - 1 2"),
    ],
)
def test_moves_lead_to_their_position(start: str, moves: str, fen: str) -> None:
    assert after(moves, start) == fen


@pytest.mark.parametrize(
    ("start", "moves", "why"),
    [
        (START, "e4 e5 Ke3", r"move 2\. 'Ke3' \(half-move 3\) cannot be played: no white king can go to e3"),
        (START, "e4 Ke7", r"move 1\.\.\. 'Ke7' \(half-move 2\) .* a piece of the same side stands on e7"),
        (START, "e4 e5 Nd2", "no white knight can go to d2 like that|a piece of the same side stands on d2"),
        (START, "d3 e5 Nd2 e4 Nd2", "no white knight|same side"),
        (START, "e4 e5 e5", "no white pawn can go to e5"),
        (START, "dxe4", "no white pawn can go to e4"),
        (START, "e4 d5 Bb5 d4", "no black pawn can go to d4|would leave its king in check"),
        (START, "Sf3", "not algebraic notation with the letters"),
        (START, "O-O", "a piece stands between king and rook"),
        (START, "e4 e5 Ke2 a6 Ke1 a5 Nf3 a4 Bc4 a3 O-O", "the king or that rook has moved"),
        ("4k3/8/8/8/8/8/4r3/R3K3 w Q - 0 1", "O-O-O", "stands in check"),
        ("3rk3/8/8/8/8/8/8/R3K3 w Q - 0 1", "O-O-O", "comes into check"),
        ("8/P6k/8/8/8/8/8/K7 w - - 3 9", "a8", "does not say what the pawn becomes"),
        ("8/7k/P7/8/8/8/8/K7 w - - 3 9", "a7=Q", "on the last rank alone"),
        ("4k3/8/8/8/8/5N2/8/1N2K3 w - - 0 1", "Nd2", "several can go to d2: from (b1 and f3|f3 and b1)"),
        ("4k3/8/8/8/4r3/8/4N3/4K3 w - - 0 1", "Nc3", "the knight on e2 would leave its king in check"),
        ("4k3/8/8/8/4r3/8/8/4K3 w - - 0 1", "--", "nobody may pass in check"),
        (START, "N@e4", "not algebraic notation"),
    ],
)
def test_what_cannot_be_played_is_named_with_its_reason(start: str, moves: str, why: str) -> None:
    with pytest.raises(MalformedError, match=why):
        after(moves, start)


def test_variations_comments_marks_clocks_and_results_are_left_out() -> None:
    text = "1. e4! {[%clk 0:03:00] best (by test)} (1. d4 d5 (1... Nf6)) 1... e5 $1 2. Nf3?! ; rest of line\nNc6 1-0"
    assert main_line(text) == ["e4", "e5", "Nf3", "Nc6"]
    assert final_position(text).fen == after("e4 e5 Nf3 Nc6")


def test_a_text_that_is_no_game_is_refused() -> None:
    with pytest.raises(MalformedError, match="from character 4: 'hello' is no move"):
        final_position("e4 hello")


def test_the_last_move_is_known() -> None:
    assert replay([]).last is None
    assert replay(["e4"]).last == (12, 28)
