"""A game played through from its movetext to its last position. No files, no ledger.

``ledger.imports.pgn.movetext`` reads the text: variations, comments and marks are left out there. Variants of chess
with other rules are not played; their games are refused at the first move that chess does not have.
"""

from __future__ import annotations

from collections.abc import Iterable

from ledger.board.playing import IllegalMoveError, play
from ledger.board.position import START, Position
from ledger.errors import MalformedError
from ledger.facts.source_games import shown
from ledger.imports.pgn.movetext import read_movetext


def moves_of(movetext: str) -> list[str]:
    """The moves of the main line, in algebraic notation.

    Raises:
        MalformedError: something in the text is no move, or a variation never ends.
    """
    read = read_movetext(movetext)
    if read.trouble is not None:
        raise MalformedError([f"movetext, from character {read.trouble[0] + 1:,}: {read.trouble[1]}"])
    return read.moves


def replayed(moves: Iterable[str], start: str = START) -> Position:
    """The position after the moves.

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
            message = f"move {number} {shown(san)} (half-move {half_move:,}) cannot be played: {why}"
            raise MalformedError([message]) from None
    return position


def final_position(movetext: str, start: str = START) -> Position:
    """The last position of a game.

    Args:
        movetext: moves with or without numbers, comments, variations, marks and result.
        start: as of ``replayed``.

    Raises:
        MalformedError: as ``moves_of`` and ``replayed``.
    """
    return replayed(moves_of(movetext), start)
