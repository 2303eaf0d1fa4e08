"""The rows of a file of games that have faults: where each is, what is wrong with it, and its text as it was.

A row is a line of a table or of JSON lines, a game of a PGN or of an archive of chess.com. The table of faults can be
corrected and imported again if the file was a table itself; the rows alone, in the format of the file, always can,
but for those of tournament reports, cross-tables and lists of pairings, whose lines refer to each other. Of a workbook
the rows of one sheet are lines with tabs. The file is read a second time, and only if it has faults.
"""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import attrs

from ledger.facts.source_games import FileFault
from ledger.imports import json_input
from ledger.imports.csv.header import MAX_TITLES, RowLayout, is_header, read_header
from ledger.imports.csv.rows import decode_text, read_row
from ledger.imports.files import Source
from ledger.imports.pgn.lines import GameLines, decode_game, read_tags, split_games
from ledger.imports.reading import NO_HINTS, FileHints
from ledger.runtime.visible import in_cell

COLUMNS = ("file", "line", "column", "value", "fault")  # of the table, before those of the file itself
MOST_TEXT = 16 * 2**20  # characters of all rows together: a game of a PGN may have two million
_ROW = "row"
_REFERRING = frozenset({"trf", "crosstable", "pairings"})  # formats whose lines name other lines, or stand below them
_MAY_ACT = re.compile(r"[^\W\d_]|[(|!]")  # a formula without letters and brackets is mere arithmetic
_PATH = re.compile(r" @ (\$\S*)$")
_GAME_NUMBER = re.compile(r"\$\.games\[(\d+)\]")


class FaultyRow(NamedTuple):
    """A row of a file with its faults.

    Attributes:
        line: where it begins, from 1.
        columns: the columns, tags or JSON paths that the faults name.
        values: their contents, as far as they are known.
        faults: what is wrong, in the words of the import.
        cells: of a table its cells, else its text alone.
        text: the row as it was.
    """

    line: int
    columns: tuple[str, ...]
    values: tuple[str, ...]
    faults: tuple[str, ...]
    cells: tuple[str, ...]
    text: str


@attrs.frozen(kw_only=True)
class FaultyRows:
    """The rows with faults of one file.

    Attributes:
        format: the format of the file.
        rows: its rows with faults, in their order.
        header: the cells of the first line of a table; None: the file is no table, or its first line names no columns.
        header_text: that line as it was.
        delimiter: the divider of the cells of the table of faults.
        left_out: the number of further rows, for which there was no room.
    """

    format: str
    rows: Sequence[FaultyRow]
    header: tuple[str, ...] | None = None
    header_text: str = ""
    delimiter: str = ","
    left_out: int = 0

    def as_table(self, name: str) -> str:
        """Return a CSV file with a line for each row: its faults, then its own cells, or its text.

        Args:
            name: the place that each line tells: the file, with the sheet of a workbook.
        """
        target = io.StringIO()
        table = csv.writer(target, delimiter=self.delimiter, lineterminator="\n")
        # A table that was made here, corrected in part and imported again has the columns of faults already.
        own = 0 if self.header is None or self.header[: len(COLUMNS)] != COLUMNS else len(COLUMNS)
        table.writerow([*COLUMNS, *((_ROW,) if self.header is None else self.header[own:])])
        for row in self.rows:
            faults = [name, str(row.line), *("; ".join(words) for words in (row.columns, row.values, row.faults))]
            table.writerow([_safe(cell) for cell in (*faults, *row.cells[own:])])
        return target.getvalue()

    def as_file(self) -> str | None:
        """Return a file of these rows alone, in the format of theirs; None if such a file could not be imported."""
        texts = [row.text for row in self.rows if row.text]
        if not texts or self.format in _REFERRING or (self.format == "csv" and self.header is None):
            return None
        if self.format == "chess-com":
            return '{"games": [' + ",\n".join(texts) + "]}\n"
        divider = "\n\n" if self.format == "pgn" else "\n"
        return divider.join([*((self.header_text,) if self.format == "csv" else ()), *texts]) + "\n"


def _safe(cell: str) -> str:
    """Return a cell that no spreadsheet runs: foreign files write it. Results such as +/- are no formulas."""
    return in_cell(cell, "csv") if _MAY_ACT.search(cell) else cell


def read_faulty_rows(source: Source, fmt: str, faults: Iterable[FileFault], hints: FileHints = NO_HINTS) -> FaultyRows:
    """Return the rows of a file that have faults.

    Args:
        source: the file, opened again.
        fmt: its format, one of ``files.FORMATS``.
        faults: its faults, in any order.
        hints: what the user says of the file.

    Raises:
        StorageError: the system cannot read on.
    """
    by_line: defaultdict[int, list[str]] = defaultdict(list)
    for line, words in sorted(set(faults)):
        by_line[line].append(words)
    if fmt == "csv":
        return _of_table(source, by_line, hints)
    if fmt == "pgn":
        rows = _of_pgn(source.lines(), by_line)
    elif fmt == "chess-com":
        rows = _of_archive(source, by_line)
    else:
        rows = _of_lines(source.lines(), by_line)
    return _with_limit(FaultyRows(format=fmt, rows=()), rows)


def _with_limit(table: FaultyRows, rows: Iterable[FaultyRow]) -> FaultyRows:
    kept: list[FaultyRow] = []
    size = left_out = 0
    for row in rows:
        size += len(row.text)
        if size <= MOST_TEXT:
            kept.append(row)
        else:
            left_out += 1
    return attrs.evolve(table, rows=tuple(kept), left_out=left_out)


def _wanted(lines: Iterable[bytes], faults: Mapping[int, object]) -> Iterator[tuple[int, bytes]]:
    """Yield the lines up to the last one with a fault, numbered."""
    last = max(faults, default=0)
    for number, line in enumerate(lines, 1):
        yield number, line
        if number >= last:
            return


def _row(line: int, faults: Sequence[str], text: str) -> FaultyRow:
    """Return a row of JSON: its faults end in the path of what is wrong."""
    paths = [match[1] for fault in faults if (match := _PATH.search(fault))]
    return FaultyRow(line, tuple(dict.fromkeys(paths)), (), tuple(faults), (text,), text)


def _of_lines(lines: Iterable[bytes], faults: Mapping[int, Sequence[str]]) -> Iterator[FaultyRow]:
    for number, line in _wanted(lines, faults):
        if number in faults:
            yield _row(number, faults[number], decode_text(line.rstrip(b"\r\n").removeprefix(b"\xef\xbb\xbf")))


def _of_archive(source: Source, faults: Mapping[int, Sequence[str]]) -> Iterator[FaultyRow]:
    """Yield games of an archive, which may be one line: their faults have the number of the game."""
    numbered: defaultdict[tuple[int, int], list[str]] = defaultdict(list)
    others: dict[int, list[str]] = {}
    for line, messages in faults.items():
        for words in messages:
            if match := _GAME_NUMBER.search(words):
                numbered[line, int(match[1])].append(words)
            else:  # found when the games were recorded, and known by the line alone
                others.setdefault(line, []).append(words)
    games = defaultdict[int, list[str]](list)
    for raw in json_input.split_games(source.chunks(), source.reading):
        if of_game := numbered.get((raw.line, raw.number)):
            yield _row(raw.line, of_game, decode_text(raw.json))
        elif raw.line in others:
            games[raw.line].append(decode_text(raw.json))
    for line, messages in others.items():
        texts = games[line]
        yield _row(line, messages, texts[0] if len(texts) == 1 else "")


def _of_pgn(lines: Iterable[bytes], faults: Mapping[int, Sequence[str]]) -> Iterator[FaultyRow]:
    waiting = sorted(faults)
    before: GameLines | None = None
    for draft in chain(split_games(lines), [None]):
        if before is not None and waiting:
            begin = before.line or before.untagged or 1
            end = None if draft is None else draft.line
            within = [line for line in waiting if end is None or line < end]
            waiting = waiting[len(within) :]
            if within:
                yield _game(before, begin, {line: faults[line] for line in within})
        before = draft
        if not waiting:
            return


def _game(game: GameLines, begin: int, faults: Mapping[int, Sequence[str]]) -> FaultyRow:
    tags, _ = read_tags(decode_game(game.head))
    text = decode_game([*game.head, *game.moves]).strip("\r\n")
    named: dict[str, str] = {}
    for line, messages in faults.items():
        place = line - begin
        tag = decode_game(game.head[place : place + 1]).strip().removeprefix("[").split(maxsplit=1)
        name = tag[0] if tag and tag[0] in tags else None
        # A fault of a tag that is missing is reported at the first line of its game.
        for words in messages:
            meant = next((each for each in tags if words.startswith(f"{each} ")), name if place else None)
            if meant is not None:
                named[meant] = tags[meant]
    messages = tuple(words for messages in faults.values() for words in messages)
    return FaultyRow(begin, (*named,), (*named.values(),), messages, (text,), text)


# -- tables --------------------------------------------------------------------------------------------------------


def _of_table(source: Source, faults: Mapping[int, Sequence[str]], hints: FileHints) -> FaultyRows:
    lines = enumerate(source.lines(), 1)
    seen: dict[int, str] = {}
    for number, line in lines:
        text = decode_text(line.rstrip(b"\r\n").removeprefix(b"\xef\xbb\xbf"))
        seen[number] = text
        layout = _layout(text, hints)
        if layout is not None:
            header, delimiter = tuple(next(csv.reader([text], delimiter=layout.delimiter))), layout.delimiter
            if source.reading.sheet is not None:
                # spreadsheets divide no cells of a CSV file by tabs, which were never in the workbook
                layout, delimiter = layout.of_sheet(), ","
            table = FaultyRows(format="csv", rows=(), header=header, header_text=text, delimiter=delimiter)
            return _with_limit(table, _of_cells(lines, faults, layout))
        if len(seen) > 2 * MAX_TITLES:
            break
    rows = (FaultyRow(line, (), (), tuple(words), (seen.get(line, ""),), "") for line, words in faults.items())
    return _with_limit(FaultyRows(format="csv", rows=()), rows)


def _layout(line: str, hints: FileHints) -> RowLayout | None:
    if not is_header(line, headings=hints.headings):
        return None
    try:
        return read_header(line, headings=hints.headings)
    except ValueError:
        return None


def _of_cells(
    lines: Iterator[tuple[int, bytes]], faults: Mapping[int, Sequence[str]], layout: RowLayout
) -> Iterator[FaultyRow]:
    last = max(faults, default=0)
    ahead: list[tuple[int, bytes]] = []
    while (numbered := ahead.pop(0) if ahead else next(lines, None)) is not None:
        number, line = numbered
        if number > last:
            return
        if number not in faults:
            continue
        block, taken = _plain(line), 0
        end, fields = read_row(block, layout.delimiter)
        while end < 0:  # a cell goes on in the next line
            if taken == len(ahead):
                following = next(lines, None)
                if following is None:
                    break
                ahead.append(following)
            block += _plain(ahead[taken][1])
            taken += 1
            end, fields = read_row(block, layout.delimiter)
        if isinstance(fields, str):  # the quotes are out of place: the first line is the row
            text = decode_text(_plain(line)).rstrip("\n")
            yield FaultyRow(number, (), (), tuple(faults[number]), (text,), text)
            continue
        ahead = ahead[taken:]
        yield _cells(number, faults[number], fields, decode_text(block).rstrip("\n"), layout)


def _plain(line: bytes) -> bytes:
    return line.rstrip(b"\r\n") + b"\n"


def _cells(number: int, faults: Sequence[str], fields: Sequence[str], text: str, layout: RowLayout) -> FaultyRow:
    """Return a row of a table: a fault begins with the heading of its column."""
    labels = sorted(layout.labels.items(), key=lambda item: -len(item[1]))
    named: dict[str, str] = {}
    for words in faults:
        for name, label in labels:
            if words.startswith(f"{label} "):
                place = layout.places[name]
                named[label] = fields[place] if place < len(fields) else ""
                break
    return FaultyRow(number, (*named,), (*named.values(),), tuple(faults), tuple(fields), text)
