"""Lists of pairings as frames of source games, by the converter of CSV files: names, results, byes and their faults.

Round and day of a game are those of the caption above it, or else the last day of the tournament.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ledger.imports.crosstables.titles import title_days, title_name, title_speed
from ledger.imports.csv.games import convert_cells
from ledger.imports.csv.header import RowLayout, column_letters
from ledger.imports.pairings.lists import PairedGame, PairingReader, Round
from ledger.imports.reading import (
    BATCH,
    NO_HINTS,
    OTHER_CLASS,
    Faults,
    FileHints,
    Reading,
    ReportedTournament,
    pool_contradiction,
)
from ledger.imports.times import ambiguous_day_fault, possible_days
from ledger.imports.trf.lines import TournamentDays
from ledger.runtime.lazy import pl

if TYPE_CHECKING:
    from polars import DataFrame

MAX_GAMES = 200_000  # of a file: a season of 1,000 teams
_CELLS = ("white", "white_rating", "white_fide_id", "black", "black_rating", "black_fide_id", "result")
_NO_PLAYER = {"", "-", "–"}  # in the place of a player who did not come


def read_frames(lines: Iterable[bytes], reading: Reading, hints: FileHints = NO_HINTS) -> Iterator[DataFrame]:
    """Yield the valid games of a list of pairings as frames with the columns of ``frame_schema()``.

    Args:
        lines: raw lines with their line ends.
        reading: receives faults, notes, and what is said of the tournament.
        hints: a day for games without one, the order of dates, on which boards of a match the first team has White.
    """
    reader = PairingReader(hints.white_boards)
    games: list[PairedGame] = []
    for game in reader.read(lines):
        if len(games) == MAX_GAMES:
            reading.stop(game.line, f"more than {MAX_GAMES:,} games, the limit of a list; the rest is not read")
            break
        games.append(game)
    for line, words in reader.faults:
        reading.fault(line, words)
    if reader.unfinished:
        reading.skipped["unfinished"] += reader.unfinished
    if not games and not reader.faults and not reader.unfinished:
        words = "no pairing with a result: headings such as White, Result, Black below 'Round 1 on 2024/05/04'"
        reading.file_fault(1, f"{words}, or matches of teams with their boards")
        return
    days, faults = title_days(reader.titles, 1, hints.dates)
    for line, words in faults:
        reading.file_fault(line, f"{words}; no game of this list was read")
    if days is None:
        return
    if reader.columns is not None and reader.columns.foreign:
        words = ", ".join(f"{heading!r} is read as {column}" for heading, column in reader.columns.foreign.items())
        reading.note(reader.columns.line, words)
    name = title_name(reader.titles)
    if name is None and not all(game.tournament for game in games):
        reading.note(1, "no line above the pairings names the tournament, so its games carry none")
    speed, stated_on = title_speed(reader.titles, reading)
    if contradiction := pool_contradiction(speed, hints):
        if hints.refuses_other_class:
            words = f"{OTHER_CLASS}: {contradiction}; name that pool, or accept {OTHER_CLASS}"
            reading.file_fault(stated_on or 1, f"{words}; no game of this list was read")
            return
        reading.note(stated_on or 1, contradiction)
    by_round = _days_of_rounds(games, days, reading, hints)
    _add_tournament(reader, name, days, by_round, speed, reading)
    dated = [game for game in games if game.round in by_round]
    yield from convert_cells(_blocks(dated, by_round, name, speed), _layout(reader, reading), reading, hints, 1)


def _days_of_rounds(
    games: Sequence[PairedGame], days: TournamentDays, reading: Reading, hints: FileHints
) -> dict[Round | None, str]:
    """Return the day of each round; one without a day is a fault, and its games are left out."""
    by_round: dict[Round | None, str] = {}
    undated = False
    for caption in dict.fromkeys(game.round for game in games):
        line = caption.line if caption else games[0].line
        said = caption.day if caption else None
        read = possible_days(said, hints.dates) if said else ()
        usual = days.last or days.first or hints.day
        if len(read) == 1:
            by_round[caption] = read[0]
        elif said:
            words = ambiguous_day_fault(read) if read else "is no day that exists"
            reading.file_fault(line, f"the day of the round {words}; got {said!r}; its games are left out")
        elif usual is not None:
            by_round[caption] = usual
            undated = True
        else:
            words = "the round has no day: write it as in 'Round 1 on 2024/05/04', or say when with --day"
            reading.file_fault(line, f"{words}; its games are left out")
    if undated and days.last and days.first != days.last:
        reading.note(1, f"the days of some rounds are not given: their games are put on {days.last}")
    return by_round


def _add_tournament(
    reader: PairingReader,
    name: str | None,
    days: TournamentDays,
    by_round: dict[Round | None, str],
    speed: str | None,
    reading: Reading,
) -> None:
    dated = [day for day in (days.first, days.last, *by_round.values()) if day and len(day) == len("2024-05-04")]
    if name is None or not dated:
        return
    rounds = max((caption.number for caption in reader.rounds), default=None)
    first, last = days.first or min(dated), days.last or max(dated)
    reading.add_tournament(ReportedTournament(1, name, min(first, last), max(first, last), None, None, rounds, speed))


def _blocks(
    games: Sequence[PairedGame], by_round: dict[Round | None, str], name: str | None, speed: str | None
) -> Iterator[tuple[DataFrame, Faults]]:
    """Yield the games as cells of a CSV file, with their lines."""
    for begin in range(0, len(games), BATCH):
        block = games[begin : begin + BATCH]
        cells: dict[str, list[str | None]] = {column: [getattr(game, column) for game in block] for column in _CELLS}
        for side in ("white", "black"):
            cells[side] = ["bye" if cell in _NO_PLAYER else cell for cell in cells[side]]
        cells |= {
            "round": [str(game.round.number) if game.round and game.round.number else None for game in block],
            "ended_at": [by_round[game.round] for game in block],
            "tournament": [game.tournament or name for game in block],
            "speed": [speed] * len(block),
        }
        frame = pl.DataFrame(cells, schema=dict.fromkeys(cells, pl.String))
        yield frame.with_columns(pl.Series("line", [game.line for game in block], pl.Int64)), Faults([])


def _layout(reader: PairingReader, reading: Reading) -> RowLayout:
    """Return the columns by which faults of cells name them: their headings, in a sheet with the letters."""
    names = (*_CELLS, "round", "ended_at", "tournament", "speed")
    labels = {name: name for name in names}
    if reader.columns is not None:
        for name, place in reader.columns.places.items():
            heading = reader.columns.headings[place].strip() or name
            labels[name] = f"{heading} (column {column_letters(place)})" if reading.sheet is not None else heading
    return RowLayout("\t", len(names), {name: place for place, name in enumerate(names)}, labels, 0)
