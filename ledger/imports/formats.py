"""The formats of files of games by name, and the reader of each.

The command line, the fuzzer and the tests ask here. ``files`` detects the format of a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from ledger.errors import StorageError
from ledger.facts.source_games import SourceGame
from ledger.imports import chess_com, parts
from ledger.imports.crosstables import games as crosstables
from ledger.imports.csv import games as csv_games
from ledger.imports.files import FORMATS, Source
from ledger.imports.legality import note_illegal_moves
from ledger.imports.pairings import games as pairings
from ledger.imports.reading import (
    NO_HINTS,
    OTHER_CLASS,
    FileHints,
    Reading,
    batch_games,
    in_batches,
    pool_contradiction,
)
from ledger.imports.repeated_rows import drop_second_opponents
from ledger.imports.trf import games as trf
from ledger.runtime.lazy import futures, pl
from ledger.runtime.long_work import IN_THIS_PROCESS, PartMap

if TYPE_CHECKING:
    from polars import DataFrame

LINE_FORMATS: dict[str, Callable[[Iterable[bytes], Reading], Iterator[SourceGame]]] = {
    **parts.READERS,
    "trf": trf.read_games,
    "crosstable": crosstables.read_games,
}
# Reports of whole tournaments, which are checked before anything is recorded; their readers take the user's hints.
REPORTS = {"trf": trf.read_games, "crosstable": crosstables.read_games}
# The time control is that of the whole file or tournament, and compared with the pool as a whole.
_OF_ONE_CLASS = {*REPORTS, "pairings"}
assert {*LINE_FORMATS, "chess-com", "csv", "pairings"} == {*FORMATS}


def read_game_frames(
    source: Source, fmt: str, hints: FileHints | None = None, part_map: PartMap = IN_THIS_PROCESS
) -> Iterator[DataFrame]:
    """Yield the games of a file in any format as frames with the columns of ``frame_schema()``.

    Args:
        source: the file.
        fmt: one of ``FORMATS``.
        hints: what the user says of the file.
        part_map: reads the parts of a large file; the frames and the log of the file do not depend on it.

    Raises:
        StorageError: the system cannot read on, or a process that reads a part ended.
    """
    try:
        yield from _checked_frames(source, fmt, hints or NO_HINTS, part_map)
    except futures.BrokenExecutor as error:
        words = f"{error}: import the file again, or with --workers 1; games that are recorded are recognised"
        raise StorageError(source.reading.name, words) from error


def _checked_frames(source: Source, fmt: str, hints: FileHints, part_map: PartMap) -> Iterator[DataFrame]:
    source.reading.by_fide = hints.by_fide
    frames = _frames(source, fmt, hints, part_map)
    if fmt not in _OF_ONE_CLASS and hints.pool_class is not None:
        frames = _of_the_pool(frames, source.reading, hints)
    games = drop_second_opponents(frames, source.reading)
    # Tables and reports have no moves.
    has_moves = fmt not in {"csv", "trf", "crosstable", "pairings"}
    if not has_moves:
        return games
    games = note_illegal_moves(games, source.reading, part_map, is_asked=hints.check_moves)
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


def _frames(source: Source, fmt: str, hints: FileHints, part_map: PartMap) -> Iterator[DataFrame]:
    if fmt == "csv":
        return csv_games.read_frames(source.chunks(), source.reading, hints=hints)
    if fmt == "pairings":
        return pairings.read_frames(source.lines(), source.reading, hints)
    if fmt == "chess-com":  # a complete document may be on one line
        return batch_games(chess_com.read_games(source.chunks(), source.reading, by_clock=hints.speeds_by_clock))
    if fmt in REPORTS:
        return batch_games(REPORTS[fmt](source.lines(), source.reading, hints))
    return in_batches(parts.read_frames(source, fmt, part_map))
