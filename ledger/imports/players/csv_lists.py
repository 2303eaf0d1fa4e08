"""A CSV file of players: a header with the names of our columns, in any order; unknown ones are passed over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, BinaryIO

from ledger.imports.csv.header import read_header
from ledger.imports.csv.rows import BATCH_CSV, RowReader
from ledger.imports.players.rows import Converter
from ledger.imports.reading import Reading

if TYPE_CHECKING:
    from polars import DataFrame

# Our name -> the other names of the same thing. Case, blanks and hyphens do not matter.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "identity": ("id", "player", "player_id"),
    "fide_id": ("fideid", "fide"),
    "name": ("player_name",),
    "rating": ("elo", "standard_rating"),
    "games": ("rated_games", "games_played"),
    "deviation": ("rd", "rating_deviation"),
    "volatility": (),
    "highest": ("highest_rating", "peak"),
    "k_factor": ("k",),
    "birth_year": ("born", "birthday", "birth_date", "year_of_birth"),
    "standing": ("status",),
    "since": ("effective_at", "from", "date"),
}
REQUIRED = (("identity", "fide_id", "name"),)


def frames(stream: BinaryIO, reading: Reading, size: int = BATCH_CSV) -> Iterator[DataFrame]:
    """The good players of a file, in the columns of ``player_schema()``; the bad rows go to *reading*."""
    rows = RowReader(stream, size, reading)
    try:
        layout = read_header(rows.header(), COLUMNS, REQUIRED)
    except ValueError as error:
        reading.fault(1, str(error))
        return
    converter = Converter(layout.labels)
    for cells, broken in rows.blocks(layout):
        frame, faults = converter.convert(cells)
        reading.take(broken, faults)
        if frame.height:
            yield frame
