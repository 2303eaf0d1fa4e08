"""Moves that cannot be played: the games of a file are played through on a board, and a note names the first such move.

Playing takes some 0.7 ms of CPU a game, three times as long as reading it: unless a user asks for more, only files of a
few games are played through. Games of variants and from other positions are not, nor scores in other languages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ledger.board.playing import moves_of, replayed
from ledger.errors import MalformedError
from ledger.imports.pgn.movetext import is_english
from ledger.imports.reading import Reading
from ledger.runtime.lazy import pl

if TYPE_CHECKING:
    from polars import DataFrame

FEW_GAMES = 20_000


def with_notes_on_moves(frames: Iterable[DataFrame], reading: Reading, *, is_asked: bool) -> Iterator[DataFrame]:
    """Yield the games of a file; after the last one each with a move that cannot be played has a note.

    Args:
        frames: the games.
        reading: takes the notes.
        is_asked: files of more than ``FEW_GAMES`` games are played through, too, game by game.
    """
    games, waiting = 0, list["DataFrame"]()
    for frame in frames:
        games += frame.height
        texts = frame.filter((pl.col("variant") == "standard") & pl.col("text").is_not_null()).select("line", "text")
        if is_asked:
            _note(texts, reading)
        elif games <= FEW_GAMES:
            waiting.append(texts)
        else:
            waiting.clear()
        yield frame
    for texts in waiting:
        _note(texts, reading)


def _note(texts: DataFrame, reading: Reading) -> None:
    for line, text in texts.iter_rows():
        moves = moves_of(text)
        try:
            replayed(moves)
        except MalformedError as error:
            if is_english(moves):
                reading.note(line, f"{error.problems[0]}: the result counts; check the moves")
