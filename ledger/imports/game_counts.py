"""A file's beginning and its size tell about how many games it holds, without reading it whole."""

from __future__ import annotations

from pathlib import Path

import attrs

from ledger.imports.files import detect_format, open_source

SAMPLE = 1 << 20  # stored bytes that are read of a file
# What stands once in each game, by format; of tournament reports, which are small, nothing is estimated.
_MARKS = {
    "pgn": b"[White ", "lichess-ndjson": b"\n", "chess-com": b'"end_time"', "ledger-jsonl": b"\n", "csv": b"\n",
}  # fmt: skip
_WITH_MOVES = {"pgn", "lichess-ndjson", "chess-com", "ledger-jsonl"}


@attrs.frozen
class GameCount:
    """An estimate of a file: its games, and the unpacked bytes of formats that hold moves, else 0."""

    games: float
    bytes_with_moves: float


def estimate_games(path: str, fmt: str | None = None, encoding: str | None = None) -> GameCount:
    """Return an estimate of the games in a file, packed or not.

    Raises:
        StorageError: as of ``open_source``.
    """
    with open_source(path, encoding) as source:
        fmt = fmt or detect_format(source.first, path)
        if (mark := _MARKS.get(fmt)) is None:
            return GameCount(0.0, 0.0)
        games = size = 0
        for chunk in source.chunks():
            games += chunk.count(mark)
            size += len(chunk)
            if source.reading.bytes_read >= SAMPLE:
                break
        whole = Path(path).stat().st_size / max(1, source.reading.bytes_read)
    return GameCount(games * whole, size * whole if fmt in _WITH_MOVES else 0.0)
