"""Notes on illegal moves: the games of a file are played through on a board.

Playing takes some 0.7 ms of CPU a game, a checkmate 1.3 ms more; reading takes 0.2 ms. Unless a user asks for more,
only files of a few games are played through. Games of variants and from other positions are not, nor scores in other
languages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ledger.board.movetext import is_english_notation
from ledger.board.playing import is_mate, main_line, replay
from ledger.board.position import NULL
from ledger.errors import MalformedError
from ledger.facts.source_games import excerpt
from ledger.imports.reading import Reading
from ledger.runtime.lazy import pl

if TYPE_CHECKING:
    from polars import DataFrame

FEW_GAMES = 20_000


def note_illegal_moves(frames: Iterable[DataFrame], reading: Reading, *, is_asked: bool) -> Iterator[DataFrame]:
    """Yield the frames of a file, and then note the first illegal move of each game.

    *is_asked*: files of more than ``FEW_GAMES`` games are played through, too, game by game.
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
        moves = main_line(text)
        if not is_english_notation(moves):
            continue
        if fault := _fault(moves):
            reading.note(line, f"{fault}: the result counts; check the moves")


def _fault(moves: list[str]) -> str | None:
    """Return the first impossible move of a game, in words."""
    try:
        position = replay(moves)
    except MalformedError as error:
        return error.problems[0]
    if NULL in moves:
        return f"half-move {moves.index(NULL) + 1:,} passes, which the Laws of Chess do not know"
    if moves and moves[-1].endswith("#") and not is_mate(position):
        return f"the last move {excerpt(moves[-1])} is no checkmate"
    return None
