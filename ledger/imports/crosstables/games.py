"""Cross-tables of chess-results.com, Swiss-Manager and Vega as source games, as ``trf.reports`` makes them of reports.

Each player's row names the opponents by number, so that each game is read twice and must agree. The number is that of
the column by which most rows agree with each other: a place in tables by rank, a starting number in others. Name and
days of the tournament are in the lines above the table, and days of rounds in their headings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import attrs

from ledger.facts.event_fields import FEDERATION_PATTERN
from ledger.facts.player_details import OLD_TITLES, OPEN_TITLES, WOMEN_TITLES
from ledger.facts.source_games import SourceGame
from ledger.imports.crosstables.cells import COLOURLESS, colour_letters, is_colourless, opponent_of, parse_cell
from ledger.imports.crosstables.tables import MAX_ENTRANTS, PlayerRow, Table, read_tables
from ledger.imports.crosstables.titles import DAY, title_days, title_name, title_speed
from ledger.imports.csv import values
from ledger.imports.lichess import one_line
from ledger.imports.reading import MAX_NAME, NO_HINTS, FileHints, Reading
from ledger.imports.times import possible_days
from ledger.imports.trf.lines import PlayerLine, RoundCell, TournamentDays
from ledger.imports.trf.reports import EntrantList, TournamentReport, read_report

_WHOLE = re.compile(r"[1-9]\d{0,3}", re.ASCII)
_POINTS = re.compile(r"(\d{0,3})(?:[.,]([05])0*|(½))?", re.ASCII)


def read_games(lines: Iterable[bytes], reading: Reading, hints: FileHints = NO_HINTS) -> Iterator[SourceGame]:
    """Yield the games of each cross-table of a file, by rounds.

    Args:
        lines: raw lines with their line ends.
        reading: receives faults, notes, and what is said of the tournaments.
        hints: a day for games without one, the order of dates, the site whose user names the tables have.
    """
    count = 0
    for count, table in enumerate(read_tables(lines), 1):  # noqa: B007
        if not table.rows:
            reading.file_fault(table.line, "no-players: the table has no row below its headings")
            continue
        yield from _games(table, reading, hints)
    if not count:
        words = "no headings of a cross-table: a name, and a column for each round such as 1.Rd"
        reading.file_fault(1, f"table-unreadable: {words}; give the table of chess-results.com, Swiss-Manager or Vega")


def _games(table: Table, reading: Reading, hints: FileHints) -> Iterator[SourceGame]:
    if not table.is_complete:
        words = f"table-unreadable: more than {MAX_ENTRANTS:,} players, the limit of a table; no game of it was read"
        reading.file_fault(table.line, words)
        return
    for heading, name in table.foreign.items():
        reading.note(table.line, f"{heading!r} is read as {name}")
    days = _days(table, reading, hints)
    if days is None or not _has_colours(table, reading):
        return
    letters = colour_letters(row.at(column.place) for row in table.rows for column in table.rounds)
    if letters is None:
        words = "table-unreadable: the letters of the colours may be those of several languages: write w and b"
        reading.file_fault(table.line, f"{words}; no game of this table was read")
        return
    if letters != "wb":
        reading.note(table.line, f"{letters[0]!r} is read as White and {letters[1]!r} as Black, as in 12{letters[0]}1")
    place = _number_column(table)
    if place is None:
        words = "table-unreadable: no column numbers the players, so that nobody knows who 12 is in a cell such as 12w1"
        reading.file_fault(table.line, f"{words}; no game of this table was read")
        return
    entrants = EntrantList()
    parser = _RowParser(table, place, letters, is_sheet=reading.sheet is not None)
    for row in table.rows:
        rank, read = parser.parse(row)
        for words in parser.faults:
            reading.fault(row.line, f"line-unreadable: {words}")
        if read is None:
            entrants.unread.add(rank)
        else:
            entrants.enter(row.line, read, reading, hints.source)
    speed, stated_on = title_speed(table.titles, reading)
    report = TournamentReport(
        line=table.titles[0][0] if table.titles else table.line,
        name=title_name(table.titles),
        days=days,
        day=hints.day,
        entrants=entrants.by_rank,
        unread=entrants.unread,
        speed=speed,
        speed_line=stated_on or table.line,
        lines={} if stated_on is None else {"122": stated_on},
        rounds=max(column.number for column in table.rounds),
        doubts=_unread_points(table),
        no_day="the table has no day, neither above it nor at its rounds",
        no_name="no line above the table names the tournament",
        no_round_days="the days of some rounds are not given",
    )
    yield from read_report(report, reading, hints)


def _has_colours(table: Table, reading: Reading) -> bool:
    """Return whether a table names opponents with colours; if it does not, note that as its fault."""
    cells = [row.at(column.place) for row in table.rows for column in table.rounds]
    if any(map(is_colourless, cells)) and not any(opponent_of(cell) and not is_colourless(cell) for cell in cells):
        reading.file_fault(
            table.line, f"table-unreadable: cells such as {next(filter(is_colourless, cells))!r} {COLOURLESS}"
        )
        return False
    if not any(map(opponent_of, cells)) and len(table.rows) > 1:
        words = "table-unreadable: the cells name no opponents: the results of an all-play-all, side by side,"
        reading.file_fault(table.line, f"{words} {COLOURLESS}")
        return False
    return True


def _number_column(table: Table) -> int | None:
    """Return the place of the numbers by which the rows name each other; of several as good ones the first."""
    taken = {*table.columns.values(), *(column.place for column in table.rounds)}
    width = max(len(row.cells) for row in table.rows)
    best, most = None, -1
    for place in range(width):
        if place in taken:
            continue
        rows = {row.at(place).rstrip("."): row for row in table.rows}
        numbers = [number for number in rows if _WHOLE.fullmatch(number)]
        if 2 * len(numbers) <= len(table.rows):
            continue
        agreeing = sum(
            (other := rows.get(str(opponent_of(row.at(column.place))))) is not None
            and str(opponent_of(other.at(column.place))) == number
            for number, row in rows.items()
            for column in table.rounds
        )
        if agreeing > most:
            best, most = place, agreeing
    return best


class _RowParser:
    """A parser of the rows of one table into players' lines; what is wrong with a row is a list of faults."""

    def __init__(self, table: Table, place: int, letters: str, *, is_sheet: bool) -> None:
        self._table = table
        self._place = place
        self._letters = letters
        self._is_sheet = is_sheet
        self._rounds = sorted(table.rounds)
        self.faults: list[str] = []

    def _read(self, row: PlayerRow, place: int | None, parse: Callable[[str], Any]) -> Any:
        """Return what a cell says; None, and a fault, if it cannot be read."""
        try:
            return None if place is None else parse(row.at(place))
        except ValueError as error:
            label = self._table.label(place or 0, is_sheet=self._is_sheet)
            self.faults.append(f"{label} {error}; got {row.at(place)[:80]!r}")
            return None

    def parse(self, row: PlayerRow) -> tuple[int, PlayerLine | None]:
        """Return the number of the player of a row, 0 for none, and the line; None if it is faulty."""
        self.faults = []
        columns = self._table.columns
        rank = self._read(row, self._place, _parse_number) or 0
        name = self._read(row, columns["name"], _parse_name)
        fide = self._read(row, columns.get("fide_id"), values.parse_fide_id)
        rating = self._read(row, columns.get("rating"), values.parse_rating)
        rounds = self._parse_rounds(row, rank)
        federation = _parse_federation(row.at(columns.get("federation")))
        title = _parse_title(row.at(self._table.title_place))
        if self.faults:
            return rank, None
        return rank, PlayerLine(
            rank=rank, sex="", title=title, name=name, rating=rating, federation=federation, fide_id=fide or "",
            birth="", points=_parse_points(row.at(columns.get("points"))), place=None, rounds=tuple(rounds),
        )  # fmt: skip

    def _parse_rounds(self, row: PlayerRow, rank: int) -> list[RoundCell]:
        def parse(text: str) -> RoundCell:
            cell = parse_cell(text, self._letters)
            if rank and cell.opponent == rank:
                raise ValueError("must name another player than the row's own")
            return cell

        cells: list[RoundCell] = []
        for column in self._rounds:
            cells += [RoundCell(0, "-", "Z", is_blank=True)] * (column.number - 1 - len(cells))
            if (cell := self._read(row, column.place, parse)) is not None:
                cells.append(cell)
        return cells


def _parse_number(text: str) -> int:
    if _WHOLE.fullmatch(text.rstrip(".")) is None:
        raise ValueError("must be the player's number")
    return int(text.rstrip("."))


def _parse_name(text: str) -> str:
    name = one_line(text)
    if not 0 < len(name) <= MAX_NAME:
        raise ValueError(f"must be a name of at most {MAX_NAME} characters")
    return name


def _parse_federation(text: str) -> str:
    """Return a federation's code; empty for other texts, such as the name of a club, on which no game depends."""
    return text if re.fullmatch(FEDERATION_PATTERN, text) else ""


def _parse_title(text: str) -> str:
    """Return a title of FIDE; empty for other texts, such as a number."""
    title = OLD_TITLES.get(text.upper(), text.upper())
    return title if title in OPEN_TITLES + WOMEN_TITLES else ""


def _unread_points(table: Table) -> list[tuple[int, str]]:
    """Return the lines whose points cannot be read, if they are few."""
    place = table.columns.get("points")
    texts = [(row.line, row.at(place)) for row in table.rows]
    unread = [(line, text) for line, text in texts if text and _parse_points(text) is None]
    words = f"{table.label(place or 0, is_sheet=False)}: expected points such as 3,5, got"
    return [(line, f"{words} {text[:40]!r}: not used") for line, text in unread] if 2 * len(unread) < len(texts) else []


def _parse_points(text: str) -> float | None:
    """Return points such as ``2,5`` or ``2½``; None for other texts, on which no game depends."""
    match = _POINTS.fullmatch(text) if text else None
    return None if match is None else int(match[1] or 0) + (0.5 if match[3] or match[2] == "5" else 0.0)


def _days(table: Table, reading: Reading, hints: FileHints) -> TournamentDays | None:
    """Return the days of a tournament and its rounds; None, and a fault, if they cannot be read."""
    read, faults = title_days(table.titles, table.line, hints.dates)
    for line, words in faults:
        reading.file_fault(line, f"{words}; no game of this table was read")
    return None if read is None else _with_rounds(read, table, reading, hints)


def _with_rounds(read: TournamentDays, table: Table, reading: Reading, hints: FileHints) -> TournamentDays:
    """Return the days with those of the rounds."""
    by_round: dict[int, str] = {}
    unread: dict[int, str] = {}
    for column in table.rounds:
        match = DAY.search(column.rest)
        if match is None:
            continue
        days = possible_days(match[0], hints.dates)
        if len(days) == 1:
            by_round[column.number] = days[0]
        else:
            unread[column.number] = match[0]
            label = table.label(column.place, is_sheet=reading.sheet is not None)
            reading.note(table.line, f"{label}: the day may be {' or '.join(days) or 'none'}: not used")
    return attrs.evolve(read, rounds=by_round, unread=unread)
