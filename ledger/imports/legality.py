"""Notes on illegal moves: the games of a file are played through on a board.

Playing takes some 0.7 ms of CPU a game, a checkmate 1.3 ms more; reading takes 0.2 ms. Unless a user asks for more,
only files of a few games are played through. Games of variants and from other positions are not, nor scores in other
languages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

from ledger.board.movetext import is_english_notation
from ledger.board.playing import is_mate, main_line, replay
from ledger.board.position import NULL
from ledger.errors import MalformedError
from ledger.facts.source_games import excerpt
from ledger.imports.reading import Reading
from ledger.runtime.lazy import pl
from ledger.runtime.long_work import IN_THIS_PROCESS, PartMap

if TYPE_CHECKING:
    from polars import DataFrame

FEW_GAMES = 20_000
_SLICE = 1_000  # games of a part, which take a core 0.7 s


def note_illegal_moves(
    frames: Iterable[DataFrame], reading: Reading, part_map: PartMap = IN_THIS_PROCESS, *, is_asked: bool
) -> Iterator[DataFrame]:
    """Yield the frames of a file, and then note the first illegal move of each game.

    Args:
        frames: the games of the file.
        reading: takes the notes.
        part_map: plays the games.
        is_asked: files of more than ``FEW_GAMES`` games are played through, too, frame by frame.
    """
    games, waiting = 0, list["DataFrame"]()
    for frame in frames:
        games += frame.height
        texts = frame.filter((pl.col("variant") == "standard") & pl.col("text").is_not_null()).select("line", "text")
        if is_asked:
            _note((texts,), reading, part_map)
        elif games <= FEW_GAMES:
            waiting.append(texts)
        else:
            waiting.clear()
        yield frame
    _note(waiting, reading, part_map)


def _note(frames: Iterable[DataFrame], reading: Reading, part_map: PartMap) -> None:
    slices = (part for texts in frames for part in texts.iter_slices(_SLICE))
    for line, fault in chain.from_iterable(part_map.results(illegal_moves, slices)):
        reading.note(line, f"{fault}: the result counts; check the moves")


def illegal_moves(games: DataFrame) -> list[tuple[int, str]]:
    """Return the line of each game with an illegal move, and its first one in words."""
    moves = ((line, main_line(text)) for line, text in games.iter_rows())
    faults = ((line, _fault(played)) for line, played in moves if is_english_notation(played))
    return [(line, fault) for line, fault in faults if fault]


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
