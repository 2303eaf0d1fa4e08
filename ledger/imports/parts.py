"""Files of many games in parts, each read by a process of its own or on another machine, their results in order.

A PGN file is cut where games begin, JSON lines anywhere. The parts of a file are the same however many processes there
are, and so are its games and its log. What does not leave this process is the unpacking, the cutting and the rest of
the file: its end, or all of a file that has no place to be cut. Other formats are not cut: a tournament report is small
and judged as a whole, and a CSV file is read in columns, which costs less than to send it.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

import attrs

from ledger.facts.source_games import SourceGame
from ledger.imports import jsonl, lichess
from ledger.imports.files import Source
from ledger.imports.pgn import games as pgn
from ledger.imports.pgn.lines import cut_games
from ledger.imports.reading import Reading, batch_games, take_out_byes
from ledger.runtime.long_work import PartMap

if TYPE_CHECKING:
    from polars import DataFrame

READERS: dict[str, Callable[[Iterable[bytes], Reading], Iterator[SourceGame]]] = {
    "pgn": pgn.read_games,
    "lichess-ndjson": lichess.read_games,
    "ledger-jsonl": jsonl.read_games,
}
PART = 2**21  # bytes: 900 games with clocks, which a core reads in 0.2 s
MAX_UNCUT = 2**24  # bytes without a place to cut them: the rest of the file is read as it comes


@attrs.frozen
class FilePart:
    """A part of a file: its format, its lines, and the log that is still empty."""

    fmt: str
    content: bytes
    reading: Reading


def read_frames(source: Source, fmt: str, part_map: PartMap) -> Iterator[DataFrame]:
    """Yield the games of a file in one of the formats of ``READERS``, in frames of no particular size."""
    reading, lines = source.reading, source.lines()
    reading.read_ahead()
    cut = _cut(lines, fmt)
    rest: list[bytes] = []

    def logged_parts() -> Iterator[FilePart]:
        nonlocal rest
        line, before = 1, next(cut)
        for following in cut:
            log = Reading(reading.name, first_line=line, has_more=True, by_fide=reading.by_fide)
            yield FilePart(fmt, b"".join(before), log)
            line += len(before)
            before = following
        rest, reading.first_line = before, line

    for frames, log in part_map.results(read_part, logged_parts()):
        reading.add_part(log)
        yield from frames
        if log.ending is not None:
            return
    reading.end_reading_ahead()
    yield from batch_games(_games(fmt, chain(rest, lines), reading))


def read_part(part: FilePart) -> tuple[list[DataFrame], Reading]:
    """Return the games and the log of a part of a file."""
    return list(batch_games(_games(part.fmt, io.BytesIO(part.content).readlines(), part.reading))), part.reading


def _games(fmt: str, lines: Iterable[bytes], reading: Reading) -> Iterator[SourceGame]:
    games = READERS[fmt](lines, reading)
    # these may come from programs that pair tournaments, and write a bye as a game
    return games if fmt == "lichess-ndjson" else take_out_byes(games, reading)


def _cut(lines: Iterator[bytes], fmt: str) -> Iterator[list[bytes]]:
    """Yield the lines of a file in parts, and then the rest, behind which there may be more lines."""
    if fmt == "pgn":
        yield from cut_games(lines, PART, MAX_UNCUT)
        return
    part: list[bytes] = []
    length = 0
    for line in lines:
        if length >= PART:
            yield part
            part, length = [], 0
        part.append(line)
        length += len(line)
    yield part
