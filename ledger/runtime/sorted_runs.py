"""Sorting more rows than memory holds: sorted runs in a temporary file, read back together in order, block by block.

Rows are gathered, sorted and stored run by run. A run is cut into pieces, each an Arrow IPC stream of its own; only
the first and the last sort key of a piece stay in memory. When they are read again, the pieces of all runs before a
cut are sorted together. Memory is bounded by a run and a block for any number of rows; rows that fit into one run
never touch the disk. The file has no name (or is deleted when closed, where the system wants names): nothing is left
of it however the process ends.
"""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from ledger.errors import StorageError
from ledger.runtime.lazy import pl

if TYPE_CHECKING:
    from polars import DataFrame

PIECE = 8_192  # rows that are read back from one run at one time

Key = tuple[int, ...]


@attrs.define
class _Piece:
    """Rows of one run that follow each other: their first and last key, and their place in the file or frame."""

    first: Key
    last: Key
    rows: int
    begin: int
    end: int


@attrs.define
class _Run:
    """A run: its pieces that are still to be read, the frame where it is held in memory, and rows beyond a cut."""

    pieces: deque[_Piece]
    frame: DataFrame | None = None
    left: DataFrame | None = None


class SortedRuns:
    """An external sort: rows are added in any order and read back sorted.

    Args:
        folder: for the temporary file, which is made when a second run begins.
        by: the columns to sort by; together they identify a row.
        lead: the number of the first of these columns, whole numbers without nulls, that a block never splits: rows
            that agree in them come out in one block.
        rows_a_run: how many rows are held in memory, or somewhat more.
    """

    def __init__(self, folder: Path, by: Sequence[str], *, lead: int, rows_a_run: int) -> None:
        self._folder = folder
        self._by = list(by)
        self._lead = self._by[:lead]
        self._rows_a_run = rows_a_run
        self._in_memory: list[DataFrame] = []
        self._rows_in_memory = 0
        self._runs: list[_Run] = []
        self._file: Any = None
        self.rows = 0

    def __enter__(self) -> SortedRuns:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def add(self, frame: DataFrame) -> None:
        """Add rows.

        Raises:
            StorageError: the temporary file cannot be written.
        """
        if not len(frame):
            return
        if self._rows_in_memory >= self._rows_a_run:
            self._put_away()
        self._in_memory.append(frame)
        self._rows_in_memory += len(frame)
        self.rows += len(frame)

    def clear(self) -> None:
        """Remove all rows and the temporary file."""
        self._in_memory, self._runs, self._rows_in_memory, self.rows = [], [], 0, 0
        if self._file is not None:
            self._file.close()
            self._file = None

    def blocks(self, rows: int) -> Iterator[DataFrame]:
        """Yield all rows in order, in blocks of *rows* or somewhat more; afterwards no rows are left.

        Raises:
            StorageError: the temporary file cannot be read.
        """
        runs, self._runs = self._runs, []
        if self._in_memory:
            last = self._sorted()
            runs.append(_Run(deque(self._pieces(last)), last))
        # Keys up to which about *rows* more rows lie each time; no more than a piece of each run beyond.
        cuts: list[Key | None] = []
        gathered = 0
        for last_key, count in sorted((piece.last, piece.rows) for run in runs for piece in run.pieces):
            gathered += count
            if gathered >= rows:
                cuts.append(last_key)
                gathered = 0
        for cut in [*cuts, None]:
            parts = [part for run in runs for part in self._before(run, cut)]
            runs = [run for run in runs if run.pieces or run.left is not None]
            if parts:
                block = pl.concat(parts)
                # Let go of before the block is sorted and worked on, so that memory does not hold its rows twice.
                del parts
                yield block.sort(self._by) if self._file is not None else block  # a single run is sorted already
        self.clear()

    def _sorted(self) -> DataFrame:
        """Return the rows held in memory, sorted, and release them."""
        frames, self._in_memory, self._rows_in_memory = self._in_memory, [], 0
        return pl.concat(frames).sort(self._by)

    def _put_away(self) -> None:
        frame = self._sorted()
        pieces = deque(self._pieces(frame))
        with self._disk_errors():
            if self._file is None:
                # next to the views, not in /tmp, which may be memory: these are the rows that do not fit there
                self._file = tempfile.TemporaryFile(dir=self._folder, prefix="sorting-")  # noqa: SIM115  # see clear
            for piece in pieces:
                stream = BytesIO()
                # the newest layout would write each text column's buffers whole with each piece
                frame[piece.begin : piece.end].write_ipc_stream(stream, compat_level=pl.CompatLevel.oldest())
                piece.begin = self._file.tell()
                self._file.write(stream.getbuffer())
                piece.end = self._file.tell()
            self._file.flush()
        self._runs.append(_Run(pieces))

    def _pieces(self, frame: DataFrame) -> Iterator[_Piece]:
        keys = frame.select(self._lead)
        for begin in range(0, len(frame), PIECE):
            end = min(begin + PIECE, len(frame))
            yield _Piece(keys.row(begin), keys.row(end - 1), end - begin, begin, end)

    def _before(self, run: _Run, cut: Key | None) -> Iterator[DataFrame]:
        """Yield the rows of a run up to *cut*, all for None, that were not returned before."""
        left, run.left = run.left, None
        while left is not None or (run.pieces and (cut is None or run.pieces[0].first <= cut)):
            part = self._read(run, run.pieces.popleft()) if left is None else left
            left = None
            here = len(part) if cut is None else self._up_to(part, cut)
            if here < len(part):
                run.left = part[here:]
            if here:
                yield part[:here]
            if run.left is not None:
                return

    def _up_to(self, part: DataFrame, cut: Key) -> int:
        """Return the number of rows of a sorted frame with a key of at most *cut*."""
        begin, end = 0, len(part)
        for name, value in zip(self._lead, cut, strict=True):
            column = part[name][begin:end]
            begin, end = (begin + int(column.search_sorted(value, side)) for side in ("left", "right"))
        return end

    def _read(self, run: _Run, piece: _Piece) -> DataFrame:
        if run.frame is not None:
            return run.frame[piece.begin : piece.end]
        with self._disk_errors():
            self._file.seek(piece.begin)
            return pl.read_ipc_stream(self._file.read(piece.end - piece.begin))

    @contextmanager
    def _disk_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StorageError(
                str(self._folder),
                f"cannot hold the temporary file of a sort ({error.strerror or error}); free some "
                "space there and run the command again: nothing was lost",
            ) from error
