"""The header of a CSV file of games: which columns there are, under which names, divided by what.

``COLUMNS`` is the one list of column names and aliases. Rows are read in ``csv.rows``, values in
``csv.values``; neither happens here.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping

import attrs

# Our name -> the other names of the same thing in real files. Case, blanks and hyphens do not matter.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "key": ("game", "game_id", "game_no", "id", "n"),
    "white": ("white_name",),
    "black": ("black_name",),
    "white_id": (),
    "black_id": (),
    "white_fide_id": (),
    "black_fide_id": (),
    "result": (),
    "termination": (),
    "ended_by_checkmate": (),
    "stalemate": (),
    "insufficient_material": (),
    "half_moves": ("plies", "turns"),
    "started_at": ("start",),
    "ended_at": ("date", "utc_date_time", "end"),
    "tournament": ("event",),
    "round": (),
    "rated": (),
    "white_rating": ("white_elo",),
    "black_rating": ("black_elo",),
    "speed": (),
    "time_control": (),
    "time_increment": (),
    "variant": (),
}
# Of each group a file needs one.
REQUIRED = (
    ("white", "white_id", "white_fide_id"),
    ("black", "black_id", "black_fide_id"),
    ("result",),
    ("ended_at", "started_at"),
)
DELIMITERS = ",;\t"
MAX_COLUMNS = 1_000
_LABEL = 60  # characters of a column's name in messages
_TOLD = 5  # complaints about a header


@attrs.frozen
class Layout:
    """How the rows of one file are to be read.

    Attributes:
        delimiter: the one character between fields.
        width: how many fields each row must have.
        places: place of each column that we know, from 0.
        labels: the same columns as the file spells them, for messages.
    """

    delimiter: str
    width: int
    places: Mapping[str, int]
    labels: Mapping[str, str]


class _Names:
    """Which of the columns a word of a header means."""

    def __init__(self, columns: Mapping[str, tuple[str, ...]]) -> None:
        self._by_name = {alias: name for name, aliases in columns.items() for alias in (name, *aliases)}

    def __call__(self, field: str) -> str | None:
        return self._by_name.get(re.sub(r"[\s-]+", "_", field.strip().casefold()))


def read_header(
    line: str, columns: Mapping[str, tuple[str, ...]] = COLUMNS, required: tuple[tuple[str, ...], ...] = REQUIRED
) -> Layout:
    """Understand the first row of a file.

    Args:
        line: the row.
        columns: the names that are known, each with its other names.
        required: groups of names, of each of which one must be there.

    Raises:
        ValueError: it is empty, or a required column is missing, or one stands there twice; all said at once.
    """
    known = _Names(columns)
    if not line.strip():
        raise ValueError("the file is empty; its first line must name columns, as in white,black,result,date")
    try:
        splits = {mark: next(csv.reader([line], delimiter=mark)) for mark in DELIMITERS}
    except csv.Error as error:
        raise ValueError(f"the first line is no header of a CSV file ({error})") from None
    # The right delimiter is the one under which most columns are known to us; a title may hold the others.
    delimiter = max(splits, key=lambda mark: sum(known(field) is not None for field in splits[mark]))
    if len(splits[delimiter]) > MAX_COLUMNS:
        raise ValueError(
            f"the header names {len(splits[delimiter])} columns, more than {MAX_COLUMNS}, the limit of columns"
        )
    places: dict[str, int] = {}
    labels: dict[str, str] = {}
    complaints = []
    for place, field in enumerate(splits[delimiter]):
        name = known(field)
        if name is None:
            continue
        if name in places:
            complaints.append(
                f"the columns {labels[name]!r} and {field.strip()[:_LABEL]!r} both mean {name!r}; keep one of them"
            )
        places.setdefault(name, place)
        labels.setdefault(name, field.strip()[:_LABEL])
    for group in required:
        if not any(name in places for name in group):
            wanted = " or ".join(repr(name) for name in group)
            also = ", ".join(alias for name in group for alias in columns[name])
            complaints.append(f"there is no column {wanted}{f' (also read: {also})' if also else ''}; add it")
    if complaints:
        found = ", ".join(field.strip() for field in splits[delimiter])
        shown = found if len(found) <= 300 else f"{found[:300]}..."
        raise ValueError(f"nothing was read: {'; '.join(complaints[:_TOLD])}. The header is: {shown}")
    return Layout(delimiter, len(splits[delimiter]), places, labels)
