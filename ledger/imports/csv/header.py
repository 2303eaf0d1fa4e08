"""The header of a CSV file of games: its columns, their names and the divider.

``COLUMNS`` is the one list of column names and aliases. Rows are read in ``csv.rows``, values in
``csv.values``; neither happens here.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence

import attrs

from ledger.imports.languages import headings_by_place, is_of_another_column
from ledger.runtime.nearest import did_you_mean, expected_names

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
    "sequence": (),
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
MAX_TITLES = 20  # lines of words above a header that are looked through
_NAMED = 2  # of our columns: who names so many is a header, be it a wrong one
_SHOWN_AS = {"ended_at": "date"}  # the name that people know
_LABEL = 60  # characters of a column's name in messages
_SAID = 5  # complaints about a header


@attrs.frozen
class RowLayout:
    """The columns of one CSV file, where they are, and the divider between them.

    Attributes:
        delimiter: the one character between fields.
        width: how many fields each row must have.
        places: place of each column that we know, from 0.
        labels: the same columns as the file spells them, for messages.
        least: how many fields a row must have at least: so many that every required column is among them.
        foreign: the headings that are read in another language, with the column that each means.
    """

    delimiter: str
    width: int
    places: Mapping[str, int]
    labels: Mapping[str, str]
    least: int
    foreign: Mapping[str, str] = attrs.field(factory=dict)

    def describe_foreign(self) -> str | None:
        """Return in words what the headings of another language are read as; None if there are none."""
        words = [f"{heading!r} is read as {_SHOWN_AS.get(name, name)}" for heading, name in self.foreign.items()]
        return ", ".join(words) or None

    def of_sheet(self) -> RowLayout:
        """Return the same columns of a spreadsheet, where people name a column by its letters."""
        labels = {name: f"{label} (column {column_letters(self.places[name])})" for name, label in self.labels.items()}
        return attrs.evolve(self, labels=labels)


def column_letters(place: int) -> str:
    """Return the letters of a column of a spreadsheet, from its place: 0 is ``A``, 26 is ``AA``."""
    letters = ""
    while place >= 0:
        place, digit = divmod(place, 26)
        letters, place = chr(ord("A") + digit) + letters, place - 1
    return letters


def _own_names(columns: Mapping[str, tuple[str, ...]], headings: Mapping[str, str]) -> dict[str, str]:
    """Return the column of each of our headings, and of those that somebody named."""
    names = {alias: name for name, aliases in columns.items() if name not in headings for alias in (name, *aliases)}
    return names | {_folded(heading): name for name, heading in headings.items()}


def _columns_of(
    fields: Sequence[str], columns: Mapping[str, tuple[str, ...]], headings: Mapping[str, str]
) -> tuple[list[str | None], dict[int, str]]:
    """Return the column that each heading means, and by place those that mean it in another language."""
    names = _own_names(columns, headings)
    read = [names.get(_folded(field)) for field in fields]
    unread = (field if name is None else None for field, name in zip(fields, read, strict=True))
    foreign = headings_by_place(unread, columns.keys() - set(read) - headings.keys())
    sides = {name for name in ("white", "black") if name in foreign.values() or name in headings}
    if len(sides) == 1:  # "sort" is Danish for black where another heading is for white
        foreign = {place: name for place, name in foreign.items() if name not in sides}
    return [foreign.get(place, name) for place, name in enumerate(read)], foreign


def _folded(field: str) -> str:
    return re.sub(r"[\s-]+", "_", field.strip().casefold())


def parse_headings(words: Iterable[str]) -> dict[str, str]:
    """Return the heading of each column in a file, from options such as ``white=Weiß``.

    Raises:
        ValueError: a word of another form, a column that is not known, a column or a heading twice.
    """
    names = _own_names(COLUMNS, {})
    headings: dict[str, str] = {}
    for word in words:
        column, divided, heading = word.partition("=")
        name = names.get(_folded(column))
        if not (divided and heading.strip()):
            raise ValueError(f"takes COLUMN=HEADING such as white=Weiß, got {word!r}")
        if name is None:
            raise ValueError(f"there is no column {column!r} to fill: {expected_names(column, COLUMNS)}")
        if name in headings:
            raise ValueError(f"the column {name!r} is given two headings, {headings[name]!r} and {heading!r}")
        if _folded(heading) in map(_folded, headings.values()):
            raise ValueError(f"the heading {heading!r} is given to two columns")
        headings[name] = heading
    return headings


def is_header(
    line: str, columns: Mapping[str, tuple[str, ...]] = COLUMNS, headings: Mapping[str, str] | None = None
) -> bool:
    """Return whether a line names at least two columns; a title above the header does not."""
    try:
        rows = [next(csv.reader([line], delimiter=mark), []) for mark in DELIMITERS]
        return any(len({*_columns_of(row, columns, headings or {})[0]} - {None}) >= _NAMED for row in rows)
    except csv.Error:
        return False


def read_header(
    line: str,
    columns: Mapping[str, tuple[str, ...]] = COLUMNS,
    required: tuple[tuple[str, ...], ...] = REQUIRED,
    headings: Mapping[str, str] | None = None,
) -> RowLayout:
    """Return the columns and the divider that the first row of a CSV file names.

    *columns*: the names that are known, each with its other names. *required*: groups of names, of each of which one
    must be there. *headings*: by our name of a column, the heading that it has in this file; no other means it then.

    Raises:
        ValueError: it is empty, or a required column is missing, or one stands there twice, or a heading that somebody
            named does not; all said at once.
    """
    said = headings or {}
    if not line.strip():
        raise ValueError("the file is empty; its first line must name columns, as in white,black,result,date")
    try:
        splits = {mark: next(csv.reader([line], delimiter=mark)) for mark in DELIMITERS}
    except csv.Error as error:
        raise ValueError(f"the first line is no header of a CSV file ({error})") from None
    # The right delimiter is the one under which most columns are known to us; a title may hold the others. Of two with
    # as many the one with more fields is taken; where the header is a single column, the comma, the first of them.
    read = {mark: _columns_of(row, columns, said) for mark, row in splits.items()}
    delimiter = max(splits, key=lambda mark: (sum(name is not None for name in read[mark][0]), len(splits[mark])))
    if len(splits[delimiter]) > MAX_COLUMNS:
        raise ValueError(
            f"the header names {len(splits[delimiter])} columns, more than {MAX_COLUMNS}, the limit of columns"
        )
    fields, (names, foreign) = splits[delimiter], read[delimiter]
    places, labels, complaints = _places(fields, names)
    shown = [field.strip() for field in fields]
    for name, heading in said.items():
        if name not in places:
            complaints.append(f"there is no heading {heading!r} for {name!r}{_perhaps(heading, shown)}")
    for group in required:
        if not any(name in places or name in said for name in group):
            complaints.append(_missing(group, columns, shown, may_name=headings is not None))
    if complaints:
        listed = ", ".join(shown)
        raise ValueError(
            f"nothing was read: {'; '.join(complaints[:_SAID])}. The header is: "
            f"{listed if len(listed) <= 300 else f'{listed[:300]}...'}"
        )
    # Spreadsheets leave empty cells away at the end of a row: required cells must be there, the others need not.
    least = 1 + max(min(places[name] for name in group if name in places) for group in required)
    words = {fields[place].strip()[:_LABEL]: name for place, name in foreign.items()}
    return RowLayout(delimiter, len(fields), places, labels, least, words)


def _places(fields: Sequence[str], names: Sequence[str | None]) -> tuple[dict[str, int], dict[str, str], list[str]]:
    """Return the place and heading of each column, and the columns that are there twice."""
    places: dict[str, int] = {}
    labels: dict[str, str] = {}
    complaints: list[str] = []
    for place, (field, name) in enumerate(zip(fields, names, strict=True)):
        if name is None:
            continue
        if name in places:
            complaints.append(
                f"the columns {labels[name]!r} and {field.strip()[:_LABEL]!r} both mean {name!r}; keep one of them"
            )
        # the first one stays, so that all other faults of the header are found in the same run
        places.setdefault(name, place)
        labels.setdefault(name, field.strip()[:_LABEL])
    return places, labels, complaints


def _missing(
    group: tuple[str, ...], columns: Mapping[str, tuple[str, ...]], shown: Sequence[str], *, may_name: bool
) -> str:
    columns_named = " or ".join(repr(name) for name in group)
    also = ", ".join(alias for name in group for alias in columns[name])
    names = [alias for name in group for alias in (name, *columns[name])]
    # A word for one colour may look like another one's: "black" is more like the French "Blancs", the white ones.
    unlike = [field for field in shown if not is_of_another_column(field, group[0])]
    likely = next((words for name in names if (words := _perhaps(name, unlike))), "")
    advice = f"; add it, or name its heading: --column {group[0]}=HEADING" if may_name else "; add it"
    return f"there is no column {columns_named}{f' (also read: {also})' if also else ''}{likely}{advice}"


def _perhaps(word: str, shown: Sequence[str]) -> str:
    """Return the heading that *word* may mean."""
    question = did_you_mean(word, [field[:_LABEL] for field in shown if field])
    return f" ({question.strip()})" if question else ""
