"""Every format of games by its name, with its reader and the hints that it takes from the user.

The command line, the fuzzer and the tests ask here. ``files`` detects the format of a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import attrs

from ledger.facts.source_games import SourceGame
from ledger.imports import chess_com, jsonl, lichess
from ledger.imports.csv import games as csv_games
from ledger.imports.csv.games import CsvHints
from ledger.imports.doubles import without_second_opponents
from ledger.imports.files import FORMATS, Source
from ledger.imports.legality import with_notes_on_moves
from ledger.imports.pgn import games as pgn
from ledger.imports.reading import Reading, frames, without_byes
from ledger.imports.trf import games as trf

if TYPE_CHECKING:
    from polars import DataFrame

LINE_FORMATS: dict[str, Callable[[Iterable[bytes], Reading], Iterator[SourceGame]]] = {
    "pgn": pgn.games,
    "lichess-ndjson": lichess.games,
    "ledger-jsonl": jsonl.games,
    "trf": trf.games,
}
assert {*LINE_FORMATS, "chess-com", "csv"} == {*FORMATS}


@attrs.frozen(kw_only=True)
class SaidOfFile:
    """Hints of the user about a file that it does not contain itself.

    Attributes:
        source: the site whose player names and game ids CSV files and tournament reports carry; None for neither.
        day: when the games of a tournament report were played that names no day.
        dates: which number of ``04/05/2024`` comes first, one of ``times.ORDERS``.
        speeds_by_clock: whether speed classes go by Lichess's rule in archives of chess.com, too, which have their own.
        check_moves: True if the moves of all games are played through, False if only those of small files are.
        headings, results, equal_rows: of CSV files, as of ``csv.games.CsvHints``.
    """

    source: str | None = None
    day: str | None = None
    dates: str | None = None
    speeds_by_clock: bool = False
    headings: Mapping[str, str] = attrs.field(factory=dict)
    results: Mapping[str, str | None] = attrs.field(factory=dict)
    equal_rows: bool = False
    check_moves: bool = False


def game_frames(source: Source, fmt: str, said: SaidOfFile = SaidOfFile()) -> Iterator[DataFrame]:
    """Yield the games of an open file as frames in the columns of ``frame_schema()``; the account is its reading.

    Args:
        source: the file.
        fmt: one of ``FORMATS``.
        said: hints of the user.
    """
    games = without_second_opponents(_frames(source, fmt, said), source.reading)
    # Tables and reports have no moves.
    has_moves = fmt not in {"csv", "trf"}
    return with_notes_on_moves(games, source.reading, is_asked=said.check_moves) if has_moves else games


def _frames(source: Source, fmt: str, said: SaidOfFile) -> Iterator[DataFrame]:
    if fmt == "csv":
        return csv_games.frames(
            source.stream(),
            source.reading,
            key_prefix=said.source or "csv",
            player_namespace=said.source,
            table=CsvHints(headings=said.headings, results=said.results, dates=said.dates, equal_rows=said.equal_rows),
        )
    if fmt == "chess-com":  # a complete document may be on one line
        games = chess_com.games(source.chunks(), source.reading, by_clock=said.speeds_by_clock)
        return frames(games)
    if fmt == "trf":
        options = trf.Options(day=said.day, dates=said.dates, namespace=said.source)
        return frames(trf.games(source.lines(), source.reading, options))
    games = LINE_FORMATS[fmt](source.lines(), source.reading)
    # of the formats by line these may come from programs that pair tournaments, and write a bye as a game
    return frames(without_byes(games, source.reading) if fmt in {"pgn", "ledger-jsonl"} else games)
