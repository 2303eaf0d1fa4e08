"""Rows of a CSV file: bytes are divided into text fields, in blocks of constant size, with the line of each row.

This is RFC 4180 and nothing about chess. A quote opens a quoted field only where the field begins; inside it,
a quote is written twice. Two readers give the same rows: one thinks in columns and takes blocks whose quotes
are all in order; the other walks field by field through a block where one is not, so that a single stray
quote costs one row and not the rest of the file.

Rows that have a few fields too many or too few, without anything being wrong with them, are mended: programs write
dividers behind the last column, and leave them out where a row's last cells are empty (Excel does after sixteen such
rows).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.facts.source_games import KEPT_FAULTS, FileFault
from ledger.imports.csv.header import COLUMNS, MAX_TITLES, REQUIRED, RowLayout, is_header, read_header
from ledger.imports.reading import Faults, Reading
from ledger.runtime.lazy import np, pl

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from polars import DataFrame


def _fit_row(fields: Sequence[str], layout: RowLayout, *, may_be_cut: bool) -> list[str]:
    """Return the fields of a row, as many as the header names if no text is lost by that; otherwise as they are."""
    if len(fields) > layout.width and not any(field.strip() for field in fields[layout.width :]):
        return list(fields[: layout.width])
    if layout.least <= len(fields) < layout.width and not may_be_cut:
        return [*fields, *[""] * (layout.width - len(fields))]
    return list(fields)


def _repair_rows(block: bytes, rows: _WholeRows, odd: Sequence[int], layout: RowLayout, *, is_bare: bool) -> bytes:
    """Return a block whose *odd* rows have the fields of the header, if no text is lost by that."""
    # *is_bare*: the last byte of the block is a line end that the file does not have.
    parts: list[bytes] = []
    done = 0
    for row in odd:
        start, end, fields = int(rows.starts[row]), int(rows.ends[row]), int(rows.fields[row])
        # The last row of a file may be cut off within a field: the fields that it lacks are not taken for empty ones.
        may_be_cut = is_bare and end == len(block)
        mended = _repaired_row(block[start:end], fields, layout, may_be_cut=may_be_cut)
        if mended is not None:
            parts += (block[done:start], mended)
            done = end
    return b"".join((*parts, block[done:])) if parts else block


def _repaired_row(row: bytes, fields: int, layout: RowLayout, *, may_be_cut: bool) -> bytes | None:
    mark, text = layout.delimiter.encode(), row[:-1]
    if layout.least <= fields < layout.width and text.strip():
        return None if may_be_cut else text + mark * (layout.width - fields) + b"\n"
    for _ in range(fields - layout.width):
        text = text.rstrip(b" \r")
        if not text.endswith(mark):
            return None
        text = text[:-1]
    return text + b"\n" if fields > layout.width else None


BATCH_CSV = 2 << 20  # bytes a block: some 25,000 games; larger blocks take more memory and are no faster
MAX_ROW = 1 << 18  # bytes a row; a quote that is still open after so much was never closed
_STRETCH = 1 << 18  # bytes that are walked before columns are tried again
_MANY_MARKS = 1 << 20  # dividers and line ends of a block: rows of games have fewer
_DENSE = MAX_ROW  # bytes of a block of many marks that are looked at at once, for want of memory
_NEWLINE, _QUOTE = 10, 34
_BOM = b"\xef\xbb\xbf"
_MARKS = {mark: re.compile(rb"[^" + re.escape(mark.encode()) + rb"\n]*") for mark in ",;\t"}
# Excel reads and writes such a first line, which says what divides the fields.
_DIVIDER = re.compile(r"\"?sep=.\"?\s*", re.IGNORECASE)
# The quote that closes is followed by no other one: two in a row mean one within the field (RFC 4180).
_QUOTED = re.compile(rb'"[^"]*(?:""[^"]*)*"(?!")')


class _WholeRows(NamedTuple):
    """The complete rows of a block: offsets, number of fields, and physical lines before each row."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    fields: NDArray[np.int64]
    lines: NDArray[np.int64]
    lines_after: int


def _regular(data: NDArray[np.uint8], quotes: NDArray[np.int64], delimiter: int) -> bool:
    """Return whether every quote opens a field, closes one, or is doubled inside one."""
    opening, closing = quotes[0::2], quotes[1::2]
    # For a quote at the very beginning this is the last byte of the block, which the test for 0 sets right.
    before = data[opening - 1]
    opens = (before == delimiter) | (before == _NEWLINE) | (before == _QUOTE) | (opening == 0)
    # a row ends with a newline, so there is one byte more
    after = data[closing + 1]
    closes = (after == delimiter) | (after == _NEWLINE) | (after == _QUOTE)
    return bool(opens.all() and closes.all())


def _find_rows(block: bytes, delimiter: int) -> _WholeRows | None:
    """Return all complete rows at once; None if a quote is out of place or a row too long."""
    data = np.frombuffer(block, np.uint8)
    is_mark = (data == _NEWLINE) | (data == delimiter)
    quoted = b'"' in block
    if quoted:
        is_mark |= data == _QUOTE
    if (
        len(block) > _DENSE and np.count_nonzero(is_mark) > _MANY_MARKS
    ):  # a file of nothing but commas: 8 bytes for each
        return _find_rows(block[:_DENSE], delimiter)
    marks = np.flatnonzero(is_mark)
    kinds = data[marks]
    newlines = kinds == _NEWLINE
    # how many physical lines end at or before each mark, where that is not simply its row
    within = None
    quotes = marks[:0]
    if quoted:
        is_quote = kinds == _QUOTE
        quotes = marks[is_quote]
        # An even number of quotes before a mark puts it outside of them; a doubled quote counts twice and changes
        # nothing.
        outside = ~is_quote & (np.cumsum(is_quote, dtype=np.int32) & 1 == 0)
        if (newlines & ~outside).any():
            within = np.cumsum(newlines)[outside]
        marks, newlines = marks[outside], newlines[outside]
    last = np.flatnonzero(newlines)
    ends = marks[last] + 1
    if not len(ends):
        return _WholeRows(ends, ends, ends, ends, 0)
    starts = np.concatenate(([0], ends[:-1]))
    if not _regular(data, quotes[quotes < ends[-1]], delimiter) or (ends - starts).max() > MAX_ROW:
        return None
    lines = np.arange(1, len(ends) + 1) if within is None else within[last]
    before = np.concatenate(([0], lines[:-1]))
    return _WholeRows(starts, ends, np.diff(last, prepend=-1), before, int(lines[-1]))


def decode_text(row: bytes) -> str:
    """Return text decoded from UTF-8, or else from Windows-1252, in which old score files were written."""
    try:
        return row.decode()
    except UnicodeDecodeError:
        return row.decode("cp1252", "replace")


def _fields(block: bytes, start: int, delimiter: str) -> tuple[int, list[str] | str]:
    """Return the end of the row that begins at *start*, and its fields or its fault."""
    # An end of -1 says that the row is not finished in this block, 0 that its line is not.
    # The patterns are given the limit as their end, so that a quote which is never closed costs one row's length.
    limit, place = start + MAX_ROW, start
    fields: list[bytes] = []
    plain, divider = _MARKS[delimiter], ord(delimiter)
    while True:
        match = None
        if place < len(block) and block[place] == _QUOTE:
            match = _QUOTED.match(block, place, limit)
            fields.append(match[0][1:-1].replace(b'""', b'"') if match else b"")
        else:
            match = plain.match(block, place, limit)
            fields.append(match[0].removesuffix(b"\r") if match else b"")  # as Polars reads it
        place = match.end() if match else limit
        if place >= min(limit, len(block)):
            if len(block) - start <= MAX_ROW:
                return -1, "a double quote opens a field and is never closed; close it, or double it"
            message = f"the row is longer than {MAX_ROW} bytes, or a double quote is never closed; close it"
            return block.find(b"\n", start) + 1, message
        if block[place] == _NEWLINE:
            # one row, one encoding, as for complete blocks
            try:
                return place + 1, [field.decode() for field in fields]
            except UnicodeDecodeError:
                return place + 1, [field.decode("cp1252", "replace") for field in fields]
        if block[place] != divider:
            closed = decode_text(fields[-1]).replace("\r\n", "\n")[:40]
            message = f"text follows the double quote that closes {closed!r}; double the quotes inside a field"
            return block.find(b"\n", start) + 1, message
        place += 1


def read_row(block: bytes, delimiter: str) -> tuple[int, list[str] | str]:
    """Return the end of the row with which a block begins, -1 if it goes on behind it; and its cells or its fault."""
    return _fields(block, 0, delimiter)


class RowReader:
    """The rows of a CSV file, in blocks of *size* bytes or a little more.

    If *reading* says, at the end of the file, that it was cut off, a last row without an end is left out.
    """

    def __init__(self, chunks: Iterable[bytes], size: int = BATCH_CSV, reading: Reading | None = None) -> None:
        self._chunks = iter(chunks)
        self._reading = reading
        self._size = max(1, size)
        self._rest = b""
        self._ended = False
        self._line = 1
        self._skipping = False
        # the last row has no line end: it may be cut off
        self._is_bare = False

    def _fill(self) -> None:
        """Read on. Windows line ends become plain ones, and the last row gets the line end it may lack."""
        missing, parts = self._size - len(self._rest), list[bytes]()
        # A row that fills a block already goes on beyond it: a whole block more is read.
        missing = missing if missing > 0 else self._size
        while missing > 0 and (part := next(self._chunks, None)) is not None:
            parts.append(part)
            missing -= len(part)
        self._ended = missing > 0
        read = b"".join(parts).replace(b"\r\n", b"\n")
        if b"\r\n" in read:  # some tools write more carriage returns
            *lines, last = read.split(b"\n")
            read = b"\n".join([*(line.rstrip(b"\r") for line in lines), last])
        # the carriage return before it may have come in the piece before
        if read[:1] == b"\n":
            self._rest = self._rest.rstrip(b"\r")
        text = self._rest + read
        if self._ended and text and not text.endswith(b"\n"):
            is_cut = self._reading is not None and self._reading.is_cut
            # If the reading was cut off, that is a fault already: the row within which it happened is no second one.
            text = text[: text.rfind(b"\n") + 1] if is_cut else text.rstrip(b"\r") + b"\n"
            self._is_bare = not is_cut
        self._rest = text
        # A line too long for a row was reported as a fault: the rest of it is skipped.
        if self._skipping:
            _, newline, self._rest = self._rest.partition(b"\n")
            self._skipping = not newline
            self._line += len(newline)

    def read_header(self) -> str:
        """Return the first line with content, or an empty text; ``line`` is the next one then.

        Passed over are rows of nothing but dividers, and the ``sep=;`` that names Excel's divider.

        Raises:
            ValueError: this is no text, or not in a form that can be read.
        """
        while True:
            while not self._ended and b"\n" not in self._rest and len(self._rest) <= MAX_ROW:
                self._fill()
            # a mark of UTF-16: its text would be read as blanks and letters by turns
            if self._rest.startswith((b"\xff\xfe", b"\xfe\xff")):
                raise ValueError("the file is written in UTF-16; save it again as UTF-8")
            first, newline, self._rest = self._rest.removeprefix(_BOM).partition(b"\n")
            if len(first) > MAX_ROW or (not newline and first):
                raise ValueError(f"the first line is longer than {MAX_ROW} bytes; this is no CSV file of games")
            if b"\r" in first:
                raise ValueError("the lines end with a bare carriage return; save the file with LF or CRLF line ends")
            self._line += 1
            line = decode_text(first)
            if line.strip(" ;,\t\r") and not _DIVIDER.fullmatch(line):
                return line
            if not self._rest and not self._ended:  # a block ends with the line, the file may go on
                self._fill()
            if not self._rest:
                return line

    @property
    def line(self) -> int:
        """The number of the next line."""
        return self._line

    def read_blocks(self, layout: RowLayout) -> Iterator[tuple[DataFrame, Faults]]:
        """Yield the rows behind the header as frames of known columns and ``line``, and the faults of broken rows."""
        moved = True
        while True:
            if not self._ended and (len(self._rest) < self._size or not moved):
                self._fill()
            before = len(self._rest)
            if not self._rest:
                if self._ended:
                    return
                continue
            rows = _find_rows(self._rest, ord(layout.delimiter))
            stuck = rows is not None and not len(rows.ends) and (self._ended or len(self._rest) > MAX_ROW)
            if rows is None or stuck or len(rows.ends):  # else a row goes on beyond what was read
                taken = None if rows is None or stuck else self._whole(rows, layout)
                yield taken or self._walk(layout)
            moved = len(self._rest) < before

    def _whole(self, rows: _WholeRows, layout: RowLayout) -> tuple[DataFrame, Faults] | None:
        """Return all rows of a block in order; None if Polars sees other rows than this module."""
        end = int(rows.ends[-1]) if len(rows.ends) else 0
        block = self._rest[:end]
        odd = np.flatnonzero(rows.fields != layout.width)
        if len(odd):
            self._rest = _repair_rows(self._rest, rows, odd.tolist(), layout, is_bare=self._ended and self._is_bare)
            mended = _find_rows(self._rest, ord(layout.delimiter))
            if mended is None or len(mended.ends) != len(rows.ends):
                return None
            rows, end = mended, int(mended.ends[-1])
            block = self._rest[:end]
            odd = np.flatnonzero(rows.fields != layout.width)
        bad = [  # a blank line is no row
            row
            for row in odd[rows.ends[odd] - rows.starts[odd] > 1].tolist()
            if block[rows.starts[row] : rows.ends[row]].strip()
        ]
        faults = [
            _miscounted(self._line + int(rows.lines[row]), int(rows.fields[row]), layout) for row in bad[:KEPT_FAULTS]
        ]
        good = np.delete(rows.lines, odd) if len(odd) else rows.lines
        frame = _empty(layout)
        if len(good):
            frame = _parse(_cut(block, rows, odd), layout)
        if frame.height != len(good):
            return None
        frame = frame.with_columns(pl.Series("line", good + self._line, pl.Int64))
        self._rest = self._rest[end:]
        self._line += rows.lines_after
        return frame, Faults(faults, len(bad) - len(faults))

    def _walk(self, layout: RowLayout) -> tuple[DataFrame, Faults]:
        """Return the rows of a stretch one by one; after it, the faster way may do again."""
        block, place, line = self._rest, 0, self._line
        is_bare, ends = self._ended and self._is_bare, {0, len(block)}  # of the last row of a file
        rows: list[list[Any]] = []
        faults: list[FileFault] = []
        count = 0
        while place < min(len(block), _STRETCH):
            end, fields = _fields(block, place, layout.delimiter)
            if end < 0:
                if not self._ended:
                    break
                end = block.find(b"\n", place) + 1
            wrong: FileFault | None = None
            if isinstance(fields, str):
                wrong = FileFault(line, fields)
            elif len(fields := _fit_row(fields, layout, may_be_cut=is_bare and end in ends)) == layout.width:
                rows.append([*(fields[at] for at in layout.places.values()), line])
            elif block[place:end].strip():
                wrong = _miscounted(line, len(fields), layout)
            if wrong is not None:
                count += 1
                faults += [wrong] if count <= KEPT_FAULTS else []
            if end == 0:
                self._skipping, end = True, len(block)
            line += block.count(b"\n", place, end)
            place = end
        self._rest, self._line = block[place:], line
        frame = pl.DataFrame(rows, schema=_empty(layout).schema, orient="row")
        return frame, Faults(faults, count - len(faults))


def read_layout(
    rows: RowReader,
    reading: Reading,
    columns: Mapping[str, tuple[str, ...]] = COLUMNS,
    required: tuple[tuple[str, ...], ...] = REQUIRED,
    headings: Mapping[str, str] | None = None,
) -> RowLayout | None:
    """Return the header, below titles above it; if there is none, return None and note it in *reading*.

    Args:
        rows: of the file, from its beginning.
        reading: receives the fault, and notes on titles and on headings of another language.
        columns: the names that are known, each with its other names.
        required: groups of names, of each of which one must be there.
        headings: by our name of a column, the heading that somebody named; None if nobody can.
    """
    first, line = "", 1
    try:
        for number in range(MAX_TITLES + 1):
            header = rows.read_header()
            # If no line names columns, the first one gets the fault: it was meant to do so.
            if not number:
                first, line = header, max(1, rows.line - 1)
            if is_header(header, columns, headings):
                if number:
                    named = f"the columns are named on line {rows.line - 1}; what stands above is passed over"
                    reading.note(line, named)
                first, line = header, rows.line - 1
                break
            if not header:
                break
        layout = read_header(first, columns, required, headings)
    except ValueError as error:
        reading.file_fault(line if first else max(1, rows.line - 1), str(error))
        return None
    if (words := layout.describe_foreign()) is not None:
        reading.note(line, words)
    return layout if reading.sheet is None else layout.of_sheet()


def _miscounted(line: int, fields: int, layout: RowLayout) -> FileFault:
    few = "too few" if fields < layout.width else "too many"
    mark = {",": "a comma", ";": "a semicolon", "\t": "a tab"}[layout.delimiter]
    return FileFault(
        line, f"{few} fields: {fields} where the header names {layout.width}; quote a field that holds {mark}"
    )


def _empty(layout: RowLayout) -> DataFrame:
    return pl.DataFrame(schema={**dict.fromkeys(layout.places, pl.String), "line": pl.Int64})


def _cut(block: bytes, rows: _WholeRows, odd: NDArray[np.int64]) -> bytes:
    """Return the block as UTF-8 without the odd rows."""
    if not block.isascii():
        try:
            block.decode()
        except UnicodeDecodeError:
            keep = np.delete(np.arange(len(rows.ends)), odd).tolist()
            return b"".join(decode_text(block[rows.starts[row] : rows.ends[row]]).encode() for row in keep)
    if not len(odd):
        return block
    # A bad row is put before the first and behind the last, so that each stretch of good rows has two edges.
    good = np.ones(len(rows.ends) + 2, np.int8)
    good[odd + 1] = good[0] = good[-1] = 0
    # where a stretch of good rows begins, and the row after it, in turn
    edges = np.flatnonzero(np.diff(good))
    begins, stops = rows.starts[edges[0::2]].tolist(), rows.ends[edges[1::2] - 1].tolist()
    return b"".join(block[begin:stop] for begin, stop in zip(begins, stops, strict=True))


def _parse(block: bytes, layout: RowLayout) -> DataFrame:
    """Return the wanted columns of well-formed rows; an empty frame if Polars disagrees."""
    names = {place: name for name, place in layout.places.items()}
    labels = [names.get(place, f"unknown {place}") for place in range(layout.width)]
    try:
        return pl.read_csv(
            _BOM + block if block.startswith(_BOM) else block,  # Polars drops the first
            has_header=False,
            schema=dict.fromkeys(labels, pl.String),
            columns=sorted(names),
            separator=layout.delimiter,
            quote_char='"' if b'"' in block else None,
            raise_if_empty=False,
        ).select(*layout.places)
    except pl.exceptions.PolarsError:
        return pl.DataFrame()
