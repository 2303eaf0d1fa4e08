"""Opens and unpacks a file or standard input, converts its text to UTF-8, and detects its format.

A sheet of a workbook comes as text with tabs (``spreadsheets``). Nothing here reads a game. What is wrong with a stream
that could be opened becomes a fault of its ``Reading``. Text in other encodings (what Excel saves as Unicode text, and
one that the user names) comes in UTF-8; bytes of no known encoding pass as they are, for readers of lines take a line
that is not UTF-8 for Windows-1252. Files that people give
and that hold no games in a format that is read are recognised by their first bytes, too, with what to do with them.
"""

from __future__ import annotations

import codecs
import io
import re
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import attrs
import orjson

from ledger.errors import StorageError
from ledger.imports.crosstables.tables import has_table
from ledger.imports.pairings.lists import has_pairings
from ledger.imports.reading import Reading
from ledger.imports.spreadsheets import is_workbook, read_sheet
from ledger.imports.unpack import unpack, zip_member_start

_MARKS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_MARK = 2  # bytes of a byte-order mark


def encoding_name(name: str) -> str:
    """Return Python's name of an encoding that a user names.

    Raises:
        ValueError: there is no such encoding of text.
    """
    try:
        codec = codecs.lookup(name)
        # base64 and rot13 are codecs, too: only an encoding of text decodes bytes to text
        codecs.getincrementaldecoder(codec.name)().decode(b"", final=True).encode()
    except (LookupError, ValueError, TypeError, AttributeError):
        raise ValueError(
            f"there is no encoding {name[:40]!r}: give a name such as latin-1, windows-1250 or utf-16"
        ) from None
    return codec.name


def to_utf8(chunks: Iterator[bytes], encoding: str | None, reading: Reading) -> Iterator[bytes]:
    """Yield a text in UTF-8, whatever its encoding.

    Bytes that are nothing in the encoding are a fault, and the rest is not read.

    *encoding*: that of the text; None: UTF-16 if a byte-order mark says so, else unknown.
    """
    first = b""
    for chunk in chunks:  # a pipe may give its first byte alone
        first += chunk
        if len(first) >= _MARK:
            break
    marked = _MARKS.get(first[:_MARK])
    if encoding is None and marked is None:
        yield from (part for part in (first,) if part)
        yield from chunks
        return
    # UTF-16 without an order of bytes: the mark decides.
    name = marked if encoding is None or (encoding.startswith("utf-16") and marked) else encoding
    assert name is not None
    yield from _decoded(first[_MARK if marked == name else 0 :], chunks, name, reading)


def _decoded(first: bytes, chunks: Iterator[bytes], name: str, reading: Reading) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(name)()
    line = 1
    rest: bytes | None = first
    while True:
        try:
            text = decoder.decode(rest or b"", final=rest is None)
        except UnicodeDecodeError as error:
            good = error.object[: error.start].decode(name, "ignore")
            yield good.encode(errors="replace")
            odd = error.object[error.start : error.start + 8]
            words = f"the bytes {odd!r} are no text in {name} ({error.reason}); the rest is not read"
            reading.stop(line + good.count("\n"), f"{words}: name the right --encoding")
            return
        if text:
            line += text.count("\n")
            yield text.encode(errors="replace")
        if rest is None:
            return
        rest = next(chunks, None)


DETECTED_BYTES = 2**16  # bytes by which the format is detected
CHUNK = 2**16  # stored bytes read at once
MAX_LINE = 2 * 2**20  # bytes; the longest annotated games known have a fifth of it
MAX_BLANK = 2**20  # bytes of nothing but white space in a row
FORMATS = ("pgn", "lichess-ndjson", "chess-com", "ledger-jsonl", "trf", "csv", "crosstable", "pairings")
_BOM = b"\xef\xbb\xbf"
_ZIP = b"PK\x03\x04"
_WORKBOOKS = (_ZIP, b"\xd0\xcf\x11\xe0")  # what may be one by its first bytes
_ARCHIVES = {b"\xfd7zXZ\x00": "xz", b"7z\xbc\xaf\x27\x1c": "7z", b"Rar!": "rar"}
_TAG = re.compile(rb'^[ \t]*\[\s*\w+\s+"[^"\r\n]', re.MULTILINE)
_BARE_TAG = re.compile(rb"\[(?:Event|Site|Date|White|Black)\b")
_TRF_LINE = re.compile(rb"^(?:001 [ \d]{3}\d [mwMW ]|012 \S|132 )", re.MULTILINE)
_DIVIDERS = (b",", b";", b"\t")
_TITLES, _DIVIDED = 20, 3  # lines among which a header may be, and the dividers that it has
# Headings of rounds, before a file is looked through for a cross-table; Vega's have a bar before them.
_ROUNDS = re.compile(rb"[;,\t\"](?:\d|[^\W\d_]+\.? ?\d)|\|\s+1\s")
_CHESS_COM = re.compile(rb'\{\s*"games"\s*:\s*\[|\[\s*\{')


@attrs.define
class Source:
    """An open file or standard input, unpacked, to be read once: as ``chunks`` or as ``lines``.

    Attributes:
        reading: the account of this file; ``bytes_read`` follows the stored bytes.
    """

    reading: Reading
    _first: bytes | None
    _rest: Iterator[bytes]

    @property
    def first(self) -> bytes:
        """Up to 64 KiB from the beginning, for ``detect_format``; of a workbook read when they are first asked for."""
        if self._first is None:
            self._first = _gathered(self._rest, DETECTED_BYTES)
        return self._first

    def close(self) -> None:
        """End the work behind it, such as the process that reads a workbook."""
        if isinstance(self._rest, Generator):
            self._rest.close()

    def chunks(self) -> Iterator[bytes]:
        """Yield the unpacked bytes in pieces of no particular size.

        Raises:
            StorageError: the system cannot read on.
        """
        if self.first:
            yield self.first
        yield from self._rest

    def lines(self) -> Iterator[bytes]:
        r"""Yield the lines with their ends (``\n``, or ``\r`` if the beginning of the file has no other).

        A line of more than 2 MiB is a fault and ends the reading: the file is not text.

        Raises:
            StorageError: the system cannot read on.
        """
        pieces: list[bytes] = []  # of a line whose end is still to come
        size = count = 0
        # by the beginning alone, so that one stray carriage return later parts no line of another file
        old_mac = b"\n" not in self.first and b"\r" in self.first
        for chunk in self.chunks():
            block = chunk.replace(b"\r", b"\n") if old_mac else chunk
            pieces.append(block)
            size += len(block)
            if b"\n" in block:
                # parts at \n alone; ``splitlines`` parts at \x0b, too
                lines = io.BytesIO(b"".join(pieces)).readlines()
                # The first line alone may have grown over several pieces; a piece is shorter than the limit.
                if len(lines[0]) > MAX_LINE:
                    break
                pieces = [] if block.endswith(b"\n") else [lines.pop()]
                size = len(pieces[0]) if pieces else 0
                count += len(lines)
                yield from lines
            if size > MAX_LINE:
                break
        else:
            if pieces:
                yield b"".join(pieces)
            return
        self.reading.stop(count + 1, f"a line of more than {MAX_LINE} bytes, the limit of a line: this is no text")


@contextmanager
def open_source(path: str, encoding: str | None = None, sheet: str | None = None) -> Iterator[Source]:
    """Open a file, or standard input for ``-``, as a source.

    gzip, zip, bzip2 and zstd are unpacked; of a workbook one sheet is read.

    A stream that is cut off or damaged gives what can be read, then one fault.

    Args:
        path: the file.
        encoding: that of its text, if it is neither UTF-8 nor UTF-16 with a byte-order mark.
        sheet: the name of a sheet of a workbook; None: the only one with cells.

    Raises:
        StorageError: no such file, not to be read, an archive of files (xz, 7z, rar), or a sheet is named that is not
            there, or none of several.
    """
    file = _opened(path)
    source = None
    try:
        source = wrap_file(file, path, encoding, sheet)
        yield source
    finally:
        if source is not None:
            source.close()
        # The standard input belongs to the process that started the program, and is not closed here.
        if path != "-":
            file.close()


def wrap_file(file: BinaryIO, name: str, encoding: str | None = None, sheet: str | None = None) -> Source:
    """Return a source that reads an open binary file; *name* is its name in faults and errors.

    Text in UTF-16 with a byte-order mark, or in *encoding*, comes in UTF-8. *sheet*: that of a workbook.

    Raises:
        StorageError: as ``open_source``.
    """
    reading = Reading(name)
    stored = _stored(file, reading)
    head = _gathered(stored, 16)
    if head.startswith(_WORKBOOKS):
        head += _gathered(stored, CHUNK)
    if is_workbook(head):
        return Source(reading, None, read_sheet(chain((head,), stored), sheet, reading))
    if sheet is not None:
        raise StorageError(name, f"is no spreadsheet, so that it has no sheet {sheet[:60]!r}: leave --sheet out")
    if head.startswith(_ZIP):
        _refuse_packed_otherwise(head, name)
    for magic, kind in _ARCHIVES.items():
        if head.startswith(magic):
            raise StorageError(name, f"is a {kind} archive: unpack it and give the file inside")
    plain = unpack(head, chain(filter(None, (head,)), stored), reading)
    whole = _without_floods(to_utf8(plain, encoding, reading), reading)
    return Source(reading, _gathered(whole, DETECTED_BYTES), whole)


def _refuse_packed_otherwise(head: bytes, name: str) -> None:
    """Raise a StorageError if the first file of a zip archive cannot be unpacked."""
    try:
        is_cut = zip_member_start(head) is None
    except ValueError as error:
        raise StorageError(name, f"is a zip archive, and {error} and give that") from None
    if is_cut:
        raise StorageError(name, "is a zip archive that ends too early: fetch it again")


def _opened(path: str) -> BinaryIO:
    if path == "-":
        # Python has none if a program is started with its standard input closed.
        if sys.stdin is None:
            raise StorageError("-", "there is no standard input: give a file")
        return sys.stdin.buffer
    try:
        return Path(path).open("rb")
    except FileNotFoundError:
        raise StorageError(path, "no such file: check the name") from None
    except (OSError, ValueError) as error:  # a NUL in the name is a ValueError
        raise StorageError(path, f"cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _stored(file: BinaryIO, reading: Reading) -> Iterator[bytes]:
    """Yield the stored bytes, counted. A pipe is read as it fills."""
    # ``read`` would wait until a pipe gave all of it
    read: Callable[[int], bytes] = getattr(file, "read1", file.read)
    while True:
        try:
            chunk = read(CHUNK)
        except OSError as error:
            raise StorageError(reading.name, f"cannot be read on: {error.strerror or error}") from None
        if not chunk:
            return
        reading.bytes_read += len(chunk)
        yield chunk


def _gathered(chunks: Iterator[bytes], size: int) -> bytes:
    """Return at least *size* bytes if there are so many."""
    gathered: list[bytes] = []
    total = 0
    while total < size and (chunk := next(chunks, None)) is not None:
        gathered.append(chunk)
        total += len(chunk)
    return b"".join(gathered)


def _without_floods(chunks: Iterator[bytes], reading: Reading) -> Iterator[bytes]:
    """Yield the same bytes up to a place where more than ``MAX_BLANK`` of them are white space only."""
    blank, line = 0, 1
    for chunk in chunks:
        if chunk.isspace():
            blank += len(chunk)
        else:
            if blank and blank + len(chunk) - len(chunk.lstrip()) > MAX_BLANK:  # it goes on from the chunk before
                break
            blank = len(chunk) - len(chunk.rstrip()) if chunk[-2:].isspace() else 0
        if blank > MAX_BLANK:
            break
        line += chunk.count(b"\n")
        yield chunk
    else:
        return
    reading.stop(
        line,
        f"more than {MAX_BLANK} bytes of nothing but blanks and line ends, the limit of blanks; "
        "the rest is not read: take the blank lines out",
    )


_ENDINGS = ((".csv", "csv"), (".tsv", "csv"), (".trf", "trf"), (".trfx", "trf"), (".ndjson", "lichess-ndjson"))


def detect_format(first: bytes, name: str = "") -> str:
    """Return the format of a file of games from its first bytes: one of ``FORMATS``.

    A list of games that names chess.com is one of its archives; another JSON object with ``players`` is Lichess's, any
    other ours; a record of a player or of a tournament's name makes a tournament report; a tag at the beginning of some
    line a PGN (its text before the first game may be anything); of the rest, headings of rounds make a cross-table,
    captions of rounds a list of pairings; what has a divider in its first line, or three in one of the next, is a CSV.
    What is none of these is called ``pgn``, whose reader says that it is not.

    Args:
        first: the beginning of the file, unpacked; 64 KiB are plenty.
        name: the name of an empty file, whose ending says what it was to be.
    """
    text = first.removeprefix(_BOM).lstrip()
    if not text:
        return next((fmt for ending, fmt in _ENDINGS if name.casefold().endswith(ending)), "pgn")
    line = text.partition(b"\n")[0]
    if is_chess_com(text):
        return "chess-com"
    # what a report begins with: a record, a remark, an extension
    if text[:1] in b"0#X" and _TRF_LINE.search(text):
        return "trf"
    if text.startswith(b"{") and _is_object(line):
        return "lichess-ndjson" if b'"players"' in line else "ledger-jsonl"
    if _TAG.search(text) or _BARE_TAG.match(text):
        return "pgn"
    if _ROUNDS.search(text) and has_table(first.removeprefix(_BOM)):
        return "crosstable"
    if has_pairings(first.removeprefix(_BOM)):
        return "pairings"
    if any(divider in line for divider in _DIVIDERS):
        return "csv"
    lines = text.split(b"\n", _TITLES)[:_TITLES]  # a table may have a title
    return "csv" if any(line.count(divider) >= _DIVIDED for line in lines for divider in _DIVIDERS) else "pgn"


def is_chess_com(text: bytes) -> bool:
    """Return whether a text begins like an archive of chess.com: a list of games, alone or in an object."""
    # JSON may write every slash with a backslash before it.
    return _CHESS_COM.match(text) is not None and b"chess.com/" in text.replace(b"\\/", b"/")


def _is_object(line: bytes) -> bool:
    """Return whether a line is a JSON object, or the beginning of one: it may be cut off, or broken."""
    try:
        return isinstance(orjson.loads(line), dict)
    except orjson.JSONDecodeError:
        return re.match(rb'\{\s*"[^"]*"\s*:', line) is not None


_BY_MAGIC = {
    b"PAR1": "a Parquet file: write its games as CSV first, with a header",
    b"ARROW1": "an Arrow file: write its games as CSV first, with a header",
    b"SQLite format 3\x00": "a database: write its games as CSV first, with a header; a ledger is not imported, but "
    "copied by 'backup'",
    b"%PDF-": "a PDF document: ask for the games as PGN or CSV",
    b"Scid.": "a Scid database: export its games as PGN",
    b"Runde;Brett;IdentW;": "a pairing file of Swiss-Manager, which has numbers in the place of names: give the TRF of "
    "the tournament, or its cross-table",
}
_HTML = re.compile(rb"<(?:!doctype html|html|head|body)\b", re.IGNORECASE)
_JSON = (
    "a JSON document, not JSON lines: write each game on a line of its own as ledger/imports/README.md shows, such as "
    "by \"jq -c '.[]'\""
)


def foreign_kind(first: bytes) -> str | None:
    """Return what a file that holds no games is, and what to do with it; None if its format may be read."""
    for magic, words in _BY_MAGIC.items():
        if first.startswith(magic):
            return words
    text = first.removeprefix(_BOM).lstrip()
    if _HTML.match(text):
        return "a web page: download the games themselves, as PGN or CSV"
    if text.startswith(b"<?xml"):
        return "an XML document: ask for the games as PGN or CSV"
    # JSON that is no line of it: a list, an object over several lines, or a list of games in one object
    is_document = re.match(rb'\[\s*[\[{\]]|\{\s*\n|\{\s*"games"\s*:\s*\[', text) is not None
    return _JSON if is_document and not is_chess_com(text) else None
