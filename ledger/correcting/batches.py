"""A file of corrections: each row a verb with its words, all faults at once, each with its line.

CSV with a header, its cells parted by commas, semicolons or tabs; a column is called like the word that it holds, with
``verb`` for the verb. Blank rows are passed over.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ledger.correcting.verbs import FIELDS_OF_GAME, WORDS, Verbs
from ledger.errors import LedgerError, MalformedError, Refusal
from ledger.facts.changes import Change
from ledger.facts.source_games import Fault, shown
from ledger.journal.told_again import Difference
from ledger.runtime.nearest import choice_of
from ledger.runtime.visible import in_cell

COLUMNS = ("verb", *WORDS)
_PROPOSED = ("verb", "game", "field", "to", "termination", "half_moves")
_RESULTS = {"white": "1-0", "black": "0-1", "draw": "1/2-1/2", "none": "-/-"}
MOST_ROWS = 100_000


class Row(NamedTuple):
    """A row of a batch: its line in the file, and its change."""

    line: int
    change: Change


def read_batch(verbs: Verbs, content: bytes) -> tuple[list[Row], list[Fault]]:
    """The changes that a file asks for, and its faults.

    Args:
        verbs: what reads the words.
        content: the file, UTF-8.
    """
    try:
        # Spreadsheets put a mark before the text, which must not become part of the first column's name.
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return [], [Fault(content[: error.start].count(b"\n") + 1, "is not UTF-8: save the file as UTF-8")]
    # a spreadsheet of many countries writes semicolons between the cells, or tabs
    separator = max(",;\t", key=text.partition("\n")[0].count)
    # The reader must see line ends as they are, for a cell in quotation marks may hold some.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows: list[Row] = []
    faults: list[Fault] = []
    try:
        header = [column.strip() for column in next(reader, [])]
        faults = [Fault(1, problem) for problem in _header_problems(header)]
        for cells in reader if not faults else ():
            if any(cell.strip() for cell in cells):
                _read(verbs, reader.line_num, header, cells, rows, faults)
    except csv.Error as error:
        faults.append(Fault(reader.line_num, f"cannot be read as CSV: {error}"))
    if not rows and not faults:
        faults.append(Fault(1, "holds no row: nothing is to be corrected"))
    return rows, faults


def _header_problems(header: Sequence[str]) -> list[str]:
    if "verb" not in header:
        return [f"the header has no column 'verb'; the columns are {list(COLUMNS)}"]
    problems = [f"no column {column!r}; {choice_of(column, COLUMNS)}" for column in header if column not in COLUMNS]
    twice = sorted({column for column in header if header.count(column) > 1})
    return problems + [f"column {column!r} stands twice" for column in twice]


def _read(
    verbs: Verbs, line: int, header: Sequence[str], cells: Sequence[str], rows: list[Row], faults: list[Fault]
) -> None:
    if len(cells) != len(header):
        faults.append(Fault(line, f"has {len(cells)} cells, the header {len(header)}"))
        return
    if len(rows) >= MOST_ROWS:
        raise MalformedError([f"line {line}: more than {MOST_ROWS:,} rows: part the file"])
    words = dict(zip(header, (cell.strip() for cell in cells), strict=True))
    verb = words.pop("verb")
    try:
        rows.append(Row(line, verbs.change(verb, words)))
    except LedgerError as error:
        faults += [Fault(line, f"{shown(verb)}: {problem}") for problem in str(error).splitlines()]


def proposing(differences: Iterable[Difference]) -> tuple[str, list[Difference]]:
    """A batch that would make games what a file tells of them, and the differences that no batch can settle.

    Of those somebody must find out first who played, or which moves were made; or a value begins as a formula of a
    spreadsheet does, in which a batch is likely to be looked through.

    Args:
        differences: of an import that was asked to keep them.
    """
    text, left = io.StringIO(), list[Difference]()
    writer = csv.DictWriter(text, _PROPOSED, restval="", lineterminator="\n")
    writer.writeheader()
    for difference in differences:
        fields = dict(difference.fields)
        values = [value for value in fields.values() if isinstance(value, str)]
        if not fields.keys() <= {"outcome", *FIELDS_OF_GAME} or any(in_cell(value, "csv") != value for value in values):
            left.append(difference)
            continue
        # the verb of a result takes the ending with it, for the two must fit
        if "outcome" in fields:
            ending = {"verb": "result", "game": difference.game, "to": _RESULTS[fields.pop("outcome")]}
            ending |= {name: str(fields.pop(name)) for name in ("termination", "half_moves") if name in fields}
            writer.writerow(ending)
        for field, value in fields.items():
            # The verb reads ``true`` and ``false`` as JSON writes them, not as Python does.
            to = str(value).lower() if isinstance(value, bool) else str(value)
            writer.writerow({"verb": "game", "game": difference.game, "field": field, "to": to})
    return text.getvalue(), left


def at_lines(rows: Sequence[Row], refusals: Sequence[Refusal]) -> list[Fault]:
    """What the gate refuses, by the lines of the file."""
    return [
        Fault(rows[refusal.number - 1].line if refusal.number else 1, f"{refusal.rule}: {refusal.message}")
        for refusal in refusals
    ]
