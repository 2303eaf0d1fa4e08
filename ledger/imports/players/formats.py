"""The formats of lists of players, and the reader of CSV files of players.

The header of a CSV names columns in any order; unknown ones are passed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from ledger.imports.csv.rows import BATCH_CSV, RowReader, read_layout
from ledger.imports.files import Source
from ledger.imports.players import fide
from ledger.imports.players.rows import PlayerConverter
from ledger.imports.reading import Reading

if TYPE_CHECKING:
    from polars import DataFrame


# Our name -> the other names of the same thing. Case, blanks and hyphens do not matter.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "identity": ("id", "player", "player_id"),
    "fide_id": ("fideid", "fide", "fide_no"),
    "name": ("player_name",),
    "rating": ("elo", "standard_rating", "rtg", "rtgi", "rtg_nat"),
    "games": ("rated_games", "games_played"),
    "deviation": ("rd", "rating_deviation"),
    "volatility": (),
    "highest": ("highest_rating", "peak"),
    "k_factor": ("k",),
    "birth_year": ("born", "birthday", "birth_date", "year_of_birth"),
    "standing": ("status",),
    "since": ("effective_at", "from", "date"),
    "sex": ("gender",),
    "title": ("fide_title",),
    "federation": ("fed", "country"),
    "club": ("club_name", "clubname"),
    "national": ("national_id", "national_number", "member_number", "id_no"),
    "active": (),
}
REQUIRED = (("identity", "fide_id", "name"),)


def read_csv(chunks: Iterable[bytes], reading: Reading, size: int = BATCH_CSV) -> Iterator[DataFrame]:
    """Yield the valid players of a CSV file as frames with the columns of ``player_schema()``."""
    rows = RowReader(chunks, size, reading)
    layout = read_layout(rows, reading, COLUMNS, REQUIRED)
    if layout is None:
        return
    converter = PlayerConverter(layout.labels)
    for cells, broken in rows.read_blocks(layout):
        frame, faults = converter.convert(cells)
        reading.add_faults(broken, faults)
        if frame.height:
            yield frame


FORMATS = ("csv", "fide-text", "fide-xml")


def detect_format(first: bytes) -> str:
    """Return the format of a list of players from its first bytes: one of ``FORMATS``."""
    if fide.is_xml_list(first):
        return "fide-xml"
    return "fide-text" if fide.is_text_list(first) else "csv"


def default_list_name(fmt: str, kind: str) -> str | None:
    """Return the name of a list that the user does not name; None for a CSV, which may come from any source."""
    return None if fmt == "csv" else f"FIDE {kind} rating list"


def read_players(source: Source, fmt: str, kind: str, since: str | None) -> Iterator[DataFrame]:
    """Yield the valid players of a list as frames with the columns of ``player_schema()``.

    *kind*: which rating of FIDE's combined list: ``standard``, ``rapid`` or ``blitz``; ``all``: each of them, in
    further columns (``rows.FURTHER_RATINGS``), which no CSV has. *since*: from when the ratings of a list of FIDE hold.
    """
    if fmt == "fide-xml":
        return fide.read_xml(source.chunks(), source.reading, kind, since)
    if fmt == "fide-text":
        return fide.read_text(source.lines(), source.reading, kind, since)
    return read_csv(source.chunks(), source.reading)
