"""Plays moves on a position by the FIDE Laws of Chess, article 3, and refuses illegal ones.

Castling is that of Chess960 (Guidelines II of the Laws), of which the usual castling is a case. Draws and mates end no
game here: what was played is played. Variants of chess with other rules are not played; their games are refused at the
first move that chess does not have. ``ledger.board.movetext`` reads the text of a game.
"""

from __future__ import annotations

from collections.abc import Iterable

from ledger.board.movetext import Movetext, read_movetext
from ledger.board.position import (
    ASLANT,
    BLACK_PAWN,
    EMPTY,
    KING,
    KNIGHT,
    LONG,
    NO_SQUARE,
    NULL,
    SHORT,
    SQUARE_NAMES,
    START,
    STRAIGHT,
    WHITE_PAWN,
    Position,
    SanMove,
    Squares,
    parse_san,
    without_check_sign,
)
from ledger.errors import MalformedError
from ledger.facts.source_games import excerpt

_WORDS = {"P": "pawn", "N": "knight", "B": "bishop", "R": "rook", "Q": "queen", "K": "king"}
_RAYS = {"B": (ASLANT,), "R": (STRAIGHT,), "Q": (STRAIGHT, ASLANT)}
_STEPS = {"N": KNIGHT, "K": KING}


class IllegalMoveError(ValueError):
    """The reason why a move cannot be played; ``replay`` adds which move it is."""


def play(position: Position, san: str) -> None:
    """Play a move on a position, which changes.

    Args:
        position: it is changed, but not where the move is refused.
        san: the move in algebraic notation; ``--`` passes.

    Raises:
        IllegalMoveError: it cannot be played.
    """
    move = parse_san(san)
    if move is not None:
        _play(position, move)
        return
    match without_check_sign(san):
        case castling if castling in (SHORT, LONG):
            _castle(position, 1 if castling == LONG else 0)
        case word if word == NULL:
            # ``--`` is a word of annotators, no move of the Laws: after it the side not to move would be in check
            if position.is_check():
                raise IllegalMoveError("nobody may pass in check")
            _turn(position, NO_SQUARE, quiet=position.quiet + 1)
        case _:
            raise IllegalMoveError("this is not algebraic notation with the letters K, Q, R, B, N")


def _turn(position: Position, passed: int, *, quiet: int) -> None:
    position.passed, position.quiet = passed, quiet
    position.number += not position.white
    position.white = not position.white


def _play(position: Position, move: SanMove) -> None:
    squares, white, target = position.squares, position.white, move.target
    piece = move.piece if white else move.piece.lower()
    there = squares[target]
    if there != EMPTY and there.isupper() == white:
        raise IllegalMoveError(f"a piece of the same side stands on {SQUARE_NAMES[target]}")
    # Of a pawn it may be another square than the target: in passing (Laws, article 3.7).
    captured = _pawn_captures(position, move) if move.piece == "P" else target
    origin = _origin(position, move, piece, captured)
    # A move of a pawn and a capture restart the count of the fifty moves (FIDE Laws of Chess, article 9.3).
    is_quiet = move.piece != "P" and there == EMPTY
    squares[captured], squares[origin] = EMPTY, EMPTY
    squares[target] = piece if not move.promotion else move.promotion if white else move.promotion.lower()
    if move.piece == "K":
        # A king that has moved castles no more (FIDE Laws of Chess, article 3.8.2).
        position.kings[white] = target
        first = 0 if white else 2
        position.rooks[first] = position.rooks[first + 1] = NO_SQUARE
    # a rook that moves or is captured castles no more
    if origin in position.rooks or target in position.rooks:
        position.rooks = [NO_SQUARE if rook in (origin, target) else rook for rook in position.rooks]
    position.last = (origin, target)
    doubled = move.piece == "P" and abs(target - origin) == 16  # two ranks of eight squares
    _turn(position, (origin + target) // 2 if doubled else NO_SQUARE, quiet=position.quiet + 1 if is_quiet else 0)


def _pawn_captures(position: Position, move: SanMove) -> int:
    """Return the square that is emptied by a pawn's move to its target: that, or the one behind it in passing."""
    target, white = move.target, position.white
    on_last = target // 8 == (7 if white else 0)
    if on_last != bool(move.promotion):
        words = "does not say what the pawn becomes" if on_last else "a pawn becomes a piece on the last rank alone"
        raise IllegalMoveError(words)
    if target == position.passed and move.file not in (None, target % 8):
        return target - 8 if white else target + 8
    return target


def is_mate(position: Position) -> bool:
    """Return whether the side to move is checkmated (Laws, article 1.4.1)."""
    return position.is_check() and not any(_may_reach(position, target) for target in range(64))


def _may_reach(position: Position, target: int) -> bool:
    """Return whether a piece of the side to move may go to a square, other than by castling."""
    there, white = position.squares[target], position.white
    if there != EMPTY and there.isupper() == white:
        return False
    file = target % 8
    on_last = target // 8 == (7 if white else 0)
    moves = [SanMove(piece, None, None, target, "") for piece in "KQRBN"]
    moves += [SanMove("P", origin, None, target, "Q" if on_last else "") for origin in (None, file - 1, file + 1)]
    for move in moves:
        piece = move.piece if white else move.piece.lower()
        captured = _pawn_captures(position, move) if move.piece == "P" else target
        if any(
            position.leaves_king_safe(origin, target, captured) for origin in _able(position, move, piece, captured)
        ):
            return True
    return False


def _origin(position: Position, move: SanMove, piece: str, captured: int) -> int:
    """Return the square from which the piece goes to the target."""
    able = _able(position, move, piece, captured)
    # A piece that is pinned cannot go there, so that the move need not say which of two is meant (PGN, 8.2.3.4).
    safe = [square for square in able if position.leaves_king_safe(square, move.target, captured)]
    if len(safe) == 1:
        return safe[0]
    word, target = _WORDS[move.piece], SQUARE_NAMES[move.target]
    if safe:
        raise IllegalMoveError(
            f"several can go to {target}: from {' and '.join(SQUARE_NAMES[square] for square in safe)}"
        )
    if able:
        raise IllegalMoveError(f"the {word} on {SQUARE_NAMES[able[0]]} would leave its king in check")
    raise IllegalMoveError(f"no {'white' if position.white else 'black'} {word} can go to {target} like that")


def _able(position: Position, move: SanMove, piece: str, captured: int) -> list[int]:
    """Return the squares of the pieces that reach the target, whether or not their king would be in check then."""
    if move.piece == "P":
        able = _pawns(position, move, piece, captured)
    elif move.piece in _STEPS:
        able = [square for square in _STEPS[move.piece][move.target] if position.squares[square] == piece]
    else:
        able = _along_rays(position.squares, move, piece)
    if move.file is not None:
        able = [square for square in able if square % 8 == move.file]
    if move.rank is not None:
        able = [square for square in able if square // 8 == move.rank]
    return able


def _along_rays(squares: list[str], move: SanMove, piece: str) -> list[int]:
    able = []
    for rays in _RAYS[move.piece]:
        for ray in rays[move.target]:
            for square in ray:
                if squares[square] != EMPTY:
                    if squares[square] == piece:
                        able.append(square)
                    break
    return able


def _pawns(position: Position, move: SanMove, pawn: str, captured: int) -> list[int]:
    squares, target, white = position.squares, move.target, position.white
    if move.file is not None and move.file != target % 8:
        if squares[captured] != pawn.swapcase() if captured != target else squares[target] == EMPTY:
            return []
        return [square for square in (WHITE_PAWN if white else BLACK_PAWN)[target] if squares[square] == pawn]
    if squares[target] != EMPTY:
        return []
    back = -8 if white else 8
    before = target + back
    if not 0 <= before < 64:
        return []
    # the nearer pawn blocks the one behind it
    if squares[before] == pawn:
        return [before]
    # by two squares from where pawns begin alone (Laws, article 3.7.2): to the fourth rank, of Black the fifth
    doubled = squares[before] == EMPTY and target // 8 == (3 if white else 4) and squares[before + back] == pawn
    return [before + back] if doubled else []


# -- castling ------------------------------------------------------------------------------------------------------


def _castle(position: Position, side: int) -> None:
    """Castle on the king's (0) or the queen's (1) side."""
    white, squares = position.white, position.squares
    king, rook = position.kings[white], position.rooks[(0 if white else 2) + side]
    if rook == NO_SQUARE:
        raise IllegalMoveError("the king or that rook has moved, or the rook is gone")
    home = 0 if white else 56
    king_to, rook_to = (home + 2, home + 3) if side else (home + 6, home + 5)
    ways = {*_between(king, king_to), *_between(rook, rook_to)} - {king, rook}
    if any(squares[square] != EMPTY for square in ways):
        raise IllegalMoveError("a piece stands between king and rook")
    king_piece, rook_piece = squares[king], squares[rook]
    # The king leaves first, for it would hide the squares behind it; the rook last: in Chess960 it may have kept a
    # check away from where the king arrives (Guidelines II.3.2.4).
    squares[king] = EMPTY
    attacked = [square for square in _between(king, king_to) if position.is_attacked(square, by_white=not white)]
    squares[rook] = EMPTY
    squares[king_to], squares[rook_to] = king_piece, rook_piece
    if attacked or position.is_attacked(king_to, by_white=not white):
        squares[king_to] = squares[rook_to] = EMPTY
        squares[king], squares[rook] = king_piece, rook_piece
        raise IllegalMoveError("the king stands in check, or comes into check on its way")
    position.kings[white] = king_to
    first = 0 if white else 2
    position.rooks[first] = position.rooks[first + 1] = NO_SQUARE
    position.last = (king, king_to)
    _turn(position, NO_SQUARE, quiet=position.quiet + 1)


def _between(first: int, last: int) -> Squares:
    """Return the squares from *first* to *last* on a rank, both with them."""
    return tuple(range(min(first, last), max(first, last) + 1))


def main_line(movetext: str) -> list[str]:
    """Return the moves of the main line of a movetext, in algebraic notation. Raises what ``faultless`` raises."""
    return faultless(movetext).moves


def faultless(movetext: str) -> Movetext:
    """Return a parsed movetext that has no fault.

    Raises:
        MalformedError: something in the text is no move, or a variation never ends.
    """
    read = read_movetext(movetext)
    if read.trouble is not None:
        raise MalformedError([f"movetext, from character {read.trouble[0] + 1:,}: {read.trouble[1]}"])
    return read


def replay(moves: Iterable[str], start: str = START) -> Position:
    """Return the position after some moves.

    Args:
        moves: in algebraic notation.
        start: the position that the game began with, as FEN; of PGN the tag ``FEN``.

    Raises:
        MalformedError: *start* is no FEN, or a move cannot be played: its number, the move, and why.
    """
    position = Position(start)
    for half_move, san in enumerate(moves, 1):
        try:
            play(position, san)
        except IllegalMoveError as why:
            number = f"{position.number}{'.' if position.white else '...'}"
            message = f"move {number} {excerpt(san)} (half-move {half_move:,}) cannot be played: {why}"
            raise MalformedError([message]) from None
    return position


def final_position(movetext: str, start: str = START) -> Position:
    """Return the last position of a game, from its movetext.

    Args:
        movetext: moves with or without numbers, comments, variations, marks and result.
        start: as of ``replay``.

    Raises:
        MalformedError: as ``main_line`` and ``replay``.
    """
    return replay(main_line(movetext), start)
