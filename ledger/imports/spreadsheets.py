"""Workbooks (.xlsx, .xls, .ods) as text: one sheet comes as lines with tabs, which the CSV readers read.

The extra ``spreadsheets`` installs the library. Nothing of a sheet is understood here; a worker process reads it
(``spreadsheet_process``).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from ledger.errors import StorageError
from ledger.imports import spreadsheet_process
from ledger.imports.reading import Reading
from ledger.imports.spreadsheet_process import MAX_MEMORY, MAX_SECONDS
from ledger.runtime.worker_messages import FAILED, Message
from ledger.runtime.workers import Worker

MAX_STORED = 128 * 2**20  # bytes: a full sheet of Excel with ten columns has half of them
_PARTS = (b"[Content_Types].xml", b"xl/", b"opendocument.spreadsheet")  # of the zip archives of Excel, LibreOffice
_HEAD = 2**16  # bytes by which a workbook is recognised
_OLD = b"\xd0\xcf\x11\xe0"  # of Excel up to 2003, and of a workbook with a password
_CSV = "save the sheet as CSV and give that"


def is_workbook(head: bytes) -> bool:
    """Return whether a file begins as a workbook does; *head*: its first 64 KiB, as stored."""
    return head.startswith(_OLD) or (head.startswith(b"PK\x03\x04") and any(part in head for part in _PARTS))


def read_sheet(stored: Iterator[bytes], sheet: str | None, reading: Reading) -> Iterator[bytes]:
    """Return the rows of a sheet as text with tabs; *reading* gets the name of the sheet.

    Args:
        stored: the bytes of the workbook.
        sheet: its name; None: the only one with cells that is shown.
        reading: the account of the file.

    Raises:
        StorageError: the workbook cannot be read, or has no such sheet, or several.
    """
    _refuse_without_library(reading.name)
    rows = _rows(_gathered(stored, reading.name), sheet, reading)
    next(rows)
    return rows


def list_sheets(path: str) -> list[str]:
    """Return the names of the sheets of a workbook that are shown and have cells.

    Raises:
        StorageError: the file cannot be read, or is no workbook.
    """
    try:
        content = Path(path).read_bytes() if Path(path).stat().st_size <= MAX_STORED else b""
    except OSError as error:
        raise StorageError(path, f"cannot be read: {error.strerror or error}") from None
    if not is_workbook(content[:_HEAD]):
        raise StorageError(path, "is no spreadsheet that could have several sheets: leave --sheet out")
    _refuse_without_library(path)
    worker = Worker(spreadsheet_process.__name__, path=path, work="reads")
    try:
        with suppress(OSError):  # it is gone, and its last message says why
            worker.send("sheets", None, content)
        names: list[str] = _answer(worker, path).value
        return names
    finally:
        worker.kill()
        worker.close()


def _refuse_without_library(name: str) -> None:
    if find_spec("python_calamine") is None:
        words = "is a spreadsheet, which needs python-calamine: pip install 'rating-ledger[spreadsheets]', or"
        raise StorageError(name, f"{words} {_CSV}")


def _gathered(stored: Iterator[bytes], name: str) -> bytes:
    """Return all bytes of a workbook, whose directory is at its end."""
    content = bytearray()
    for chunk in stored:
        content += chunk
        if len(content) > MAX_STORED:
            raise StorageError(name, f"is a spreadsheet of more than {MAX_STORED >> 20} MiB, the limit: {_CSV}")
    return bytes(content)


def _answer(worker: Worker, name: str) -> Message:
    try:
        message = worker.receive()
    except EOFError:
        limits = f"{MAX_MEMORY >> 30} GiB of memory or {MAX_SECONDS} s"
        raise StorageError(name, f"cannot be read with at most {limits}, the limit of a spreadsheet: {_CSV}") from None
    if message.kind == FAILED:
        raise StorageError(name, message.value)
    return message


def _rows(content: bytes, sheet: str | None, reading: Reading) -> Iterator[bytes]:
    """Yield nothing once the sheet is chosen, and then its rows; the worker ends with the generator."""
    worker = Worker(spreadsheet_process.__name__, path=reading.name, work="reads")
    line = 1
    try:
        with suppress(OSError):  # it is gone, and its last message says why
            worker.send("workbook", sheet, content)
        del content
        reading.sheet = _answer(worker, reading.name).value
        yield b""
        try:
            while (message := _answer(worker, reading.name)).kind == "rows":
                yield message.content
                line += message.content.count(b"\n")
        except StorageError as error:
            reading.stop(line, str(error).removeprefix(f"{error.path}: "))
    finally:
        worker.kill()
        worker.close()
