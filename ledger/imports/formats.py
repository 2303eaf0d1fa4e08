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
from ledger.imports.reading import (
    NO_HINTS,
    OTHER_CLASS,
    FileHints,
    Reading,
    batch_games,
    pool_contradiction,
    take_out_byes,
)
from ledger.imports.repeated_rows import drop_second_opponents
from ledger.imports.trf import games as trf
from ledger.runtime.lazy import pl

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
# The time control is that of the whole file or tournament, and compared with the pool as a whole.
_OF_ONE_CLASS = {*REPORTS, "pairings"}
assert {*LINE_FORMATS, "chess-com", "csv", "pairings"} == {*FORMATS}


def read_game_frames(source: Source, fmt: str, hints: FileHints | None = None) -> Iterator[DataFrame]:
    """Yield the games of a file in any format as frames with the columns of ``frame_schema()``.

    *fmt*: one of ``FORMATS``.
    """
    hints = hints or NO_HINTS
    source.reading.by_fide = hints.by_fide
    frames = _frames(source, fmt, hints)
    if fmt not in _OF_ONE_CLASS and hints.pool_class is not None:
        frames = _of_the_pool(frames, source.reading, hints)
    games = drop_second_opponents(frames, source.reading)
    # Tables and reports have no moves.
    has_moves = fmt not in {"csv", "trf", "crosstable", "pairings"}
    if not has_moves:
        return games
    games = note_illegal_moves(games, source.reading, is_asked=hints.check_moves)
    return map(_without_moves, games) if hints.without_moves else games


def _without_moves(frame: DataFrame) -> DataFrame:
    """Return games without their moves; keys that were made of the moves stay."""
    return frame.with_columns(pl.lit(None, pl.String).alias("text"))


def _of_the_pool(frames: Iterator[DataFrame], reading: Reading, hints: FileHints) -> Iterator[DataFrame]:
    """Yield the games whose time control goes with the pool that the user named; others are faults, or else notes."""

    def report(line: int, speed: str | None) -> None:
        words = pool_contradiction(speed, hints)
        if hints.refuses_other_class:
            reading.fault(line, f"{OTHER_CLASS}: {words}; name that pool, or accept {OTHER_CLASS}")
        else:
            reading.note(line, words or "")

    for frame in frames:
        differs = (pl.col("speed") != hints.pool_class).fill_null(value=False)
        for line, speed in frame.filter(differs).select("line", "speed").iter_rows():
            report(line, speed)
        rest = frame.filter(~differs) if hints.refuses_other_class else frame
        if len(rest):
            yield rest
    others = [each for each in reading.rounds if pool_contradiction(each.speed, hints)]
    for each in others:
        report(each.line, each.speed)
    if hints.refuses_other_class and others:
        reading.rounds = [each for each in reading.rounds if pool_contradiction(each.speed, hints) is None]


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
