"""Moves as they are written: standard algebraic notation (PGN standard, section 8.2.3) and its long form, in parts.

Nothing is known here of what stands on the board.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from ledger.board.squares import FILES, NUMBERS, RANKS

NULL, SHORT, LONG = "--", "O-O", "O-O-O"
_REMEMBERED = 2**15  # words: games share theirs
_MOVE = re.compile(r"([KQRBN]?)([a-h]?)([1-8]?)[-x]?([a-h][1-8])(?:=?([QRBN]))?")


class Written(NamedTuple):
    """The parts of a written move.

    Attributes:
        piece: ``PNBRQK``; ``P`` where no letter stands before it.
        file: that the piece comes from, 0 to 7; None where the move does not say.
        rank: that it comes from, 0 to 7; None where the move does not say.
        target: the square that it goes to.
        promotion: what a pawn becomes, ``QRBN``, or "".
    """

    piece: str
    file: int | None
    rank: int | None
    target: int
    promotion: str


@lru_cache(maxsize=_REMEMBERED)
def bare(san: str) -> str:
    """The move without what says that it gives check or mate."""
    return san.rstrip("+#")


@lru_cache(maxsize=_REMEMBERED)
def written(san: str) -> Written | None:
    """The parts of a move other than a castling or a null move; None where it is not written in this notation.

    Args:
        san: such as ``Nbxd7+``, ``e8=Q`` or, in the long form, ``Nb8-d7``. Whether it says that it captures, checks
            or mates does not matter.
    """
    found = _MOVE.fullmatch(bare(san))
    if found is None or (found[1] and found[5]):
        return None
    file = FILES.index(found[2]) if found[2] else None
    rank = RANKS.index(found[3]) if found[3] else None
    return Written(found[1] or "P", file, rank, NUMBERS[found[4]], found[5] or "")
