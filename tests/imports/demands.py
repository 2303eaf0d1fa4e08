"""What is demanded of each importer for any bytes whatever. Which bytes, is the business of ``spoiled_files``."""

import io
import resource
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

import attrs

from ledger.errors import LedgerError
from ledger.facts import codec
from ledger.facts.events import GameRecorded
from ledger.facts.source_games import KEPT_FAULTS, SourceGame
from ledger.imports import chess_com, jsonl, lichess
from ledger.imports.crosstables import games as crosstables
from ledger.imports.csv import games as csv_games
from ledger.imports.csv import header as csv_header
from ledger.imports.csv import rows as csv_rows
from ledger.imports.csv import values as csv_values
from ledger.imports.files import FORMATS, Source, detect_format, wrap_file
from ledger.imports.formats import read_game_frames
from ledger.imports.pgn import games as pgn
from ledger.imports.reading import Reading
from ledger.imports.trf import games as trf
from ledger.imports.trf import lines
from ledger.ledger import Ledger
from ledger.recording.pool_choice import BY_SPEED, PoolChoice
from ledger.testing.importer_contract import check_game
from tests.kit.places import MEMORY
from tests.kit.source_files import pieces
from tests.kit.yardsticks import yardsticks

Demand = Callable[[bytes], None]

MAX_YARDSTICKS = 400.0  # for one input
MAX_MESSAGE = 1_100  # characters of a fault
MAX_GROWTH = 300 * 1024  # KiB by which the process may grow over one input


class _Drip(io.RawIOBase):
    """A file of which each reading gives a few bytes, as a pipe may."""

    def __init__(self, data: bytes, size: int) -> None:
        self._file = io.BytesIO(data)
        self._size = size

    def read(self, size: int = -1, /) -> bytes:
        return self._file.read(self._size if size < 0 else min(self._size, size))


def _drip(data: bytes) -> BinaryIO:
    size = (1, 2, 3, 5, 7, 16, 61, 127, 1021)[len(data) % 9]
    return _Drip(data, max(size, len(data) // 500))  # type: ignore[return-value]


def _pieces(data: bytes) -> Iterator[bytes]:
    size = max((1, 2, 3, 5, 7, 16, 61, 127, 1021)[len(data) % 9], len(data) // 500)
    return (data[start : start + size] for start in range(0, len(data), size))


def check_faults(reading: Reading, lines: int) -> None:
    """Demand that faults have a line of the file, one line of words of bounded length, and a number."""
    assert reading.fault_count >= len(reading.faults) == min(reading.fault_count, KEPT_FAULTS)
    for fault in reading.faults:
        assert 1 <= fault.line <= max(lines, 1), fault
        assert 0 < len(fault.message) <= MAX_MESSAGE, fault
        assert "\n" not in fault.message, fault
        fault.message.encode()


def line_importer(read: Callable[[Iterator[bytes], Reading], Iterable[SourceGame]]) -> Demand:
    """Return the demands on a reader of lines."""

    def read_all(data: bytes) -> None:
        first, again = Reading("spoiled"), Reading("spoiled")
        games = list(read(iter(io.BytesIO(data).readlines()), first))
        check_faults(first, data.count(b"\n") + 1)
        for game in games:
            check_game(game)
        if len(data) % 3:
            return
        dripped = list(read(iter(Source(again, b"", _pieces(data)).lines()), again))
        assert dripped == games, "other games when the bytes come in other pieces"
        assert (again.faults, again.skipped) == (first.faults, first.skipped)

    return read_all


def unpack(data: bytes) -> None:
    """Unpack, read lines and guess the format."""
    with suppress(LedgerError):  # an archive of files
        whole = wrap_file(io.BytesIO(data), "spoiled")
        assert detect_format(whole.first) in FORMATS
        lines = list(whole.lines())
        check_faults(whole.reading, 2**40)
        dripped = wrap_file(_drip(data), "spoiled")
        again = list(dripped.lines())
        if not whole.reading.faults:
            assert again == lines, "other lines when the bytes come in other pieces"
        assert len(dripped.reading.faults) == len(whole.reading.faults)
        assert all(line.count(b"\n") <= 1 for line in lines)


def _csv_games(data: bytes, size: int, reading: Reading) -> list[SourceGame]:
    read = csv_games.read_frames(pieces(data, size), reading, size)
    return [SourceGame(*row) for frame in read for row in frame.iter_rows()]


def read_csv(data: bytes) -> None:
    """Read whole CSV files: header, rows, values, what a row says."""
    first, again = Reading("spoiled"), Reading("spoiled")
    games = _csv_games(data, csv_rows.BATCH_CSV, first)
    check_faults(first, data.count(b"\n") + 1)
    for game in games:
        check_game(game)
    if len(data) % 3 == 0:
        dripped = _csv_games(data, max(7, len(data) // 9), again)
        assert dripped == games, "other games when the bytes come in other pieces"
        assert sorted(again.faults) == sorted(first.faults)


def _rows(data: bytes, size: int) -> tuple[list[tuple[object, ...]], list[tuple[int, str]]]:
    reader = csv_rows.RowReader(pieces(data, size), size)
    try:
        layout = csv_header.read_header(reader.read_header())
    except ValueError as error:
        return [], [(1, str(error))]
    rows: list[tuple[object, ...]] = []
    faults: list[tuple[int, str]] = []
    for frame, broken in reader.read_blocks(layout):
        rows += (tuple(field or None for field in row) for row in frame.iter_rows())  # an empty field is none
        faults += broken.first
        assert broken.more == 0
    return rows, faults


def read_csv_rows(data: bytes) -> None:
    """Read rows of fields, in columns and field by field."""
    rows, faults = _rows(data, csv_rows.BATCH_CSV)
    assert all(1 <= line <= data.count(b"\n") + 1 and 0 < len(words) <= MAX_MESSAGE for line, words in faults)
    if len(data) % 3 == 0:
        assert _rows(data, max(7, len(data) // 9)) == (rows, faults), "other rows when the bytes come in other pieces"


def _check_words(error: ValueError, limit: int) -> None:
    assert 0 < len(str(error)) <= limit


_VALUES: Mapping[str, Callable[[str], object]] = {
    name: getattr(csv_values, name)
    for name in (
        "parse_name", "parse_identity", "parse_tournament", "parse_round", "parse_fide_id", "parse_result",
        "parse_termination", "parse_flag", "parse_half_moves", "parse_rating", "parse_instant", "parse_speed",
        "parse_time_control", "parse_minutes_control", "parse_variant",
    )
}  # fmt: skip


def read_csv_values(data: bytes) -> None:
    """Run every function of one field, on every field of the bytes."""
    for field in data.split(b",")[:8]:
        text = csv_rows.decode_text(field)
        for meaning in _VALUES.values():
            try:
                value = meaning(text)
            except ValueError as error:
                _check_words(error, MAX_MESSAGE)
            else:
                assert value is None or isinstance(value, int) or 0 < len(str(value)) <= 300


def read_trf_lines(data: bytes) -> None:
    """Read player lines of tournament reports."""
    for line in data.decode("latin-1").split("\n")[:50]:
        try:
            read = lines.parse_player_line(line)
        except ValueError as error:
            _check_words(error, 4 * MAX_MESSAGE)
        else:
            assert read.rank > 0
            assert all(game.result in lines.RESULTS for game in read.rounds)


@attrs.define
class WholeImport:
    """Files of any format into a small ledger; what it recorded is read back."""

    _made: TemporaryDirectory[str] | None = None  # with the first file, gone with the process
    _ledger: Ledger | None = None
    _runs: int = 0

    def __call__(self, data: bytes) -> None:
        """Import *data* and read back what was recorded."""
        ledger = self._fresh() if self._ledger is None or self._runs % 500 == 0 else self._ledger
        self._runs += 1
        source = wrap_file(io.BytesIO(data), "spoiled")
        fmt = detect_format(source.first)
        given = read_game_frames(source, fmt)
        before = ledger.journal.size()
        choice = PoolChoice(pool=BY_SPEED if len(data) % 2 else "standard")
        outcome = ledger.import_games(given, choice=choice, strict=len(data) % 5 == 0)
        entries = [codec.decode(body) for bodies in ledger.journal.read(before) for body in bodies]
        recorded = [entry for entry in entries if isinstance(entry.event, GameRecorded)]
        assert len(recorded) == outcome.recorded, (len(recorded), outcome)
        for fault in outcome.faults:
            assert fault.line >= 1, fault
            assert 0 < len(fault.message) <= MAX_MESSAGE, fault

    def _fresh(self) -> Ledger:
        if self._ledger is not None:
            self._ledger.close()
        if self._made is None:
            self._made = TemporaryDirectory(prefix="spoiled", dir=MEMORY if MEMORY.is_dir() else None)
        folder = Path(self._made.name)
        for file in folder.glob("club*"):
            file.unlink()
        self._ledger = Ledger.create(folder / "club.db")
        return self._ledger


def import_whole(data: bytes) -> None:
    """Import whole files into a ledger; an archive is refused."""
    with suppress(LedgerError):
        whole_import(data)


whole_import = WholeImport()

DEMANDS: dict[str, Demand] = {
    "open": unpack,
    "pgn": line_importer(pgn.read_games),
    "lichess-ndjson": line_importer(lichess.read_games),
    "ledger-jsonl": line_importer(jsonl.read_games),
    "chess-com": line_importer(chess_com.read_games),
    "csv": read_csv,
    "csv-rows": read_csv_rows,
    "csv-values": read_csv_values,
    "trf": line_importer(trf.read_games),
    "trf-lines": read_trf_lines,
    "crosstable": line_importer(crosstables.read_games),
    "import": import_whole,
}


class BrokenDemandError(AssertionError):
    """An importer did what it must not do."""


def demand(name: str, data: bytes) -> None:
    """Give an importer some bytes, and refuse what it must not do with them, slowness and hunger for memory included.

    Raises:
        BrokenDemandError: it did; errors that are no ``Exception``, as of code in Rust, become one, too.
    """
    largest, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    try:
        DEMANDS[name](data)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise BrokenDemandError(f"{type(error).__name__}: {str(error)[:2000]}") from error
    took = yardsticks(time.process_time() - started)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - largest
    if took > MAX_YARDSTICKS:
        raise BrokenDemandError(f"slow: took {took:.0f} yardsticks for {len(data)} bytes")
    if grown > MAX_GROWTH:
        raise BrokenDemandError(f"memory: grew by {grown >> 10} MiB over {len(data)} bytes")
