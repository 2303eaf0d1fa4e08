"""A file or standard input as bytes or lines, unpacked by content, and what format its first bytes are in.

Nothing here reads a game. What is wrong with a stream that could be opened becomes a fault of its
``Reading``.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import attrs
import orjson

from ledger.errors import StorageError
from ledger.imports.encodings import recoded
from ledger.imports.reading import Reading
from ledger.imports.unpack import unpacked

PEEK = 2**16  # bytes looked at to tell the format
CHUNK = 2**16  # stored bytes read at once
MAX_LINE = 2 * 2**20  # bytes; the longest annotated games known have a fifth of it
MAX_BLANK = 2**20  # bytes of nothing but white space in a row
FORMATS = ("pgn", "lichess-ndjson", "chess-com", "ledger-jsonl", "trf", "csv")
_BOM = b"\xef\xbb\xbf"
_ARCHIVES = {b"PK\x03\x04": "zip", b"\xfd7zXZ\x00": "xz", b"7z\xbc\xaf\x27\x1c": "7z", b"Rar!": "rar"}
_SHEETS = (b"[Content_Types].xml", b"xl/", b"opendocument.spreadsheet")  # in the zip archives of Excel, LibreOffice
_TAG = re.compile(rb'^[ \t]*\[\s*\w+\s+"[^"\r\n]', re.MULTILINE)
_BARE_TAG = re.compile(rb"\[(?:Event|Site|Date|White|Black)\b")
_TRF_LINE = re.compile(rb"^(?:001 [ \d]{3}\d [mwMW ]|012 \S|132 )", re.MULTILINE)
_DIVIDERS = (b",", b";", b"\t")
_TITLES, _DIVIDED = 20, 3  # lines among which a header may stand, and the dividers that it has
_CHESS_COM = re.compile(rb'\{\s*"games"\s*:\s*\[|\[\s*\{')


@attrs.define
class Source:
    """An open file, unpacked. Read it once: as ``chunks``, ``lines`` or ``stream``, from the beginning.

    Attributes:
        reading: the account of this file; ``bytes_read`` follows the stored bytes.
        first: up to 64 KiB from the beginning, for ``detect``.
    """

    reading: Reading
    first: bytes
    _rest: Iterator[bytes]

    def chunks(self) -> Iterator[bytes]:
        """The bytes, in pieces of no particular size.

        Raises:
            StorageError: the system cannot read on.
        """
        if self.first:
            yield self.first
        yield from self._rest

    def lines(self) -> Iterator[bytes]:
        r"""Lines with their ends (``\n``, or ``\r`` where the beginning of the file knows no other).

        A line of more than 2 MiB is a fault and ends the reading: the file is not text.

        Raises:
            StorageError: the system cannot read on.
        """
        held: list[bytes] = []  # the pieces of a line whose end is still to come
        size = count = 0
        old_mac = b"\n" not in self.first and b"\r" in self.first
        for chunk in self.chunks():
            block = chunk.replace(b"\r", b"\n") if old_mac else chunk
            held.append(block)
            size += len(block)
            if b"\n" in block:
                lines = io.BytesIO(b"".join(held)).readlines()
                if len(lines[0]) > MAX_LINE:
                    break
                held = [] if block.endswith(b"\n") else [lines.pop()]
                size = len(held[0]) if held else 0
                count += len(lines)
                yield from lines
            if size > MAX_LINE:
                break
        else:
            if held:
                yield b"".join(held)
            return
        self.reading.cut(count + 1, f"a line of more than {MAX_LINE} bytes, the limit of a line: this is no text")

    def stream(self) -> io.BufferedReader:
        """The bytes as a file to read from, for readers that want one (CSV)."""
        return io.BufferedReader(_Chunked(self.chunks()))


class _Chunked(io.RawIOBase):
    """Pieces of bytes as a raw file."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        while not self._left:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._left = memoryview(chunk)
        count = min(len(buffer), len(self._left))
        buffer[:count] = self._left[:count]
        self._left = self._left[count:]
        return count


@contextmanager
def open_source(path: str, encoding: str | None = None) -> Iterator[Source]:
    """Open *path*, or standard input for ``-``, unpacking gzip, bzip2 and zstd told by content, not by name.

    A stream that is cut off or damaged gives what can be read, then one fault.

    Args:
        path: the file.
        encoding: what its letters are written in, where it is neither UTF-8 nor UTF-16 with a byte-order mark.

    Raises:
        StorageError: no such file, not to be read, or an archive of files (zip, xz, 7z, rar).
    """
    file = _opened(path)
    try:
        yield source_of(file, path, encoding)
    finally:
        if path != "-":
            file.close()


def source_of(file: BinaryIO, name: str, encoding: str | None = None) -> Source:
    """What *file*, which is open, holds, unpacked; *name* is what faults and errors call it.

    Text in UTF-16 with a byte-order mark, or in *encoding*, comes in UTF-8.

    Raises:
        StorageError: as ``open_source``.
    """
    reading = Reading(name)
    stored = _stored(file, reading)
    head, ended = _gathered(stored, 16)
    for magic, kind in _ARCHIVES.items():
        if head.startswith(magic):
            start = head + b"".join(islice(stored, 1))
            if any(word in start for word in _SHEETS):
                raise StorageError(name, "is a spreadsheet: save the sheet with the games as CSV and give that")
            raise StorageError(name, f"is a {kind} archive: unpack it and give the file inside")
    plain = unpacked(head, _joined(head, stored if not ended else iter(())), reading)
    whole = _without_floods(recoded(plain, encoding, reading), reading)
    first, _ = _gathered(whole, PEEK)
    return Source(reading, first, whole)


@contextmanager
def open_lines(path: str) -> Iterator[tuple[Iterator[bytes], Reading]]:
    """``open_source`` for readers of lines: the lines, and the account that they fill.

    Raises:
        StorageError: as ``open_source``.
    """
    with open_source(path) as source:
        yield source.lines(), source.reading


def _opened(path: str) -> BinaryIO:
    if path == "-":
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
    """The stored bytes, counted. A pipe is read as it fills."""
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


def _gathered(chunks: Iterator[bytes], size: int) -> tuple[bytes, bool]:
    """At least *size* bytes where there are so many, and whether the end was met."""
    gathered: list[bytes] = []
    total = 0
    while total < size:
        chunk = next(chunks, None)
        if chunk is None:
            return b"".join(gathered), True
        gathered.append(chunk)
        total += len(chunk)
    return b"".join(gathered), False


def _joined(head: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if head:
        yield head
    yield from rest


def _without_floods(chunks: Iterator[bytes], reading: Reading) -> Iterator[bytes]:
    """The same bytes up to a place where more than ``MAX_BLANK`` of them are white space and nothing else."""
    blank, line = 0, 1
    for chunk in chunks:
        if chunk.isspace():
            blank += len(chunk)
        else:
            if blank and blank + len(chunk) - len(chunk.lstrip()) > MAX_BLANK:
                break
            blank = len(chunk) - len(chunk.rstrip()) if chunk[-2:].isspace() else 0
        if blank > MAX_BLANK:
            break
        line += chunk.count(b"\n")
        yield chunk
    else:
        return
    reading.cut(
        line,
        f"more than {MAX_BLANK} bytes of nothing but blanks and line ends, the limit of blanks; "
        "the rest is not read: take the blank lines out",
    )


def detect(first: bytes) -> str:
    """The format that a file begins like: one of ``FORMATS``.

    A list of games that names chess.com is one of its archives; another JSON object with ``players`` is Lichess's,
    any other ours; a record of a player or of a tournament's name makes a tournament report; a tag at the beginning of
    some line a PGN (its text before the first game may be anything); of the rest, what has a divider in its first line,
    or three in one of the next, is a CSV. What is none of these is called ``pgn``, whose reader says that it is not.

    Args:
        first: the beginning of the file, unpacked; 64 KiB are plenty.
    """
    text = first.removeprefix(_BOM).lstrip()
    line = text.partition(b"\n")[0]
    if is_chess_com(text):
        return "chess-com"
    if text[:1] in b"0#X" and _TRF_LINE.search(text):
        return "trf"
    if text.startswith(b"{") and _is_object(line):
        return "lichess-ndjson" if b'"players"' in line else "ledger-jsonl"
    if _TAG.search(text) or _BARE_TAG.match(text):
        return "pgn"
    if any(divider in line for divider in _DIVIDERS):
        return "csv"
    lines = text.split(b"\n", _TITLES)[:_TITLES]  # a table may have a title
    return "csv" if any(line.count(divider) >= _DIVIDED for line in lines for divider in _DIVIDERS) else "pgn"


def is_chess_com(text: bytes) -> bool:
    """True for the beginning of an archive of chess.com: a list of games, alone or as ``games`` of an object."""
    return _CHESS_COM.match(text) is not None and b"chess.com/" in text.replace(b"\\/", b"/")


def _is_object(line: bytes) -> bool:
    """True for a JSON object, or the beginning of one: the line may be cut off, or broken."""
    try:
        return isinstance(orjson.loads(line), dict)
    except orjson.JSONDecodeError:
        return re.match(rb'\{\s*"[^"]*"\s*:', line) is not None
