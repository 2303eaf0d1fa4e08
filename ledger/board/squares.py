"""The 64 squares and the ways of the pieces over an empty board, as tables. No pieces, no positions, no notation.

A square is a number from 0 (a1) over 7 (h1) to 63 (h8).
"""

from __future__ import annotations

from collections.abc import Iterable

FILES, RANKS = "abcdefgh", "12345678"
NAMES = tuple(f"{file}{rank}" for rank in RANKS for file in FILES)
NUMBERS = {name: number for number, name in enumerate(NAMES)}

_STRAIGHT = ((1, 0), (-1, 0), (0, 1), (0, -1))
_ASLANT = ((1, 1), (1, -1), (-1, 1), (-1, -1))
_JUMPS = ((1, 2), (2, 1), (-1, 2), (-2, 1), (1, -2), (2, -1), (-1, -2), (-2, -1))

Squares = tuple[int, ...]


def _ray(square: int, step: tuple[int, int], reach: int) -> Squares:
    file, rank = square % 8, square // 8
    found = []
    for _ in range(reach):
        file, rank = file + step[0], rank + step[1]
        if not (0 <= file < 8 and 0 <= rank < 8):
            break
        found.append(8 * rank + file)
    return tuple(found)


def _rays(steps: Iterable[tuple[int, int]]) -> tuple[tuple[Squares, ...], ...]:
    return tuple(tuple(ray for step in steps if (ray := _ray(square, step, 7))) for square in range(64))


def _near(steps: Iterable[tuple[int, int]]) -> tuple[Squares, ...]:
    return tuple(tuple(near for step in steps for near in _ray(square, step, 1)) for square in range(64))


# For each square: the squares in each direction, from the nearest to the edge.
STRAIGHT, ASLANT = _rays(_STRAIGHT), _rays(_ASLANT)
# For each square: the squares that a king, a knight reaches from there.
KING, KNIGHT = _near((*_STRAIGHT, *_ASLANT)), _near(_JUMPS)
# For each square: where a pawn stands that attacks it.
WHITE_PAWN, BLACK_PAWN = _near(((1, -1), (-1, -1))), _near(((1, 1), (-1, 1)))
