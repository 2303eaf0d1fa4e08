"""Unpacks gzip, zip, bzip2 and zstd, recognised by their first bytes, in pieces of bounded size, up to limits.

What the unpacked bytes mean is not known here, nor where the packed ones come from. What is wrong with them becomes
a fault of the ``Reading``.
"""

from __future__ import annotations

import bz2
import re
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from ledger.imports.reading import Reading
from ledger.runtime.lazy import zstandard

if TYPE_CHECKING:
    from zstandard import ZstdDecompressor

PIECE = 2**17  # bytes of unpacked data handed on at once, at most
MAX_RATIO = 200  # unpacked bytes for each stored one, once RATIO_FROM are unpacked; games in PGN reach 7, CSV 50
RATIO_FROM = 64 * 2**20  # bytes unpacked before the ratio counts
MAX_WINDOW = 2**27  # bytes that a zstd frame may look back; what the zstd command takes without --long
# A zstd block takes at least 4 bytes and gives at most 128 KiB, so this many stored bytes give 8 MiB at most.
_SIP = 256


_ZIP_MAGIC = b"PK\x03\x04"
_ZIP_HEAD = 30  # bytes before the name of a file
_SEVERAL = "it holds several files: unpack it and give each"
_DEFLATED = 8
_SEEN_BEHIND = 64  # bytes behind the first file that are looked at


class Unpacker(Protocol):
    """The unpacker of one member (gzip), stream (bzip2) or frame (zstd)."""

    @property
    def eof(self) -> bool:
        """True if the end of the member was reached."""
        ...

    @property
    def unused_data(self) -> bytes:
        """The stored bytes behind the end."""
        ...

    def unpack(self, data: bytes) -> Iterator[bytes]:
        """Yield the unpacked form of *data*, the next stored bytes, in pieces of at most ``PIECE`` bytes."""
        ...


class _OfLibrary:
    _inner: Any

    @property
    def eof(self) -> bool:
        return bool(self._inner.eof)

    @property
    def unused_data(self) -> bytes:
        return bytes(self._inner.unused_data)


class _Gzip(_OfLibrary):
    def __init__(self, wbits: int = 31) -> None:
        # 16 more than the largest window of 15 has zlib expect the header of gzip; less than 0, no header.
        self._inner = zlib.decompressobj(wbits=wbits)

    def unpack(self, data: bytes) -> Iterator[bytes]:
        while True:
            piece = self._inner.decompress(data, PIECE)
            data = self._inner.unconsumed_tail
            if piece:
                yield piece
            # a full piece may leave more inside the library
            if self.eof or (not data and len(piece) < PIECE):
                return


class _Bzip2(_OfLibrary):
    def __init__(self) -> None:
        self._inner = bz2.BZ2Decompressor()

    def unpack(self, data: bytes) -> Iterator[bytes]:
        while True:
            piece = self._inner.decompress(data, PIECE)
            # The library keeps what it did not use yet, and is asked on with nothing new.
            data = b""
            if piece:
                yield piece
            if self.eof or self._inner.needs_input:
                return


class _Zstd(_OfLibrary):
    """A frame, or a skippable one. The library bounds no output, so it is given a few bytes at a time."""

    def __init__(self, shared: ZstdDecompressor) -> None:
        self._inner = shared.decompressobj()
        self._behind = b""

    @property
    def unused_data(self) -> bytes:
        return super().unused_data + self._behind

    def unpack(self, data: bytes) -> Iterator[bytes]:
        for start in range(0, len(data), _SIP):
            out = self._inner.decompress(data[start : start + _SIP])
            for begin in range(0, len(out), PIECE):
                yield out[begin : begin + PIECE]
            if self.eof:
                self._behind = data[start + _SIP :]
                return


class _Zip:
    """The one file of a zip archive, deflated, as FIDE packs its lists (PKWARE APPNOTE 4.3.7)."""

    def __init__(self) -> None:
        self._head = b""
        self._inner: Unpacker | None = None
        self._behind = b""

    @property
    def eof(self) -> bool:
        # What follows is the directory, to the end of the file.
        return False

    @property
    def unused_data(self) -> bytes:
        return b""

    @property
    def is_whole(self) -> bool:
        """True once the file in it was unpacked to its end."""
        return self._inner is not None and self._inner.eof

    def unpack(self, data: bytes) -> Iterator[bytes]:
        if self._inner is None:
            self._head += data
            begin = zip_member_start(self._head)
            if begin is None:
                return
            data, self._head = self._head[begin:], b""
            self._inner = _Gzip(-15)
        if not self._inner.eof:
            yield from self._inner.unpack(data)
            data = self._inner.unused_data
        if self._inner.eof and len(self._behind) < _SEEN_BEHIND:
            self._behind += data[:_SEEN_BEHIND]
            # A descriptor of 12 to 24 bytes may precede it; a name in the directory begins with PK\x01\x02.
            if _ZIP_MAGIC in self._behind.partition(b"PK\x01\x02")[0]:
                raise ValueError(_SEVERAL)


def zip_member_start(head: bytes) -> int | None:
    """Return the offset of the data of the first file in a zip archive; None if more bytes are needed.

    Raises:
        ValueError: it is not deflated, or is encrypted.
    """
    if len(head) < _ZIP_HEAD:
        return None
    flags, method, name, extra = (int.from_bytes(head[at : at + 2], "little") for at in (6, 8, 26, 28))
    if flags & 1 or method != _DEFLATED:
        raise ValueError("the file in it is encrypted or packed in another way than by deflate: unpack it")
    return _ZIP_HEAD + name + extra if len(head) >= _ZIP_HEAD + name + extra else None


# First bytes -> name and what gives the unpackers of a file; the second zstd magic is a skippable frame (0x50 to 0x5f).
_PACKINGS: tuple[tuple[re.Pattern[bytes], str, Callable[[], Callable[[], Unpacker]]], ...] = (
    (re.compile(rb"\x1f\x8b\x08"), "gzip", lambda: _Gzip),
    (re.compile(rb"PK\x03\x04"), "zip", lambda: _Zip),
    (re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"), "bzip2", lambda: _Bzip2),
    (
        re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"),
        "zstd",
        lambda: partial(_Zstd, zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW)),
    ),
)
_COMMANDS = {"zip": "unzip -p", "gzip": "gzip -dc", "bzip2": "bzip2 -dc", "zstd": "zstd -dc"}


def unpack(head: bytes, stored: Iterator[bytes], reading: Reading) -> Iterator[bytes]:
    """Yield the unpacked form of stored bytes, or the bytes themselves if *head*, the first ones, are not packed.

    All members, one after the other; what cannot be unpacked, or passes a limit, is one fault, and ends it.
    """
    for magic, kind, make in _PACKINGS:
        if magic.match(head):
            return _unpacked(stored, kind, make(), reading)
    return stored


def _unpacked(stored: Iterator[bytes], kind: str, make: Callable[[], Unpacker], reading: Reading) -> Iterator[bytes]:
    total, line = 0, 1
    member: Unpacker | None = make()
    for chunk in stored:
        data = chunk
        while data:
            if member is None:
                # Several members one after the other are one file, as when logs of days are joined (RFC 1952, 2.2).
                data = data.lstrip(b"\x00")  # tapes and some tools pad with zeros
                if not data:
                    break
                member = make()
            pieces = member.unpack(data)
            while True:
                try:
                    piece = next(pieces, None)
                # Each library has an error of its own for damaged data; that of bz2 is an OSError.
                except (zlib.error, OSError, ValueError, zstandard.ZstdError) as error:
                    words = f"damaged {kind} data ({error}), the rest is lost: fetch the file again"
                    if str(error) == _SEVERAL:
                        words = f"a zip archive: {_SEVERAL}"
                    # zstd's words for a window that is too large
                    if "too much memory" in str(error):
                        words = (
                            f"a zstd frame that needs more than {MAX_WINDOW >> 20} MiB to unpack, the limit of the "
                            "window: unpack the file by 'zstd -d --long=31' and import that"
                        )
                    reading.stop(line, words)
                    return
                if piece is None:
                    break
                total += len(piece)
                line += piece.count(b"\n")
                yield piece
                if total > RATIO_FROM and total > MAX_RATIO * reading.bytes_read:
                    words = f"{kind} data that unpacks to more than {MAX_RATIO} times its size, the limit of the ratio"
                    way = f"if it is a file of games, unpack it by '{_COMMANDS[kind]}' and import that"
                    reading.stop(line, f"{words}; the rest is not read: {way}")
                    return
            data = member.unused_data if member.eof else b""
            member = None if member.eof else member
    if member is not None and not (isinstance(member, _Zip) and member.is_whole):
        reading.stop(line, f"the {kind} data ends too early, the rest is lost: fetch the file again")
