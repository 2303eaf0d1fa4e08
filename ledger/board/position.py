"""A chess position: pieces, side to move, rights to castle; parsed from FEN and written as FEN.

Also the squares, with the ways of the pieces over an empty board as tables, and moves as they are written: standard
algebraic notation (PGN standard, section 8.2.3) and its long form, in parts. How moves are played is in ``playing``. No
files, no games. A square is a number from 0 (a1) over 7 (h1) to 63 (h8).

FEN is that of the PGN standard, section 16.1, with castling as in X-FEN, so that Chess960 has its place: KQkq means
the outermost rook of that side, the letter of a file any other rook. The square of a capture in passing is named only
where such a capture is legal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from ledger.errors import MalformedError
from ledger.facts.source_games import excerpt

FILES, RANKS = "abcdefgh", "12345678"
SQUARE_NAMES = tuple(f"{file}{rank}" for rank in RANKS for file in FILES)
SQUARE_NUMBERS = {name: number for number, name in enumerate(SQUARE_NAMES)}

_STRAIGHT = ((1, 0), (-1, 0), (0, 1), (0, -1))
_ASLANT = ((1, 1), (1, -1), (-1, 1), (-1, -1))
_JUMPS = ((1, 2), (2, 1), (-1, 2), (-2, 1), (1, -2), (2, -1), (-1, -2), (-2, -1))

Squares = tuple[int, ...]


def _ray(square: int, step: tuple[int, int], reach: int) -> Squares:
    file, rank = square % 8, square // 8
    squares = []
    for _ in range(reach):
        file, rank = file + step[0], rank + step[1]
        if not (0 <= file < 8 and 0 <= rank < 8):
            break
        squares.append(8 * rank + file)
    return tuple(squares)


def _rays(steps: Iterable[tuple[int, int]]) -> tuple[tuple[Squares, ...], ...]:
    return tuple(tuple(ray for step in steps if (ray := _ray(square, step, 7))) for square in range(64))


def _near(steps: Iterable[tuple[int, int]]) -> tuple[Squares, ...]:
    return tuple(tuple(near for step in steps for near in _ray(square, step, 1)) for square in range(64))


# For each square: the squares in each direction, from the nearest to the edge.
STRAIGHT, ASLANT = _rays(_STRAIGHT), _rays(_ASLANT)
# For each square: the squares that a king, a knight reaches from there.
KING, KNIGHT = _near((*_STRAIGHT, *_ASLANT)), _near(_JUMPS)
# For each square: the squares of pawns that attack it.
WHITE_PAWN, BLACK_PAWN = _near(((1, -1), (-1, -1))), _near(((1, 1), (-1, 1)))


START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
EMPTY = "."
NO_SQUARE = -1
# Pieces take up to 71 characters, all else with counts of nine digits 30: this leaves room for a few blanks too many.
LONGEST_FEN = 120
_PIECES = re.compile(r"[pnbrqkPNBRQK1-8]{1,8}(?:/[pnbrqkPNBRQK1-8]{1,8}){7}")
_CASTLING = re.compile(r"-|[KQkqA-Ha-h]{1,4}")
# A game may have 20,000 half-moves and begin at any move of another one: what we write is always read again.
_COUNT = re.compile(r"\d{1,9}", re.ASCII)


class Position:
    """A chess position on which moves are played.

    Attributes:
        squares: 64 letters from a1 to h8, ``PNBRQK`` white, ``pnbrqk`` black, ``.`` for an empty square.
        white: whether White is to move.
        kings: the squares of the black and the white king, so that ``kings[white]`` is one's own.
        rooks: the squares of the rooks that may castle: White's on the king's and the queen's side, then Black's;
            ``NO_SQUARE`` where that castling is lost.
        passed: the square that a pawn has just passed by its double step, or ``NO_SQUARE``.
        quiet: half-moves since the last capture or move of a pawn.
        number: of the move to come, from 1.
        last: origin and target of the last move played; None at the start. Of a castling it is the king's way.
    """

    __slots__ = ("kings", "last", "number", "passed", "quiet", "rooks", "squares", "white")

    def __init__(self, fen: str = START) -> None:
        """Read a position from FEN; the two counts at its end may be left out.

        Raises:
            MalformedError: it is none; every fault is reported.
        """
        self.squares = [EMPTY] * 64
        self.white = True
        self.kings = [NO_SQUARE, NO_SQUARE]
        self.rooks = [NO_SQUARE] * 4
        self.passed = NO_SQUARE
        self.quiet, self.number = 0, 1
        self.last: tuple[int, int] | None = None
        faults = self._read(fen)
        if faults:
            raise MalformedError([f"FEN {excerpt(fen)}: {fault}" for fault in faults])

    def _read(self, fen: str) -> list[str]:
        # cut before it is looked at: the text may be of any length, and comes from files of strangers
        fields = fen[: LONGEST_FEN + 1].split()
        if len(fen) > LONGEST_FEN or len(fields) not in {4, 6}:
            return ["give pieces, side to move, castling and en passant, and then both counts or none"]
        pieces, side, castling, passed, *counts = fields
        faults = self._read_pieces(pieces)
        if side not in {"w", "b"}:
            faults.append(f"the side to move must be w or b, got {excerpt(side)}")
        self.white = side == "w"
        if not all(map(_COUNT.fullmatch, counts)):
            faults.append(f"the counts must be whole numbers of at most nine digits, got {excerpt(' '.join(counts))}")
        elif counts:
            # Some programs count moves from 0.
            self.quiet, self.number = int(counts[0]), max(1, int(counts[1]))
        if passed != "-" and (passed not in SQUARE_NUMBERS or passed[1] != ("6" if self.white else "3")):
            faults.append(f"{excerpt(passed)} is no square that a pawn has just passed")
        # castling is read from the pieces, and a check from the kings: both need what was read before
        if faults:
            return faults
        self.passed = SQUARE_NUMBERS.get(passed, NO_SQUARE)
        faults = self._read_castling(castling)
        if not faults and self.is_attacked(self.kings[not self.white], by_white=self.white):
            faults.append("the side that is not to move stands in check")
        return faults

    def _read_pieces(self, pieces: str) -> list[str]:
        spread = re.sub("[1-8]", lambda match: EMPTY * int(match[0]), pieces)
        rows = spread.split("/")
        if not _PIECES.fullmatch(pieces) or any(len(row) != 8 for row in rows):
            return [f"the pieces must be eight ranks of eight squares each, got {excerpt(pieces)}"]
        # FEN begins with the eighth rank, the squares with the first.
        self.squares = list("".join(reversed(rows)))
        if self.squares.count("K") != 1 or self.squares.count("k") != 1:
            return ["there must be a white and a black king"]
        self.kings = [self.squares.index("k"), self.squares.index("K")]
        if {"P", "p"} & {*self.squares[:8], *self.squares[56:]}:
            return ["a pawn stands on the first or the last rank"]
        return []

    def _read_castling(self, castling: str) -> list[str]:
        if not _CASTLING.fullmatch(castling):
            return [f"castling must be - or letters such as KQkq, got {excerpt(castling)}"]
        for letter in castling.replace("-", ""):
            white = letter.isupper()
            home, king = 0 if white else 56, self.kings[white]
            rooks = self._rooks_at_home(white=white)
            # A king on any other square has moved; Chess960 leaves open which square of its rank it begins on.
            if king // 8 != home // 8:
                rooks = []
            if letter in "Kk":
                square = max((rook for rook in rooks if rook > king), default=NO_SQUARE)
            elif letter in "Qq":
                square = min((rook for rook in rooks if rook < king), default=NO_SQUARE)
            else:
                square = home + FILES.index(letter.lower())
            if square not in rooks:
                return [f"castling {excerpt(letter)}: there is no rook for it, or the king has left its rank"]
            self.rooks[(0 if white else 2) + (square < king)] = square
        return []

    def _rooks_at_home(self, *, white: bool) -> list[int]:
        home, rook = (0, "R") if white else (56, "r")
        return [square for square in range(home, home + 8) if self.squares[square] == rook]

    def is_attacked(self, square: int, *, by_white: bool) -> bool:
        """Return whether a piece of that side attacks the square."""
        squares = self.squares
        pawn, knight, bishop, rook, queen, king = "PNBRQK" if by_white else "pnbrqk"
        for rays, sliders in ((STRAIGHT[square], (rook, queen)), (ASLANT[square], (bishop, queen))):
            for ray in rays:
                for place in ray:
                    piece = squares[place]
                    if piece != EMPTY:
                        if piece in sliders:
                            return True
                        break
        for place in KNIGHT[square]:
            if squares[place] == knight:
                return True
        for place in (WHITE_PAWN if by_white else BLACK_PAWN)[square]:
            if squares[place] == pawn:
                return True
        return any(squares[place] == king for place in KING[square])

    def is_check(self) -> bool:
        """Return whether the side to move is in check."""
        return self.is_attacked(self.kings[self.white], by_white=not self.white)

    def leaves_king_safe(self, origin: int, target: int, captured: int) -> bool:
        """Return whether the own king is not in check once a piece has gone from *origin* to *target*.

        Args:
            origin: the square of the piece.
            target: where it goes.
            captured: the square that is emptied by it; *target* but for a capture in passing.
        """
        squares = self.squares
        piece, taken, there = squares[origin], squares[captured], squares[target]
        # Played and taken back on the board itself, the captured square first: in passing it is not the target, and
        # both pawns leave lines open.
        squares[captured] = EMPTY
        squares[origin], squares[target] = EMPTY, piece
        king = target if piece in ("K", "k") else self.kings[self.white]
        safe = not self.is_attacked(king, by_white=not self.white)
        squares[target] = there
        squares[captured], squares[origin] = taken, piece
        return safe

    # -- FEN -------------------------------------------------------------------------------------------------------

    @property
    def fen(self) -> str:
        """The position as FEN."""
        text = "".join(self.squares)
        rows = "/".join(text[start : start + 8] for start in range(56, -1, -8))
        pieces = re.sub(r"\.+", lambda match: str(len(match[0])), rows)
        # X-FEN names the square only where a pawn may capture: two positions that differ in nothing are one text
        passed = SQUARE_NAMES[self.passed] if self._may_capture_in_passing() else "-"
        return f"{pieces} {'w' if self.white else 'b'} {self._castling()} {passed} {self.quiet} {self.number}"

    def _castling(self) -> str:
        letters = ""
        for white, first in ((True, 0), (False, 2)):
            rooks = self._rooks_at_home(white=white)
            for place, outermost in ((first, max), (first + 1, min)):
                square = self.rooks[place]
                if square != NO_SQUARE:
                    letter = "KQkq"[place] if square == outermost(rooks) else FILES[square % 8]
                    letters += letter.upper() if white else letter.lower()
        return letters or "-"

    def _may_capture_in_passing(self) -> bool:
        if self.passed == NO_SQUARE:
            return False
        pawn, captured = ("P", self.passed - 8) if self.white else ("p", self.passed + 8)
        origins = (WHITE_PAWN if self.white else BLACK_PAWN)[self.passed]
        return self.squares[captured] == pawn.swapcase() and any(
            self.squares[origin] == pawn and self.leaves_king_safe(origin, self.passed, captured) for origin in origins
        )


NULL, SHORT, LONG = "--", "O-O", "O-O-O"
_REMEMBERED = 2**15  # words: games share theirs
_MOVE = re.compile(r"([KQRBN]?)([a-h]?)([1-8]?)[-x]?([a-h][1-8])(?:=?([QRBN]))?")


class SanMove(NamedTuple):
    """A move in standard algebraic notation, in parts: piece, origin, target, promotion.

    Attributes:
        piece: ``PNBRQK``; ``P`` without a letter.
        file: that the piece comes from, 0 to 7; None if the move does not say.
        rank: that it comes from, 0 to 7; None if the move does not say.
        target: the square that it goes to.
        promotion: what a pawn becomes, ``QRBN``, or "".
    """

    piece: str
    file: int | None
    rank: int | None
    target: int
    promotion: str


@lru_cache(maxsize=_REMEMBERED)
def without_check_sign(san: str) -> str:
    """Return a move without its sign of check or mate."""
    return san.rstrip("+#")


@lru_cache(maxsize=_REMEMBERED)
def parse_san(san: str) -> SanMove | None:
    """Return the parts of a move in algebraic notation; None for castling, a null move and other texts.

    Args:
        san: such as ``Nbxd7+``, ``e8=Q`` or, in the long form, ``Nb8-d7``. Whether it says that it captures, checks
            or mates does not matter.
    """
    match = _MOVE.fullmatch(without_check_sign(san))
    # Pawns alone are promoted: the letter of a piece and a promotion do not go together.
    if match is None or (match[1] and match[5]):
        return None
    file = FILES.index(match[2]) if match[2] else None
    rank = RANKS.index(match[3]) if match[3] else None
    return SanMove(match[1] or "P", file, rank, SQUARE_NUMBERS[match[4]], match[5] or "")
