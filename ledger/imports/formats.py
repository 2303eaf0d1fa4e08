"""The formats of files of games by name, and the reader of each.

The command line, the fuzzer and the tests ask here. ``files`` detects the format of a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from ledger.facts.source_games import SourceGame
from ledger.imports import chess_com, jsonl, lichess
from ledger.imports.crosstables import games as crosstables
from ledger.imports.csv import games as csv_games
from ledger.imports.files import FORMATS, Source
from ledger.imports.legality import note_illegal_moves
from ledger.imports.pairings import games as pairings
from ledger.imports.pgn import games as pgn
from ledger.imports.reading import NO_HINTS, FileHints, Reading, batch_games, take_out_byes
from ledger.imports.repeated_rows import drop_second_opponents
from ledger.imports.trf import games as trf

if TYPE_CHECKING:
    from polars import DataFrame

LINE_FORMATS: dict[str, Callable[[Iterable[bytes], Reading], Iterator[SourceGame]]] = {
    "pgn": pgn.read_games,
    "lichess-ndjson": lichess.read_games,
    "ledger-jsonl": jsonl.read_games,
    "trf": trf.read_games,
    "crosstable": crosstables.read_games,
}
# Reports of whole tournaments, which are checked before anything is recorded; their readers take the user's hints.
REPORTS = {"trf": trf.read_games, "crosstable": crosstables.read_games}
assert {*LINE_FORMATS, "chess-com", "csv", "pairings"} == {*FORMATS}


def read_game_frames(source: Source, fmt: str, hints: FileHints | None = None) -> Iterator[DataFrame]:
    """Yield the games of a file in any format as frames with the columns of ``frame_schema()``.

    *fmt*: one of ``FORMATS``.
    """
    hints = hints or NO_HINTS
    games = drop_second_opponents(_frames(source, fmt, hints), source.reading)
    # Tables and reports have no moves.
    has_moves = fmt not in {"csv", "trf", "crosstable", "pairings"}
    return note_illegal_moves(games, source.reading, is_asked=hints.check_moves) if has_moves else games


def _frames(source: Source, fmt: str, hints: FileHints) -> Iterator[DataFrame]:
    if fmt == "csv":
        return csv_games.read_frames(source.chunks(), source.reading, hints=hints)
    if fmt == "pairings":
        return pairings.read_frames(source.lines(), source.reading, hints)
    if fmt == "chess-com":  # a complete document may be on one line
        return batch_games(chess_com.read_games(source.chunks(), source.reading, by_clock=hints.speeds_by_clock))
    if fmt in REPORTS:
        return batch_games(REPORTS[fmt](source.lines(), source.reading, hints))
    games = LINE_FORMATS[fmt](source.lines(), source.reading)
    # of the formats by line these may come from programs that pair tournaments, and write a bye as a game
    return batch_games(take_out_byes(games, source.reading) if fmt in {"pgn", "ledger-jsonl"} else games)
