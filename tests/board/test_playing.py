"""Moves as chess has them, and refusals in words: what cannot be played is named with its number."""

import pytest

from ledger.board.playing import final_position, moves_of, replayed
from ledger.board.position import START
from ledger.errors import MalformedError


def after(moves: str, start: str = START) -> str:
    return replayed(moves.split(), start).fen


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
    assert moves_of(text) == ["e4", "e5", "Nf3", "Nc6"]
    assert final_position(text).fen == after("e4 e5 Nf3 Nc6")


def test_a_text_that_is_no_game_is_refused() -> None:
    with pytest.raises(MalformedError, match="from character 4: 'hello' is no move"):
        final_position("e4 hello")


def test_the_last_move_is_known() -> None:
    assert replayed([]).last is None
    assert replayed(["e4"]).last == (12, 28)
