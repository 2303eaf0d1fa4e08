"""A file or standard input as bytes or lines, unpacked by content, and what format its first bytes are in.

Nothing here reads a game. What is wrong with a stream that could be opened becomes a fault of its
``Reading``.
"""

from __future__ import annotations

import bz2
import io
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

import attrs
import orjson

from ledger.errors import StorageError
from ledger.heavy import zstandard
from ledger.imports.source import Reading

PEEK = 2**16  # bytes looked at to tell the format
CHUNK = 2**16  # stored bytes read at once
MAX_LINE = 16 * 2**20  # bytes; no text format has longer lines
FORMATS = ("pgn", "lichess-ndjson", "ledger-jsonl", "csv")
_BOM = b"\xef\xbb\xbf"
_MAX_WINDOW = 2**31  # bytes; what "zstd --long=31" may ask for
_ARCHIVES = {b"PK\x03\x04": "zip", b"\xfd7zXZ\x00": "xz", b"7z\xbc\xaf\x27\x1c": "7z", b"Rar!": "rar"}
_TAG = re.compile(rb'^[ \t]*\[\s*\w+\s+"[^"\r\n]', re.MULTILINE)
_BARE_TAG = re.compile(rb"\[(?:Event|Site|Date|White|Black)\b")


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


def _zstd() -> _Decompressor:
    made: _Decompressor = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW).decompressobj()
    return made


def _gzip() -> _Decompressor:
    return zlib.decompressobj(wbits=31)


# First bytes -> name and what unpacks one member; the second zstd magic is a skippable frame (0x50 to 0x5f).
_PACKED: tuple[tuple[re.Pattern[bytes], str, Callable[[], _Decompressor]], ...] = (
    (re.compile(rb"\x1f\x8b\x08"), "gzip", _gzip),
    (re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"), "bzip2", bz2.BZ2Decompressor),
    (re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"), "zstd", _zstd),
)


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

        A line of more than 16 MiB is a fault and ends the reading: the file is not text.

        Raises:
            StorageError: the system cannot read on.
        """
        tail, count = b"", 0
        old_mac = b"\n" not in self.first and b"\r" in self.first
        for chunk in self.chunks():
            block = tail + (chunk.replace(b"\r", b"\n") if old_mac else chunk)
            lines = io.BytesIO(block).readlines()
            tail = b"" if block.endswith(b"\n") else lines.pop()
            count += len(lines)
            if len(tail) > MAX_LINE:
                self.reading.fault(count + 1, f"a line of more than {MAX_LINE} bytes: this is no text")
                return
            yield from lines
        if tail:
            yield tail

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
def open_source(path: str) -> Iterator[Source]:
    """Open *path*, or standard input for ``-``, unpacking gzip, bzip2 and zstd told by content, not by name.

    A stream that is cut off or damaged gives what can be read, then one fault.

    Raises:
        StorageError: no such file, not to be read, or an archive of files (zip, xz, 7z, rar).
    """
    reading = Reading(path)
    file = _opened(path)
    try:
        stored = _stored(file, reading)
        head, ended = _gathered(stored, 16)
        for magic, kind in _ARCHIVES.items():
            if head.startswith(magic):
                raise StorageError(path, f"is a {kind} archive: unpack it and give the file inside")
        whole = _joined(head, stored if not ended else iter(()))
        for magic_bytes, kind, make in _PACKED:
            if magic_bytes.match(head):
                whole = _unpacked(whole, kind, make, reading)
        first, _ = _gathered(whole, PEEK)
        yield Source(reading, first, whole)
    finally:
        if path != "-":
            file.close()


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


def _unpacked(
    stored: Iterator[bytes], kind: str, make: Callable[[], _Decompressor], reading: Reading
) -> Iterator[bytes]:
    """The unpacked bytes of all members (gzip), streams (bzip2) or frames (zstd), one after the other."""
    member: _Decompressor | None = make()
    line = 1
    for chunk in stored:
        data = chunk
        while data:
            if member is None:
                data = data.lstrip(b"\x00")  # tapes and some tools pad with zeros
                if not data:
                    break
                member = make()
            try:
                out = member.decompress(data)
            except (zlib.error, OSError, ValueError, zstandard.ZstdError) as error:
                reading.fault(line, f"damaged {kind} data ({error}), the rest is lost: fetch the file again")
                return
            line += out.count(b"\n")
            if out:
                yield out
            data = member.unused_data if member.eof else b""
            member = None if member.eof else member
    if member is not None:
        reading.fault(line, f"the {kind} data ends too early, the rest is lost: fetch the file again")


def detect(first: bytes) -> str:
    """The format that a file begins like: one of ``FORMATS``.

    A JSON object with ``players`` is Lichess's, any other ours; a tag at the beginning of some line makes a
    PGN (its text before the first game may be anything); of the rest, what has a divider in its first line
    is a CSV. What is none of these is called ``pgn``, whose reader says that it is not.

    Args:
        first: the beginning of the file, unpacked; 64 KiB are plenty.
    """
    text = first.removeprefix(_BOM).lstrip()
    line = text.partition(b"\n")[0]
    if text.startswith(b"{") and _is_object(line):
        return "lichess-ndjson" if b'"players"' in line else "ledger-jsonl"
    if _TAG.search(text) or _BARE_TAG.match(text):
        return "pgn"
    return "csv" if any(divider in line for divider in (b",", b";", b"\t")) else "pgn"


def _is_object(line: bytes) -> bool:
    """True for a JSON object, or the beginning of one: the line may be cut off, or broken."""
    try:
        return isinstance(orjson.loads(line), dict)
    except orjson.JSONDecodeError:
        return re.match(rb'\{\s*"[^"]*"\s*:', line) is not None
