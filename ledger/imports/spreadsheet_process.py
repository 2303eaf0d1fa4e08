"""A worker process that reads one sheet of a workbook (.xlsx, .xls, .ods) and gives its rows as text with tabs.

``spreadsheets`` starts it. The library holds a sheet as a rectangle of cells: two cells at opposite corners of a sheet
ask for 400 GB, and an archive of some kilobytes may unpack to as much. So the sheet is read in a process of its own,
whose memory and time are limited where the system can do so.

A row of the sheet is one line, so that the number of a line is that of the row. Cells are written as a spreadsheet
shows them where that can be read in one way only: days as ``2024-05-04``, times as ``19:30``, numbers with a decimal
point and at most 15 digits.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from io import BytesIO, StringIO
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO

from ledger.runtime.lazy import calamine
from ledger.runtime.worker_messages import FAILED, receive, send, standard_streams

if TYPE_CHECKING:
    from python_calamine import CalamineSheet, CalamineWorkbook

MAX_MEMORY = 2 * 2**30  # bytes of this process: a full sheet of Excel with ten columns takes half of it
MAX_SECONDS = 60  # of CPU; a full sheet takes 10
MAX_COLUMNS = 1_000
MAX_CELLS = 20_000_000
_ROWS = 2_000  # of one message
_SHOWN = 12  # sheets that a message names


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else format(value, ".15g")


def _text(value: str) -> str:
    """Return a text on one line: a row of the sheet is to be one."""
    return value if value.isprintable() else " ".join(value.split())


def _to_seconds(value: datetime) -> datetime:
    """Return an instant to the second, which the fraction of a day gives inexactly."""
    return (value + timedelta(milliseconds=500)).replace(microsecond=0)


def _moment(value: datetime) -> str:
    """Return a day and time; midnight is the day alone."""
    whole = _to_seconds(value)
    return whole.date().isoformat() if whole.time() == time() else whole.isoformat(" ")


def _time(value: time) -> str:
    whole = _to_seconds(datetime.combine(date(2000, 1, 1), value)).time()
    return whole.isoformat("seconds" if whole.second else "minutes")


def _duration(value: timedelta) -> str:
    minutes, seconds = divmod(round(value.total_seconds()), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"


_TEXTS: dict[type, Callable[[Any], str]] = {
    str: _text,
    float: _number,
    int: str,
    bool: lambda value: "TRUE" if value else "FALSE",
    date: date.isoformat,
    datetime: _moment,
    time: _time,
    timedelta: _duration,
}


def cell_text(cell: Any) -> str:
    """Return a cell as a spreadsheet shows it, on one line."""
    return _TEXTS[type(cell)](cell)


def row_lines(sheet: CalamineSheet) -> Iterator[bytes]:
    """Yield the rows of a sheet as lines of text with tabs, several at a time, from the first row and column on."""
    assert sheet.start is not None
    # The library gives the empty rows above the first cell, and leaves out the columns before it.
    before = [""] * sheet.start[1]
    source = sheet.iter_rows()
    while rows := list(islice(source, _ROWS)):
        lines = StringIO()
        write = csv.writer(lines, delimiter="\t", lineterminator="\n")
        # one empty cell more: a sheet of a single column has no tab otherwise, and is no table then
        write.writerows([*before, *map(cell_text, row), ""] for row in rows)
        yield lines.getvalue().encode(errors="replace")


def choose_sheet(workbook: CalamineWorkbook, name: str | None) -> str:
    """Return the name of the sheet to read: *name*, or else the only one that is shown and has cells.

    Raises:
        ValueError: there is no such sheet, or there are several or none.
    """
    sheets = [each for each in workbook.sheets_metadata if "WorkSheet" in str(each.typ)]
    names = [each.name for each in sheets]
    if name is not None:
        if name in names:
            return name
        alike = [each for each in names if each.strip().casefold() == name.strip().casefold()]
        if len(alike) == 1:
            return alike[0]
        raise ValueError(f"has no sheet {name[:60]!r}, but {_listed(names)}")
    visible = [each.name for each in sheets if str(each.visible).endswith(".Visible")]
    if len(visible) > 1:  # otherwise it is read once, below
        visible = [each for each in visible if workbook.get_sheet_by_name(each).end]
    if len(visible) != 1:
        if not visible:
            raise ValueError("has no sheet with cells")
        raise ValueError(f"has {len(visible)} sheets with cells, {_listed(visible)}: say which with --sheet")
    return visible[0]


def shown_sheets(workbook: CalamineWorkbook) -> list[str]:
    """Return the names of the sheets that are shown and have cells."""
    visible = (each.name for each in workbook.sheets_metadata if str(each.visible).endswith(".Visible"))
    return [name for name in visible if workbook.get_sheet_by_name(name).end]


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name[:60]) for name in names[:_SHOWN])
    return f"{shown} and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown or "none"


def _refuse_extent(sheet: CalamineSheet) -> None:
    """Raise a ValueError if a sheet has no cells, or too many."""
    if sheet.end is None:
        raise ValueError(f"has no cells in the sheet {sheet.name[:60]!r}")
    rows, columns = (place + 1 for place in sheet.end)
    label = f"in the sheet {sheet.name[:60]!r}"
    if columns > MAX_COLUMNS:
        words = f"has {columns:,} columns {label}, more than {MAX_COLUMNS:,}, the limit of columns"
        raise ValueError(f"{words}: take out those that hold nothing of games or players")
    if rows * columns > MAX_CELLS:
        words = f"has {rows * columns:,} cells {label}, more than {MAX_CELLS:,}, the limit of a sheet"
        raise ValueError(f"{words}: save it as CSV and give that")


def _limit_process() -> None:
    with suppress(ImportError, ValueError, OSError):  # a system without such limits
        resource = __import__("resource")  # not on every system
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (MAX_SECONDS, MAX_SECONDS))


def serve(messages: BinaryIO, answers: BinaryIO) -> None:
    """Answer one message, a workbook and the name of a sheet or None, with the name of the sheet, its rows, and an end.

    The message ``sheets`` is answered with the names of the sheets instead. A failure is the last message.
    """
    kind, name, stored = receive(messages)
    try:
        workbook = calamine.CalamineWorkbook.from_filelike(BytesIO(stored))
        if kind == "sheets":
            send(answers, kind, shown_sheets(workbook))
            return
        chosen = choose_sheet(workbook, name)
        send(answers, "sheet", chosen)
        sheet = workbook.get_sheet_by_name(chosen)
        _refuse_extent(sheet)
        for lines in row_lines(sheet):
            send(answers, "rows", content=lines)
        send(answers, "end")
    except calamine.PasswordError:
        send(answers, FAILED, "is protected by a password: save it without one")
    except ValueError as error:
        send(answers, FAILED, str(error))
    except BaseException as error:  # noqa: BLE001  # what the library panics with is no Exception
        words = " ".join(str(error).split())[:200] or type(error).__name__
        send(answers, FAILED, f"is no workbook that can be read ({words}): save the sheet as CSV and give that")


def main(_: Sequence[str]) -> int:
    """Run the worker on the standard streams."""
    messages, answers = standard_streams()
    _limit_process()
    with suppress(EOFError, BrokenPipeError):  # the process that reads is gone
        serve(messages, answers)
    return 0
