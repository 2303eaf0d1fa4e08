"""Lines of a file as cross-tables: the titles above each, its columns, and the rows of its players.

A table is a row of headings with a name and one column for each round, and the rows below it until one without a name.
Cells are divided by semicolons, tabs or commas; Vega's text has fixed columns and a bar before the rounds. Nothing is
known here of what a cell says of a game.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

import attrs

from ledger.imports.csv.header import MAX_COLUMNS, column_letters
from ledger.imports.csv.rows import decode_text
from ledger.imports.languages import ROUND_WORDS, fold_heading, headings_by_place

MAX_ENTRANTS = 9_999
MAX_LENGTH = 10_000  # bytes of a row that are looked at
MAX_TITLES = 40  # lines above a table that are looked at
MAX_ROUND = 99
DIVIDERS = ";\t,"
# Our name of a column -> its headings in tables of all programs; those of other languages are in ``languages``.
_HEADINGS: Mapping[str, tuple[str, ...]] = {
    "name": ("name", "player", "players"),
    "rating": ("rtgi", "elo i", "eloi", "rtg", "elo", "rating", "rtng", "rat", "eloint", "rtgn", "elon"),
    "federation": ("fed", "federation"),
    "fide_id": ("fideid", "fide id", "fide no", "fide"),
    "title": ("title", "titel", "tit", "ttl"),
    "points": ("pts", "pkt", "pkte", "points", "punkte", "score", "tot", "total", "ptos", "punti", "punten", "body"),
}
_COLUMNS = {fold_heading(word): column for column, words in _HEADINGS.items() for word in words}
_NUMBERED = re.compile(r"(?:(\d{1,2})\s*[._-]?\s*([^\W\d]+)\.?|([^\W\d]+)\.?\s*(\d{1,2})\.?)(?:[\s:(]+(.*?)\)?)?")
_PLAIN = re.compile(r"(\d{1,2})\.?")
_VEGA_HEADER = re.compile(r"\s*(?:N|ID|No)\.?\s+NAME\b[^|]*\|((?:\s+\d{1,3})+)\s*", re.IGNORECASE)
_VEGA_ROW = re.compile(
    r"\s*(\d{1,4})\s+(\S.*?)\s+(\d{1,4})\s+(?:[A-Za-z]{1,3}\s+)??(?:[A-Za-z]{3}\s+)?(\d{1,3}(?:[.,]\d)?)\s*\|(.*)"
)


class RoundColumn(NamedTuple):
    """The column of a round: its number, its place in a row, the text behind the number, the heading."""

    number: int
    place: int
    rest: str
    heading: str


class PlayerRow(NamedTuple):
    """A row of a table: its line, from 1, and its cells."""

    line: int
    cells: Sequence[str]

    def at(self, place: int | None) -> str:
        """Return the cell at a place, without outer blanks; empty where the row has none."""
        return self.cells[place].strip() if place is not None and place < len(self.cells) else ""


@attrs.define
class Table:
    """A cross-table.

    Attributes:
        line: of its headings.
        headings: as they are written.
        columns: the place of ``name``, and of ``rating``, ``federation``, ``fide_id``, ``title`` and ``points`` where
            it has them.
        rounds: the columns of rounds.
        titles: the lines above it, each with its number, the nearest last.
        foreign: headings of another language, with what they are read as.
        rows: those of its players.
        is_complete: False if there were more players than a table may have.
    """

    line: int
    headings: Sequence[str]
    columns: Mapping[str, int]
    rounds: Sequence[RoundColumn]
    titles: Sequence[tuple[int, str]]
    foreign: Mapping[str, str]
    rows: list[PlayerRow] = attrs.Factory(list)
    is_complete: bool = True

    @property
    def title_place(self) -> int | None:
        """The place of the titles: programs leave their heading blank, before the name."""
        before = self.columns["name"] - 1
        is_blank = before >= 0 and not self.headings[before].strip()
        return self.columns.get("title", before if is_blank else None)

    def label(self, place: int, *, is_sheet: bool) -> str:
        """Return the heading of a column; *is_sheet*: with its letters."""
        heading = self.headings[place].strip() if place < len(self.headings) else ""
        return f"{heading} (column {column_letters(place)})" if is_sheet else heading


def _rounds(headings: Sequence[str]) -> list[RoundColumn]:
    """Return the columns of rounds, by headings such as ``1.Rd``, ``Runde 2 (04.05.2024)`` or a row of numbers."""
    named: list[RoundColumn] = []
    plain: list[RoundColumn] = []
    for place, heading in enumerate(headings):
        text = heading.strip()[:60]
        if match := _NUMBERED.fullmatch(text):
            number, word = (match[1], match[2]) if match[1] else (match[4], match[3])
            if fold_heading(word) in ROUND_WORDS:
                named.append(RoundColumn(int(number), place, match[5] or "", text))
        elif (match := _PLAIN.fullmatch(text)) and int(match[1]) == len(plain) + 1:
            plain.append(RoundColumn(int(match[1]), place, "", text))
    return named or (plain if len(plain) > 1 else [])


def read_headings(cells: Sequence[str], line: int, titles: Sequence[tuple[int, str]]) -> Table | None:
    """Return the table that begins with a row of headings; None if the row is none."""
    if len(cells) > MAX_COLUMNS:
        return None
    rounds = _rounds(cells)
    if not rounds:
        return None
    own = [_COLUMNS.get(fold_heading(cell)) for cell in cells]
    unread = (cell if name is None else None for cell, name in zip(cells, own, strict=True))
    foreign = headings_by_place(unread, {"name", "rating", "fide_id"} - set(own))
    columns: dict[str, int] = {}
    for place, name in enumerate(own):
        if (name := foreign.get(place, name)) is not None and name not in columns:
            columns[name] = place
    # FIDE's rating goes before a national one, wherever they are
    order = [word for word in map(fold_heading, _HEADINGS["rating"]) if word in map(fold_heading, cells)]
    if order:
        columns["rating"] = list(map(fold_heading, cells)).index(order[0])
    if "name" not in columns:
        return None
    words = {cells[place].strip(): name for place, name in foreign.items()}
    return Table(line, cells, columns, rounds, titles, words)


def _split(text: str, divider: str) -> list[str]:
    with suppress(csv.Error, StopIteration):
        return next(csv.reader([text], delimiter=divider))
    return text.split(divider)


def _vega_table(match: re.Match[str], line: int, titles: Sequence[tuple[int, str]]) -> Table:
    numbers = match[1].split()
    headings = ["N", "NAME", "Rtg", "Pts", *numbers]
    rounds = [RoundColumn(int(word), 4 + place, "", word) for place, word in enumerate(numbers)]
    return Table(line, headings, {"name": 1, "rating": 2, "points": 3}, rounds, titles, {})


def _vega_row(text: str) -> list[str]:
    """Return the cells of a row of Vega's text; its line alone if it is none."""
    match = _VEGA_ROW.fullmatch(text)
    return [*match.groups()[:4], *match[5].split()] if match else [text]


class _Scanner:
    """Finds tables line by line."""

    def __init__(self) -> None:
        self.table: Table | None = None
        self._divider = ""  # of the table; empty for Vega's text
        self._titles: list[tuple[int, str]] = []

    def take(self, line: int, text: str) -> Table | None:
        """Take the next line; return the table that it ends."""
        if self.table is not None:
            cells = _split(text, self._divider) if self._divider else _vega_row(text)
            row = PlayerRow(line, cells)
            if row.at(self.table.columns["name"]):
                if not self._divider or not self._begins(line, text):
                    self._add(self.table, row)
                    return None
                ended, self.table = self.table, self._next
                if list(ended.headings) == list(self.table.headings):  # the headings of the next page
                    self.table = ended
                    return None
                return ended
            if set(text.strip()) <= {"-", "=", "_"} and text.strip():  # a rule below the headings
                return None
            ended, self.table = self.table, None
            self._titles = []
            self._title(line, text)
            return ended
        if self._begins(line, text):
            self.table = self._next
        else:
            self._title(line, text)
        return None

    @staticmethod
    def _add(table: Table, row: PlayerRow) -> None:
        if len(table.rows) < MAX_ENTRANTS:
            table.rows.append(row)
        else:
            table.is_complete = False

    def _title(self, line: int, text: str) -> None:
        words = " ".join(re.sub(r"[;\t,\"]+(?=[;\t,\"]|$)|^[;\t,\"]+|[;\t]", " ", text).split())
        if words and len(self._titles) < MAX_TITLES:
            self._titles.append((line, words))

    def _begins(self, line: int, text: str) -> bool:
        """Return whether a line has the headings of a table, which is then ``_next``."""
        if match := _VEGA_HEADER.fullmatch(text):
            self._next, self._divider = _vega_table(match, line, tuple(self._titles)), ""
            return True
        for divider in DIVIDERS:
            if divider in text:
                table = read_headings(_split(text, divider), line, tuple(self._titles))
                if table is not None:
                    self._next, self._divider = table, divider
                    return True
        return False


def read_tables(lines: Iterable[bytes]) -> Iterator[Table]:
    """Yield the cross-tables of a file, each with its rows.

    *lines*: raw, with their ends.
    """
    scanner = _Scanner()
    for number, raw in enumerate(lines, 1):
        text = decode_text(raw[:MAX_LENGTH]).rstrip("\r\n\x1a").removeprefix("\ufeff")
        table = scanner.take(number, text)
        if table is not None:
            yield table
    if scanner.table is not None:
        yield scanner.table


def has_table(first: bytes) -> bool:
    """Return whether a cross-table begins in the first lines of a file."""
    scanner = _Scanner()
    for number, raw in enumerate(first.splitlines()[: 2 * MAX_TITLES], 1):
        scanner.take(number, decode_text(raw).removeprefix("\ufeff"))
        if scanner.table is not None:
            return True
    return False
